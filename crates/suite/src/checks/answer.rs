//! The parts of an answer that checks look at.

use canon::{Limits, ReadFault, Reader, Value};

/// A fence of a code block.
const FENCE: &str = "```";

/// Python's `str.strip()`.
pub(super) fn strip(text: &str) -> &str {
    // The separators U+001C to U+001F are blanks for Python and not for Unicode.
    text.trim_matches(|ch: char| ch.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&ch))
}

/// Without blanks and matching quotes around it: one layer of double, then of single quotes, then of back-ticks.
pub(super) fn normalised(text: &str) -> &str {
    ['"', '\'', '`'].into_iter().fold(strip(text), |text, quote| {
        let inside = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        inside.map_or(text, strip)
    })
}

/// The first fenced block of an answer, or the whole of it when no block is closed; without blanks around it.
///
/// Behind the fence only the words `python` and `py` are no code, as for the peer: the block of another language begins
/// with its name, and fails.
pub fn extracted_code(answer: &str) -> &str {
    let block = || Some(answer.split_once(FENCE)?.1.split_once(FENCE)?.0);
    let Some(block) = block() else { return strip(answer) };
    let named = |name: &str| block.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    let name = ["python", "py"].into_iter().find(|name| named(name)).map_or(0, str::len);
    strip(&block[name..])
}

/// The first JSON value of an answer: the whole of it, or else the first object or array that stands in it.
///
/// Read as the peer reads it, the last of repeated keys winning: what is projected is what was judged, so that nobody
/// can show another value.
pub(super) fn first_json(answer: &str) -> Option<Value> {
    let reader = Reader::peer().with_limits(Limits { bytes_max: answer.len(), ..Limits::default() });
    let read = |text: &str| reader.read(text.as_bytes());
    if let Ok(value) = read(strip(answer)) {
        return finite(value);
    }
    let mut rest = answer;
    while let Some(at) = rest.find(['{', '[']) {
        let text = &rest[at..];
        let value = match read(text) {
            Ok(value) => Some(value),
            // The value ends where the rest begins.
            Err(error) if error.fault == ReadFault::TrailingBytes => {
                text.get(..error.offset).and_then(|value| read(value).ok())
            }
            Err(_) => None,
        };
        if let Some(value) = value {
            return finite(value);
        }
        rest = &text[1..];
    }
    None
}

/// `NaN` and the infinities are no JSON: they cannot be projected.
fn finite(value: Value) -> Option<Value> {
    fn all_finite(value: &Value) -> bool {
        match value {
            Value::Float(number) => number.is_finite(),
            Value::Array(items) => items.iter().all(all_finite),
            Value::Object(object) => object.iter().all(|(_, item)| all_finite(item)),
            _ => true,
        }
    }
    all_finite(&value).then_some(value)
}

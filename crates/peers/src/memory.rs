//! Rule A4: what is remembered of a failure may have its shape, never a literal of a hidden test (section 22).

use std::collections::BTreeSet;

/// Characters from which a string literal gives something away.
pub const LITERAL_CHARS_MIN: usize = 4;

/// A string literal of the hidden tests that stands in a lesson. Neither its text nor its place in the tests is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leak {
    /// Byte offset in the lesson.
    pub at: usize,
    /// Length in the lesson, in bytes.
    pub bytes_n: usize,
}

/// Where `lesson` holds a string literal of `hidden` that `visible` does not hold: as written, or as it reads when its
/// escapes are resolved. A paraphrase is not found, and neither is a number: this check is for text, and says so.
pub fn leaks(lesson: &str, hidden: &str, visible: &str) -> Vec<Leak> {
    let known = literals(visible);
    let mut leaks = BTreeSet::new();
    for literal in
        literals(hidden).difference(&known).filter(|literal| literal.chars().count() >= LITERAL_CHARS_MIN)
    {
        leaks.extend(
            lesson.match_indices(literal.as_str()).map(|(at, found)| Leak { at, bytes_n: found.len() }),
        );
    }
    leaks.into_iter().collect()
}

/// String literals of a Python or JSON text, each as written and as it reads.
fn literals(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '\'', '#']) {
        rest = &rest[at..];
        if rest.starts_with('#') {
            // A comment is no literal, but a quote in it would shift everything after it.
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
            continue;
        }
        let quote =
            if rest.starts_with("\"\"\"") || rest.starts_with("'''") { &rest[..3] } else { &rest[..1] };
        let body = &rest[quote.len()..];
        let (end, closed) = end_of(body, quote);
        let written = &body[..end];
        found.insert(written.to_owned());
        found.insert(resolved(written));
        rest = if closed { &body[end + quote.len()..] } else { &body[end..] };
    }
    found
}

/// Where a literal ends, and whether by its quote: a short one also ends with its line.
fn end_of(body: &str, quote: &str) -> (usize, bool) {
    let mut escaped = false;
    for (at, ch) in body.char_indices() {
        if escaped {
            escaped = false;
        } else if ch == '\\' {
            escaped = true;
        } else if body[at..].starts_with(quote) {
            return (at, true);
        } else if ch == '\n' && quote.len() == 1 {
            return (at, false);
        }
    }
    (body.len(), false)
}

/// The text of a literal with its escapes resolved; an escape that is none stays as written.
fn resolved(written: &str) -> String {
    let mut text = String::new();
    let mut rest = written;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let mut chars = escape.chars();
        let simple = match chars.next() {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some(same @ ('\\' | '\'' | '"' | '/')) => Some(same),
            _ => None,
        };
        let coded = [('x', 2), ('u', 4), ('U', 8)].into_iter().find_map(|(letter, digits)| {
            let code = escape.strip_prefix(letter)?.get(..digits)?;
            Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, 1 + digits))
        });
        let (ch, used) = simple.map(|ch| (ch, 1)).or(coded).unwrap_or(('\\', 0));
        text.push(ch);
        rest = &escape[used..];
    }
    text.push_str(rest);
    text
}

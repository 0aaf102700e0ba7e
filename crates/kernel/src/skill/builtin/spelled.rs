//! Whether the numbers of a JSON text survive being read: one with a fraction or exponent becomes a binary64.

use canon::{Reader, Value};

/// Where the first number stands that would be written again with another value.
pub(super) fn inexact(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at += string(&bytes[at..]),
            b'-' | b'0'..=b'9' => {
                let number = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let end = at + bytes[at..].iter().take_while(number).count();
                if !survives(&text[at..end]) {
                    return Some(at);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    None
}

/// Length of a string with its quotes.
fn string(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

fn survives(number: &str) -> bool {
    match Reader::strict().read(number.as_bytes()) {
        Ok(Value::Float(float)) => exact(number) == exact(&float.to_string()),
        _ => true,
    }
}

/// A number as sign, digits without zeros at either end, and the power of ten before them. Zero has no sign.
fn exact(number: &str) -> (bool, String, i64) {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let negative = whole.starts_with('-');
    let whole = whole.trim_start_matches('-');
    let digits = format!("{whole}{fraction}");
    let leading = digits.len() - digits.trim_start_matches('0').len();
    let digits = digits.trim_matches('0').to_owned();
    if digits.is_empty() {
        return (false, digits, 0);
    }
    // An exponent that does not fit belongs to no number that the reader takes but zero, which differs in its digits.
    let exponent = exponent.parse().unwrap_or(i64::MIN / 2);
    (negative, digits, (whole.len() as i64 - leading as i64).saturating_add(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_are_lost_are_seen() {
        for text in
            ["1", "1.0", "0.1", "-1.50e3", "1e22", "100.0", "0.001e-3", "-0.0", "0e999", "9007199254740993"]
        {
            assert_eq!(inexact(text), None, "{text}");
        }
        for text in ["9007199254740993.0", "0.10000000000000000001", "1e-400", "123456789012345678e0"] {
            assert_eq!(inexact(text), Some(0), "{text}");
        }
        // Strings are passed over, with what is escaped in them.
        let text = r#"{"a\"9007199254740993.0":[1.5,"0.10000000000000000001",-0.10000000000000000001]}"#;
        assert_eq!(inexact(text), text.rfind('-'));
    }
}

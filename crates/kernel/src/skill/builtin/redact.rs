//! Finding personal data in a text, for `text.redact`.

use crate::skill::Failed;
use crate::skill::payload::text;
use canon::{Object, Value};

/// What stands in the text, and what it is replaced by.
#[derive(Clone, Copy)]
enum Kind {
    Mail,
    Ipv4,
    Card,
}

const MARKS: [(&str, &str); 3] = [("mail", "[mail]"), ("ipv4", "[ipv4]"), ("card", "[card]")];

/// The skill.
pub(super) fn redact(payload: &Object) -> Result<Value, Failed> {
    let text = text(payload, "text")?;
    let mut out = String::with_capacity(text.len());
    let mut counts = [0_u64; 3];
    let (mut at, mut copied) = (0, 0);
    while at < text.len() {
        match found(text, copied, at) {
            Some((start, end, kind)) => {
                out.push_str(&text[copied..start]);
                out.push_str(MARKS[kind as usize].1);
                counts[kind as usize] += 1;
                (at, copied) = (end, end);
            }
            None => at = skip(text.as_bytes(), at),
        }
    }
    out.push_str(&text[copied..]);
    let mut object = Object::new().with("text", out);
    for ((name, _), count) in MARKS.iter().zip(counts) {
        object.set(name, count);
    }
    Ok(object.into())
}

/// The next place at which something can begin: a number is tried at its first digit only.
fn skip(bytes: &[u8], at: usize) -> usize {
    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    at + digits.max(1)
}

/// A mail address is noticed at its `@`, a number at its first digit. `from` is where the text that is not yet
/// replaced begins.
fn found(text: &str, from: usize, at: usize) -> Option<(usize, usize, Kind)> {
    let bytes = text.as_bytes();
    match bytes[at] {
        b'@' => mail(bytes, from, at),
        b'0'..=b'9' if at == 0 || !bytes[at - 1].is_ascii_digit() => {
            let alone = at == 0 || !bytes[at - 1].is_ascii_alphabetic();
            let address = ipv4(&bytes[at..]).filter(|_| alone).map(|length| (at, at + length, Kind::Ipv4));
            address.or_else(|| cards(text, at).map(|end| (at, end, Kind::Card)))
        }
        _ => None,
    }
}

/// Where the card that begins at `at` ends, with every card that begins inside it: of digits that may be read as two
/// overlapping numbers none stays.
fn cards(text: &str, at: usize) -> Option<usize> {
    let mut end = at + card(&text[at..])?;
    let mut start = at;
    while start < end {
        let next = text[start..].trim_start_matches(|ch: char| ch.is_ascii_digit());
        let next = next.trim_start_matches(separates);
        start = text.len() - next.len();
        if start < end {
            end = end.max(start + card(next).unwrap_or(0));
        }
    }
    Some(end)
}

fn mail(bytes: &[u8], from: usize, at: usize) -> Option<(usize, usize, Kind)> {
    let local = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte) || **byte >= 0x80;
    let domain = |byte: &&u8| byte.is_ascii_alphanumeric() || b".-".contains(byte) || **byte >= 0x80;
    // No name has more than 64 bytes and no domain more than 255: a row of `@` stays linear.
    let before = bytes[from.max(at.saturating_sub(64))..at].iter().rev().take_while(local).count();
    let run = &bytes[at + 1..bytes.len().min(at + 256)];
    let mut after = run.iter().take_while(domain).count();
    while after > 0 && b".-".contains(&run[after - 1]) {
        after -= 1;
    }
    let mut start = at - before;
    // The 64 bytes may begin inside a character.
    while bytes[start] & 0xc0 == 0x80 {
        start += 1;
    }
    let mut end = at + 1 + after;
    while end < bytes.len() && bytes[end] & 0xc0 == 0x80 {
        end += 1;
    }
    let whole = start < at && run[..after].contains(&b'.') && run[0] != b'.';
    whole.then_some((start, end, Kind::Mail))
}

/// Length of four numbers up to 255 with points between them, and no digit or point with digit after them.
fn ipv4(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in 0..4 {
        if part > 0 {
            bytes.get(at).filter(|byte| **byte == b'.')?;
            at += 1;
        }
        let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&bytes[at..at + digits.min(4)]).ok()?;
        number.parse::<u8>().ok().filter(|_| digits <= 3)?;
        at += digits;
    }
    let longer = match bytes[at..] {
        [b'.', next, ..] => next.is_ascii_digit(),
        [next, ..] => next.is_ascii_alphanumeric(),
        [] => false,
    };
    (!longer).then_some(at)
}

/// One of these may stand between two digits of a card: a blank that does not end the line, a hyphen or short dash.
fn separates(ch: char) -> bool {
    matches!(ch, ' ' | '\t' | '-' | '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{2010}'..='\u{2013}' | '\u{202f}')
}

/// Length of the longest card that `text` begins with: 13 to 19 digits whose check digit fits (ISO/IEC 7812), with
/// single separators between them. It ends where a row of digits ends; other numbers may follow it.
fn card(text: &str) -> Option<usize> {
    let (mut digits, mut longest) = (Vec::with_capacity(19), None);
    let mut end = 0;
    for (at, ch) in text.char_indices() {
        if let Some(digit) = ch.to_digit(10) {
            if digits.len() == 19 {
                return longest;
            }
            digits.push(digit);
            end = at + 1;
        } else if separates(ch) && end == at && at > 0 {
            longest = fits(&digits).then_some(end).or(longest);
        } else {
            break;
        }
    }
    fits(&digits).then_some(end).or(longest)
}

fn fits(digits: &[u32]) -> bool {
    let sum: u32 = digits.iter().rev().enumerate().map(|(place, digit)| luhn(place, *digit)).sum();
    digits.len() >= 13 && sum.is_multiple_of(10)
}

fn luhn(place: usize, digit: u32) -> u32 {
    let doubled = digit * if place % 2 == 1 { 2 } else { 1 };
    if doubled > 9 { doubled - 9 } else { doubled }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str, cards: i64) {
        let got = redact(&Object::new().with("text", text)).unwrap();
        assert_eq!(got.get("text").and_then(Value::as_str), Some(expected), "{text:?}");
        assert_eq!(got.get("card").and_then(Value::as_i64), Some(cards), "{text:?}");
    }

    #[test]
    fn a_card_is_found_whatever_stands_around_it() {
        check("Card 4111 1111 1111 1111 12/27 CVC 123", "Card [card] 12/27 CVC 123", 1);
        check("4111 1111 1111 1111 5500 0000 0000 0004", "[card] [card]", 2);
        check("4111111111111111 5500000000000004", "[card] [card]", 2);
        check("7 4111-1111-1111-1111 9 9", "7 [card] 9 9", 1);
        check("nr4111111111111111", "nr[card]", 1);
        check("4111\u{a0}1111\u{2011}1111 1111", "[card]", 1);
        check("378282246310005 1", "[card] 1", 1);
        // One digit wrong, a row that is too long, two blanks.
        check("4111 1111 1111 1112", "4111 1111 1111 1112", 0);
        check("41111111111111111111111", "41111111111111111111111", 0);
        check("4111 1111  1111 1111", "4111 1111  1111 1111", 0);
    }

    /// A card behind digits with which it makes another number that fits: nothing of it stays.
    #[test]
    fn overlapping_numbers_leave_nothing() {
        for before in 0..1000 {
            for after in ["", " 12", " 00 1"] {
                let text = format!("{before} 4111 1111 1111 1111{after}");
                let got = redact(&Object::new().with("text", text.as_str())).unwrap();
                assert!(!got.get("text").and_then(Value::as_str).unwrap().contains("1111"), "{text}");
            }
        }
    }

    #[test]
    fn a_row_of_digits_is_linear() {
        let text = "4111 ".repeat(200_000);
        assert!(redact(&Object::new().with("text", text)).is_ok());
    }
}

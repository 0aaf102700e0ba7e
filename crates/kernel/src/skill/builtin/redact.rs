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
        b'0'..=b'9' if at == 0 || !bytes[at - 1].is_ascii_alphanumeric() => {
            let end = |length: usize, kind| (at, at + length, kind);
            let address = ipv4(&bytes[at..]).map(|length| end(length, Kind::Ipv4));
            address.or_else(|| card(&bytes[at..]).map(|length| end(length, Kind::Card)))
        }
        _ => None,
    }
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

/// Length of 13 to 19 digits with single blanks or hyphens between them whose check digit fits (ISO/IEC 7812).
fn card(bytes: &[u8]) -> Option<usize> {
    let (mut digits, mut end) = (Vec::new(), 0);
    let mut separated = true;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' if digits.len() == 19 => return None,
            b'0'..=b'9' => {
                digits.push(byte - b'0');
                (end, separated) = (at + 1, false);
            }
            b' ' | b'-' if !separated => separated = true,
            _ => break,
        }
    }
    let sum: u32 = digits.iter().rev().enumerate().map(|(place, digit)| luhn(place, *digit)).sum();
    (digits.len() >= 13 && sum.is_multiple_of(10)).then_some(end)
}

fn luhn(place: usize, digit: u8) -> u32 {
    let doubled = u32::from(digit) * if place % 2 == 1 { 2 } else { 1 };
    if doubled > 9 { doubled - 9 } else { doubled }
}

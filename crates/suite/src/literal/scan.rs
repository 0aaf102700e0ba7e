//! Numbers and strings of Python inside the token reader.

use super::lex::Kind;
use super::unicode::identifier_part;
use super::{BigInt, LiteralError, Text, syntax};
use canon::Float;

/// Decimal digits of an integer; Python's own limit.
const DIGITS_MAX: usize = 4300;

type Scanned<'a> = Result<(Kind<'a>, usize), LiteralError>;

/// A number at the beginning of `text`, and its length.
pub(super) fn number<'a>(text: &str, offset: usize) -> Scanned<'a> {
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if text.get(..2).is_some_and(|head| head.eq_ignore_ascii_case(prefix)) {
            return radix_number(text, radix, offset);
        }
    }
    let bytes = text.as_bytes();
    let mut at = digits(text, 0, 10);
    let mut real = false;
    if bytes.get(at) == Some(&b'.') {
        real = true;
        at = digits(text, at + 1, 10);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if bytes.get(at + 1 + sign).is_some_and(u8::is_ascii_digit) {
            real = true;
            at = digits(text, at + 1 + sign, 10);
        } else if sign == 1 {
            return syntax(offset, "an exponent without digits");
        }
    }
    let plain = text[..at].replace('_', "");
    let imaginary = matches!(bytes.get(at), Some(b'j' | b'J'));
    let kind = if imaginary || real {
        let Ok(value) = plain.parse::<f64>() else { return syntax(offset, "no number") };
        let value = Float::new(value);
        if imaginary { Kind::Imaginary(value) } else { Kind::Float(value) }
    } else {
        decimal_integer(&plain, offset)?
    };
    ended(text, at + usize::from(imaginary), kind, offset)
}

fn decimal_integer<'a>(plain: &str, offset: usize) -> Result<Kind<'a>, LiteralError> {
    if plain.starts_with('0') && plain.bytes().any(|byte| byte != b'0') {
        return syntax(offset, "leading zeros in a decimal integer");
    }
    if plain.len() > DIGITS_MAX {
        return syntax(offset, "a decimal integer of more than 4300 digits");
    }
    match BigInt::parse_bytes(plain.as_bytes(), 10) {
        Some(value) => Ok(Kind::Int(value)),
        None => syntax(offset, "no integer"),
    }
}

fn radix_number<'a>(text: &str, radix: u32, offset: usize) -> Scanned<'a> {
    let first = 2 + usize::from(text.as_bytes().get(2) == Some(&b'_'));
    let at = digits(text, first, radix);
    let plain = text[first..at].replace('_', "");
    match BigInt::parse_bytes(plain.as_bytes(), radix) {
        Some(value) if !text[at..].starts_with(|ch: char| ch.is_ascii_digit()) => {
            ended(text, at, Kind::Int(value), offset)
        }
        _ => syntax(offset, "a digit that the base does not have"),
    }
}

/// The end of a run of digits that begins at `at`, single underscores between digits included.
fn digits(text: &str, mut at: usize, radix: u32) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(|byte| char::from(*byte).is_digit(radix));
    let from = at;
    loop {
        if digit(at) {
            at += 1;
        } else if at > from && bytes[at - 1] != b'_' && bytes.get(at) == Some(&b'_') && digit(at + 1) {
            at += 2;
        } else {
            return at;
        }
    }
}

/// A number ends where no name goes on; keywords that may follow an operand may follow directly.
fn ended<'a>(text: &str, at: usize, kind: Kind<'a>, offset: usize) -> Scanned<'a> {
    let rest = &text[at..];
    let keyword =
        ["and", "else", "for", "if", "in", "is", "not", "or"].iter().any(|word| rest.starts_with(word));
    if !keyword && rest.starts_with(identifier_part) {
        return syntax(offset, "a name follows a number directly");
    }
    Ok((kind, at))
}

/// A string at the beginning of `text`, whose `prefix` was read before, and its length. `offset` is for refusals.
pub(super) fn string<'a>(prefix: &str, text: &str, offset: usize) -> Scanned<'a> {
    let has = |letter: char| prefix.contains(letter) || prefix.contains(letter.to_ascii_uppercase());
    let (raw, bytes, formatted) = (has('r'), has('b'), has('f'));
    let quote = &text[..1];
    let triple = text.get(..3).is_some_and(|head| head == quote.repeat(3));
    let fence = if triple { 3 } else { 1 };
    let Some(end) = closing(text, fence) else { return syntax(offset, "a string without an end") };
    let body = &text[fence..end];
    let kind = if formatted {
        braces(body, offset)?;
        Kind::Formatted
    } else if bytes {
        if !body.is_ascii() {
            return syntax(offset, "bytes that are not ASCII");
        }
        let text = unescape(body, raw, true, offset)?;
        Kind::Bytes(text.code_points().map(|code| code as u8).collect())
    } else {
        Kind::Str(unescape(body, raw, false, offset)?)
    };
    Ok((kind, end + fence))
}

/// Where the closing quotes of a string begin.
fn closing(text: &str, fence: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = fence;
    loop {
        match bytes.get(at)? {
            // A character after a backslash never ends the string; `\r\n` counts as one.
            b'\\' if bytes[at + 1..].starts_with(b"\r\n") => at += 3,
            b'\\' => at += 2,
            b'\n' | b'\r' if fence == 1 => return None,
            byte if *byte == bytes[0]
                && bytes[at..].len() >= fence
                && bytes[at..at + fence].iter().all(|b| b == byte) =>
            {
                return Some(at);
            }
            _ => at += 1,
        }
    }
}

/// The value of the inside of a string. Line ends have become `\n` before Python looks at it.
fn unescape(body: &str, raw: bool, bytes: bool, offset: usize) -> Result<Text, LiteralError> {
    let mut out = Text::default();
    let mut rest = body;
    while let Some(at) = rest.find(['\\', '\r']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('\r') {
            rest = after.strip_prefix('\n').unwrap_or(after);
            out.push_str("\n");
        } else if raw {
            out.push_str("\\");
            rest = &rest[1..];
        } else {
            rest = escape(&rest[1..], bytes, &mut out, offset)?;
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// What follows a backslash; the rest of the text after it.
fn escape<'t>(text: &'t str, bytes: bool, out: &mut Text, offset: usize) -> Result<&'t str, LiteralError> {
    let Some(first) = text.chars().next() else { return syntax(offset, "a backslash at the end") };
    let rest = &text[first.len_utf8()..];
    let plain = match first {
        '\n' => return Ok(rest),
        '\r' => return Ok(rest.strip_prefix('\n').unwrap_or(rest)),
        '\\' | '\'' | '"' => first,
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '0'..='7' => {
            let count = text.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let code = u32::from_str_radix(&text[..count], 8).unwrap_or(0);
            out.push(if bytes { code & 0xff } else { code });
            return Ok(&text[count..]);
        }
        'x' => return hex_escape(rest, 2, out, offset),
        'u' if !bytes => return hex_escape(rest, 4, out, offset),
        'U' if !bytes => return hex_escape(rest, 8, out, offset),
        'N' if !bytes => return syntax(offset, "a character by its name"),
        other => {
            out.push_str("\\");
            other
        }
    };
    out.push(u32::from(plain));
    Ok(rest)
}

fn hex_escape<'t>(
    text: &'t str,
    count: usize,
    out: &mut Text,
    offset: usize,
) -> Result<&'t str, LiteralError> {
    let digits = text.get(..count).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
        Some(code) if out.push(code) => Ok(&text[count..]),
        _ => syntax(offset, "an escape of the wrong length or range"),
    }
}

/// The braces of an f-string: each is closed, none is empty. What stands inside is not read, an f-string being no
/// literal either way.
fn braces(body: &str, offset: usize) -> Result<(), LiteralError> {
    let plain = body.replace("{{", "").replace("}}", "");
    let mut rest = plain.as_str();
    while let Some(at) = rest.find(['{', '}']) {
        let inside = rest[at..].strip_prefix('{').and_then(|after| after.split_once('}'));
        match inside {
            Some((inside, after)) if !inside.trim().is_empty() => rest = after,
            _ => return syntax(offset, "braces of an f-string"),
        }
    }
    Ok(())
}

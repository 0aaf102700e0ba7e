//! From bytes to text: byte order marks, declared encodings, UTF-16.

use crate::report::{Refusal, clip};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};
use std::borrow::Cow;

/// How far into the file an XML declaration is looked for, in bytes.
const DECLARATION_BYTES_MAX: usize = 512;

/// Decodes a report strictly: a byte that is not valid is a refusal, never a replacement character.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Refusal> {
    let (encoding, mark) = detect(bytes)?;
    let body = &bytes[mark..];
    if encoding == UTF_8 {
        return match std::str::from_utf8(body) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(error) => Err(invalid_utf8(body, error.valid_up_to())),
        };
    }
    encoding.decode_without_bom_handling_and_without_replacement(body).ok_or_else(|| {
        Refusal::JunitEncodingInvalid { encoding: encoding.name().to_owned(), line: None, column: None }
    })
}

/// The encoding and the length of the byte order mark. A mark wins over a declaration, as in the XML standard.
fn detect(bytes: &[u8]) -> Result<(&'static Encoding, usize), Refusal> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] | [0, 0, 0, b'<', ..] | [b'<', 0, 0, 0, ..] => {
            Err(Refusal::JunitEncodingUnknown { encoding: "UTF-32".to_owned() })
        }
        [0xef, 0xbb, 0xbf, ..] => Ok((UTF_8, 3)),
        [0xff, 0xfe, ..] => Ok((UTF_16LE, 2)),
        [0xfe, 0xff, ..] => Ok((UTF_16BE, 2)),
        [b'<', 0, ..] => Ok((UTF_16LE, 0)),
        [0, b'<', ..] => Ok((UTF_16BE, 0)),
        _ => declared(bytes).map(|encoding| (encoding, 0)),
    }
}

fn declared(bytes: &[u8]) -> Result<&'static Encoding, Refusal> {
    let Some(label) = declared_label(bytes) else { return Ok(UTF_8) };
    match Encoding::for_label(&label) {
        // The declaration was readable byte by byte, so the text is not UTF-16 whatever it says.
        Some(encoding) if encoding != REPLACEMENT && encoding != UTF_16LE && encoding != UTF_16BE => {
            Ok(encoding)
        }
        _ => Err(Refusal::JunitEncodingUnknown { encoding: clip(&String::from_utf8_lossy(&label)) }),
    }
}

/// The value of `encoding` in the XML declaration.
fn declared_label(bytes: &[u8]) -> Option<Vec<u8>> {
    let head = &bytes[..bytes.len().min(DECLARATION_BYTES_MAX)];
    let head = head.strip_prefix(b"<?xml")?;
    let end = head.windows(2).position(|pair| pair == b"?>")?;
    let head = &head[..end];
    let at = head.windows(8).position(|word| word == b"encoding")?;
    let rest = head[at + 8..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, rest) = rest.split_first()?;
    let end = rest.iter().position(|byte| byte == quote)?;
    Some(rest[..end].to_vec())
}

fn invalid_utf8(bytes: &[u8], at: usize) -> Refusal {
    let valid = String::from_utf8_lossy(&bytes[..at]);
    let (line, column) = super::position(&valid, valid.len());
    Refusal::JunitEncodingInvalid {
        encoding: UTF_8.name().to_owned(),
        line: Some(line),
        column: Some(column),
    }
}

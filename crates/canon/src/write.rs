//! The one writer for bytes that get hashed or signed (desk specification 2.1 and 2.2).

use crate::digest::Digest;
use crate::value::{Object, Value};

/// Canonical JSON: members sorted by code point, no blanks, non-ASCII literal, Python number text.
///
/// RFC 8785 sorts by UTF-16 unit and writes numbers as ECMAScript does: the two forms differ on purpose.
pub fn canonical(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    write_value(&mut out, value, &Style { sorted: true, ascii: false });
    out.into_bytes()
}

/// [`canonical`] of the members of `object` that `keep` names, without a copy of them.
pub fn canonical_part(object: &Object, keep: impl Fn(&str) -> bool) -> Vec<u8> {
    let mut out = String::new();
    let members = object.iter().filter(|(key, _)| keep(key)).collect();
    write_members(&mut out, members, &Style { sorted: true, ascii: false });
    out.into_bytes()
}

/// SHA-256 of [`canonical`].
pub fn canonical_digest(value: &Value) -> Digest {
    Digest::of(&canonical(value))
}

/// "Compact ASCII": the same separators, members in source order, non-ASCII as `\uXXXX` (2.2).
pub fn compact_ascii(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    write_value(&mut out, value, &Style { sorted: false, ascii: true });
    out.into_bytes()
}

/// Why a value may not be appended to a chain of our own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCanonical {
    /// Where the float stands, as a dotted path from the root.
    pub path: String,
}

/// Refuses floats anywhere in `value`: our own entries use integers and strings only (ruling 6).
pub fn lint_no_floats(value: &Value) -> Result<(), NotCanonical> {
    fn walk(value: &Value, path: &str) -> Result<(), NotCanonical> {
        match value {
            Value::Float(_) => Err(NotCanonical { path: path.to_owned() }),
            Value::Array(items) => items.iter().try_for_each(|item| walk(item, &format!("{path}[]"))),
            Value::Object(object) => {
                object.iter().try_for_each(|(key, member)| walk(member, &format!("{path}.{key}")))
            }
            _ => Ok(()),
        }
    }
    walk(value, "$")
}

struct Style {
    sorted: bool,
    ascii: bool,
}

// Recursion is bounded by the depth limit of the reader; values built in code are shallow.
fn write_value(out: &mut String, value: &Value, style: &Style) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Int(number) => out.push_str(number.as_str()),
        Value::Float(number) => out.push_str(&number.to_string()),
        Value::Str(text) => write_string(out, text, style.ascii),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(out, item, style);
            }
            out.push(']');
        }
        Value::Object(object) => write_members(out, object.iter().collect(), style),
    }
}

fn write_members(out: &mut String, mut members: Vec<(&str, &Value)>, style: &Style) {
    if style.sorted {
        // UTF-8 bytes order exactly as code points do.
        members.sort_unstable_by_key(|(key, _)| *key);
    }
    out.push('{');
    for (index, (key, member)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(out, key, style.ascii);
        out.push(':');
        write_value(out, member, style);
    }
    out.push('}');
}

fn write_string(out: &mut String, text: &str, ascii: bool) {
    out.push('"');
    // Plain runs are copied whole: most strings here are hex.
    let plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\' && (!ascii || byte < 0x80);
    let (bytes, mut copied) = (text.as_bytes(), 0);
    // Whatever is not plain begins a character: a byte inside one is only met where `ascii` stopped at its first.
    while let Some(found) = bytes[copied..].iter().position(|byte| !plain(*byte)) {
        let index = copied + found;
        out.push_str(&text[copied..index]);
        let Some(ch) = text[index..].chars().next() else { break };
        copied = index + ch.len_utf8();
        match ch {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push_str(&text[copied..]);
    out.push('"');
}

//! The one text of a value (desk specification 16.2): what Python's `repr` prints, with sets in an order.

use super::{Complex, Text, Value, unicode};
use canon::Float;
use std::fmt::Write as _;

/// The text of a value. `parse` reads it back to an equal value, except for the cases that the module names.
pub fn emit(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value);
    out
}

/// The text of a string alone.
pub fn emit_text(text: &Text) -> String {
    let mut out = String::new();
    let quote = quote(text.code_points());
    out.push(quote);
    text.code_points().for_each(|code| write_code(&mut out, code, quote, unicode::printable(code)));
    out.push(quote);
    out
}

fn write(out: &mut String, value: &Value) {
    match value {
        Value::None => out.push_str("None"),
        Value::Ellipsis => out.push_str("..."),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Int(number) => out.push_str(&number.to_string()),
        Value::Float(number) => out.push_str(&float(*number)),
        Value::Complex(number) => write_complex(out, *number),
        Value::Str(text) => out.push_str(&emit_text(text)),
        Value::Bytes(bytes) => write_bytes(out, bytes),
        Value::List(items) => write_items(out, '[', items, "]"),
        Value::Tuple(items) => write_items(out, '(', items, if items.len() == 1 { ",)" } else { ")" }),
        Value::Set(set) if set.members().is_empty() => out.push_str("set()"),
        Value::Set(set) => write_items(out, '{', set.members(), "}"),
        Value::Dict(dict) => {
            out.push('{');
            for (index, (key, value)) in dict.members().iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                write(out, key);
                out.push_str(": ");
                write(out, value);
            }
            out.push('}');
        }
    }
}

fn write_items(out: &mut String, open: char, items: &[Value], close: &str) {
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { ", " });
        write(out, item);
    }
    out.push_str(close);
}

/// Python's `repr`, with an infinity as the literal that is read as one.
fn float(number: Float) -> String {
    match number.get() {
        value if value.is_nan() => "nan".to_owned(),
        value if value.is_infinite() => if value.is_sign_negative() { "-1e999" } else { "1e999" }.to_owned(),
        _ => number.to_string(),
    }
}

/// A real part that is plus zero is left out; the parts have no `.0`.
fn write_complex(out: &mut String, number: Complex) {
    let part = |value: Float| {
        let text = float(value);
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    };
    let imag = part(number.imag);
    if number.real == Float::new(0.0) {
        let _ = write!(out, "{imag}j");
    } else {
        let plus = if imag.starts_with('-') { "" } else { "+" };
        let _ = write!(out, "({}{plus}{imag}j)", part(number.real));
    }
}

fn write_bytes(out: &mut String, bytes: &[u8]) {
    let quote = quote(bytes.iter().map(|byte| u32::from(*byte)));
    out.push('b');
    out.push(quote);
    for byte in bytes {
        write_code(out, u32::from(*byte), quote, (0x20..=0x7e).contains(byte));
    }
    out.push(quote);
}

/// Single quotes unless the text holds a single and no double one.
fn quote(codes: impl Iterator<Item = u32>) -> char {
    let (mut single, mut double) = (false, false);
    for code in codes {
        single |= code == u32::from('\'');
        double |= code == u32::from('"');
    }
    if single && !double { '"' } else { '\'' }
}

fn write_code(out: &mut String, code: u32, quote: char, printable: bool) {
    match char::from_u32(code) {
        Some('\\') => out.push_str("\\\\"),
        Some('\n') => out.push_str("\\n"),
        Some('\r') => out.push_str("\\r"),
        Some('\t') => out.push_str("\\t"),
        Some(ch) if ch == quote => {
            out.push('\\');
            out.push(ch);
        }
        Some(ch) if printable => out.push(ch),
        _ => {
            // Writing to a String cannot fail.
            let _ = match code {
                0..=0xff => write!(out, "\\x{code:02x}"),
                0x100..=0xffff => write!(out, "\\u{code:04x}"),
                _ => write!(out, "\\U{code:08x}"),
            };
        }
    }
}

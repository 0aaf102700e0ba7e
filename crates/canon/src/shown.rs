//! Foreign bytes on screen and in reports.

use std::fmt::Write as _;

/// A name or text of somebody else's without ambiguity and without power over the terminal (PC-55): printable ASCII and other printable
/// characters stay, controls, backslashes and bytes that are no UTF-8 are escaped; a name with a blank at either
/// end is quoted.
pub fn shown(path: &[u8]) -> String {
    let mut out = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        for ch in chunk.valid().chars() {
            match ch {
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                ch if ch.is_control() || hides(ch) => {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\u{{{:x}}}", u32::from(ch));
                }
                ch => out.push(ch),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    if out.starts_with(' ') || out.ends_with(' ') || out.is_empty() { format!("\"{out}\"") } else { out }
}

/// Characters that are invisible or turn the line around.
fn hides(ch: char) -> bool {
    matches!(ch, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

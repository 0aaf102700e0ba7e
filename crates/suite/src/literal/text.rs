//! Strings of Python: code points, surrogates included.

use std::fmt;

/// A string as Python has it: any code points, so that halves of surrogate pairs may stand alone.
///
/// Held as UTF-8 with surrogates written as three bytes each; its order is the order of the code points.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text(Vec<u8>);

impl Text {
    /// The text, if no lone surrogate stands in it.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The code points.
    pub fn code_points(&self) -> impl Iterator<Item = u32> + '_ {
        let mut rest = self.0.as_slice();
        std::iter::from_fn(move || {
            let (first, mut tail) = rest.split_first()?;
            // The bytes were written by `push`: the first tells how many follow.
            let (count, bits) = match first {
                0..=0x7f => (0, u32::from(*first)),
                0x80..=0xdf => (1, u32::from(first & 0x1f)),
                0xe0..=0xef => (2, u32::from(first & 0x0f)),
                _ => (3, u32::from(first & 0x07)),
            };
            let mut code = bits;
            for _ in 0..count {
                let (next, after) = tail.split_first()?;
                code = code << 6 | u32::from(next & 0x3f);
                tail = after;
            }
            rest = tail;
            Some(code)
        })
    }

    /// Each code point as a text of its own.
    pub fn characters(&self) -> impl Iterator<Item = Text> + '_ {
        self.code_points().map(|code| {
            let mut text = Text::default();
            text.push(code);
            text
        })
    }

    /// Adds a code point; nothing is added and `false` returned above U+10FFFF.
    pub fn push(&mut self, code: u32) -> bool {
        match (char::from_u32(code), code) {
            (Some(ch), _) => self.0.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes()),
            (None, 0xd800..=0xdfff) => {
                let low = |shift: u32| 0x80 | (code >> shift & 0x3f) as u8;
                self.0.extend_from_slice(&[0xe0 | (code >> 12) as u8, low(6), low(0)]);
            }
            _ => return false,
        }
        true
    }

    /// Adds a text.
    pub fn push_str(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Adds a text that may hold surrogates.
    pub fn push_text(&mut self, text: &Text) {
        self.0.extend_from_slice(&text.0);
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(text.as_bytes().to_vec())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::emit_text(self))
    }
}

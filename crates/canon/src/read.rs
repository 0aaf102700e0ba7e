//! The strict JSON reader. Every refusal names its byte offset; no input makes it panic or recurse past the
//! depth limit.

use crate::number::{Float, Int};
use crate::value::{Object, Value};
use std::collections::BTreeSet;

/// Bounds of one document.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Deepest nesting of arrays and objects; 128 passes, 129 is refused (ruling 22).
    pub depth_max: usize,
    /// Longest document in bytes.
    pub bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth_max: 128, bytes_max: 16 << 20 }
    }
}

/// A refusal and where it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// What was wrong.
    pub fault: ReadFault,
    /// Byte offset in the document.
    pub offset: usize,
}

/// What the reader can refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadFault {
    /// The document starts with a UTF-8 byte-order mark.
    ByteOrderMark,
    /// Not UTF-8.
    NotUtf8,
    /// The document ended inside a value.
    UnexpectedEnd,
    /// A byte that cannot stand there.
    UnexpectedByte(u8),
    /// The same key twice in one object.
    DuplicateKey(String),
    /// Half of a surrogate pair, which no UTF-8 text can carry.
    LoneSurrogate,
    /// A backslash followed by something that is no escape.
    BadEscape,
    /// A raw control character inside a string.
    ControlCharacter,
    /// A number that JSON does not allow (`01`, `1.`, `+1`).
    BadNumber,
    /// `NaN`, `Infinity` or `-Infinity`, which are not JSON.
    NonFinite,
    /// A float so large that it would be read as infinity.
    FloatOverflow,
    /// Nested deeper than the limit.
    TooDeep(usize),
    /// Longer than the limit, in bytes.
    TooLong(usize),
    /// A complete value followed by something else.
    TrailingBytes,
}

// Registry: `crates/verdict/reasons.toml`.
crate::codes! {
    impl ReadFault: &self {
        ReadFault::ByteOrderMark => "json_byte_order_mark",
        ReadFault::NotUtf8 => "json_not_utf8",
        ReadFault::UnexpectedEnd => "json_unexpected_end",
        ReadFault::UnexpectedByte(_) => "json_unexpected_byte",
        ReadFault::DuplicateKey(_) => "json_duplicate_key",
        ReadFault::LoneSurrogate => "json_lone_surrogate",
        ReadFault::BadEscape => "json_bad_escape",
        ReadFault::ControlCharacter => "json_control_character",
        ReadFault::BadNumber => "json_bad_number",
        ReadFault::NonFinite => "json_non_finite",
        ReadFault::FloatOverflow => "json_float_overflow",
        ReadFault::TooDeep(_) => "json_too_deep",
        ReadFault::TooLong(_) => "json_too_long",
        ReadFault::TrailingBytes => "json_trailing_bytes",
    }
}

/// Reads one document. `Reader::strict()` is the rule; `Reader::peer()` mirrors what Python's reader lets
/// through (last duplicate wins, `NaN` and infinities) so that a peer's chain can be hashed again.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    limits: Limits,
    peer: bool,
}

impl Reader {
    /// The strict reader with the default limits.
    pub fn strict() -> Reader {
        Reader { limits: Limits::default(), peer: false }
    }

    /// The lenient reader for `--peer-compat`.
    pub fn peer() -> Reader {
        Reader { limits: Limits::default(), peer: true }
    }

    /// The same reader with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Reader {
        self.limits = limits;
        self
    }

    /// The value of a whole document: one value, surrounded by nothing but JSON blanks.
    pub fn read(&self, bytes: &[u8]) -> Result<Value, ReadError> {
        let fail = |fault, offset| Err(ReadError { fault, offset });
        if bytes.len() > self.limits.bytes_max {
            return fail(ReadFault::TooLong(self.limits.bytes_max), self.limits.bytes_max);
        }
        if bytes.starts_with(b"\xef\xbb\xbf") {
            return fail(ReadFault::ByteOrderMark, 0);
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => return fail(ReadFault::NotUtf8, error.valid_up_to()),
        };
        let mut cursor = Cursor { text, at: 0, depth: 0, options: *self };
        cursor.blanks();
        let value = cursor.value()?;
        cursor.blanks();
        match cursor.peek() {
            None => Ok(value),
            Some(_) => fail(ReadFault::TrailingBytes, cursor.at),
        }
    }
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    options: Reader,
}

type Read<T> = Result<T, ReadError>;

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fail<T>(&self, fault: ReadFault) -> Read<T> {
        Err(ReadError { fault, offset: self.at })
    }

    fn unexpected<T>(&self) -> Read<T> {
        self.fail(self.peek().map_or(ReadFault::UnexpectedEnd, ReadFault::UnexpectedByte))
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self) -> Read<Value> {
        match self.peek() {
            Some(b'{') => self.nested(Cursor::object),
            Some(b'[') => self.nested(Cursor::array),
            Some(b'"') => Ok(Value::Str(self.string()?)),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'N') => self.non_finite("NaN", f64::NAN),
            Some(b'I') => self.non_finite("Infinity", f64::INFINITY),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.unexpected(),
        }
    }

    fn nested(&mut self, parse: fn(&mut Self) -> Read<Value>) -> Read<Value> {
        if self.depth == self.options.limits.depth_max {
            return self.fail(ReadFault::TooDeep(self.options.limits.depth_max));
        }
        self.depth += 1;
        self.at += 1;
        self.blanks();
        let value = parse(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Read<Value> {
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.blanks();
            if self.take(b']') {
                return Ok(Value::Array(items));
            }
            if !self.take(b',') {
                return self.unexpected();
            }
            self.blanks();
        }
    }

    fn object(&mut self) -> Read<Value> {
        let mut members: Vec<(String, Value)> = Vec::new();
        let mut seen = Seen::default();
        let mut repeated = false;
        if self.take(b'}') {
            return Ok(Value::Object(Object::default()));
        }
        loop {
            if self.peek() != Some(b'"') {
                return self.unexpected();
            }
            let key_at = self.at;
            let key = self.string()?;
            self.blanks();
            if !self.take(b':') {
                return self.unexpected();
            }
            self.blanks();
            if seen.insert(&key, &members) {
                if !self.options.peer {
                    return Err(ReadError { fault: ReadFault::DuplicateKey(key), offset: key_at });
                }
                repeated = true;
            }
            members.push((key, self.value()?));
            self.blanks();
            if self.take(b'}') {
                let members = if repeated { last_of_each(members) } else { members };
                return Ok(Value::Object(Object::from_unique(members)));
            }
            if !self.take(b',') {
                return self.unexpected();
            }
            self.blanks();
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Read<Value> {
        for byte in word.bytes() {
            if !self.take(byte) {
                return self.unexpected();
            }
        }
        Ok(value)
    }

    fn non_finite(&mut self, word: &str, value: f64) -> Read<Value> {
        if !self.text[self.at..].starts_with(word) {
            return self.unexpected();
        }
        if !self.options.peer {
            return self.fail(ReadFault::NonFinite);
        }
        self.at += word.len();
        Ok(Value::Float(Float::new(value)))
    }

    fn number(&mut self) -> Read<Value> {
        let start = self.at;
        if self.take(b'-') && self.peek() == Some(b'I') {
            return self.non_finite("Infinity", f64::NEG_INFINITY);
        }
        if !self.take(b'0') && self.digits() == 0 {
            return self.unexpected();
        }
        let integer_end = self.at;
        if self.take(b'.') && self.digits() == 0 {
            return self.fail(ReadFault::BadNumber);
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return self.fail(ReadFault::BadNumber);
            }
        }
        if matches!(self.peek(), Some(b'0'..=b'9' | b'.' | b'+' | b'-')) {
            return self.fail(ReadFault::BadNumber);
        }
        let token = &self.text[start..self.at];
        if self.at == integer_end {
            return Ok(Value::Int(Int::from_token(token)));
        }
        // The standard library's parser rounds correctly (PC-45).
        let Ok(value) = token.parse::<f64>() else { return self.fail(ReadFault::BadNumber) };
        if value.is_infinite() && !self.options.peer {
            return Err(ReadError { fault: ReadFault::FloatOverflow, offset: start });
        }
        Ok(Value::Float(Float::new(value)))
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn string(&mut self) -> Read<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            let rest = &self.text.as_bytes()[start..];
            let plain = |byte: &u8| *byte != b'"' && *byte != b'\\' && *byte >= 0x20;
            self.at += rest.iter().position(|byte| !plain(byte)).unwrap_or(rest.len());
            out.push_str(&self.text[start..self.at]);
            match self.peek() {
                None => return self.fail(ReadFault::UnexpectedEnd),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return self.fail(ReadFault::ControlCharacter),
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        let start = self.at;
        self.at += 1;
        let simple = match self.peek() {
            None => return self.fail(ReadFault::UnexpectedEnd),
            Some(b'u') => return self.unicode_escape(start),
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(_) => return Err(ReadError { fault: ReadFault::BadEscape, offset: start }),
        };
        self.at += 1;
        Ok(simple)
    }

    fn unicode_escape(&mut self, start: usize) -> Read<char> {
        let lone = ReadError { fault: ReadFault::LoneSurrogate, offset: start };
        let unit = self.four_hex(start)?;
        let code = match unit {
            0xd800..=0xdbff => {
                if !self.text[self.at..].starts_with("\\u") {
                    return Err(lone);
                }
                self.at += 1;
                let low = self.four_hex(start)?;
                if !(0xdc00..=0xdfff).contains(&low) {
                    return Err(lone);
                }
                0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
            }
            other => other,
        };
        char::from_u32(code).ok_or(lone)
    }

    /// Four hex digits after the `u` that `at` points to.
    fn four_hex(&mut self, start: usize) -> Read<u32> {
        let bad = ReadError { fault: ReadFault::BadEscape, offset: start };
        let digits = self.text.as_bytes().get(self.at + 1..self.at + 5).ok_or(bad.clone())?;
        let mut unit = 0;
        for byte in digits {
            unit = unit * 16 + (*byte as char).to_digit(16).ok_or(bad.clone())?;
        }
        self.at += 5;
        Ok(unit)
    }
}

/// What Python's reader makes of repeated keys: the last one counts.
fn last_of_each(members: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let mut kept = BTreeSet::new();
    let mut last: Vec<_> = members.into_iter().rev().filter(|(key, _)| kept.insert(key.clone())).collect();
    last.reverse();
    last
}

/// Keys met so far. Small objects are compared with their members, large ones kept in a set, so that neither
/// an entry of eight members nor a hostile object of a million keys costs much.
#[derive(Default)]
struct Seen(BTreeSet<String>);

impl Seen {
    const SMALL: usize = 16;

    fn insert(&mut self, key: &str, members: &[(String, Value)]) -> bool {
        if members.len() < Seen::SMALL {
            return members.iter().any(|(name, _)| name == key);
        }
        if self.0.is_empty() {
            self.0.extend(members.iter().map(|(name, _)| name.clone()));
        }
        !self.0.insert(key.to_owned())
    }
}

//! The strict JSON reader. Every refusal names its byte offset; no input makes it panic or recurse past the
//! depth limit.

use crate::build::{Build, Values};
use crate::scan;
use crate::value::Value;
use std::borrow::Cow;
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
    /// A number written with an exponent beyond 400 either way; the replay form only.
    ExponentRange,
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
        ReadFault::ExponentRange => "json_exponent_range",
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
        self.build(bytes, Values)
    }

    /// The same document as whatever `build` makes of it.
    pub(crate) fn build<'a, B: Build<'a>>(&self, bytes: &'a [u8], build: B) -> Result<B::Value, ReadError> {
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
        let mut cursor = Cursor { text, at: 0, depth: 0, options: *self, build, members: 0 };
        cursor.blanks();
        let value = cursor.value()?;
        cursor.blanks();
        match cursor.peek() {
            None => Ok(value),
            Some(_) => fail(ReadFault::TrailingBytes, cursor.at),
        }
    }
}

struct Cursor<'a, B> {
    text: &'a str,
    at: usize,
    depth: usize,
    options: Reader,
    build: B,
    /// Members of the object that was read last: the next one is probably of its kind.
    members: usize,
}

type Read<T> = Result<T, ReadError>;

impl<'a, B: Build<'a>> Cursor<'a, B> {
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

    fn value(&mut self) -> Read<B::Value> {
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => {
                let text = self.string()?;
                Ok(self.build.string(text))
            }
            Some(b't') => self.word("true", self.build.boolean(true)),
            Some(b'f') => self.word("false", self.build.boolean(false)),
            Some(b'n') => self.word("null", self.build.null()),
            Some(b'N') => self.non_finite("NaN", f64::NAN),
            Some(b'I') => self.non_finite("Infinity", f64::INFINITY),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.unexpected(),
        }
    }

    fn nested(&mut self, parse: fn(&mut Self) -> Read<B::Value>) -> Read<B::Value> {
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

    fn array(&mut self) -> Read<B::Value> {
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(self.build.array(items));
        }
        loop {
            items.push(self.value()?);
            self.blanks();
            if self.take(b']') {
                if items.len() == 1 {
                    // Deeply nested lists of one would keep room for four on each level.
                    items.shrink_to_fit();
                }
                return Ok(self.build.array(items));
            }
            if !self.take(b',') {
                return self.unexpected();
            }
            self.blanks();
        }
    }

    fn object(&mut self) -> Read<B::Value> {
        let mut members: Vec<(B::Key, B::Value)> = Vec::with_capacity(self.members);
        let mut seen = Seen::default();
        let mut repeated = false;
        if self.take(b'}') {
            return Ok(self.build.object(members));
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
                    return Err(ReadError {
                        fault: ReadFault::DuplicateKey(key.into_owned()),
                        offset: key_at,
                    });
                }
                repeated = true;
            }
            members.push((key.into(), self.value()?));
            self.blanks();
            if self.take(b'}') {
                let members = if repeated { last_of_each(members) } else { members };
                self.members = members.len().min(Seen::SMALL);
                return Ok(self.build.object(members));
            }
            if !self.take(b',') {
                return self.unexpected();
            }
            self.blanks();
        }
    }

    fn word(&mut self, word: &str, value: B::Value) -> Read<B::Value> {
        for byte in word.bytes() {
            if !self.take(byte) {
                return self.unexpected();
            }
        }
        Ok(value)
    }

    fn non_finite(&mut self, word: &str, value: f64) -> Read<B::Value> {
        if !self.text[self.at..].starts_with(word) {
            return self.unexpected();
        }
        match self.build.non_finite(value) {
            Some(value) if self.options.peer => {
                self.at += word.len();
                Ok(value)
            }
            _ => self.fail(ReadFault::NonFinite),
        }
    }

    fn number(&mut self) -> Read<B::Value> {
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
        let built = if self.at == integer_end {
            Ok(self.build.integer(token))
        } else {
            self.build.decimal(token, self.options.peer)
        };
        built.map_err(|fault| ReadError { fault, offset: start })
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    /// A string without escapes is a piece of the document; only others are copied.
    fn string(&mut self) -> Read<Cow<'a, str>> {
        self.at += 1;
        let start = self.at;
        self.plain_run();
        if self.take(b'"') {
            return Ok(Cow::Borrowed(&self.text[start..self.at - 1]));
        }
        let mut out = self.text[start..self.at].to_owned();
        loop {
            match self.peek() {
                None => return self.fail(ReadFault::UnexpectedEnd),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(out));
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return self.fail(ReadFault::ControlCharacter),
            }
            let start = self.at;
            self.plain_run();
            out.push_str(&self.text[start..self.at]);
        }
    }

    /// Up to the next quote, backslash or control character.
    fn plain_run(&mut self) {
        self.at += scan::plain_run(&self.text.as_bytes()[self.at..]);
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
fn last_of_each<K: AsRef<str>, V>(members: Vec<(K, V)>) -> Vec<(K, V)> {
    let mut kept = BTreeSet::new();
    let mut last: Vec<_> =
        members.into_iter().rev().filter(|(key, _)| kept.insert(key.as_ref().to_owned())).collect();
    last.reverse();
    last
}

/// Keys met so far. Small objects are compared with their members, large ones kept in a set, so that neither
/// an entry of eight members nor a hostile object of a million keys costs much. A key whose mark is new is new.
#[derive(Default)]
struct Seen {
    marks: u64,
    keys: BTreeSet<String>,
}

impl Seen {
    const SMALL: usize = 16;

    fn insert<K: AsRef<str>, V>(&mut self, key: &str, members: &[(K, V)]) -> bool {
        let mark = mark(key);
        let new = self.marks & mark == 0;
        self.marks |= mark;
        if members.len() < Seen::SMALL {
            return !new && members.iter().any(|(name, _)| name.as_ref() == key);
        }
        if self.keys.is_empty() {
            self.keys.extend(members.iter().map(|(name, _)| name.as_ref().to_owned()));
        }
        !self.keys.insert(key.to_owned())
    }
}

/// One bit of 64, from length, first and last byte.
fn mark(key: &str) -> u64 {
    let bytes = key.as_bytes();
    let byte = |byte: Option<&u8>| u64::from(byte.copied().unwrap_or_default());
    let mixed = bytes.len() as u64 + byte(bytes.first()) * 7 + byte(bytes.last()) * 29;
    1 << (mixed % 64)
}

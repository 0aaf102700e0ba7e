//! One candidate in Rust and the calls of the desk (docs/check-protocol.md): requests on descriptor 0, replies on 3.
//!
//! A candidate is a module with a public function of up to four arguments, each of a type that [`Take`]s a literal, and
//! a result that [`Give`]s one; `crate::touchstone::Value` takes and gives anything. A `Result` or a panic is an error.

use std::fmt::Write as _;
use std::io::{BufRead as _, Write as _};
use std::os::fd::FromRawFd as _;

/// Any literal. Complex numbers and integers of more than 127 bits are not supported.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(String),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    Tuple(Vec<Value>),
    Set(Vec<Value>),
    Dict(Vec<(Value, Value)>),
}

/// From a literal.
pub trait Take: Sized {
    fn take(value: Value) -> Option<Self>;
}

/// To a literal.
pub trait Give {
    fn give(self) -> Result<Value, String>;
}

impl Take for Value {
    fn take(value: Value) -> Option<Value> {
        Some(value)
    }
}
impl Give for Value {
    fn give(self) -> Result<Value, String> {
        Ok(self)
    }
}

macro_rules! integers {
    ($($kind:ty)*) => { $(
        impl Take for $kind {
            fn take(value: Value) -> Option<$kind> {
                match value { Value::Int(n) => n.try_into().ok(), Value::Bool(b) => Some(<$kind>::from(b)), _ => None }
            }
        }
        impl Give for $kind {
            fn give(self) -> Result<Value, String> {
                i128::try_from(self).map(Value::Int).map_err(|_| "an integer of more than 127 bits".to_owned())
            }
        }
    )* };
}
integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize i128);

macro_rules! same {
    ($($kind:ty, $member:ident;)*) => { $(
        impl Take for $kind {
            fn take(value: Value) -> Option<$kind> {
                match value { Value::$member(inner) => Some(inner), _ => None }
            }
        }
        impl Give for $kind {
            fn give(self) -> Result<Value, String> {
                Ok(Value::$member(self))
            }
        }
    )* };
}
same! { bool, Bool; String, Str; }

impl Take for f64 {
    fn take(value: Value) -> Option<f64> {
        match value {
            Value::Float(number) => Some(number),
            Value::Int(number) => Some(number as f64),
            _ => None,
        }
    }
}
impl Give for f64 {
    fn give(self) -> Result<Value, String> {
        if self.is_finite() { Ok(Value::Float(self)) } else { Err("NotLiteral: a float that is not finite".into()) }
    }
}
impl Give for &str {
    fn give(self) -> Result<Value, String> {
        Ok(Value::Str(self.into()))
    }
}
impl Give for () {
    fn give(self) -> Result<Value, String> {
        Ok(Value::None)
    }
}
impl<T: Take> Take for Option<T> {
    fn take(value: Value) -> Option<Option<T>> {
        if value == Value::None { Some(None) } else { T::take(value).map(Some) }
    }
}
impl<T: Give> Give for Option<T> {
    fn give(self) -> Result<Value, String> {
        self.map_or(Ok(Value::None), T::give)
    }
}
impl<T: Take> Take for Vec<T> {
    fn take(value: Value) -> Option<Vec<T>> {
        match value {
            Value::List(items) | Value::Tuple(items) | Value::Set(items) => items.into_iter().map(T::take).collect(),
            _ => None,
        }
    }
}
impl<T: Give> Give for Vec<T> {
    fn give(self) -> Result<Value, String> {
        self.into_iter().map(T::give).collect::<Result<_, _>>().map(Value::List)
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => { $(
        #[allow(non_snake_case)]
        impl<$($name: Take),*> Take for ($($name,)*) {
            fn take(value: Value) -> Option<Self> {
                let (Value::Tuple(items) | Value::List(items)) = value else { return None };
                let mut items = items.into_iter();
                $(let $name = $name::take(items.next()?)?;)*
                if items.next().is_none() { Some(($($name,)*)) } else { None }
            }
        }
        #[allow(non_snake_case)]
        impl<$($name: Give),*> Give for ($($name,)*) {
            fn give(self) -> Result<Value, String> {
                let ($($name,)*) = self;
                Ok(Value::Tuple(vec![$($name.give()?),*]))
            }
        }
    )* };
}
tuples!((A) (A B) (A B C) (A B C D));

impl<T: Give, E: std::fmt::Display> Give for Result<T, E> {
    fn give(self) -> Result<Value, String> {
        self.map_err(|error| error.to_string())?.give()
    }
}

/// A function that can be called with literals.
pub trait Entry<Arguments> {
    fn enter(&self, arguments: Vec<Value>) -> Result<Value, String>;
}

macro_rules! entries {
    ($(($($name:ident)*))*) => { $(
        impl<Function, Output: Give, $($name: Take),*> Entry<($($name,)*)> for Function
        where Function: Fn($($name),*) -> Output
        {
            #[allow(non_snake_case, unused_mut, unused_variables)]
            fn enter(&self, arguments: Vec<Value>) -> Result<Value, String> {
                let mut arguments = arguments.into_iter();
                $(let $name = arguments.next().and_then($name::take).ok_or("an argument of another type")?;)*
                if arguments.next().is_some() {
                    return Err("too many arguments".into());
                }
                self($($name),*).give()
            }
        }
    )* };
}
entries!(() (A) (A B) (A B C) (A B C D));

// ------------------------------------------------------------------------------------------------ conversation

/// Answers the desk until it closes the pipe.
pub fn serve<Arguments>(entry: impl Entry<Arguments>) {
    // SAFETY: the desk opened descriptor 3 for this process, and nobody else here knows of it.
    let mut replies = unsafe { std::fs::File::from_raw_fd(3) };
    std::panic::set_hook(Box::new(|_| {}));
    let mut send = |members: &[(&str, &str)]| {
        let inside: Vec<String> = members.iter().map(|(name, text)| format!("\"{name}\":{}", json(text))).collect();
        replies.write_all(format!("{{{}}}\n", inside.join(",")).as_bytes()).is_ok()
    };
    send(&[("ready", "1")]);
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let member = |name: &str| member(&line, name);
        let Some(nonce) = member("nonce") else { return };
        let Some(text) = member("call") else {
            send(&[("nonce", &nonce), ("loaded", &member("entry_point").unwrap_or_default())]);
            continue;
        };
        match answer(&entry, &text) {
            Ok(value) => send(&[("nonce", &nonce), ("value", &value)]),
            Err(message) => {
                let not_literal = message.strip_prefix("NotLiteral: ");
                let class = if not_literal.is_some() { "NotLiteral" } else { "Error" };
                let message: String = not_literal.unwrap_or(&message).chars().take(500).collect();
                send(&[("nonce", &nonce), ("error", class), ("message", &message)])
            }
        };
    }
}

fn answer<Arguments>(entry: &impl Entry<Arguments>, text: &str) -> Result<String, String> {
    let arguments = match (Reader { rest: text }).value() {
        Some(Value::List(arguments)) => arguments,
        _ => return Err("arguments that this adapter cannot read".into()),
    };
    let called = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| entry.enter(arguments)));
    let value = called.unwrap_or_else(|_| Err("the candidate panicked".into()))?;
    let mut out = String::new();
    emit(&value, &mut out);
    Ok(out)
}

fn json(text: &str) -> String {
    let mut out = String::from("\"");
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte @ b' '..=b'~') if byte != b'"' && byte != b'\\' => out.push(char::from(byte)),
            _ => drop(write!(out, "\\u{unit:04x}")),
        }
    }
    out + "\""
}

/// A member of a flat JSON object of strings.
fn member(line: &str, name: &str) -> Option<String> {
    let mut rest = line.strip_prefix('{')?;
    loop {
        let (found, after) = json_string(rest)?;
        let (text, after) = json_string(after.strip_prefix(':')?)?;
        if found == name {
            return Some(text);
        }
        rest = after.strip_prefix(',')?;
    }
}

fn json_string(text: &str) -> Option<(String, &str)> {
    let mut units: Vec<u16> = Vec::new();
    let mut chars = text.strip_prefix('"')?.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((String::from_utf16(&units).ok()?, &text[at + 2..])),
            '\\' => match chars.next()?.1 {
                'u' => {
                    let digits: String = (0..4).filter_map(|_| chars.next().map(|(_, digit)| digit)).collect();
                    units.push(u16::from_str_radix(&digits, 16).ok()?);
                }
                'n' => units.push(10),
                'r' => units.push(13),
                't' => units.push(9),
                'b' => units.push(8),
                'f' => units.push(12),
                other => units.extend(other.encode_utf16(&mut [0; 2]).iter()),
            },
            other => units.extend(other.encode_utf16(&mut [0; 2]).iter()),
        }
    }
    None
}

// ------------------------------------------------------------------------------------------------ literals

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn accept(&mut self, word: &str) -> bool {
        self.rest = self.rest.trim_start_matches(' ');
        match self.rest.strip_prefix(word) {
            Some(rest) => self.rest = rest,
            None => return false,
        }
        true
    }

    fn items<T>(&mut self, end: &str, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut found = Vec::new();
        while !self.accept(end) {
            found.push(one(self)?);
            if !self.accept(",") {
                return self.accept(end).then_some(found);
            }
        }
        Some(found)
    }

    fn value(&mut self) -> Option<Value> {
        for (word, value) in [
            ("None", Value::None),
            ("True", Value::Bool(true)),
            ("False", Value::Bool(false)),
            ("set()", Value::Set(Vec::new())),
        ] {
            if self.accept(word) {
                return Some(value);
            }
        }
        if self.accept("[") {
            return self.items("]", Self::value).map(Value::List);
        }
        if self.accept("(") {
            return self.items(")", Self::value).map(Value::Tuple);
        }
        if self.accept("{") {
            return self.braces();
        }
        if self.rest.starts_with("b'") || self.rest.starts_with("b\"") {
            self.rest = &self.rest[1..];
            let text = self.string()?;
            let bytes: Option<Vec<u8>> = text.chars().map(|char| u8::try_from(u32::from(char)).ok()).collect();
            return bytes.map(Value::Bytes);
        }
        if self.rest.starts_with(['\'', '"']) { self.string().map(Value::Str) } else { self.number() }
    }

    fn braces(&mut self) -> Option<Value> {
        let items = self.items("}", |reader| {
            let key = reader.value()?;
            let value = if reader.accept(":") { Some(reader.value()?) } else { None };
            Some((key, value))
        })?;
        if items.iter().all(|(_, value)| value.is_some()) {
            return Some(Value::Dict(items.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()));
        }
        Some(Value::Set(items.into_iter().map(|(key, _)| key).collect()))
    }

    fn number(&mut self) -> Option<Value> {
        let part = |at: char| at.is_ascii_alphanumeric() || "+-._".contains(at);
        let end = self.rest.find(|at| !part(at)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if word.contains(['.', 'e', 'E']) { word.parse().ok().map(Value::Float) } else { word.parse().ok().map(Value::Int) }
    }

    fn string(&mut self) -> Option<String> {
        let mut chars = self.rest.chars();
        let quote = chars.next()?;
        let mut found = String::new();
        loop {
            match chars.next()? {
                char if char == quote => break,
                '\\' => {
                    let kind = chars.next()?;
                    let width = match kind { 'x' => 2, 'u' => 4, 'U' => 8, _ => 0 };
                    found.push(match kind {
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        _ if width > 0 => {
                            let digits: String = chars.by_ref().take(width).collect();
                            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
                        }
                        other => other,
                    });
                }
                char => found.push(char),
            }
        }
        self.rest = chars.as_str();
        Some(found)
    }
}

fn emit(value: &Value, out: &mut String) {
    let all = |items: &[Value], out: &mut String, after: &str| {
        for item in items {
            emit(item, out);
            out.push_str(after);
        }
    };
    match value {
        Value::None => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Int(number) => drop(write!(out, "{number}")),
        Value::Float(number) => drop(write!(out, "{number:?}")),
        Value::Str(text) => quoted(text.chars().map(u32::from), out),
        Value::Bytes(bytes) => {
            out.push('b');
            out.push('\'');
            bytes.iter().for_each(|byte| drop(write!(out, "\\x{byte:02x}")));
            out.push('\'');
        }
        Value::Set(items) if items.is_empty() => out.push_str("set()"),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) => {
            let (open, close) = match value {
                Value::List(_) => ('[', ']'),
                Value::Tuple(_) => ('(', ')'),
                _ => ('{', '}'),
            };
            out.push(open);
            all(items, out, ",");
            out.push(close);
        }
        Value::Dict(pairs) => {
            out.push('{');
            for (key, item) in pairs {
                emit(key, out);
                out.push_str(": ");
                emit(item, out);
                out.push(',');
            }
            out.push('}');
        }
    }
}

fn quoted(codes: impl Iterator<Item = u32>, out: &mut String) {
    out.push('\'');
    for code in codes {
        match u8::try_from(code) {
            Ok(byte @ b' '..=b'~') if byte != b'\'' && byte != b'\\' => out.push(char::from(byte)),
            _ => drop(write!(out, "\\U{code:08x}")),
        }
    }
    out.push('\'');
}

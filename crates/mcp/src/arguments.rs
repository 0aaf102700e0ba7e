//! Arguments of a call, read strictly: what nobody asked for is refused, as everywhere in the desk.

use crate::wrong::{Refusal, Wrong};
use rmcp::model::JsonObject;
use serde_json::Value;
use std::ops::RangeInclusive;

/// Longest text of an argument, in bytes; a suite or a candidate fits.
const TEXT_BYTES_MAX: usize = 4 << 20;
/// Most texts of a list.
const TEXTS_MAX: usize = 32;

/// What is left of the arguments of a call.
pub(crate) struct Arguments(JsonObject);

impl Arguments {
    pub(crate) fn new(given: Option<JsonObject>) -> Arguments {
        Arguments(given.unwrap_or_default())
    }

    /// A text; `null` is one that was not given.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => checked(name, text).map(Some),
            Some(_) => Err(wrong(name, "a text is needed")),
        }
    }

    pub(crate) fn needed(&mut self, name: &str) -> Result<String, Refusal> {
        self.text(name)?.ok_or_else(|| wrong(name, "is needed"))
    }

    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>, Refusal> {
        let list = match self.0.remove(name) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(list)) if list.len() <= TEXTS_MAX => list,
            Some(_) => return Err(wrong(name, &format!("a list of at most {TEXTS_MAX} texts is needed"))),
        };
        let text = |value| match value {
            Value::String(text) => checked(name, text),
            _ => Err(wrong(name, "a list of texts is needed")),
        };
        list.into_iter().map(text).collect()
    }

    pub(crate) fn number(&mut self, name: &str, range: RangeInclusive<u64>) -> Result<Option<u64>, Refusal> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let number = value.as_u64().filter(|number| range.contains(number));
                let said = || format!("a whole number from {} to {} is needed", range.start(), range.end());
                number.map(Some).ok_or_else(|| wrong(name, &said()))
            }
        }
    }

    /// An object or a text that holds one, as JSON text.
    pub(crate) fn json(&mut self, name: &str) -> Result<String, Refusal> {
        match self.0.remove(name) {
            Some(Value::String(text)) => checked(name, text),
            Some(value @ Value::Object(_)) => checked(name, value.to_string()),
            Some(_) => Err(wrong(name, "an object is needed")),
            None => Err(wrong(name, "is needed")),
        }
    }

    /// Nothing may be left.
    pub(crate) fn end(self) -> Result<(), Refusal> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(wrong(name, "this tool has no such argument")),
        }
    }
}

fn checked(name: &str, text: String) -> Result<String, Refusal> {
    match () {
        () if text.len() > TEXT_BYTES_MAX => Err(wrong(name, &format!("longer than {TEXT_BYTES_MAX} bytes"))),
        () if text.contains('\0') => Err(wrong(name, "holds a NUL")),
        () => Ok(text),
    }
}

pub(crate) fn wrong(name: &str, said: &str) -> Refusal {
    let name: String = name.chars().take(64).collect();
    Refusal::new(Wrong::Argument, format!("{}: {said}", canon::shown(name.as_bytes())))
}

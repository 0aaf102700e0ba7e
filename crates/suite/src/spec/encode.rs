//! Which literals a suite may hold (desk specification 16.1, 16.3).

use super::error::LiteralFault;
use super::python::type_name;
use super::{DEPTH_MAX, INT_BITS_MAX, LITERAL_CHARS_MAX, Mode};
use crate::literal::{ErrorName, Value, emit, parse};
use canon::Value as Json;

/// A literal of a suite: its value, and its text as it is hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// The value.
    pub value: Value,
    /// Its text.
    pub text: String,
}

impl Literal {
    /// A value as a suite holds it.
    ///
    /// # Errors
    ///
    /// A value that a suite cannot hold.
    pub fn new(value: Value) -> Result<Literal, LiteralFault> {
        admitted(&value, 0)?;
        let text = emit(&value);
        Ok(Literal { value, text })
    }
}

/// Checks and reads a member that should be the text of a literal. A missing one counts as null.
pub(super) fn read(member: Option<&Json>) -> Result<Value, LiteralFault> {
    let text = match member {
        Some(Json::Str(text)) => text,
        other => return Err(LiteralFault::MustBeStr(type_name(other.unwrap_or(&Json::Null)))),
    };
    if !short(text) {
        return Err(LiteralFault::TooLong);
    }
    let value = parse(text).map_err(|error| match error.name {
        ErrorName::Overflow => LiteralFault::Unencodable,
        name => LiteralFault::NotALiteral(name),
    })?;
    admitted(&value, 0)?;
    Ok(value)
}

/// The text of a value that [`read`] has let through.
pub(super) fn written(value: Value, mode: Mode) -> Result<Literal, LiteralFault> {
    let text = emit(&value);
    if mode == Mode::Strict && !short(&text) {
        return Err(LiteralFault::Unencodable);
    }
    Ok(Literal { value, text })
}

fn short(text: &str) -> bool {
    text.len() <= LITERAL_CHARS_MAX || text.chars().count() <= LITERAL_CHARS_MAX
}

/// The first value, from the outside and from the left, that a suite cannot hold.
fn admitted(value: &Value, depth: usize) -> Result<(), LiteralFault> {
    if depth > DEPTH_MAX {
        return Err(LiteralFault::TooDeep);
    }
    let inner = |item: &Value| admitted(item, depth + 1);
    match value {
        Value::None | Value::Bool(_) | Value::Str(_) | Value::Bytes(_) => Ok(()),
        Value::Ellipsis => Err(LiteralFault::NotALiteralType(value.type_name())),
        Value::Int(number) if number.bits() > INT_BITS_MAX => Err(LiteralFault::IntTooLarge),
        Value::Int(_) => Ok(()),
        Value::Float(number) if !number.is_finite() => Err(LiteralFault::NanOrInf),
        Value::Complex(number) if !number.real.is_finite() || !number.imag.is_finite() => {
            Err(LiteralFault::NanOrInf)
        }
        Value::Float(_) | Value::Complex(_) => Ok(()),
        Value::List(items) | Value::Tuple(items) => items.iter().try_for_each(inner),
        Value::Set(set) if set.members().is_empty() => Err(LiteralFault::EmptySet),
        Value::Set(set) => set.members().iter().try_for_each(inner),
        Value::Dict(dict) => {
            dict.members().iter().try_for_each(|(key, item)| inner(key).and_then(|()| inner(item)))
        }
    }
}

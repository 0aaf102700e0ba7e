//! What the reader makes of a document. One reader, several kinds of value: the ledger keeps binary floats because
//! the peer signed them, the replay form keeps the text of every number.

use crate::number::{Float, Int};
use crate::read::ReadFault;
use crate::value::{Object, Value};
use std::borrow::Cow;

/// Makes values of what was read. Members arrive with unique keys, in source order.
pub(crate) trait Build<'a> {
    /// A value.
    type Value;
    /// A key.
    type Key: From<Cow<'a, str>> + AsRef<str>;

    fn null(&self) -> Self::Value;
    fn boolean(&self, value: bool) -> Self::Value;
    /// A number token without `.`, `e`, `E`.
    fn integer(&self, token: &'a str) -> Self::Value;
    /// Any other number token.
    fn decimal(&self, token: &'a str, peer: bool) -> Result<Self::Value, ReadFault>;
    /// `NaN` and the infinities, which only some values can hold.
    fn non_finite(&self, value: f64) -> Option<Self::Value>;
    fn string(&self, text: Cow<'a, str>) -> Self::Value;
    fn array(&self, items: Vec<Self::Value>) -> Self::Value;
    fn object(&self, members: Vec<(Self::Key, Self::Value)>) -> Self::Value;
}

/// Builds [`Value`].
pub(crate) struct Values;

impl<'a> Build<'a> for Values {
    type Value = Value;
    type Key = String;

    fn null(&self) -> Value {
        Value::Null
    }

    fn boolean(&self, value: bool) -> Value {
        Value::Bool(value)
    }

    fn integer(&self, token: &'a str) -> Value {
        Value::Int(Int::from_token(token))
    }

    /// The standard library's parser rounds correctly (PC-45).
    fn decimal(&self, token: &'a str, peer: bool) -> Result<Value, ReadFault> {
        let value = token.parse::<f64>().map_err(|_| ReadFault::BadNumber)?;
        if value.is_infinite() && !peer {
            return Err(ReadFault::FloatOverflow);
        }
        Ok(Value::Float(Float::new(value)))
    }

    fn non_finite(&self, value: f64) -> Option<Value> {
        Some(Value::Float(Float::new(value)))
    }

    fn string(&self, text: Cow<'a, str>) -> Value {
        Value::Str(text.into_owned())
    }

    fn array(&self, items: Vec<Value>) -> Value {
        Value::Array(items)
    }

    fn object(&self, members: Vec<(String, Value)>) -> Value {
        Value::Object(Object::from_unique(members))
    }
}

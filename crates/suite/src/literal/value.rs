//! What a literal can be.

use super::equal::{Unhashable, Uniq};
use super::{BigInt, Text, emit};
use canon::Float;

/// A value of Python, exactly. `==` of Rust is identity of the value as written (`1`, `1.0` and `True` differ);
/// `==` of Python is [`super::equal`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `None`
    None,
    /// `...`, which the literal grammar admits and a suite refuses.
    Ellipsis,
    /// `True`, `False`
    Bool(bool),
    /// An integer of any size.
    Int(BigInt),
    /// A binary64; may be infinite.
    Float(Float),
    /// A complex number.
    Complex(Complex),
    /// A string, which may hold lone surrogates.
    Str(Text),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A set.
    Set(Set),
    /// A dict.
    Dict(Dict),
}

/// A complex number of two binary64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complex {
    /// The real part.
    pub real: Float,
    /// The imaginary part.
    pub imag: Float,
}

/// Members that are hashable and different for Python, in the order of their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set(Vec<Value>);

impl Set {
    /// A set of `members`; of equal ones the first stays.
    ///
    /// # Errors
    ///
    /// A member that Python cannot hash.
    pub fn new(members: impl IntoIterator<Item = Value>) -> Result<Set, Unhashable> {
        let (mut kept, mut uniq) = (Vec::new(), Uniq::default());
        for member in members {
            if uniq.at(&member)? == kept.len() {
                kept.push(member);
            }
        }
        // A set has no order, and its text has one: two sets of the same members are the same value.
        kept.sort_by_cached_key(emit);
        Ok(Set(kept))
    }

    /// The members.
    pub fn members(&self) -> &[Value] {
        &self.0
    }
}

/// Members whose keys are hashable and different for Python, in source order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dict(Vec<(Value, Value)>);

impl Dict {
    /// A dict of `members`; of equal keys the first stays, with the last value.
    ///
    /// # Errors
    ///
    /// A key that Python cannot hash.
    pub fn new(members: impl IntoIterator<Item = (Value, Value)>) -> Result<Dict, Unhashable> {
        let (mut kept, mut uniq) = (Vec::<(Value, Value)>::new(), Uniq::default());
        for (key, value) in members {
            let at = uniq.at(&key)?;
            match kept.get_mut(at) {
                Some(member) => member.1 = value,
                None => kept.push((key, value)),
            }
        }
        Ok(Dict(kept))
    }

    /// The members.
    pub fn members(&self) -> &[(Value, Value)] {
        &self.0
    }
}

impl Value {
    /// The name of the type in Python.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::None => "NoneType",
            Value::Ellipsis => "ellipsis",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Complex(_) => "complex",
            Value::Str(_) => "str",
            Value::Bytes(_) => "bytes",
            Value::List(_) => "list",
            Value::Tuple(_) => "tuple",
            Value::Set(_) => "set",
            Value::Dict(_) => "dict",
        }
    }

    /// The items of a list or tuple.
    pub fn as_sequence(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) | Value::Tuple(items) => Some(items),
            _ => None,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Str(Text::from(text))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number.into())
    }
}

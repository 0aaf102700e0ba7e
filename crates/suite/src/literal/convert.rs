//! From what was read to a value, as `ast.literal_eval` does it.

use super::equal::{Unhashable, unhashable};
use super::grammar::{Node, Number, Shape};
use super::{Complex, Dict, ErrorName, LiteralError, Set, Value, integer_as_float};
use canon::Float;

/// The value of an expression. Bounded by the brackets, which are at most 200 deep.
pub(super) fn value(node: Node) -> Result<Value, LiteralError> {
    let offset = node.offset;
    let fail = |name, message| Err(LiteralError { name, offset, message });
    match node.shape {
        Shape::Constant(value) => Ok(value),
        Shape::Number(number) => Ok(signed(false, number)),
        Shape::Signed(minus, number) => Ok(signed(minus, number)),
        Shape::Sum(left, minus, right) => sum(left, minus, right)
            .map_or_else(|| fail(ErrorName::Overflow, "an integer too large for a float"), Ok),
        Shape::List(items) => Ok(Value::List(items.into_iter().map(value).collect::<Result<_, _>>()?)),
        Shape::Tuple(items) => Ok(Value::Tuple(items.into_iter().map(value).collect::<Result<_, _>>()?)),
        Shape::Set(items) => {
            // Each member is hashed before the next one is read, so that the first fault is the one reported.
            let items = items
                .into_iter()
                .map(|item| hashable(value(item)?, offset))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Value::Set(Set::new(items).map_err(|error| refused(error, offset))?))
        }
        Shape::Dict(members) => {
            let member = |(key, item)| {
                let (key, item) = (value(key)?, value(item)?);
                Ok((hashable(key, offset)?, item))
            };
            let members = members.into_iter().map(member).collect::<Result<Vec<_>, LiteralError>>()?;
            Ok(Value::Dict(Dict::new(members).map_err(|error| refused(error, offset))?))
        }
        Shape::EmptySet => Ok(Value::Set(Set::default())),
        Shape::SetName | Shape::Other => fail(ErrorName::Value, "an expression that is no literal"),
    }
}

fn hashable(value: Value, offset: usize) -> Result<Value, LiteralError> {
    unhashable(&value).map_or(Ok(value), |error| Err(refused(error, offset)))
}

fn refused(_: Unhashable, offset: usize) -> LiteralError {
    LiteralError { name: ErrorName::Type, offset, message: "a key that cannot be hashed" }
}

/// The same number with the other sign; a bit, no arithmetic.
fn negative(value: Float) -> Float {
    Float::new(f64::from_bits(value.get().to_bits() ^ 1 << 63))
}

/// `+number`, `-number`. The real part of `-1j` is minus zero.
fn signed(minus: bool, number: Number) -> Value {
    match number {
        Number::Int(value) => Value::Int(if minus { -value } else { value }),
        Number::Float(value) => Value::Float(if minus { negative(value) } else { value }),
        Number::Imaginary(imag) => {
            let zero = Float::new(0.0);
            let (real, imag) = if minus { (negative(zero), negative(imag)) } else { (zero, imag) };
            Value::Complex(Complex { real, imag })
        }
    }
}

/// `left + imaginary`, `left - imaginary`. The other parts are zeros: `x + 0.0` makes a plus of minus zero, `x - 0.0`
/// leaves everything as it is, and so does `0.0 + y`; `0.0 - y` is `-y` but for zero.
fn sum((minus_left, left): (bool, Number), minus: bool, imag: Float) -> Option<Value> {
    let left = match signed(minus_left, left) {
        Value::Int(value) => integer_as_float(&value)?,
        Value::Float(value) => value,
        _ => return None,
    };
    let zero = Float::new(0.0);
    let real = if !minus && left == negative(zero) { zero } else { left };
    let imag = match minus {
        true if imag != zero => negative(imag),
        _ => imag,
    };
    Some(Value::Complex(Complex { real, imag }))
}

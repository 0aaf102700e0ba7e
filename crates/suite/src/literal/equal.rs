//! Equality and hashing of Python: 1, 1.0 and True are one key.

use super::{BigInt, Complex, Text, Value, whole};
use canon::Float;
use std::collections::BTreeMap;

/// A value that Python cannot hash, by the name of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unhashable(pub &'static str);

/// What is the same for Python's `==` among hashable values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    None,
    Ellipsis,
    /// Every whole number, whatever its type.
    Whole(BigInt),
    /// Bits of any other float.
    Float(u64),
    /// Bits of a complex number whose imaginary part is not zero, zeros made positive.
    Complex(u64, u64),
    Str(Text),
    Bytes(Vec<u8>),
    Tuple(Vec<Key>),
}

/// Python's `==` on exact literals. A NaN equals nothing. Bounded by the depth of the values.
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Set(a), Value::Set(b)) => same_members(a.members().iter(), b.members().iter()),
        (Value::Dict(a), Value::Dict(b)) => {
            let a: Option<BTreeMap<Key, &Value>> =
                a.members().iter().map(|(k, v)| Some((key(k)?, v))).collect();
            let b: Option<BTreeMap<Key, &Value>> =
                b.members().iter().map(|(k, v)| Some((key(k)?, v))).collect();
            let (Some(a), Some(b)) = (a, b) else { return false };
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| equal(value, other)))
        }
        // Of the rest only hashable values can be equal.
        _ => key(a).is_some_and(|a| key(b) == Some(a)),
    }
}

/// `set(a) == set(b)` of two sequences or sets; false when a member cannot be hashed.
pub(crate) fn same_members<'a>(
    a: impl Iterator<Item = &'a Value>,
    b: impl Iterator<Item = &'a Value>,
) -> bool {
    let a: Option<BTreeMap<Key, ()>> = a.map(|item| Some((key(item)?, ()))).collect();
    let b: Option<BTreeMap<Key, ()>> = b.map(|item| Some((key(item)?, ()))).collect();
    a.is_some() && a == b
}

/// The key of a hashable value that can be equal to something; nothing for lists, sets, dicts and NaN.
fn key(value: &Value) -> Option<Key> {
    Some(match value {
        Value::None => Key::None,
        Value::Ellipsis => Key::Ellipsis,
        Value::Bool(value) => Key::Whole(u8::from(*value).into()),
        Value::Int(value) => Key::Whole(value.clone()),
        Value::Float(value) => float_key(*value)?,
        Value::Complex(value) => complex_key(*value)?,
        Value::Str(text) => Key::Str(text.clone()),
        Value::Bytes(bytes) => Key::Bytes(bytes.clone()),
        Value::Tuple(items) => Key::Tuple(items.iter().map(key).collect::<Option<_>>()?),
        Value::List(_) | Value::Set(_) | Value::Dict(_) => return None,
    })
}

fn float_key(value: Float) -> Option<Key> {
    if value.get().is_nan() {
        return None;
    }
    Some(whole(value).map_or_else(|| Key::Float(value.get().to_bits()), Key::Whole))
}

fn complex_key(value: Complex) -> Option<Key> {
    let bits = |part: Float| if part == Float::new(-0.0) { 0 } else { part.get().to_bits() };
    if value.real.get().is_nan() || value.imag.get().is_nan() {
        return None;
    }
    if bits(value.imag) == 0 {
        float_key(value.real)
    } else {
        Some(Key::Complex(bits(value.real), bits(value.imag)))
    }
}

/// The type that keeps a value from being hashed.
pub(crate) fn unhashable(value: &Value) -> Option<Unhashable> {
    match value {
        Value::Tuple(items) => items.iter().find_map(unhashable),
        Value::List(_) | Value::Set(_) | Value::Dict(_) => Some(Unhashable(value.type_name())),
        _ => None,
    }
}

/// Places of keys as they come.
#[derive(Default)]
pub(crate) struct Uniq {
    places: BTreeMap<Key, usize>,
    next: usize,
}

impl Uniq {
    /// The place of `value`: that of an equal one before it, or the next free one.
    pub(crate) fn at(&mut self, value: &Value) -> Result<usize, Unhashable> {
        if let Some(error) = unhashable(value) {
            return Err(error);
        }
        let free = self.next;
        // A NaN has no key: it is different from everything, itself included.
        let place = key(value).map_or(free, |key| *self.places.entry(key).or_insert(free));
        self.next += usize::from(place == free);
        Ok(place)
    }
}

//! How Python names and prints what JSON holds: parameters of codes.

use crate::literal::{Dict, Value as Literal, emit, parse};
use canon::{Float, Value};

/// The name of the type of a JSON value in Python.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Float(_) => "float",
        Value::Str(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

/// True for a JSON value that Python takes for false.
pub(super) fn is_falsy(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(number) => number.as_str() == "0",
        Value::Float(number) => [Float::new(0.0), Float::new(-0.0)].contains(number),
        Value::Str(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
    }
}

/// Python's `repr` of a JSON value.
pub(crate) fn repr(value: &Value) -> String {
    match value {
        Value::Float(number) if !number.is_finite() => {
            number.to_string().replace("Infinity", "inf").to_lowercase()
        }
        _ => emit(&literal(value)),
    }
}

/// Python's `repr` of a sorted list of keys.
pub(super) fn key_list(mut keys: Vec<&str>) -> String {
    keys.sort_unstable();
    emit(&Literal::List(keys.into_iter().map(Literal::from).collect()))
}

fn literal(value: &Value) -> Literal {
    match value {
        Value::Null => Literal::None,
        Value::Bool(value) => Literal::Bool(*value),
        // The digits of a JSON integer are those of Python up to its limit of 4300; beyond it `repr` raises there.
        Value::Int(number) => parse(number.as_str()).unwrap_or(Literal::None),
        Value::Float(number) => Literal::Float(*number),
        Value::Str(text) => Literal::from(text.as_str()),
        Value::Array(items) => Literal::List(items.iter().map(literal).collect()),
        Value::Object(object) => {
            let members = object.iter().map(|(key, item)| (Literal::from(key), literal(item)));
            // Texts can be hashed.
            Dict::new(members).map_or(Literal::None, Literal::Dict)
        }
    }
}

//! A small validator of JSON Schema: the keywords that say what a value is, and no references.
//!
//! A keyword that it does not know is refused when the check is compiled: what is left out would be accepted silently.

use super::CheckError;
use crate::literal::{BigInt, scaled};
use canon::{Object, Value};
use std::cmp::Ordering;

/// Keywords that say something about the schema and nothing about the value.
const ANNOTATIONS: [&str; 8] =
    ["$schema", "$id", "$comment", "title", "description", "default", "examples", "format"];
/// Names of types.
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
/// Digits of a number up to which it is compared digit by digit with a float.
const DIGITS_MAX: usize = 400;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema(Vec<Rule>);

#[derive(Debug)]
enum Rule {
    Never,
    Type(Vec<String>),
    Enum(Vec<Value>),
    Required(Vec<String>),
    Properties {
        known: Vec<(String, Schema)>,
        others: Option<Schema>,
    },
    Items(Schema),
    /// Characters, items or members, by the type that is counted.
    Length {
        of: Counted,
        least: u64,
        most: u64,
    },
    /// The value stands so to the bound.
    Bound(&'static [Ordering], Value),
    All(Vec<Schema>),
    Any(Vec<Schema>),
    One(Vec<Schema>),
    Not(Schema),
}

#[derive(Debug, PartialEq)]
enum Counted {
    Characters,
    Items,
    Members,
}

impl Schema {
    /// A schema from JSON. Its depth is that of the reader.
    pub(super) fn new(value: &Value) -> Result<Schema, CheckError> {
        match value {
            Value::Bool(true) => Ok(Schema(Vec::new())),
            Value::Bool(false) => Ok(Schema(vec![Rule::Never])),
            Value::Object(object) => {
                let rule = |(name, value): (&str, &Value)| rule(name, value, object).transpose();
                Ok(Schema(object.iter().filter_map(rule).collect::<Result<_, _>>()?))
            }
            _ => Err(bad("schema")),
        }
    }

    /// True when the value has this shape.
    pub(super) fn admits(&self, value: &Value) -> bool {
        self.0.iter().all(|rule| rule.admits(value))
    }
}

fn bad(keyword: &str) -> CheckError {
    CheckError::Schema(keyword.to_owned())
}

fn rule(name: &str, value: &Value, whole: &Object) -> Result<Option<Rule>, CheckError> {
    let schema = || Schema::new(value);
    let length = |of, least, most| Ok(Rule::Length { of, least, most });
    let number =
        || matches!(value, Value::Int(_) | Value::Float(_)).then(|| value.clone()).ok_or_else(|| bad(name));
    let count = || value.as_i64().and_then(|count| u64::try_from(count).ok()).ok_or_else(|| bad(name));
    let rule: Result<Rule, CheckError> = match name {
        "type" => Ok(Rule::Type(types(value)?)),
        "enum" => Ok(Rule::Enum(value.as_array().ok_or_else(|| bad(name))?.to_vec())),
        "const" => Ok(Rule::Enum(vec![value.clone()])),
        "required" => Ok(Rule::Required(texts(name, value)?)),
        "properties" => properties(value, whole.get("additionalProperties")),
        // Judged together with the properties; alone it is about all members.
        "additionalProperties" if whole.get("properties").is_some() => return Ok(None),
        "additionalProperties" => Ok(Rule::Properties { known: Vec::new(), others: Some(schema()?) }),
        "items" => Ok(Rule::Items(schema()?)),
        "minLength" => length(Counted::Characters, count()?, u64::MAX),
        "maxLength" => length(Counted::Characters, 0, count()?),
        "minItems" => length(Counted::Items, count()?, u64::MAX),
        "maxItems" => length(Counted::Items, 0, count()?),
        "minProperties" => length(Counted::Members, count()?, u64::MAX),
        "maxProperties" => length(Counted::Members, 0, count()?),
        "minimum" => Ok(Rule::Bound(&[Ordering::Greater, Ordering::Equal], number()?)),
        "maximum" => Ok(Rule::Bound(&[Ordering::Less, Ordering::Equal], number()?)),
        "exclusiveMinimum" => Ok(Rule::Bound(&[Ordering::Greater], number()?)),
        "exclusiveMaximum" => Ok(Rule::Bound(&[Ordering::Less], number()?)),
        "allOf" => Ok(Rule::All(schemas(name, value)?)),
        "anyOf" => Ok(Rule::Any(schemas(name, value)?)),
        "oneOf" => Ok(Rule::One(schemas(name, value)?)),
        "not" => Ok(Rule::Not(schema()?)),
        known if ANNOTATIONS.contains(&known) => return Ok(None),
        _ => Err(bad(name)),
    };
    rule.map(Some)
}

fn properties(value: &Value, others: Option<&Value>) -> Result<Rule, CheckError> {
    let members = value.as_object().ok_or_else(|| bad("properties"))?;
    let member = |(name, schema): (&str, &Value)| Ok((name.to_owned(), Schema::new(schema)?));
    let known = members.iter().map(member).collect::<Result<_, CheckError>>()?;
    Ok(Rule::Properties { known, others: others.map(Schema::new).transpose()? })
}

fn schemas(name: &str, value: &Value) -> Result<Vec<Schema>, CheckError> {
    value.as_array().ok_or_else(|| bad(name))?.iter().map(Schema::new).collect()
}

fn texts(name: &str, value: &Value) -> Result<Vec<String>, CheckError> {
    let items = value.as_array().ok_or_else(|| bad(name))?;
    items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(|| bad(name))).collect()
}

fn types(value: &Value) -> Result<Vec<String>, CheckError> {
    let names = match value {
        Value::Str(name) => vec![name.clone()],
        other => texts("type", other)?,
    };
    if names.iter().all(|name| TYPES.contains(&name.as_str())) { Ok(names) } else { Err(bad("type")) }
}

impl Rule {
    fn admits(&self, value: &Value) -> bool {
        match self {
            Rule::Never => false,
            Rule::Type(names) => names.iter().any(|name| is(name, value)),
            Rule::Enum(values) => values.iter().any(|other| same(value, other)),
            Rule::Required(names) => {
                value.as_object().is_none_or(|object| names.iter().all(|name| object.get(name).is_some()))
            }
            Rule::Properties { known, others } => value.as_object().is_none_or(|object| {
                object.iter().all(|(name, item)| match known.iter().find(|(known, _)| known == name) {
                    Some((_, schema)) => schema.admits(item),
                    None => others.as_ref().is_none_or(|schema| schema.admits(item)),
                })
            }),
            Rule::Items(schema) => {
                value.as_array().is_none_or(|items| items.iter().all(|item| schema.admits(item)))
            }
            Rule::Length { of, least, most } => {
                let count = match value {
                    Value::Str(text) if *of == Counted::Characters => text.chars().count(),
                    Value::Array(items) if *of == Counted::Items => items.len(),
                    Value::Object(object) if *of == Counted::Members => object.len(),
                    _ => return true,
                };
                (*least..=*most).contains(&(count as u64))
            }
            Rule::Bound(allowed, bound) => compare(value, bound).is_none_or(|order| allowed.contains(&order)),
            Rule::All(schemas) => schemas.iter().all(|schema| schema.admits(value)),
            Rule::Any(schemas) => schemas.iter().any(|schema| schema.admits(value)),
            Rule::One(schemas) => schemas.iter().filter(|schema| schema.admits(value)).count() == 1,
            Rule::Not(schema) => !schema.admits(value),
        }
    }
}

/// A boolean is no integer; `1.0` is one.
fn is(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Int(_) => matches!(name, "integer" | "number"),
        Value::Float(number) => {
            name == "number" || name == "integer" && crate::literal::whole(*number).is_some()
        }
        Value::Str(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

/// Equality of JSON Schema: numbers by value, members in any order.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        (Value::Int(_) | Value::Float(_), _) => compare(a, b) == Some(Ordering::Equal),
        _ => a == b,
    }
}

/// The order of two numbers, exactly; nothing when one is none.
fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(compare_texts(a.as_str(), b.as_str())),
        (Value::Float(a), Value::Float(b)) => a.get().partial_cmp(&b.get()),
        (Value::Int(a), Value::Float(b)) => {
            let (a, b) = (a.as_str(), scaled(*b)?);
            // An integer with that many digits lies beyond every float.
            if a.len() > DIGITS_MAX {
                return Some(if a.starts_with('-') { Ordering::Less } else { Ordering::Greater });
            }
            Some((BigInt::parse_bytes(a.as_bytes(), 10)? << 1074u32).cmp(&b))
        }
        (Value::Float(_), Value::Int(_)) => compare(b, a).map(Ordering::reverse),
        _ => None,
    }
}

/// The order of two integers by their canonical decimal texts.
fn compare_texts(a: &str, b: &str) -> Ordering {
    match (a.strip_prefix('-'), b.strip_prefix('-')) {
        (None, None) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
        (Some(a), Some(b)) => b.len().cmp(&a.len()).then_with(|| b.cmp(a)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
    }
}

//! A small subset of JSON Schema, for `json.validate`.
//!
//! `type`, `enum`, `const`, `required`, `properties`, `additionalProperties` (a boolean), `minProperties`,
//! `maxProperties`, `items` (one schema), `minItems`, `maxItems`, `minLength`, `maxLength`, `minimum`, `maximum`. A
//! schema may be `true` or `false`. Titles and comments are ignored; any other keyword is refused, because a rule
//! that is not applied must not look like one that held.

use super::json::{escaped, type_name};
use crate::skill::decimal::Decimal;
use crate::skill::payload::{Work, any, unfit};
use crate::skill::{Failed, Fault};
use canon::{Object, Value};

/// Keywords that say nothing about a document.
const REMARKS: [&str; 7] = ["$schema", "$id", "$comment", "title", "description", "examples", "default"];

/// Most violations that are listed; the rest is not looked for.
const VIOLATIONS_MAX: usize = 100;

const WORK_MAX: u64 = 2_000_000;

/// The skill.
pub(super) fn validate(payload: &Object) -> Result<Value, Failed> {
    let (document, schema) = (any(payload, "document")?, any(payload, "schema")?);
    if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
        return Err(unfit("schema", "is neither an object nor a boolean"));
    }
    let mut check = Check { work: Work::of(WORK_MAX), violations: Vec::new() };
    check.value(document, schema, "")?;
    let valid = check.violations.is_empty();
    Ok(Object::new().with("valid", valid).with("violations", check.violations).into())
}

struct Check {
    work: Work,
    violations: Vec<Object>,
}

impl Check {
    fn violated(&mut self, path: &str, rule: &str, detail: &str) -> Result<(), Failed> {
        if self.violations.len() < VIOLATIONS_MAX {
            self.work.spend(path.len() + detail.len())?;
            self.violations.push(Object::new().with("path", path).with("rule", rule).with("detail", detail));
        }
        Ok(())
    }

    // Recursion is bounded by the depth of the document and of the schema, which the reader bounds.
    fn value(&mut self, value: &Value, schema: &Value, path: &str) -> Result<(), Failed> {
        let rules = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => {
                self.violated(path, "false", type_name(value))?;
                return Ok(());
            }
            Value::Object(rules) => rules,
            _ => return Err(unfit("schema", "holds a schema that is neither an object nor a boolean")),
        };
        for (rule, bound) in rules.iter().filter(|(rule, _)| !REMARKS.contains(rule)) {
            self.work.spend(1 + path.len() / 16)?;
            match rule {
                "type" => self.types(value, bound, path)?,
                "enum" | "const" => self.constant(value, rule, bound, path)?,
                "required" | "properties" | "additionalProperties" => {
                    self.members(value, rule, bound, rules, path)?;
                }
                "items" => {
                    for (index, item) in value.as_array().unwrap_or_default().iter().enumerate() {
                        self.value(item, bound, &format!("{path}/{index}"))?;
                    }
                }
                "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties" => {
                    self.size(value, rule, bound, path)?;
                }
                "minimum" | "maximum" => self.range(value, rule, bound, path)?,
                other => return Err(Failed::new(Fault::SchemaUnsupported, other)),
            }
        }
        Ok(())
    }

    fn types(&mut self, value: &Value, bound: &Value, path: &str) -> Result<(), Failed> {
        const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
        let one = std::slice::from_ref(bound);
        let allowed = bound.as_array().unwrap_or(one);
        let known = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
        if !allowed.iter().all(known) {
            return Err(unfit("schema", "type names no type"));
        }
        let is = type_name(value);
        // 1.0 is an integer for JSON Schema, and every integer is a number.
        let whole = is == "number" && Decimal::of(value).is_ok_and(|number| number.scale() == 0);
        let fits = |name: &Value| match name.as_str() {
            Some("number") => is == "integer" || is == "number",
            Some("integer") => is == "integer" || whole,
            name => name == Some(is),
        };
        self.work.spend(allowed.len())?;
        if !allowed.iter().any(fits) {
            self.violated(path, "type", is)?;
        }
        Ok(())
    }

    fn constant(&mut self, value: &Value, rule: &str, bound: &Value, path: &str) -> Result<(), Failed> {
        let one = std::slice::from_ref(bound);
        let allowed = match rule {
            "const" => one,
            _ => bound.as_array().ok_or_else(|| unfit("schema", "enum is not a list"))?,
        };
        let mut found = false;
        for constant in allowed {
            found = found || same(value, constant, &mut self.work)?;
        }
        if !found {
            self.violated(path, rule, type_name(value))?;
        }
        Ok(())
    }

    fn members(
        &mut self,
        value: &Value,
        rule: &str,
        bound: &Value,
        rules: &Object,
        path: &str,
    ) -> Result<(), Failed> {
        match (rule, bound) {
            ("required", Value::Array(names)) => {
                for name in names {
                    let name = name.as_str().ok_or_else(|| unfit("schema", "required holds no name"))?;
                    let Some(object) = value.as_object() else { continue };
                    self.work.spend(object.len() + 1)?;
                    if object.get(name).is_none() {
                        self.violated(path, rule, name)?;
                    }
                }
            }
            ("properties", Value::Object(properties)) => {
                let Some(object) = value.as_object() else { return Ok(()) };
                for (name, schema) in properties.iter() {
                    self.work.spend(object.len() + 1)?;
                    if let Some(member) = object.get(name) {
                        self.value(member, schema, &format!("{path}/{}", escaped(name)))?;
                    }
                }
            }
            ("additionalProperties", Value::Bool(allowed)) => {
                let known = rules.get("properties").and_then(Value::as_object);
                let Some(object) = value.as_object().filter(|_| !allowed) else { return Ok(()) };
                for (name, _) in object.iter() {
                    self.work.spend(known.map_or(0, Object::len) + 1)?;
                    if known.is_none_or(|known| known.get(name).is_none()) {
                        self.violated(path, rule, name)?;
                    }
                }
            }
            ("additionalProperties", Value::Object(_)) => {
                return Err(Failed::new(Fault::SchemaUnsupported, "additionalProperties with a schema"));
            }
            _ => return Err(unfit("schema", &format!("{rule} has the wrong type"))),
        }
        Ok(())
    }

    fn size(&mut self, value: &Value, rule: &str, bound: &Value, path: &str) -> Result<(), Failed> {
        let bound = bound.as_i64().filter(|bound| *bound >= 0);
        let bound = bound.ok_or_else(|| unfit("schema", &format!("{rule} is no count")))?;
        let size = match (&rule[3..], value) {
            ("Items", Value::Array(items)) => items.len(),
            ("Length", Value::Str(text)) => text.chars().count(),
            ("Properties", Value::Object(object)) => object.len(),
            _ => return Ok(()),
        };
        let broken = if rule.starts_with("min") { (size as i64) < bound } else { size as i64 > bound };
        if broken {
            self.violated(path, rule, &size.to_string())?;
        }
        Ok(())
    }

    fn range(&mut self, value: &Value, rule: &str, bound: &Value, path: &str) -> Result<(), Failed> {
        let number = |value: &Value| match value {
            Value::Int(_) | Value::Float(_) => Some(Decimal::of(value)),
            _ => None,
        };
        let bound = number(bound).ok_or_else(|| unfit("schema", &format!("{rule} is no number")))?;
        let Some(value) = number(value) else { return Ok(()) };
        let too_long = |_| crate::skill::decimal::overflow();
        let (value, bound) = (value.map_err(too_long)?, bound.map_err(too_long)?);
        if if rule == "minimum" { value < bound } else { value > bound } {
            self.violated(path, rule, &value.to_string())?;
        }
        Ok(())
    }
}

/// Equality of JSON Schema: members in any order, numbers by value.
fn same(a: &Value, b: &Value, work: &mut Work) -> Result<bool, Failed> {
    work.spend(1)?;
    match (a, b) {
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            for (key, member) in a.iter() {
                work.spend(b.len())?;
                match b.get(key) {
                    Some(other) if same(member, other, work)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (a, b) in a.iter().zip(b) {
                if !same(a, b, work)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            Ok(a == b || matches!((Decimal::of(a), Decimal::of(b)), (Ok(a), Ok(b)) if a == b))
        }
        _ => Ok(a == b),
    }
}

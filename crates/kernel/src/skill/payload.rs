//! Reading a payload: every reader refuses with a reason code and names the argument.

use super::{Failed, Fault};
use canon::{Object, Value};
use std::ops::RangeInclusive;

/// Longest text that a skill takes, in bytes.
pub(super) const TEXT_MAX: usize = 1 << 20;

/// Most elements of a list that a skill takes.
pub(super) const LIST_MAX: usize = 100_000;

/// Longest text that a skill gives, in bytes.
pub(super) const OUTPUT_MAX: usize = 4 << 20;

/// A refusal of the argument `name` because of its type or range.
pub(super) fn unfit(name: &str, why: &str) -> Failed {
    Failed::new(Fault::ArgumentUnfit, format!("{name}: {why}"))
}

/// A refusal of the argument `name` because of its size.
pub(super) fn too_large(name: &str, limit: usize, unit: &str) -> Failed {
    Failed::new(Fault::ArgumentTooLarge, format!("{name}: more than {limit} {unit}"))
}

/// Any value.
pub(super) fn any<'a>(payload: &'a Object, name: &str) -> Result<&'a Value, Failed> {
    payload.get(name).ok_or_else(|| Failed::new(Fault::ArgumentMissing, name))
}

/// A text of at most [`TEXT_MAX`] bytes.
pub(super) fn text<'a>(payload: &'a Object, name: &str) -> Result<&'a str, Failed> {
    let text = any(payload, name)?.as_str().ok_or_else(|| unfit(name, "is not a string"))?;
    if text.len() > TEXT_MAX { Err(too_large(name, TEXT_MAX, "bytes")) } else { Ok(text) }
}

/// A text, or nothing when the member is not there.
pub(super) fn optional_text<'a>(payload: &'a Object, name: &str) -> Result<Option<&'a str>, Failed> {
    payload.get(name).map(|_| text(payload, name)).transpose()
}

/// A list of at most [`LIST_MAX`] values.
pub(super) fn list<'a>(payload: &'a Object, name: &str) -> Result<&'a [Value], Failed> {
    let list = any(payload, name)?.as_array().ok_or_else(|| unfit(name, "is not a list"))?;
    if list.len() > LIST_MAX { Err(too_large(name, LIST_MAX, "elements")) } else { Ok(list) }
}

/// An object.
pub(super) fn object<'a>(payload: &'a Object, name: &str) -> Result<&'a Object, Failed> {
    any(payload, name)?.as_object().ok_or_else(|| unfit(name, "is not an object"))
}

/// An integer in `range`.
pub(super) fn integer(payload: &Object, name: &str, range: RangeInclusive<i64>) -> Result<i64, Failed> {
    let value = any(payload, name)?.as_i64().ok_or_else(|| unfit(name, "is not a 64-bit integer"))?;
    if range.contains(&value) {
        return Ok(value);
    }
    Err(unfit(name, &format!("is not between {} and {}", range.start(), range.end())))
}

/// An integer in `range`, or `default` when the member is not there.
pub(super) fn integer_or(
    payload: &Object,
    name: &str,
    range: RangeInclusive<i64>,
    default: i64,
) -> Result<i64, Failed> {
    if payload.get(name).is_none() { Ok(default) } else { integer(payload, name, range) }
}

/// A count in `range`, or `default` when the member is not there.
pub(super) fn count_or(
    payload: &Object,
    name: &str,
    range: RangeInclusive<u32>,
    default: u32,
) -> Result<usize, Failed> {
    let range = i64::from(*range.start())..=i64::from(*range.end());
    let count = integer_or(payload, name, range, i64::from(default))?;
    usize::try_from(count).map_err(|_| unfit(name, "is negative"))
}

/// A boolean, false when the member is not there.
pub(super) fn flag(payload: &Object, name: &str) -> Result<bool, Failed> {
    match payload.get(name) {
        None => Ok(false),
        Some(value) => value.as_bool().ok_or_else(|| unfit(name, "is not true or false")),
    }
}

/// One of `words`, the first when the member is not there.
pub(super) fn choice(payload: &Object, name: &str, words: &[&'static str]) -> Result<&'static str, Failed> {
    let given = match payload.get(name) {
        None => return Ok(words[0]),
        Some(value) => value.as_str(),
    };
    let known = words.iter().copied().find(|word| given == Some(word));
    known.ok_or_else(|| unfit(name, &format!("is none of {}", words.join(", "))))
}

/// A text that is given back, unless it is longer than [`OUTPUT_MAX`].
pub(super) fn output(text: String) -> Result<Value, Failed> {
    if text.len() > OUTPUT_MAX {
        return Err(Failed::new(Fault::OutputTooLarge, format!("more than {OUTPUT_MAX} bytes")));
    }
    Ok(Value::Str(text))
}

/// The same value with each float as the text of its number: outputs hold no floats.
pub(super) fn settled(value: &Value) -> Result<Value, Failed> {
    if has_float(value) { converted(value) } else { Ok(value.clone()) }
}

// Recursion is bounded by the depth of the value, which the reader bounds.
fn has_float(value: &Value) -> bool {
    match value {
        Value::Float(_) => true,
        Value::Array(items) => items.iter().any(has_float),
        Value::Object(members) => members.iter().any(|(_, member)| has_float(member)),
        _ => false,
    }
}

fn converted(value: &Value) -> Result<Value, Failed> {
    /// Setting a member looks at all members before it.
    const MEMBERS_MAX: usize = 4096;
    match value {
        Value::Float(number) => Ok(Value::Str(number.to_string())),
        Value::Array(items) => items.iter().map(converted).collect::<Result<_, _>>().map(Value::Array),
        Value::Object(members) if members.len() > MEMBERS_MAX => {
            Err(Failed::new(Fault::WorkTooLarge, "an object with floats has more than 4096 members"))
        }
        Value::Object(members) => {
            let mut object = Object::new();
            for (key, member) in members.iter() {
                object.set(key, converted(member)?);
            }
            Ok(object.into())
        }
        other => Ok(other.clone()),
    }
}

/// A budget for work that grows faster than its input; one step is about one comparison.
pub(super) struct Work(u64);

impl Work {
    /// A budget of so many steps.
    pub(super) fn of(steps: u64) -> Work {
        Work(steps)
    }

    /// Takes `steps` from the budget, or refuses.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Failed> {
        let left = self.0.checked_sub(steps as u64);
        self.0 = left.ok_or_else(|| Failed::new(Fault::WorkTooLarge, "the input needs too many steps"))?;
        Ok(())
    }
}

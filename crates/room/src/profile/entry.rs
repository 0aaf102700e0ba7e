//! Entries of the file: one number with its unit, origin, stage and range.

use super::problem::{Code, Problem};
use canon::{Object, Value as Json};
use std::collections::BTreeMap;

/// Units that count whole things.
const WHOLE: &[&str] = &["ticks", "s", "count", "cells", "degrees"];
/// Units that count millionths.
const MICRO: &[&str] = &["µ", "µ/tick", "µ/cell"];
/// Unit of texts.
const TEXT: &str = "text";

/// All entries by group and key.
pub(super) type Entries = BTreeMap<String, BTreeMap<String, Entry>>;

/// A value as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Number(i64),
    Text(String),
    List(Vec<Value>),
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) unit: String,
    pub(super) origin: String,
    pub(super) stage: i64,
    pub(super) cal: bool,
    /// Smallest and largest number; none for texts.
    pub(super) range: Option<(i64, i64)>,
}

impl Entry {
    /// The entry that an inline table writes.
    pub(super) fn of(key: &str, table: &toml::Table) -> Result<Entry, Problem> {
        let bad = |member: &str| Problem::new(Code::Entry, key, member);
        let mut members: Vec<&str> = table.keys().map(String::as_str).collect();
        let mut take = |name: &'static str| {
            members.retain(|member| *member != name);
            table.get(name)
        };
        let text = |value: Option<&toml::Value>, name| {
            value.and_then(toml::Value::as_str).map(str::to_owned).ok_or_else(|| bad(name))
        };
        let number = |value: Option<&toml::Value>, name| {
            value.and_then(toml::Value::as_integer).ok_or_else(|| bad(name))
        };
        let value = take("value").and_then(Value::of).ok_or_else(|| bad("value"))?;
        let unit = text(take("unit"), "unit")?;
        let origin = text(take("origin"), "origin")?;
        let stage = number(take("stage"), "stage")?;
        let cal = take("cal").and_then(toml::Value::as_bool).ok_or_else(|| bad("cal"))?;
        let range = match unit == TEXT {
            true => None,
            false => Some((number(take("min"), "min")?, number(take("max"), "max")?)),
        };
        match members.first() {
            Some(extra) => Err(bad(extra)),
            None => Ok(Entry { value, unit, origin, stage, cal, range }),
        }
    }

    /// Unit and range.
    pub(super) fn check(&self, key: &str, problems: &mut Vec<Problem>) {
        if self.unit != TEXT && !WHOLE.contains(&self.unit.as_str()) && !MICRO.contains(&self.unit.as_str()) {
            problems.push(Problem::new(Code::Unit, key, &self.unit));
        }
        let Some((min, max)) = self.range else { return };
        self.value.numbers(&mut |number| {
            if !(min..=max).contains(&number) {
                problems.push(Problem::new(Code::Range, key, format!("{number} of {min}..={max}")));
            }
        });
    }

    /// The entry in the canonical form of GD-05.
    pub(super) fn canonical(&self) -> Object {
        let micro = MICRO.contains(&self.unit.as_str());
        let bound = |bound: Option<i64>| bound.map(|bound| decimal(bound, micro));
        Object::new()
            .with("cal", self.cal)
            .with("max", bound(self.range.map(|(_, max)| max)))
            .with("min", bound(self.range.map(|(min, _)| min)))
            .with("origin", self.origin.as_str())
            .with("stage", decimal(self.stage, false))
            .with("unit", self.unit.as_str())
            .with("value", self.value.canonical(micro))
    }
}

impl Value {
    fn of(value: &toml::Value) -> Option<Value> {
        match value {
            toml::Value::Integer(number) => Some(Value::Number(*number)),
            toml::Value::String(text) => Some(Value::Text(text.clone())),
            toml::Value::Array(items) => items.iter().map(Value::of).collect::<Option<_>>().map(Value::List),
            _ => None,
        }
    }

    fn numbers(&self, see: &mut impl FnMut(i64)) {
        match self {
            Value::Number(number) => see(*number),
            Value::Text(_) => {}
            Value::List(items) => items.iter().for_each(|item| item.numbers(see)),
        }
    }

    fn canonical(&self, micro: bool) -> Json {
        match self {
            Value::Number(number) => decimal(*number, micro).into(),
            Value::Text(text) => text.as_str().into(),
            Value::List(items) => {
                items.iter().map(|item| item.canonical(micro)).collect::<Vec<Json>>().into()
            }
        }
    }
}

/// A number with exactly six fractional digits: 1 µ is `0.000001`, 7 ticks are `7.000000` (GD-05).
pub(super) fn decimal(number: i64, micro: bool) -> String {
    if !micro {
        return format!("{number}.000000");
    }
    let (sign, amount) = (if number < 0 { "-" } else { "" }, number.unsigned_abs());
    let one = crate::fixed::ONE.unsigned_abs();
    format!("{sign}{}.{:06}", amount / one, amount % one)
}

/// A type that a field of a group can have.
pub(super) trait Read: Sized {
    /// Stands for a value that could not be read; a profile with one is never handed out.
    fn blank() -> Self;
    fn read(value: &Value) -> Option<Self>;
}

impl Read for i64 {
    fn blank() -> i64 {
        0
    }
    fn read(value: &Value) -> Option<i64> {
        match value {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }
}

impl Read for String {
    fn blank() -> String {
        String::new()
    }
    fn read(value: &Value) -> Option<String> {
        match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl<T: Read, const N: usize> Read for [T; N] {
    fn blank() -> [T; N] {
        std::array::from_fn(|_| T::blank())
    }
    fn read(value: &Value) -> Option<[T; N]> {
        let Value::List(items) = value else { return None };
        let items: Option<Vec<T>> = items.iter().map(T::read).collect();
        items?.try_into().ok()
    }
}

/// Hands the entries out to the groups and notes what is missing.
pub(super) struct Reader<'a> {
    pub(super) entries: &'a Entries,
    pub(super) problems: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    /// The value of a key of stage 0.
    pub(super) fn take<T: Read>(&mut self, group: &str, key: &str) -> T {
        let name = format!("{group}.{key}");
        let Some(entry) = self.entries.get(group).and_then(|entries| entries.get(key)) else {
            self.problems.push(Problem::new(Code::MissingKey, name, ""));
            return T::blank();
        };
        if entry.stage != 0 {
            self.problems.push(Problem::new(Code::Stage, &name, format!("{} of 0", entry.stage)));
        }
        T::read(&entry.value).unwrap_or_else(|| {
            self.problems.push(Problem::new(Code::Shape, name, format!("{:?}", entry.value)));
            T::blank()
        })
    }
}

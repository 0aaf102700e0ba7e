//! The table that the skills of the family `table` share, and its Markdown.

use crate::skill::payload::{LIST_MAX, Work, object, output, settled, too_large, unfit};
use crate::skill::{Failed, Fault};
use canon::{Object, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Most columns of a table.
const COLUMNS_MAX: usize = 1000;

/// A table of an argument: every row has a cell for every column, and the columns have distinct names.
pub(super) struct Table<'a> {
    pub(super) columns: Vec<&'a str>,
    pub(super) rows: Vec<&'a [Value]>,
}

impl<'a> Table<'a> {
    /// The table of the argument `name`.
    pub(super) fn of(payload: &'a Object, name: &str) -> Result<Table<'a>, Failed> {
        let table = object(payload, name)?;
        let member = |member: &str| table.get(member).and_then(Value::as_array);
        let columns = member("columns").ok_or_else(|| unfit(name, "has no list of columns"))?;
        let rows = member("rows").ok_or_else(|| unfit(name, "has no list of rows"))?;
        if columns.len() > COLUMNS_MAX {
            return Err(too_large(name, COLUMNS_MAX, "columns"));
        }
        if rows.len() > LIST_MAX {
            return Err(too_large(name, LIST_MAX, "rows"));
        }
        let columns: Option<Vec<&str>> = columns.iter().map(Value::as_str).collect();
        let columns = columns.ok_or_else(|| unfit(name, "has a column whose name is no string"))?;
        if columns.iter().collect::<BTreeSet<_>>().len() < columns.len() {
            return Err(unfit(name, "has two columns of one name"));
        }
        let fits = |row: &[Value]| row.len() == columns.len() && row.iter().all(is_cell);
        let row = |(index, row): (usize, &'a Value)| {
            let row = row.as_array().filter(|row| fits(row));
            row.ok_or_else(|| {
                unfit(name, &format!("row {index} is not a list of one scalar for each column"))
            })
        };
        let rows = rows.iter().enumerate().map(row).collect::<Result<_, _>>()?;
        Ok(Table { columns, rows })
    }

    /// The position of a column.
    pub(super) fn column(&self, name: &str) -> Result<usize, Failed> {
        let found = self.columns.iter().position(|column| *column == name);
        found.ok_or_else(|| Failed::new(Fault::ColumnAbsent, name))
    }
}

/// True for what a cell may hold.
pub(super) fn is_cell(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_))
}

/// A cell as text; null is empty. Keys are compared by it, so that `1` and `"1"` are one key.
pub(super) fn written(cell: &Value) -> Cow<'_, str> {
    match cell {
        Value::Str(text) => Cow::Borrowed(text),
        Value::Int(number) => Cow::Borrowed(number.as_str()),
        Value::Float(number) => Cow::Owned(number.to_string()),
        Value::Bool(true) => Cow::Borrowed("true"),
        Value::Bool(false) => Cow::Borrowed("false"),
        _ => Cow::Borrowed(""),
    }
}

/// What a copy of these cells costs: a long text may be copied into many rows.
pub(super) fn cost<'a>(cells: impl Iterator<Item = &'a Value>) -> usize {
    cells.map(|cell| 1 + cell.as_str().map_or(0, str::len) / 16).sum()
}

/// A table as output.
pub(super) fn table(columns: Vec<String>, rows: Vec<Vec<Value>>) -> Result<Value, Failed> {
    let row = |row: Vec<Value>| row.iter().map(settled).collect::<Result<_, _>>().map(Value::Array);
    let rows: Vec<Value> = rows.into_iter().map(row).collect::<Result<_, _>>()?;
    Ok(Object::new().with("columns", columns).with("rows", rows).into())
}

/// The names, each that was there before with a number behind it: a group may be called sum, and what one skill gives
/// the next one takes.
pub(super) fn distinct(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut named = Vec::new();
    for name in names {
        let numbered = (2_u32..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
        let free = free.unwrap_or(name);
        taken.insert(free.clone());
        named.push(free);
    }
    named
}

/// `table.markdown`.
pub(super) fn markdown(payload: &Object) -> Result<Value, Failed> {
    let table = Table::of(payload, "table")?;
    Work::of(2_000_000).spend(table.columns.len() * (table.rows.len() + 1))?;
    let shown = |text: &str| text.replace('|', "\\|").replace("\r\n", " ").replace(['\n', '\r'], " ");
    let head: Vec<String> = table.columns.iter().map(|name| shown(name)).collect();
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.iter().map(|cell| shown(&written(cell))).collect()).collect();
    let length = |text: &String| text.chars().count();
    let mut columns = Vec::new();
    for (index, name) in head.iter().enumerate() {
        let width = rows.iter().map(|row| length(&row[index])).max().unwrap_or(0).max(length(name));
        let numbers = !table.rows.is_empty() && table.rows.iter().all(|row| is_number(&row[index]));
        columns.push((width.max(if numbers { 2 } else { 3 }), numbers));
    }
    let rule = |(width, numbers): &(usize, bool)| {
        if *numbers { format!("{}:", "-".repeat(width - 1)) } else { "-".repeat(*width) }
    };
    let rule: Vec<String> = columns.iter().map(rule).collect();
    let mut out = String::new();
    // One wide cell makes every row wide.
    let width: usize = columns.iter().map(|(width, _)| width + 3).sum();
    if width.saturating_mul(rows.len() + 2) > 2 * crate::skill::payload::OUTPUT_MAX {
        return Err(Failed::new(Fault::OutputTooLarge, "the aligned table"));
    }
    for row in [head, rule].iter().chain(&rows) {
        for (cell, (width, numbers)) in row.iter().zip(&columns) {
            out.push_str(&if *numbers { format!("| {cell:>width$} ") } else { format!("| {cell:<width$} ") });
        }
        out.push_str("|\n");
    }
    output(out)
}

fn is_number(cell: &Value) -> bool {
    matches!(cell, Value::Int(_) | Value::Float(_))
}

//! Tables: `{"columns": [names], "rows": [[cells]]}`.

use super::{Declared, csv, grid};
use crate::skill::decimal::{Decimal, NotDecimal, overflow};
use crate::skill::payload::{Work, choice, flag, object, text, unfit};
use crate::skill::{Failed, Fault};
use canon::{Object, Value};
use grid::{Table, written};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

const TABLE: (&str, &str) = (
    "table",
    "columns (a list of distinct names) and rows (lists of as many strings, numbers, booleans or nulls)",
);

/// The skills of this family.
pub(super) const SKILLS: &[Declared] = &[
    Declared {
        name: "table.parse",
        version: 2,
        description: "Read CSV text (comma separated values, RFC 4180, quoted fields and line breaks in them) or a \
                      spreadsheet export into a table of columns and rows.",
        triggers: &["parse csv", "read csv", "csv to rows"],
        needs: &[(
            "text",
            "the CSV; its first row names the columns, each by another name; a line without any character is no row",
        )],
        takes: &[("separator", "comma (when absent), semicolon, tab or pipe")],
        examples: &[
            (
                r#"{"text":"name,note\r\nann,\"a \"\"b\"\", c\"\r\n"}"#,
                r#"{"columns":["name","note"],"rows":[["ann","a \"b\", c"]]}"#,
            ),
            (r#"{"text":"a;b\n1;\n","separator":"semicolon"}"#, r#"{"columns":["a","b"],"rows":[["1",""]]}"#),
            (r#"{"text":"note\n\"\"\nb\n"}"#, r#"{"columns":["note"],"rows":[[""],["b"]]}"#),
        ],
        run: parse,
    },
    Declared {
        name: "table.select",
        version: 1,
        description: "Filter a table: keep only the rows whose cell meets a condition (equal, less, greater, \
                      contains) and only the columns that are asked for.",
        triggers: &["filter rows", "select columns", "filter table"],
        needs: &[TABLE],
        takes: &[
            ("columns", "names of the columns to keep, in their new order; all when absent"),
            (
                "where",
                "a condition: column, is (equal, unequal, less, greater, contains) and value, a scalar",
            ),
        ],
        examples: &[
            (
                r#"{"table":{"columns":["n","v"],"rows":[["a","9"],["b","10"]]},"columns":["n"],"where":{"column":"v","is":"greater","value":9.5}}"#,
                r#"{"columns":["n"],"rows":[["b"]]}"#,
            ),
            (
                r#"{"table":{"columns":["n"],"rows":[["anna"],["bob"]]},"where":{"column":"n","is":"contains","value":"nn"}}"#,
                r#"{"columns":["n"],"rows":[["anna"]]}"#,
            ),
        ],
        run: select,
    },
    Declared {
        name: "table.sort",
        version: 1,
        description: "Order the rows of a table by one column, smallest or largest first; numbers by value and before \
                      words, equal rows keep their order.",
        triggers: &["sort table", "order rows by", "sort rows"],
        needs: &[TABLE, ("by", "name of the column")],
        takes: &[("descending", "largest first; false when absent")],
        examples: &[
            (
                r#"{"table":{"columns":["v"],"rows":[["10"],["x"],[9]]},"by":"v"}"#,
                r#"{"columns":["v"],"rows":[[9],["10"],["x"]]}"#,
            ),
            (
                r#"{"table":{"columns":["v"],"rows":[[1],[2]]},"by":"v","descending":true}"#,
                r#"{"columns":["v"],"rows":[[2],[1]]}"#,
            ),
        ],
        run: sort,
    },
    Declared {
        name: "table.sum",
        version: 2,
        description: "Group the rows of a table by a column and add up another one in each group, with exact \
                      subtotals and counts: total sales by region, expenses by month.",
        triggers: &["group by", "sum by group", "subtotals"],
        needs: &[
            TABLE,
            ("by", "name of the column of the groups"),
            ("value", "name of the column that is added up"),
        ],
        takes: &[],
        examples: &[
            (
                r#"{"table":{"columns":["r","v"],"rows":[["n","0.1"],["s",5],["n",0.2]]},"by":"r","value":"v"}"#,
                r#"{"columns":["r","sum","count"],"rows":[["n","0.3",2],["s","5",1]]}"#,
            ),
            (
                r#"{"table":{"columns":["r","v"],"rows":[]},"by":"r","value":"v"}"#,
                r#"{"columns":["r","sum","count"],"rows":[]}"#,
            ),
        ],
        run: sum,
    },
    Declared {
        name: "table.join",
        version: 2,
        description: "Join two tables on a key column that both have, as SQL does: combine the rows with the same key, \
                      inner or left.",
        triggers: &["join tables", "inner join", "left join", "lookup by key"],
        needs: &[("left", TABLE.1), ("right", "a table like left"), ("on", "name of the key column in both")],
        takes: &[("kind", "inner (when absent), or left: rows without partner stay, with nulls")],
        examples: &[
            (
                r#"{"left":{"columns":["id","a"],"rows":[[1,"x"],[2,"y"]]},"right":{"columns":["id","b"],"rows":[["1","p"],[1,"q"]]},"on":"id"}"#,
                r#"{"columns":["id","a","b"],"rows":[[1,"x","p"],[1,"x","q"]]}"#,
            ),
            (
                r#"{"left":{"columns":["id"],"rows":[[2]]},"right":{"columns":["id","b"],"rows":[]},"on":"id","kind":"left"}"#,
                r#"{"columns":["id","b"],"rows":[[2,null]]}"#,
            ),
        ],
        run: join,
    },
    Declared {
        name: "table.pivot",
        version: 2,
        description: "Make a pivot table (cross tabulation): one row for each value of a column, one column for each \
                      value of a second, sums of a third in the cells.",
        triggers: &["pivot table", "cross tabulation", "crosstab"],
        needs: &[
            TABLE,
            ("down", "name of the column whose values become rows"),
            ("across", "name of the column whose values become columns, at most 200"),
            ("value", "name of the column that is added up"),
        ],
        takes: &[],
        examples: &[
            (
                r#"{"table":{"columns":["r","m","v"],"rows":[["n","jan",1],["s","feb",2],["n","jan",3]]},"down":"r","across":"m","value":"v"}"#,
                r#"{"columns":["r","feb","jan"],"rows":[["n",null,"4"],["s","2",null]]}"#,
            ),
            (
                r#"{"table":{"columns":["r","m","v"],"rows":[]},"down":"r","across":"m","value":"v"}"#,
                r#"{"columns":["r"],"rows":[]}"#,
            ),
        ],
        run: pivot,
    },
    Declared {
        name: "table.markdown",
        version: 1,
        description: "Write a table as Markdown with aligned pipes and a header line, ready for a README, an issue or \
                      a wiki page; numbers are set to the right.",
        triggers: &["markdown table", "table to markdown", "format as markdown"],
        needs: &[TABLE],
        takes: &[],
        examples: &[
            (
                r#"{"table":{"columns":["name","n"],"rows":[["a|b",1],["c",20]]}}"#,
                r#""| name |  n |\n| ---- | -: |\n| a\\|b |  1 |\n| c    | 20 |\n""#,
            ),
            (r#"{"table":{"columns":["a"],"rows":[[null]]}}"#, r#""| a   |\n| --- |\n|     |\n""#),
        ],
        run: grid::markdown,
    },
];

/// Steps of one call; each copies or compares one cell.
const WORK_MAX: u64 = 2_000_000;

/// Most columns of a pivot table.
const ACROSS_MAX: usize = 200;

fn parse(payload: &Object) -> Result<Value, Failed> {
    let separator = match choice(payload, "separator", &["comma", "semicolon", "tab", "pipe"])? {
        "semicolon" => ';',
        "tab" => '\t',
        "pipe" => '|',
        _ => ',',
    };
    let mut rows = csv::rows(text(payload, "text")?, separator)?.into_iter();
    let columns = rows.next().ok_or_else(|| Failed::new(Fault::NotCsv, "there is no row"))?;
    let mut names = BTreeSet::new();
    if let Some(twice) = columns.iter().find(|name| !names.insert(name.as_str())) {
        return Err(Failed::new(
            Fault::NotCsv,
            format!("two columns are called {}", canon::shown(twice.as_bytes())),
        ));
    }
    let mut table = Vec::with_capacity(rows.len());
    for (index, row) in rows.enumerate() {
        if row.len() != columns.len() {
            let detail = format!("row {}: {} fields, not {}", index + 1, row.len(), columns.len());
            return Err(Failed::new(Fault::NotCsv, detail));
        }
        table.push(Value::from(row));
    }
    Ok(Object::new().with("columns", columns).with("rows", table).into())
}

/// Numbers by value and before words, words by code point.
fn order(a: &Value, b: &Value) -> Ordering {
    match (Decimal::of(a), Decimal::of(b)) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => written(a).cmp(&written(b)),
    }
}

fn select(payload: &Object) -> Result<Value, Failed> {
    let table = Table::of(payload, "table")?;
    let mut kept: Vec<usize> = (0..table.columns.len()).collect();
    if let Some(names) = payload.get("columns") {
        let names = names.as_array().ok_or_else(|| unfit("columns", "is not a list"))?;
        let name = |name: &Value| name.as_str().map(str::to_owned);
        let names: Option<Vec<String>> = names.iter().map(name).collect();
        let names = names.ok_or_else(|| unfit("columns", "holds something that is no name"))?;
        kept = names.iter().map(|name| table.column(name)).collect::<Result<_, _>>()?;
        if kept.iter().collect::<BTreeSet<_>>().len() < kept.len() {
            return Err(unfit("columns", "names a column twice"));
        }
    }
    let mut work = Work::of(WORK_MAX);
    work.spend(kept.len() * (table.rows.len() + kept.len()))?;
    let condition = condition(payload, &table)?;
    let rows =
        table.rows.iter().filter(|row| condition.as_ref().is_none_or(|condition| condition.holds(row)));
    let rows = rows.map(|row| kept.iter().map(|index| row[*index].clone()).collect()).collect();
    grid::table(kept.iter().map(|index| table.columns[*index].to_owned()).collect(), rows)
}

struct Condition<'a> {
    column: usize,
    is: &'static str,
    value: &'a Value,
}

impl Condition<'_> {
    fn holds(&self, row: &[Value]) -> bool {
        let cell = &row[self.column];
        match self.is {
            "equal" => order(cell, self.value).is_eq(),
            "unequal" => order(cell, self.value).is_ne(),
            "less" => order(cell, self.value).is_lt(),
            "greater" => order(cell, self.value).is_gt(),
            _ => written(cell).contains(written(self.value).as_ref()),
        }
    }
}

fn condition<'a>(payload: &'a Object, table: &Table<'_>) -> Result<Option<Condition<'a>>, Failed> {
    if payload.get("where").is_none() {
        return Ok(None);
    }
    let condition = object(payload, "where")?;
    let broken = |failed: Failed| unfit("where", &failed.detail);
    let column = table.column(text(condition, "column").map_err(broken)?)?;
    let is = choice(condition, "is", &["equal", "unequal", "less", "greater", "contains"]).map_err(broken)?;
    match condition.get("value") {
        Some(value) if grid::is_cell(value) => Ok(Some(Condition { column, is, value })),
        _ => Err(unfit("where", "has no value that a cell can hold")),
    }
}

fn sort(payload: &Object) -> Result<Value, Failed> {
    let table = Table::of(payload, "table")?;
    let by = table.column(text(payload, "by")?)?;
    let descending = flag(payload, "descending")?;
    let mut rows: Vec<&[Value]> = table.rows;
    rows.sort_by(|a, b| if descending { order(&b[by], &a[by]) } else { order(&a[by], &b[by]) });
    grid::table(
        table.columns.iter().map(|name| (*name).to_owned()).collect(),
        rows.iter().map(|row| row.to_vec()).collect(),
    )
}

/// The number of a cell that is added up; an empty cell adds nothing.
fn amount(cell: &Value, row: usize) -> Result<Option<Decimal>, Failed> {
    if cell.is_null() || cell.as_str() == Some("") {
        return Ok(None);
    }
    match Decimal::of(cell) {
        Ok(number) => Ok(Some(number)),
        Err(NotDecimal::TooManyDigits) => Err(overflow()),
        Err(NotDecimal::NotNumber) => Err(Failed::new(Fault::CellNotNumber, format!("row {row}"))),
    }
}

fn sum(payload: &Object) -> Result<Value, Failed> {
    let table = Table::of(payload, "table")?;
    let name = text(payload, "by")?;
    let (by, value) = (table.column(name)?, table.column(text(payload, "value")?)?);
    let zero = Decimal::parse("0").map_err(|_| overflow())?;
    let mut groups: BTreeMap<String, (Decimal, u64)> = BTreeMap::new();
    for (index, row) in table.rows.iter().enumerate() {
        let group = groups.entry(written(&row[by]).into_owned()).or_insert((zero, 0));
        if let Some(number) = amount(&row[value], index)? {
            group.0 = group.0.plus(number)?;
        }
        group.1 += 1;
    }
    let row = |(key, (sum, count)): (String, (Decimal, u64))| {
        vec![Value::Str(key), Value::Str(sum.to_string()), Value::from(count)]
    };
    let columns = grid::distinct([name, "sum", "count"].map(str::to_owned));
    let rows: Vec<Value> = groups.into_iter().map(|group| Value::Array(row(group))).collect();
    Ok(Object::new().with("columns", columns).with("rows", rows).into())
}

fn join(payload: &Object) -> Result<Value, Failed> {
    let (left, right) = (Table::of(payload, "left")?, Table::of(payload, "right")?);
    let on = text(payload, "on")?;
    let (left_key, right_key) = (left.column(on)?, right.column(on)?);
    let outer = choice(payload, "kind", &["inner", "left"])? == "left";
    let mut partners: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (index, row) in right.rows.iter().enumerate() {
        partners.entry(written(&row[right_key])).or_default().push(index);
    }
    let others: Vec<usize> = (0..right.columns.len()).filter(|index| *index != right_key).collect();
    let mut work = Work::of(WORK_MAX);
    let mut rows = Vec::new();
    for row in &left.rows {
        let found = partners.get(&written(&row[left_key])).map_or(&[][..], Vec::as_slice);
        let own = grid::cost(row.iter());
        work.spend(own + others.len())?;
        for partner in found {
            work.spend(own + grid::cost(others.iter().map(|index| &right.rows[*partner][*index])))?;
            let cells = others.iter().map(|index| right.rows[*partner][*index].clone());
            rows.push(row.iter().cloned().chain(cells).collect());
        }
        if found.is_empty() && outer {
            rows.push(row.iter().cloned().chain(others.iter().map(|_| Value::Null)).collect());
        }
    }
    let mut columns: Vec<String> = left.columns.iter().map(|name| (*name).to_owned()).collect();
    for index in others {
        let name = right.columns[index];
        let taken = left.columns.contains(&name);
        columns.push(if taken { format!("right.{name}") } else { name.to_owned() });
    }
    grid::table(grid::distinct(columns), rows)
}

fn pivot(payload: &Object) -> Result<Value, Failed> {
    let table = Table::of(payload, "table")?;
    let name = text(payload, "down")?;
    let (down, across) = (table.column(name)?, table.column(text(payload, "across")?)?);
    let value = table.column(text(payload, "value")?)?;
    let mut sums: BTreeMap<String, BTreeMap<String, Decimal>> = BTreeMap::new();
    let mut heads = BTreeSet::new();
    for (index, row) in table.rows.iter().enumerate() {
        let head = written(&row[across]).into_owned();
        let cells = sums.entry(written(&row[down]).into_owned()).or_default();
        heads.insert(head.clone());
        if let Some(number) = amount(&row[value], index)? {
            let sum = cells.get(&head).map_or(Ok(number), |sum| sum.plus(number))?;
            cells.insert(head, sum);
        }
    }
    if heads.len() > ACROSS_MAX {
        return Err(crate::skill::payload::too_large("across", ACROSS_MAX, "different values"));
    }
    Work::of(WORK_MAX).spend(heads.len() * sums.len())?;
    let row = |(key, cells): (String, BTreeMap<String, Decimal>)| {
        let cell = |head: &String| cells.get(head).map(Decimal::to_string).into();
        std::iter::once(Value::Str(key)).chain(heads.iter().map(cell)).collect::<Vec<Value>>()
    };
    let rows: Vec<Value> = sums.into_iter().map(|group| Value::Array(row(group))).collect();
    let columns = grid::distinct(std::iter::once(name.to_owned()).chain(heads));
    Ok(Object::new().with("columns", columns).with("rows", rows).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use canon::Reader;

    fn call(run: fn(&Object) -> Result<Value, Failed>, payload: &str) -> Result<Value, Failed> {
        run(Reader::strict().read(payload.as_bytes()).unwrap().as_object().unwrap())
    }

    fn gives(run: fn(&Object) -> Result<Value, Failed>, payload: &str, columns: &str) {
        let table = call(run, payload).unwrap();
        let columns = Reader::strict().read(columns.as_bytes()).unwrap();
        assert_eq!(table.get("columns"), Some(&columns), "{payload}");
        // What one skill gives, the others take.
        Table::of(&Object::new().with("t", table), "t").unwrap();
    }

    #[test]
    fn a_quoted_empty_field_is_a_record() {
        let rows = |text: &str| {
            let table = parse(&Object::new().with("text", text)).unwrap();
            String::from_utf8(canon::compact_ascii(&table)).unwrap()
        };
        assert_eq!(rows("note\n\"\"\nb\n"), r#"{"columns":["note"],"rows":[[""],["b"]]}"#);
        assert_eq!(rows("\"\"\n1\n"), r#"{"columns":[""],"rows":[["1"]]}"#);
        assert_eq!(rows("note\r\n\r\n\"\"\r\n"), r#"{"columns":["note"],"rows":[[""]]}"#);
        assert_eq!(rows("note\n\"\""), r#"{"columns":["note"],"rows":[[""]]}"#);
    }

    #[test]
    fn names_of_columns_are_distinct() {
        let failed = call(parse, r#"{"text":"a,b,a\n1,2,3\n"}"#).unwrap_err();
        assert_eq!((failed.fault, failed.detail.as_str()), (Fault::NotCsv, "two columns are called a"));
        let of = r#""table":{"columns":["sum","v"],"rows":[["x",1]]}"#;
        gives(sum, &format!(r#"{{{of},"by":"sum","value":"v"}}"#), r#"["sum","sum_2","count"]"#);
        let of = r#""table":{"columns":["r","m","v"],"rows":[["x","r",1]]}"#;
        gives(pivot, &format!(r#"{{{of},"down":"r","across":"m","value":"v"}}"#), r#"["r","r_2"]"#);
        let (left, right) =
            (r#"{"columns":["k","b","right.b"],"rows":[]}"#, r#"{"columns":["k","b"],"rows":[]}"#);
        gives(
            join,
            &format!(r#"{{"left":{left},"right":{right},"on":"k"}}"#),
            r#"["k","b","right.b","right.b_2"]"#,
        );
    }
}

//! A field table to begin with: what was found, what has to be physical, what differed, and everything else left to
//! the author. A guess that nobody sees would be worse than no table.

use canon::replay::{MINIMUM_PHYSICAL, Pattern};
use canon::{Value, canonical};
use std::collections::{BTreeMap, BTreeSet};
use verdict::judge::Run;

/// What stands at one path.
#[derive(Default)]
struct Field {
    kinds: BTreeSet<&'static str>,
    /// Values of each run, in document order.
    values: Vec<Vec<String>>,
    /// Whether it is a list of objects, and which of their members are scalars.
    keys: Option<BTreeSet<String>>,
}

type Fields = BTreeMap<Vec<String>, Field>;

/// The proposed table as TOML. With one run nothing can have differed, and the text says so.
pub fn propose(runs: &[Run<'_>]) -> String {
    let mut fields = Fields::new();
    for (index, run) in runs.iter().enumerate() {
        for document in run.tasks.values() {
            collect(&document.to_value(), &mut Vec::new(), index, runs.len(), &mut fields);
        }
    }
    write(&fields, runs.len())
}

fn collect(value: &Value, path: &mut Vec<String>, run: usize, runs: usize, fields: &mut Fields) {
    let field = fields.entry(path.clone()).or_default();
    field.values.resize(runs, Vec::new());
    match value {
        Value::Object(object) => {
            field.kinds.insert("object");
            for (key, member) in object.iter() {
                path.push(key.to_owned());
                collect(member, path, run, runs, fields);
                path.pop();
            }
        }
        Value::Array(items) => {
            field.kinds.insert("list");
            let objects: Vec<_> = items.iter().filter_map(Value::as_object).collect();
            if !items.is_empty() && objects.len() == items.len() {
                let keys = field.keys.get_or_insert_default();
                let scalar = |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_));
                let members = objects.iter().flat_map(|object| object.iter());
                keys.extend(members.filter(|(_, value)| scalar(value)).map(|(key, _)| key.to_owned()));
            }
            items.iter().for_each(|item| collect(item, path, run, runs, fields));
        }
        scalar => {
            field.kinds.insert(kind(scalar));
            field.values[run].push(String::from_utf8_lossy(&canonical(scalar)).into_owned());
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "truth value",
        Value::Int(_) | Value::Float(_) => "number",
        Value::Str(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// How the values of a field compare between the runs.
#[derive(PartialEq)]
enum Between {
    Equal,
    OtherOrder,
    /// Not the same number of values: a list is longer, or the field is missing somewhere. That says nothing about its class.
    OtherCount,
    Differ,
}

impl Between {
    fn note(&self) -> &'static str {
        match self {
            Between::OtherOrder => "; same values in another order: give its list an order below",
            Between::OtherCount => "; not the same number of values in each run",
            _ => "",
        }
    }
}

impl Field {
    fn between(&self) -> Between {
        let sorted = |values: &Vec<String>| {
            let mut values = values.clone();
            values.sort();
            values
        };
        match self.values.split_first() {
            Some((first, others)) if others.iter().all(|other| other == first) => Between::Equal,
            Some((first, others)) if others.iter().any(|other| other.len() != first.len()) => {
                Between::OtherCount
            }
            Some((first, others)) if others.iter().all(|other| sorted(other) == sorted(first)) => {
                Between::OtherOrder
            }
            _ => Between::Differ,
        }
    }

    fn describe(&self) -> String {
        let scalars: Vec<&str> = self.kinds.iter().copied().filter(|kind| *kind != "list").collect();
        let scalars = scalars.join(" or ");
        let kinds = match (self.kinds.contains("list"), scalars.is_empty()) {
            (false, _) => scalars,
            (true, true) => "list".to_owned(),
            (true, false) => format!("list of {scalars}"),
        };
        let example =
            self.values.iter().flatten().next().map(|value| format!(", such as {}", shortened(value)));
        format!("{kinds}{}", example.unwrap_or_default())
    }
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    let cut = text.char_indices().nth(SHOWN).map_or(text.len(), |(at, _)| at);
    canon::shown(format!("{}{}", &text[..cut], if cut < text.len() { "..." } else { "" }).as_bytes())
}

/// The path as a TOML key. Keys of documents are somebody else's text. A canonical JSON string is a basic string of
/// TOML, but for DEL, which TOML wants escaped.
fn toml_key(path: &[String]) -> String {
    let text = Pattern::of(path).to_string();
    let text = text.strip_prefix("$.").unwrap_or(&text);
    String::from_utf8_lossy(&canonical(&text.into())).replace('\u{7f}', "\\u007f")
}

fn write(fields: &Fields, runs: usize) -> String {
    let (mut minimum, mut physical, mut open) = (BTreeSet::new(), Vec::new(), Vec::new());
    for (path, field) in fields {
        let name = path.last().map(String::as_str).unwrap_or_default();
        let inside_of_physical = path.iter().any(|key| MINIMUM_PHYSICAL.contains(&key.as_str()));
        if path.is_empty() {
            // The document itself has a place among the lists only.
        } else if MINIMUM_PHYSICAL.contains(&name) {
            minimum.insert(name.to_owned());
        } else if !inside_of_physical {
            match field.between() {
                Between::Differ => physical.push((path, field)),
                between => open.push((path, field, between)),
            }
        }
    }
    let mut out = format!(
        "# Proposed by `touchstone conform init` from {runs} run(s). Paths: docs/determinism.md, \"Field tables\".\n"
    );
    out.push_str("version = 1\nscale = 6\n\n[fields]\n");
    let met: Vec<String> = minimum.into_iter().collect();
    out.push_str("# Always physical, in any table, and not to be listed: ");
    out.push_str(&MINIMUM_PHYSICAL.join(", "));
    out.push_str(&format!(
        ".\n# Met here: {}.\n",
        if met.is_empty() { "none".to_owned() } else { met.join(", ") }
    ));
    match (runs, physical.is_empty()) {
        (0 | 1, _) => out.push_str(
            "\n# One run: nothing can have differed. Give a second --run to have that looked for.\n",
        ),
        (_, true) => out.push_str("\n# No other field differed between the runs.\n"),
        _ => out.push_str(
            "\n# Differed between the runs: physical, unless the difference is a fault of the runtime.\n",
        ),
    }
    for (path, field) in &physical {
        out.push_str(&format!("{} = \"physical\" # {}\n", toml_key(path), field.describe()));
    }
    out.push_str(
        "\n# Yours to decide: repro, physical or opaque. While a line is a comment its field is unknown, which means dropped\n\
         # and warned about. An object or list must be repro for anything inside it to count.\n",
    );
    for (path, field, between) in &open {
        let note = between.note();
        out.push_str(&format!("# {} = \"\" # {}{note}\n", toml_key(path), field.describe()));
    }
    out.push_str(&lists(fields));
    out
}

fn lists(fields: &Fields) -> String {
    let mut out = String::new();
    for (path, field) in fields {
        if let Some(keys) = &field.keys {
            let physical = |key: &&str| MINIMUM_PHYSICAL.contains(key);
            let keys: Vec<&str> = keys.iter().map(String::as_str).filter(|key| !physical(key)).collect();
            let heading = if out.is_empty() {
                "\n[lists]\n# Lists of objects: key (which members?), set, or sequence.\n"
            } else {
                ""
            };
            let note = canon::shown(keys.join(", ").as_bytes());
            out.push_str(&format!(
                "{heading}# {} = {{ order = \"\" }} # members that could be keys: {note}\n",
                toml_key(path)
            ));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use canon::Limits;
    use canon::replay::{Document, Table};

    fn run(text: &'static str) -> Run<'static> {
        let document = Document::json(text.as_bytes(), Limits::default()).unwrap();
        Run { name: "run".into(), tasks: BTreeMap::from([("run".to_owned(), document)]) }
    }

    #[test]
    fn every_field_is_there_and_none_is_guessed() {
        let a = run(r#"{"id":"r1","ts":1,"task":"t","steps":[{"n":1,"pid":3},{"n":2}],"odd.key":null}"#);
        let b = run(r#"{"id":"r2","ts":2,"task":"t","steps":[{"n":2},{"n":1,"pid":3}],"odd.key":null}"#);
        let text = propose(&[a, b]);
        assert!(text.contains("# Met here: pid, ts."), "{text}");
        assert!(text.contains("\"id\" = \"physical\" # text, such as \"r1\""), "{text}");
        for open in [
            "# \"task\" = \"\" # text",
            "# \"steps\" = \"\" # list of object",
            "# \"steps.n\" = \"\" # number, such as 1; same values in another order",
            "# \"'odd.key'\" = \"\" # null",
        ] {
            assert!(text.contains(open), "{open}\n{text}");
        }
        assert!(text.contains("# \"steps\" = { order = \"\" } # members that could be keys: n\n"), "{text}");
        let table = Table::parse(&text).unwrap();
        assert_eq!(table.fields().len(), 1, "only what differed is decided");
    }

    #[test]
    fn other_counts_decide_nothing_and_the_list_of_records_is_offered() {
        let text = propose(&[run(r#"[{"a":1,"why":"x"}]"#), run(r#"[{"a":1},{"a":1}]"#)]);
        for open in [
            "# \"a\" = \"\" # number, such as 1; not the same number of values in each run",
            "# \"why\" = \"\"",
            "# \"$\" = { order = \"\" }",
        ] {
            assert!(text.contains(open), "{open}\n{text}");
        }
        assert!(Table::parse(&text).is_err(), "nothing is decided");
    }

    #[test]
    fn one_run_says_that_nothing_was_compared() {
        let text = propose(&[run(r#"{"a":1}"#)]);
        assert!(text.contains("One run: nothing can have differed."), "{text}");
        assert!(Table::parse(&text).is_err(), "a table that decides nothing is refused");
    }

    /// A key of a document must not be able to add a line to the table.
    #[test]
    fn hostile_keys_stay_inside_their_line() {
        let text = propose(&[
            run(r#"{"a\nb = \"repro\"":"x\ny","\"\"\"":1}"#),
            run(r#"{"a\nb = \"repro\"":"z","\"\"\"":2}"#),
        ]);
        let table = Table::parse(&text).unwrap();
        assert_eq!(table.fields().len(), 2, "{text}");
    }
}

//! Rows in: suites and candidates, all read before anything runs.

use ::check::{Candidate, Language};
use canon::{Limits, Reader, Value};
use suite::spec::{Mode, Spec, Task};

/// Longest row, in bytes.
const ROW_BYTES_MAX: usize = 16 << 20;
const DEPTH_MAX: usize = 16;

/// One candidate and the suite it is held against.
pub(super) struct Row {
    /// What its line is called by: any JSON value, null where there is none.
    pub(super) id: Value,
    pub(super) suite: Spec,
    pub(super) candidate: Candidate,
}

/// Reads JSON Lines; empty lines are passed over. The error names the line.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Row>, String> {
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
    let rows = lines.filter(|(line, _)| !line.trim_ascii().is_empty());
    let rows: Vec<Row> = rows
        .map(|(line, number)| row(line).map_err(|why| format!("line {number}: {why}")))
        .collect::<Result<_, _>>()?;
    if rows.is_empty() { Err("no row".to_owned()) } else { Ok(rows) }
}

fn row(line: &[u8]) -> Result<Row, String> {
    let limits = Limits { depth_max: DEPTH_MAX, bytes_max: ROW_BYTES_MAX };
    let value =
        Reader::strict().with_limits(limits).read(line).map_err(|error| error.fault.code().to_owned())?;
    let members = value.as_object().ok_or("a row is an object")?;
    if members.get("tests").is_some() && members.get("candidate").is_none() {
        return Err("this is a suite and no row: give --suite FILE --candidate FILE".to_owned());
    }
    if let Some((name, _)) = members.iter().find(|(name, _)| !MEMBERS.contains(name)) {
        return Err(format!("unknown member {}", canon::shown(name.as_bytes())));
    }
    let suite = value.get("suite").ok_or("no member suite")?;
    let suite =
        Spec::from_value(suite, Mode::Strict, Task::NotGiven).map_err(|error| format!("suite: {error}"))?;
    let source = value.get("candidate").and_then(Value::as_str).ok_or("candidate is a text")?;
    let language = match value.get("language") {
        None => Language::default(),
        Some(name) => {
            let named = name.as_str().and_then(Language::named);
            named.ok_or("language is python, javascript or rust")?
        }
    };
    let id = value.get("id").cloned().unwrap_or(Value::Null);
    Ok(Row { id, suite, candidate: Candidate { language, source: source.to_owned() } })
}

const MEMBERS: [&str; 4] = ["id", "suite", "candidate", "language"];

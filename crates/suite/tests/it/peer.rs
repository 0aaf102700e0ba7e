//! The same questions to the peer package itself, where it is installed; CI installs it.

use crate::literal_python::{literals, sample, soup};
use crate::python;
use canon::{Float, Object, Reader, Value, canonical};
use std::path::PathBuf;
use suite::checks::{Answered, compile};
use suite::literal::parse;
use suite::native::agree;
use suite::render;
use suite::spec::{Cmp, Dialect, Mode, Spec, Task};

/// What the peer answers, case by case; nothing where it is not installed.
fn ask(test: &str, cases: &[Value]) -> Option<Vec<Value>> {
    let Some(python) = std::env::var_os("TOUCHSTONE_PEER_PYTHON").map(PathBuf::from) else {
        vectors::skip(test, "TOUCHSTONE_PEER_PYTHON names no Python with vacant-network 0.9.1");
        return None;
    };
    let lines = cases.iter().map(|case| String::from_utf8(canonical(case)).unwrap()).collect();
    let answers = python::run(&python, "crates/suite/tests/python/peer_suites.py", &[], lines);
    assert_eq!(answers.len(), cases.len());
    Some(answers.iter().map(|answer| Reader::peer().read(answer.as_bytes()).unwrap()).collect())
}

fn answered(answer: &Value) -> String {
    match answer.get("value") {
        Some(value) => format!("value {}", value.as_str().unwrap_or("null")),
        None => vectors::text(answer, "error").to_owned(),
    }
}

fn compare(test: &str, specs: &[Value], values_at_least: usize) {
    let cases: Vec<Value> =
        specs.iter().map(|spec| Object::new().with("spec", spec.clone()).into()).collect();
    let Some(answers) = ask(test, &cases) else { return };
    let mut wrong = Vec::new();
    for (spec, theirs) in specs.iter().zip(&answers) {
        let ours = match Spec::from_value(spec, Mode::Peer, Task::NotGiven) {
            Ok(spec) => format!("value {}", render::peer_digest(&spec)),
            Err(error) => error.to_string(),
        };
        let theirs = answered(theirs);
        if ours != theirs {
            wrong.push(format!("{spec:?}: {ours}, the peer {theirs}"));
        }
    }
    let values = answers.iter().filter(|answer| answer.get("value").is_some()).count();
    println!("{test}: {} suites, {values} accepted", specs.len());
    assert!(values >= values_at_least, "{values}");
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        specs.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

/// Generated literals as arguments and results of suites: the same digests, the same codes.
#[test]
fn the_peer_renders_generated_suites_alike() {
    let mut texts = sample(literals(), 1500);
    texts.extend(sample(soup(), 1500));
    let spec = |(index, text): (usize, &String)| -> Value {
        let test = Object::new().with("args", format!("[{text}]")).with("expected", text.as_str());
        let dialect = if index % 3 == 0 { "lcb" } else { "mbpp" };
        let cmp = Object::new()
            .with("set_equivalent", index % 3 == 1 && index % 2 == 0)
            .with("regex_predicate", index % 3 == 1 && index % 5 == 0);
        let spec = Object::new().with("v", 1i64).with("dialect", dialect).with("entry_point", "f");
        spec.with("tests", vec![test]).with("cmp", cmp).into()
    };
    let specs: Vec<Value> = texts.iter().enumerate().map(spec).collect();
    compare("the_peer_renders_generated_suites_alike", &specs, 1000);
}

/// The refused suites of our own are refused by the peer for the same reason, unless only strict refuses them.
#[test]
fn the_peer_refuses_our_refused_suites_alike() {
    let own = vectors::json(&vectors::repository().join("vectors/suite/spec.json"));
    let cases = vectors::list(&own, "refused").iter().chain(vectors::list(&own, "accepted"));
    let specs: Vec<Value> = cases
        .filter(|case| case.get("task").is_none_or(|task| task.as_str() == Some("<not given>")))
        .map(|case| case.get("input").unwrap().clone())
        .collect();
    compare("the_peer_refuses_our_refused_suites_alike", &specs, 8);
}

/// The peer takes what lies between the outermost brackets for the value, and so finds none, or a later one, where
/// several stand; the specification says the first, and so do we.
fn several_values(case: &Value) -> bool {
    let schema = case.get("check").and_then(|check| check.get("schema")).is_some();
    let count = |brackets: [char; 2]| vectors::text(case, "answer").matches(brackets).count();
    schema && count(['{', '[']).max(count(['}', ']'])) > 1
}

#[test]
fn the_peer_projects_answers_alike() {
    let pieces = [
        "```",
        "py",
        "python",
        "\n",
        " ",
        "\"",
        "'",
        "`",
        "{\"a\": 1}",
        "[1, ",
        "2]",
        "x",
        "\u{1c}",
        "}",
        "é",
        "42",
        "null",
    ];
    let mut answers = Vec::new();
    for a in pieces {
        for b in pieces {
            for c in pieces {
                answers.push(format!("{a}{b}{c}{a}"));
            }
        }
    }
    let specs = [
        r#"{"type":"equals","value":"x"}"#,
        r#"{"type":"equals","value":42,"normalize":false}"#,
        r#"{"type":"contains","value":"X","ignore_case":true}"#,
        r#"{"type":"regex","pattern":"x$"}"#,
        r#"{"type":"json_schema","schema":{"type":"object","required":["a"]}}"#,
    ]
    .map(|spec| Reader::strict().read(spec.as_bytes()).unwrap());
    let case = |spec: &Value, answer: &String| {
        Object::new().with("check", spec.clone()).with("answer", answer.as_str()).into()
    };
    let cases: Vec<Value> =
        specs.iter().flat_map(|spec| answers.iter().map(move |answer| case(spec, answer))).collect();
    let cases: Vec<Value> = cases.into_iter().filter(|case| !several_values(case)).collect();
    let Some(theirs) = ask("the_peer_projects_answers_alike", &cases) else { return };
    let mut wrong = Vec::new();
    for (case, theirs) in cases.iter().zip(&theirs) {
        let check = compile(case.get("check").unwrap()).unwrap();
        let answer = vectors::text(case, "answer");
        let ours = (check.project(answer), check.evaluate(answer));
        let holds = theirs.get("ok").and_then(Value::as_bool).unwrap_or(false);
        let same = match theirs.get("value").and_then(Value::as_str) {
            Some(value) => ours == (Some(value.to_owned()), Answered::Known(holds)),
            // There is no such part: the peer raises.
            None => ours == (None, Answered::Known(false)),
        };
        if !same {
            wrong.push(format!("{case:?}: {ours:?}, the peer {theirs:?}"));
        }
    }
    println!("the_peer_projects_answers_alike: {} answers", cases.len());
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        cases.len(),
        wrong[..wrong.len().min(12)].join("\n")
    );
}

/// The comparison that the peer's check program makes, over pairs of values that are near one another.
#[test]
fn the_peer_compares_alike() {
    let leaves = [
        "0",
        "1",
        "-1",
        "True",
        "False",
        "None",
        "0.0",
        "-0.0",
        "1.0",
        "1.0000005",
        "1.000001",
        "1.000002",
        "0.9999990000000001",
        "1e999",
        "-1e999",
        "1j",
        "(1+1e-07j)",
        "1e308",
        "9007199254740993",
        "9007199254740992.0",
        "'a'",
        "'aa'",
        "b'a'",
        "97",
        "[]",
        "()",
        "set()",
        "{}",
        "...",
    ];
    let mut texts: Vec<String> = leaves.map(str::to_owned).to_vec();
    texts.push(format!("1{}", "0".repeat(400)));
    for leaf in &leaves[..20] {
        texts.extend([
            format!("[{leaf}]"),
            format!("({leaf}, 2)"),
            format!("[{leaf}, 2, 2]"),
            format!("[[{leaf}], 'a']"),
        ]);
        texts.extend([format!("{{{leaf}, 2}}"), format!("{{1: {leaf}}}"), format!("{{{leaf}: 'a'}}")]);
    }
    let modes = [
        (Dialect::Lcb, Cmp::default()),
        (Dialect::Mbpp, Cmp::default()),
        (Dialect::Mbpp, Cmp { atol: Some(Float::new(1e-6)), ..Cmp::default() }),
        (Dialect::Mbpp, Cmp { atol: Some(Float::new(0.0)), regex_predicate: true, ..Cmp::default() }),
        (Dialect::Mbpp, Cmp { set_equivalent: true, ..Cmp::default() }),
        (Dialect::Mbpp, Cmp { atol: Some(Float::new(0.5)), regex_predicate: true, ..Cmp::default() }),
    ];
    let mut pairs = Vec::new();
    for (index, got) in texts.iter().enumerate() {
        for (other, expected) in texts.iter().enumerate() {
            pairs.push((modes[(index + other) % modes.len()], got, expected));
        }
    }
    let case = |((dialect, cmp), got, expected): &((Dialect, Cmp), &String, &String)| -> Value {
        Object::new()
            .with("agree", vec![got.as_str(), expected.as_str()])
            .with("dialect", dialect.as_str())
            .with("sets", cmp.set_equivalent)
            .with("truth", cmp.regex_predicate)
            .with("atol", cmp.atol.map_or(Value::Null, Value::Float))
            .into()
    };
    let cases: Vec<Value> = pairs.iter().map(case).collect();
    let Some(theirs) = ask("the_peer_compares_alike", &cases) else { return };
    let (mut wrong, mut agreed) = (Vec::new(), 0);
    for (((dialect, cmp), got, expected), theirs) in pairs.into_iter().zip(&theirs) {
        let theirs = theirs.get("value").and_then(Value::as_bool).unwrap_or_else(|| panic!("{theirs:?}"));
        agreed += usize::from(theirs);
        if agree(dialect, cmp, &parse(got).unwrap(), &parse(expected).unwrap()) != theirs {
            wrong.push(format!("{dialect:?} {cmp:?}: {got} against {expected}, the peer {theirs}"));
        }
    }
    println!("the_peer_compares_alike: {} pairs, {agreed} agree", theirs.len());
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

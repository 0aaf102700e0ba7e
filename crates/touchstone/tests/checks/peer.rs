//! The same suites and candidates, evaluated here and by the peer's own `run_python_check` of its own rendering.

use super::{evaluator, place};
use canon::{Object, Reader, Value, compact_ascii};
use check::{Candidate, Reuse};
use std::io::Write as _;
use std::process::{Command, Stdio};
use suite::spec::{Mode, Spec, Task};

/// What a candidate returns (an expression), and what is expected (a literal).
const CASES: [(&str, &str); 24] = [
    ("1", "1"),
    ("1.0", "1"),
    ("True", "1"),
    ("1 + 1e-7", "1"),
    ("1 + 1e-5", "1"),
    ("0.1 + 0.2", "0.3"),
    ("[0.1 + 0.2, (1, 2)]", "[0.3, [1, 2]]"),
    ("(1, 2)", "[1, 2]"),
    ("[1, 2]", "[2, 1]"),
    ("[1, 1, 2]", "[2, 1]"),
    ("[[1]]", "[[1]]"),
    ("set()", "[]"),
    ("frozenset([1])", "{1}"),
    ("{'a': 1.0}", "{'a': 1}"),
    ("'ab'", "['b', 'a']"),
    ("float('nan')", "1.0"),
    ("float('inf')", "1.0"),
    ("re.match('a', 'a')", "True"),
    ("re.match('b', 'a')", "False"),
    ("None", "False"),
    ("collections.Counter('aa')", "{'a': 2}"),
    ("object()", "1"),
    ("1 << 70", "1180591620717411303424"),
    ("'\\u00e9\\U0001f600'", "'\\xe9\\U0001f600'"),
];

/// Dialect and switches.
fn settings() -> Vec<(&'static str, Object)> {
    let cmp = |atol: Value, set: bool, regex: bool| {
        Object::new().with("atol", atol).with("set_equivalent", set).with("regex_predicate", regex)
    };
    let tolerance = || Reader::strict().read(b"1e-06").unwrap();
    vec![
        ("mbpp", cmp(Value::Null, false, false)),
        ("mbpp", cmp(tolerance(), false, false)),
        ("mbpp", cmp(Value::Null, true, false)),
        ("mbpp", cmp(tolerance(), false, true)),
        ("lcb", cmp(Value::Null, false, false)),
    ]
}

fn pairs() -> Vec<(Value, String)> {
    let mut all = Vec::new();
    for (dialect, cmp) in settings() {
        for (got, expected) in CASES {
            let test = Object::new().with("args", "[]").with("expected", expected);
            let suite = Object::new()
                .with("v", 1i64)
                .with("dialect", dialect)
                .with("entry_point", "f")
                .with("tests", vec![Value::from(test)])
                .with("cmp", cmp.clone());
            all.push((suite.into(), format!("import collections, re\ndef f():\n    return {got}\n")));
        }
    }
    all
}

/// `accepted` of each pair. The peer's times are floats beside them, which are not read.
fn of_the_peer(python: &str, pairs: &[(Value, String)]) -> Vec<bool> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/check/peer.py");
    let mut command = Command::new(python);
    let mut child = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let pair = |(suite, candidate): &(Value, String)| -> Value {
        Object::new().with("suite", suite.clone()).with("candidate", candidate.as_str()).into()
    };
    let mut question = compact_ascii(&Value::Array(pairs.iter().map(pair).collect()));
    question.extend_from_slice(b"\ngo\n");
    child.stdin.take().unwrap().write_all(&question).unwrap();
    let output = child.wait_with_output().unwrap();
    let answers = Reader::strict().read(output.stdout.trim_ascii()).unwrap();
    answers.as_array().unwrap().iter().map(|one| one.as_array().unwrap()[0].as_bool().unwrap()).collect()
}

#[test]
fn native_evaluation_and_the_peer_accept_the_same() {
    let Ok(python) = std::env::var("TOUCHSTONE_PEER_PYTHON") else {
        return vectors::skip(
            "native evaluation and the peer",
            "TOUCHSTONE_PEER_PYTHON names no Python with vacant-network 0.9.1",
        );
    };
    let pairs = pairs();
    let theirs = of_the_peer(&python, &pairs);
    let place = place();
    let mut evaluator = evaluator(&place, Reuse::Fork);
    let mut differences = Vec::new();
    for ((suite, candidate), theirs) in pairs.iter().zip(&theirs) {
        let spec = Spec::from_value(suite, Mode::Strict, Task::NotGiven).unwrap();
        let seen = evaluator.evaluate(&spec, &Candidate::python(candidate.as_str())).unwrap();
        // Section 15.5 lets a frozenset cross; the peer's reader of literals cannot read what its worker wrote.
        let (ours, known) = (seen.ok, candidate.contains("frozenset"));
        if if known { !ours || *theirs } else { ours != *theirs } {
            differences.push(format!("{suite:?} {candidate}: ours {} theirs {theirs}", seen.ok));
        }
    }
    assert_eq!((theirs.len(), differences), (pairs.len(), Vec::<String>::new()));
    assert!(theirs.iter().filter(|ok| **ok).count() > 20 && theirs.iter().filter(|ok| !**ok).count() > 20);
}

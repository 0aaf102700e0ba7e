//! HumanEval as suites of data: `examples/humaneval/specs.py`, judged natively.

use crate::python;
use canon::{Reader, Value};
use std::collections::BTreeMap;
use suite::gauge::{Gauge, Runner};
use suite::literal::{self, parse};
use suite::native::{Outcome, Program, judge};
use suite::spec::{Mode, Spec, Task};
use vectors::{list, text};

/// Most problems convert; of each the published solution passes and a solution that returns nothing does not.
#[test]
fn humaneval_as_data() {
    let test = "humaneval_as_data";
    let Some(bank) = vectors::shared(test, "data/humaneval/HumanEval.jsonl.gz") else { return };
    let Some(python) = python::interpreter(test) else { return };
    let lines = python::run(&python, "examples/humaneval/specs.py", &[bank.to_str().unwrap()], Vec::new());
    assert_eq!(lines.len(), 164);
    let (mut converted, mut tests, mut unable) = (0, 0, BTreeMap::new());
    for line in &lines {
        let problem = Reader::strict().read(line.as_bytes()).unwrap();
        let name = text(&problem, "task_id");
        let Some(spec) = problem.get("spec") else {
            unable.insert(name.to_owned(), text(&problem, "why").to_owned());
            continue;
        };
        match Spec::from_value(spec, Mode::Strict, Task::EntryPoint(text(&problem, "entry_point"))) {
            Ok(spec) => {
                assert!(
                    gauged(&spec, text(&problem, "reference"), list(&problem, "outcomes")).ok(),
                    "{name}"
                );
                (converted, tests) = (converted + 1, tests + spec.tests().len());
            }
            Err(error) => {
                unable.insert(name.to_owned(), error.to_string());
            }
        }
    }
    println!("{converted} of 164 problems, {tests} tests; not: {unable:#?}");
    let known = [
        ("HumanEval/32", "a statement that is no assertion: Import"),
        ("HumanEval/38", "a statement that is no assertion: ImportFrom"),
        ("HumanEval/44", "a statement that is no assertion: For"),
        ("HumanEval/50", "a statement that is no assertion: ImportFrom"),
        ("HumanEval/53", "a statement that is no assertion: Import"),
    ];
    assert_eq!(unable, known.map(|(name, why)| (name.to_owned(), why.to_owned())).into());
    assert_eq!((converted, tests), (159, 1117));
}

/// The published solution's outcomes, and those of a solution that returns nothing, through the native comparison.
fn gauged(spec: &Spec, reference: &str, outcomes: &[Value]) -> Gauge {
    let outcome = |outcome: &Value| match outcome.as_str().map(parse) {
        Some(Ok(value)) => Outcome::Returned(value),
        _ => Outcome::Failed,
    };
    let published: Vec<Outcome> = outcomes.iter().map(outcome).collect();
    let nothing = vec![Outcome::Returned(literal::Value::None); published.len()];
    let program = Program::this();
    let runner =
        Runner { name: program.name.into(), version: program.version.to_string(), sha256: program.sha256 };
    let accepted = vec![judge(spec, &nothing).ok];
    Gauge::new(spec, reference, judge(spec, &published).ok, accepted, runner)
}

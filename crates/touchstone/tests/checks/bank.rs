//! HumanEval as suites of data, gauged with our runner: real candidates in real processes.

use super::{evaluator, place, python};
use canon::Reader;
use check::gauge::{RUNNER, gauge};
use check::{Candidate, Reuse};
use std::process::Command;
use suite::gauge::default_stub;
use suite::spec::{Mode, Spec, Task};
use vectors::{shared, text};

/// Each suite accepts the published solution and refuses one that returns nothing, with one server for all of them.
#[test]
fn every_humaneval_suite_passes_its_gauge() {
    let Some(bank) = shared("humaneval_gauged", "data/humaneval/HumanEval.jsonl.gz") else { return };
    let script = vectors::repository().join("examples/humaneval/specs.py");
    let output = Command::new(python()).arg(script).arg(bank).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let place = place();
    let mut evaluator = evaluator(&place, Reuse::Fork);
    let (mut suites, mut failing) = (0, Vec::new());
    for line in output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let problem = Reader::strict().read(line).unwrap();
        let Some(spec) = problem.get("spec") else { continue };
        let entry_point = Task::EntryPoint(text(&problem, "entry_point"));
        let spec = Spec::from_value(spec, Mode::Strict, entry_point).unwrap();
        let reference = Candidate::python(text(&problem, "reference"));
        let stub = Candidate::python(default_stub(&spec));
        let gauged = gauge(&mut evaluator, &spec, &reference, &[stub]).unwrap();
        assert_eq!(text(gauged.gauge.record().get("runner").unwrap(), "name"), RUNNER);
        suites += 1;
        if !gauged.gauge.ok() {
            failing.push(format!("{}: {:?} {:?}", text(&problem, "task_id"), gauged.reference, gauged.stubs));
        }
    }
    assert_eq!((suites, failing), (159, Vec::<String>::new()));
}

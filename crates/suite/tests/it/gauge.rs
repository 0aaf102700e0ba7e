//! The record of a gauge.

use canon::{Digest, Value, lint_no_floats};
use suite::gauge::{Gauge, Runner, default_stub};
use suite::spec::{Mode, Spec, Task};
use vectors::{list, text};

fn runner() -> Runner {
    Runner { name: "test".into(), version: "1".into(), sha256: Digest::of(b"runner") }
}

fn spec() -> Spec {
    let bytes =
        br#"{"v":1,"entry_point":"add","tests":[{"args":"[2, 3]","expected":"5"}],"cmp":{"atol":1e-6}}"#;
    Spec::from_bytes(bytes, Mode::Strict, Task::NotGiven).unwrap()
}

fn gauge(ref_passed: bool, accepted: &[bool]) -> Gauge {
    Gauge::new(&spec(), "def add(a, b):\n    return a + b\n", ref_passed, accepted.to_vec(), runner())
}

#[test]
fn ok_needs_a_reference_that_passes_and_stubs_that_do_not() {
    assert!(gauge(true, &[false, false]).ok());
    assert!(!gauge(false, &[false]).ok());
    assert!(!gauge(true, &[false, true]).ok());
    assert!(!gauge(true, &[]).ok() && !gauge(true, &[]).all_rejected());
}

#[test]
fn the_record_names_the_runner_and_holds_no_float() {
    let record = gauge(true, &[true, false]).record();
    lint_no_floats(&record).unwrap();
    assert_eq!(text(record.get("runner").unwrap(), "name"), "test");
    assert_eq!(record.get("accepted_stubs"), Some(&Value::from(vec![0u64])));
    assert_eq!(record.get("n_rejected"), Some(&Value::from(1u64)));
    let other = Runner { version: "2".into(), ..runner() };
    let other = Gauge::new(&spec(), "def add(a, b):\n    return a + b\n", true, vec![true, false], other);
    assert_ne!(other.digest(), gauge(true, &[true, false]).digest());
    assert_eq!(default_stub(&spec()), "def add(*args, **kwargs):\n    return None\n");
}

#[test]
fn peer_gauges_and_summary() {
    let path = "vectors/receiving-desk/quorum/quorum.json";
    let Some(path) = vectors::shared("peer_gauges_and_summary", path) else { return };
    let file = vectors::json(&path);
    let commit = file.get("suite_commit").unwrap();
    let cases = list(commit, "gauge");
    assert_eq!(cases.len(), 4);
    for case in cases {
        let outcome = case.get("outcome").unwrap();
        let accepted: Vec<bool> = {
            let through: Vec<i64> =
                list(outcome, "accepted_stubs").iter().map(|n| n.as_i64().unwrap()).collect();
            (0..list(case, "stubs").len() as i64).map(|index| through.contains(&index)).collect()
        };
        let passed = outcome.get("ref_passed").unwrap().as_bool().unwrap();
        let gauge = Gauge::new(&spec(), text(case, "reference"), passed, accepted, runner());
        // The suite of these cases is not published; everything else follows from the outcomes.
        let record = gauge.peer_record().with("suite_sha256", outcome.get("suite_sha256").unwrap().clone());
        assert_eq!(canon::canonical(&record.into()), canon::canonical(outcome), "{}", text(case, "name"));
    }
    let spec = Spec::from_value(file.get("suite").unwrap(), Mode::Peer, Task::NotGiven).unwrap();
    let reference = text(&cases[0], "reference");
    let summary = Gauge::new(&spec, reference, true, vec![false, false], runner()).summary();
    let signed = commit.get("entry").unwrap().get("payload").unwrap().get("gauge").unwrap();
    assert_eq!(canon::canonical(&summary), canon::canonical(signed));
}

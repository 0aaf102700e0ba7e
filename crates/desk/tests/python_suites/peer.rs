//! The peer's acceptance vectors.

use crate::{interpreter, plain, rows, story, suite, write_tree};
use canon::Value;
use desk::python_suite::{
    Isolation, Options, Suite, SuiteFile, SuiteResult, Visibility, declared_cases, result_sha256, run,
};
use std::time::Duration;
use vectors::{list, shared, text};

const ACCEPTANCE: &str = "vectors/receiving-desk/acceptance/acceptance.json";

/// The peer falls for these two; `strict_expectations` of the vector index say what a strict desk answers.
const ATTACKS: [&str; 2] = ["forged_report", "bash_profile_in_workspace"];

fn files(value: &Value) -> Vec<(&str, &str)> {
    value.as_object().unwrap().iter().map(|(name, text)| (name, text.as_str().unwrap())).collect()
}

fn run_vector(case: &Value, isolation: Isolation) -> SuiteResult {
    let (workspace, checks) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_tree(workspace.path(), &files(case.get("workspace").unwrap()));
    write_tree(checks.path(), &files(case.get("suite").unwrap()));
    let name = text(case, "name");
    // The one vector that waits for its limit; the others get one they never reach.
    let wall = Duration::from_secs(if name == "timeout" { 2 } else { 60 });
    let options =
        Options { isolation, wall, python: interpreter(), task_id: name.into(), ..Options::default() };
    let result =
        run(&plain::Plain, &Suite::read(checks.path()).unwrap(), workspace.path(), &options).unwrap();
    assert_eq!(result.visibility, Visibility::Visible);
    result
}

fn expected_rows(result: &Value) -> Vec<String> {
    let mut rows = Vec::new();
    for file in list(result, "files") {
        for case in list(file, "cases") {
            let mark = match case.get("synthesized").and_then(Value::as_bool) {
                None => "",
                Some(true) => " synthesized",
                Some(false) => " not-synthesized",
            };
            rows.push(format!("{}::{} {}{mark}", text(file, "file"), text(case, "case"), text(case, "kind")));
        }
    }
    rows
}

fn flag(value: &Value, key: &str) -> Option<bool> {
    value.get(key).and_then(Value::as_bool)
}

fn assert_same(name: &str, result: &SuiteResult, expected: &Value) {
    let ours = result.to_value();
    assert_eq!(rows(result), expected_rows(expected), "{name}\n{}", story(result));
    assert_eq!(Some(result.all_pass()), flag(expected, "all_pass"), "{name}");
    assert_eq!(flag(&ours, "complete"), flag(expected, "complete"), "{name}");
    assert_eq!(ours.get("suite_sha256"), expected.get("suite_sha256"), "{name}");
    assert_eq!(result.result_sha256().to_hex(), text(expected, "result_sha256"), "{name}");
    assert_eq!(ours.get("empty_reason").is_some_and(|value| !value.is_null()), result.files.is_empty());
    for (file, peer) in result.files.iter().zip(list(expected, "files")) {
        assert_eq!(file.sha256.to_hex(), text(peer, "sha256"), "{name}");
        assert_eq!(file.rc.map(i64::from), peer.get("rc").and_then(Value::as_i64), "{name}");
        assert_eq!(Some(file.end_marker), flag(peer, "end_marker"), "{name}");
        assert_eq!(Some(file.timed_out), flag(peer, "timed_out"), "{name}");
    }
}

#[test]
fn peer_vectors_in_process_are_bit_exact() {
    let Some(path) = shared("peer_vectors_in_process_are_bit_exact", ACCEPTANCE) else { return };
    let vectors = vectors::json(&path);
    let cases = list(&vectors, "cases");
    assert_eq!(cases.len(), 30);
    for case in cases {
        let (name, expected) = (text(case, "name"), case.get("result").unwrap());
        let result = run_vector(case, Isolation::InProcess);
        if ATTACKS.contains(&name) {
            assert!(!result.all_pass(), "{name}\n{}", story(&result));
            assert_eq!(flag(expected, "all_pass"), Some(true), "the peer accepts {name}");
        } else {
            assert_same(name, &result, expected);
        }
    }
}

/// Every vector whose rows differ in process mode, with the reason. All are refused by both but the last.
const PROCESS_DIFFERENCES: [(&str, &str); 3] = [
    (
        "exit_zero_early",
        "the checker survives the candidate: the case that lost it is `exception`, later ones too",
    ),
    (
        "exit_zero_at_import",
        "the checker survives: the import fails with the loss of the candidate's process",
    ),
    (
        "writes_into_workspace_cwd",
        "its second check wants the workspace on the import path of the checks, which process isolation forbids",
    ),
];

#[test]
fn peer_vectors_in_two_processes() {
    let Some(path) = shared("peer_vectors_in_two_processes", ACCEPTANCE) else { return };
    let vectors = vectors::json(&path);
    for case in list(&vectors, "cases") {
        let (name, expected) = (text(case, "name"), case.get("result").unwrap());
        let result = run_vector(case, Isolation::Process);
        let differs = PROCESS_DIFFERENCES.iter().any(|(listed, _)| *listed == name);
        if ATTACKS.contains(&name) {
            assert!(!result.all_pass(), "{name}\n{}", story(&result));
        } else if differs {
            assert_ne!(rows(&result), expected_rows(expected), "{name} no longer differs");
            assert!(!result.all_pass(), "{name}");
        } else {
            assert_same(name, &result, expected);
        }
    }
}

#[test]
fn peer_declared_cases() {
    let Some(path) = shared("peer_declared_cases", ACCEPTANCE) else { return };
    let vectors = vectors::json(&path);
    let cases = list(&vectors, "declared_cases");
    assert_eq!(cases.len(), 15);
    let texts: Vec<&str> = cases.iter().map(|case| text(case, "source")).collect();
    let found = declared_cases(&plain::Plain, &interpreter(), &texts).unwrap();
    for (case, names) in cases.iter().zip(found) {
        let expected: Vec<&str> = list(case, "declared").iter().filter_map(Value::as_str).collect();
        assert_eq!(names, expected, "{:?}", text(case, "source"));
    }
}

/// Observed by running the peer; an async `main` is declared, and fails as a coroutine. A byte-order mark is ours: the
/// peer declares nothing for such a file.
#[test]
fn declared_cases_beyond_the_vectors() {
    let texts = [
        "async def main(): pass",
        "def main(): pass\nasync def main(): pass",
        "\0",
        "# -*- coding: latin-1 -*-\ndef check_a(): pass",
    ];
    let found = declared_cases(&plain::Plain, &interpreter(), &texts).unwrap();
    assert_eq!(found, [vec!["main"], vec!["main"], vec![], vec!["check_a"]]);
    let deep = format!("def check_a(): pass\nx = {}1{}", "(".repeat(50_000), ")".repeat(50_000));
    let found = declared_cases(&plain::Plain, &interpreter(), &[&deep, "def check_b(): pass"]).unwrap();
    assert_eq!(found, [vec![], vec!["check_b"]]);
    let marked = suite(&[("test_a.py", "\u{feff}def check_a(): pass\n")]);
    let workspace = tempfile::tempdir().unwrap();
    let options = Options { python: interpreter(), ..Options::default() };
    assert!(run(&plain::Plain, &marked, workspace.path(), &options).unwrap().all_pass());
}

#[test]
fn peer_digests() {
    let Some(path) = shared("peer_digests", ACCEPTANCE) else { return };
    let vectors = vectors::json(&path);
    for case in list(&vectors, "suite_digest") {
        let blobs = files(case.get("blobs").unwrap());
        assert_eq!(suite(&blobs).sha256().to_hex(), text(case, "suite_sha256"));
    }
    for case in list(&vectors, "result_digest") {
        let record = case.get("record").unwrap().as_object().unwrap();
        assert_eq!(result_sha256(record).to_hex(), text(case, "result_sha256"), "{}", text(case, "name"));
    }
}

#[test]
fn suite_files_that_are_not_run() {
    let broken = Suite::from_files(vec![
        SuiteFile { name: "test_a.py".into(), bytes: b"def check_a(): pass # \xff\n".to_vec() },
        SuiteFile { name: "test_b.py".into(), bytes: b"def check_b(): pass\n".to_vec() },
    ]);
    let workspace = tempfile::tempdir().unwrap();
    let options = Options { python: interpreter(), ..Options::default() };
    let result = run(&plain::Plain, &broken, workspace.path(), &options).unwrap();
    assert_eq!(rows(&result), ["test_a.py::<file> driver_error", "test_b.py::check_b pass"]);
    assert_eq!(result.fault.unwrap().code(), "suite_file_not_utf8");
    assert!(!result.all_pass());

    for (files, code) in [(vec![], "suite_empty"), (vec![("helper.py", "X = 1\n")], "suite_no_test_file")] {
        let result = run(&plain::Plain, &suite(&files), workspace.path(), &options).unwrap();
        assert_eq!(result.fault.unwrap().code(), code);
        assert!(!result.all_pass() && !result.complete());
        assert_eq!(result.failure_text().unwrap(), "No failing case was recorded.");
    }
}

#[test]
fn missing_python_is_infrastructure() {
    let mut options = Options { python: interpreter(), ..Options::default() };
    options.python.program = "/nonexistent/python9".into();
    let workspace = tempfile::tempdir().unwrap();
    let checks = suite(&[("test_a.py", "def check_a(): pass\n")]);
    let error = run(&plain::Plain, &checks, workspace.path(), &options).unwrap_err();
    assert_eq!(error.code(), "infra_python_missing");
    assert!(format!("{error:?}").contains("python9"));
}

#[test]
fn failure_text_tells_six_and_hides_the_hidden() {
    let checks: String =
        (0..8).map(|n| format!("def check_{n}():\n    print('out')\n    assert False, 'm{n}'\n")).collect();
    let workspace = tempfile::tempdir().unwrap();
    let mut options = Options { python: interpreter(), ..Options::default() };
    let checks = suite(&[("test_a.py", &checks)]);
    let told = run(&plain::Plain, &checks, workspace.path(), &options).unwrap().failure_text().unwrap();
    assert!(told.starts_with(
        "test_a.py::check_0 \u{2014} assert: m0 [test_a.py:3: assert False, 'm0']\n  output: out\n"
    ));
    assert!(told.contains("check_5") && !told.contains("check_6"));
    assert!(told.ends_with("2 more failing cases are not shown."));
    options.visibility = Visibility::Hidden;
    assert_eq!(run(&plain::Plain, &checks, workspace.path(), &options).unwrap().failure_text(), None);
}

//! Python suites: the peer's vectors, attacks, and HumanEval as a bank, in both isolation modes.

#![allow(clippy::unwrap_used)]

#[path = "python_suites/adversary.rs"]
mod adversary;
#[path = "python_suites/attacks.rs"]
mod attacks;
#[path = "python_suites/bank.rs"]
mod bank;
#[path = "python_suites/peer.rs"]
mod peer;
#[path = "python_suites/plain.rs"]
mod plain;
#[path = "python_suites/standins.rs"]
mod standins;

use desk::python_suite::{Interpreter, Isolation, Options, Suite, SuiteFile, SuiteResult, run};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// A limit that no honest case comes near, on any machine.
const PATIENT: Duration = Duration::from_secs(60);

/// The real interpreter behind `python3`: version managers put a slow shell script in its place.
fn interpreter() -> Interpreter {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    let program = FOUND.get_or_init(|| {
        let asked = std::env::var_os("TOUCHSTONE_TEST_PYTHON").unwrap_or_else(|| "python3".into());
        let answer = Command::new(asked).args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
        PathBuf::from(String::from_utf8(answer.stdout).unwrap().trim())
    });
    Interpreter { program: program.clone(), packages: Vec::new() }
}

fn suite(files: &[(&str, &str)]) -> Suite {
    let file =
        |(name, text): &(&str, &str)| SuiteFile { name: (*name).into(), bytes: text.as_bytes().into() };
    Suite::from_files(files.iter().map(file).collect())
}

fn write_tree(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn judge(
    isolation: Isolation,
    workspace: &[(&str, &str)],
    checks: &[(&str, &str)],
    wall: Duration,
) -> SuiteResult {
    let folder = tempfile::tempdir().unwrap();
    write_tree(folder.path(), workspace);
    let options =
        Options { isolation, wall, python: interpreter(), task_id: "t".into(), ..Options::default() };
    run(&plain::Plain, &suite(checks), folder.path(), &options).unwrap()
}

/// Rows of a result for comparison: file, case, kind, synthesized.
fn rows(result: &SuiteResult) -> Vec<String> {
    let mut rows = Vec::new();
    for file in &result.files {
        for case in &file.cases {
            let mark = match case.synthesized {
                None => "",
                Some(true) => " synthesized",
                Some(false) => " not-synthesized",
            };
            rows.push(format!("{}::{} {}{mark}", file.file, case.case, case.kind.code()));
        }
    }
    rows
}

/// The result with messages, for the text of a failing assertion.
fn story(result: &SuiteResult) -> String {
    let mut text = rows(result).join("\n");
    for file in &result.files {
        for case in &file.cases {
            text.push_str(&format!(
                "\n  {}: {} | {:?} | {}",
                case.case, case.message, case.location, case.output
            ));
        }
        text.push_str(&format!("\n  rc {:?} stderr {}", file.rc, file.stderr_tail));
    }
    text
}

//! The vectors in `vectors/` through the binary, as `vectors/README.md` says it.
#![allow(clippy::unwrap_used)]

use canon::{Reader, Value};
use std::path::Path;
use std::process::Command;
use vectors::{list, text};

/// Reason, line and offset of every failure in an answer of `verify --json`.
fn failures(answer: &Value) -> Vec<Value> {
    let chains = list(answer, "runs").iter().flat_map(|run| list(run, "chains"));
    let member = |failure: &Value, key: &str| failure.get(key).cloned().unwrap_or(Value::Null);
    chains
        .flat_map(|chain| list(chain, "failures"))
        .map(|failure| Value::from(["reason", "line", "offset"].map(|key| member(failure, key)).to_vec()))
        .collect()
}

fn expected(answer: &Value) -> Vec<Value> {
    let failures = list(answer, "failures").iter();
    let member = |failure: &Value, key: &str| failure.get(key).unwrap().clone();
    failures
        .map(|failure| Value::from(["reason", "line", "offset"].map(|key| member(failure, key)).to_vec()))
        .collect()
}

fn check(folder: &Path, target: &Path) -> usize {
    let want = vectors::json(&folder.join("expected.json"));
    for answer in list(&want, "answers") {
        let args = list(answer, "args").iter().map(|arg| arg.as_str().unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        let output = command.arg("verify").arg("--json").args(args).arg(target).output().unwrap();
        let got = Reader::strict().read(&output.stdout).unwrap();
        let shown = format!("{} {:?}", folder.display(), list(answer, "args"));
        assert_eq!(text(&got, "verdict"), text(answer, "verdict"), "{shown}");
        let code = output.status.code().map(i64::from);
        assert_eq!(code, answer.get("exit_code").unwrap().as_i64(), "{shown}");
        assert_eq!(failures(&got), expected(answer), "{shown}");
    }
    list(&want, "answers").len()
}

fn check_all(group: &str, fewest: usize, target: fn(&Path) -> std::path::PathBuf) {
    let root = vectors::repository().join("vectors").join(group);
    let mut answers = 0;
    for entry in std::fs::read_dir(root).unwrap().map(Result::unwrap) {
        answers += check(&entry.path(), &target(&entry.path()));
    }
    assert!(answers >= fewest, "{answers} answers");
}

#[test]
fn chains() {
    check_all("chain", 80, |folder| folder.join("chain.ndjson"));
}

#[test]
fn run_directories() {
    check_all("run", 35, Path::to_path_buf);
}

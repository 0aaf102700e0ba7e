//! A workspace, a suite, a run directory, and the binary.

use canon::{Reader, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

pub(crate) fn touchstone() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.env_remove("NO_COLOR");
    command
}

/// A passing and a failing check.
pub(crate) const ADD: &str = "import solution\ndef check_add():\n    assert solution.add(2, 3) == 5\n";
pub(crate) const MUL: &str = "import solution\ndef check_mul():\n    assert solution.mul(2, 3) == 6\n";
/// Agents.
pub(crate) const GOOD: &str =
    "printf 'def add(a, b):\\n    return a + b\\ndef mul(a, b):\\n    return a * b\\n' > solution.py";
pub(crate) const BAD: &str = "printf 'def add(a, b):\\n    return a + b\\ndef mul(a, b):\\n    return a + b\\n' > solution.py; echo done";

pub(crate) struct Stage {
    pub(crate) root: TempDir,
}

/// What a run gave.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) summary: Value,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn text(&self, member: &str) -> String {
        self.summary.get(member).and_then(Value::as_str).unwrap_or("(none)").to_owned()
    }

    pub(crate) fn stop(&self) -> String {
        self.text("stop_reason")
    }

    /// Exit code and stop reason at once, with everything else in the message.
    #[track_caller]
    pub(crate) fn is(&self, code: i32, stop: &str) {
        let mut shown = String::from_utf8_lossy(&canon::canonical(&self.summary)).into_owned();
        shown.truncate(shown.char_indices().nth(3000).map_or(shown.len(), |(at, _)| at));
        assert_eq!((self.code, self.stop()), (Some(code), stop.to_owned()), "{shown}\n{}", self.stderr);
    }
}

impl Stage {
    pub(crate) fn new() -> Stage {
        let root = tempfile::tempdir().unwrap();
        for folder in ["workspace", "suite"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        Stage { root }
    }

    /// A suite of Python files named in order.
    pub(crate) fn python(checks: &[&str]) -> Stage {
        let stage = Stage::new();
        for (index, text) in checks.iter().enumerate() {
            stage.write(&format!("suite/test_{index}.py"), text);
        }
        stage
    }

    /// A suite of one command.
    pub(crate) fn command(toml: &str, files: &[(&str, &str)]) -> Stage {
        let stage = Stage::new();
        stage.write("suite/suite.toml", toml);
        for (name, text) in files {
            stage.write(&format!("suite/{name}"), text);
        }
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// `run --json` with the suite and a fresh run directory.
    pub(crate) fn command_line(&self, options: &[&str], agent: &[&str]) -> Command {
        let mut command = touchstone();
        command.arg("run").arg("--json");
        command.arg("--suite").arg(self.path("suite"));
        command.arg("--workspace").arg(self.path("workspace")).arg("--run-dir").arg(self.path("run"));
        command.args(["--task-id", "task"]).args(options).arg("--").args(agent);
        command
    }

    pub(crate) fn run(&self, options: &[&str], script: &str) -> Ran {
        ran(self.command_line(options, &["/bin/sh", "-c", script]).output().unwrap())
    }

    /// `verify --json` of the run directory: verdict and exit code.
    pub(crate) fn verify(&self) -> (String, Option<i32>, Value) {
        verify(&self.path("run"))
    }

    /// Types of the entries on the chain.
    pub(crate) fn entry_types(&self) -> Vec<String> {
        let chain = fs::read(self.path("run/receipts_RUN-ON.ndjson")).unwrap();
        entries(&chain).iter().map(|entry| vectors::text(entry, "type").to_owned()).collect()
    }

    /// The payload of the last entry of a type.
    pub(crate) fn payload(&self, kind: &str) -> Value {
        let chain = fs::read(self.path("run/receipts_RUN-ON.ndjson")).unwrap();
        let all = entries(&chain);
        let entry = all.iter().rev().find(|entry| vectors::text(entry, "type") == kind);
        entry.unwrap_or_else(|| panic!("no {kind}")).get("payload").unwrap().clone()
    }
}

pub(crate) fn entries(chain: &[u8]) -> Vec<Value> {
    chain
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| Reader::strict().read(line).unwrap())
        .collect()
}

pub(crate) fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code(),
        summary: Reader::strict().read(&output.stdout).unwrap_or(Value::Null),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub(crate) fn verify(path: &Path) -> (String, Option<i32>, Value) {
    let output = touchstone().arg("verify").arg("--json").arg(path).output().unwrap();
    let answer = Reader::strict().read(&output.stdout).unwrap();
    (vectors::text(&answer, "verdict").to_owned(), output.status.code(), answer)
}

/// Reasons of every failure in an answer of `verify`.
pub(crate) fn reasons(answer: &Value) -> Vec<String> {
    let mut reasons = Vec::new();
    for run in vectors::list(answer, "runs") {
        for chain in vectors::list(run, "chains") {
            for failure in vectors::list(chain, "failures") {
                reasons.push(vectors::text(failure, "reason").to_owned());
            }
        }
    }
    reasons
}

/// Whether a program is there; says so aloud when not.
pub(crate) fn has(test: &str, program: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()));
    if !found {
        vectors::skip(test, &format!("{program} is not installed"));
    }
    found
}

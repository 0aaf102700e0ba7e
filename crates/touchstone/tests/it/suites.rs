//! The worked examples under `examples/suites`, through the whole gate and its sandbox.

use super::stage::{Ran, has, ran, touchstone};
use std::process::Command;

fn gate(example: &str, delivery: &str) -> Ran {
    let folder = vectors::repository().join("examples/suites").join(example);
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("workspace")).unwrap();
    let script = format!("cp -r {}/. .", folder.join(delivery).display());
    let mut command = touchstone();
    command.args(["run", "--json", "--suite"]).arg(folder.join("suite"));
    command.arg("--workspace").arg(root.path().join("workspace"));
    command.arg("--run-dir").arg(root.path().join("run")).args(["--", "/bin/sh", "-c", &script]);
    ran(command.output().unwrap())
}

fn both(example: &str) {
    gate(example, "good").is(0, "visible_pass");
    gate(example, "bad").is(20, "visible_fail");
}

#[test]
fn pytest_example() {
    let there =
        Command::new("python3").args(["-c", "import pytest"]).output().is_ok_and(|out| out.status.success());
    if there {
        both("pytest");
    } else {
        vectors::skip("pytest_example", "pytest is not installed for python3");
    }
}

#[test]
fn cargo_test_example() {
    if has("cargo_test_example", "cargo") {
        both("cargo-test");
    }
}

#[test]
fn go_test_example() {
    if has("go_test_example", "go") {
        both("go-test");
    }
}

#[test]
fn node_test_example() {
    if has("node_test_example", "node") {
        both("node-test");
    }
}

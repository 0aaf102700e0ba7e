//! HumanEval through the real binary: `examples/humaneval/gate.py`, as a reader would run it.
#![allow(clippy::unwrap_used)]

use std::process::Command;

/// All reference solutions are accepted, no emptied or swapped one is, and every receipt verifies (492 runs).
#[test]
fn reference_all_emptied_none_swapped_none() {
    let name = "reference_all_emptied_none_swapped_none";
    let Some(bank) = vectors::shared(name, "data/humaneval/HumanEval.jsonl.gz") else { return };
    if Command::new("python3").arg("--version").output().is_err() {
        return vectors::skip(name, "python3 is not installed");
    }
    let script = vectors::repository().join("examples/humaneval/gate.py");
    let mut command = Command::new("python3");
    // The script imports its neighbour; no compiled copy may stay beside it.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.arg(script).arg(bank).arg(env!("CARGO_BIN_EXE_touchstone")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = said.lines().collect();
    let wanted =
        ["canonical: 164 of 164 accepted", "emptied: 0 of 164 accepted", "swapped: 0 of 164 accepted"];
    assert_eq!(lines, wanted, "{complaints}");
    assert!(output.status.success(), "{complaints}");
}

//! The reverse direction: chains of ours verify in the Python peer.

use super::stage::{ADD, BAD, GOOD, MUL, Stage, has};
use std::process::Command;

/// A Python that has the peer package; CI installs one.
fn peer(test: &str) -> Option<String> {
    let python = std::env::var("TOUCHSTONE_PEER_PYTHON").ok();
    if python.is_none() {
        vectors::skip(test, "TOUCHSTONE_PEER_PYTHON names no Python with vacant-network 0.9.1");
    }
    python
}

#[test]
fn the_peer_verifies_our_chains() {
    let test = "the_peer_verifies_our_chains";
    let Some(python) = peer(test) else { return };
    if !has(test, "python3") {
        return;
    }
    let both = format!("{ADD}\n{MUL}");
    let cases: [(&str, Vec<&str>, &str, i32); 3] = [
        ("accepted", vec![ADD], GOOD, 0),
        ("refused", vec![&both], BAD, 20),
        ("multi-file", vec![ADD, MUL, ADD], GOOD, 0),
    ];
    for (name, suite, agent, code) in cases {
        let stage = Stage::python(&suite);
        assert_eq!(stage.run(&[], agent).code, Some(code), "{name}");
        peer_says_ok(&python, name, &stage);
    }
}

/// Chains with several attempts are the peer's shape too.
#[test]
fn the_peer_verifies_chains_of_retried_runs() {
    let test = "the_peer_verifies_chains_of_retried_runs";
    let Some(python) = peer(test) else { return };
    if !has(test, "python3") {
        return;
    }
    let second = format!("test -f VACANT_FEEDBACK.md && {{ {GOOD}; exit; }}; {BAD}");
    let cases: [(&str, &[&str], &str, i32, usize); 4] = [
        ("revise, accepted", &["--retry", "revise"], &second, 0, 2),
        ("revise, exhausted", &["--retry", "revise", "--max-attempts", "2"], BAD, 20, 2),
        ("resample, exhausted", &["--retry", "resample"], BAD, 20, 3),
        ("resample, first accepted", &["--retry", "resample"], GOOD, 0, 1),
    ];
    for (name, options, agent, code, attempts) in cases {
        let stage = Stage::python(&[ADD, MUL]);
        assert_eq!(stage.run(options, agent).code, Some(code), "{name}");
        let signed = stage.entry_types().iter().filter(|kind| *kind == "ws_attempt").count();
        assert_eq!(signed, attempts, "{name}");
        peer_says_ok(&python, name, &stage);
    }
}

fn peer_says_ok(python: &str, name: &str, stage: &Stage) {
    let mut verifier = Command::new(python);
    verifier.args(["-m", "vacant_network.vrun.verify_receipts", "--glob"]);
    let output = verifier.arg(stage.path("run")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{name}: {text}");
    assert!(text.contains("  OK"), "{name}: {text}");
}

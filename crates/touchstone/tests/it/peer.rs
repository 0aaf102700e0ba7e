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
        let mut verifier = Command::new(&python);
        verifier.args(["-m", "vacant_network.vrun.verify_receipts", "--glob"]);
        let output = verifier.arg(stage.path("run")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{name}: {text}");
        assert!(text.contains("  OK"), "{name}: {text}");
    }
}

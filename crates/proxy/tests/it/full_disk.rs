//! The disk is full while something is recorded. A limit on the length of a file stands for it: the same calls fail.

use crate::support::{Desk, Server, answer, post, rows};
use proxy::FaultKind;
use std::process::Command;
use wire::{CallError, Outcome};

/// Runs a test of this binary again, in a process whose files may have 64 KiB.
fn limited(name: &str) -> bool {
    const MARK: &str = "TOUCHSTONE_TEST_LIMITED";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let own = std::env::current_exe().unwrap();
    // The signal of the limit is ignored, so that the call fails instead.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$0\" --exact \"$1\" --nocapture"])
        .arg(own)
        .arg(name)
        .env(MARK, "1")
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

#[test]
fn a_body_that_does_not_fit() {
    if !limited("full_disk::a_body_that_does_not_fit") {
        return;
    }
    let server = Server::answering(answer("200 OK", "application/json", "x".repeat(300_000)));
    let mut desk = Desk::before(&server);
    let got = desk.call(post("/v1/messages", "{}"));
    assert!(got.len() < 300_000, "what is not recorded is not passed on");
    desk.call(post("/v1/messages", "y".repeat(300_000)));
    let (ended, rows) = desk.stop();
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!((row.outcome, row.error), (Outcome::NotRecorded, Some(CallError::NotStored)));
        assert!(row.partial);
    }
    assert_eq!(ended.faults.iter().map(|fault| fault.kind).collect::<Vec<_>>(), [FaultKind::Body; 2]);
    assert!(ended.faults[0].why.contains("File too large"), "{:?}", ended.faults);
    assert_eq!(ended.counts.model_succeeded(), 0);
}

#[test]
fn an_index_that_does_not_fit() {
    if !limited("full_disk::an_index_that_does_not_fit") {
        return;
    }
    let server = Server::answering(answer("200 OK", "application/json", "{}"));
    let mut desk = Desk::before(&server);
    let mut refused = 0;
    for _ in 0..200 {
        let got = desk.call(post("/v1/messages", "{}"));
        refused += u32::from(
            got.starts_with(b"HTTP/1.1 502 ") && String::from_utf8_lossy(&got).contains("wire_not_stored"),
        );
    }
    assert!(refused > 50, "without a line nothing is passed on any more: {refused}");
    let (ended, on_disk) = desk.stop();
    assert_eq!(on_disk, rows(&desk.wire()), "the index ends with a whole line");
    assert!(!on_disk.is_empty() && ended.rows_n < 200 && ended.blobs_n > ended.rows_n);
    assert!(ended.faults.iter().all(|fault| fault.kind == FaultKind::Index));
    assert!(!ended.faults.is_empty());
}

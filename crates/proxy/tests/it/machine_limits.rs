//! Limits of the machine, each in a process of its own. The disk is full while something is recorded: a limit on the
//! length of a file stands for it, because the same calls fail.

use crate::support::{Desk, Server, answer, post, rows};
use proxy::FaultKind;
use std::io::{Read, Write};
use std::process::Command;
use wire::{CallError, Outcome};

/// What a shell does first so that files may have 64 KiB. The signal of the limit is ignored, so that the call fails.
const SHORT_FILES: &str = "trap '' XFSZ; ulimit -f 128";

/// Runs a test of this binary again, alone in a process that is set up like this. True in that process.
fn alone(name: &str, setup: &str) -> bool {
    const MARK: &str = "TOUCHSTONE_TEST_ALONE";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let own = std::env::current_exe().unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("{setup}; exec \"$0\" --exact \"$1\" --nocapture")])
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
    if !alone("machine_limits::a_body_that_does_not_fit", SHORT_FILES) {
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
    if !alone("machine_limits::an_index_that_does_not_fit", SHORT_FILES) {
        return;
    }
    let server = Server::answering(answer("200 OK", "application/json", "{}"));
    let mut desk = Desk::before(&server);
    let is_refused = || {
        let got = desk.call(post("/v1/messages", "{}"));
        got.starts_with(b"HTTP/1.1 502 ") && String::from_utf8_lossy(&got).contains("wire_not_stored")
    };
    // Lines wait for the disk, a bounded number of them: sooner or later nothing is passed on any more.
    assert!((0..3000).any(|_| is_refused()), "calls without a line go on for ever");
    assert!((0..10).all(|_| is_refused()), "and it stays so");
    let (ended, on_disk) = desk.stop();
    assert_eq!(on_disk, rows(&desk.wire()), "the index ends with a whole line");
    assert!(!on_disk.is_empty() && ended.rows_n < 200 && ended.blobs_n > ended.rows_n);
    assert!(ended.faults.iter().all(|fault| fault.kind == FaultKind::Index));
    assert!(!ended.faults.is_empty());
}

#[test]
fn large_bodies_are_never_whole_in_memory() {
    if !alone("machine_limits::large_bodies_are_never_whole_in_memory", "true") {
        return;
    }
    const PIECES: usize = 1024;
    let piece = [7; 64 << 10];
    let length = PIECES * piece.len();
    let server = Server::new(move |mut stream| {
        crate::support::read_head(&mut stream).unwrap();
        let mut read = vec![0; 64 << 10];
        for _ in 0..PIECES {
            stream.read_exact(&mut read).unwrap();
        }
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").unwrap();
        for _ in 0..PIECES {
            stream.write_all(&piece).unwrap();
        }
    });
    let desk = Desk::before(&server);
    let mut stream = desk.connect();
    write!(stream, "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n").unwrap();
    for _ in 0..PIECES {
        stream.write_all(&piece).unwrap();
    }
    crate::support::read_head(&mut stream).unwrap();
    let mut read = vec![0; 64 << 10];
    for _ in 0..PIECES {
        stream.read_exact(&mut read).unwrap();
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let most = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let kib: u64 = most.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib < 32 << 10, "64 MiB each way, and at most {kib} KiB in memory");
    assert!(desk.proxy().quiesce(crate::support::PATIENCE));
    assert_eq!(desk.proxy().counts().model_succeeded(), 1);
}

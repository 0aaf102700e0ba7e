//! The result pipe: authenticated records from the process that ran the checks.
//!
//! Each line is `<mac> <json>`, where the mac is SHA-256(key ‖ SHA-256(key ‖ json)) over a fresh 32-byte key that
//! the process received on a descriptor it has closed before candidate code loads. The json carries a running
//! index. So a record can be destroyed by whoever finds the pipe, but neither added, changed nor repeated; any
//! line that does not fit makes the report tainted, and a tainted report is never complete.

use super::record::{CaseRecord, Kind};
use canon::{Digest, Limits, Reader, Value};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest report and longest line, in bytes.
const REPORT_BYTES_MAX: usize = 32 << 20;
const LINE_BYTES_MAX: usize = 64 << 10;
/// How long one look at the pipe waits, in nanoseconds, before it asks whether the process has ended.
const LOOK_NANOS: i64 = 20_000_000;

/// What arrived.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Cases in the order they were sent.
    pub(super) cases: Vec<CaseRecord>,
    /// The end marker arrived, and nothing after it.
    pub(super) end_marker: bool,
    /// Bytes arrived that the runner did not send.
    pub(super) tainted: bool,
}

/// A fresh key.
pub(super) fn new_key() -> std::io::Result<[u8; 32]> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(std::io::Error::other)?;
    Ok(key)
}

/// Reads the pipe until it closes, or until `ended` is set and nothing is left in it: a process that the
/// candidate left behind may hold the other end open for ever.
pub(super) fn drain(pipe: OwnedFd, ended: &AtomicBool) -> std::io::Result<Vec<u8>> {
    let mut pipe = std::fs::File::from(pipe);
    let (mut bytes, mut piece) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        // Asked before the look: what was written before the end is then seen by the look.
        let last_look = ended.load(Ordering::Acquire);
        let wait = Timespec { tv_sec: 0, tv_nsec: if last_look { 0 } else { LOOK_NANOS } };
        let mut fds = [PollFd::new(&pipe, PollFlags::IN)];
        let ready = match poll(&mut fds, Some(&wait)) {
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        if ready == 0 {
            if last_look {
                return Ok(bytes);
            }
            continue;
        }
        let count = pipe.read(&mut piece)?;
        if count == 0 {
            return Ok(bytes);
        }
        // Past the limit the pipe is still emptied, so that its writer does not hang.
        if bytes.len() <= REPORT_BYTES_MAX {
            bytes.extend_from_slice(&piece[..count]);
        } else if last_look {
            return Ok(bytes);
        }
    }
}

/// Reads a report.
pub(super) fn read_report(bytes: &[u8], key: &[u8; 32]) -> Report {
    let mut report = Report { tainted: bytes.len() > REPORT_BYTES_MAX, ..Report::default() };
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        match read_line(line, key, index) {
            Some(_) if report.end_marker => report.tainted = true,
            Some(Line::Case(case)) => report.cases.push(case),
            Some(Line::End) => report.end_marker = true,
            None => report.tainted = true,
        }
        if report.tainted {
            break;
        }
    }
    report
}

enum Line {
    Case(CaseRecord),
    End,
}

fn read_line(line: &[u8], key: &[u8; 32], index: usize) -> Option<Line> {
    let line = line.strip_suffix(b"\n")?;
    let (mac, rest) = line.split_at_checked(64)?;
    let payload = rest.strip_prefix(b" ")?;
    if mac != mac_of(key, payload).to_hex().as_bytes() {
        return None;
    }
    let limits = Limits { depth_max: 4, bytes_max: LINE_BYTES_MAX };
    let value = Reader::strict().with_limits(limits).read(payload).ok()?;
    if value.get("i")?.as_i64()? != i64::try_from(index).ok()? {
        return None;
    }
    if value.get("end").and_then(Value::as_bool) == Some(true) {
        return Some(Line::End);
    }
    let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
    Some(Line::Case(CaseRecord {
        case: text("case")?,
        kind: Kind::parse(&text("kind")?)?,
        message: text("message")?,
        location: text("where"),
        output: text("output")?,
        synthesized: None,
    }))
}

fn mac_of(key: &[u8; 32], payload: &[u8]) -> Digest {
    let inner = Digest::of(&[key.as_slice(), payload].concat());
    Digest::of(&[key.as_slice(), inner.as_bytes()].concat())
}

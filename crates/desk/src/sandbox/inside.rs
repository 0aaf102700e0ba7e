//! Pid 1 of an enclosure sends the probe to where the agent will be, and after the agent's end once more.

use super::helper::{Failed, program, step};
use super::job::{CANARY, Job, Report};
use super::{Limits, Status, rootfs, sys};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Begins the step that says what was open.
pub(super) const NOT_BLOCKED: &str = "enclosure_not_blocked";

/// How long a probe may take, and how much it may say.
const PROBE_MAX: Duration = Duration::from_secs(20);
const SAID_BYTES_MAX: usize = 16 << 10;

/// Runs the probe under exactly what the agent runs under, and gives what it said.
pub(super) fn probe(job: &Job, moment: usize) -> Result<Vec<u8>, Failed> {
    let errand = job.enclosed.as_ref().map_or(&[][..], |enclosed| &enclosed.errands[moment]);
    let errand = crate::supervise::memory_file(errand).map_err(step("errand of the probe"))?;
    let pipe =
        || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(step("pipe of the probe"));
    let ((said, say), (failed, fail)) = (pipe()?, pipe()?);
    let nothing = sys_null()?;
    let probe = Job {
        argv: vec![rootfs::PROBE.into(), CANARY.into()],
        cwd: "/".into(),
        env: Vec::new(),
        pass: vec![0, 1, 2],
        limits: Limits::unlimited(),
        ..job.clone()
    };
    let parent = rustix::process::getpid();
    let pid = match sys::fork().map_err(step("fork the probe"))? {
        sys::Fork::Child => {
            drop((said, failed));
            program(&probe, &[errand, say, nothing], parent, &fail)
        }
        sys::Fork::Parent(pid) => Pid::from_raw(pid).ok_or(Failed { step: "fork".into(), errno: 0 })?,
    };
    drop((say, fail, errand, nothing));
    let bytes = read(&said);
    if bytes.is_err() {
        let _ = kill_process(pid, Signal::KILL);
    }
    let _ = waitpid(Some(pid), WaitOptions::empty());
    // Whatever went wrong before its exec was said over the other pipe, and then nothing was said over this one.
    match Report::decode(&read(&failed)?).map(|report| report.status) {
        Some(Status::SetupFailed { step, errno }) => Err(Failed { step, errno }),
        Some(other) => Err(Failed { step: format!("the probe: {}", other.code()), errno: 0 }),
        None => bytes,
    }
}

fn sys_null() -> Result<OwnedFd, Failed> {
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
    rustix::fs::open("/dev/null", flags, rustix::fs::Mode::empty()).map_err(step("null device"))
}

fn read(said: &OwnedFd) -> Result<Vec<u8>, Failed> {
    let end = Instant::now() + PROBE_MAX;
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let late = || Failed { step: "probe too late".into(), errno: libc::ETIMEDOUT };
        if left.is_zero() || all.len() > SAID_BYTES_MAX {
            return Err(late());
        }
        let mut fds = [PollFd::new(said, PollFlags::IN)];
        if poll(&mut fds, Timespec::try_from(left).ok().as_ref()).is_err() {
            continue;
        }
        match rustix::io::read(said, &mut buffer[..]) {
            Ok(0) => return Ok(all),
            Ok(length) => all.extend_from_slice(&buffer[..length]),
            Err(rustix::io::Errno::INTR) => {}
            Err(other) => return Err(step("read the probe")(other)),
        }
    }
}

/// What the probe found open, or the door that it found closed: then the agent does not start. The desk looks more closely
/// afterwards; this keeps an agent from ever running where something is open.
pub(super) fn first_open(said: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(said);
    let mut door = false;
    for line in text.lines() {
        let mut parts = line.splitn(3, '\t');
        let (name, code) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let words = parts.next().unwrap_or_default();
        match (name, code) {
            ("door", "reachable") => door = true,
            ("door", _) => return Some(format!("the door is closed: {words}")),
            ("namespace" | "sha256", _) | (_, "blocked") => {}
            _ => return Some(format!("{name} is {code}: {words}")),
        }
    }
    (!door).then(|| "the probe did not come back".to_owned())
}

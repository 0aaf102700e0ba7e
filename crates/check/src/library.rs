//! Library check: a Python test text and a Python candidate, each in a process of its own (desk specification 15).
//!
//! The runner's process holds the test text and never executes a line of the candidate; the worker's process holds the
//! candidate and never sees a line of the test. Calls and replies cross a socket that only these two hold, each call
//! with a fresh secret that its reply must repeat. Only plain literals cross, of exactly their types: None, bool, int,
//! float, complex, str, bytes, list, tuple, set, frozenset, dict. A `re.Match` becomes its truth value and a `Counter`
//! a plain dict; anything else is a `TypeError` in the test. Lists, dicts and sets that were passed in are updated in
//! place after the call. An exception of a built-in class is raised as itself, any other as a `RuntimeError`; what is
//! no `Exception` (an exit, an interrupt) is a `RuntimeError` too, so that a candidate cannot end the test.
//!
//! The screen that comes first ([`PythonCheck::allowed_imports`]) is hardening and **not a security boundary**: it
//! reads names, and a name can be spelled in many ways. The boundary is the two processes and the sandbox around each.
//!
//! Whether the test passed follows from the exit code of the runner and of nothing else.

use crate::place::{Place, Program, Wiring};
use crate::screen::screen;
use crate::{CheckInfraError, Detail};
use canon::{Object, Value, compact_ascii};
use desk::sandbox::{Ended, Limits, Running, Status};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};
use suite::checks::{Answered, Check};

/// The limit of time where none is given.
pub const TIMEOUT: Duration = Duration::from_secs(8);
/// Memory of each of the two processes, in bytes.
pub const MEMORY_BYTES: u64 = 128 << 20;
/// How long both processes may take to start; nothing of candidate or test runs in that time.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// Most of what a test prints that is kept, in bytes.
const OUTPUT_BYTES: u64 = 1 << 20;
const PROCESSES: u64 = 64;

/// Numbers of descriptors; the Python side knows them.
const SETUP_FD: i32 = 3;
const STARTED_FD: i32 = 4;
const CONVERSATION_FD: i32 = 5;
/// Exit codes of the runner.
const PASSED: i32 = 0;
const NO_WORKER: i32 = 22;

/// One check.
#[derive(Clone, Copy, Debug)]
pub struct PythonCheck<'a> {
    /// The text that is judged.
    pub candidate: &'a str,
    /// The text that judges: it sees one function per entry point, and all of them in the mapping `__vacant_ns`.
    pub test: &'a str,
    /// From the moment at which both processes are there. A call may take nine tenths of it, at least 0.1 s. Zero fails.
    pub timeout: Duration,
    /// Modules that the candidate may import, by their first name.
    pub allowed_imports: &'a [String],
    /// Entry points that may have the name of a built-in.
    pub allowed_entry_points: &'a [String],
}

impl<'a> PythonCheck<'a> {
    /// With the usual limit of time and nothing allowed.
    pub fn new(candidate: &'a str, test: &'a str) -> PythonCheck<'a> {
        PythonCheck { candidate, test, timeout: TIMEOUT, allowed_imports: &[], allowed_entry_points: &[] }
    }
}

/// How a check went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Why it did not pass; nothing when it did.
    pub refused: Option<(Detail, String)>,
    /// What the test printed.
    pub output: Vec<u8>,
}

/// Whether the test ran through.
///
/// # Errors
///
/// [`CheckInfraError`] when the desk could not find out; never because of what the candidate did.
pub fn run_python_check(place: &Place, check: &PythonCheck<'_>) -> Result<bool, CheckInfraError> {
    Ok(judge_python(place, check)?.refused.is_none())
}

/// What the test printed, when it ran through.
///
/// # Errors
///
/// As [`run_python_check`].
pub fn run_python_capture(
    place: &Place,
    check: &PythonCheck<'_>,
) -> Result<Option<Vec<u8>>, CheckInfraError> {
    let checked = judge_python(place, check)?;
    Ok(checked.refused.is_none().then_some(checked.output))
}

/// The same with the reason.
///
/// # Errors
///
/// As [`run_python_check`].
pub fn judge_python(place: &Place, check: &PythonCheck<'_>) -> Result<Checked, CheckInfraError> {
    let refused =
        |detail, why: &str| Ok(Checked { refused: Some((detail, why.to_owned())), output: Vec::new() });
    if check.timeout.is_zero() {
        return refused(Detail::NoTime, "the limit of time is zero");
    }
    let screened = screen(place, check.candidate, check.allowed_imports, check.allowed_entry_points)?;
    match screened.refused {
        Some(why) => refused(Detail::Screened, &why),
        None => in_two_processes(place, check, &screened.entry_points),
    }
}

/// What a compiled check says about an answer (`compile_check`); a `run_python` check runs here. Nothing when its pattern
/// needs more steps than it may have, which says nothing about the answer either.
///
/// # Errors
///
/// As [`run_python_check`].
pub fn answer(place: &Place, check: &Check, answer: &str) -> Result<Option<bool>, CheckInfraError> {
    match (check.evaluate(answer), check) {
        (Answered::Known(holds), _) => Ok(Some(holds)),
        (Answered::Run { candidate }, Check::RunPython(program)) => {
            let timeout = Duration::from_millis(program.timeout_ms);
            let allowed_imports = &program.allowed_imports;
            let of_program =
                PythonCheck { timeout, allowed_imports, ..PythonCheck::new(&candidate, &program.code) };
            run_python_check(place, &of_program).map(Some)
        }
        (Answered::Run { .. } | Answered::NotMeasured, _) => Ok(None),
    }
}

fn in_two_processes(
    place: &Place,
    check: &PythonCheck<'_>,
    entry_points: &[String],
) -> Result<Checked, CheckInfraError> {
    let (runner_folder, worker_folder) = (place.folder()?, place.folder()?);
    let (ours, theirs) = UnixStream::pair()?;
    let (started, started_in) = pipe_with(PipeFlags::CLOEXEC)?;
    let mode = if place.bare() { "bare" } else { "confined" };
    let fds = vec![(theirs.into(), CONVERSATION_FD)];
    let worker = place.start_python(
        Program::LibraryWorker,
        &[mode],
        worker_folder.path(),
        Wiring::fds(fds),
        limits(check),
    )?;
    let fds = vec![
        (sealed(place.folder()?.path(), &setup(place, check, entry_points))?, SETUP_FD),
        (started_in, STARTED_FD),
        (ours.into(), CONVERSATION_FD),
    ];
    let runner = place.start_python(
        Program::LibraryRunner,
        &[],
        runner_folder.path(),
        Wiring::fds(fds),
        limits(check),
    );
    let judged = runner.and_then(|runner| watch(runner, &started, check.timeout));
    worker.kill();
    worker.wait();
    judged
}

fn setup(place: &Place, check: &PythonCheck<'_>, entry_points: &[String]) -> Value {
    let call_ms = (check.timeout.as_millis() * 9 / 10).max(100);
    Object::new()
        .with("test", check.test)
        .with("candidate", check.candidate)
        .with("entry_points", entry_points.to_vec())
        .with("call_ms", i64::try_from(call_ms).unwrap_or(i64::MAX))
        .with("start_ms", i64::try_from(START_PATIENCE.as_millis()).unwrap_or(i64::MAX))
        .with("wall_ms", i64::try_from(check.timeout.as_millis()).unwrap_or(i64::MAX))
        .with("bare", place.bare())
        .into()
}

/// The keeper's limit lies behind ours: it holds when the desk is stopped.
fn limits(check: &PythonCheck<'_>) -> Limits {
    let wall = check.timeout.saturating_add(START_PATIENCE * 2);
    Limits {
        wall_ms: Some(u64::try_from(wall.as_millis()).unwrap_or(u64::MAX)),
        cpu_seconds: Some(check.timeout.as_secs() + 1),
        memory_bytes: Some(MEMORY_BYTES),
        address_bytes: Some(MEMORY_BYTES),
        processes: Some(PROCESSES),
        output_bytes: OUTPUT_BYTES,
        ..Limits::check()
    }
}

/// A file without a name, at its start.
fn sealed(folder: &Path, value: &Value) -> io::Result<OwnedFd> {
    use std::io::{Seek as _, Write as _};
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(&compact_ascii(value))?;
    file.rewind()?;
    Ok(file.into())
}

/// What the runner's pipe said.
enum Word {
    Said(u8),
    Closed,
    Late,
}

/// Waits for the runner: `S` when it is there, `U` when the worker is too, then the end. The clock of the check starts
/// with `U`, so that a slow machine is nobody's failure.
fn watch(runner: Running, started: &OwnedFd, timeout: Duration) -> Result<Checked, CheckInfraError> {
    let patience = Instant::now() + START_PATIENCE;
    for expected in *b"SU" {
        match next(started, patience)? {
            Word::Said(word) if word == expected => {}
            _ => {
                runner.kill();
                return Err(CheckInfraError::ended("a process of the check", &runner.wait()));
            }
        }
    }
    let late = matches!(next(started, Instant::now() + timeout)?, Word::Late);
    if late {
        runner.kill();
    }
    let ended = runner.wait();
    let refused = if late {
        Some((Detail::TimedOut, "the test did not end in time".to_owned()))
    } else {
        failure(&ended)?
    };
    Ok(Checked { refused, output: ended.stdout.bytes() })
}

fn failure(ended: &Ended) -> Result<Option<(Detail, String)>, CheckInfraError> {
    match &ended.status {
        Status::Exited(PASSED) => Ok(None),
        Status::TimedOut => Ok(Some((Detail::TimedOut, "the test did not end in time".into()))),
        Status::Exited(NO_WORKER)
        | Status::Lost
        | Status::SetupFailed { .. }
        | Status::CouldNotStart { .. } => Err(CheckInfraError::ended("a process of the check", ended)),
        Status::Exited(_) | Status::Signaled(_) | Status::Killed | Status::TooManyProcesses => {
            let said = ended.stderr.text();
            let last = said.lines().last().unwrap_or("the test did not run through");
            Ok(Some((Detail::TestFailed, last.to_owned())))
        }
    }
}

fn next(pipe: &OwnedFd, until: Instant) -> io::Result<Word> {
    loop {
        let Some(left) = until.checked_duration_since(Instant::now()) else { return Ok(Word::Late) };
        let wait = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 3600, tv_nsec: 0 });
        match poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&wait)) {
            Ok(0) => return Ok(Word::Late),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let mut word = [0];
        return match rustix::io::read(pipe, &mut word) {
            Ok(0) => Ok(Word::Closed),
            Ok(_) => Ok(Word::Said(word[0])),
            Err(error) => Err(error.into()),
        };
    }
}

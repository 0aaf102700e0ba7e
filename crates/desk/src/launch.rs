//! Gate, then run (desk specification 20): an agent is started by a delivery that holds, once, and by nothing else.
//!
//! This binds only the process that is started here. The same user of the operating system can start the same agent
//! without it; whoever needs more needs a container, access rights or an egress policy.

use crate::agents::environment::without_keys;
use crate::sandbox::Limits;
use crate::store::{self, json_line, write_atomic};
use crate::supervise::{self, Output, Start, StartError, Status, Stdin};
use canon::{Object, Value, canonical_digest};
use peers::controller::{Filling, LaunchCheck, NotAuthorising, Template};
use peers::delegation::{Asked, Desk, Receipt, Undelivered, verify_delivery};
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file whose making is the right to start.
const CLAIM: &str = "launch.claim";
/// What happened, one JSON object a line.
const EVENTS: &str = "events.jsonl";

canon::codes! {
    impl LaunchError: &self {
        LaunchError::RequestId => "launch_request_id",
        LaunchError::Consumed => "launch_consumed",
        LaunchError::NotStored(_) => "launch_not_stored",
        LaunchError::NotStarted(_) => "launch_not_started",
        LaunchError::AgentFailed(_) => "launch_agent_failed",
        LaunchError::TimedOut => "launch_agent_timed_out",
        LaunchError::EvidenceLost(..) => "launch_evidence_lost",
    } else {
        LaunchError::NotAuthorising(refusal) => refusal.code(),
        LaunchError::Rejected(refusal) => refusal.code(),
    }
}

/// Why there is no agent that ran and is on record.
#[derive(Debug)]
pub enum LaunchError {
    /// The check may not authorise a launch. Not started.
    NotAuthorising(NotAuthorising),
    /// The request has no id, or one that cannot be the name of a folder. Not started.
    RequestId,
    /// Rejected at the gate. Not started.
    Rejected(Undelivered),
    /// The receipt has started an agent before, or was about to. Not started.
    Consumed,
    /// What has to be on disk before the start could not be put there. Not started.
    NotStored(io::Error),
    /// The start failed; the receipt is consumed all the same. Not started.
    NotStarted(String),
    /// The agent ran and failed, where success was asked for.
    AgentFailed(Status),
    /// The agent ran and was ended at its limit.
    TimedOut,
    /// The agent ran and its end could not be put on record. Never to be read as "not started".
    EvidenceLost(Status, io::Error),
}

impl LaunchError {
    /// Whether the agent ran.
    pub fn agent_ran(&self) -> bool {
        matches!(self, LaunchError::AgentFailed(_) | LaunchError::TimedOut | LaunchError::EvidenceLost(..))
    }
}

/// What is to be started, and by which delivery.
pub struct Launch<'a> {
    /// The receipt.
    pub receipt: &'a Value,
    /// The card beside it.
    pub card: &'a Value,
    /// What was asked and what came. It names the request: a receipt that any request will do for can start nothing.
    pub asked: Asked<'a>,
    /// What is started.
    pub template: &'a Template,
    /// The folder of all runs; one folder a request is made in it.
    pub runs: &'a Path,
    /// Where the agent starts.
    pub cwd: &'a Path,
    /// The desk's environment; its keys are taken out here.
    pub env: Vec<(OsString, OsString)>,
    /// How long the agent may take.
    pub timeout: Duration,
    /// Whether an agent that ends with another code than 0 is an error.
    pub require_success: bool,
    /// Where the agent's output goes.
    pub output: Output,
}

/// An agent that ran.
#[derive(Debug)]
pub struct Launched {
    /// The receipt that started it.
    pub receipt: Receipt,
    /// How it ended.
    pub status: Status,
    /// The folder of the run.
    pub folder: PathBuf,
}

/// Checks the delivery, writes it down, claims the launch, and only then starts the agent: without a shell, in a session
/// of its own, without the desk's keys.
pub fn gate_then_run(launch: &Launch<'_>, desk: &Desk<'_>) -> Result<Launched, LaunchError> {
    LaunchCheck::of(launch.asked.tests).map_err(LaunchError::NotAuthorising)?;
    let folder = launch.runs.join(request_folder(launch.asked.request_id)?);
    let (receipt, argv) = pass_gate(launch, desk, &folder)?;
    // A crash from here on leaves a receipt that is consumed and an agent that may not have run: at most once, not
    // exactly once. The events say how far it came.
    let note = |event: &str, detail: Object| append_event(&folder, event, detail);
    note("AGENT_START", Object::new().with("argv_n", argv.len() as u64)).map_err(LaunchError::NotStored)?;
    let limits = Limits { wall_ms: Some(millis(launch.timeout)), ..Limits::unlimited() };
    let start = Start {
        env: without_keys(launch.env.clone()),
        stdin: Stdin::Null,
        stdout: launch.output,
        stderr: launch.output,
        limits,
        ..Start::new(argv.into_iter().map(OsString::from).collect(), launch.cwd)
    };
    let not_started = |why: String| {
        // It never ran, whether or not this can be written.
        let _ = note("AGENT_ERROR", Object::new().with("why", why.as_str()));
        LaunchError::NotStarted(why)
    };
    let running =
        supervise::start(start).map_err(|error: StartError| not_started(error.code().to_owned()))?;
    let status = running.wait().status;
    let (event, detail) = match &status {
        Status::CouldNotStart { .. } | Status::SetupFailed { .. } => {
            return Err(not_started(status.code().to_owned()));
        }
        Status::Exited(code) => ("AGENT_DONE", Object::new().with("exit_code", i64::from(*code))),
        Status::TimedOut => ("AGENT_TIMEOUT", Object::new()),
        other => ("AGENT_ERROR", Object::new().with("why", other.code())),
    };
    if let Err(error) = note(event, detail) {
        return Err(LaunchError::EvidenceLost(status, error));
    }
    match status {
        Status::TimedOut => Err(LaunchError::TimedOut),
        Status::Exited(0) => Ok(Launched { receipt, status, folder }),
        status if launch.require_success => Err(LaunchError::AgentFailed(status)),
        status => Ok(Launched { receipt, status, folder }),
    }
}

/// Everything before the start, with the folder of all runs locked: two desks do not judge one chain at different
/// moments. Ends with the claim on disk.
fn pass_gate(
    launch: &Launch<'_>,
    desk: &Desk<'_>,
    folder: &Path,
) -> Result<(Receipt, Vec<String>), LaunchError> {
    let stored = LaunchError::NotStored;
    let make = |folder: &Path| DirBuilder::new().recursive(true).mode(0o700).create(folder);
    make(folder).map_err(stored)?;
    if !std::fs::symlink_metadata(folder).map_err(stored)?.is_dir() {
        return Err(stored(io::Error::new(
            io::ErrorKind::NotADirectory,
            "the folder of the request is a link",
        )));
    }
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(launch.runs.join(".lock"));
    let lock = lock.and_then(|lock| lock.lock().map(|()| lock)).map_err(stored)?;
    if folder.join(CLAIM).exists() {
        return Err(LaunchError::Consumed);
    }
    append_event(folder, "DELEGATE_START", Object::new()).map_err(stored)?;
    let receipt =
        verify_delivery(launch.receipt, launch.card, &launch.asked, desk).map_err(LaunchError::Rejected)?;
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let filling = Filling {
        task: launch.asked.task,
        answer: launch.asked.answer,
        task_id: &receipt.task_id,
        receipt_path: &path("receipt.json"),
        context_path: &path("context.json"),
    };
    let zero = || stored(io::Error::new(io::ErrorKind::InvalidInput, "a value holds a NUL byte"));
    let argv = launch.template.expand(&filling).ok_or_else(zero)?;
    // A slip of the pen consumes nothing: the claim comes later.
    let program = argv.first().map_or("", String::as_str);
    if !is_there(program, launch) {
        return Err(LaunchError::NotStarted(format!(
            "{program}: there is no such program; nothing was consumed"
        )));
    }
    for (name, value) in [
        ("receipt.json", launch.receipt.clone()),
        ("trust_card.json", launch.card.clone()),
        ("context.json", context(launch, &receipt)),
    ] {
        write_atomic(&folder.join(name), &json_line(&value), 0o600).map_err(stored)?;
    }
    append_event(folder, "GATE_PASS", Object::new().with("receipt_sha256", canonical_digest(launch.receipt)))
        .map_err(stored)?;
    claim(folder, launch.receipt)?;
    drop(lock);
    Ok((receipt, argv))
}

/// Whether the program of the agent's command can be found, as the keeper will look for it.
fn is_there(program: &str, launch: &Launch<'_>) -> bool {
    if program.contains('/') {
        return launch.cwd.join(program).is_file();
    }
    let path = launch.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path);
    path.is_some_and(|path| std::env::split_paths(path).any(|folder| folder.join(program).is_file()))
}

/// What the agent may read of the delivery: never the check.
fn context(launch: &Launch<'_>, receipt: &Receipt) -> Value {
    Object::new()
        .with("request_id", receipt.request_id.as_str())
        .with("task_id", receipt.task_id.as_str())
        .with("task", launch.asked.task)
        .with("answer", launch.asked.answer)
        .with("risk", receipt.risk.as_str())
        .into()
}

/// Claims the launch of a run folder for `receipt`: of any number of claimants one succeeds, once for all time. The claim
/// is on disk when this returns.
pub fn claim(folder: &Path, receipt: &Value) -> Result<(), LaunchError> {
    let path = folder.join(CLAIM);
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    let mut file = made.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => LaunchError::Consumed,
        _ => LaunchError::NotStored(error),
    })?;
    // The name is the claim. A crash before the content is there leaves a consumed receipt and no agent.
    let line = Object::new().with("receipt_sha256", canonical_digest(receipt)).with("ts_ms", store::now_ms());
    let written = file.write_all(&json_line(&line.into())).and_then(|()| file.sync_all());
    written.and_then(|()| File::open(folder)?.sync_all()).map_err(LaunchError::NotStored)
}

/// The id of a request as the name of its folder: no separators, no dots at the start, nothing that a file system folds.
fn request_folder(request_id: Option<&str>) -> Result<&str, LaunchError> {
    let fits = |id: &&str| {
        (1..=128).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    request_id.filter(fits).ok_or(LaunchError::RequestId)
}

/// Appends one event and waits until it is on disk.
fn append_event(folder: &Path, event: &str, detail: Object) -> io::Result<()> {
    let line = detail.with("event", event).with("ts_ms", store::now_ms());
    // No link is followed and no pipe waited for: whoever put one there gets no line and holds nobody.
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed();
    let path = folder.join(EVENTS);
    let mut file =
        OpenOptions::new().create(true).read(true).append(true).mode(0o600).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the events are no file"));
    }
    // A line that a crash cut off stays what it is, and the next one begins anew.
    let torn = file.seek(SeekFrom::End(0))?.checked_sub(1);
    if let Some(last) = torn {
        file.seek(SeekFrom::Start(last))?;
        let mut byte = [0];
        file.read_exact(&mut byte)?;
        if byte != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    file.write_all(&json_line(&line.into()))?;
    file.sync_all()?;
    File::open(folder)?.sync_all()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O_EXCL decides, not a look before: 64 claimants at one moment, one claim.
    #[test]
    fn of_64_claimants_one_succeeds() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let barrier = std::sync::Barrier::new(64);
            let claimed = std::thread::scope(|scope| {
                let claimant = || {
                    barrier.wait();
                    match claim(folder.path(), &Value::Null) {
                        Ok(()) => 1,
                        Err(LaunchError::Consumed) => 0,
                        Err(other) => panic!("{other:?}"),
                    }
                };
                let claimants: Vec<_> = (0..64).map(|_| scope.spawn(claimant)).collect();
                claimants.into_iter().map(|claimant| claimant.join().unwrap()).sum::<u32>()
            });
            assert_eq!(claimed, 1);
            let mode = std::os::unix::fs::MetadataExt::mode(&folder.path().join(CLAIM).metadata().unwrap());
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_request_is_one_folder() {
        for id in [None, Some(""), Some("."), Some(".."), Some("a/b"), Some("a.b"), Some("é"), Some("a\0")] {
            assert!(matches!(request_folder(id), Err(LaunchError::RequestId)), "{id:?}");
        }
        assert!(matches!(request_folder(Some(&"x".repeat(129))), Err(LaunchError::RequestId)));
        assert_eq!(request_folder(Some("req-0001")).unwrap(), "req-0001");
    }
}

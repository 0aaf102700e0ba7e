//! One run: start the agent, freeze what it left, judge the copy, sign every step (desk specification 10 and 12,
//! without proxy and retry).

mod agent;
mod folder;
mod payload;
mod record;

pub use folder::UsageError;
pub use record::Report;

use crate::gate::{self, Delivery, GateReason, Judgement, Readiness, StoredSuite};
use crate::sandbox::{Choice, Establish, Level, Sandbox, Status, Strays, Unavailable};
use crate::store::{StoreError, write_atomic};
use crate::workspace::{Changes, Fault, Limits, Scan, changes, freeze, scan};
use agent::Agent;
use folder::Folder;
use payload::Facts;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use verdict::StopReason;

/// The arm of a run of the launcher (12.1).
pub const ARM: &str = "RUN-ON";

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The agent's working folder.
    pub workspace: PathBuf,
    /// Where receipts go; nothing for a fresh folder under the home directory.
    pub run_dir: Option<PathBuf>,
    /// The suite.
    pub suite: Option<PathBuf>,
    /// Nothing is measured, and the user said so.
    pub allow_no_suite: bool,
    /// Name of the task; nothing for a generated one.
    pub task_id: Option<String>,
    /// Wall limit of the agent in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Wall limit per test file or check in milliseconds.
    pub test_timeout_ms: u64,
    /// The agent reads what the desk reads.
    pub inherit_stdin: bool,
    /// The agent's standard output goes to `agent_stdout.log` and not to the screen.
    pub capture_stdout: bool,
    /// How checks are confined.
    pub sandbox: Choice,
    /// The least confinement.
    pub floor: Option<Level>,
    /// The frozen copy is removed at the end.
    pub discard_frozen: bool,
    /// Set from outside when the user wants the run to stop.
    pub interrupted: Arc<AtomicBool>,
    /// The agent's command.
    pub command: Vec<OsString>,
}

/// Why there is no verdict at all: nothing was started, or the chain could not be written.
#[derive(Debug)]
pub enum RunError {
    /// Wrong use (64).
    Usage(UsageError),
    /// The chain cannot be written any more (22): what is on it verifies and does not say OK.
    Store(StoreError),
    /// A file of the run directory cannot be written (22).
    Io(PathBuf, std::io::Error),
}

impl From<UsageError> for RunError {
    fn from(error: UsageError) -> RunError {
        RunError::Usage(error)
    }
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> RunError {
        RunError::Store(error)
    }
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Usage(error) => write!(f, "{error}"),
            RunError::Store(error) => write!(f, "{error}"),
            RunError::Io(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for RunError {}

/// How the attempt of a run came out.
struct Attempt {
    stop: StopReason,
    judgement: Option<Box<Judgement>>,
    /// For people: what was in the way.
    trouble: Option<String>,
}

impl Attempt {
    fn stopped(stop: StopReason, trouble: impl Into<String>) -> Attempt {
        Attempt { stop, judgement: None, trouble: Some(trouble.into()) }
    }
}

/// What a run is busy with, for whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reading suite and workspace, measuring the sandbox.
    Preparing,
    /// The agent runs.
    Agent,
    /// The workspace is copied and hashed.
    Freezing,
    /// The checks run.
    Checking,
    /// It is over.
    Ended,
}

/// Runs an agent and judges what it delivers. `watch` is told what the run is busy with.
pub fn run(options: &Options, watch: &dyn Fn(Phase)) -> Result<Report, RunError> {
    let report = run_phases(options, watch);
    watch(Phase::Ended);
    report
}

fn run_phases(options: &Options, watch: &dyn Fn(Phase)) -> Result<Report, RunError> {
    watch(Phase::Preparing);
    let started = Instant::now();
    // Same-user processes, the agent among them, must not read the signing key out of this process.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    // Files of the desk must be readable to the desk, whatever umask it was started with.
    let umask = rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    rustix::process::umask(umask - rustix::fs::Mode::RWXU);
    // What an agent leaves behind that has ended its keeper comes to us.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let (folder, suite) = folder::prepare(options)?;
    let before = scan(&folder.workspace, &Limits::default())
        .map_err(|fault| UsageError::Workspace(folder.workspace.clone(), fault))?;
    let mut facts = Facts::opening(options, &folder, suite.as_ref(), &before);
    // Claimed before anything is measured there: another run at the same directory lays no bait into ours.
    let mut chain = folder.open_chain()?;
    let (sandbox, readiness) = std::thread::scope(|scope| {
        let readiness = scope.spawn(|| gate::ready(suite.as_ref(), &folder.workspace));
        let sandbox = confinement(options, &folder, suite.as_ref());
        (sandbox, readiness.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    if let Some(file) = readiness.nothing_declared(suite.as_ref()) {
        folder.give_back(chain);
        return Err(UsageError::NothingDeclared(file).into());
    }
    chain.append("run_start", facts.start())?;
    let sandbox = match sandbox {
        Ok(sandbox) => sandbox,
        Err(unavailable) => {
            let attempt = Attempt::stopped(StopReason::SandboxUnavailable, unavailable.to_string());
            return record::finish(started, &folder, &mut chain, &mut facts, attempt);
        }
    };
    facts.confined(sandbox.as_ref());
    // Nothing is gained by running an agent whose delivery nobody can check (ruling 17).
    if let Some(judgement) = readiness.missing() {
        let trouble = Some(judgement.failures.join("; "));
        let attempt = Attempt { stop: judgement.stop, judgement: Some(Box::new(judgement)), trouble };
        return record::finish(started, &folder, &mut chain, &mut facts, attempt);
    }
    watch(Phase::Agent);
    let agent = Agent { options, folder: &folder };
    match agent.run() {
        Ok(outcome) => facts.agent = Some(outcome),
        Err(trouble) => {
            let attempt = Attempt::stopped(StopReason::AgentSpawnFailed, trouble);
            return record::finish(started, &folder, &mut chain, &mut facts, attempt);
        }
    }
    let untouched = folder.reclaim(&mut chain)?;
    // Only now: whatever had that name before was the agent's.
    if let Some(stdout) = facts.agent.as_mut().and_then(|agent| agent.stdout.take()) {
        let path = folder.file("agent_stdout.log");
        write_atomic(&path, &stdout, 0o644).map_err(|error| RunError::Io(path, error))?;
    }
    if options.interrupted.load(Ordering::Relaxed) {
        return record::finish(started, &folder, &mut chain, &mut facts, interrupted());
    }
    facts.suite_unchanged = suite.as_ref().map(StoredSuite::unchanged_on_disk);
    watch(Phase::Freezing);
    let attempt = match meddled(untouched, &facts).map_or_else(|| frozen(&folder, &before, &mut facts), Err) {
        Ok(after) => {
            watch(Phase::Checking);
            let judges = (suite.as_ref(), sandbox.as_ref());
            judged(&folder, judges, &readiness, &after, options)
        }
        Err(attempt) => attempt,
    };
    let attempt = if options.interrupted.load(Ordering::Relaxed) { interrupted() } else { attempt };
    facts.judged(&attempt);
    // A void attempt is signed too once there was something to judge: what was frozen stays on the chain.
    if !attempt.stop.is_void() || facts.end.is_some() {
        chain.append("ws_attempt", facts.attempt(&attempt))?;
    }
    if options.discard_frozen {
        folder.discard_frozen();
    }
    record::finish(started, &folder, &mut chain, &mut facts, attempt)
}

fn interrupted() -> Attempt {
    Attempt::stopped(StopReason::Interrupted, "the desk was told to stop")
}

/// An agent that meddled with the desk is refused for it.
fn meddled(untouched: bool, facts: &Facts) -> Option<Attempt> {
    let refused =
        |code: &str, why: &str| Some(Attempt::stopped(StopReason::DeliveryUnfit, format!("{code}: {why}")));
    if !untouched {
        let code = GateReason::RunDirTampered.code();
        refused(code, "the agent changed the run directory; receipts were restored")
    } else if facts.agent.as_ref().is_some_and(|agent| agent.keeper_lost) {
        refused(Status::Lost.code(), "the agent's keeper was ended or stopped from outside")
    } else if facts.agent.as_ref().is_some_and(|agent| agent.orphans_killed.is_none()) {
        let code = Strays::NotMeasurable(String::new()).code();
        refused(code, "what the agent left running could not be found out or not be ended")
    } else {
        None
    }
}

/// The sandbox for the checks; none is needed where nothing is checked.
fn confinement(
    options: &Options,
    folder: &Folder,
    suite: Option<&StoredSuite>,
) -> Result<Option<Sandbox>, Box<Unavailable>> {
    if suite.is_none() && options.floor.is_none() {
        return Ok(None);
    }
    let mut establish = Establish::new(options.sandbox, options.floor);
    establish.bait_directory = Some(folder.run_dir.clone());
    establish.run().map(Some).map_err(Box::new)
}

/// A workspace that keeps changing gets this many chances.
const FREEZES_MAX: u32 = 3;

fn frozen(folder: &Folder, before: &Scan, facts: &mut Facts) -> Result<Scan, Attempt> {
    let mut left = FREEZES_MAX;
    loop {
        left -= 1;
        match freeze(&folder.workspace, &folder.frozen(), &Limits::default()) {
            Ok(frozen) => {
                let changed: Changes = changes(before, &frozen.live);
                facts.froze(&frozen.live, changed);
                return Ok(frozen.live);
            }
            Err(fault) => {
                folder.discard_frozen();
                if matches!(fault, Fault::Moved(_)) && left > 0 {
                    continue;
                }
                let stop = gate::stop_for(&fault, folder.copy_of_nothing_works());
                return Err(Attempt::stopped(stop, format!("{}: {fault}", fault.code())));
            }
        }
    }
}

fn judged(
    folder: &Folder,
    judges: (Option<&StoredSuite>, Option<&Sandbox>),
    readiness: &Readiness,
    after: &Scan,
    options: &Options,
) -> Attempt {
    let (Some(suite), Some(sandbox)) = judges else {
        return without_suite(options.allow_no_suite);
    };
    let scratch = match tempfile::Builder::new().prefix("touchstone-gate-").tempdir() {
        Ok(scratch) => scratch,
        // It worked before the agent started.
        Err(error) => return Attempt::stopped(StopReason::DeliveryUnfit, format!("scratch folder: {error}")),
    };
    let delivery = Delivery {
        frozen: &folder.frozen(),
        scan: after,
        task_id: &folder.task_id,
        scratch: &real(scratch.path()),
        test_timeout_ms: options.test_timeout_ms,
    };
    let judgement = gate::judge(sandbox, suite, readiness, &delivery);
    if judgement.stop == StopReason::NoSuite && options.allow_no_suite {
        return without_suite(true);
    }
    // Without confinement a check may have reached the evidence itself.
    if sandbox.level() == Level::None && !judgement.stop.is_void() && !folder.frozen_is(after) {
        return Attempt::stopped(
            StopReason::DeliveryUnfit,
            format!("{}: a check changed the frozen copy", GateReason::FrozenCopyChanged.code()),
        );
    }
    let trouble = judgement.stop.is_void().then(|| judgement.failures.join("; "));
    Attempt { stop: judgement.stop, judgement: Some(Box::new(judgement)), trouble }
}

fn without_suite(allowed: bool) -> Attempt {
    let stop = if allowed { StopReason::Ungated } else { StopReason::NoSuite };
    Attempt { stop, judgement: None, trouble: None }
}

/// The path without links: the sandbox takes no link as a root.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// Whether strays were found and ended; nothing when it could not be measured (10.3c).
fn orphans_killed(strays: &Strays) -> Option<bool> {
    match strays {
        Strays::None => Some(false),
        Strays::Killed(_) => Some(true),
        Strays::NotMeasurable(_) => None,
    }
}

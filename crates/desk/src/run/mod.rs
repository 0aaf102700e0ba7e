//! One run: start the agent, freeze what it left, judge the copy, sign every step, and again where the user asked for
//! it (desk specification 10 to 12).

mod agent;
mod attempt;
mod channel;
mod enclose;
mod event;
mod folder;
mod journal;
mod options;
mod payload;
mod reclaim;
mod record;
mod reset;
mod retry;
mod usage;

pub use channel::upstream_is_named;
pub use event::{EVENTS_SCHEMA, Event, Phase};
pub use ledger::receipts::tier::{Tier, lacks};
pub use options::Options;
pub use record::{Calls, Report};
pub use retry::{FEEDBACK_FILE, FeedbackInto, PLACEHOLDER, Retry};
pub use usage::UsageError;

use crate::gate::{self, GateReason, StoredSuite};
use crate::sandbox::{Establish, Sandbox, Strays, Unavailable};
use crate::store::{StoreError, json_line, write_atomic};
use crate::workspace::{Limits, Scan, scan};
use attempt::{Attempt, Beginning, Desk};
use canon::Digest;
use channel::Channel;
use folder::{Folder, Prepared};
use journal::Journal;
use payload::{Ending, Facts, Hashes};
use reset::{Origin, ResetFault};
use retry::Feedback;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;
use verdict::StopReason;

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

/// Who is told what happens. It must not block.
pub type Watch<'a> = &'a dyn Fn(Event);

/// Runs an agent and judges what it delivers. `watch` is told what happens.
pub fn run(options: &Options, watch: Watch<'_>) -> Result<Report, RunError> {
    let report = run_phases(options, watch);
    watch(Event::Phase(Phase::Ended));
    report
}

fn run_phases(options: &Options, watch: Watch<'_>) -> Result<Report, RunError> {
    watch(Event::Phase(Phase::Preparing));
    let started = Instant::now();
    protect();
    let Prepared { mut folder, suite, plan } = folder::prepare(options)?;
    let suite = suite.as_ref();
    let before = scan(&folder.workspace, &Limits::default())
        .map_err(|fault| UsageError::Workspace(folder.workspace.clone(), fault))?;
    let mut facts = Facts::opening(options, &folder, (suite, plan), &before);
    // Claimed before anything is measured there: another run at the same directory lays no bait into ours.
    let mut journal = folder.open_chain()?;
    let judging = suite.filter(|_| options.gated);
    let (sandbox, readiness) = std::thread::scope(|scope| {
        let readiness = scope.spawn(|| gate::ready(judging, &folder.workspace));
        let sandbox = confinement(options, &folder, judging);
        (sandbox, readiness.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    if let Some(file) = readiness.nothing_declared(suite) {
        folder.give_back(journal);
        return Err(UsageError::NothingDeclared(file).into());
    }
    let mut channel = options.record_calls.then(|| Channel::start(options, &mut folder)).transpose();
    let enclosing = match &channel {
        Ok(Some(channel)) => enclose::rehearse(options, &folder, channel),
        _ => Ok(None),
    };
    facts.enclosing = enclosing.as_ref().ok().and_then(Option::clone);
    journal.append("run_start", facts.start())?;
    watch(Event::run_started(&facts));
    let mut ending = match (sandbox, &mut channel) {
        (_, Ok(_)) if let Err(failed) = &enclosing => Ending::of(failed.stop, failed.why.clone()),
        (_, Err(why)) => Ending::of(StopReason::WireUnavailable, why.clone()),
        (Err(unavailable), _) => Ending::of(StopReason::SandboxUnavailable, unavailable.to_string()),
        (Ok(sandbox), Ok(channel)) => {
            facts.confined(sandbox.as_ref());
            // Nothing is gained by running an agent whose delivery nobody can check (ruling 17).
            match readiness.missing() {
                Some(judgement) => Ending {
                    stop: judgement.stop,
                    trouble: Some(judgement.failures.join("; ")),
                    judgement: Some(Box::new(judgement)),
                },
                None => {
                    let sandbox = sandbox.as_ref();
                    let enclosing = enclosing.as_ref().ok().and_then(Option::as_ref);
                    let (readiness, before) = (&readiness, &before);
                    let desk = Desk { options, suite, sandbox, readiness, before, enclosing, watch };
                    attempts(&desk, &mut folder, &mut journal, &mut facts, channel)?
                }
            }
        }
    };
    facts.recorded = channel.ok().flatten().map(Channel::stop);
    if facts.recorded.is_some() && facts.whole_record().is_none() && !ending.stop.is_void() {
        let code = GateReason::RunDirTampered.code();
        let why = format!("{code}: the record of the agent's calls was changed");
        ending = Ending { judgement: ending.judgement, ..Ending::of(StopReason::DeliveryUnfit, why) };
    }
    let (report, ended) = record::finish(started, &folder, &mut journal, &mut facts, ending)?;
    watch(ended);
    Ok(report)
}

/// What holds for this process from here on.
fn protect() {
    // Same-user processes, the agent among them, must not read the signing key out of this process.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    // Files of the desk must be readable to the desk, whatever umask it was started with.
    let umask = rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    rustix::process::umask(umask - rustix::fs::Mode::RWXU);
    // What an agent leaves behind that has ended its keeper comes to us.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Makes attempts until one passes, the last one is over, or something ends the run (10.3).
fn attempts(
    desk: &Desk<'_>,
    folder: &mut Folder,
    journal: &mut Journal,
    facts: &mut Facts,
    channel: &mut Option<Channel>,
) -> Result<Ending, RunError> {
    let origin = match keep_origin(desk, folder, facts) {
        Ok(origin) => origin,
        Err(why) => return Ok(Ending::of(StopReason::WsResetFailed, why)),
    };
    let mut start = facts.start;
    let mut feedback: Option<String> = None;
    let mut number = 1;
    let mut whole = true;
    let ending = loop {
        let from = Beginning { number, start, feedback: feedback.as_deref() };
        let attempt = desk.attempt(folder, journal, facts, channel, &from)?;
        // A void attempt is signed too once there was something to judge: what was frozen stays on the chain.
        if !attempt.stop.is_void() || attempt.end.is_some() {
            journal.append("ws_attempt", facts.attempt(&attempt))?;
        }
        if let Some(event) = Event::gate_ran(&attempt) {
            (desk.watch)(event);
        }
        if desk.options.discard_frozen {
            folder.discard_frozen(number);
        }
        let again = attempt.may_be_retried() && number < facts.plan.max_attempts;
        facts.attempts.push(attempt);
        if !again {
            break ended(facts);
        }
        match next(desk, folder, facts, origin.as_ref())? {
            Ok(next) => (start, feedback) = next,
            Err(ending) => {
                whole = ending.stop == StopReason::Interrupted;
                break ending;
            }
        }
        number += 1;
    };
    // Of a workspace that could not be put back, whoever is to blame, there is only this copy.
    if let Some(origin) = origin.filter(|_| whole) {
        origin.discard();
    }
    Ok(ending)
}

/// The last attempt ends the run; where several were allowed and the last one failed, the reason says so.
fn ended(facts: &mut Facts) -> Ending {
    let several = facts.plan.max_attempts > 1;
    let Some(last) = facts.attempts.last_mut() else {
        return Ending::of(StopReason::DeskFault, "no attempt was made");
    };
    let stop = match last.stop {
        StopReason::VisibleFail if several => StopReason::AttemptsExhausted,
        stop => stop,
    };
    Ending { stop, trouble: last.trouble.clone(), judgement: last.judgement.clone() }
}

/// The copy to start anew from, where one will be needed.
fn keep_origin(desk: &Desk<'_>, folder: &mut Folder, facts: &Facts) -> Result<Option<Origin>, String> {
    if facts.plan.retry != Retry::Resample || facts.plan.max_attempts < 2 {
        return Ok(None);
    }
    folder.knows("_origin".to_owned());
    Origin::take(&folder.workspace, folder.file("_origin"), desk.before).map(Some)
}

/// Where the next attempt starts: hashes of its workspace, and the feedback in its command.
type Next = (Hashes, Option<String>);

/// Prepares the next attempt, or says what ends the run.
fn next(
    desk: &Desk<'_>,
    folder: &mut Folder,
    facts: &Facts,
    origin: Option<&Origin>,
) -> Result<Result<Next, Ending>, RunError> {
    let Some(last) = facts.last() else { return Ok(Err(ended_early())) };
    if let Some(judgement) = &last.judgement {
        let name = format!("{}.json", folder.of_attempt("visible", last.number));
        folder.keep(name, json_line(&judgement.record))?;
    }
    if desk.options.interrupted.load(Ordering::Relaxed) {
        return Ok(Err(Ending::of(StopReason::Interrupted, "the desk was told to stop")));
    }
    Ok(match origin {
        Some(origin) => resampled(origin),
        None => revised(desk, folder, facts, last),
    })
}

fn ended_early() -> Ending {
    Ending::of(StopReason::DeskFault, "there is no attempt to go on from")
}

fn resampled(origin: &Origin) -> Result<Next, Ending> {
    match origin.restore() {
        Ok(scan) => Ok((Hashes::of(&scan), None)),
        Err(fault) => {
            let (stop, why) = match fault {
                ResetFault::Agent(why) => (StopReason::DeliveryUnfit, why),
                ResetFault::Desk(why) => (StopReason::WsResetFailed, why),
            };
            let why =
                format!("the workspace cannot be put back: {why} | its copy is kept in the run directory");
            Err(Ending::of(stop, why))
        }
    }
}

fn revised(desk: &Desk<'_>, folder: &Folder, facts: &Facts, last: &Attempt) -> Result<Next, Ending> {
    let plan = &facts.plan;
    let failures = last.judgement.as_ref().map(|judgement| judgement.failures.join("\n")).unwrap_or_default();
    let in_suite = |phrase: &str| desk.suite.is_some_and(|suite| holds_rhetoric(suite, phrase));
    let text = match retry::feedback(last.number, plan.max_attempts, &failures, &in_suite) {
        Feedback::Text(text) => text,
        Feedback::Rhetoric(phrase) => {
            let why = format!("KS-1: the feedback would have said \"{phrase}\", which stands in the suite");
            return Err(Ending::of(StopReason::Ks1Violation, why));
        }
    };
    let unfit = |why: String| Ending::of(StopReason::DeliveryUnfit, why);
    if plan.into.file() {
        // Nothing is written through a link that the agent put in the workspace's place.
        if !std::fs::symlink_metadata(&folder.workspace).is_ok_and(|meta| meta.is_dir()) {
            return Err(unfit("the workspace is no folder any more".to_owned()));
        }
        let path = folder.workspace.join(FEEDBACK_FILE);
        // The name is the desk's: what an agent puts there makes room.
        let written = reset::remove(&path).and_then(|()| write_atomic(&path, text.as_bytes(), 0o644));
        written.map_err(|error| unfit(format!("{FEEDBACK_FILE} cannot be written: {error}")))?;
    }
    (desk.watch)(Event::FeedbackReady {
        attempt: last.number,
        feedback_delivery: plan.into.word(),
        feedback_bytes: text.len() as u64,
        feedback_sha256: Digest::of(text.as_bytes()),
    });
    let now: Scan = scan(&folder.workspace, &Limits::default())
        .map_err(|fault| unfit(format!("{}: {fault}", fault.code())))?;
    Ok((Hashes::of(&now), Some(text)))
}

fn holds_rhetoric(suite: &StoredSuite, phrase: &str) -> bool {
    suite.texts().any(|bytes| {
        let text = String::from_utf8_lossy(bytes).to_lowercase();
        text.split_whitespace().collect::<Vec<_>>().join(" ").contains(phrase)
    })
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
    let sandbox = establish.run().map_err(Box::new)?;
    // Who stops the desk does not wait for a check that takes its time.
    Ok(Some(sandbox.ended_by(&options.interrupted)))
}

/// Whether strays were found and ended; nothing when it could not be measured (10.3c).
fn orphans_killed(strays: &Strays) -> Option<bool> {
    match strays {
        Strays::None => Some(false),
        Strays::Killed(_) => Some(true),
        Strays::NotMeasurable(_) => None,
    }
}

//! One attempt: the agent runs, what it left is frozen and judged (desk specification 10.3b to h).

use super::agent::{Agent, Outcome};
use super::channel::{Channel, Traffic};
use super::enclose::{Enclosing, NotStarted};
use super::folder::Folder;
use super::journal::Journal;
use super::options::Options;
use super::payload::{Facts, Hashes, argv_sha256};
use super::{Event, Phase, RunError, Watch};
use crate::agents::Pointed;
use crate::agents::environment::without_desk;
use crate::gate::{self, Delivery, GateReason, Judgement, Readiness, StoredSuite};
use crate::sandbox::{Level, Sandbox, Status, Strays};
use crate::store::write_atomic;
use crate::workspace::{Changes, Fault, Limits, Scan, changes, freeze};
use canon::Digest;
use canon::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use verdict::StopReason;

/// What is known of one attempt.
#[derive(Debug)]
pub(super) struct Attempt {
    /// From 1.
    pub(super) number: u32,
    pub(super) start: Hashes,
    pub(super) argv_sha256: Digest,
    pub(super) feedback_in_prompt_bytes: u64,
    /// Nothing when calls are not recorded.
    pub(super) traffic: Option<Traffic>,
    /// Names of what was redirected and removed; nothing when calls are not recorded.
    pub(super) env: Option<Value>,
    /// Nothing when it could not be started.
    pub(super) agent: Option<Outcome>,
    pub(super) suite_unchanged: Option<bool>,
    /// Nothing when it was not frozen.
    pub(super) end: Option<Hashes>,
    /// Against the start of the run.
    pub(super) changes: Option<Changes>,
    pub(super) specials: Vec<String>,
    pub(super) stop: StopReason,
    pub(super) judgement: Option<Box<Judgement>>,
    /// For people: what was in the way.
    pub(super) trouble: Option<String>,
}

impl Attempt {
    /// Worth another attempt: the checks ran, and the delivery did not pass them.
    pub(super) fn may_be_retried(&self) -> bool {
        matches!(self.stop, StopReason::VisibleFail | StopReason::VisibleUnstable)
    }
}

/// How an attempt came out.
struct Outcomes {
    stop: StopReason,
    judgement: Option<Box<Judgement>>,
    trouble: Option<String>,
}

impl Outcomes {
    fn stopped(stop: StopReason, trouble: impl Into<String>) -> Outcomes {
        Outcomes { stop, judgement: None, trouble: Some(trouble.into()) }
    }
}

/// What stays the same through all attempts of a run.
pub(super) struct Desk<'a> {
    pub(super) options: &'a Options,
    pub(super) suite: Option<&'a StoredSuite>,
    pub(super) sandbox: Option<&'a Sandbox>,
    pub(super) readiness: &'a Readiness,
    /// The workspace at the start of the run.
    pub(super) before: &'a Scan,
    /// How the agent is enclosed.
    pub(super) enclosing: Option<&'a Enclosing>,
    pub(super) watch: Watch<'a>,
}

/// What an attempt starts from.
pub(super) struct Beginning<'a> {
    pub(super) number: u32,
    pub(super) start: Hashes,
    pub(super) feedback: Option<&'a str>,
}

impl Desk<'_> {
    /// Makes attempt `from.number`. What it was is signed by the caller.
    pub(super) fn attempt(
        &self,
        folder: &mut Folder,
        journal: &mut Journal,
        facts: &Facts,
        channel: &mut Option<Channel>,
        from: &Beginning<'_>,
    ) -> Result<Attempt, RunError> {
        let (command, feedback_in_prompt_bytes) = facts.plan.command(&self.options.command, from.feedback);
        let mut attempt = Attempt {
            number: from.number,
            start: from.start,
            argv_sha256: argv_sha256(&command),
            feedback_in_prompt_bytes,
            traffic: None,
            env: None,
            agent: None,
            suite_unchanged: None,
            end: None,
            changes: None,
            specials: Vec::new(),
            stop: StopReason::Interrupted,
            judgement: None,
            trouble: None,
        };
        (self.watch)(Event::attempt_started(facts, &attempt));
        (self.watch)(Event::Phase(Phase::Agent));
        let ran = self.agent(folder, channel.as_ref(), command, &mut attempt);
        // Also an agent that did not start left the doors open.
        attempt.traffic = channel.as_mut().map(Channel::quiesce);
        let outcomes = match ran {
            Ok(outcome) => {
                attempt.agent = Some(outcome);
                if let Some(event) = Event::agent_exited(&attempt) {
                    (self.watch)(event);
                }
                self.after_agent(folder, journal, &mut attempt)?
            }
            Err(failed) => Outcomes::stopped(failed.stop, failed.why),
        };
        (attempt.stop, attempt.judgement, attempt.trouble) =
            (outcomes.stop, outcomes.judgement, outcomes.trouble);
        Ok(attempt)
    }

    /// Runs the agent, behind the proxy where there is one.
    fn agent(
        &self,
        folder: &Folder,
        channel: Option<&Channel>,
        command: Vec<OsString>,
        attempt: &mut Attempt,
    ) -> Result<Outcome, NotStarted> {
        let given = std::env::vars_os().collect();
        let options = self.options;
        let Some(channel) = channel else {
            let variables = without_desk(given);
            let (place, meanwhile) = (None, &|| ());
            return Agent { options, folder, command, variables, place, meanwhile }.run();
        };
        let preset = options.agent.as_ref().map(|preset| (preset, options.agent_model.as_deref()));
        let pointed = Pointed::at(&channel.door, preset, &given, &command, &folder.workspace);
        let pointed = pointed.map_err(NotStarted::spawn)?;
        attempt.env = Some(pointed.environment.names());
        channel.resume();
        let number = attempt.number;
        let meanwhile = || {
            for call in channel.ended() {
                (self.watch)(Event::model_call(number, &call));
            }
        };
        let variables = &pointed.environment.variables;
        let run = |command: &[OsString]| {
            let (command, variables) = (command.to_vec(), variables.clone());
            let enclosing = self.enclosing;
            let place = enclosing.and_then(|one| one.place(options, folder, channel, pointed.folder()));
            Agent { options, folder, command, variables, place, meanwhile: &meanwhile }.run()
        };
        if let Some(prepare) = &pointed.prepare {
            let prepared = run(prepare)?;
            if prepared.rc != Some(0) {
                let why = "the command that writes the agent's configuration failed";
                return Err(NotStarted::spawn(why));
            }
        }
        run(&pointed.command)
    }

    fn after_agent(
        &self,
        folder: &mut Folder,
        journal: &mut Journal,
        attempt: &mut Attempt,
    ) -> Result<Outcomes, RunError> {
        let untouched = folder.reclaim(journal)?;
        // Only now: whatever had that name before was the agent's.
        if let Some(stdout) = attempt.agent.as_mut().and_then(|agent| agent.stdout.take()) {
            let name = match attempt.number {
                1 => "agent_stdout.log".to_owned(),
                number => format!("agent_stdout_a{number}.log"),
            };
            let path = folder.file(&name);
            write_atomic(&path, &stdout, 0o644).map_err(|error| RunError::Io(path, error))?;
            folder.knows(name);
        }
        if self.interrupted() {
            return Ok(interrupted());
        }
        attempt.suite_unchanged = self.suite.map(StoredSuite::unchanged_on_disk);
        (self.watch)(Event::Phase(Phase::Freezing));
        let after = match meddled(untouched, attempt).or_else(|| self.unenclosed(attempt)) {
            Some(refused) => return Ok(refused),
            None => self.frozen(folder, attempt),
        };
        let outcomes = match after {
            Ok(after) => {
                (self.watch)(Event::Phase(Phase::Checking));
                self.judged(folder, attempt.number, &after)
            }
            Err(outcomes) => outcomes,
        };
        Ok(if self.interrupted() { interrupted() } else { outcomes })
    }

    /// What was to be enclosed and was not to its end is refused: whatever did that, the agent was there (ruling 16).
    fn unenclosed(&self, attempt: &Attempt) -> Option<Outcomes> {
        let found = attempt.agent.as_ref()?.enclosure.as_ref();
        let why = self.enclosing?.broken(found)?;
        let code = GateReason::EnclosureChanged.code();
        Some(Outcomes::stopped(StopReason::DeliveryUnfit, format!("{code}: {why}")))
    }

    fn interrupted(&self) -> bool {
        self.options.interrupted.load(Ordering::Relaxed)
    }

    fn frozen(&self, folder: &mut Folder, attempt: &mut Attempt) -> Result<Scan, Outcomes> {
        let number = attempt.number;
        folder.knows(folder.of_attempt("_frozen", number));
        let mut left = FREEZES_MAX;
        loop {
            left -= 1;
            match freeze(&folder.workspace, &folder.frozen(number), &Limits::default()) {
                Ok(frozen) => {
                    attempt.saw(&frozen.live, changes(self.before, &frozen.live));
                    return Ok(frozen.live);
                }
                Err(fault) => {
                    folder.discard_frozen(number);
                    if matches!(fault, Fault::Moved(_)) && left > 0 {
                        continue;
                    }
                    let stop = gate::stop_for(&fault, folder.copy_of_nothing_works());
                    return Err(Outcomes::stopped(stop, format!("{}: {fault}", fault.code())));
                }
            }
        }
    }

    fn judged(&self, folder: &Folder, number: u32, after: &Scan) -> Outcomes {
        if !self.options.gated {
            return without_suite(true);
        }
        let (Some(suite), Some(sandbox)) = (self.suite, self.sandbox) else {
            return without_suite(self.options.allow_no_suite);
        };
        let scratch = match tempfile::Builder::new().prefix("touchstone-gate-").tempdir() {
            Ok(scratch) => scratch,
            // It worked before the agent started.
            Err(error) => {
                return Outcomes::stopped(StopReason::DeliveryUnfit, format!("scratch folder: {error}"));
            }
        };
        let delivery = Delivery {
            frozen: &folder.frozen(number),
            scan: after,
            task_id: &folder.task_id,
            scratch: &real(scratch.path()),
            test_timeout_ms: self.options.test_timeout_ms,
        };
        let judgement = gate::judge(sandbox, suite, self.readiness, &delivery);
        if judgement.stop == StopReason::NoSuite && self.options.allow_no_suite {
            return without_suite(true);
        }
        // Without confinement a check may have reached the evidence itself.
        if sandbox.level() == Level::None && !judgement.stop.is_void() && !folder.frozen_is(number, after) {
            return Outcomes::stopped(
                StopReason::DeliveryUnfit,
                format!("{}: a check changed the frozen copy", GateReason::FrozenCopyChanged.code()),
            );
        }
        let trouble = judgement.stop.is_void().then(|| judgement.failures.join("; "));
        Outcomes { stop: judgement.stop, judgement: Some(Box::new(judgement)), trouble }
    }
}

impl Attempt {
    fn saw(&mut self, live: &Scan, changes: Changes) {
        self.end = Some(Hashes::of(live));
        self.specials =
            live.specials().map(|(path, what)| format!("{what} {}", canon::shown(path))).take(64).collect();
        self.changes = Some(changes);
    }
}

/// A workspace that keeps changing gets this many chances.
const FREEZES_MAX: u32 = 3;

fn interrupted() -> Outcomes {
    Outcomes::stopped(StopReason::Interrupted, "the desk was told to stop")
}

/// An agent that meddled with the desk is refused for it.
fn meddled(untouched: bool, attempt: &Attempt) -> Option<Outcomes> {
    let refused =
        |code: &str, why: &str| Some(Outcomes::stopped(StopReason::DeliveryUnfit, format!("{code}: {why}")));
    let agent = attempt.agent.as_ref()?;
    if !untouched {
        let code = GateReason::RunDirTampered.code();
        refused(code, "the agent changed the run directory; receipts were restored")
    } else if agent.keeper_lost {
        refused(Status::Lost.code(), "the agent's keeper was ended or stopped from outside")
    } else if agent.orphans_killed.is_none() {
        let code = Strays::NotMeasurable(String::new()).code();
        refused(code, "what the agent left running could not be found out or not be ended")
    } else {
        None
    }
}

fn without_suite(allowed: bool) -> Outcomes {
    let stop = if allowed { StopReason::Ungated } else { StopReason::NoSuite };
    Outcomes { stop, judgement: None, trouble: None }
}

/// The path without links: the sandbox takes no link as a root.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

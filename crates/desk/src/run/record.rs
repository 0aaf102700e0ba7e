//! Ending a run: the files of the run directory, then the entry that closes the chain.

use super::RunError;
use super::attempt::Attempt;
use super::channel::index_name;
use super::event::Event;
use super::folder::{Folder, ROWS};
use super::journal::Journal;
use super::payload::{Ending, Facts, cases_word};
use crate::gate::Judgement;
use crate::store::{json_line, write_together};
use crate::workspace::Changes;
use canon::{Digest, Object, Value};
use ledger::receipts::tier::Tier;
use std::path::PathBuf;
use std::time::Instant;
use verdict::StopReason;

/// What is known of the agent's calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Calls {
    /// They did not go through a proxy of ours.
    NotRecorded,
    /// Somebody else wrote into their record: nothing is measured.
    RecordChanged,
    /// Calls by class and end.
    Counted(wire::Counts),
}

/// What the user is told.
#[derive(Clone, Debug)]
pub struct Report {
    /// How the run ended.
    pub stop: StopReason,
    /// Exit code of the run.
    pub exit_code: u8,
    /// The task.
    pub task_id: String,
    /// Where the receipts lie.
    pub run_dir: PathBuf,
    /// The judgement, where checks ran.
    pub judgement: Option<Box<Judgement>>,
    /// What was in the way.
    pub trouble: Option<String>,
    /// Attempts made.
    pub attempts_used: i64,
    /// Attempts allowed.
    pub max_attempts: u32,
    /// What is known of the agent's calls.
    pub calls: Calls,
    /// Exit code of the agent, minus the signal; nothing when it did not end by itself.
    pub agent_rc: Option<i64>,
    /// The agent was ended at its limit.
    pub agent_timed_out: bool,
    /// Both hashes, before and after, shortened by nobody.
    pub ws_start_sha256_v2: Digest,
    /// After the agent; nothing when it was not frozen.
    pub ws_end_sha256_v2: Option<Digest>,
    /// What the agent changed.
    pub changes: Option<Changes>,
    /// Level of confinement, where checks ran.
    pub sandbox_level: Option<&'static str>,
    /// Why the best level was not reached.
    pub why_not_full: Option<String>,
    /// Tier of the run, and why it is not B; nothing where nobody asked for an enclosure.
    pub tier: Option<(&'static str, Option<String>)>,
    /// Head of the chain; nothing in the arm that has none.
    pub head: Option<Digest>,
    /// Entries on the chain.
    pub entries_n: u64,
    /// The summary, as written to `run_<ARM>.json`.
    pub summary: Value,
    /// Id of the key of the run.
    pub vacant_id: Option<String>,
}

impl Report {
    /// The summary and what only the ended chain knows: where it lies, its head, its length, its key. For machines.
    pub fn answer(&self) -> Value {
        let summary = self.summary.as_object().cloned().unwrap_or_default();
        summary
            .with("run_dir", shown(&self.run_dir))
            .with("head", self.head)
            .with("entries_n", self.entries_n)
            .with("vacant_id", self.vacant_id.as_deref())
            .into()
    }
}

/// Most paths that the summary lists of one kind.
const PATHS_MAX: usize = 1000;

/// Writes `visible`, summary and row, then signs the end; gives what the user and what a watcher is told.
///
/// The commit point: the run has ended when the line of its `ws_verdict` or `run_void` is on disk. A crash before
/// leaves a chain whose run was opened and not ended, which `verify` calls BROKEN; a crash after leaves everything.
pub(super) fn finish(
    started: Instant,
    folder: &Folder,
    journal: &mut Journal,
    facts: &mut Facts,
    ending: Ending,
) -> Result<(Report, Event), RunError> {
    let mut files = Vec::new();
    let mut signed_files = Object::new();
    let mut add = |name: String, bytes: Vec<u8>| {
        signed_files.set(&name, Digest::of(&bytes));
        files.push((name, bytes));
    };
    for attempt in &facts.attempts {
        if let Some(judgement) = &attempt.judgement {
            let name = format!("{}.json", folder.of_attempt("visible", attempt.number));
            add(name, json_line(&judgement.record));
        }
    }
    if let Some(judgement) = ending.judgement.as_ref().filter(|_| facts.attempts.is_empty()) {
        add(format!("{}.json", folder.of_attempt("visible", 1)), json_line(&judgement.record));
    }
    if let Some(index) = facts.whole_record().and_then(|recorded| recorded.index.as_ref()) {
        // It lies there already, as the proxy wrote it.
        signed_files.set(&index_name(folder.arm), Digest::of(index));
    }
    let wall_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let summary = summary(folder, facts, &ending, wall_ms, signed_files);
    let bytes = json_line(&summary);
    let summary_sha256 = Digest::of(&bytes);
    files.push((format!("run_{}.json", folder.arm), bytes));
    let row = facts.row(&ending);
    files.push((ROWS.to_owned(), json_line(&row)));
    write_together(&folder.run_dir, &files).map_err(|(path, error)| RunError::Io(path, error))?;
    let kind = if ending.stop.is_void() { "run_void" } else { "ws_verdict" };
    journal.append(kind, facts.verdict(&ending, summary_sha256, &row))?;
    let report = report(folder, journal, facts, &ending, summary);
    let ended = Event::run_ended(facts, &ending, &report);
    Ok((report, ended))
}

fn summary(folder: &Folder, facts: &Facts, ending: &Ending, wall_ms: u64, files: Object) -> Value {
    let judgement = ending.judgement.as_deref();
    let last = facts.last();
    let agent = last.and_then(|attempt| attempt.agent.as_ref());
    let triple = ending.stop.triple();
    let verdict = Object::new()
        .with("action", triple.action.word())
        .with("layer", triple.layer)
        .with("reason", triple.reason);
    let plan = &facts.plan;
    let told = Object::new()
        .with("task_id", folder.task_id.as_str())
        .with("arm", folder.arm)
        .with("desk_version", env!("CARGO_PKG_VERSION"))
        // Everything here was seen by this process (determinism specification, section 6).
        .with("evidence_class", "measured")
        .with("measure_source", measure_source(facts))
        .with("measure_ts", crate::store::now_ms())
        .with("accepted", ending.stop.accepted())
        .with("stop_reason", ending.stop.code())
        .with("exit_code", i64::from(exit_code(folder.arm, ending.stop, facts)))
        .with("verdict", verdict)
        .with("infra_void", ending.trouble.as_deref().filter(|_| ending.stop.is_void()))
        .with("trouble", ending.trouble.as_deref())
        .with("workspace", shown(&folder.workspace))
        .with("suite", folder.suite.as_deref().map(shown))
        .with("agent_rc", agent.and_then(|agent| agent.rc))
        .with("agent_timed_out", agent.map(|agent| agent.timed_out))
        .with("agent_wall_ms", agent.map(|agent| agent.wall_ms))
        .with("orphans_killed", agent.and_then(|agent| agent.orphans_killed))
        .with("requests_seen", facts.requests_seen())
        .with("model_wire", facts.recorded.as_ref().map(|recorded| recorded.told.clone()))
        .with("env", last.and_then(|attempt| attempt.env.clone()))
        .with("agent_preset", facts.preset.as_deref())
        .with("ws_start_sha256", facts.start.peer)
        .with("ws_start_sha256_v2", facts.start.v2)
        .with("ws_end_sha256", facts.end().and_then(|end| end.peer))
        .with("ws_end_sha256_v2", facts.end().map(|end| end.v2))
        .with("frozen_sha256_v2", facts.end().map(|end| end.frozen_v2))
        .with("changes", last.and_then(|attempt| attempt.changes.as_ref()).map(listed))
        .with("special_files", last.map(|attempt| attempt.specials.clone()).unwrap_or_default())
        .with("suite_unchanged", last.and_then(|attempt| attempt.suite_unchanged))
        .with("sandbox", facts.sandbox.clone().unwrap_or(Value::Null))
        .with("isolation", judgement.map(|judgement| judgement.isolation))
        .with("cases", cases_word(judgement))
        .with("visible_passed", judgement.and_then(|judgement| judgement.passed))
        .with("visible_total", judgement.and_then(|judgement| judgement.total))
        .with("verdict_sha256", facts.result_sha256(ending))
        .with("reasons", judgement.map(|judgement| judgement.reasons.clone()).unwrap_or_default())
        .with("failures", judgement.map(|judgement| judgement.failures.clone()).unwrap_or_default())
        .with("retry", plan.retry.word())
        .with("max_attempts", i64::from(plan.max_attempts))
        .with("attempts_used", facts.attempts_used())
        .with("feedback_into", plan.into.word())
        .with("attempts", Value::Array(facts.attempts.iter().map(|attempt| told(folder, attempt)).collect()))
        .with("retry_constants", plan.constants())
        .with("run_wall_ms", wall_ms)
        .with("files_sha256", files);
    with_tier(told, facts).into()
}

/// What a run that was to be enclosed says beside that.
fn with_tier(told: Object, facts: &Facts) -> Object {
    let Some(enclosing) = &facts.enclosing else { return told };
    told.with("tier", facts.tier().map(Tier::word))
        .with("tier_required", enclosing.floor.word())
        .with("enclosure", facts.enclosure())
        .with("enclosure_why", facts.why_not_enclosed())
}

/// One attempt in the summary.
fn told(folder: &Folder, attempt: &Attempt) -> Value {
    let agent = attempt.agent.as_ref();
    let judgement = attempt.judgement.as_deref();
    let frozen = folder.of_attempt("_frozen", attempt.number);
    Object::new()
        .with("attempt", i64::from(attempt.number))
        .with("accepted", attempt.stop.accepted())
        .with("stop_reason", attempt.stop.code())
        .with("trouble", attempt.trouble.as_deref())
        .with("argv_sha256", attempt.argv_sha256)
        .with("feedback_in_prompt_bytes", attempt.feedback_in_prompt_bytes)
        .with("ws_start_sha256", attempt.start.peer)
        .with("ws_start_sha256_v2", attempt.start.v2)
        .with("ws_end_sha256", attempt.end.and_then(|end| end.peer))
        .with("ws_end_sha256_v2", attempt.end.map(|end| end.v2))
        .with("frozen", attempt.end.map(|_| frozen))
        .with("agent_rc", agent.and_then(|agent| agent.rc))
        .with("agent_timed_out", agent.map(|agent| agent.timed_out))
        .with("agent_wall_ms", agent.map(|agent| agent.wall_ms))
        .with("orphans_killed", agent.and_then(|agent| agent.orphans_killed))
        .with("visible_passed", judgement.and_then(|judgement| judgement.passed))
        .with("visible_total", judgement.and_then(|judgement| judgement.total))
        .with("verdict_sha256", judgement.and_then(|judgement| judgement.result_sha256))
        .with("failures", judgement.map(|judgement| judgement.failures.clone()).unwrap_or_default())
        .into()
}

/// What an agent that was ended at its limit gives in the arm that is not judged, as the program `timeout` does.
const TIMED_OUT: u8 = 124;

/// Exit code of the run: of the verdict, and in the arm that is not judged the agent's own (10.2).
fn exit_code(arm: &str, stop: StopReason, facts: &Facts) -> u8 {
    if arm == "RUN-ON" || stop.is_void() {
        return stop.exit_code();
    }
    match facts.last().and_then(|attempt| attempt.agent.as_ref()?.rc) {
        Some(code) if code >= 0 => u8::try_from(code & 0xff).unwrap_or(u8::MAX),
        // As a shell says it.
        Some(signal) => u8::try_from(128 - signal).unwrap_or(u8::MAX),
        None => TIMED_OUT,
    }
}

/// What measured: the desk with this suite.
fn measure_source(facts: &Facts) -> String {
    match facts.suite_sha256() {
        Some(digest) => format!("touchstone run, suite sha256:{digest}"),
        None => "touchstone run, no suite".to_owned(),
    }
}

fn shown(path: &std::path::Path) -> String {
    canon::shown(path.as_os_str().as_encoded_bytes())
}

fn listed(changes: &Changes) -> Value {
    let paths = |paths: &[Vec<u8>]| -> Vec<String> {
        paths.iter().take(PATHS_MAX).map(|path| canon::shown(path)).collect()
    };
    Object::new()
        .with("added_n", changes.added.len() as u64)
        .with("removed_n", changes.removed.len() as u64)
        .with("changed_n", changes.changed.len() as u64)
        .with("in_cache_directories_n", changes.in_excluded_n)
        .with("added", paths(&changes.added))
        .with("removed", paths(&changes.removed))
        .with("changed", paths(&changes.changed))
        .into()
}

fn report(folder: &Folder, journal: &Journal, facts: &Facts, ending: &Ending, summary: Value) -> Report {
    let why = facts.sandbox.as_ref().and_then(|sandbox| sandbox.get("why_not_full"));
    let last = facts.last();
    let agent = last.and_then(|attempt| attempt.agent.as_ref());
    Report {
        stop: ending.stop,
        exit_code: exit_code(folder.arm, ending.stop, facts),
        task_id: folder.task_id.clone(),
        run_dir: folder.run_dir.clone(),
        judgement: ending.judgement.clone(),
        trouble: ending.trouble.clone(),
        attempts_used: facts.attempts_used(),
        max_attempts: facts.plan.max_attempts,
        calls: match (&facts.recorded, facts.whole_record()) {
            (None, _) => Calls::NotRecorded,
            (Some(_), None) => Calls::RecordChanged,
            (_, Some(recorded)) => Calls::Counted(recorded.counts.clone()),
        },
        agent_rc: agent.and_then(|agent| agent.rc),
        agent_timed_out: agent.is_some_and(|agent| agent.timed_out),
        ws_start_sha256_v2: facts.start.v2,
        ws_end_sha256_v2: facts.end().map(|end| end.v2),
        changes: last.and_then(|attempt| attempt.changes.clone()),
        sandbox_level: facts.sandbox_level,
        why_not_full: why.and_then(Value::as_str).map(str::to_owned),
        tier: facts.tier().map(|tier| (tier.word(), facts.why_not_enclosed().map(str::to_owned))),
        head: journal.head(),
        entries_n: journal.entries_n(),
        summary,
        vacant_id: journal.vacant_id(),
    }
}

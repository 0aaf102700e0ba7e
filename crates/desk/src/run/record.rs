//! Ending a run: the files of the run directory, then the entry that closes the chain.

use super::folder::Folder;
use super::payload::{Facts, cases_word};
use super::{ARM, Attempt, Options, RunError};
use crate::gate::Judgement;
use crate::store::{ChainFile, json_line, write_together};
use crate::workspace::Changes;
use canon::{Digest, Object, Value};
use std::path::PathBuf;
use std::time::Instant;
use verdict::StopReason;

/// What the user is told.
#[derive(Clone, Debug)]
pub struct Report {
    /// How the run ended.
    pub stop: StopReason,
    /// The task.
    pub task_id: String,
    /// Where the receipts lie.
    pub run_dir: PathBuf,
    /// The judgement, where checks ran.
    pub judgement: Option<Box<Judgement>>,
    /// What was in the way.
    pub trouble: Option<String>,
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
    /// Head of the chain.
    pub head: Digest,
    /// Entries on the chain.
    pub entries_n: u64,
    /// The summary, as written to `run_<ARM>.json`.
    pub summary: Value,
    /// Id of the key of the run.
    pub vacant_id: String,
}

impl Report {
    /// The summary and what only the ended chain knows: where it lies, its head, its length, its key. For machines.
    pub fn answer(&self) -> Value {
        let summary = self.summary.as_object().cloned().unwrap_or_default();
        summary
            .with("run_dir", shown(&self.run_dir))
            .with("head", self.head)
            .with("entries_n", self.entries_n)
            .with("vacant_id", self.vacant_id.as_str())
            .into()
    }
}

/// Most paths that the summary lists of one kind.
const PATHS_MAX: usize = 1000;

/// Writes `visible`, summary and row, then signs the end.
///
/// The commit point: the run has ended when the line of its `ws_verdict` or `run_void` is on disk. A crash before
/// leaves a chain whose run was opened and not ended, which `verify` calls BROKEN; a crash after leaves everything.
pub(super) fn finish(
    started: Instant,
    folder: &Folder,
    chain: &mut ChainFile,
    facts: &mut Facts,
    attempt: Attempt,
) -> Result<Report, RunError> {
    let mut files = Vec::new();
    let mut signed_files = Object::new();
    if let Some(judgement) = &attempt.judgement {
        let (name, bytes) = (format!("visible_{ARM}.json"), json_line(&judgement.record));
        signed_files.set(&name, Digest::of(&bytes));
        files.push((name, bytes));
    }
    let wall_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let summary = summary(folder, facts, &attempt, wall_ms, signed_files);
    let bytes = json_line(&summary);
    let summary_sha256 = Digest::of(&bytes);
    files.push((format!("run_{ARM}.json"), bytes));
    let row = facts.row(&attempt);
    files.push(("rows.jsonl".to_owned(), json_line(&row)));
    write_together(&folder.run_dir, &files).map_err(|(path, error)| RunError::Io(path, error))?;
    let kind = if attempt.stop.is_void() { "run_void" } else { "ws_verdict" };
    chain.append(kind, facts.verdict(&attempt, summary_sha256, &row))?;
    Ok(report(folder, chain, facts, attempt, summary))
}

fn summary(folder: &Folder, facts: &Facts, attempt: &Attempt, wall_ms: u64, files: Object) -> Value {
    let judgement = attempt.judgement.as_deref();
    let agent = facts.agent.as_ref();
    let triple = attempt.stop.triple();
    let verdict = Object::new()
        .with("action", triple.action.word())
        .with("layer", triple.layer)
        .with("reason", triple.reason);
    Object::new()
        .with("task_id", folder.task_id.as_str())
        .with("arm", ARM)
        .with("desk_version", env!("CARGO_PKG_VERSION"))
        // Everything here was seen by this process (determinism specification, section 6).
        .with("evidence_class", "measured")
        .with("measure_source", measure_source(facts))
        .with("measure_ts", crate::store::now_ms())
        .with("accepted", attempt.stop.accepted())
        .with("stop_reason", attempt.stop.code())
        .with("exit_code", i64::from(attempt.stop.exit_code()))
        .with("verdict", verdict)
        .with("infra_void", attempt.trouble.as_deref().filter(|_| attempt.stop.is_void()))
        .with("trouble", attempt.trouble.as_deref())
        .with("workspace", shown(&folder.workspace))
        .with("suite", folder.suite.as_deref().map(shown))
        .with("agent_rc", agent.and_then(|agent| agent.rc))
        .with("agent_timed_out", agent.map(|agent| agent.timed_out))
        .with("agent_wall_ms", agent.map(|agent| agent.wall_ms))
        .with("orphans_killed", agent.and_then(|agent| agent.orphans_killed))
        .with("requests_seen", Value::Null)
        .with("ws_start_sha256", facts.start.peer)
        .with("ws_start_sha256_v2", facts.start.v2)
        .with("ws_end_sha256", facts.end.and_then(|end| end.peer))
        .with("ws_end_sha256_v2", facts.end.map(|end| end.v2))
        .with("frozen_sha256_v2", facts.end.map(|end| end.frozen_v2))
        .with("changes", facts.changes.as_ref().map(listed))
        .with("special_files", facts.specials.clone())
        .with("suite_unchanged", facts.suite_unchanged)
        .with("sandbox", facts.sandbox.clone().unwrap_or(Value::Null))
        .with("isolation", judgement.map(|judgement| judgement.isolation))
        .with("cases", cases_word(attempt))
        .with("visible_passed", judgement.and_then(|judgement| judgement.passed))
        .with("visible_total", judgement.and_then(|judgement| judgement.total))
        .with("verdict_sha256", facts.result_sha256)
        .with("reasons", judgement.map(|judgement| judgement.reasons.clone()).unwrap_or_default())
        .with("failures", judgement.map(|judgement| judgement.failures.clone()).unwrap_or_default())
        .with("run_wall_ms", wall_ms)
        .with("files_sha256", files)
        .into()
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

fn report(folder: &Folder, chain: &ChainFile, facts: &mut Facts, attempt: Attempt, summary: Value) -> Report {
    let why = facts.sandbox.as_ref().and_then(|sandbox| sandbox.get("why_not_full"));
    Report {
        stop: attempt.stop,
        task_id: folder.task_id.clone(),
        run_dir: folder.run_dir.clone(),
        judgement: attempt.judgement,
        trouble: attempt.trouble,
        agent_rc: facts.agent.as_ref().and_then(|agent| agent.rc),
        agent_timed_out: facts.agent.as_ref().is_some_and(|agent| agent.timed_out),
        ws_start_sha256_v2: facts.start.v2,
        ws_end_sha256_v2: facts.end.map(|end| end.v2),
        changes: facts.changes.take(),
        sandbox_level: facts.sandbox_level,
        why_not_full: why.and_then(Value::as_str).map(str::to_owned),
        head: chain.head(),
        entries_n: chain.len(),
        summary,
        vacant_id: chain.public().id().to_string(),
    }
}

impl Options {
    /// The usual settings for `command` in `workspace`.
    pub fn new(workspace: PathBuf, command: Vec<std::ffi::OsString>) -> Options {
        Options {
            workspace,
            run_dir: None,
            suite: None,
            allow_no_suite: false,
            task_id: None,
            timeout_ms: None,
            test_timeout_ms: 10_000,
            inherit_stdin: false,
            capture_stdout: false,
            sandbox: crate::sandbox::Choice::Auto,
            floor: None,
            discard_frozen: false,
            interrupted: Default::default(),
            command,
        }
    }
}

//! What the entries of a run say (desk specification 12.2, rulings 6 and 27). Member names are the peer's where it
//! has them; ours stand beside them. Integers, strings, booleans and null only.

use super::agent::Outcome;
use super::folder::Folder;
use super::{ARM, Attempt, Options};
use crate::gate::{StoredSuite, SuiteKind};
use crate::sandbox::{Choice, Sandbox};
use crate::workspace::{Changes, Excluded, Scan, hash_v2, peer_manifest};
use canon::{Digest, Object, Value, canonical_digest};
use std::os::unix::ffi::OsStrExt as _;

/// Both hashes of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashes {
    /// Nothing where the peer cannot represent the tree.
    pub(super) peer: Option<Digest>,
    pub(super) v2: Digest,
    pub(super) frozen_v2: Digest,
}

impl Hashes {
    pub(super) fn of(scan: &Scan) -> Hashes {
        Hashes {
            peer: peer_manifest(scan).map(|manifest| manifest.ws_sha256),
            v2: hash_v2(scan, Excluded::Nothing),
            frozen_v2: hash_v2(scan, Excluded::CacheDirectories),
        }
    }
}

/// Everything that is known about the run so far.
#[derive(Debug)]
pub(super) struct Facts {
    task_id: String,
    argv_sha256: Digest,
    suite_sha256: Option<Digest>,
    suite_tree_sha256: Option<Digest>,
    suite_kind: &'static str,
    sandbox_requested: &'static str,
    sandbox_required: Option<&'static str>,
    pub(super) start: Hashes,
    pub(super) end: Option<Hashes>,
    pub(super) changes: Option<Changes>,
    pub(super) specials: Vec<String>,
    pub(super) sandbox: Option<Value>,
    pub(super) sandbox_level: Option<&'static str>,
    pub(super) agent: Option<Outcome>,
    pub(super) suite_unchanged: Option<bool>,
    pub(super) result_sha256: Option<Digest>,
}

impl Facts {
    pub(super) fn opening(
        options: &Options,
        folder: &Folder,
        suite: Option<&StoredSuite>,
        before: &Scan,
    ) -> Facts {
        // 2.2: the arguments joined by one zero byte each.
        let argv: Vec<&[u8]> = options.command.iter().map(|word| word.as_bytes()).collect();
        Facts {
            task_id: folder.task_id.clone(),
            argv_sha256: Digest::of(&argv.join(&0)),
            suite_sha256: suite.map(StoredSuite::sha256),
            suite_tree_sha256: suite.map(StoredSuite::tree_sha256),
            suite_kind: match suite.map(StoredSuite::kind) {
                None => "none",
                Some(SuiteKind::Nothing) => "empty",
                Some(SuiteKind::Python(_)) => "python",
                Some(SuiteKind::Commands { .. }) => "commands",
            },
            sandbox_requested: if options.sandbox == Choice::None { "none" } else { "auto" },
            sandbox_required: options.floor.map(|floor| floor.code()),
            start: Hashes::of(before),
            end: None,
            changes: None,
            specials: Vec::new(),
            sandbox: None,
            sandbox_level: None,
            agent: None,
            suite_unchanged: None,
            result_sha256: None,
        }
    }

    pub(super) fn confined(&mut self, sandbox: Option<&Sandbox>) {
        let Some(sandbox) = sandbox else { return };
        self.sandbox_level = Some(sandbox.level().code());
        let mut answers = Object::new();
        for (probe, answer) in sandbox.measured().answers() {
            answers.set(probe.code(), answer.code());
        }
        self.sandbox = Some(
            Object::new()
                .with("level", sandbox.level().code())
                .with("measured", answers)
                .with("why_not_full", sandbox.not_full().map(ToString::to_string))
                .into(),
        );
    }

    pub(super) fn froze(&mut self, live: &Scan, changes: Changes) {
        self.end = Some(Hashes::of(live));
        self.specials =
            live.specials().map(|(path, what)| format!("{what} {}", canon::shown(path))).take(64).collect();
        self.changes = Some(changes);
    }

    pub(super) fn judged(&mut self, attempt: &Attempt) {
        self.result_sha256 = attempt.judgement.as_ref().and_then(|judgement| judgement.result_sha256);
    }

    /// Digest of the suite, where there is one.
    pub(super) fn suite_sha256(&self) -> Option<Digest> {
        self.suite_sha256
    }

    fn base(&self) -> Object {
        Object::new().with("task_id", self.task_id.as_str()).with("arm", ARM).with("run", "touchstone-run")
    }

    /// `run_start`: what is fixed before the agent runs.
    pub(super) fn start(&self) -> Value {
        self.base()
            .with("v", 1_i64)
            .with("desk_version", env!("CARGO_PKG_VERSION"))
            .with("argv_sha256", self.argv_sha256)
            .with("ws_start_sha256", self.start.peer)
            .with("ws_start_sha256_v2", self.start.v2)
            .with("suite_kind", self.suite_kind)
            .with("suite_sha256", self.suite_sha256)
            .with("suite_tree_sha256", self.suite_tree_sha256)
            .with("sandbox_requested", self.sandbox_requested)
            .with("sandbox_required", self.sandbox_required)
            .into()
    }

    /// What attempt and verdict say about traffic: nothing was measured, and null says so.
    fn traffic(object: Object) -> Object {
        object
            .with("conversation_sha256", Value::Null)
            .with("conversation_digest_kind", "not_measured")
            .with("requests_seen", Value::Null)
    }

    fn rc(&self) -> Value {
        self.agent.as_ref().and_then(|agent| agent.rc).into()
    }

    /// `ws_attempt`: signed whatever the outcome.
    pub(super) fn attempt(&self, attempt: &Attempt) -> Value {
        let judgement = attempt.judgement.as_deref();
        let agent = self.agent.as_ref();
        Facts::traffic(self.base())
            .with("attempt", 1_i64)
            .with("gate_round", 1_i64)
            .with("retry", "none")
            .with("max_attempts", 1_i64)
            .with("feedback_delivery", "file")
            .with("accepted", attempt.stop.accepted())
            .with("stop_reason", attempt.stop.code())
            .with("argv_sha256", self.argv_sha256)
            .with("ws_start_sha256", self.start.peer)
            .with("ws_sha256", self.end.and_then(|end| end.peer))
            .with("ws_sha256_v2", self.end.map(|end| end.v2))
            .with("frozen_sha256_v2", self.end.map(|end| end.frozen_v2))
            .with("frozen_excluded", Excluded::CacheDirectories.names().to_vec())
            .with("ws_changed", self.end.map(|end| end.v2 != self.start.v2))
            .with("agent_rc", self.rc())
            .with("agent_timed_out", agent.map(|agent| agent.timed_out))
            .with("orphans_killed", agent.and_then(|agent| agent.orphans_killed))
            .with("suite_sha256", self.suite_sha256)
            .with("suite_tree_sha256", self.suite_tree_sha256)
            .with("suite_unchanged", self.suite_unchanged)
            .with("isolation", judgement.map(|judgement| judgement.isolation))
            .with("sandbox_level", self.sandbox_level)
            .with("sandbox", self.sandbox.clone().unwrap_or(Value::Null))
            .with("checks_passed", judgement.and_then(|judgement| judgement.passed))
            .with("checks_total", judgement.and_then(|judgement| judgement.total))
            .with("cases", cases_word(attempt))
            .with("verdict_sha256", self.result_sha256)
            .into()
    }

    /// `ws_verdict`, or `run_void` for a run that proves nothing.
    pub(super) fn verdict(&self, attempt: &Attempt, summary_sha256: Digest, row: &Value) -> Value {
        let accepted = attempt.stop.accepted();
        let void = attempt.stop.is_void();
        let mut verdict = Facts::traffic(self.base())
            .with("stop_reason", attempt.stop.code())
            .with("ws_start_sha256", self.start.peer)
            .with("ws_end_sha256", self.end.and_then(|end| end.peer))
            .with("ws_end_sha256_v2", self.end.map(|end| end.v2))
            .with("verdict_sha256", self.result_sha256)
            .with("agent_rc", self.rc())
            .with("retry", "none")
            .with("attempts_used", self.attempts_used())
            .with("max_attempts", 1_i64)
            .with("sandbox_level", self.sandbox_level)
            .with("summary_sha256", summary_sha256)
            .with("row_sha256", canonical_digest(row))
            .with("tier", Value::Null);
        if !void {
            // The peer's shape: `accepted` itself is false where nothing was judged.
            verdict.set("accepted", accepted == Some(true));
            verdict.set("accepted_is_null", accepted.is_none());
        }
        verdict.into()
    }

    /// The unsigned row (12.1); `verify` compares it with the signed verdict member by member.
    pub(super) fn row(&self, attempt: &Attempt) -> Value {
        let accepted = attempt.stop.accepted();
        let void = attempt.stop.is_void();
        let trouble = attempt.trouble.clone().unwrap_or_else(|| attempt.stop.code().to_owned());
        Object::new()
            .with("task_id", self.task_id.as_str())
            .with("arm", ARM)
            .with("vacant", 1_i64)
            .with("ws_start_sha256", self.start.peer)
            .with("ws_end_sha256", self.end.and_then(|end| end.peer))
            .with("agent_rc", self.rc())
            .with("requests_seen", Value::Null)
            .with("accepted", accepted)
            .with("refused", if void { None } else { Some(accepted == Some(false)) })
            .with("stop_reason", attempt.stop.code())
            .with("infra_void", void.then_some(trouble))
            .with("retry", "none")
            .with("attempts_used", self.attempts_used())
            .with("max_attempts", 1_i64)
            .with("feedback_into", "file")
            .into()
    }

    fn attempts_used(&self) -> i64 {
        i64::from(self.agent.is_some())
    }
}

/// "Not measured" and "passed" are different words (P4).
pub(super) fn cases_word(attempt: &Attempt) -> &'static str {
    match &attempt.judgement {
        Some(judgement) if judgement.total.is_some() => "measured",
        _ => "not_measured",
    }
}

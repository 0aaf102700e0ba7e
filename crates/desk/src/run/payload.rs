//! What the entries of a run say (desk specification 12.2, rulings 6 and 27). Member names are the peer's where it
//! has them; ours stand beside them. Integers, strings, booleans and null only.

use super::attempt::Attempt;
use super::channel::{Recorded, semantics};
use super::enclose::Enclosing;
use super::folder::Folder;
use super::options::Options;
use super::retry::Plan;
use crate::gate::{Judgement, StoredSuite, SuiteKind};
use crate::sandbox::enclosure::Enclosure;
use crate::sandbox::{Choice, Sandbox};
use crate::workspace::{Excluded, Scan, hash_v2, peer_manifest};
use canon::{Digest, Object, Value, canonical_digest};
use ledger::receipts::tier::Tier;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use verdict::StopReason;

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

/// 2.2: the arguments joined by one zero byte each.
pub(super) fn argv_sha256(command: &[OsString]) -> Digest {
    let words: Vec<&[u8]> = command.iter().map(|word| word.as_bytes()).collect();
    Digest::of(&words.join(&0))
}

/// How a run came out.
pub(super) struct Ending {
    pub(super) stop: StopReason,
    /// For people: what was in the way.
    pub(super) trouble: Option<String>,
    /// Of the last attempt, or what keeps the suite from being run at all.
    pub(super) judgement: Option<Box<Judgement>>,
}

impl Ending {
    pub(super) fn of(stop: StopReason, trouble: impl Into<String>) -> Ending {
        Ending { stop, trouble: Some(trouble.into()), judgement: None }
    }
}

/// Everything that is known about the run so far.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) task_id: String,
    pub(super) arm: &'static str,
    pub(super) plan: Plan,
    argv_sha256: Digest,
    suite_sha256: Option<Digest>,
    suite_tree_sha256: Option<Digest>,
    suite_kind: &'static str,
    sandbox_requested: &'static str,
    sandbox_required: Option<&'static str>,
    pub(super) start: Hashes,
    pub(super) sandbox: Option<Value>,
    pub(super) sandbox_level: Option<&'static str>,
    pub(super) attempts: Vec<Attempt>,
    /// The preset of the agent.
    pub(super) preset: Option<String>,
    /// How the agent is enclosed; nothing where nobody asked for it.
    pub(super) enclosing: Option<Enclosing>,
    /// What the proxy left; nothing when calls were not recorded.
    pub(super) recorded: Option<Recorded>,
}

impl Facts {
    pub(super) fn opening(
        options: &Options,
        folder: &Folder,
        (suite, plan): (Option<&StoredSuite>, Plan),
        before: &Scan,
    ) -> Facts {
        Facts {
            task_id: folder.task_id.clone(),
            arm: folder.arm,
            plan,
            // As typed: the placeholder of the feedback included.
            argv_sha256: argv_sha256(&options.command),
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
            sandbox: None,
            sandbox_level: None,
            attempts: Vec::new(),
            preset: options.agent.as_ref().map(|preset| preset.name.clone()),
            enclosing: None,
            recorded: None,
        }
    }

    /// The tier of the run: the least of its attempts; nothing where nobody asked for an enclosure (31.20).
    pub(super) fn tier(&self) -> Option<Tier> {
        self.enclosing.as_ref()?;
        let tiers =
            self.attempts.iter().map(|attempt| self.enclosure_of(attempt).map_or(Tier::C, |e| e.tier));
        Some(tiers.min().unwrap_or(Tier::C))
    }

    /// Why the tier is not B.
    pub(super) fn why_not_enclosed(&self) -> Option<&str> {
        let enclosing = self.enclosing.as_ref()?;
        let of_attempts = || self.attempts.iter().filter_map(|attempt| self.enclosure_of(attempt));
        enclosing.gave_up.as_deref().or_else(|| of_attempts().find_map(|found| found.why.as_deref()))
    }

    fn enclosure_of<'a>(&self, attempt: &'a Attempt) -> Option<&'a Enclosure> {
        attempt.agent.as_ref()?.enclosure.as_ref()
    }

    /// The last measurement, as it is signed.
    pub(super) fn enclosure(&self) -> Option<Value> {
        self.last().and_then(|attempt| self.enclosure_of(attempt)).map(|found| found.value.clone())
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

    /// Digest of the suite, where there is one.
    pub(super) fn suite_sha256(&self) -> Option<Digest> {
        self.suite_sha256
    }

    pub(super) fn last(&self) -> Option<&Attempt> {
        self.attempts.last()
    }

    /// The last tree that was frozen.
    pub(super) fn end(&self) -> Option<Hashes> {
        self.last().and_then(|attempt| attempt.end)
    }

    /// Digest of the result of the last attempt's checks.
    pub(super) fn result_sha256(&self, ending: &Ending) -> Option<Digest> {
        ending.judgement.as_ref().and_then(|judgement| judgement.result_sha256)
    }

    fn base(&self) -> Object {
        let base = Object::new().with("task_id", self.task_id.as_str()).with("arm", self.arm);
        base.with("run", "touchstone-run")
    }

    /// `run_start`: what is fixed before the agent runs.
    pub(super) fn start(&self) -> Value {
        let start = self
            .base()
            .with("v", 1_i64)
            .with("desk_version", env!("CARGO_PKG_VERSION"))
            .with("argv_sha256", self.argv_sha256)
            .with("retry", self.plan.retry.word())
            .with("max_attempts", i64::from(self.plan.max_attempts))
            .with("feedback_into", self.plan.into.word())
            .with("ws_start_sha256", self.start.peer)
            .with("ws_start_sha256_v2", self.start.v2)
            .with("suite_kind", self.suite_kind)
            .with("suite_sha256", self.suite_sha256)
            .with("suite_tree_sha256", self.suite_tree_sha256)
            .with("sandbox_requested", self.sandbox_requested)
            .with("sandbox_required", self.sandbox_required);
        match &self.enclosing {
            Some(enclosing) => {
                start.with("enclose", true).with("tier_required", enclosing.floor.word()).into()
            }
            None => start.into(),
        }
    }

    /// What attempt and verdict say about traffic: the digest of the index so far and a number of calls; null where
    /// nothing was measured.
    fn traffic(object: Object, seen: Option<(Digest, u64)>) -> Object {
        object
            .with("conversation_sha256", seen.map(|(digest, _)| digest))
            .with("conversation_digest_kind", if seen.is_some() { "wire_bytes" } else { "not_measured" })
            .with("requests_seen", seen.map(|(_, requests)| requests))
    }

    /// What the proxy left; nothing when calls were not recorded, or when somebody else wrote into the record.
    pub(super) fn whole_record(&self) -> Option<&Recorded> {
        self.recorded.as_ref().filter(|recorded| recorded.index.is_some())
    }

    /// Calls of the whole run; nothing as above.
    pub(super) fn requests_seen(&self) -> Option<u64> {
        self.whole_record().map(|recorded| recorded.counts.requests_seen())
    }

    fn rc(&self) -> Option<i64> {
        self.last().and_then(|attempt| attempt.agent.as_ref()?.rc)
    }

    /// `ws_attempt`: signed whatever the outcome.
    pub(super) fn attempt(&self, attempt: &Attempt) -> Value {
        let judgement = attempt.judgement.as_deref();
        let agent = attempt.agent.as_ref();
        let seen = attempt.traffic.map(|traffic| (traffic.digest, traffic.requests_seen));
        let signed = Facts::traffic(self.base(), seen)
            .with("wire_quiesced", attempt.traffic.map(|traffic| traffic.quiesced))
            .with("attempt", i64::from(attempt.number))
            .with("gate_round", i64::from(attempt.number))
            .with("retry", self.plan.retry.word())
            .with("max_attempts", i64::from(self.plan.max_attempts))
            .with("feedback_delivery", self.plan.into.word())
            .with("feedback_in_prompt_bytes", attempt.feedback_in_prompt_bytes)
            .with("accepted", attempt.stop.accepted())
            .with("stop_reason", attempt.stop.code())
            .with("argv_sha256", attempt.argv_sha256)
            .with("ws_start_sha256", attempt.start.peer)
            .with("ws_start_sha256_v2", attempt.start.v2)
            .with("ws_sha256", attempt.end.and_then(|end| end.peer))
            .with("ws_sha256_v2", attempt.end.map(|end| end.v2))
            .with("frozen_sha256_v2", attempt.end.map(|end| end.frozen_v2))
            .with("frozen_excluded", Excluded::CacheDirectories.names().to_vec())
            .with("ws_changed", attempt.end.map(|end| end.v2 != attempt.start.v2))
            .with("agent_rc", agent.and_then(|agent| agent.rc))
            .with("agent_timed_out", agent.map(|agent| agent.timed_out))
            .with("orphans_killed", agent.and_then(|agent| agent.orphans_killed))
            .with("suite_sha256", self.suite_sha256)
            .with("suite_tree_sha256", self.suite_tree_sha256)
            .with("suite_unchanged", attempt.suite_unchanged)
            .with("isolation", judgement.map(|judgement| judgement.isolation))
            .with("sandbox_level", self.sandbox_level)
            .with("sandbox", self.sandbox.clone().unwrap_or(Value::Null))
            .with("checks_passed", judgement.and_then(|judgement| judgement.passed))
            .with("checks_total", judgement.and_then(|judgement| judgement.total))
            .with("cases", cases_word(judgement))
            .with("verdict_sha256", judgement.and_then(|judgement| judgement.result_sha256));
        if self.enclosing.is_none() {
            return signed.into();
        }
        let found = self.enclosure_of(attempt);
        signed
            .with("tier", found.map_or(Tier::C, |found| found.tier).word())
            .with("enclosure", found.map(|found| found.value.clone()))
            .into()
    }

    /// `ws_verdict`, or `run_void` for a run that proves nothing.
    pub(super) fn verdict(&self, ending: &Ending, summary_sha256: Digest, row: &Value) -> Value {
        let accepted = ending.stop.accepted();
        let void = ending.stop.is_void();
        let recorded = self.whole_record();
        let seen = recorded.map(|recorded| (recorded.digest, recorded.counts.requests_seen()));
        let mut verdict = Facts::traffic(self.base(), seen)
            .with("wire_quiesced", recorded.map(|recorded| recorded.quiesced))
            .with("wire_count_semantics", recorded.map(|recorded| semantics(recorded.exact)))
            .with("stop_reason", ending.stop.code())
            .with("ws_start_sha256", self.start.peer)
            .with("ws_end_sha256", self.end().and_then(|end| end.peer))
            .with("ws_end_sha256_v2", self.end().map(|end| end.v2))
            .with("verdict_sha256", self.result_sha256(ending))
            .with("agent_rc", self.rc())
            .with("retry", self.plan.retry.word())
            .with("attempts_used", self.attempts_used())
            .with("max_attempts", i64::from(self.plan.max_attempts))
            .with("sandbox_level", self.sandbox_level)
            .with("summary_sha256", summary_sha256)
            .with("row_sha256", canonical_digest(row))
            .with("tier", self.tier().map(Tier::word));
        if let Some(tier) = self.tier() {
            let enclosure = self.enclosure();
            // The peer's names; no hook of ours fires, so what it would say is not measured.
            verdict.set("enclosure_applied", tier >= Tier::B);
            verdict.set("attested", tier == Tier::A);
            verdict.set("canary_fired", Value::Null);
            verdict.set("unexplained", Value::Null);
            verdict.set("attestation_sha256", enclosure.as_ref().map(canonical_digest));
            verdict.set("enclosure_why", self.why_not_enclosed());
            verdict.set("enclosure", enclosure.unwrap_or(Value::Null));
        }
        if !void {
            // The peer's shape: `accepted` itself is false where nothing was judged.
            verdict.set("accepted", accepted == Some(true));
            verdict.set("accepted_is_null", accepted.is_none());
        }
        verdict.into()
    }

    /// The unsigned row (12.1); `verify` compares it with the signed verdict member by member.
    pub(super) fn row(&self, ending: &Ending) -> Value {
        let accepted = ending.stop.accepted();
        let void = ending.stop.is_void();
        let trouble = ending.trouble.clone().unwrap_or_else(|| ending.stop.code().to_owned());
        Object::new()
            .with("task_id", self.task_id.as_str())
            .with("arm", self.arm)
            .with("vacant", i64::from(self.arm == "RUN-ON"))
            .with("ws_start_sha256", self.start.peer)
            .with("ws_end_sha256", self.end().and_then(|end| end.peer))
            .with("agent_rc", self.rc())
            .with("requests_seen", self.requests_seen())
            .with("accepted", accepted)
            .with("refused", if void { None } else { Some(accepted == Some(false)) })
            .with("stop_reason", ending.stop.code())
            .with("infra_void", void.then_some(trouble))
            .with("retry", self.plan.retry.word())
            .with("attempts_used", self.attempts_used())
            .with("max_attempts", i64::from(self.plan.max_attempts))
            .with("feedback_into", self.plan.into.word())
            .into()
    }

    pub(super) fn attempts_used(&self) -> i64 {
        self.attempts.iter().filter(|attempt| attempt.agent.is_some()).count() as i64
    }
}

/// "Not measured" and "passed" are different words (P4).
pub(super) fn cases_word(judgement: Option<&Judgement>) -> &'static str {
    match judgement {
        Some(judgement) if judgement.total.is_some() => "measured",
        _ => "not_measured",
    }
}

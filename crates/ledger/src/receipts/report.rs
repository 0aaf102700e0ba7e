//! The answers of `verify` and their JSON form. Member names follow the peer's report where it has them.

use super::wire::Calls;
use crate::{Failure, Warning};
use canon::{Digest, Object, Value};
use std::collections::BTreeMap;

/// The answer for one chain, or for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Everything that could be checked holds.
    Ok,
    /// The chain holds, but the run is void: it proves nothing about the delivery.
    Void,
    /// There was nothing to check it against.
    Unverifiable,
    /// Something does not hold.
    Broken,
}

impl Verdict {
    /// The word on screen and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "OK",
            Verdict::Void => "VOID",
            Verdict::Unverifiable => "UNVERIFIABLE",
            Verdict::Broken => "BROKEN",
        }
    }

    /// Exit code of `verify` (ruling 7).
    pub fn exit_code(self) -> u8 {
        match self {
            Verdict::Ok => 0,
            Verdict::Void => 3,
            Verdict::Unverifiable | Verdict::Broken => 1,
        }
    }
}

/// Whether the end of the chain is known from outside (31.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// Nothing from outside was given: a chain that was cut at its tail looks the same.
    NotAnchored,
    /// The chain reaches the head or count known from outside.
    Anchored,
    /// It does not.
    Contradicted,
}

impl Completeness {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Completeness::NotAnchored => "not_anchored",
            Completeness::Anchored => "anchored",
            Completeness::Contradicted => "contradicted",
        }
    }
}

/// How one task of a chain ended.
#[derive(Clone, Debug)]
pub struct TaskEnd {
    /// The task.
    pub task_id: String,
    /// Accepted, refused, or not judged.
    pub accepted: Option<bool>,
    /// The closed reason.
    pub stop_reason: String,
    /// The run is void.
    pub void: bool,
}

/// The answer for one chain.
#[derive(Clone, Debug)]
pub struct ChainReport {
    /// Arm, from the file name.
    pub arm: String,
    /// OK, VOID, BROKEN or UNVERIFIABLE.
    pub verdict: Verdict,
    /// Every failure with its place.
    pub failures: Vec<Failure>,
    /// Warnings by line number.
    pub warnings: Vec<(usize, Warning)>,
    /// Arms that occur in rows and have no chain.
    pub arms_without_receipts: Vec<String>,
    /// Whether the end of the chain is anchored outside.
    pub completeness: Completeness,
    /// Whether the key was compared with a pinned one.
    pub pinned: bool,
    /// Id derived from the key beside the chain.
    pub vacant_id: Option<String>,
    /// What the chain itself says; nothing when it could not be looked at.
    pub chain: Option<ChainFacts>,
}

/// What a readable chain says.
#[derive(Clone, Debug, Default)]
pub struct ChainFacts {
    /// Entries read.
    pub entries_n: usize,
    /// Distinct entries that fail.
    pub failed_n: usize,
    /// No failure in the chain itself.
    pub chain_ok: bool,
    /// The independent boolean of 4.2.
    pub verify_chain: bool,
    /// Hash of the first entry.
    pub stream_id: Option<Digest>,
    /// Hash of the last entry.
    pub head: Option<Digest>,
    /// Entries by type.
    pub type_counts: BTreeMap<String, usize>,
    /// Rows of this arm.
    pub rows_n: usize,
    /// Verdict entries.
    pub verdict_n: usize,
    /// Attempt entries.
    pub attempt_n: usize,
    /// Verdicts that declare a count of requests.
    pub with_requests_n: usize,
    /// Sum of the declared counts.
    pub requests_total: i64,
    /// The model channel was used; nothing when not measured.
    pub mediated: Option<bool>,
    /// Calls by class; nothing without an index.
    pub calls: Option<Calls>,
    /// Requests were counted, and the index that says what they were is gone.
    pub uncounted: bool,
    /// Why the chain is void.
    pub void_reason: Option<String>,
    /// Tasks whose verdict saw no request.
    pub unmediated_task_ids: Vec<String>,
    /// Tasks where nobody measured anything.
    pub ungated_task_ids: Vec<String>,
    /// Tasks whose declared tier is not A.
    pub unattested_task_ids: Vec<String>,
    /// Declared tiers.
    pub tiers: BTreeMap<String, usize>,
    /// All tiers are A; nothing when none is declared.
    pub attested: Option<bool>,
    /// Every declared tier follows from probes signed with it (31.20). Not printed.
    pub tier_inside: bool,
    /// The single tier, or `mixed`.
    pub tier: Option<String>,
    /// How each task ended.
    pub ends: Vec<TaskEnd>,
}

impl ChainReport {
    /// The JSON form.
    pub fn to_value(&self) -> Value {
        let mut object = Object::new().with("arm", self.arm.as_str());
        if let Some(facts) = &self.chain {
            facts.write(&mut object);
        }
        let warnings = self.warnings.iter().map(|(line, warning)| {
            Value::from(Object::new().with("line", *line as u64).with("warning", warning.code()))
        });
        object
            .with("vacant_id", self.vacant_id.as_deref())
            .with("pinned", self.pinned)
            .with("completeness", self.completeness.word())
            .with("arms_without_receipts", texts(&self.arms_without_receipts))
            .with("verdict", self.verdict.word())
            .with("failures", Value::Array(self.failures.iter().map(Failure::to_value).collect()))
            .with("warnings", Value::Array(warnings.collect()))
            .into()
    }
}

impl ChainFacts {
    fn write(&self, object: &mut Object) {
        let count = |value: usize| value as u64;
        object.set("entries_n", count(self.entries_n));
        object.set("verified_n", count(self.entries_n.saturating_sub(self.failed_n)));
        object.set("failed_n", count(self.failed_n));
        object.set("chain_ok", self.chain_ok);
        object.set("logbook_verify_chain", self.verify_chain);
        object.set("stream_id", self.stream_id);
        object.set("head", self.head);
        object.set("type_counts", counts(&self.type_counts));
        object.set("rows_n", count(self.rows_n));
        object.set("verdict_n", count(self.verdict_n));
        object.set("attempt_n", count(self.attempt_n));
        object.set("verdicts_with_requests_seen", count(self.with_requests_n));
        object.set(
            "verdicts_without_requests_seen",
            count(self.verdict_n.saturating_sub(self.with_requests_n)),
        );
        // No count declared is "not measured", not zero.
        let total = (self.with_requests_n > 0).then_some(self.requests_total);
        object.set("requests_seen_total", total);
        object.set("mediated", self.mediated);
        object.set("calls", self.calls.map(|calls| calls.to_value()));
        object.set("void_reason", self.void_reason.as_deref());
        object.set("unmediated_task_ids", texts(&self.unmediated_task_ids));
        object.set("ungated_task_ids", texts(&self.ungated_task_ids));
        object.set("unattested_task_ids", texts(&self.unattested_task_ids));
        object.set("tiers", counts(&self.tiers));
        object.set("tier", self.tier.as_deref());
        object.set("attested", self.attested);
        let ends = self.ends.iter().map(|end| {
            Value::from(
                Object::new()
                    .with("task_id", end.task_id.as_str())
                    .with("accepted", end.accepted)
                    .with("stop_reason", end.stop_reason.as_str())
                    .with("void", end.void),
            )
        });
        object.set("ends", Value::Array(ends.collect()));
    }
}

impl Calls {
    fn to_value(self) -> Value {
        Object::new()
            .with("model_succeeded_n", self.model_succeeded_n)
            .with("model_failed_n", self.model_failed_n)
            .with("other_n", self.other_n)
            .with("blocked_n", self.blocked_n)
            .into()
    }
}

fn texts(items: &[String]) -> Value {
    Value::Array(items.iter().map(|item| item.as_str().into()).collect())
}

fn counts(map: &BTreeMap<String, usize>) -> Value {
    let mut object = Object::new();
    for (key, count) in map {
        object.set(key, *count as u64);
    }
    object.into()
}

/// The answer for everything that was asked.
pub fn batch(chains: &[ChainReport], peer: bool) -> Verdict {
    let worst = chains.iter().map(|chain| chain.verdict).max().unwrap_or(Verdict::Unverifiable);
    // The peer calls a batch with an unverifiable chain broken; both exit with 1.
    if peer && worst == Verdict::Unverifiable && !chains.is_empty() { Verdict::Broken } else { worst }
}

/// Totals over all chains, named as in the peer's report.
pub fn totals(chains: &[ChainReport]) -> Object {
    let facts: Vec<&ChainFacts> = chains.iter().filter_map(|chain| chain.chain.as_ref()).collect();
    let sum = |of: &dyn Fn(&ChainFacts) -> usize| facts.iter().map(|facts| of(facts)).sum::<usize>() as u64;
    let number = |is: &dyn Fn(&ChainFacts) -> bool| sum(&|facts| usize::from(is(facts)));
    let judged = |verdict| chains.iter().filter(|chain| chain.verdict == verdict).count() as u64;
    let mut tiers = BTreeMap::new();
    for (tier, count) in facts.iter().flat_map(|facts| &facts.tiers) {
        *tiers.entry(tier.clone()).or_insert(0) += count;
    }
    let unmediated: Vec<String> =
        facts.iter().flat_map(|facts| facts.unmediated_task_ids.iter().cloned()).collect();
    Object::new()
        .with("chains_n", chains.len() as u64)
        .with("entries_total", sum(&|facts| facts.entries_n))
        .with("verified_total", sum(&|facts| facts.entries_n.saturating_sub(facts.failed_n)))
        .with("failed_total", sum(&|facts| facts.failed_n))
        .with("broken_chains_n", judged(Verdict::Broken) + judged(Verdict::Unverifiable))
        .with("void_chains_n", judged(Verdict::Void))
        .with("mediated_chains_n", number(&|facts| facts.mediated == Some(true)))
        .with("unmediated_chains_n", number(&|facts| facts.mediated == Some(false)))
        .with("chains_without_requests_seen_n", number(&|facts| facts.mediated.is_none()))
        .with("unmediated_task_ids", texts(&unmediated))
        .with("attested_chains_n", number(&|facts| facts.attested == Some(true)))
        .with("unattested_chains_n", number(&|facts| facts.attested == Some(false)))
        .with("chains_without_tier_n", number(&|facts| facts.attested.is_none()))
        .with("tier_histogram", counts(&tiers))
}

//! What the statements of several executors come to (18.2).

use super::attestation::{Attestation, Binding, Inadmissible, Roster, Vote, admit};
use super::commit::GaugeRecord;
use canon::{Digest, Object, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

canon::codes! {
    /// Whether the suite is known to refuse anything.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum GaugeStatus {
        /// Nobody asked.
        Unchecked = "unchecked",
        /// Its record says so.
        Ok = "ok",
        /// The suite is not in the list.
        NotGauged = "suite_not_gauged",
        /// The record in the list is about another suite.
        OtherSuite = "gauge_suite_mismatch",
        /// The record says that it does not.
        Failed = "suite_gauge_failed",
    }
}

/// Which suites may be judged by.
#[derive(Clone, Copy, Debug)]
pub enum Gauged<'a> {
    /// Any; the verdict says `unchecked`.
    Unchecked,
    /// Those of the list whose record passes.
    Only(&'a BTreeMap<Digest, GaugeRecord>),
}

impl Gauged<'_> {
    /// Whether a suite may judge.
    pub fn status(&self, suite: Digest) -> GaugeStatus {
        let Gauged::Only(list) = self else { return GaugeStatus::Unchecked };
        match list.get(&suite) {
            None => GaugeStatus::NotGauged,
            Some(record) if record.suite_sha256 != suite => GaugeStatus::OtherSuite,
            Some(record) if !record.is_ok() => GaugeStatus::Failed,
            Some(_) => GaugeStatus::Ok,
        }
    }
}

/// What was decided, by whom, and who said something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What it is about.
    pub binding: Binding,
    /// The majority; nothing when there is none.
    pub visible_ok: Option<bool>,
    /// Votes that were needed.
    pub quorum: usize,
    /// Keys in the roster.
    pub roster_n: usize,
    /// Who passed the draft.
    pub camp_pass: BTreeSet<String>,
    /// Who did not.
    pub camp_fail: BTreeSet<String>,
    /// Who voted against the majority.
    pub dissenters: BTreeSet<String>,
    /// Who failed the draft at another test than most of those who failed it.
    pub detail_dissenters: BTreeSet<String>,
    /// Who signed two different statements.
    pub equivocators: BTreeSet<String>,
    /// Statements that are no votes, with the reason, sorted.
    pub rejected: Vec<(String, Inadmissible)>,
    /// Entry hash of each vote.
    pub evidence: BTreeMap<String, Digest>,
    /// Whether the suite is known to refuse anything.
    pub gauge_status: GaugeStatus,
}

/// Counts statements. The order in which they are given changes nothing.
pub fn form_verdict(
    statements: &[Attestation],
    roster: &Roster,
    binding: &Binding,
    quorum: NonZeroUsize,
    gauged: Gauged<'_>,
) -> Verdict {
    let mut verdict = Verdict {
        binding: binding.clone(),
        visible_ok: None,
        quorum: quorum.get(),
        roster_n: roster.len(),
        camp_pass: BTreeSet::new(),
        camp_fail: BTreeSet::new(),
        dissenters: BTreeSet::new(),
        detail_dissenters: BTreeSet::new(),
        equivocators: BTreeSet::new(),
        rejected: Vec::new(),
        evidence: BTreeMap::new(),
        gauge_status: gauged.status(binding.suite),
    };
    if !verdict.gauge_status.admits() {
        return verdict;
    }
    let votes = verdict.admit_all(statements, roster);
    let fails = votes.iter().filter(|(_, vote)| !vote.visible_ok);
    verdict.detail_dissenters = detail_dissenters(fails.map(|(id, vote)| (id, vote.first_failing_test)));
    for (id, vote) in votes {
        let camp = if vote.visible_ok { &mut verdict.camp_pass } else { &mut verdict.camp_fail };
        camp.insert(id.clone());
        verdict.evidence.insert(id, vote.entry);
    }
    let (pass_n, fail_n) = (verdict.camp_pass.len(), verdict.camp_fail.len());
    if pass_n + fail_n >= quorum.get() && pass_n != fail_n {
        verdict.visible_ok = Some(pass_n > fail_n);
        let minority = if pass_n > fail_n { &verdict.camp_fail } else { &verdict.camp_pass };
        verdict.dissenters = minority.clone();
    }
    verdict
}

impl GaugeStatus {
    /// Whether votes are admitted.
    pub fn admits(self) -> bool {
        matches!(self, GaugeStatus::Unchecked | GaugeStatus::Ok)
    }
}

impl Verdict {
    /// One vote per executor. Whoever signed two different statements has none; the same one twice counts once, under
    /// the smaller of its entry hashes.
    fn admit_all(&mut self, statements: &[Attestation], roster: &Roster) -> BTreeMap<String, Vote> {
        let mut votes: BTreeMap<String, Vote> = BTreeMap::new();
        for said in statements {
            let id = &said.executor_id;
            match admit(said, roster, &self.binding) {
                Err(refusal) => self.rejected.push((id.clone(), refusal)),
                Ok(vote) => match votes.get_mut(id) {
                    None => {
                        votes.insert(id.clone(), vote);
                    }
                    Some(known) if known.payload == vote.payload => known.entry = known.entry.min(vote.entry),
                    Some(_) => {
                        self.equivocators.insert(id.clone());
                    }
                },
            }
        }
        for id in &self.equivocators {
            votes.remove(id);
            self.rejected.push((id.clone(), Inadmissible::Equivocation));
        }
        self.rejected.sort();
        votes
    }

    /// Votes that count.
    pub fn admitted_n(&self) -> usize {
        self.camp_pass.len() + self.camp_fail.len()
    }

    /// Anything but one voice.
    pub fn is_contested(&self) -> bool {
        !self.dissenters.is_empty()
            || !self.detail_dissenters.is_empty()
            || !self.equivocators.is_empty()
            || !self.rejected.is_empty()
            || self.visible_ok.is_none()
    }

    /// One voice, and at least one.
    pub fn is_unanimous(&self) -> bool {
        self.admitted_n() > 0 && !self.is_contested()
    }

    /// How many corrupt executors this roster bears: floor((k - 1) / 2). With more, the verdict is theirs, and nothing
    /// in it tells.
    pub fn corrupt_tolerated(&self) -> usize {
        self.roster_n.saturating_sub(1) / 2
    }

    /// The receipt. Its last two members are the limits that go with every verdict.
    pub fn to_value(&self) -> Value {
        let ids = |ids: &BTreeSet<String>| Value::from(ids.iter().map(String::as_str).collect::<Vec<_>>());
        let pair = |id: &str, what: Value| Value::from(vec![Value::from(id), what]);
        let rejected: Vec<Value> =
            self.rejected.iter().map(|(id, reason)| pair(id, reason.code().into())).collect();
        let evidence: Vec<Value> = self.evidence.iter().map(|(id, hash)| pair(id, (*hash).into())).collect();
        Object::new()
            .with("task_id", self.binding.task_id.as_str())
            .with("draft_sha256", self.binding.draft)
            .with("suite_sha256", self.binding.suite)
            .with("visible_ok", self.visible_ok)
            .with("n_pass", self.camp_pass.len() as u64)
            .with("n_fail", self.camp_fail.len() as u64)
            .with("n_admitted", self.admitted_n() as u64)
            .with("quorum", self.quorum as u64)
            .with("camp_pass", ids(&self.camp_pass))
            .with("camp_fail", ids(&self.camp_fail))
            .with("dissenters", ids(&self.dissenters))
            .with("detail_dissenters", ids(&self.detail_dissenters))
            .with("equivocators", ids(&self.equivocators))
            .with("rejected", rejected)
            .with("evidence", evidence)
            .with("contested", self.is_contested())
            .with("unanimous", self.is_unanimous())
            .with("gauge_status", self.gauge_status.code())
            .with("corrupt_tolerated", self.corrupt_tolerated() as u64)
            .with("suite_corruption_detected", false)
            .into()
    }
}

/// Who failed at another test than most; of two that are as frequent, the one with the larger text stands for most.
fn detail_dissenters<'a>(fails: impl Iterator<Item = (&'a String, Option<u64>)> + Clone) -> BTreeSet<String> {
    // The peer writes no index as `None`, which sorts after every digit.
    let text = |index: Option<u64>| index.map_or_else(|| "None".to_owned(), |index| index.to_string());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, index) in fails.clone() {
        *counts.entry(text(index)).or_default() += 1;
    }
    let Some((usual, _)) = counts.into_iter().max_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0))) else {
        return BTreeSet::new();
    };
    fails.filter(|(_, index)| text(*index) != usual).map(|(id, _)| id.clone()).collect()
}

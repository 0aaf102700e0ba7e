//! Which draft ships: the first one that a majority passes (18.3).
//!
//! Refusing is a normal answer and is quiet; an argument that cannot be meant is loud.

use super::attestation::{Attestation, CannotAttest, Executor, Probe, Roster};
use super::commit::{Committed, GaugeRecord, Ungated, suite_gate};
use super::verdict::{GaugeStatus, Gauged, Verdict, form_verdict};
use super::{Author, Bound, Draft, Suite, Task, Unbound};
use canon::Digest;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// The draft that ships.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Its place among the drafts, from 0.
    pub index: usize,
    /// Who wrote it.
    pub author: Author,
    /// Its digest.
    pub draft: Digest,
}

/// Why none ships, beyond that none was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The suite cannot be run for the task.
    Unbound(Unbound),
    /// The suite is not the one that was committed to.
    SuiteGate(Ungated),
    /// The suite is not known to refuse anything.
    Gauge(GaugeStatus),
    /// Every draft was judged and none was passed.
    NonePassed,
}

impl Refused {
    /// The reason as a receipt holds it; nothing when every draft was judged.
    pub fn reason(&self) -> Option<String> {
        match self {
            Refused::Unbound(unbound) => Some(unbound.code().to_owned()),
            Refused::SuiteGate(ungated) => Some(format!("suite_gate:{}", ungated.code())),
            Refused::Gauge(status) => Some(status.code().to_owned()),
            Refused::NonePassed => None,
        }
    }
}

/// More than half of a roster: floor(k / 2) + 1 votes.
pub fn majority(roster: &Roster) -> NonZeroUsize {
    NonZeroUsize::MIN.saturating_add(roster.len() / 2)
}

/// What was chosen, and every verdict on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The task.
    pub task_id: String,
    /// The draft that ships, or why none does.
    pub shipped: Result<Shipped, Refused>,
    /// Runs that were made.
    pub runs_n: usize,
    /// One verdict for each draft that was judged.
    pub verdicts: Vec<Verdict>,
}

canon::codes! {
    /// A panel that cannot be meant.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BadPanel {
        /// Nobody judges.
        NoExecutors = "quorum_no_executors",
        /// Two executors have one name.
        ExecutorTwice = "quorum_executor_twice",
        /// Two names have one key: one machine would vote twice.
        KeyTwice = "quorum_key_twice",
    }
}

/// An argument that cannot be meant, or an executor that could not run. Neither is a refusal of a draft.
#[derive(Debug)]
pub enum CannotSelect<E> {
    /// The panel cannot be meant.
    Panel(BadPanel),
    /// An executor could not run the suite. That says nothing of the draft.
    Attest(CannotAttest<E>),
}

/// What is asked of a panel.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The task.
    pub task: &'a Task,
    /// The suite.
    pub suite: &'a Suite,
    /// The drafts, in the order in which they are tried.
    pub drafts: &'a [Draft],
    /// Votes that are needed; floor(k / 2) + 1 when nothing is said.
    pub quorum: Option<NonZeroUsize>,
    /// The commitment that the suite must open.
    pub committed: Option<Committed<'a>>,
    /// Entry points that the runner needs itself.
    pub is_reserved: &'a dyn Fn(&str) -> bool,
}

/// The steps of a selection without the running: which draft is to be judged next, and when it is over. Whoever drives
/// it may run the executors one after another, at once, or on other machines.
pub struct Selector<'a> {
    bound: Option<Bound<'a>>,
    drafts: &'a [Draft],
    roster: Roster,
    quorum: NonZeroUsize,
    gauged: Option<BTreeMap<Digest, GaugeRecord>>,
    selection: Selection,
}

impl<'a> Selector<'a> {
    /// Begins. A roster of nobody decides nothing: every draft is refused.
    pub fn new(question: &Question<'a>, roster: Roster) -> Selector<'a> {
        let Question { task, suite, drafts, quorum, committed, is_reserved } = *question;
        let quorum = quorum.unwrap_or_else(|| majority(&roster));
        let mut selection = Selection {
            task_id: task.task_id.clone(),
            shipped: Err(Refused::NonePassed),
            runs_n: 0,
            verdicts: Vec::new(),
        };
        let mut gauged = None;
        let mut bound = suite.bind(task, is_reserved).map_err(Refused::Unbound);
        if let (Ok(_), Some(committed)) = (&bound, &committed) {
            match suite_gate(committed, task, suite, is_reserved) {
                Ok(record) => gauged = Some(BTreeMap::from([(suite.suite_sha256, record)])),
                Err(ungated) => bound = Err(Refused::SuiteGate(ungated)),
            }
        }
        if let Err(refused) = bound {
            selection.shipped = Err(refused);
        }
        Selector { bound: bound.ok(), drafts, roster, quorum, gauged, selection }
    }

    /// The draft that every executor has to judge now; nothing when it is over.
    pub fn next(&self) -> Option<(&'a Draft, Bound<'a>)> {
        let bound = self.bound?;
        let over = self.selection.shipped.is_ok() || matches!(self.selection.shipped, Err(Refused::Gauge(_)));
        if over { None } else { Some((self.drafts.get(self.selection.verdicts.len())?, bound)) }
    }

    /// Takes the statements about the draft of [`Selector::next`]. When it is over, it takes nothing.
    pub fn judge(&mut self, statements: &[Attestation]) {
        let Some((draft, bound)) = self.next() else { return };
        let gauged = self.gauged.as_ref().map_or(Gauged::Unchecked, Gauged::Only);
        let binding = bound.binding(&draft.code);
        let verdict = form_verdict(statements, &self.roster, &binding, self.quorum, gauged);
        self.selection.runs_n += statements.len();
        if !verdict.gauge_status.admits() {
            self.selection.shipped = Err(Refused::Gauge(verdict.gauge_status));
        } else if verdict.visible_ok == Some(true) {
            let index = self.selection.verdicts.len();
            self.selection.shipped =
                Ok(Shipped { index, author: draft.author.clone(), draft: draft.code.digest() });
        }
        self.selection.verdicts.push(verdict);
    }

    /// What came of it.
    pub fn finish(self) -> Selection {
        self.selection
    }
}

/// Drives a [`Selector`] with executors of this process, one after another. `now` gives the time of each statement.
pub fn select_by_quorum<P: Probe>(
    question: &Question<'_>,
    executors: &mut [Executor<P>],
    mut now: impl FnMut() -> i64,
) -> Result<Selection, CannotSelect<P::Error>> {
    let mut selector = Selector::new(question, roster_of(executors).map_err(CannotSelect::Panel)?);
    while let Some((draft, bound)) = selector.next() {
        let mut statements = Vec::new();
        for executor in executors.iter_mut() {
            let statement = executor.attest(&draft.code, &bound, now()).map_err(CannotSelect::Attest)?;
            statements.push(statement);
        }
        selector.judge(&statements);
    }
    Ok(selector.finish())
}

/// Names and keys, each once.
fn roster_of<P: Probe>(executors: &[Executor<P>]) -> Result<Roster, BadPanel> {
    let mut roster = Roster::new();
    for executor in executors {
        if roster.contains_key(executor.id()) {
            return Err(BadPanel::ExecutorTwice);
        }
        if roster.values().any(|key| *key == executor.key()) {
            return Err(BadPanel::KeyTwice);
        }
        roster.insert(executor.id().to_owned(), executor.key());
    }
    if roster.is_empty() { Err(BadPanel::NoExecutors) } else { Ok(roster) }
}

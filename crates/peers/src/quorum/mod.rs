//! k keys judge (section 18): each executor signs what it saw, a verdict counts the signatures, and whoever said
//! something else is named.
//!
//! What this does not give: more than half of the keys decide, whatever they saw, and a corrupt suite passes with every
//! vote honest. Both stand in every verdict.

mod attestation;
mod challenge;
mod commit;
mod draft;
mod select;
mod verdict;

pub use attestation::{
    Attestation, Binding, CannotAttest, Executor, Inadmissible, Outcome, Probe, Roster, verify_attestation,
};
pub use challenge::{Challenge, OtherMatter, Upheld, challenge_rerun};
pub use commit::{Committed, GaugeRecord, SuiteGaugeError, Ungated, commit_suite, suite_gate};
pub use draft::{Author, Code, Draft, DraftOrderError, drafts_of_pairs};
pub use select::{BadPanel, CannotSelect, Question, Refused, Selection, Selector, Shipped, select_by_quorum};
pub use verdict::{GaugeStatus, Gauged, Verdict, form_verdict};

use canon::{Digest, Value};

canon::codes! {
    /// Why a suite is not run for a task: the entry point belongs to the task, a suite's own value is only compared.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Unbound {
        /// The task names no entry point.
        NoEntryPoint = "entry_point_unbound",
        /// The suite was written for another one.
        OtherEntryPoint = "entry_point_mismatch",
        /// The name is one that the runner needs itself.
        Reserved = "entry_point_reserved",
    }
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its id.
    pub task_id: String,
    /// The function that a draft must define.
    pub entry_point: Option<String>,
}

/// A suite as the executors run it. Whoever makes one has normalised and rendered it.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// The normalised specification, which a commitment hides.
    pub normalised: Value,
    /// Its digest.
    pub suite_sha256: Digest,
    /// Digest of the program that runs it.
    pub render_sha256: Digest,
    /// The function that it calls.
    pub entry_point: String,
    /// Number of its tests.
    pub tests_n: u64,
}

/// A suite that may be run for a task. There is no other way to get one than [`Suite::bind`].
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    task: &'a Task,
    suite: &'a Suite,
}

impl Suite {
    /// Binds the suite to the entry point of the task; `is_reserved` knows the names that the runner needs itself.
    pub fn bind<'a>(
        &'a self,
        task: &'a Task,
        is_reserved: &dyn Fn(&str) -> bool,
    ) -> Result<Bound<'a>, Unbound> {
        match &task.entry_point {
            None => Err(Unbound::NoEntryPoint),
            Some(name) if *name != self.entry_point => Err(Unbound::OtherEntryPoint),
            Some(name) if is_reserved(name) => Err(Unbound::Reserved),
            Some(_) => Ok(Bound { task, suite: self }),
        }
    }
}

impl<'a> Bound<'a> {
    /// The task.
    pub fn task(&self) -> &'a Task {
        self.task
    }

    /// The suite.
    pub fn suite(&self) -> &'a Suite {
        self.suite
    }

    /// What a statement about `code` must name.
    pub fn binding(&self, code: &Code) -> Binding {
        Binding {
            task_id: self.task.task_id.clone(),
            draft: code.digest(),
            suite: self.suite.suite_sha256,
            render: self.suite.render_sha256,
        }
    }
}

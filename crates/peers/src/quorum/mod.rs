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
pub use select::{
    BadPanel, CannotSelect, Question, Refused, Selection, Selector, Shipped, majority, select_by_quorum,
};
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

/// A suite as the executors run it. Its digest, entry point and number of tests are those of the specification that it
/// holds: they cannot be said apart from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    normalised: Value,
    suite_sha256: Digest,
    render_sha256: Digest,
    entry_point: String,
    tests_n: u64,
}

/// A suite that may be run for a task. There is no other way to get one than [`Suite::bind`].
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    task: &'a Task,
    suite: &'a Suite,
}

impl Suite {
    /// The suite of a normalised specification (16.2), run by the program with the digest `render_sha256`; nothing when
    /// the value names no entry point or has no tests. That it is normalised and within its limits is for the reader of
    /// specifications to say.
    pub fn of_normalised(normalised: Value, render_sha256: Digest) -> Option<Suite> {
        let entry_point = normalised.get("entry_point")?.as_str()?.to_owned();
        let tests_n = normalised.get("tests")?.as_array()?.len() as u64;
        let suite_sha256 = canon::canonical_digest(&normalised);
        (tests_n > 0).then_some(Suite { normalised, suite_sha256, render_sha256, entry_point, tests_n })
    }

    /// The specification, which a commitment hides.
    pub fn normalised(&self) -> &Value {
        &self.normalised
    }

    /// Its digest.
    pub fn suite_sha256(&self) -> Digest {
        self.suite_sha256
    }

    /// Number of its tests.
    pub fn tests_n(&self) -> u64 {
        self.tests_n
    }

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

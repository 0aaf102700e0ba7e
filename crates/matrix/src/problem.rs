//! Why nothing was run, or nothing can be said: each has a code, and none of them is a verdict.

use crate::lint::Finding;
use ledger::logbook::AppendError;
use std::io;
use std::path::{Path, PathBuf};

/// What was missing or wrong.
#[derive(Debug)]
pub enum Problem {
    /// The lint found something, so there is no seed manifest and no run (RC-LNT-05).
    LintFailed(Vec<Finding>),
    /// No scenario of the stage has this id.
    ScenarioUnknown(String),
    /// The selection leaves no unit.
    NothingSelected,
    /// A holdout index without a freeze record of this gate hash (GD-05).
    NotFrozen(String),
    /// Holdout units that another run took under the same freeze; its record.
    HoldoutSpent(u64),
    /// The records name more outcomes of this run than its folder has.
    OutcomesLost(u64, u64),
    /// A record does not verify, or says something that cannot be; the file, and the code of the chain where there is one.
    RecordBroken(PathBuf, &'static str),
    /// A record is missing between others.
    RecordGap(u64),
    /// An entry could not be signed.
    NotSigned(AppendError),
    /// The folder holds a run of another manifest; the first member that differs.
    OtherManifest(PathBuf, String),
    /// The folder holds something else than a run.
    ForeignFolder(PathBuf),
    /// Another process has the folder.
    FolderLocked(PathBuf),
    /// A line is no outcome; its number.
    OutcomeUnreadable(PathBuf, usize),
    /// Two different outcomes of one unit.
    Contradiction(String),
    /// An outcome of a unit that is not in the plan.
    UnitUnknown(String),
    /// Shards that are not there.
    ShardMissing(Vec<u64>),
    /// A file or folder cannot be read.
    NotRead(PathBuf, io::Error),
    /// A file or folder cannot be written.
    NotWritten(PathBuf, io::Error),
    /// A thread cannot be started.
    ThreadNotStarted(io::Error),
}

canon::codes! {
    impl Problem: &self {
        Problem::LintFailed(..) => "matrix_lint_failed",
        Problem::ScenarioUnknown(..) => "matrix_scenario_unknown",
        Problem::NothingSelected => "matrix_nothing_selected",
        Problem::NotFrozen(..) => "matrix_not_frozen",
        Problem::HoldoutSpent(..) => "matrix_holdout_spent",
        Problem::OutcomesLost(..) => "matrix_outcomes_lost",
        Problem::RecordBroken(..) => "matrix_record_broken",
        Problem::RecordGap(..) => "matrix_record_gap",
        Problem::NotSigned(..) => "matrix_not_signed",
        Problem::OtherManifest(..) => "matrix_other_manifest",
        Problem::ForeignFolder(..) => "matrix_foreign_folder",
        Problem::FolderLocked(..) => "matrix_folder_locked",
        Problem::OutcomeUnreadable(..) => "matrix_outcome_unreadable",
        Problem::Contradiction(..) => "matrix_contradiction",
        Problem::UnitUnknown(..) => "matrix_unit_unknown",
        Problem::ShardMissing(..) => "matrix_shard_missing",
        Problem::NotRead(..) => "matrix_not_read",
        Problem::NotWritten(..) => "matrix_not_written",
        Problem::ThreadNotStarted(..) => "matrix_thread_not_started",
    }
}

impl From<Vec<Finding>> for Problem {
    fn from(findings: Vec<Finding>) -> Problem {
        Problem::LintFailed(findings)
    }
}

impl Problem {
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Problem {
        let path = path.to_path_buf();
        move |error| Problem::NotRead(path, error)
    }

    pub(crate) fn written(path: &Path) -> impl FnOnce(io::Error) -> Problem {
        let path = path.to_path_buf();
        move |error| Problem::NotWritten(path, error)
    }
}

//! Why there is no judgement: each has its own words and exit code 1, and none of them is a grade.

use canon::ReadError;
use canon::replay::TableError;
use std::path::PathBuf;
use verdict::golden::GoldenError;
use verdict::judge::Refused;

/// What was missing or wrong before anything could be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The field table cannot be opened; the system's words.
    TableMissing(PathBuf, String),
    /// The field table is refused.
    TableRefused(PathBuf, TableError),
    /// A run cannot be opened; the system's words.
    RunMissing(PathBuf, String),
    /// A folder without a JSON file.
    RunEmpty(PathBuf),
    /// A file of a run, or what a command printed, cannot be read as JSON.
    NotJson(String, ReadError),
    /// The command could not be started; the system's words.
    NotStarted(String),
    /// The command ended with another status than 0, and the end of what it said.
    CommandFailed(String, String),
    /// The command was still running after this many seconds.
    TimedOut(u64),
    /// Somebody stopped the runs.
    Interrupted,
    /// The command printed nothing.
    PrintedNothing(String),
    /// The command printed more bytes than a document may have.
    PrintedTooMuch(u64),
    /// A golden file cannot be opened; the system's words.
    GoldenMissing(PathBuf, String),
    /// A golden file is refused.
    GoldenRefused(PathBuf, GoldenError),
    /// Something could not be written; the system's words.
    NotWritten(PathBuf, String),
    /// git did not answer; its words.
    Git(String),
    /// A phrase list or a folder of documents cannot be read; the system's or the parser's words.
    Documents(PathBuf, String),
    /// The runs do not go together.
    Refused(Refused),
}

canon::codes! {
    impl Problem: &self {
        Problem::TableMissing(..) => "conform_table_missing",
        Problem::TableRefused(..) => "conform_table_refused",
        Problem::RunMissing(..) => "conform_run_missing",
        Problem::RunEmpty(..) => "conform_run_empty",
        Problem::NotJson(..) => "conform_not_json",
        Problem::NotStarted(..) => "conform_command_not_started",
        Problem::CommandFailed(..) => "conform_command_failed",
        Problem::TimedOut(..) => "conform_command_timed_out",
        Problem::Interrupted => "conform_interrupted",
        Problem::PrintedNothing(..) => "conform_command_printed_nothing",
        Problem::PrintedTooMuch(..) => "conform_command_printed_too_much",
        Problem::GoldenMissing(..) => "conform_golden_missing",
        Problem::GoldenRefused(..) => "conform_golden_refused",
        Problem::NotWritten(..) => "conform_not_written",
        Problem::Git(..) => "conform_git",
        Problem::Documents(..) => "conform_documents",
    } else {
        Problem::Refused(refused) => refused.refusal.code(),
    }
}

impl Problem {
    /// Which code of another layer says more, if one does.
    pub fn inner_code(&self) -> Option<&'static str> {
        match self {
            Problem::TableRefused(_, error) => Some(error.fault.code()),
            Problem::NotJson(_, error) | Problem::GoldenRefused(_, GoldenError::Read(error)) => {
                Some(error.fault.code())
            }
            Problem::GoldenRefused(_, GoldenError::Fault(fault, _)) => Some(fault.code()),
            _ => None,
        }
    }
}

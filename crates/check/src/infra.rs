//! What says nothing about a candidate.

use desk::sandbox::{Ended, StartError};
use std::io;

/// The desk could not measure. Becomes an infrastructure void (exit 22), never "the candidate failed".
#[derive(Debug)]
pub enum CheckInfraError {
    /// The interpreter or compiler for the candidate's language is not here (ruling 17).
    ToolMissing(&'static str),
    /// A process of ours ended before it was given the candidate.
    NotStarted(String),
    /// Test of this number, from 0, has an argument that candidates in the language cannot be given.
    NotForLanguage(usize, &'static str),
    /// Somebody wants the desk to stop.
    Interrupted,
    /// A file, pipe or process of the desk failed.
    Io(io::Error),
}

// Closed list, stable across rewording.
canon::codes! {
    impl CheckInfraError: &self {
        CheckInfraError::ToolMissing(_) => "check_tool_missing",
        CheckInfraError::NotStarted(_) => "check_not_started",
        CheckInfraError::NotForLanguage(..) => "check_not_for_language",
        CheckInfraError::Interrupted => "check_interrupted",
        CheckInfraError::Io(_) => "check_io",
    }
}

impl CheckInfraError {
    /// A process of ours that ended before its time, with the end of what it said.
    pub(crate) fn ended(what: &str, ended: &Ended) -> CheckInfraError {
        const TAIL: usize = 400;
        let said = ended.stderr.bytes();
        let tail = String::from_utf8_lossy(&said[said.len().saturating_sub(TAIL)..]).into_owned();
        CheckInfraError::NotStarted(format!("{what}: {:?}: {}", ended.status, tail.trim()))
    }
}

impl std::fmt::Display for CheckInfraError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CheckInfraError::ToolMissing(name) => write!(f, "{}: {name} is not installed", self.code()),
            CheckInfraError::NotStarted(why) => write!(f, "{}: {why}", self.code()),
            CheckInfraError::NotForLanguage(test, language) => {
                write!(f, "{}: {language} cannot be given an argument of test {}", self.code(), test + 1)
            }
            CheckInfraError::Interrupted => f.write_str(self.code()),
            CheckInfraError::Io(why) => write!(f, "{}: {why}", self.code()),
        }
    }
}

impl std::error::Error for CheckInfraError {}

impl From<io::Error> for CheckInfraError {
    fn from(error: io::Error) -> CheckInfraError {
        CheckInfraError::Io(error)
    }
}

impl From<rustix::io::Errno> for CheckInfraError {
    fn from(error: rustix::io::Errno) -> CheckInfraError {
        CheckInfraError::Io(error.into())
    }
}

impl From<StartError> for CheckInfraError {
    fn from(error: StartError) -> CheckInfraError {
        CheckInfraError::NotStarted(error.to_string())
    }
}

//! Properties of the repository as tests: every rule of the house that a machine can check.
//!
//! `cargo xtask tidy` prints what is wrong as `file:line: rule: sentence`; `cargo test` runs the same. A rule is one
//! function over the tracked files, so that a test can hand it a repository of three lines. Exceptions are tables
//! that may only shrink: an exception that is no longer needed is a finding too.

pub mod agents;
mod repo;
mod rules;
mod source;

pub use repo::Repo;

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the repository.
    pub file: String,
    /// Its line, from 1; 0 for the whole file.
    pub line: usize,
    /// Name of the rule.
    pub rule: &'static str,
    /// What is wrong and what to do.
    pub sentence: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.file, self.line, self.rule, self.sentence)
    }
}

/// Everything that the rules say about a repository.
#[derive(Debug, Default)]
pub struct Report {
    /// What is wrong, in the order of files.
    pub findings: Vec<Finding>,
    /// What was measured, for people.
    pub notes: Vec<String>,
}

/// What a rule writes into: its name is put to its findings.
struct Out<'a> {
    rule: &'static str,
    report: &'a mut Report,
}

impl Out<'_> {
    fn find(&mut self, file: &str, line: usize, sentence: impl Into<String>) {
        let (file, sentence) = (file.to_owned(), sentence.into());
        self.report.findings.push(Finding { file, line, rule: self.rule, sentence });
    }

    fn note(&mut self, note: impl Into<String>) {
        self.report.notes.push(note.into());
    }
}

/// Asks every rule.
pub fn tidy(repo: &Repo) -> Report {
    let mut report = Report::default();
    for (rule, ask) in rules::RULES {
        ask(repo, &mut Out { rule, report: &mut report });
    }
    report.findings.sort();
    report
}

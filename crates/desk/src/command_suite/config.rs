//! `suite.toml`, version 1 (rulings 10, 19 and 21).
//!
//! ```toml
//! version = 1
//! name = "calculator"          # optional
//! counts = "none"              # only for suites whose exit-status checks count no cases
//! allow = ["pyproject.toml"]   # runner configuration of the delivery that its checks may see
//!
//! [[check]]
//! name = "unit tests"
//! run = ["node", "--test", "--test-reporter=tap", "--test-reporter-destination={report}", "{suite}/a.test.mjs"]
//! result = "tap"               # "exit", "tap" or "junit"
//! expect = ["adds", "divides"] # names that must be reported, and/or
//! min = 2                      # how many cases must run and count
//! cwd = "workspace"            # or "suite"
//! timeout_s = 60
//! writable = false             # true: the check may write to its copy of the delivery
//! ```
//!
//! An expected name is the case's own name, or `classname.name`, or the names of the groups around it and its own joined
//! by ` > `; the name of a group (a subtest, a suite) will do too. Compared whole.
//!
//! A Python suite has no `[[check]]`: `version = 1`, `kind = "python"`, `isolation = "process"` or `"in-process"`.

mod placeholder;

pub use placeholder::{Arg, Paths, Placeholder};

use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt;
use toml::Spanned;

/// Name of the file in the suite's folder.
pub const FILE_NAME: &str = "suite.toml";
/// Largest `suite.toml`, in bytes.
pub const FILE_BYTES_MAX: usize = 4 << 20;
/// Most checks in one suite.
pub const CHECKS_MAX: usize = 256;
/// Longest `timeout_s`: one day.
pub const TIMEOUT_S_MAX: u32 = 86_400;

/// A suite as its `suite.toml` describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    /// Its name, for people.
    pub name: Option<String>,
    /// Globs of runner configuration in the delivery that checks may see.
    pub allow: Vec<String>,
    /// What it consists of.
    pub kind: Kind,
}

/// The two kinds of suites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `[[check]]` tables.
    Commands {
        /// What the suite says about counting.
        counts: Counts,
        /// Its checks in their order. May be empty: that is `no_suite`, a refusal and not an error (ruling 20).
        checks: Vec<Check>,
    },
    /// `test_*.py` files with `check_*` functions.
    Python {
        /// Where the candidate runs (ruling 21).
        isolation: Isolation,
    },
}

/// Whether the suite says that its exit-status checks count no cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Nothing was said: every check must name or count cases.
    Cases,
    /// `counts = "none"`.
    None,
}

/// Where the candidate of a Python suite runs (ruling 21).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// In a process of its own.
    #[default]
    Process,
    /// In the process of the checks; the receipt says so.
    InProcess,
}

/// One `[[check]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name, unique in the suite.
    pub name: String,
    /// The command: program and arguments, no shell.
    pub run: Vec<Arg>,
    /// How its result is read.
    pub result: ResultKind,
    /// Names of cases that must be reported, see [`Report::is_named`](crate::report::Report::is_named).
    pub expect: Vec<String>,
    /// Fewest cases that must run and count.
    pub min: Option<u64>,
    /// Where the command starts.
    pub cwd: Cwd,
    /// Its wall limit in seconds, if the suite sets one.
    pub timeout_s: Option<u32>,
    /// Whether the command may write to its copy of the delivery.
    pub writable: bool,
}

/// How the result of a check is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultKind {
    /// Only the exit status.
    Exit,
    /// Exit status and a TAP stream.
    Tap,
    /// Exit status and a JUnit XML report.
    Junit,
}

/// Where a command starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cwd {
    /// In the delivery.
    #[default]
    Workspace,
    /// In the suite's folder.
    Suite,
}

impl Check {
    /// Whether the report is read from the file `{report}` (a command that mentions it promises to write it) and not
    /// from standard output.
    pub fn report_is_file(&self) -> bool {
        self.run.iter().any(|arg| arg.mentions(Placeholder::Report))
    }

    /// Whether the program itself belongs to the delivery, so that its absence is the delivery's fault (20) and not
    /// a missing tool (22): rulings 16 and 17.
    pub fn program_is_in_delivery(&self) -> bool {
        let Some(program) = self.run.first() else { return false };
        program.mentions(Placeholder::Workspace) || (self.cwd == Cwd::Workspace && program.is_relative_path())
    }

    /// The program as the suite writes it, for messages.
    pub fn program(&self) -> String {
        self.run.first().map(Arg::to_string).unwrap_or_default()
    }
}

/// What is wrong with a `suite.toml`, and in which line (from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The line, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong, in words: the reader of this file is its author.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{FILE_NAME}:{line}: {}", self.message),
            None => write!(f, "{FILE_NAME}: {}", self.message),
        }
    }
}

impl std::error::Error for ConfigError {}

/// Reads a `suite.toml`.
///
/// # Errors
/// [`ConfigError`] for anything that is not version 1 to the letter: unknown keys and placeholders, empty or repeated
/// names, values out of range. A usage error (64), since the suite is read before the agent starts (ruling 20).
pub fn parse(bytes: &[u8]) -> Result<Suite, ConfigError> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(ConfigError { line: None, message: format!("larger than {FILE_BYTES_MAX} bytes") });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| ConfigError {
        line: Some(bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1),
        message: "not UTF-8".to_owned(),
    })?;
    let lines = Lines(text);
    let raw: RawSuite = toml::from_str(text).map_err(|error| ConfigError {
        line: error.span().map(|span| lines.of(span.start)),
        message: error.message().to_owned(),
    })?;
    raw.check(&lines)
}

/// Finds the line of a byte offset.
struct Lines<'a>(&'a str);

impl Lines<'_> {
    fn of(&self, at: usize) -> usize {
        self.0.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
    }

    fn error<T>(&self, at: &Spanned<T>, message: impl Into<String>) -> ConfigError {
        ConfigError { line: Some(self.of(at.span().start)), message: message.into() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSuite {
    version: Spanned<i64>,
    kind: Option<Spanned<String>>,
    isolation: Option<Spanned<RawIsolation>>,
    name: Option<Spanned<String>>,
    counts: Option<Spanned<String>>,
    #[serde(default)]
    allow: Vec<Spanned<String>>,
    #[serde(default)]
    check: Vec<Spanned<RawCheck>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawIsolation {
    Process,
    InProcess,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCheck {
    name: Spanned<String>,
    run: Spanned<Vec<Spanned<String>>>,
    result: ResultKind,
    expect: Option<Spanned<Vec<Spanned<String>>>>,
    min: Option<Spanned<u64>>,
    #[serde(default)]
    cwd: Cwd,
    timeout_s: Option<Spanned<u64>>,
    #[serde(default)]
    writable: bool,
}

impl RawSuite {
    fn check(self, lines: &Lines<'_>) -> Result<Suite, ConfigError> {
        if *self.version.get_ref() != 1 {
            let message =
                format!("version {} is not known; this desk reads version 1", self.version.get_ref());
            return Err(lines.error(&self.version, message));
        }
        if let Some(name) = &self.name {
            check_name(lines, name, "name")?;
        }
        for glob in &self.allow {
            globset::Glob::new(glob.get_ref())
                .map_err(|error| lines.error(glob, format!("allow: {}", error.kind())))?;
        }
        let kind = if self.kind.is_some() { self.python(lines)? } else { self.commands(lines)? };
        Ok(Suite {
            name: self.name.map(Spanned::into_inner),
            allow: self.allow.into_iter().map(Spanned::into_inner).collect(),
            kind,
        })
    }

    fn python(&self, lines: &Lines<'_>) -> Result<Kind, ConfigError> {
        if let Some(kind) = self.kind.as_ref().filter(|kind| kind.get_ref() != "python") {
            return Err(lines.error(kind, "kind is \"python\" or absent"));
        }
        if let Some(check) = self.check.first() {
            return Err(lines.error(check, "a suite of kind \"python\" has no [[check]]"));
        }
        if let Some(counts) = &self.counts {
            return Err(lines.error(counts, "a suite of kind \"python\" counts its cases itself"));
        }
        let isolation = match self.isolation.as_ref().map(Spanned::get_ref) {
            Some(RawIsolation::InProcess) => Isolation::InProcess,
            Some(RawIsolation::Process) | None => Isolation::Process,
        };
        Ok(Kind::Python { isolation })
    }

    fn commands(&self, lines: &Lines<'_>) -> Result<Kind, ConfigError> {
        if let Some(isolation) = &self.isolation {
            return Err(lines.error(isolation, "isolation needs kind = \"python\""));
        }
        let counts = match &self.counts {
            None => Counts::Cases,
            Some(counts) if counts.get_ref() == "none" => Counts::None,
            Some(counts) => return Err(lines.error(counts, "counts is \"none\" or absent")),
        };
        let mut names = BTreeSet::new();
        let mut checks = Vec::new();
        for raw in &self.check {
            let check = raw.get_ref();
            if checks.len() >= CHECKS_MAX {
                return Err(lines.error(raw, format!("more than {CHECKS_MAX} checks")));
            }
            if !names.insert(check.name.get_ref().as_str()) {
                return Err(lines.error(&check.name, "this name was used before"));
            }
            checks.push(check.check(lines)?);
        }
        Ok(Kind::Commands { counts, checks })
    }
}

impl RawCheck {
    fn check(&self, lines: &Lines<'_>) -> Result<Check, ConfigError> {
        check_name(lines, &self.name, "name")?;
        Ok(Check {
            name: self.name.get_ref().clone(),
            run: self.args(lines)?,
            result: self.result,
            expect: self.expected(lines)?,
            min: self.minimum(lines)?,
            cwd: self.cwd,
            timeout_s: self.timeout(lines)?,
            writable: self.writable,
        })
    }

    fn args(&self, lines: &Lines<'_>) -> Result<Vec<Arg>, ConfigError> {
        let args = self.run.get_ref();
        match args.first() {
            None => return Err(lines.error(&self.run, "run names no program")),
            Some(program) if program.get_ref().is_empty() => {
                return Err(lines.error(program, "the program's name is empty"));
            }
            Some(_) => {}
        }
        args.iter()
            .map(|arg| Arg::parse(arg.get_ref()).map_err(|message| lines.error(arg, message)))
            .collect()
    }

    fn expected(&self, lines: &Lines<'_>) -> Result<Vec<String>, ConfigError> {
        let Some(expect) = &self.expect else { return Ok(Vec::new()) };
        if expect.get_ref().is_empty() {
            return Err(
                lines.error(expect, "expect is empty; leave it out if the suite expects nothing by name")
            );
        }
        let mut seen = BTreeSet::new();
        for name in expect.get_ref() {
            if name.get_ref().is_empty() || !seen.insert(name.get_ref().as_str()) {
                return Err(lines.error(name, "expected names are not empty and not repeated"));
            }
        }
        Ok(expect.get_ref().iter().map(|name| name.get_ref().clone()).collect())
    }

    fn minimum(&self, lines: &Lines<'_>) -> Result<Option<u64>, ConfigError> {
        match &self.min {
            Some(min) if *min.get_ref() == 0 => Err(lines.error(min, "min is at least 1")),
            min => Ok(min.as_ref().map(|min| *min.get_ref())),
        }
    }

    fn timeout(&self, lines: &Lines<'_>) -> Result<Option<u32>, ConfigError> {
        let Some(timeout) = &self.timeout_s else { return Ok(None) };
        match u32::try_from(*timeout.get_ref()) {
            Ok(seconds) if (1..=TIMEOUT_S_MAX).contains(&seconds) => Ok(Some(seconds)),
            _ => Err(lines.error(timeout, format!("timeout_s lies between 1 and {TIMEOUT_S_MAX}"))),
        }
    }
}

fn check_name(lines: &Lines<'_>, name: &Spanned<String>, what: &str) -> Result<(), ConfigError> {
    let text = name.get_ref();
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        return Err(lines.error(name, format!("{what} is empty or has control characters")));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

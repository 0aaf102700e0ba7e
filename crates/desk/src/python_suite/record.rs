//! What a run of a Python suite gives: cases, files, the result, its digest (desk specification 8.2 to 8.7).

use super::Isolation;
use canon::{Digest, Object, Value, canonical};

/// How a case ended (8.2). Codes are part of signed digests and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Returned None or True.
    Pass,
    /// Raised AssertionError or returned False.
    Assert,
    /// Raised anything else, or lost its candidate process.
    Exception,
    /// The test file did not load.
    Import,
    /// The file reached its wall limit.
    Timeout,
    /// The file does not exist (only read from older receipts).
    NoFile,
    /// The file could not be driven.
    DriverError,
    /// Declared and never reported, or the process did not finish normally.
    Incomplete,
    /// Reported against the rules, or returned something that is no verdict.
    Protocol,
}

// The signed text.
canon::codes! {
    impl Kind: self {
        Kind::Pass => "pass",
        Kind::Assert => "assert",
        Kind::Exception => "exception",
        Kind::Import => "import",
        Kind::Timeout => "timeout",
        Kind::NoFile => "nofile",
        Kind::DriverError => "driver_error",
        Kind::Incomplete => "incomplete",
        Kind::Protocol => "protocol",
    }
}

impl Kind {
    const ALL: [Kind; 9] = [
        Kind::Pass,
        Kind::Assert,
        Kind::Exception,
        Kind::Import,
        Kind::Timeout,
        Kind::NoFile,
        Kind::DriverError,
        Kind::Incomplete,
        Kind::Protocol,
    ];

    /// The kind with this text.
    pub fn parse(text: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.code() == text)
    }
}

/// Case id of a failure to load or drive a test file.
pub const MODULE_CASE: &str = "<module>";
/// Case id of what concerns the process of a file.
pub const FILE_CASE: &str = "<file>";

/// One case and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseRecord {
    /// Function name, [`MODULE_CASE`] or [`FILE_CASE`].
    pub case: String,
    /// How it ended; it is good exactly when this is [`Kind::Pass`].
    pub kind: Kind,
    /// Why, at most 800 characters and a cut mark.
    pub message: String,
    /// `file:line: source` inside the suite.
    pub location: Option<String>,
    /// What the case printed, at most 1200 characters and a cut mark.
    pub output: String,
    /// Set on cases that the desk added: true when a cause is listed elsewhere, false when this case is where
    /// the process stopped (8.3).
    pub synthesized: Option<bool>,
}

impl CaseRecord {
    /// A failing case of the desk's own.
    pub(super) fn failing(case: &str, kind: Kind, message: impl Into<String>) -> CaseRecord {
        CaseRecord {
            case: case.to_owned(),
            kind,
            message: message.into(),
            location: None,
            output: String::new(),
            synthesized: None,
        }
    }

    /// True when the case passed.
    pub fn ok(&self) -> bool {
        self.kind == Kind::Pass
    }

    fn to_value(&self) -> Value {
        let mut object = Object::new()
            .with("case", self.case.as_str())
            .with("ok", self.ok())
            .with("kind", self.kind.code())
            .with("message", self.message.as_str())
            .with("where", self.location.clone())
            .with("output", self.output.as_str());
        if let Some(flag) = self.synthesized {
            object.set("synthesized", flag);
        }
        object.into()
    }
}

/// One test file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileResult {
    /// File name.
    pub file: String,
    /// Digest of its bytes.
    pub sha256: Digest,
    /// Exit code, negative for a signal; nothing after a timeout or when it was not run.
    pub rc: Option<i32>,
    /// It reached its wall limit.
    pub timed_out: bool,
    /// Wall time in milliseconds.
    pub wall_ms: u64,
    /// Case names found by parsing.
    pub declared: Vec<String>,
    /// The end marker arrived.
    pub end_marker: bool,
    /// Every declared case was reported once and the process ended normally (8.3).
    pub complete: bool,
    /// Cases in the order that enters the digest.
    pub cases: Vec<CaseRecord>,
    /// The last 400 characters of the error stream.
    pub stderr_tail: String,
}

impl FileResult {
    /// Number of passed cases.
    pub fn passed(&self) -> usize {
        self.cases.iter().filter(|case| case.ok()).count()
    }

    /// Number of cases.
    pub fn total(&self) -> usize {
        self.cases.len()
    }

    fn to_value(&self) -> Value {
        Object::new()
            .with("file", self.file.as_str())
            .with("sha256", self.sha256)
            .with("rc", self.rc.map(i64::from))
            .with("timed_out", self.timed_out)
            .with("wall_ms", self.wall_ms)
            .with("declared", self.declared.clone())
            .with("end_marker", self.end_marker)
            .with("complete", self.complete)
            .with("cases", Value::Array(self.cases.iter().map(CaseRecord::to_value).collect()))
            .with("passed", count(self.passed()))
            .with("total", count(self.total()))
            .with("stderr_tail", self.stderr_tail.as_str())
            .into()
    }
}

fn count(number: usize) -> Value {
    u64::try_from(number).unwrap_or(u64::MAX).into()
}

/// Who may see a suite's failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Failures may be told to the agent.
    Visible,
    /// Nothing of it is ever told to the agent (8.7).
    Hidden,
}

impl Visibility {
    /// The signed text.
    pub fn code(self) -> &'static str {
        match self {
            Visibility::Visible => "visible",
            Visibility::Hidden => "hidden",
        }
    }
}

/// Why a suite can never be accepted, whatever the delivery. A closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuiteFault {
    /// The folder has no `*.py` file.
    EmptySuite,
    /// It has `*.py` files, and none is named `test_*.py`.
    NoTestFile,
    /// A file is not UTF-8.
    NotUtf8,
}

// The stable code.
canon::codes! {
    impl SuiteFault: self {
        SuiteFault::EmptySuite => "suite_empty",
        SuiteFault::NoTestFile => "suite_no_test_file",
        SuiteFault::NotUtf8 => "suite_file_not_utf8",
    }
}

impl SuiteFault {
    /// The sentence of `empty_reason`.
    fn sentence(self) -> &'static str {
        match self {
            SuiteFault::EmptySuite => "the suite folder has no .py file",
            SuiteFault::NoTestFile => "the suite folder has no test_*.py file",
            SuiteFault::NotUtf8 => "a suite file is not UTF-8",
        }
    }
}

/// The result of one run of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteResult {
    /// Who may see it.
    pub visibility: Visibility,
    /// The task it belongs to.
    pub task_id: String,
    /// How the candidate was kept from the checks (ruling 21).
    pub isolation: Isolation,
    /// One per test file, sorted by name.
    pub files: Vec<FileResult>,
    /// Digest of the suite as read.
    pub suite_sha256: Digest,
    /// Set when the suite can never be accepted.
    pub fault: Option<SuiteFault>,
}

impl SuiteResult {
    /// Number of passed cases.
    pub fn passed(&self) -> usize {
        self.files.iter().map(FileResult::passed).sum()
    }

    /// Number of cases.
    pub fn total(&self) -> usize {
        self.files.iter().map(FileResult::total).sum()
    }

    /// Every file is complete, and there is one.
    pub fn complete(&self) -> bool {
        !self.files.is_empty() && self.files.iter().all(|file| file.complete)
    }

    /// The verdict of 8.4: something passed, nothing failed, nothing is missing.
    pub fn all_pass(&self) -> bool {
        self.fault.is_none() && self.total() > 0 && self.passed() == self.total() && self.complete()
    }

    /// The JSON record (8.4, 8.5): the peer's members and, beside them, `isolation` and `fault`, which the
    /// digest does not cover.
    pub fn to_value(&self) -> Value {
        let mut object = Object::new()
            .with("suite", self.visibility.code())
            .with("task_id", self.task_id.as_str())
            .with("isolation", self.isolation.code())
            .with("files", Value::Array(self.files.iter().map(FileResult::to_value).collect()))
            .with("passed", count(self.passed()))
            .with("total", count(self.total()))
            .with("all_pass", self.all_pass());
        let empty = self.files.is_empty();
        if !empty {
            object.set("complete", self.complete());
            object.set("suite_sha256", self.suite_sha256);
        }
        object.set("empty_reason", self.fault.filter(|_| empty).map(SuiteFault::sentence));
        object.set("fault", self.fault.map(SuiteFault::code));
        object.set("result_sha256", result_sha256(&object));
        object.into()
    }

    /// `result_sha256` (8.6).
    pub fn result_sha256(&self) -> Digest {
        match self.to_value() {
            Value::Object(object) => result_sha256(&object),
            _ => unreachable!("a result is an object"),
        }
    }

    /// Feedback text (8.7), for visible suites only.
    pub fn failure_text(&self) -> Option<String> {
        (self.visibility == Visibility::Visible).then(|| failure_text(&self.files))
    }
}

/// `result_sha256` of a JSON result record (8.6), also of older records that lack members.
pub fn result_sha256(record: &Object) -> Digest {
    let mut reduced = pick(record, &["suite", "task_id", "passed", "total"]);
    let files = record.get("files").and_then(Value::as_array).unwrap_or_default();
    reduced.set("files", Value::Array(files.iter().map(reduced_file).collect()));
    if let Some(complete) = record.get("complete") {
        reduced.set("complete", complete.clone());
    }
    if let Some(digest) = record.get("suite_sha256").filter(|value| !is_blank(value)) {
        reduced.set("suite_sha256", digest.clone());
    }
    Digest::of(&canonical(&reduced.into()))
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

fn reduced_file(file: &Value) -> Value {
    let Some(object) = file.as_object() else { return file.clone() };
    let cases = object.get("cases").and_then(Value::as_array).unwrap_or_default();
    let case = |value: &Value| match value.as_object() {
        Some(members) => pick(members, &["case", "ok", "kind"]).into(),
        None => value.clone(),
    };
    let mut reduced = pick(object, &["file", "declared"]);
    reduced.set("cases", Value::Array(cases.iter().map(case).collect()));
    reduced.into()
}

fn pick(object: &Object, keys: &[&str]) -> Object {
    let mut picked = Object::new();
    for key in keys {
        if let Some(value) = object.get(key) {
            picked.set(key, value.clone());
        }
    }
    picked
}

/// Failing cases that are told one by one.
const FAILURES_TOLD_MAX: usize = 6;

fn failure_text(files: &[FileResult]) -> String {
    let failing: Vec<(&str, &CaseRecord)> = files
        .iter()
        .flat_map(|file| file.cases.iter().map(|case| (file.file.as_str(), case)))
        .filter(|(_, case)| !case.ok() && case.synthesized != Some(true))
        .collect();
    if failing.is_empty() {
        return "No failing case was recorded.".to_owned();
    }
    let mut lines: Vec<String> =
        failing.iter().take(FAILURES_TOLD_MAX).map(|(file, case)| failure_line(file, case)).collect();
    if failing.len() > FAILURES_TOLD_MAX {
        lines.push(format!("{} more failing cases are not shown.", failing.len() - FAILURES_TOLD_MAX));
    }
    lines.join("\n")
}

fn failure_line(file: &str, case: &CaseRecord) -> String {
    let mut line = format!("{file}::{} \u{2014} {}: {}", case.case, case.kind.code(), case.message);
    if let Some(location) = &case.location {
        line.push_str(&format!(" [{location}]"));
    }
    if !case.output.trim().is_empty() {
        line.push_str(&format!("\n  output: {}", case.output.trim_end()));
    }
    line
}

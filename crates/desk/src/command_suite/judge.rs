//! From what a command did to a verdict: a pure function, without processes and files.
//!
//! Exit status and report are joined by AND (ruling 11), the suite's own expectations come on top (ruling 10), and
//! what the desk itself could not do is kept apart from what the delivery did wrong (rulings 16 and 17).

use super::config::{Check, Counts, ResultKind};
use crate::report::{ExitStatus, ITEMS_MAX, Meaning, Refusal, Report, Tally, clip, exit, junit, tap};

/// What the desk saw of one run of one check.
#[derive(Clone, Debug)]
pub struct Evidence<'a> {
    /// How the command ended, or why it did not start.
    pub ended: Ended,
    /// Its standard output.
    pub stdout: &'a [u8],
    /// Whether the desk stopped keeping standard output at its limit.
    pub stdout_truncated: bool,
    /// What lay at `{report}` after it ended.
    pub report: ReportFile<'a>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself or by a signal.
    Status(ExitStatus),
    /// The desk ended it at its wall limit.
    TimedOut,
    /// The program does not exist or is not executable.
    ProgramMissing,
    /// Something of the desk's own failed, which also fails for an empty delivery (ruling 16).
    Infrastructure(VoidCause),
}

/// What lay at the report's path, in the desk's own folder that was empty before (ruling 12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFile<'a> {
    /// Nothing.
    Absent,
    /// A regular file with these bytes.
    Bytes(&'a [u8]),
    /// A link, folder, pipe or device: it was not opened.
    NotAFile,
    /// A regular file larger than [`REPORT_BYTES_MAX`](crate::report::REPORT_BYTES_MAX): it was not read.
    TooLarge,
}

/// Why a run says nothing about the delivery (exit 22).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VoidCause {
    /// A program of the suite is not installed (ruling 17).
    ProgramMissing {
        /// The program as the suite writes it.
        program: String,
    },
    /// The desk could not start the command, with the step that failed and the system's words.
    StartFailed {
        /// Which step.
        step: String,
        /// What the system said.
        detail: String,
    },
    /// The report folder was not empty before the command started (ruling 12).
    ReportFolderNotEmpty,
}

// Stable snake_case code, for receipts.
canon::codes! {
    impl VoidCause: &self {
        VoidCause::ProgramMissing { .. } => "program_missing",
        VoidCause::StartFailed { .. } => "start_failed",
        VoidCause::ReportFolderNotEmpty => "report_folder_not_empty",
    }
}

/// A reason and the check that gave it; `check` is `None` for the suite as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Of<T> {
    /// Name of the check.
    pub check: Option<String>,
    /// What it says.
    pub what: T,
}

/// The verdict of a check or of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything that was expected was measured and held: 0.
    Accepted,
    /// At least one reason against the delivery: 20.
    Refused(Vec<Of<Refusal>>),
    /// Nothing against it, but these cases passed only when run again: 21. At most [`ITEMS_MAX`] names a check.
    Inconclusive(Vec<Of<String>>),
    /// The desk could not measure: 22.
    Void(Vec<Of<VoidCause>>),
}

impl Verdict {
    /// The exit code of `run` (ruling 7).
    pub const fn exit_code(&self) -> u8 {
        match self {
            Verdict::Accepted => 0,
            Verdict::Refused(_) => 20,
            Verdict::Inconclusive(_) => 21,
            Verdict::Void(_) => 22,
        }
    }
}

/// Whether cases were measured. "Not measured" and "passed" are different things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cases {
    /// Only an exit status was looked at; receipts say "cases: not measured" (ruling 10).
    NotMeasured,
    /// There should have been a report, and there was none that could be read.
    Unreadable,
    /// The report.
    Measured(Report),
}

/// What came out of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// Name of the check.
    pub name: String,
    /// Its verdict alone.
    pub verdict: Verdict,
    /// The cases.
    pub cases: Cases,
}

impl CheckResult {
    /// The count of its cases, if they were measured.
    pub fn tally(&self) -> Option<Tally> {
        match &self.cases {
            Cases::Measured(report) => Some(report.tally()),
            Cases::NotMeasured | Cases::Unreadable => None,
        }
    }
}

/// Judges one run of one check. All reasons are given, not only the first.
pub fn judge_check(check: &Check, counts: Counts, evidence: &Evidence<'_>) -> CheckResult {
    let mut refusals = Vec::new();
    match &evidence.ended {
        Ended::Status(status) => refusals.extend(exit::read(*status).err()),
        Ended::TimedOut => refusals.push(Refusal::TimedOut),
        Ended::ProgramMissing if check.program_is_in_delivery() => {
            refusals.push(Refusal::ProgramMissingInDelivery { program: check.program() });
            return refused(check, refusals, Cases::Unreadable);
        }
        Ended::ProgramMissing => return void(check, VoidCause::ProgramMissing { program: check.program() }),
        Ended::Infrastructure(cause) => return void(check, cause.clone()),
    }
    if check.result == ResultKind::Exit {
        judge_uncounted(check, counts, &mut refusals);
        return finish(check, refusals, Vec::new(), Cases::NotMeasured);
    }
    match read_report(check, evidence) {
        Err(refusal) => {
            refusals.push(refusal);
            refused(check, refusals, Cases::Unreadable)
        }
        Ok(report) => {
            judge_report(check, &report, &mut refusals);
            let unstable = names(&report, Meaning::Unstable);
            finish(check, refusals, unstable, Cases::Measured(report))
        }
    }
}

/// Joins the results of all checks. A proven refusal stands even if another check could not run, so that no
/// delivery gains by breaking one; a check that could not run is never outweighed by those that passed.
pub fn judge_suite(results: &[CheckResult]) -> Verdict {
    if results.is_empty() {
        return Verdict::Refused(vec![Of { check: None, what: Refusal::NoSuite }]);
    }
    let (mut refused, mut void, mut unstable) = (Vec::new(), Vec::new(), Vec::new());
    for result in results {
        match &result.verdict {
            Verdict::Accepted => {}
            Verdict::Refused(reasons) => refused.extend(reasons.iter().cloned()),
            Verdict::Void(causes) => void.extend(causes.iter().cloned()),
            Verdict::Inconclusive(names) => unstable.extend(names.iter().cloned()),
        }
    }
    if !refused.is_empty() {
        Verdict::Refused(refused)
    } else if !void.is_empty() {
        Verdict::Void(void)
    } else if !unstable.is_empty() {
        Verdict::Inconclusive(unstable)
    } else {
        Verdict::Accepted
    }
}

/// An exit status reports no case (ruling 10).
fn judge_uncounted(check: &Check, counts: Counts, refusals: &mut Vec<Refusal>) {
    if !check.expect.is_empty() {
        let names = check.expect.iter().take(ITEMS_MAX).cloned().collect();
        refusals.push(Refusal::CaseNotReported { count: check.expect.len() as u64, names });
    }
    if let Some(min) = check.min {
        refusals.push(Refusal::TooFewCases { min, counted: 0 });
    }
    if check.expect.is_empty() && check.min.is_none() && counts != Counts::None {
        refusals.push(Refusal::CountsNotDeclared);
    }
}

fn read_report(check: &Check, evidence: &Evidence<'_>) -> Result<Report, Refusal> {
    let bytes = if check.report_is_file() {
        match evidence.report {
            ReportFile::Bytes(bytes) => bytes,
            ReportFile::Absent => return Err(Refusal::ReportMissing),
            ReportFile::NotAFile => return Err(Refusal::ReportNotAFile),
            ReportFile::TooLarge => {
                let limit = crate::report::REPORT_BYTES_MAX as u64;
                return Err(Refusal::ReportLimit { what: crate::report::Limit::Bytes, limit });
            }
        }
    } else if evidence.stdout_truncated {
        return Err(Refusal::OutputTruncated);
    } else {
        evidence.stdout
    };
    match check.result {
        ResultKind::Tap => tap::read(bytes),
        ResultKind::Junit | ResultKind::Exit => junit::read(bytes),
    }
}

fn judge_report(check: &Check, report: &Report, refusals: &mut Vec<Refusal>) {
    refusals.extend(report.problems().iter().cloned());
    let tally = report.tally();
    if tally.failed > 0 {
        let names = names(report, Meaning::Failed);
        refusals.push(Refusal::CasesFailed { count: tally.failed, names });
    }
    judge_expectations(check, report, refusals);
    if let Some(min) = check.min.filter(|min| tally.counted() < *min) {
        refusals.push(Refusal::TooFewCases { min, counted: tally.counted() });
    }
    if tally.passed + tally.unstable == 0 && refusals.is_empty() {
        refusals.push(Refusal::NothingPassed { listed: tally.listed });
    }
}

/// Every expected name must have been reported, and must mean one case only. The name of a group of cases will do too:
/// a subtest is a point of its own to those who wrote it.
fn judge_expectations(check: &Check, report: &Report, refusals: &mut Vec<Refusal>) {
    let mut missing = (0_u64, Vec::new());
    let cases = NameIndex::new(report.cases().iter().collect(), |case| case.name.as_str());
    let groups = NameIndex::new(report.groups_with_cases(), |group| group.name.as_str());
    for expected in &check.expect {
        let mut found = cases.named(expected).filter(|case| report.is_named(case, expected));
        if let Some(first) = found.next() {
            if found.any(|other| !report.same_place(first, other)) {
                refusals.push(Refusal::ExpectedNameAmbiguous { name: expected.clone() });
            }
        } else if !groups.named(expected).any(|group| report.is_group_named(group, expected)) {
            missing.0 += 1;
            if missing.1.len() < ITEMS_MAX {
                missing.1.push(expected.clone());
            }
        }
    }
    if missing.0 > 0 {
        refusals.push(Refusal::CaseNotReported { count: missing.0, names: missing.1 });
    }
}

/// Cases or groups sorted by their own names, so that many expectations against many cases stay affordable.
struct NameIndex<'a, T> {
    sorted: Vec<&'a T>,
    name: fn(&T) -> &str,
}

impl<'a, T> NameIndex<'a, T> {
    fn new(mut sorted: Vec<&'a T>, name: fn(&T) -> &str) -> Self {
        sorted.sort_by(|a, b| name(a).cmp(name(b)));
        NameIndex { sorted, name }
    }

    /// Those that `expected` may name. A longer spelling ends in the own name, behind a dot or ` > `, so only those
    /// endings are looked up.
    fn named(&self, expected: &str) -> impl Iterator<Item = &'a T> {
        let behind_dots = expected.match_indices('.').map(|(at, dot)| at + dot.len());
        let behind_arrows = expected.match_indices(" > ").map(|(at, arrow)| at + arrow.len());
        let starts = std::iter::once(0).chain(behind_dots).chain(behind_arrows);
        starts.flat_map(move |start| self.equal_range(&expected[start..])).copied()
    }

    fn equal_range(&self, wanted: &str) -> &[&'a T] {
        let start = self.sorted.partition_point(|item| (self.name)(item) < wanted);
        let len = self.sorted[start..].partition_point(|item| (self.name)(item) <= wanted);
        &self.sorted[start..start + len]
    }
}

/// The full names of the first cases with this meaning. Clipped: group names repeat in every case below them.
fn names(report: &Report, meaning: Meaning) -> Vec<String> {
    let all = report.cases().iter().filter(|case| case.outcome.meaning() == meaning);
    all.take(ITEMS_MAX).map(|case| clip(&report.full_name(case))).collect()
}

fn finish(check: &Check, refusals: Vec<Refusal>, unstable: Vec<String>, cases: Cases) -> CheckResult {
    if !refusals.is_empty() {
        return refused(check, refusals, cases);
    }
    let verdict = if unstable.is_empty() {
        Verdict::Accepted
    } else {
        Verdict::Inconclusive(unstable.into_iter().map(|name| of(check, name)).collect())
    };
    CheckResult { name: check.name.clone(), verdict, cases }
}

fn refused(check: &Check, refusals: Vec<Refusal>, cases: Cases) -> CheckResult {
    let reasons = refusals.into_iter().map(|refusal| of(check, refusal)).collect();
    CheckResult { name: check.name.clone(), verdict: Verdict::Refused(reasons), cases }
}

fn void(check: &Check, cause: VoidCause) -> CheckResult {
    let verdict = Verdict::Void(vec![of(check, cause)]);
    CheckResult { name: check.name.clone(), verdict, cases: Cases::Unreadable }
}

fn of<T>(check: &Check, what: T) -> Of<T> {
    Of { check: Some(check.name.clone()), what }
}

#[cfg(test)]
mod tests;

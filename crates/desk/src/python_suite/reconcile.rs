//! Declared against reported (desk specification 8.3). Pure.

use super::channel::Report;
use super::record::{CaseRecord, FILE_CASE, Kind, MODULE_CASE};
use super::spawn::Status;
use std::collections::BTreeSet;

/// Cases of a file in digest order and whether the file is complete.
pub(super) struct Reconciled {
    pub(super) cases: Vec<CaseRecord>,
    pub(super) complete: bool,
}

/// What 8.3 looks at.
pub(super) struct Observed<'a> {
    pub(super) declared: &'a [String],
    pub(super) report: &'a Report,
    pub(super) status: Status,
    pub(super) wall_s: u64,
}

/// Reconciles one file. Every rule can only add failing cases or lower `complete`.
pub(super) fn reconcile(seen: &Observed<'_>) -> Reconciled {
    let Observed { declared, report, status, wall_s } = *seen;
    let timed_out = status == Status::TimedOut;
    let nothing = report.cases.is_empty();
    let import_failed = report.cases.iter().any(|case| case.case == MODULE_CASE && case.kind == Kind::Import);
    let (mut cases, mut complete) = keep_reported(declared, report.cases.clone());
    if nothing && !timed_out {
        cases.push(CaseRecord::failing(
            FILE_CASE,
            Kind::DriverError,
            format!("the process of this file reported nothing ({})", words(status)),
        ));
        complete = false;
    }
    let reported: BTreeSet<String> = cases.iter().map(|case| case.case.clone()).collect();
    for name in declared.iter().filter(|name| !reported.contains(*name)) {
        cases.push(missing(name, import_failed, status));
        complete = false;
    }
    let normal = report.end_marker && !report.tainted && status == Status::Code(0);
    if !normal && !timed_out {
        cases.push(CaseRecord::failing(FILE_CASE, Kind::Incomplete, unfinished(report.tainted, status)));
    }
    if timed_out {
        let message = format!("the checks of this file did not finish within {wall_s} seconds");
        cases.push(CaseRecord::failing(FILE_CASE, Kind::Timeout, message));
    }
    Reconciled { cases, complete: complete && normal && !declared.is_empty() }
}

fn keep_reported(declared: &[String], reported: Vec<CaseRecord>) -> (Vec<CaseRecord>, bool) {
    let (mut seen, mut complete) = (BTreeSet::new(), true);
    let mut kept = Vec::with_capacity(reported.len());
    for mut case in reported {
        let file_level = case.case == MODULE_CASE || case.case == FILE_CASE;
        if file_level && case.ok() {
            case.kind = Kind::Protocol;
        } else if !file_level && !declared.contains(&case.case) {
            refuse(&mut case, "reported and not declared");
        } else if !file_level && !seen.insert(case.case.clone()) {
            refuse(&mut case, "reported a second time");
        } else if !file_level {
            kept.push(case);
            continue;
        }
        complete = false;
        kept.push(case);
    }
    (kept, complete)
}

fn refuse(case: &mut CaseRecord, why: &str) {
    if case.kind != Kind::Protocol {
        case.kind = Kind::Protocol;
        case.message = why.to_owned();
    }
}

fn missing(name: &str, import_failed: bool, status: Status) -> CaseRecord {
    let timed_out = status == Status::TimedOut;
    let (kind, message) = if import_failed {
        (Kind::Import, "not run: the test file did not load".to_owned())
    } else if timed_out {
        (Kind::Incomplete, "never reported: the file reached its time limit first".to_owned())
    } else {
        (Kind::Incomplete, format!("never reported: the process ended first ({})", words(status)))
    };
    CaseRecord { synthesized: Some(import_failed || timed_out), ..CaseRecord::failing(name, kind, message) }
}

fn unfinished(tainted: bool, status: Status) -> String {
    if tainted {
        "the report carries bytes that the runner did not write".to_owned()
    } else {
        format!("the process did not finish normally ({}, or no end marker)", words(status))
    }
}

fn words(status: Status) -> String {
    match status {
        Status::Code(code) => format!("exit code {code}"),
        Status::Signal(signal) => format!("signal {signal}"),
        Status::TimedOut => "time limit".to_owned(),
    }
}

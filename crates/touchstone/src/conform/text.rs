//! The words of `conform`, `golden` and `attest`.

use crate::exit;
use crate::output::{self, Tone, hanging, line, paint};
use canon::{Digest, Object, Value, shown};
use conform::Problem;
use verdict::golden::{GoldenError, GoldenFault};
use verdict::judge::{Level, Refusal};
use verdict::report::{Check, Finding, Outcome, Report};

/// Findings of one check that are shown; all of them are in the reports and in `--json`.
const SHOWN: usize = 10;

/// A line of two columns.
pub(crate) fn row(head: &str, text: &str) {
    line(&hanging(&format!("  {head:<10} "), text));
}

/// Where the two reports are.
pub(crate) fn reports(folder: &std::path::Path) -> String {
    format!("attestation.md and attestation.jsonl in {}", shown(folder.as_os_str().as_encoded_bytes()))
}

/// The grade, large.
pub(super) fn grade(level: Level, digest: Digest) {
    let (tone, claim) = match level {
        Level::Full => (Tone::Good, "may be called replayable, DIFF=0"),
        Level::Sampled => (Tone::Warn, "limited reproduction, not all tasks"),
        Level::Incompatible => (Tone::Bad, "no claim of determinism"),
    };
    line(&format!("{}  {claim}", paint(&level.word().to_uppercase(), tone)));
    row("hash", &format!("{}  (digest {digest})", &digest.to_hex()[..16]));
}

/// Each check with its outcome, its denominator and what it found.
pub(crate) fn checks(report: &Report) {
    for check in &report.checks {
        let (tone, word) = match check.outcome() {
            Outcome::Holds => (Tone::Good, "holds"),
            Outcome::Unchecked => (Tone::Warn, "UNCHECKED"),
            Outcome::Warned => (Tone::Warn, "warned"),
            Outcome::Failed => (Tone::Bad, "FAILED"),
        };
        let head = format!("  {:<10} {} ", check.id, paint(&format!("{word:<9}"), tone));
        line(&hanging(&head, &format!("{} ({})", check.title, denominator(check))));
        for finding in check.findings.iter().take(SHOWN) {
            line(&hanging(
                &format!("{:<13}", ""),
                &format!("{} {}", finding.reason, place_and_detail(finding)),
            ));
        }
        if check.findings.len() > SHOWN {
            line(&format!("{:<13}and {} more", "", check.findings.len() - SHOWN));
        }
        for note in &check.notes {
            line(&hanging(&format!("{:<13}", ""), &paint(&shown(note.as_bytes()), Tone::Quiet)));
        }
    }
}

fn denominator(check: &Check) -> String {
    format!("{} {}", check.looked_at, check.unit_for_count())
}

fn place_and_detail(finding: &Finding) -> String {
    let place = shown(finding.place.as_bytes());
    let detail = shown(finding.detail.as_bytes());
    if finding.place.is_empty() { detail } else { format!("{place}: {detail}") }
}

/// The first few of a list.
pub(super) fn some(names: &[String]) -> String {
    let rest = if names.len() > 3 { ", ..." } else { "" };
    format!("{}{rest}", names.iter().take(3).cloned().collect::<Vec<_>>().join(", "))
}

/// `checks[]` and `findings[]` of `--json` (ruling 24).
pub(crate) fn report_members(report: &Report) -> [(&'static str, Value); 3] {
    let finding = |check: &Check, finding: &Finding| {
        let triple = finding.triple(report.layer);
        Object::new()
            .with("check", check.id)
            .with("action", triple.action.word())
            .with("layer", triple.layer)
            .with("reason", triple.reason)
            .with("place", finding.place.as_str())
            .with("detail", finding.detail.as_str())
    };
    let checks = report.checks.iter().map(|check| {
        Object::new()
            .with("id", check.id)
            .with("title", check.title)
            .with("outcome", check.outcome().word())
            .with("looked_at", check.looked_at)
            .with("unit", check.unit)
            .with("notes", check.notes.clone())
    });
    let findings =
        report.checks.iter().flat_map(|check| check.findings.iter().map(move |found| finding(check, found)));
    [
        ("checks", checks.collect::<Vec<_>>().into()),
        ("findings", findings.collect::<Vec<_>>().into()),
        ("verdict_hash", report.verdict_hash().into()),
    ]
}

/// Says why there is no judgement, and returns the exit code of that.
pub(crate) fn problem(problem: &Problem, json: bool) -> u8 {
    if json {
        let answer = Object::new()
            .with("grade", Value::Null)
            .with("exit", u64::from(exit::FAILED))
            .with("reason", problem.code())
            .with("inner", problem.inner_code())
            .with("detail", sentence(problem));
        line(&String::from_utf8_lossy(&canon::canonical(&answer.into())));
    }
    output::usage(&format!(
        "no judgement: {} [{}]",
        sentence(problem),
        problem.inner_code().unwrap_or(problem.code())
    ));
    exit::FAILED
}

fn sentence(problem: &Problem) -> String {
    let path = |path: &std::path::Path| shown(path.as_os_str().as_encoded_bytes());
    let words = |text: &str| shown(text.as_bytes());
    match problem {
        Problem::TableMissing(table, error) => format!(
            "the field table {} cannot be read: {error}; `touchstone conform init` proposes one",
            path(table)
        ),
        Problem::TableRefused(table, error) => {
            format!("the field table {} is refused at {}", path(table), words(&error.detail))
        }
        Problem::RunMissing(run, error) => format!("the run {} cannot be read: {error}", path(run)),
        Problem::RunEmpty(run) => format!("the folder {} holds no .json, .jsonl or .ndjson file", path(run)),
        Problem::NotJson(place, error) => {
            format!("{} is not the JSON that is needed, at byte {}", words(place), error.offset)
        }
        Problem::NotStarted(error) => format!("the command was not run: {}", words(error)),
        Problem::CommandFailed(status, said) => {
            format!("the command failed with {status}; it said last: {}", words(said))
        }
        Problem::TimedOut(seconds) => {
            format!("the command was still running after {seconds} s (--timeout-s)")
        }
        Problem::Interrupted => "stopped from outside before the runs had ended".to_owned(),
        Problem::PrintedNothing(said) => {
            format!("the command printed nothing on standard output; it said last: {}", words(said))
        }
        Problem::PrintedTooMuch(bytes) => {
            format!("the command printed {bytes} bytes, more than a run may have")
        }
        Problem::GoldenMissing(golden, error) => {
            format!("the golden file {} cannot be read: {error}", path(golden))
        }
        Problem::GoldenRefused(golden, GoldenError::Read(error)) => {
            format!("the golden file {} is no JSON, at byte {}", path(golden), error.offset)
        }
        Problem::GoldenRefused(golden, GoldenError::Fault(GoldenFault::OtherTable, place)) => format!(
            "the golden file {} was made under another field table: {}; freeze it again when the table is right",
            path(golden),
            words(place)
        ),
        Problem::GoldenRefused(golden, GoldenError::Fault(_, place)) => {
            format!("the golden file {} is refused: {}", path(golden), words(place))
        }
        Problem::NotWritten(file, error) => format!("{} cannot be written: {error}", path(file)),
        Problem::Git(said) => format!("git: {}", words(said)),
        Problem::Documents(place, said) => format!("{}: {}", path(place), words(said)),
        Problem::Refused(refused) => format!("{}: {}", refusal(refused.refusal), words(&refused.detail)),
    }
}

fn refusal(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::OneRun => "there is one run only; give two or more of the same task",
        Refusal::OtherTasks => "the runs have not the same files",
        Refusal::OtherLength => "the runs have not the same number of records",
        Refusal::NoReceipts => "there is no receipt, that is no object and no list of objects",
        Refusal::NoForm => "a document has no canonical form",
    }
}

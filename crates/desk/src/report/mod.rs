//! Readers of test reports: TAP, JUnit XML, exit status, and the one table of outcomes.
//!
//! A reader takes bytes and gives a [`Report`] or a [`Refusal`]. It never panics, whatever the bytes are, works in
//! time linear in their number and holds no more than the limits below. A reader does not decide: what a report
//! means for the delivery is decided in [`crate::command_suite::judge`].
//!
//! A report that could be read may still be wrong as a whole (plan not met, counts that contradict the cases, one
//! case with two results). Such findings are kept beside the cases in [`Report::problems`], so that a refusal can
//! name both the broken report and the failing case in it. A report with a problem is never accepted.

mod cases;
pub mod exit;
#[cfg(test)]
mod fuzz;
pub mod junit;
mod outcome;
mod refusal;
pub mod tap;

pub use cases::{Case, Group, GroupId, Report, Tally};
pub use exit::ExitStatus;
pub use outcome::{Meaning, Outcome};
pub use refusal::{Limit, Refusal};

/// Largest report that is read, in bytes. Larger ones are refused before they are parsed.
pub const REPORT_BYTES_MAX: usize = 32 << 20;
/// Most cases in one report.
pub const CASES_MAX: usize = 200_000;
/// Deepest nesting of subtests or suites.
pub const DEPTH_MAX: usize = 64;
/// Longest message kept for a case, in characters; longer ones keep their first and last half.
pub const MESSAGE_CHARS_MAX: usize = 800;
/// Most single items (missing numbers, names) that one refusal carries; it also carries how many there were.
pub const ITEMS_MAX: usize = 100;

/// Shortens `text` to [`MESSAGE_CHARS_MAX`] characters: the first and the last half around a marker.
pub(crate) fn clip(text: &str) -> String {
    let text = text.trim();
    // Bytes bound characters, so the common short message is not counted character by character.
    if text.len() <= MESSAGE_CHARS_MAX || text.chars().count() <= MESSAGE_CHARS_MAX {
        return text.to_owned();
    }
    let half = MESSAGE_CHARS_MAX / 2;
    let head: String = text.chars().take(half).collect();
    let tail: Vec<char> = text.chars().rev().take(half).collect();
    head + " ... " + &tail.into_iter().rev().collect::<String>()
}

/// A result as text for tests: a line per case and per problem, and the tally.
#[cfg(test)]
pub(crate) fn show(result: &Result<Report, Refusal>) -> String {
    use std::fmt::Write;
    let report = match result {
        Ok(report) => report,
        Err(refusal) => return format!("refused {}\n", show_refusal(refusal)),
    };
    let mut out = String::new();
    for case in report.cases() {
        let message = case.message.as_ref().map(|message| format!(" ({message})")).unwrap_or_default();
        let class = case.class.as_ref().map(|class| format!(" [{class}]")).unwrap_or_default();
        _ = writeln!(out, "{} {}{class}{message}", case.outcome.code(), report.full_name(case));
    }
    for problem in report.problems() {
        _ = writeln!(out, "problem {}", show_refusal(problem));
    }
    let t = report.tally();
    _ = writeln!(out, "passed {} failed {} listed {} unstable {}", t.passed, t.failed, t.listed, t.unstable);
    out
}

/// The code, which receipts carry, and what stands beside it.
#[cfg(test)]
fn show_refusal(refusal: &Refusal) -> String {
    let shown = format!("{refusal:?}");
    let members = shown.find(' ').map_or("", |at| &shown[at..]);
    format!("{}{members}", refusal.code())
}

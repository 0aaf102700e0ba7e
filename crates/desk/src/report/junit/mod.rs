//! A reader for JUnit XML, as runners write it.
//!
//! There is no standard; what is read is what pytest, node, cargo-nextest, libtest, gotestsum, Surefire, PHPUnit and
//! googletest write. Decisions:
//!
//! * Every `testcase` at any depth is one case, wherever the suites around it are (PC-12). Names of nested
//!   `testsuite` elements are its groups; `testsuites` is not a group.
//! * `error`, `failure`: failed, once, however many there are (PC-13). `skipped` beside one of them fails too,
//!   except `<skipped type="todo"/>`, which is a todo: node writes it for a failing todo test whose TAP line says
//!   `# TODO`, and one run has one verdict (ruling 13).
//! * `flakyFailure`, `flakyError`, `rerunFailure`, `rerunError` without a failure: flaky (PC-19).
//! * `<skipped type="pytest.xfail">`: expected failure. A failure that says `[XPASS(strict)]`: unexpected pass.
//! * `status`/`result` attributes may make a case worse (not run, failed), never better.
//! * `failure` or `error` directly in a suite is a failing case named like the suite.
//! * Output elements, times and unknown elements mean nothing. Count attributes: see `counts.rs`.
//! * No document type declaration is read, so no entity but the predefined ones exists (PC-21).

mod counts;
mod encoding;
mod prescan;

use super::{Case, Group, GroupId, Limit, Meaning, Outcome, REPORT_BYTES_MAX, Refusal, Report, clip};
use counts::{Counts, Tallies};
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::BTreeMap;

/// Most XML nodes in one report.
const NODES_MAX: u32 = 2_000_000;

/// Reads a JUnit XML report.
///
/// # Errors
/// A [`Refusal`] if nothing was reported: empty, unknown encoding, not well formed, no case, a limit. Counts that
/// contradict the cases are in [`Report::problems`], beside the cases that were read.
pub fn read(bytes: &[u8]) -> Result<Report, Refusal> {
    if bytes.len() > REPORT_BYTES_MAX {
        return Err(Refusal::ReportLimit { what: Limit::Bytes, limit: REPORT_BYTES_MAX as u64 });
    }
    let text = encoding::decode(bytes)?;
    if text.trim().is_empty() {
        return Err(Refusal::JunitEmpty);
    }
    prescan::prescan(&text)?;
    let options = ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(&text, options).map_err(|error| malformed(&text, &error))?;
    let root = document.root_element();
    let name = root.tag_name().name();
    if name != "testsuites" && name != "testsuite" {
        return Err(Refusal::JunitRoot { root: clip(name) });
    }
    let mut reader = Reader::default();
    reader.suite(root, None)?;
    reader.report.note_contradicting_duplicates();
    if reader.report.cases().is_empty() {
        let zero = Refusal::ZeroChecks { reason: None };
        if reader.report.problems().is_empty() {
            return Err(zero);
        }
        reader.report.push_problem(zero);
    }
    Ok(reader.report)
}

#[derive(Default)]
struct Reader {
    report: Report,
    groups: BTreeMap<(Option<GroupId>, String), GroupId>,
    identities: BTreeMap<(Option<GroupId>, Option<String>, String), u32>,
}

impl Reader {
    /// Reads a suite. The recursion is as deep as the elements nest, which `prescan` bounds.
    fn suite(&mut self, node: Node<'_, '_>, parent: Option<GroupId>) -> Result<Tallies, Refusal> {
        let group = match node.tag_name().name() {
            "testsuite" => self.group(parent, node.attribute("name").unwrap_or_default()),
            _ => parent,
        };
        let mut tallies = Tallies::default();
        self.children(node, group, &mut tallies)?;
        counts::check(&mut self.report, node, &tallies);
        Ok(tallies)
    }

    fn children(
        &mut self,
        node: Node<'_, '_>,
        group: Option<GroupId>,
        tallies: &mut Tallies,
    ) -> Result<(), Refusal> {
        for child in node.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "testsuite" | "testsuites" => {
                    let inner = self.suite(child, group)?;
                    tallies.add_suite(inner);
                }
                "testcase" => {
                    tallies.add_case(self.case(child, group)?);
                    // A case in a case is not JUnit, but it may not vanish either.
                    self.children(child, group, tallies)?;
                }
                "failure" | "error" if node.tag_name().name() != "testcase" => {
                    self.suite_failure(child, group)?
                }
                "failure" | "error" => {}
                _ => self.children(child, group, tallies)?,
            }
        }
        Ok(())
    }

    fn case(&mut self, node: Node<'_, '_>, group: Option<GroupId>) -> Result<Counts, Refusal> {
        let marks = Marks::of(node);
        let outcome = marks.outcome(node);
        let name = node.attribute("name").unwrap_or_default().to_owned();
        let class = node.attribute("classname").filter(|class| !class.is_empty()).map(str::to_owned);
        let message = marks.reason().and_then(message);
        self.push(name, class, group, outcome, message)?;
        let (failure, error) = (marks.failure.is_some(), marks.error.is_some());
        Ok(Counts {
            tests: 1,
            failures: u64::from(failure),
            errors: u64::from(error),
            failing: u64::from(failure || error),
            skipped: u64::from(marks.skipped.is_some()),
            listed: u64::from(outcome.meaning() == Meaning::Listed),
        })
    }

    /// Not counted among the suite's `tests`: runners that write it do not either.
    fn suite_failure(&mut self, node: Node<'_, '_>, group: Option<GroupId>) -> Result<(), Refusal> {
        let outcome = if node.tag_name().name() == "error" { Outcome::Error } else { Outcome::Fail };
        let name = group.and_then(|id| self.report.group(id)).map(|group| group.name.clone());
        self.push(name.unwrap_or_default(), None, group, outcome, message(node))
    }

    fn push(
        &mut self,
        name: String,
        class: Option<String>,
        group: Option<GroupId>,
        outcome: Outcome,
        message: Option<String>,
    ) -> Result<(), Refusal> {
        let next = u32::try_from(self.identities.len()).unwrap_or(u32::MAX);
        let key = (group, class.clone(), name.clone());
        let identity = *self.identities.entry(key).or_insert(next);
        self.report.push_case(Case { name, group, class, outcome, message, identity })
    }

    /// Groups of the same name in the same place are one: runners split a suite into several elements.
    /// A suite without a name is none.
    fn group(&mut self, parent: Option<GroupId>, name: &str) -> Option<GroupId> {
        if name.is_empty() {
            return parent;
        }
        let key = (parent, name.to_owned());
        if let Some(id) = self.groups.get(&key) {
            return Some(*id);
        }
        let id = self.report.push_group(Group { parent, name: name.to_owned() });
        self.groups.insert(key, id);
        Some(id)
    }
}

/// The elements in a case that say how it went: the first of each kind.
#[derive(Default)]
struct Marks<'a, 'input> {
    error: Option<Node<'a, 'input>>,
    failure: Option<Node<'a, 'input>>,
    skipped: Option<Node<'a, 'input>>,
    flaky: Option<Node<'a, 'input>>,
}

impl<'a, 'input> Marks<'a, 'input> {
    fn of(case: Node<'a, 'input>) -> Self {
        let mut marks = Marks::default();
        for child in case.children().filter(Node::is_element) {
            let slot = match child.tag_name().name() {
                "error" => &mut marks.error,
                "failure" => &mut marks.failure,
                "skipped" => &mut marks.skipped,
                "flakyFailure" | "flakyError" | "rerunFailure" | "rerunError" => &mut marks.flaky,
                _ => continue,
            };
            slot.get_or_insert(child);
        }
        marks
    }

    fn outcome(&self, case: Node<'_, '_>) -> Outcome {
        let skip_type = self.skipped.map(|skipped| skipped.attribute("type").unwrap_or_default());
        if self.error.is_some() {
            Outcome::Error
        } else if let Some(failure) = self.failure {
            match skip_type {
                Some("todo") => Outcome::Todo,
                _ if says_unexpected_pass(failure) => Outcome::UnexpectedPass,
                _ => Outcome::Fail,
            }
        } else if has_status(case, &["failed", "failure", "fail", "error"]) {
            Outcome::Fail
        } else if self.flaky.is_some() {
            Outcome::Flaky
        } else {
            match skip_type {
                Some("todo") => Outcome::Todo,
                Some("pytest.xfail") => Outcome::ExpectedFailure,
                Some(_) => Outcome::Skipped,
                None if has_status(case, &["notrun", "suppressed", "skipped", "disabled", "ignored"]) => {
                    Outcome::Skipped
                }
                None => Outcome::Pass,
            }
        }
    }

    fn reason(&self) -> Option<Node<'a, 'input>> {
        self.error.or(self.failure).or(self.flaky).or(self.skipped)
    }
}

fn has_status(case: Node<'_, '_>, words: &[&str]) -> bool {
    ["status", "result"]
        .iter()
        .filter_map(|attribute| case.attribute(*attribute))
        .any(|value| words.iter().any(|word| value.eq_ignore_ascii_case(word)))
}

fn says_unexpected_pass(failure: Node<'_, '_>) -> bool {
    const SIGN: &str = "[XPASS(strict)]";
    failure.attribute("message").is_some_and(|message| message.starts_with(SIGN))
        || failure.text().is_some_and(|text| text.trim_start().starts_with(SIGN))
}

fn message(node: Node<'_, '_>) -> Option<String> {
    let text = node.attribute("message").filter(|message| !message.trim().is_empty()).or_else(|| node.text());
    text.map(clip).filter(|text| !text.is_empty())
}

fn malformed(text: &str, error: &roxmltree::Error) -> Refusal {
    use roxmltree::Error;
    let (line, column) = match error {
        Error::NodesLimitReached => {
            return Refusal::ReportLimit { what: Limit::Nodes, limit: u64::from(NODES_MAX) };
        }
        // These say nothing about where; what is missing is missing at the end.
        Error::NoRootNode | Error::UnclosedRootNode | Error::UnexpectedEndOfStream => {
            position(text, text.len())
        }
        other => (u64::from(other.pos().row), u64::from(other.pos().col)),
    };
    Refusal::JunitMalformed { detail: clip(&error.to_string()), line, column }
}

/// Line and column of a byte offset, both from 1, in characters.
fn position(text: &str, at: usize) -> (u64, u64) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() as u64 + 1;
    (line, before[line_start..].chars().count() as u64 + 1)
}

#[cfg(test)]
mod tests;

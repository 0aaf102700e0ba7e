//! A reader for TAP 12, 13 and 14, as producers write it.
//!
//! What is read: a plan first or last, points with or without numbers, `# SKIP` and `# TODO`, `Bail out!`, YAML
//! blocks (their `message` or `error` is kept), `pragma +strict`, and subtests as indented streams at any depth.
//! Lines that are not TAP are output of the program and are skipped, as the protocol asks.
//!
//! Decisions where the documents leave room, all so that no failing point can be talked away:
//!
//! * A directive starts at the first `#` that has a blank before and behind it and is not escaped (PC-11).
//! * `not ok ... # SKIP` is a failure, as `<skipped/><failure/>` is in JUnit. `ok ... # TODO` is a todo: runners
//!   write it for placeholders without a body.
//! * A subtest's cases count by themselves, and the point that closes it is not counted again. It becomes a case
//!   only if it failed and no case in it did (its own body failed), or if there is no case in it (then a plain `ok`
//!   is a skip: a check over nothing never passes). So a parent never excuses a failing child, not even with
//!   `# TODO`; the JUnit reports of the same runs say the same.
//! * Points are numbered by the stream; a missing number is the one after the last. The same number twice: both are
//!   kept, the worst counts (ruling 14).
//! * A subtest needs its own plan and its closing point. The indentation may have any width.
//! * Not read: the braces of the old buffered subtests (`ok 1 - name {`). Such a stream is refused.

mod line;

use super::{
    Case, DEPTH_MAX, Group, GroupId, ITEMS_MAX, Limit, Outcome, REPORT_BYTES_MAX, Refusal, Report, clip,
};
use line::{Directive, Line, Point};
use std::collections::BTreeMap;

/// Reads a TAP stream.
///
/// # Errors
/// A [`Refusal`] if nothing was reported: not UTF-8, no TAP, zero checks, a limit. Everything else that is wrong
/// with the stream is in [`Report::problems`], beside the cases that were read.
pub fn read(bytes: &[u8]) -> Result<Report, Refusal> {
    if bytes.len() > REPORT_BYTES_MAX {
        return Err(Refusal::ReportLimit { what: Limit::Bytes, limit: REPORT_BYTES_MAX as u64 });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let breaks = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        Refusal::TapInvalidUtf8 { line: breaks as u64 + 1 }
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::new();
    for (at, raw) in text.split('\n').enumerate() {
        reader.line(at as u64 + 1, raw.strip_suffix('\r').unwrap_or(raw))?;
        if reader.bailed_out {
            break;
        }
    }
    reader.end()
}

/// One stream: the outer one or a subtest.
struct Level {
    indent: usize,
    first_line: u64,
    /// The group of its cases; `None` for the outer stream.
    group: Option<GroupId>,
    plan: Option<u64>,
    plan_comment: Option<String>,
    /// Number of each point seen, with the identity of its case.
    seen: BTreeMap<u64, u32>,
    last_number: u64,
    points: u64,
    /// Cases in it and in its subtests, and whether one of them failed.
    cases: u64,
    failed: bool,
}

impl Level {
    fn new(indent: usize, first_line: u64, group: Option<GroupId>) -> Self {
        Level {
            indent,
            first_line,
            group,
            plan: None,
            plan_comment: None,
            seen: BTreeMap::new(),
            last_number: 0,
            points: 0,
            cases: 0,
            failed: false,
        }
    }
}

struct Reader {
    report: Report,
    outer: Level,
    /// Open subtests, outermost first.
    inner: Vec<Level>,
    saw_version: bool,
    bailed_out: bool,
    strict: bool,
    invalid_line: Option<u64>,
    next_identity: u32,
    /// Indentation of the last line if that was a point: a YAML block may follow it.
    point_indent: Option<usize>,
    /// Indentation of the YAML block that is being skipped.
    yaml_indent: Option<usize>,
    /// Whether the last point became a failing case that has no message yet.
    wants_message: bool,
}

impl Reader {
    fn new() -> Self {
        Reader {
            report: Report::default(),
            outer: Level::new(0, 1, None),
            inner: Vec::new(),
            saw_version: false,
            bailed_out: false,
            strict: false,
            invalid_line: None,
            next_identity: 0,
            point_indent: None,
            yaml_indent: None,
            wants_message: false,
        }
    }

    fn line(&mut self, at: u64, raw: &str) -> Result<(), Refusal> {
        let (indent, text) = line::indentation(raw);
        if text.is_empty() {
            return Ok(());
        }
        if self.in_yaml(indent, text) {
            return Ok(());
        }
        let after_point = self.point_indent.take();
        if text == "---" && after_point.is_some_and(|point| indent > point) {
            self.yaml_indent = Some(indent);
            return Ok(());
        }
        match line::parse(text) {
            Line::Version(version) => self.version(version),
            Line::Plan { count, comment } => self.plan(at, indent, count, comment)?,
            Line::Point(point) => self.point(at, indent, &point)?,
            Line::BailOut(reason) => {
                self.bailed_out = true;
                self.report.push_problem(Refusal::TapBailOut { reason: non_empty(reason) });
            }
            Line::Strict(on) => self.strict = on,
            Line::Comment => {}
            Line::Other if self.strict => _ = self.invalid_line.get_or_insert(at),
            Line::Other => {}
        }
        Ok(())
    }

    /// Consumes lines of a YAML block. A block ends at its `...` or before a line that is indented less: an
    /// unfinished block must not swallow points.
    fn in_yaml(&mut self, indent: usize, text: &str) -> bool {
        let Some(yaml) = self.yaml_indent else { return false };
        if indent < yaml {
            self.yaml_indent = None;
            return false;
        }
        if indent == yaml && text == "..." {
            self.yaml_indent = None;
        } else if indent == yaml && self.wants_message {
            let value = text.strip_prefix("message:").or_else(|| text.strip_prefix("error:"));
            if let Some(value) = value {
                let value = value.trim().trim_matches(['\'', '"']);
                if !value.is_empty() && !value.starts_with(['|', '>']) {
                    self.wants_message = false;
                    self.report.set_last_message(Some(clip(value)));
                }
            }
        }
        true
    }

    fn version(&mut self, version: &str) {
        self.saw_version = true;
        if !matches!(version, "12" | "13" | "14") {
            self.report.push_problem(Refusal::TapVersionUnknown { version: clip(version) });
        }
    }

    fn plan(&mut self, at: u64, indent: usize, count: u64, comment: &str) -> Result<(), Refusal> {
        while self.inner.last().is_some_and(|level| level.indent > indent) {
            self.abandon_innermost();
        }
        self.open(at, indent)?;
        let level = self.inner.last_mut().unwrap_or(&mut self.outer);
        if level.plan.is_some() {
            self.report.push_problem(Refusal::TapPlanRepeated { line: at });
            return Ok(());
        }
        level.plan = Some(count);
        level.plan_comment = non_empty(comment);
        Ok(())
    }

    fn point(&mut self, at: u64, indent: usize, point: &Point) -> Result<(), Refusal> {
        let mut child = None;
        while self.inner.last().is_some_and(|level| level.indent > indent) {
            let around = self.inner.iter().rev().nth(1).map_or(0, |level| level.indent);
            if around == indent {
                child = self.inner.pop();
                break;
            }
            self.abandon_innermost();
        }
        self.open(at, indent)?;
        self.point_indent = Some(indent);
        self.wants_message = false;
        let identity = self.number(point);
        let outcome = match child {
            Some(child) => self.close(child, point),
            None => Some(outcome(point)),
        };
        match outcome {
            Some(outcome) => self.case(point, outcome, identity),
            None => Ok(()),
        }
    }

    /// Opens a subtest if the line is indented deeper than the innermost open one.
    fn open(&mut self, at: u64, indent: usize) -> Result<(), Refusal> {
        let innermost = self.inner.last().unwrap_or(&self.outer);
        if indent <= innermost.indent {
            return Ok(());
        }
        if self.inner.len() >= DEPTH_MAX {
            return Err(Refusal::ReportLimit { what: Limit::Depth, limit: DEPTH_MAX as u64 });
        }
        let parent = innermost.group;
        // Its name is known when its closing point comes.
        let group = self.report.push_group(Group { parent, name: String::new() });
        self.inner.push(Level::new(indent, at, Some(group)));
        Ok(())
    }

    /// Registers the point's number in the innermost stream and gives the identity of its case.
    fn number(&mut self, point: &Point) -> u32 {
        let next = &mut self.next_identity;
        let level = self.inner.last_mut().unwrap_or(&mut self.outer);
        let number = point.number.unwrap_or_else(|| level.last_number.saturating_add(1));
        level.last_number = number;
        level.points += 1;
        *level.seen.entry(number).or_insert_with(|| {
            let identity = *next;
            *next = next.saturating_add(1);
            identity
        })
    }

    /// Ends a subtest at its closing point. Gives the outcome of the point if it is a case of its own.
    fn close(&mut self, child: Level, point: &Point) -> Option<Outcome> {
        if let Some(group) = child.group {
            self.report.name_group(group, &point.description);
        }
        self.check_plan(&child, Some(&point.description));
        let own = outcome(point);
        let around = self.inner.last_mut().unwrap_or(&mut self.outer);
        around.cases += child.cases;
        around.failed |= child.failed;
        if child.cases == 0 {
            return Some(if own == Outcome::Pass { Outcome::Skipped } else { own });
        }
        (!point.ok && !child.failed).then_some(own)
    }

    fn case(&mut self, point: &Point, outcome: Outcome, identity: u32) -> Result<(), Refusal> {
        let level = self.inner.last_mut().unwrap_or(&mut self.outer);
        level.cases += 1;
        level.failed |= outcome.meaning() == super::Meaning::Failed;
        let message = point.directive.as_ref().and_then(|(_, reason)| non_empty(reason));
        self.wants_message = message.is_none() && !point.ok;
        let group = level.group;
        let name = point.description.clone();
        self.report.push_case(Case { name, group, class: None, outcome, message, identity })
    }

    fn abandon_innermost(&mut self) {
        let Some(child) = self.inner.pop() else { return };
        self.report.push_problem(Refusal::TapSubtestUnfinished { line: child.first_line });
        let around = self.inner.last_mut().unwrap_or(&mut self.outer);
        around.cases += child.cases;
        around.failed |= child.failed;
    }

    fn check_plan(&mut self, level: &Level, name: Option<&str>) {
        let subtest = name.map(clip);
        let Some(planned) = level.plan else {
            self.report.push_problem(Refusal::TapPlanMissing { subtest, points: level.points });
            return;
        };
        let outside = level.seen.keys().find(|number| **number == 0 || **number > planned);
        if let Some(number) = outside {
            self.report.push_problem(Refusal::TapPointOutOfRange { number: *number, planned });
        }
        let missing = missing(&level.seen, planned);
        if !missing.is_empty() {
            self.report.push_problem(Refusal::TapPlanNotMet { subtest, planned, missing });
        }
    }

    fn end(mut self) -> Result<Report, Refusal> {
        let saw_tap = self.saw_version
            || self.bailed_out
            || self.outer.plan.is_some()
            || self.outer.points > 0
            || self.report.group(GroupId(0)).is_some();
        if !saw_tap {
            return Err(Refusal::NoTap);
        }
        if !self.bailed_out {
            while !self.inner.is_empty() {
                self.abandon_innermost();
            }
            let outer = std::mem::replace(&mut self.outer, Level::new(0, 1, None));
            self.check_plan(&outer, None);
            self.outer.plan_comment = outer.plan_comment;
        }
        if let Some(line) = self.invalid_line {
            self.report.push_problem(Refusal::TapInvalidLine { line });
        }
        self.report.note_contradicting_duplicates();
        if self.report.cases().is_empty() && self.report.problems().is_empty() {
            return Err(Refusal::ZeroChecks { reason: self.outer.plan_comment });
        }
        Ok(self.report)
    }
}

fn outcome(point: &Point) -> Outcome {
    match (&point.directive, point.ok) {
        (Some((Directive::Todo, _)), _) => Outcome::Todo,
        (Some((Directive::Skip, _)), true) => Outcome::Skipped,
        (None, true) => Outcome::Pass,
        (_, false) => Outcome::Fail,
    }
}

/// The numbers of `1..=planned` that are not among the keys, as ranges.
fn missing(seen: &BTreeMap<u64, u32>, planned: u64) -> Vec<(u64, u64)> {
    let mut missing = Vec::new();
    let mut next = 1_u64;
    for number in seen.keys().copied().filter(|number| (1..=planned).contains(number)) {
        if number > next {
            missing.push((next, number - 1));
        }
        if missing.len() >= ITEMS_MAX {
            return missing;
        }
        next = number.saturating_add(1);
    }
    // `seen` cannot hold u64::MAX points, so a saturated `next` is still a missing number's successor.
    if next <= planned && !seen.contains_key(&planned) {
        missing.push((next, planned));
    }
    missing
}

fn non_empty(text: &str) -> Option<String> {
    let text = clip(text);
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;

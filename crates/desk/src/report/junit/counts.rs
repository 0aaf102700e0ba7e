//! The counts in a suite's attributes against the cases in it (PC-18).
//!
//! Runners count differently, and all of these are met in the wild: the cases directly in the suite; the cases at
//! any depth (PHPUnit, the root of most reports); the direct children, a nested suite counting as one case (node).
//! A count is accepted if one of the three gives it. For a report in which everything passed the three differ only
//! in `tests`, so a wrong `failures` or `errors` never slips through.

use crate::report::{ITEMS_MAX, Refusal, Report, clip};

/// Countable properties of cases.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) tests: u64,
    /// Cases with a `failure`.
    pub(super) failures: u64,
    /// Cases with an `error`.
    pub(super) errors: u64,
    /// Cases with a `failure` or an `error`: some runners write only one attribute for both.
    pub(super) failing: u64,
    /// Cases with a `skipped`.
    pub(super) skipped: u64,
    /// Cases whose outcome is only listed, by element or by status attribute.
    pub(super) listed: u64,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.tests += other.tests;
        self.failures += other.failures;
        self.errors += other.errors;
        self.failing += other.failing;
        self.skipped += other.skipped;
        self.listed += other.listed;
    }

    /// The suite as one child of the suite around it.
    fn as_one_child(self) -> Counts {
        let one = |count: u64| count.min(1);
        Counts {
            tests: 1,
            failures: one(self.failures),
            errors: one(self.errors),
            failing: one(self.failing),
            // node counts a nested suite as skipped by looking at its failures.
            skipped: one(self.skipped.max(self.failing)),
            listed: one(self.listed),
        }
    }
}

/// The three ways to count one suite.
#[derive(Clone, Copy, Default)]
pub(super) struct Tallies {
    direct: Counts,
    all: Counts,
    children: Counts,
}

impl Tallies {
    pub(super) fn add_case(&mut self, case: Counts) {
        self.direct.add(case);
        self.all.add(case);
        self.children.add(case);
    }

    pub(super) fn add_suite(&mut self, suite: Tallies) {
        self.all.add(suite.all);
        self.children.add(suite.all.as_one_child());
    }
}

/// Compares the attributes of a `testsuite` or `testsuites` element and notes what contradicts.
pub(super) fn check(report: &mut Report, node: roxmltree::Node<'_, '_>, tallies: &Tallies) {
    type Ways = [fn(&Counts) -> u64; 2];
    const CHECKED: [(&str, Ways); 4] = [
        ("tests", [|c| c.tests, |c| c.tests]),
        ("failures", [|c| c.failures, |c| c.failing]),
        ("errors", [|c| c.errors, |c| c.errors]),
        ("skipped", [|c| c.skipped, |c| c.listed]),
    ];
    for (attribute, ways) in CHECKED {
        let Some(value) = node.attribute(attribute).map(str::trim).filter(|value| !value.is_empty()) else {
            continue;
        };
        let suite = clip(node.attribute("name").unwrap_or_default());
        // Counting lines walks the whole text, so it is done only for what will be kept.
        let line = || match report.problems().len() < ITEMS_MAX {
            true => u64::from(node.document().text_pos_at(node.range().start).row),
            false => 0,
        };
        let Ok(stated) = value.parse::<u64>() else {
            let problem = Refusal::JunitCountInvalid { suite, attribute, value: clip(value), line: line() };
            report.push_problem(problem);
            continue;
        };
        let all_ways = [tallies.direct, tallies.all, tallies.children];
        if !all_ways.iter().any(|counts| ways.iter().any(|way| way(counts) == stated)) {
            let counted = ways[0](&tallies.all);
            let problem = Refusal::JunitCountMismatch { suite, attribute, stated, counted, line: line() };
            report.push_problem(problem);
        }
    }
}

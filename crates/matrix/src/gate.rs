//! One scenario, all its runs: what holds, what fails, and what was not looked at.

use crate::header::Header;
use crate::lint::is_gate_of_every_tick;
use crate::outcome::Outcome;
use crate::scenario::{Demand, Judged, Scenario};
use crate::stats::Share;
use crate::unit::Unit;
use canon::{Object, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use verdict::report::Finding;

canon::codes! {
    /// What a report of the matrix finds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Fault {
        /// More failures of a check than are allowed; the code of the scenario says which.
        CheckFailed = "matrix_check_failed",
        /// The second run of a unit came to something else.
        TwiceDiffers = "matrix_twice_differs",
        /// A run or a gate panicked.
        Panicked = "matrix_unit_panicked",
        /// A check was not really made where it is asked for (16.2).
        Unchecked = "matrix_unchecked",
        /// A situation that must be reached was not.
        NotReached = "matrix_not_reached",
        /// Units of the plan have no outcome.
        Incomplete = "matrix_incomplete",
        /// A scenario of the stage has no outcome at all.
        NotRun = "matrix_scenario_not_run",
        /// Runs were made once only.
        Once = "matrix_once",
        /// What was run is not the holdout set under a freeze record.
        NotHoldout = "matrix_not_holdout",
        /// Holdout units were run again under the same freeze.
        HoldoutAgain = "matrix_holdout_again",
        /// The signed record of how the run ended says something else.
        RecordDiffers = "matrix_record_differs",
        /// No signed record says how a run of holdout units ended.
        NotEnded = "matrix_run_not_signed",
    }
}

impl Fault {
    /// A finding that fails.
    pub(crate) fn fails(self, place: String, detail: impl Into<String>) -> Finding {
        Finding { reason: self.code(), place, detail: detail.into(), fails: true }
    }

    /// A finding that only keeps it from being green.
    pub(crate) fn lowers(self, place: String, detail: impl Into<String>) -> Finding {
        Finding { reason: self.code(), place, detail: detail.into(), fails: false }
    }
}

/// Something that a gate counted. Integers; intervals are made of them in reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A share.
    Share {
        /// Of what.
        name: String,
        /// The counts.
        share: Share,
    },
    /// Two shares whose difference is asked for.
    Difference {
        /// Of what.
        name: String,
        /// The first and its label.
        one: (String, Share),
        /// The second and its label.
        other: (String, Share),
    },
}

impl Measure {
    /// The counts as a canonical value.
    pub(crate) fn value(&self) -> Value {
        let share = |share: &Share| Object::new().with("k", share.k).with("n", share.n);
        match self {
            Measure::Share { name, share: of } => {
                Object::new().with("name", name.as_str()).with("share", share(of)).into()
            }
            Measure::Difference { name, one, other } => Object::new()
                .with("name", name.as_str())
                .with("one", share(&one.1).with("label", one.0.as_str()))
                .with("other", share(&other.1).with("label", other.0.as_str()))
                .into(),
        }
    }
}

/// What a scenario's own gate says of all its runs together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateResult {
    /// What it found, with reasons of the registry.
    pub findings: Vec<Finding>,
    /// What it counted.
    pub measures: Vec<Measure>,
}

/// A check over all runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckTotal {
    /// How often it was really made.
    pub made: u64,
    /// Runs in which it was made at least once.
    pub runs: u64,
    /// Failures.
    pub failed: u64,
    /// Failures that are allowed.
    pub allowed: u64,
}

/// What a scenario came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Id of the scenario.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Units that should have run.
    pub planned: u64,
    /// Units that did.
    pub ran: u64,
    /// Ticks of all runs, each counted once.
    pub ticks: u64,
    /// Checks, those that nobody declared included.
    pub checks: BTreeMap<String, CheckTotal>,
    /// Situations and the number of runs that reached them; 0 for one that must be and was not.
    pub reached: BTreeMap<String, u64>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What the gate counted.
    pub measures: Vec<Measure>,
}

impl Judgement {
    /// The measures as a canonical value.
    pub(crate) fn measures_value(&self) -> Value {
        self.measures.iter().map(Measure::value).collect::<Vec<_>>().into()
    }

    /// Real checks and failures of all checks.
    pub fn totals(&self) -> (u64, u64) {
        self.checks.values().fold((0, 0), |(made, failed), total| (made + total.made, failed + total.failed))
    }
}

/// Judges the outcomes of one scenario, sorted by unit, against the units that were planned for it.
pub fn judge<W>(
    scenario: &Scenario<W>,
    header: &Header,
    world: &W,
    planned: &[Unit],
    outcomes: &[Outcome],
) -> Judgement {
    let mut judgement = Judgement {
        id: scenario.id,
        title: scenario.title,
        planned: planned.len() as u64,
        ran: outcomes.len() as u64,
        ticks: outcomes.iter().fold(0, |ticks, outcome| ticks.saturating_add(outcome.ticks)),
        checks: totals(scenario, header, outcomes),
        reached: reached(scenario, outcomes),
        findings: Vec::new(),
        measures: Vec::new(),
    };
    if outcomes.is_empty() {
        judgement.findings.push(Fault::NotRun.lowers(String::new(), "it has no outcome"));
        return judgement;
    }
    let ran: BTreeSet<&Unit> = outcomes.iter().map(|outcome| &outcome.unit).collect();
    let absent: Vec<&Unit> = planned.iter().filter(|unit| !ran.contains(unit)).collect();
    if !absent.is_empty() {
        let place = format!("{} of {} units", planned.len() - absent.len(), planned.len());
        judgement
            .findings
            .push(Fault::Incomplete.lowers(place, format!("the first without is {}", absent[0])));
    }
    judgement.findings.extend(failures(&judgement.checks, outcomes));
    judgement.findings.extend(differing(outcomes));
    judgement
        .findings
        .extend(scenario.checks.iter().filter_map(|check| unchecked(check.id, check.demand, outcomes)));
    let unreached =
        judgement.reached.iter().filter(|(_, runs)| **runs == 0).map(|(situation, _)| situation.clone());
    let unreached: Vec<Finding> =
        unreached.map(|situation| Fault::NotReached.lowers(situation, "no run reached it")).collect();
    judgement.findings.extend(unreached);
    let judged = Judged { outcomes, world, header };
    match catch_unwind(AssertUnwindSafe(|| (scenario.gate)(&judged))) {
        Ok(result) => {
            // A statistic over a part of the plan says nothing about the whole.
            let fails = |finding: Finding| Finding { fails: finding.fails && absent.is_empty(), ..finding };
            judgement.findings.extend(result.findings.into_iter().map(fails));
            judgement.measures = result.measures;
        }
        Err(_) => judgement.findings.push(Fault::Panicked.fails("gate".to_owned(), "the gate panicked")),
    }
    judgement
}

/// The check to which failures are added that an outcome counts and does not name.
const UNNAMED: &str = "(more)";

fn totals<W>(scenario: &Scenario<W>, header: &Header, outcomes: &[Outcome]) -> BTreeMap<String, CheckTotal> {
    let mut totals: BTreeMap<String, CheckTotal> =
        scenario.checks.iter().map(|check| (check.id.to_owned(), CheckTotal::default())).collect();
    for outcome in outcomes {
        for (check, made) in &outcome.checks {
            let total = totals.entry(check.clone()).or_default();
            total.made = total.made.saturating_add(*made);
            total.runs += u64::from(*made > 0);
        }
        for failure in &outcome.failures {
            totals.entry(failure.check.clone()).or_default().failed += 1;
        }
        let unnamed = outcome.failures_n.saturating_sub(outcome.failures.len() as u64);
        if unnamed > 0 {
            let total = totals.entry(UNNAMED.to_owned()).or_default();
            total.failed = total.failed.saturating_add(unnamed);
        }
    }
    for (check, total) in &mut totals {
        total.allowed = if is_gate_of_every_tick(check) { 0 } else { header.allowed(check) };
    }
    totals
}

fn reached<W>(scenario: &Scenario<W>, outcomes: &[Outcome]) -> BTreeMap<String, u64> {
    let mut reached: BTreeMap<String, u64> =
        scenario.needs.iter().map(|situation| ((*situation).to_owned(), 0)).collect();
    for situation in outcomes.iter().flat_map(|outcome| &outcome.reached) {
        *reached.entry(situation.clone()).or_default() += 1;
    }
    reached
}

/// One finding for every check and code, of those checks that failed more often than they may.
fn failures(totals: &BTreeMap<String, CheckTotal>, outcomes: &[Outcome]) -> Vec<Finding> {
    let over = |check: &str| totals.get(check).is_some_and(|total| total.failed > total.allowed);
    let mut by_code: BTreeMap<(&str, &str), (u64, String)> = BTreeMap::new();
    for outcome in outcomes {
        for failure in outcome.failures.iter().filter(|failure| over(&failure.check)) {
            let first = || match failure.tick {
                Some(tick) => format!("{} at tick {tick}", outcome.unit),
                None => outcome.unit.to_string(),
            };
            by_code.entry((&failure.check, &failure.code)).or_insert_with(|| (0, first())).0 += 1;
        }
    }
    let named = by_code.into_iter().map(|((check, code), (n, first))| {
        Fault::CheckFailed.fails(format!("{check} {code}: {first}"), format!("{n} times"))
    });
    let more = totals.get(UNNAMED).filter(|total| total.failed > 0);
    let more =
        more.map(|total| Fault::CheckFailed.fails(UNNAMED.to_owned(), format!("{} times", total.failed)));
    named.chain(more).collect()
}

/// Units whose second run came to something else: the first, and how many.
fn differing(outcomes: &[Outcome]) -> Option<Finding> {
    let differs = |outcome: &Outcome| {
        let field = outcome.twice.as_ref()?.differs.as_ref()?;
        Some(format!("{} in {field}", outcome.unit))
    };
    let all: Vec<String> = outcomes.iter().filter_map(differs).collect();
    all.first().map(|first| Fault::TwiceDiffers.fails(first.clone(), format!("{} runs", all.len())))
}

fn unchecked(check: &'static str, demand: Demand, outcomes: &[Outcome]) -> Option<Finding> {
    let made = |outcome: &Outcome| outcome.checks.get(check).copied().unwrap_or_default();
    let lacks = |outcome: &&Outcome| match demand {
        Demand::EveryTick => made(outcome) < outcome.ticks.max(1),
        Demand::EveryRun => made(outcome) == 0,
        Demand::SomeRun | Demand::Reported => false,
    };
    if demand == Demand::SomeRun && outcomes.iter().all(|outcome| made(outcome) == 0) {
        return Some(Fault::Unchecked.lowers(check.to_owned(), "in no run"));
    }
    let without: Vec<&Outcome> = outcomes.iter().filter(lacks).collect();
    let first = without.first()?;
    Some(Fault::Unchecked.lowers(format!("{check}: {}", first.unit), format!("{} runs", without.len())))
}

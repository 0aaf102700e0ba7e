//! What a scenario is: code with a declarative header. The crate knows nothing of rooms; `W` is whatever the scenarios
//! of a matrix share, such as the profile.

use crate::gate::GateResult;
use crate::header::Header;
use crate::outcome::Outcome;
use crate::unit::Unit;
use canon::{Object, Value};

/// Indices that may be run before anything is frozen (RC-SEE-02).
pub const CALIBRATION: (u64, u64) = (0, 49);
/// Indices that may be run under a freeze record only (RC-SEE-02, GD-05).
pub const HOLDOUT: (u64, u64) = (50, 149);

/// Which seeds a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// Those that numbers may be tuned on.
    Calibration,
    /// Those that count.
    Holdout,
}

impl Set {
    /// The word of manifests and reports.
    pub fn word(self) -> &'static str {
        match self {
            Set::Calibration => "calibration",
            Set::Holdout => "holdout",
        }
    }
}

/// Where the runs of a scenario come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// Seeds of a suite; both ranges are inclusive.
    Indexed {
        /// The suite id of the seed formula.
        suite: &'static str,
        /// Within [`CALIBRATION`].
        calibration: (u64, u64),
        /// Within [`HOLDOUT`].
        holdout: (u64, u64),
    },
    /// An enumeration that draws nothing (RC-SEE-03): it is the same before and after the freeze.
    Enumerated,
}

impl Seeds {
    /// All of both sets.
    pub const fn all(suite: &'static str) -> Seeds {
        Seeds::Indexed { suite, calibration: CALIBRATION, holdout: HOLDOUT }
    }

    /// Indices 0 to 19 and 50 to 69, for runs of days (GD-94).
    pub const fn long_runs(suite: &'static str) -> Seeds {
        Seeds::Indexed { suite, calibration: (0, 19), holdout: (50, 69) }
    }

    /// The inclusive range of a set; nothing for an enumeration.
    pub fn range(self, set: Set) -> Option<(u64, u64)> {
        match (self, set) {
            (Seeds::Indexed { calibration, .. }, Set::Calibration) => Some(calibration),
            (Seeds::Indexed { holdout, .. }, Set::Holdout) => Some(holdout),
            (Seeds::Enumerated, _) => None,
        }
    }

    /// The indices of a set, none for an enumeration.
    pub fn indices(self, set: Set) -> impl Iterator<Item = u64> {
        self.range(set).map(|(first, last)| first..=last).into_iter().flatten()
    }

    /// The suite of the seed formula.
    pub fn suite(self) -> Option<&'static str> {
        match self {
            Seeds::Indexed { suite, .. } => Some(suite),
            Seeds::Enumerated => None,
        }
    }
}

/// How much of a check a run must really make. A check over nothing is unchecked, never passed (16.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Once for every tick of every run: `INV-01`.
    EveryTick,
    /// At least once in every run.
    EveryRun,
    /// At least once in all runs together.
    SomeRun,
    /// It is reported and asked for nowhere: `LIV-07` at stage 0.
    Reported,
}

/// A check that a scenario makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// `INV-01`, `V01.2`.
    pub id: &'static str,
    /// How much of it is asked for.
    pub demand: Demand,
}

/// What the units of a scenario are chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Which seeds.
    pub set: Set,
    /// With the parts that only `--exhaustive` asks for (ruling 3).
    pub exhaustive: bool,
}

/// What is different about a run beside what it is of. None of it may change the outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// The second run of a unit.
    pub second: bool,
    /// Save, load and go on after every so many ticks: finds state that is not in what is saved.
    pub reload_every: Option<u64>,
}

/// What a run is given.
#[derive(Debug)]
pub struct Context<'a, W> {
    /// What the scenarios of the matrix share.
    pub world: &'a W,
    /// The header of the scenario.
    pub header: &'a Header,
    /// The seed of the unit's index; nothing in an enumeration, which draws nothing.
    pub seed: Option<u64>,
    /// Circumstances.
    pub pass: Pass,
}

/// What a gate is given: the outcomes of its scenario, sorted by unit.
#[derive(Debug)]
pub struct Judged<'a, W> {
    /// The outcomes.
    pub outcomes: &'a [Outcome],
    /// What the scenarios of the matrix share.
    pub world: &'a W,
    /// The header of the scenario.
    pub header: &'a Header,
}

/// A scenario.
#[derive(Debug)]
pub struct Scenario<W> {
    /// `V01`, `V09`.
    pub id: &'static str,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// Raised when its code means something else; part of the gate hash.
    pub version: u32,
    /// The first stage that it runs in (16.2).
    pub stage: u8,
    /// The modules that it needs, by the tags of 16.2 (RC-LNT-01).
    pub tags: &'static [&'static str],
    /// Where its runs come from.
    pub seeds: Seeds,
    /// The statements of [`Header`].
    pub header: &'static str,
    /// Name and text of every file of its code (`include_str!`): test scripts are part of the gate hash (RC-SEE-04).
    pub script: &'static [(&'static str, &'static str)],
    /// The checks that it makes.
    pub checks: &'static [Check],
    /// Situations that its runs must reach, or the result is yellow.
    pub needs: &'static [&'static str],
    /// Planted faults that turn it red: a scenario that nothing can turn red is a defect.
    pub mutations: &'static [&'static str],
    /// Its runs.
    pub units: fn(&Choice) -> Vec<Unit>,
    /// One run.
    pub run: fn(&Unit, &Context<'_, W>) -> Outcome,
    /// The replay record of a run, made only of failing ones; nothing where there is no such thing.
    pub record: fn(&Unit, &Context<'_, W>) -> Option<Vec<u8>>,
    /// What is asked of all runs together, beyond that none failed.
    pub gate: fn(&Judged<'_, W>) -> GateResult,
}

/// For scenarios without a replay record.
pub fn no_record<W>(_: &Unit, _: &Context<'_, W>) -> Option<Vec<u8>> {
    None
}

/// For scenarios that ask nothing of their runs together.
pub fn no_gate<W>(_: &Judged<'_, W>) -> GateResult {
    GateResult::default()
}

impl<W> Scenario<W> {
    /// The test definition as it enters the gate hash (GD-05): everything but the code, and the digest of the code.
    pub fn definition(&self) -> Value {
        let check =
            |check: &Check| Object::new().with("demand", demand_word(check.demand)).with("id", check.id);
        let script = |(name, text): &(&str, &str)| {
            Object::new().with("name", *name).with("sha256", canon::Digest::of(text.as_bytes()))
        };
        Object::new()
            .with("id", self.id)
            .with("title", self.title)
            .with("version", u64::from(self.version))
            .with("stage", u64::from(self.stage))
            .with("tags", self.tags.to_vec())
            .with("seeds", seeds_value(self.seeds))
            .with("header", self.header)
            .with("script", self.script.iter().map(script).collect::<Vec<_>>())
            .with("checks", self.checks.iter().map(check).collect::<Vec<_>>())
            .with("needs", self.needs.to_vec())
            .with("mutations", self.mutations.to_vec())
            .into()
    }
}

fn seeds_value(seeds: Seeds) -> Value {
    let range = |set| seeds.range(set).map(|(first, last)| vec![first, last]);
    Object::new()
        .with("suite", seeds.suite())
        .with("calibration", range(Set::Calibration))
        .with("holdout", range(Set::Holdout))
        .into()
}

fn demand_word(demand: Demand) -> &'static str {
    match demand {
        Demand::EveryTick => "every tick",
        Demand::EveryRun => "every run",
        Demand::SomeRun => "some run",
        Demand::Reported => "reported",
    }
}

//! Which units are run: the selection of a caller, applied to scenarios that passed the lint.

use crate::freeze::Definition;
use crate::lint::Linted;
use crate::scenario::{CALIBRATION, Choice, Set};
use crate::unit::Unit;
use crate::{Problem, shard::Shard};
use canon::{Digest, Hasher, Object};

/// What the caller asks for.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Which seeds.
    pub set: Set,
    /// With the parts that only `--exhaustive` asks for.
    pub exhaustive: bool,
    /// Ids of scenarios; all when empty.
    pub scenarios: Vec<String>,
    /// Arms as `V08/cells`; all when empty.
    pub arms: Vec<String>,
    /// Inclusive ranges of indices; all when empty. Units of enumerations stay.
    pub indices: Vec<(u64, u64)>,
    /// Single units; all when empty.
    pub units: Vec<Unit>,
}

impl Selection {
    /// Everything of a set.
    pub fn all(set: Set) -> Selection {
        let (scenarios, arms, indices, units) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Selection { set, exhaustive: false, scenarios, arms, indices, units }
    }

    fn takes(&self, unit: &Unit) -> bool {
        let within = |index: u64| self.indices.iter().any(|(first, last)| (*first..=*last).contains(&index));
        (self.scenarios.is_empty() || self.scenarios.contains(&unit.scenario))
            && (self.arms.is_empty() || self.arms.contains(&format!("{}/{}", unit.scenario, unit.arm)))
            && (self.indices.is_empty() || unit.index().is_none_or(within))
            && (self.units.is_empty() || self.units.contains(unit))
    }
}

/// How second runs are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Second {
    /// Save, load and go on after every so many ticks, where the scenario can.
    pub reload_every: Option<u64>,
}

impl Second {
    /// What is varied, in words that are the same on every machine.
    pub fn varied(self) -> Vec<String> {
        let reload = self.reload_every.map(|ticks| format!("save and load every {ticks} ticks"));
        ["order of the runs".to_owned()].into_iter().chain(reload).collect()
    }
}

/// What a run folder is of. All of it but `run_id` decides what is run, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The members, as they stand in `manifest.json`.
    pub members: Object,
    /// Digest of all units of the selection, those of other shards included.
    pub plan_digest: Digest,
    /// Which part of them.
    pub shard: Shard,
}

/// The units of a selection, sorted.
#[derive(Clone)]
pub struct Plan<'m, W> {
    /// The scenarios.
    pub linted: &'m Linted<'m, W>,
    /// What was asked for.
    pub selection: Selection,
    /// How second runs are made; nothing when there are none.
    pub second: Option<Second>,
    definition: Definition,
    whole: Vec<Unit>,
    shard: Shard,
}

impl<'m, W> Plan<'m, W> {
    /// Applies a selection.
    ///
    /// # Errors
    /// Nothing is selected, or something that does not exist.
    pub fn of(
        linted: &'m Linted<'m, W>,
        selection: Selection,
        second: Option<Second>,
        shard: Shard,
    ) -> Result<Plan<'m, W>, Problem> {
        if let Some(unknown) = selection.scenarios.iter().find(|id| linted.scenario(id).is_none()) {
            return Err(Problem::ScenarioUnknown(unknown.clone()));
        }
        let mut whole = units(linted, selection.set, selection.exhaustive);
        if let Some(unknown) = selection.units.iter().find(|unit| whole.binary_search(unit).is_err()) {
            return Err(Problem::UnitUnknown(unknown.to_string()));
        }
        whole.retain(|unit| selection.takes(unit));
        // Indices of scenarios that have none select nothing, rather than everything.
        let unheard = !selection.indices.is_empty() && whole.iter().all(|unit| unit.index().is_none());
        if whole.is_empty() || unheard {
            return Err(Problem::NothingSelected);
        }
        Ok(Plan { definition: Definition::of(linted), linted, selection, second, whole, shard })
    }

    /// What would be frozen.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// All units of the selection, those of other shards included.
    pub fn whole(&self) -> &[Unit] {
        &self.whole
    }

    /// The units of this shard.
    pub fn units(&self) -> impl Iterator<Item = &Unit> {
        self.shard.part(&self.whole)
    }

    /// The same selection, another part of it.
    #[must_use]
    pub fn with_shard(mut self, shard: Shard) -> Plan<'m, W> {
        self.shard = shard;
        self
    }

    /// Whether a unit of this shard may be run under a freeze record only.
    pub fn has_holdout(&self) -> bool {
        self.units().any(is_holdout)
    }

    /// What a run folder of this plan says.
    pub fn manifest(&self) -> Manifest {
        let plan_digest = digest(&self.whole);
        let second = self.second.map(|second| Object::new().with("varied", second.varied()));
        let members = Object::new()
            .with("format", FORMAT)
            .with("stage", u64::from(self.linted.stage()))
            .with("set", self.selection.set.word())
            .with("exhaustive", self.selection.exhaustive)
            .with("config_hash", self.linted.config_hash())
            .with("gate_hash", self.definition.gate_hash())
            .with("plan_sha256", plan_digest)
            .with("units_n", self.whole.len() as u64)
            .with("shard", self.shard.to_string())
            .with("second", second);
        Manifest { members, plan_digest, shard: self.shard }
    }
}

/// The format of a run folder.
pub const FORMAT: &str = "touchstone.matrix/1";

/// Whether a unit may be run under a freeze record only: everything beyond the calibration indices (GD-05).
pub fn is_holdout(unit: &Unit) -> bool {
    unit.index().is_some_and(|index| index > CALIBRATION.1)
}

/// Every unit of every scenario, sorted.
pub fn units<W>(linted: &Linted<'_, W>, set: Set, exhaustive: bool) -> Vec<Unit> {
    let choice = Choice { set, exhaustive };
    let mut units: Vec<Unit> =
        linted.scenarios().flat_map(|(scenario, _)| (scenario.units)(&choice)).collect();
    units.sort();
    units
}

fn digest(units: &[Unit]) -> Digest {
    let mut hasher = Hasher::new();
    units.iter().for_each(|unit| hasher.update(format!("{unit}\n").as_bytes()));
    hasher.finish()
}

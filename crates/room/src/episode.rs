//! Causal episodes (RC-RED-02 to RC-RED-05, GD-70, GD-71, GD-76): what one real cause may move, however many events it is
//! told in.
//!
//! At stage 0 two kinds of slow field exist: expectations, whose step the learner bounds itself (GD-49) and which learn once
//! from one cause, and `control_expectation`. Both go through the same book of clusters.

use crate::fixed::{ONE, div};
use crate::grid::Cell;
use crate::kind::Kind;
use crate::learn::Context;
use crate::profile::{Learning, Profile};

/// Components of one raw vector at most.
pub const FIELDS_MAX: usize = 5;

/// The field of `control_expectation`.
pub const CONTROL_EXPECTATION: u32 = 0;

/// The field of an expectation.
#[must_use]
pub fn expectation_field(kind: Kind, object: u8, context: Context) -> u32 {
    u32::from_be_bytes([1, kind as u8, object, context as u8])
}

/// The field of the believed cost of a cell.
#[must_use]
pub fn block_field(cell: Cell) -> u32 {
    u32::from_be_bytes([2, 0, 0, cell.0])
}

crate::state! {
    /// One field of a vector.
    #[derive(Copy)]
    pub struct Component {
        /// Which slow field.
        pub field: u32,
        /// By how much, µ.
        pub value: i64,
        /// The range of the field, µ: 1.0 for a value in 0…1.
        pub range: i64,
    }
}

crate::state! {
    /// One evidence cluster of an episode.
    pub struct Cluster {
        /// Its number.
        pub id: u32,
        /// Its vector was taken: events that tell it again are duplicates.
        pub told: bool,
        /// Its raw vector, each component clipped to the share of its range that one cluster may move.
        pub raw: Vec<Component>,
    }
}

crate::state! {
    /// One real cause.
    pub struct Episode {
        /// Its number; later causes have larger ones.
        pub id: u32,
        /// Its clusters in the order of their arrival.
        pub clusters: Vec<Cluster>,
        /// What it has moved so far.
        pub committed: Vec<Component>,
    }
}

crate::names! {
    /// Who took the body (RC-RED-06f).
    pub enum Overrider {
        /// The holder of a lease or of the assist window.
        Operator = "operator",
        /// Product Safety.
        Safety = "safety",
    }
}

crate::state! {
    /// The record of an override (GD-76). It never writes consent, Trust or Trait.
    pub struct Override {
        /// Its episode.
        pub episode: u32,
        /// Whose.
        pub by: Overrider,
        /// The Agent could perceive it.
        pub perceivable: bool,
        /// First tick.
        pub from: u64,
        /// First tick after it.
        pub until: Option<u64>,
    }
}

crate::state! {
    /// All episodes that can still be referred to, and what overrides have left.
    pub struct Episodes {
        /// In the order of their first cluster, at most `facts_max`: an event of an older one changes nothing.
        pub list: Vec<Episode>,
        /// Smallest number that may still be opened.
        pub first: u32,
        /// Records of overrides, at most `facts_max`.
        pub overrides: Vec<Override>,
        /// `control_expectation` at `quiet_since`, µ.
        pub control: i64,
        /// Tick from which days without an override are counted.
        pub quiet_since: u64,
    }
}

/// What an event was to the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A cluster that was not known.
    New,
    /// The cluster is known: nothing changes (logged as duplicate).
    Duplicate,
    /// The episode is too old to be known: nothing changes.
    Forgotten,
}

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// What the event was.
    pub evidence: Evidence,
    /// What is to be added to the fields, all of it in one step.
    pub deltas: Vec<Component>,
}

impl Episodes {
    /// No cause yet.
    #[must_use]
    pub fn new(profile: &Profile) -> Episodes {
        let control = profile.learning.control_expectation_initial;
        Episodes { list: Vec::new(), first: 0, overrides: Vec::new(), control, quiet_since: 0 }
    }

    /// Takes the raw vector of an event of a cluster, and says what its episode may move on account of it (GD-70). The sum
    /// over all commits of an episode depends on its clusters alone, not on their order and not on the number of events.
    ///
    /// # Panics
    /// When the vector has more than [`FIELDS_MAX`] components.
    pub fn commit(&mut self, profile: &Profile, episode: u32, cluster: u32, raw: &[Component]) -> Commit {
        assert!(raw.len() <= FIELDS_MAX, "{} components", raw.len());
        let Some(known) = self.enter(profile, episode) else {
            return Commit { evidence: Evidence::Forgotten, deltas: Vec::new() };
        };
        let own = known.cluster(cluster);
        if std::mem::replace(&mut own.told, true) {
            return Commit { evidence: Evidence::Duplicate, deltas: Vec::new() };
        }
        Commit { evidence: Evidence::New, deltas: known.take(&profile.learning, cluster, raw) }
    }

    /// Whether the learner may learn from this cluster: once for each field and cause. Clusters of one episode are no
    /// independent evidence.
    pub fn learns(&mut self, profile: &Profile, episode: u32, cluster: u32, field: u32) -> bool {
        let Some(known) = self.enter(profile, episode) else { return false };
        let touched = known.clusters.iter().any(|own| own.raw.iter().any(|part| part.field == field));
        if !touched {
            // No amount: its step is bounded by the learner and is no part of the budget.
            known.cluster(cluster).raw.push(Component { field, value: 0, range: ONE });
        }
        !touched
    }

    /// The episode, opened when it is new; nothing when it was forgotten.
    fn enter(&mut self, profile: &Profile, episode: u32) -> Option<&mut Episode> {
        if episode >= self.first && !self.list.iter().any(|known| known.id == episode) {
            self.list.push(Episode { id: episode, clusters: Vec::new(), committed: Vec::new() });
            self.forget(profile);
        }
        self.list.iter_mut().find(|known| known.id == episode)
    }

    /// Keeps as many episodes as there can be facts (GD-85), and remembers which numbers are gone.
    fn forget(&mut self, profile: &Profile) {
        let most = profile.memory.facts_max.unsigned_abs() as usize;
        while self.list.len() > most {
            let oldest = self.list.iter().map(|known| known.id).min().unwrap_or_default();
            self.list.retain(|known| known.id != oldest);
            self.first = self.first.max(oldest + 1);
        }
        let spare = self.overrides.len().saturating_sub(most);
        self.overrides.drain(..spare);
    }

    /// `control_expectation` at `now`, µ: each full day without an override brings some of it back (GD-76).
    #[must_use]
    pub fn control_expectation(&self, profile: &Profile, now: u64) -> i64 {
        let learning = &profile.learning;
        let missing = (learning.control_expectation_ceiling - self.control).max(0);
        self.control + (self.quiet_days(profile, now) * learning.control_expectation_restore).min(missing)
    }

    fn quiet_days(&self, profile: &Profile, now: u64) -> i64 {
        let busy = self.overrides.iter().any(|one| one.until.is_none());
        let quiet = if busy { 0 } else { now.saturating_sub(self.quiet_since) };
        (quiet / profile.clock.day_ticks.unsigned_abs()).cast_signed()
    }

    /// An override begins: its episode moves `control_expectation` once, however often it is told.
    pub fn overridden(&mut self, profile: &Profile, record: Override, cluster: u32) -> Commit {
        let step = Component {
            field: CONTROL_EXPECTATION,
            value: profile.learning.control_expectation_step,
            range: ONE,
        };
        if self.overrides.iter().any(|one| one.episode == record.episode) {
            // The takeover is the episode: another cluster of it is no second one.
            return Commit { evidence: Evidence::Duplicate, deltas: Vec::new() };
        }
        let commit = self.commit(profile, record.episode, cluster, &[step]);
        if commit.evidence == Evidence::New {
            let before = self.control_expectation(profile, record.from);
            let delta: i64 = commit.deltas.iter().map(|part| part.value).sum();
            self.control = settled(before, delta, 0, ONE);
            self.quiet_since = record.from;
            self.overrides.push(record);
        }
        commit
    }

    /// An override is over: days without one are counted from here.
    pub fn released(&mut self, episode: u32, now: u64) {
        for one in self.overrides.iter_mut().filter(|one| one.episode == episode && one.until.is_none()) {
            one.until = Some(now);
            self.quiet_since = now;
        }
    }
}

impl Episode {
    fn cluster(&mut self, id: u32) -> &mut Cluster {
        let place = self.clusters.iter().position(|own| own.id == id).unwrap_or_else(|| {
            self.clusters.push(Cluster { id, told: false, raw: Vec::new() });
            self.clusters.len() - 1
        });
        &mut self.clusters[place]
    }

    /// Stores a vector, and returns what the whole episode may move less what it has moved.
    fn take(&mut self, learning: &Learning, cluster: u32, raw: &[Component]) -> Vec<Component> {
        let clip = |part: &Component| {
            let most = crate::fixed::mul(learning.cluster_cap, part.range);
            Component { value: part.value.clamp(-most, most), ..*part }
        };
        self.cluster(cluster).raw.extend(raw.iter().map(clip));
        let target = target(learning, &self.sum());
        let moved: Vec<Component> = target.iter().map(|part| self.outstanding(part)).collect();
        self.committed = target;
        moved.into_iter().filter(|part| part.value != 0).collect()
    }

    fn outstanding(&self, target: &Component) -> Component {
        let done = self.committed.iter().find(|part| part.field == target.field);
        Component { value: target.value - done.map_or(0, |part| part.value), ..*target }
    }

    /// The sum of all clusters, in the order of fields.
    fn sum(&self) -> Vec<Component> {
        let mut sum: Vec<Component> = Vec::new();
        for part in self.clusters.iter().flat_map(|cluster| &cluster.raw) {
            match sum.binary_search_by_key(&part.field, |known| known.field) {
                Ok(place) => sum[place].value += part.value,
                Err(place) => sum.insert(place, *part),
            }
        }
        sum
    }
}

/// RC-RED-05: the vector, or the vector scaled to the budget of an episode. All components at once, never in write order.
fn target(learning: &Learning, sum: &[Component]) -> Vec<Component> {
    let norm: i64 = sum.iter().map(|part| div(part.value.abs(), part.range)).sum();
    let scale = |value: i64| {
        if norm > learning.episode_cap { share(value, learning.episode_cap, norm) } else { value }
    };
    sum.iter().map(|part| Component { value: scale(part.value), ..*part }).collect()
}

/// `value × cap / whole`, truncated toward zero, exact in between.
fn share(value: i64, cap: i64, whole: i64) -> i64 {
    let scaled = i128::from(value) * i128::from(cap) / i128::from(whole);
    i64::try_from(scaled).expect("a scaled value is not larger than the value")
}

/// A field after the deltas of all episodes of a tick: clamped once (GD-70).
#[must_use]
pub fn settled(before: i64, delta: i64, min: i64, max: i64) -> i64 {
    (before + delta).clamp(min, max)
}

/// What one evidence cluster contributes to a candidate, through one inlet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The cluster.
    pub cluster: u32,
    /// Its contribution, µ.
    pub value: i64,
}

/// GD-71, RC-RED-04: shares of one cluster, over all contributions of a candidate, together at most `lineage_cap`.
pub fn cap_lineage(learning: &Learning, shares: &mut [Share]) {
    for place in 0..shares.len() {
        let cluster = shares[place].cluster;
        if shares[..place].iter().any(|seen| seen.cluster == cluster) {
            continue;
        }
        let own = |share: &&mut Share| share.cluster == cluster;
        let whole: i64 = shares.iter_mut().filter(own).map(|share| share.value.abs()).sum();
        if whole > learning.lineage_cap {
            for one in shares.iter_mut().filter(own) {
                one.value = share(one.value, learning.lineage_cap, whole);
            }
        }
    }
}

#[cfg(test)]
mod tests;

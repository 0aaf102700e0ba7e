//! Planting, the faults that need more than a line where they act, and whether a planted run is red.

use super::{Case, Fault, Means, Planted, Stuck, nothing};
use crate::choose::Memory;
use crate::diff::{Side, first_difference};
use crate::draw::Stream;
use crate::fixed::ONE;
use crate::grid::{CellSet, Paths};
use crate::input::{Command, Input};
use crate::mind::Scored;
use crate::profile::Profile;
use crate::record::Feed;
use crate::retry::Ledger;
use crate::room::{Listen, Room, Trigger};
use crate::section::Phase;
use crate::setup::Setup;
use crate::start;
use crate::state::{Channel, Levels};
use std::cmp::Reverse;
use std::sync::Arc;

impl Room {
    /// Plants a fault. `source` is the impurity that it reads, for those that need one.
    pub fn plant(&mut self, fault: Fault, source: fn() -> u64) {
        self.planted = Planted { fault: Some(fault), source };
        match fault {
            Fault::StaleFoldLevels => self.state.levels.stuck = Stuck { fold: true, digest: false },
            Fault::StaleFoldQueue => self.state.queue.stuck = Stuck { fold: true, digest: false },
            Fault::StaleDigest => self.state.levels.stuck = Stuck { fold: false, digest: true },
            Fault::WholeTransfer => {
                let mut profile = Profile::clone(&self.profile);
                profile.learning.day_night_transfer = ONE;
                self.profile = Arc::new(profile);
            }
            _ => {}
        }
    }

    /// What a planted fault loses when a room goes on from a snapshot.
    pub(crate) fn lose_planted(&mut self) {
        let Some(fault) = self.planted.fault else { return };
        let fresh = start::state(&self.profile, &self.layout, &self.setup);
        let state = &mut self.state;
        match fault {
            Fault::LostPaths => self.paths = Arc::new(Paths::new(&self.grid, &CellSet::default())),
            Fault::LostLearner => state.expectations = fresh.expectations,
            Fault::LostHabits => state.habits.edit(Phase::P1).counters = Memory::new().counters,
            Fault::LostRetries => state.retries = fresh.retries,
            Fault::LostRecovery => state.recovery = fresh.recovery,
            Fault::LostPending => state.pending = fresh.pending,
            Fault::LostTriggers => state.mind.edit(Phase::P1).triggers = 0,
            Fault::LostRecent => state.seen.edit(Phase::P1).recent.clear(),
            Fault::LostDeferred => state.seen.edit(Phase::P1).deferred.clear(),
            Fault::LostClearRun => state.safety.edit(Phase::P1).clear_from = None,
            Fault::LostBands => self.bands_from_levels(),
            Fault::LostVisits => state.visits = fresh.visits,
            Fault::LostProgress => {
                let now = state.now;
                state.queue.edit(Phase::P1).all_mut().for_each(|item| item.progress = now);
            }
            Fault::LostEpisodes => state.episodes = fresh.episodes,
            _ => {}
        }
    }

    /// The order of candidates that a draw walks through, when it is not that of their bytes.
    pub(crate) fn disorder(&self, open: &mut [&Scored]) {
        if planted!(self, MapOrder) {
            let places = open.len();
            open.rotate_left((impurity!(self) % places as u64) as usize);
        }
        if planted!(self, LocaleOrder) && impurity!(self) & 1 == 1 {
            open.sort_by_key(|scored| Reverse(scored.candidate.id()));
        }
    }

    /// What a transaction counts and draws beside itself.
    pub(crate) fn miscount(&mut self) {
        if planted!(self, LeftoverCounter) {
            let counted = impurity!(self) & u64::from(u32::MAX);
            self.state.mind.edit(self.phase).transactions = counted as u32;
        }
        if planted!(self, ListeningDraws) && self.listen == Listen::Everything {
            self.draw(Stream::Pool);
        }
    }

    /// Inputs of one tick in another order than that of their channels.
    pub(crate) fn disorder_inputs(&self, taken: &mut [Command]) {
        if planted!(self, ArrivalOrder) && impurity!(self) & 1 == 1 {
            taken.reverse();
        }
        if planted!(self, SpeechFirst) {
            taken.sort_by_key(|command| (Reverse(command.verb.way()), command.id));
        }
    }

    /// Natural rates that are not those of the profile.
    pub(crate) fn skew(&self, levels: &mut Levels, asleep: bool) {
        if planted!(self, ClockInDecay) {
            levels.hydration -= (impurity!(self) & 1).cast_signed();
        }
        if planted!(self, DecayOffByOne) {
            levels.energy -= 1;
        }
        if planted!(self, DecayAsleep) && asleep {
            levels.energy = self.state.levels.energy + self.profile.regulation.energy_awake;
        }
    }

    /// The level that a band is made of.
    pub(crate) fn seen_level(&self, level: i64) -> i64 {
        let environment = planted!(self, EnvironmentThreshold).then(|| impurity!(self).cast_signed());
        level - environment.unwrap_or(0).clamp(0, self.profile.regulation.comfort)
    }

    /// What P13 does beside its work.
    pub(crate) fn maintain_planted(&mut self) {
        if planted!(self, DebugBranch) && impurity!(self) & 1 == 1 {
            self.trigger(Trigger::Idle);
        }
        let midnight = (self.state.now + 1).is_multiple_of(self.ticks(self.profile.clock.day_ticks));
        if planted!(self, TotalsResetDaily) && midnight {
            *self.state.retries.edit(self.phase) = Ledger::new();
        }
    }

    fn bands_from_levels(&mut self) {
        for channel in Channel::ALL {
            let band = crate::step::fresh_band(&self.profile, self.state.levels.of(channel));
            self.state.regulation.edit(Phase::P1).band[channel.index()] = band;
        }
    }
}

/// Whether a run of these inputs is red, for faults that need no impurity and no second process: what a shrink asks. The
/// same answer for the same arguments.
///
/// # Panics
/// When the setup cannot start.
#[must_use]
pub fn fails(fault: Fault, setup: &Setup, inputs: &[Input], ticks: u64) -> bool {
    let room = || Room::new(Profile::reference(), setup.clone()).expect("the setup of a case starts");
    let mut faulty = room();
    faulty.plant(fault, nothing);
    match fault.row().means {
        Means::Invariant(check) => {
            let mut feed = Feed::new(inputs);
            (0..ticks).any(|tick| {
                faulty.step(feed.at(tick));
                faulty.checks().broken & (1 << check as u32) != 0
            })
        }
        Means::Clean => {
            let (a, b) = (Side { room: room(), inputs }, Side { room: faulty, inputs });
            first_difference(a, b, ticks).is_some()
        }
        Means::Nondeterminism(_) | Means::Snapshot | Means::Fold => false,
    }
}

impl Case {
    /// Whether it is red as it stands.
    #[must_use]
    pub fn fails(&self, fault: Fault) -> bool {
        fails(fault, &self.setup, &self.inputs, self.ticks)
    }
}

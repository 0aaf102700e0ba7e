//! One room under a scenario: it is stepped, saved and loaded as the pass asks, and everything that it checked by itself
//! goes into the outcome.

use super::Rooms;
use crate::outcome::Outcome;
use crate::scenario::{Check as Asked, Context, Demand};
use crate::unit::Unit;
use room::Room;
use room::check::Check;
use room::draw::mix;
use room::event::Event;
use room::input::{Command, Input};
use room::profile::Profile;
use room::record;
use room::setup::{GIVEN_SEED, Identity, Setup, seed_text};
use std::sync::Arc;

/// The checks that every run of a room makes by itself: invariants on every tick, the gates of progress where they have
/// something to look at. LIV-07 is unchecked at stage 0 (16.2).
pub(super) const ROOM_CHECKS: [Asked; 8] = [
    every_tick("INV-01"),
    every_tick("INV-02"),
    every_tick("INV-03"),
    every_tick("INV-04"),
    every_tick("INV-05"),
    every_tick("INV-07"),
    Asked { id: "INV-08", demand: Demand::EveryRun },
    Asked { id: "LIV-02", demand: Demand::EveryRun },
];

/// The checks of the room and those of a scenario.
pub(super) const fn checks<const N: usize>(own: &[Asked]) -> [Asked; N] {
    assert!(N == ROOM_CHECKS.len() + own.len());
    let mut all = [ROOM_CHECKS[0]; N];
    let mut n = 0;
    while n < N {
        all[n] = if n < ROOM_CHECKS.len() { ROOM_CHECKS[n] } else { own[n - ROOM_CHECKS.len()] };
        n += 1;
    }
    all
}

/// The same for a scenario most of whose runs have no room: the room's checks are asked for where there is one.
pub(super) const fn checks_of_some<const N: usize>(own: &[Asked]) -> [Asked; N] {
    let mut all: [Asked; N] = checks(own);
    let mut n = 0;
    while n < ROOM_CHECKS.len() {
        all[n].demand = Demand::SomeRun;
        n += 1;
    }
    all
}

/// Notes a situation when it is there.
pub(super) fn reach_if(outcome: &mut Outcome, there: bool, situation: &str) {
    if there {
        outcome.reach(situation);
    }
}

const fn every_tick(id: &'static str) -> Asked {
    Asked { id, demand: Demand::EveryTick }
}

/// The first save and load comes within so many ticks: the length of the shortest runs.
const EARLY: u64 = 64;

/// A room and its outcome.
pub(super) struct Drive<'a> {
    pub(super) room: Room,
    pub(super) outcome: Outcome,
    world: &'a Rooms,
    reload_every: Option<u64>,
    /// The tick of a first save and load, another one in every run: short runs are saved and loaded too.
    reload_early: Option<u64>,
    /// Every command that was given, for the record of a failing run.
    pub(super) given: Vec<Input>,
}

impl<'a> Drive<'a> {
    /// A room for a unit.
    ///
    /// # Panics
    /// When the setup of a scenario cannot start: the runner makes a finding of it.
    pub(super) fn start(unit: &Unit, context: &Context<'a, Rooms>, setup: Setup) -> Drive<'a> {
        let world = context.world;
        let mut room = Room::new(Arc::clone(&world.profile), setup).expect("the setup of a scenario starts");
        (world.prepare)(&mut room);
        let outcome = Outcome::new(unit);
        let reload_every = context.pass.reload_every;
        let reload_early = reload_every.map(|period| 1 + mix(room.fold()) % EARLY.min(period));
        Drive { room, outcome, world, reload_every, reload_early, given: Vec::new() }
    }

    /// One tick.
    pub(super) fn step(&mut self, commands: &[Command]) -> &[Event] {
        let tick = self.room.now();
        let again = self.reload_every.is_some_and(|period| tick > 0 && tick.is_multiple_of(period));
        if again || self.reload_early == Some(tick) {
            self.reload();
        }
        self.given.extend(commands.iter().map(|command| Input { tick, command: command.clone() }));
        self.room.step(commands);
        if tick.is_multiple_of(FOLD_EVERY) {
            self.outcome.state_hash = mix(self.outcome.state_hash ^ self.room.fold());
        }
        self.room.events()
    }

    fn reload(&mut self) {
        reload(&mut self.room, &self.world.profile);
    }

    /// A copy of the room that goes its own way. One in [`SAMPLED`] is looked at closely.
    pub(super) fn fork(&self, number: u64, span: u64) -> Fork {
        self.fork_of(number.is_multiple_of(SAMPLED), number / SAMPLED % span)
    }

    /// A copy of the room that goes its own way. One that is sampled is folded in every tick, and saved and loaded before
    /// its tick `after` from 0 on, when the pass asks for that.
    pub(super) fn fork_of(&self, sampled: bool, after: u64) -> Fork {
        let from = self.room.now();
        let reload_at = (sampled && self.reload_every.is_some()).then_some(from + after);
        Fork { room: self.room.fork(), from, reload_at, folds: sampled.then_some(0) }
    }

    /// The outcome, with what the room checked.
    pub(super) fn finish(mut self) -> Outcome {
        take_checks(&mut self.outcome, &self.room);
        self.outcome.ticks += self.room.now();
        self.outcome.state_hash = mix(self.outcome.state_hash ^ self.room.fold());
        self.outcome
    }

    /// Adds the run to the outcome of a unit that has several. Of each number the least is kept.
    pub(super) fn add_to(mut self, outcome: &mut Outcome) {
        take_checks(&mut self.outcome, &self.room);
        let own = self.outcome;
        own.checks.iter().for_each(|(check, n)| outcome.checked(check, *n));
        own.failures.iter().for_each(|failure| outcome.fail(&failure.check, failure.tick, &failure.code));
        own.reached.iter().for_each(|situation| outcome.reach(situation));
        for (name, count) in &own.counts {
            let least = outcome.counts.entry(name.clone()).or_insert(i64::MAX);
            *least = (*least).min(*count);
        }
        outcome.ticks += self.room.now();
        outcome.state_hash = mix(outcome.state_hash ^ own.state_hash ^ self.room.fold());
    }

    /// The record of the run, to be replayed.
    pub(super) fn record(self) -> Option<Vec<u8>> {
        let ticks = self.room.now();
        record::record(&self.world.profile, self.room.setup().clone(), self.given, ticks)
            .ok()
            .map(|r| r.text())
    }
}

/// The state is folded into the outcome once in so many ticks, and at the end.
const FOLD_EVERY: u64 = 64;
/// One fork in so many is sampled: a snapshot takes longer than a fork.
const SAMPLED: u64 = 64;

/// A room that went off from the one of a [`Drive`].
pub(super) struct Fork {
    pub(super) room: Room,
    from: u64,
    reload_at: Option<u64>,
    /// Of every tick so far, when it is sampled.
    folds: Option<u64>,
}

impl Fork {
    /// One tick.
    pub(super) fn step(&mut self, commands: &[Command]) -> &[Event] {
        if self.reload_at == Some(self.room.now()) {
            let profile = Arc::clone(self.room.profile());
            reload(&mut self.room, &profile);
        }
        self.room.step(commands);
        if let Some(folds) = &mut self.folds {
            *folds = mix(*folds ^ self.room.fold());
        }
        self.room.events()
    }

    /// Its ticks, checks and last state become part of the outcome.
    pub(super) fn finish(mut self, outcome: &mut Outcome) {
        take_checks(outcome, &self.room);
        outcome.ticks += self.room.now() - self.from;
        outcome.state_hash = mix(outcome.state_hash ^ self.room.fold() ^ self.folds.unwrap_or(0));
    }
}

/// Saves, loads and goes on: what is not in the snapshot is lost here (PC-72).
fn reload(room: &mut Room, profile: &Arc<Profile>) {
    let saved = room.save();
    let loaded = Room::load(Arc::clone(profile), &saved).expect("a saved room is read");
    room.go_on_from(loaded);
}

/// Puts the counts and violations of a room into an outcome.
///
/// At the end of a run what was kept of the state must be what it is now (a fold that is not renewed sees no change).
pub(super) fn take_checks(outcome: &mut Outcome, room: &Room) {
    if room.state().stale().is_some() {
        outcome.fail("fold", Some(room.now()), "stale");
    }
    let checks = room.checks();
    for check in Check::ALL {
        if checks.count(check) > 0 {
            outcome.checked(check.name(), checks.count(check));
        }
        if checks.broken & (1 << check as u32) != 0 {
            let tick = checks.first.as_ref().filter(|first| first.check == check).map(|first| first.tick);
            outcome.fail(check.name(), tick, "violated");
        }
    }
}

/// The setup of a unit: suite, index and identity by its names; an enumeration has no seed and takes 0.
pub(super) fn setup(unit: &Unit, context: &Context<'_, Rooms>) -> Setup {
    let identity = Identity::of(&unit.identity).unwrap_or(Identity::Mira);
    let mut setup = Setup::of(&unit.scenario, unit.index().unwrap_or(0), identity);
    setup.seed = seed_text(context.seed.unwrap_or(0));
    if context.seed.is_none() {
        // An enumeration draws nothing; what stands there is no seed of the formula.
        setup.suite = GIVEN_SEED.to_owned();
    }
    setup
}

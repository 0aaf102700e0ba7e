//! V01b.3 and V01b.4: what the worst source of discomfort and the two ends of Engagement ask for.

use super::Rooms;
use super::drive::{Drive, setup};
use crate::outcome::Outcome;
use crate::scenario::Context;
use crate::unit::Unit;
use room::Listen;
use room::event::{Considered, Decision, What};
use room::fixed::ONE;
use room::input::{Command, Verb};
use room::item::{Goal, Tier};
use room::setup::RunMode;
use room::state::{Band, Channel, Levels};
use room::world::Obj;

/// The subchannels of Comfort, and what serves each.
const COMFORT: [Channel; 3] = [Channel::Pain, Channel::Thermal, Channel::Posture];
/// Levels of the matrix (AR-38): PainComfort and ThermalComfort.
const MATRIX: [(i64, i64); 4] = [(ONE, 700_000), (ONE, 100_000), (100_000, 700_000), (100_000, 100_000)];
/// Step of the sweeps (GD-91).
const STEP: i64 = 50_000;

/// Ticks from a decision to its item in PREPARING: pending, preparing, and one tick in it.
const UNDER_WAY: u64 = 3;

/// A room with these levels, after its first decision.
fn decide<'a>(unit: &Unit, context: &Context<'a, Rooms>, levels: Levels) -> (Drive<'a>, Vec<Decision>) {
    let mut setup = setup(unit, context);
    setup.fixture.levels = Some(levels);
    let mut drive = Drive::start(unit, context, setup);
    drive.room.listen(Listen::Everything);
    let decisions = drive.step(&[]).iter().filter_map(|event| match &event.what {
        What::Decision(decision) => Some((**decision).clone()),
        _ => None,
    });
    let decisions = decisions.collect();
    (drive, decisions)
}

/// Goes on until what was decided is on the body, and adds the run to the outcome of its unit.
fn take(outcome: &mut Outcome, mut drive: Drive<'_>) {
    for _ in 0..UNDER_WAY {
        drive.step(&[]);
    }
    drive.add_to(outcome);
}

fn comfortable() -> Levels {
    Levels {
        energy: ONE,
        hydration: ONE,
        calories: ONE,
        thermal: 700_000,
        pain: 0,
        posture: 700_000,
        engagement: 0,
    }
}

fn with(pain: i64, thermal: i64) -> Levels {
    Levels { pain: ONE - pain, thermal, ..comfortable() }
}

/// V01b.3.
pub(super) fn comfort(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let mut outcome = Outcome::new(unit);
    for (pain, thermal) in MATRIX {
        let levels = with(pain, thermal);
        let worst = pain.min(thermal).min(levels.posture);
        outcome.require("V01b.3", levels.comfort() == worst, None, "not_the_minimum");
        one(unit, context, levels, &mut outcome);
    }
    // Both sources over their whole range, alone and against each other.
    let mut sweeps = [Sweep::default(), Sweep::default()];
    for level in steps(0, ONE).rev() {
        let gains =
            [with(level, 700_000), with(ONE, level)].map(|levels| one(unit, context, levels, &mut outcome));
        for (sweep, gain) in sweeps.iter_mut().zip(gains) {
            sweep.next(gain, &mut outcome);
        }
    }
    let below = context.world.profile.regulation.comfort;
    for (pain, thermal) in
        steps(0, below).flat_map(|pain| steps(0, below).map(move |thermal| (pain, thermal)))
    {
        one(unit, context, with(pain, thermal), &mut outcome);
    }
    outcome
}

fn steps(from: i64, to: i64) -> impl DoubleEndedIterator<Item = i64> + Clone {
    (0..=(to - from) / STEP).map(move |n| from + n * STEP)
}

/// The worst source falls: what the first candidate gains never falls with it.
#[derive(Default)]
struct Sweep(i64);

impl Sweep {
    fn next(&mut self, gain: Option<i64>, outcome: &mut Outcome) {
        let gain = gain.unwrap_or(0);
        outcome.require("V01b.3", gain >= self.0, None, "not_monotone");
        self.0 = gain;
    }
}

/// One combination: alarm flags, and whom the first comfort candidate is for. Gives what it gains; `None` without one.
fn one(unit: &Unit, context: &Context<'_, Rooms>, levels: Levels, outcome: &mut Outcome) -> Option<i64> {
    let (drive, decisions) = decide(unit, context, levels);
    let state = drive.room.state();
    let profile = drive.room.profile();
    let alarm = |channel: Channel| state.regulation.band[channel.index()] == Band::Danger;
    for channel in COMFORT {
        let danger = state.levels.of(channel) < profile.regulation.danger_enter;
        outcome.require("V01b.3", alarm(channel) == danger, None, "alarm");
    }
    outcome.require("V01b.3", levels.pain > 0 || !alarm(Channel::Pain), None, "alarm_without_pain");
    if COMFORT.into_iter().any(alarm) {
        outcome.reach("alarm");
    }
    let lowest = COMFORT.into_iter().min_by_key(|channel| (state.levels.of(*channel), channel.index()))?;
    let low = state.levels.of(lowest) < profile.regulation.comfort;
    // Channels in danger that are not falling have the same deadline: their order breaks the tie (GD-40).
    let wanted = COMFORT.into_iter().find(|channel| alarm(*channel)).or(Some(lowest).filter(|_| low));
    let first = decisions.first().and_then(first_comfort);
    let found = first.map(|first| first.channel);
    let code = if low { "first_candidate" } else { "candidate_without_need" };
    outcome.require("V01b.3", found == wanted, None, code);
    if low && levels.of(Channel::Pain) != levels.thermal {
        let pain = found == Some(Channel::Pain);
        outcome.reach(if pain { "pain before temperature" } else { "temperature before pain" });
    }
    take(outcome, drive);
    first.map(|first| first.gain)
}

/// The number-one candidate for Comfort.
#[derive(Clone, Copy)]
struct First {
    channel: Channel,
    gain: i64,
}

/// What Tier 1 chose, or the first that Tier 3 considered.
fn first_comfort(decision: &Decision) -> Option<First> {
    let of = |id: &str| COMFORT.into_iter().find(|c| id.starts_with(&format!("{}:", c.goal().name())));
    if decision.tier == Some(Tier::T1) {
        let channel = decision.chosen.as_deref().and_then(of)?;
        return Some(First { channel, gain: ONE });
    }
    // One that is below the admission is a candidate all the same, and its gain is in its record.
    let mut all = decision.candidates.iter().filter_map(|c| Some((of(&c.id)?, c.parts?.gain)));
    all.next().map(|(channel, gain)| First { channel, gain })
}

/// An open window cools by night and not by day (GD-32).
pub(super) fn window(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let profile = &context.world.profile;
    let mut setup = setup(unit, context);
    setup.mode = RunMode::Lab;
    let [x, y] = profile.world.anchor_window;
    let beside = super::bed::cell((x, y + 1));
    setup.fixture.spawn = Some(beside);
    setup.fixture.before = vec![Command::new(1, Verb::SwitchOn).on(Obj::Window)];
    let mut drive = Drive::start(unit, context, setup);
    let falls = |drive: &mut Drive<'_>, commands: &[Command]| {
        let before = drive.room.state().levels.thermal;
        drive.step(commands);
        before - drive.room.state().levels.thermal
    };
    let day = falls(&mut drive, &[]);
    let night = (profile.clock.night_begin - profile.clock.clock_origin).cast_unsigned();
    while drive.room.now() < night {
        drive.step(&[]);
    }
    let night = falls(&mut drive, &[Command::new(2, Verb::Teleport).at(beside)]);
    let at = Some(drive.room.now());
    drive.outcome.require("V01b.3", day == 0, at, "cold_by_day");
    drive.outcome.require("V01b.3", night == profile.regulation.thermal_cold, at, "warm_by_night");
    drive.finish()
}

/// V01b.4.
pub(super) fn engagement(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let mut outcome = Outcome::new(unit);
    let band = context.world.profile.regulation.engagement_band;
    for engagement in steps(-ONE, ONE) {
        let (drive, decisions) = decide(unit, context, Levels { engagement, ..comfortable() });
        let candidates = decisions.first().map_or(&[][..], |decision| &decision.candidates);
        let gains = |candidate: &Considered| candidate.parts.is_some_and(|parts| parts.gain > 0);
        let is = |candidate: &Considered, goal: Goal| candidate.id.starts_with(&format!("{}:", goal.name()));
        let under = candidates.iter().any(|c| is(c, Goal::Inspect) && gains(c));
        let over = candidates.iter().any(|c| is(c, Goal::Relief));
        outcome.require("V01b.4", !candidates.is_empty(), None, "no_decision");
        outcome.require("V01b.4", under == (engagement < -band), Some(drive.room.now()), "underload");
        outcome.require("V01b.4", over == (engagement > band), Some(drive.room.now()), "overload");
        for (there, situation) in [(under, "underload"), (over, "overload")] {
            if there {
                outcome.reach(situation);
            }
        }
        take(&mut outcome, drive);
    }
    outcome
}

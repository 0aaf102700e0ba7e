//! V03: a danger breaks out at each tick of the longest Interaction, and a lease wants the body back in it (GD-92).
//!
//! The lease is asked for in the tick before: it would begin in the tick of the onset. The control run shows that without a
//! danger it does, and that its command then runs.

use super::bed::{FIRST_COMMAND, cell, fall_asleep, fixture};
use super::drive::{Drive, Fork, checks, setup};
use super::v03_watch::Watch;
use super::{Rooms, v03_heater};
use crate::outcome::Outcome;
use crate::scenario::{Check, Choice, Context, Demand, Scenario, Seeds, no_gate};
use crate::unit::{At, Unit, enumerated};
use room::input::{Command, Verb};
use room::item::{Label, Phase};
use room::kind::Kind;
use room::profile::Profile;
use room::setup::{Hazard, RunMode, Setup};
use room::state::SafetyMode;
use room::{Listen, Room, SetupFault};
use std::sync::Arc;

const HEADER: &str = "
claim: At each of the K.fixture.v03_sleep ticks of a Sleep a danger breaks out, with the risk of K.fixture.v03_series and
  the noise of K.fixture.v03_noise, and for K.fixture.v03_fork ticks a command of a lease wants the body back at the source.
claim: Each episode leaves CLEAR once. RECOVERY comes with the K.safety.clear_hold th tick in a row below
  K.safety.recovery_below, CLEAR with the K.safety.recovery_hold th after it.
claim: A time to harm of 27 ticks is admitted and the body is safe 13 ticks after the onset; 26 and 25 ticks are refused as
  controllable before the first tick, and are uncontrollable where they are declared so.
claim: No command of the lease runs before CLEAR and none revives after it; of a hidden danger neither type nor cause is
  in the facts and reasons of the Agent.
threshold entries: 1
threshold safe: 13 ticks
threshold ttc: K.fixture.v03_ttc
threshold danger_cells: 24
threshold steps: 6
threshold steps_from_bed: 3
field: safety.mode
field: agency.owner
";

const CHECKS: [Check; 15] = checks(&[
    Check { id: "INV-09", demand: Demand::EveryRun },
    Check { id: "LIV-06", demand: Demand::EveryRun },
    Check { id: "LIV-05", demand: Demand::EveryRun },
    Check { id: "V03.1", demand: Demand::EveryRun },
    Check { id: "V03.2", demand: Demand::EveryRun },
    Check { id: "V03.3", demand: Demand::EveryRun },
    Check { id: "V03.4", demand: Demand::EveryRun },
]);

/// Noise without a deadline and noise with the shortest admissible time to harm, each perceivable and hidden.
const ARMS: [&str; 4] = ["noise.seen", "noise.hidden", "ttc27.seen", "ttc27.hidden"];
/// Parts of each arm.
const CHUNKS: u64 = 16;
/// Energy at the start of the Sleep.
const ENERGY: i64 = 300_000;

/// The scenario.
pub(super) fn scenario() -> Scenario<Rooms> {
    Scenario {
        id: "V03",
        title: "Safety threshold noise and opposing direct control",
        version: 1,
        stage: 0,
        tags: &[
            "world",
            "safety",
            "regulation",
            "tier_utility",
            "body",
            "queue",
            "reducer_physical",
            "agency",
        ],
        seeds: Seeds::Enumerated,
        header: HEADER,
        script: &[
            ("v03.rs", include_str!("v03.rs")),
            ("v03_heater.rs", include_str!("v03_heater.rs")),
            ("v03_watch.rs", include_str!("v03_watch.rs")),
            ("bed.rs", include_str!("bed.rs")),
            ("drive.rs", include_str!("drive.rs")),
        ],
        checks: &CHECKS,
        needs: &[
            "Safety episode",
            "safe set reached",
            "danger perceived",
            "hidden protection",
            "lease command ran without danger",
            "held lease was cut",
            "uncontrollable",
            "danger in RECOVERY",
        ],
        mutations: &[
            "lost_clear_run",
            "owner_not_switched",
            "no_preemption",
            "risk_resubmitted",
            "lease_in_danger",
            "evacuates_slowly",
            "exit_at_once",
            "threshold_exclusive",
            "risk_not_marked",
            "calls_again",
            "harmed_again",
            "hidden_cause_told",
        ],
        units: |_: &Choice| enumerated("V03", &ARMS, &["mira"], CHUNKS),
        run,
        record,
        gate: no_gate,
    }
}

/// What an arm is about.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) ttc: u64,
    pub(super) visible: bool,
    /// Its time to harm runs out within a fork.
    pub(super) urgent: bool,
}

impl Case {
    fn of(unit: &Unit, profile: &Profile) -> Case {
        let urgent = unit.arm.starts_with("ttc27");
        // Without a deadline: it stays farther away than the latest reaction time until after the fork.
        let far = profile.fixture.v03_fork + profile.safety.evac_at_remaining_ttc + 1;
        let ttc = if urgent { profile.fixture.v03_ttc[0] } else { far };
        Case { ttc: ttc.cast_unsigned(), visible: unit.arm.ends_with(".seen"), urgent }
    }

    fn hazard(self, profile: &Profile) -> Hazard {
        let [x, y] = profile.fixture.v03_source;
        Hazard { cell: cell((x, y)), ttc: self.ttc, visible: self.visible, controllable: true }
    }
}

fn start<'a>(unit: &Unit, context: &Context<'a, Rooms>) -> Drive<'a> {
    let profile = &context.world.profile;
    let mut setup = setup(unit, context);
    setup.mode = RunMode::Lab;
    setup.fixture = fixture(profile, ENERGY);
    setup.fixture.sleep_hold = true;
    setup.fixture.hazard = Some(Case::of(unit, profile).hazard(profile));
    Drive::start(unit, context, setup)
}

/// The running ticks of the Sleep, from 1, that a unit forks at.
fn part(unit: &Unit, profile: &Profile) -> std::ops::Range<u64> {
    let At::Chunk(part) = unit.at else { return 0..0 };
    let ticks = profile.fixture.v03_sleep.cast_unsigned();
    1 + ticks * part / CHUNKS..1 + ticks * (part + 1) / CHUNKS
}

/// What comes in at tick `n` of a fork: the request, the onset, and then the same command in every tick.
fn command(hazard: &Hazard, n: u64) -> Command {
    let id = FIRST_COMMAND + n;
    match n {
        0 => Command::new(id, Verb::LeaseRequest),
        1 => Command::new(id, Verb::Ignite),
        _ => to_source(hazard, id),
    }
}

fn to_source(hazard: &Hazard, id: u64) -> Command {
    Command::new(id, Verb::Command).doing(Kind::WalkTo).at(hazard.cell)
}

fn run(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let mut drive = forks(unit, context, &mut |_, _| false).0;
    let profile = Arc::clone(&context.world.profile);
    refusals(unit, context, &mut drive.outcome);
    v03_heater::heater(unit, context, &mut drive.outcome);
    geometry(context, &drive.room, &mut drive.outcome);
    let hazard = Case::of(unit, &profile).hazard(&profile);
    if let Some(held) = without_danger(&drive, &hazard, &profile) {
        drive.outcome.reach("lease command ran without danger");
        cut(held, &hazard, &mut drive.outcome);
    } else {
        drive.outcome.require("V03.1", false, None, "control_never_ran");
    }
    drive.finish()
}

/// Every fork of a unit, until `stop` says so of the number of a fork and the failures so far.
fn forks<'a>(
    unit: &Unit,
    context: &Context<'a, Rooms>,
    stop: &mut dyn FnMut(u64, &Outcome) -> bool,
) -> (Drive<'a>, Option<u64>) {
    let profile = Arc::clone(&context.world.profile);
    let (case, part) = (Case::of(unit, &profile), part(unit, &profile));
    let hazard = case.hazard(&profile);
    let mut drive = start(unit, context);
    let Some(sleep) = fall_asleep(&mut drive) else {
        drive.outcome.require("V03.1", false, None, "not_asleep");
        return (drive, None);
    };
    for tick in 1..part.end {
        if part.contains(&tick) {
            fork(&mut drive, context, case, &hazard, (sleep, tick));
            if stop(tick, &drive.outcome) {
                return (drive, Some(tick));
            }
        }
        drive.step(&[]);
    }
    (drive, None)
}

/// One fork: the danger breaks out in running tick `tick` of the Sleep.
fn fork(
    drive: &mut Drive<'_>,
    context: &Context<'_, Rooms>,
    case: Case,
    hazard: &Hazard,
    (sleep, tick): (u32, u64),
) {
    let span = context.world.profile.fixture.v03_fork.cast_unsigned();
    let mut fork = drive.fork(tick, span);
    if !case.visible {
        fork.room.listen(Listen::Everything);
    }
    fork.step(&[command(hazard, 0)]);
    let mut watch = Watch::new(&fork.room, context.header, case, sleep);
    for n in 1..=span {
        fork.step(&[command(hazard, n)]);
        watch.look(&fork.room, hazard);
    }
    watch.judge(&fork.room, &mut drive.outcome);
    fork.finish(&mut drive.outcome);
}

/// The same commands without a danger: the lease begins and its command runs (the assertions on it can fail).
fn without_danger(drive: &Drive<'_>, hazard: &Hazard, profile: &Profile) -> Option<Fork> {
    let mut fork = drive.fork(1, 1);
    let span = profile.clock.lab_lease.cast_unsigned();
    for n in 0..span {
        // The onset is left out.
        if n == 1 {
            fork.step(&[]);
        } else {
            fork.step(&[command(hazard, n)]);
        }
        if fork.room.state().queue.operator.iter().any(|item| item.phase == Phase::Running) {
            return Some(fork);
        }
    }
    None
}

/// A danger under a lease that is already walking to the source: its item is over and nothing of it comes back.
fn cut(mut fork: Fork, hazard: &Hazard, outcome: &mut Outcome) {
    let span = fork.room.profile().fixture.v03_fork.cast_unsigned();
    let item = fork.room.state().queue.operator.first().map_or(0, |item| item.id);
    let id = FIRST_COMMAND + fork.room.profile().clock.lab_lease.cast_unsigned();
    let (mut ended, mut revived, mut clear) = (false, false, false);
    for n in 0..span {
        let ignite = Command::new(id, Verb::Ignite);
        fork.step(&[if n == 0 { ignite } else { to_source(hazard, id + n) }]);
        let queue = &fork.room.state().queue;
        let invalid = queue.get(item).is_some_and(|item| item.label == Label::SafetyInvalidated);
        ended |= invalid;
        revived |= queue.operator.iter().any(|item| item.phase.on_body());
        clear |= fork.room.state().safety.mode == SafetyMode::Clear;
    }
    outcome.require("V03.4", ended, None, "held_lease_goes_on");
    outcome.require("V03.4", !revived, None, "held_lease_revived");
    outcome.require("V03.2", clear && fork.room.state().safety.entries == 1, None, "held_lease_entries");
    if ended {
        outcome.reach("held lease was cut");
    }
    fork.finish(outcome);
}

/// V03.3: what is admitted as controllable, and what becomes of what is not.
fn refusals(unit: &Unit, context: &Context<'_, Rooms>, outcome: &mut Outcome) {
    let profile = &context.world.profile;
    let case = Case::of(unit, profile);
    let [shortest, ..] = profile.fixture.v03_ttc;
    outcome.require("V03.3", profile.safety.reaction() < shortest, None, "reaction");
    for ttc in profile.fixture.v03_ttc {
        let made = |controllable| {
            let mut setup: Setup = setup(unit, context);
            setup.mode = RunMode::Lab;
            setup.fixture = fixture(profile, ENERGY);
            let hazard = Case { ttc: ttc.cast_unsigned(), ..case }.hazard(profile);
            setup.fixture.hazard = Some(Hazard { controllable, ..hazard });
            Room::new(Arc::clone(profile), setup)
        };
        let admitted = match made(true) {
            Ok(_) => true,
            Err(fault) => fault != SetupFault::Hazard,
        };
        outcome.require("V03.3", admitted == (ttc == shortest), None, "admission");
        if ttc != shortest {
            uncontrollable(made(false), context, outcome);
        }
    }
}

/// Declared uncontrollable: Safety says so from the entry on, calls once, and does not pretend anything.
fn uncontrollable(made: Result<Room, SetupFault>, context: &Context<'_, Rooms>, outcome: &mut Outcome) {
    let Ok(mut room) = made else {
        outcome.require("V03.3", false, None, "uncontrollable_refused");
        return;
    };
    (context.world.prepare)(&mut room);
    let span = context.world.profile.fixture.v03_fork.cast_unsigned();
    room.step(&[Command::new(FIRST_COMMAND, Verb::Ignite)]);
    let mode = room.state().safety.mode;
    outcome.require("V03.3", mode == SafetyMode::Uncontrollable, Some(0), "not_uncontrollable");
    for _ in 1..span {
        room.step(&[]);
    }
    let entries = room.state().safety.entries;
    outcome.require("V03.2", entries == 1, None, "uncontrollable_entries");
    outcome.reach("uncontrollable");
    outcome.ticks += room.now();
    super::drive::take_checks(outcome, &room);
}

/// The fixture is the one of GD-92: how large the danger set is and how far safety is.
fn geometry(context: &Context<'_, Rooms>, room: &Room, outcome: &mut Outcome) {
    let profile = room.profile();
    let [x, y] = profile.fixture.v03_source;
    let Some(grid) = room::grid::Grid::of(&profile.world) else { return };
    let paths = room::grid::Paths::new(&grid, &room::grid::CellSet::default());
    let danger = grid.danger_set(cell((x, y)), profile.safety.danger_radius);
    let most = paths.steps_to_safety(&grid, &danger);
    let bed = cell((0, 1));
    let near = paths.nearest_safe(&grid, bed, &danger).and_then(|safe| paths.distance(bed, safe));
    let is = |name: &str, found: Option<u8>| found.map(i64::from) == context.header.number(name);
    outcome.require(
        "V03.3",
        context.header.number("danger_cells") == i64::try_from(danger.len()).ok(),
        None,
        "cells",
    );
    outcome.require("V03.3", is("steps", most), None, "steps");
    outcome.require("V03.3", is("steps_from_bed", near), None, "steps_from_bed");
}

/// The first fork that fails, as one run: the base up to there and then the commands of the fork.
fn record(unit: &Unit, context: &Context<'_, Rooms>) -> Option<Vec<u8>> {
    let tick = forks(unit, context, &mut |_, outcome| outcome.failures_n > 0).1?;
    let profile = &context.world.profile;
    let hazard = Case::of(unit, profile).hazard(profile);
    let mut drive = start(unit, context);
    fall_asleep(&mut drive)?;
    for _ in 1..tick {
        drive.step(&[]);
    }
    for n in 0..=profile.fixture.v03_fork.cast_unsigned() {
        drive.step(&[command(&hazard, n)]);
    }
    drive.record()
}

//! V01b: one whole Sleep, what may end it at each of its ticks, and what Comfort and Engagement ask for (GD-91).

use super::bed::{cell, fall_asleep, fixture};
use super::drive::{Drive, checks, setup};
use super::v01b_cut::{self, Cut};
use super::{Rooms, v01b_comfort};
use crate::outcome::Outcome;
use crate::scenario::{Check, Choice, Context, Demand, Scenario, Seeds, no_gate};
use crate::unit::{At, Unit, enumerated};
use room::fixed::ONE;
use room::item::{Exit, Phase};
use room::kind::Kind;
use room::profile::Profile;
use room::setup::Hazard;

const HEADER: &str = "
claim: From an Energy of 0.35 one Sleep of 8580 running ticks, longer than K.clock.proposal_ttl, ends by energy_ok at 0.650300;
  over a whole cycle the share of Sleep is 0.416667 within 0.005.
claim: A danger, a failed bed and a cue at each running tick: out of bed and cleaned up 2 ticks after the body could know, a
  cue at the next check of K.interaction.sleep_check ticks from K.interaction.sleep_min on; at most one Sleep follows within
  K.fixture.v01b_reentry_window ticks, none while the Interaction of the cue is open.
claim: Comfort is the worst of its three, and an open window cools by night only; its alarm is one of a channel in danger; the first candidate is for the lowest channel.
claim: Engagement below -K.regulation.engagement_band asks for new things and nothing else, above it for rest and nothing else.
threshold start: 0.35
threshold tired: 0.154
threshold running: 8580 ticks
threshold end: 0.6503
threshold share: 0.416667
threshold share_off: 0.005
threshold out: 2 ticks
threshold reentries: 1
field: regulation.levels
";

const CHECKS: [Check; 13] = checks(&[
    Check { id: "LIV-01", demand: Demand::EveryRun },
    Check { id: "V01b.1", demand: Demand::SomeRun },
    Check { id: "V01b.2", demand: Demand::SomeRun },
    Check { id: "V01b.3", demand: Demand::SomeRun },
    Check { id: "V01b.4", demand: Demand::SomeRun },
]);

/// Parts of the forks of each injection.
const CHUNKS: u64 = 12;

/// The scenario.
pub(super) fn scenario() -> Scenario<Rooms> {
    Scenario {
        id: "V01b",
        title: "Sleep, Rest and the direction of Comfort",
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
            "expectation",
        ],
        seeds: Seeds::Enumerated,
        header: HEADER,
        script: &[
            ("v01b.rs", include_str!("v01b.rs")),
            ("v01b_cut.rs", include_str!("v01b_cut.rs")),
            ("v01b_comfort.rs", include_str!("v01b_comfort.rs")),
            ("bed.rs", include_str!("bed.rs")),
            ("drive.rs", include_str!("drive.rs")),
        ],
        checks: &CHECKS,
        needs: &[
            "whole cycle",
            "past the proposal's end",
            "Safety episode",
            "bed failed",
            "cue in the first segment",
            "cue exit",
            "slept again after a cue",
            "slept again after the hold",
            "alarm",
            "pain before temperature",
            "temperature before pain",
            "underload",
            "overload",
        ],
        mutations: &[
            "bed_not_verified",
            "decay_asleep",
            "cold_by_day",
            "boredom_on_the_minute",
            "walks_lying",
            "sleep_minimum_ignored",
            "cue_wakes_at_once",
            "cue_forgotten",
            "sleeps_on_after_cue",
        ],
        units,
        run,
        record,
        gate: no_gate,
    }
}

fn units(_: &Choice) -> Vec<Unit> {
    let mut units = enumerated("V01b", &["cycle", "comfort", "engagement", "window"], &["mira"], 1);
    units.extend(enumerated("V01b", &Cut::ARMS, &["mira"], CHUNKS));
    units
}

fn run(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    match unit.arm.as_str() {
        "cycle" => cycle(unit, context).finish(),
        "comfort" => v01b_comfort::comfort(unit, context),
        "engagement" => v01b_comfort::engagement(unit, context),
        "window" => v01b_comfort::window(unit, context),
        _ => forks(unit, context, &mut |_| false).0.finish(),
    }
}

/// A room in which Sleep is about to begin.
fn asleep<'a>(unit: &Unit, context: &Context<'a, Rooms>) -> (Drive<'a>, Option<u32>) {
    let profile = &context.world.profile;
    let mut setup = setup(unit, context);
    let start = if Cut::of(unit) == Some(Cut::Lost) { v01b_cut::TIRED } else { "start" };
    let start = context.header.number(start);
    setup.fixture = fixture(profile, start.unwrap_or(0));
    setup.fixture.hazard = Some(hazard(profile));
    let mut drive = Drive::start(unit, context, setup);
    let sleep = fall_asleep(&mut drive);
    let exact = Some(drive.room.state().levels.energy) == start;
    drive.outcome.require("V01b.1", sleep.is_some() && exact, None, "not_asleep");
    (drive, sleep)
}

/// The danger of V03, with the shortest admissible time to harm.
pub(super) fn hazard(profile: &Profile) -> Hazard {
    let [x, y] = profile.fixture.v03_source;
    let [ttc, ..] = profile.fixture.v03_ttc;
    Hazard { cell: cell((x, y)), ttc: ttc.cast_unsigned(), visible: true, controllable: true }
}

// ---- V01b.1

/// One Sleep from 0.35, and then everything until the end of the next.
fn cycle<'a>(unit: &Unit, context: &Context<'a, Rooms>) -> Drive<'a> {
    let (mut drive, Some(sleep)) = asleep(unit, context) else { return asleep(unit, context).0 };
    let number = |name| context.header.number(name).unwrap_or_default();
    let (ran, exit, energy) = until_left(&mut drive, sleep);
    let tick = Some(drive.room.now());
    let ttl = context.world.profile.clock.proposal_ttl;
    let outcome = &mut drive.outcome;
    outcome.require("V01b.1", ran == number("running"), tick, "running_ticks");
    outcome.require("V01b.1", exit == Some(Exit::EnergyOk), tick, "exit_reason");
    outcome.require("V01b.1", energy == number("end"), tick, "energy_at_exit");
    outcome.require("V01b.1", ran > ttl, tick, "proposal_ttl_acts_on_running");
    outcome.count("sleep_running", ran);
    outcome.count("sleep_exit_energy", energy);
    if ran > ttl {
        outcome.reach("past the proposal's end");
    }
    share(&mut drive, number("share"), number("share_off"));
    drive
}

/// Steps until a Sleep is no longer RUNNING: its running ticks, why it ended, and Energy at its last check.
fn until_left(drive: &mut Drive<'_>, sleep: u32) -> (i64, Option<Exit>, i64) {
    let most = drive.room.profile().interaction.sleep_max;
    drive.step(&[]);
    let mut ran = 0;
    while ran < most {
        let running = drive.room.state().queue.get(sleep).is_some_and(|item| item.phase == Phase::Running);
        if !running {
            break;
        }
        ran += 1;
        let energy = drive.room.state().levels.energy;
        drive.step(&[]);
        let item = drive.room.state().queue.get(sleep);
        if let Some(item) = item.filter(|item| item.phase != Phase::Running) {
            return (ran, Some(item.exit), energy);
        }
    }
    (ran, None, drive.room.state().levels.energy)
}

/// Share of Sleep from the end of one to the end of the next.
fn share(drive: &mut Drive<'_>, wanted: i64, off: i64) {
    let most = drive.room.profile().regulation.max_service_interval[0];
    let (mut slept, mut ticks, mut entries) = (0_i64, 0_i64, 0);
    let mut was = false;
    while ticks < most {
        drive.step(&[]);
        let sleeping = is_running(drive, Kind::Sleep);
        entries += i64::from(sleeping && !was);
        slept += i64::from(sleeping);
        ticks += 1;
        if was && !sleeping {
            break;
        }
        was = sleeping;
    }
    let share = slept * ONE / ticks;
    let tick = Some(drive.room.now());
    let outcome = &mut drive.outcome;
    outcome.require("V01b.1", (share - wanted).abs() <= off, tick, "share");
    outcome.count("cycle", ticks);
    outcome.count("cycle_sleep", slept);
    outcome.count("share", share);
    if entries == 1 && ticks < most {
        outcome.reach("whole cycle");
    }
}

fn is_running(drive: &Drive<'_>, kind: Kind) -> bool {
    drive.room.state().queue.active().is_some_and(|item| item.kind == kind && item.phase == Phase::Running)
}

// ---- V01b.2

/// The running ticks, from 1, that a unit forks at.
fn part(unit: &Unit, ticks: u64) -> std::ops::Range<u64> {
    let At::Chunk(part) = unit.at else { return 0..0 };
    1 + ticks * part / CHUNKS..1 + ticks * (part + 1) / CHUNKS
}

/// Every fork of a unit, until `stop` says so of the failures so far.
fn forks<'a>(
    unit: &Unit,
    context: &Context<'a, Rooms>,
    stop: &mut dyn FnMut(&Outcome) -> bool,
) -> (Drive<'a>, Option<u64>) {
    let (mut drive, sleep) = asleep(unit, context);
    let (Some(sleep), Some(cut)) = (sleep, Cut::of(unit)) else { return (drive, None) };
    let ticks = context.header.number("running").unwrap_or_default().cast_unsigned();
    let part = part(unit, cut.ticks(&context.world.profile, ticks));
    for tick in 1..part.end {
        drive.step(&[]);
        if part.contains(&tick) {
            v01b_cut::fork(&mut drive, context, cut, (sleep, tick));
            if stop(&drive.outcome) {
                return (drive, Some(tick));
            }
        }
    }
    (drive, None)
}

/// The first fork that fails as one run, or the whole run of an arm without forks.
fn record(unit: &Unit, context: &Context<'_, Rooms>) -> Option<Vec<u8>> {
    let Some(cut) = Cut::of(unit) else {
        return (unit.arm == "cycle").then(|| cycle(unit, context)).and_then(Drive::record);
    };
    let tick = forks(unit, context, &mut |outcome| outcome.failures_n > 0).1?;
    let mut drive = asleep(unit, context).0;
    for _ in 1..=tick {
        drive.step(&[]);
    }
    for n in 0..v01b_cut::span(&context.world.profile, cut, tick) {
        drive.step(&cut.commands(n));
    }
    drive.record()
}

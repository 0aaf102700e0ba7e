//! V09: what is expected of an object after damage and repair, and an Agent that turns to another one (GD-48, GD-94).
//!
//! The fixture tells the inlet of slow fields itself; the regression is a room whose dispenser is damaged before the first
//! tick and mended after [`MEND_DAYS`] days.

use super::Rooms;
use super::drive::{Drive, checks_of_some, reach_if, setup};
use super::runaway::{Mover, zones};
use crate::outcome::Outcome;
use crate::scenario::{Check, Choice, Context, Demand, Scenario, Seeds, no_gate};
use crate::unit::{Unit, enumerated};
use room::episode::Episodes;
use room::fixed::{ONE, mul};
use room::input::{Command, Verb};
use room::item::{Evidence, Goal, Item, Label};
use room::kind::Kind;
use room::learn::{Attribution, Context as Day, EFFECTS, Expectation, Expectations, Observed, competitive};
use room::profile::Profile;
use room::setup::Want;
use room::state::{Band, Channel, Levels};
use room::tell::{Slow, Told};
use room::world::Obj;
use std::collections::BTreeSet;

const HEADER: &str = "
claim: In each of K.fixture.v09_cycles cycles of damage and repair an object competes after one attributable failure, does
  not after K.fixture.v09_failures, and does again after K.fixture.v09_successes attributable successes at the latest.
claim: No step is larger than K.learning.step_max, and a failure of unknown cause changes nothing.
claim: The other half of the day learns K.learning.day_night_transfer of a step; other objects and Interactions learn
  nothing, and labels outside of day and night make no key.
claim: An Agent whose dispenser is damaged fails twice, then drinks from the jug, and does not try the dispenser again
  before it is mended; then it does, and it works.
threshold failures: 2
threshold successes: 3
threshold step: 0.20
threshold transfer: 0.50
threshold window: K.selection.window
field: expectation.success
field: reducer_physical.outcome
";

const CHECKS: [Check; 13] = checks_of_some(&[
    Check { id: "V09.1", demand: Demand::SomeRun },
    Check { id: "V09.2", demand: Demand::SomeRun },
    Check { id: "V09.3", demand: Demand::SomeRun },
    Check { id: "V09.4", demand: Demand::SomeRun },
    Check { id: "survival", demand: Demand::SomeRun },
]);

/// Days after which the dispenser of the regression is mended, and after which it ends.
const MEND_DAYS: u64 = 2;
const DAYS: u64 = 4;
/// Water of the Agent at the start of the regression: enough to be an ordinary need.
const THIRSTY: i64 = 400_000;
const DISPENSER: u8 = Obj::Dispenser as u8;

/// The scenario.
pub(super) fn scenario() -> Scenario<Rooms> {
    Scenario {
        id: "V09",
        title: "Expectation learning and recovery",
        version: 1,
        stage: 0,
        tags: &["world", "regulation", "tier_utility", "body", "queue", "reducer_physical", "expectation"],
        seeds: Seeds::Enumerated,
        header: HEADER,
        script: &[
            ("v09.rs", include_str!("v09.rs")),
            ("runaway.rs", include_str!("runaway.rs")),
            ("drive.rs", include_str!("drive.rs")),
        ],
        checks: &CHECKS,
        needs: &[
            "not competitive",
            "competitive again",
            "two failures",
            "jug",
            "mended dispenser",
            "unknown cause",
        ],
        mutations: &["lost_learner", "unknown_cause_teaches", "no_version_discount"],
        units: |_: &Choice| {
            let mut units = enumerated("V09", &["cycles", "contexts"], &["both"], 1);
            units.extend(enumerated("V09", &["regression", "unknown"], &["mira", "niko"], 1));
            units
        },
        run,
        record: |unit, context| {
            (unit.arm == "regression").then(|| regression(unit, context).0.record()).flatten()
        },
        gate: no_gate,
    }
}

fn run(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    match unit.arm.as_str() {
        "cycles" => cycles(unit, context),
        "contexts" => contexts(unit, context),
        "unknown" => unknown(unit, context),
        _ => {
            let (mut drive, seen) = regression(unit, context);
            seen.judge(&mut drive);
            drive.finish()
        }
    }
}

/// The learner with its inlet: each Outcome is a cause of its own.
struct Learner<'a> {
    profile: &'a Profile,
    episodes: Episodes,
    expectations: Expectations,
    causes: u32,
}

impl<'a> Learner<'a> {
    fn new(profile: &'a Profile) -> Learner<'a> {
        Learner { profile, episodes: Episodes::new(profile), expectations: Expectations::new(), causes: 0 }
    }

    /// A drink at the dispenser by day that ends so; returns the probability after it, µ.
    fn drink(&mut self, attribution: Attribution) -> i64 {
        let mut effects = [0; EFFECTS];
        effects[1] = self.profile.regulation.drink_effect;
        let duration = self.profile.interaction.drink_wcet.unsigned_abs();
        let observed = Observed {
            kind: Kind::Drink,
            object: DISPENSER,
            context: Day::Day,
            attribution,
            effects,
            duration,
        };
        self.causes += 1;
        let (episodes, expectations) = (&mut self.episodes, &mut self.expectations);
        let mut slow = Slow { profile: self.profile, episodes, expectations };
        slow.tell(self.causes, self.causes, &Told::Outcome(observed), u64::from(self.causes));
        self.success(Kind::Drink, DISPENSER, Day::Day)
    }

    fn success(&self, kind: Kind, object: u8, context: Day) -> i64 {
        self.expectations.success(self.profile, kind, object, context)
    }
}

/// V09.1 to V09.3 over the fixture: the three assertions of GD-48 in each cycle.
fn cycles(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let profile = &context.world.profile;
    let mut outcome = Outcome::new(unit);
    let mut learner = Learner::new(profile);
    for cycle in 0..profile.fixture.v09_cycles.unsigned_abs() {
        one_cycle(&mut outcome, &mut learner, cycle, context);
    }
    outcome.require("V09.1", learner.causes > 0, None, "no_cycle");
    outcome.state_hash = room::draw::mix(learner.success(Kind::Drink, DISPENSER, Day::Day).cast_unsigned());
    outcome
}

fn one_cycle(outcome: &mut Outcome, learner: &mut Learner<'_>, cycle: u64, context: &Context<'_, Rooms>) {
    let threshold = |name: &str| context.header.number(name).unwrap_or_default();
    let profile = learner.profile;
    let mut last = learner.success(Kind::Drink, DISPENSER, Day::Day);
    let mut step = |outcome: &mut Outcome, now: i64| {
        let held = (now - last).abs() <= threshold("step");
        outcome.require("V09.1", held, Some(cycle), "step");
        last = now;
        competitive(profile, now)
    };
    learner.expectations.premise_changed(profile, DISPENSER);
    for failure in 1..=threshold("failures") {
        let good = step(outcome, learner.drink(Attribution::Failure));
        let (asked, code) =
            if failure == 1 { (good, "given_up_after_one") } else { (!good, "no_alternative") };
        outcome.require("V09.2", asked, Some(cycle), code);
        reach_if(outcome, !good, "not competitive");
    }
    // Between the two: what nobody is to blame for.
    let before = learner.expectations.clone();
    learner.drink(Attribution::Unknown);
    outcome.require("V09.3", learner.expectations == before, Some(cycle), "unknown_cause_learned");
    learner.expectations.premise_changed(profile, DISPENSER);
    let mut good = false;
    for _ in 0..threshold("successes") {
        good |= step(outcome, learner.drink(Attribution::Success));
    }
    outcome.require("V09.3", good, Some(cycle), "not_competitive_again");
    reach_if(outcome, good, "competitive again");
    outcome.count("success_after_repair", learner.success(Kind::Drink, DISPENSER, Day::Day));
}

/// V09.4 without the clause on statements, which belongs to Trust.
fn contexts(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let profile = &context.world.profile;
    let mut outcome = Outcome::new(unit);
    let mut learner = Learner::new(profile);
    let prior = profile.learning.p0;
    let day = learner.drink(Attribution::Failure);
    let night = learner.success(Kind::Drink, DISPENSER, Day::Night);
    let share = mul(day - prior, context.header.number("transfer").unwrap_or_default());
    outcome.require("V09.4", day < prior && night == prior + share, None, "transfer");
    for object in Obj::ALL.into_iter().map(|object| object as u8).filter(|object| *object != DISPENSER) {
        let same = learner.success(Kind::Drink, object, Day::Day) == prior;
        outcome.require("V09.4", same, None, "far_object");
    }
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Drink) {
        outcome.require("V09.4", learner.success(kind, DISPENSER, Day::Day) == prior, None, "far_kind");
    }
    outcome.require("V09.4", learner.expectations.list.len() == 2, None, "keys");
    for label in ["rain", "morning", "Day", "after_meal", "crowded", ""] {
        outcome.require("V09.4", Day::of(label).is_none(), None, "label_makes_key");
    }
    outcome.state_hash = room::draw::mix(day.cast_unsigned() << 20 ^ night.cast_unsigned());
    outcome
}

/// The room: thirsty, with a dispenser that looks as always and gives nothing.
fn regression<'a>(unit: &Unit, context: &Context<'a, Rooms>) -> (Drive<'a>, Seen) {
    let mut setup = setup(unit, context);
    let full = Levels {
        energy: ONE,
        hydration: THIRSTY,
        calories: ONE,
        thermal: ONE,
        pain: 0,
        posture: ONE,
        engagement: 0,
    };
    setup.fixture.levels = Some(full);
    setup.fixture.before = vec![Command::new(1, Verb::Damage).on(Obj::Dispenser)];
    let mut drive = Drive::start(unit, context, setup);
    let mut seen = Seen::default();
    let day = context.world.profile.clock.day_ticks.cast_unsigned();
    for tick in 0..DAYS * day {
        let mend = Command::new(2, Verb::Mend).on(Obj::Dispenser);
        let mends = tick == MEND_DAYS * day;
        drive.step(if mends { std::slice::from_ref(&mend) } else { &[] });
        if mends {
            seen.mended = true;
            seen.evidence = dispenser(&drive, Day::Day).half_units;
        }
        seen.look(&drive);
    }
    (drive, seen)
}

/// A cup that is not where it was: nobody knows why, and nothing is learned of it (V09.3).
fn unknown(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    const MOVES: u64 = 2;
    const TICKS: u64 = 3_600;
    let mut setup = setup(unit, context);
    setup.fixture.want = Some(Want { kind: Kind::PickUp, target: Some(Obj::Cup), human: None, times: 1 });
    let mut drive = Drive::start(unit, context, setup);
    let reach = context.world.profile.fixture.v10_reach;
    let mut mover = Mover::new(Obj::Cup, zones(&drive.room), reach, 0).times(MOVES);
    for _ in 0..TICKS {
        let trying = drive.room.state().queue.active().is_some_and(|item| item.goal == Goal::Want);
        let command = mover.command(&drive.room, trying);
        drive.step(command.as_slice());
        let state = drive.room.state();
        if state.mind.wanted > 0 {
            break;
        }
        let failed = state.retries.totals.iter().any(|total| total.goal == Goal::Want as u8);
        let learned = state
            .expectations
            .list
            .iter()
            .any(|one| one.object == Obj::Cup as u8 && one.kind == Kind::PickUp);
        if failed {
            drive.outcome.require("V09.3", !learned, Some(state.now), "unknown_cause_learned");
            drive.outcome.reach("unknown cause");
        }
    }
    drive.finish()
}

/// What is measured on the way.
#[derive(Default)]
struct Seen {
    mended: bool,
    /// Items whose end was counted.
    ended: BTreeSet<u32>,
    failures: u64,
    /// Ticks of attempts on the dispenser after the second failure and before it was mended.
    third: u64,
    jug: u64,
    dispenser: u64,
    /// The dispenser failed after it was mended.
    failed_again: u64,
    /// Ticks with too little water.
    danger: u64,
    /// What was expected by day and by night after the first failure, µ.
    first: Option<[i64; 2]>,
    /// Half units of evidence in the tick of the repair.
    evidence: u32,
}

/// What is expected of a drink at the dispenser.
fn dispenser(drive: &Drive<'_>, context: Day) -> Expectation {
    let (state, profile) = (drive.room.state(), drive.room.profile());
    state.expectations.expected(profile, Kind::Drink, DISPENSER, context)
}

impl Seen {
    fn look(&mut self, drive: &Drive<'_>) {
        let state = drive.room.state();
        self.danger += u64::from(state.regulation.band[Channel::Hydration.index()] == Band::Danger);
        for item in state.queue.items.iter().filter(|item| item.goal == Goal::Hydration) {
            if item.target == Some(Obj::Dispenser) && item.phase.on_body() && !self.ended.contains(&item.id) {
                self.third += u64::from(self.failures >= 2 && !self.mended);
            }
            if !matches!(item.label, Label::None) && self.ended.insert(item.id) {
                self.end(item);
                if self.failures == 1 && self.first.is_none() {
                    self.first = Some([Day::Day, Day::Night].map(|part| dispenser(drive, part).success));
                }
            }
        }
    }

    fn end(&mut self, item: &Item) {
        match (item.target, item.label, item.evidence) {
            (Some(Obj::Dispenser), Label::Failed, Evidence::NoEffect) if self.mended => {
                self.failed_again += 1
            }
            (Some(Obj::Dispenser), Label::Failed, Evidence::NoEffect) => self.failures += 1,
            (Some(Obj::Dispenser), Label::Succeeded, _) if self.mended => self.dispenser += 1,
            (Some(Obj::Jug), Label::Succeeded, _) if self.failures > 0 => self.jug += 1,
            _ => {}
        }
    }

    fn judge(&self, drive: &mut Drive<'_>) {
        let profile = std::sync::Arc::clone(drive.room.profile());
        let outcome = &mut drive.outcome;
        // The same failure, told to a learner by itself.
        let mut alone = Learner::new(&profile);
        let first = [alone.drink(Attribution::Failure), alone.success(Kind::Drink, DISPENSER, Day::Night)];
        outcome.require("V09.4", self.first == Some(first), None, "first_failure");
        let most = 2 * profile.learning.version_discount;
        outcome.require("V09.1", i64::from(self.evidence) <= most, None, "evidence_after_repair");
        outcome.require("V09.1", self.failures == 2, None, "failures");
        outcome.require("V09.2", self.third == 0, None, "third_attempt");
        outcome.require("V09.2", self.jug > 0, None, "no_alternative");
        outcome.require("V09.2", self.danger == 0, None, "thirst_became_danger");
        outcome.require("V09.3", self.dispenser > 0, None, "mended_and_avoided");
        outcome.require("V09.3", self.failed_again == 0, None, "mended_and_fails");
        for (name, count) in [("jug", self.jug), ("dispenser_after_repair", self.dispenser)] {
            outcome.count(name, count.cast_signed());
        }
        reach_if(outcome, self.failures == 2, "two failures");
        reach_if(outcome, self.jug > 0, "jug");
        reach_if(outcome, self.dispenser > 0, "mended dispenser");
    }
}

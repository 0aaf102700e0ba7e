//! V10: seven days after an object that runs away, stops, or is negotiated about (GD-94).

use super::Rooms;
use super::drive::{Drive, checks, reach_if, setup};
use super::runaway::{Mover, zones};
use crate::outcome::Outcome;
use crate::scenario::{Check, Choice, Context, Demand, Scenario, Seeds, no_gate};
use crate::unit::{At, Unit};
use room::input::{Command, Verb};
use room::item::{Goal, Item};
use room::kind::Kind;
use room::retry::Class;
use room::setup::Want;
use room::state::RecoveryMode;
use room::world::Obj;
use std::collections::{BTreeMap, BTreeSet};

const HEADER: &str = "
claim: An object that is moved whenever the Agent is within K.fixture.v10_reach steps is tried 3 times in
  K.fixture.v10_ticks ticks; new versions, intents and days add nothing.
claim: After one move the retry succeeds; after two the third attempt waits until the object has been still for 48 ticks, and
  succeeds.
claim: Each renegotiation that is granted adds 1 attempt, and there are 5 in a life.
claim: Beyond the budget the Agent asks, takes another target, or gives the goal up, and tries no more.
threshold attempts: 3
threshold lifetime: 5
threshold grant: 1
threshold still: 48 ticks
threshold reaction: K.task.recovery_residence
field: queue.items
field: reducer_physical.retries
";

const CHECKS: [Check; 15] = checks(&[
    Check { id: "LIV-03", demand: Demand::EveryRun },
    Check { id: "V10.1", demand: Demand::SomeRun },
    Check { id: "V10.2", demand: Demand::SomeRun },
    Check { id: "V10.3", demand: Demand::SomeRun },
    Check { id: "V10.4", demand: Demand::SomeRun },
    Check { id: "survival", demand: Demand::SomeRun },
    Check { id: "LIV-10", demand: Demand::SomeRun },
]);

const SEEDS: Seeds = Seeds::long_runs("V10");
/// The groups of V10, and two moves in a row, which show the third attempt.
const ARMS: [&str; 4] = ["continuous", "single", "grant", "double"];
/// Ticks of the arm `double`.
const SHORT: u64 = 3_600;
/// Ticks between two offers to renegotiate.
const OFFER_PERIOD: u64 = 21_600;
/// Numbers of the offers.
const FIRST_OFFER: u64 = 1_000_000;
/// Tick after which what a circumstance has broken is mended, one object a tick.
const MEND_FROM: u64 = 3_000;

/// The scenario.
pub(super) fn scenario() -> Scenario<Rooms> {
    Scenario {
        id: "V10",
        title: "Cross-intent failure budget",
        version: 1,
        stage: 0,
        tags: &["world", "regulation", "tier_utility", "body", "queue", "reducer_physical", "expectation"],
        seeds: SEEDS,
        header: HEADER,
        script: &[
            ("v10.rs", include_str!("v10.rs")),
            ("runaway.rs", include_str!("runaway.rs")),
            ("drive.rs", include_str!("drive.rs")),
        ],
        checks: &CHECKS,
        needs: &[
            "at budget",
            "retry succeeded",
            "waited until still",
            "granted",
            "refused grant",
            "asked",
            "other target",
            "given up",
        ],
        mutations: &[
            "lost_retries",
            "retry_not_charged",
            "totals_reset_daily",
            "grant_twice",
            "stability_ignored",
        ],
        units,
        run,
        record: |unit, context| drive(unit, context).0.record(),
        gate: no_gate,
    }
}

/// Both identities in turn, and each circumstance with each of them.
fn units(choice: &Choice) -> Vec<Unit> {
    let of = |arm: &'static str| {
        let identity = |index: u64| if (index / 4).is_multiple_of(2) { "mira" } else { "niko" };
        SEEDS.indices(choice.set).map(move |index| Unit::new("V10", arm, identity(index), At::Index(index)))
    };
    ARMS.into_iter().flat_map(of).collect()
}

/// What is there beside the object that runs away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// Everything, and the cup or the screwdriver is wanted.
    Everything(Obj),
    /// A person, and nothing that could be done instead.
    Person,
    /// Nobody and nothing, for the first ticks.
    Nothing,
}

impl Around {
    fn of(unit: &Unit) -> Around {
        match unit.index().unwrap_or_default() % 4 {
            0 => Around::Everything(Obj::Cup),
            1 => Around::Everything(Obj::Screwdriver),
            2 => Around::Person,
            _ => Around::Nothing,
        }
    }

    fn object(self) -> Obj {
        match self {
            Around::Everything(object) => object,
            _ => Obj::Cup,
        }
    }
}

/// What could be done instead (GD-29).
const INSTEAD: [Obj; 4] = [Obj::SharedBox, Obj::Window, Obj::Workbench, Obj::Chair];

fn before(around: Around) -> Vec<Command> {
    let broken = INSTEAD.into_iter().zip(1..).map(|(object, id)| Command::new(id, Verb::Break).on(object));
    match around {
        Around::Everything(_) => Vec::new(),
        Around::Nothing => broken.collect(),
        Around::Person => broken.chain([Command::new(9, Verb::Come).by(0)]).collect(),
    }
}

fn run(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let (mut drive, seen) = drive(unit, context);
    let threshold = |name: &str| context.header.number(name).unwrap_or_default().unsigned_abs();
    let limits = Limits {
        attempts: threshold("attempts"),
        lifetime: threshold("lifetime"),
        grant: threshold("grant"),
        still: threshold("still"),
    };
    seen.judge(&mut drive, &unit.arm, &limits);
    drive.finish()
}

fn drive<'a>(unit: &Unit, context: &Context<'a, Rooms>) -> (Drive<'a>, Seen) {
    let around = Around::of(unit);
    let object = around.object();
    let mut setup = setup(unit, context);
    setup.fixture.before = before(around);
    setup.fixture.want = Some(Want { kind: Kind::PickUp, target: Some(object), human: None, times: 1 });
    let fixture = &context.world.profile.fixture;
    let ticks = if unit.arm == "double" { SHORT } else { fixture.v10_ticks.cast_unsigned() };
    let mut drive = Drive::start(unit, context, setup);
    let mover = Mover::new(object, zones(&drive.room), fixture.v10_reach, context.seed.unwrap_or_default());
    let mut mover = match unit.arm.as_str() {
        "single" => mover.times(1),
        "double" => mover.times(2),
        _ => mover,
    };
    let mut seen = Seen::new(object);
    let mut offers = (unit.arm == "grant").then_some(0);
    let mut mends = if around == Around::Everything(object) { Vec::new() } else { INSTEAD.to_vec() };
    for tick in 0..ticks {
        let mut commands = Vec::new();
        // A move that should hit an attempt is made during one.
        let now = matches!(unit.arm.as_str(), "continuous" | "grant") || seen.trying(&drive);
        commands.extend(mover.command(&drive.room, now));
        if commands.is_empty() && tick >= MEND_FROM {
            let mend = |object| Command::new(20 + object as u64, Verb::Mend).on(object);
            commands.extend(mends.pop().map(mend));
        }
        if let Some(made) = &mut offers
            && tick % OFFER_PERIOD == OFFER_PERIOD - 1
            && seen.at_budget(&drive)
        {
            *made += 1;
            commands.push(offer(FIRST_OFFER + *made));
        }
        let asked = commands.iter().any(|command| command.verb == Verb::Grant);
        let limit = asked.then(|| seen.limit(&drive));
        drive.step(&commands);
        seen.look(&drive);
        if let Some(before) = limit {
            seen.offered(before, seen.limit(&drive));
        }
    }
    (drive, seen)
}

fn offer(id: u64) -> Command {
    let mut offer = Command::new(id, Verb::Grant);
    offer.goal = Some(Goal::Want);
    offer.class = Some(Class::MovingTarget);
    offer
}

/// Numbers of the header.
struct Limits {
    attempts: u64,
    lifetime: u64,
    grant: u64,
    still: u64,
}

/// What is measured on the way.
struct Seen {
    object: Obj,
    /// Items for the object that came onto the body.
    begun: BTreeSet<u32>,
    /// Attempts by the day of their beginning.
    days: BTreeMap<u64, u64>,
    /// Failures of the class, as the ledger has them, and the tick of the last.
    failures: u64,
    failed: u64,
    /// Shortest time that the object had been still when an attempt after the second failure began.
    still: Option<u64>,
    /// Attempts that began while the ledger was at its budget.
    beyond: u64,
    /// First tick at the budget.
    budget: Option<u64>,
    /// The Agent asked, did something else, or gave up, and the tick of the first of them.
    asked: bool,
    other: bool,
    given_up: bool,
    reacted: Option<u64>,
    /// Steps of the limit at each offer.
    grants: Vec<u64>,
}

impl Seen {
    fn new(object: Obj) -> Seen {
        Seen {
            object,
            begun: BTreeSet::new(),
            days: BTreeMap::new(),
            failures: 0,
            failed: 0,
            still: None,
            beyond: 0,
            budget: None,
            asked: false,
            other: false,
            given_up: false,
            reacted: None,
            grants: Vec::new(),
        }
    }

    fn is_attempt(&self, item: &Item) -> bool {
        item.goal == Goal::Want && item.target == Some(self.object) && item.phase.on_body()
    }

    fn trying(&self, drive: &Drive<'_>) -> bool {
        drive.room.state().queue.active().is_some_and(|item| self.is_attempt(item))
    }

    /// Failures and limit of the ledger.
    fn ledger(&self, drive: &Drive<'_>) -> Option<(u64, u64)> {
        let (state, profile) = (drive.room.state(), drive.room.profile());
        let mut of = state.retries.of(Goal::Want as u8, self.object.family() as u8);
        let total = of.find(|total| total.class == Class::MovingTarget)?;
        Some((u64::from(total.failures), u64::from(total.limit(profile))))
    }

    fn limit(&self, drive: &Drive<'_>) -> u64 {
        self.ledger(drive).map_or(0, |(_, limit)| limit)
    }

    fn at_budget(&self, drive: &Drive<'_>) -> bool {
        self.ledger(drive).is_some_and(|(failures, limit)| failures >= limit)
    }

    fn offered(&mut self, before: u64, after: u64) {
        self.grants.push(after.saturating_sub(before));
    }

    fn look(&mut self, drive: &Drive<'_>) {
        let state = drive.room.state();
        let now = state.now - 1;
        let day = now / drive.room.profile().clock.day_ticks.cast_unsigned();
        if let Some(item) = state.queue.active()
            && self.is_attempt(item)
            && self.begun.insert(item.id)
        {
            *self.days.entry(day).or_default() += 1;
            self.beyond += u64::from(self.at_budget(drive));
            if self.failures >= 2 {
                let since = state.world.object(self.object).premise_since.max(self.failed);
                let still = now.saturating_sub(since);
                self.still = Some(self.still.map_or(still, |least| least.min(still)));
            }
        }
        if let Some((failures, limit)) = self.ledger(drive) {
            if failures > self.failures {
                self.failures = failures;
                self.failed = now;
            }
            if failures >= limit && self.budget.is_none() {
                self.budget = Some(now);
            }
        }
        if self.budget.is_some() && self.reacted.is_none() {
            self.react(drive, now);
        }
    }

    /// What the Agent does once the budget is used up (V10.4).
    fn react(&mut self, drive: &Drive<'_>, now: u64) {
        let state = drive.room.state();
        let recover = state.queue.items.iter().find(|item| item.goal == Goal::Recover);
        match recover.map(|item| item.kind) {
            Some(Kind::Ask | Kind::Negotiate) => self.asked = true,
            Some(_) => self.other = true,
            None => {}
        }
        self.given_up |=
            matches!(state.recovery.mode, RecoveryMode::Uncontrollable | RecoveryMode::Terminated);
        if self.asked || self.other || self.given_up {
            self.reacted = Some(now);
        }
    }

    fn judge(&self, drive: &mut Drive<'_>, arm: &str, limits: &Limits) {
        let wanted = u64::from(drive.room.state().mind.wanted);
        let reaction = drive.room.profile().task.recovery_residence.cast_unsigned();
        let outcome = &mut drive.outcome;
        let attempts = self.begun.len() as u64;
        match arm {
            "continuous" => self.judge_continuous(outcome, limits),
            "grant" => self.judge_grants(outcome, limits),
            "single" => {
                outcome.require("V10.2", self.failures == 1, None, "not_moved_under_an_attempt");
                outcome.require(
                    "V10.2",
                    wanted == 1 && attempts == 2,
                    Some(attempts),
                    "retry_did_not_succeed",
                );
            }
            _ => {
                outcome.require("V10.2", self.failures == 2, None, "not_moved_under_an_attempt");
                let still = self.still.is_some_and(|still| still >= limits.still);
                outcome.require("V10.2", still, self.still, "third_attempt_before_still");
                outcome.require(
                    "V10.2",
                    wanted == 1 && attempts == 3,
                    Some(attempts),
                    "third_did_not_succeed",
                );
                reach_if(outcome, still, "waited until still");
            }
        }
        reach_if(outcome, wanted == 1, "retry succeeded");
        outcome.count("attempts", attempts.cast_signed());
        if let Some(budget) = self.budget {
            outcome.reach("at budget");
            let reacted = self.reacted.is_some_and(|tick| tick <= budget + reaction);
            outcome.require("V10.4", reacted, Some(budget), "no_reaction");
            outcome.require("V10.4", self.beyond == 0, None, "beyond_budget");
        }
        for (reached, situation) in
            [(self.asked, "asked"), (self.other, "other target"), (self.given_up, "given up")]
        {
            reach_if(outcome, reached, situation);
        }
    }

    /// V10.1, and that days add nothing (V10.4).
    fn judge_continuous(&self, outcome: &mut Outcome, limits: &Limits) {
        outcome.require("V10.1", self.failures <= limits.attempts, None, "failures");
        outcome.require("V10.1", self.begun.len() as u64 >= limits.attempts, None, "budget_not_used");
        outcome.require("V10.4", self.budget.is_some(), None, "never_at_budget");
        let later: u64 = self.days.iter().filter(|(day, _)| **day > 0).map(|(_, attempts)| attempts).sum();
        outcome.require("V10.4", later == 0, Some(later), "attempts_grow_with_days");
    }

    /// V10.3.
    fn judge_grants(&self, outcome: &mut Outcome, limits: &Limits) {
        let granted = self.grants.iter().filter(|step| **step > 0).count() as u64;
        for step in &self.grants {
            outcome.require("V10.3", *step <= limits.grant, None, "grant_is_not_one");
        }
        outcome.require("V10.3", self.failures <= limits.lifetime, None, "lifetime");
        outcome.require("V10.3", granted > 0, None, "nothing_granted");
        outcome.require(
            "V10.3",
            self.failures == limits.attempts + granted,
            Some(self.failures),
            "attempt_for_each_grant",
        );
        outcome.count("granted", granted.cast_signed());
        reach_if(outcome, granted > 0, "granted");
        reach_if(outcome, self.grants.contains(&0), "refused grant");
    }
}

//! V19: recovery that is protected: by either trigger, with something to do instead, with something that fails, and with
//! nothing (GD-29, GD-94).
//!
//! Entered by the budget: the cup runs away three times. Entered by the watchdog: the Agent sleeps, and is edited to be
//! wide awake, so that Sleep brings nothing and has not reached its shortest time.

use super::Rooms;
use super::drive::{Drive, checks, reach_if, setup};
use super::runaway::Mover;
use crate::outcome::Outcome;
use crate::scenario::{Check, Choice, Context, Demand, Scenario, Seeds, no_gate};
use crate::unit::{Unit, seeded};
use room::fixed::ONE;
use room::grid::Cell;
use room::input::{Command, Verb};
use room::item::{Goal, Phase};
use room::kind::Kind;
use room::setup::{RunMode, Setup, Want};
use room::state::{Channel, Levels, RecoveryCause, RecoveryMode};
use room::world::{Obj, Parent};

const HEADER: &str = "
claim: A budget that is used up, and more than K.task.no_progress ticks without progress, each lead into FAILURE_RECOVERY,
  and what failed is not begun again while it lasts.
claim: With a substitute there is a success within 30 ticks, and the exit comes 30 ticks after the success.
claim: With no way out the task is uncontrollable within 60 ticks.
claim: A recovery behaviour that fails opens no second recovery, the residence ends after 60 ticks, and after the end the
  Agent does something else than wait within K.selection.tier4_explore_period ticks.
threshold success: 30 ticks
threshold observe: 30 ticks
threshold residence: 60 ticks
threshold nesting: 1
threshold idle: K.selection.tier4_explore_period
field: reducer_physical.recovery
field: queue.items
";

const CHECKS: [Check; 13] = checks(&[
    Check { id: "LIV-09", demand: Demand::EveryRun },
    Check { id: "V19.1", demand: Demand::EveryRun },
    Check { id: "V19.2", demand: Demand::SomeRun },
    Check { id: "V19.3", demand: Demand::SomeRun },
    Check { id: "V19.4", demand: Demand::EveryRun },
]);

const SEEDS: Seeds = Seeds::long_runs("V19");
/// The groups, each by both triggers.
const ARMS: [&str; 6] = [
    "substitute.budget",
    "substitute.no_progress",
    "failing.budget",
    "failing.no_progress",
    "none.budget",
    "none.no_progress",
];
/// Length of a run.
const TICKS: u64 = 3_600;
/// Cells that the cup runs to, each near something that opens.
const PLACES: [(i64, i64); 3] = [(9, 1), (13, 2), (13, 10)];
/// Moves until the budget is used up.
const MOVES: u64 = 3;
/// Energy of an Agent that goes to bed first of all.
const TIRED: i64 = 300_000;

/// The scenario.
pub(super) fn scenario() -> Scenario<Rooms> {
    Scenario {
        id: "V19",
        title: "Protected recovery",
        version: 1,
        stage: 0,
        tags: &["world", "regulation", "tier_utility", "body", "queue", "reducer_physical"],
        seeds: SEEDS,
        header: HEADER,
        script: &[
            ("v19.rs", include_str!("v19.rs")),
            ("runaway.rs", include_str!("runaway.rs")),
            ("drive.rs", include_str!("drive.rs")),
        ],
        checks: &CHECKS,
        needs: &[
            "by budget",
            "by no progress",
            "success",
            "back to normal",
            "recovery behaviour failed",
            "uncontrollable",
        ],
        mutations: &["lost_recovery", "recovery_without_end"],
        units: |choice: &Choice| {
            let identity = |index: u64| if index.is_multiple_of(2) { "mira" } else { "niko" };
            let all = seeded("V19", &ARMS, &["mira", "niko"], SEEDS.indices(choice.set));
            all.into_iter()
                .filter(|unit| unit.index().map(identity) == Some(unit.identity.as_str()))
                .collect()
        },
        run: |unit, context| {
            let (mut drive, seen) = drive(unit, context);
            seen.judge(&mut drive, unit, context);
            drive.finish()
        },
        record: |unit, context| drive(unit, context).0.record(),
        gate: no_gate,
    }
}

/// What could be done instead (GD-29).
const INSTEAD: [Obj; 4] = [Obj::SharedBox, Obj::Window, Obj::Workbench, Obj::Chair];

fn before(group: &str, by_budget: bool) -> Vec<Command> {
    let each = |verb, objects: &[Obj]| -> Vec<Command> {
        objects.iter().zip(1..).map(|(object, id)| Command::new(id, verb).on(*object)).collect()
    };
    // Near the bed, where something small can be done about it.
    let near = Cell::at(2, 2).map(|cell| Command::new(7, Verb::Move).on(Obj::Cup).to(Parent::cell(cell)));
    match (group, by_budget) {
        ("substitute", false) => near.into_iter().collect(),
        ("substitute", true) => Vec::new(),
        // What opens is locked, which one cannot see; then there is a person to be asked.
        ("failing", true) => {
            let mut locked = each(Verb::Lock, &INSTEAD[..2]);
            locked.push(Command::new(9, Verb::Come).by(0));
            locked
        }
        ("failing", false) => near.into_iter().chain([Command::new(9, Verb::Come).by(0)]).collect(),
        (_, true) => each(Verb::Break, &INSTEAD),
        (_, false) => {
            let mut gone = each(Verb::Break, &INSTEAD);
            gone.push(Command::new(8, Verb::Destroy).on(Obj::Cup));
            gone
        }
    }
}

fn setup_of(unit: &Unit, context: &Context<'_, Rooms>) -> Setup {
    let (group, by_budget) = arm(unit);
    let mut setup = setup(unit, context);
    setup.fixture.before = before(group, by_budget);
    if by_budget {
        setup.fixture.want = Some(Want { kind: Kind::PickUp, target: Some(Obj::Cup), human: None, times: 1 });
    } else {
        setup.mode = RunMode::Lab;
        setup.fixture.levels = Some(Levels {
            energy: TIRED,
            hydration: ONE,
            calories: ONE,
            thermal: ONE,
            pain: 0,
            posture: ONE,
            engagement: 0,
        });
    }
    setup
}

fn arm(unit: &Unit) -> (&str, bool) {
    let (group, trigger) = unit.arm.split_once('.').unwrap_or((&unit.arm, ""));
    (group, trigger == "budget")
}

fn drive<'a>(unit: &Unit, context: &Context<'a, Rooms>) -> (Drive<'a>, Seen) {
    let (group, by_budget) = arm(unit);
    let mut drive = Drive::start(unit, context, setup_of(unit, context));
    let places = PLACES.iter().filter_map(|(x, y)| Cell::at(*x, *y)).collect();
    let reach = context.world.profile.fixture.v10_reach;
    let mut mover = Mover::new(Obj::Cup, places, reach, context.seed.unwrap_or_default())
        .times(if by_budget { MOVES } else { 0 });
    let mut seen = Seen::default();
    let mut awake = by_budget;
    for _ in 0..TICKS {
        let trying = drive.room.state().queue.active().is_some_and(|item| item.goal == Goal::Want);
        let mut command = mover.command(&drive.room, trying);
        if !awake && sleeps(&drive) {
            awake = true;
            let mut edit = Command::new(50, Verb::SetLevel).amount(ONE);
            edit.channel = Some(Channel::Energy);
            command = Some(edit);
        } else if group == "failing" && !by_budget && seen.picks_up(&drive) {
            // What was to be done instead is taken away as well, once.
            let gone = Cell::at(13, 10).map_or(Parent::DESTROYED, Parent::cell);
            command = seen.take().then(|| Command::new(51, Verb::Move).on(Obj::Cup).to(gone));
        }
        drive.step(command.as_slice());
        seen.look(&drive);
    }
    (drive, seen)
}

fn sleeps(drive: &Drive<'_>) -> bool {
    let active = drive.room.state().queue.active();
    active.is_some_and(|item| item.kind == Kind::Sleep && item.phase == Phase::Running)
}

/// What is measured on the way. Ticks are those that were just made.
#[derive(Default)]
struct Seen {
    mode: Option<RecoveryMode>,
    entered: Option<u64>,
    cause: Option<RecoveryCause>,
    /// The premise that failed, and items of it that came onto the body while the recovery lasted.
    premise: Option<(Goal, Option<Obj>)>,
    suspended: bool,
    again: u64,
    /// The items that were on the way at the entry.
    before: u32,
    succeeded: Option<u64>,
    normal: Option<u64>,
    uncontrollable: Option<u64>,
    terminated: Option<u64>,
    /// Episodes that began while another ran.
    nested: u64,
    episodes: u32,
    /// A recovery behaviour failed.
    failed: bool,
    /// First tick after the end at which something else than waiting is on the body.
    busy: Option<u64>,
    taken: bool,
    /// No progress of what was on the body at the entry, ticks.
    stuck: u64,
}

impl Seen {
    /// The recovery is about to take the cup.
    fn picks_up(&self, drive: &Drive<'_>) -> bool {
        let active = drive.room.state().queue.active();
        active.is_some_and(|item| item.goal == Goal::Recover && item.target == Some(Obj::Cup))
    }

    fn take(&mut self) -> bool {
        !std::mem::replace(&mut self.taken, true)
    }

    fn look(&mut self, drive: &Drive<'_>) {
        let state = drive.room.state();
        let (now, recovery) = (state.now - 1, &state.recovery);
        let running = |mode| matches!(mode, RecoveryMode::Active | RecoveryMode::Observing);
        let from = self.mode.replace(recovery.mode).unwrap_or(RecoveryMode::Normal);
        if recovery.episodes > self.episodes {
            self.nested += u64::from(running(from) || recovery.episodes > self.episodes + 1);
            self.episodes = recovery.episodes;
            self.enter(drive, now);
        }
        if self.entered.is_none() || self.episodes > 1 {
            return;
        }
        self.failed |= recovery.failed != 0;
        if from != recovery.mode {
            self.change(recovery.mode, now);
        }
        self.succeeded = recovery.success.filter(|_| running(recovery.mode)).or(self.succeeded);
        if let Some(item) = state.queue.active() {
            let premise = Some((item.goal, item.target)) == self.premise && item.id >= self.before;
            self.again += u64::from(running(recovery.mode) && premise);
            let busy = !running(recovery.mode) && !matches!(item.kind, Kind::Idle | Kind::Wait);
            if busy && self.busy.is_none() {
                self.busy = Some(now);
            }
        }
    }

    fn enter(&mut self, drive: &Drive<'_>, now: u64) {
        if self.entered.is_some() {
            return;
        }
        let state = drive.room.state();
        self.entered = Some(now);
        self.cause = Some(state.recovery.cause);
        self.premise = state.recovery.goal.map(|goal| (goal, state.recovery.target));
        self.suspended =
            state.recovery.goal.is_some_and(|goal| state.recovery.suspended & (1 << goal as u32) != 0);
        self.before = state.queue.next;
        self.stuck = state.queue.active().map_or(0, |item| now - item.progress);
    }

    fn change(&mut self, to: RecoveryMode, now: u64) {
        let place = match to {
            RecoveryMode::Normal => &mut self.normal,
            RecoveryMode::Uncontrollable => &mut self.uncontrollable,
            RecoveryMode::Terminated => &mut self.terminated,
            _ => return,
        };
        place.get_or_insert(now);
    }

    fn judge(&self, drive: &mut Drive<'_>, unit: &Unit, context: &Context<'_, Rooms>) {
        let threshold = |name: &str| context.header.number(name).unwrap_or_default().unsigned_abs();
        let (group, by_budget) = arm(unit);
        let profile = std::sync::Arc::clone(drive.room.profile());
        let outcome = &mut drive.outcome;
        outcome.require("V19.1", self.entered.is_some(), None, "not_entered");
        let Some(entered) = self.entered else { return };
        self.judge_entry(outcome, by_budget, profile.task.no_progress.cast_unsigned());
        match group {
            "substitute" => self.judge_success(outcome, entered, &threshold),
            "none" => {
                let end = self.uncontrollable.or(self.terminated);
                let in_time = end.is_some_and(|end| end <= entered + threshold("residence"));
                outcome.require("V19.3", in_time, end, "not_uncontrollable_in_time");
                outcome.require("V19.3", self.uncontrollable.is_some(), None, "terminated");
            }
            _ => outcome.require("V19.4", self.failed, None, "nothing_failed"),
        }
        outcome.require("V19.4", self.nested < threshold("nesting"), None, "nested");
        let end = [self.normal, self.uncontrollable, self.terminated].into_iter().flatten().min();
        let bound = entered + threshold("residence") + threshold("observe");
        outcome.require("V19.4", end.is_some_and(|end| end <= bound), end, "does_not_end");
        let idle = profile.selection.tier4_explore_period.cast_unsigned();
        let busy = end.zip(self.busy).is_some_and(|(end, busy)| busy <= end + idle);
        outcome.require("V19.4", busy, self.busy, "idle_for_good");
        self.note(outcome, entered);
    }

    /// V19.1.
    fn judge_entry(&self, outcome: &mut Outcome, by_budget: bool, no_progress: u64) {
        let cause = if by_budget { RecoveryCause::Budget } else { RecoveryCause::NoProgress };
        outcome.require("V19.1", self.cause == Some(cause), self.entered, "cause");
        outcome.require("V19.1", self.suspended, self.entered, "not_suspended");
        outcome.require("V19.1", self.again == 0, None, "premise_begun_again");
        if !by_budget {
            outcome.require("V19.1", self.stuck == no_progress + 1, Some(self.stuck), "watchdog_tick");
        }
        reach_if(outcome, by_budget, "by budget");
        reach_if(outcome, !by_budget, "by no progress");
    }

    /// V19.2.
    fn judge_success(&self, outcome: &mut Outcome, entered: u64, threshold: &dyn Fn(&str) -> u64) {
        let success = self.succeeded.filter(|success| *success <= entered + threshold("success"));
        outcome.require("V19.2", success.is_some(), self.succeeded, "no_success_in_time");
        let exit = self.succeeded.zip(self.normal).map(|(success, normal)| normal - success);
        outcome.require("V19.2", exit == Some(threshold("observe")), exit, "exit");
    }

    fn note(&self, outcome: &mut Outcome, entered: u64) {
        for (end, name) in [
            (self.succeeded, "success"),
            (self.normal, "back to normal"),
            (self.uncontrollable, "uncontrollable"),
            (self.terminated, "terminated"),
        ] {
            if let Some(end) = end {
                outcome.reach(name);
                outcome.count(&format!("ticks_to_{}", name.replace(' ', "_")), (end - entered).cast_signed());
            }
        }
        reach_if(outcome, self.failed, "recovery behaviour failed");
    }
}

//! V20: the storm of interventions, as a regression that is reported (GD-96). Its gate belongs to a later stage: here the
//! invariants hold, and what the storm does is counted, never asked for.

use super::Rooms;
use super::drive::{Drive, checks, reach_if, setup};
use crate::gate::GateResult;
use crate::gate::Measure;
use crate::outcome::Outcome;
use crate::scenario::{Check, Choice, Context, Demand, Judged, Scenario, Seeds};
use crate::stats::Share;
use crate::unit::{Unit, seeded};
use room::draw::{Stream, draw, uniform};
use room::fixed::ONE;
use room::grid::Cell;
use room::input::{Command, Verb};
use room::kind::Kind;
use room::setup::{Hazard, RunMode};
use room::state::{Band, Channel, ControlMode};
use room::world::{Obj, Parent};

const HEADER: &str = "
claim: In 1000 rounds of 12 ticks with requests, contradictions, moves, blocked ways, repetitions and dangers, and in Lab with
  a lease and opposing commands beside them, the invariants hold on every tick; the rest is reported.
threshold rounds: 1000
threshold period: 12 ticks
threshold cancel_rate: K.experience.storm_cancel_rate
threshold back: 30 ticks
field: agency.owner
field: queue.items
";

const CHECKS: [Check; 11] = checks(&[
    Check { id: "V20.1", demand: Demand::Reported },
    Check { id: "V20.2", demand: Demand::Reported },
    Check { id: "V20.3", demand: Demand::Reported },
]);

const SEEDS: Seeds = Seeds::all("V20");
/// A danger comes with every so many rounds, the last of them in time to be over before the storm is.
const HAZARD_ROUNDS: u64 = 50;
/// Ticks from its onset to harm.
const HAZARD_TTC: u64 = 40;
/// Water at the start, so that its latest start comes in the storm.
const THIRSTY: i64 = 200_000;
/// Ticks that are looked at after the storm.
const AFTER: u64 = 120;

/// The scenario.
pub(super) fn scenario() -> Scenario<Rooms> {
    Scenario {
        id: "V20",
        title: "Intervention storm, reported",
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
        seeds: SEEDS,
        header: HEADER,
        script: &[
            ("v20.rs", include_str!("v20.rs")),
            ("runaway.rs", include_str!("runaway.rs")),
            ("drive.rs", include_str!("drive.rs")),
        ],
        checks: &CHECKS,
        needs: &["danger", "lease", "drink", "canceled after PREPARING", "blocked way"],
        mutations: &["lease_without_end"],
        units: |choice: &Choice| seeded("V20", &["coexistence", "lab"], &["mira"], SEEDS.indices(choice.set)),
        run: |unit, context| {
            let (mut drive, seen) = drive(unit, context);
            seen.report(&mut drive, context);
            drive.finish()
        },
        record: |unit, context| drive(unit, context).0.record(),
        gate,
    }
}

/// The storm of one run.
struct Storm {
    seed: u64,
    lab: bool,
    number: u64,
    last: Option<Command>,
    blocked: Option<Cell>,
    cells: Vec<Cell>,
}

impl Storm {
    fn id(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    fn drawn(&self, round: u64, n: u64, of: usize) -> usize {
        uniform(draw(self.seed, Stream::Interleaving as u64, round, n), of as u64) as usize
    }

    /// What comes in at tick `n` of a round.
    fn commands(&mut self, round: u64, n: u64, period: u64) -> Vec<Command> {
        let mut commands = Vec::new();
        if n == 0 {
            commands.extend(self.event(round));
        }
        if n == period / 2 && round > 0 && round.is_multiple_of(HAZARD_ROUNDS) {
            commands.push(Command::new(self.id(), Verb::Ignite));
        }
        if self.lab {
            commands.extend(self.control(round, n));
        }
        commands
    }

    /// One of six (GD-96).
    fn event(&mut self, round: u64) -> Option<Command> {
        const REQUESTED: [Obj; 2] = [Obj::SharedBox, Obj::Window];
        let which = self.drawn(round, 0, 6);
        if which == 5 {
            return self.last.clone();
        }
        let id = self.id();
        let object = REQUESTED[self.drawn(round, 1, REQUESTED.len())];
        let cell = self.cells[self.drawn(round, 2, self.cells.len())];
        let command = match which {
            0 if round.is_multiple_of(2) => Command::new(id, Verb::Cue),
            0 => Command::new(id, Verb::PersonOpens).on(object).by(0),
            1 => Command::new(id, Verb::PersonCloses).on(object).by(0),
            2 => Command::new(id, Verb::Move).on(Obj::Cup).to(Parent::cell(cell)),
            3 => match self.blocked.take() {
                Some(cell) => Command::new(id, Verb::Unblock).at(cell),
                None => {
                    self.blocked = Some(cell);
                    Command::new(id, Verb::Block).at(cell)
                }
            },
            _ => return None,
        };
        self.last = Some(command.clone());
        Some(command)
    }

    /// Lab: a lease that is asked for and renewed, and commands that pull both ways.
    fn control(&mut self, round: u64, n: u64) -> Option<Command> {
        let id = self.id();
        match n {
            1 if round.is_multiple_of(5) => Some(Command::new(id, Verb::LeaseRequest)),
            1 => Some(Command::new(id, Verb::LeaseRenew)),
            3 | 6 | 9 => {
                let cell = self.cells[(n / 3) as usize % 2 * (self.cells.len() - 1)];
                Some(Command::new(id, Verb::Command).doing(Kind::WalkTo).at(cell))
            }
            _ => None,
        }
    }
}

fn drive<'a>(unit: &Unit, context: &Context<'a, Rooms>) -> (Drive<'a>, Seen) {
    let number = |name: &str| context.header.number(name).unwrap_or_default().unsigned_abs();
    let (rounds, period) = (number("rounds"), number("period"));
    let mut setup = setup(unit, context);
    let lab = unit.arm == "lab";
    setup.mode = if lab { RunMode::Lab } else { RunMode::Coexistence };
    let [x, y] = context.world.profile.fixture.v03_source;
    setup.fixture.hazard =
        Cell::at(x, y).map(|cell| Hazard { cell, ttc: HAZARD_TTC, visible: true, controllable: true });
    setup.fixture.before = vec![Command::new(u64::MAX >> 12, Verb::Come).by(0)];
    let mut drive = Drive::start(unit, context, thirsty(setup, context));
    let cells = super::runaway::zones(&drive.room);
    let seed = context.seed.unwrap_or_default();
    let mut storm = Storm { seed, lab, number: 0, last: None, blocked: None, cells };
    let mut seen = Seen::default();
    for tick in 0..rounds * period + AFTER {
        let storming = tick < rounds * period;
        let commands =
            if storming { storm.commands(tick / period, tick % period, period) } else { Vec::new() };
        drive.step(&commands);
        seen.look(&drive, !storming);
        seen.blocked |= storm.blocked.is_some_and(|cell| drive.room.state().world.blocked.has(cell));
    }
    reach_if(&mut drive.outcome, seen.blocked, "blocked way");
    (drive, seen)
}

/// The levels of the reference start, and little water.
fn thirsty(mut setup: room::setup::Setup, context: &Context<'_, Rooms>) -> room::setup::Setup {
    let profile = std::sync::Arc::clone(&context.world.profile);
    let start = room::Room::new(profile, setup.clone()).expect("the setup of a scenario starts");
    let mut levels = *start.state().levels;
    levels.hydration = THIRSTY;
    setup.fixture.levels = Some(levels);
    setup
}

/// What is measured on the way.
#[derive(Default)]
struct Seen {
    danger: bool,
    lease: bool,
    blocked: bool,
    /// Ticks at which water was at its danger level: the body came too late.
    late: u64,
    /// Ticks after the storm until the Agent decides again.
    back: Option<u64>,
    after: u64,
}

impl Seen {
    fn look(&mut self, drive: &Drive<'_>, after: bool) {
        let state = drive.room.state();
        self.danger |= state.safety.entries > 0;
        self.lease |= state.control.mode == ControlMode::OperatorLease;
        self.late += u64::from(state.regulation.band[Channel::Hydration.index()] == Band::Danger);
        if after {
            let free = state.control.mode == ControlMode::Autonomous && state.queue.operator.is_empty();
            if free && self.back.is_none() {
                self.back = Some(self.after);
            }
            self.after += 1;
        }
    }

    fn report(&self, drive: &mut Drive<'_>, context: &Context<'_, Rooms>) {
        let back = context.header.number("back").unwrap_or_default().unsigned_abs();
        let limit = drive.room.profile().experience.storm_cancel_rate;
        let (audit, drunk) = {
            let state = drive.room.state();
            (state.audit.clone(), state.regulation.served[Channel::Hydration.index()] > 0)
        };
        let rate = i64::from(audit.canceled) * ONE / i64::from(audit.prepared.max(1));
        let outcome = &mut drive.outcome;
        let broke = |holds: bool| i64::from(!holds);
        for (check, name, holds) in [
            ("V20.1", "broke_deadline", self.late == 0 && drunk),
            ("V20.2", "broke_cancel_rate", rate < limit),
            ("V20.3", "broke_return", self.back.is_some_and(|ticks| ticks <= back)),
        ] {
            outcome.checked(check, 1);
            outcome.count(name, broke(holds));
        }
        for (name, count) in [
            ("prepared", i64::from(audit.prepared)),
            ("canceled", i64::from(audit.canceled)),
            ("cancel_rate", rate),
            ("late_ticks", self.late.cast_signed()),
            ("back_ticks", self.back.map_or(-1, u64::cast_signed)),
            ("duplicates", i64::from(audit.duplicates)),
        ] {
            outcome.count(name, count);
        }
        for (there, situation) in [
            (self.danger, "danger"),
            (self.lease, "lease"),
            (drunk, "drink"),
            (audit.canceled > 0, "canceled after PREPARING"),
        ] {
            reach_if(outcome, there, situation);
        }
    }
}

/// Shares of runs in which something broke, by mode; nothing is asked of them at this stage.
fn gate(judged: &Judged<'_, Rooms>) -> GateResult {
    let mut result = GateResult::default();
    for arm in ["coexistence", "lab"] {
        let of = || judged.outcomes.iter().filter(move |outcome: &&Outcome| outcome.unit.arm == arm);
        for name in ["broke_deadline", "broke_cancel_rate", "broke_return"] {
            let k = of().filter(|outcome| outcome.counts.get(name).is_some_and(|broke| *broke > 0)).count()
                as u64;
            let share = Share { k, n: of().count() as u64 };
            result.measures.push(Measure::Share { name: format!("{arm}: {name}"), share });
        }
    }
    result
}

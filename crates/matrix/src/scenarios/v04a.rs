//! V04a: a proposer that answers after ten times the duration of what it proposes, and what happens in the meantime (GD-92).
//!
//! The stub is outside of the room: an answer is an input that says when it was asked for (GD-88).

use super::bed::cell;
use super::drive::{Drive, checks, setup};
use super::v04a_stub::{Case, Event, Proposal, Watch};
use super::{Rooms, v04a_stub};
use crate::outcome::Outcome;
use crate::scenario::{Check, Choice, Context, Demand, Scenario, Seeds, no_gate};
use crate::unit::{Unit, enumerated};
use room::Listen;
use room::fixed::ONE;
use room::grid::Cell;
use room::input::Command;
use room::kind::Kind;
use room::setup::{Hazard, RunMode};
use room::state::{ControlMode, Levels};

const HEADER: &str = "
claim: An answer comes 10 times the duration of its Interaction after its request, at most one tick before K.clock.proposal_ttl or
  not before it; meanwhile the target changes, a danger breaks out, the intent is canceled, or nothing happens.
claim: The body goes on: it is never without an item on it for more than K.clock.pending_max ticks while it waits for nothing.
claim: What is late, withdrawn or about something that has changed is not queued; Safety is not slower than without a request.
claim: The same answer is delivered twice and becomes one item.
threshold delay: 10
threshold items: 1
threshold safe: 13 ticks
field: queue.items
field: tier_utility.answered
";

const CHECKS: [Check; 12] = checks(&[
    Check { id: "LIV-08", demand: Demand::SomeRun },
    Check { id: "V04a.1", demand: Demand::EveryRun },
    Check { id: "V04a.2", demand: Demand::EveryRun },
    Check { id: "V04a.3", demand: Demand::EveryRun },
]);

/// The scenario.
pub(super) fn scenario() -> Scenario<Rooms> {
    Scenario {
        id: "V04a",
        title: "Model-free delayed proposal stub",
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
            ("v04a.rs", include_str!("v04a.rs")),
            ("v04a_stub.rs", include_str!("v04a_stub.rs")),
            ("drive.rs", include_str!("drive.rs")),
        ],
        checks: &CHECKS,
        needs: &[
            "answer queued",
            "answer carried out",
            "late answer",
            "answer in a danger",
            "answer about what has changed",
            "answer to what was withdrawn",
            "second delivery",
            "Safety episode",
        ],
        mutations: &["late_answer", "answer_twice"],
        units: |_: &Choice| enumerated("V04a", &Kind::ALL.map(Kind::name), &["mira"], 1),
        run,
        record,
        gate: no_gate,
    }
}

fn run(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let mut outcome = Outcome::new(unit);
    let Some(kind) = Kind::of(&unit.arm) else { return outcome };
    for case in Case::all() {
        one(unit, context, Proposal::of(kind), case).add_to(&mut outcome);
    }
    outcome
}

/// The first case that fails.
fn record(unit: &Unit, context: &Context<'_, Rooms>) -> Option<Vec<u8>> {
    let kind = Kind::of(&unit.arm)?;
    let mut all = Case::all().map(|case| one(unit, context, Proposal::of(kind), case));
    all.find(|drive| drive.outcome.failures_n > 0 || !drive.room.checks().held()).and_then(Drive::record)
}

/// One case. It is run twice when there is a danger: it breaks out where the body then is.
fn one<'a>(unit: &Unit, context: &Context<'a, Rooms>, proposal: Proposal, case: Case) -> Drive<'a> {
    let drive = with_hazard(unit, context, proposal, None);
    match case.event {
        Event::Danger => {
            let place = v04a_stub::body_at_event(drive, proposal);
            driven(with_hazard(unit, context, proposal, place), context, proposal, case)
        }
        _ => driven(drive, context, proposal, case),
    }
}

fn with_hazard<'a>(
    unit: &Unit,
    context: &Context<'a, Rooms>,
    proposal: Proposal,
    place: Option<Cell>,
) -> Drive<'a> {
    let profile = &context.world.profile;
    let mut setup = setup(unit, context);
    setup.mode = RunMode::Lab;
    let reserve = profile.regulation.initial_reserves;
    setup.fixture.levels = Some(Levels {
        energy: ONE,
        hydration: ONE,
        calories: ONE,
        thermal: reserve,
        pain: 0,
        posture: reserve,
        engagement: 0,
    });
    setup.fixture.proposer = true;
    let spawn = cell((profile.world.spawn[0], profile.world.spawn[1]));
    setup.fixture.before = proposal.before(spawn);
    let [ttc, ..] = profile.fixture.v03_ttc;
    let hazard = |cell| Hazard { cell, ttc: ttc.cast_unsigned(), visible: true, controllable: true };
    setup.fixture.hazard = place.map(hazard);
    let mut drive = Drive::start(unit, context, setup);
    drive.room.listen(Listen::Everything);
    drive
}

/// Asks, lets the event happen, answers twice, and looks at what becomes of it.
fn driven<'a>(
    mut drive: Drive<'a>,
    context: &Context<'a, Rooms>,
    proposal: Proposal,
    case: Case,
) -> Drive<'a> {
    let ready = v04a_stub::prepare(&mut drive, proposal);
    let free = drive.room.state().control.mode == ControlMode::Autonomous;
    drive.outcome.require("V04a.1", ready && free, Some(drive.room.now()), "not_ready");
    let mut watch = Watch::new(&drive.room, context.header, proposal, case);
    for _ in 0..=watch.span() {
        let commands: Vec<Command> = watch.commands(&drive.room);
        drive.step(&commands);
        let events = drive.room.events().to_vec();
        watch.look(&drive.room, &events);
    }
    watch.judge(&mut drive);
    drive
}

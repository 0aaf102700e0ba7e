//! Faults that a storm of inputs has found, each with the smallest case that shows it.

use crate::room;
use room::Room;
use room::check::Check;
use room::fixed::ONE;
use room::grid::Cell;
use room::input::{self, Command, Input, InputFault, Verb};
use room::item::{Exit, Goal, Label, Owner, Phase};
use room::kind::Kind;
use room::profile::Profile;
use room::record::Feed;
use room::reject::Reject;
use room::setup::{Hazard, Identity, RunMode, Setup, Want};
use room::state::{Channel, ControlMode, Levels, SafetyMode};
use room::world::{Obj, Stage};
use room::{Listen, SetupFault};

fn levels() -> Levels {
    *room("V01", 0, Identity::Mira).state().levels
}

fn setup(change: impl FnOnce(&mut Setup)) -> Setup {
    let mut setup = Setup::of("V05", 0, Identity::Mira);
    change(&mut setup);
    setup
}

fn start(setup: Setup) -> Room {
    let mut room = Room::new(Profile::reference(), setup).expect("it starts");
    room.listen(Listen::Everything);
    room
}

/// Runs, shows every tick to `watch`, and holds every check to the end.
fn run(room: &mut Room, inputs: &[(u64, Command)], ticks: u64, mut watch: impl FnMut(&Room, &[What])) {
    let inputs: Vec<Input> =
        inputs.iter().map(|(tick, command)| Input { tick: *tick, command: command.clone() }).collect();
    input::check(&inputs).expect("a list of inputs");
    let mut feed = Feed::new(&inputs);
    while room.now() < ticks {
        let tick = room.now();
        let events: Vec<What> = room.step(feed.at(tick)).iter().map(|event| event.what.clone()).collect();
        assert_eq!(room.checks().first, None, "at {tick}");
        watch(room, &events);
    }
}

use room::event::What;

#[test]
fn nobody_is_asked_who_is_gone_and_nobody_twice() {
    let thirsty = setup(|setup| {
        setup.fixture.levels = Some(Levels { hydration: 300_000, ..levels() });
    });
    let dry = [Obj::Dispenser, Obj::Jug];
    let mut inputs: Vec<(u64, Command)> =
        (1..).zip(dry).map(|(id, obj)| (id, Command::new(id, Verb::Restock).on(obj).amount(0))).collect();
    inputs.push((3, Command::new(3, Verb::Come).by(0)));
    inputs.push((70, Command::new(4, Verb::Leave).by(0)));
    let (mut asked, mut most) = (0, 0);
    run(&mut start(thirsty), &inputs, 1_000, |room, events| {
        let asks = |what: &&What| matches!(what, What::Edge { kind: Kind::Ask, label: Label::Succeeded, .. });
        asked += events.iter().filter(asks).count();
        most = room.state().regulation.record[Channel::Hydration.index()].messages.max(most);
    });
    assert_eq!((asked / 2, most), (1, 4), "one call found somebody, the others were alarms");
}

#[test]
fn a_broken_switch_is_not_tried_in_every_tick() {
    let mut most = 0;
    for on in (0..2_000).step_by(250) {
        let inputs = [
            (on, Command::new(1, Verb::Break).on(Obj::Breaker)),
            (on, Command::new(2, Verb::PersonOpens).on(Obj::Heater).by(0)),
            (on + 1, Command::new(3, Verb::Fault)),
        ];
        let mut room = start(setup(|_| {}));
        let mut ordered = std::collections::BTreeSet::new();
        run(&mut room, &inputs, on + 1_000, |room, _| {
            ordered.extend(room.state().queue.safety.iter().map(|item| item.id));
        });
        assert_eq!(room.state().safety.mode, SafetyMode::Evacuating, "it burns on");
        most = most.max(ordered.len());
    }
    assert!(most < 60, "{most} orders in 400 ticks");
}

#[test]
fn nobody_is_put_into_a_danger_and_the_end_of_the_time_is_one_tick() {
    let lab = setup(|setup| {
        setup.mode = RunMode::Lab;
        let cell = Cell::at(2, 1).expect("in the room");
        setup.fixture.hazard = Some(Hazard { cell, ttc: 30, visible: false, controllable: true });
    });
    let into = Command::new(2, Verb::Teleport).at(Cell::at(3, 1).expect("in the room"));
    let mut refused = 0;
    let mut room = start(lab);
    run(&mut room, &[(5, Command::new(1, Verb::Ignite)), (20, into)], 200, |_, events| {
        let zone = |what: &&What| matches!(what, What::Refused { reject: Reject::ZoneTarget, .. });
        refused += events.iter().filter(zone).count();
    });
    assert_eq!(refused, 1);
    let mut source = room.state().hidden.sources[1].clone();
    (source.stage, source.since, source.ttc) = (Stage::Overheat, 10, 30);
    assert_eq!([39, 40, 41].map(|now| source.harms(now)), [false, true, false]);
    source.ttc = u64::MAX;
    assert_eq!((source.remaining(11), source.harms(11)), (Some(u64::MAX - 11), false));
}

#[test]
fn who_leaves_one_danger_does_not_walk_into_the_other() {
    let two = setup(|setup| {
        let cell = Cell::at(9, 8).expect("in the room");
        setup.fixture.hazard = Some(Hazard { cell, ttc: 45, visible: false, controllable: true });
    });
    for on in (1..4_000).step_by(100) {
        let ignite = on + 580;
        let inputs = [
            (0, Command::new(1, Verb::Fault)),
            (on, Command::new(2, Verb::SwitchOn).on(Obj::Heater)),
            (ignite, Command::new(3, Verb::Ignite)),
        ];
        let mut room = start(two.clone());
        run(&mut room, &inputs, on + 800, |_, _| {});
        assert!(room.checks().count(Check::Liv06) > 0);
        assert!(room.state().hidden.sources.iter().all(|source| !source.harmed), "ignited at {ignite}");
    }
}

#[test]
fn a_rest_eases_what_it_eases_at_once() {
    let weak = setup(|setup| {
        setup.fixture.levels = Some(Levels { energy: 100_000, pain: 900_000, posture: 100_000, ..levels() });
    });
    let mut exits = Vec::new();
    run(&mut start(weak), &[], 600, |_, events| {
        exits.extend(events.iter().filter_map(|what| match what {
            What::Edge { kind: Kind::Rest | Kind::Sleep, label: Label::Succeeded, exit, .. } => Some(*exit),
            _ => None,
        }));
    });
    assert!(!exits.contains(&Exit::Tier1), "{exits:?}");
}

#[test]
fn who_is_where_it_is_warm_only_waits() {
    let cold = setup(|setup| setup.fixture.levels = Some(Levels { thermal: 100_000, ..levels() }));
    let mut walks = 0;
    run(&mut start(cold), &[], 300, |_, events| {
        let walk = |what: &&What| matches!(what, What::Decision(d) if d.chosen.as_ref().is_some_and(|c| c.starts_with("thermal:WalkTo")));
        walks += events.iter().filter(walk).count();
    });
    assert_eq!(walks, 0);
}

#[test]
fn what_is_gone_is_searched_for_three_times() {
    let wish = setup(|setup| {
        setup.fixture.want = Some(Want { kind: Kind::PickUp, target: Some(Obj::Cup), human: None, times: 1 });
    });
    let mut room = start(wish);
    let mut scans = 0;
    run(&mut room, &[(0, Command::new(1, Verb::Destroy).on(Obj::Cup))], 600, |_, events| {
        let scan = |what: &&What| matches!(what, What::Outcome { success: true, .. });
        scans += events.iter().filter(scan).count();
    });
    assert_eq!((room.state().mind.search, room.state().mind.scans), (Some(Obj::Cup), 3));
    assert!(room.checks().count(Check::Liv04) > 0 && scans >= 3);
}

#[test]
fn only_the_service_of_a_channel_is_spared_the_total() {
    for (kind, goal) in [(Kind::PickUp, Goal::Want), (Kind::Receive, Goal::Want)] {
        let wish = setup(|setup| {
            setup.fixture.want = Some(Want { kind, target: Some(Obj::Chair), human: Some(0), times: 9 });
        });
        let mut room = start(wish);
        let mend = |id| (id * 300, Command::new(id, Verb::Mend).on(Obj::Chair));
        let mut inputs = vec![(0, Command::new(99, Verb::Come).by(0))];
        inputs.extend((1..12).map(mend));
        run(&mut room, &inputs, 4_000, |_, _| {});
        let totals: Vec<u32> = room.state().retries.totals.iter().map(|total| total.failures).collect();
        assert_eq!(totals, [3], "{kind:?} {goal:?}");
    }
}

#[test]
fn what_a_lease_left_blocked_ends_with_it() {
    let lab = setup(|setup| setup.mode = RunMode::Lab);
    let take = Command { human: Some(0), object: Some(Obj::Cup), ..Command::new(3, Verb::Command) };
    let inputs = [
        (0, Command::new(1, Verb::LeaseRequest)),
        (5, take.doing(Kind::Give)),
        (12, Command::new(4, Verb::Command).doing(Kind::Scan)),
    ];
    let mut room = start(lab);
    run(&mut room, &inputs, 200, |_, _| {});
    assert_eq!(room.state().control.mode, ControlMode::Autonomous);
    assert!(room.state().queue.all().all(|item| item.owner == Owner::Agent));
    assert!(room.checks().count(Check::Liv05) > 0);
}

#[test]
fn answers_to_requests_that_cannot_be_are_refused() {
    let mut rejects = Vec::new();
    let answer = |id, asked| Command {
        kind: Some(Kind::Scan),
        request: Some(id),
        asked: Some(asked),
        ..Command::new(id, Verb::Respond)
    };
    let inputs = [(70, answer(1, u64::MAX)), (70, answer(2, 71)), (70, answer(3, 10)), (70, answer(4, 11))];
    run(&mut start(setup(|_| {})), &inputs, 72, |_, events| {
        rejects.extend(events.iter().filter_map(|what| match what {
            What::Refused { about, reject } => Some((*about, *reject)),
            _ => None,
        }));
    });
    let unknown = |id| (id, Reject::UnknownId);
    assert_eq!(rejects, [unknown(1), unknown(2), (3, Reject::TtlExpired)]);
}

#[test]
fn content_that_cannot_be_does_not_start() {
    let fault = |change: fn(&mut Setup)| Room::new(Profile::reference(), setup(change)).err();
    assert_eq!(fault(|setup| setup.fixture.spawn = Some(Cell(250))), Some(SetupFault::Spawn));
    let hazard = |setup: &mut Setup| {
        setup.fixture.hazard = Some(Hazard { cell: Cell(250), ttc: 40, visible: true, controllable: true });
    };
    assert_eq!(fault(hazard), Some(SetupFault::HazardPlace));
    let wish = |setup: &mut Setup| {
        setup.fixture.want = Some(Want { kind: Kind::Give, target: None, human: Some(3), times: 1 });
    };
    assert_eq!(fault(wish), Some(SetupFault::Before));
    let restock = Command::new(1, Verb::Restock).on(Obj::Jug).amount(i64::MAX);
    let refused = input::check(&[Input { tick: 0, command: restock }]).unwrap_err();
    assert_eq!(refused.fault, InputFault::Argument, "more than a stock can count would have been nothing");
}

#[test]
fn nobody_is_sent_into_a_danger_by_who_assists() {
    let hidden = setup(|setup| {
        let cell = Cell::at(9, 8).expect("in the room");
        setup.fixture.hazard = Some(Hazard { cell, ttc: 60, visible: false, controllable: true });
    });
    let source = Cell::at(9, 8).expect("in the room");
    let mut accepted = 0;
    for cell in Cell::all() {
        let inputs = [
            (2, Command::new(1, Verb::Ignite)),
            (4, Command::new(2, Verb::Assist)),
            (6, Command::new(3, Verb::Command).doing(Kind::WalkTo).at(cell)),
        ];
        run(&mut start(hidden.clone()), &inputs, 40, |room, _| {
            let taken = room.state().queue.operator.iter().any(|item| item.command == Some(3));
            assert!(!taken || cell.manhattan(source) > 4, "{cell:?}");
            accepted += u32::from(taken);
        });
    }
    assert!(accepted > 0);
}

#[test]
fn what_is_blocked_no_more_is_not_taken_back_for_a_place_in_a_full_queue() {
    // A rehearsed seed whose first choice is to speak.
    let mut asks = Setup::of("V05", 1441, Identity::Mira);
    let content = Levels { energy: ONE, hydration: ONE, calories: ONE, engagement: 0, ..levels() };
    asks.mode = RunMode::Lab;
    asks.fixture.levels = Some(content);
    asks.fixture.want = Some(Want { kind: Kind::Speak, target: None, human: Some(0), times: 1 });
    asks.fixture.before = vec![Command::new(1, Verb::Come).by(0)];
    let (mut full, mut seen) = (0, 0);
    for back in 14..130 {
        let inputs = [(1, Command::new(2, Verb::Leave).by(0)), (back, Command::new(3, Verb::Come).by(0))];
        let mut room = start(asks.clone());
        let mut before = 0;
        let mut ends = Vec::new();
        run(&mut room, &inputs, 140, |room, events| {
            if room.now() == back {
                before = room.state().queue.items.len();
            }
            ends.extend(events.iter().filter_map(|what| match what {
                What::Edge { kind: Kind::Speak, from: Phase::Blocked, label, .. } => Some(*label),
                _ => None,
            }));
        });
        full += usize::from(before >= 3);
        seen += ends.len();
        assert!(ends.iter().all(|label| *label == Label::Superseded), "back at {back}: {ends:?}");
    }
    assert!(full > 0 && seen > 50, "{full} times with a full queue, {seen} ends");
}

#[test]
fn a_switch_is_reached_around_the_danger_when_the_shortest_way_leads_through_it() {
    let lab = setup(|setup| setup.mode = RunMode::Lab);
    let corner = Cell::at(12, 0).expect("in the room");
    let inputs = [
        (1, Command::new(1, Verb::Fault)),
        (2, Command::new(2, Verb::SwitchOn).on(Obj::Heater)),
        (615, Command::new(3, Verb::Teleport).at(corner)),
    ];
    let mut room = start(lab);
    let (mut evacuating, mut near) = (false, i64::MAX);
    run(&mut room, &inputs, 760, |room, _| {
        if room.now() == 616 {
            evacuating =
                room.state().safety.mode == SafetyMode::Evacuating && room.state().body.cell == corner;
        }
        if room.now() > 616 && room.state().safety.mode == SafetyMode::Evacuating {
            near = near.min(room.state().hidden.sources[0].cell.manhattan(room.state().body.cell));
        }
    });
    assert!(evacuating, "{:?}", room.state().safety.mode);
    assert!(near > room.profile().safety.danger_radius, "it came to {near} cells");
    assert_eq!(room.state().safety.mode, SafetyMode::Clear, "it was shut off");
}

#[test]
fn a_danger_that_nobody_ends_may_outlast_a_reserve() {
    let lab = setup(|setup| {
        setup.mode = RunMode::Lab;
        setup.fixture.levels = Some(Levels { energy: 20_000, ..levels() });
    });
    let pocket = Cell::at(15, 1).expect("in the room");
    let inputs = [
        (0, Command::new(1, Verb::Teleport).at(pocket)),
        (1, Command::new(2, Verb::Fault)),
        (2, Command::new(3, Verb::SwitchOn).on(Obj::Heater)),
        (615, Command::new(4, Verb::Teleport).at(pocket)),
    ];
    let mut room = start(lab);
    run(&mut room, &inputs, 6_000, |_, _| {});
    assert_eq!((room.state().levels.energy, room.state().safety.mode), (0, SafetyMode::Evacuating));
}

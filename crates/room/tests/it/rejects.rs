//! Every rejection has its triple (GD-39), and every refusal of a setup its code.

use room::event::What;
use room::grid::Cell;
use room::input::{Command, Verb};
use room::item::Goal;
use room::kind::Kind;
use room::profile::Profile;
use room::reject::Reject;
use room::setup::{Hazard, Identity, RunMode, Setup, Want};
use room::state::{Channel, Levels};
use room::world::{Obj, Parent};
use room::{Listen, Room, SetupFault};
use std::collections::BTreeSet;

/// Every code that a run rejects something with, as `layer code`.
fn rejects(setup: Setup, ticks: u64, commands: impl Fn(u64, &Room) -> Vec<Command>) -> BTreeSet<String> {
    let mut room = Room::new(Profile::reference(), setup).expect("the setup starts");
    room.listen(Listen::Everything);
    let mut found = BTreeSet::new();
    let mut note = |reject: Reject| found.insert(format!("{} {}", reject.layer(), reject.code()));
    for tick in 0..ticks {
        let given = commands(tick, &room);
        for event in room.step(&given) {
            match &event.what {
                What::Refused { reject, .. } => {
                    note(*reject);
                }
                What::Decision(decision) => {
                    decision.candidates.iter().filter_map(|c| c.reject).for_each(|reject| {
                        note(reject);
                    });
                }
                _ => {}
            }
        }
    }
    assert_eq!(room.checks().first, None);
    found
}

fn lab() -> Setup {
    Setup { mode: RunMode::Lab, ..Setup::of("V20", 0, Identity::Mira) }
}

fn with(change: impl FnOnce(&mut Setup)) -> Setup {
    let mut setup = lab();
    change(&mut setup);
    setup
}

fn wants(kind: Kind, target: Obj, human: Option<u8>) -> Setup {
    with(|setup| setup.fixture.want = Some(Want { kind, target: Some(target), human, times: 9 }))
}

fn command(tick: u64, id: u64, at: u64, verb: Verb) -> Vec<Command> {
    if tick == at { vec![Command::new(id, verb)] } else { Vec::new() }
}

#[track_caller]
fn expect(found: &BTreeSet<String>, layer: &str, code: &str) {
    assert!(found.contains(&format!("{layer} {code}")), "{layer} {code} is not in {found:?}");
}

#[test]
fn what_cannot_work_is_eliminated_by_its_code() {
    let thirsty = with(|setup| {
        setup.fixture.levels = Some(levels(Channel::Hydration, 400_000));
        setup.fixture.before = vec![Command::new(1, Verb::Restock).on(Obj::Dispenser).amount(0)];
    });
    expect(&rejects(thirsty, 10, |_, _| Vec::new()), "L8", "cons_version_stale");
    let full = wants(Kind::Receive, Obj::Cup, Some(0));
    expect(&rejects(full, 10, |_, _| Vec::new()), "L8", "cons_version_stale");
    let tools = wants(Kind::Repair, Obj::Radio, None);
    expect(&rejects(tools, 10, |_, _| Vec::new()), "L8", "cons_hand_conflict");
    let thirst = with(|setup| setup.fixture.levels = Some(levels(Channel::Hydration, 500_000)));
    expect(&rejects(thirst, 10, |_, _| Vec::new()), "L8", "cons_below_admission");
}

#[test]
fn a_second_service_of_one_channel_is_pending_v02() {
    // While the Agent drinks, news makes it decide again: the thirst is being seen to already.
    let setup = with(|setup| setup.fixture.levels = Some(levels(Channel::Hydration, 300_000)));
    let found = rejects(setup, 40, |tick, room| {
        let drinks = room.state().queue.active().is_some_and(|i| i.kind == Kind::Drink && i.parts == 0);
        let place = Parent::cell(Cell::at(5, if tick % 2 == 0 { 5 } else { 6 }).unwrap());
        if drinks { vec![Command::new(tick + 1, Verb::Move).on(Obj::Plant).to(place)] } else { Vec::new() }
    });
    expect(&found, "L8", "cons_pending_effect");
}

#[test]
fn the_fourth_of_a_kind_in_a_row_is_refused_rc_xpg_12() {
    let seeds = (0..20).map(|index| Setup::of("V01", index, Identity::Niko));
    let found = seeds.flat_map(|setup| rejects(setup, 1_500, |_, _| Vec::new())).collect();
    expect(&found, "L8", "cons_family_share");
}

#[test]
fn a_closed_way_is_unknown() {
    let walled = with(|setup| {
        setup.fixture.levels = Some(levels(Channel::Hydration, 300_000));
        let around = [(1, 11), (3, 11), (2, 10)];
        let block = |(n, (x, y))| Command::new(n as u64 + 1, Verb::Block).at(Cell::at(x, y).unwrap());
        setup.fixture.before = around.into_iter().enumerate().map(block).collect();
    });
    expect(&rejects(walled, 10, |_, _| Vec::new()), "L8", "cons_path_unknown");
}

#[test]
fn retries_are_counted_rc_tsk_01() {
    let damaged = with(|setup| {
        setup.fixture.want =
            Some(Want { kind: Kind::Open, target: Some(Obj::SharedBox), human: None, times: 9 });
        setup.fixture.before = vec![Command::new(1, Verb::Lock).on(Obj::SharedBox)];
    });
    expect(&rejects(damaged.clone(), 200, |_, _| Vec::new()), "L2", "size_retry_local");
    // A move after each failure brings new versions, and the total stays.
    let moved = wants(Kind::PickUp, Obj::Cup, None);
    let found = rejects(moved, 600, |tick, room| {
        let near =
            room.state().world.cell_of(Obj::Cup).is_some_and(|at| at.manhattan(room.state().body.cell) <= 2);
        let to =
            if tick % 2 == 0 { Parent::with(Obj::Window) } else { Parent::cell(Cell::at(3, 7).unwrap()) };
        if near { vec![Command::new(tick + 1, Verb::Move).on(Obj::Cup).to(to)] } else { Vec::new() }
    });
    expect(&found, "L2", "size_retry_total");
}

#[test]
fn direct_control_has_back_pressure_and_closed_channels() {
    let mut closed = lab();
    closed.mode = RunMode::Coexistence;
    expect(
        &rejects(closed, 5, |tick, _| command(tick, 1, 2, Verb::LeaseRequest)),
        "L4",
        "perm_channel_closed",
    );
    let walk = |id| Command::new(id, Verb::Command).doing(Kind::WalkTo).at(Cell::at(3, 8).unwrap());
    let busy = rejects(lab(), 20, |tick, _| match tick {
        2 => vec![Command::new(1, Verb::LeaseRequest)],
        6..=9 => vec![walk(tick)],
        _ => Vec::new(),
    });
    expect(&busy, "L2", "size_lease_busy");
    let crowded = rejects(lab(), 5, |tick, _| match tick {
        2 => {
            vec![Command::new(1, Verb::Lock).on(Obj::Drawer), Command::new(2, Verb::Lock).on(Obj::SharedBox)]
        }
        _ => Vec::new(),
    });
    expect(&crowded, "L2", "size_queue_full");
    let twice = rejects(lab(), 9, |tick, _| match tick {
        2 | 8 => vec![Command::new(1, Verb::Lock).on(Obj::Drawer)],
        _ => Vec::new(),
    });
    expect(&twice, "L5", "ident_cluster_duplicate");
    // A lease does not begin when a body deadline has come (CX-73).
    let parched = with(|setup| setup.fixture.levels = Some(levels(Channel::Hydration, 150_900)));
    expect(
        &rejects(parched, 4, |tick, _| command(tick, 1, 2, Verb::LeaseRequest)),
        "L3",
        "danger_deadline_tier1",
    );
}

#[test]
fn assist_leads_toward_safety_only() {
    let burning = with(|setup| {
        setup.mode = RunMode::Coexistence;
        setup.fixture.spawn = Cell::at(13, 3);
        setup.fixture.hazard =
            Some(Hazard { cell: Cell::at(13, 2).unwrap(), ttc: 40, visible: false, controllable: true });
    });
    let found = rejects(burning, 6, |tick, _| match tick {
        1 => vec![Command::new(1, Verb::Ignite)],
        2 => vec![Command::new(2, Verb::Assist)],
        3 | 4 => vec![Command::new(tick, Verb::Command).doing(Kind::WalkTo).at(Cell::at(13, 2).unwrap())],
        _ => Vec::new(),
    });
    expect(&found, "L3", "danger_zone_target");
}

#[test]
fn answers_of_the_proposer_are_examined_v04a() {
    let answer = |id, request, asked, kind| {
        let mut answer = Command::new(id, Verb::Respond).doing(kind).on(Obj::Cup);
        answer.request = Some(request);
        answer.asked = Some(asked);
        answer
    };
    let found = rejects(lab(), 140, |tick, _| match tick {
        30 => vec![answer(1, 7, 20, Kind::PickUp)],
        60 => vec![answer(2, 7, 20, Kind::PickUp)],
        100 => vec![answer(3, 8, 20, Kind::PickUp)],
        110 => vec![Command::new(4, Verb::LeaseRequest)],
        113 => vec![answer(5, 9, 110, Kind::PickUp)],
        _ => Vec::new(),
    });
    expect(&found, "L5", "ident_cluster_duplicate");
    expect(&found, "L6", "meta_ttl_expired");
    expect(&found, "L8", "cons_dwell_or_margin");
    let nothing = rejects(lab(), 10, |tick, _| command(tick, 1, 5, Verb::Respond));
    expect(&nothing, "L1", "struct_unknown_id");
    let danger = with(|setup| {
        setup.fixture.hazard =
            Some(Hazard { cell: Cell::at(2, 1).unwrap(), ttc: 40, visible: false, controllable: true });
    });
    let found = rejects(danger, 30, |tick, _| match tick {
        10 => vec![Command::new(1, Verb::Ignite)],
        20 => vec![answer(2, 1, 15, Kind::PickUp)],
        _ => Vec::new(),
    });
    expect(&found, "L3", "danger_deadline_safety");
}

#[test]
fn a_setup_that_cannot_be_is_refused_with_its_code() {
    let fault = |change: &dyn Fn(&mut Setup)| {
        Room::new(Profile::reference(), with(change)).map(drop).expect_err("it does not start").code()
    };
    let hazard = |ttc, cell: (i64, i64), controllable| Hazard {
        cell: Cell::at(cell.0, cell.1).unwrap(),
        ttc,
        visible: true,
        controllable,
    };
    assert_eq!(fault(&|s| s.seed = "12".into()), "room_setup_seed");
    assert_eq!(fault(&|s| s.fixture.spawn = Cell::at(6, 2)), "room_setup_spawn");
    assert_eq!(fault(&|s| s.fixture.levels = Some(levels(Channel::Energy, -1))), "room_setup_level");
    assert_eq!(
        fault(&|s| s.fixture.before = vec![Command::new(1, Verb::Move).on(Obj::Bed)]),
        "room_setup_before"
    );
    // RC-CLK-08: 26 and 25 are not controllable; 27 is.
    for ttc in [25, 26] {
        assert_eq!(fault(&|s| s.fixture.hazard = Some(hazard(ttc, (2, 1), true))), "room_setup_hazard_ttc");
    }
    let fits = with(|s| s.fixture.hazard = Some(hazard(27, (2, 1), true)));
    assert!(Room::new(Profile::reference(), fits).is_ok());
    let walled = |s: &mut Setup| {
        s.fixture.hazard = Some(hazard(40, (0, 1), true));
        s.fixture.before = Vec::new();
    };
    assert!(Room::new(Profile::reference(), with(walled)).is_ok());
    assert_eq!(SetupFault::HazardPlace.code(), "room_setup_hazard_place");
}

/// The reference levels with one changed.
fn levels(channel: Channel, level: i64) -> Levels {
    let mut levels = Levels {
        energy: 700_000,
        hydration: 700_000,
        calories: 700_000,
        thermal: 700_000,
        pain: 0,
        posture: 700_000,
        engagement: 0,
    };
    match channel {
        Channel::Hydration => levels.hydration = level,
        _ => levels.energy = level,
    }
    levels
}

#[test]
fn goals_of_grants_are_service_goals() {
    // A grant for what never failed raises nothing (GD-57).
    let mut grant = Command::new(1, Verb::Grant);
    grant.goal = Some(Goal::Want);
    grant.class = Some(room::retry::Class::MovingTarget);
    let found = rejects(lab(), 5, |tick, _| if tick == 2 { vec![grant.clone()] } else { Vec::new() });
    expect(&found, "L2", "size_retry_total");
}

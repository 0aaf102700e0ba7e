//! Every planted fault turns a run red by its means, and the blame falls on its phase and its field.
//!
//! `cargo test -p room --features faults --test faults -- --nocapture` prints the table.
#![allow(clippy::unwrap_used)]

mod impure;
mod laws;
mod process;

use laws::Tick;
use room::check::Check;
use room::diff::{Difference, Side, first_difference};
use room::event::What;
use room::faults::{Case, Fault, Impurity, Means, Row, SHRINKABLE, TABLE, case, fails, noisy, nothing};
use room::input::{self, Input};
use room::profile::Profile;
use room::record::Feed;
use room::section::Phase;
use room::{Listen, Room};
use std::fmt::Write;

/// Faults whose first difference shows in another phase or field than the one in which they act, and why. At most two.
const ELSEWHERE: [(Fault, &str); 0] = [];

/// What turned a run red, and what is blamed for it.
struct Verdict {
    caught: String,
    blamed: Option<Difference>,
}

fn start(case: &Case) -> Room {
    Room::new(Profile::reference(), case.setup.clone()).expect("the setup of a case starts")
}

fn planted(case: &Case, fault: Fault) -> Room {
    let mut room = start(case);
    room.plant(fault, nothing);
    room
}

fn difference(case: &Case, a: Room, b: Room) -> Option<Difference> {
    first_difference(
        Side { room: a, inputs: &case.inputs },
        Side { room: b, inputs: &case.inputs },
        case.ticks,
    )
}

/// Runs the case of a fault; nothing when it stays green.
fn judge(row: &Row) -> Option<Verdict> {
    let case = case(row.fault);
    match row.means {
        Means::Nondeterminism(impurity) => twice(row, &case, impurity),
        Means::Snapshot => reloaded(row, &case),
        Means::Fold => stale(row, &case),
        Means::Invariant(check) => checked(row, &case, check),
        Means::Clean => lawless(row, &case),
    }
}

/// The run is made twice. Without the fault it is the same.
fn twice(row: &Row, case: &Case, impurity: Impurity) -> Option<Verdict> {
    // A race shows when it falls out another way, which one pair of runs need not see.
    let pairs = if impurity == Impurity::Race { 20 } else { 1 };
    (0..pairs).find_map(|_| pair(row, case, impurity))
}

fn pair(row: &Row, case: &Case, impurity: Impurity) -> Option<Verdict> {
    let rooms = impure::sources(impurity).map(|source| {
        let mut room = start(case);
        room.plant(row.fault, source);
        room
    });
    let [mut a, b] = rooms;
    let mut clean = start(case);
    if impurity == Impurity::Listening {
        a.listen(Listen::Everything);
        clean.listen(Listen::Everything);
    }
    assert_eq!(difference(case, clean, start(case)), None, "{}", row.fault.name());
    let found = difference(case, a, b)?;
    Some(Verdict { caught: format!("run twice: {}", impurity.name()), blamed: Some(found) })
}

/// In every tick the room is saved, loaded and continued beside itself, for as long as what was lost may take to matter.
fn reloaded(row: &Row, case: &Case) -> Option<Verdict> {
    let ahead = if row.phase == Phase::P1 { 0 } else { 30 };
    let (mut room, mut feed) = (planted(case, row.fault), Feed::new(&case.inputs));
    for tick in 0..case.ticks {
        room.step(feed.at(tick));
        let rest: Vec<Input> = case.inputs.iter().filter(|input| input.tick > tick).cloned().collect();
        let parted = |room: &Room| {
            let loaded = Room::load(Profile::reference(), &room.save()).expect("what was saved is read");
            let mut other = room.clone();
            other.go_on_from(loaded);
            let (a, b) = (Side { room: room.clone(), inputs: &rest }, Side { room: other, inputs: &rest });
            first_difference(a, b, ahead)
        };
        if let Some(found) = parted(&room) {
            return Some(Verdict { caught: format!("loaded at {tick}"), blamed: Some(found) });
        }
    }
    None
}

/// What is kept is compared with what is computed afresh.
fn stale(row: &Row, case: &Case) -> Option<Verdict> {
    let (mut room, mut feed) = (planted(case, row.fault), Feed::new(&case.inputs));
    let found = (0..case.ticks).find_map(|tick| {
        room.step(feed.at(tick));
        let (a, b) = (format!("{:016x}", room.fold()), format!("{:016x}", room.state().fold_afresh()));
        room.state_hash();
        let field = room.state().stale()?;
        Some(Difference { tick, phase: Phase::P15, field, a, b })
    })?;
    // A wrong fold is found by a comparison of two runs as well; a wrong digest is read at keyframes only.
    if found.field.starts_with("fold") {
        let seen = difference(case, start(case), planted(case, row.fault))?;
        assert_eq!((seen.phase, &seen.field), (found.phase, &found.field));
    }
    Some(Verdict { caught: "kept value".to_owned(), blamed: Some(found) })
}

/// The check breaks, and breaks in the faulty room alone.
fn checked(row: &Row, case: &Case, check: Check) -> Option<Verdict> {
    let (mut clean, mut room) = (start(case), planted(case, row.fault));
    let (mut feed, mut found) = (Feed::new(&case.inputs), None);
    for tick in 0..case.ticks {
        let commands = feed.at(tick).to_vec();
        clean.step(&commands);
        assert_eq!(clean.checks().first, None, "the clean room of {}", row.fault.name());
        room.step(&commands);
        if found.is_none() && room.checks().broken & (1 << check as u32) != 0 {
            found = Some(tick);
        }
    }
    let blamed = difference(case, start(case), planted(case, row.fault));
    Some(Verdict { caught: format!("{} at {}", check.name(), found?), blamed })
}

/// The law of its scenario breaks, and holds in the clean room.
fn lawless(row: &Row, case: &Case) -> Option<Verdict> {
    let name = row.fault.name();
    let law = laws::law(row.fault).unwrap_or_else(|| panic!("{name} has no law"));
    let broken = |mut room: Room| {
        room.listen(Listen::Everything);
        let (mut feed, mut memory) = (Feed::new(&case.inputs), Default::default());
        (0..case.ticks).find(|tick| {
            let before = room.state().clone();
            let events: Vec<What> =
                room.step(feed.at(*tick)).iter().map(|event| event.what.clone()).collect();
            law(&Tick { before: &before, after: room.state(), events: &events }, &mut memory)
        })
    };
    assert_eq!(broken(start(case)), None, "the clean room of {name}");
    let tick = broken(planted(case, row.fault))?;
    let blamed = difference(case, start(case), planted(case, row.fault));
    Some(Verdict { caught: format!("law of {} at {tick}", row.scenario), blamed })
}

fn is_blamed(row: &Row, blamed: Option<&Difference>) -> bool {
    blamed.is_some_and(|found| found.phase == row.phase && found.field.starts_with(row.field))
}

#[test]
fn every_planted_fault_is_red_and_blamed_on_its_phase_and_field() {
    assert!(TABLE.len() >= 60, "{} faults", TABLE.len());
    let (mut table, mut green, mut elsewhere) = (String::new(), Vec::new(), Vec::new());
    for row in &TABLE {
        let inputs = case(row.fault).inputs;
        input::check(&inputs).unwrap_or_else(|refused| panic!("{}: {refused:?}", row.fault.name()));
        let verdict = judge(row);
        let blamed = verdict.as_ref().and_then(|verdict| verdict.blamed.as_ref());
        if !is_blamed(row, blamed) {
            elsewhere.push(row.fault);
        }
        let place = blamed.map_or("-".to_owned(), |found| format!("{} {}", found.phase.name(), found.field));
        let caught = verdict.as_ref().map_or("GREEN", |verdict| verdict.caught.as_str());
        writeln!(table, "{:24} {:28} {place}", row.fault.name(), caught).unwrap();
        if verdict.is_none() {
            green.push(row.fault.name());
        }
    }
    println!(
        "{table}{} planted, {} red, {} blamed elsewhere",
        TABLE.len(),
        TABLE.len() - green.len(),
        elsewhere.len()
    );
    assert!(green.is_empty(), "green: {green:?}");
    assert_eq!(elsewhere, ELSEWHERE.map(|(fault, _)| fault), "blamed on another phase or field");
    assert!(ELSEWHERE.len() <= 2);
}

/// A check that no fault turns red is no check.
#[test]
fn every_check_can_fail() {
    let fails = |check| TABLE.iter().any(|row| row.means == Means::Invariant(check));
    let never: Vec<&str> =
        Check::ALL.into_iter().filter(|check| !fails(*check)).map(|check| check.name()).collect();
    assert_eq!(never, ["LIV-07"], "there are no commitments at stage 0");
}

/// What crate matrix shrinks: it fails, answers the same twice, and there is much to take away.
#[test]
fn shrinkable_cases_have_far_too_much() {
    for fault in SHRINKABLE {
        let (small, large) = (case(fault), noisy(fault));
        assert!(large.fails(fault) && large.fails(fault), "{}", fault.name());
        assert!(large.inputs.len() > 40 && large.ticks > 2_000, "{}", fault.name());
        assert!(fails(fault, &large.setup, &small.inputs, small.ticks), "{}", fault.name());
        input::check(&large.inputs).unwrap();
    }
}

/// A room without a planted fault is the room.
#[test]
fn nothing_planted_changes_nothing() {
    let case = case(Fault::OldListKept);
    assert_eq!(difference(&case, start(&case), start(&case)), None);
}

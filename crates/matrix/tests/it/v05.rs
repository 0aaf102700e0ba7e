//! V05 on calibration indices, and what turns it red.

use crate::rig::{failures, green, refused, run, some};
use matrix::Unit;
use matrix::scenarios::Rooms;
use matrix::unit::At;

fn of(arm: &'static str, indices: u64) -> Vec<Unit> {
    some("V05", |unit| unit.arm == arm && unit.index().unwrap() < indices)
}

#[test]
fn v05_calibration_passes() {
    green(&some("V05", |unit| unit.index().unwrap() < 12));
}

#[test]
fn v05_an_end_that_takes_too_long_turns_it_red() {
    let world = refused(|profile| profile.clock.terminal_to_closed_max = 1);
    assert_eq!(failures(&world, &of("PickUp", 1)), ["(more)", "V05.3 not_closed"]);
}

#[test]
fn v05_a_window_without_merging_turns_it_red() {
    let world = refused(|profile| profile.clock.input_merge_window = 0);
    let red = failures(&world, &of("Open", 2));
    assert_eq!(red, ["V05.1 repeated_act_not_merged"]);
}

#[test]
fn v05_a_block_without_an_end_turns_it_red() {
    let world = refused(|profile| profile.clock.blocked_max = 1_000);
    let red = failures(&world, &of("blocked", 8));
    assert!(red.contains(&"V05.3 never_closed".to_owned()), "{red:?}");
}

/// Seeds of the rehearsal that met a short way or a full queue (decision 0014).
#[test]
fn v05_seeds_that_found_a_fault_pass() {
    let unit = |arm, index| Unit::new("V05", arm, "mira", At::Index(index));
    let short = [1002, 1046, 1525, 1710];
    let full = [1328, 1441, 1602, 1962, 1963, 2093];
    let ways = short.iter().flat_map(|&index| [unit("preempted", index), unit("expired", index)]);
    let units: Vec<Unit> = ways.chain(full.iter().map(|&index| unit("blocked", index))).collect();
    for outcome in run(&Rooms::reference(), &units) {
        assert_eq!(outcome.failures, [], "{}", outcome.unit);
        assert!(outcome.reached.iter().next().is_some(), "{}", outcome.unit);
    }
}

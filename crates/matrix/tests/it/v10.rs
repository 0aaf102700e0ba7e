//! V10 on calibration indices, and what turns it red.

use crate::rig::{failures, green, refused, some};
use matrix::Unit;

fn below(unit: &Unit, index: u64) -> bool {
    unit.index().unwrap() < index
}

/// Four seeds have every circumstance.
#[test]
fn v10_calibration_passes() {
    green(&some("V10", |unit| below(unit, 4)));
}

#[test]
fn v10_a_larger_budget_turns_it_red() {
    let world = refused(|profile| profile.task.class_budget = 4);
    let red = failures(&world, &some("V10", |unit| unit.arm == "continuous" && below(unit, 1)));
    assert_eq!(red, ["V10.1 failures"]);
}

#[test]
fn v10_no_wait_for_stability_turns_it_red() {
    let world = refused(|profile| profile.task.stable_window = 5);
    let red = failures(&world, &some("V10", |unit| unit.arm == "double" && below(unit, 1)));
    assert_eq!(red, ["V10.2 third_attempt_before_still"]);
}

//! V19 on calibration indices, and what turns it red.

use crate::rig::{failures, green, refused, some};
use matrix::Unit;

fn of(arm: &'static str) -> impl Fn(&Unit) -> bool {
    move |unit| unit.arm == arm && unit.index().unwrap() < 2
}

#[test]
fn v19_calibration_passes() {
    green(&some("V19", |_| true));
}

#[test]
fn v19_a_short_observation_turns_it_red() {
    let world = refused(|profile| profile.task.recovery_observe = 29);
    assert_eq!(failures(&world, &some("V19", of("substitute.budget"))), ["V19.2 exit"]);
}

#[test]
fn v19_a_slow_watchdog_turns_it_red() {
    let world = refused(|profile| profile.task.no_progress = 100_000);
    let red = failures(&world, &some("V19", of("none.no_progress")));
    assert!(red.contains(&"V19.1 not_entered".to_owned()), "{red:?}");
}

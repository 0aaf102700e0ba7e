//! V04a: all of it, and what turns it red.

use crate::rig::{failures, green, refused, some};
use matrix::Unit;

fn arm(arm: &'static str) -> Vec<Unit> {
    some("V04a", |unit| unit.arm == arm)
}

#[test]
fn v04a_passes() {
    green(&some("V04a", |_| true));
}

#[test]
fn v04a_a_body_that_waits_longer_than_it_may_turns_it_red() {
    let world = refused(|profile| profile.clock.pending_max = 1);
    assert_eq!(failures(&world, &arm("Ask")), ["V04a.2 waited"]);
}

#[test]
fn v04a_safety_that_sees_nothing_turns_it_red() {
    let world = refused(|profile| profile.safety.alert_enter = 990_000);
    let red = failures(&world, &arm("Open"));
    assert!(red.contains(&"V04a.2 safe_set".to_owned()), "{red:?}");
}

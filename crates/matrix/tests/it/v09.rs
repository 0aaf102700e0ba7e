//! V09, and what turns it red.

use crate::rig::{edited, failures, green, some, units};

#[test]
fn v09_passes() {
    green(&units("V09", false));
}

/// GD-48: without the version rule the second cycle already fails.
#[test]
fn v09_old_evidence_turns_it_red() {
    let world = edited(&[("version_discount", "value = 4", "value = 20")]);
    let red = failures(&world, &some("V09", |unit| unit.arm == "cycles"));
    assert!(red.contains(&"V09.2 no_alternative".to_owned()), "{red:?}");
}

#[test]
fn v09_a_third_attempt_turns_it_red() {
    let world = edited(&[("local_attempts", "value = 2", "value = 3")]);
    let red = failures(&world, &some("V09", |unit| unit.arm == "regression"));
    assert!(red.contains(&"V09.2 third_attempt".to_owned()), "{red:?}");
}

#[test]
fn v09_another_transfer_turns_it_red() {
    let world = edited(&[("day_night_transfer", "value = 500_000", "value = 400_000")]);
    assert_eq!(failures(&world, &some("V09", |unit| unit.arm == "contexts")), ["V09.4 transfer"]);
}

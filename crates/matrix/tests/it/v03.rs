//! V03: a slice of the enumeration, and what turns it red.

use crate::rig::{failures, refused, some};
use matrix::scenarios::Rooms;
use matrix::{At, Unit};

/// The first part of each arm.
fn slice() -> Vec<Unit> {
    some("V03", |unit| unit.at == At::Chunk(0))
}

fn arm(arm: &'static str) -> Vec<Unit> {
    some("V03", |unit| unit.arm == arm && unit.at == At::Chunk(0))
}

#[test]
fn v03_a_slice_of_it_passes() {
    assert_eq!(failures(&Rooms::reference(), &slice()), [""; 0]);
}

#[test]
fn v03_safety_that_sees_nothing_turns_it_red() {
    let world = refused(|profile| profile.safety.alert_enter = 680_000);
    let red = failures(&world, &arm("ttc27.hidden"));
    assert!(red.contains(&"V03.2 entries".to_owned()), "{red:?}");
    assert!(red.contains(&"V03.3 harmed".to_owned()), "{red:?}");
}

#[test]
fn v03_an_exit_in_the_middle_of_the_noise_turns_it_red() {
    let world = refused(|profile| {
        profile.safety.recovery_below = 660_000;
        profile.safety.clear_hold = 1;
    });
    let red = failures(&world, &arm("noise.seen"));
    assert!(red.contains(&"V03.2 recovery_at".to_owned()), "{red:?}");
}

#[test]
fn v03_a_lease_that_never_begins_turns_it_red() {
    let world = refused(|profile| profile.clock.lab_handshake = 600);
    assert_eq!(failures(&world, &arm("noise.hidden")), ["V03.1 control_never_ran"]);
}

#[test]
fn v03_content_that_harms_too_soon_turns_it_red() {
    let world = refused(|profile| profile.safety.controllable_ttc_min = 25);
    assert_eq!(failures(&world, &arm("ttc27.seen")), ["V03.3 admission"]);
}

//! V01b: one whole Sleep, a part of the forks, Comfort and Engagement, and what turns it red.

use crate::rig::{edited, failures, refused, some};
use matrix::scenarios::Rooms;
use matrix::{At, Unit};

/// Arms without parts, and two parts of each arm of forks: the shortest segment, and the end of the Sleep.
fn part(unit: &Unit) -> bool {
    matches!(unit.at, At::Chunk(0 | 11))
}

fn arm(arm: &'static str) -> Vec<Unit> {
    some("V01b", |unit| unit.arm == arm && unit.at == At::Chunk(0))
}

#[test]
fn v01b_a_part_of_it_passes() {
    assert_eq!(failures(&Rooms::reference(), &some("V01b", part)), [""; 0]);
}

#[test]
fn v01b_a_sleep_that_ends_earlier_turns_it_red() {
    let world = edited(&[("sleep_exit", "650_000", "640_000")]);
    let red = failures(&world, &arm("cycle"));
    assert!(red.contains(&"V01b.1 running_ticks".to_owned()), "{red:?}");
}

#[test]
fn v01b_a_longer_cleanup_of_sleep_turns_it_red() {
    let world = edited(&[
        ("sleep_rest_cleanup", "max = 1", "max = 9"),
        ("sleep_rest_cleanup", "value = 1", "value = 3"),
    ]);
    let red = failures(&world, &arm("bed"));
    assert!(red.contains(&"V01b.2 not_closed".to_owned()), "{red:?}");
}

#[test]
fn v01b_a_cue_that_waits_longer_turns_it_red() {
    let world = refused(|profile| profile.interaction.sleep_check = 7);
    let red = failures(&world, &arm("cycle"));
    assert!(red.contains(&"V01b.1 energy_at_exit".to_owned()), "{red:?}");
}

#[test]
fn v01b_boredom_below_another_threshold_turns_it_red() {
    let world = refused(|profile| profile.selection.engagement_span = 1);
    assert_eq!(failures(&world, &arm("engagement")), [""; 0]);
    let world = refused(|profile| profile.regulation.engagement_novelty = 0);
    assert_eq!(failures(&world, &arm("engagement")), ["V01b.4 underload"]);
}

#[test]
fn v01b_a_window_that_does_not_cool_turns_it_red() {
    let world = refused(|profile| profile.regulation.thermal_cold_radius = 0);
    assert_eq!(failures(&world, &arm("window")), ["V01b.3 warm_by_night"]);
}

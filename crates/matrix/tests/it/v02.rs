//! V02: all of it but the long segment of Sleep, and what turns it red.

use crate::rig::{failures, refused, some};
use matrix::Unit;
use matrix::scenarios::Rooms;

fn short(unit: &Unit) -> bool {
    !unit.arm.starts_with("energy.running") && unit.arm != "energy.queue"
}

fn arm(arm: &'static str) -> Vec<Unit> {
    some("V02", |unit| unit.arm == arm)
}

#[test]
fn v02_most_of_it_passes() {
    assert_eq!(failures(&Rooms::reference(), &some("V02", short)), [""; 0]);
}

#[test]
fn v02_a_latest_start_without_room_for_the_backup_turns_it_red() {
    let world = refused(|profile| {
        profile.regulation.hydration_path = 38;
        profile.regulation.tier1_margin = 0;
    });
    let red = failures(&world, &arm("hydration.latest"));
    assert!(red.contains(&"V02.5 backup_too_late".to_owned()), "{red:?}");
}

#[test]
fn v02_a_backup_that_is_too_far_away_turns_it_red() {
    let world = refused(|profile| profile.interaction.walk_wcet = 29);
    let red = failures(&world, &arm("energy.latest"));
    assert!(red.contains(&"V02.5 layout".to_owned()), "{red:?}");
}

#[test]
fn v02_no_time_for_the_record_turns_it_red() {
    let world = refused(|profile| profile.regulation.uncontrollable_max_delay = 0);
    assert_eq!(failures(&world, &arm("calories.preparing.absent")), ["V02.4 record_not_opened"]);
}

#[test]
fn v02_a_service_that_is_never_enough_turns_it_red() {
    let world = refused(|profile| profile.regulation.comfort = 720_000);
    let red = failures(&world, &arm("hydration.suspended"));
    assert!(red.contains(&"V02.3 stale_item_left".to_owned()), "{red:?}");
}

//! V08 on calibration indices, and what turns it red.

use crate::rig::{edited, failures, green, refused, run, scenario, some, units};
use matrix::scenario::Set;
use matrix::scenarios::Rooms;
use matrix::{At, Unit};

fn index(unit: &Unit) -> u64 {
    unit.index().unwrap()
}

#[test]
fn v08_calibration_passes() {
    let judgement = green(&some("V08", |unit| unit.arm != "day" || index(unit) < 2));
    assert_eq!(judgement.measures.len(), 2, "{:?}", judgement.measures);
}

/// The vectors that GD-46 publishes come out of the holdout ordinals and of nothing else.
#[test]
fn v08_published_vectors_are_those_of_holdout() {
    let part_b = |range: std::ops::RangeInclusive<u64>| -> Vec<Unit> {
        range.map(|index| Unit::new("V08", "B", "both", At::Index(index))).collect()
    };
    let sum = |units: &[Unit]| {
        let outcomes = run(&Rooms::reference(), units);
        ["target_mira", "target_niko"].map(|name| outcomes.iter().map(|one| one.counts[name]).sum::<i64>())
    };
    let (first, last) = scenario("V08").0.seeds.range(Set::Holdout).unwrap();
    assert_eq!(sum(&part_b(first..=last)), [9_517, 2_954]);
    assert_ne!(sum(&part_b(0..=49)), sum(&part_b(50..=99)));
}

#[test]
fn v08_exhaustive_is_an_arm_of_its_own() {
    assert_eq!(units("V08", true).len() - units("V08", false).len(), 50);
    let one: Vec<Unit> =
        units("V08", true).into_iter().filter(|unit| unit.arm == "exhaustive" && index(unit) == 3).collect();
    let outcome = &run(&Rooms::reference(), &one)[0];
    assert!(!outcome.is_failing(), "{:?}", outcome.failures);
    assert_eq!(outcome.counts["choices"], 3_125_000);
}

#[test]
fn v08_equal_traits_turn_it_red() {
    let world = edited(&[(
        "trait_niko",
        "[-500_000, 400_000, -200_000, -400_000]",
        "[500_000, 0, 400_000, 400_000]",
    )]);
    let red = failures(&world, &some("V08", |unit| unit.arm == "B"));
    assert_eq!(red, ["V08.3.difference B", "V08.3.difference seed_not_surely_greater",]);
}

#[test]
fn v08_switching_without_a_margin_turns_it_red() {
    let world = refused(|profile| {
        profile.clock.switch_margin = 0;
        profile.selection.alternation_lock = 1_000;
        profile.selection.alternation_penalty = 0;
    });
    let red = failures(&world, &some("V08", |unit| unit.arm == "C" && index(unit) < 2));
    assert!(red.contains(&"V08.3.switches swings".to_owned()), "{red:?}");
}

//! V22a, and what turns it red.

use crate::rig::{edited, failures, green, refused, some, units};

#[test]
fn v22a_passes() {
    green(&units("V22a", false));
}

/// A learner that jumps gives one cause more than its share of a score.
#[test]
fn v22a_a_large_step_turns_it_red() {
    let world = refused(|profile| {
        profile.learning.prior_evidence = 1;
        profile.learning.step_max = 1_000_000;
    });
    let red = failures(&world, &some("V22a", |unit| unit.arm == "target"));
    assert!(red.contains(&"V22a.3 score_budget".to_owned()), "{red:?}");
}

#[test]
fn v22a_a_wider_budget_turns_it_red() {
    let world = edited(&[("episode_cap", "value = 120_000", "value = 200_000")]);
    let red = failures(&world, &some("V22a", |unit| unit.arm == "vector"));
    assert_eq!(red, ["V22a.2 clusters_of_one_cause", "V22a.3 vector_budget"]);
}

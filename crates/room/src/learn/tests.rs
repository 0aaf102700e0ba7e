//! V09 and the numbers of GD-47 and GD-48.

use super::*;

const DISPENSER: u8 = 2;

fn observed(kind: Kind, object: u8, attribution: Attribution) -> Observed {
    let effects = [0, 550_000, 0, 0, 0, 0, 0];
    Observed { kind, object, context: Context::Day, attribution, effects, duration: 12 }
}

/// The probabilities of one cycle: at its start, after each failure, after each success.
fn cycle(profile: &Profile, learner: &mut Expectations) -> Vec<i64> {
    let success = |learner: &Expectations| learner.success(profile, Kind::Drink, DISPENSER, Context::Day);
    let mut seen = vec![success(learner)];
    for (attribution, times) in [
        (Attribution::Failure, profile.fixture.v09_failures),
        (Attribution::Success, profile.fixture.v09_successes),
    ] {
        learner.premise_changed(profile, DISPENSER);
        for _ in 0..times {
            learner.observe(profile, &observed(Kind::Drink, DISPENSER, attribution));
            seen.push(success(learner));
        }
    }
    seen
}

/// V09.1 to V09.3, RC-LRN-07: the three assertions of GD-48 in each of ten cycles.
#[test]
fn v09_ten_cycles_of_damage_and_repair() {
    let profile = Profile::reference();
    let mut learner = Expectations::new();
    let cycles: Vec<Vec<i64>> =
        (0..profile.fixture.v09_cycles).map(|_| cycle(&profile, &mut learner)).collect();
    assert_eq!(cycles.len(), 10);
    for seen in &cycles {
        let good: Vec<bool> = seen.iter().map(|success| competitive(&profile, *success)).collect();
        assert!(good[0] && good[1] && !good[2] && good[5], "{seen:?}");
        let step = seen.windows(2).map(|pair| (pair[1] - pair[0]).abs()).max();
        assert!(step <= Some(profile.learning.step_max), "{seen:?}");
    }
    assert_eq!(cycles[0], [750_000, 600_000, 500_000, 600_000, 666_666, 714_285]);
    assert_eq!(cycles[9], [692_315, 553_852, 461_543, 569_234, 641_028, 692_309]);
    let gaps = |seen: &[i64]| [1, 2, 5].map(|place| gap(&profile, seen[place]));
    assert_eq!(gaps(&cycles[0]), [67_500, 112_500, 16_071]);
    assert_eq!(gaps(&cycles[9]), [88_266, 129_805, 25_960]);
}

/// GD-48: without the version rule the second cycle already fails.
#[test]
fn old_evidence_would_hold_a_broken_object_in_the_pool() {
    let profile = Profile::reference();
    let mut learner = Expectations::new();
    let mut success = Vec::new();
    for attribution in [Attribution::Failure, Attribution::Success, Attribution::Failure] {
        let times = if attribution == Attribution::Success { 3 } else { 2 };
        for _ in 0..times {
            learner.observe(&profile, &observed(Kind::Drink, DISPENSER, attribution));
        }
        success.push(learner.success(&profile, Kind::Drink, DISPENSER, Context::Day));
    }
    assert_eq!(gap(&profile, success[2]), 92_046);
    assert!(competitive(&profile, success[2]));
}

/// V09.3, RC-ROU-01g.
#[test]
fn an_unknown_cause_changes_nothing() {
    let profile = Profile::reference();
    let mut learner = Expectations::new();
    learner.observe(&profile, &observed(Kind::Drink, DISPENSER, Attribution::Unknown));
    assert_eq!(learner, Expectations::new());
}

/// V09.4: the near context receives half, far ones nothing, and other labels are no key.
#[test]
fn day_and_night_share_half_and_labels_make_no_key() {
    let profile = Profile::reference();
    let mut learner = Expectations::new();
    learner.observe(&profile, &observed(Kind::Drink, DISPENSER, Attribution::Failure));
    let of = |object, context| learner.expected(&profile, Kind::Drink, object, context);
    assert_eq!(of(DISPENSER, Context::Day).success, 600_000);
    assert_eq!(of(DISPENSER, Context::Day).half_units, 10);
    assert_eq!(of(DISPENSER, Context::Night).success, 675_000);
    assert_eq!(of(DISPENSER, Context::Night).half_units, 9);
    assert_eq!(of(3, Context::Day).success, 750_000);
    assert_eq!(learner.list.len(), 2);
    assert_eq!(learner.success(&profile, Kind::Eat, DISPENSER, Context::Day), 750_000);
    for label in ["rain", "morning", "Day", ""] {
        assert_eq!(Context::of(label), None, "{label}");
    }
}

#[test]
fn day_is_from_six_to_twenty_two_gd_19() {
    let clock = &Profile::reference().clock;
    for (tick, context) in [
        (0, Context::Day),
        (50_399, Context::Day),
        (50_400, Context::Night),
        (79_199, Context::Night),
        (79_200, Context::Day),
        (86_400 + 50_400, Context::Night),
    ] {
        assert_eq!(Context::at(clock, tick), context, "{tick}");
    }
}

/// RC-EXP-05, GD-47: bounded above by the cap and below by the exploration floor.
#[test]
fn evidence_and_probability_stay_in_their_bounds() {
    let profile = Profile::reference();
    let mut learner = Expectations::new();
    for _ in 0..200 {
        learner.observe(&profile, &observed(Kind::Drink, DISPENSER, Attribution::Failure));
    }
    let worst = learner.expected(&profile, Kind::Drink, DISPENSER, Context::Day);
    assert_eq!((worst.success, worst.half_units), (50_000, 40));
    let night = learner.expected(&profile, Kind::Drink, DISPENSER, Context::Night);
    assert_eq!(night.half_units, 40);
    assert!(night.success >= 50_000);
    learner.premise_changed(&profile, DISPENSER);
    let fresh = learner.expected(&profile, Kind::Drink, DISPENSER, Context::Day);
    assert_eq!((fresh.success, fresh.half_units), (50_000, 8));
    for _ in 0..200 {
        learner.observe(&profile, &observed(Kind::Drink, DISPENSER, Attribution::Success));
    }
    let best = learner.success(&profile, Kind::Drink, DISPENSER, Context::Day);
    assert!((990_000..=1_000_000).contains(&best), "{best}");
}

/// RC-EXP-06: effects and durations move by at most a fifth, and only on success.
#[test]
fn effects_and_durations_follow_what_was_seen() {
    let profile = Profile::reference();
    let mut learner = Expectations::new();
    let prior = learner.expected(&profile, Kind::Sleep, 0, Context::Night);
    assert_eq!((prior.effects[0], prior.duration), (1_000_000, 28_800));
    let mut seen = observed(Kind::Sleep, 0, Attribution::Success);
    seen.effects = [300_300, 0, 0, 0, 0, 170_000, 0];
    seen.duration = 8_580;
    seen.context = Context::Night;
    learner.observe(&profile, &seen);
    let after = learner.expected(&profile, Kind::Sleep, 0, Context::Night);
    assert_eq!(after.effects[0], 1_000_000 - 139_940);
    assert_eq!(after.effects[5], 576_000 - 81_200);
    assert_eq!(after.duration, 28_800 - 4_044);
    seen.attribution = Attribution::Failure;
    learner.observe(&profile, &seen);
    let failed = learner.expected(&profile, Kind::Sleep, 0, Context::Night);
    assert_eq!((failed.effects, failed.duration), (after.effects, after.duration));
    assert!(failed.success < after.success);
    let far = Observed { effects: [-1_000_000; EFFECTS], attribution: Attribution::Success, ..seen };
    learner.observe(&profile, &far);
    let clipped = learner.expected(&profile, Kind::Sleep, 0, Context::Night);
    assert_eq!(after.effects[0] - clipped.effects[0], 200_000, "{clipped:?}");
}

/// GD-47, RC-ROU-01b, RC-ROU-01c: a block costs 5 ticks, a conflict its wait; both lose a tick in 120.
#[test]
fn believed_costs_fade() {
    let profile = Profile::reference();
    let mut learner = Expectations::new();
    let (cell, other) = (Cell(100), Cell(101));
    learner.blocked(&profile, cell, 1_000);
    learner.blocked(&profile, cell, 1_130);
    let route = |learner: &Expectations, now| learner.route_cost(&profile, [cell, other].into_iter(), now);
    assert_eq!(route(&learner, 1_130), 9);
    assert_eq!(route(&learner, 1_239), 9);
    assert_eq!(route(&learner, 1_240), 8, "the second period began at 1120");
    assert_eq!(route(&learner, 1_120 + 9 * 120), 0);
    learner.waited(&profile, 4, 30, 2_000);
    assert_eq!(learner.wait_cost(&profile, 4, 2_000), 30);
    assert_eq!(learner.wait_cost(&profile, 5, 2_000), 0);
    assert_eq!(learner.wait_cost(&profile, 4, 2_000 + 30 * 120), 0);
    learner.blocked(&profile, other, 5_000);
    assert_eq!(learner.cells.len(), 1, "what faded is forgotten");
}

//! V22a over the book of clusters, AR-22, GD-71, GD-76.

use super::*;
use crate::learn::{Attribution, EFFECTS, Expectations, Observed};

fn part(field: u32, value: i64) -> Component {
    Component { field, value, range: ONE }
}

/// Everything that these commits moved, by field.
fn moved(profile: &Profile, commits: &[(u32, u32, Vec<Component>)]) -> Vec<(u32, i64)> {
    let mut episodes = Episodes::new(profile);
    let mut sums: Vec<(u32, i64)> = Vec::new();
    for (episode, cluster, raw) in commits {
        for delta in episodes.commit(profile, *episode, *cluster, raw).deltas {
            match sums.iter_mut().find(|(field, _)| *field == delta.field) {
                Some((_, sum)) => *sum += delta.value,
                None => sums.push((delta.field, delta.value)),
            }
        }
    }
    sums.retain(|(_, sum)| *sum != 0);
    sums.sort_unstable();
    sums
}

#[test]
fn joint_updates_of_ar_22() {
    let profile = Profile::reference();
    let of = |values: [i64; 2]| moved(&profile, &[(1, 1, vec![part(1, values[0]), part(2, values[1])])]);
    assert_eq!(of([-100_000, -50_000]), [(1, -80_000), (2, -40_000)]);
    assert_eq!(of([-100_000, -100_000]), [(1, -60_000), (2, -60_000)]);
    assert_eq!(of([50_000, 50_000]), [(1, 50_000), (2, 50_000)]);
    assert_eq!(of([-300_000, 0]), [(1, -100_000)], "one cluster moves a tenth of the range");
    let narrow = Component { field: 1, value: 80_000, range: ONE / 2 };
    assert_eq!(moved(&profile, &[(1, 1, vec![narrow])]), [(1, 50_000)]);
}

/// All orders of a list.
fn orders<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    if list.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for place in 0..list.len() {
        let mut rest = list.to_vec();
        let first = rest.remove(place);
        for mut order in orders(&rest) {
            order.insert(0, first.clone());
            all.push(order);
        }
    }
    all
}

/// V22a.1, RC-RED-02: 1, 5 or 20 events of one cluster, in every order of up to five fields.
#[test]
fn v22a_splitting_an_episode_changes_nothing() {
    let profile = Profile::reference();
    let fields: Vec<Component> =
        (1..=5).map(|field| part(field, -20_000 - 10_000 * i64::from(field))).collect();
    for count in 1..=fields.len() {
        let whole = moved(&profile, &[(7, 1, fields[..count].to_vec())]);
        let norm: i64 = whole.iter().map(|(_, value)| value.abs()).sum();
        assert!(norm <= profile.learning.episode_cap);
        for raw in orders(&fields[..count]) {
            for events in [1, 5, 20] {
                let told: Vec<_> = (0..events).map(|_| (7, 1, raw.clone())).collect();
                assert_eq!(moved(&profile, &told), whole);
            }
        }
    }
}

/// Clusters of one cause arrive in any order, also between those of another cause.
#[test]
fn v22a_the_order_of_clusters_changes_nothing() {
    let profile = Profile::reference();
    let commits = [
        (1, 1, vec![part(1, -100_000), part(2, 30_000)]),
        (1, 2, vec![part(2, -90_000)]),
        (1, 3, vec![part(1, 40_000), part(3, 70_000)]),
        (2, 4, vec![part(1, 50_000)]),
        (1, 1, vec![part(1, -100_000), part(2, 30_000)]),
    ];
    let expected = moved(&profile, &commits);
    for order in orders(&commits) {
        assert_eq!(moved(&profile, &order), expected);
    }
    // Cause 1: -60000, -60000, +70000 has L1 0.19; scaled, and cause 2 on top.
    assert_eq!(expected, [(1, -37_894 + 50_000), (2, -37_894), (3, 44_210)]);
}

/// V22a.2: three causes add up, three clusters of one cause do not.
#[test]
fn v22a_only_independent_episodes_accumulate() {
    let profile = Profile::reference();
    let false_statement = |episode, cluster| (episode, cluster, vec![part(1, -100_000)]);
    let independent = [false_statement(1, 1), false_statement(2, 2), false_statement(3, 3)];
    assert_eq!(moved(&profile, &independent), [(1, -300_000)]);
    let one_cause = [false_statement(1, 1), false_statement(1, 2), false_statement(1, 3)];
    assert_eq!(moved(&profile, &one_cause), [(1, -120_000)]);
}

/// V22a.3: leaving a field out changes the others only through the common scale.
#[test]
fn v22a_ablation_of_one_field() {
    let profile = Profile::reference();
    let all = [part(1, -100_000), part(2, -50_000), part(3, 10_000)];
    let of = |left_out: u32| {
        let raw = all.iter().filter(|part| part.field != left_out).copied().collect();
        moved(&profile, &[(1, 1, raw)])
    };
    assert_eq!(of(0), [(1, -75_000), (2, -37_500), (3, 7_500)]);
    assert_eq!(of(1), [(2, -50_000), (3, 10_000)]);
    assert_eq!(of(2), [(1, -100_000), (3, 10_000)]);
    assert_eq!(of(3), [(1, -80_000), (2, -40_000)]);
}

/// V22a.1 for the learner: one cause teaches an expectation once, and another one separately.
#[test]
fn v22a_an_expectation_learns_once_from_one_cause() {
    let profile = Profile::reference();
    let failed = Observed {
        kind: Kind::Drink,
        object: 2,
        context: Context::Day,
        attribution: Attribution::Failure,
        effects: [0; EFFECTS],
        duration: 0,
    };
    let field = expectation_field(Kind::Drink, 2, Context::Day);
    let told = |events: &[(u32, u32)]| {
        let (mut episodes, mut learner) = (Episodes::new(&profile), Expectations::new());
        for (episode, cluster) in events {
            if episodes.learns(&profile, *episode, *cluster, field) {
                learner.observe(&profile, &failed);
            }
        }
        learner.success(&profile, Kind::Drink, 2, Context::Day)
    };
    assert_eq!(told(&[(1, 1)]), 600_000);
    assert_eq!(told(&[(1, 1); 20]), 600_000);
    assert_eq!(told(&[(1, 1), (1, 2), (1, 3)]), 600_000, "clusters of one cause");
    assert_eq!(told(&[(1, 1), (2, 2), (3, 3)]), 428_571, "three causes");
    let mut episodes = Episodes::new(&profile);
    assert!(episodes.learns(&profile, 1, 1, field));
    assert!(episodes.learns(&profile, 1, 1, field + 1), "another field of the same cluster");
    assert_ne!(field, CONTROL_EXPECTATION);
    let commit = episodes.commit(&profile, 1, 1, &[part(5, 10_000)]);
    assert_eq!(commit.deltas, [part(5, 10_000)], "what was learned does not stand in the way of its vector");
}

/// GD-71: 0.12 for each cluster over all inlets of a candidate.
#[test]
fn lineage_is_capped_per_cluster() {
    let profile = Profile::reference();
    let share = |cluster, value| Share { cluster, value };
    let mut shares =
        [share(1, -90_000), share(2, 100_000), share(1, 60_000), share(2, 20_000), share(1, -90_000)];
    cap_lineage(&profile.learning, &mut shares);
    assert_eq!(shares.map(|share| share.value), [-45_000, 100_000, 30_000, 20_000, -45_000]);
    // GD-49: what one cause changes in a gain can never reach the cap.
    let most = crate::fixed::mul(profile.selection.gain, profile.learning.step_max);
    assert_eq!(most, 90_000);
    assert!(most <= profile.learning.lineage_cap);
}

/// GD-76: an override costs 0.02 once, a full day without one brings 0.02 back, up to 0.50.
#[test]
fn overrides_move_the_expectation_of_control() {
    let profile = Profile::reference();
    let mut episodes = Episodes::new(&profile);
    let record =
        |episode, from| Override { episode, by: Overrider::Safety, perceivable: true, from, until: None };
    let day = 86_400;
    for event in 0..20 {
        let commit = episodes.overridden(&profile, record(1, 1_000), 1);
        assert_eq!(commit.evidence == Evidence::New, event == 0);
    }
    assert_eq!(episodes.control_expectation(&profile, 1_000), 480_000);
    assert_eq!(episodes.control_expectation(&profile, 1_000 + 2 * day), 480_000, "it lasts");
    episodes.released(1, 1_100);
    episodes.overridden(&profile, record(2, 1_200), 2);
    episodes.released(2, 1_300);
    let at = |episodes: &Episodes, now| episodes.control_expectation(&profile, now);
    assert_eq!(at(&episodes, 1_300 + day - 1), 460_000);
    assert_eq!(at(&episodes, 1_300 + day), 480_000);
    assert_eq!(at(&episodes, 1_300 + 9 * day), 500_000);
    episodes.overridden(&profile, record(3, 1_300 + day + 7), 3);
    assert_eq!(episodes.control, 460_000);
    assert_eq!(episodes.overrides.len(), 3);
    assert!(episodes.overrides[0].until == Some(1_100) && episodes.overrides[2].until.is_none());
    for episode in 4..40 {
        episodes.overridden(&profile, record(episode, 200_000), episode);
    }
    assert_eq!(at(&episodes, 200_000), 0, "never below 0");
}

/// The book is bounded; what it has forgotten cannot be told again.
#[test]
fn old_episodes_are_forgotten_and_stay_without_effect() {
    let profile = Profile::reference();
    let mut episodes = Episodes::new(&profile);
    for episode in 0..300 {
        episodes.commit(&profile, episode, episode, &[part(1, 10_000)]);
    }
    assert_eq!((episodes.list.len(), episodes.first), (128, 172));
    let late = episodes.commit(&profile, 171, 171, &[part(1, 10_000)]);
    assert_eq!(late, Commit { evidence: Evidence::Forgotten, deltas: Vec::new() });
    let known = episodes.commit(&profile, 172, 172, &[part(1, 10_000)]);
    assert_eq!(known.evidence, Evidence::Duplicate);
    assert!(!episodes.learns(&profile, 3, 3, 9));
}

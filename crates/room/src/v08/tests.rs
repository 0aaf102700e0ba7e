//! V08 as the contract counts it.

use super::*;
use crate::profile::Profile;

fn holdout(profile: &Profile) -> std::ops::RangeInclusive<u64> {
    let [first, last] = profile.fixture.seed_holdout.map(i64::unsigned_abs);
    first..=last
}

/// Part A, AR-17.
#[test]
fn v08_a_the_grid_keeps_its_ranges_and_its_layers() {
    let profile = Profile::reference();
    let found = evaluate(&profile, 50);
    assert_eq!(found.evaluated, 31_250);
    assert_eq!((found.lowest, found.highest), (-650_000, 950_000));
    assert_eq!(found.sum / 31_250, 150_000, "mean score");
    assert_eq!(found.admitted * 1_000 / found.evaluated, 629, "62.9% of the grid");
    let clean = Evaluated { evaluated: 0, admitted: 0, lowest: 0, highest: 0, sum: 0, ..found };
    assert_eq!(clean, Evaluated::default());
}

/// The opportunities pass through the whole grid: 11,250 cells once, 4,375 twice.
#[test]
fn v08_b_opportunities_cover_the_grid() {
    let profile = Profile::reference();
    let mut times = vec![0; cells(&profile)];
    for index in holdout(&profile) {
        let mut admissible = 0;
        for opportunity in opportunities(&profile, index) {
            times[opportunity.cell] += 1;
            let base = contributions(&profile, opportunity.cell);
            admissible += u32::from(base.admissible(&profile.selection));
        }
        assert!((121..=130).contains(&admissible), "{index}: {admissible}");
    }
    let counted = |wanted: i32| times.iter().filter(|count| **count == wanted).count();
    assert_eq!([counted(1), counted(2)], [11_250, 4_375]);
}

/// Part B: the test vectors of GD-46, AR-18.
#[test]
fn v08_b_mira_and_niko_differ_as_replayed() {
    let profile = Profile::reference();
    let of = |index| declared(&profile, Situation::Ordinary, index).target;
    assert_eq!(of(50), [97, 26]);
    assert_eq!(of(149), [97, 27]);
    let seeds: Vec<[u64; 2]> = holdout(&profile).map(of).collect();
    let sum = |identity: usize| seeds.iter().map(|seed| seed[identity]).sum::<u64>();
    assert_eq!([sum(0), sum(1)], [9_517, 2_954]);
    let difference = |seed: &[u64; 2]| seed[0] - seed[1];
    assert_eq!(seeds.iter().map(difference).min(), Some(49), "0.245 of 200");
    assert_eq!(seeds.iter().map(difference).max(), Some(80), "0.400 of 200");
}

/// Part C: never more than 4 switches in 120 ticks; equal candidates switch at most once.
#[test]
fn v08_c_trembling_inputs_do_not_swing() {
    let profile = Profile::reference();
    let mut most = 0;
    for cell in (0..cells(&profile)).step_by(31) {
        let found = perturbed(&profile, 50 + cell as u64 % 100, cell);
        assert_eq!((found.runs, found.steps), (8, 960));
        most = most.max(found.most_switches);
    }
    assert_eq!(most, 1);
    assert!(most <= profile.experience.ab_switch_max.unsigned_abs());
}

/// Each cell belongs to one seed of a set (GD-46: index 50 + (cell mod 100)).
#[test]
fn v08_c_every_cell_has_one_seed() {
    let profile = Profile::reference();
    for set in [0..=49, 50..=149] {
        let mut all: Vec<usize> = set.flat_map(|index| cells_of(&profile, index)).collect();
        all.sort_unstable();
        assert_eq!(all, (0..cells(&profile)).collect::<Vec<_>>());
    }
    assert_eq!(cells_of(&profile, 149).take(2).collect::<Vec<_>>(), [99, 199]);
}

/// Calibration counts its ordinals from its own first seed.
#[test]
fn v08_b_ordinals_of_calibration() {
    let profile = Profile::reference();
    let first = |index| opportunities(&profile, index)[0].cell;
    assert_eq!([first(0), first(50)], [0, 0]);
    assert_eq!([first(1), first(51)], [200 * 4_099 % 15_625; 2]);
}

/// Part D, RC-LRN-02.
#[test]
fn v08_d_traits_make_no_difference_in_danger() {
    let profile = Profile::reference();
    for index in holdout(&profile) {
        let shown = declared(&profile, Situation::Danger, index);
        assert_eq!((shown.choices, shown.different), (200, 0), "{index}");
        assert_eq!(shown.target[0], shown.target[1]);
        assert!(shown.target[0] > 0);
    }
}

/// The exhaustive reading of one seed, against the same choices made one at a time.
#[test]
fn v08_exhaustive_counts_every_cell() {
    let profile = Profile::reference();
    let table = Table::new(&profile, Situation::Ordinary);
    let shown = exhaustive(&profile, &table, 50);
    let seed = seed(SUITE, 50);
    let mut slow = Shown::default();
    for k in 0..200 {
        for cell in 0..cells(&profile) {
            let number = cell as u64 + 1;
            let offset = uniform(draw(seed, Stream::Content as u64, k, number), 5) as usize;
            let draw = draw(seed, Stream::Pool as u64, k, number);
            slow.add([0, 1].map(|identity| table.odds[cell][identity][offset].verifies(draw)));
        }
    }
    assert_eq!(shown, slow);
    assert_eq!(shown.choices, 200 * 15_625);
    // The rates that GD-46 expects over the grid: 0.474 and 0.145.
    let rates = shown.target.map(|count| count * 1_000 / shown.choices);
    assert_eq!(rates, [474, 145]);
}

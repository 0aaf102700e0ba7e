//! V08: the parameter grid, its declared opportunities, trembling inputs, danger, and the first day of both identities
//! (GD-46). What is counted is counted by [`room::v08`], over the scoring and choice that the room uses.

use super::Rooms;
use super::drive::{Drive, checks_of_some, reach_if, setup};
use super::v08_room::{self, Watch};
use crate::gate::{Fault, GateResult, Measure};
use crate::outcome::Outcome;
use crate::scenario::{Check, Choice, Context, Demand, Judged, Scenario, Seeds};
use crate::stats::{Share, differs_by, surely_greater};
use crate::unit::{Unit, seeded};
use room::Listen;
use room::profile::Profile;
use room::setup::{Setup, seed_text};
use room::state::Channel;
use room::v08::{
    Evaluated, Shown, Situation, Table, cells, cells_of, declared, evaluate, exhaustive, perturbed,
};

const HEADER: &str = "
claim: Each seed evaluates every cell of K.fixture.v08_lists for both identities; scores stay in their range, and neither a
  body deadline nor an action of Safety is beaten by an ordinary candidate.
claim: Of K.fixture.v08_opportunities declared opportunities for each seed and identity, Mira shows the target behaviour
  more than Niko: pooled by K.experience.identity_difference at least, with a lower bound of the 95 % Newcombe-Wilson
  interval above 0 for all seeds together and for each seed.
claim: With inputs that tremble by K.fixture.v08_epsilon no cell switches more than K.experience.ab_switch_max times in
  K.fixture.v08_perturbed ticks.
claim: In danger both identities choose the same each time.
claim: In the room no ordinary choice is made before a body deadline, a switch needs K.clock.switch_margin, novelties begin
  K.selection.novelty_pacing ticks apart, and in danger both identities make the same choices.
claim: On the first K.clock.day_ticks ticks of the runs of V01 the shares of runs with a survival failure differ by
  K.experience.survival_difference at most; V01 itself allows none in its whole length.
threshold difference: K.experience.identity_difference
threshold survival: K.experience.survival_difference
threshold switches: K.experience.ab_switch_max
threshold different_in_danger: 0
field: tier_utility.score
field: tier_utility.correction
";

const CHECKS: [Check; 15] = checks_of_some(&[
    Check { id: "V08.1", demand: Demand::SomeRun },
    Check { id: "V08.2", demand: Demand::SomeRun },
    Check { id: "V08.3.difference", demand: Demand::SomeRun },
    Check { id: "V08.3.switches", demand: Demand::SomeRun },
    Check { id: "V08.3.danger", demand: Demand::SomeRun },
    Check { id: "V08.3.survival", demand: Demand::SomeRun },
    Check { id: "survival", demand: Demand::SomeRun },
]);

const SEEDS: Seeds = Seeds::all("V08");
/// The arm that `--exhaustive` adds (CX-31, ruling 3).
const EXHAUSTIVE: &str = "exhaustive";
/// Mira and Niko, as counts are named.
const TARGETS: [&str; 2] = ["target_mira", "target_niko"];
/// Choices behind each of the two.
const CHOICES: &str = "choices";
/// A run of the arm `day`, and whether the boundary was crossed in it.
const FAILED: &str = "survival_failed";

/// The scenario.
pub(super) fn scenario() -> Scenario<Rooms> {
    Scenario {
        id: "V08",
        title: "Utility parameter grid",
        version: 1,
        stage: 0,
        tags: &["world", "safety", "regulation", "tier_utility", "body", "queue", "expectation"],
        seeds: SEEDS,
        header: HEADER,
        script: &[
            ("v08.rs", include_str!("v08.rs")),
            ("v08_room.rs", include_str!("v08_room.rs")),
            ("drive.rs", include_str!("drive.rs")),
        ],
        checks: &CHECKS,
        needs: &[
            "admitted",
            "not admitted",
            "target shown",
            "identities differ",
            "switch",
            "target shown in danger",
            "drink",
            "body before ordinary",
            "ordinary choice in danger",
        ],
        mutations: &[
            "map_order",
            "locale_order",
            "system_draw",
            "lost_habits",
            "pacing_ignored",
            "repetition_forgotten",
        ],
        units,
        run,
        record: |unit, context| (unit.arm == "day").then(|| day(unit, context).record()).flatten(),
        gate,
    }
}

fn units(choice: &Choice) -> Vec<Unit> {
    let indices = || SEEDS.indices(choice.set);
    let mut units = seeded("V08", &["A", "B", "C", "D", "room"], &["both"], indices());
    units.extend(seeded("V08", &["day"], &["mira", "niko"], indices()));
    if choice.exhaustive {
        units.extend(seeded("V08", &[EXHAUSTIVE], &["both"], indices()));
    }
    units
}

fn run(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let profile = &context.world.profile;
    let mut outcome = Outcome::new(unit);
    let index = unit.index().unwrap_or_default();
    match unit.arm.as_str() {
        "A" => grid(&mut outcome, profile, evaluate(profile, index)),
        "B" => opportunities(&mut outcome, profile, index),
        "C" => trembling(&mut outcome, profile, index),
        "D" => danger(&mut outcome, profile, index),
        EXHAUSTIVE => all_opportunities(&mut outcome, profile, index),
        "room" => return v08_room::danger(unit, context),
        _ => return first_day(unit, context),
    }
    outcome
}

/// Part A. The range of a score is that of its parts.
fn grid(outcome: &mut Outcome, profile: &Profile, found: Evaluated) {
    let lists = profile.fixture.v08_lists;
    let [lowest, highest] =
        [|list: [i64; 5]| list.into_iter().min(), |list: [i64; 5]| list.into_iter().max()]
            .map(|end| lists.into_iter().filter_map(end).sum::<i64>());
    let whole = 2 * cells(profile) as u64;
    outcome.require("V08.1", found.evaluated == whole, None, "cells_left_out");
    outcome.require("V08.1", (found.lowest, found.highest) == (lowest, highest), None, "range");
    outcome.require("V08.1", found.unclamped == 0, None, "clamping");
    outcome.require("V08.2", found.beat_tier1 == 0, None, "beat_tier1");
    outcome.require("V08.2", found.beat_safety == 0, None, "beat_safety");
    outcome.require("V08.3.danger", found.corrected_in_danger == 0, None, "trait_in_danger");
    outcome.count("evaluated", found.evaluated.cast_signed());
    outcome.count("admitted", found.admitted.cast_signed());
    outcome.count("score_sum", found.sum);
    reach_if(outcome, found.admitted > 0, "admitted");
    reach_if(outcome, found.admitted < found.evaluated, "not admitted");
    outcome.state_hash = found.sum.cast_unsigned();
}

/// Part B, one seed: the lower bound is above 0 for each of them.
fn opportunities(outcome: &mut Outcome, profile: &Profile, index: u64) {
    let shown = declared(profile, Situation::Ordinary, index);
    let asked = profile.fixture.v08_opportunities.unsigned_abs();
    outcome.require("V08.1", shown.choices == asked, None, "opportunities");
    differ(outcome, shown, "V08.3.difference");
    reach_if(outcome, shown.target[0] > 0, "target shown");
    reach_if(outcome, shown.different > 0, "identities differ");
}

/// The exhaustive reading, one seed.
fn all_opportunities(outcome: &mut Outcome, profile: &Profile, index: u64) {
    let shown = exhaustive(profile, &Table::new(profile, Situation::Ordinary), index);
    let asked = profile.fixture.v08_opportunities.unsigned_abs() * cells(profile) as u64;
    outcome.require("V08.1", shown.choices == asked, None, "opportunities");
    differ(outcome, shown, "V08.3.difference");
}

fn differ(outcome: &mut Outcome, shown: Shown, check: &str) {
    note(outcome, shown);
    let [mira, niko] = shown.target.map(|k| Share { k, n: shown.choices });
    outcome.require(check, surely_greater(mira, niko), None, "seed_not_surely_greater");
}

fn note(outcome: &mut Outcome, shown: Shown) {
    outcome.count(CHOICES, shown.choices.cast_signed());
    for (name, count) in TARGETS.into_iter().zip(shown.target) {
        outcome.count(name, count.cast_signed());
    }
    outcome.state_hash = room::draw::mix(shown.target[0] << 32 ^ shown.target[1] ^ shown.different << 16);
}

/// Part C: the cells of one seed.
fn trembling(outcome: &mut Outcome, profile: &Profile, index: u64) {
    let most = profile.experience.ab_switch_max.unsigned_abs();
    for cell in cells_of(profile, index) {
        let found = perturbed(profile, index, cell);
        outcome.require("V08.3.switches", found.most_switches <= most, None, "swings");
        outcome.count("steps", found.steps.cast_signed());
        outcome.count(&format!("cells_with_{}_switches", found.most_switches), 1);
        reach_if(outcome, found.most_switches > 0, "switch");
        outcome.state_hash = room::draw::mix(outcome.state_hash ^ found.most_switches);
    }
}

/// Part D: the same opportunities, and no Trait.
fn danger(outcome: &mut Outcome, profile: &Profile, index: u64) {
    let shown = declared(profile, Situation::Danger, index);
    outcome.require("V08.3.danger", shown.different == 0, None, "identities_differ");
    outcome.require("V08.3.danger", shown.choices > 0, None, "no_choice");
    note(outcome, shown);
    reach_if(outcome, shown.target[0] > 0, "target shown in danger");
}

/// The first day of a run of V01, with its seed.
fn day<'a>(unit: &Unit, context: &Context<'a, Rooms>) -> Drive<'a> {
    let of_v01 = seed_text(room::draw::seed("V01", unit.index().unwrap_or_default()));
    let setup = Setup { suite: "V01".to_owned(), seed: of_v01, ..setup(unit, context) };
    let mut drive = Drive::start(unit, context, setup);
    drive.room.listen(Listen::Everything);
    let mut watch = Watch::default();
    for _ in 0..context.world.profile.clock.day_ticks {
        watch.step(&mut drive);
    }
    watch.note(&mut drive.outcome);
    drive
}

fn first_day(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let mut drive = day(unit, context);
    let lowest = drive.room.checks().lowest;
    let boundary = context.world.profile.regulation.failure_boundary;
    let failed = lowest.into_iter().any(|level| level <= boundary);
    let drunk = drive.room.state().regulation.served[Channel::Hydration.index()] > 0;
    drive.outcome.count(FAILED, i64::from(failed));
    // The shares of both identities are compared by the gate; here is only that there is something to compare.
    drive.outcome.checked("V08.3.survival", 1);
    reach_if(&mut drive.outcome, drunk, "drink");
    drive.finish()
}

fn sum(outcomes: &[&Outcome], name: &str) -> u64 {
    let count = |outcome: &&Outcome| outcome.counts.get(name).copied().unwrap_or_default();
    outcomes.iter().map(count).sum::<i64>().unsigned_abs()
}

fn gate(judged: &Judged<'_, Rooms>) -> GateResult {
    let mut result = GateResult::default();
    for arm in ["B", EXHAUSTIVE] {
        pooled(judged, arm, &mut result);
    }
    survival(judged, &mut result);
    result
}

/// All seeds of an arm together.
fn pooled(judged: &Judged<'_, Rooms>, arm: &str, result: &mut GateResult) {
    let of: Vec<&Outcome> = judged.outcomes.iter().filter(|outcome| outcome.unit.arm == arm).collect();
    if of.is_empty() {
        return;
    }
    let n = sum(&of, CHOICES);
    let [mira, niko] = TARGETS.map(|name| Share { k: sum(&of, name), n });
    let asked = judged.world.profile.experience.identity_difference;
    let place = |code: &str| format!("V08.3.difference {arm}: {code}");
    let said = format!("{} and {} of {n}", mira.k, niko.k);
    if !differs_by(mira, niko, asked) {
        result.findings.push(Fault::CheckFailed.fails(place("pooled_difference"), said.clone()));
    }
    if !surely_greater(mira, niko) {
        result.findings.push(Fault::CheckFailed.fails(place("pooled_not_surely_greater"), said));
    }
    result.measures.push(Measure::Difference {
        name: format!("target behaviour, {arm}"),
        one: ("mira".to_owned(), mira),
        other: ("niko".to_owned(), niko),
    });
}

/// Runs in which a reserve was used up, by identity.
fn survival(judged: &Judged<'_, Rooms>, result: &mut GateResult) {
    let share = |identity: &str| {
        let of = |outcome: &&Outcome| outcome.unit.arm == "day" && outcome.unit.identity == identity;
        let of: Vec<&Outcome> = judged.outcomes.iter().filter(of).collect();
        Share { k: sum(&of, FAILED), n: of.len() as u64 }
    };
    let (mira, niko) = (share("mira"), share("niko"));
    if mira.n == 0 || niko.n == 0 {
        return;
    }
    // More than the limit, in whole µ: at least one more than it.
    let limit = judged.world.profile.experience.survival_difference + 1;
    if differs_by(mira, niko, limit) || differs_by(niko, mira, limit) {
        let said = format!("{} of {} and {} of {}", mira.k, mira.n, niko.k, niko.n);
        result.findings.push(Fault::CheckFailed.fails("V08.3.survival difference".to_owned(), said));
    }
    result.measures.push(Measure::Difference {
        name: "survival failures".to_owned(),
        one: ("mira".to_owned(), mira),
        other: ("niko".to_owned(), niko),
    });
}

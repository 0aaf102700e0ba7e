//! What is concluded: pass, fail, yellow; the verdict hash; the record of a run.

use crate::stage::{
    Stage, World, calibration, code, concluded, holdout, identity, linted, plan, scenarios, standing, t01,
    t02,
};
use matrix::gate::Fault;
use matrix::plan::Selection;
use matrix::scenario::Set;
use matrix::shard::merge;
use matrix::verdict::{Conclusion, Standing, Word, conclude, held_to, sign};
use matrix::{Outcome, Scenario, Unit};
use std::collections::BTreeMap;
use verdict::registry;
use verdict::report::Colour;

/// The holdout set under a freeze record, with a planted fault.
fn with_fault(world: &World) -> Conclusion {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let folder = stage.run(&holdout(&linted), "run", world, 2);
    concluded(&linted, &folder, world, Set::Holdout)
}

fn reasons(conclusion: &Conclusion) -> Vec<(&'static str, String)> {
    let findings = conclusion.report.checks.iter().flat_map(|check| &check.findings);
    findings.map(|finding| (finding.reason, finding.place.clone())).collect()
}

#[test]
fn everything_on_holdout_twice_is_green() {
    let conclusion = with_fault(&World::default());
    assert_eq!(reasons(&conclusion), []);
    assert_eq!(conclusion.report.colour(), Colour::Green);
    assert_eq!(Word::of(conclusion.report.colour()).triple().reason, "matrix_pass");
    assert_eq!(conclusion.outcomes_n, 25);
    let t01 = &conclusion.judgements[0];
    assert_eq!((t01.planned, t01.ran, t01.ticks), (20, 20, 400));
    assert_eq!(t01.checks["INV-01"].made, 400);
    assert_eq!(
        (t01.checks["LIV-07"].made, t01.checks["LIV-07"].runs),
        (0, 0),
        "reported, and asked for nowhere"
    );
}

#[test]
fn the_hash_is_the_same_every_time() {
    let hashes: Vec<String> = (0..3).map(|_| with_fault(&World::default()).report.verdict_hash()).collect();
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
    assert_ne!(with_fault(&World::with("broken")).report.verdict_hash(), hashes[0]);
}

/// Every planted fault turns its scenario red or yellow, and says where.
#[test]
fn planted_faults_are_found() {
    for (fault, colour, reason, place) in [
        ("broken", Colour::Red, "matrix_check_failed", "INV-01 two_bodies: T01/main/mira/53 at tick 7"),
        ("carried", Colour::Red, "matrix_twice_differs", "T01/main/mira/50 in "),
        ("unsaved", Colour::Red, "matrix_twice_differs", "T01/main/mira/50 in "),
        ("gate", Colour::Red, "matrix_check_failed", "T01.3"),
        ("unchecked", Colour::Yellow, "matrix_unchecked", "INV-01: T01/main/mira/50"),
        ("unreached", Colour::Yellow, "matrix_not_reached", "even"),
    ] {
        let conclusion = with_fault(&World::with(fault));
        let found = reasons(&conclusion);
        assert_eq!(conclusion.report.colour(), colour, "{fault}: {found:?}");
        assert!(
            found.iter().any(|(code, at)| *code == reason && at.starts_with(place)),
            "{fault}: {found:?}"
        );
    }
}

#[test]
fn a_run_that_panicked_is_red() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let world = World::with("panic");
    let folder = stage.run(&calibration(&linted), "run", &world, 1);
    let conclusion = concluded(&linted, &folder, &world, Set::Calibration);
    assert_eq!(conclusion.report.colour(), Colour::Red);
    let place = format!("{} {}: T01/main/mira/3", matrix::runner::RUN_CHECK, Fault::Panicked.code());
    assert!(reasons(&conclusion).contains(&(Fault::CheckFailed.code(), place)));
}

#[test]
fn a_gate_that_panics_is_red() {
    let (stage, scenarios) = (Stage::new(), [Scenario { gate: |_| panic!("planted"), ..t01() }]);
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let folder = stage.run(&holdout(&linted), "run", &World::default(), 1);
    let conclusion = concluded(&linted, &folder, &World::default(), Set::Holdout);
    assert_eq!(reasons(&conclusion), [("matrix_unit_panicked", "gate".to_owned())]);
}

#[test]
fn calibration_is_never_green() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let folder = stage.run(&calibration(&linted), "run", &World::default(), 1);
    let conclusion = concluded(&linted, &folder, &World::default(), Set::Calibration);
    assert_eq!(conclusion.report.colour().exit_code(), 2);
    assert_eq!(reasons(&conclusion), [("matrix_not_holdout", "calibration".to_owned())]);
    assert_eq!(Word::of(conclusion.report.colour()).code(), "matrix_yellow");
}

#[test]
fn a_part_of_the_plan_is_never_green_and_its_gate_fails_nothing() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let world = World::with("gate");
    let selection =
        Selection { indices: vec![(50, 55)], scenarios: vec!["T01".into()], ..Selection::all(Set::Holdout) };
    let folder = stage.run(&plan(&linted, selection), "run", &world, 1);
    let conclusion = concluded(&linted, &folder, &world, Set::Holdout);
    assert_eq!(conclusion.report.colour(), Colour::Yellow);
    let codes: Vec<&str> = reasons(&conclusion).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["matrix_incomplete", "matrix_check_failed", "matrix_scenario_not_run"]);
}

#[test]
fn once_and_again_and_elsewhere_lower_the_class() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let folder = stage.run(&holdout(&linted), "run", &World::default(), 1);
    let codes = |outcomes: &BTreeMap<Unit, Outcome>, standing: &matrix::verdict::Standing| {
        let conclusion = conclude(&linted, &World::default(), outcomes, standing).unwrap();
        assert_eq!(conclusion.report.colour(), Colour::Yellow);
        reasons(&conclusion).into_iter().map(|(code, _)| code).collect::<Vec<_>>()
    };
    let mut once = folder.outcomes().clone();
    once.values_mut().next().unwrap().twice = None;
    assert_eq!(codes(&once, &standing(Set::Holdout)), [Fault::Once.code()]);
    let again = matrix::verdict::Standing { again: true, ..standing(Set::Holdout) };
    assert_eq!(codes(folder.outcomes(), &again), [Fault::HoldoutAgain.code()]);
    let unfrozen = matrix::verdict::Standing { frozen: false, ..standing(Set::Holdout) };
    assert_eq!(codes(folder.outcomes(), &unfrozen), [Fault::NotHoldout.code()]);
    let elsewhere = ::verdict::report::Finding {
        reason: "matrix_not_holdout",
        place: "s390x".into(),
        detail: String::new(),
        fails: false,
    };
    let lowered = matrix::verdict::Standing { lowered: vec![elsewhere], ..standing(Set::Holdout) };
    assert_eq!(codes(folder.outcomes(), &lowered), ["matrix_not_holdout"]);
}

/// Another process, another build: what differs fails, what one of them lacks is not complete.
#[test]
fn runs_elsewhere_are_part_of_the_verdict() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let folder = stage.run(&holdout(&linted), "run", &World::default(), 1);
    let with = |other: &BTreeMap<Unit, Outcome>| {
        let compared =
            vec![("second process".to_owned(), matrix::compare::compare(folder.outcomes(), other))];
        let standing = matrix::verdict::Standing { compared, ..standing(Set::Holdout) };
        let conclusion = conclude(&linted, &World::default(), folder.outcomes(), &standing).unwrap();
        (conclusion.report.colour(), reasons(&conclusion))
    };
    let mut other = folder.outcomes().clone();
    assert_eq!(with(&other), (Colour::Green, Vec::new()));
    other.values_mut().next().unwrap().state_hash ^= 1;
    let place = "second process: T01/main/mira/50 in state_hash".to_owned();
    assert_eq!(with(&other), (Colour::Red, vec![("matrix_twice_differs", place)]));
    other.pop_first();
    let place = "second process: T01/main/mira/50".to_owned();
    assert_eq!(with(&other), (Colour::Yellow, vec![("matrix_incomplete", place)]));
    assert_eq!(with(&BTreeMap::new()).0, Colour::Yellow);
}

/// Failures of a check that may fail are counted, those over the allowed number fail, and those of an invariant always do.
#[test]
fn allowed_failures_are_allowed_and_no_more() {
    let (stage, scenarios) = (Stage::new(), [t01()]);
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let folder = stage.run(&holdout(&linted), "run", &World::default(), 1);
    let colour = |check: &str, times: u64| {
        let mut outcomes = folder.outcomes().clone();
        let first = outcomes.values_mut().next().unwrap();
        (0..times).for_each(|tick| first.fail(check, Some(tick), "planted"));
        conclude(&linted, &World::default(), &outcomes, &standing(Set::Holdout)).unwrap().report.colour()
    };
    assert_eq!(colour("T01.2", 1), Colour::Green);
    assert_eq!(colour("T01.2", 2), Colour::Red);
    assert_eq!(colour("INV-01", 1), Colour::Red);
    assert_eq!(colour("T01.1", 1), Colour::Red);
    assert_eq!(colour("never_declared", 1), Colour::Red);
    // More than are named are failures all the same.
    assert_eq!(colour("T01.2", 100), Colour::Red);
}

#[test]
fn an_outcome_of_no_unit_is_refused() {
    let scenarios = scenarios();
    let linted = linted(&scenarios);
    let unit = Unit::parse("T01/main/mira/99").unwrap();
    let outcomes = BTreeMap::from([(unit.clone(), Outcome::new(&unit))]);
    assert_eq!(
        code(conclude(&linted, &World::default(), &outcomes, &standing(Set::Holdout))),
        "matrix_unit_unknown"
    );
}

#[test]
fn a_check_in_some_run_is_asked_for() {
    let (stage, scenarios) = (Stage::new(), [t01()]);
    let linted = linted(&scenarios);
    let folder = stage.run(&calibration(&linted), "run", &World::default(), 1);
    let mut outcomes = folder.outcomes().clone();
    for outcome in outcomes.values_mut() {
        outcome.checks.insert("T01.2".into(), 0);
    }
    let conclusion = conclude(&linted, &World::default(), &outcomes, &standing(Set::Calibration)).unwrap();
    assert!(reasons(&conclusion).contains(&("matrix_unchecked", "T01.2".to_owned())));
}

#[test]
fn the_record_of_a_run_says_what_it_came_to() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let world = World::with("broken");
    let plan = holdout(&linted);
    let folder = stage.run(&plan, "run", &world, 1);
    let conclusion = concluded(&linted, &folder, &world, Set::Holdout);
    let gate = plan.definition().gate_hash();
    let record = sign(&conclusion, folder.run_id(), gate, &mut stage.records(), identity()).unwrap().unwrap();
    assert_eq!(record.text("evidence_class"), "simulated");
    assert_eq!(record.text("verdict_hash"), conclusion.report.verdict_hash());
    assert_eq!(record.natural("outcomes_n"), Some(25));
    let verdict = record.payload.get("verdict").unwrap();
    assert_eq!(verdict.get("reason").unwrap().as_str(), Some(Word::Fail.code()));
    assert_eq!(stage.records().all().last(), Some(&record));
}

/// V-6: every code of the matrix is in the registry.
#[test]
fn every_code_is_registered() {
    let registry = registry::all();
    let codes = [Fault::CODES, matrix::lint::Fault::CODES, matrix::Problem::CODES, Word::CODES];
    for code in codes.into_iter().flatten() {
        assert_eq!(registry.get(*code).map(|reason| reason.layer.as_str()), Some("matrix"), "{code}");
    }
    assert_eq!(t02().id, "T02");
}

/// A run that failed and was signed so stays red, whatever is put into its folder afterwards.
#[test]
fn a_conclusion_is_held_to_the_record_of_the_run() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let (world, plan) = (World::with("broken"), holdout(&linted));
    let failed = stage.run(&plan, "run", &world, 1);
    let red = concluded(&linted, &failed, &world, Set::Holdout);
    let held = |conclusion: &Conclusion| {
        let mut held = conclusion.clone();
        held_to(&mut held, failed.run_id(), &stage.records());
        (held.report.colour(), reasons(&held).pop())
    };
    let finding = |code: Fault, place: &str| Some((code.code(), place.to_owned()));
    let clean = with_fault(&World::default());
    assert_eq!(held(&clean), (Colour::Yellow, finding(Fault::NotEnded, failed.run_id())));

    let gate = plan.definition().gate_hash();
    sign(&red, failed.run_id(), gate, &mut stage.records(), identity()).unwrap();
    let number = format!("record {}", stage.records().all().len());
    assert_eq!(held(&clean), (Colour::Red, finding(Fault::RecordDiffers, &number)));
    let mut same = red.clone();
    held_to(&mut same, failed.run_id(), &stage.records());
    assert_eq!(same.report.verdict_hash(), red.report.verdict_hash(), "nothing is added where they agree");

    let mut greener = red.clone();
    greener.report.checks.iter_mut().for_each(|check| check.findings.clear());
    assert_eq!(held(&greener), (Colour::Red, finding(Fault::RecordDiffers, &number)));
}

/// A claim of some units says nothing about the others that lie in the folder.
#[test]
fn what_no_claim_took_is_not_frozen() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let world = World::default();
    let selection = Selection { indices: vec![(50, 54)], ..Selection::all(Set::Holdout) };
    let part = stage.run(&plan(&linted, selection), "part", &world, 1);
    let mut merged = merge(&[part.path().to_path_buf()]).unwrap();
    assert!(Standing::of(&linted, &merged, &stage.records()).unwrap().frozen);
    let elsewhere = Stage::new();
    elsewhere.freeze(&linted);
    merged.outcomes = elsewhere.run(&holdout(&linted), "whole", &world, 1).outcomes().clone();
    let standing = Standing::of(&linted, &merged, &stage.records()).unwrap();
    assert!(!standing.frozen);
    let conclusion = conclude(&linted, &world, &merged.outcomes, &standing).unwrap();
    assert!(reasons(&conclusion).contains(&(Fault::NotHoldout.code(), "holdout".to_owned())));
}

/// Second runs that were never saved and loaded show less, and say so.
#[test]
fn second_runs_that_were_never_saved_lower_the_class() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let folder = stage.run(&holdout(&linted), "run", &World::default(), 1);
    let merged = merge(&[folder.path().to_path_buf()]).unwrap();
    assert!(Standing::of(&linted, &merged, &stage.records()).unwrap().reloaded);
    let never = Standing { reloaded: false, ..standing(Set::Holdout) };
    let conclusion = conclude(&linted, &World::default(), folder.outcomes(), &never).unwrap();
    assert_eq!(reasons(&conclusion), [(Fault::Once.code(), "second runs".to_owned())]);
}

#[test]
fn sums_of_forged_outcomes_do_not_overflow() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let folder = stage.run(&calibration(&linted), "run", &World::default(), 1);
    let mut outcomes = folder.outcomes().clone();
    for outcome in outcomes.values_mut() {
        outcome.ticks = u64::MAX;
        outcome.checks.values_mut().for_each(|made| *made = u64::MAX);
        outcome.failures_n = u64::MAX;
    }
    let conclusion = conclude(&linted, &World::default(), &outcomes, &standing(Set::Calibration)).unwrap();
    assert_eq!(conclusion.report.colour(), Colour::Red);
    assert_eq!(conclusion.judgements[0].ticks, u64::MAX);
}

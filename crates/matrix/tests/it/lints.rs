//! The lint: RC-LNT-01 to RC-LNT-05, RC-SEE-02, RC-SEE-05, RC-SEE-06, GD-06.

use crate::stage::{World, constants, profile, scenarios, t01, t02};
use matrix::lint::{Fault, lint};
use matrix::scenario::{Check, Demand, Seeds};
use matrix::{At, Problem, Scenario, Unit};

fn found(stage: u8, scenarios: &[Scenario<World>]) -> Vec<(Fault, String)> {
    let findings = lint(stage, scenarios, &profile(&constants())).err().unwrap_or_default();
    findings.into_iter().map(|finding| (finding.fault, finding.place)).collect()
}

#[track_caller]
fn check(scenario: Scenario<World>, fault: Fault, place: &str) {
    assert_eq!(found(0, &[scenario]), [(fault, place.to_owned())]);
}

#[test]
fn clean_scenarios_pass_in_the_order_of_their_ids() {
    let scenarios = scenarios();
    let linted = lint(0, &scenarios, &profile(&constants())).ok().unwrap();
    assert_eq!(linted.scenarios().map(|(scenario, _)| scenario.id).collect::<Vec<_>>(), ["T01", "T02"]);
}

#[test]
fn scenarios_of_later_stages_are_not_of_this_one() {
    let later = Scenario { stage: 2, tags: &["trust"], header: "claim: soon\n", ..t01() };
    let scenarios = [later, t02()];
    let linted = lint(0, &scenarios, &profile(&constants())).ok().unwrap();
    assert_eq!(linted.scenarios().len(), 1);
}

/// RC-LNT-01.
#[test]
fn rc_lnt_01_modules_are_enabled() {
    check(Scenario { tags: &["world", "moods"], ..t01() }, Fault::ModuleUnknown, "tag moods");
    check(Scenario { tags: &["trust"], ..t01() }, Fault::ModuleNotEnabled, "tag trust");
    assert!(found(2, &[Scenario { stage: 2, tags: &["trust"], ..t01() }]).is_empty());
}

/// RC-LNT-02.
#[test]
fn rc_lnt_02_constants_resolve_uniquely() {
    let with = |line: &'static str| Scenario { header: line, ..t01() };
    check(with("claim: below K.test.nothing.\n"), Fault::ConstantUnknown, "K.test.nothing");
    check(with("claim: fine\nthreshold a: K.test.twice\n"), Fault::ConstantAmbiguous, "K.test.twice");
    assert!(found(0, &[with("claim: below K.test.sum_max.\n")]).is_empty());
}

/// RC-LNT-03, RC-SEE-06, GD-06.
#[test]
fn rc_lnt_03_vague_words_are_bound() {
    let with = |text: &'static str| Scenario { header: text, ..t01() };
    check(with("claim: a few drinks\n"), Fault::VagueWord, "claim 1: a few");
    check(with("claim: fine\nclaim: it is\n  Close to zero\n"), Fault::VagueWord, "claim 2: close to zero");
    check(Scenario { title: "soon", ..t01() }, Fault::VagueWord, "title: soon");
    check(with("claim: few\nbind few: some\n"), Fault::BindUnbound, "bind few");
    for bound in ["bind few: 3 drinks", "bind few: K.test.sum_max"] {
        let text: &'static str = format!("claim: few\n{bound}\n").leak();
        assert!(found(0, &[with(text)]).is_empty(), "{bound}");
    }
}

/// RC-LNT-04.
#[test]
fn rc_lnt_04_nothing_of_a_later_stage_in_an_earlier_gate() {
    let with = |text: &'static str| Scenario { header: text, ..t01() };
    check(with("claim: below K.trust.initial\n"), Fault::LaterStage, "K.trust.initial");
    let field = Scenario { header: "claim: fine\nfield: trust.warmth\n", ..t01() };
    assert_eq!(found(2, &[field]), [(Fault::LaterStage, "field trust.warmth".to_owned())]);
    check(with("claim: fine\nfield: moods.joy\n"), Fault::ModuleUnknown, "field moods.joy");
}

#[test]
fn a_header_is_statements() {
    check(Scenario { header: "claim: fine\nand so on\n", ..t01() }, Fault::Header, "line 2: and so on");
}

/// RC-SEE-02: calibration and holdout do not overlap.
#[test]
fn rc_see_02_seeds_lie_in_their_ranges() {
    let with = |calibration, holdout| {
        let seeds = Seeds::Indexed { suite: "T01", calibration, holdout };
        Scenario { seeds, ..t01() }
    };
    let faults = |scenario| found(0, &[scenario]).into_iter().map(|(fault, _)| fault).collect::<Vec<_>>();
    assert!(faults(with((0, 50), (50, 59))).contains(&Fault::Seeds));
    assert!(faults(with((0, 9), (49, 59))).contains(&Fault::Seeds));
    assert!(faults(with((0, 9), (59, 50))).contains(&Fault::Seeds));
    assert!(faults(with((0, 9), (50, 150))).contains(&Fault::Seeds));
}

#[test]
fn units_are_units_of_the_scenario() {
    let with = |units| Scenario { units, ..t02() };
    check_units(with(|_| Vec::new()), "it has no unit");
    check_units(with(|_| vec![Unit::new("T01", "all", "-", At::Chunk(0))]), "T01/all/-/c0");
    check_units(with(|_| vec![Unit::new("T02", "a b", "-", At::Chunk(0))]), "T02/a b/-/c0");
    check_units(with(|_| vec![Unit::new("T02", "all", "-", At::Chunk(0)); 2]), "T02/all/-/c0");
    // An enumeration draws from no seed.
    check_units(with(|_| vec![Unit::new("T02", "all", "-", At::Index(50))]), "T02/all/-/50");
}

#[track_caller]
fn check_units(scenario: Scenario<World>, place: &str) {
    let found = found(0, &[scenario]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|(fault, at)| *fault == Fault::Units && at.ends_with(place)), "{found:?}");
}

/// RC-SEE-05: no failure of an invariant is ever allowed.
#[test]
fn rc_see_05_invariants_may_not_fail() {
    let header = "claim: fine\nallow INV-01: 1\nallow LIV-02: 0\n";
    check(Scenario { header, ..t01() }, Fault::AllowedFailures, "allow INV-01");
}

#[test]
fn a_scenario_that_says_or_needs_nothing() {
    check(Scenario { header: "threshold a: 1\n", ..t01() }, Fault::NoCheck, "it claims nothing");
    const REPORTED: [Check; 1] = [Check { id: "T01.1", demand: Demand::Reported }];
    check(Scenario { checks: &REPORTED, ..t01() }, Fault::NoCheck, "no check is asked for");
    check(Scenario { needs: &[], ..t01() }, Fault::NoSituation, "needs");
    check(Scenario { mutations: &[], ..t01() }, Fault::NoMutation, "mutations");
    check(
        Scenario { mutations: &["never_planted"], ..t01() },
        Fault::MutationUnknown,
        "mutation never_planted",
    );
}

#[test]
fn an_id_is_a_name_and_stands_once() {
    let twice = found(0, &[t02(), t02()]);
    assert_eq!(twice, [(Fault::ScenarioId, "two scenarios have it".to_owned())]);
    let faults = found(0, &[Scenario { id: "T/02", ..t02() }]);
    assert!(faults.iter().any(|(fault, _)| *fault == Fault::ScenarioId), "{faults:?}");
}

/// RC-LNT-05: what the lint refuses has no seed manifest and no run, because both are made of what it lets through.
#[test]
fn rc_lnt_05_a_failing_lint_is_a_problem_and_nothing_else() {
    let scenarios = [Scenario { tags: &["trust"], ..t01() }];
    let problem: Problem = lint(0, &scenarios, &profile(&constants())).err().unwrap().into();
    assert!(matches!(&problem, Problem::LintFailed(findings) if findings.len() == 1));
    assert_eq!(problem.code(), "matrix_lint_failed");
}

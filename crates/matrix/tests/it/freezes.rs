//! Freezing and admission: GD-05, RC-SEE-02, RC-SEE-04, RC-LNT-05.

use crate::stage::{
    Stage, World, calibration, code, holdout, identity, linted, options, plan, scenarios, t01, t02,
};
use canon::Digest;
use ledger::identity::Identity;
use matrix::admission::recognise;
use matrix::freeze::{Definition, freeze, lines_of};
use matrix::plan::Selection;
use matrix::records::{Kind, Records};
use matrix::scenario::Set;
use matrix::shard::Shard;
use matrix::store::Folder;
use matrix::{Problem, Scenario, runner};
use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::AtomicBool;

/// GD-05: SHA-256 over `name NUL hex-sha256 LF`, sorted by name.
#[test]
fn gd_05_the_gate_hash_is_that_of_its_lines() {
    let scenarios = scenarios();
    let definition = Definition::of(&linted(&scenarios));
    let names: Vec<&str> = definition.lines.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["config", "seeds", "test/T01", "test/T02", "thresholds"]);
    let text: String = definition.lines.iter().map(|(name, digest)| format!("{name}\0{digest}\n")).collect();
    assert_eq!(definition.gate_hash(), Digest::of(text.as_bytes()));
    let seeds = String::from_utf8(definition.seeds).unwrap();
    assert!(seeds.contains(&format!("\"50\":\"{:016x}\"", room::draw::seed("T01", 50))), "{seeds}");
}

/// RC-SEE-04: whatever is changed, the hash is another.
#[test]
fn rc_see_04_configuration_tests_seeds_and_thresholds_are_bound() {
    let hash = |scenario: Scenario<World>| Definition::of(&linted(&[scenario, t02()])).gate_hash();
    let before = hash(t01());
    assert_eq!(hash(t01()), before);
    let header: &'static str = t01().header.replace("0.15", "0.16").leak();
    for changed in [
        Scenario { header, ..t01() },
        Scenario { version: 2, ..t01() },
        Scenario { title: "another", ..t01() },
        Scenario { script: &[("stage.rs", "another text")], ..t01() },
        Scenario { needs: &["odd"], ..t01() },
        Scenario {
            checks: &[matrix::scenario::Check { id: "T01.1", demand: matrix::scenario::Demand::SomeRun }],
            ..t01()
        },
        Scenario { mutations: &["broken"], ..t01() },
    ] {
        assert_ne!(hash(changed), before);
    }
    let scenarios = [t01(), t02()];
    let other = matrix::lint::Profile { config_hash: Digest::of(b"other"), ..crate::stage::profile(&[]) };
    let constants = crate::stage::constants();
    let other = matrix::lint::Profile { constants: &constants, ..other };
    assert_ne!(Definition::of(&matrix::lint::lint(0, &scenarios, &other).ok().unwrap()).gate_hash(), before);
}

#[test]
fn gd_05_holdout_needs_a_freeze_record_and_calibration_does_not() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    assert_eq!(code(stage.admit(&holdout(&linted), "run", None)), "matrix_not_frozen");
    stage.run(&calibration(&linted), "calibration", &World::default(), 1);
    // A record of something else does not help.
    let other = [Scenario { version: 2, ..t01() }, t02()];
    stage.freeze(&crate::stage::linted(&other));
    assert_eq!(code(stage.admit(&holdout(&linted), "run", None)), Problem::NotFrozen(String::new()).code());
    stage.freeze(&linted);
    stage.run(&holdout(&linted), "run", &World::default(), 1);
}

#[test]
fn an_enumeration_needs_no_freeze_record() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let selection = Selection { scenarios: vec!["T02".into()], ..Selection::all(Set::Holdout) };
    stage.run(&plan(&linted, selection), "run", &World::default(), 1);
}

/// An admission is for one plan and one folder.
#[test]
fn an_admission_cannot_be_lent() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let (mut folder, admission) = stage.admit(&calibration(&linted), "calibration", None).unwrap();
    let stop = AtomicBool::new(false);
    let world = World::default();
    let lent =
        runner::run(&holdout(&linted), &admission, &world, &mut folder, options(1), &stop, &mut |_| ());
    assert_eq!(code(lent), "matrix_not_frozen");
    assert!(world.ran().is_empty());
    let (mut other, _) = stage.admit(&calibration(&linted), "other", None).unwrap();
    let lent =
        runner::run(&calibration(&linted), &admission, &world, &mut other, options(1), &stop, &mut |_| ());
    assert_eq!(code(lent), "matrix_not_frozen");
}

#[test]
fn holdout_runs_once_per_freeze() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    stage.run(&holdout(&linted), "run", &World::default(), 1);
    // The same folder goes on, and has nothing to do.
    let world = World::default();
    stage.run(&holdout(&linted), "run", &world, 1);
    assert!(world.ran().is_empty());
    // Another folder is another run.
    let narrow = || Selection { indices: vec![(53, 53)], ..Selection::all(Set::Holdout) };
    for plan in [holdout(&linted), plan(&linted, narrow())] {
        assert_eq!(code(stage.admit(&plan, "other", None)), "matrix_holdout_spent");
        fs::remove_dir_all(stage.path("other")).unwrap();
    }
    let (_, admission) = stage.admit(&plan(&linted, narrow()), "other", Some("the disk was full")).unwrap();
    assert!(admission.is_again() && admission.freeze().is_some());
    let records = stage.records();
    assert_eq!(records.of(Kind::Holdout).last().unwrap().text("again"), "the disk was full");
    // It goes on as what it is.
    let (_, admission) = stage.admit(&plan(&linted, narrow()), "other", None).unwrap();
    assert!(admission.is_again());
    // A new freeze has its own holdout.
    let changed = [Scenario { version: 2, ..t01() }, t02()];
    let changed = crate::stage::linted(&changed);
    stage.freeze(&changed);
    stage.run(&holdout(&changed), "new", &World::default(), 1);
}

#[test]
fn shards_of_one_plan_take_different_units() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    for number in 1..=2 {
        let plan = holdout(&linted).with_shard(Shard::new(number, 2).unwrap());
        stage.run(&plan, &format!("shard{number}"), &World::default(), 1);
    }
    let third = holdout(&linted).with_shard(Shard::new(2, 2).unwrap());
    assert_eq!(code(stage.admit(&third, "third", None)), Problem::HoldoutSpent(0).code());
}

/// A folder that was emptied is not the run that it was.
#[test]
fn outcomes_that_were_there_cannot_vanish() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let (world, plan) = (World::default(), holdout(&linted));
    let folder = stage.run(&plan, "run", &world, 1);
    let conclusion = crate::stage::concluded(&linted, &folder, &world, Set::Holdout);
    let gate = plan.definition().gate_hash();
    matrix::verdict::sign(&conclusion, folder.run_id(), gate, &mut stage.records(), identity())
        .unwrap()
        .unwrap();
    drop(folder);
    fs::remove_file(stage.path("run/outcomes.jsonl")).unwrap();
    assert_eq!(code(stage.admit(&plan, "run", None)), Problem::OutcomesLost(0, 0).code());
}

/// A second process is let in by the record of the first, and only into the same plan.
#[test]
fn a_second_process_is_recognised() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let plan = holdout(&linted);
    assert_eq!(code(recognise(&plan, "nobody", &stage.records())), "matrix_not_frozen");
    let (folder, _) = stage.admit(&plan, "run", None).unwrap();
    let admission = recognise(&plan, folder.run_id(), &stage.records()).unwrap();
    let units: Vec<_> = plan.units().cloned().collect();
    let pass = matrix::scenario::Pass { second: true, reload_every: None };
    let world = World::default();
    let stop = AtomicBool::new(false);
    let one = std::num::NonZeroUsize::MIN;
    let outcomes = runner::run_units(&plan, &admission, &units, &world, pass, one, &stop).unwrap();
    assert_eq!(outcomes.len(), units.len());
    let backwards: Vec<String> = units.iter().rev().map(ToString::to_string).collect();
    assert_eq!(world.ran(), backwards);
    let narrow = Selection { indices: vec![(50, 50)], ..Selection::all(Set::Holdout) };
    let narrow = crate::stage::plan(&linted, narrow);
    assert_eq!(code(recognise(&narrow, folder.run_id(), &stage.records())), "matrix_not_frozen");
    let lent = runner::run_units(&narrow, &admission, &[], &world, pass, one, &stop);
    assert_eq!(code(lent), "matrix_not_frozen");
    let foreign = [matrix::Unit::parse("T01/main/mira/3").unwrap()];
    let lent = runner::run_units(&plan, &admission, &foreign, &world, pass, one, &stop);
    assert_eq!(code(lent), "matrix_unit_unknown");
}

#[test]
fn records_form_a_chain_and_say_who_signed() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let first = stage.freeze(&linted);
    assert_eq!(stage.freeze(&linted), first, "the newest record says it already");
    let changed = [Scenario { version: 2, ..t01() }, t02()];
    let beside = BTreeMap::from([("engine".to_owned(), "abc".to_owned())]);
    let other = Identity::from_seed(&[9; 32]);
    let signer = other.public().id().as_str().to_owned();
    let changed = Definition::of(&crate::stage::linted(&changed));
    let second = freeze(&changed, &mut stage.records(), other, &beside).unwrap();
    let records = stage.records();
    assert_eq!(records.all(), [first.clone(), second.clone()]);
    assert_eq!(second.text("previous"), first.head.to_hex());
    assert_eq!((second.number, second.signer.as_str()), (2, signer.as_str()));
    assert_eq!(lines_of(&second).unwrap(), changed.lines);
    let short = matrix::freeze::short(changed.gate_hash());
    assert_eq!(fs::read(stage.path(&format!("records/seeds-{short}.json"))).unwrap(), changed.seeds);
    assert_eq!(
        fs::read(stage.path(&format!("records/thresholds-{short}.json"))).unwrap(),
        changed.thresholds
    );
    // And again the first: the newest is another.
    assert_eq!(stage.freeze(&linted).number, 3);
}

#[test]
fn a_record_that_was_touched_is_refused() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    stage.run(&holdout(&linted), "run", &World::default(), 1);
    let folder = stage.path("records");
    let read = || code(Records::read(&folder));
    assert_eq!(read(), "nothing");
    let touched = |name: &str, from: &str, to: &str| {
        let path = folder.join(name);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let answer = read();
        fs::write(&path, text).unwrap();
        answer
    };
    let broken = Problem::RecordBroken(folder.clone(), "").code();
    assert_eq!(touched("record-0001.ndjson", "\"stage\":0", "\"stage\":1"), broken);
    assert_eq!(
        touched("record-0001.ndjson", "\n", ""),
        "nothing",
        "a missing line end is only a warning of the chain"
    );
    assert_eq!(touched("record-0001.pub.json", "\"vacant_id\":\"z", "\"vacant_id\":\"y"), broken);
    // Records cannot change places, and none can be taken out of the middle.
    let path = |number: u32| folder.join(format!("record-{number:04}.ndjson"));
    let (one, two) = (fs::read(path(1)).unwrap(), fs::read(path(2)).unwrap());
    fs::write(path(1), &two).unwrap();
    assert_eq!(read(), broken);
    fs::remove_file(path(1)).unwrap();
    assert_eq!(read(), Problem::RecordGap(1).code());
    fs::write(path(1), one).unwrap();
    assert_eq!(read(), "nothing");
}

/// A payload that its own key signed may still say what cannot be.
#[test]
fn a_record_that_contradicts_itself_is_refused() {
    let stage = Stage::new();
    let lines = vec![canon::Object::new().with("name", "config").with("sha256", Digest::of(b"config"))];
    let payload = canon::Object::new()
        .with("config_hash", Digest::of(b"config"))
        .with("gate_hash", Digest::of(b"anything"))
        .with("lines", lines);
    let forged = stage.records().append(Kind::Freeze, identity(), |_| Ok(Some(payload)));
    assert_eq!(code(forged), "matrix_record_broken");
}

#[test]
fn a_record_that_is_too_large_is_not_signed() {
    let stage = Stage::new();
    let payload = canon::Object::new().with("text", "x".repeat(70_000));
    let signed = stage.records().append(Kind::Run, identity(), |_| Ok(Some(payload)));
    assert_eq!(code(signed), "matrix_not_signed");
    assert!(stage.records().all().is_empty());
}

/// A crash between key and chain leaves a key that the next record writes over.
#[test]
fn a_key_without_a_chain_is_no_record() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    fs::create_dir(stage.path("records")).unwrap();
    fs::write(stage.path("records/record-0001.pub.json"), "{}").unwrap();
    assert_eq!(stage.freeze(&linted(&scenarios)).number, 1);
}

/// Two that freeze and run at once wait for each other.
#[test]
fn records_of_many_threads_have_places_of_their_own() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    std::thread::scope(|scope| {
        for number in 1..=8 {
            let (stage, linted) = (&stage, &linted);
            scope.spawn(move || {
                let plan = holdout(linted).with_shard(Shard::new(number, 8).unwrap());
                stage.admit(&plan, &format!("shard{number}"), None).unwrap();
            });
        }
    });
    assert_eq!(stage.records().all().len(), 9);
}

#[test]
fn what_is_not_there_is_not_selected() {
    let scenarios = scenarios();
    let linted = linted(&scenarios);
    let of = |selection| code(matrix::plan::Plan::of(&linted, selection, None, Shard::WHOLE));
    let all = || Selection::all(Set::Calibration);
    assert_eq!(of(Selection { scenarios: vec!["V99".into()], ..all() }), "matrix_scenario_unknown");
    assert_eq!(
        of(Selection { indices: vec![(200, 300)], scenarios: vec!["T01".into()], ..all() }),
        "matrix_nothing_selected"
    );
    // What draws on no seed has no indices: asked for by them, it is nothing and not everything.
    assert_eq!(
        of(Selection { indices: vec![(0, 3)], scenarios: vec!["T02".into()], ..all() }),
        "matrix_nothing_selected"
    );
    let unit = matrix::Unit::parse("T01/main/mira/50").unwrap();
    assert_eq!(of(Selection { units: vec![unit], ..all() }), "matrix_unit_unknown");
    let arm = plan(&linted, Selection { arms: vec!["T02/all".into()], ..all() });
    assert_eq!(arm.whole().len(), 5);
    assert_eq!(plan(&linted, Selection { exhaustive: true, ..all() }).whole().len(), 29);
}

#[test]
fn a_folder_that_is_no_folder() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    fs::write(stage.path("file"), "x").unwrap();
    let manifest = calibration(&linted).manifest();
    assert_eq!(code(Folder::open(&stage.path("file"), &manifest)), "matrix_not_written");
    fs::create_dir_all(stage.path("records/record-0001.ndjson")).unwrap();
    assert_eq!(code(Records::read(&stage.path("records"))), "matrix_not_read");
}

//! The runner: threads, second runs, panics, stopping.

use crate::stage::{Stage, World, calibration, code, holdout, linted, options, scenarios};
use matrix::compare::{compare, compare_files};
use matrix::plan::{Plan, Selection};
use matrix::runner::{self, End, Progress};
use matrix::scenario::{Pass, Set};
use matrix::shard::Shard;
use matrix::store::write_outcomes;
use matrix::{Outcome, Problem};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let bytes = |threads: usize| {
        stage.run(&calibration(&linted), &format!("run{threads}"), &World::default(), threads).sorted()
    };
    let one = bytes(1);
    assert_eq!(one.iter().filter(|byte| **byte == b'\n').count(), 25);
    for threads in [2, 5, 64] {
        assert_eq!(bytes(threads), one, "{threads}");
    }
}

#[test]
fn every_unit_runs_twice_and_the_second_time_the_other_way_round() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let world = World::default();
    let folder = stage.run(&calibration(&linted), "run", &world, 1);
    let ran = world.ran();
    let forwards: Vec<String> = calibration(&linted).units().map(ToString::to_string).collect();
    // A window is a batch of four: four forwards, the same four backwards.
    for (window, units) in ran.chunks(8).zip(forwards.chunks(4)) {
        let (first, second) = window.split_at(units.len());
        assert_eq!(first, units);
        assert_eq!(second, units.iter().rev().cloned().collect::<Vec<_>>());
    }
    assert_eq!(ran.len(), 50);
    for outcome in folder.outcomes().values() {
        let twice = outcome.twice.as_ref().unwrap();
        assert_eq!(twice.varied, ["order of the runs", "save and load every 5 ticks"]);
        assert_eq!(twice.differs, None);
    }
}

fn differing(fault: &'static str) -> Vec<Outcome> {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let folder = stage.run(&calibration(&linted), "run", &World::with(fault), 1);
    let differs = |outcome: &&Outcome| outcome.twice.as_ref().unwrap().differs.is_some();
    folder.outcomes().values().filter(differs).cloned().collect()
}

/// State that one run leaves to the next, and state that is not in what is saved.
#[test]
fn second_runs_find_what_they_are_made_for() {
    for fault in ["carried", "unsaved"] {
        let differing = differing(fault);
        assert!(!differing.is_empty(), "{fault}");
        let fields: BTreeSet<String> =
            differing.iter().filter_map(|one| one.twice.clone()?.differs).collect();
        assert!(fields.contains("state_hash") || fields.contains("counts.drinks"), "{fields:?}");
        assert!(differing.iter().all(Outcome::is_failing));
    }
}

#[test]
fn a_panic_fails_its_unit_and_no_other() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let folder = stage.run(&calibration(&linted), "run", &World::with("panic"), 2);
    let failing: Vec<&Outcome> = folder.outcomes().values().filter(|outcome| outcome.is_failing()).collect();
    assert_eq!(failing.len(), 2, "index 3 of both identities");
    for outcome in failing {
        assert_eq!(outcome.unit.index(), Some(3));
        let failure = &outcome.failures[0];
        assert_eq!(
            (failure.check.as_str(), failure.code.as_str()),
            (runner::RUN_CHECK, "matrix_unit_panicked")
        );
    }
}

#[test]
fn failing_units_leave_their_replay_records() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let folder = stage.run(&holdout(&linted), "run", &World::with("broken"), 2);
    for identity in ["mira", "niko"] {
        let path = folder.path().join(format!("failed/T01+main+{identity}+53"));
        let record = std::fs::read_to_string(path.with_extension("record")).unwrap();
        let seed = room::draw::seed("T01", 53);
        assert_eq!(record, format!("replay T01/main/{identity}/53 Some({seed})\n"));
        let line = std::fs::read(path.with_extension("json")).unwrap();
        assert!(Outcome::parse(line.strip_suffix(b"\n").unwrap()).unwrap().is_failing());
    }
    assert_eq!(std::fs::read_dir(folder.path().join("failed")).unwrap().count(), 4);
}

#[test]
fn it_stops_between_units_and_goes_on() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let plan = calibration(&linted);
    let stop = AtomicBool::new(false);
    let (mut folder, admission) = stage.admit(&plan, "run", None).unwrap();
    let mut seen: Vec<Progress> = Vec::new();
    let end =
        runner::run(&plan, &admission, &World::default(), &mut folder, options(1), &stop, &mut |progress| {
            seen.push(progress.clone());
            stop.store(progress.done >= 6, Ordering::Relaxed);
        });
    assert_eq!(end.unwrap(), End::Stopped);
    let done = folder.outcomes().len();
    assert!((6..25).contains(&done), "{done}");
    assert_eq!((seen[0].done, seen[0].total), (0, 25));
    assert!(seen.is_sorted_by_key(|progress| progress.done));
    drop(folder);
    let world = World::default();
    let folder = stage.run(&plan, "run", &world, 1);
    assert_eq!((folder.resumed(), folder.outcomes().len()), (done, 25));
    assert_eq!(world.ran().len(), 2 * (25 - done), "what was done is not done again");
}

#[test]
fn once_is_said() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let plan = Plan::of(&linted, Selection::all(Set::Calibration), None, Shard::WHOLE).unwrap();
    let world = World::default();
    let folder = stage.run(&plan, "run", &world, 2);
    assert_eq!(world.ran().len(), 25);
    assert!(folder.outcomes().values().all(|outcome| outcome.twice.is_none()));
}

/// Two processes write files, which are compared.
#[test]
fn files_of_two_processes_are_compared() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let plan = calibration(&linted);
    let (_, admission) = stage.admit(&plan, "run", None).unwrap();
    let units: Vec<_> = plan.units().cloned().collect();
    let outcomes = |world: &World, second: bool, threads: usize| {
        let pass = Pass { second, reload_every: second.then_some(7) };
        let threads = NonZeroUsize::new(threads).unwrap();
        runner::run_units(&plan, &admission, &units, world, pass, threads, &AtomicBool::new(false)).unwrap()
    };
    let (left, right) = (stage.path("left.jsonl"), stage.path("right.jsonl"));
    write_outcomes(&left, &outcomes(&World::default(), false, 2)).unwrap();
    write_outcomes(&right, &outcomes(&World::default(), true, 1)).unwrap();
    let comparison = compare_files(&left, &right).unwrap();
    assert!(comparison.is_equal(), "{comparison:?}");
    assert_eq!(comparison.compared, 25);
    write_outcomes(&right, &outcomes(&World::with("unsaved"), true, 1)).unwrap();
    let comparison = compare_files(&left, &right).unwrap();
    assert!(!comparison.is_equal() && comparison.differ.iter().all(|(unit, _)| unit.scenario == "T01"));
    let mut fewer = outcomes(&World::default(), false, 1);
    let first = fewer.pop_first().unwrap().0;
    write_outcomes(&right, &fewer).unwrap();
    assert_eq!(compare_files(&left, &right).unwrap().alone, [first]);
    assert!(!compare(&Default::default(), &Default::default()).is_equal(), "nothing was compared");
    assert_eq!(
        code(compare_files(&left, &stage.path("absent"))),
        "nothing",
        "a file that is not there has no outcome"
    );
}

/// A thread that cannot be started is a problem and no silent loss of speed.
#[test]
fn threads_that_cannot_be_started_are_said() {
    let error = std::io::Error::other("no more threads");
    assert_eq!(Problem::ThreadNotStarted(error).code(), "matrix_thread_not_started");
}

//! Shards and their merge: the bytes and the verdict hash of the run that was never apart.

use crate::stage::{Stage, World, calibration, code, concluded, holdout, linted, scenarios, standing};
use matrix::Problem;
use matrix::scenario::Set;
use matrix::shard::{Shard, merge};
use matrix::store::Folder;
use matrix::verdict::{Standing, conclude};
use std::fs;
use std::path::PathBuf;

fn sharded(stage: &Stage, of: u64) -> Vec<PathBuf> {
    let scenarios = scenarios();
    let linted = linted(&scenarios);
    let run = |number: u64| {
        let name = format!("shard{number}of{of}");
        let plan = calibration(&linted).with_shard(Shard::new(number, of).unwrap());
        stage.run(&plan, &name, &World::default(), 1);
        stage.path(&name)
    };
    (1..=of).map(run).collect()
}

#[test]
fn the_merge_is_the_run_that_was_never_apart() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let world = World::default();
    let whole = stage.run(&holdout(&linted), "whole", &world, 2);
    let expected = concluded(&linted, &whole, &world, Set::Holdout);
    for of in [1, 2, 3, 7, 30] {
        let stage = Stage::new();
        stage.freeze(&linted);
        let shard = |number: u64| {
            let plan = holdout(&linted).with_shard(Shard::new(number, of).unwrap());
            stage.run(&plan, &format!("{number}"), &World::default(), 1).path().to_path_buf()
        };
        let mut folders: Vec<PathBuf> = (1..=of).map(shard).collect();
        folders.reverse();
        let merged = merge(&folders).unwrap().complete().unwrap();
        assert_eq!(merged.sorted(), whole.sorted(), "{of}");
        let conclusion = conclude(&linted, &world, &merged.outcomes, &standing(Set::Holdout)).unwrap();
        assert_eq!(conclusion.report.verdict_hash(), expected.report.verdict_hash());
        assert_eq!(conclusion.report.colour().exit_code(), 0);
    }
}

#[test]
fn a_missing_shard_is_named_and_never_green() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let folders = sharded(&stage, 3);
    let merged = merge(&folders[..2]).unwrap();
    assert_eq!(merged.missing, [3]);
    let mut standing = standing(Set::Calibration);
    standing.frozen = true;
    let conclusion = conclude(&linted, &World::default(), &merged.outcomes, &standing).unwrap();
    assert_eq!(conclusion.report.colour().exit_code(), 2);
    let found = conclusion.judgements.iter().flat_map(|judgement| &judgement.findings);
    assert!(found.into_iter().any(|finding| finding.reason == "matrix_incomplete"));
    match merged.complete() {
        Err(Problem::ShardMissing(missing)) => assert_eq!(missing, [3]),
        other => panic!("{other:?}"),
    }
    assert_eq!(Problem::ShardMissing(Vec::new()).code(), "matrix_shard_missing");
    // A shard that is there and not complete is missing too.
    let outcomes = folders[2].join("outcomes.jsonl");
    let text = fs::read_to_string(&outcomes).unwrap();
    fs::write(&outcomes, text.split_once('\n').unwrap().1).unwrap();
    assert_eq!(merge(&folders).unwrap().missing, [3]);
}

#[test]
fn folders_of_the_same_shard_overlap_and_may_not_contradict() {
    let stage = Stage::new();
    let mut folders = sharded(&stage, 2);
    folders.push(sharded(&stage, 1).remove(0));
    let merged = merge(&folders).unwrap();
    assert!(merged.missing.is_empty());
    let outcomes = folders[0].join("outcomes.jsonl");
    let text = fs::read_to_string(&outcomes).unwrap();
    fs::write(&outcomes, text.replacen("\"ticks\":", "\"ticks\":9", 1)).unwrap();
    assert_eq!(code(merge(&folders)), "matrix_contradiction");
}

#[test]
fn folders_of_different_manifests_do_not_merge() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let mut folders = sharded(&stage, 2);
    let plan = crate::stage::plan(
        &linted,
        matrix::plan::Selection { indices: vec![(0, 3)], ..matrix::plan::Selection::all(Set::Calibration) },
    );
    stage.run(&plan, "narrow", &World::default(), 1);
    folders.push(stage.path("narrow"));
    assert_eq!(code(merge(&folders)), "matrix_other_manifest");
    assert_eq!(code(merge(&[stage.path("nowhere")])), "matrix_foreign_folder");
    assert_eq!(code(merge(&[])), "matrix_nothing_selected");
    // Reading takes no lock: a run that goes on can be looked at.
    let manifest = calibration(&linted).with_shard(Shard::new(1, 2).unwrap()).manifest();
    let _held = Folder::open(&folders[0], &manifest).unwrap();
    assert!(merge(&folders[..2]).is_ok());
}

/// A merge that was written is a run folder that reads as the same, and remembers whose it is.
#[test]
fn a_merge_is_written_and_read_again() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.freeze(&linted);
    let world = World::with("broken");
    let shard = |number: u64| {
        let plan = holdout(&linted).with_shard(Shard::new(number, 2).unwrap());
        stage.run(&plan, &format!("shard{number}"), &world, 1).path().to_path_buf()
    };
    let folders: Vec<PathBuf> = (1..=2).map(shard).collect();
    let merged = merge(&folders).unwrap().complete().unwrap();
    merged.write(&stage.path("merged"), &folders).unwrap();
    let again = merge(&[stage.path("merged")]).unwrap().complete().unwrap();
    assert_eq!(again.sorted(), merged.sorted());
    assert_eq!((again.run_ids.len(), &again.run_ids), (2, &merged.run_ids));
    assert_eq!(again.run_id(), merged.run_id());
    assert_eq!(fs::read_dir(stage.path("merged/failed")).unwrap().count(), 4);
    assert_eq!(code(merged.write(&stage.path("merged"), &folders)), "matrix_not_written");
    // Its standing follows from the records of both runs.
    let standing = Standing::of(&linted, &again, &stage.records()).unwrap();
    assert!(standing.frozen && !standing.again && standing.set == Set::Holdout);
    let nobody = matrix::records::Records::read(&stage.path("nowhere")).unwrap();
    assert!(!Standing::of(&linted, &again, &nobody).unwrap().frozen);
    let other = [matrix::Scenario { version: 2, ..crate::stage::t01() }, crate::stage::t02()];
    let other = crate::stage::linted(&other);
    assert_eq!(code(Standing::of(&other, &again, &stage.records())), "matrix_other_manifest");
}

//! The run folder: what survives, and what is refused.

use crate::stage::{Stage, World, calibration, code, linted, plan, scenarios};
use matrix::plan::Selection;
use matrix::scenario::Set;
use matrix::store::Folder;
use matrix::{Outcome, Problem};
use std::fs;
use std::path::Path;

/// A line that was cut anywhere is dropped, its unit runs again, and nothing else does.
#[test]
fn a_torn_last_line_is_dropped_wherever_it_was_cut() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let plan = calibration(&linted);
    let path = stage.path("run/outcomes.jsonl");
    let sorted = stage.run(&plan, "run", &World::default(), 1).sorted();
    let whole = fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let unit = Outcome::parse(&whole[last..whole.len() - 1]).unwrap().unit.to_string();
    for end in last..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let world = World::default();
        let folder = stage.run(&plan, "run", &world, 1);
        assert_eq!(world.ran(), [unit.clone(), unit.clone()], "cut at {end}");
        assert_eq!(folder.sorted(), sorted);
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
    // What a crash of the machine may leave behind a file: zeros.
    fs::write(&path, [&whole[..], &[0; 100]].concat()).unwrap();
    let world = World::default();
    assert_eq!(stage.run(&plan, "run", &world, 1).sorted(), sorted);
    assert!(world.ran().is_empty());
}

fn damaged(change: impl Fn(&Path, Vec<u8>)) -> &'static str {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let plan = calibration(&linted);
    stage.run(&plan, "run", &World::default(), 1);
    let path = stage.path("run/outcomes.jsonl");
    change(&path, fs::read(&path).unwrap());
    code(Folder::open(&stage.path("run"), &plan.manifest()))
}

#[test]
fn a_whole_line_that_is_no_outcome_is_refused() {
    let unreadable = Problem::OutcomeUnreadable(Default::default(), 0).code();
    let prepend = |line: &'static [u8]| {
        move |path: &Path, bytes: Vec<u8>| fs::write(path, [line, &bytes].concat()).unwrap()
    };
    assert_eq!(damaged(prepend(b"{}\n")), unreadable);
    assert_eq!(damaged(prepend(b"\n")), unreadable);
    assert_eq!(damaged(|path, bytes| fs::write(path, &bytes[5..]).unwrap()), unreadable);
}

#[test]
fn equal_lines_are_one_and_others_contradict() {
    assert_eq!(damaged(|path, bytes| fs::write(path, [&bytes[..], &bytes[..]].concat()).unwrap()), "nothing");
    let other = |path: &Path, bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap();
        let first = text.lines().next().unwrap().replace("\"ticks\":", "\"ticks\":9");
        fs::write(path, format!("{text}{first}\n")).unwrap();
    };
    assert_eq!(damaged(other), Problem::Contradiction(String::new()).code());
}

#[test]
fn a_folder_is_of_one_manifest() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    stage.run(&calibration(&linted), "run", &World::default(), 1);
    let refused =
        |selection: Selection| match Folder::open(&stage.path("run"), &plan(&linted, selection).manifest()) {
            Err(Problem::OtherManifest(_, member)) => member,
            other => panic!("{:?}", other.err().map(|problem| problem.code())),
        };
    assert_eq!(refused(Selection::all(Set::Holdout)), "set");
    assert_eq!(refused(Selection { exhaustive: true, ..Selection::all(Set::Calibration) }), "exhaustive");
    assert_eq!(
        refused(Selection { indices: vec![(0, 3)], ..Selection::all(Set::Calibration) }),
        "plan_sha256"
    );
    let other = [matrix::Scenario { version: 2, ..crate::stage::t01() }, crate::stage::t02()];
    let other = crate::stage::linted(&other);
    assert_eq!(
        code(Folder::open(&stage.path("run"), &calibration(&other).manifest())),
        "matrix_other_manifest"
    );
}

#[test]
fn a_folder_of_something_else_is_refused() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let manifest = calibration(&linted).manifest();
    fs::create_dir(stage.path("home")).unwrap();
    fs::write(stage.path("home/thesis.tex"), "x").unwrap();
    assert_eq!(code(Folder::open(&stage.path("home"), &manifest)), "matrix_foreign_folder");
    assert!(stage.path("home/thesis.tex").exists());
    for manifest_text in ["[]", "{}", "not json"] {
        let path = stage.path("odd");
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("manifest.json"), manifest_text).unwrap();
        assert_eq!(code(Folder::open(&path, &manifest)), "matrix_foreign_folder", "{manifest_text}");
    }
    assert_eq!(code(Folder::peek(&stage.path("nowhere"))), "matrix_foreign_folder");
    // What a crash leaves before the manifest is no obstacle.
    fs::create_dir(stage.path("fresh")).unwrap();
    fs::write(stage.path("fresh/lock"), "").unwrap();
    fs::write(stage.path("fresh/.touchstone-x"), "{").unwrap();
    assert_eq!(code(Folder::open(&stage.path("fresh"), &manifest)), "nothing");
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let manifest = calibration(&linted).manifest();
    let first = Folder::open(&stage.path("run"), &manifest).unwrap();
    assert_eq!(code(Folder::open(&stage.path("run"), &manifest)), "matrix_folder_locked");
    drop(first);
    assert_eq!(code(Folder::open(&stage.path("run"), &manifest)), "nothing");
}

//! kill -9 in the middle of a run, then the same run again: nothing acknowledged is lost, nothing finished runs twice.

use crate::stage::{Stage, World, calibration, linted, options, scenarios};
use matrix::runner::{self, End};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;

/// In a child process: the folder to run into.
const FOLDER: &str = "MATRIX_KILL_FOLDER";
const CHILD: &str = "kill::the_process_that_is_killed";

/// Started by the test below, with a folder; alone it has nothing to do.
#[test]
fn the_process_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let scenarios = scenarios();
    let linted = linted(&scenarios);
    let plan = calibration(&linted);
    let stage = Stage::new();
    let mut folder = matrix::store::Folder::open(&folder, &plan.manifest()).unwrap();
    let admission =
        matrix::admission::admit(&plan, &folder, &mut stage.records(), None, crate::stage::identity())
            .unwrap();
    let world = World::default();
    let stop = AtomicBool::new(false);
    // Each line waits for the one who kills, so that a kill falls where it was meant to.
    let end = runner::run(&plan, &admission, &world, &mut folder, options(1), &stop, &mut |progress| {
        println!("step: {}", progress.done);
        std::io::stdout().flush().unwrap();
        let mut answer = [0];
        let _ = std::io::Read::read(&mut std::io::stdin(), &mut answer);
    });
    assert_eq!(end.unwrap(), End::Finished);
}

fn child(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", CHILD, "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Lets the child take `steps` steps, then kills it while it may be doing anything. True when it ended by itself.
fn steps(mut child: Child, steps: usize) -> bool {
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ended = true;
    for step in 0.. {
        if !lines.by_ref().any(|line| line.unwrap().contains("step: ")) {
            break;
        }
        if step == steps {
            ended = false;
            // It is let go first: the kill races with the writes of the next unit.
            let _ = stdin.write_all(b"x");
            child.kill().unwrap();
            break;
        }
        let _ = stdin.write_all(b"x");
    }
    let status = child.wait().unwrap();
    assert!(!ended || status.success(), "{status}");
    ended
}

fn whole_lines(path: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or(0, |at| at + 1);
    text[..whole].lines().map(str::to_owned).collect()
}

#[test]
fn kill_9_loses_nothing_and_repeats_nothing() {
    let (stage, scenarios) = (Stage::new(), scenarios());
    let linted = linted(&scenarios);
    let plan = calibration(&linted);
    let expected = stage.run(&plan, "reference", &World::default(), 1).sorted();
    let mut kills = 0;
    // Bounded: a folder is killed with growing steps until it ends, from several starts.
    for start in 0..4 {
        let folder = stage.path(&format!("killed{start}"));
        let mut before = BTreeSet::new();
        for round in 0..30 {
            let ended = steps(child(&folder), start + round);
            let after = whole_lines(&folder.join("outcomes.jsonl"));
            assert!(after.is_superset(&before), "an acknowledged outcome is gone");
            before = after;
            if ended {
                break;
            }
            kills += 1;
        }
        // Whatever is left is run here, and nothing else is.
        let world = World::default();
        let done = before.len();
        let resumed = {
            let mut folder = matrix::store::Folder::open(&folder, &plan.manifest()).unwrap();
            let admission = matrix::admission::admit(
                &plan,
                &folder,
                &mut stage.records(),
                None,
                crate::stage::identity(),
            )
            .unwrap();
            let stop = AtomicBool::new(false);
            runner::run(&plan, &admission, &world, &mut folder, options(2), &stop, &mut |_| ()).unwrap();
            folder.sorted()
        };
        assert_eq!(resumed, expected);
        assert_eq!(world.ran().len(), 2 * (25 - done), "a finished unit ran again");
        let finished: BTreeSet<String> = world.ran().into_iter().collect();
        assert!(before.iter().all(|line| !finished.iter().any(|unit| line.contains(&format!("\"{unit}\"")))));
    }
    assert!(kills > 8, "no kill fell inside a run: {kills}");
}

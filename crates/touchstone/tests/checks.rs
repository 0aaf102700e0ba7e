//! Candidates against tests and suites: the peer's vectors, probes that look for what is expected, other languages,
//! gauge and mutation (desk specification 15 to 17, 31.3, 31.5).
//!
//! They stand here because the sandbox starts this binary again as its keeper.

#![allow(clippy::unwrap_used)]

/// The peer's two-process cases.
#[path = "checks/library.rs"]
mod library;

use check::Place;
use desk::sandbox::{Choice, Establish, Level, Sandbox};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// A limit that no honest case comes near, on any machine.
const PATIENT: Duration = Duration::from_secs(60);

/// The real interpreter behind `python3`: version managers put a slow shell script in its place.
fn python() -> &'static PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| {
        let asked = std::env::var_os("TOUCHSTONE_TEST_PYTHON").unwrap_or_else(|| "python3".into());
        let answer = Command::new(asked).args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
        PathBuf::from(String::from_utf8(answer.stdout).unwrap().trim())
    })
}

fn sandbox(choice: Choice) -> Sandbox {
    let helper = Some(env!("CARGO_BIN_EXE_touchstone").into());
    Establish { helper, ..Establish::new(choice, None) }.run().unwrap()
}

/// The best place that this machine has.
fn place() -> Place {
    Place::new(sandbox(Choice::Auto)).unwrap().with_python(python())
}

/// A place at each level that this machine has, `none` too.
fn places() -> Vec<Place> {
    let helper = || Some(PathBuf::from(env!("CARGO_BIN_EXE_touchstone")));
    let mut all: Vec<Place> = Vec::new();
    for (choice, forbid_userns) in [(Choice::Auto, false), (Choice::Auto, true), (Choice::None, false)] {
        match (Establish { helper: helper(), forbid_userns, ..Establish::new(choice, None) }).run() {
            Ok(sandbox) if all.iter().any(|place| place.level() == sandbox.level()) => {}
            Ok(sandbox) => all.push(Place::new(sandbox).unwrap().with_python(python())),
            Err(why) => vectors::skip("a level of the sandbox", &why.to_string()),
        }
    }
    assert!(all.iter().any(|place| place.level() == Level::None));
    all
}

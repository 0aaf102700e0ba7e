//! Candidates against tests and suites: the peer's vectors, probes that look for what is expected, other languages,
//! gauge and mutation (desk specification 15 to 17, 31.3, 31.5).
//!
//! They stand here because the sandbox starts this binary again as its keeper.

#![allow(clippy::unwrap_used)]

/// A public bank of problems.
#[path = "checks/bank.rs"]
mod bank;
/// The peer's two-process cases.
#[path = "checks/library.rs"]
mod library;

/// What a suite notices of small mistakes.
#[path = "checks/mutation.rs"]
mod mutation;
/// Suites that are data against candidates.
#[path = "checks/native.rs"]
mod native;
/// The same suites and candidates here and at the peer.
#[path = "checks/peer.rs"]
mod peer;
/// Candidates that look for what is expected.
#[path = "checks/probes.rs"]
mod probes;

use check::{Candidate, Evaluator, Options, Place, Reuse};
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

/// Something that no candidate knows and every probe recognises.
fn mark() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let digest = canon::Digest::of(format!("{}-{number}", std::process::id()).as_bytes()).to_hex();
    format!("EXPECTED_{}", &digest[..32])
}

fn evaluator(place: &Place, reuse: Reuse) -> Evaluator<'_> {
    Evaluator::new(place, Options { timeout: PATIENT, reuse, ..Options::default() })
}

/// Whether an honest candidate still passes and a wrong one still fails.
fn honest(evaluator: &mut Evaluator<'_>) -> bool {
    let suite = Texts::new("twice", &[("[4]", "8")]);
    let mut run = |source: &str| evaluator.evaluate(&suite, &Candidate::python(source)).unwrap().ok;
    run("def twice(x):\n    return 2 * x\n") && !run("def twice(x):\n    return 3 * x\n")
}

/// A suite whose expected values are compared as Python's `==` compares them.
struct Texts {
    entry_point: String,
    tests: Vec<(String, String)>,
}

impl Texts {
    fn new(entry_point: &str, tests: &[(&str, &str)]) -> Texts {
        let own = |(arguments, expected): &(&str, &str)| ((*arguments).to_owned(), (*expected).to_owned());
        Texts { entry_point: entry_point.to_owned(), tests: tests.iter().map(own).collect() }
    }
}

impl check::Suite for Texts {
    fn entry_point(&self) -> &str {
        &self.entry_point
    }

    fn tests(&self) -> usize {
        self.tests.len()
    }

    fn arguments(&self, test: usize) -> &str {
        &self.tests[test].0
    }

    fn accepts(&self, test: usize, value: &str) -> Option<bool> {
        let expected = suite::literal::parse(&self.tests[test].1).unwrap();
        suite::literal::parse(value).ok().map(|value| suite::literal::equal(&value, &expected))
    }
}

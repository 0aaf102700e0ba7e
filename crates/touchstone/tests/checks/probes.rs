//! Candidates that look for what is expected, or forge that they were right. Their sources lie in `probes/`.
//!
//! Each has to get through the control, a runner as one writes it without a second thought: a probe that could not
//! succeed anywhere would prove nothing. None gets through ours, at any confined level, in any of three ways to run it.

use super::{PATIENT, Texts, evaluator, honest, mark, places, python};
use check::library::{PythonCheck, judge_python};
use check::{Candidate, Detail, Reuse};
use desk::sandbox::Level;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/checks/probes")
}

/// Name and text of each probe.
fn probes() -> Vec<(String, String)> {
    let common = std::fs::read_to_string(folder().join("seek.py")).unwrap();
    let mut all: Vec<(String, String)> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .filter(|(name, _)| !matches!(name.as_str(), "seek" | "control"))
        .map(|(name, path)| (name, format!("{common}\n\n{}", std::fs::read_to_string(path).unwrap())))
        .collect();
    all.sort();
    all
}

/// Whether the naive runner takes the candidate for right.
fn control_accepts(source: &str, expected: &str) -> bool {
    let folder_of_run = tempfile::tempdir().unwrap();
    let candidate = folder_of_run.path().join("candidate.py");
    std::fs::write(&candidate, source).unwrap();
    let mut command = Command::new(python());
    command.args(["-S".as_ref(), folder().join("control.py").as_os_str(), candidate.as_os_str()]);
    command.arg(expected).env("NAIVE_EXPECTED", expected).env("TMPDIR", folder_of_run.path());
    command
        .env("HOME", folder_of_run.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(folder_of_run.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().unwrap().success()
}

#[test]
fn every_probe_gets_through_a_naive_runner() {
    let all = probes();
    assert!(all.len() >= 20, "{} probes", all.len());
    let failing: Vec<&String> =
        all.iter().filter(|(_, source)| !control_accepts(source, &mark())).map(|(name, _)| name).collect();
    assert_eq!(failing, Vec::<&String>::new());
    assert!(!control_accepts("def f(x):\n    return 'nothing'\n", &mark()), "the control accepts anything");
}

/// The suite that a probe is given: it must fail at the first test. What it seeks is also the argument of the second.
fn suite(mark: &str) -> Texts {
    Texts::new("f", &[("['now']", &format!("'{mark}'")), (&format!("['{mark}']"), &format!("'{mark}'"))])
}

fn no_probe_gets_through(reuse: Reuse) {
    for place in places().iter().filter(|place| place.level() > Level::None) {
        let mut evaluator = evaluator(place, reuse);
        for (name, source) in probes() {
            let mark = mark();
            let seen = evaluator.evaluate(&suite(&mark), &Candidate::python(source)).unwrap();
            let shown = format!("{name} at {:?}: {seen:?}", place.level());
            assert!(!seen.ok && seen.first_failing_test.is_none_or(|test| test == 0), "{shown}");
            assert!(seen.detail.is_some() && !shown.contains(&mark), "{shown}");
            assert!(honest(&mut evaluator), "an honest candidate after {name}");
        }
    }
}

#[test]
fn no_probe_gets_through_a_fresh_process() {
    no_probe_gets_through(Reuse::Fresh);
}

#[test]
fn no_probe_gets_through_a_forked_process() {
    no_probe_gets_through(Reuse::Fork);
}

/// The library check lets every one of them through its screen, which is no boundary, and refuses it all the same.
#[test]
fn no_probe_gets_through_the_library_check() {
    let imports = "atexit ctypes gc importlib inspect json operator os re select signal sys threading time";
    let imports: Vec<String> = imports.split(' ').map(str::to_owned).collect();
    let places = places();
    let confined = places.iter().filter(|place| place.level() > Level::None);
    for (place, (name, source)) in
        confined.flat_map(|place| probes().into_iter().map(move |one| (place, one)))
    {
        let mark = mark();
        let test = format!("assert f('now') == '{mark}'");
        let check =
            PythonCheck { timeout: PATIENT, allowed_imports: &imports, ..PythonCheck::new(&source, &test) };
        let checked = judge_python(place, &check).unwrap();
        let refused = checked.refused.map(|(detail, _)| detail);
        assert_eq!(refused, Some(Detail::TestFailed), "{name} at {:?}", place.level());
    }
}

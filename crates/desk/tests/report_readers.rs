//! The readers against real runners: the worked examples of `examples/suites`, started directly and not in the sandbox,
//! and node's TAP against node's JUnit.
//!
//! A runner that is not installed is named on standard error, and its test says nothing about it.

#![allow(clippy::disallowed_methods, reason = "shell ring: this test starts programs and keeps folders")]

use desk::command_suite::config::{Check, Counts, Cwd, Kind, Paths, parse};
use desk::command_suite::judge::{Ended, Evidence, ReportFile, judge_check};
use desk::command_suite::{CheckResult, Verdict, isolation};
use desk::report::{ExitStatus, Meaning, Outcome};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// Finds a program on the path, or says that the test is skipped.
fn tool(test: &str, name: &str, probe: &[&str]) -> Option<PathBuf> {
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file());
    let works = found.filter(|path| {
        let status = Command::new(path).args(probe).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    });
    if works.is_none() {
        vectors::skip(test, &format!("{name} {} not installed", probe.join(" ")));
    }
    works
}

/// A python that has pytest: `TOUCHSTONE_PYTEST_PYTHON`, or the one on the path.
fn python_with_pytest(test: &str) -> Option<PathBuf> {
    match env::var_os("TOUCHSTONE_PYTEST_PYTHON") {
        Some(path) => Some(PathBuf::from(path)),
        None => tool(test, "python3", &["-I", "-m", "pytest", "--version"]),
    }
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/suites").canonicalize().expect("the examples")
}

/// Copies a folder without following anything: examples hold regular files only.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() { copy(&path, &target) } else { _ = fs::copy(&path, &target).expect("a copy") }
    }
}

fn files_below(root: &Path, folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(root, &path, out);
        } else {
            out.push(path.strip_prefix(root).expect("below the root").to_owned());
        }
    }
}

/// Runs the one check of an example on one of its deliveries. With `hide`, what the desk hides is left out first.
fn run_example(example: &str, delivery: &str, program: &Path, hide: bool) -> CheckResult {
    let temp = tempfile::tempdir().expect("a folder");
    let here = |name: &str| temp.path().join(name);
    copy(&examples().join(example).join("suite"), &here("suite"));
    copy(&examples().join(example).join(delivery), &here("workspace"));
    let (suite, check, counts) = read_suite(&here("suite"));
    if hide {
        let mut paths = Vec::new();
        files_below(&here("workspace"), &here("workspace"), &mut paths);
        for hidden in isolation::hidden(&paths, &suite).expect("valid globs") {
            fs::remove_file(here("workspace").join(hidden.path)).expect("a file");
        }
    }
    for name in ["scratch", "reports"] {
        fs::create_dir(here(name)).expect("a folder");
    }
    run_check(&check, counts, program, &here)
}

fn read_suite(folder: &Path) -> (Vec<String>, Check, Counts) {
    let suite = parse(&fs::read(folder.join("suite.toml")).expect("suite.toml")).expect("a valid suite");
    match suite.kind {
        Kind::Commands { counts, mut checks } => (suite.allow, checks.remove(0), counts),
        Kind::Python { .. } => panic!("a command suite"),
    }
}

fn run_check(check: &Check, counts: Counts, program: &Path, here: &dyn Fn(&str) -> PathBuf) -> CheckResult {
    let (suite, workspace, report, scratch) =
        (here("suite"), here("workspace"), here("reports").join("report"), here("scratch"));
    let paths = Paths {
        suite: suite.as_os_str(),
        workspace: workspace.as_os_str(),
        report: report.as_os_str(),
        scratch: scratch.as_os_str(),
    };
    let args: Vec<OsString> = check.run.iter().skip(1).map(|arg| arg.expand(&paths)).collect();
    let cwd = if check.cwd == Cwd::Suite { &suite } else { &workspace };
    let mut command = Command::new(program);
    command.args(args).current_dir(cwd).env_remove("NODE_OPTIONS").env_remove("NODE_TEST_CONTEXT");
    // What this test's own cargo put there would reach the cargo below it.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_") && text != "CARGO_HOME" || text.starts_with("RUSTC") {
            command.env_remove(&name);
        }
    }
    let output = command.output().expect("the program starts");
    let bytes = fs::read(&report).ok();
    let evidence = Evidence {
        ended: Ended::Status(exit_status(output.status)),
        stdout: &output.stdout,
        stdout_truncated: false,
        report: bytes.as_deref().map_or(ReportFile::Absent, ReportFile::Bytes),
    };
    let result = judge_check(check, counts, &evidence);
    eprintln!("{result:#?}\n{}", String::from_utf8_lossy(&output.stderr));
    result
}

fn exit_status(status: std::process::ExitStatus) -> ExitStatus {
    use std::os::unix::process::ExitStatusExt;
    status.code().map_or_else(|| ExitStatus::Signaled(status.signal().unwrap_or(0)), ExitStatus::Exited)
}

#[track_caller]
fn assert_accepted(result: &CheckResult, passed: u64) {
    assert_eq!(result.verdict, Verdict::Accepted);
    assert_eq!(result.tally().map(|tally| tally.passed), Some(passed));
}

#[track_caller]
fn assert_refused(result: &CheckResult, expected: &[&str]) {
    let Verdict::Refused(reasons) = &result.verdict else { panic!("{:?}", result.verdict) };
    let codes: Vec<&str> = reasons.iter().map(|reason| reason.what.code()).collect();
    assert_eq!(codes, expected);
}

#[test]
fn every_example_is_whole() {
    let mut seen = 0;
    for entry in fs::read_dir(examples()).expect("the examples") {
        let folder = entry.expect("an entry").path();
        if folder.is_dir() {
            let (_, check, _) = read_suite(&folder.join("suite"));
            assert!(!check.expect.is_empty() && check.min.is_some(), "{}", folder.display());
            assert!(!check.program_is_in_delivery());
            for part in ["good", "bad", "README.md"] {
                assert!(folder.join(part).exists(), "{} has {part}", folder.display());
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 4);
}

#[test]
fn pytest_example_pc_05_pc_20() {
    let Some(python) = python_with_pytest("pytest_example_pc_05_pc_20") else { return };
    assert_accepted(&run_example("pytest", "good", &python, true), 3);
    // The flags alone hold as well: the delivery's conftest.py and pytest.ini are still there.
    assert_refused(&run_example("pytest", "bad", &python, false), &["report_missing"]);
    assert_refused(&run_example("pytest", "bad", &python, true), &["report_missing"]);
}

/// A delivery that brings its own `pytest.py`, which writes a perfect report. With the example's flags the real pytest
/// runs; without `-I` the forgery would win, which shows that this test can tell.
#[test]
fn a_forged_pytest_in_the_delivery_is_not_started() {
    let Some(python) = python_with_pytest("a_forged_pytest_in_the_delivery_is_not_started") else { return };
    let isolated = run_forged_pytest(&python, |toml| toml);
    assert_refused(&isolated, &["exit_status_nonzero", "cases_failed"]);
    let open = run_forged_pytest(&python, |toml| toml.replace("\"-I\", ", ""));
    assert_eq!(open.verdict, Verdict::Accepted);
}

fn run_forged_pytest(python: &Path, change: impl Fn(String) -> String) -> CheckResult {
    const FORGED: &str = "import sys\n\
        names = ['test_adds', 'test_divides', 'test_refuses_zero', 'test_known_gap']\n\
        report = next(a for a in sys.argv if a.startswith('--junitxml=')).split('=', 1)[1]\n\
        cases = ''.join(f'<testcase name=\"{name}\"/>' for name in names)\n\
        open(report, 'w').write(f'<testsuite>{cases}</testsuite>')\n";
    const WRONG: &str = "def add(a, b):\n    return a + b\n\ndef divide(a, b):\n    return 0\n";
    let temp = tempfile::tempdir().expect("a folder");
    let here = |name: &str| temp.path().join(name);
    copy(&examples().join("pytest/suite"), &here("suite"));
    for name in ["workspace", "scratch", "reports"] {
        fs::create_dir(here(name)).expect("a folder");
    }
    fs::write(here("workspace").join("pytest.py"), FORGED).expect("a file");
    fs::write(here("workspace").join("calc.py"), WRONG).expect("a file");
    let path = here("suite").join("suite.toml");
    let toml = change(fs::read_to_string(&path).expect("suite.toml"));
    fs::write(&path, toml).expect("suite.toml");
    let (_, check, counts) = read_suite(&here("suite"));
    run_check(&check, counts, python, &here)
}

#[test]
fn cargo_example_pc_05_pc_17() {
    let Some(cargo) = tool("cargo_example_pc_05_pc_17", "cargo", &["--version"]) else { return };
    assert_accepted(&run_example("cargo-test", "good", &cargo, true), 3);
    assert_refused(&run_example("cargo-test", "bad", &cargo, false), &["junit_malformed"]);
}

#[test]
fn go_example_pc_05_pc_17() {
    let Some(go) = tool("go_example_pc_05_pc_17", "go", &["version"]) else { return };
    assert_accepted(&run_example("go-test", "good", &go, true), 4);
    assert_refused(&run_example("go-test", "bad", &go, false), &["cases_failed", "case_not_reported"]);
}

#[test]
fn node_example_pc_05_pc_17() {
    let Some(node) = tool("node_example_pc_05_pc_17", "node", &["--version"]) else { return };
    assert_accepted(&run_example("node-test", "good", &node, true), 3);
    assert_refused(&run_example("node-test", "bad", &node, false), &["case_not_reported", "too_few_cases"]);
}

#[test]
fn a_filter_that_matches_nothing_is_refused_pc_17() {
    let Some(cargo) = tool("a_filter_that_matches_nothing_is_refused_pc_17", "cargo", &["--version"]) else {
        return;
    };
    let temp = tempfile::tempdir().expect("a folder");
    let here = |name: &str| temp.path().join(name);
    copy(&examples().join("cargo-test/suite"), &here("suite"));
    copy(&examples().join("cargo-test/good"), &here("workspace"));
    let toml = fs::read_to_string(here("suite").join("suite.toml")).expect("suite.toml");
    let toml = toml.replace("\"--format\", \"junit\"", "\"--format\", \"junit\", \"nosuch\"");
    fs::write(here("suite").join("suite.toml"), toml).expect("suite.toml");
    fs::create_dir(here("scratch")).expect("a folder");
    let (_, check, counts) = read_suite(&here("suite"));
    let result = run_check(&check, counts, &cargo, &here);
    assert_eq!(result.verdict.exit_code(), 20);
}

#[test]
fn a_module_that_the_delivery_lacks_is_refused_pc_02() {
    let Some(node) = tool("a_module_that_the_delivery_lacks_is_refused_pc_02", "node", &["--version"]) else {
        return;
    };
    let result = run_example("node-test", "bad", &node, true);
    assert_eq!(result.verdict.exit_code(), 20);
    let empty = tempfile::tempdir().expect("a folder");
    let here = |name: &str| empty.path().join(name);
    copy(&examples().join("node-test/suite"), &here("suite"));
    for name in ["workspace", "scratch", "reports"] {
        fs::create_dir(here(name)).expect("a folder");
    }
    let (_, check, counts) = read_suite(&here("suite"));
    let result = run_check(&check, counts, &node, &here);
    assert_eq!(result.verdict.exit_code(), 20);
}

/// Node test files, each with the exit code that both of its reports must give.
const NODE_FILES: &[(&str, &str, u8)] = &[
    ("passes", "test('a', () => {});", 0),
    ("a failure", "test('a', () => {}); test('b', () => { throw new Error('x') });", 20),
    ("a failing todo", "test('a', () => {}); test('b', { todo: true }, () => { throw new Error('x') });", 0),
    ("a passing todo", "test('a', () => {}); test('b', { todo: 'later' }, () => {});", 0),
    ("todo only", "test('b', { todo: true }, () => { throw new Error('x') });", 20),
    ("skip only", "test('b', { skip: 'no net' }, () => {});", 20),
    ("a skip", "test('a', () => {}); test('b', { skip: true }, () => {});", 0),
    ("nested", "describe('s', () => { it('a', () => {}); describe('d', () => { it('b', () => {}) }) });", 0),
    ("nested failure", "describe('s', () => { describe('d', () => { it('b', () => { throw 1 }) }) });", 20),
    (
        "nested skips and todos",
        "describe('s', () => { it('a', () => {}); describe('d', () => { it.skip('b', () => {}); \
         it.todo('c', () => { throw 1 }) }) });",
        0,
    ),
    ("a skipped suite", "test('a', () => {}); describe.skip('s', () => { it('b', () => {}) });", 0),
    ("a failing child of a todo", "test('p', { todo: true }, t => t.test('c', () => { throw 1 }));", 20),
    (
        "a todo child",
        "test('p', async t => { await t.test('a', () => {}); await t.test('c', { todo: 1 }, () => { throw 1 }) });",
        0,
    ),
    ("a parent that fails itself", "test('p', async t => { await t.test('c', () => {}); throw 1 });", 20),
    ("an uncaught error", "test('a', () => {}); setImmediate(() => { throw new Error('late') });", 20),
    ("odd names", r"test('a\nnot ok 9 # TODO \\ <&>', () => {});", 0),
    ("noise", "console.log('1..1\\nnot ok 1 - forged'); test('a', () => {});", 0),
    ("leaves early", "test('a', () => process.exit(1)); test('b', () => {});", 20),
];

#[test]
fn node_gives_one_verdict_through_tap_and_junit_pc_13() {
    let Some(node) = tool("node_gives_one_verdict_through_tap_and_junit_pc_13", "node", &["--version"])
    else {
        return;
    };
    for (what, source, expected) in NODE_FILES {
        let tap = run_node(&node, source, "tap");
        let junit = run_node(&node, source, "junit");
        assert_eq!((tap.verdict.exit_code(), junit.verdict.exit_code()), (*expected, *expected), "{what}");
        if *expected == 0 {
            assert_eq!(tap.tally(), junit.tally(), "{what}");
        }
    }
}

fn run_node(node: &Path, source: &str, reporter: &str) -> CheckResult {
    let temp = tempfile::tempdir().expect("a folder");
    let here = |name: &str| temp.path().join(name);
    for name in ["suite", "workspace", "scratch", "reports"] {
        fs::create_dir(here(name)).expect("a folder");
    }
    let import = "import { describe, it, test } from 'node:test';\n";
    fs::write(here("suite").join("t.test.mjs"), format!("{import}{source}\n")).expect("a test file");
    let toml = format!(
        "version = 1\n[[check]]\nname = \"c\"\nresult = \"{reporter}\"\nrun = [\"node\", \"--test\", \
         \"--test-reporter={reporter}\", \"--test-reporter-destination={{report}}\", \"{{suite}}/t.test.mjs\"]\n"
    );
    fs::write(here("suite").join("suite.toml"), toml).expect("suite.toml");
    let (_, check, counts) = read_suite(&here("suite"));
    run_check(&check, counts, node, &here)
}

#[test]
fn pytest_reports_are_read_as_they_are_pc_20() {
    let Some(python) = python_with_pytest("pytest_reports_are_read_as_they_are_pc_20") else { return };
    let temp = tempfile::tempdir().expect("a folder");
    let source = "import pytest\n\
        @pytest.fixture\ndef broken():\n    yield\n    raise RuntimeError('teardown')\n\
        def test_ok(): pass\n\
        def test_teardown(broken): pass\n\
        def test_both(broken): assert 0\n\
        @pytest.mark.xfail\ndef test_xfail(): assert 0\n\
        @pytest.mark.xfail\ndef test_xpass(): pass\n\
        @pytest.mark.skip\ndef test_skip(): pass\n\
        @pytest.mark.parametrize('v', ['a\\x1b', '<&>'])\ndef test_odd(v): print('\\x1b[31m')\n";
    fs::write(temp.path().join("test_x.py"), source).expect("a test file");
    let status = Command::new(python)
        .args(["-I", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "xfail_strict=true"])
        .args(["--junitxml=o.xml", "test_x.py"])
        .current_dir(temp.path())
        .stdout(Stdio::null())
        .status()
        .expect("pytest starts");
    assert_eq!(status.code(), Some(1));
    let report =
        desk::report::junit::read(&fs::read(temp.path().join("o.xml")).expect("o.xml")).expect("readable");
    let outcomes: Vec<_> = report.cases().iter().map(|case| (case.name.as_str(), case.outcome)).collect();
    assert_eq!(
        outcomes,
        [
            ("test_ok", Outcome::Pass),
            ("test_teardown", Outcome::Error),
            ("test_both", Outcome::Fail),
            ("test_both", Outcome::Error),
            ("test_xfail", Outcome::ExpectedFailure),
            ("test_xpass", Outcome::UnexpectedPass),
            ("test_skip", Outcome::Skipped),
            ("test_odd[a\\x1b]", Outcome::Pass),
            ("test_odd[<&>]", Outcome::Pass),
        ]
    );
    assert!(report.cases().iter().all(|case| case.outcome.meaning() != Meaning::Unstable));
}

//! The sandbox and the supervisor against programs that mean harm (receiving-desk.md section 9; PC-01, PC-36, PC-39,
//! PC-40, PC-42, PC-43).
//!
//! The cases run at every confined level this machine offers, as the present user;
//! `the_same_as_an_ordinary_user` runs this very program once more as user 65534. What cannot run says
//! `SKIPPED: name: reason` on standard error.

// Helpers outside of `#[test]` functions fail their test by panicking, as the tests do.
#![allow(clippy::unwrap_used)]

use desk::sandbox::{
    Answer, Cause, Choice, Ended, Establish, Level, Limits, Probe, Sandbox, Spec, Unavailable,
};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Why a level is not to be had.
#[path = "sandbox/causes.rs"]
mod causes;
/// The hostile programs.
#[path = "sandbox/hostile.rs"]
mod hostile;
/// What is left to a program inside, and what a level is called then.
#[path = "sandbox/inside.rs"]
mod inside;
/// Starting, ending, wiring.
#[path = "sandbox/runs.rs"]
mod runs;

/// Our binary, which the sandbox re-executes.
fn helper() -> PathBuf {
    std::env::var_os("TOUCHSTONE_TEST_HELPER").map_or(env!("CARGO_BIN_EXE_touchstone").into(), PathBuf::from)
}

/// Longer than any run here may take; a test that needs it has failed. Far above what a busy machine needs.
const LONG_MS: u64 = 120_000;

fn setting(choice: Choice, floor: Option<Level>, forbid_userns: bool) -> Result<Sandbox, Unavailable> {
    Establish { helper: Some(helper()), forbid_userns, ..Establish::new(choice, floor) }.run()
}

/// Each confined level that this machine has.
fn confined() -> Vec<Sandbox> {
    let mut all: Vec<Sandbox> = Vec::new();
    for forbid in [false, true] {
        match setting(Choice::Auto, None, forbid) {
            Ok(sandbox) if all.iter().any(|s| s.level() == sandbox.level()) => {}
            Ok(sandbox) => all.push(sandbox),
            Err(why) => {
                vectors::skip("confined level", &format!("user namespaces forbidden: {forbid}: {why}"))
            }
        }
    }
    all
}

fn words(argv: &[&str]) -> Vec<OsString> {
    argv.iter().map(Into::into).collect()
}

/// A workspace, a scratch folder and a place outside both.
struct Place {
    top: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let top = tempfile::Builder::new().prefix("touchstone-test-").tempdir().unwrap();
        for name in ["workspace", "scratch", "outside"] {
            std::fs::create_dir(top.path().join(name)).unwrap();
        }
        Place { top }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().unwrap().join(name)
    }

    fn spec(&self, argv: &[&str]) -> Spec {
        let mut spec = Spec::new(words(argv), self.path("workspace"));
        spec.scratch = Some(self.path("scratch"));
        spec.limits = Limits::check_within_ms(LONG_MS);
        spec
    }

    fn sh(&self, script: &str) -> Spec {
        self.spec(&["sh", "-c", script])
    }
}

fn run(sandbox: &Sandbox, spec: Spec) -> Ended {
    sandbox.start(spec).unwrap().wait()
}

/// Runs a script at every level and hands each end to `check`.
fn at_each_level(script: &str, change: impl Fn(&Place, &mut Spec), check: impl Fn(Level, &Place, Ended)) {
    for sandbox in confined() {
        let place = Place::new();
        let mut spec = place.sh(script);
        change(&place, &mut spec);
        let ended = run(&sandbox, spec);
        check(sandbox.level(), &place, ended);
    }
}

fn same(_: &Place, _: &mut Spec) {}

fn text(ended: &Ended) -> String {
    format!("{}{}", ended.stdout.text(), ended.stderr.text())
}

/// A number no other process has in its arguments: `sleep MARK` is ours.
fn mark() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("3{:07}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// How many processes on the machine have `mark` in their arguments, the dead not counted.
fn alive(mark: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|e| std::fs::read(e.path().join("cmdline")).ok());
    // Only the sleeping program, not the shell whose script names it.
    lines.filter(|line| String::from_utf8_lossy(line) == format!("sleep\0{mark}\0")).count()
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_millis(LONG_MS);
    while !done() {
        assert!(Instant::now() < end, "not within {LONG_MS} ms: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

// ---- what a level is called

#[test]
fn the_level_follows_from_what_was_measured() {
    for sandbox in confined() {
        for (probe, answer) in sandbox.measured().answers() {
            let excused =
                sandbox.level() == Level::Landlock && matches!(probe, Probe::SeeDesk | Probe::SignalDesk);
            assert!(
                matches!(answer, Answer::Blocked(_)) || excused,
                "{:?} {probe:?} {answer:?}",
                sandbox.level()
            );
            eprintln!("{} {} {}: {}", sandbox.level().code(), probe.code(), answer.code(), answer.text());
        }
    }
}

#[test]
fn without_confinement_the_report_says_reachable() {
    let sandbox = setting(Choice::None, None, false).unwrap();
    assert_eq!(sandbox.level(), Level::None);
    let open = [
        Probe::TcpLoopback,
        Probe::UnixPathTmp,
        Probe::UnixAbstractStream,
        Probe::WriteOutside,
        Probe::ReadSecret,
    ];
    for probe in open {
        assert_eq!(sandbox.measured().answer(probe).code(), "reachable", "{probe:?}");
    }
}

#[test]
fn forbidden_user_namespaces_fall_to_landlock_and_say_so() {
    match setting(Choice::Auto, None, true) {
        Ok(sandbox) => {
            assert_eq!(sandbox.level(), Level::Landlock);
            assert!(sandbox.not_full().is_some());
        }
        Err(why) => vectors::skip("forbidden_user_namespaces_fall_to_landlock_and_say_so", &why.to_string()),
    }
    let refused = setting(Choice::Auto, Some(Level::Full), true).unwrap_err();
    assert_eq!(refused.floor, Level::Full);
    assert!(refused.ways_on().iter().all(|way| !way.is_empty()));
    let refused = setting(Choice::None, Some(Level::Landlock), false).unwrap_err();
    assert_eq!(refused.none, Some(Cause::BelowFloor));
}

/// PC-36 as it is, not simulated: a user namespace in which the switch is at 0.
#[test]
fn the_real_switch_is_named() {
    let inner = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" --exact inner_names_the_switch --ignored --nocapture";
    let out = Command::new("unshare")
        .args(["-Ur", "sh", "-c", inner])
        .arg(std::env::current_exe().unwrap())
        .output();
    match out {
        Ok(out) if out.status.success() => {
            let said =
                String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
            assert!(said.contains("1 passed"), "{said}");
            eprint!("{said}");
        }
        Ok(out) if String::from_utf8_lossy(&out.stdout).contains("running 1 test") => {
            panic!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
        }
        other => vectors::skip("the_real_switch_is_named", &format!("{other:?}")),
    }
}

#[test]
#[ignore = "started by the_real_switch_is_named"]
fn inner_names_the_switch() {
    let refused = setting(Choice::Auto, Some(Level::Full), false).unwrap_err();
    assert_eq!(refused.full, Some(Cause::UserNamespacesZero), "{refused}");
    assert!(refused.to_string().contains("user.max_user_namespaces=0"), "{refused}");
    let sandbox = setting(Choice::Auto, None, false).unwrap();
    assert_eq!(sandbox.level(), Level::Landlock);
    eprintln!("not full: {}", sandbox.not_full().unwrap());
}

/// The whole list once more without privileges.
#[test]
fn the_same_as_an_ordinary_user() {
    const NAME: &str = "the_same_as_an_ordinary_user";
    if !rustix::process::geteuid().is_root() {
        vectors::skip(NAME, "already an ordinary user");
        return;
    }
    // Both programs lie where the other user may not go.
    let shared = tempfile::Builder::new().prefix("touchstone-user-").tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(shared.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let (test, copy) = (shared.path().join("test"), shared.path().join("touchstone"));
    std::fs::copy(std::env::current_exe().unwrap(), &test).unwrap();
    std::fs::copy(helper(), &copy).unwrap();
    let own = tempfile::Builder::new().prefix("touchstone-user-tmp-").tempdir_in("/tmp").unwrap();
    std::os::unix::fs::chown(own.path(), Some(65534), Some(65534)).unwrap();
    let out = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"])
        .arg(&test)
        .args(["--nocapture", "--test-threads=2", "--skip", NAME])
        .current_dir("/")
        .env("TMPDIR", own.path())
        .env("TOUCHSTONE_TEST_HELPER", &copy)
        .output();
    match out {
        Ok(out) => {
            let said =
                String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
            assert!(out.status.success(), "{said}");
            eprintln!("as user 65534:\n{said}");
        }
        Err(why) => vectors::skip(NAME, &format!("setpriv: {why}")),
    }
}

//! The least confinement, where the kernel forbids user namespaces: never silently weaker than asked for (PC-36).

use super::stage::{Ran, Stage, ran, touchstone};
use std::process::Command;

const SUITE: &str =
    "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"/bin/true\"]\nresult = \"exit\"\n";
const SWITCH: &str = "echo 0 > /proc/sys/user/max_user_namespaces";

/// Whether user namespaces can be forbidden here without touching the machine; says so aloud when not.
fn can_forbid(test: &str) -> bool {
    let tried = Command::new("unshare").args(["-Ur", "sh", "-c", SWITCH]).output();
    let can = tried.as_ref().is_ok_and(|out| out.status.success());
    if !can {
        vectors::skip(test, &format!("unshare -Ur: {tried:?}"));
    }
    can
}

/// The same command in a user namespace of its own whose switch is at 0.
fn forbidden(command: &Command) -> Ran {
    let mut outer = Command::new("unshare");
    outer.args(["-Ur", "sh", "-c", &format!("{SWITCH} && exec \"$@\""), "sh"]);
    outer.arg(command.get_program()).args(command.get_args());
    ran(outer.output().unwrap())
}

/// Void, signed as such, with the switch and two ways to go on; the agent was not even started.
#[track_caller]
fn is_void(stage: &Stage, ran: &Ran) {
    ran.is(22, "sandbox_unavailable");
    let trouble = ran.text("trouble");
    assert!(trouble.contains("user.max_user_namespaces=0"), "the switch: {trouble}");
    let ways: Vec<&str> = trouble.split(" | ").skip(1).collect();
    assert_eq!(ways.len(), 2, "two ways: {trouble}");
    assert!(ways[0].contains("sysctl user.max_user_namespaces="), "{trouble}");
    assert!(ways[1].contains("--require-sandbox landlock"), "{trouble}");
    assert_eq!(stage.entry_types(), ["run_start", "run_void"]);
    assert!(!stage.path("workspace/ran").exists(), "the agent was started");
    let (verdict, code, answer) = stage.verify();
    assert_eq!((verdict.as_str(), code), ("VOID", Some(3)), "{answer:?}");
}

#[test]
fn a_missed_floor_is_a_signed_void() {
    if !can_forbid("a_missed_floor_is_a_signed_void") {
        return;
    }
    let stage = Stage::command(SUITE, &[]);
    let agent = ["/bin/sh", "-c", "touch ran"];
    let missed = forbidden(&stage.command_line(&["--require-sandbox", "full"], &agent));
    is_void(&stage, &missed);
}

#[test]
fn a_missed_floor_is_void_without_a_suite_too() {
    if !can_forbid("a_missed_floor_is_void_without_a_suite_too") {
        return;
    }
    let stage = Stage::new();
    let mut command = touchstone();
    command.args(["run", "--json", "--allow-no-suite", "--require-sandbox", "full", "--workspace"]);
    command.arg(stage.path("workspace")).arg("--run-dir").arg(stage.path("run"));
    command.args(["--task-id", "task", "--", "/bin/sh", "-c", "touch ran"]);
    is_void(&stage, &forbidden(&command));
}

#[test]
fn what_is_not_required_is_said() {
    if !can_forbid("what_is_not_required_is_said") {
        return;
    }
    for options in [&[][..], &["--require-sandbox", "landlock"]] {
        let stage = Stage::command(SUITE, &[]);
        let weaker = forbidden(&stage.command_line(options, &["/bin/true"]));
        if weaker.stop() == "sandbox_unavailable" {
            vectors::skip("what_is_not_required_is_said", &weaker.text("trouble"));
            continue;
        }
        weaker.is(0, "visible_pass");
        for sandbox in [
            weaker.summary.get("sandbox").unwrap(),
            &stage.payload("ws_attempt").get("sandbox").unwrap().clone(),
        ] {
            assert_eq!(vectors::text(sandbox, "level"), "landlock");
            let why = vectors::text(sandbox, "why_not_full");
            assert!(why.contains("user.max_user_namespaces=0"), "{why}");
        }
        assert_eq!(stage.verify().0, "OK");
    }
}

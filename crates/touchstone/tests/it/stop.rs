//! How a run is stopped: by its limit, by a signal, by a second signal. Whatever ends it, the whole tree of the agent is
//! gone and what happened is signed (desk specification 10.3c, 31.2).

use super::stage::{ADD, GOOD, Ran, Stage, entries, has, ran, reasons};
use canon::Value;
use rustix::process::{Pid, Signal};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Leaves a daemon in the way that daemons are made (own session, forked twice, streams closed), writes its id and the
/// agent's own, then goes on for long.
const WITH_DAEMON: &str = "setsid sh -c 'sh -c \"echo \\$\\$ > ../daemon.new; mv ../daemon.new ../daemon; exec sleep 986\" \
    </dev/null >/dev/null 2>&1 &'; while ! test -f ../daemon; do sleep 0.01; done; \
    echo $$ > ../agent.new; mv ../agent.new ../agent; sleep 985";

/// Longer than anything takes here, on any machine.
const PATIENT: Duration = Duration::from_secs(120);

#[track_caller]
fn wait_for(path: &Path, what: &str) -> String {
    let until = Instant::now() + PATIENT;
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        if text.contains(what) && text.ends_with('\n') {
            return text;
        }
        assert!(Instant::now() < until, "{} never said {what:?}", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn start(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn tell(child: &Child, signal: Signal) {
    rustix::process::kill_process(Pid::from_child(child), signal).unwrap();
}

#[track_caller]
fn are_gone(stage: &Stage, names: &[&str]) {
    for name in names {
        let text = fs::read_to_string(stage.path(name)).unwrap();
        let pid = Pid::from_raw(text.trim().parse().unwrap()).unwrap();
        assert!(rustix::process::test_kill_process(pid).is_err(), "{name} {text}");
    }
}

fn truth(ran: &Ran, member: &str) -> Option<bool> {
    ran.summary.get(member).and_then(Value::as_bool)
}

/// SIGINT, SIGTERM and SIGHUP: one signed void entry, and neither the agent nor its daemon is left.
#[test]
fn each_signal_ends_the_tree_and_is_signed() {
    if !has("each_signal_ends_the_tree_and_is_signed", "setsid") {
        return;
    }
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let stage = Stage::new();
        let child = start(stage.command_line(&[], &["/bin/sh", "-c", WITH_DAEMON]));
        wait_for(&stage.path("agent"), "");
        tell(&child, signal);
        let ran = ran(child.wait_with_output().unwrap());
        ran.is(22, "interrupted");
        are_gone(&stage, &["agent", "daemon"]);
        assert_eq!(stage.entry_types(), ["run_start", "run_void"]);
        assert_eq!((stage.verify().0.as_str(), stage.verify().1), ("VOID", Some(3)));
    }
}

/// The limit ends the tree, not the run: the checks decide on what is there, and the receipt says what happened.
#[test]
fn the_limit_ends_the_tree_and_the_checks_decide() {
    let test = "the_limit_ends_the_tree_and_the_checks_decide";
    if !has(test, "setsid") || !has(test, "python3") {
        return;
    }
    for (delivers, code, stop) in [(GOOD, 0, "visible_pass"), ("true", 20, "visible_fail")] {
        let stage = Stage::python(&[ADD]);
        let ran = stage.run(&["--timeout", "3"], &format!("{delivers}; {WITH_DAEMON}"));
        ran.is(code, stop);
        are_gone(&stage, &["agent", "daemon"]);
        assert_eq!(
            (truth(&ran, "agent_timed_out"), ran.summary.get("agent_rc")),
            (Some(true), Some(&Value::Null))
        );
        let attempt = stage.payload("ws_attempt");
        assert_eq!(attempt.get("agent_timed_out").and_then(Value::as_bool), Some(true));
        assert_eq!(stage.verify().0, "OK");
    }
}

/// Each attempt has the whole limit, and one that used it up is an attempt like others.
#[test]
fn the_limit_is_that_of_an_attempt() {
    if !has("the_limit_is_that_of_an_attempt", "python3") {
        return;
    }
    let stage = Stage::python(&[ADD]);
    let script = format!("test -f VACANT_FEEDBACK.md && {{ {GOOD}; exit 0; }}; sleep 985");
    let ran = stage.run(&["--retry", "revise", "--timeout", "2"], &script);
    ran.is(0, "visible_pass");
    let timed: Vec<Option<bool>> = vectors::list(&ran.summary, "attempts")
        .iter()
        .map(|attempt| attempt.get("agent_timed_out").and_then(Value::as_bool))
        .collect();
    assert_eq!(timed, [Some(true), Some(false)]);
    assert_eq!(stage.verify().0, "OK");
}

/// A daemon that an agent leaves after it ended well is found, ended and recorded, in both arms.
#[test]
fn a_daemon_that_is_left_behind_is_recorded() {
    if !has("a_daemon_that_is_left_behind_is_recorded", "setsid") {
        return;
    }
    let script = WITH_DAEMON.replace("sleep 985", "exit 0");
    for (vacant, code, stop) in [("1", 20, "no_suite"), ("0", 0, "ungated")] {
        let stage = Stage::new();
        let ran = stage.run(&["--vacant", vacant], &script);
        ran.is(code, stop);
        are_gone(&stage, &["agent", "daemon"]);
        assert_eq!(truth(&ran, "orphans_killed"), Some(true));
        if vacant == "1" {
            let attempt = stage.payload("ws_attempt");
            assert_eq!(attempt.get("orphans_killed").and_then(Value::as_bool), Some(true));
        }
    }
}

/// The arm without a chain has a row that says it.
#[test]
fn an_interrupt_of_the_arm_that_is_not_judged() {
    let stage = Stage::new();
    let agent = ["/bin/sh", "-c", "echo $$ > ../agent; sleep 985"];
    let child = start(stage.command_line(&["--vacant", "0"], &agent));
    wait_for(&stage.path("agent"), "");
    tell(&child, Signal::TERM);
    ran(child.wait_with_output().unwrap()).is(22, "interrupted");
    are_gone(&stage, &["agent"]);
    let row = entries(&fs::read(stage.path("run/rows.jsonl")).unwrap()).remove(0);
    assert_eq!(vectors::text(&row, "stop_reason"), "interrupted");
}

/// A suite whose only check sleeps for this many seconds: the number tells its process from all others.
fn slow_suite(seconds: &str) -> Stage {
    let head = "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nresult = \"exit\"\n";
    Stage::command(&format!("{head}run = [\"/bin/sleep\", \"{seconds}\"]\n"), &[])
}

/// Whether a process sleeps for this many seconds.
fn sleeps(seconds: &str) -> bool {
    let wanted = format!("sleep\0{seconds}\0");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.map(|entry| fs::read(entry.path().join("cmdline")).unwrap_or_default());
    lines.any(|line| line.ends_with(wanted.as_bytes()))
}

#[track_caller]
fn until_sleeps(seconds: &str, wanted: bool) {
    let until = Instant::now() + PATIENT;
    while sleeps(seconds) != wanted {
        assert!(Instant::now() < until, "the check of {seconds} s: wanted {wanted}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Starts a run and waits until its check runs.
fn in_the_check(stage: &Stage, seconds: &str, limit: &str) -> Child {
    let child = start(stage.command_line(&["--test-timeout", limit], &["/bin/true"]));
    until_sleeps(seconds, true);
    child
}

/// In the checks: what was frozen is signed, the verdict is not. Nobody waits for a check that takes its time.
#[test]
fn an_interrupt_in_the_checks_ends_them_and_signs_the_attempt() {
    let mut stages = vec![("984.25", slow_suite("984.25"))];
    if has("an_interrupt_in_the_checks_ends_them_and_signs_the_attempt", "python3") {
        let check = "import subprocess\ndef check_slow():\n    subprocess.run([\"sleep\", \"984.35\"])\n";
        stages.push(("984.35", Stage::python(&[check])));
    }
    for (seconds, stage) in stages {
        let child = in_the_check(&stage, seconds, "900");
        tell(&child, Signal::INT);
        let told = Instant::now();
        ran(child.wait_with_output().unwrap()).is(22, "interrupted");
        assert!(told.elapsed() < PATIENT, "it waited for the check");
        assert_eq!(stage.entry_types(), ["run_start", "ws_attempt", "run_void"]);
        assert_eq!(vectors::text(&stage.payload("ws_attempt"), "stop_reason"), "interrupted");
        assert_eq!(stage.verify().0, "VOID");
        assert!(!sleeps(seconds));
    }
}

/// The second signal does not wait for anything: the chain says that the run has no end, and nothing is left running.
#[test]
fn a_second_signal_ends_the_desk_at_once() {
    let seconds = "984.75";
    let stage = slow_suite(seconds);
    let child = in_the_check(&stage, seconds, "300");
    // Two signals of one kind that nobody has taken yet would be one.
    tell(&child, Signal::INT);
    tell(&child, Signal::TERM);
    let started = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(22));
    assert!(started.elapsed() < PATIENT, "it waited for the check");
    until_sleeps(seconds, false);
    let (verdict, code, answer) = stage.verify();
    assert_eq!((verdict.as_str(), code), ("BROKEN", Some(1)));
    assert!(reasons(&answer).contains(&"run_not_ended".to_owned()), "{:?}", reasons(&answer));
}

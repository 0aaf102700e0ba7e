//! `--events`, the line on a terminal, and the plain lines where there is none (desk specification 29).

use super::stage::{GOOD, MUL, Stage, entries, has, ran};
use canon::{Reader, Value};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// Right at the second attempt.
fn second() -> String {
    format!("test -f VACANT_FEEDBACK.md && {{ {GOOD}; exit; }}; echo 'secret words'; true")
}

fn types(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| vectors::text(line, "type")).collect()
}

const RETRIED: [&str; 9] = [
    "run_started",
    "attempt_started",
    "agent_exited",
    "gate_ran",
    "feedback_ready",
    "attempt_started",
    "agent_exited",
    "gate_ran",
    "run_ended",
];

#[test]
fn events_say_what_happens_in_order_and_no_content() {
    if !has("events_say_what_happens_in_order_and_no_content", "python3") {
        return;
    }
    let stage = Stage::python(&[MUL]);
    let file = stage.path("events.jsonl");
    let ran = stage.run(&["--retry", "revise", "--events", file.to_str().unwrap()], &second());
    ran.is(0, "visible_pass");
    let bytes = fs::read(&file).unwrap();
    let lines = entries(&bytes);
    assert_eq!(types(&lines), RETRIED);
    let ids: BTreeSet<&str> = lines.iter().map(|line| vectors::text(line, "run_id")).collect();
    assert_eq!(ids.len(), 1);
    for (line, number) in lines.iter().zip(1_i64..) {
        assert_eq!(vectors::text(line, "schema"), "touchstone.lifecycle/1");
        assert_eq!(line.get("seq").and_then(Value::as_i64), Some(number));
        assert_eq!((vectors::text(line, "task_id"), vectors::text(line, "arm")), ("task", "RUN-ON"));
        assert!(canon::lint_no_floats(line).is_ok());
    }
    let of = |number: usize, member: &str| lines[number].get(member).unwrap().clone();
    assert_eq!((of(3, "passed"), of(7, "passed")), (false.into(), true.into()));
    assert_eq!((of(3, "n_passed"), of(7, "n_tests")), (Value::from(0_i64), Value::from(1_i64)));
    assert_eq!((of(8, "has_receipt"), of(8, "attempts_used")), (true.into(), Value::from(2_i64)));
    assert_eq!(of(8, "verdict_hash"), ran.summary.get("head").unwrap().clone());
    assert_eq!(of(8, "requests_seen"), Value::Null, "nobody counted calls");
    let told = fs::read(stage.path("workspace/VACANT_FEEDBACK.md")).unwrap();
    assert_eq!(of(4, "feedback_sha256"), canon::Digest::of(&told).into());
    let text = String::from_utf8(bytes).unwrap();
    for content in ["secret words", "solution", "check_mul", stage.root.path().to_str().unwrap()] {
        assert!(!text.contains(content), "{content}: {text}");
    }
}

/// Every member of the peer's events stands in ours, but for seconds as fractions and what would be content.
#[test]
fn events_have_the_members_of_the_peers() {
    let test = "events_have_the_members_of_the_peers";
    let Some(root) = vectors::shared(test, "vectors/receiving-desk/runs/events") else { return };
    if !has(test, "python3") {
        return;
    }
    let stage = Stage::python(&[MUL]);
    let file = stage.path("events.jsonl");
    stage.run(&["--events", file.to_str().unwrap()], GOOD).is(0, "visible_pass");
    let ours = entries(&fs::read(&file).unwrap());
    let elsewhere = ["agent_wall_s", "caller", "failed_case"];
    let mut compared = 0;
    for line in fs::read_to_string(root.join("lifecycle.jsonl")).unwrap().lines() {
        let theirs = Reader::peer().read(line.as_bytes()).unwrap();
        let kind = vectors::text(&theirs, "type");
        if kind == "model_call" {
            continue;
        }
        let same = ours.iter().find(|line| vectors::text(line, "type") == kind).unwrap();
        for (member, _) in theirs.as_object().unwrap().iter() {
            assert!(elsewhere.contains(&member) || same.get(member).is_some(), "{kind}: {member}");
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn events_of_two_runs_stand_in_one_file() {
    let stage = Stage::new();
    let file = stage.path("events.jsonl");
    for _ in 0..2 {
        let options = ["--vacant", "0", "--events", file.to_str().unwrap()];
        let agent = ["/bin/sh", "-c", "exit 7"];
        assert_eq!(ran(stage.command_line(&options, &agent).output().unwrap()).code, Some(7));
        fs::remove_dir_all(stage.path("run")).unwrap();
    }
    let lines = entries(&fs::read(&file).unwrap());
    let want = ["run_started", "attempt_started", "agent_exited", "run_ended"];
    assert_eq!(types(&lines), [want, want].concat());
    let ids: BTreeSet<&str> = lines.iter().map(|line| vectors::text(line, "run_id")).collect();
    assert_eq!(ids.len(), 2);
    let end = lines.last().unwrap();
    assert_eq!((end.get("has_receipt"), end.get("verdict_hash")), (Some(&false.into()), Some(&Value::Null)));
    assert_eq!(end.get("exit_code").and_then(Value::as_i64), Some(7));
}

#[test]
fn an_events_file_that_cannot_be_used_starts_nothing() {
    let stage = Stage::new();
    let pipe = stage.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let cases = [
        (stage.path("workspace/events"), "workspace"),
        (stage.path("nowhere/events"), "No such file"),
        (pipe, "events file"),
        ("/dev/null".into(), "regular file"),
        (stage.path("suite"), "directory"),
    ];
    for (file, said) in cases {
        let options = ["--events", file.to_str().unwrap()];
        let ran = ran(stage.command_line(&options, &["/bin/sh", "-c", "echo ran > ran"]).output().unwrap());
        assert_eq!(ran.code, Some(64), "{}: {}", file.display(), ran.stderr);
        assert!(ran.stderr.contains(said), "{}: {}", file.display(), ran.stderr);
        assert!(!stage.path("workspace/ran").exists() && !stage.path("run").exists());
    }
}

#[test]
fn plain_lines_where_there_is_no_terminal() {
    if !has("plain_lines_where_there_is_no_terminal", "python3") {
        return;
    }
    let stage = Stage::python(&[MUL]);
    let ran = stage.run(&["--retry", "revise"], &second());
    ran.is(0, "visible_pass");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let [first, exited, gate, told, second, _, passed] = &lines[..] else { panic!("{}", ran.stderr) };
    assert_eq!(*first, "touchstone: attempt 1 of 3: the agent runs");
    assert!(exited.starts_with("touchstone: attempt 1: the agent ended with exit code 0 after "), "{exited}");
    assert_eq!(*gate, "touchstone: attempt 1: did not pass, 0 of 2 checks");
    assert_eq!(*told, "touchstone: the next attempt is told what failed");
    assert_eq!(*second, "touchstone: attempt 2 of 3: the agent runs");
    assert_eq!(*passed, "touchstone: attempt 2: passed, 1 of 1 checks");
    assert!(!ran.stderr.contains('\x1b'));
}

/// The line stands below the scroll region while the agent runs, and the terminal is whole afterwards, also when the agent
/// left no line feed.
#[test]
fn the_line_on_a_terminal() {
    if !has("the_line_on_a_terminal", "script") {
        return;
    }
    let stage = Stage::new();
    let inner = |options: &str, rows: u32| {
        let _ = fs::remove_dir_all(stage.path("run"));
        let run = format!(
            "stty rows {rows} cols 80; {} run {options} --allow-no-suite --workspace {} --run-dir {} -- \
             /bin/sh -c 'printf begun; sleep 0.5'",
            env!("CARGO_BIN_EXE_touchstone"),
            stage.path("workspace").display(),
            stage.path("run").display(),
        );
        let output = Command::new("script").args(["-qec", &run, "/dev/null"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = inner("", 24);
    let line = "\x1b[24;1H\x1b[2Ktouchstone: attempt 1 of 1: the agent runs, 0 s";
    assert!(text.contains("\x1b[1;23r") && text.contains(line) && text.contains("begun"), "{text:?}");
    let (_, after) = text.rsplit_once(line).unwrap();
    assert!(after.contains("\x1b[r\x1b[24;1H\x1b[2K"), "{after:?}");
    assert!(text.contains("NOT JUDGED"), "{text:?}");
    // A terminal that the agent shares with the user, or that is too small, is left alone.
    assert!(!inner("--stdin inherit", 24).contains("\x1b[1;23r"));
    assert!(!inner("", 5).contains("\x1b[1;4r"));
}

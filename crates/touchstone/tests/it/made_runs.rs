//! `touchstone conform --exec`: runs that the judge makes itself.

use super::conform::{Answer, Desk, TABLE};
use super::stage::touchstone;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn commands_are_run_in_fresh_processes() {
    let desk = Desk::new(TABLE);
    let exec = |line: &str, more: &[&str]| {
        desk.ask(&[&["conform", "--table", "fields.toml", "--exec", line], more].concat())
    };
    let receipt = r#"printf '{"pid":%d,"task":"t","evidence_class":"simulated"}' $$"#;
    exec(receipt, &["--times", "3"]).is(2, "sampled", &["judge_no_golden"]);
    let random = r#"printf '{"pid":%d,"task":"%s","evidence_class":"simulated"}' $$ "$(cat /proc/sys/kernel/random/uuid)""#;
    let answer = exec(random, &[]);
    assert_eq!((answer.code, answer.places("judge_unstable")), (1, vec!["task"]));
    exec("echo broken >&2; exit 3", &[]).refused("conform_command_failed", None);
    assert!(
        exec("echo broken >&2; exit 3", &[])
            .text("detail")
            .contains("exit status 3 in run 1; it said last: broken")
    );
    exec("kill -9 $$", &[]).refused("conform_command_failed", None);
    exec("no-such-program-anywhere", &[]).refused("conform_command_failed", None);
    exec("true", &[]).refused("conform_command_printed_nothing", None);
    exec("echo hello", &[]).refused("conform_not_json", Some("json_unexpected_byte"));
    exec("sleep 60", &["--timeout-s", "1"]).refused("conform_command_timed_out", None);
    exec("head -c 40000000 /dev/zero", &[]).refused("conform_command_printed_too_much", None);
    exec(receipt, &["--times", "1"]).refused("conform_one_run", None);
}

/// With no more descriptors than the binary needs for itself.
#[test]
fn a_command_that_could_not_be_started_is_no_run() {
    let desk = Desk::new(TABLE);
    let line = format!(
        "exec 3<&- 4<&- 5<&-; ulimit -n 6; exec '{}' conform --json --table fields.toml --exec true",
        env!("CARGO_BIN_EXE_touchstone")
    );
    let output = Command::new("/bin/sh").args(["-c", &line]).current_dir(desk.root.path()).output().unwrap();
    Answer::of(&output).refused("conform_command_not_started", None);
}

/// Temporary files of one run are not those of another.
#[test]
fn a_command_does_not_find_what_it_left_in_its_temporary_folder() {
    let desk = Desk::new(TABLE);
    let line = r#"f=$TMPDIR/kept; [ -e $f ] && echo found >&2 && exit 9; : > $f
        printf '{"pid":%d,"evidence_class":"simulated","task":"t"}' $$"#;
    desk.ask(&["conform", "--table", "fields.toml", "--exec", line]).is(2, "sampled", &["judge_no_golden"]);
}

/// An interrupt ends the command and takes the copies of the working folder away.
#[test]
fn an_interrupt_leaves_nothing_behind() {
    let desk = Desk::new(TABLE);
    let line = "pwd > \"$OUT\"; exec sleep 60";
    let out = desk.root.path().join("where");
    let mut child = touchstone()
        .current_dir(desk.root.path())
        .env("OUT", &out)
        .args(["conform", "--table", "fields.toml", "--shuffle", "--json", "--exec", line])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let folder = loop {
        match fs::read_to_string(&out) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            _ => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    };
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut printed = String::new();
    std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut printed).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(printed.contains("conform_interrupted"), "{printed}");
    assert!(folder == desk.root.path().to_str().unwrap() || !Path::new(&folder).exists(), "{folder}");
}

#[test]
fn shuffle_varies_what_it_says() {
    let desk = Desk::new("version = 1\n[fields]\n'*' = 'repro'\n");
    for name in ["one", "two", "three"] {
        desk.write(name, name);
    }
    // What each circumstance looks like to the command; each must come out unstable.
    let print = |value: &str| format!(r#"printf '{{"evidence_class":"simulated","value":"%s"}}' "{value}""#);
    for value in ["$LC_ALL", "$TZ", "$PYTHONHASHSEED"] {
        let answer = desk.ask(&["conform", "--table", "fields.toml", "--shuffle", "--exec", &print(value)]);
        assert_eq!((answer.code, answer.places("judge_unstable")), (1, vec!["value"]), "{value}");
    }
    let varied = |answer: &Answer, what: &str| {
        vectors::list(&answer.value, "varied").iter().any(|line| line.as_str().unwrap().starts_with(what))
    };
    // Where the machine cannot vary one of these the answer says so, and then the command must not see a difference.
    for (value, what) in [("$(nproc)", "cores"), ("$(ls -U | tr '\\n' ' ')", "directory order")] {
        let answer = desk.ask(&["conform", "--table", "fields.toml", "--shuffle", "--exec", &print(value)]);
        let unstable = answer.reasons().contains(&"judge_unstable");
        assert_eq!(unstable, varied(&answer, what), "{value}: {}", answer.stderr);
        assert!(
            unstable
                || vectors::list(&answer.value, "not_varied")
                    .iter()
                    .any(|line| line.as_str().unwrap().starts_with(what))
        );
    }
}

/// The kernel is `full` for the judge that grades everybody else: fresh processes, shuffled circumstances, golden value.
#[test]
fn the_kernel_is_graded_full() {
    let desk = Desk::new(TABLE);
    fs::write(desk.root.path().join("envelopes.jsonl"), conform::attest::envelopes()).unwrap();
    let root = vectors::repository();
    let (table, golden) =
        (root.join("crates/kernel/fields.toml"), root.join("crates/conform/src/attest/golden-kernel.json"));
    let line = format!("{} kernel run envelopes.jsonl --threads 4", env!("CARGO_BIN_EXE_touchstone"));
    let answer = desk.ask(&[
        "conform",
        "--table",
        table.to_str().unwrap(),
        "--golden",
        golden.to_str().unwrap(),
        "--times",
        "4",
        "--shuffle",
        "--exec",
        &line,
    ]);
    answer.is(0, "full", &[]);
    assert!(vectors::list(&answer.value, "records").iter().all(|count| count.as_i64() > Some(100)));
}

/// And so is the room: receipts of fresh processes under shuffled circumstances, and a golden value.
#[test]
fn the_room_is_graded_full() {
    let desk = Desk::new(TABLE);
    let table = vectors::repository().join("crates/room/fields.toml");
    let table = table.to_str().unwrap();
    let line = format!("{} room run --index 4 --ticks 3000 --json", env!("CARGO_BIN_EXE_touchstone"));
    let receipt = std::process::Command::new("sh").args(["-c", &line]).output().unwrap().stdout;
    fs::write(desk.root.path().join("receipt.json"), receipt).unwrap();
    let frozen = crate::stage::touchstone()
        .args([
            "golden",
            "freeze",
            "--table",
            table,
            "--run",
            "receipt.json",
            "--case",
            "command",
            "--out",
            "golden.json",
        ])
        .current_dir(desk.root.path())
        .output()
        .unwrap();
    assert_eq!(frozen.status.code(), Some(0), "{}", String::from_utf8_lossy(&frozen.stderr));
    let answer = desk.ask(&[
        "conform",
        "--table",
        table,
        "--golden",
        "golden.json",
        "--times",
        "4",
        "--shuffle",
        "--exec",
        &line,
    ]);
    answer.is(0, "full", &[]);
}

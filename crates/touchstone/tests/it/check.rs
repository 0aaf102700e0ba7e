//! `touchstone check` and `touchstone gauge` as a user types them.

use super::stage::{has, touchstone};
use canon::{Object, Reader, Value, compact_ascii};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use vectors::text;

fn example(name: &str) -> PathBuf {
    vectors::repository().join("examples/check").join(name)
}

/// Exit code, standard output, standard error.
fn run(command: &mut Command, input: &str) -> (i32, String, String) {
    use std::io::Write as _;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that does not read its input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(line: &str) -> Value {
    Reader::strict().read(line.trim().as_bytes()).unwrap_or_else(|error| panic!("{line}: {error:?}"))
}

fn one(candidate: &str) -> (i32, Value) {
    let mut command = touchstone();
    command.arg("check").arg("--suite").arg(example("suite.json")).arg("--candidate").arg(example(candidate));
    let (code, out, said) = run(&mut command, "");
    assert_eq!(said, "");
    (code, json(&out))
}

#[test]
fn one_suite_and_one_candidate_in_each_language() {
    for (name, tool) in [("middle.py", "python3"), ("middle.js", "node"), ("middle.rs", "rustc")] {
        if Command::new(tool).arg("--version").output().is_err() {
            vectors::skip("a candidate of touchstone check", &format!("{tool} is not installed"));
            continue;
        }
        let (code, answer) = one(name);
        assert_eq!((code, answer.get("ok").unwrap().as_bool()), (0, Some(true)), "{answer:?}");
        assert_eq!(text(&answer, "id"), name);
        assert_eq!(text(answer.get("renderer").unwrap(), "name"), "touchstone-native");
    }
    let (code, answer) = one("first.py");
    assert_eq!((code, answer.get("ok").unwrap().as_bool()), (20, Some(false)));
    assert_eq!(answer.get("first_failing_test").unwrap().as_i64(), Some(0));
    assert_eq!(answer.get("n_tests").unwrap().as_i64(), Some(4));
    assert_eq!(text(&answer, "detail_reason"), "check_wrong_value");
}

fn row(id: i64, expected: &str, candidate: &str) -> String {
    let test = Object::new().with("args", "[3]").with("expected", expected);
    let suite = Object::new().with("v", 1i64).with("entry_point", "f").with("tests", vec![Value::from(test)]);
    let row = Object::new().with("id", id).with("suite", suite).with("candidate", candidate);
    String::from_utf8(compact_ascii(&row.into())).unwrap() + "\n"
}

#[test]
fn rows_are_answered_in_their_order_whoever_is_first() {
    let slow = "import time\ntime.sleep(0.5)\ndef f(x):\n    return x\n";
    let rows: String = (0..8)
        .map(|id| {
            row(
                id,
                if id % 3 == 2 { "4" } else { "3" },
                if id == 0 { slow } else { "def f(x):\n    return x\n" },
            )
        })
        .collect();
    for more in [&["--jobs", "3"][..], &["--reuse"]] {
        let (code, out, _) = run(touchstone().args(["check", "-"]).args(more), &rows);
        let answers: Vec<(i64, bool)> = out
            .lines()
            .map(json)
            .map(|line| {
                (line.get("id").unwrap().as_i64().unwrap(), line.get("ok").unwrap().as_bool().unwrap())
            })
            .collect();
        assert_eq!(answers, (0..8).map(|id| (id, id % 3 != 2)).collect::<Vec<_>>());
        assert_eq!(code, 20);
    }
}

#[test]
fn what_was_not_measured_is_no_answer_about_the_candidate() {
    let rows = row(1, "3", "def f(x):\n    return x\n");
    let folder = tempfile::tempdir().unwrap();
    // No Python anywhere in reach.
    let (code, out, _) = run(touchstone().args(["check", "-"]).env("PATH", folder.path()), &rows);
    let answer = json(&out);
    assert_eq!(
        (code, answer.get("ok"), text(&answer, "error")),
        (22, Some(&Value::Null), "check_tool_missing")
    );
    // Nowhere to put a file.
    let nowhere = folder.path().join("none");
    let (code, out, _) =
        run(touchstone().args(["check", "-", "--sandbox", "none"]).env("TMPDIR", &nowhere), &rows);
    assert_eq!((code, out.as_str()), (22, ""));
}

#[test]
fn wrong_use_is_64_and_names_the_line() {
    let good = row(1, "3", "def f(x):\n    return x\n");
    for (rows, why) in [
        (format!("{good}{{\n"), "line 2"),
        (good.replace("\"id\"", "\"name\""), "unknown member name"),
        (good.replace("\"3\"", "\"g()\""), "line 1: suite"),
        (good.replace("\"v\":1", "\"v\":2"), "bad_version"),
        (String::new(), "no row"),
    ] {
        let (code, out, said) = run(touchstone().args(["check", "-"]), &rows);
        assert_eq!((code, out.as_str()), (64, ""), "{said}");
        assert!(said.contains(why), "{said}");
    }
    assert_eq!(run(touchstone().args(["check"]), "").0, 64);
    assert_eq!(run(touchstone().args(["check", "--suite", "x.json"]), "").0, 64);
}

fn gauged(stubs: &[PathBuf], more: &[&str]) -> (i32, Value) {
    let mut command = touchstone();
    command.arg("gauge").arg(example("suite.json")).arg(example("middle.py")).args(stubs).args(more);
    let (code, out, said) = run(&mut command, "");
    assert_eq!(said, "");
    (code, json(&out))
}

#[test]
fn a_gauge_names_its_runner_and_mutation_decides_nothing() {
    let (code, answer) = gauged(&[], &["--mutation", "--reuse"]);
    let gauge = answer.get("gauge").unwrap();
    assert_eq!((code, gauge.get("ok").unwrap().as_bool()), (0, Some(true)), "{answer:?}");
    assert_eq!(gauge.get("n_broken").unwrap().as_i64(), Some(1));
    assert_eq!(text(gauge.get("runner").unwrap(), "name"), "touchstone-check");
    let mutation = answer.get("mutation").unwrap();
    let number = |name: &str| mutation.get(name).unwrap().as_i64().unwrap();
    assert!(number("total") > number("killed") || number("total") == number("killed"));
    assert_eq!(vectors::list(mutation, "survivors").len() as i64, number("total") - number("killed"));
    assert_eq!(mutation.get("normalized_passed").unwrap().as_bool(), Some(true));
    // A stub that is right is accepted, and then the suite is not ok.
    let (code, answer) = gauged(&[example("first.py"), example("middle.py")], &[]);
    let through = vectors::list(answer.get("gauge").unwrap(), "accepted_stubs");
    assert_eq!((code, through.len(), through[0].as_i64()), (20, 1, Some(1)));
}

/// What a person sees, without a column past the 80th.
#[test]
fn words_at_a_terminal_stay_within_80_columns() {
    if Command::new("script").arg("--version").output().is_err() {
        return vectors::skip(
            "words of touchstone check",
            "script (a terminal for a program) is not installed",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let candidate = folder.path().join("long.py");
    let long = "words and ".repeat(30);
    std::fs::write(&candidate, format!("def middle(x):\n    raise KeyError('{long}')\n")).unwrap();
    let binary = env!("CARGO_BIN_EXE_touchstone");
    let suite = example("suite.json");
    let check = |candidate: &std::path::Path| {
        let typed = format!("{binary} check --suite {} --candidate {}", suite.display(), candidate.display());
        let (_, out, _) =
            run(Command::new("script").args(["-qec", &typed, "/dev/null"]).env("NO_COLOR", "1"), "");
        assert!(out.lines().all(|line| line.trim_end().chars().count() <= 80), "{out}");
        out
    };
    assert!(check(&example("middle.py")).starts_with("accepted  middle.py: 4 tests, sandbox "));
    assert_eq!(check(&example("first.py")).trim(), "refused   first.py: test 1 of 4: check_wrong_value");
    assert!(check(&candidate).starts_with("refused   long.py: test 1 of 4: check_raised: KeyError"));
}

/// A signal ends the candidate and says that nothing was measured; neither a folder nor a process is left.
#[test]
fn a_signal_leaves_nothing_behind() {
    if !has("a_signal_leaves_nothing_behind", "python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let suite = "{\"v\":1,\"entry_point\":\"f\",\"tests\":[{\"args\":\"[1]\",\"expected\":\"1\"}]}";
    fs::write(folder.path().join("suite.json"), suite).unwrap();
    fs::write(folder.path().join("c.py"), "def f(x):\n    while True: pass\n").unwrap();
    let child = touchstone()
        .args(["check", "--json", "--suite", "suite.json", "--candidate", "c.py", "--timeout", "3000"])
        .current_dir(folder.path())
        .env("TMPDIR", &temporary)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let begun =
        || fs::read_dir(&temporary).unwrap().flatten().any(|entry| entry.path().join("code").exists());
    while !begun() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // Before, while or after its process starts: all three end the same.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(22));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("check_interrupted") && said.contains("\"ok\":null"), "{said}");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "what it made is gone");
}

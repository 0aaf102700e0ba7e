//! The launcher: exit codes by verdict only, refused uses, receipts (desk specification 10 and 12).

use super::stage::{ADD, BAD, GOOD, MUL, Ran, Stage, has, ran, touchstone};
use canon::Value;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn accepted_whatever_the_agent_says() {
    if !has("accepted_whatever_the_agent_says", "python3") {
        return;
    }
    let stage = Stage::python(&[ADD, MUL]);
    let ran = stage.run(&[], &format!("{GOOD}; echo 'I failed'; exit 1"));
    ran.is(0, "visible_pass");
    assert_eq!(ran.summary.get("agent_rc").unwrap().as_i64(), Some(1));
    assert_eq!(ran.summary.get("visible_total").unwrap().as_i64(), Some(2));
    assert!(ran.summary.get("requests_seen").unwrap().is_null(), "not measured");
    assert_eq!(stage.entry_types(), ["run_start", "ws_attempt", "ws_verdict"]);
    let (verdict, code, _) = stage.verify();
    assert_eq!((verdict.as_str(), code), ("OK", Some(0)));
}

#[test]
fn refused_whatever_the_agent_says() {
    if !has("refused_whatever_the_agent_says", "python3") {
        return;
    }
    let stage = Stage::python(&[ADD, MUL]);
    let ran = stage.run(&[], BAD);
    ran.is(20, "visible_fail");
    let failures = vectors::list(&ran.summary, "failures");
    assert!(failures[0].as_str().unwrap().contains("check_mul"), "{failures:?}");
    assert_eq!(stage.payload("ws_verdict").get("accepted").unwrap().as_bool(), Some(false));
    assert_eq!(stage.verify().0, "OK", "a refusal is a good receipt");
    assert_eq!(fs::read_to_string(stage.path("run/agent_stdout.log")).unwrap(), "done\n");
}

#[test]
fn nothing_measured_is_never_accepted() {
    let empty = Stage::new();
    empty.run(&[], "true").is(20, "no_suite");
    assert_eq!(empty.payload("ws_attempt").get("verdict_sha256"), Some(&Value::Null));
    assert_eq!(empty.verify().0, "OK");
    let helpers_only = Stage::new();
    helpers_only.write("suite/helper.py", "def check_x(): pass\n");
    helpers_only.run(&[], "true").is(20, "no_suite");
    let no_checks = Stage::command("version = 1\n", &[]);
    no_checks.run(&[], "true").is(20, "no_suite");
}

#[test]
fn ungated_is_said_and_is_not_accepted() {
    let stage = Stage::new();
    let mut command = touchstone();
    command.args(["run", "--json", "--allow-no-suite", "--workspace"]).arg(stage.path("workspace"));
    command.arg("--run-dir").arg(stage.path("run")).args(["--", "/bin/true"]);
    let ran = ran(command.output().unwrap());
    ran.is(0, "ungated");
    assert_eq!(ran.summary.get("accepted"), Some(&Value::Null));
    let verdict = stage.payload("ws_verdict");
    assert_eq!(verdict.get("accepted").unwrap().as_bool(), Some(false));
    assert_eq!(verdict.get("accepted_is_null").unwrap().as_bool(), Some(true));
    assert_eq!(stage.verify().0, "OK");
    let mut without = touchstone();
    without.args(["run", "--json", "--workspace"]).arg(stage.path("workspace"));
    without.arg("--run-dir").arg(stage.path("run2")).args(["--", "/bin/true"]);
    super::stage::ran(without.output().unwrap()).is(20, "no_suite");
}

/// Ruling 20 and 10.1: refused before anything starts, with 64 and nothing written.
#[test]
fn wrong_use_starts_nothing() {
    let stage = Stage::python(&[ADD]);
    stage.write("file", "x");
    stage.write("full/old", "x");
    fs::create_dir(stage.path("workspace/inner")).unwrap();
    symlink(stage.path("workspace/inner"), stage.path("link")).unwrap();
    let outer = |name: &str| stage.path(name).into_os_string().into_string().unwrap();
    let check = |options: &[(&str, &str)], said: &str| {
        let defaults = [("--suite", "suite"), ("--workspace", "workspace"), ("--run-dir", "run")];
        let mut command = touchstone();
        command.arg("run");
        for (name, value) in defaults {
            let value = options.iter().find(|(given, _)| *given == name).map_or(value, |(_, value)| value);
            command.arg(name).arg(outer(value));
        }
        for (name, value) in
            options.iter().filter(|(name, _)| !defaults.iter().any(|(known, _)| known == name))
        {
            command.arg(name);
            if !value.is_empty() {
                command.arg(value);
            }
        }
        let output = command.args(["--", "/bin/sh", "-c", "echo ran > ran"]).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(64), "{options:?}: {error}");
        assert!(error.contains(said), "{options:?}: {error}");
        assert!(!stage.path("workspace/ran").exists() && !stage.path("run/rows.jsonl").exists());
    };
    check(&[("--workspace", "absent")], "not a directory");
    check(&[("--workspace", "file")], "not a directory");
    check(&[("--suite", "absent")], "not a directory");
    check(&[("--suite", "file")], "not a directory");
    check(&[("--suite", "workspace/inner")], "inside one another");
    check(&[("--suite", "link")], "inside one another");
    check(&[("--suite", "workspace")], "inside one another");
    check(&[("--run-dir", "workspace/receipts")], "must not share");
    check(&[("--run-dir", "link/receipts")], "must not share");
    check(&[("--run-dir", "suite/receipts")], "must not share");
    check(&[("--run-dir", "full")], "not empty");
    check(&[("--run-dir", "file")], "file");
    check(&[("--task-id", "a\u{7}b")], "task id");
    check(&[("--allow-no-suite", "")], "contradict");
    check(&[("--sandbox", "none"), ("--require-sandbox", "full")], "contradict");
    check(&[("--timeout", "0")], "timeout");
    check(&[("--sandbox", "some")], "sandbox");
    let forgotten = touchstone().args(["run", "--allow-no-suite", "python3", "a.py"]).output().unwrap();
    assert_eq!(forgotten.status.code(), Some(64));
    let error = String::from_utf8_lossy(&forgotten.stderr);
    assert!(error.contains("tip: put -- before the agent's command"), "{error}");
    let none = touchstone().args(["run", "--"]).output().unwrap();
    assert_eq!(none.status.code(), Some(64));
}

#[test]
fn a_suite_that_cannot_be_used_is_wrong_use() {
    let stage = Stage::command("version = 1\nsurprise = 2\n", &[]);
    let ran = stage.run(&[], "true");
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("suite.toml:2"), "{}", ran.stderr);
    let stage = Stage::new();
    fs::write(stage.path("suite/test_a.py"), b"def check_a():\n    return '\xff'\n").unwrap();
    let ran = stage.run(&[], "true");
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("test_a.py is not UTF-8"), "{}", ran.stderr);
}

/// Void runs keep their entries and end in a signed void entry (31.2).
#[test]
fn an_agent_that_cannot_start_is_a_signed_void() {
    let stage = Stage::python(&[ADD]);
    let ran = ran(stage.command_line(&[], &["/no/such/agent"]).output().unwrap());
    ran.is(22, "agent_spawn_failed");
    assert_eq!(stage.entry_types(), ["run_start", "run_void"]);
    let (verdict, code, answer) = stage.verify();
    assert_eq!((verdict.as_str(), code), ("VOID", Some(3)), "{answer:?}");
}

#[test]
fn the_suite_counts_as_it_was_before_the_agent() {
    if !has("the_suite_counts_as_it_was_before_the_agent", "python3") {
        return;
    }
    let stage = Stage::python(&[MUL]);
    let suite = stage.path("suite");
    let script = format!("{BAD}; echo 'def check_mul(): pass' > {0}/test_0.py", suite.display());
    let ran = stage.run(&[], &script);
    ran.is(20, "visible_fail");
    assert_eq!(ran.summary.get("suite_unchanged").unwrap().as_bool(), Some(false));
    let gone = Stage::python(&[ADD]);
    let script = format!("{GOOD}; rm -r {}", gone.path("suite").display());
    gone.run(&[], &script).is(0, "visible_pass");
}

/// PC-03: a delivery that changes nothing says so.
#[test]
fn pc03_an_unchanged_workspace_is_named() {
    if !has("pc03_an_unchanged_workspace_is_named", "python3") {
        return;
    }
    let stage = Stage::python(&[ADD]);
    stage.write("workspace/solution.py", "def add(a, b):\n    return a + b\n");
    let mut command = touchstone();
    command.args(["run", "--suite"]).arg(stage.path("suite")).arg("--workspace").arg(stage.path("workspace"));
    let output = command.arg("--run-dir").arg(stage.path("run")).args(["--", "/bin/true"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("ACCEPTED") && text.contains("the workspace did not change"), "{text}");
    assert_eq!(stage.payload("ws_attempt").get("ws_changed").unwrap().as_bool(), Some(false));
}

/// What a person reads: a rule between the agent's words and ours, 80 columns, every thing said once.
#[test]
fn the_block_for_people() {
    let stage = Stage::command(
        "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"/bin/sh\", \"-c\", \"cat words >&2; test ! -e bad\"]\nresult = \"exit\"\n",
        &[],
    );
    stage.write("workspace/words", &"word ".repeat(30));
    let said = |run: &str, suite: &str, agent: &str| {
        let mut command = touchstone();
        command.arg("run").arg("--workspace").arg(stage.path("workspace"));
        if !suite.is_empty() {
            command.arg("--suite").arg(stage.path(suite));
        }
        let output =
            command.arg("--run-dir").arg(stage.path(run)).args(["--", "/bin/sh", "-c", agent]).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        let (before, block) =
            text.split_once("\n── touchstone ─").unwrap_or_else(|| panic!("no rule: {text}"));
        for line in block.lines().skip(1).filter(|line| !line.contains("receipts")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
        (before.to_owned(), block.to_owned())
    };
    let (before, block) = said("r1", "suite", "sleep 300 & printf unfinished");
    assert_eq!(before, "unfinished");
    assert!(
        block.contains("ACCEPTED") && block.contains("passed by exit status; cases: not measured"),
        "{block}"
    );
    assert!(block.contains("what it left running was ended"), "{block}");
    let (_, block) = said("r2", "suite", "touch bad");
    assert!(block.contains("REFUSED") && block.contains("c: stderr: word word"), "{block}");
    let (_, block) = said("r3", "", "true");
    assert!(block.contains("give --suite DIR"), "{block}");
    stage.write(
        "missing/suite.toml",
        "version = 1\n[[check]]\nname = \"c\"\nrun = [\"no-such-tool\"]\nresult = \"tap\"\n",
    );
    let (_, block) = said("r4", "missing", "true");
    assert_eq!(block.matches("no-such-tool").count(), 1, "{block}");
}

/// PC-01: no controlling terminal, so nothing can wait for a person.
#[test]
fn pc01_the_terminal_is_out_of_reach() {
    let test = "pc01_the_terminal_is_out_of_reach";
    if !has(test, "script") || !has(test, "python3") {
        return;
    }
    let stage = Stage::python(&["def check_f():\n    assert open('f').read() == 'ok\\n'\n"]);
    let line = format!(
        "{} run --suite {} --workspace {} --run-dir {} -- sh -c 'read x </dev/tty; echo ok >f'",
        env!("CARGO_BIN_EXE_touchstone"),
        stage.path("suite").display(),
        stage.path("workspace").display(),
        stage.path("run").display()
    );
    let mut script = std::process::Command::new("script");
    let status = script.args(["-qec", &line]).arg(stage.path("typescript")).output().unwrap().status;
    assert_eq!(status.code(), Some(0));
}

/// PC-02: a missing tool of the suite is 22 and named, a module that the candidate lacks is 20.
#[test]
fn pc02_whose_fault_is_it() {
    let stage = Stage::command(
        "version = 1\n[[check]]\nname = \"c\"\nrun = [\"no-such-tool-here\"]\nresult = \"tap\"\n",
        &[],
    );
    let ran = stage.run(&[], "true");
    ran.is(22, "suite_tool_missing");
    assert!(ran.text("trouble").contains("no-such-tool-here"), "{}", ran.text("trouble"));
    assert!(ran.summary.get("visible_total").unwrap().is_null(), "no 0 of n");
    assert_eq!(stage.verify().0, "VOID");
    if has("pc02_whose_fault_is_it", "python3") {
        let stage = Stage::python(&[ADD]);
        stage.run(&[], "echo 'import no_such_module' > solution.py").is(20, "visible_fail");
    }
}

/// PC-42 and PC-43: the run ends with the main process, strays are found wherever they went.
#[test]
fn pc42_pc43_strays_are_ended_before_the_freeze() {
    if !has("pc42_pc43_strays_are_ended_before_the_freeze", "setsid") {
        return;
    }
    let check = "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"/bin/sh\", \"-c\", \"test -e f && ! grep late f\"]\nresult = \"exit\"\n";
    for script in [
        "echo now > f; setsid nohup sh -c 'sleep 2; echo late >>f' >/dev/null 2>&1 & exit 0",
        "echo now > f; setsid sh -c 'setsid sh -c \"sleep 2; echo late >>f\" &' & exit 0",
        "echo now > f; env -i setsid sh -c 'sleep 2; echo late >>f' & exit 0",
        "echo now > f; sleep 300 & exit 0",
    ] {
        let stage = Stage::command(check, &[]);
        let ran = stage.run(&[], script);
        ran.is(0, "visible_pass");
        assert_eq!(ran.summary.get("orphans_killed").unwrap().as_bool(), Some(true), "{script}");
        assert_eq!(fs::read_to_string(stage.path("workspace/f")).unwrap(), "now\n");
        assert_eq!(ran.text("cases"), "not_measured");
    }
    let stage = Stage::command(check, &[]);
    let ran = stage.run(&["--timeout", "1"], "echo now > f; trap '' TERM; while :; do sleep 1; done");
    ran.is(0, "visible_pass");
    assert_eq!(ran.summary.get("agent_timed_out").unwrap().as_bool(), Some(true));
}

/// What a failing check printed is kept, and the folders of one run are in nothing that is digested.
#[test]
fn two_runs_of_a_failing_suite_have_one_result() {
    let toml = "version = 1\n[[check]]\nname = \"c\"\nrun = [\"/bin/sh\", \"{suite}/c.sh\", \"{workspace}\", \"{scratch}\"]\nresult = \"tap\"\n";
    let script =
        "echo 1..2; echo \"not ok 1 - $0\"; echo \"not ok 2 - $1 and $2\"; echo \"why: $0\" >&2; exit 1\n";
    let record = || {
        let stage = Stage::command(toml, &[("c.sh", script)]);
        let ran = stage.run(&[], "true");
        ran.is(20, "visible_fail");
        let bytes = fs::read(stage.path("run/visible_RUN-ON.json")).unwrap();
        (ran, canon::Reader::strict().read(&bytes).unwrap())
    };
    let ((ran, one), (_, other)) = (record(), record());
    assert_eq!(vectors::text(&one, "result_sha256"), vectors::text(&other, "result_sha256"));
    assert_eq!(one, other);
    let said = String::from_utf8(canon::canonical(&one)).unwrap();
    assert!(said.contains("{suite}/c.sh") && said.contains("{workspace} and {scratch}"), "{said}");
    assert!(!said.contains("touchstone-gate") && !said.contains("_frozen"), "{said}");
    let printed = &vectors::list(&one, "printed")[0];
    assert_eq!(vectors::text(printed, "stderr_tail"), "why: {suite}/c.sh\n");
    let failures = vectors::list(&ran.summary, "failures");
    assert_eq!(failures.last().unwrap().as_str(), Some("c: stderr: why: {suite}/c.sh"));
}

/// Without a suite's counts an exit status is not enough (ruling 10).
#[test]
fn exit_status_alone_must_be_declared() {
    let toml = |counts: &str| {
        format!("version = 1\n{counts}\n[[check]]\nname = \"c\"\nrun = [\"/bin/true\"]\nresult = \"exit\"\n")
    };
    Stage::command(&toml(""), &[]).run(&[], "true").is(20, "visible_fail");
    Stage::command(&toml("counts = \"none\""), &[]).run(&[], "true").is(0, "visible_pass");
}

/// What was tried inside, as a receipt names it.
const PROBES: [&str; 17] = [
    "tcp_loopback",
    "unix_path_tmp",
    "unix_path_visible",
    "unix_abstract_stream",
    "unix_abstract_datagram",
    "write_outside",
    "read_secret",
    "change_mode",
    "see_desk",
    "signal_desk",
    "limit_desk",
    "ptrace_parent",
    "user_namespace",
    "mount",
    "keyctl",
    "terminal",
    "raise_limit",
];

#[test]
fn sandbox_levels_are_what_was_measured() {
    let toml =
        "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"/bin/true\"]\nresult = \"exit\"\n";
    let level = |ran: &Ran| {
        let sandbox = ran.summary.get("sandbox").unwrap();
        vectors::text(sandbox, "level").to_owned()
    };
    let auto = Stage::command(toml, &[]).run(&[], "true");
    auto.is(0, "visible_pass");
    assert!(["full", "landlock"].contains(&level(&auto).as_str()), "never none by itself");
    let measured = auto.summary.get("sandbox").and_then(|sandbox| sandbox.get("measured")).unwrap();
    for probe in PROBES {
        let excused = level(&auto) == "landlock" && ["see_desk", "signal_desk"].contains(&probe);
        assert!(excused || vectors::text(measured, probe) == "blocked", "{probe}");
    }
    assert_eq!(measured.as_object().unwrap().len(), PROBES.len());
    let none = Stage::command(toml, &[]).run(&["--sandbox", "none"], "true");
    none.is(0, "visible_pass");
    assert_eq!(level(&none), "none");
    let required = Stage::command(toml, &[]).run(&["--require-sandbox", "landlock"], "true");
    required.is(0, "visible_pass");
}

#[test]
fn the_frozen_copy_can_be_discarded() {
    let stage = Stage::new();
    let script = "mkdir -p a/b; echo x > a/b/c; chmod 500 a/b a";
    stage.run(&["--discard-frozen"], script).is(20, "no_suite");
    assert!(!stage.path("run/_frozen_RUN-ON").exists());
    assert_eq!(stage.verify().0, "OK");
}

/// Ctrl-C ends the agent and the run in a signed void entry; nothing is left running.
#[test]
fn an_interrupt_is_a_signed_void() {
    let stage = Stage::new();
    let mut child = stage
        .command_line(&[], &["/bin/sh", "-c", "touch started; sleep 986 & wait"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !stage.path("workspace/started").exists() && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut text = Vec::new();
    std::io::Read::read_to_end(child.stdout.as_mut().unwrap(), &mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(22));
    let summary = canon::Reader::strict().read(&text).unwrap();
    assert_eq!(vectors::text(&summary, "stop_reason"), "interrupted");
    assert_eq!(stage.entry_types(), ["run_start", "run_void"]);
    assert_eq!(stage.verify().0, "VOID");
}

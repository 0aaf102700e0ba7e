//! Several attempts: what each starts from, what the agent is told, what is signed (desk specification 10.3, 11).

use super::stage::{ADD, MUL, Ran, Stage, entries, has, ran, reasons, touchstone, verify};
use canon::{Digest, Value};
use rustix::process::{Pid, Signal};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Right at the attempt whose number is in `$1`; counts beside the workspace.
const SLOW: &str = "n=$(cat ../count 2>/dev/null || echo 0); n=$((n+1)); echo $n > ../count; ls > ../seen_$n; \
    [ $n -ge 2 ] && printf 'def mul(a, b):\\n    return a * b\\n' > solution.py || \
    printf 'def mul(a, b):\\n    return a + b\\n' > solution.py";

/// Wrong for ever.
const NEVER: &str = "printf 'def mul(a, b):\\n    return a + b\\n' > solution.py";

fn attempts(stage: &Stage) -> Vec<Value> {
    let chain = fs::read(stage.path("run/receipts_RUN-ON.ndjson")).unwrap();
    let all = entries(&chain);
    let attempts = all.iter().filter(|entry| vectors::text(entry, "type") == "ws_attempt");
    attempts.map(|entry| entry.get("payload").unwrap().clone()).collect()
}

fn number(value: &Value, member: &str) -> Option<i64> {
    value.get(member).and_then(Value::as_i64)
}

#[track_caller]
fn is_ok(stage: &Stage) {
    let (verdict, code, answer) = stage.verify();
    assert_eq!((verdict.as_str(), code), ("OK", Some(0)), "{answer:?}");
}

#[test]
fn revise_keeps_the_workspace_and_tells_what_failed() {
    if !has("revise_keeps_the_workspace_and_tells_what_failed", "python3") {
        return;
    }
    let stage = Stage::python(&[MUL]);
    let ran = stage.run(&["--retry", "revise"], SLOW);
    ran.is(0, "visible_pass");
    assert_eq!(
        (number(&ran.summary, "attempts_used"), number(&ran.summary, "max_attempts")),
        (Some(2), Some(3))
    );
    assert_eq!(stage.entry_types(), ["run_start", "ws_attempt", "ws_attempt", "ws_verdict"]);
    assert_eq!(fs::read_to_string(stage.path("seen_1")).unwrap(), "");
    assert_eq!(fs::read_to_string(stage.path("seen_2")).unwrap(), "VACANT_FEEDBACK.md\nsolution.py\n");
    let told = fs::read_to_string(stage.path("workspace/VACANT_FEEDBACK.md")).unwrap();
    assert!(told.contains("attempt 1 of at most 3") && told.contains("test_0.py::check_mul"), "{told}");
    let [first, second] = &attempts(&stage)[..] else { panic!() };
    for (attempt, accepted, stop) in [(first, false, "visible_fail"), (second, true, "visible_pass")] {
        assert_eq!(attempt.get("accepted").unwrap().as_bool(), Some(accepted));
        assert_eq!(vectors::text(attempt, "stop_reason"), stop);
        assert_eq!(vectors::text(attempt, "retry"), "revise");
    }
    // The feedback file counts: the second attempt starts from another tree than the first one ended with.
    assert_ne!(second.get("ws_start_sha256"), first.get("ws_sha256"));
    assert_eq!(first.get("argv_sha256"), second.get("argv_sha256"));
    for name in ["_frozen_RUN-ON/solution.py", "_frozen_RUN-ON_a2/solution.py", "visible_RUN-ON.json"] {
        assert!(stage.path("run").join(name).is_file(), "{name}");
    }
    assert!(stage.path("run/visible_RUN-ON_a2.json").is_file());
    is_ok(&stage);
}

#[test]
fn resample_begins_anew_with_everything() {
    if !has("resample_begins_anew_with_everything", "python3") {
        return;
    }
    let stage = Stage::python(&[MUL]);
    stage.write("workspace/.git/HEAD", "ref: refs/heads/main\n");
    stage.write("workspace/kept/file.txt", "before");
    fs::set_permissions(stage.path("workspace/kept"), fs::Permissions::from_mode(0o555)).unwrap();
    let spoil =
        "rm -rf .git; mkdir -p trash/deep; chmod 000 trash; chmod 755 kept; echo after > kept/file.txt;";
    let script = format!("ls -A > ../began; {spoil} {SLOW}");
    let ran = stage.run(&["--retry", "resample", "--max-attempts", "2"], &script);
    ran.is(0, "visible_pass");
    let began = fs::read_to_string(stage.path("began")).unwrap();
    assert_eq!(began, ".git\nkept\n", "no feedback, nothing of the first attempt");
    assert!(!stage.path("workspace/VACANT_FEEDBACK.md").exists());
    let [first, second] = &attempts(&stage)[..] else { panic!() };
    assert_eq!(first.get("ws_start_sha256_v2"), second.get("ws_start_sha256_v2"));
    assert!(!stage.path("run/_origin").exists(), "the copy is not needed any more");
    is_ok(&stage);
    fs::set_permissions(stage.path("workspace/trash"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn every_attempt_fails() {
    if !has("every_attempt_fails", "python3") {
        return;
    }
    for retry in ["resample", "revise"] {
        let stage = Stage::python(&[MUL]);
        let ran = stage.run(&["--retry", retry, "--max-attempts", "2"], NEVER);
        ran.is(20, "attempts_exhausted");
        assert_eq!(stage.entry_types(), ["run_start", "ws_attempt", "ws_attempt", "ws_verdict"]);
        assert_eq!(vectors::text(&attempts(&stage)[1], "stop_reason"), "visible_fail");
        assert_eq!(stage.payload("ws_verdict").get("accepted").unwrap().as_bool(), Some(false));
        is_ok(&stage);
    }
}

/// The first command is the one without the desk; a later one ends with the text.
/// A delivery must not be able to choose void: what it makes a check say may hold any byte.
#[test]
fn feedback_holds_no_control_character() {
    if !has("feedback_holds_no_control_character", "python3") {
        return;
    }
    let check = "def check_said():\n    said = open('said').read()\n    assert said == 'ok', said\n";
    let agent = [
        "/bin/sh",
        "-c",
        "printf 'a\\0b\\033[31m' > said; printf '%s' \"$1\" > ../prompt",
        "sh",
        "go{VACANT_FEEDBACK}",
    ];
    let stage = Stage::python(&[check]);
    let options = ["--retry", "revise", "--feedback-into", "prompt", "--max-attempts", "2"];
    ran(stage.command_line(&options, &agent).output().unwrap()).is(20, "attempts_exhausted");
    let prompt = fs::read_to_string(stage.path("prompt")).unwrap();
    assert!(prompt.contains("a\\u{0}b\\u{1b}[31m"), "{prompt}");
    is_ok(&stage);
}

#[test]
fn feedback_in_the_prompt() {
    if !has("feedback_in_the_prompt", "python3") {
        return;
    }
    let script = "printf '%s' \"$1\" >> ../prompts; printf '\\0' >> ../prompts; \
        case \"$1\" in *check_mul*) printf 'def mul(a, b):\\n    return a * b\\n' > solution.py;; \
        *) printf 'def mul(a, b):\\n    return a + b\\n' > solution.py;; esac";
    let agent = ["/bin/sh", "-c", script, "sh", "write mul{VACANT_FEEDBACK}"];
    for (into, file) in [("prompt", false), ("both", true)] {
        let stage = Stage::python(&[MUL]);
        let ran = ran(stage
            .command_line(&["--retry", "revise", "--feedback-into", into], &agent)
            .output()
            .unwrap());
        ran.is(0, "visible_pass");
        let prompts = fs::read_to_string(stage.path("prompts")).unwrap();
        let prompts: Vec<&str> = prompts.split_terminator('\0').collect();
        assert_eq!(prompts[0], "write mul");
        assert!(prompts[1].starts_with("write mul\n\n# What the checks found"), "{}", prompts[1]);
        assert_eq!(stage.path("workspace/VACANT_FEEDBACK.md").exists(), file);
        let [first, second] = &attempts(&stage)[..] else { panic!() };
        let plain = ["/bin/sh", "-c", script, "sh", "write mul"].join("\0");
        assert_eq!(vectors::text(first, "argv_sha256"), Digest::of(plain.as_bytes()).to_hex());
        assert_ne!(first.get("argv_sha256"), second.get("argv_sha256"));
        assert_eq!(number(first, "feedback_in_prompt_bytes"), Some(0));
        let added = prompts[1].len() - "write mul".len();
        assert_eq!(number(second, "feedback_in_prompt_bytes"), i64::try_from(added).ok());
        assert_eq!(vectors::text(second, "feedback_delivery"), into);
        is_ok(&stage);
    }
}

/// The refusals of section 11: 64, and nothing is started.
#[test]
fn settings_that_do_not_fit_start_nothing() {
    let stage = Stage::python(&[ADD]);
    let holds = ["/bin/sh", "-c", "echo ran > ran", "{VACANT_FEEDBACK}"];
    let plain = ["/bin/sh", "-c", "echo ran > ran"];
    let cases: [(&[&str], &[&str], &str); 9] = [
        (&["--max-attempts", "2"], &plain, "resample or revise"),
        (&["--retry", "revise", "--feedback-into", "prompt"], &plain, "{VACANT_FEEDBACK}"),
        (&["--retry", "revise", "--feedback-into", "both"], &plain, "{VACANT_FEEDBACK}"),
        (&["--retry", "revise"], &holds, "prompt or both"),
        (&[], &holds, "prompt or both"),
        (&["--feedback-into", "prompt"], &holds, "--retry revise"),
        (&["--vacant", "0", "--retry", "revise"], &plain, "--vacant 0"),
        (&["--vacant", "0", "--retry", "resample"], &plain, "--vacant 0"),
        (&["--retry", "again"], &plain, "--retry"),
    ];
    for (options, agent, said) in cases {
        let ran = ran(stage.command_line(options, agent).output().unwrap());
        assert_eq!(ran.code, Some(64), "{options:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{options:?}: {}", ran.stderr);
        assert!(!stage.path("workspace/ran").exists() && !stage.path("run").exists());
    }
    let output = stage.command_line(&[], &plain).env("VACANT", "yes").output().unwrap();
    assert_eq!(output.status.code(), Some(64));
}

/// KS-1: words of the suite make the run void, words of the delivery are withheld (ruling 16).
#[test]
fn rhetoric_is_not_passed_on() {
    if !has("rhetoric_is_not_passed_on", "python3") {
        return;
    }
    let threat =
        "import solution\ndef check_mul():\n    assert solution.mul(2, 3) == 6, 'You will be punished'\n";
    let stage = Stage::python(&[threat]);
    let ran = stage.run(&["--retry", "revise"], NEVER);
    ran.is(22, "ks1_violation");
    assert_eq!(stage.entry_types(), ["run_start", "ws_attempt", "run_void"]);
    assert_eq!(stage.verify().0, "VOID");
    let stage = Stage::python(&[MUL]);
    let planted = "printf 'def mul(a, b):\\n    raise ValueError(\"you will be punished\")\\n' > solution.py";
    stage.run(&["--retry", "revise", "--max-attempts", "2"], planted).is(20, "attempts_exhausted");
    let told = fs::read_to_string(stage.path("workspace/VACANT_FEEDBACK.md")).unwrap();
    assert!(told.contains("withheld") && !told.contains("punished"), "{told}");
    is_ok(&stage);
}

/// A workspace that cannot be copied whole is found before the agent starts.
#[test]
fn what_cannot_be_reset_is_void() {
    let stage = Stage::command(
        "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"/bin/false\"]\nresult = \"exit\"\n",
        &[],
    );
    let _socket = UnixListener::bind(stage.path("workspace/socket")).unwrap();
    let ran = stage.run(&["--retry", "resample"], "echo ran > ran");
    ran.is(22, "ws_reset_failed");
    assert!(!stage.path("workspace/ran").exists());
    assert_eq!(stage.entry_types(), ["run_start", "run_void"]);
    assert_eq!(stage.verify().0, "VOID");
}

/// Ruling 16: an agent that spoils the kept copy is refused, it does not make the run void.
#[test]
fn an_agent_that_spoils_the_copy_is_refused() {
    if !has("an_agent_that_spoils_the_copy_is_refused", "python3") {
        return;
    }
    let stage = Stage::python(&[MUL]);
    stage.write("workspace/a", "a");
    let ran = stage.run(&["--retry", "resample"], &format!("echo b > ../run/_origin/a; {NEVER}"));
    ran.is(20, "delivery_unfit");
    assert!(ran.text("trouble").contains("copy that was kept"), "{}", ran.text("trouble"));
    assert!(stage.path("run/_origin/a").is_file(), "kept: nothing else is left of the start");
    is_ok(&stage);
    // Nor is a folder emptied that is not the workspace.
    let stage = Stage::python(&[MUL]);
    let script = format!("{NEVER}; cd ..; mv workspace moved; mkdir workspace; echo x > workspace/x");
    let ran = stage.run(&["--retry", "resample"], &script);
    ran.is(20, "delivery_unfit");
    assert!(ran.text("trouble").contains("workspace's place"), "{}", ran.text("trouble"));
    assert!(stage.path("workspace/x").is_file());
    is_ok(&stage);
    // What the desk wrote before the second attempt is written anew when that one changes it.
    let stage = Stage::python(&[MUL]);
    let forge = format!(
        "{NEVER}; test -f ../run/visible_RUN-ON.json && echo {{}} > ../run/visible_RUN-ON.json; true"
    );
    let ran = stage.run(&["--retry", "revise"], &forge);
    ran.is(20, "delivery_unfit");
    assert!(ran.text("trouble").contains("run_dir_tampered"), "{}", ran.text("trouble"));
    is_ok(&stage);
}

/// Whatever stands where the feedback goes makes room.
#[test]
fn the_name_of_the_feedback_is_the_desks() {
    if !has("the_name_of_the_feedback_is_the_desks", "python3") {
        return;
    }
    let stage = Stage::python(&[MUL]);
    stage.write("outside", "mine");
    let planted = format!("{NEVER}; rm -rf VACANT_FEEDBACK.md; ln -s ../outside VACANT_FEEDBACK.md");
    stage.run(&["--retry", "revise", "--max-attempts", "2"], &planted).is(20, "attempts_exhausted");
    assert_eq!(fs::read_to_string(stage.path("outside")).unwrap(), "mine");
    let stage = Stage::python(&[MUL]);
    let folder = format!(
        "{NEVER}; rm -rf VACANT_FEEDBACK.md; mkdir -p VACANT_FEEDBACK.md/x; chmod 0 VACANT_FEEDBACK.md"
    );
    stage.run(&["--retry", "revise", "--max-attempts", "3"], &folder).is(20, "attempts_exhausted");
    fs::set_permissions(stage.path("workspace/VACANT_FEEDBACK.md"), fs::Permissions::from_mode(0o755))
        .unwrap();
}

fn off(stage: &Stage, agent: &[&str]) -> Ran {
    ran(stage.command_line(&["--vacant", "0"], agent).output().unwrap())
}

/// 10.3f: no checks, no receipt, the agent's own exit code; an infrastructure void still gives 22.
#[test]
fn the_arm_that_is_not_judged() {
    let stage = Stage::python(&[MUL]);
    let ran = off(&stage, &["/bin/sh", "-c", "echo x > f; exit 7"]);
    ran.is(7, "ungated");
    assert_eq!(ran.summary.get("accepted"), Some(&Value::Null));
    assert_eq!(ran.text("arm"), "RUN-OFF");
    let row = fs::read(stage.path("run/rows.jsonl")).unwrap();
    let row = entries(&row).remove(0);
    assert_eq!((number(&row, "vacant"), number(&row, "agent_rc")), (Some(0), Some(7)));
    assert!(stage.path("run/_frozen_RUN-OFF/f").is_file() && stage.path("run/run_RUN-OFF.json").is_file());
    assert!(
        !stage.path("run/receipts_RUN-OFF.ndjson").exists()
            && !stage.path("run/visible_RUN-OFF.json").exists()
    );
    let (verdict, code, _) = verify(&stage.path("run"));
    assert_eq!((verdict.as_str(), code), ("UNVERIFIABLE", Some(1)), "nothing was signed");
    let killed = off(&Stage::new(), &["/bin/sh", "-c", "kill -9 $$"]);
    killed.is(137, "ungated");
    off(&Stage::new(), &["/no/such/agent"]).is(22, "agent_spawn_failed");
    let stage = Stage::new();
    let mut command = stage.command_line(&[], &["/bin/sh", "-c", "exit 3"]);
    super::stage::ran(command.env("VACANT", "0").output().unwrap()).is(3, "ungated");
    // The argument wins.
    let stage = Stage::new();
    let mut command = stage.command_line(&["--vacant", "1"], &["/bin/sh", "-c", "exit 3"]);
    super::stage::ran(command.env("VACANT", "0").output().unwrap()).is(20, "no_suite");
}

/// Two runs at once at one directory: one of them is refused, also in the arm without a chain.
#[test]
fn the_arm_that_is_not_judged_claims_its_directory() {
    let stage = Stage::new();
    off(&stage, &["/bin/true"]).is(0, "ungated");
    assert_eq!(off(&stage, &["/bin/true"]).code, Some(64));
}

/// A missing attempt, one too many and one moved are each seen.
#[test]
fn chains_of_retried_runs_are_held_together() {
    if !has("chains_of_retried_runs_are_held_together", "python3") {
        return;
    }
    let stage = Stage::python(&[MUL]);
    stage.run(&["--retry", "revise", "--max-attempts", "2"], NEVER).is(20, "attempts_exhausted");
    let path = stage.path("run/receipts_RUN-ON.ndjson");
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let spoilt = [
        vec![lines[0], lines[2], lines[3]],
        vec![lines[0], lines[2], lines[1], lines[3]],
        vec![lines[0], lines[1], lines[2], lines[2], lines[3]],
        vec![lines[0], lines[1], lines[2]],
    ];
    for kept in spoilt {
        fs::write(&path, format!("{}\n", kept.join("\n"))).unwrap();
        let (verdict, code, answer) = stage.verify();
        assert_eq!((verdict.as_str(), code), ("BROKEN", Some(1)), "{:?}", reasons(&answer));
    }
    fs::write(&path, whole).unwrap();
    is_ok(&stage);
}

/// Ctrl-C in the second attempt: the first one stays signed, and all of it verifies.
#[test]
fn an_interrupt_keeps_the_attempts_before_it() {
    let test = "an_interrupt_keeps_the_attempts_before_it";
    if !has(test, "python3") {
        return;
    }
    let stage = Stage::python(&[MUL]);
    let script =
        format!("{NEVER}; test -f VACANT_FEEDBACK.md && {{ echo $$ > ../second; sleep 300; }}; true");
    let mut command = stage.command_line(&["--retry", "revise"], &["/bin/sh", "-c", &script]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let agent = pid_in(&stage.path("second"));
    rustix::process::kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = ran(child.wait_with_output().unwrap());
    ran.is(22, "interrupted");
    assert_eq!(number(&ran.summary, "attempts_used"), Some(2));
    assert_eq!(stage.entry_types(), ["run_start", "ws_attempt", "run_void"]);
    assert_eq!(stage.verify().0, "VOID");
    assert!(rustix::process::test_kill_process(agent).is_err(), "the agent is gone");
}

/// The process id that an agent wrote, once it is there whole.
fn pid_in(path: &Path) -> Pid {
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        if let Some(pid) = text.strip_suffix('\n').and_then(|pid| Pid::from_raw(pid.parse().ok()?)) {
            return pid;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_words_on_the_screen() {
    if !has("the_words_on_the_screen", "python3") {
        return;
    }
    let stage = Stage::python(&[MUL]);
    let mut command = touchstone();
    command.args(["run", "--retry", "revise", "--suite"]).arg(stage.path("suite"));
    command.arg("--workspace").arg(stage.path("workspace")).arg("--run-dir").arg(stage.path("run"));
    let output = command.args(["--", "/bin/sh", "-c", SLOW]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("ACCEPTED  visible_pass") && text.contains("attempts  2 of at most 3"), "{text}");
}

/// 10.4: what an agent can see of its run is the same in both arms, so what it asks a model is too.
#[test]
fn both_arms_look_the_same_to_the_agent() {
    let dump = "{ env | sort; pwd; id; ls -la; umask; printf '%s|' \"$0\" \"$@\"; readlink /proc/self/fd/0; } > ../seen";
    // One workspace for both: its path and times are seen too.
    let stage = Stage::python(&[ADD]);
    let mut seen = Vec::new();
    for (arm, variable) in [("0", "0"), ("1", "1"), ("0", "1"), ("1", "0")] {
        let mut command = stage
            .command_line(&["--calls", "ignore", "--vacant", arm], &["/bin/sh", "-c", dump, "sh", "do it"]);
        let ran =
            ran(command.env("VACANT", variable).env("VACANT_RUN_UPSTREAM_OPENAI", arm).output().unwrap());
        assert_eq!(ran.code, Some(if arm == "0" { 0 } else { 20 }), "{}", ran.stderr);
        seen.push(fs::read_to_string(stage.path("seen")).unwrap());
        fs::remove_dir_all(stage.path("run")).unwrap();
    }
    assert!(seen[0].contains("do it|/dev/null") && !seen[0].contains("VACANT"), "{}", seen[0]);
    assert!(seen.iter().all(|arm| *arm == seen[0]), "{seen:?}");
}

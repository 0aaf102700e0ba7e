//! An agent does not choose its judge: programs and suite copies are out of its reach.

use super::stage::{ADD, GOOD, MUL, Ran, Stage, has, ran};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn executable(stage: &Stage, name: &str, text: &str) {
    stage.write(name, text);
    fs::set_permissions(stage.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs with folders in front of PATH.
fn run_with_path(stage: &Stage, path: &str, script: &str) -> Ran {
    let path = path.replace("ROOT", &stage.root.path().display().to_string());
    let mut command = stage.command_line(&[], &["/bin/sh", "-c", script]);
    command.env("PATH", path).current_dir(stage.path("workspace"));
    ran(command.output().unwrap())
}

const LYING_TOOL: &str = "#!/bin/sh\nprintf '1..1\\nok 1 - c\\n'\n";
const TOOL_SUITE: &str = "version = 1\n[[check]]\nname = \"c\"\nrun = [\"judge\"]\nresult = \"tap\"\n";

#[test]
fn a_tool_that_the_agent_replaced_is_refused() {
    let stage = Stage::command(TOOL_SUITE, &[]);
    executable(&stage, "bin/judge", "#!/bin/sh\nprintf '1..1\\nnot ok 1 - c\\n'\n");
    let path = "ROOT/bin:/usr/bin:/bin";
    run_with_path(&stage, path, "true").is(20, "visible_fail");
    let again = Stage::command(TOOL_SUITE, &[]);
    executable(&again, "bin/judge", "#!/bin/sh\nprintf '1..1\\nnot ok 1 - c\\n'\n");
    again.write("lie", LYING_TOOL);
    let ran = run_with_path(&again, path, "cat ../lie > ../bin/judge");
    ran.is(20, "delivery_unfit");
    assert_eq!(vectors::list(&ran.summary, "reasons")[0].as_str(), Some("tool_tampered"));
    assert_eq!(again.payload("ws_attempt").get("stop_reason").unwrap().as_str(), Some("delivery_unfit"));
}

/// Folders of PATH that are relative, empty, or lie in the workspace hold no judge; nor does one that the agent fills.
#[test]
fn a_tool_that_the_agent_planted_is_not_started() {
    for path in
        ["ROOT/later:/usr/bin:/bin", "ROOT/workspace:/usr/bin:/bin", ".:/usr/bin:/bin", ":/usr/bin:/bin"]
    {
        let stage = Stage::command(TOOL_SUITE, &[]);
        stage.write("lie", LYING_TOOL);
        let script =
            "mkdir -p ../later; cp ../lie judge; cp ../lie ../later/judge; chmod 755 judge ../later/judge";
        run_with_path(&stage, path, script).is(22, "suite_tool_missing");
    }
    if has("a_tool_that_the_agent_planted_is_not_started", "python3") {
        let python = std::env::var("PATH").unwrap();
        for front in ["ROOT/later", "ROOT/workspace", ".", ""] {
            let stage = Stage::python(&[ADD, MUL]);
            let script = "mkdir -p ../later; printf '#!/bin/sh\\nexit 0\\n' > python3; cp python3 ../later; chmod 755 python3 ../later/python3";
            let ran = run_with_path(&stage, &format!("{front}:{python}"), &format!("{script}; {GOOD}"));
            ran.is(0, "visible_pass");
        }
    }
}

/// A link of the delivery does not reach the suite's expected output, whatever the check compares.
#[test]
fn links_of_a_delivery_do_not_reach_the_suite() {
    for (cwd, writable, diff, link) in [
        ("workspace", false, "out.txt", "../check-1/suite/expected.txt"),
        ("workspace", true, "out.txt", "../suite/expected.txt"),
        ("workspace", true, "out.txt", "../check-1/suite/expected.txt"),
        ("suite", false, "{workspace}/out.txt", "/proc/self/cwd/expected.txt"),
        ("suite", false, "{workspace}/out.txt", "../../../../../../../../proc/self/cwd/expected.txt"),
        ("suite", false, "{workspace}/out.txt", "p/self/cwd/expected.txt"),
    ] {
        let toml = format!(
            "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"/usr/bin/cmp\", \"{{suite}}/expected.txt\", \"{diff}\"]\nresult = \"exit\"\ncwd = \"{cwd}\"\nwritable = {writable}\n"
        );
        let stage = Stage::command(&toml, &[("expected.txt", "42\n")]);
        let script = format!("echo x > package.json; ln -s /proc p; ln -s {link} out.txt");
        stage.run(&[], &script).is(20, "visible_fail");
        let honest = Stage::command(&toml, &[("expected.txt", "42\n")]);
        honest.run(&[], "echo 42 > out.txt").is(0, "visible_pass");
    }
}

/// A test file of the suite that is a link is run as the file that it leads to; one that leads nowhere is wrong use.
#[test]
fn linked_test_files_are_run() {
    if !has("linked_test_files_are_run", "python3") {
        return;
    }
    let stage = Stage::python(&[ADD]);
    stage.write("shared/test_mul.py", MUL);
    symlink(stage.path("shared/test_mul.py"), stage.path("suite/test_1.py")).unwrap();
    stage.run(&[], super::stage::BAD).is(20, "visible_fail");
    let dangling = Stage::python(&[ADD]);
    symlink("nowhere.py", dangling.path("suite/test_1.py")).unwrap();
    let ran = dangling.run(&[], GOOD);
    assert_eq!(ran.code, Some(64), "{}", ran.stderr);
}

/// What would be refused or void whatever is delivered is said before the agent starts.
#[test]
fn faults_of_the_suite_are_found_before_the_agent_starts() {
    let agent = "touch ran";
    let missing = Stage::command(TOOL_SUITE, &[]);
    missing.run(&[], agent).is(22, "suite_tool_missing");
    assert!(!missing.path("workspace/ran").exists(), "no agent runs for a suite that cannot judge");
    assert_eq!(
        (missing.entry_types(), missing.verify().0),
        (vec!["run_start".into(), "run_void".into()], "VOID".into())
    );
    let refused = |stage: &Stage, said: &str| {
        let ran = stage.run(&[], agent);
        assert_eq!(ran.code, Some(64), "{}", ran.stderr);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert!(!stage.path("workspace/ran").exists() && !stage.path("run").exists());
    };
    let runner = "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"python3\", \"-m\", \"unittest\"]\nresult = \"exit\"\n";
    refused(&Stage::command(runner, &[]), "could bring its own");
    let guarded = Stage::command(&runner.replace("\"-m\"", "\"-I\", \"-m\""), &[]);
    assert_ne!(guarded.run(&[], agent).code, Some(64));
    let nested = Stage::python(&[ADD]);
    nested.write("suite/unit/test_more.py", MUL);
    refused(&nested, "unit/test_more.py lies in a folder");
    if has("faults_of_the_suite_are_found_before_the_agent_starts", "python3") {
        refused(&Stage::python(&["def test_add():\n    pass\n"]), "test_0.py declares no check");
        refused(&Stage::python(&["def check_x(:\n"]), "test_0.py declares no check");
    }
}

/// The desk's own surroundings: what it cannot work with is said, what it can mend it mends.
#[test]
fn odd_surroundings() {
    let toml =
        "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"/bin/true\"]\nresult = \"exit\"\n";
    let stage = Stage::command(toml, &[]);
    for folder in ["workspace", "suite"] {
        let mut command = stage.command_line(&[], &["/bin/true"]);
        let inside = ran(command.env("TMPDIR", stage.path(folder)).output().unwrap());
        assert_eq!(inside.code, Some(64));
        assert!(inside.stderr.contains("TMPDIR"), "{}", inside.stderr);
    }
    let line = format!(
        "umask 777; exec {} run --json --suite {} --workspace {} --run-dir {} -- /bin/true",
        env!("CARGO_BIN_EXE_touchstone"),
        stage.path("suite").display(),
        stage.path("workspace").display(),
        stage.path("run").display()
    );
    let output = std::process::Command::new("/bin/sh").args(["-c", &line]).output().unwrap();
    ran(output).is(0, "visible_pass");
}

/// First reason code of the summary.
fn reason(ran: &Ran) -> &str {
    vectors::list(&ran.summary, "reasons")[0].as_str().unwrap()
}

/// An interpreter that is there and does not work is nobody's delivery.
#[test]
fn an_interpreter_that_does_not_work_is_the_desks_trouble() {
    let stage = Stage::python(&[ADD]);
    executable(&stage, "bin/python3", "#!/bin/sh\nexit 1\n");
    let ran = run_with_path(&stage, "ROOT/bin:/usr/bin:/bin", "touch ran");
    ran.is(22, "desk_fault");
    assert_eq!(reason(&ran), "infra_io");
    assert!(!stage.path("workspace/ran").exists() && stage.verify().0 == "VOID");
}

/// PC-19 through the binary: neither accepted nor refused.
#[test]
fn a_case_that_failed_and_passed_is_inconclusive() {
    let xml = "<testsuite><testcase name='t'><flakyFailure/></testcase></testsuite>";
    let toml = format!(
        "version = 1\n[[check]]\nname = \"c\"\nrun = [\"/bin/echo\", \"{xml}\"]\nresult = \"junit\"\n"
    );
    let stage = Stage::command(&toml, &[]);
    let ran = stage.run(&[], "true");
    ran.is(21, "visible_unstable");
    assert_eq!((reason(&ran), stage.verify().0.as_str()), ("case_unstable", "OK"));
}

/// Without confinement a check reaches what it judges; then its word is worth nothing.
#[test]
fn a_check_that_changes_the_frozen_copy_is_not_believed() {
    for (script, code, stop) in [("true", 0, "visible_pass"), ("echo y > f", 20, "delivery_unfit")] {
        let toml = format!(
            "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"/bin/sh\", \"-c\", \"{script}\"]\nresult = \"exit\"\n"
        );
        let stage = Stage::command(&toml, &[]);
        let ran = stage.run(&["--sandbox", "none"], "echo x > f");
        ran.is(code, stop);
        assert_eq!(ran.text("trouble").starts_with("frozen_copy_changed"), code == 20);
        assert_eq!(stage.verify().0, "OK");
    }
}

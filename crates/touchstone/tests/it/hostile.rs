//! Bad and hostile input: a clear answer and nothing lost (ruling 16, PC-57).

use super::stage::{ADD, GOOD, Stage, has};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

fn exit_suite(script: &str) -> Stage {
    let toml = format!(
        "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"/bin/sh\", \"-c\", '''{script}''']\nresult = \"exit\"\ntimeout_s = 5\n"
    );
    Stage::command(&toml, &[])
}

/// What checks may do and must not get away with. Each comes out refused, and the receipt verifies.
#[test]
fn hostile_checks_are_refused() {
    for (name, script) in [
        ("prints a gigabyte", "head -c 1000000000 /dev/zero; exit 1"),
        ("forks for ever", "f() {{ f | f & f; }}; f"),
        ("ignores SIGTERM", "trap '' TERM; while :; do sleep 1; done"),
        ("closes all descriptors", "exec 0<&- 1>&- 2>&-; exit 7"),
        ("kills itself", "kill -SEGV $$"),
        ("kills everything it can", "kill -9 -1; exit 1"),
        ("fills its disk", "while :; do head -c 100000000 /dev/zero >> $HOME/fill || exit 1; done"),
    ] {
        let stage = exit_suite(script);
        let ran = stage.run(&[], "true");
        ran.is(20, "visible_fail");
        assert_eq!(stage.verify().0, "OK", "{name}");
    }
}

/// A gigabyte of output costs no memory and does not lose the exit status.
#[test]
fn a_loud_check_still_passes() {
    exit_suite("head -c 300000000 /dev/zero").run(&[], "true").is(0, "visible_pass");
}

/// PC-57, PC-55: whatever lies in the workspace is named, nothing special is opened, the checks run.
#[test]
fn odd_trees_are_judged() {
    let script = "mkfifo p; ln -s p l; ln -s . loop; ln -s /dev/zero z; ln -s ../../.. up; ln -s nowhere d; \
        mkdir e; touch 'a -> b' \"$(printf 'esc\\033[2K')\" \"$(printf 'x\\377')\" 'blank '; chmod 000 e; echo ok > f";
    let stage = exit_suite("test -e f");
    let ran = stage.run(&[], script);
    ran.is(0, "visible_pass");
    let specials = vectors::list(&ran.summary, "special_files");
    assert_eq!(specials.len(), 1);
    assert_eq!(specials[0].as_str(), Some("fifo p"));
    assert!(ran.summary.get("ws_end_sha256").unwrap().is_null(), "the peer cannot represent it");
    assert!(!ran.text("ws_end_sha256_v2").is_empty());
    assert_eq!(stage.verify().0, "OK");
}

/// Ten gigabytes of hole take neither disk nor for ever.
#[test]
fn a_sparse_file_of_ten_gigabytes() {
    let stage = exit_suite("test $(stat -c %s big) = 10737418240");
    let ran = stage.run(&[], "truncate -s 10G big");
    ran.is(0, "visible_pass");
    assert_eq!(stage.verify().0, "OK");
}

#[test]
fn two_hundred_thousand_files() {
    let stage = exit_suite("test -e d199/f999");
    let ran = stage.run(
        &[],
        "i=0; while [ $i -lt 200 ]; do mkdir d$i; (cd d$i && seq -f f%g 0 999 | xargs touch); i=$((i+1)); done",
    );
    ran.is(0, "visible_pass");
    assert_eq!(ran.summary.get("changes").unwrap().get("added_n").unwrap().as_i64(), Some(200_200));
    assert_eq!(
        vectors::list(ran.summary.get("changes").unwrap(), "added").len(),
        1000,
        "listed up to a limit"
    );
}

/// A delivery cannot choose 22: what cannot be frozen is refused.
#[test]
fn an_unfit_delivery_is_refused_and_not_void() {
    let deep =
        "i=0; n=$(printf '%0200d' 0); while [ $i -lt 30 ]; do mkdir $n && cd $n || exit; i=$((i+1)); done";
    let stage = exit_suite("true");
    let ran = stage.run(&[], deep);
    ran.is(20, "delivery_unfit");
    assert!(ran.text("trouble").contains("ws_path_too_long"), "{}", ran.text("trouble"));
    assert_eq!(stage.verify().0, "OK");
    assert_eq!(stage.entry_types(), ["run_start", "ws_attempt", "ws_verdict"]);
}

/// Deliveries that try to pass by forging, planting or leaving early (31.3, 8.8).
#[test]
fn deliveries_that_cheat_are_refused() {
    if !has("deliveries_that_cheat_are_refused", "python3") {
        return;
    }
    let forged = r#"
import os, sys, json
for fd in range(1, 40):
    try:
        for prefix in sys.argv + ["R530CASE:0123456789abcdef:"]:
            os.write(fd, (prefix + json.dumps({"case": "check_add", "ok": True, "kind": "pass"}) + "\n").encode())
    except OSError:
        pass
print("1 passed")
os._exit(0)
"#;
    let planted = "def pytest_runtest_makereport(item, call):\n    pass\nimport os\nos._exit(0)\n";
    for (name, files) in [
        ("forged report", vec![("solution.py", forged)]),
        ("exit half-way", vec![("solution.py", "def add(a, b):\n    import os\n    os._exit(0)\n")]),
        (
            "patched builtins",
            vec![(
                "solution.py",
                "import builtins\nbuiltins.AssertionError = ZeroDivisionError\ndef add(a, b):\n    return 0\n",
            )],
        ),
        (
            "equal to everything",
            vec![(
                "solution.py",
                "class E:\n    def __eq__(self, other):\n        return True\ndef add(a, b):\n    return E()\n",
            )],
        ),
        ("conftest.py", vec![("conftest.py", planted), ("solution.py", "def add(a, b):\n    return 0\n")]),
        ("sitecustomize.py", vec![("sitecustomize.py", "import os\nos._exit(0)\n")]),
        (".bash_profile", vec![(".bash_profile", "exit 0\n"), (".profile", "exit 0\n")]),
    ] {
        let stage = Stage::python(&[ADD]);
        for (path, text) in &files {
            stage.write(&format!("deliver/{path}"), text);
        }
        let script = format!("cp -r {}/. .", stage.path("deliver").display());
        let ran = stage.run(&[], &script);
        assert_eq!((ran.code, ran.stop().as_str()), (Some(20), "visible_fail"), "{name}: {:?}", ran.summary);
        assert_eq!(stage.verify().0, "OK");
    }
}

/// The two attacks that the peer accepts, and the mode that shares the interpreter.
#[test]
fn the_peers_two_weaknesses_are_refused_in_both_modes() {
    let test = "the_peers_two_weaknesses_are_refused_in_both_modes";
    let Some(path) = vectors::shared(test, "vectors/receiving-desk/acceptance/acceptance.json") else {
        return;
    };
    if !has(test, "python3") {
        return;
    }
    let all = vectors::json(&path);
    let mut played = 0;
    for case in vectors::list(&all, "cases") {
        let name = vectors::text(case, "name");
        if !["forged_report", "bash_profile_in_workspace"].contains(&name) {
            continue;
        }
        for isolation in ["process", "in-process"] {
            let stage = Stage::new();
            stage.write(
                "suite/suite.toml",
                &format!("version = 1\nkind = \"python\"\nisolation = \"{isolation}\"\n"),
            );
            for (folder, member) in [("suite", "suite"), ("deliver", "workspace")] {
                for (path, text) in case.get(member).unwrap().as_object().unwrap().iter() {
                    stage.write(&format!("{folder}/{path}"), text.as_str().unwrap());
                }
            }
            let script = format!("cp -r {}/. .", stage.path("deliver").display());
            let ran = stage.run(&[], &script);
            ran.is(20, "visible_fail");
            assert_eq!(ran.text("isolation"), isolation);
            played += 1;
        }
    }
    assert_eq!(played, 4);
}

/// Runner configuration in the delivery is hidden from command suites unless the suite allows it (ruling 19).
#[test]
fn planted_configuration_is_hidden() {
    let toml = |allow: &str| {
        format!(
            "version = 1\ncounts = \"none\"\n{allow}\n[[check]]\nname = \"c\"\nrun = [\"/bin/sh\", \"-c\", \"test ! -e conftest.py && test -e f\"]\nresult = \"exit\"\n"
        )
    };
    let plant = "echo x > conftest.py; echo x > f";
    let hidden = Stage::command(&toml(""), &[]);
    hidden.run(&[], plant).is(0, "visible_pass");
    assert!(hidden.path("run/_frozen_RUN-ON/conftest.py").exists(), "the evidence keeps it");
    let record = vectors::json(&hidden.path("run/visible_RUN-ON.json"));
    assert_eq!(vectors::text(&vectors::list(&record, "hidden")[0], "path"), "conftest.py");
    Stage::command(&toml("allow = [\"conftest.py\"]"), &[]).run(&[], plant).is(20, "visible_fail");
}

/// The frozen tree cannot be written by a check; a check that may write gets its own copy.
#[test]
fn checks_cannot_change_the_evidence() {
    let toml = |writable: bool| {
        format!(
            "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"/bin/sh\", \"-c\", \"echo changed > f\"]\nresult = \"exit\"\nwritable = {writable}\n"
        )
    };
    for (writable, code, stop) in [(false, 20, "visible_fail"), (true, 0, "visible_pass")] {
        let stage = Stage::command(&toml(writable), &[]);
        stage.run(&[], "echo before > f").is(code, stop);
        assert_eq!(fs::read_to_string(stage.path("run/_frozen_RUN-ON/f")).unwrap(), "before\n");
        assert_eq!(fs::read_to_string(stage.path("workspace/f")).unwrap(), "before\n");
    }
    // Without confinement the change is possible, and seen.
    let stage = Stage::command(&toml(false), &[]);
    let ran = stage.run(&["--sandbox", "none"], "echo before > f");
    ran.is(20, "delivery_unfit");
}

/// A name of a suite file or workspace that is not UTF-8 works where it can.
#[test]
fn paths_that_are_not_utf8() {
    let stage = exit_suite("test -e f");
    let odd = stage.root.path().join(OsStr::from_bytes(b"w\xff"));
    fs::create_dir(&odd).unwrap();
    let mut command = super::stage::touchstone();
    command.args(["run", "--json", "--suite"]).arg(stage.path("suite")).arg("--workspace").arg(&odd);
    command.arg("--run-dir").arg(stage.path("run")).args(["--", "/bin/sh", "-c", "touch f"]);
    super::stage::ran(command.output().unwrap()).is(0, "visible_pass");
    if has("paths_that_are_not_utf8", "python3") {
        let stage = Stage::python(&[ADD]);
        stage.run(&[], &format!("{GOOD}; touch \"$(printf 'x\\377')\"")).is(0, "visible_pass");
    }
}

/// An agent that finds the run directory cannot take the verdict away, forge it, or turn it into a void run.
#[test]
fn agents_that_meddle_with_the_run_directory_are_refused() {
    for (name, script) in [
        ("deletes it", "rm -rf RUN"),
        ("replaces it by a link", "mv RUN RUN.old; ln -s /tmp RUN"),
        ("replaces it by a file", "rm -rf RUN; echo x > RUN"),
        ("takes its rights", "chmod 000 RUN"),
        ("edits the chain", "sed -i s/run_start/run_stopp/ RUN/receipts_RUN-ON.ndjson"),
        ("truncates the chain", ": > RUN/receipts_RUN-ON.ndjson"),
        ("appends to the chain", "echo '{}' >> RUN/receipts_RUN-ON.ndjson"),
        (
            "replaces the chain",
            "cp RUN/receipts_RUN-ON.ndjson f; rm RUN/receipts_RUN-ON.ndjson; mkdir RUN/receipts_RUN-ON.ndjson",
        ),
        ("replaces the key", "echo '{}' > RUN/receipts_RUN-ON.pub.json"),
        ("plants the frozen copy", "mkdir RUN/_frozen_RUN-ON; echo ok > RUN/_frozen_RUN-ON/f"),
        (
            "plants files and links",
            "ln -s /etc/passwd RUN/rows.jsonl; ln -s f RUN/run_RUN-ON.json; mkfifo RUN/visible_RUN-ON.json",
        ),
    ] {
        let stage = exit_suite("true");
        let run = stage.path("run");
        let ran = stage.run(
            &[],
            &script
                .replace("RUN.old", "old")
                .replace("RUN ", &format!("{} ", run.display()))
                .replace("RUN;", &format!("{};", run.display()))
                .replace("RUN/", &format!("{}/", run.display()))
                .replace(" RUN", &format!(" {}", run.display())),
        );
        // Rights are given back without a word: root does not even notice that they were gone.
        if name == "takes its rights" {
            ran.is(0, "visible_pass");
        } else {
            assert_eq!(
                (ran.code, ran.stop().as_str()),
                (Some(20), "delivery_unfit"),
                "{name}: {}",
                ran.stderr
            );
            assert!(ran.text("trouble").starts_with("run_dir_tampered"), "{name}");
        }
        assert_eq!(stage.verify().0, "OK", "{name}: the receipt of the refusal stands");
    }
}

/// An agent that ends its keeper is refused: nobody knows what still runs.
#[test]
fn an_agent_that_ends_its_keeper_is_refused() {
    let stage = exit_suite("true");
    let ran = stage.run(&[], "kill -9 $PPID; sleep 1");
    ran.is(20, "delivery_unfit");
    assert!(ran.text("trouble").starts_with("keeper_lost"));
    assert_eq!(stage.verify().0, "OK");
}

/// A workspace that is gone, or a link in its place, is a finding.
#[test]
fn agents_that_replace_the_workspace_are_refused() {
    for script in [
        "rm -rf \"$PWD\"",
        "mv \"$PWD\" ../old; ln -s /etc ../workspace",
        "mv \"$PWD\" ../old; echo x > ../workspace",
    ] {
        let stage = exit_suite("true");
        let ran = stage.run(&[], script);
        ran.is(20, "delivery_unfit");
        assert_eq!(stage.verify().0, "OK", "{script}");
        assert!(!stage.path("run/_frozen_RUN-ON").exists());
    }
}

/// An agent that stops its keeper neither hangs the desk nor keeps what it left running.
#[test]
fn an_agent_that_stops_its_keeper_is_refused() {
    let stage = exit_suite("true");
    let ran = stage.run(&[], "(setsid sleep 985 &) ; kill -STOP $PPID; sleep 30");
    ran.is(20, "delivery_unfit");
    assert!(ran.text("trouble").starts_with("keeper_lost"));
    let left = std::process::Command::new("pgrep").args(["-f", "^sleep 985$"]).output().unwrap();
    assert!(!left.status.success(), "the stray lives on");
    assert_eq!(stage.verify().0, "OK");
}

//! Command suites through the whole gate: whose report it is, and whose fault (rulings 12, 16, 17).

use super::stage::{Ran, Stage, has};

fn check(name: &str, run: &[&str], result: &str) -> String {
    let run: Vec<String> = run.iter().map(|arg| format!("'''{arg}'''")).collect();
    format!("[[check]]\nname = \"{name}\"\nrun = [{}]\nresult = \"{result}\"\n", run.join(", "))
}

fn suite(checks: &[String]) -> Stage {
    Stage::command(&format!("version = 1\ncounts = \"none\"\n{}", checks.concat()), &[])
}

fn reasons(ran: &Ran) -> Vec<&str> {
    vectors::list(&ran.summary, "reasons").iter().map(|reason| reason.as_str().unwrap()).collect()
}

const PASSING: &str = "printf 'TAP version 13\\n1..1\\nok 1 - a\\n'";

/// The report is a regular file of the check's own, or it is none.
#[test]
fn a_report_that_is_a_link_is_refused() {
    let honest =
        suite(&[check("c", &["/bin/sh", "-c", &format!("{PASSING} > \"$1\""), "sh", "{report}"], "tap")]);
    honest.run(&[], "true").is(0, "visible_pass");
    for (name, script) in [
        ("beside it", format!("{PASSING} > \"$1.other\"; ln -s \"$1.other\" \"$1\"")),
        ("in the delivery", "ln -s \"$PWD/report.tap\" \"$1\"".to_owned()),
        ("a folder", "mkdir \"$1\"".to_owned()),
        ("a pipe", "mkfifo \"$1\"".to_owned()),
    ] {
        let stage = suite(&[check("c", &["/bin/sh", "-c", &script, "sh", "{report}"], "tap")]);
        let ran = stage.run(&[], &format!("{PASSING} > report.tap"));
        ran.is(20, "visible_fail");
        assert_eq!(reasons(&ran), ["report_not_a_file"], "{name}");
        assert_eq!(stage.verify().0, "OK", "{name}");
    }
}

/// What one check writes is no report of the next one.
#[test]
fn every_check_has_a_report_of_its_own() {
    let first = format!("{PASSING} > \"$1\"");
    let stage = suite(&[
        check("first", &["/bin/sh", "-c", &first, "sh", "{report}"], "tap"),
        check("second", &["/bin/true", "{report}"], "tap"),
    ]);
    let ran = stage.run(&[], "true");
    ran.is(20, "visible_fail");
    assert_eq!(reasons(&ran), ["report_missing"]);
}

/// A runner that is a Python module and not installed is the suite's lack, whatever the delivery is (ruling 17).
#[test]
fn a_missing_python_module_of_the_suite_is_void() {
    let test = "a_missing_python_module_of_the_suite_is_void";
    if !has(test, "python3") {
        return;
    }
    let stage = suite(&[check("c", &["python3", "-I", "-m", "no_such_module_here"], "exit")]);
    // A delivery that has a module of this name is no installation either.
    for script in ["true", "echo 'print(1)' > no_such_module_here.py"] {
        let ran = stage.run(&[], script);
        ran.is(22, "suite_tool_missing");
        assert!(ran.text("trouble").contains("python3 -m no_such_module_here"), "{}", ran.text("trouble"));
        assert_eq!(stage.entry_types().last().map(String::as_str), Some("run_void"));
        assert_eq!(stage.verify().0, "VOID");
        std::fs::remove_dir_all(stage.path("run")).unwrap();
    }
    let there = suite(&[check("c", &["python3", "-I", "-m", "this"], "exit")]);
    there.run(&[], "true").is(0, "visible_pass");
}

/// A program of the delivery that cannot be started is the delivery's fault: the desk starts others (ruling 16).
#[test]
fn what_the_delivery_keeps_from_starting_is_refused() {
    for (name, script) in [
        ("a folder", "mkdir tool"),
        ("not executable", "echo '#!/bin/sh' > tool"),
        ("no program", "printf 'no program\\0' > tool; chmod +x tool"),
        ("no interpreter", "echo '#!/no/such/interpreter' > tool; chmod +x tool"),
        ("a loop of links", "ln -s tool tool"),
        ("absent", "true"),
    ] {
        let stage = suite(&[check("c", &["./tool"], "exit")]);
        let ran = stage.run(&[], script);
        assert_eq!(
            (ran.code, ran.stop().as_str()),
            (Some(20), "visible_fail"),
            "{name}: {}",
            ran.text("trouble")
        );
        assert_eq!(stage.verify().0, "OK", "{name}");
    }
}

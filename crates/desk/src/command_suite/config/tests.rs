use super::*;
use expect_test::{Expect, expect};
use std::ffi::OsStr;

const CHECK: &str = "[[check]]\nname = \"c\"\nrun = [\"true\"]\nresult = \"exit\"\n";

#[track_caller]
fn check(text: &str, expected: Expect) {
    let said = match parse(text.as_bytes()) {
        Ok(suite) => format!("{suite:?}"),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&said);
}

fn checks(text: &str) -> Vec<Check> {
    match parse(text.as_bytes()).expect("a valid suite").kind {
        Kind::Commands { checks, .. } => checks,
        Kind::Python { .. } => panic!("a command suite"),
    }
}

#[test]
fn the_example_in_the_documentation_is_valid() {
    let text = include_str!("../config.rs");
    let example: String = text
        .lines()
        .skip_while(|line| *line != "//! ```toml")
        .skip(1)
        .take_while(|line| *line != "//! ```")
        .map(|line| format!("{}\n", line.trim_start_matches("//!")))
        .collect();
    let check = checks(&example).remove(0);
    assert_eq!((check.min, check.timeout_s, check.cwd), (Some(2), Some(60), Cwd::Workspace));
    assert!(check.report_is_file() && !check.program_is_in_delivery());
}

#[test]
fn a_suite_without_checks_is_read() {
    check(
        "version = 1",
        expect![[r#"Suite { name: None, allow: [], kind: Commands { counts: Cases, checks: [] } }"#]],
    );
}

#[test]
fn errors_name_the_line() {
    check("version = 2", expect!["suite.toml:1: version 2 is not known; this desk reads version 1"]);
    check(
        "version = 1\ncolor = 3",
        expect![[
            r#"suite.toml:2: unknown field `color`, expected one of `version`, `kind`, `isolation`, `name`, `counts`, `allow`, `check`"#
        ]],
    );
    check("name = \"x\"", expect!["suite.toml:1: missing field `version`"]);
    check(
        "version = 1\n= 4",
        expect!["suite.toml:2: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"],
    );
    check("version = 1\ncounts = \"all\"", expect![[r#"suite.toml:2: counts is "none" or absent"#]]);
    check(
        "version = 1\nallow = [\n\"ok\",\n\"[\"]",
        expect!["suite.toml:4: allow: unclosed character class; missing ']'"],
    );
    check("version = 1\nname = \"a\\nb\"", expect!["suite.toml:2: name is empty or has control characters"]);
}

#[test]
fn errors_in_checks_name_the_line() {
    let with = |line: &str| format!("version = 1\n{CHECK}{line}\n");
    check(&with("result = \"tap\""), expect!["suite.toml:6: duplicate key"]);
    check(
        &with("expect = []"),
        expect!["suite.toml:6: expect is empty; leave it out if the suite expects nothing by name"],
    );
    check(
        &with("expect = [\"a\",\n\"a\"]"),
        expect!["suite.toml:7: expected names are not empty and not repeated"],
    );
    check(&with("min = 0"), expect!["suite.toml:6: min is at least 1"]);
    check(&with("min = -1"), expect!["suite.toml:6: invalid value: integer `-1`, expected u64"]);
    check(&with("timeout_s = 0"), expect!["suite.toml:6: timeout_s lies between 1 and 86400"]);
    check(&with("timeout_s = 86401"), expect!["suite.toml:6: timeout_s lies between 1 and 86400"]);
    check(
        &with("cwd = \"home\""),
        expect!["suite.toml:6: unknown variant `home`, expected `workspace` or `suite`"],
    );
    check(
        &with("shell = true"),
        expect![
            "suite.toml:6: unknown field `shell`, expected one of `name`, `run`, `result`, `expect`, `min`, `cwd`, `timeout_s`, `writable`"
        ],
    );
    check(&with(CHECK), expect!["suite.toml:7: this name was used before"]);
    check(
        "version = 1\n[[check]]\nname = \"c\"\nrun = []\nresult = \"exit\"",
        expect!["suite.toml:4: run names no program"],
    );
    check(
        "version = 1\n[[check]]\nname = \"c\"\nrun = [\"\"]\nresult = \"exit\"",
        expect!["suite.toml:4: the program's name is empty"],
    );
    check(
        "version = 1\n[[check]]\nname = \" \"\nrun = [\"a\"]\nresult = \"exit\"",
        expect!["suite.toml:3: name is empty or has control characters"],
    );
    check(
        "version = 1\n[[check]]\nname = \"c\"\nrun = [\"a\"]\nresult = \"xml\"",
        expect!["suite.toml:5: unknown variant `xml`, expected one of `exit`, `tap`, `junit`"],
    );
    check(
        "version = 1\n[[check]]\nname = \"c\"\nrun = \"a b\"\nresult = \"exit\"",
        expect![[r#"suite.toml:4: invalid type: string "a b", expected a sequence"#]],
    );
}

#[test]
fn python_suites_say_their_isolation() {
    check(
        "version = 1\nkind = \"python\"",
        expect!["Suite { name: None, allow: [], kind: Python { isolation: Process } }"],
    );
    check(
        "version = 1\nkind = \"python\"\nisolation = \"in-process\"",
        expect!["Suite { name: None, allow: [], kind: Python { isolation: InProcess } }"],
    );
    check(
        "version = 1\nisolation = \"process\"",
        expect![[r#"suite.toml:2: isolation needs kind = "python""#]],
    );
    check(
        "version = 1\nkind = \"python\"\nisolation = \"none\"",
        expect!["suite.toml:3: unknown variant `none`, expected `process` or `in-process`"],
    );
    check("version = 1\nkind = \"ruby\"", expect![[r#"suite.toml:2: kind is "python" or absent"#]]);
    check(
        &format!("version = 1\nkind = \"python\"\n{CHECK}"),
        expect![[r#"suite.toml:3: a suite of kind "python" has no [[check]]"#]],
    );
}

#[track_caller]
fn check_arg(text: &str, expected: &str) {
    let paths = Paths {
        suite: OsStr::new("S"),
        workspace: OsStr::new("W"),
        report: OsStr::new("R"),
        scratch: OsStr::new("T"),
    };
    let said = match Arg::parse(text) {
        Ok(arg) => {
            assert_eq!(Arg::parse(&arg.to_string()), Ok(arg.clone()), "the written form reads back");
            arg.expand(&paths).into_string().expect("UTF-8")
        }
        Err(error) => error,
    };
    assert_eq!(said, expected);
}

#[test]
fn placeholders_and_braces() {
    check_arg("--a={suite}/x:{workspace}{report}{scratch}", "--a=S/x:WRT");
    check_arg("{{suite}} {{{suite}}}", "{suite} {S}");
    check_arg("", "");
    check_arg(
        "{home}",
        "unknown placeholder {home}; known are {suite}, {workspace}, {report} and {scratch}, and {{ for a brace",
    );
    check_arg("{suite", "a { without its }; write {{ for a brace");
    check_arg("a}", "a single }; write }} for a brace");
    check_arg("a\0", "an argument cannot hold a NUL");
}

#[test]
fn a_program_below_the_delivery_is_the_deliverys() {
    let with = |program: &str, cwd: &str| {
        let text = format!(
            "version = 1\n[[check]]\nname = \"c\"\nrun = [{program:?}]\nresult = \"exit\"\ncwd = {cwd:?}"
        );
        checks(&text).remove(0).program_is_in_delivery()
    };
    assert!(with("./run", "workspace") && with("bin/run", "workspace") && with("{workspace}/run", "suite"));
    assert!(!with("./run", "suite") && !with("pytest", "workspace"));
    assert!(!with("/usr/bin/x", "workspace") && !with("{suite}/run", "workspace"));
}

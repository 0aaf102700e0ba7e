//! `gate-then-run`: which checks may start an agent, and that what could not be measured is no word about the delivery.

use super::launch::{REQUEST, Stand, answer, not_started};
use super::stage::has;
use canon::{Object, Reader, Value};
use std::fs;

fn check(text: &str) -> Value {
    Reader::strict().read(text.as_bytes()).unwrap()
}

fn run_python(code: &str) -> Value {
    Object::new().with("type", "run_python").with("code", code).into()
}

fn ran() -> (Option<i32>, String, bool) {
    (Some(0), String::new(), true)
}

/// What a check says about an answer that was delivered, receipt and card in order.
fn says(tests: &Value, given: &str) -> (Option<i32>, String, bool) {
    let stand = Stand::answering(tests, given, "");
    let said = stand.run(&[]);
    // The agent notes its arguments, and an answer may have more than one line.
    assert_eq!(stand.starts() > 0, said.2, "{given}");
    assert_eq!(stand.run_file("launch.claim").exists(), said.2, "only a start consumes the receipt");
    said
}

#[test]
fn equals_is_a_text() {
    let (loose, exact) = (
        check(r#"{"type":"equals","value":" 42 "}"#),
        check(r#"{"type":"equals","value":" 42","normalize":false}"#),
    );
    assert_eq!(says(&loose, "42"), ran());
    assert_eq!(says(&loose, "\"42\"\n"), ran());
    assert_eq!(says(&loose, "43"), not_started("delivery_check_failed", 20));
    assert_eq!(says(&exact, " 42"), ran());
    assert_eq!(says(&exact, "42"), not_started("delivery_check_failed", 20));
}

#[test]
fn json_schema_is_a_shape() {
    let tests = check(
        r#"{"type":"json_schema","schema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}"#,
    );
    assert_eq!(says(&tests, r#"{"n": 7}"#), ran());
    assert_eq!(says(&tests, r#"The answer is {"n": 7}."#), ran());
    assert_eq!(says(&tests, r#"{"n": "7"}"#), not_started("delivery_check_failed", 20));
    assert_eq!(says(&tests, "seven"), not_started("delivery_check_failed", 20));
}

#[test]
fn run_python_is_a_program() {
    if !has("run_python_is_a_program", "python3") {
        return;
    }
    let tests = run_python("assert add(2, 3) == 5\nassert add(-1, 1) == 0\n");
    assert_eq!(says(&tests, "```python\ndef add(a, b):\n    return a + b\n```"), ran());
    assert_eq!(says(&tests, "def add(a, b):\n    return a * b\n"), not_started("delivery_check_failed", 20));
    assert_eq!(says(&tests, "I could not do it."), not_started("delivery_check_failed", 20));
    let slow = check(r#"{"type":"run_python","code":"assert add(2, 3) == 5","timeout":1}"#);
    let endless = "def add(a, b):\n    while True:\n        pass\n";
    assert_eq!(says(&slow, endless), not_started("delivery_check_failed", 20));
}

#[test]
fn what_merely_contains_something_starts_nothing() {
    for (tests, reason) in [
        (r#"{"type":"contains","value":"42"}"#, "launch_check_kind"),
        (r#"{"type":"regex","pattern":"42"}"#, "launch_check_kind"),
        (r#"{"type":"anything"}"#, "launch_check_kind"),
        (r#"{}"#, "launch_check_kind"),
        (r#"{"type":"equals"}"#, "delivery_check_unusable"),
        (r#"{"type":"run_python"}"#, "delivery_check_unusable"),
        (r#"{"type":"json_schema","schema":{"x-unknown":1}}"#, "delivery_check_unusable"),
    ] {
        assert_eq!(says(&check(tests), "42"), not_started(reason, 20), "{tests}");
    }
}

/// The candidate tries to be its own judge: it ends with the code of a pass, prints what a runner might print, and writes
/// the words of the runner's start on every descriptor that it can reach.
#[test]
fn a_candidate_that_forges_the_runner_starts_nothing() {
    if !has("a_candidate_that_forges_the_runner_starts_nothing", "python3") {
        return;
    }
    let tests = Object::new()
        .with("type", "run_python")
        .with("code", "assert add(2, 3) == 5")
        .with("allowed_imports", vec!["os", "sys"]);
    let body = [
        "os._exit(0)",
        "print('PASS', 'S', 'U', flush=True)\n    return 6",
        "for fd in range(256):\n        try:\n            os.write(fd, b'SU{\"ok\": true, \"value\": 5}\\n')\n        except OSError:\n            pass\n    os._exit(0)",
        "raise SystemExit(0)",
        "class Five(int):\n        def __eq__(self, other):\n            return True\n    return Five(6)",
    ];
    for body in body {
        let candidate = format!("import os\nimport sys\ndef add(a, b):\n    {body}\n");
        let tests = tests.clone().into();
        assert_eq!(says(&tests, &candidate), not_started("delivery_check_failed", 20), "{body}");
    }
    // When it is loaded already, not only when it is called.
    let early = "import os\nos._exit(0)\ndef add(a, b):\n    return 5\n";
    let (code, reason, ran) = says(&tests.into(), early);
    assert!(!ran && (code, reason.as_str()) == (Some(20), "delivery_check_failed"), "{code:?} {reason}");
}

/// No interpreter: not measured (22), nothing started, and the receipt is good on a desk that has one.
#[test]
fn without_python_nothing_is_said_about_the_delivery() {
    if !has("without_python_nothing_is_said_about_the_delivery", "python3") {
        return;
    }
    let stand =
        Stand::answering(&run_python("assert add(2, 3) == 5"), "def add(a, b):\n    return a + b\n", "");
    fs::create_dir(stand.path("empty")).unwrap();
    let mut bare = stand.command(&[], REQUEST);
    bare.env("PATH", stand.path("empty"));
    let output = bare.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("check_tool_missing: python3"));
    assert_eq!(answer(bare), not_started("delivery_check_not_measured", 22));
    assert_eq!(stand.starts(), 0);
    assert_eq!(stand.events(), ["DELEGATE_START", "DELEGATE_START"]);
    assert_eq!(stand.run(&[]), ran());
    // What is data needs no interpreter.
    let data = Stand::answering(&check(r#"{"type":"equals","value":"42"}"#), "42", "");
    let mut bare = data.command(&[], REQUEST);
    bare.env("PATH", stand.path("empty"));
    assert_eq!(answer(bare), ran());
}

/// A python3 that is no Python says nothing about the delivery either.
#[test]
fn a_broken_python_is_not_a_failed_delivery() {
    let stand =
        Stand::answering(&run_python("assert add(2, 3) == 5"), "def add(a, b):\n    return a + b\n", "");
    let folder = stand.path("bin");
    fs::create_dir(&folder).unwrap();
    fs::copy(stand.path("agent.sh"), folder.join("python3")).unwrap();
    fs::write(folder.join("python3"), "#!/bin/sh\nexit 7\n").unwrap();
    let mut broken = stand.command(&[], REQUEST);
    broken.env("PATH", &folder);
    assert_eq!(answer(broken), not_started("delivery_check_not_measured", 22));
    assert_eq!(stand.starts(), 0);
}

//! Checks of one answer.

use canon::{Reader, Value};
use proptest::prelude::*;
use suite::checks::{Answered, Check, CheckError, compile, extracted_code};

fn json(text: &str) -> Value {
    Reader::strict().read(text.as_bytes()).unwrap()
}

fn made(spec: &str) -> Check {
    compile(&json(spec)).unwrap_or_else(|error| panic!("{spec}: {error:?}"))
}

fn holds(spec: &str, answer: &str) -> bool {
    match made(spec).evaluate(answer) {
        Answered::Known(holds) => holds,
        other => panic!("{spec}: {other:?}"),
    }
}

/// Projections are compared with the peer's; test programs are run by the desk, so their `ok` is not.
#[test]
fn peer_checks() {
    let Some(path) = vectors::shared("peer_checks", "vectors/receiving-desk/checks/checks.json") else {
        return;
    };
    let file = vectors::json(&path);
    let cases = vectors::list(&file, "compile_check");
    assert_eq!(cases.len(), 15);
    let mut programs = 0;
    for case in cases {
        let name = vectors::text(case, "name");
        let check = compile(case.get("spec").unwrap()).unwrap();
        let answer = vectors::text(case, "answer");
        assert_eq!(
            check.project(answer).as_deref(),
            case.get("projected_answer").unwrap().as_str(),
            "{name}"
        );
        match check.evaluate(answer) {
            Answered::Known(holds) => assert_eq!(Some(holds), case.get("ok").unwrap().as_bool(), "{name}"),
            Answered::Run { .. } => programs += 1,
            Answered::NotMeasured => panic!("{name}"),
        }
    }
    assert_eq!(programs, 3);
    for case in vectors::list(&file, "invalid_specs") {
        assert!(compile(case.get("spec").unwrap()).is_err(), "{case:?}");
    }
}

#[test]
fn equals_compares_texts() {
    assert!(holds(r#"{"type":"equals","value":42}"#, "42"));
    assert!(holds(r#"{"type":"equals","value":"42"}"#, " `42`\n"));
    assert!(holds(r#"{"type":"equals","value":true}"#, "True"));
    assert!(holds(r#"{"type":"equals","value":1.0}"#, "'1.0'"));
    assert!(!holds(r#"{"type":"equals","value":"42"}"#, "``42``"));
    assert!(!holds(r#"{"type":"equals","value":"42"}"#, "\"42'"));
    assert!(!holds(r#"{"type":"equals","value":"42","normalize":false}"#, "42 "));
    assert!(holds(r#"{"type":"equals","value":"` 42 `"}"#, "42"));
    assert!(holds(r#"{"type":"equals","value":null}"#, "None"));
    assert!(holds(r#"{"type":"contains","value":1}"#, "a 1"));
    assert!(holds(r#"{"type":"equals","value":""}"#, ""));
    assert!(!holds(r#"{"type":"equals","value":"`"}"#, "``"));
    assert!(holds(r#"{"type":"equals","value":"x"}"#, "\"'`x`'\""));
    assert!(!holds(r#"{"type":"equals","value":"x"}"#, "`'x'`"));
}

#[test]
fn contains_and_regex_explore_only() {
    let contains = made(r#"{"type":"contains","value":"Ok","ignore_case":true}"#);
    assert_eq!(contains.evaluate("all oK"), Answered::Known(true));
    let regex = made(r#"{"type":"regex","pattern":"a.b"}"#);
    assert_eq!(regex.evaluate("a\nb"), Answered::Known(true));
    for check in [contains, regex] {
        assert!(!check.may_authorise());
    }
    for spec in [
        r#"{"type":"equals","value":1}"#,
        r#"{"type":"json_schema","schema":{}}"#,
        r#"{"type":"run_python","code":"pass"}"#,
    ] {
        assert!(made(spec).may_authorise(), "{spec}");
    }
}

#[test]
fn patterns_mean_what_they_mean_in_python() {
    for (pattern, answer, found) in [
        ("^b$", "b\n", true),
        ("^b$", "b\n\n", false),
        (r"b\Z", "b\n", false),
        ("[[]", "[", true),
        ("[]]", "]", true),
        ("[^]]", "]", false),
        ("[a&&b]", "&", true),
        ("[a~~b]", "~", true),
        (r"(\w)\1", "aa", true),
        (r"(?<=a)b", "ab", true),
        (r"(?P<x>a)(?P=x)", "aa", true),
        (r"[\]]", "]", true),
        ("$^", "", true),
        (r"\$", "$", true),
        (r"(?i)A", "a", true),
        ("", "", true),
    ] {
        let spec = canon::Object::new().with("type", "regex").with("pattern", pattern);
        let check = compile(&spec.into()).unwrap_or_else(|error| panic!("{pattern}: {error:?}"));
        assert_eq!(check.evaluate(answer), Answered::Known(found), "{pattern} in {answer:?}");
    }
}

#[test]
fn a_pattern_that_would_search_for_ever_is_given_up() {
    let check = made(r#"{"type":"regex","pattern":"(?=(a+)+\\1b)(a+)+\\1b"}"#);
    assert_eq!(check.evaluate(&"a".repeat(64)), Answered::NotMeasured);
}

#[test]
fn json_is_the_whole_answer_or_the_first_value_in_it() {
    let any = r#"{"type":"json_schema","schema":{}}"#;
    for (answer, projected) in [
        ("42", Some("42")),
        (" \"x\" ", Some("\"x\"")),
        ("so {\"b\": 1, \"a\": [1.0]} and {\"c\": 2}", Some("{\"a\":[1.0],\"b\":1}")),
        ("{broken [1, 2] rest", Some("[1,2]")),
        ("```json\n{\"a\": 1}\n```", Some("{\"a\":1}")),
        ("{\"a\": 1, \"a\": 2}", Some("{\"a\":2}")),
        ("nothing", None),
        ("[NaN]", None),
        ("", None),
    ] {
        assert_eq!(made(any).project(answer).as_deref(), projected, "{answer}");
        assert_eq!(holds(any, answer), projected.is_some(), "{answer}");
    }
}

#[test]
fn schemas() {
    for (schema, value, admitted) in [
        (r#"{"type":"integer"}"#, "1", true),
        (r#"{"type":"integer"}"#, "true", false),
        (r#"{"type":"integer"}"#, "1.0", true),
        (r#"{"type":"integer"}"#, "1.5", false),
        (r#"{"type":"number"}"#, "false", false),
        (r#"{"type":["string","null"]}"#, "null", true),
        (r#"{"type":["string","null"]}"#, "1", false),
        (r#"{"required":["a"]}"#, "{}", false),
        (r#"{"required":["a"]}"#, "[]", true),
        (r#"{"properties":{"a":{"type":"string"}}}"#, "{\"a\":1}", false),
        (r#"{"properties":{"a":{}},"additionalProperties":false}"#, "{\"b\":1}", false),
        (r#"{"properties":{"a":{}},"additionalProperties":false}"#, "{\"a\":1}", true),
        (r#"{"additionalProperties":{"type":"null"}}"#, "{\"a\":1}", false),
        (r#"{"items":{"type":"integer"},"maxItems":2}"#, "[1,2]", true),
        (r#"{"items":{"type":"integer"},"maxItems":2}"#, "[1,2,3]", false),
        (r#"{"items":{"type":"integer"}}"#, "[1,true]", false),
        (r#"{"minItems":1}"#, "[]", false),
        (r#"{"minLength":2,"maxLength":2}"#, "\"éé\"", true),
        (r#"{"minLength":2}"#, "\"a\"", false),
        (r#"{"maxProperties":0}"#, "{\"a\":1}", false),
        (r#"{"enum":[1,"a",[2]]}"#, "1.0", true),
        (r#"{"enum":[1,"a",[2]]}"#, "true", false),
        (r#"{"enum":[1,"a",[2]]}"#, "[2.0]", true),
        (r#"{"const":{"a":1}}"#, "{\"a\":1.0}", true),
        (r#"{"minimum":1}"#, "1.0", true),
        (r#"{"exclusiveMinimum":1}"#, "1", false),
        (r#"{"maximum":0.1}"#, "0.2", false),
        (r#"{"maximum":9007199254740992.0}"#, "9007199254740993", false),
        (r#"{"minimum":-5}"#, "-12", false),
        (r#"{"allOf":[{"minimum":1},{"maximum":2}]}"#, "3", false),
        (r#"{"anyOf":[{"type":"null"},{"type":"string"}]}"#, "1", false),
        (r#"{"oneOf":[{"minimum":1},{"minimum":2}]}"#, "3", false),
        (r#"{"oneOf":[{"minimum":1},{"minimum":2}]}"#, "1", true),
        (r#"{"not":{"type":"null"}}"#, "null", false),
        ("true", "1", true),
        ("false", "1", false),
        (r#"{"title":"x","description":"y"}"#, "1", true),
    ] {
        assert_eq!(
            holds(&format!(r#"{{"type":"json_schema","schema":{schema}}}"#), value),
            admitted,
            "{schema} {value}"
        );
    }
}

/// Every code, and that a keyword which is not known is not silently left out.
#[test]
fn what_cannot_be_compiled_is_refused() {
    for (spec, code) in [
        ("\"x\"", "check_not_mapping"),
        ("{}", "check_unknown_type"),
        (r#"{"type":"nope"}"#, "check_unknown_type"),
        (r#"{"type":1}"#, "check_unknown_type"),
        (r#"{"type":"equals"}"#, "check_malformed"),
        (r#"{"type":"equals","value":1,"normalize":1}"#, "check_malformed"),
        (r#"{"type":"contains"}"#, "check_malformed"),
        (r#"{"type":"regex"}"#, "check_malformed"),
        (r#"{"type":"regex","pattern":"("}"#, "check_bad_pattern"),
        (r#"{"type":"regex","pattern":"a\\"}"#, "check_bad_pattern"),
        (r#"{"type":"regex","pattern":"(?m)^a"}"#, "check_bad_pattern"),
        (r#"{"type":"json_schema"}"#, "check_malformed"),
        (r#"{"type":"json_schema","schema":1}"#, "check_bad_schema"),
        (r#"{"type":"json_schema","schema":{"type":"int"}}"#, "check_bad_schema"),
        (r##"{"type":"json_schema","schema":{"$ref":"#/x"}}"##, "check_bad_schema"),
        (r#"{"type":"json_schema","schema":{"pattern":"a"}}"#, "check_bad_schema"),
        (r#"{"type":"json_schema","schema":{"items":{"minLength":-1}}}"#, "check_bad_schema"),
        (r#"{"type":"run_python"}"#, "check_malformed"),
        (r#"{"type":"run_python","code":"","allowed_imports":"os"}"#, "check_malformed"),
        (r#"{"type":"run_python","code":"","timeout":true}"#, "check_malformed"),
        (r#"{"type":"run_python","code":"","extract_code":1}"#, "check_malformed"),
    ] {
        assert_eq!(compile(&json(spec)).expect_err(spec).code(), code, "{spec}");
    }
    assert_eq!(CheckError::CODES.len(), 5);
}

#[test]
fn a_test_program_is_compiled_and_left_to_others() {
    let timeout =
        |text: &str| match made(&format!(r#"{{"type":"run_python","code":"pass","timeout":{text}}}"#)) {
            Check::RunPython(program) => program.timeout_ms,
            other => panic!("{other:?}"),
        };
    for (text, expected) in [
        ("1", 1000),
        ("0.25", 250),
        ("2.5", 2500),
        ("0", 0),
        ("-3", 0),
        ("1e-9", 0),
        ("1e300", u64::MAX),
        ("1.0019", 1001),
    ] {
        assert_eq!(timeout(text), expected, "{text}");
    }
    let program = made(r#"{"type":"run_python","code":"assert f() == 1","allowed_imports":["math"]}"#);
    let answer = "text\n```py\n  def f():\n    return 1\n```\nmore";
    assert_eq!(program.evaluate(answer), Answered::Run { candidate: "def f():\n    return 1".to_owned() });
    let Check::RunPython(program) = program else { panic!("a program") };
    assert_eq!((program.timeout_ms, program.extract_code), (8000, true));
    assert_eq!(program.allowed_imports, ["math"]);
    assert_eq!(extracted_code("```py\nnever closed"), "```py\nnever closed");
    for (answer, code) in [
        ("no block ", "no block"),
        ("text ``` a ``` b ```c```", "a"),
        ("```Python3\nx```", "3\nx"),
        ("```js\nx```", "js\nx"),
        ("```python x = 1```", "x = 1"),
        ("``````", ""),
    ] {
        assert_eq!(extracted_code(answer), code, "{answer}");
    }
}

proptest! {
    #[test]
    fn no_answer_panics(answer in "[\\PC\\n`{}\\[\\]\":,1]{0,60}", pattern in "\\PC{0,12}") {
        for spec in [
            r#"{"type":"equals","value":"x"}"#,
            r#"{"type":"contains","value":"X","ignore_case":true}"#,
            r#"{"type":"json_schema","schema":{"type":"object"}}"#,
            r#"{"type":"run_python","code":"pass"}"#,
        ] {
            let check = made(spec);
            let _ = check.evaluate(&answer);
            // What was judged is a part of the answer, so judging it again says the same.
            if let (Some(part), Check::JsonSchema(_)) = (check.project(&answer), &check) {
                prop_assert_eq!(check.evaluate(&part), check.evaluate(&answer));
            }
        }
        let spec = canon::Object::new().with("type", "regex").with("pattern", pattern);
        if let Ok(check) = compile(&spec.into()) {
            let _ = check.evaluate(&answer);
        }
    }
}

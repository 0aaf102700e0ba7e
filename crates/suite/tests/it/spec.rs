//! SuiteSpec: vectors of our own and of the peer, limits, the order of the codes.

use canon::{Digest, Object, Value, canonical};
use std::collections::BTreeSet;
use suite::literal;
use suite::render;
use suite::spec::{Cmp, Dialect, Literal, LiteralFault, Mode, Spec, SpecError, Task, Test};
use vectors::{list, text};

const MODES: [(&str, Mode); 2] = [("peer", Mode::Peer), ("strict", Mode::Strict)];

fn own() -> Value {
    vectors::json(&vectors::repository().join("vectors/suite/spec.json"))
}

fn task(value: &Value) -> Task<'_> {
    match value.as_str() {
        None => Task::Unbound,
        Some("<not given>" | "<not bound>") => Task::NotGiven,
        Some(name) => Task::EntryPoint(name),
    }
}

/// The wire value of what is refused.
fn code(result: Result<Spec, SpecError>) -> String {
    result.map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

/// A suite with one member replaced.
fn with(name: &str, value: impl Into<Value>) -> Value {
    let test = Object::new().with("args", "[1]").with("expected", "1");
    let spec = Object::new().with("v", 1i64).with("dialect", "mbpp").with("entry_point", "solve");
    spec.with("tests", vec![test]).with(name, value).into()
}

fn with_args(args: &str) -> Value {
    with("tests", vec![Object::new().with("args", args).with("expected", "1")])
}

fn refused(value: &Value, mode: Mode) -> String {
    code(Spec::from_value(value, mode, Task::NotGiven))
}

#[test]
fn own_accepted_suites_have_one_form_and_one_digest() {
    for case in list(&own(), "accepted") {
        let name = text(case, "name");
        for (_, mode) in MODES {
            let spec = Spec::from_value(
                case.get("input").unwrap(),
                mode,
                Task::EntryPoint(text(case.get("normalised").unwrap(), "entry_point")),
            );
            let spec = spec.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(spec.normalised(), *case.get("normalised").unwrap(), "{name}");
            assert_eq!(spec.digest().to_hex(), text(case, "suite_sha256"), "{name}");
            // The normalised form is itself a suite, and the same one.
            let again =
                Spec::from_bytes(&canonical(&spec.normalised()), Mode::Strict, Task::NotGiven).unwrap();
            assert_eq!(again, spec, "{name}");
            if let Some(body) = case.get("body").and_then(Value::as_str) {
                assert_eq!(render::body(&spec), body, "{name}");
            }
        }
    }
}

#[test]
fn own_refused_suites_say_the_first_thing_that_is_wrong() {
    let own = own();
    let mut wrong = Vec::new();
    for case in list(&own, "refused") {
        for (name, mode) in MODES {
            let only = text(case, "mode");
            let expected = if only == "both" || only == name { text(case, "code") } else { "accepted" };
            let found =
                code(Spec::from_value(case.get("input").unwrap(), mode, task(case.get("task").unwrap())));
            if found != expected {
                wrong.push(format!("{name} {:?}: {found}, not {expected}", case.get("input")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Codes that the refused suites of our own provoke.
const MET: [&str; 28] = [
    "atol_must_be_number_or_null",
    "atol_not_finite_nonnegative",
    "bad_version",
    "cmp_flags_must_be_bool",
    "cmp_must_be_mapping",
    "cmp_unknown_keys",
    "empty_set_not_encodable",
    "empty_suite_rejected",
    "entry_point_mismatch",
    "entry_point_not_identifier",
    "entry_point_reserved",
    "entry_point_unbound",
    "int_too_large",
    "lcb_dialect_has_no_cmp_knobs",
    "literal_must_be_str",
    "literal_too_deep",
    "literal_unencodable",
    "nan_or_inf_not_encodable",
    "not_a_literal",
    "not_a_literal_type",
    "raw_code_suite_not_accepted",
    "spec_must_be_mapping",
    "spec_unknown_keys",
    "test_args_not_positional",
    "test_not_mapping",
    "test_unknown_keys",
    "tests_must_be_list",
    "unknown_dialect",
];
/// Codes that the named tests below provoke.
const BELOW: [&str; 4] = ["literal_too_long", "not_canonical_json", "spec_too_large", "too_many_tests"];

/// The code of the registry for a wire value: no parameters, no index of a test.
fn registered(wire: &str) -> String {
    let head = wire.split(':').next().unwrap();
    let numbered = head.strip_prefix("test_").and_then(|rest| rest.split_once('_'));
    match numbered.filter(|(index, _)| index.bytes().all(|byte| byte.is_ascii_digit())) {
        Some((_, rest)) => format!("test_{rest}"),
        None => head.to_owned(),
    }
}

#[test]
fn every_code_is_provoked() {
    let own = own();
    let met: BTreeSet<String> =
        list(&own, "refused").iter().map(|case| registered(text(case, "code"))).collect();
    assert_eq!(met, MET.map(str::to_owned).into());
    let codes: BTreeSet<&str> = SpecError::CODES.iter().chain(LiteralFault::CODES).copied().collect();
    assert_eq!(codes, MET.into_iter().chain(BELOW).collect());
}

#[test]
fn bytes_that_are_no_json() {
    let of = |bytes: &[u8], mode| code(Spec::from_bytes(bytes, mode, Task::NotGiven));
    for (_, mode) in MODES {
        assert_eq!(of(b"{", mode), "not_canonical_json:JSONDecodeError");
        assert_eq!(of(b"\xff", mode), "not_canonical_json:UnicodeDecodeError");
        assert_eq!(of(b"", mode), "not_canonical_json:JSONDecodeError");
        assert_eq!(of("[".repeat(5000).as_bytes(), mode), "not_canonical_json:RecursionError");
        assert_eq!(of(b"\"assert 1\"", mode), "raw_code_suite_not_accepted");
    }
    let twice = br#"{"v":1,"v":1,"entry_point":"f","tests":[{"args":"[]","expected":"1"}]}"#;
    assert_eq!(of(twice, Mode::Peer), "accepted");
    assert_eq!(of(twice, Mode::Strict), "not_canonical_json:JSONDecodeError");
    let nan = br#"{"v":1,"entry_point":"f","tests":[{"args":"[]","expected":"1"}],"cmp":{"atol":NaN}}"#;
    assert_eq!(of(nan, Mode::Peer), "atol_not_finite_nonnegative");
    assert_eq!(of(br#"{"v":Infinity}"#, Mode::Peer), "bad_version:inf");
    assert_eq!(of(br#"{"v":NaN}"#, Mode::Peer), "bad_version:nan");
}

#[test]
fn two_thousand_tests_and_no_more() {
    let test = Object::new().with("args", "[1]").with("expected", "1");
    for (_, mode) in MODES {
        assert_eq!(refused(&with("tests", vec![test.clone(); 2000]), mode), "accepted");
        assert_eq!(refused(&with("tests", vec![test.clone(); 2001]), mode), "too_many_tests");
    }
}

#[test]
fn a_literal_has_two_hundred_thousand_characters() {
    let args = |count: usize, ch: &str| with_args(&format!("['{}']", ch.repeat(count)));
    for (_, mode) in MODES {
        assert_eq!(refused(&args(199_996, "x"), mode), "accepted");
        assert_eq!(refused(&args(199_997, "x"), mode), "literal_too_long");
        // Characters, not bytes.
        assert_eq!(refused(&args(199_996, "é"), mode), "accepted");
    }
}

#[test]
fn a_text_that_grows_when_it_is_written() {
    let args = with_args(&format!("['{}']", "\u{7f}".repeat(100_000)));
    assert_eq!(refused(&args, Mode::Peer), "accepted");
    assert_eq!(refused(&args, Mode::Strict), "literal_unencodable");
}

#[test]
fn four_mebibytes() {
    let test = |length: usize| {
        Object::new().with("args", "[]").with("expected", format!("'{}'", "x".repeat(length)))
    };
    // Twenty tests of 199 998 characters and one that fills up to the limit exactly.
    let of = |last: usize| {
        let mut tests = vec![test(199_990); 20];
        tests.push(test(last));
        with("tests", tests)
    };
    let length = |value: &Value| {
        canonical(&Spec::from_value(value, Mode::Strict, Task::NotGiven).unwrap().normalised()).len()
    };
    let room = (4 << 20) - length(&of(0));
    assert_eq!(length(&of(room)), 4 << 20);
    assert_eq!(refused(&of(room + 1), Mode::Strict), "spec_too_large");
    assert_eq!(refused(&of(room + 1), Mode::Peer), "spec_too_large");
}

#[test]
fn a_suite_of_values_is_the_suite_that_is_read() {
    let literal = |text: &str| Literal::new(literal::parse(text).unwrap()).unwrap();
    let tests = || vec![Test { args: literal("[1]"), expected: literal("1") }];
    let made = Spec::new(Dialect::Mbpp, "solve", tests(), Cmp::default()).unwrap();
    assert_eq!(Ok(made), Spec::from_value(&with("v", 1i64), Mode::Strict, Task::NotGiven));
    let wrong = |dialect, name, tests, cmp| code(Spec::new(dialect, name, tests, cmp));
    assert_eq!(wrong(Dialect::Mbpp, "exec", tests(), Cmp::default()), "entry_point_reserved");
    assert_eq!(wrong(Dialect::Mbpp, "f", Vec::new(), Cmp::default()), "empty_suite_rejected");
    let scalar = vec![Test { args: literal("1"), expected: literal("1") }];
    assert_eq!(wrong(Dialect::Mbpp, "f", scalar, Cmp::default()), "test_0_args_not_positional");
    let minus = Cmp { atol: Some(canon::Float::new(-1.0)), ..Cmp::default() };
    assert_eq!(wrong(Dialect::Mbpp, "f", tests(), minus), "atol_not_finite_nonnegative");
    let knob = Cmp { set_equivalent: true, ..Cmp::default() };
    assert_eq!(wrong(Dialect::Lcb, "f", tests(), knob), "lcb_dialect_has_no_cmp_knobs");
    assert_eq!(Literal::new(literal::parse("[1e999]").unwrap()), Err(LiteralFault::NanOrInf));
}

/// The peer's published answer for its smallest suite, so that a bare clone sees one.
#[test]
fn the_peers_program_is_known_by_its_digest() {
    let spec = Spec::from_value(
        &with("tests", vec![Object::new().with("args", "[1, 2]").with("expected", "3")]),
        Mode::Strict,
        Task::NotGiven,
    );
    let spec = spec.unwrap();
    let expected = "07e5c5ce64596b0bc86a6e1a6bdd641269258310abd848c96d8b8fa62542c05c";
    assert_eq!(render::peer_digest(&spec).to_hex(), expected);
    assert_eq!(spec.digest().to_hex(), "81195cc9c6a5f4679cbc2875e35cccb2bdc58965213add2ee48aa9e0dbe506e4");
    assert_ne!(suite::native::Program::this().over(&spec), render::peer_digest(&spec));
}

fn peer(test: &str) -> Option<Value> {
    Some(vectors::json(&vectors::shared(test, "vectors/receiving-desk/suitespec/suitespec.json")?))
}

#[test]
fn peer_accepted_suites() {
    let Some(file) = peer("peer_accepted_suites") else { return };
    let cases = list(&file, "accepted");
    assert!(cases.len() >= 14);
    for case in cases {
        let name = text(case, "name");
        for (_, mode) in MODES {
            let spec = Spec::from_value(case.get("input").unwrap(), mode, Task::NotGiven).unwrap();
            assert_eq!(canonical(&spec.normalised()), canonical(case.get("normalised").unwrap()), "{name}");
            assert_eq!(spec.digest().to_hex(), text(case, "suite_sha256"), "{name}");
            assert_eq!(Some(spec.tests().len() as i64), case.get("n_tests").unwrap().as_i64(), "{name}");
            let body = render::body(&spec);
            assert_eq!(body, text(case, "body"), "{name}");
            assert_eq!(Digest::of(body.as_bytes()).to_hex(), text(case, "body_sha256"), "{name}");
            assert_eq!(render::peer_digest(&spec).to_hex(), text(case, "render_sha256"), "{name}");
        }
    }
}

/// The input of a case that is only described.
fn described(recipe: &str) -> Value {
    let count =
        |count: usize| with("tests", vec![Object::new().with("args", "[1]").with("expected", "1"); count]);
    match recipe {
        "the base spec with its one test repeated 2001 times" => count(2001),
        "the base spec with its one test repeated 2000 times" => count(2000),
        recipe if recipe.starts_with("args = \"['\" + 'x'*199997") => {
            with_args(&format!("['{}']", "x".repeat(199_997)))
        }
        other => panic!("unknown recipe {other}"),
    }
}

#[test]
fn peer_refused_suites_and_edges() {
    let Some(file) = peer("peer_refused_suites_and_edges") else { return };
    let cases = list(&file, "rejected_and_edge");
    assert!(cases.len() >= 60);
    // Where the peer is lenient, strict is not.
    let strict = [
        ("bad_version_true_is_accepted_by_equality", "bad_version:True"),
        ("version_1.0_is_accepted_by_equality", "bad_version:1.0"),
        ("top_level_unknown_key_ignored", "spec_unknown_keys:['note']"),
    ];
    for case in cases {
        let name = text(case, "name");
        let input = match case.get("input_recipe") {
            Some(recipe) => described(recipe.as_str().unwrap()),
            None => case.get("input").unwrap().clone(),
        };
        let bound = task(case.get("bound_entry_point").unwrap());
        let spec = Spec::from_value(&input, Mode::Peer, bound);
        let expected = case.get("code").and_then(Value::as_str).unwrap_or("accepted");
        if let Some(digest) = case.get("suite_sha256") {
            assert_eq!(spec.as_ref().unwrap().digest().to_hex(), digest.as_str().unwrap(), "{name}");
        }
        assert_eq!(code(spec), expected, "{name}");
        let expected = strict.iter().find(|(other, _)| *other == name).map_or(expected, |(_, code)| code);
        assert_eq!(code(Spec::from_value(&input, Mode::Strict, bound)), expected, "{name}, strict");
    }
    for case in list(&file, "as_bytes") {
        let bytes = canon::unhex(text(case, "input_hex")).unwrap();
        let expected = case.get("code").and_then(Value::as_str).unwrap_or("accepted");
        for (_, mode) in MODES {
            assert_eq!(code(Spec::from_bytes(&bytes, mode, Task::NotGiven)), expected);
        }
    }
}

#[test]
fn peer_names_of_entry_points() {
    let Some(file) = peer("peer_names_of_entry_points") else { return };
    let names = file.get("entry_point_names").unwrap().as_object().unwrap();
    for (name, expected) in names.iter() {
        assert_eq!(refused(&with("entry_point", name), Mode::Strict), expected.as_str().unwrap(), "{name}");
    }
    let denied = file.get("entry_point_denied").unwrap();
    assert_eq!(list(denied, "names").len(), 154);
    for name in list(denied, "names") {
        assert_eq!(refused(&with("entry_point", name.clone()), Mode::Peer), "entry_point_reserved");
    }
    for name in list(denied, "harmless_builtins_allowed") {
        assert_eq!(refused(&with("entry_point", name.clone()), Mode::Peer), "accepted");
    }
}

//! Literals: the committed answers of CPython, and what holds for every text.

use canon::Float;
use num_bigint::BigInt;
use proptest::prelude::*;
use suite::literal::{Complex, Dict, Set, Text, Unhashable, Value, emit, equal, parse};

/// The text of a value, or the name of the exception.
pub(crate) fn answer(text: &str) -> Result<String, &'static str> {
    parse(text).map(|value| emit(&value)).map_err(|error| {
        assert!(error.offset <= text.len(), "{error}");
        error.name.as_str()
    })
}

#[test]
fn committed_answers_of_cpython() {
    let file = vectors::json(&vectors::repository().join("vectors/suite/literals.json"));
    let cases = file.as_array().unwrap();
    assert!(cases.len() > 300);
    let mut wrong = Vec::new();
    for case in cases {
        let text = vectors::text(case, "text");
        let found = answer(text);
        let expected = match case.get("value") {
            Some(value) => Ok(value.as_str().unwrap().to_owned()),
            None => Err(vectors::text(case, "error")),
        };
        if found != expected {
            wrong.push(format!("{text:?}: {found:?}, CPython {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// What this reader answers otherwise than Python does; each is named in the documentation of the module.
#[test]
fn texts_that_python_answers_otherwise() {
    assert_eq!(answer("'\\N{BULLET}'"), Err("SyntaxError"));
    assert_eq!(answer("f'{1+}'"), Err("ValueError"));
    assert_eq!(answer("\u{ff53}\u{ff45}\u{ff54}()"), Err("ValueError"));
}

#[test]
fn equality_is_that_of_python() {
    let same = [
        ("1", "True"),
        ("1.0", "1"),
        ("1+0j", "1"),
        ("0", "-0.0"),
        ("-0j", "0"),
        ("{1, 2}", "{2.0, True}"),
        ("{1: 'a', 2: 'b'}", "{2: 'b', True: 'a'}"),
        ("(1, [2])", "(1.0, [True + 0, 2][1:])"),
        ("9007199254740992", "9007199254740992.0"),
        ("1e999", "1e999"),
        ("'\\ud800'", "'\\uD800'"),
    ];
    for (a, b) in same {
        let (Ok(a), Ok(b)) = (parse(a), parse(b)) else { continue };
        assert!(equal(&a, &b) && equal(&b, &a), "{} {}", emit(&a), emit(&b));
    }
    let different = [
        ("[1]", "(1,)"),
        ("'1'", "1"),
        ("b'a'", "'a'"),
        ("None", "0"),
        ("False", "None"),
        ("{1}", "[1]"),
        ("{}", "set()"),
        ("9007199254740993", "9007199254740992.0"),
        ("0.1", "0.1+1j"),
        ("1e308", "1e999"),
        ("{1: 2}", "{1: 3}"),
        ("{1: 2}", "{2: 2}"),
        ("[1, 2]", "[1]"),
    ];
    for (a, b) in different {
        assert!(!equal(&parse(a).unwrap(), &parse(b).unwrap()), "{a} {b}");
    }
}

#[test]
fn a_nan_equals_nothing_and_collapses_with_nothing() {
    let nan = Value::Float(Float::new(f64::NAN));
    assert!(!equal(&nan, &nan));
    let set = Set::new([nan.clone(), nan.clone(), 1.into(), Value::Bool(true)]).unwrap();
    assert_eq!(set.members().len(), 3);
    assert!(!equal(&Value::Set(set.clone()), &Value::Set(set)));
    assert_eq!(emit(&nan), "nan");
}

#[test]
fn keys_collapse_the_first_key_stays_with_the_last_value() {
    let dict = Dict::new([(1.into(), "a".into()), (Value::Bool(true), "b".into())]).unwrap();
    assert_eq!(emit(&Value::Dict(dict)), "{1: 'b'}");
    assert_eq!(Set::new([Value::List(Vec::new())]), Err(Unhashable("list")));
    assert_eq!(Set::new([Value::Tuple(vec![Value::Set(Set::default())])]), Err(Unhashable("set")));
}

#[test]
fn lone_surrogates_are_kept_apart_from_pairs() {
    let halves = parse("'\\ud83d\\ude00'").unwrap();
    let pair = parse("'\\U0001f600'").unwrap();
    assert!(!equal(&halves, &pair));
    assert_eq!(emit(&halves), "'\\ud83d\\ude00'");
    let (Value::Str(halves), Value::Str(pair)) = (halves, pair) else { panic!("strings") };
    assert_eq!(halves.as_str(), None);
    assert_eq!(halves.code_points().collect::<Vec<_>>(), [0xd83d, 0xde00]);
    assert_eq!(pair.as_str(), Some("\u{1f600}"));
}

/// Hostile texts end, without a deep stack, in a value or a refusal.
#[test]
fn hostile_texts_are_refused() {
    let many = 100_000;
    let hostile = [
        "(".repeat(many),
        "[".repeat(many) + &"]".repeat(many),
        "-".repeat(many) + "1",
        "not ".repeat(many) + "1",
        "lambda:".repeat(many),
        "1 if 1 else ".repeat(many) + "1",
        "1**".repeat(many) + "1",
        "1+".repeat(many) + "1",
        "a.".repeat(many) + "a",
        "a()".repeat(many),
        "[a or b and not c<d|e^f&g<<h+i*".repeat(150),
        "'".repeat(many),
        "{".repeat(many),
        "9".repeat(many),
        "{**".repeat(many),
        "f'{".repeat(many),
        "\\\n".repeat(many),
    ];
    for text in hostile {
        let error = parse(&text).expect_err(&text[..20]);
        assert!(error.offset <= text.len());
    }
    let wide = format!("{{{}}}", (0..20_000).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    assert!(parse(&wide).is_ok());
    let long = format!("0x{}", "f".repeat(199_000));
    assert!(parse(&long).is_ok());
}

/// Values whose text is read back as the same value; see [`suite::literal`] for the ones that are not.
fn values() -> impl Strategy<Value = Value> {
    let float = prop_oneof![any::<f64>(), (-1000..1000).prop_map(f64::from), Just(f64::INFINITY)]
        .prop_filter("a number", |value| !value.is_nan())
        .prop_map(Float::new);
    let text = prop::collection::vec(
        prop_oneof![0u32..0x250, 0u32..0x110000, Just(0xd800), Just(0x27), Just(0x22)],
        0..6,
    )
    .prop_map(|codes| {
        let mut text = Text::default();
        codes.into_iter().for_each(|code| assert!(text.push(code)));
        text
    });
    let leaf = prop_oneof![
        Just(Value::None),
        Just(Value::Ellipsis),
        any::<bool>().prop_map(Value::Bool),
        (any::<i128>(), 0u32..200).prop_map(|(n, shift)| Value::Int(BigInt::from(n) << shift)),
        (-3i64..4).prop_map(Value::from),
        float.clone().prop_map(Value::Float),
        (float.clone(), float).prop_map(|(real, imag)| Value::Complex(Complex { real, imag })),
        text.prop_map(Value::Str),
        prop::collection::vec(any::<u8>(), 0..6).prop_map(Value::Bytes),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Tuple),
            prop::collection::vec(inner.clone(), 0..5)
                .prop_map(|items| Set::new(items).map_or(Value::None, Value::Set)),
            prop::collection::vec((inner.clone(), inner), 0..5)
                .prop_map(|members| Dict::new(members).map_or(Value::None, Value::Dict)),
        ]
    })
}

/// The one text that is not read back as it was: see the module.
fn has_complex(value: &Value) -> bool {
    match value {
        Value::Complex(_) => true,
        Value::List(items) | Value::Tuple(items) => items.iter().any(has_complex),
        Value::Set(set) => set.members().iter().any(has_complex),
        Value::Dict(dict) => dict.members().iter().any(|(key, item)| has_complex(key) || has_complex(item)),
        _ => false,
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(value in values()) {
        let text = emit(&value);
        let again = parse(&text).unwrap();
        prop_assert!(equal(&value, &again), "{}", text);
        if !has_complex(&value) {
            prop_assert_eq!(emit(&again), text);
            prop_assert_eq!(again, value);
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}") {
        let _ = answer(&text);
    }

    #[test]
    fn no_soup_of_tokens_panics(parts in prop::collection::vec(prop::sample::select(crate::literal_python::PARTS), 0..20)) {
        if let Ok(text) = answer(&parts.concat()) {
            prop_assert!(parse(&text).is_ok());
        }
    }
}

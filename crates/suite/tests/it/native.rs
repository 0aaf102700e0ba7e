//! The two comparisons, and that they are ours by name.

use canon::Float;
use proptest::prelude::*;
use suite::literal::{Value, parse};
use suite::native::{Outcome, Program, agree, judge};
use suite::spec::{Cmp, Dialect, Mode, Spec, Task};

fn cmp(atol: Option<f64>, set_equivalent: bool, regex_predicate: bool) -> Cmp {
    Cmp { atol: atol.map(Float::new), set_equivalent, regex_predicate }
}

fn check(dialect: Dialect, cmp: Cmp, got: &str, expected: &str, answer: bool) {
    let found = agree(dialect, cmp, &parse(got).unwrap(), &parse(expected).unwrap());
    assert_eq!(found, answer, "{dialect:?} {cmp:?}: {got} against {expected}");
}

#[test]
fn mbpp_without_switches() {
    for (got, expected, answer) in [
        ("1", "1", true),
        ("1.0", "True", true),
        ("[1, (2,)]", "(1, [2])", true),
        ("[1, 2]", "[1]", false),
        ("{1, 2}", "{2, 1}", true),
        ("{'a': [1]}", "{'a': (1,)}", false),
        ("None", "False", false),
        ("0.1", "0.10000000001", false),
        ("'a'", "b'a'", false),
        ("'ab'", "['a', 'b']", false),
    ] {
        check(Dialect::Mbpp, Cmp::default(), got, expected, answer);
    }
}

#[test]
fn mbpp_with_a_tolerance() {
    let near = cmp(Some(1e-6), false, false);
    for (got, expected, answer) in [
        ("0.30000000000000004", "0.3", true),
        ("1.000002", "1", false),
        ("[0.1, (1e-7,)]", "[0.1000001, [0.0]]", true),
        ("1", "2", false),
        ("'a'", "1.0", false),
        ("None", "0.0", false),
        ("1e999", "1e308", false),
        ("1e999", "1e999", true),
        ("1j", "1.0", false),
        ("(1+1e-7j)", "1.0", true),
        // Python raises OverflowError for the first, and refuses no integer that fits.
        ("0x1", "1.0000001", true),
    ] {
        check(Dialect::Mbpp, near, got, expected, answer);
    }
    let huge = format!("0x1{}", "0".repeat(300));
    check(Dialect::Mbpp, near, &huge, "1.0", false);
    // Zero is no tolerance: the elements are still compared one by one.
    check(Dialect::Mbpp, cmp(Some(0.0), false, false), "[1.5, 2]", "(1.5, 2)", true);
    check(Dialect::Mbpp, cmp(Some(0.0), false, false), "1.5", "1.25", false);
    // 0.3 - 0.2 is 0.09999999999999998 in binary64, and 0.1 is the bound.
    check(Dialect::Mbpp, cmp(Some(0.1), false, false), "0.3", "0.2", true);
}

#[test]
fn mbpp_as_sets() {
    let sets = cmp(None, true, false);
    for (got, expected, answer) in [
        ("[3, 1, 1, 2]", "[1, 2, 3]", true),
        ("(1, 2)", "{2, 1}", true),
        ("{'a': 1}", "['a']", true),
        ("'aab'", "['b', 'a']", true),
        ("b'a'", "[97]", true),
        ("[[1]]", "[[1]]", false),
        ("1", "1", false),
        ("[1]", "[1, 2]", false),
    ] {
        check(Dialect::Mbpp, sets, got, expected, answer);
    }
}

#[test]
fn mbpp_as_truth_values() {
    let truth = cmp(None, false, true);
    for (got, expected, answer) in [
        ("None", "False", true),
        ("True", "True", true),
        ("None", "True", false),
        ("1", "True", true),
        ("0", "None", false),
        ("[None]", "[False]", true),
    ] {
        check(Dialect::Mbpp, truth, got, expected, answer);
    }
}

#[test]
fn lcb_tolerates_numbers_and_not_booleans() {
    for (got, expected, answer) in [
        ("1", "1.0000001", true),
        ("1", "1.00001", false),
        ("True", "1", true),
        ("True", "1.0000001", false),
        ("True", "False", false),
        ("[1.0, (2,)]", "(1.0000001, [2])", true),
        ("{1: 1.0}", "{1: 1.0000001}", false),
        ("'a'", "'a'", true),
        ("None", "0", false),
        ("1e999", "1", false),
        ("1", "2", false),
    ] {
        check(Dialect::Lcb, Cmp::default(), got, expected, answer);
    }
}

fn spec() -> Spec {
    let bytes = br#"{"v":1,"entry_point":"f","tests":[{"args":"[1]","expected":"1"},{"args":"[2]","expected":"[2]"}]}"#;
    Spec::from_bytes(bytes, Mode::Strict, Task::NotGiven).unwrap()
}

#[test]
fn a_suite_passes_with_one_right_outcome_for_each_test() {
    let returned = |text: &str| Outcome::Returned(parse(text).unwrap());
    let answer = |outcomes: &[Outcome]| {
        let judgement = judge(&spec(), outcomes);
        (judgement.ok, judgement.failed)
    };
    assert_eq!(answer(&[returned("1"), returned("(2,)")]), (true, vec![]));
    assert_eq!(answer(&[returned("1"), Outcome::Failed]), (false, vec![1]));
    assert_eq!(answer(&[returned("2"), returned("3")]), (false, vec![0, 1]));
    assert_eq!(answer(&[returned("1")]), (false, vec![1]));
    assert_eq!(answer(&[]), (false, vec![0, 1]));
    assert_eq!(answer(&[returned("1"), returned("[2]"), returned("3")]), (false, vec![]));
}

#[test]
fn the_renderer_names_itself_and_the_suite() {
    let program = Program::this();
    assert_eq!((program.name, program.version), ("touchstone-native", 1));
    canon::lint_no_floats(&program.record()).unwrap();
    let other = Spec::new(Dialect::Lcb, "f", spec().tests().to_vec(), Cmp::default()).unwrap();
    assert_ne!(Program::this().over(&spec()), Program::this().over(&other));
    assert_eq!(Program::this().over(&spec()), Program::this().over(&spec()));
}

proptest! {
    /// The exact comparison is the one that the hardware makes.
    #[test]
    fn a_difference_is_rounded_as_binary64(a in any::<f64>(), b in any::<f64>(), ulps in -3i64..4) {
        prop_assume!(a.is_finite() && b.is_finite());
        // Bounds beside the difference, where rounding decides.
        let beside = (a - b).abs().to_bits().saturating_add_signed(ulps);
        let bound = f64::from_bits(beside);
        prop_assume!(bound.is_finite() && bound > 0.0);
        let expected = a.to_bits() == b.to_bits() || (a - b).abs() <= bound;
        let value = |x| Value::Float(Float::new(x));
        prop_assert_eq!(agree(Dialect::Mbpp, cmp(Some(bound), false, false), &value(a), &value(b)), expected);
    }

    #[test]
    fn the_same_with_numbers_of_one_size(a in -1e3f64..1e3, b in -1e3f64..1e3, ulps in -2i64..3) {
        let bound = f64::from_bits((a - b).abs().to_bits().saturating_add_signed(ulps));
        prop_assume!(bound.is_finite() && bound > 0.0);
        let expected = (a - b).abs() <= bound;
        let value = |x| Value::Float(Float::new(x));
        prop_assert_eq!(agree(Dialect::Mbpp, cmp(Some(bound), false, false), &value(a), &value(b)), expected);
    }
}

//! The replay canonical form: R1 to R5, D-1 to D-7, S-1 to S-3, against public data and against random documents.
#![allow(clippy::unwrap_used)]

use canon::replay::{Canonicaliser, Document, Form, Observed, Table, difference, each_tampered};
use canon::{Limits, ReadFault, Reader, canonical};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Every field takes part.
const ALL: &str = "version = 1\n[fields]\n'*' = 'repro'\n";

fn table(text: &str) -> Table {
    Table::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn document(text: &str) -> Document<'_> {
    Document::json(text.as_bytes(), Limits::default()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn form(rules: &str, text: &str) -> Form {
    Canonicaliser::new(&table(rules)).form(&document(text)).unwrap()
}

fn observed(rules: &str, text: &str) -> Observed {
    let table = table(rules);
    let mut canonicaliser = Canonicaliser::new(&table);
    canonicaliser.form(&document(text)).unwrap();
    canonicaliser.observed()
}

/// The canonical text of `text` under `rules`.
fn check(rules: &str, text: &str, expected: &str) {
    assert_eq!(form(rules, text).text(), expected, "{rules}\n{text}");
}

fn counts(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    pairs.iter().map(|(path, count)| ((*path).to_owned(), *count)).collect()
}

// ------------------------------------------------------------------------------------------- classes (R1, R4)

#[test]
fn physical_is_dropped_unknown_is_dropped_and_counted() {
    let rules = "version = 1\n[fields]\na = 'repro'\nhost = 'physical'\n";
    let text = r#"{"a":{"a":1,"x":2},"ts":5,"host":"h","x":[1,2],"y":{"a":1}}"#;
    check(rules, text, r#"{"a":{"a":"1.000000"}}"#);
    let observed = observed(rules, text);
    assert_eq!(observed.repro, counts(&[("a.a", 1)]));
    assert_eq!(observed.physical, counts(&[("host", 1), ("ts", 1)]));
    assert_eq!(observed.unknown, counts(&[("a.x", 1), ("x", 1), ("y", 1)]));
    assert_eq!(observed.leaves(), 1);
}

#[test]
fn r4_the_twelve_are_physical_whatever_the_table_says() {
    for name in canon::replay::MINIMUM_PHYSICAL {
        check(ALL, &format!(r#"{{"a":"x","{name}":1}}"#), r#"{"a":"x"}"#);
    }
}

#[test]
fn a_missing_field_and_null_differ() {
    check(ALL, r#"{"a":null}"#, r#"{"a":null}"#);
    assert_ne!(form(ALL, r#"{"a":null}"#).hash(), form(ALL, "{}").hash());
}

#[test]
fn list_elements_are_transparent_in_paths() {
    let rules = "version = 1\n[scale]\n'steps.cost' = 2\n[fields]\nsteps = 'repro'\n'steps.cost' = 'repro'\n";
    check(
        rules,
        r#"{"steps":[[{"cost":1.005}],{"cost":2,"other":1}]}"#,
        r#"{"steps":[[{"cost":"1.00"}],{"cost":"2.00"}]}"#,
    );
    assert_eq!(
        observed(rules, r#"{"steps":[{"cost":1},{"cost":2,"other":1}]}"#).unknown,
        counts(&[("steps.other", 1)])
    );
}

#[test]
fn opaque_is_the_digest_of_the_ledgers_form() {
    let rules = "version = 1\n[fields]\np = 'opaque'\n";
    let payload = r#"{"ts":1,"list":[{"seq":2},{"seq":1}],"n":1.50}"#;
    let plain = canonical(&Reader::strict().read(payload.as_bytes()).unwrap());
    let digest = canon::Digest::of(&plain);
    check(rules, &format!(r#"{{"p":{payload}}}"#), &format!(r#"{{"p":"sha256:{digest}"}}"#));
    let table = table(rules);
    // What the ledger's form cannot write exactly is refused: two payloads that differ are never one (PC-45).
    for number in ["1e400", "1e-400", "100000000000000000.01", "9007199254740993.0", "0.1000000000000000001"]
    {
        let text = format!(r#"{{"p":[{number}]}}"#);
        let error = Canonicaliser::new(&table).form(&document(&text)).unwrap_err();
        assert_eq!(
            (error.code(), format!("{error:?}").contains("\"p\"")),
            ("form_opaque_number", true),
            "{number}"
        );
    }
    assert_eq!(form(rules, r#"{"p":1e0}"#), form(rules, r#"{"p":1.0}"#));
    assert_ne!(form(rules, r#"{"p":9007199254740993}"#), form(rules, r#"{"p":9007199254740992}"#));
}

// ------------------------------------------------------------------------------------------- numbers (R3, D-2)

#[test]
fn numbers_are_exact_and_have_one_spelling() {
    for token in ["1", "1.0", "1e0", "10E-1"] {
        check(ALL, &format!(r#"{{"n":{token}}}"#), r#"{"n":"1.000000"}"#);
    }
    check(ALL, r#"{"n":-0}"#, r#"{"n":"0.000000"}"#);
    check(ALL, r#"{"n":-0.0}"#, r#"{"n":"0.000000"}"#);
    check(ALL, r#"{"n":9007199254740993}"#, r#"{"n":"9007199254740993.000000"}"#);
    check(ALL, r#"{"n":1e400}"#, &format!(r#"{{"n":"1{}.000000"}}"#, "0".repeat(400)));
    // PC-45: what a binary float gets wrong.
    check(ALL, r#"{"n":9007199254740991.0}"#, r#"{"n":"9007199254740991.000000"}"#);
    check(
        "version = 1\nscale = 17\n[fields]\nn = 'repro'",
        r#"{"n":0.09144338512092887}"#,
        r#"{"n":"0.09144338512092887"}"#,
    );
    // A number and the string that spells it share a form: the draft's own rule, a known limit.
    check(ALL, r#"{"n":"1.000000"}"#, r#"{"n":"1.000000"}"#);
}

#[test]
fn exponents_beyond_400_and_non_finite_numbers_are_errors() {
    for (text, fault, offset) in [
        (r#"{"n":1e401}"#, ReadFault::ExponentRange, 5),
        (r#"{"n":1e-401}"#, ReadFault::ExponentRange, 5),
        (r#"{"n":1E+99999999999999999999}"#, ReadFault::ExponentRange, 5),
        (r#"{"n":NaN}"#, ReadFault::NonFinite, 5),
        (r#"{"n":-Infinity}"#, ReadFault::NonFinite, 6),
        (r#"{"n":1,"n":2}"#, ReadFault::DuplicateKey("n".into()), 7),
    ] {
        let error = Document::json(text.as_bytes(), Limits::default()).unwrap_err();
        assert_eq!((error.fault, error.offset), (fault, offset), "{text}");
    }
}

// ------------------------------------------------------------------------------------------- text (D-1)

#[test]
fn pc_47_keys_go_by_code_point() {
    let expected = "{\"\u{e000}\":\"3.000000\",\"\u{ffff}\":\"2.000000\",\"😀\":\"1.000000\"}";
    check(ALL, r#"{"😀":1,"\uffff":2,"\ue000":3}"#, expected);
    check(ALL, r#"{"\ue000":3,"😀":1,"\uffff":2}"#, expected);
}

#[test]
fn pc_48_only_quote_backslash_and_controls_are_escaped() {
    let text = "{\"s\":\"< > & / \u{7f} \u{2028} \u{2029} \u{feff} \\u0000\\u001f\\n\\\"\\\\ e\u{301}\"}";
    check(
        ALL,
        text,
        "{\"s\":\"< > & / \u{7f} \u{2028} \u{2029} \u{feff} \\u0000\\u001f\\n\\\"\\\\ e\u{301}\"}",
    );
}

/// The published pairs of RFC 8785. Strings, literals and structure are written alike; the two forms differ on purpose
/// in numbers (fixed point against ECMAScript) and, beyond the basic plane, in the order of keys (code point against
/// UTF-16 unit). Both differences are in `docs/determinism.md`.
#[test]
fn rfc_8785_pairs() {
    let Some(folder) = vectors::shared("rfc_8785_pairs", "data/rfc8785/testdata") else { return };
    // Lists of scalars keep their order, lists of objects do not: their order is the table's business.
    let rules = format!("{ALL}[lists]\n'$' = {{ order = 'sequence' }}\n'*' = {{ order = 'sequence' }}\n");
    let rules = table(&rules);
    let mut equal = Vec::new();
    for name in ["arrays", "french", "structures", "unicode", "values", "weird"] {
        let read = |kind: &str| std::fs::read(folder.join(format!("{kind}/{name}.json"))).unwrap();
        let (input, output) = (read("input"), read("output"));
        let output = output.trim_ascii_end();
        let document = Document::json(&input, Limits::default()).unwrap();
        let ours = Canonicaliser::new(&rules).form(&document).unwrap();
        if ours.bytes() == output {
            equal.push(name);
        }
        // The same value: their output under our rules is our output.
        let theirs = Document::json(output, Limits::default()).unwrap();
        assert_eq!(Canonicaliser::new(&rules).form(&theirs).unwrap(), ours, "{name}");
    }
    assert_eq!(equal, ["french", "unicode"]);
}

/// Every file of the public parser suite that the strict reader takes has a canonical form, but for exponents.
#[test]
fn public_parser_suite() {
    let Some(folder) = vectors::shared("public_parser_suite", "data/jsontestsuite/test_parsing") else {
        return;
    };
    let (mut yes, mut no) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(&path).unwrap();
        let read = Document::json(&bytes, Limits::default());
        match &name[..2] {
            "y_" if name.contains("duplicated_key") => {
                assert!(matches!(read.unwrap_err().fault, ReadFault::DuplicateKey(_)), "{name}");
            }
            "y_" => {
                yes += 1;
                assert!(read.is_ok(), "{name}");
            }
            "n_" => {
                no += 1;
                assert!(read.is_err(), "{name}");
            }
            _ => {}
        }
    }
    assert_eq!((yes, no), (93, 188));
}

// ------------------------------------------------------------------------------------------- lists (R2, D-5)

#[test]
fn lists_of_objects_are_sorted_by_stable_keys() {
    let check = |text, expected| check(ALL, text, expected);
    check(
        r#"{"l":[{"seq":10},{"seq":9},{"seq":"1"},{"seq":-1}]}"#,
        r#"{"l":[{"seq":"-1.000000"},{"seq":"9.000000"},{"seq":"10.000000"},{"seq":"1"}]}"#,
    );
    // Without the key first, ties by bytes, later keys after earlier ones.
    check(
        r#"{"l":[{"seq":1,"v":"b"},{"v":"z"},{"seq":1,"v":"a"}]}"#,
        r#"{"l":[{"v":"z"},{"seq":"1.000000","v":"a"},{"seq":"1.000000","v":"b"}]}"#,
    );
    check(
        r#"{"l":[{"step":1,"agent_id":"b"},{"step":1,"agent_id":"a"}]}"#,
        r#"{"l":[{"agent_id":"a","step":"1.000000"},{"agent_id":"b","step":"1.000000"}]}"#,
    );
    // Scalars and mixed lists keep their order.
    check(
        r#"{"l":[3,1,2],"m":[{"seq":2},1,{"seq":1}]}"#,
        r#"{"l":["3.000000","1.000000","2.000000"],"m":[{"seq":"2.000000"},"1.000000",{"seq":"1.000000"}]}"#,
    );
    // Small and large spellings of one order.
    check(
        r#"{"l":[{"seq":1e18},{"seq":5},{"seq":4.9999999}]}"#,
        r#"{"l":[{"seq":"5.000000"},{"seq":"5.000000"},{"seq":"1000000000000000000.000000"}]}"#,
    );
}

#[test]
fn pc_50_parallel_steps_in_order_of_completion() {
    let (a, b) = (
        r#"{"steps":[{"node":"b","out":1},{"node":"c","out":2}]}"#,
        r#"{"steps":[{"node":"c","out":2},{"node":"b","out":1}]}"#,
    );
    // No rule: equal, and counted until the table says what the order means.
    assert_eq!(form(ALL, a), form(ALL, b));
    assert_eq!(observed(ALL, a).unkeyed, counts(&[("steps", 1)]));
    let sequence = format!("{ALL}[lists]\nsteps = {{ order = 'sequence' }}\n");
    let found = difference(&form(&sequence, a), &form(&sequence, b), 10);
    assert_eq!(found[0].path, "steps[0].node");
    assert_eq!((found[0].left.as_deref(), found[0].right.as_deref()), (Some("\"b\""), Some("\"c\"")));
    let key = format!("{ALL}[lists]\nsteps = {{ order = 'key', keys = ['node'] }}\n");
    assert_eq!(form(&key, a), form(&key, b));
    assert!(observed(&key, a).unkeyed.is_empty());
    let (c, d) = (
        r#"{"steps":[{"node":"b","out":2},{"node":"b","out":1}]}"#,
        r#"{"steps":[{"node":"b","out":1},{"node":"b","out":2}]}"#,
    );
    assert_eq!(form(&key, c), form(&key, d));
    let set = format!("{ALL}[lists]\nsteps = {{ order = 'set' }}\ntags = {{ order = 'set' }}\n");
    assert_eq!(form(&set, a), form(&set, b));
    assert!(observed(&set, a).unkeyed.is_empty());
    assert_eq!(form(&set, r#"{"tags":["b","a"]}"#), form(&set, r#"{"tags":["a","b"]}"#));
}

/// A rule is about the list at its path; a list inside of that has the same path and keeps its order.
#[test]
fn rules_do_not_reach_into_lists_of_lists() {
    let set = format!("{ALL}[lists]\nmoves = {{ order = 'set' }}\n");
    assert_ne!(form(&set, r#"{"moves":[["pay","a","b"]]}"#), form(&set, r#"{"moves":[["pay","b","a"]]}"#));
    assert_eq!(
        form(&set, r#"{"moves":[["a","b"],["c","d"]]}"#),
        form(&set, r#"{"moves":[["c","d"],["a","b"]]}"#)
    );
    // Lists of objects are sorted at any depth (R2).
    assert_eq!(form(ALL, r#"{"l":[[{"seq":2},{"seq":1}]]}"#), form(ALL, r#"{"l":[[{"seq":1},{"seq":2}]]}"#));
}

/// Bytes that have to decide between elements without a key are counted, also where other elements have one.
#[test]
fn a_key_that_orders_nothing_is_no_key() {
    for (list, unkeyed) in [
        (r#"[{"seq":null,"v":2},{"seq":null,"v":1}]"#, 1),
        (r#"[{"step":{},"v":2},{"step":{},"v":1}]"#, 1),
        (r#"[{"v":2},{"v":1},{"step":1}]"#, 1),
        (r#"[{"v":2},{"step":1},{"step":2}]"#, 0),
        (r#"[{"v":1},{"v":1}]"#, 0),
        (r#"[{"step":1,"v":2},{"step":1,"v":1}]"#, 0),
    ] {
        assert_eq!(observed(ALL, &format!(r#"{{"l":{list}}}"#)).unkeyed.len(), unkeyed, "{list}");
    }
}

#[test]
fn forms_are_bounded() {
    let numbers = vec!["1e400"; 330_000].join(",");
    let text = format!(r#"{{"l":[{numbers}]}}"#);
    let table = table(ALL);
    assert_eq!(Canonicaliser::new(&table).form(&document(&text)).unwrap_err().code(), "form_too_long");
}

/// A stable key that is not part of the canonical form orders nothing: its value would reach the hash (S-3).
#[test]
fn a_dropped_key_orders_nothing() {
    let rules = "version = 1\n[fields]\nl = 'repro'\nv = 'repro'\nseq = 'physical'\n";
    assert_eq!(
        form(rules, r#"{"l":[{"seq":1,"v":"a"},{"seq":2,"v":"b"}]}"#),
        form(rules, r#"{"l":[{"seq":2,"v":"a"},{"seq":1,"v":"b"}]}"#)
    );
    assert_eq!(
        observed(rules, r#"{"l":[{"seq":1,"v":"a"},{"seq":2,"v":"b"}]}"#).unkeyed,
        counts(&[("l", 1)])
    );
}

// ------------------------------------------------------------------------------------------- runs (ruling 23, PC-49, PC-51)

#[test]
fn json_lines_are_the_list_of_their_objects() {
    let lines = |text: &'static str| Document::lines(text.as_bytes(), Limits::default());
    let plain = lines("{\"a\":1}\n{\"a\":\"\u{2028}\"}\n").unwrap();
    assert_eq!(plain.records(), 2);
    assert_eq!(
        lines("{\"a\":1}\r\n\r\n{\"a\":\"\u{2028}\"}").unwrap(),
        plain,
        "PC-49: CR LF, a blank line, no last line feed"
    );
    assert_eq!(plain, document("[{\"a\":1},{\"a\":\"\u{2028}\"}]"));
    let mark = lines("\u{feff}{\"a\":1}\n").unwrap_err();
    assert_eq!((mark.fault, mark.offset), (ReadFault::ByteOrderMark, 0));
    let two = lines("{\"a\":1}\n{\"a\":1} {\"a\":2}\n").unwrap_err();
    assert_eq!((two.fault, two.offset), (ReadFault::TrailingBytes, 16));
    let torn = lines("{\"a\":1}\n{\"a\"").unwrap_err();
    assert_eq!((torn.fault, torn.offset), (ReadFault::UnexpectedEnd, 12));
}

#[test]
fn pc_51_depth_and_size_are_bounded() {
    for (open, close) in [("[", "]"), ("{\"x\":", "}")] {
        let text = |depth: usize, closed: bool| {
            let inner = format!(
                "{}1{}",
                open.repeat(depth - 1),
                if closed { close.repeat(depth - 1) } else { String::new() }
            );
            format!("{{\"x\":{inner}{}", if closed { "}" } else { "" })
        };
        assert!(Document::json(text(128, true).as_bytes(), Limits::default()).is_ok());
        for closed in [true, false] {
            for depth in [129, 100_000] {
                let error = Document::json(text(depth, closed).as_bytes(), Limits::default()).unwrap_err();
                assert_eq!(error.fault, ReadFault::TooDeep(128));
            }
        }
    }
    let error = Document::json(b"{\"a\":1}", Limits { bytes_max: 6, ..Limits::default() }).unwrap_err();
    assert_eq!(error.fault, ReadFault::TooLong(6));
    let deep = format!("{}1{}\n", "[".repeat(128), "]".repeat(128));
    let error = Document::lines(deep.as_bytes(), Limits::default()).unwrap_err();
    assert_eq!(error.fault, ReadFault::TooDeep(127), "the list of lines is a level of its own");
}

// ------------------------------------------------------------------------------------------- differences

#[test]
fn differences_are_named_by_path() {
    let paths = |a: &str, b: &str| -> Vec<String> {
        difference(&form(ALL, a), &form(ALL, b), 100).into_iter().map(|found| found.path).collect()
    };
    assert!(paths(r#"{"a":1}"#, r#"{"a":1.0}"#).is_empty());
    assert_eq!(paths(r#"{"a":1,"b":{"c":[1,2]}}"#, r#"{"a":2,"b":{"c":[1,3]},"d":0}"#), ["a", "b.c[1]", "d"]);
    assert_eq!(paths(r#"{"l":[1,2,3,4]}"#, r#"{"l":[1,9,2,3,4]}"#), ["l[1]"], "one more is one difference");
    assert_eq!(paths(r#"{"a.b":1}"#, r#"{"a.b":2}"#), ["'a.b'"]);
    assert_eq!(difference(&form(ALL, r#"{"a":1,"b":1}"#), &form(ALL, "{}"), 1).len(), 1);
}

#[test]
fn the_physical_difference_is_found() {
    let rules = table("version = 1\n[fields]\nl = 'repro'\nseq = 'repro'\n");
    let physical = |a: &str, b: &str| {
        let comparison = Canonicaliser::new(&rules).compare(&document(a), &document(b)).unwrap();
        (comparison.forms[0] == comparison.forms[1], comparison.physical.into_iter().collect::<Vec<_>>())
    };
    let run = r#"{"ts":1,"l":[{"seq":1,"pid":7},{"seq":2,"pid":8}]}"#;
    assert_eq!(physical(run, run), (true, vec![]));
    assert_eq!(
        physical(run, r#"{"ts":2,"l":[{"seq":2,"pid":8},{"seq":1,"pid":7}]}"#),
        (true, vec!["ts".into()]),
        "values follow their elements"
    );
    assert_eq!(
        physical(run, r#"{"ts":1,"l":[{"seq":1,"pid":8},{"seq":2,"pid":7}]}"#),
        (true, vec!["l.pid".into()])
    );
    assert_eq!(physical(run, r#"{"l":[{"seq":1,"pid":7},{"seq":2,"pid":8}]}"#), (true, vec!["ts".into()]));
}

// ------------------------------------------------------------------------------------------- sensitivity (S-1 to S-3)

#[test]
fn every_leaf_is_tampered_with() {
    let rules = table(
        "version = 1\n[fields]\n'*' = 'repro'\no = 'opaque'\ngone = 'physical'\n[lists]\ns = { order = 'sequence' }\n",
    );
    let mut canonicaliser = Canonicaliser::new(&rules);
    let text = r#"{"a":"","b":true,"c":null,"d":-0.5,"e":[],"f":{},"s":[{"x":1},{"x":2}],"t":["a","b"],"o":{"k":[]},"gone":1,"ts":2}"#;
    let document = document(text);
    let mut paths = Vec::new();
    each_tampered(&mut canonicaliser, &document, &mut |path, _| paths.push(path.to_owned()));
    // Lists whose order counts twice: one element less, two swapped.
    assert_eq!(paths, ["a", "b", "c", "d", "s", "s", "s[0].x", "s[1].x", "t", "t", "t[0]", "t[1]", "o"]);
    let sensitivity = canonicaliser.sensitivity(&document).unwrap();
    assert_eq!((sensitivity.changes, sensitivity.rehashed), (13, 13));
    assert!(sensitivity.unseen.is_empty() && sensitivity.disagree.is_empty());
    let reverse = canonicaliser.reverse(&document).unwrap();
    assert_eq!((reverse.changes, reverse.leaked.len()), (2, 0));
}

#[test]
fn a_large_receipt_is_sampled_evenly() {
    let rules = table(ALL);
    let steps: Vec<String> = (0..500).map(|step| format!(r#"{{"step":{step},"out":"o{step}"}}"#)).collect();
    let text = format!(r#"{{"steps":[{}]}}"#, steps.join(","));
    let sensitivity = Canonicaliser::new(&rules).sensitivity(&document(&text)).unwrap();
    assert_eq!((sensitivity.changes, sensitivity.rehashed), (1001, 16));
    assert!(sensitivity.unseen.is_empty() && sensitivity.disagree.is_empty());
}

// ------------------------------------------------------------------------------------------- random documents

/// JSON text of a random value; keys from a small alphabet, so that the table below meets them.
fn json() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| value.to_string()),
        (any::<i32>(), 0_u32..1_000, -20_i32..20)
            .prop_map(|(whole, part, exponent)| format!("{whole}.{part}e{exponent}")),
        "[ -~é😀\u{2028}]{0,6}".prop_map(|text| quoted(&text)),
    ];
    scalar.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            object(inner),
        ]
    })
}

fn object(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let key = prop_oneof![Just("seq"), Just("ts"), Just("o"), Just("p"), Just("a"), Just("b"), Just("step")];
    proptest::collection::btree_map(key, inner, 0..6).prop_map(|members| {
        let members: Vec<String> =
            members.iter().map(|(key, value)| format!("{}:{value}", quoted(key))).collect();
        format!("{{{}}}", members.join(","))
    })
}

fn quoted(text: &str) -> String {
    String::from_utf8(canonical(&text.into())).unwrap()
}

const MIXED: &str = "version = 1\n[fields]\n'*' = 'repro'\no = 'opaque'\np = 'physical'\n[lists]\nb = { order = 'sequence' }\n";

/// The same document with keys turned round, lists of objects rotated where their order means nothing, blanks
/// everywhere, other spellings of numbers, and other physical values.
fn disguised(value: &canon::Value, key: &str, rotate: usize) -> String {
    use canon::Value;
    match value {
        Value::Array(items) => {
            let mut items: Vec<&Value> = items.iter().collect();
            if key != "b" && !items.is_empty() && items.iter().all(|item| item.as_object().is_some()) {
                let by = rotate % items.len();
                items.rotate_left(by);
            }
            let items: Vec<String> = items.iter().map(|item| disguised(item, key, rotate)).collect();
            format!("[ {} ]", items.join(" ,\n"))
        }
        Value::Object(object) => {
            let member = |(key, value): (&str, &Value)| match key {
                "ts" | "p" => format!("{} : [\"other\"]", quoted(key)),
                "o" => format!("{} :\t{}", quoted(key), String::from_utf8(canonical(value)).unwrap()),
                _ => format!("{} :\t{}", quoted(key), disguised(value, key, rotate)),
            };
            let mut members: Vec<String> = object.iter().map(member).collect();
            members.reverse();
            format!("{{ {} }}", members.join(" , "))
        }
        Value::Int(number) => format!("{}.0e0", number.as_str()),
        other => String::from_utf8(canonical(other)).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// A canonical form is JSON that the strict reader takes, in the order in which it is written again.
    #[test]
    fn ten_thousand_documents_round_trip(text in json()) {
        let text = format!("{{\"a\":{text}}}");
        let form = form(MIXED, &text);
        let value = Reader::strict().read(form.bytes()).unwrap();
        prop_assert_eq!(canonical(&value), form.bytes());
let (read, written) = (document(&text), document(&text).to_json());
        prop_assert_eq!(&document(&written), &read);
    }
}

/// What the form does not tell apart has no order that could be changed.
#[test]
fn what_has_one_canonical_text_is_not_swapped() {
    let table = table(MIXED);
    for text in [
        "{\"seq\":[[0.0e0,0.0e-1]]}",
        "{\"seq\":[1,1.0]}",
        "{\"a\":[0.0e0,0.1e-6]}",
        "{\"a\":[{},{\"p\":null},null]}",
    ] {
        let document = document(text);
        let sensitivity = Canonicaliser::new(&table).sensitivity(&document).unwrap();
        assert!(sensitivity.unseen.is_empty() && sensitivity.disagree.is_empty(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Order of keys, order of lists under stable keys, physical values, blanks and spellings never reach the hash.
    #[test]
    fn disguise_never_changes_the_hash(text in object(json()), rotate in 0_usize..5) {
        let plain = Reader::strict().read(text.as_bytes()).unwrap();
        prop_assert_eq!(form(MIXED, &text), form(MIXED, &disguised(&plain, "", rotate)));
    }

    /// Any other single change always does, and the quick judgement of each is the slow one.
    #[test]
    fn every_single_change_reaches_the_hash(text in object(json())) {
        let table = table(MIXED);
        let mut canonicaliser = Canonicaliser::new(&table);
        let document = document(&text);
        let before = canonicaliser.form(&document).unwrap();
        let mut changes = Vec::new();
        each_tampered(&mut canonicaliser, &document, &mut |path, text| changes.push((path.to_owned(), text.to_owned())));
        for (path, changed) in &changes {
            prop_assert_ne!(before.hash(), form(MIXED, changed).hash(), "{}: {} {}", path, text, changed);
        }
        let sensitivity = canonicaliser.sensitivity(&document).unwrap();
        prop_assert_eq!(sensitivity.changes, changes.len() as u64);
        prop_assert!(sensitivity.unseen.is_empty() && sensitivity.disagree.is_empty());
        prop_assert!(canonicaliser.reverse(&document).unwrap().leaked.is_empty());
    }
}

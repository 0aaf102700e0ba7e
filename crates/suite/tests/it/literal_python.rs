//! Literals against the real CPython.

use crate::literal::answer;
use crate::python;
use canon::{Reader, Value, canonical};
use proptest::strategy::{Strategy, ValueTree as _};
use proptest::test_runner::TestRunner;

/// Pieces of which texts are put together: values, and what may go wrong between them.
pub(crate) const PARTS: &[&str] = &[
    "1",
    "0",
    "-",
    "+",
    "2.5",
    "1e5",
    "0x1F",
    "1j",
    "2.5e-3J",
    "True",
    "False",
    "None",
    "...",
    "'a'",
    "\"it's\"",
    "b'x\\xff'",
    "r'\\d'",
    "'\\u4e2d\\n'",
    "'\\ud800'",
    "'''t\n'''",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ",",
    ", ",
    ":",
    " ",
    "\n",
    "#c\n",
    "set()",
    "set",
    "()",
    "[]",
    "{}",
    "x",
    "f(",
    "lambda",
    "if",
    "else",
    "for x in ",
    "not",
    "and",
    "is",
    ".",
    "**",
    "*",
    ":=",
    "=",
    "==",
    "<",
    "~",
    "\\\n",
    "_",
    "1_0",
    "01",
    "f'{a}'",
    "u'é'",
    "9999999999999999999999",
    "1e999",
    "é",
    "$",
    "yield",
    "await",
    "\t",
    "\r\n",
    "''",
    "'\\x'",
    "'\\\\'",
    "1.",
    ".5",
    "0b1",
    "-1",
    "(1,)",
    "[1, 2]",
    "{1: 2}",
    "{1, 2}",
    "True:",
    "1.0:",
    "1:",
    "'k':",
];

/// Texts of values, nested, with odd blanks; nearly all of them are literals.
pub(crate) fn literals() -> impl Strategy<Value = String> {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u128>().prop_map(|n| format!("{n:#x}")),
        any::<u64>()
            .prop_map(f64::from_bits)
            .prop_filter("finite", |x| x.is_finite())
            .prop_map(|x| format!("{x:e}")),
        (-5000i32..5000, -20i32..20).prop_map(|(n, e)| format!("{n}e{e}")),
        (-50i32..50, -50i32..50).prop_map(|(a, b)| format!(
            "{a}.5{}{}j",
            if b < 0 { "-" } else { "+" },
            b.abs()
        )),
        "'(\\\\\\\\|\\\\n|\\\\x[0-9a-f]{2}|\\\\u[0-9a-f]{4}|\\\\[0-7]{1,3}|[^'\\\\\\r\\n\\x00]){0,8}'",
        "\"(\\\\'|\\\\\"|'|[^\"\\\\\\r\\n\\x00]){0,8}\"",
        "b'(\\\\x[0-9a-f]{2}|\\\\\\\\|\\\\'|[ -&\\(-\\[\\]-~]){0,8}'",
        prop::sample::select(
            &["True", "False", "None", "1", "1.0", "0", "-0.0", "set()", "...", "1e999"][..]
        )
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 30, 5, |inner| {
        let blank = prop::sample::select(&["", " ", "\n", " # c\n"][..]);
        let list = (prop::collection::vec(inner.clone(), 0..5), blank);
        prop_oneof![
            list.clone().prop_map(|(items, blank)| format!("[{blank}{}]", items.join(&format!(",{blank}")))),
            list.clone().prop_map(|(items, blank)| format!(
                "({}{blank})",
                items.iter().map(|item| format!("{item},")).collect::<String>()
            )),
            list.prop_map(|(items, blank)| format!("{{{blank}{}}}", items.join(","))),
            prop::collection::vec((inner.clone(), inner), 0..5).prop_map(|members| {
                format!(
                    "{{{}}}",
                    members.iter().map(|(k, v)| format!("{k}: {v}")).collect::<Vec<_>>().join(" , ")
                )
            }),
        ]
    })
}

pub(crate) fn soup() -> impl Strategy<Value = String> {
    use proptest::prelude::*;
    prop::collection::vec(prop::sample::select(PARTS), 1..8).prop_map(|parts| parts.concat())
}

fn line(text: &str) -> String {
    String::from_utf8(canonical(&Value::from(text))).unwrap()
}

/// The interpreter whose version is that of the peer's, or a loud skip.
fn python_3_11(test: &str) -> Option<std::path::PathBuf> {
    let python = python::interpreter(test)?;
    let version =
        python::run(&python, "crates/suite/tests/python/literals.py", &["version"], Vec::new()).concat();
    if version != r#"{"python": [3, 11], "unicode": "14.0.0"}"# {
        vectors::skip(test, &format!("the tables are those of Python 3.11, this is {version}"));
        return None;
    }
    Some(python)
}

fn compare(test: &str, texts: Vec<String>) {
    let Some(python) = python_3_11(test) else { return };
    let answers = python::run(
        &python,
        "crates/suite/tests/python/literals.py",
        &[],
        texts.iter().map(|text| line(text)).collect(),
    );
    assert_eq!(answers.len(), texts.len());
    let (mut wrong, mut read) = (Vec::new(), 0);
    for (text, theirs) in texts.iter().zip(&answers) {
        let theirs = Reader::strict().read(theirs.as_bytes()).unwrap();
        let expected = match theirs.get("value") {
            Some(value) => Ok(value.as_str().unwrap().to_owned()),
            None => Err(theirs.get("error").and_then(Value::as_str).unwrap()),
        };
        read += usize::from(expected.is_ok());
        let ours = answer(text);
        if ours != expected {
            wrong.push(format!("{text:?}: {ours:?}, CPython {expected:?}"));
        }
    }
    println!("{test}: {} texts, {read} of them literals", texts.len());
    assert!(read > texts.len() / 100, "hardly any text is a literal: {read}");
    let shown = wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {} differ:\n{shown}", wrong.len(), texts.len());
}

pub(crate) fn sample(strategy: impl Strategy<Value = String>, count: usize) -> Vec<String> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn generated_literals_are_read_as_cpython_reads_them() {
    compare("generated_literals_are_read_as_cpython_reads_them", sample(literals(), 6000));
}

#[test]
fn generated_texts_are_refused_as_cpython_refuses_them() {
    compare("generated_texts_are_refused_as_cpython_refuses_them", sample(soup(), 12_000));
}

/// The committed texts once more, so that what is committed is what the interpreter says.
#[test]
fn committed_texts_are_answered_as_cpython_answers_them() {
    let file = vectors::json(&vectors::repository().join("vectors/suite/literals.json"));
    let texts = file.as_array().unwrap().iter().map(|case| vectors::text(case, "text").to_owned()).collect();
    compare("committed_texts_are_answered_as_cpython_answers_them", texts);
}

/// Every character: printable or escaped, alone in a string.
#[test]
fn every_character_is_printed_as_cpython_prints_it() {
    let test = "every_character_is_printed_as_cpython_prints_it";
    let Some(python) = python_3_11(test) else { return };
    let theirs = python::run(&python, "crates/suite/tests/python/literals.py", &["tables"], Vec::new());
    assert_eq!(theirs.len(), 0x11_0000);
    for (code, theirs) in (0u32..).zip(&theirs) {
        let mut text = suite::literal::Text::default();
        assert!(text.push(code));
        let escaped = suite::literal::emit_text(&text).starts_with("'\\")
            && !['\\', '\''].map(u32::from).contains(&code);
        let name = char::from_u32(code).map_or(String::new(), String::from);
        let start = suite::literal::identifier(&name);
        let later = !name.is_empty() && suite::literal::identifier(&format!("a{name}"));
        let ours = [!escaped, start, later].map(|flag| char::from(b'0' + u8::from(flag)));
        assert_eq!(ours.iter().collect::<String>(), *theirs, "U+{code:04x}");
    }
}

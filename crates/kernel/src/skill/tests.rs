//! What holds for every built-in skill.

use super::{Fault, Skills};
use canon::{Object, Value, lint_no_floats};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn skills() -> Skills {
    Skills::builtin()
}

#[test]
fn every_example_of_every_skill_is_what_it_says() {
    let skills = skills();
    let mut wrong = Vec::new();
    for (index, manifest) in skills.manifests().enumerate() {
        assert!(manifest.examples.len() >= 2, "{}: a skill has two examples at least", manifest.name);
        for example in &manifest.examples {
            let got = skills.run(index, &example.payload);
            if got.as_ref() != Ok(&example.output) {
                wrong.push(format!("{}: {:?}\n  gives {}", manifest.name, example.payload, shown(&got)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn shown(got: &Result<Value, super::Failed>) -> String {
    match got {
        Ok(value) => String::from_utf8(canon::compact_ascii(value)).unwrap(),
        Err(failed) => format!("{failed:?}"),
    }
}

#[test]
fn every_manifest_is_whole_and_tells_its_skill_from_the_others() {
    let skills = skills();
    let (mut names, mut triggers, mut descriptions) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    assert!(skills.manifests().len() >= 36, "{}", skills.manifests().len());
    for manifest in skills.manifests() {
        let name = &manifest.name;
        let (family, verb) = name.split_once('.').unwrap();
        let word =
            |part: &str| part.bytes().all(|byte| byte.is_ascii_lowercase() || b"_0123456789".contains(&byte));
        assert!(!family.is_empty() && !verb.is_empty() && word(family) && word(verb), "{name}");
        assert!(names.insert(name), "{name} is declared twice");
        assert!(descriptions.insert(&manifest.description), "{name}: the description of another skill");
        assert!(
            (40..=320).contains(&manifest.description.len()) && manifest.description.ends_with('.'),
            "{name}"
        );
        assert!((1..=4).contains(&manifest.triggers.len()), "{name}: {:?}", manifest.triggers);
        for trigger in &manifest.triggers {
            assert!(triggers.insert(trigger), "{name}: the trigger {trigger:?} means another skill too");
        }
        assert!(manifest.arguments.iter().any(|argument| argument.required), "{name}");
        for example in &manifest.examples {
            for (member, _) in example.payload.iter() {
                assert!(
                    manifest.arguments.iter().any(|argument| argument.name == member),
                    "{name}: {member}"
                );
            }
        }
    }
    let sorted: Vec<&String> = skills.manifests().map(|manifest| &manifest.name).collect();
    assert!(sorted.is_sorted());
}

#[test]
fn every_skill_refuses_a_payload_without_a_required_argument() {
    let skills = skills();
    for (index, manifest) in skills.manifests().enumerate() {
        for argument in manifest.arguments.iter().filter(|argument| argument.required) {
            let mut payload = manifest.examples[0].payload.clone();
            payload.remove(&argument.name);
            let failed = skills.run(index, &payload).unwrap_err();
            let name = format!("{} without {}", manifest.name, argument.name);
            assert_eq!((failed.fault, &failed.detail), (Fault::ArgumentMissing, &argument.name), "{name}");
        }
    }
}

/// Arguments that take any value, so that no type is wrong.
const ANY: [&str; 5] = [
    "json.flatten.document",
    "json.merge.document",
    "json.merge.patch",
    "json.pointer.document",
    "json.sketch.document",
];

#[test]
fn every_skill_refuses_an_argument_of_the_wrong_type() {
    let skills = skills();
    for (index, manifest) in skills.manifests().enumerate() {
        for argument in &manifest.arguments {
            let name = format!("{}.{}", manifest.name, argument.name);
            if ANY.contains(&name.as_str()) || name == "json.validate.document" {
                continue;
            }
            let payload = manifest.examples[0].payload.clone().with(&argument.name, Value::Null);
            let failed = skills.run(index, &payload).unwrap_err();
            assert_eq!(failed.fault, Fault::ArgumentUnfit, "{name}: {failed:?}");
            assert!(failed.detail.starts_with(&argument.name), "{name}: {}", failed.detail);
        }
    }
}

#[test]
fn every_expected_skill_of_the_intents_exists() {
    let skills = skills();
    let names: BTreeSet<&str> = skills.manifests().map(|manifest| manifest.name.as_str()).collect();
    let families: BTreeSet<&str> = names.iter().map(|name| name.split('.').next().unwrap()).collect();
    let mut expected_once = BTreeSet::new();
    for text in [include_str!("../../intents/fixed.toml"), include_str!("../../intents/held_out.toml")] {
        let table: toml::Table = text.parse().unwrap();
        let intents = table["intent"].as_array().unwrap();
        assert_eq!(intents.len(), 12);
        let mut covered = BTreeSet::new();
        for intent in intents {
            let skill = intent["skill"].as_str().unwrap();
            assert!(names.contains(skill), "no skill is called {skill}");
            assert!(expected_once.insert(skill.to_owned()), "{skill} stands in both sets");
            covered.insert(skill.split('.').next().unwrap());
        }
        assert_eq!(covered, families);
    }
}

/// Values that are near to what skills read, so that they get beyond the first check.
fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        ".{0,40}",
        "[a-z0-9,\"\n\r@. -]{0,80}",
        "[0-9.eE+-]{0,24}",
        "[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.Z+-]{0,14})?",
        "(@@ -[0-9],[0-9] \\+[0-9],[0-9] @@\n|[ +-][a-c]{0,2}\n|--- a\n|\\+\\+\\+ b\n){0,8}",
        "(    |def f\\(x\\):\n|if a:|\"\"\"|'|#|\n|\\{|\\}|\\(|\\)|é){0,14}",
        "[A-Za-z0-9+/=%_-]{0,16}",
    ];
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        2 => any::<i64>().prop_map(Value::from),
        3 => (-3_i64..20).prop_map(Value::from),
        2 => any::<f64>().prop_filter("finite", |float| float.is_finite()).prop_map(|float| Value::Float(canon::Float::new(float))),
        6 => text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec(("[a-c]|columns|rows|type", inner), 0..5).prop_map(object),
        ]
    })
}

fn object(members: Vec<(String, Value)>) -> Value {
    let mut object = Object::new();
    members.into_iter().for_each(|(key, member)| object.set(&key, member));
    object.into()
}

proptest! {
    /// Words are counted by two loops, which have to agree.
    #[test]
    fn words_of_ascii_are_those_of_unicode(text in "[ -~\t\n\u{b}\u{c}\r\u{1c}-\u{1f}]{0,300}") {
        let index = skills().manifests().position(|manifest| manifest.name == "text.words").unwrap();
        let count = |text: &str| skills().run(index, &Object::new().with("text", text)).unwrap().as_i64().unwrap();
        prop_assert_eq!(count(&text) + 1, count(&format!("{text} é")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any payload gives an output without floats or a refusal, twice the same.
    #[test]
    fn no_payload_makes_a_skill_panic(values in prop::collection::vec(value(), 6), keep in any::<u8>()) {
        let skills = skills();
        for (index, manifest) in skills.manifests().enumerate() {
            let example = &manifest.examples[usize::from(keep) % manifest.examples.len()];
            let mut payload = example.payload.clone();
            for (place, argument) in manifest.arguments.iter().enumerate() {
                // One argument in three keeps the value of the example, so that the others are looked at.
                if (usize::from(keep) + place) % 3 != 0 {
                    payload.set(&argument.name, values[place % values.len()].clone());
                }
            }
            let got = skills.run(index, &payload);
            if let Ok(output) = &got {
                prop_assert!(lint_no_floats(output).is_ok(), "{}: {:?}", manifest.name, output);
            }
            prop_assert_eq!(got, skills.run(index, &payload), "{}", &manifest.name);
        }
    }
}

fn run(name: &str, payload: &str) -> Result<Value, super::Failed> {
    let skills = skills();
    let index = skills.manifests().position(|manifest| manifest.name == name).unwrap();
    let Value::Object(payload) = canon::Reader::strict().read(payload.as_bytes()).unwrap() else { panic!() };
    skills.run(index, &payload)
}

/// A payload for each fault that a built-in skill can report (V-6).
#[test]
fn every_fault_is_provoked() {
    let long = format!(r#"{{"text":"{}","from":"a","to":"{}"}}"#, "a".repeat(3000), "b".repeat(3000));
    let many: Vec<String> = (0..3000).map(|number| number.to_string()).collect();
    let far = format!(r#"{{"before":"{}","after":""}}"#, many.join("\\n"));
    let cases: &[(Fault, &str, &str)] = &[
        (Fault::ArgumentMissing, "text.words", "{}"),
        (Fault::ArgumentUnfit, "text.words", r#"{"text":1}"#),
        (Fault::ArgumentTooLarge, "text.words", &format!(r#"{{"text":"{}"}}"#, "a".repeat((1 << 20) + 1))),
        (Fault::WorkTooLarge, "diff.lines", &far),
        (Fault::OutputTooLarge, "text.replace", &long),
        (Fault::Overflow, "stats.mean", r#"{"numbers":["1e38","1e38"]}"#),
        (Fault::Inexact, "json.canonical", r#"{"text":"9007199254740993.0"}"#),
        (Fault::Undefined, "stats.mean", r#"{"numbers":[]}"#),
        (Fault::NotJson, "json.canonical", r#"{"text":"{\"a\":1,\"a\":2}"}"#),
        (Fault::PathAbsent, "json.pointer", r#"{"document":[1],"pointer":"/01"}"#),
        (Fault::SchemaUnsupported, "json.validate", r#"{"document":1,"schema":{"$ref":"x"}}"#),
        (Fault::NotCsv, "table.parse", r#"{"text":"a,b\n1\n"}"#),
        (Fault::ColumnAbsent, "table.sort", r#"{"table":{"columns":["a"],"rows":[]},"by":"b"}"#),
        (
            Fault::CellNotNumber,
            "table.sum",
            r#"{"table":{"columns":["a"],"rows":[["x"]]},"by":"a","value":"a"}"#,
        ),
        (Fault::NotEncoded, "bytes.from_base64", r#"{"text":"a b"}"#),
        (Fault::NotUtf8, "bytes.from_hex", r#"{"text":"ff"}"#),
        (Fault::NotDate, "date.weekday", r#"{"date":"2023-02-29"}"#),
        (Fault::DateOutOfRange, "date.add", r#"{"date":"9999-12-31","days":1}"#),
        (Fault::NotPatch, "diff.apply", r#"{"text":"","patch":"hello"}"#),
        (Fault::PatchMismatch, "diff.apply", r#"{"text":"a\n","patch":"@@ -1 +0,0 @@\n-b\n"}"#),
    ];
    for (fault, name, payload) in cases {
        assert_eq!(run(name, payload).map_err(|failed| failed.fault), Err(*fault), "{name}");
    }
    let provoked: Vec<Fault> = cases.iter().map(|(fault, ..)| *fault).collect();
    // Those of modules are provoked in `wasm_tests`.
    let own: Vec<Fault> =
        Fault::ALL.iter().copied().filter(|fault| !fault.code().starts_with("wasm_")).collect();
    assert_eq!(provoked, own);
}

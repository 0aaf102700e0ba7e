//! What a receipt says about envelopes that pass, advice, and faults behind the guard.

use super::stage::{envelope, handle_object, kernel};
use canon::{Object, Value};
use kernel::receipt::{FIELDS, Physical};
use std::collections::BTreeSet;
use verdict::Action;

const PHYSICAL: Physical = Physical { ts: 1, elapsed: 2, thread_order: 3, pid: 4 };

#[test]
fn a_harmless_envelope() {
    let receipt = handle_object(&kernel(), envelope("one two three"));
    assert_eq!((receipt.verdict.action, receipt.verdict.reason), (Action::Allow, "skill_done"));
    assert_eq!(receipt.output, Some(Value::from(3_u64)));
    let route = receipt.route.as_ref().unwrap();
    assert_eq!(
        (route.skill.as_str(), route.channel.word(), route.score),
        ("text.words", "trigger", 1_000_000)
    );
    // Eight layers, the route, the skill.
    assert_eq!(receipt.steps.len(), 10);
    let value = receipt.into_value(&PHYSICAL);
    assert_eq!(canon::lint_no_floats(&value), Ok(()));
    assert_eq!(value.get("steps").unwrap().as_array().unwrap().len(), 10);
}

#[test]
fn dry_runs_stop_before_the_skill() {
    let receipt = handle_object(&kernel(), envelope("one").with("mode", "dry_run"));
    assert_eq!((receipt.verdict.reason, receipt.output.is_none()), ("skill_not_run", true));
    assert_eq!(receipt.route.unwrap().skill, "text.words");
}

#[test]
fn what_no_skill_is_for_goes_nowhere() {
    let receipt = handle_object(&kernel(), envelope("one").with("task", "zzz qqq"));
    assert_eq!((receipt.verdict.layer, receipt.verdict.reason), ("route", "route_unrouted"));
    assert_eq!((receipt.route, receipt.verdict.action), (None, Action::Block));
}

#[test]
fn a_refusal_of_the_skill_is_a_verdict() {
    let receipt = handle_object(&kernel(), envelope("one").with("payload", Object::new()));
    assert_eq!((receipt.verdict.layer, receipt.verdict.reason), ("skill", "struct_argument_missing"));
    assert_eq!((receipt.verdict.action, receipt.output), (Action::Block, None));
}

/// K-2: advice is collected, the first of the strongest is the verdict, and a block outdoes it.
#[test]
fn advice_is_collected() {
    let text = "importlib.import_module(x)\u{200b}";
    let receipt = handle_object(&kernel(), envelope(text));
    assert_eq!((receipt.verdict.action, receipt.verdict.reason), (Action::Advise, "danger_importlib"));
    let advice: Vec<&str> = receipt
        .steps
        .iter()
        .filter(|step| step.triple.action == Action::Advise)
        .map(|step| step.triple.reason)
        .collect();
    assert_eq!(advice, ["danger_importlib", "ident_invisible_text"]);
    assert_eq!(receipt.output, Some(Value::from(1_u64)));
    let blocked = handle_object(&kernel(), envelope(&format!("{text} eval(x)")));
    assert_eq!((blocked.verdict.action, blocked.verdict.reason), (Action::Block, "danger_eval"));
    assert_eq!(blocked.finding.unwrap().member, "payload.text");
}

#[test]
fn the_hit_names_the_member() {
    let payload = Object::new()
        .with("a", vec!["x", "y"])
        .with("b", Object::new().with("c", Value::Array(vec![1_u64.into(), "os.system(1)".into()])));
    let receipt = handle_object(&kernel(), envelope("").with("payload", payload));
    let hit = receipt.finding.unwrap();
    assert_eq!((hit.member.as_str(), hit.pattern.as_str()), ("payload.b.c", "os.system("));
    let receipt =
        handle_object(&kernel(), envelope("").with("payload", Object::new().with("eval(x)", 1_u64)));
    assert_eq!(receipt.finding.unwrap().member, "payload.eval(x)");
}

/// Every path of a receipt is in the field table, and nothing else is.
#[test]
fn the_field_table_is_whole() {
    let mut paths = BTreeSet::new();
    let full = handle_object(&kernel(), envelope("one \u{200b}")).into_value(&PHYSICAL);
    collect(&full, "", &mut paths);
    paths.remove("");
    let table: toml::Table = FIELDS.parse().unwrap();
    let fields = table["fields"].as_table().unwrap();
    assert_eq!(fields.keys().cloned().collect::<BTreeSet<_>>(), paths);
    for name in ["ts", "elapsed", "thread_order", "pid"] {
        assert_eq!(fields[name].as_str(), Some("physical"));
    }
    let physical = fields.values().filter(|class| class.as_str() == Some("physical")).count();
    assert_eq!(physical, 4);
}

/// List elements are transparent; the inside of `output` belongs to the skill.
fn collect(value: &Value, path: &str, paths: &mut BTreeSet<String>) {
    paths.insert(path.to_owned());
    match value {
        Value::Object(object) if path != "output" => {
            for (key, member) in object.iter() {
                let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                collect(member, &path, paths);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, path, paths)),
        _ => {}
    }
}

/// A source or a time that says nothing is none.
#[test]
fn blank_evidence_is_no_evidence() {
    let reason = |class: Value, source: &str, ts: &str| {
        let claims = Object::new().with("evidence_class", class);
        let claims = claims.with("measure_source", source).with("measure_ts", ts);
        handle_object(&kernel(), envelope("one").with("claims", claims)).verdict.reason
    };
    let class = |word: &str| Value::from(word);
    for blank in ["", " ", "\t\n", "\u{a0}"] {
        assert_eq!(reason(class("measured"), blank, blank), "hon_measured_no_source", "{blank:?}");
        assert_eq!(reason(class("measured"), "bench.sh", blank), "hon_measured_no_time", "{blank:?}");
        assert_eq!(reason(class("third_party"), blank, ""), "hon_third_party_no_source", "{blank:?}");
        assert_eq!(reason(class("simulated"), blank, blank), "skill_done", "{blank:?}");
        assert_eq!(reason(Value::Null, blank, blank), "skill_done", "{blank:?}");
    }
    assert_eq!(reason(class("measured"), "bench.sh", "2026-01-01"), "skill_done");
    assert_eq!(reason(class("simulated"), "bench.sh", ""), "hon_simulated_with_source");
}

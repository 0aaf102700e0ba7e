//! Vectors of our own under `vectors/peers/`: what a bare clone needs to see the main promises hold.
//!
//! The expectations are those of the tables in the tests, written by hand. `TOUCHSTONE_WRITE_VECTORS=1` writes the files
//! again; without it they are compared.

use crate::delegation::{CASES, judge as judge_delegation};
use crate::world::World;
use canon::{Object, Value, canonical};
use ledger::identity::PublicKey;
use peers::consent::audit_chain;
use peers::delegation::{Asked, verify_delegation_receipt};
use std::path::PathBuf;

fn folder() -> PathBuf {
    vectors::repository().join("vectors/peers")
}

/// One line a case, so that a difference shows as a line.
fn committed(name: &str, lines: &[Value]) -> Vec<Value> {
    let path = folder().join(name);
    let made: Vec<u8> = lines.iter().flat_map(|line| [canonical(line), b"\n".to_vec()].concat()).collect();
    if std::env::var_os("TOUCHSTONE_WRITE_VECTORS").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        std::fs::write(&path, &made).unwrap();
    }
    let file = std::fs::read(&path).unwrap();
    assert_eq!(String::from_utf8(file.clone()), String::from_utf8(made), "{name} is not what the tests make");
    let reader = canon::Reader::strict();
    file.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| reader.read(line).unwrap())
        .collect()
}

/// A delivery as a line: what was asked, what came, the anchored key, the code or nothing. What is as in `good` is left
/// out.
fn delivery(name: &str, world: &World, good: Option<&Value>, expect: Option<&str>) -> Value {
    let asked = Object::new()
        .with("request_id", world.request_id.as_deref())
        .with("task", world.task.as_str())
        .with("tests", world.tests.clone())
        .with("risk", world.risk.as_str())
        .with("answer", world.answer.as_str());
    let members: [(&str, Value); 4] = [
        ("asked", asked.into()),
        ("anchor_pub_hex", crate::world::identity(world.anchor).public().to_hex().into()),
        ("receipt", world.receipt.clone()),
        ("card", world.card.clone()),
    ];
    let mut line = Object::new().with("case", name).with("expect", expect);
    for (member, value) in members {
        let usual = good.and_then(|good| good.get(member));
        if usual.map(canonical) != Some(canonical(&value)) {
            line.set(member, value);
        }
    }
    line.into()
}

#[test]
fn delegation() {
    let good = delivery("good", &World::new(), None, None);
    let mut lines = vec![good.clone()];
    for (name, refusal, change) in CASES {
        let mut world = World::new();
        change(&mut world);
        assert_eq!(judge_delegation(&world), Err(*refusal));
        lines.push(delivery(name, &world, Some(&good), Some(refusal.code())));
    }
    let cases = committed("delegation.ndjson", &lines);
    for case in &cases {
        let member = |name: &str| case.get(name).unwrap_or_else(|| cases[0].get(name).unwrap());
        let asked = member("asked");
        let asked = Asked {
            request_id: asked.get("request_id").unwrap().as_str(),
            task: vectors::text(asked, "task"),
            tests: asked.get("tests").unwrap(),
            risk: vectors::text(asked, "risk"),
            answer: vectors::text(asked, "answer"),
        };
        let anchor = PublicKey::parse(member("anchor_pub_hex").as_str().unwrap()).unwrap();
        let got = verify_delegation_receipt(member("receipt"), member("card"), &asked, &anchor);
        let code = got.err().map(|refusal| refusal.code());
        assert_eq!(code, case.get("expect").unwrap().as_str(), "{}", vectors::text(case, "case"));
    }
}

#[test]
fn consent() {
    let mut lines = Vec::new();
    for (name, entries) in crate::consent::chains() {
        let (chain, audit) = crate::consent::signed(&entries);
        let problems: Vec<Value> = audit
            .problems
            .iter()
            .map(|(seq, problem)| Object::new().with("seq", *seq).with("code", problem.code()).into())
            .collect();
        let states: Vec<Value> = audit
            .subjects
            .iter()
            .map(|(name, subject)| {
                Object::new().with("subject_ref", name.as_str()).with("state", subject.state.text()).into()
            })
            .collect();
        let chain = String::from_utf8(chain).unwrap();
        let pub_hex = crate::world::identity(1).public().to_hex();
        let line = Object::new().with("case", name).with("pub_hex", pub_hex).with("chain", chain);
        lines.push(line.with("problems", problems).with("states", states).into());
    }
    for case in committed("consent.ndjson", &lines) {
        let key = PublicKey::parse(vectors::text(&case, "pub_hex")).unwrap();
        let audit = audit_chain(vectors::text(&case, "chain").as_bytes(), &key).unwrap();
        let codes: Vec<&str> = audit.problems.iter().map(|(_, problem)| problem.code()).collect();
        let want: Vec<&str> =
            vectors::list(&case, "problems").iter().map(|problem| vectors::text(problem, "code")).collect();
        assert_eq!(codes, want, "{}", vectors::text(&case, "case"));
    }
}

/// A panel of each kind, with its statements and the verdict that they come to.
#[test]
fn quorum() {
    let panels = crate::quorum_properties::panels();
    let mut lines = Vec::new();
    for (name, panel, want) in &panels {
        let (roster, said) = crate::quorum_properties::statements(panel);
        let verdict = crate::quorum_properties::judge(&roster, &said, panel.len() / 2 + 1);
        assert_eq!(verdict.visible_ok, *want, "{name}");
        let keys: Vec<Value> = roster
            .iter()
            .map(|(id, key)| {
                Object::new().with("executor_id", id.as_str()).with("pub_hex", key.to_hex()).into()
            })
            .collect();
        let said: Vec<Value> = said
            .iter()
            .map(|said| {
                Object::new()
                    .with("executor_id", said.executor_id.as_str())
                    .with("entry", said.entry.clone())
                    .into()
            })
            .collect();
        let line = Object::new().with("case", *name).with("roster", keys).with("statements", said);
        lines.push(line.with("verdict", verdict.to_value()).into());
    }
    let committed = committed("quorum.ndjson", &lines);
    assert_eq!(committed.len(), panels.len());
}

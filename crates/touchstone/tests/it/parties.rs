//! `quorum` and `consent` over files: the vectors of our own, and the peer's chains.

use super::stage::touchstone;
use canon::{Object, Reader, Value, canonical};
use std::fs;
use std::path::Path;

fn lines(name: &str) -> Vec<Value> {
    let file = fs::read(vectors::repository().join("vectors/peers").join(name)).unwrap();
    let lines = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| Reader::strict().read(line).unwrap()).collect()
}

fn ask(arguments: &[&str]) -> (Option<i32>, Value) {
    let output = touchstone().args(arguments).output().unwrap();
    let answer = Reader::strict().read(output.stdout.trim_ascii_end());
    (output.status.code(), answer.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr))))
}

/// Roster, panel and options of a case of `quorum.ndjson`, in a folder.
fn panel(root: &Path, case: &Value) -> Vec<String> {
    let name = vectors::text(case, "case");
    let folder = root.join(name);
    fs::create_dir(&folder).unwrap();
    for said in vectors::list(case, "statements") {
        let path = folder.join(format!("{}.ndjson", vectors::text(said, "executor_id")));
        let mut chain = fs::read(&path).unwrap_or_default();
        chain.extend(canonical(said.get("entry").unwrap()));
        chain.push(b'\n');
        fs::write(path, chain).unwrap();
    }
    let roster = root.join(format!("{name}.json"));
    fs::write(&roster, canonical(case.get("roster").unwrap())).unwrap();
    fs::write(root.join("draft"), "draft").unwrap();
    let payload = vectors::list(case, "statements")[0].get("entry").unwrap().get("payload").unwrap();
    let options = [
        ("--roster", roster.to_str().unwrap().to_owned()),
        ("--draft", root.join("draft").to_str().unwrap().to_owned()),
        ("--task-id", vectors::text(payload, "task_id").to_owned()),
        ("--suite-sha256", vectors::text(payload, "suite_sha256").to_owned()),
        ("--render-sha256", vectors::text(payload, "render_sha256").to_owned()),
    ];
    let mut arguments: Vec<String> =
        options.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).collect();
    arguments.extend(["--json".to_owned(), folder.to_str().unwrap().to_owned()]);
    arguments
}

#[test]
fn verdicts_are_those_of_the_vectors() {
    let root = tempfile::tempdir().unwrap();
    let cases = lines("quorum.ndjson");
    for case in &cases {
        let arguments = panel(root.path(), case);
        let mut words = vec!["quorum", "count"];
        words.extend(arguments.iter().map(String::as_str));
        let (code, verdict) = ask(&words);
        let want = case.get("verdict").unwrap();
        assert_eq!(&verdict, want, "{}", vectors::text(case, "case"));
        let wanted = match want.get("visible_ok").unwrap().as_bool() {
            Some(true) => 0,
            Some(false) => 20,
            None => 21,
        };
        assert_eq!(code, Some(wanted));
    }
}

#[test]
fn one_key_under_two_names_is_wrong_use() {
    let root = tempfile::tempdir().unwrap();
    let arguments = panel(root.path(), &lines("quorum.ndjson")[0]);
    let key = ledger::identity::Identity::from_seed(&[1; 32]).public().to_hex();
    let entry = |id: &str| Value::Object(Object::new().with("executor_id", id).with("pub_hex", key.as_str()));
    for roster in [vec![entry("a"), entry("b")], vec![], vec![entry("../a")]] {
        fs::write(&arguments[1], canonical(&Value::from(roster))).unwrap();
        let output = touchstone().args(["quorum", "count"]).args(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(64));
    }
}

#[test]
fn consent_chains_of_the_vectors() {
    let root = tempfile::tempdir().unwrap();
    let chain = root.path().join("chain.ndjson");
    for case in lines("consent.ndjson") {
        fs::write(&chain, vectors::text(&case, "chain")).unwrap();
        let arguments = ["consent", "audit", "--json", "--key", vectors::text(&case, "pub_hex")];
        let (code, answer) = ask(&[&arguments[..], &[chain.to_str().unwrap()]].concat());
        let codes = |list: &[Value], member: &str| -> Vec<String> {
            list.iter().map(|problem| vectors::text(problem, member).to_owned()).collect()
        };
        let want = codes(vectors::list(&case, "problems"), "code");
        assert_eq!(
            codes(vectors::list(&answer, "problems"), "reason"),
            want,
            "{}",
            vectors::text(&case, "case")
        );
        let due =
            vectors::list(&case, "states").iter().any(|state| vectors::text(state, "state") == "withdrawn");
        assert_eq!(
            code,
            Some(if !want.is_empty() {
                1
            } else if due {
                2
            } else {
                0
            })
        );
        // Another key's chain is no evidence.
        let other = ledger::identity::Identity::from_seed(&[9; 32]).public().to_hex();
        let (code, _) = ask(&["consent", "audit", "--json", "--key", &other, chain.to_str().unwrap()]);
        assert_eq!(code, Some(1));
    }
}

/// Nothing on a chain is nothing that could be in order, and a tail that is gone shows with a head from elsewhere.
#[test]
fn an_audit_of_nothing_or_of_a_cut_chain_is_not_in_order() {
    let root = tempfile::tempdir().unwrap();
    let chain = root.path().join("chain.ndjson");
    let case = &lines("consent.ndjson")[0];
    let (text, key) = (vectors::text(case, "chain"), vectors::text(case, "pub_hex"));
    let audit = |chain_text: &str, options: &[&str]| {
        fs::write(&chain, chain_text).unwrap();
        let words = ["consent", "audit", "--key", key, chain.to_str().unwrap()];
        let output = touchstone().args(words).args(options).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    };
    let (code, said) = audit("", &[]);
    assert!(code == Some(1) && said.contains("nobody granted anything"), "{said}");
    let (_, said) = audit(text, &[]);
    let head = said.split("head ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert!(said.contains("anchored: --expect-head"), "{said}");
    let (code, _) = audit(text, &["--expect-head", &head]);
    assert_ne!(code, Some(1));
    let other = "0".repeat(64);
    let (code, said) = audit(text, &["--expect-head", &other]);
    assert!(code == Some(1) && said.contains("consent_chain_other_head"), "{said}");
}

#[test]
fn plaintext_of_a_persona_is_found() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
    let case = &lines("consent.ndjson")[1];
    fs::write(path("chain"), vectors::text(case, "chain")).unwrap();
    fs::write(path("nonce"), "nonce-of-this-person\n").unwrap();
    let ask = |persona: Object| {
        fs::write(path("persona"), canonical(&persona.into())).unwrap();
        let key = vectors::text(case, "pub_hex");
        let (persona, nonce, chain) = (path("persona"), path("nonce"), path("chain"));
        ask(&["consent", "audit", "--json", "--key", key, "--persona", &persona, "--nonce", &nonce, &chain])
    };
    let (code, answer) = ask(Object::new().with("topics", vec!["baking"]));
    assert_eq!((code, answer.get("plaintext_lines")), (Some(2), Some(&Value::Array(Vec::new()))));
    let (code, answer) = ask(Object::new().with("topics", vec!["request"]));
    assert_eq!((code, answer.get("plaintext_lines")), (Some(1), Some(&Value::from(vec![2_i64]))));
}

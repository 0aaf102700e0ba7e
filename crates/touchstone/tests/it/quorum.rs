//! `quorum`: panels that are made, travel, are judged, and are lied to (desk specification 18).

use super::stage::{has, touchstone};
use canon::{Object, Reader, Value, canonical};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const SUITE: &str = "{\"v\":1,\"dialect\":\"mbpp\",\"entry_point\":\"add\",\"tests\":[{\"args\":\"[1, 2]\",\"expected\":\"3\"},\
    {\"args\":\"[5, -5]\",\"expected\":\"0\"},{\"args\":\"[2, 2]\",\"expected\":\"4\"}]}";
const GOOD: &str = "def add(a, b):\n    return a + b\n";
/// Right for the first test only.
const BAD: &str = "def add(a, b):\n    return 3\n";

fn stage() -> TempDir {
    let stage = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("suite.json", SUITE),
        ("good.py", GOOD),
        ("bad.py", BAD),
        ("worse.py", "def add(a, b):\n    return 0\n"),
    ] {
        fs::write(stage.path().join(name), text).unwrap();
    }
    stage
}

#[track_caller]
fn exits(at: &Path, words: &[&str], code: i32) -> String {
    let output = touchstone().args(words).current_dir(at).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
    said
}

fn read(text: &str) -> Value {
    Reader::strict().read(text.trim().as_bytes()).unwrap_or_else(|error| panic!("{error:?}: {text}"))
}

fn ids(verdict: &Value, member: &str) -> Vec<String> {
    vectors::list(verdict, member).iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

const ASK: [&str; 6] = ["quorum", "ask", "--suite", "suite.json", "--task-id", "t"];
const RUN: [&str; 7] = ["quorum", "run", "--json", "--suite", "suite.json", "--task-id", "t"];

/// An executor with a key of its own in `keys/ID`, and the panel's roster of all of them.
fn attested(at: &Path, panel: &str, names: &[&str]) {
    let mut roster = Vec::new();
    for id in names {
        let keys = format!("keys/{id}");
        if !at.join(&keys).exists() {
            exits(at, &["key", "new", &keys], 0);
        }
        let said = read(&exits(at, &["quorum", "attest", panel, "--id", id, "--sign", &keys], 0));
        roster.push(Object::new().with("executor_id", *id).with("pub_hex", vectors::text(&said, "key")));
    }
    fs::write(at.join("roster.json"), canonical(&Value::from(roster))).unwrap();
}

#[test]
fn the_first_draft_that_a_majority_passes_ships() {
    if !has("the_first_draft_that_a_majority_passes_ships", "python3") {
        return;
    }
    let stage = stage();
    let at = stage.path();
    let said =
        read(&exits(at, &[&RUN[..], &["--out", "p", "bad.py", "alice=good.py", "good.py"]].concat(), 0));
    let shipped = said.get("shipped").unwrap();
    assert_eq!(vectors::text(shipped, "author"), "alice");
    let verdicts = vectors::list(&said, "verdicts");
    assert_eq!(verdicts.len(), 2, "the third draft is not counted");
    assert_eq!(ids(&verdicts[0], "camp_fail"), ["executor-1", "executor-2", "executor-3"]);
    assert_eq!(said.get("roster_pinned"), Some(&Value::Bool(true)));
    // Anybody forms it again; without keys from elsewhere the answer says so.
    let again = read(&exits(at, &["quorum", "verdict", "p", "--json"], 0));
    assert_eq!(again.get("roster_pinned"), Some(&Value::Bool(false)));
    assert_eq!(again.get("verdicts"), said.get("verdicts"));
    exits(at, &[&RUN[..], &["--out", "q", "bad.py"]].concat(), 20);
    // A panel is made once.
    exits(at, &[&RUN[..], &["--out", "p", "good.py"]].concat(), 64);
}

/// Files that travelled: one executor's chain is edited, one signs with another key, one is not in the roster, one signs twice.
#[test]
fn who_lies_is_named() {
    if !has("who_lies_is_named", "python3") {
        return;
    }
    let stage = stage();
    let at = stage.path();
    exits(at, &[&ASK[..], &["--out", "p", "bad.py", "worse.py"]].concat(), 0);
    attested(at, "p", &["ann", "ben", "cat"]);
    let counted =
        |code: i32| read(&exits(at, &["quorum", "verdict", "p", "--roster", "roster.json", "--json"], code));
    let verdict = |code: i32| vectors::list(&counted(code), "verdicts")[0].clone();
    assert_eq!(ids(&verdict(20), "camp_fail"), ["ann", "ben", "cat"]);

    // Edited, cut in the middle, in another order, twice the same, with something that is no entry: the chain does not hold
    // under ben's key, and nothing of it counts, not for the other draft either.
    let chain = at.join("p/statements/ben.ndjson");
    let honest = fs::read_to_string(&chain).unwrap();
    let lines: Vec<&str> = honest.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 2);
    for changed in [
        honest.replacen("\"visible_ok\":false", "\"visible_ok\":true", 1),
        lines[1].to_owned(),
        format!("{}{}", lines[1], lines[0]),
        format!("{honest}{honest}"),
        format!("{honest}no entry\n"),
        format!("{honest}{}", forged(lines[0], 1)),
    ] {
        fs::write(&chain, &changed).unwrap();
        let said = counted(20);
        assert_eq!(ids(&said, "chains_broken"), ["ben"], "{changed}");
        let verdict = &vectors::list(&said, "verdicts")[0];
        assert_eq!(
            (ids(verdict, "camp_pass"), ids(verdict, "camp_fail")),
            (vec![], vec!["ann".into(), "cat".into()])
        );
    }
    // A tail that is gone is a legal chain: who said nothing is named.
    fs::write(&chain, lines[0]).unwrap();
    let said = counted(20);
    let silent = |number: usize| canonical(&vectors::list(&said, "silent")[number]);
    assert_eq!((silent(0), silent(1)), (b"[]".to_vec(), b"[\"ben\"]".to_vec()));

    // A lie that is signed: the suite that ben judges by asks for something else, and he says it is this one's verdict.
    fs::write(at.join("lax.json"), SUITE.replace("\"0\"", "\"3\"").replace("\"4\"", "\"3\"")).unwrap();
    exits(at, &["quorum", "ask", "--suite", "lax.json", "--task-id", "t", "--out", "lax", "bad.py"], 0);
    exits(at, &["quorum", "attest", "lax", "--id", "ben", "--sign", "keys/ben"], 0);
    fs::copy(at.join("lax/statements/ben.ndjson"), &chain).unwrap();
    assert_eq!(canonical(verdict(20).get("rejected").unwrap()), b"[[\"ben\",\"suite_mismatch\"]]");

    fs::write(&chain, &honest).unwrap();
    fs::copy(at.join("p/statements/ann.ndjson"), at.join("p/statements/dan.ndjson")).unwrap();
    let stranger = verdict(20);
    assert!(ids(&stranger, "camp_fail").iter().all(|id| id != "dan"), "{stranger:?}");
    // A link in place of a chain stops nobody else from being counted.
    std::os::unix::fs::symlink("/etc/passwd", at.join("p/statements/eve.ndjson")).unwrap();
    verdict(20);
    // Without enough voices nothing is decided.
    for id in ["ann", "ben", "dan"] {
        fs::remove_file(at.join(format!("p/statements/{id}.ndjson"))).unwrap();
    }
    assert_eq!(verdict(21).get("visible_ok"), Some(&Value::Null));
}

/// The statement with another index of the first failing test, unsigned.
fn forged(line: &str, index: u64) -> String {
    let at = line.find("\"first_failing_test\":").unwrap() + "\"first_failing_test\":".len();
    format!("{}{}{}", &line[..at], index + 1, &line[at + 1..])
}

#[test]
fn a_challenge_is_upheld_or_overturned_by_a_second_panel() {
    if !has("a_challenge_is_upheld_or_overturned_by_a_second_panel", "python3") {
        return;
    }
    let stage = stage();
    let at = stage.path();
    for (panel, draft) in [("a", "good.py"), ("b", "good.py"), ("c", "bad.py")] {
        let code = if draft == "good.py" { 0 } else { 20 };
        exits(at, &[&RUN[..], &["--out", panel, draft]].concat(), code);
    }
    assert!(exits(at, &["quorum", "challenge", "a", "b"], 0).contains("UPHELD"));
    assert!(exits(at, &["quorum", "challenge", "a", "c"], 64).contains("did not judge this draft"));
    assert!(exits(at, &["quorum", "challenge", "a", "a"], 64).contains("other keys"));
    fs::remove_dir_all(at.join("b/statements")).unwrap();
    fs::create_dir(at.join("b/statements")).unwrap();
    assert!(exits(at, &["quorum", "challenge", "a", "b"], 21).contains("UNDECIDED"));
}

#[test]
fn no_commitment_without_a_passing_gauge_and_no_key_is_left_out() {
    if !has("no_commitment_without_a_passing_gauge_and_no_key_is_left_out", "python3") {
        return;
    }
    let stage = stage();
    let at = stage.path();
    exits(at, &["key", "new", "keys"], 0);
    let key = read(&exits(at, &["key", "show", "keys", "--json"], 0));
    let key = vectors::text(&key, "pub_hex").to_owned();
    fs::write(at.join("nonce"), "sixteen letters and more\n").unwrap();
    let commit = |suite: &str, gauge: &str, out: &str, code: i32| {
        let words = ["quorum", "commit", suite, "--task-id", "t", "--gauge", gauge, "--nonce-file", "nonce"];
        exits(at, &[&words[..], &["--sign", "keys", "--out", out]].concat(), code)
    };
    // The reference is wrong; the suite accepts its stub; the record is of another suite; there is none.
    let gauge = |suite: &str, reference: &str, code: i32| {
        let output = exits(at, &["gauge", suite, reference, "--json"], code);
        fs::write(at.join("gauge.json"), output).unwrap();
    };
    gauge("suite.json", "bad.py", 20);
    assert!(commit("suite.json", "gauge.json", "c", 20).contains("gauge_failed"));
    fs::write(at.join("other.json"), SUITE.replace("\"4\"", "\"5\"")).unwrap();
    gauge("suite.json", "good.py", 0);
    assert!(commit("other.json", "gauge.json", "c", 20).contains("gauge_suite_mismatch"));
    fs::write(at.join("none.json"), "{}").unwrap();
    assert!(commit("suite.json", "none.json", "c", 20).contains("gauge_record_missing"));
    assert!(!at.join("c").exists(), "nothing is signed");
    commit("suite.json", "gauge.json", "c.ndjson", 0);

    let run = |suite: &str, out: &str, key: &str, nonce: &str, code: i32| {
        let words = ["quorum", "run", "--json", "--suite", suite, "--task-id", "t", "--out", out];
        let bound = ["--commit", "c.ndjson", "--nonce-file", nonce, "--committer", key, "good.py"];
        read(&exits(at, &[&words[..], &bound].concat(), code))
    };
    let kept = run("suite.json", "p", &key, "nonce", 0);
    assert_eq!(vectors::text(&vectors::list(&kept, "verdicts")[0], "gauge_status"), "ok");
    fs::write(at.join("guess"), "another nonce of letters\n").unwrap();
    for (suite, out, key, nonce, why) in [
        ("other.json", "q", key.as_str(), "nonce", "suite_gate:commitment_mismatch"),
        ("suite.json", "r", key.as_str(), "guess", "suite_gate:commitment_mismatch"),
        (
            "suite.json",
            "s",
            "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29",
            "nonce",
            "suite_gate:bad_signature",
        ),
    ] {
        let refused = run(suite, out, key, nonce, 20);
        assert_eq!(vectors::text(&refused, "refused"), why);
        assert_eq!(refused.get("runs_n"), Some(&Value::from(0_i64)), "no run is made for it");
    }
    let without = ["quorum", "run", "--suite", "suite.json", "--task-id", "t", "--out", "z", "good.py"];
    exits(at, &[&without[..], &["--commit", "c.ndjson", "--nonce-file", "nonce"]].concat(), 64);
}

/// Boundaries 4, 9 and 10 of section 30: a weak suite passes its gauge, lets a wrong draft through, and nobody dissents. What all
/// executors share, a suite or a fault of what runs it, none of them can tell.
#[test]
fn a_fault_that_all_share_is_disputed_by_nobody() {
    if !has("a_fault_that_all_share_is_disputed_by_nobody", "python3") {
        return;
    }
    let stage = stage();
    let at = stage.path();
    let weak = "{\"v\":1,\"entry_point\":\"add\",\"tests\":[{\"args\":\"[1, 2]\",\"expected\":\"3\"}]}";
    fs::write(at.join("weak.json"), weak).unwrap();
    exits(at, &["gauge", "weak.json", "good.py"], 0);
    let words = ["quorum", "run", "--json", "--suite", "weak.json", "--task-id", "t", "--out", "p", "bad.py"];
    let said = read(&exits(at, &words, 0));
    let verdict = &vectors::list(&said, "verdicts")[0];
    assert_eq!(verdict.get("contested"), Some(&Value::Bool(false)));
    assert_eq!(ids(verdict, "camp_pass").len(), 3);
    // The limits stand in the receipt all the same.
    let text = String::from_utf8(canonical(verdict)).unwrap();
    assert!(text.contains("corrupt"), "{text}");
}

/// Whatever travels is compared before anything runs.
#[test]
fn a_panel_that_was_changed_is_not_judged() {
    let stage = stage();
    let at = stage.path();
    for (panel, file, from, to) in [
        ("a", "drafts/0.py", "a + b", "a - b"),
        ("b", "suite.json", "\"3\"", "\"4\""),
        ("c", "question.json", "\"file\":\"0.py\"", "\"file\":\"../../good.py\""),
        ("d", "question.json", "\"entry_point\":\"add\"", "\"entry_point\":\"sub\""),
        ("e", "question.json", "\"quorum\":null", "\"quorum\":0"),
    ] {
        exits(at, &[&ASK[..], &["--out", panel, "good.py"]].concat(), 0);
        let path = at.join(panel).join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let words = ["quorum", "attest", panel, "--id", "ann"];
        let output = touchstone().args(words).current_dir(at).output().unwrap();
        let code = output.status.code();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        match panel {
            // The name of a file is ours; what the question says of it changes nothing.
            "c" => assert!(code == Some(0) || said.contains("python3"), "{said}"),
            "d" => assert!(code == Some(20) && said.contains("entry_point_mismatch"), "{said}"),
            _ => assert_eq!(code, Some(64), "{panel}: {said}"),
        }
    }
    for id in ["../x", "", "a/b", "a.b"] {
        exits(at, &["quorum", "attest", "a", "--id", id], 64);
    }
    exits(at, &[&RUN[..], &["--out", "k", "--executors", "0", "good.py"]].concat(), 64);
}

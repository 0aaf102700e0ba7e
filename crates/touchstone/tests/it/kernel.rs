//! The kernel on the command line.

use super::stage::{entries, touchstone, verify};
use canon::{Object, Reader, Value, canonical};
use std::fs;
use std::path::Path;
use std::process::Output;

fn envelope(id: &str, text: &str) -> String {
    let envelope = Object::new()
        .with("id", id)
        .with("sender", id)
        .with("recipient", "desk")
        .with("task", "count words")
        .with("payload", Object::new().with("text", text))
        .with("permission", 0_u64)
        .with("trace", "t")
        .with("mode", "live")
        .with("claims", Object::new())
        .with("seq", 1_u64)
        .with("prev", Value::Null);
    String::from_utf8(canonical(&envelope.into())).unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("{}\n\n{}\nnonsense\n", envelope("a", "one two"), envelope("b", "eval(x)"));
    fs::write(folder.path().join("in.jsonl"), file).unwrap();
    folder
}

fn run(folder: &Path, options: &[&str]) -> Output {
    touchstone().args(["kernel", "run", "in.jsonl"]).args(options).current_dir(folder).output().unwrap()
}

fn reasons(receipts: &[Value]) -> Vec<String> {
    receipts
        .iter()
        .map(|receipt| vectors::text(receipt.get("verdict").unwrap(), "reason").to_owned())
        .collect()
}

/// Two processes, 1 and 16 threads: the same receipts but for what is physical.
#[test]
fn receipts_are_the_same_in_every_process() {
    let folder = folder();
    let repro = |threads: &str| {
        let output = run(folder.path(), &["--threads", threads]);
        assert_eq!(output.status.code(), Some(0));
        let mut receipts = entries(&output.stdout);
        for receipt in &mut receipts {
            let Value::Object(object) = receipt else { panic!() };
            ["elapsed", "pid", "thread_order", "ts"]
                .iter()
                .for_each(|field| drop(object.remove(field).unwrap()));
        }
        receipts
    };
    let receipts = repro("1");
    assert_eq!(reasons(&receipts), ["skill_done", "danger_eval", "struct_unreadable"]);
    assert_eq!(receipts, repro("16"));
}

#[test]
fn the_summary_has_denominators() {
    let folder = folder();
    let said = String::from_utf8(run(folder.path(), &[]).stderr).unwrap();
    assert!(said.starts_with("records 3, blank lines 1\nallow   1 of 3\n"), "{said}");
    assert!(said.contains("danger_eval") && said.contains("block   2 of 3"), "{said}");
    let json = run(folder.path(), &["--json", "--out", "out.jsonl"]);
    let summary = Reader::strict().read(json.stderr.trim_ascii()).unwrap();
    assert_eq!(summary.get("records").unwrap().as_i64(), Some(3));
    assert!(json.stdout.is_empty());
    assert_eq!(entries(&fs::read(folder.path().join("out.jsonl")).unwrap()).len(), 3);
    // What is there is not overwritten.
    assert_eq!(run(folder.path(), &["--out", "out.jsonl"]).status.code(), Some(64));
}

/// K-6: `touchstone verify` answers for a chain of receipts.
#[test]
fn signed_receipts_verify() {
    let folder = folder();
    let keys = folder.path().join("keys");
    assert!(touchstone().args(["key", "new"]).arg(&keys).output().unwrap().status.success());
    let signed = run(folder.path(), &["--sign", "keys", "--chain", "receipts.ndjson"]);
    assert_eq!(signed.status.code(), Some(0), "{}", String::from_utf8_lossy(&signed.stderr));
    let chain = folder.path().join("receipts.ndjson");
    assert_eq!((verify(&chain).0.as_str(), verify(&chain).1), ("OK", Some(0)));
    let payloads: Vec<Value> = entries(&fs::read(&chain).unwrap())
        .iter()
        .map(|entry| entry.get("payload").unwrap().clone())
        .collect();
    assert_eq!(payloads, entries(&signed.stdout));
    let changed = fs::read_to_string(&chain).unwrap().replacen("danger_eval", "guard_clear", 1);
    fs::write(&chain, changed).unwrap();
    assert_eq!(verify(&chain).0, "BROKEN");
}

#[test]
fn wrong_use() {
    let folder = folder();
    for options in [
        &["--threads", "0"][..],
        &["--sign", "keys"],
        &["--chain", "c.ndjson"],
        &["--sign", "no_such_keys", "--chain", "c.ndjson"],
        &["--permission", "no.such=1"],
        &["--permission", "text.words=4"],
    ] {
        assert_eq!(run(folder.path(), options).status.code(), Some(64), "{options:?}");
    }
    let missing = touchstone().args(["kernel", "run", "/does/not/exist"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(64));
    let short = run(folder.path(), &["--permission", "text.words=2"]);
    assert_eq!(reasons(&entries(&short.stdout))[0], "perm_short_2to0");
    for verb in [&["kernel", "run"][..], &["kernel", "skills"], &["kernel", "route"]] {
        let help = touchstone().args(verb).arg("--help").output().unwrap();
        assert!(String::from_utf8(help.stdout).unwrap().contains("Example: touchstone kernel"), "{verb:?}");
    }
}

#[test]
fn skills_and_routes_are_shown() {
    let skills = touchstone().args(["kernel", "skills", "--json"]).output().unwrap();
    let skills = Reader::strict().read(skills.stdout.trim_ascii()).unwrap();
    assert!(skills.get("skills_n").unwrap().as_i64() >= Some(32));
    let route = |text: &str| {
        let output = touchstone().args(["kernel", "route", "--json", text]).output().unwrap();
        (output.status.code(), Reader::strict().read(output.stdout.trim_ascii()).unwrap())
    };
    let (code, found) = route("count words");
    assert_eq!((code, vectors::text(&found, "reason")), (Some(0), "route_found"));
    assert_eq!(vectors::text(found.get("route").unwrap(), "channel"), "trigger");
    let (code, none) = route("zzz");
    assert_eq!((code, vectors::text(&none, "reason")), (Some(1), "route_unrouted"));
    let people = touchstone().args(["kernel", "skills"]).output().unwrap();
    let people = String::from_utf8(people.stdout).unwrap();
    assert!(people.lines().any(|line| line.starts_with("text.words")), "{people}");
}

//! Evidence packs and reason codes on the command line.

use super::stage::touchstone;
use canon::{Reader, Value};
use std::fs;
use std::path::Path;

/// Exit code and the JSON answer.
fn asked(args: &[&str], folder: &Path) -> (Option<i32>, Value) {
    let output = touchstone().args(args).arg(folder).arg("--json").output().unwrap();
    (output.status.code(), Reader::strict().read(output.stdout.trim_ascii()).unwrap())
}

/// A folder whose only chain is that of a key made for it, with the key still there.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let identity = ledger::identity::Identity::from_seed(&[3; 32]);
    let mut chain = ledger::logbook::Appender::default();
    let entry = chain.append("note", canon::Object::new().into(), &identity, 1).unwrap();
    fs::write(folder.path().join("logbook.ndjson"), entry.line).unwrap();
    fs::write(folder.path().join("identity.pub"), identity.public().to_hex()).unwrap();
    fs::write(folder.path().join("identity.key"), "secret").unwrap();
    folder
}

#[test]
fn packs_are_made_and_checked() {
    let folder = folder();
    let excuses = ["--missing", "wire.jsonl=no proxy", "--missing", "model_io.jsonl=no proxy"];
    let pack = [&["record", "pack", "--field", "seeds=[1]"][..], &excuses].concat();
    let (code, packed) = asked(&pack, folder.path());
    assert_eq!((code, packed.get("ok")), (Some(0), Some(&Value::Bool(true))));
    let unknown: Vec<&str> =
        vectors::list(&packed, "unknown_fields").iter().filter_map(Value::as_str).collect();
    assert!(unknown.contains(&"model_id") && !unknown.contains(&"seeds"), "{unknown:?}");
    assert_eq!(asked(&["record", "check"], folder.path()).0, Some(0));
    // Packing again would seal whatever was changed since.
    let again = touchstone().args(&pack).arg(folder.path()).output().unwrap();
    assert_eq!(again.status.code(), Some(64));
    fs::write(folder.path().join("anomalies.md"), "other\n").unwrap();
    let (code, checked) = asked(&["record", "check"], folder.path());
    let problem = &vectors::list(&checked, "problems")[0];
    assert_eq!((code, vectors::text(problem, "code")), (Some(1), "record_listed_differs"));
    let people = touchstone().args(["record", "check"]).arg(folder.path()).output().unwrap();
    let said = String::from_utf8(people.stdout).unwrap();
    assert!(said.starts_with("record_listed_differs  anomalies.md\n"), "{said}");
    let nothing = touchstone().args(["record", "check", "/does/not/exist"]).output().unwrap();
    assert_eq!(nothing.status.code(), Some(64));
}

#[test]
fn any_code_is_explained() {
    let ask = |code: &str| touchstone().args(["reasons", code]).output().unwrap();
    for (code, reason) in verdict::registry::all() {
        let said = String::from_utf8(touchstone().args(["reasons", &code]).output().unwrap().stdout).unwrap();
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
        let words: Vec<&str> = said.split_whitespace().collect();
        let meaning: Vec<&str> = reason.meaning.split_whitespace().collect();
        assert!(said.starts_with(&reason.layer) && words.join(" ").contains(&meaning.join(" ")), "{said}");
    }
    assert_eq!(ask("no_such_code").status.code(), Some(1));
    let family = String::from_utf8(ask("record_sums").stdout).unwrap();
    assert_eq!(family.lines().next(), Some("record"));
    assert!(family.lines().count() > 10, "{family}");
}

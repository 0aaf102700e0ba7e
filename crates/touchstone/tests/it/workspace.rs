//! `touchstone workspace hash`.

use crate::stage::touchstone;
use canon::{Reader, Value};
use std::fs;

#[test]
fn both_hashes_and_counts() {
    let root = tempfile::tempdir().unwrap();
    let hash = |json: bool| {
        let mut command = touchstone();
        command.args(["workspace", "hash"]).arg(root.path());
        if json { command.arg("--json") } else { &mut command }.output().unwrap()
    };
    let answer = |json| Reader::strict().read(&hash(json).stdout);
    let empty = answer(true).unwrap();
    assert_eq!(
        vectors::text(&empty, "ws_sha256"),
        "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
    );
    fs::create_dir(root.path().join(".git")).unwrap();
    fs::write(root.path().join(".git/config"), "x").unwrap();
    let hidden = answer(true).unwrap();
    assert_eq!(hidden.get("ws_sha256"), empty.get("ws_sha256"), "the peer's hash does not look there");
    assert_ne!(hidden.get("ws_sha256_v2"), empty.get("ws_sha256_v2"), "ours does");
    let number = |key: &str| hidden.get(key).and_then(Value::as_i64);
    assert_eq!((number("files_n"), number("bytes_n"), number("entries_n")), (Some(0), Some(0), Some(2)));
    let text = String::from_utf8(hash(false).stdout).unwrap();
    assert!(text.contains(vectors::text(&hidden, "ws_sha256_v2")), "{text}");
}

#[test]
fn no_folder_is_an_error_with_its_code() {
    let root = tempfile::tempdir().unwrap();
    let output = touchstone().args(["workspace", "hash"]).arg(root.path().join("absent")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("ws_not_a_directory"));
}

//! `touchstone agents`.

use super::stage::touchstone;
use canon::{Reader, Value};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

fn listed(path: &Path, words: &[&str]) -> (Option<i32>, String) {
    let output = touchstone().arg("agents").args(words).env("PATH", path).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn what_is_installed_is_what_can_be_started() {
    let folder = tempfile::tempdir().unwrap();
    for (name, mode) in [("codex", 0o755), ("pi", 0o644)] {
        fs::write(folder.path().join(name), "").unwrap();
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let (code, text) = listed(folder.path(), &["--json"]);
    assert_eq!(code, Some(0));
    let answer = Reader::strict().read(text.trim().as_bytes()).unwrap();
    let agents = vectors::list(&answer, "agents");
    assert_eq!(agents.len(), 15);
    let installed: Vec<&str> = agents
        .iter()
        .filter(|agent| *agent.get("installed").unwrap() != Value::Null)
        .map(|agent| vectors::text(agent, "name"))
        .collect();
    assert_eq!(installed, ["codex"]);
    let (code, text) = listed(folder.path(), &["continue"]);
    assert_eq!(code, Some(0));
    assert!(text.contains("not installed") && text.contains("the name of a model"), "{text}");
    assert!(
        text.contains("npm install @continuedev/cli") && text.lines().all(|line| line.len() <= 80),
        "{text}"
    );
    let (code, text) = listed(folder.path(), &["codex"]);
    assert_eq!(code, Some(0));
    assert!(text.contains(folder.path().join("codex").to_str().unwrap()), "{text}");
    assert_eq!(listed(folder.path(), &["nosuch"]), (Some(1), String::new()));
}

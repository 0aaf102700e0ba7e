//! `docs/parties.md` promises that its blocks are run as they stand there.

use super::stage::has;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_blocks_of_parties_md_run_as_written() {
    if !has("the_blocks_of_parties_md_run_as_written", "python3") {
        return;
    }
    let text = fs::read_to_string(vectors::repository().join("docs/parties.md")).unwrap();
    let blocks: Vec<&str> =
        text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 7, "a block was added or lost");
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_touchstone")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    // `! command` is no failure for `set -e`, and a command that should have failed would pass unseen.
    let script = blocks.concat().lines().map(|line| format!("{line}\n")).collect::<String>();
    let script = script.replace("\n! touchstone", "\nfails touchstone");
    let script = format!("set -e\nfails() {{ if \"$@\"; then exit 99; fi; }}\n{script}");
    let output = Command::new("sh")
        .arg("-c")
        .arg(script)
        .current_dir(folder.path())
        .env("PATH", path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("AGENT_DONE") && said.contains("launch_consumed"), "{said}");
    assert!(said.contains("receipt_answer_sha256") && said.contains("an erasure is due"), "{said}");
    let audit = said.lines().last().unwrap();
    assert!(audit.contains("erased") && audit.contains("s-1"), "{said}");
    for name in ["nonce", "persona.json"] {
        assert!(!folder.path().join(name).exists(), "{name}");
    }
}

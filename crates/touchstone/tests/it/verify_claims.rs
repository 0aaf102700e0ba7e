//! What is claimed beside a chain, from outside or in its folder, and does not hold.

use super::stage::{Stage, reasons, touchstone};
use canon::{Reader, Value};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

fn refused() -> Stage {
    let stage = Stage::new();
    stage.run(&[], "true").is(20, "no_suite");
    stage
}

fn answer(command: &mut Command) -> (Option<i32>, Value) {
    let output = command.output().unwrap();
    (output.status.code(), Reader::strict().read(&output.stdout).unwrap_or(Value::Null))
}

fn call(arguments: &[&str], paths: &[&Path]) -> (Option<i32>, Value) {
    answer(touchstone().args(["verify", "--json"]).args(arguments).args(paths))
}

/// A head is at its place or nowhere: each of the three entries at each of the three places.
#[test]
fn a_head_at_another_place_is_not_reached() {
    let stage = refused();
    let run = stage.path("run");
    let chain = fs::read(run.join("receipts_RUN-ON.ndjson")).unwrap();
    let entries = super::stage::entries(&chain);
    let mut heads: Vec<&str> = entries[1..].iter().map(|entry| vectors::text(entry, "prev_hash")).collect();
    let (_, _, whole) = stage.verify();
    heads.push(vectors::text(&vectors::list(&vectors::list(&whole, "runs")[0], "chains")[0], "head"));
    assert_eq!(heads.len(), 3);
    for (at, head) in heads.iter().enumerate() {
        for count in 1..=3 {
            let (code, answer) =
                call(&["--expect-head", head, "--expect-count", &count.to_string()], &[&run]);
            if count == at + 1 {
                assert_eq!(code, Some(0), "head {at}, count {count}");
            } else {
                assert_eq!((code, reasons(&answer)), (Some(1), vec!["head_not_reached".to_owned()]));
            }
        }
        assert_eq!(call(&["--expect-head", head], &[&run]).0, Some(0));
    }
}

/// An anchor names one chain; with several nobody knows which.
#[test]
fn an_anchor_for_several_chains_is_wrong_use() {
    let (one, two) = (refused(), refused());
    let (first, second) = (one.path("run"), two.path("run"));
    assert_eq!(call(&[], &[&first, &second]).0, Some(0));
    for anchor in [["--expect-count", "1"], ["--expect-head", &"0".repeat(64)]] {
        assert_eq!(call(&anchor, &[&first, &second]).0, Some(64), "{anchor:?}");
    }
    // Two chains in one directory as well.
    for kind in ["ndjson", "pub.json"] {
        let name = format!("receipts_RUN-ON.{kind}");
        fs::copy(second.join(name), first.join(format!("receipts_OTHER.{kind}"))).unwrap();
    }
    assert_eq!(call(&["--expect-count", "1"], &[&first]).0, Some(64));
}

#[test]
fn the_selftest_is_shown_case_by_case() {
    let output = touchstone().args(["verify", "--selftest"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    let outcomes = ledger::selftest::run();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), outcomes.len() + 1, "{text}");
    for (line, outcome) in lines.iter().zip(&outcomes) {
        assert!(
            line.contains("seen") && line.contains(outcome.case) && line.ends_with(&outcome.got),
            "{line}"
        );
    }
    assert_eq!(lines.last(), Some(&format!("self-test: {0} of {0} cases", outcomes.len()).as_str()));
    // It does not stand in for the path that is asked for beside it.
    let stage = refused();
    let both =
        |path: &Path| touchstone().args(["verify", "--selftest"]).arg(path).output().unwrap().status.code();
    assert_eq!(both(&stage.path("run")), Some(0));
    assert_eq!(both(&stage.path("absent")), Some(1));
}

/// A file that the verifier would look at and cannot is never passed over, also when the chain alone holds.
#[test]
fn what_cannot_be_read_is_never_ok() {
    let stage = refused();
    let other = stage.path("run/visible_OTHER.json");
    fs::create_dir(&other).unwrap();
    let (verdict, code, answer) = stage.verify();
    assert_eq!((verdict.as_str(), code), ("UNVERIFIABLE", Some(1)), "{answer:?}");
    assert_eq!(vectors::list(&vectors::list(&answer, "runs")[0], "problems").len(), 1);
    fs::remove_dir(&other).unwrap();
    assert_eq!(stage.verify().0, "OK");
}

/// The same for rights that are missing, which only an ordinary user lacks.
#[test]
fn what_may_not_be_read_is_never_ok() {
    let test = "what_may_not_be_read_is_never_ok";
    let stage = refused();
    let run = stage.path("run");
    let binary = stage.path("touchstone");
    fs::copy(env!("CARGO_BIN_EXE_touchstone"), &binary).unwrap();
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(stage.root.path(), 0o755);
    open(&run, 0o755);
    fs::write(run.join("visible_OTHER.json"), "{}\n").unwrap();
    let names = ["receipts_RUN-ON.ndjson", "receipts_RUN-ON.pub.json", "rows.jsonl", "run_RUN-ON.json"];
    let files: Vec<_> = names.iter().chain(&["visible_OTHER.json"]).map(|name| run.join(name)).collect();
    files.iter().for_each(|file| open(file, 0o644));
    let as_user = || {
        let mut command = Command::new(&binary);
        if rustix::process::geteuid().is_root() {
            command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(&binary);
        }
        answer(command.args(["verify", "--json"]).arg(&run).current_dir("/"))
    };
    if !super::stage::has(test, "setpriv") {
        return;
    }
    let readable = as_user();
    if readable.0 != Some(0) {
        return vectors::skip(test, &format!("another user cannot verify here at all: {readable:?}"));
    }
    for file in &files {
        open(file, 0);
        let (code, answer) = as_user();
        assert_eq!(code, Some(1), "{}", file.display());
        assert_ne!(vectors::text(&answer, "verdict"), "OK", "{}", file.display());
        assert!(!vectors::list(&vectors::list(&answer, "runs")[0], "problems").is_empty());
        open(file, 0o644);
    }
    open(&run, 0o711);
    assert_ne!(as_user().0, Some(0), "the folder itself");
}

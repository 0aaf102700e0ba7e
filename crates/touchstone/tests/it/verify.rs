//! `verify` from the command line: exit codes, forms of arguments, and that it stays offline.

use super::stage::{Stage, reasons, touchstone, verify};
use canon::{Reader, Value};
use std::fs;
use std::path::Path;
use std::process::Command;
use vectors::shared;

const DESK: &str = "vectors/receiving-desk";

fn call(arguments: &[&str], path: &Path) -> (Option<i32>, Value) {
    let output = touchstone().arg("verify").arg("--json").args(arguments).arg(path).output().unwrap();
    (output.status.code(), Reader::strict().read(&output.stdout).unwrap_or(Value::Null))
}

/// Every run directory of the peer's vectors, through the binary, in both modes.
#[test]
fn peer_run_directories() {
    let Some(root) = shared("verify::peer_run_directories", DESK) else { return };
    let mut strict_differs = Vec::new();
    for group in ["runs", "tampered", "multitask"] {
        let expected = vectors::json(&root.join(group).join("expected.json"));
        for (name, want) in expected.as_object().unwrap().iter() {
            let want = want.get("verify").unwrap();
            let path = root.join(group).join(name);
            let (code, answer) = call(&["--peer-compat"], &path);
            let word = vectors::text(want, "verdict");
            assert_eq!(vectors::text(&answer, "verdict"), word, "{group}/{name}");
            assert_eq!(code.map(i64::from), want.get("exit_code").unwrap().as_i64(), "{group}/{name}");
            let (_, strict) = call(&[], &path);
            if vectors::text(&strict, "verdict") != word {
                strict_differs.push(format!("{group}/{name}: {}", vectors::text(&strict, "verdict")));
            }
        }
    }
    strict_differs.sort();
    assert_eq!(
        strict_differs,
        [
            "runs/sink_only: VOID",
            "tampered/empty_chain: UNVERIFIABLE",
            "tampered/pub_json_id_does_not_match_key: BROKEN",
            "tampered/pub_missing: UNVERIFIABLE",
            "tampered/reminted_with_new_key: BROKEN",
            "tampered/row_verdict_flipped: BROKEN",
            "tampered/truncated_tail_and_rows_emptied: BROKEN",
        ]
    );
}

#[test]
fn the_peers_batch() {
    let Some(root) = shared("verify::the_peers_batch", DESK) else { return };
    let want = vectors::json(&root.join("runs/batch.json"));
    let (code, answer) = call(&["--peer-compat"], &root.join("runs/*"));
    assert_eq!(code.map(i64::from), want.get("exit_code").unwrap().as_i64());
    let totals = answer.get("totals").unwrap();
    for (member, want) in want.get("report").unwrap().as_object().unwrap().iter() {
        let got = match member {
            "runs_n" | "verdict" => answer.get(member),
            "require_tier" => continue,
            _ => totals.get(member),
        };
        assert_eq!(got, Some(want), "{member}");
    }
    let (code, answer) = call(&[], &root.join("runs/no_such_*"));
    assert_eq!((code, vectors::text(&answer, "verdict")), (Some(1), "UNVERIFIABLE"));
}

/// PC-60: nothing, or nothing to check against, is UNVERIFIABLE with 1, and says other words than BROKEN.
#[test]
fn pc60_nothing_is_never_ok() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("empty")).unwrap();
    fs::create_dir(root.path().join("rows")).unwrap();
    fs::write(root.path().join("rows/rows.jsonl"), "{\"arm\":\"A\",\"task_id\":\"t\"}\n").unwrap();
    fs::create_dir(root.path().join("nokey")).unwrap();
    fs::write(root.path().join("nokey/receipts_A.ndjson"), "{}\n").unwrap();
    for name in ["empty", "rows", "nokey", "absent", "no_such_*", "rows/rows.jsonl"] {
        let (code, answer) = call(&[], &root.path().join(name));
        assert_eq!((code, vectors::text(&answer, "verdict")), (Some(1), "UNVERIFIABLE"), "{name}");
        let text = touchstone().arg("verify").arg(root.path().join(name)).output().unwrap();
        let text = String::from_utf8(text.stdout).unwrap();
        assert!(text.contains("UNVERIFIABLE") && !text.contains("BROKEN"), "{name}: {text}");
    }
    assert_eq!(touchstone().arg("verify").output().unwrap().status.code(), Some(64));
    let good_and_empty = Stage::new();
    good_and_empty.run(&[], "true").is(20, "no_suite");
    let mut both = touchstone();
    both.args(["verify"]).arg(good_and_empty.path("run")).arg(root.path().join("empty"));
    assert_eq!(
        both.output().unwrap().status.code(),
        Some(1),
        "one good chain does not cover an empty directory"
    );
}

/// What a person reads: whose key it is, and where the receipts are when they lie one folder further down.
#[test]
fn the_words_for_people() {
    let stage = Stage::new();
    stage.run(&[], "true").is(20, "no_suite");
    let said = |more: &[&str], path: &std::path::Path| {
        let output = touchstone().arg("verify").args(more).arg(path).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let run = stage.path("run");
    let text = said(&[], &run);
    assert!(text.contains("not pinned") && text.contains("--expect-key"), "{text}");
    assert!(text.lines().skip(1).all(|line| line.chars().count() <= 80), "{text}");
    let key = "a".repeat(64);
    assert!(said(&["--expect-key", &key], &run).contains("(not the pinned key)"));
    assert!(said(&[], stage.root.path()).contains("did you mean"));
    assert!(!said(&[], &stage.path("suite")).contains("did you mean"));
}

#[test]
fn anchors_and_pins() {
    let stage = Stage::new();
    let ran = stage.run(&[], "true");
    ran.is(20, "no_suite");
    let (_, _, answer) = stage.verify();
    let chain = &vectors::list(&vectors::list(&answer, "runs")[0], "chains")[0];
    let (head, id) = (vectors::text(chain, "head").to_owned(), vectors::text(chain, "vacant_id").to_owned());
    let run = stage.path("run");
    assert_eq!(call(&["--expect-head", &head, "--expect-count", "3", "--expect-key", &id], &run).0, Some(0));
    let other = "0".repeat(64);
    for (arguments, reason) in [
        (["--expect-head", other.as_str()], "head_not_reached"),
        (["--expect-count", "4"], "count_not_reached"),
        (["--expect-key", other.as_str()], "key_not_pinned"),
    ] {
        let (code, answer) = call(&arguments, &run);
        assert_eq!(code, Some(1));
        assert_eq!(reasons(&answer), [reason]);
    }
    assert_eq!(call(&["--expect-head", "ABC"], &run).0, Some(64));
}

/// Editing what was unsigned in the peer is seen: the summary and the check record are bound by the verdict.
#[test]
fn edited_files_of_the_run_directory_are_seen() {
    let toml =
        "version = 1\ncounts = \"none\"\n[[check]]\nname = \"c\"\nrun = [\"/bin/true\"]\nresult = \"exit\"\n";
    let stage = Stage::command(toml, &[]);
    stage.run(&[], "true").is(0, "visible_pass");
    for (file, reason) in
        [("run_RUN-ON.json", "summary_digest_mismatch"), ("visible_RUN-ON.json", "signed_file_mismatch")]
    {
        let path = stage.path(&format!("run/{file}"));
        let good = fs::read(&path).unwrap();
        fs::write(&path, [&good[..], b" "].concat()).unwrap();
        assert_eq!(reasons(&stage.verify().2), [reason]);
        fs::write(&path, good).unwrap();
        assert_eq!(stage.verify().0, "OK");
    }
    fs::remove_file(stage.path("run/run_RUN-ON.json")).unwrap();
    assert_eq!(reasons(&stage.verify().2), ["summary_missing"]);
}

/// Nothing special in a run directory is opened, no link is followed.
#[test]
fn links_and_fifos_in_a_run_directory() {
    let stage = Stage::new();
    stage.run(&[], "true").is(20, "no_suite");
    let chain = stage.path("run/receipts_RUN-ON.ndjson");
    fs::rename(&chain, stage.path("chain")).unwrap();
    std::os::unix::fs::symlink(stage.path("chain"), &chain).unwrap();
    let (verdict, code, _) = verify(&stage.path("run"));
    assert_eq!((verdict.as_str(), code), ("UNVERIFIABLE", Some(1)));
    fs::remove_file(&chain).unwrap();
    assert!(Command::new("mkfifo").arg(&chain).status().unwrap().success());
    assert_eq!(verify(&stage.path("run")).0, "UNVERIFIABLE");
}

/// The verifier opens no socket: it runs under a filter that kills on `socket`, and the filter is shown to kill.
#[test]
fn the_verifier_opens_no_socket() {
    let stage = Stage::new();
    stage.run(&[], "true").is(20, "no_suite");
    let verify = filtered(touchstone().arg("verify").arg(stage.path("run")));
    assert_eq!(verify.code(), Some(0), "{verify:?}");
    if super::stage::has("the_verifier_opens_no_socket", "python3") {
        use std::os::unix::process::ExitStatusExt as _;
        let mut socket = Command::new("python3");
        let killed = filtered(socket.args(["-c", "import socket; socket.socket()"]));
        assert_eq!(killed.signal(), Some(libc::SIGSYS), "the filter is no filter: {killed:?}");
    }
}

fn filtered(command: &mut Command) -> std::process::ExitStatus {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    use std::os::unix::process::CommandExt as _;
    let rules = [libc::SYS_socket, libc::SYS_socketpair, libc::SYS_connect].map(|call| (call, vec![]));
    let filter = SeccompFilter::new(
        rules.into_iter().collect(),
        SeccompAction::Allow,
        SeccompAction::KillProcess,
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let program: BpfProgram = filter.unwrap().try_into().unwrap();
    let apply = move || seccompiler::apply_filter(&program).map_err(std::io::Error::other);
    // SAFETY: between fork and exec the closure only makes the two system calls that install a prepared filter.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(apply);
    }
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).status().unwrap()
}

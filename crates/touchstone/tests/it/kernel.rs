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
    let (end, payloads) = payloads.split_last().unwrap();
    assert_eq!(payloads, entries(&signed.stdout));
    assert_eq!(end.get("receipts_n").unwrap().as_i64(), Some(3));
    let again = run(folder.path(), &["--threads", "5", "--sign", "keys", "--chain", "again.ndjson"]);
    assert!(again.status.success());
    let other = entries(&fs::read(folder.path().join("again.ndjson")).unwrap());
    assert_eq!(other.last().unwrap().get("payload").unwrap().get("replay_sha256"), end.get("replay_sha256"));
    assert!(end.get("replay_sha256").unwrap().as_str().is_some());
    let changed = fs::read_to_string(&chain).unwrap().replacen("danger_eval", "guard_clear", 1);
    fs::write(&chain, changed).unwrap();
    assert_eq!(verify(&chain).0, "BROKEN");
}

/// A chain whose end was cut off verifies; what was printed after signing sees it.
#[test]
fn what_is_printed_after_signing_sees_a_cut() {
    let folder = folder();
    assert!(
        touchstone().args(["key", "new"]).arg(folder.path().join("keys")).output().unwrap().status.success()
    );
    let signed = run(folder.path(), &["--sign", "keys", "--chain", "c.ndjson"]);
    let said = String::from_utf8(signed.stderr).unwrap();
    let command = said.lines().last().unwrap();
    let words: Vec<&str> = command.strip_prefix("touchstone ").unwrap().split(' ').collect();
    assert_eq!((words[0], words[1], words[5]), ("verify", "c.ndjson", "4"), "{said}");
    let verify = || touchstone().args(&words).current_dir(folder.path()).output().unwrap().status.code();
    assert_eq!(verify(), Some(0));
    let chain = fs::read_to_string(folder.path().join("c.ndjson")).unwrap();
    let cut: String = chain.split_inclusive('\n').take(3).collect();
    assert!(chain.contains("kernel_run_end") && !cut.contains("kernel_run_end"));
    fs::write(folder.path().join("c.ndjson"), cut).unwrap();
    assert_eq!(verify(), Some(1));
    let json = run(folder.path(), &["--json", "--sign", "keys", "--chain", "d.ndjson"]);
    let summary = Reader::strict().read(json.stderr.trim_ascii()).unwrap();
    assert_eq!(summary.get("chain_entries").unwrap().as_i64(), Some(4));
}

/// Files of a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

#[test]
fn a_refused_run_makes_nothing() {
    let folder = folder();
    assert!(
        touchstone().args(["key", "new"]).arg(folder.path().join("keys")).output().unwrap().status.success()
    );
    for taken in ["there.ndjson", "key.pub.json", "there.jsonl"] {
        fs::write(folder.path().join(taken), "x").unwrap();
    }
    let before = names(folder.path());
    for (keys, chain, out) in [
        ("keys", "there.ndjson", "o.jsonl"),
        ("keys", "key.ndjson", "o.jsonl"),
        ("keys", "new.ndjson", "there.jsonl"),
        ("keys", "new.ndjson", "no/such/o.jsonl"),
        ("keys", "new.txt", "o.jsonl"),
        ("keys", "no/such/new.ndjson", "o.jsonl"),
        ("nokeys", "new.ndjson", "o.jsonl"),
        ("keys", "new.ndjson", "new.ndjson"),
        ("keys", "new.ndjson", "new.pub.json"),
        ("keys", "new.ndjson", "in.jsonl"),
    ] {
        let refused = run(folder.path(), &["--sign", keys, "--chain", chain, "--out", out]);
        assert_eq!(refused.status.code(), Some(64), "{keys} {chain} {out}");
        assert_eq!(names(folder.path()), before, "{keys} {chain} {out}");
    }
    let done = run(folder.path(), &["--sign", "keys", "--chain", "new.ndjson", "--out", "o.jsonl"]);
    assert_eq!(done.status.code(), Some(0));
}

#[test]
fn threads_have_a_range_and_one_that_cannot_start_is_said() {
    let folder = folder();
    for threads in ["0", "257", "20000", "99999999999999999999"] {
        let output = run(folder.path(), &["--threads", threads, "--out", "o.jsonl"]);
        assert_eq!(output.status.code(), Some(64), "{threads}");
        assert!(!folder.path().join("o.jsonl").exists());
    }
    assert_eq!(run(folder.path(), &["--threads", "256"]).status.code(), Some(0));
    // Each thread reserves 512 MiB of address space for its stack: what is left when one cannot is enough for all else.
    let script = "ulimit -v 4000000; RUST_MIN_STACK=536870912 exec \"$0\" kernel run in.jsonl --threads 256 --out o.jsonl";
    let output = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_touchstone")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(" of 256 cannot be started") && said.lines().count() == 1, "{said}");
    assert!(!folder.path().join("o.jsonl").exists());
}

/// PC-55: what somebody else wrote has no power over the terminal.
#[test]
fn foreign_text_is_escaped_on_the_screen() {
    let folder = folder();
    assert!(
        touchstone().args(["key", "new"]).arg(folder.path().join("keys")).output().unwrap().status.success()
    );
    let skill = folder.path().join("skill");
    fs::create_dir(&skill).unwrap();
    let example = vectors::repository().join("examples/skills/text_vowels");
    fs::copy(example.join("module.wasm"), skill.join("module.wasm")).unwrap();
    let manifest = fs::read_to_string(example.join("manifest.toml")).unwrap();
    let start = manifest.find("description = \"").unwrap() + "description = \"".len();
    let manifest = format!("{}\\u001b[31m{}", &manifest[..start], &manifest[start..]);
    fs::write(skill.join("manifest.toml"), manifest).unwrap();
    for words in [
        &["run", "no\x1b[31mfile"][..],
        &["run", "in.jsonl", "--permission", "no\x1b[31m=1"],
        &["run", "in.jsonl", "--permission", "no\x1b[31m"],
        &["run", "in.jsonl", "--permission", "no\x1b[31m=9"],
        &["run", "in.jsonl", "--threads", "\x1b[31m"],
        &["run", "in.jsonl", "--out", "no\x1b[31m/x"],
        &["run", "in.jsonl", "--sign", "no\x1b[31m", "--chain", "c.ndjson"],
        &["run", "in.jsonl", "--sign", "keys", "--chain", "\x1b[31m"],
        &["run", "in.jsonl", "--sign", "keys", "--chain", "\x1b[31m.ndjson"],
        &["run", "in.jsonl", "--skill", "no\x1b[31m"],
        &["skills", "--skill", "skill"],
        &["route", "\x1b[31m", "--skill", "skill"],
    ] {
        let output = touchstone().arg("kernel").args(words).current_dir(folder.path()).output().unwrap();
        let shown = [output.stdout, output.stderr].concat();
        assert!(!shown.contains(&0x1b), "{words:?}: {}", String::from_utf8_lossy(&shown));
        // The parser of arguments drops what it does not show to a pipe; everything else is escaped.
        let escaped = shown.windows(6).any(|bytes| bytes == b"\\u{1b}");
        assert!(escaped || ["--threads", "route"].iter().any(|word| words.contains(word)), "{words:?}");
    }
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

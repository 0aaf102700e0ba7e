//! Skills that are WebAssembly modules, on the command line.

use super::stage::{entries, touchstone};
use canon::{Digest, Object, Reader, Value, canonical};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

const EXAMPLE: &str = "examples/skills/text_vowels";

/// Traps on every payload, under the name and version of the example.
const TRAP: &str = r#"(module (memory (export "memory") 2)
    (func (export "alloc") (param i32) (result i32) (i32.const 0))
    (func (export "run") (param i32 i32) (result i64) (unreachable)))"#;

fn envelope(id: &str, text: &str) -> String {
    let envelope = Object::new()
        .with("id", id)
        .with("sender", id)
        .with("recipient", "desk")
        .with("task", if text == "words" { "count words" } else { "count vowels" })
        .with("payload", Object::new().with("text", text))
        .with("permission", 0_u64)
        .with("trace", "t")
        .with("mode", "live")
        .with("claims", Object::new())
        .with("seq", 1_u64)
        .with("prev", Value::Null);
    String::from_utf8(canonical(&envelope.into())).unwrap()
}

/// `good` is the example, `trap` the module that traps; `in.jsonl` has 200 envelopes for them and one for `text.words`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut lines: Vec<String> = (0..200).map(|n| envelope(&format!("e{n}"), &"audio ".repeat(n))).collect();
    lines.push(envelope("last", "words"));
    fs::write(path("in.jsonl"), lines.join("\n")).unwrap();
    let example = vectors::repository().join(EXAMPLE);
    for name in ["good", "trap"] {
        fs::create_dir(path(name)).unwrap();
        for file in ["manifest.toml", "module.wasm"] {
            fs::copy(example.join(file), path(name).join(file)).unwrap();
        }
    }
    fs::write(path("trap/module.wasm"), wat::parse_str(TRAP).unwrap()).unwrap();
    folder
}

fn run(folder: &Path, options: &[&str]) -> Output {
    touchstone().args(["kernel", "run", "in.jsonl"]).args(options).current_dir(folder).output().unwrap()
}

fn receipts(folder: &Path, options: &[&str]) -> Vec<Value> {
    let output = run(folder, options);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    entries(&output.stdout)
}

fn reason(receipt: &Value) -> &str {
    vectors::text(receipt.get("verdict").unwrap(), "reason")
}

fn module(receipt: &Value) -> Option<&str> {
    receipt.get("skill").unwrap().get("module_sha256").unwrap().as_str()
}

fn table() -> PathBuf {
    vectors::repository().join("crates/kernel/fields.toml")
}

/// What `conform` says about two files of receipts, with the first as golden value: exit code and grade.
fn graded(folder: &Path, runs: [&str; 2]) -> (Option<i32>, String) {
    let golden = format!("golden-{}.json", runs[0]);
    let mut freeze = touchstone();
    freeze.args(["golden", "freeze", "--case", "kernel", "--run", runs[0], "--out", &golden]);
    assert!(freeze.arg("--table").arg(table()).current_dir(folder).output().unwrap().status.success());
    let mut conform = touchstone();
    conform.args(["conform", "--json", "--case", "kernel", "--golden", &golden]);
    conform.args(["--run", runs[0], "--run", runs[1]]).arg("--table").arg(table());
    let output = conform.current_dir(folder).output().unwrap();
    let answer = Reader::strict().read(output.stdout.trim_ascii()).unwrap();
    (output.status.code(), vectors::text(&answer, "grade").to_owned())
}

#[test]
fn a_module_runs_and_its_digest_is_in_the_receipt() {
    let folder = folder();
    let got = receipts(folder.path(), &["--skill", "good"]);
    let digest = Digest::of(&fs::read(folder.path().join("good/module.wasm")).unwrap()).to_hex();
    for (n, receipt) in got[..200].iter().enumerate() {
        assert_eq!(reason(receipt), "skill_done");
        assert_eq!(receipt.get("output"), Some(&Object::new().with("vowels", n as u64 * 4).into()));
        assert_eq!(vectors::text(receipt.get("skill").unwrap(), "name"), "text.vowels");
        assert_eq!(module(receipt), Some(&*digest));
    }
    // A built-in skill has no module.
    assert_eq!((reason(&got[200]), module(&got[200])), ("skill_done", None));
    // Without the module the words of the task lead elsewhere.
    let without = &receipts(folder.path(), &[])[0];
    assert_eq!(vectors::text(without.get("skill").unwrap(), "name"), "text.words");
}

#[test]
fn fuel_and_traps_end_a_call_with_a_reason() {
    let folder = folder();
    // The shortest text fits into the fuel, the longest does not.
    let short = receipts(folder.path(), &["--skill", "good", "--fuel", "2000"]);
    assert_eq!((reason(&short[0]), reason(&short[199])), ("skill_done", "wasm_out_of_fuel"));
    assert!(module(&short[199]).is_some());
    assert_eq!(reason(&short[200]), "skill_done");
    let trapped = receipts(folder.path(), &["--skill", "trap"]);
    assert!(trapped[..200].iter().all(|receipt| reason(receipt) == "wasm_trap"));
}

/// K-5: the threads and the fuel of another call make no difference, and the grade says so.
#[test]
fn modules_are_reproducible_on_any_number_of_threads() {
    let folder = folder();
    for (name, options) in [("good", &["--fuel", "2000"][..]), ("trap", &[])] {
        let out = |threads: &str| {
            let file = format!("{name}-{threads}.jsonl");
            let more = [&["--skill", name, "--threads", threads, "--out", &file], options].concat();
            assert_eq!(run(folder.path(), &more).status.code(), Some(0));
            file
        };
        let (one, many) = (out("1"), out("16"));
        assert_eq!(graded(folder.path(), [&one, &many]), (Some(0), "full".to_owned()));
    }
}

/// Two modules under one name and version, with the same outputs, do not look alike.
#[test]
fn another_module_under_the_same_name_is_another_run() {
    let folder = folder();
    let path = folder.path().join("trap/module.wasm");
    let mut module = fs::read(folder.path().join("good/module.wasm")).unwrap();
    // An empty custom section called "x": it changes nothing that the module does.
    module.extend(b"\x00\x02\x01x");
    fs::write(path, module).unwrap();
    for (skill, file) in [("good", "a.jsonl"), ("trap", "b.jsonl")] {
        assert_eq!(run(folder.path(), &["--skill", skill, "--out", file]).status.code(), Some(0));
    }
    assert_eq!(graded(folder.path(), ["a.jsonl", "b.jsonl"]), (Some(1), "incompatible".to_owned()));
}

#[test]
fn a_skill_that_cannot_be_used_is_wrong_use() {
    let folder = folder();
    let write = |file: &str, text: &[u8]| {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let manifest = fs::read_to_string(folder.path().join("good/manifest.toml")).unwrap();
    write("manifest_only/manifest.toml", manifest.as_bytes());
    write("bad_name/manifest.toml", manifest.replace("text.vowels", "vowels").as_bytes());
    write("not_utf8/manifest.toml", b"\xff");
    write("long/manifest.toml", " ".repeat((256 << 10) + 1).as_bytes());
    write("text/manifest.toml", manifest.as_bytes());
    write("text/module.wasm", TRAP.as_bytes());
    let cases = [
        (&["nowhere"][..], "nowhere/manifest.toml: manifest_not_readable: "),
        (&["manifest_only"], "manifest_only/module.wasm: wasm_not_a_module: "),
        (&["bad_name"], "bad_name/manifest.toml: manifest_name_unfit: vowels"),
        (&["not_utf8"], "not_utf8/manifest.toml: manifest_not_readable: "),
        (&["long"], "long/manifest.toml: manifest_not_readable: more than 262144 bytes"),
        (&["text"], "text/module.wasm: wasm_not_a_module: "),
        (&["good", "trap"], "trap/module.wasm: wasm_name_taken: text.vowels"),
    ];
    for (skills, said) in cases {
        for verb in [&["kernel", "run", "in.jsonl"][..], &["kernel", "skills"], &["kernel", "route", "x"]] {
            let mut command = touchstone();
            command.args(verb).current_dir(folder.path());
            for skill in skills {
                command.args(["--skill", skill]);
            }
            let output = command.output().unwrap();
            let heard = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(64), "{skills:?}");
            assert!(heard.starts_with(&format!("touchstone: {said}")), "{heard}");
            assert!(output.stdout.is_empty());
        }
    }
    let large = TRAP.replace("(export \"memory\") 2", "(export \"memory\") 17");
    write("trap/module.wasm", &wat::parse_str(large).unwrap());
    let output = run(folder.path(), &["--skill", "trap", "--memory-mib", "1"]);
    let heard = String::from_utf8(output.stderr).unwrap();
    assert_eq!(heard, "touchstone: trap/module.wasm: wasm_initial_memory_over_limit\n");
    assert_eq!(output.status.code(), Some(64));
    for options in [&["--fuel", "5"][..], &["--memory-mib", "5"], &["--skill", "good", "--fuel", "0"]] {
        assert_eq!(run(folder.path(), options).status.code(), Some(64), "{options:?}");
    }
    for mib in ["0", "4097"] {
        let output = run(folder.path(), &["--skill", "good", "--memory-mib", mib]);
        assert_eq!(output.status.code(), Some(64), "{mib}");
    }
}

#[test]
fn modules_are_listed_and_found() {
    let folder = folder();
    let json = |verb: &[&str]| {
        let mut command = touchstone();
        command.arg("kernel").args(verb).args(["--json", "--skill", "good"]).current_dir(folder.path());
        Reader::strict().read(command.output().unwrap().stdout.trim_ascii()).unwrap()
    };
    let skills = json(&["skills"]);
    let with: Vec<&str> = vectors::list(&skills, "skills")
        .iter()
        .filter(|skill| skill.get("module_sha256").unwrap().as_str().is_some())
        .map(|skill| vectors::text(skill, "name"))
        .collect();
    assert_eq!(with, ["text.vowels"]);
    let route = json(&["route", "count vowels"]);
    assert_eq!(vectors::text(route.get("route").unwrap(), "skill"), "text.vowels");
}

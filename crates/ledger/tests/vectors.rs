//! The vectors of our own in `vectors/`: the files are what the generator writes, and every case gives its answer.
#![allow(clippy::unwrap_used)]

#[path = "../examples/make_vectors/cases/mod.rs"]
mod cases;

use canon::{Digest, Reader, Value, canonical};
use cases::Files;
use ledger::Mode;
use ledger::receipts::{ChainReport, InOrder, Options, batch, verify_run};
use std::collections::BTreeSet;
use std::path::Path;
use vectors::{list, text};

fn on_disk(root: &Path, folder: &Path, files: &mut Files) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            on_disk(root, &entry.path(), files);
        } else {
            let name = entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
}

#[test]
fn committed_files_are_what_the_generator_writes() {
    let root = vectors::repository().join("vectors");
    let mut committed = Files::new();
    for group in ["canonical", "chain", "run"] {
        on_disk(&root, &root.join(group), &mut committed);
    }
    let made = cases::all();
    let names = |files: &Files| files.keys().cloned().collect::<BTreeSet<_>>();
    let again = "cargo run -p ledger --example make_vectors";
    assert_eq!(names(&committed), names(&made), "run: {again}");
    for (name, bytes) in &made {
        assert!(committed[name] == *bytes, "{name} differs: run {again}");
    }
}

/// `args` of an answer as options of the library.
fn options(answer: &Value) -> Options {
    let mut options = Options::new(Mode::Strict);
    let mut args = list(answer, "args").iter().map(|arg| arg.as_str().unwrap());
    while let Some(arg) = args.next() {
        match arg {
            "--peer-compat" => options.mode = Mode::PeerCompat,
            "--expect-head" => options.expect_head = Some(Digest::parse(args.next().unwrap()).unwrap()),
            "--expect-count" => options.expect_count = Some(args.next().unwrap().parse().unwrap()),
            "--expect-key" => options.expect_key = args.next().map(str::to_owned),
            "--require-tier" => options.require_tier = args.next().map(str::to_owned),
            other => panic!("{other}"),
        }
    }
    options
}

/// The part of an answer that the vectors speak of.
fn failures(reports: &[ChainReport]) -> Vec<(String, Option<u64>, Option<u64>)> {
    let number = |place: Option<usize>| place.map(|place| place as u64);
    let all = reports.iter().flat_map(|report| &report.failures);
    all.map(|failure| (failure.reason.code().to_owned(), number(failure.line), number(failure.offset)))
        .collect()
}

fn expected(answer: &Value) -> Vec<(String, Option<u64>, Option<u64>)> {
    let number = |failure: &Value, key: &str| failure.get(key).unwrap().as_i64().map(|place| place as u64);
    let failures = list(answer, "failures").iter();
    failures.map(|one| (text(one, "reason").to_owned(), number(one, "line"), number(one, "offset"))).collect()
}

/// Cases of a group by folder.
fn folders(group: &str) -> BTreeSet<String> {
    let names = cases::all().into_keys();
    names
        .filter(|name| name.starts_with(group))
        .map(|name| name.splitn(3, '/').take(2).collect::<Vec<_>>().join("/"))
        .collect()
}

fn check(group: &str, fewest: usize) {
    let all = cases::all();
    let folders = folders(group);
    assert!(folders.len() >= fewest, "{} cases", folders.len());
    for folder in &folders {
        let mut files = Files::new();
        for (name, bytes) in &all {
            if let Some(name) = name.strip_prefix(&format!("{folder}/")) {
                let name = name
                    .strip_prefix("chain.")
                    .map_or(name.to_owned(), |rest| format!("receipts_chain.{rest}"));
                files.insert(name, bytes.clone());
            }
        }
        let want = Reader::strict().read(&files["expected.json"]).unwrap();
        for answer in list(&want, "answers") {
            let options = options(answer);
            let reports = verify_run(&files, &options, &InOrder);
            let verdict = batch(&reports, options.mode == Mode::PeerCompat);
            let shown = format!("{folder} {:?}", list(answer, "args"));
            assert_eq!(failures(&reports), expected(answer), "{shown}");
            assert_eq!(verdict.word(), text(answer, "verdict"), "{shown}");
            assert_eq!(Some(i64::from(verdict.exit_code())), answer.get("exit_code").unwrap().as_i64());
            let found = reports.iter().flat_map(|report| &report.warnings);
            let found: Vec<_> = found.map(|(line, warning)| (*line as i64, warning.code())).collect();
            let listed = list(answer, "warnings").iter();
            let listed: Vec<_> = listed
                .map(|one| (one.get("line").unwrap().as_i64().unwrap(), text(one, "warning")))
                .collect();
            assert_eq!(found, listed, "{shown}");
        }
    }
    let ending = |word: &str| folders.iter().any(|folder| folder.ends_with(word));
    assert!(ending("_ok") && (ending("_broken") || ending("_fail")));
}

#[test]
fn chains_give_their_answers() {
    check("chain", 40);
}

#[test]
fn run_directories_give_their_answers() {
    check("run", 30);
}

fn canonical_cases(file: &str) -> Vec<Value> {
    let value = Reader::strict().read(&cases::all()[&format!("canonical/{file}.json")]).unwrap();
    value.as_array().unwrap().to_vec()
}

#[test]
fn canonical_texts() {
    for case in canonical_cases("accepted") {
        let value = Reader::strict().read(text(&case, "input").as_bytes()).unwrap();
        let written = canonical(&value);
        assert_eq!(String::from_utf8_lossy(&written), text(&case, "canonical"), "{}", text(&case, "case"));
        assert_eq!(Digest::of(&written).to_hex(), text(&case, "sha256"));
    }
    for case in canonical_cases("refused") {
        let name = text(&case, "case").to_owned();
        let input = canon::unhex(text(&case, "input_hex")).unwrap();
        let error = Reader::strict().read(&input).unwrap_err();
        assert_eq!(
            (error.fault.code(), Some(error.offset as i64)),
            (text(&case, "reason"), case.get("offset").unwrap().as_i64()),
            "{name}"
        );
    }
    for case in canonical_cases("peer_only") {
        let input = text(&case, "input").as_bytes();
        assert_eq!(Reader::strict().read(input).unwrap_err().fault.code(), text(&case, "strict_reason"));
        let value = Reader::peer().read(input).unwrap();
        assert_eq!(String::from_utf8_lossy(&canonical(&value)), text(&case, "peer_canonical"));
    }
}

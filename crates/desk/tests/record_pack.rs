//! Evidence packs: the peer's vectors, every faulty line of PC-67, and what must never enter or leave a pack.
#![allow(clippy::unwrap_used)]

use canon::{Digest, Object, Value};
use desk::record::{Cause, Options, PackError, Packed, Problem, check, measured, pack};
use ledger::identity::Identity;
use ledger::logbook::Appender;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use tempfile::TempDir;
use vectors::{list, shared, text};

fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // Vectors lie there read-only; a copy of them must not stay so.
    let _ = fs::remove_file(&path);
    fs::write(path, content).unwrap();
}

fn read(root: &Path, path: &str) -> String {
    fs::read_to_string(root.join(path)).unwrap()
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::write(target, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

/// Makes the sums fit again, as somebody who spoils a pack would.
fn reseal(root: &Path) {
    let mut paths = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let relative = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if relative != "SHA256SUMS" && !relative.ends_with("identity.key") {
                paths.push(relative);
            }
        }
    }
    paths.sort();
    let line = |path: &String| format!("{}  {path}\n", Digest::of(&fs::read(root.join(path)).unwrap()));
    write(root, "SHA256SUMS", paths.iter().map(line).collect::<String>());
}

/// A folder with one chain of three entries, a private key, and the files that a run leaves.
fn run() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let identity = Identity::from_seed(&[7; 32]);
    let mut chain = Appender::default();
    let entry = |chain: &mut Appender, n: i64| {
        chain.append("note", Object::new().with("n", n).into(), &identity, n).unwrap().line
    };
    let lines: Vec<u8> = (1..=3).flat_map(|n| entry(&mut chain, n)).collect();
    write(folder.path(), "residents/a/logbook.ndjson", lines);
    write(folder.path(), "residents/a/identity.pub", format!("{}\n", identity.public().to_hex()));
    write(folder.path(), "residents/a/vacant_id", format!("{}\n", identity.public().id()));
    write(folder.path(), "residents/a/identity.key", "secret");
    write(folder.path(), "ledger_events.jsonl", "{\"event\":\"start\"}\n");
    write(folder.path(), "anomalies.md", "none\n");
    folder
}

fn options() -> Options {
    let missing = ["wire.jsonl", "model_io.jsonl"].map(|name| (name.to_owned(), "no proxy".to_owned()));
    Options { missing: missing.into(), replace: false }
}

fn packed() -> TempDir {
    let folder = run();
    let answer = pack(folder.path(), &Object::new(), &options()).unwrap();
    assert_eq!(answer.problems, []);
    folder
}

/// Problems as `code path line`, as far as they have them.
fn said(root: &Path) -> Vec<String> {
    let line = |problem: &Problem| {
        let line = problem.line.map_or(String::new(), |line| format!(" {line}"));
        format!("{} {}{line}", problem.code(), canon::shown(&problem.path))
    };
    check(root).unwrap().iter().map(line).collect()
}

fn edit_sums(root: &Path, edit: impl Fn(&str) -> String) {
    let sums = read(root, "SHA256SUMS");
    write(root, "SHA256SUMS", edit(&sums));
}

#[test]
fn peers_cases() {
    let Some(vectors) = shared("peers_cases", "vectors/receiving-desk/record") else { return };
    let expected = vectors::json(&vectors.join("expected.json"));
    for case in list(&expected, "cases") {
        let name = text(case, "case");
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        copy(&vectors.join("pack"), root);
        // How each was spoiled is inferred from its name and its number of problems.
        match name {
            "good" => {}
            "ledger_edited" => write(root, "ledger_events.jsonl", "{\"event\":\"other\"}\n"),
            "extra_file" => write(root, "extra.txt", "x"),
            // Two problems: listed and gone, required and gone.
            "file_removed" => fs::remove_file(root.join("anomalies.md")).unwrap(),
            // One problem: the sums were made again over the word.
            "chain_verify_fail_word" => {
                let said = read(root, "chain_verify.txt").replace("PASS", "FAIL");
                write(root, "chain_verify.txt", said);
                reseal(root);
            }
            "second_private_key_undeclared" => write(root, "residents/beta/identity.key", "secret"),
            // One problem: the card is listed, only its verification is absent.
            "card_without_verify" => {
                write(root, "trust_cards/t1.json", "{}");
                reseal(root);
            }
            other => panic!("unknown case {other}"),
        }
        let problems = check(root).unwrap();
        assert_eq!(case.get("ok"), Some(&Value::Bool(problems.is_empty())), "{name}: {problems:?}");
        let want = case.get("problems_n").and_then(Value::as_i64);
        assert_eq!(i64::try_from(problems.len()).ok(), want, "{name}: {problems:?}");
    }
}

#[test]
fn lists_of_the_vectors_are_ours() {
    let test = "lists_of_the_vectors_are_ours";
    let Some(vectors) = shared(test, "vectors/receiving-desk/record") else { return };
    let expected = vectors::json(&vectors.join("expected.json"));
    let texts = |key: &str| -> Vec<&str> { list(&expected, key).iter().filter_map(Value::as_str).collect() };
    assert_eq!(texts("required_files"), desk::record::REQUIRED);
    assert_eq!(texts("required_manifest_fields"), desk::record::FIELDS);
    assert_eq!(texts("optional_with_reason"), desk::record::EXCUSABLE);
    assert_eq!(text(&expected, "private_key_name"), desk::record::PRIVATE_KEY);
}

#[test]
fn a_pack_is_listed_sorted_and_without_its_key() {
    let folder = packed();
    let root = folder.path();
    let sums = read(root, "SHA256SUMS");
    let paths: Vec<&str> = sums.lines().map(|line| &line[66..]).collect();
    assert_eq!(
        paths,
        [
            "anomalies.md",
            "chain_verify.txt",
            "ledger_events.jsonl",
            "manifest.json",
            "residents/a/identity.pub",
            "residents/a/logbook.ndjson",
            "residents/a/vacant_id",
        ]
    );
    let chains = read(root, "chain_verify.txt");
    assert!(
        chains.lines().nth(1).unwrap().starts_with("PASS residents/a/logbook.ndjson  entries=3  vacant_id=z")
    );
    let manifest = vectors::json(&root.join("manifest.json"));
    assert_eq!(list(&manifest, "excluded_private_keys"), ["residents/a/identity.key".into()]);
    assert_eq!(read(root, "residents/a/identity.key"), "secret");
    assert!(manifest.get("model_id").unwrap().is_null());
    assert!(manifest.get("missing").unwrap().get("model_id").is_some());
}

#[test]
fn an_unreadable_key_is_never_opened() {
    let folder = run();
    let key = folder.path().join("residents/a/identity.key");
    fs::remove_file(&key).unwrap();
    // The mode stops an ordinary user; for root the access time tells.
    fs::write(&key, "secret").unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o000)).unwrap();
    let before = fs::metadata(&key).unwrap().accessed().unwrap();
    assert_eq!(pack(folder.path(), &Object::new(), &options()).unwrap().problems, []);
    assert_eq!(fs::metadata(&key).unwrap().accessed().unwrap(), before);
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        assert!(path.is_dir() || !fs::read(path).unwrap().windows(6).any(|part| part == b"secret"));
    }
}

#[test]
fn unknown_fields_are_null_and_named() {
    let folder = run();
    let fields = Object::new().with("model_id", "mock-1").with("seeds", vec![1_i64]);
    let Packed { unknown, made, excluded, .. } = pack(folder.path(), &fields, &options()).unwrap();
    assert!(unknown.contains(&"endpoint".to_owned()) && !unknown.contains(&"model_id".to_owned()));
    assert_eq!(made, ["chain_verify.txt", "manifest.json", "SHA256SUMS"]);
    assert_eq!(excluded, ["residents/a/identity.key"]);
    let floats = Object::new().with("seeds", canon::Reader::strict().read(b"1.5").unwrap());
    let again = Options { replace: true, ..options() };
    assert!(matches!(pack(folder.path(), &floats, &again), Err(PackError::Float(_))));
}

#[test]
fn measured_fields_are_facts_of_this_machine() {
    let repository = measured(&vectors::repository());
    assert!(text(&repository.into(), "os").starts_with("Linux "));
    let nowhere = tempfile::tempdir().unwrap();
    assert!(measured(nowhere.path()).get("repo_commit").is_none());
}

#[test]
fn absent_files_need_a_reason() {
    let folder = run();
    let answer = pack(folder.path(), &Object::new(), &Options::default()).unwrap();
    let causes: Vec<Cause> = answer.problems.iter().map(|problem| problem.cause).collect();
    assert_eq!(causes, [Cause::AbsenceUnexcused; 2]);
}

#[test]
fn a_pack_is_not_sealed_twice_by_accident() {
    let folder = packed();
    let again = pack(folder.path(), &Object::new(), &options());
    assert!(matches!(again, Err(PackError::AlreadyThere("SHA256SUMS"))));
    let answer = pack(folder.path(), &Object::new(), &Options { replace: true, ..options() }).unwrap();
    assert_eq!(answer.problems, []);
}

#[test]
fn a_folder_without_events_gets_those_of_its_chains() {
    let folder = run();
    fs::remove_file(folder.path().join("ledger_events.jsonl")).unwrap();
    let answer = pack(folder.path(), &Object::new(), &options()).unwrap();
    assert_eq!((answer.made[0], answer.problems), ("ledger_events.jsonl", Vec::new()));
    let events = read(folder.path(), "ledger_events.jsonl");
    assert_eq!(events.lines().count(), 3);
    assert!(events.starts_with(r#"{"chain":"residents/a/logbook.ndjson","seq":1,"ts_ms":1,"type":"note"}"#));
}

/// PC-67: whatever is wrong with a line has its own cause and the number of the line, and the file counts as not
/// checked, never as checked.
#[test]
fn pc_67_faulty_lines_name_line_and_cause() {
    let first = |sums: &str, edit: &dyn Fn(&str) -> String| {
        let (line, rest) = sums.split_once('\n').unwrap();
        format!("{}\n{rest}", edit(line))
    };
    type Edit<'a> = &'a dyn Fn(&str) -> String;
    let cases: [(&str, Edit); 12] = [
        ("record_sums_cr_lf", &|line| format!("{line}\r")),
        ("record_sums_trailing_blank", &|line| format!("{line} ")),
        ("record_sums_trailing_blank", &|line| format!("{line}\t")),
        ("record_sums_separator", &|line| line.replace("  ", " ")),
        ("record_sums_separator", &|line| line.replace("  ", " *")),
        ("record_sums_separator", &|line| line.replace("  ", "   ")),
        ("record_sums_digest", &|line| line[..64].to_uppercase() + &line[64..]),
        ("record_sums_digest", &|line| line[1..].to_owned()),
        ("record_sums_path_absolute", &|line| line.replace("  ", "  /etc/")),
        ("record_sums_path_leaves", &|line| line.replace("  ", "  residents/../../")),
        ("record_sums_path_spelling", &|line| line.replace("  ", "  ./")),
        ("record_sums_path_spelling", &|line| line.replace("anom", "\u{7}")),
    ];
    for (code, edit) in cases {
        let folder = packed();
        edit_sums(folder.path(), |sums| first(sums, edit));
        let said = said(folder.path());
        assert_eq!(said[0], format!("{code} SHA256SUMS 1"), "{said:?}");
    }
}

/// PC-67: every line with CR LF is a failure of every line, and of the whole: nothing was checked.
#[test]
fn pc_67_zero_checked_lines_is_a_failure() {
    let folder = packed();
    edit_sums(folder.path(), |sums| sums.replace('\n', "\r\n"));
    let all = said(folder.path());
    assert_eq!(all.iter().filter(|line| line.starts_with("record_sums_cr_lf SHA256SUMS ")).count(), 7);
    assert_eq!(all.last().unwrap(), "record_sums_nothing_checked SHA256SUMS");
    assert_eq!(all.len(), 8, "{all:?}");
    edit_sums(folder.path(), |_| String::new());
    let empty = said(folder.path());
    assert_eq!(empty[0], "record_sums_nothing_checked SHA256SUMS");
    assert_eq!(empty.len(), 8, "seven files are unlisted besides: {empty:?}");
}

#[test]
fn blank_torn_and_double_lines() {
    let folder = packed();
    edit_sums(folder.path(), |sums| format!("\n{}", &sums[..sums.len() - 1]));
    assert_eq!(said(folder.path()), ["record_sums_blank_line SHA256SUMS 1", "record_sums_torn SHA256SUMS 8"]);
    let folder = packed();
    edit_sums(folder.path(), |sums| format!("{sums}{sums}"));
    let all = said(folder.path());
    assert_eq!(all[0], "record_sums_duplicate SHA256SUMS 8");
    assert_eq!(all.len(), 7);
}

#[test]
fn what_is_listed_and_what_is_there() {
    let folder = packed();
    let root = folder.path();
    write(root, "extra.txt", "x");
    fs::remove_file(root.join("residents/a/vacant_id")).unwrap();
    assert_eq!(said(root), ["record_listed_missing residents/a/vacant_id", "record_unlisted extra.txt"]);
    write(root, "trust_cards/t1.json", "{}");
    reseal(root);
    assert_eq!(said(root), ["record_card_verify_missing card_verify.txt"]);
}

#[test]
fn a_listed_key_and_a_listed_listing() {
    let folder = packed();
    let zeros = "0".repeat(64);
    edit_sums(folder.path(), |sums| {
        format!("{sums}{zeros}  residents/a/identity.key\n{zeros}  SHA256SUMS\n")
    });
    assert_eq!(
        said(folder.path()),
        ["record_key_listed SHA256SUMS 8", "record_sums_lists_itself SHA256SUMS 9"]
    );
}

/// No path leaves the pack: a link is a problem and what it points to is neither read nor listed.
#[test]
fn links_are_not_followed() {
    let folder = run();
    symlink("/etc/passwd", folder.path().join("wire.jsonl")).unwrap();
    symlink("/", folder.path().join("trust_cards")).unwrap();
    let before = fs::read_dir(folder.path()).unwrap().count();
    let Err(PackError::Unfit(problems)) = pack(folder.path(), &Object::new(), &options()) else { panic!() };
    assert_eq!(problems.iter().map(Problem::code).collect::<Vec<_>>(), ["record_link"; 2]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before, "nothing was written");
    let folder = packed();
    let file = folder.path().join("anomalies.md");
    let outside = tempfile::tempdir().unwrap();
    fs::copy(&file, outside.path().join("same")).unwrap();
    fs::remove_file(&file).unwrap();
    // The bytes behind the link would fit.
    symlink(outside.path().join("same"), &file).unwrap();
    let all = said(folder.path());
    assert_eq!(all, ["record_link anomalies.md", "record_file_missing anomalies.md"]);
}

#[test]
fn names_and_kinds_that_no_pack_can_hold() {
    let folder = packed();
    let raw = |name: &[u8]| folder.path().join(std::ffi::OsStr::from_bytes(name));
    fs::write(raw(b"\xff"), "").unwrap();
    fs::write(raw(b"a\nb"), "").unwrap();
    fs::write(raw(b"end "), "").unwrap();
    std::os::unix::net::UnixListener::bind(raw(b"socket")).unwrap();
    let mut all = said(folder.path());
    all.sort();
    assert_eq!(
        all,
        [
            "record_name_not_utf8 \\xff",
            "record_name_unfit \"end \"",
            "record_name_unfit a\\nb",
            "record_special_file socket",
        ]
    );
}

#[test]
fn an_unreadable_file_is_named() {
    let folder = packed();
    let file = folder.path().join("anomalies.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&file).is_ok() {
        return as_an_ordinary_user("an_unreadable_file_is_named");
    }
    assert_eq!(said(folder.path()), ["record_unreadable anomalies.md"]);
}

/// Root reads everything: this test binary runs `test` once more as somebody who does not.
fn as_an_ordinary_user(test: &str) {
    let shared = tempfile::tempdir_in("/tmp").unwrap();
    fs::set_permissions(shared.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (binary, own) = (shared.path().join("test"), shared.path().join("own"));
    fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    fs::create_dir(&own).unwrap();
    std::os::unix::fs::chown(&own, Some(65534), Some(65534)).unwrap();
    let mut user = std::process::Command::new("setpriv");
    user.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&binary).args(["--exact", test]);
    match user.current_dir("/").env("TMPDIR", own).output() {
        Ok(output) => assert!(
            output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"),
            "{output:?}"
        ),
        Err(why) => vectors::skip(test, &format!("setpriv: {why}")),
    }
}

#[test]
fn a_pass_is_not_taken_on_faith() {
    let folder = packed();
    let root = folder.path();
    let chain = read(root, "residents/a/logbook.ndjson");
    write(root, "residents/a/logbook.ndjson", chain.replace("\"n\":2", "\"n\":9"));
    assert_eq!(said(root), ["record_listed_differs residents/a/logbook.ndjson"]);
    reseal(root);
    assert_eq!(said(root), ["record_chain_broken residents/a/logbook.ndjson"]);
    write(root, "chain_verify.txt", "# nothing\n");
    reseal(root);
    assert_eq!(
        said(root),
        ["record_verify_nothing chain_verify.txt", "record_chain_not_listed residents/a/logbook.ndjson"]
    );
    write(root, "chain_verify.txt", "PASS elsewhere/logbook.ndjson  entries=3\n");
    reseal(root);
    assert_eq!(
        said(root),
        [
            "record_chain_not_listed residents/a/logbook.ndjson",
            "record_chain_missing elsewhere/logbook.ndjson"
        ]
    );
}

/// Boundary 17: sums made again after tampering pass. A pack proves self-consistency only.
#[test]
fn resealed_sums_pass() {
    let folder = packed();
    write(folder.path(), "ledger_events.jsonl", "{\"event\":\"invented\"}\n");
    assert_eq!(said(folder.path()), ["record_listed_differs ledger_events.jsonl"]);
    reseal(folder.path());
    assert_eq!(said(folder.path()), [""; 0]);
}

#[test]
fn broken_and_keyless_chains_are_packed_as_fail() {
    let folder = run();
    let chain = read(folder.path(), "residents/a/logbook.ndjson");
    write(folder.path(), "residents/a/logbook.ndjson", chain.replace("\"n\":2", "\"n\":9"));
    write(folder.path(), "residents/b/logbook.ndjson", &chain);
    let answer = pack(folder.path(), &Object::new(), &options()).unwrap();
    let said = read(folder.path(), "chain_verify.txt");
    let lines: Vec<&str> = said.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "FAIL residents/a/logbook.ndjson  bad_signature",
            "FAIL residents/b/logbook.ndjson  pubkey_file_missing",
        ]
    );
    assert_eq!(answer.problems.iter().map(Problem::code).collect::<Vec<_>>(), ["record_verify_failed"; 2]);
}

#[test]
fn cards_are_said_to_be_unverified() {
    let folder = run();
    write(folder.path(), "trust_cards/t1.json", "{}");
    let answer = pack(folder.path(), &Object::new(), &options()).unwrap();
    let said = read(folder.path(), "card_verify.txt");
    assert!(said.contains("UNVERIFIED trust_cards/t1.json") && !said.contains("PASS"));
    assert_eq!(answer.problems.iter().map(Problem::code).collect::<Vec<_>>(), ["record_card_not_verified"]);
}

#[test]
fn manifest_and_excuses() {
    let folder = packed();
    let root = folder.path();
    let manifest = read(root, "manifest.json");
    for (text, want) in [
        ("[]".to_owned(), "record_manifest_unreadable manifest.json"),
        ("{\"os\":1,\"os\":2}".to_owned(), "record_manifest_unreadable manifest.json"),
        (manifest.replace("\"seeds\"", "\"seed\""), "record_manifest_field_missing manifest.json"),
        (manifest.replace("\"no proxy\"", "\" \""), "record_absence_unexcused wire.jsonl"),
        (manifest.replace("identity.key", "identity.kez"), "record_key_undeclared residents/a/identity.key"),
    ] {
        write(root, "manifest.json", text);
        reseal(root);
        assert!(said(root).contains(&want.to_owned()), "{want}: {:?}", said(root));
    }
}

#[test]
fn run_directories_of_the_launcher() {
    let Some(runs) = shared("run_directories_of_the_launcher", "vectors/receiving-desk/runs") else { return };
    let folder = run();
    let mut copied = 0;
    for entry in fs::read_dir(runs).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            let target = folder.path().join("runs").join(entry.file_name());
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
            copied += 1;
        }
    }
    let answer = pack(folder.path(), &Object::new(), &options()).unwrap();
    assert!(copied > 10 && answer.chains_n > copied / 2, "{copied} runs, {} chains", answer.chains_n);
    let lines = read(folder.path(), "chain_verify.txt");
    assert!(lines.lines().any(|line| line.contains("  run=VOID")), "{lines}");
}

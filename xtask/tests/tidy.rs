//! The rules of the house, as part of `cargo test`: they hold here, and each of them sees what it is for.
#![allow(clippy::unwrap_used)]

use xtask::{Repo, tidy};

#[test]
fn this_repository_is_tidy() {
    let report = tidy(&Repo::here().unwrap());
    let findings: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
    assert!(report.notes.iter().any(|note| note.starts_with("verifier's tree: ")));
}

/// What one rule finds, as `file:line`.
fn found(rule: &str, files: &[(&str, &str)]) -> Vec<String> {
    of(rule, &Repo::of(files))
}

fn of(rule: &str, repo: &Repo) -> Vec<String> {
    let findings = tidy(repo).findings.into_iter().filter(|finding| finding.rule == rule);
    findings.map(|finding| format!("{}:{}", finding.file, finding.line)).collect()
}

fn sees(rule: &str, file: &str, line: usize, text: &str) {
    let want = format!("{file}:{line}");
    let found = found(rule, &[(file, text)]);
    assert!(found.contains(&want), "{rule} does not see {want} in {text:?}: {found:?}");
}

fn passes(rule: &str, file: &str, text: &str) {
    let found = found(rule, &[(file, text)]);
    assert!(!found.iter().any(|place| place.starts_with(file)), "{rule} on {text:?}: {found:?}");
}

const DENY: &str =
    "#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::float_arithmetic)]\n";

#[test]
fn purity() {
    sees("pure-crates", "crates/canon/src/lib.rs", 1, "//! Docs.\nmod a;\n");
    sees("pure-crates", "crates/canon/src/lib.rs", 1, &format!("mod a;\n{DENY}"));
    sees("pure-crates", "crates/canon/src/a.rs", 1, "#[allow(clippy::disallowed_types)]\nfn f() {}\n");
    passes("pure-crates", "crates/canon/src/lib.rs", &format!("//! Docs.\n{DENY}mod a;\n"));
    sees("purity-list", "clippy.toml", 0, "disallowed-methods = [\"std::env::var\"]\n");
}

#[test]
fn layers() {
    let manifest = |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\n{rest}");
    for (name, rest) in [
        ("canon", "[dependencies]\nledger = { workspace = true }\n"),
        ("ledger", "[target.'cfg(unix)'.dependencies]\ndesk = \"1\"\n"),
        ("verdict", "[dependencies]\nrenamed = { package = \"desk\", version = \"1\" }\n"),
        ("desk", "[dependencies]\nvectors = { workspace = true }\n"),
        ("newcomer", ""),
    ] {
        sees("edges", &format!("crates/{name}/Cargo.toml"), 0, &manifest(name, rest));
    }
    let dev = manifest("desk", "[dev-dependencies]\nvectors = { workspace = true }\n");
    passes("edges", "crates/desk/Cargo.toml", &dev);
    sees("crate-names", "crates/a/Cargo.toml", 0, &manifest("desk-utils", ""));
    sees("verifier-source", "crates/touchstone/src/verify/mod.rs", 2, "\nuse desk::run;\n");
    passes("verifier-source", "crates/touchstone/src/verify/mod.rs", "// not desk::run\n");
    assert_eq!(found("verifier-source", &[("a.rs", "")]), ["crates/touchstone/src/verify:0"]);
    sees("release-profile", "Cargo.toml", 0, "[profile.release]\noverflow-checks = true\n");
}

#[test]
fn faults_of_tests() {
    let file = "crates/room/Cargo.toml";
    let target =
        "[package]\nname = \"room\"\n[[test]]\nname = \"faults\"\nrequired-features = [\"faults\"]\n";
    let ci = |line: &str| found("feature-tests", &[(file, target), (".ci/run", line)]);
    assert_eq!(ci("cargo test\n"), [format!("{file}:0")]);
    assert_eq!(ci("cargo test --locked -p room --features faults --test faults\n"), [""; 0]);
    sees(
        "planted-faults",
        file,
        0,
        "[package]\nname = \"room\"\n[dependencies]\na = { features = [\"faults\"] }\n",
    );
    passes("planted-faults", file, "[package]\nname = \"room\"\n[features]\nfaults = [\"a/faults\"]\n");
    let literal = "fn f() -> u64 {\n    17\n}\n";
    sees("room-literals", "crates/room/src/step/a.rs", 2, literal);
    passes("room-literals", "crates/room/src/faults/cases.rs", literal);
}

#[test]
fn verifier_tree() {
    let lock = "[[package]]\nname = \"ledger\"\ndependencies = [\"sha2\"]\n[[package]]\nname = \"sha2\"\n";
    let files = [
        ("Cargo.lock", lock),
        ("crates/ledger/Cargo.toml", "[package]\nname = \"ledger\"\n[dependencies]\nsha2 = \"1\"\n"),
    ];
    assert_eq!(of("verifier-tree", &Repo::of(&files).with_verifier_tree(&["ledger", "sha2"])), [""; 0]);
    assert_eq!(of("verifier-tree", &Repo::of(&files)).len(), 1, "not measured is not passed");
    let many: Vec<String> = (0..60).map(|number| format!("crate{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(of("verifier-tree", &Repo::of(&files).with_verifier_tree(&many)).len(), 1);
    assert_eq!(of("verifier-tree", &Repo::of(&files).with_verifier_tree(&["hyper"])).len(), 1);
    let behind = lock.replace("name = \"sha2\"", "name = \"sha2\"\ndependencies = [\"curl 0.4\"]");
    let files = [("Cargo.lock", behind.as_str()), files[1]];
    assert_eq!(of("verifier-tree", &Repo::of(&files).with_verifier_tree(&["sha2"])).len(), 1);
}

#[test]
fn code() {
    sees("one-writer", "crates/desk/src/a.rs", 1, "use sha2::Sha256;\n");
    sees("one-writer", "crates/ledger/src/other.rs", 1, "use ed25519_dalek::Signer;\n");
    sees("one-writer", "crates/desk/Cargo.toml", 2, "[dependencies]\nsha2 = { workspace = true }\n");
    passes("one-writer", "crates/canon/src/digest.rs", "use sha2::Sha256;\n");
    passes("one-writer", "crates/desk/src/a.rs", "// sha2::\nlet a = \"sha2::\";\n");
    sees("unsafe", "crates/desk/src/a.rs", 2, "\nunsafe { f() }\n");
    passes("unsafe", "crates/desk/src/a.rs", "#![forbid(unsafe_code)] // unsafe\n");
    for line in [
        "todo!()",
        "unimplemented!(\"x\")",
        "dbg!(x)",
        "#[ignore]",
        "#[allow(dead_code)]",
        "// TODO later",
        "/// FIXME",
        "// TODO(): x",
    ] {
        sees("unfinished", "crates/desk/src/a.rs", 2, &format!("\n{line}\n"));
    }
    for line in [
        "\"todo!()\"",
        "// todo!()",
        "#[ignore = \"why\"]",
        "// TODO(ann): until 1.2",
        "// what # TODO means",
    ] {
        passes("unfinished", "crates/desk/src/a.rs", line);
    }
}

#[test]
fn room_literals() {
    let room = "crates/room/src/a.rs";
    for line in ["let a = 60;", "f(x, 3)", "0..30", "1_000_000_i64", "0x9E", "tick % 10u64", "[5; 3]"] {
        sees("room-literals", room, 2, &format!("\n{line}\n"));
    }
    for line in [
        "let a = [0_i64; 24];",
        "x.3 + pair.0.7",
        "u64::MAX - 1_i64 + 2usize",
        "// 60 ticks, \"60\"",
        "let a = \"60\";",
        "P12 + i64::from(u32)",
        "#[cfg(test)]\nmod tests {\n    f(60)\n}",
    ] {
        passes("room-literals", room, line);
    }
    passes("room-literals", "crates/room/src/a/tests.rs", "f(60)\n");
    passes("room-literals", "crates/desk/src/a.rs", "f(60)\n");
    let listed =
        |text: &str| found("room-literals", &[(room, "f(60, 60);\n"), ("xtask/room_literals.txt", text)]);
    assert_eq!(listed("# why\n\ncrates/room/src/a.rs 60 because\n"), [""; 0]);
    assert_eq!(listed("crates/room/src/a.rs 60\n").len(), 3, "a reason is needed");
    assert_eq!(
        listed("crates/room/src/a.rs 60 because\ncrates/room/src/a.rs 61 no\n"),
        ["xtask/room_literals.txt:2"]
    );
}

#[test]
fn size() {
    let long = "\n".repeat(601);
    sees("size", "crates/a/src/a.rs", 0, &long);
    let function = format!("fn f() {{\n{}}}\n", "x();\n".repeat(80));
    sees("size", "crates/a/src/a.rs", 1, &function);
    let exceptions =
        |text: &str| found("size", &[("crates/a/src/a.rs", &function), ("xtask/size_exceptions.txt", text)]);
    assert_eq!(exceptions("fn crates/a/src/a.rs::f 82\n"), [""; 0]);
    assert_eq!(exceptions("fn crates/a/src/a.rs::f 81\n"), ["crates/a/src/a.rs:1"]);
    assert_eq!(exceptions("fn crates/a/src/a.rs::f 83\n"), ["xtask/size_exceptions.txt:1"]);
    assert_eq!(exceptions("fn crates/a/src/a.rs::f 82\nfn gone 90\n"), ["xtask/size_exceptions.txt:2"]);
}

#[test]
fn dependencies() {
    let manifest = (
        "crates/desk/Cargo.toml",
        "[package]\nname = \"desk\"\n[dev-dependencies]\nglob = \"1\"\ncanon = \"1\"\n",
    );
    let rows = |text: &str| found("dependencies", &[manifest, ("ARCHITECTURE.md", text)]);
    assert_eq!(found("dependencies", &[manifest]), ["ARCHITECTURE.md:0"]);
    assert_eq!(rows("## Dependencies\n| name | why |\n|---|---|\n| `glob` | patterns |\n"), [""; 0]);
    assert_eq!(rows("## Dependencies\n| `glob` | |\n"), ["ARCHITECTURE.md:2"]);
    assert_eq!(rows("## Other\n| `glob` | patterns |\n"), ["crates/desk/Cargo.toml:0"]);
    assert_eq!(rows("## Dependencies\n| glob | a |\n| rest | b |\n"), ["ARCHITECTURE.md:3"]);
}

#[test]
fn words_and_links() {
    sees("machine-paths", "docs/a.md", 1, "see /work/here\n");
    sees("machine-paths", "a.rs", 1, "let a = \"/root/here\";\n");
    passes("machine-paths", "docs/a.md", "$HOME/work/ and src/root/x\n");
    sees("banned-words", "docs/a.md", 1, "It is a trust\nlayer, but\na tamper-proof one.\n");
    sees("banned-words", "a.rs", 1, "/// An enforcement layer.\n");
    passes("banned-words", "docs/a.md", "We never say\ntamper-proof.\n");
    sees("banned-words", "docs/a.md", 1, "We never do. It is tamper-proof.\n");
    sees("links", "docs/a.md", 1, "[b](b.md)\n");
    sees("links", "docs/a.md", 2, "\n[b]: ../../b.md\n");
    let linked = [
        ("docs/a.md", "[a](#x) [b](../b.md#y) [c](sub/) [d](https://d) `[e](e)`\n"),
        ("b.md", ""),
        ("docs/sub/c", ""),
    ];
    assert_eq!(found("links", &linked), [""; 0]);
}

#[test]
fn ids() {
    let all: String = (1..=75).map(|number| format!("// PC-{number:02}\n")).collect();
    let unknown = found("trouble-ids", &[("crates/a/tests/a.rs", &all)]);
    assert_eq!(unknown.len(), 75 - 55, "{unknown:?}");
    assert!(unknown.contains(&"crates/a/tests/a.rs:4".to_owned()));
    let due = |files: &[(&str, &str)]| {
        found("trouble-ids", files).iter().filter(|place| place.starts_with("xtask/src")).count()
    };
    assert_eq!(due(&[("a.rs", "// PC-01 in no test\n")]), 55);
    assert_eq!(due(&[("a.rs", "fn x() {}\n#[cfg(test)]\nmod tests {\n    fn pc_01_it_ends() {}\n}\n")]), 54);
    assert_eq!(due(&[("xtask/not_done.txt", "PC-01 nobody has time for it\n")]), 54);
    let both =
        [("crates/a/tests/a.rs", "// PC-01\n"), ("xtask/not_done.txt", "PC-01 nobody has time for it\n")];
    assert!(found("trouble-ids", &both).contains(&"xtask/not_done.txt:1".to_owned()));
    sees("ruling-numbers", "a.rs", 1, "// ruling 28\n");
    sees("ruling-numbers", "a.rs", 1, "// (rulings 7 and 99)\n");
    passes("ruling-numbers", "a.rs", "// rulings 16 and 17, ruling 27\n");
}

#[test]
fn every_code_is_provoked() {
    let registry = (
        "crates/verdict/reasons.toml",
        "[a.one]\nmeaning = 'x'\n[a.two]\nmeaning = 'x'\n[a.three]\nmeaning = 'x'\n",
    );
    let table =
        ("crates/a/src/lib.rs", "canon::codes! {\n    pub enum Fault {\n        Two = \"two\",\n    }\n}\n");
    let tests =
        ("crates/a/tests/it.rs", "fn one() { assert_eq!(code, \"one\"); assert!(fault == Fault::Two); }\n");
    let list = |text: &'static str| ("xtask/not_provoked.txt", text);
    assert_eq!(
        found("codes-provoked", &[registry, table, tests]),
        ["crates/verdict/reasons.toml:0"],
        "three"
    );
    assert!(
        found(
            "codes-provoked",
            &[registry, table, tests, list("three cannot be had without a kernel fault\n")]
        )
        .is_empty()
    );
    let example = ("crates/a/tests/cases/three.json", "{}");
    assert!(found("codes-provoked", &[registry, table, tests, example]).is_empty());
    let stale = found(
        "codes-provoked",
        &[registry, table, tests, example, list("three cannot be had without a kernel fault\n")],
    );
    assert_eq!(stale, ["xtask/not_provoked.txt:1"]);
    let unknown = found(
        "codes-provoked",
        &[registry, table, tests, example, list("four is no code of the registry\n")],
    );
    assert_eq!(unknown, ["xtask/not_provoked.txt:1"]);
    let compares = ("crates/touchstone/tests/registry.rs", "fn three() {}");
    assert_eq!(
        found("codes-provoked", &[registry, table, tests, compares]).len(),
        1,
        "naming all is provoking none"
    );
}

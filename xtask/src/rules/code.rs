//! What may stand in a source file, and in which.

use super::is_rule;
use crate::source::has_word;
use crate::{Out, Repo};

/// A name, and the places that may use it.
const WRITERS: [(&str, &str); 2] =
    [("sha2::", "crates/canon/src/"), ("ed25519_dalek", "crates/ledger/src/identity.rs")];

/// The same for manifests: the crate that may depend on it.
const WRITER_CRATES: [(&str, &str); 2] =
    [("sha2", "crates/canon/Cargo.toml"), ("ed25519-dalek", "crates/ledger/Cargo.toml")];

/// Files that may be unsafe, and why.
const UNSAFE: [(&str, &str); 6] = [
    ("crates/check/adapters/call.rs", "takes the descriptor that the desk opened, in a candidate's program"),
    ("crates/desk/src/sandbox/sys.rs", "the system calls that no safe crate wraps"),
    ("crates/desk/tests/python_suites/plain.rs", "passes descriptors to a child in a test"),
    (
        "crates/touchstone/benches/desk/measure.rs",
        "waits for a child with its memory and processor time, which the standard library does not give",
    ),
    (
        "crates/touchstone/tests/it/verify.rs",
        "starts the verifier under a seccomp filter that knows no socket",
    ),
    ("examples/machines/src/lib.rs", "gives two functions names that a WebAssembly host finds"),
];

/// (d) One writer for bytes that are hashed or signed.
pub(super) fn one_writer(repo: &Repo, out: &mut Out<'_>) {
    for (path, source) in repo.rust() {
        for (number, line) in source.code_lines() {
            for (name, home) in WRITERS {
                if line.contains(name) && !path.starts_with(home) {
                    out.find(
                        path,
                        number,
                        format!("{name} is used in {home} only: ask that for the digest or signature"),
                    );
                }
            }
        }
    }
    for (path, source) in repo.ending("/Cargo.toml") {
        for (number, line) in source.lines() {
            for (name, home) in WRITER_CRATES {
                let depends =
                    line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['=', '.']));
                if depends && path != home {
                    out.find(path, number, format!("{name} is a dependency of {home} only"));
                }
            }
        }
    }
}

/// (e) `unsafe` in the files of the table, and in each of them.
pub(super) fn unsafe_files(repo: &Repo, out: &mut Out<'_>) {
    let known = |path: &str| UNSAFE.iter().any(|(file, _)| *file == path);
    for (path, source) in repo.rust().filter(|(path, _)| !known(path)) {
        for (number, _) in source.code_lines().filter(|(_, line)| has_word(line, "unsafe")) {
            out.find(path, number, "unsafe is confined to the files of a table in xtask/src/rules/code.rs");
        }
    }
    for (file, why) in UNSAFE {
        let found = repo.files().find(|(path, _)| *path == file);
        if !found.is_some_and(|(_, source)| has_word(&source.code, "unsafe")) {
            out.find(
                file,
                0,
                format!("is in the table of unsafe files ({why}) and has none: shrink the table"),
            );
        }
    }
}

/// (f) Nothing unfinished, and nothing switched off without a reason.
pub(super) fn unfinished(repo: &Repo, out: &mut Out<'_>) {
    for (path, source) in repo.rust().filter(|(path, _)| !is_rule(path)) {
        for (number, line) in source.code_lines() {
            for name in ["todo!", "unimplemented!", "dbg!"] {
                if calls(line, name) {
                    out.find(path, number, format!("{name} stands in for work that is not done"));
                }
            }
            let bare: String = line.chars().filter(|ch| !ch.is_whitespace()).collect();
            if bare.contains("#[ignore]") {
                out.find(path, number, "a test is ignored with a reason: #[ignore = \"why\"]");
            }
            if bare.contains("allow(") && has_word(line, "dead_code") {
                out.find(path, number, "dead code is removed, not allowed");
            }
        }
        for (number, line) in source.comment_lines() {
            let said = line.trim().trim_start_matches(['/', '*', '!', ' ']);
            let marked = ["TODO", "FIXME", "XXX"].iter().find_map(|mark| said.strip_prefix(mark));
            if marked.is_some_and(|rest| !owned(rest)) {
                out.find(path, number, "a TODO has an owner and an end: TODO(name): until when");
            }
        }
    }
}

/// `name!` as a call and not the end of a longer name.
fn calls(line: &str, name: &str) -> bool {
    line.match_indices(name)
        .any(|(at, _)| !line[..at].chars().next_back().is_some_and(crate::source::is_word))
}

fn owned(rest: &str) -> bool {
    let owner = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    owner.is_some_and(|(owner, rest)| {
        !owner.trim().is_empty() && rest.trim_start_matches(':').trim().len() > 3
    })
}

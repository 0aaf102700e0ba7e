//! Words and links.

use super::is_rule;
use crate::source::Source;
use crate::{Out, Repo};

/// Folders of the machines that this is built on.
const MACHINE: [&str; 2] = ["/work/", "/root/"];

/// It is a receiving desk, and it is tamper-evident.
const BANNED: [&str; 3] = ["trust layer", "enforcement layer", "tamper-proof"];

/// (j) No path of the machine on which somebody worked.
pub(super) fn machine_paths(repo: &Repo, out: &mut Out<'_>) {
    for (path, source) in repo.files().filter(|(path, _)| !is_rule(path)) {
        for (number, line) in source.lines() {
            for folder in MACHINE {
                // `a/work/b` is a relative path, `$X/work/` one of somebody's own.
                let absolute = |at: usize| {
                    let before = line[..at].chars().next_back();
                    !before.is_some_and(|ch| ch.is_alphanumeric() || "_-.$}~)*".contains(ch))
                };
                if line.match_indices(folder).any(|(at, _)| absolute(at)) {
                    out.find(path, number, format!("{folder} is a folder of one machine"));
                }
            }
        }
    }
}

/// (k) Words that promise what is not kept, but in a sentence that says never.
pub(super) fn banned_words(repo: &Repo, out: &mut Out<'_>) {
    for (path, source) in repo.files().filter(|(path, _)| !is_rule(path)) {
        let text = match path.rsplit('.').next() {
            Some("md") => &source.text,
            Some("rs") => &source.comments,
            _ => continue,
        };
        for (number, sentence) in sentences(text) {
            let lower = sentence.to_lowercase();
            for word in BANNED.iter().filter(|word| lower.contains(**word) && !lower.contains("never")) {
                out.find(
                    path,
                    number,
                    format!("\"{word}\": it is a receiving desk, and it is tamper-evident"),
                );
            }
        }
    }
}

/// Sentences with the line on which each begins; a paragraph is joined before it is split.
fn sentences(text: &str) -> Vec<(usize, String)> {
    let mut sentences: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim().trim_start_matches(['/', '!', '>', '*']).trim();
        // A cell of a table is a text of its own.
        if line.is_empty() || line.starts_with('|') {
            open = false;
        }
        for (index, part) in line.split_inclusive(". ").enumerate() {
            match sentences.last_mut().filter(|_| open && index == 0) {
                Some((_, sentence)) => {
                    sentence.push(' ');
                    sentence.push_str(part);
                }
                None => sentences.push((number, part.to_owned())),
            }
            open = true;
        }
        if line.is_empty() || line.ends_with('.') || line.starts_with('|') {
            open = false;
        }
    }
    sentences
}

/// (m) Relative links of tracked Markdown lead to tracked files.
pub(super) fn links(repo: &Repo, out: &mut Out<'_>) {
    for (path, source) in repo.ending(".md") {
        let folder = path.rfind('/').map_or("", |slash| &path[..slash]);
        for (number, target) in targets(source) {
            let file = target.split('#').next().unwrap_or_default();
            let elsewhere = file.contains("://") || file.starts_with("mailto:");
            if !elsewhere && !file.is_empty() && !joined(folder, file).is_some_and(|file| repo.knows(&file)) {
                out.find(path, number, format!("the link to {target} leads nowhere"));
            }
        }
    }
}

/// Targets of `[text](target)` and `[name]: target`, outside of code.
fn targets(source: &Source) -> Vec<(usize, String)> {
    let mut targets = Vec::new();
    let mut fenced = false;
    for (number, line) in source.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // Every second piece between back quotes is code.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for (at, mark) in prose.match_indices("](") {
            let target: String =
                prose[at + mark.len()..].chars().take_while(|ch| !") ".contains(*ch)).collect();
            targets.push((number, target.trim_matches(['<', '>']).to_owned()));
        }
        if let Some((_, target)) = prose.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
            targets.push((number, target.split(' ').next().unwrap_or_default().to_owned()));
        }
    }
    targets
}

/// A relative path from a folder, without `.` and `..`; nothing when it leaves the repository.
fn joined(folder: &str, file: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

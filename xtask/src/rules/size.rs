//! (h) Files that fit a head, functions mostly short: red zones with a ratchet, not cliffs.

use crate::{Out, Repo};
use std::collections::BTreeMap;

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 80;
const LISTED: usize = 10;

/// `file PATH LINES` and `fn PATH::NAME LINES`: what is longer, and how long it may be. Lines only go down.
const EXCEPTIONS: &str = "xtask/size_exceptions.txt";

/// Prints the ten largest of each and holds the rest to the limits.
pub(super) fn size(repo: &Repo, out: &mut Out<'_>) {
    let (mut files, mut functions) = (BTreeMap::new(), BTreeMap::new());
    for (path, source) in repo.files().filter(|(path, _)| path.ends_with(".rs") || path.ends_with(".py")) {
        files.insert(path.to_owned(), (source.lines().count(), 0));
        for function in source.functions() {
            let key = format!("{path}::{}", function.name);
            let size = functions.entry(key).or_insert((0, 0));
            *size = (*size).max((function.lines, function.line));
        }
    }
    let mut allowed = exceptions(repo, out);
    for (kind, sizes, max) in [("file", &files, FILE_LINES_MAX), ("fn", &functions, FUNCTION_LINES_MAX)] {
        list(kind, sizes, out);
        for (name, (lines, line)) in sizes {
            let exception = allowed.remove(&format!("{kind} {name}"));
            let file = name.split("::").next().unwrap_or(name);
            match exception {
                None if *lines > max => {
                    out.find(file, *line, format!("{kind} {name} has {lines} lines (red zone {max})"));
                }
                Some((number, limit)) if *lines > limit => {
                    let grew = format!(
                        "{kind} {name} grew to {lines} lines; line {number} of {EXCEPTIONS} allows {limit}"
                    );
                    out.find(file, *line, grew);
                }
                Some((number, limit)) if *lines < limit => {
                    let now =
                        if *lines > max { format!("write {lines}") } else { "remove the line".to_owned() };
                    out.find(
                        EXCEPTIONS,
                        number,
                        format!("{kind} {name} has {lines} lines, not {limit}: {now}"),
                    );
                }
                _ => {}
            }
        }
    }
    for (name, (number, _)) in allowed {
        out.find(EXCEPTIONS, number, format!("{name} does not exist: remove the line"));
    }
}

fn exceptions(repo: &Repo, out: &mut Out<'_>) -> BTreeMap<String, (usize, usize)> {
    let mut allowed = BTreeMap::new();
    for (line, number) in repo.text(EXCEPTIONS).unwrap_or_default().lines().zip(1..) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.rsplit_once(' ').map(|(name, lines)| (name, lines.parse())) {
            Some((name, Ok(lines))) => drop(allowed.insert(name.to_owned(), (number, lines))),
            _ => out.find(EXCEPTIONS, number, "is not `file PATH LINES` or `fn PATH::NAME LINES`"),
        }
    }
    allowed
}

fn list(kind: &str, sizes: &BTreeMap<String, (usize, usize)>, out: &mut Out<'_>) {
    let mut largest: Vec<_> = sizes.iter().map(|(name, (lines, _))| (*lines, name)).collect();
    largest.sort_by(|a, b| b.cmp(a));
    for (lines, name) in largest.into_iter().take(LISTED) {
        out.note(format!("largest {kind}: {lines:>5} {name}"));
    }
}

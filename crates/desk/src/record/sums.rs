//! `SHA256SUMS`, read to the letter (PC-67): a line that is almost right is a problem with its number and cause, never
//! a file fewer.

use super::problem::{Cause, Problem};
use super::tree::file_name;
use super::{PRIVATE_KEY, SUMS};
use canon::Digest;
use std::collections::{BTreeMap, BTreeSet};

/// What the lines say.
#[derive(Default)]
pub(super) struct Sums {
    /// Paths with their digest and line, from lines that are right.
    pub(super) listed: BTreeMap<String, (Digest, usize)>,
    /// Paths that a faulty line seems to mean: not checked, and not reported a second time as unlisted.
    pub(super) meant: BTreeSet<String>,
    /// The faulty lines.
    pub(super) problems: Vec<Problem>,
}

/// Reads the file.
pub(super) fn read(file: &[u8]) -> Sums {
    let mut sums = Sums::default();
    for line in ledger::logbook::lines(file) {
        match parse(line.bytes, line.ended) {
            Ok((digest, path)) => sums.take(digest, path, line.number),
            Err((cause, meant)) => {
                let shown = canon::shown(line.bytes);
                sums.problems.push(Problem::new(cause, SUMS).at(line.number).with(shown));
                sums.meant.extend(meant);
            }
        }
    }
    sums
}

impl Sums {
    fn take(&mut self, digest: Digest, path: &str, line: usize) {
        let cause = if file_name(path) == PRIVATE_KEY {
            Cause::KeyListed
        } else if path == SUMS {
            Cause::SumsListsItself
        } else if self.listed.contains_key(path) {
            Cause::SumsDuplicate
        } else {
            self.listed.insert(path.to_owned(), (digest, line));
            return;
        };
        self.problems.push(Problem::new(cause, SUMS).at(line).with(canon::shown(path.as_bytes())));
    }
}

/// Digest and path of a line that is exactly `<64 hex><blank><blank><path>`, or the first cause against it and the
/// path that it seems to mean.
fn parse(line: &[u8], ended: bool) -> Result<(Digest, &str), (Cause, Option<String>)> {
    let meant = meant(line);
    let fault = |cause| Err((cause, meant.clone()));
    if line.is_empty() {
        return fault(Cause::SumsBlankLine);
    }
    if line.ends_with(b"\r") {
        return fault(Cause::SumsCrLf);
    }
    if line.ends_with(b" ") || line.ends_with(b"\t") {
        return fault(Cause::SumsTrailingBlank);
    }
    let hex = line.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    let (hex, rest) = line.split_at(hex);
    let Some(digest) = std::str::from_utf8(hex).ok().and_then(|hex| Digest::parse(hex).ok()) else {
        return fault(Cause::SumsDigest);
    };
    let Some(path) = rest.strip_prefix(b"  ").filter(|path| !path.starts_with(b" ")) else {
        return fault(Cause::SumsSeparator);
    };
    let Ok(path) = std::str::from_utf8(path) else { return fault(Cause::SumsPathSpelling) };
    if let Some(cause) = path_fault(path) {
        return fault(cause);
    }
    if !ended {
        return fault(Cause::SumsTorn);
    }
    Ok((digest, path))
}

fn path_fault(path: &str) -> Option<Cause> {
    if path.starts_with('/') {
        Some(Cause::SumsPathAbsolute)
    } else if path.split('/').any(|part| part == "..") {
        Some(Cause::SumsPathLeaves)
    } else if path.split('/').any(|part| part.is_empty() || part == ".") || path.chars().any(char::is_control)
    {
        Some(Cause::SumsPathSpelling)
    } else {
        None
    }
}

/// What the writer of a faulty line had in mind; only used to keep one fault from being told twice.
fn meant(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let path = text.split_once([' ', '\t'])?.1.trim_start_matches([' ', '\t', '*']);
    path_fault(path).is_none().then(|| path.to_owned())
}

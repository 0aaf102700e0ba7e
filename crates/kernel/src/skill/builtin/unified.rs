//! Unified diffs: writing one and reading any.

use super::myers::Edit;
use crate::skill::{Failed, Fault};
use std::fmt::Write as _;

/// What a line of a hunk says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It stands in both texts.
    Keep,
    /// It is removed.
    Remove,
    /// It is added.
    Add,
}

/// A line of a hunk.
pub(super) struct Line<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// False when it is the last of its text and has no line end.
    pub(super) ended: bool,
}

/// A range of lines: the first, from 1, and how many.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) start: usize,
    pub(super) count: usize,
}

/// Neighbouring changes with their context.
pub(super) struct Hunk<'a> {
    pub(super) old: Range,
    pub(super) new: Range,
    pub(super) lines: Vec<Line<'a>>,
}

/// The changes of one file; the names are empty when the patch has none.
pub(super) struct File<'a> {
    pub(super) new_name: &'a str,
    pub(super) old_name: &'a str,
    pub(super) hunks: Vec<Hunk<'a>>,
}

/// Writes the edits; nothing at all when there is no change.
pub(super) fn write(before: &[&str], after: &[&str], edits: &[Edit], name: &str, context: usize) -> String {
    let changes: Vec<usize> = (0..edits.len()).filter(|index| edits[*index] != Edit::Keep).collect();
    let mut out = String::new();
    let (mut index, mut old, mut new) = (0, 0, 0);
    for group in changes.chunk_by(|a, b| b - a <= 2 * context + 1) {
        let first = group[0].saturating_sub(context);
        let end = edits.len().min(group[group.len() - 1] + context + 1);
        // Between two hunks every line is kept.
        (old, new) = (old + first - index, new + first - index);
        let count = |other: Edit| edits[first..end].iter().filter(|edit| **edit != other).count();
        let (removed, added) = (count(Edit::Add), count(Edit::Remove));
        if out.is_empty() {
            let _ = writeln!(out, "--- a/{name}\n+++ b/{name}");
        }
        let _ = writeln!(out, "@@ -{} +{} @@", range(old, removed), range(new, added));
        for edit in &edits[first..end] {
            let (sign, line) = match edit {
                Edit::Keep => (' ', before[old]),
                Edit::Remove => ('-', before[old]),
                Edit::Add => ('+', after[new]),
            };
            old += usize::from(*edit != Edit::Add);
            new += usize::from(*edit != Edit::Remove);
            let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
            let _ = write!(out, "{sign}{line}{end}");
        }
        index = end;
    }
    out
}

/// A range whose first line has this index; an empty one names the line before it.
fn range(index: usize, count: usize) -> String {
    match count {
        0 => format!("{index},0"),
        1 => format!("{}", index + 1),
        _ => format!("{},{count}", index + 1),
    }
}

fn refused(line: usize, why: &str) -> Failed {
    Failed::new(Fault::NotPatch, format!("line {line}: {why}"))
}

/// Reads a patch of any number of files. Lines outside hunks that no diff has are taken for remarks, as tools do.
pub(super) fn read(text: &str) -> Result<Vec<File<'_>>, Failed> {
    let lines: Vec<&str> =
        text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line)).collect();
    let mut files: Vec<File<'_>> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let next = lines.get(at + 1).and_then(|next| next.strip_prefix("+++ "));
        if let (Some(old_name), Some(new_name)) = (line.strip_prefix("--- "), next) {
            files.push(File { old_name: name(old_name), new_name: name(new_name), hunks: Vec::new() });
            at += 2;
        } else if line.starts_with("@@ ") {
            let hunk = hunk(&lines, &mut at)?;
            match files.last_mut() {
                Some(file) => file.hunks.push(hunk),
                None => files.push(File { old_name: "", new_name: "", hunks: vec![hunk] }),
            }
        } else if line.starts_with(['+', '-', ' '])
            && *line != "-- "
            && files.iter().any(|file| !file.hunks.is_empty())
        {
            return Err(refused(at + 1, "the hunk has more lines than its header says"));
        } else {
            at += 1;
        }
    }
    if files.iter().all(|file| file.hunks.is_empty()) && !text.trim().is_empty() {
        return Err(Failed::new(Fault::NotPatch, "there is no hunk"));
    }
    Ok(files)
}

/// A name of a header, without the time that some tools put behind a tab.
fn name(text: &str) -> &str {
    text.split('\t').next().unwrap_or(text).trim_end()
}

/// Reads the hunk whose header stands at `at`, and moves behind it.
fn hunk<'a>(lines: &[&'a str], at: &mut usize) -> Result<Hunk<'a>, Failed> {
    let header = *at + 1;
    let (old, new) = ranges(lines[*at]).ok_or_else(|| refused(header, "no header of a hunk"))?;
    *at += 1;
    let mut hunk = Hunk { old, new, lines: Vec::new() };
    let (mut old, mut new) = (old.count, new.count);
    while old > 0 || new > 0 {
        let line =
            lines.get(*at).ok_or_else(|| refused(header, "the hunk has fewer lines than its header says"))?;
        let kind = match line.as_bytes().first() {
            Some(b' ') if old > 0 && new > 0 => Kind::Keep,
            Some(b'-') if old > 0 => Kind::Remove,
            Some(b'+') if new > 0 => Kind::Add,
            _ => return Err(refused(*at + 1, "no line of this hunk")),
        };
        old -= usize::from(kind != Kind::Add);
        new -= usize::from(kind != Kind::Remove);
        *at += 1;
        let ended = !lines.get(*at).is_some_and(|next| next.starts_with('\\'));
        *at += usize::from(!ended);
        hunk.lines.push(Line { kind, text: &line[1..], ended });
    }
    Ok(hunk)
}

/// The two ranges of `@@ -1,2 +3,4 @@`.
fn ranges(header: &str) -> Option<(Range, Range)> {
    let (ranges, _) = header.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        let range = Range { start: start.parse().ok()?, count: count.parse().ok()? };
        // Line 0 exists only as the place before an empty range.
        (range.start > 0 || range.count == 0).then_some(range)
    };
    Some((range(old)?, range(new)?))
}

//! (n) Numbers of the room are keys of its profile (room contract RC-LNT-02): the code spells none of its own.

use super::ids::tests_of;
use crate::source::{Source, is_word};
use crate::{Out, Repo};
use std::collections::BTreeMap;

const ROOM: &str = "crates/room/src/";
/// Planted faults and the runs that show them: material of tests, which no room has without its feature.
const PLANTED: &str = "crates/room/src/faults/";
/// Nothing, one and a pair are words of the language, not quantities of the room.
const WORDS: [&str; 3] = ["0", "1", "2"];
/// `PATH LITERAL WHY`, one a line: what is a format, a hash constant or a size of the machine. Lines only go.
const ALLOWED: &str = "xtask/room_literals.txt";

/// An integer literal in the logic of the room is a finding, unless it is in the list or the length of an array.
pub(super) fn room_literals(repo: &Repo, out: &mut Out<'_>) {
    let mut allowed = allowed(repo, out);
    for (path, source) in repo.rust().filter(|(path, _)| path.starts_with(ROOM) && !path.starts_with(PLANTED))
    {
        for (number, literal) in literals(path, source) {
            match allowed.get_mut(&(path.to_owned(), literal.clone())) {
                Some((_, used)) => *used = true,
                None => out.find(path, number, format!("{literal} should be a key of the profile")),
            }
        }
    }
    let listed = allowed.len();
    for ((path, literal), (line, used)) in allowed {
        if !used {
            out.find(ALLOWED, line, format!("{path} does not spell {literal} any more: remove the line"));
        }
    }
    out.note(format!("room literals: {listed} allowed"));
}

type Allowed = BTreeMap<(String, String), (usize, bool)>;

fn allowed(repo: &Repo, out: &mut Out<'_>) -> Allowed {
    let mut allowed = Allowed::new();
    for (line, number) in repo.text(ALLOWED).unwrap_or_default().lines().zip(1..) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.splitn(3, ' ').collect::<Vec<_>>()[..] {
            [path, literal, why] if !why.trim().is_empty() => {
                allowed.insert((path.to_owned(), literal.to_owned()), (number, false));
            }
            _ => out.find(ALLOWED, number, "is not `PATH LITERAL WHY`"),
        }
    }
    allowed
}

/// Line and text of each literal before the tests of a file.
fn literals(path: &str, source: &Source) -> Vec<(usize, String)> {
    let tests = tests_of(path, source);
    let logic = source.text[..source.text.len() - tests.len()].matches('\n').count();
    let whole = if tests.is_empty() { usize::MAX } else { logic };
    let lines = source.code_lines().take_while(|(number, _)| *number <= whole);
    lines.flat_map(|(number, line)| in_line(line).into_iter().map(move |literal| (number, literal))).collect()
}

fn in_line(line: &str) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let length = chars[at..].iter().take_while(|ch| is_word(**ch)).count();
        let word: String = chars[at..at + length].iter().collect();
        if word.starts_with(|ch: char| ch.is_ascii_digit()) && !is_field(&chars[..at]) {
            let value = value(&word);
            if !WORDS.contains(&value.as_str()) && !is_length(&chars, at, length) {
                found.push(value);
            }
        }
        at += length.max(1);
    }
    found
}

/// `pair.0`: the number after a single dot is a name.
fn is_field(before: &[char]) -> bool {
    matches!(before, [.., owner, '.'] if *owner != '.')
}

/// `[T; N]`.
fn is_length(chars: &[char], at: usize, length: usize) -> bool {
    let before = chars[..at].iter().rev().find(|ch| **ch != ' ');
    let after = chars[at + length..].iter().find(|ch| **ch != ' ');
    before == Some(&';') && after == Some(&']')
}

/// The digits without separators and without a type.
fn value(word: &str) -> String {
    const TYPES: [&str; 12] =
        ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];
    let digits: String = word.chars().filter(|ch| *ch != '_').collect();
    let bare = TYPES.iter().find_map(|name| digits.strip_suffix(name));
    bare.unwrap_or(&digits).to_owned()
}

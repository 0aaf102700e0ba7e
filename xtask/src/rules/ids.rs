//! (l) Ids of the specifications: each is named by a test, or is in a list that only shrinks.

use super::is_rule;
use crate::source::Source;
use crate::{Out, Repo};
use std::collections::{BTreeMap, BTreeSet};

/// Known troubles of this capability.
const DUE: [u32; 55] = [
    1, 2, 3, 5, 7, 9, 10, 11, 12, 13, 17, 18, 19, 20, 21, 22, 23, 25, 26, 27, 28, 29, 30, 32, 35, 36, 39, 40,
    42, 43, 45, 47, 48, 49, 50, 51, 52, 54, 55, 56, 57, 59, 60, 62, 63, 64, 65, 67, 69, 70, 71, 72, 73, 74,
    75,
];

/// The last ruling.
const RULINGS_MAX: u32 = 27;

/// `PC-nn why`, one a line.
const NOT_DONE: &str = "xtask/not_done.txt";

fn id(number: u32) -> String {
    format!("PC-{number:02}")
}

/// Every id of this capability is named by a test; every id that is named exists.
pub(super) fn trouble_ids(repo: &Repo, out: &mut Out<'_>) {
    let mut tested: BTreeSet<u32> = BTreeSet::new();
    for (path, source) in repo.files().filter(|(path, _)| !is_rule(path)) {
        if path.ends_with(".rs") || path.ends_with(".md") {
            for (number, line) in source.lines() {
                for named in numbers_after(line, "PC-").into_iter().filter(|named| !known(*named)) {
                    out.find(path, number, format!("{} is no known trouble", id(named)));
                }
            }
        }
        if path.ends_with(".rs") {
            let tests = tests_of(path, source);
            tested.extend(numbers_after(tests, "PC-"));
            tested.extend(numbers_after(tests, "fn pc_"));
        }
    }
    let open = not_done(repo, out);
    for number in DUE {
        match (tested.contains(&number), open.get(&number)) {
            (false, None) => {
                let sentence = format!("{} is named by no test and is not in {NOT_DONE}", id(number));
                out.find("xtask/src/rules/ids.rs", 0, sentence);
            }
            (true, Some(line)) => {
                out.find(NOT_DONE, *line, format!("{} is named by a test now: remove the line", id(number)));
            }
            _ => {}
        }
    }
    out.note(format!("known troubles: {} due, {} not done", DUE.len(), open.len()));
}

fn known(number: u32) -> bool {
    DUE.contains(&number)
}

fn not_done(repo: &Repo, out: &mut Out<'_>) -> BTreeMap<u32, usize> {
    let mut open = BTreeMap::new();
    for (line, number) in repo.text(NOT_DONE).unwrap_or_default().lines().zip(1..) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let named = numbers_after(line, "PC-");
        match line.split_once(' ') {
            Some((word, why)) if named.len() == 1 && word == id(named[0]) && why.len() > 10 => {
                if !DUE.contains(&named[0]) || open.insert(named[0], number).is_some() {
                    out.find(NOT_DONE, number, format!("{word} is not due here, or stands twice"));
                }
            }
            _ => out.find(NOT_DONE, number, "is not `PC-nn why it is not done`"),
        }
    }
    open
}

/// The part of a file that is test: all of it, or what follows the first test module.
pub(super) fn tests_of<'a>(path: &str, source: &'a Source) -> &'a str {
    let all = path.contains("/tests/") || path.ends_with("tests.rs") || path.ends_with("/fuzz.rs");
    let from = if all { Some(0) } else { source.text.find("#[cfg(test)]\nmod tests {") };
    from.map_or("", |from| &source.text[from..])
}

/// Numbers that stand directly after a mark.
fn numbers_after(text: &str, mark: &str) -> Vec<u32> {
    let number = |rest: &str| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    text.match_indices(mark).filter_map(|(at, _)| number(&text[at + mark.len()..])).collect()
}

/// A ruling that is named exists.
pub(super) fn ruling_numbers(repo: &Repo, out: &mut Out<'_>) {
    for (path, source) in repo.files().filter(|(path, _)| !is_rule(path)) {
        if !path.ends_with(".rs") && !path.ends_with(".md") {
            continue;
        }
        for (number, line) in source.lines() {
            let mut named = numbers_after(line, "ruling ");
            for (at, mark) in line.match_indices("rulings ") {
                let list = line[at + mark.len()..].split([')', '.', ';', ':']).next().unwrap_or_default();
                let list = list.split([' ', ',']).filter(|word| !["and", "to", ""].contains(word));
                named.extend(list.map_while(|word| word.parse::<u32>().ok()));
            }
            for ruling in named.into_iter().filter(|ruling| !(1..=RULINGS_MAX).contains(ruling)) {
                out.find(path, number, format!("there is no ruling {ruling}; the last one is {RULINGS_MAX}"));
            }
        }
    }
}

//! (m) Reason codes: each is provoked by a test, or stands in a list that only shrinks (V-6).

use super::ids::tests_of;
use crate::{Out, Repo};
use std::collections::{BTreeMap, BTreeSet};

const REGISTRY: &str = "crates/verdict/reasons.toml";
/// `code why`, one a line.
const NOT_PROVOKED: &str = "xtask/not_provoked.txt";
/// The test that compares lists of codes names all of them and provokes none.
const COMPARES: &str = "crates/touchstone/tests/registry.rs";

/// Every code of the registry is named by a test, as itself, as the member of its enum, or as the name of an example.
pub(super) fn provoked(repo: &Repo, out: &mut Out<'_>) {
    let Some(registry) = repo.toml(REGISTRY) else { return };
    let codes: BTreeSet<&str> = registry
        .values()
        .filter_map(toml::Value::as_table)
        .flat_map(|layer| layer.keys().map(String::as_str))
        .collect();
    let members = members(repo);
    let named = named(repo);
    let open = not_provoked(repo, &codes, out);
    for code in &codes {
        let by_member = members
            .get(*code)
            .is_some_and(|members| members.iter().any(|member| named.contains(member.as_str())));
        match (by_member || named.contains(*code), open.get(code)) {
            (false, None) => {
                out.find(REGISTRY, 0, format!("{code} is provoked by no test and is not in {NOT_PROVOKED}"));
            }
            (true, Some(line)) => {
                out.find(NOT_PROVOKED, *line, format!("{code} is provoked by a test now: remove the line"))
            }
            _ => {}
        }
    }
    out.note(format!("reason codes: {} in the registry, {} provoked by no test", codes.len(), open.len()));
}

/// `Enum::Member` by code, from the tables of codes.
fn members(repo: &Repo) -> BTreeMap<String, BTreeSet<String>> {
    let mut members: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, source) in repo.rust().filter(|(path, _)| path.contains("/src/")) {
        let mut owner = String::new();
        let code = &source.text[..source.text.len() - tests_of(path, source).len()];
        for line in code.lines().map(str::trim) {
            if let Some(name) =
                line.split("enum ").nth(1).filter(|_| line.contains("enum ") && line.ends_with('{'))
            {
                owner = word(name).to_owned();
            }
            let Some((left, code)) =
                line.split_once('"').and_then(|(left, rest)| Some((left, rest.split('"').next()?)))
            else {
                continue;
            };
            let member = match (left.trim_end().strip_suffix("=>"), left.trim_end().strip_suffix('=')) {
                (Some(pattern), _) => qualified(pattern),
                (None, Some(name)) if name.trim() == word(name) => Some(format!("{owner}::{}", name.trim())),
                _ => None,
            };
            if let Some(member) = member.filter(|_| !code.is_empty()) {
                members.entry(code.to_owned()).or_default().insert(member);
            }
        }
    }
    members
}

/// `Enum::Member` at the start of a pattern.
fn qualified(pattern: &str) -> Option<String> {
    let (owner, rest) = pattern.trim().split_once("::")?;
    Some(format!("{}::{}", word(owner), word(rest)))
}

fn word(text: &str) -> &str {
    let end = text.find(|ch: char| !ch.is_ascii_alphanumeric() && ch != '_').unwrap_or(text.len());
    &text[..end]
}

/// Every word and every `A::B` of the tests, and the names of the files that tests read.
fn named(repo: &Repo) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for (path, source) in repo.files().filter(|(path, _)| *path != COMPARES) {
        if path.contains("/tests/") {
            named.extend(path.split('/').map(|part| part.split('.').next().unwrap_or(part).to_owned()));
        }
        if path.ends_with(".rs") {
            words(tests_of(path, source), &mut named);
        }
    }
    named
}

fn words(text: &str, named: &mut BTreeSet<String>) {
    let is_part = |ch: char| ch.is_ascii_alphanumeric() || ch == '_' || ch == ':';
    for piece in text.split(|ch: char| !is_part(ch)).filter(|piece| !piece.is_empty()) {
        let parts: Vec<&str> = piece.split("::").collect();
        named.extend(parts.iter().map(|part| (*part).to_owned()));
        named.extend(parts.windows(2).map(|pair| pair.join("::")));
    }
}

fn not_provoked<'r>(repo: &'r Repo, codes: &BTreeSet<&str>, out: &mut Out<'_>) -> BTreeMap<&'r str, usize> {
    let mut open = BTreeMap::new();
    for (line, number) in repo.text(NOT_PROVOKED).unwrap_or_default().lines().zip(1..) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.split_once(' ') {
            Some((code, why)) if why.len() > 10 && codes.contains(code) => {
                if open.insert(code, number).is_some() {
                    out.find(NOT_PROVOKED, number, format!("{code} stands twice"));
                }
            }
            _ => out.find(
                NOT_PROVOKED,
                number,
                "is not `code why it is not provoked` of a code in the registry",
            ),
        }
    }
    open
}

//! `record check`: every problem of a pack, in one pass, whatever else is wrong.

use super::problem::{Cause, Problem};
use super::sums::{self, Sums};
use super::tree::Tree;
use super::{
    CARD_VERIFY, CHAIN_VERIFY, EXCUSABLE, FIELDS, MANIFEST, REQUIRED, SMALL_BYTES_MAX, SUMS, chains, is_card,
};
use canon::{Object, Reader, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// All problems of the pack in `root`; an empty answer means that it agrees with itself. An error is a folder that
/// cannot be opened.
pub fn check(root: &Path) -> io::Result<Vec<Problem>> {
    let tree = Tree::look(root)?;
    let mut problems = tree.problems.clone();
    for name in REQUIRED.iter().filter(|name| !tree.files.contains_key(**name)) {
        problems.push(Problem::new(Cause::FileMissing, name));
    }
    let sums = tree.read(SUMS, SMALL_BYTES_MAX).ok().map(|file| sums::read(&file));
    if let Some(sums) = &sums {
        compare(&tree, sums, &mut problems);
    }
    manifest(&tree, &mut problems);
    chain_lines(&tree, sums.as_ref(), &mut problems);
    cards(&tree, &mut problems);
    Ok(problems)
}

/// The listing against the files.
fn compare(tree: &Tree, sums: &Sums, problems: &mut Vec<Problem>) {
    problems.extend(sums.problems.iter().cloned());
    if sums.listed.is_empty() {
        problems.push(Problem::new(Cause::SumsNothingChecked, SUMS));
    }
    for (path, (want, line)) in &sums.listed {
        match tree.files.get(path) {
            Some(Some(got)) if got == want => {}
            Some(Some(got)) => {
                let detail = format!("line {line} of {SUMS} says {want}, the file has {got}");
                problems.push(Problem::new(Cause::ListedDiffers, path).with(detail));
            }
            // Unreadable, a link, a device: the tree has named it.
            Some(None) => {}
            None if tree.problems.iter().any(|problem| problem.path == path.as_bytes()) => {}
            None => problems.push(Problem::new(Cause::ListedMissing, path).with(format!("line {line}"))),
        }
    }
    for path in tree.files.keys() {
        if path != SUMS && !sums.listed.contains_key(path) && !sums.meant.contains(path) {
            problems.push(Problem::new(Cause::Unlisted, path));
        }
    }
}

/// Fields, excuses, declared keys.
fn manifest(tree: &Tree, problems: &mut Vec<Problem>) {
    let fields = match read_manifest(tree) {
        Some(Ok(fields)) => {
            for field in FIELDS.iter().filter(|field| fields.get(field).is_none()) {
                problems.push(Problem::new(Cause::ManifestFieldMissing, MANIFEST).with(*field));
            }
            fields
        }
        Some(Err(why)) => {
            problems.push(Problem::new(Cause::ManifestUnreadable, MANIFEST).with(why));
            Object::new()
        }
        None => Object::new(),
    };
    let excused = |name: &str| {
        let reason = fields.get("missing").and_then(|missing| missing.get(name)).and_then(Value::as_str);
        reason.is_some_and(|reason| !reason.trim().is_empty())
    };
    for name in EXCUSABLE.iter().filter(|name| !tree.files.contains_key(**name)) {
        if !excused(name) {
            problems.push(Problem::new(Cause::AbsenceUnexcused, name));
        }
    }
    let declared = fields.get("excluded_private_keys").and_then(Value::as_array).unwrap_or_default();
    let declared: BTreeSet<&str> = declared.iter().filter_map(Value::as_str).collect();
    for key in tree.keys.iter().filter(|key| !declared.contains(key.as_str())) {
        problems.push(Problem::new(Cause::KeyUndeclared, key));
    }
}

/// The manifest, why it is none, or nothing when there is no file.
fn read_manifest(tree: &Tree) -> Option<Result<Object, &'static str>> {
    let bytes = tree.read(MANIFEST, SMALL_BYTES_MAX).ok()?;
    Some(match Reader::strict().read(&bytes) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(ledger::Shape::NotAnObject.code()),
        Err(error) => Err(error.fault.code()),
    })
}

/// `PASS` and `FAIL` lines with their number: the path ends at two blanks.
fn passes(text: &str) -> BTreeMap<&str, usize> {
    let lines = text.lines().zip(1..);
    lines
        .filter_map(|(line, number)| Some((line.strip_prefix("PASS ")?.split("  ").next()?.trim(), number)))
        .collect()
}

fn verify_file(tree: &Tree, name: &str, problems: &mut Vec<Problem>) -> Option<String> {
    let bytes = tree.read(name, SMALL_BYTES_MAX).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    for (line, number) in text.lines().zip(1..) {
        if line.contains("FAIL") {
            let said = canon::shown(line.as_bytes());
            problems.push(Problem::new(Cause::VerifyFailed, name).at(number).with(said));
        }
    }
    if passes(&text).is_empty() && !text.contains("FAIL") {
        problems.push(Problem::new(Cause::VerifyNothing, name));
    }
    Some(text)
}

/// What `chain_verify.txt` says, against the chains themselves: a PASS is not taken on faith.
fn chain_lines(tree: &Tree, sums: Option<&Sums>, problems: &mut Vec<Problem>) {
    let Some(text) = verify_file(tree, CHAIN_VERIFY, problems) else { return };
    let (passes, found) = (passes(&text), chains::verify(tree));
    let failed: Vec<&str> = text.lines().filter(|line| line.contains("FAIL")).collect();
    for (path, chain) in &found {
        match (passes.get(path.as_str()), chain.failure) {
            (Some(_), None) => {}
            (Some(line), Some(failure)) => {
                // An altered file was named by its digest; its chain would say the same again.
                if !already_named(tree, sums, path) {
                    let detail = format!("line {line} of {CHAIN_VERIFY} says PASS: {failure}");
                    problems.push(Problem::new(Cause::ChainBroken, path).with(detail));
                }
            }
            (None, _) if failed.iter().any(|line| line.contains(path.as_str())) => {}
            (None, _) => problems.push(Problem::new(Cause::ChainNotListed, path)),
        }
    }
    for (path, line) in passes.iter().filter(|(path, _)| !found.contains_key(**path)) {
        if !already_named(tree, sums, path) {
            problems.push(Problem::new(Cause::ChainMissing, path).with(format!("line {line}")));
        }
    }
}

fn already_named(tree: &Tree, sums: Option<&Sums>, path: &str) -> bool {
    let listed = sums.and_then(|sums| sums.listed.get(path));
    listed.is_some_and(|(want, _)| tree.files.get(path).copied().flatten() != Some(*want))
}

fn cards(tree: &Tree, problems: &mut Vec<Problem>) {
    let cards: Vec<&String> = tree.files.keys().filter(|path| is_card(path)).collect();
    if !tree.files.contains_key(CARD_VERIFY) {
        if !cards.is_empty() {
            problems.push(Problem::new(Cause::CardVerifyMissing, CARD_VERIFY));
        }
        return;
    }
    let mut said = Vec::new();
    verify_file(tree, CARD_VERIFY, &mut said);
    // Without a PASS line there is nothing to disbelieve; the cards below say the same.
    said.retain(|problem| cards.is_empty() || problem.cause != Cause::VerifyNothing);
    problems.extend(said);
    // Somebody else's PASS is no answer of this build, which cannot look at a card.
    problems.extend(cards.iter().map(|path| Problem::new(Cause::CardNotVerified, path)));
}

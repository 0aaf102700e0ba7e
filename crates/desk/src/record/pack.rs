//! `record pack`: writes the files that make a folder a pack, the sums last.
//!
//! The commit point is the rename of `SHA256SUMS`. A crash before it leaves a folder without sums, or with sums that
//! do not fit, and `check` says so; nothing that was evidence before is touched.

use super::problem::Problem;
use super::tree::Tree;
use super::{
    ANOMALIES, CARD_VERIFY, CHAIN_VERIFY, EVENTS, EXCUSABLE, FIELDS, MANIFEST, SUMS, chains, is_card, measure,
};
use crate::store::write_atomic;
use canon::{NotCanonical, Object, Value, canonical, lint_no_floats};
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// What the caller knows besides the manifest fields.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Why a file or a field is missing: name and reason.
    pub missing: Vec<(String, String)>,
    /// A folder that is a pack already is packed again.
    pub replace: bool,
}

/// Why there is no pack.
#[derive(Debug)]
pub enum PackError {
    /// A file that packing would write over is there already, and `replace` was not said.
    AlreadyThere(&'static str),
    /// A manifest field has a float in it: integers or decimal strings only (ruling 6).
    Float(NotCanonical),
    /// The folder holds what no pack can hold. Nothing was written.
    Unfit(Vec<Problem>),
    /// The folder cannot be read or written.
    Io(io::Error),
}

impl From<io::Error> for PackError {
    fn from(error: io::Error) -> PackError {
        PackError::Io(error)
    }
}

/// What was written.
#[derive(Clone, Debug)]
pub struct Packed {
    /// Lines of `SHA256SUMS`.
    pub files_n: usize,
    /// Chains found.
    pub chains_n: usize,
    /// Manifest fields that nobody gave and nothing measured: written as null.
    pub unknown: Vec<String>,
    /// Files that were made because the folder had none.
    pub made: Vec<&'static str>,
    /// Private keys that were left out and declared.
    pub excluded: Vec<String>,
    /// What `check` says about the result.
    pub problems: Vec<Problem>,
}

/// Makes the folder `root` a pack. `fields` are the manifest fields that are known.
pub fn pack(root: &Path, fields: &Object, options: &Options) -> Result<Packed, PackError> {
    lint_no_floats(&Value::Object(fields.clone())).map_err(PackError::Float)?;
    let mut tree = Tree::look(root)?;
    if !tree.problems.is_empty() {
        return Err(PackError::Unfit(tree.problems));
    }
    let there = |name: &&str| tree.files.contains_key(*name);
    if let Some(name) = [SUMS, MANIFEST].iter().find(|name| there(name)).filter(|_| !options.replace) {
        return Err(PackError::AlreadyThere(name));
    }
    let mut made = Vec::new();
    let mut write = |tree: &mut Tree, name: &'static str, bytes: &[u8]| -> io::Result<()> {
        write_atomic(&root.join(name), bytes, 0o644)?;
        tree.wrote(name, bytes);
        made.push(name);
        Ok(())
    };
    let found = chains::verify(&tree);
    if !tree.files.contains_key(EVENTS) {
        let events = chains::events(&tree, &found);
        write(&mut tree, EVENTS, &events)?;
    }
    if !tree.files.contains_key(ANOMALIES) {
        write(&mut tree, ANOMALIES, NO_ANOMALIES.as_bytes())?;
    }
    let head = format!("# chains of this pack, verified offline ({})\n", now());
    let lines: String = found.iter().map(|(path, chain)| chain.line(path)).collect();
    write(&mut tree, CHAIN_VERIFY, (head + &lines).as_bytes())?;
    if let Some(text) = card_lines(&tree) {
        write(&mut tree, CARD_VERIFY, text.as_bytes())?;
    }
    let (manifest, unknown) = manifest(&tree, fields, options);
    let mut bytes = canonical(&manifest);
    bytes.push(b'\n');
    write(&mut tree, MANIFEST, &bytes)?;
    let sums = tree.sums();
    write(&mut tree, SUMS, sums.as_bytes())?;
    Ok(Packed {
        files_n: sums.lines().count(),
        chains_n: found.len(),
        unknown,
        made,
        excluded: tree.keys.into_iter().collect(),
        problems: super::check(root)?,
    })
}

const NO_ANOMALIES: &str = "\
# anomalies

Nobody said whether there were any: this file was made by `record pack` because the folder had none.
";

fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    measure::utc(since.as_secs())
}

/// One line per card, and none of them a PASS.
fn card_lines(tree: &Tree) -> Option<String> {
    let cards: Vec<&String> = tree.files.keys().filter(|path| is_card(path)).collect();
    let line = |path: &&String| format!("UNVERIFIED {path}  this version cannot verify cards\n");
    let lines: String = cards.iter().map(line).collect();
    (!cards.is_empty()).then(|| format!("# cards of this pack ({})\n{lines}", now()))
}

/// The manifest, and the names of the fields that it has to leave null.
fn manifest(tree: &Tree, fields: &Object, options: &Options) -> (Value, Vec<String>) {
    let (mut manifest, mut unknown) = (Object::new(), Vec::new());
    let mut missing = Object::new();
    for field in FIELDS.iter().chain(&["repo_dirty", "repo_dirty_paths"]) {
        let value = fields.get(field).cloned().unwrap_or(Value::Null);
        if value.is_null() {
            unknown.push((*field).to_owned());
            missing.set(field, "not given and not measured");
        }
        manifest.set(field, value);
    }
    for (name, value) in fields.iter() {
        manifest.set(name, value.clone());
    }
    for (name, reason) in &options.missing {
        // A file that is there needs no excuse, and an excuse for it would be a false statement.
        if !(EXCUSABLE.contains(&name.as_str()) && tree.files.contains_key(name)) {
            missing.set(name, reason.as_str());
        }
    }
    manifest.set("missing", missing);
    manifest.set("excluded_private_keys", tree.keys.iter().cloned().collect::<Vec<_>>());
    (manifest.into(), unknown)
}

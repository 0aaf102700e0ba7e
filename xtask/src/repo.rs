//! The tracked files of the repository, in memory.

use crate::source::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::process::Command;

/// Tracked text files by path, and what cargo says about them.
pub struct Repo {
    files: BTreeMap<String, Source>,
    verifier_tree: Result<BTreeSet<String>, String>,
}

impl Repo {
    /// This repository.
    pub fn here() -> io::Result<Repo> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let output = Command::new("git").args(["ls-files", "-z"]).current_dir(&root).output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let mut files = BTreeMap::new();
        for path in String::from_utf8_lossy(&output.stdout).split_terminator('\0') {
            // A file that was removed and not committed is gone; one that is no text has no lines. It stays known
            // by name, for links.
            match std::fs::read(root.join(path)) {
                Ok(bytes) => {
                    let text = String::from_utf8(bytes).unwrap_or_default();
                    files.insert(path.to_owned(), Source::new(path, text));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        if files.is_empty() {
            // A check over nothing is unchecked.
            return Err(io::Error::other("git lists no file"));
        }
        Ok(Repo { files, verifier_tree: verifier_tree(&root) })
    }

    /// A repository of these files, for tests of the rules.
    pub fn of(files: &[(&str, &str)]) -> Repo {
        let file = |(path, text): &(&str, &str)| ((*path).to_owned(), Source::new(path, (*text).to_owned()));
        let files = files.iter().map(file).collect();
        Repo { files, verifier_tree: Err("not asked".to_owned()) }
    }

    /// The same with an answer of cargo, for tests of the rules.
    #[must_use]
    pub fn with_verifier_tree(mut self, crates: &[&str]) -> Repo {
        self.verifier_tree = Ok(crates.iter().map(|name| (*name).to_owned()).collect());
        self
    }

    /// Every file with its path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Source)> {
        self.files.iter().map(|(path, source)| (path.as_str(), source))
    }

    /// The files whose name ends so.
    pub(crate) fn ending<'a>(&'a self, end: &'a str) -> impl Iterator<Item = (&'a str, &'a Source)> {
        self.files().filter(move |(path, _)| path.ends_with(end))
    }

    /// Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &Source)> {
        self.ending(".rs")
    }

    /// The text of a file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|source| source.text.as_str())
    }

    /// True for a file, or a folder that has one.
    pub(crate) fn knows(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.keys().any(|known| known.starts_with(&folder))
    }

    /// Every crate that `ledger` and `verdict` link here, or why that is not known.
    pub(crate) fn verifier_tree(&self) -> &Result<BTreeSet<String>, String> {
        &self.verifier_tree
    }

    /// A file as TOML.
    pub(crate) fn toml(&self, path: &str) -> Option<toml::Table> {
        self.text(path)?.parse().ok()
    }
}

/// Cargo resolves features and targets, which the lock file does not know.
fn verifier_tree(root: &Path) -> Result<BTreeSet<String>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let args = "tree --locked --offline --package ledger --package verdict --edges normal --prefix none --format {p}";
    let output = Command::new(cargo).args(args.split(' ')).current_dir(root).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect())
}

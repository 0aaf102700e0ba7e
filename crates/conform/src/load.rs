//! Runs from files and folders.

use crate::{Problem, limits};
use canon::replay::{Document, Table};
use canon::{Limits, ReadError, ReadFault};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use verdict::judge::Run;

/// The bytes of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunBytes {
    /// Where it came from.
    pub name: String,
    /// The bytes of each task.
    pub tasks: BTreeMap<String, Vec<u8>>,
    /// What lay in the folder and is no JSON file: named, so that nothing is passed over in silence.
    pub not_read: Vec<String>,
}

impl RunBytes {
    /// One task.
    pub fn single(name: String, case: &str, bytes: Vec<u8>) -> RunBytes {
        RunBytes { name, tasks: BTreeMap::from([(case.to_owned(), bytes)]), not_read: Vec::new() }
    }

    /// The run as the judge takes it.
    ///
    /// # Errors
    /// [`Problem::NotJson`] with the file and the offset.
    pub fn read(&self) -> Result<Run<'_>, Problem> {
        let several = self.tasks.len() > 1;
        let mut tasks = BTreeMap::new();
        for (task, bytes) in &self.tasks {
            let place = if several { format!("{}/{task}", self.name) } else { self.name.clone() };
            let document = document(task, &self.name, bytes, limits())
                .map_err(|error| Problem::NotJson(place, error))?;
            tasks.insert(task.clone(), document);
        }
        Ok(Run { name: self.name.clone(), tasks })
    }
}

/// A document: JSON Lines where a name says so or where one value follows another, else one JSON value.
fn document<'b>(task: &str, run: &str, bytes: &'b [u8], limits: Limits) -> Result<Document<'b>, ReadError> {
    let is_lines = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.ends_with(".jsonl") || name.ends_with(".ndjson")
    };
    if is_lines(task) || is_lines(run) {
        return Document::lines(bytes, limits);
    }
    match Document::json(bytes, limits) {
        Err(error) if error.fault == ReadFault::TrailingBytes => Document::lines(bytes, limits),
        read => read,
    }
}

/// A field table.
///
/// # Errors
/// [`Problem::TableMissing`], [`Problem::TableRefused`].
pub fn table(path: &Path) -> Result<Table, Problem> {
    let missing = |why: String| Problem::TableMissing(path.to_path_buf(), why);
    let bytes = regular(path, TEXT_BYTES_MAX).map_err(|error| missing(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| missing("it is not UTF-8".to_owned()))?;
    Table::parse(&text).map_err(|error| Problem::TableRefused(path.to_path_buf(), error))
}

/// A run: a file is one task named `case`, a folder has one task for each `*.json`, `*.jsonl` and `*.ndjson` in it.
///
/// # Errors
/// [`Problem::RunMissing`], [`Problem::RunEmpty`].
pub fn run(path: &Path, case: &str) -> Result<RunBytes, Problem> {
    let missing = |path: &Path, error: &io::Error| Problem::RunMissing(path.to_path_buf(), error.to_string());
    let name = canon::shown(path.as_os_str().as_encoded_bytes());
    let metadata = std::fs::metadata(path).map_err(|error| missing(path, &error))?;
    if !metadata.is_dir() {
        let bytes = bounded(path).map_err(|error| missing(path, &error))?;
        return Ok(RunBytes::single(name, case, bytes));
    }
    let mut found = RunBytes { name, tasks: BTreeMap::new(), not_read: Vec::new() };
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(path.join(&folder)).map_err(|error| missing(&folder, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| missing(&folder, &error))?;
            let kind = entry.file_type().map_err(|error| missing(&entry.path(), &error))?;
            let inside = folder.join(entry.file_name());
            let task = canon::shown(inside.as_os_str().as_encoded_bytes());
            // Links and special files are not opened: what they lead to is no part of the run. One that is named like
            // a task must not be passed over.
            if kind.is_dir() {
                folders.push(inside);
            } else if !kind.is_file() && is_json(&inside) {
                let why = io::Error::other("it is named like a task and is a link or no regular file");
                return Err(missing(&entry.path(), &why));
            } else if kind.is_file() && is_json(&inside) {
                let bytes = bounded(&entry.path()).map_err(|error| missing(&entry.path(), &error))?;
                found.tasks.insert(task, bytes);
            } else {
                found.not_read.push(task);
            }
        }
    }
    found.not_read.sort();
    if found.tasks.is_empty() { Err(Problem::RunEmpty(path.to_path_buf())) } else { Ok(found) }
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        ["json", "jsonl", "ndjson"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    })
}

/// Longest field table, golden file, list of phrases or document that is read, in bytes.
pub(crate) const TEXT_BYTES_MAX: u64 = 16 << 20;

/// The bytes of a regular file. Tables, golden files and documents may be somebody else's: a device, a FIFO or a file
/// without end is refused and not waited for.
pub(crate) fn regular(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    // A FIFO would be waited for by opening it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::Error::other(format!("it is longer than {bytes_max} bytes")));
    }
    Ok(bytes)
}

/// One byte more than a document may have at the most: the reader then says that it is too long.
fn bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limits().bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

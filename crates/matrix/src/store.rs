//! The run folder: what was run is on disk before it counts, and nothing is run twice.
//!
//! `manifest.json` says what the folder is of; `outcomes.jsonl` grows by whole batches, each synced; `failed/` has the replay
//! records of failing units, which are on disk before their outcomes; `lock` is held while a process writes. A crash leaves at
//! most a last line without its end, which is cut off when the folder is opened again.

use crate::Problem;
use crate::outcome::Outcome;
use crate::plan::Manifest;
use crate::unit::Unit;
use canon::{Object, Reader, Value, canonical, hex};
use desk::store::write_atomic;
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

const MANIFEST: &str = "manifest.json";
const OUTCOMES: &str = "outcomes.jsonl";
const LOCK: &str = "lock";
const FAILED: &str = "failed";

/// A run folder that this process writes.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    run_id: String,
    file: File,
    done: BTreeMap<Unit, Outcome>,
    resumed: usize,
    // Held as long as the folder is.
    _lock: File,
}

impl Folder {
    /// Opens the folder of a manifest, new or to go on with.
    ///
    /// # Errors
    /// It is of another manifest, is no run folder, is open elsewhere, or has lines that are no outcomes of the plan.
    pub fn open(path: &Path, manifest: &Manifest) -> Result<Folder, Problem> {
        fs::create_dir_all(path).map_err(Problem::written(path))?;
        let lock = lock(path)?;
        let run_id = match read_manifest(path)? {
            Some(members) => {
                let run_id =
                    text(&members, "run_id").ok_or_else(|| Problem::ForeignFolder(path.to_path_buf()))?;
                let mut expected = manifest.members.clone();
                expected.set("run_id", run_id.as_str());
                same_manifest(path, &expected, &members)?;
                run_id
            }
            None => create(path, &manifest.members)?,
        };
        let outcomes = path.join(OUTCOMES);
        let (lines, whole_bytes) = read_outcomes(&outcomes)?;
        let file = open_at(&outcomes, whole_bytes).map_err(Problem::written(&outcomes))?;
        let mut folder =
            Folder { path: path.to_path_buf(), run_id, file, done: BTreeMap::new(), resumed: 0, _lock: lock };
        for outcome in lines {
            folder.keep(outcome)?;
        }
        folder.resumed = folder.done.len();
        Ok(folder)
    }

    /// Manifest and outcomes of a folder that is only read.
    ///
    /// # Errors
    /// It is no run folder, or has a line that is no outcome.
    pub fn peek(path: &Path) -> Result<(Object, Vec<Outcome>), Problem> {
        let members = read_manifest(path)?.ok_or_else(|| Problem::ForeignFolder(path.to_path_buf()))?;
        let (lines, _) = read_outcomes(&path.join(OUTCOMES))?;
        Ok((members, lines))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What tells this run from every other.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Outcomes by unit.
    pub fn outcomes(&self) -> &BTreeMap<Unit, Outcome> {
        &self.done
    }

    /// How many of them were there when the folder was opened.
    pub fn resumed(&self) -> usize {
        self.resumed
    }

    /// Adds outcomes and waits until they are on disk.
    ///
    /// # Errors
    /// A unit that has another outcome, or a write that failed: the folder is then opened again, not gone on with.
    pub fn append(&mut self, outcomes: &[Outcome]) -> Result<(), Problem> {
        let mut bytes = Vec::new();
        for outcome in outcomes {
            if self.keep(outcome.clone())? {
                bytes.extend(outcome.line());
            }
        }
        let write = |file: &mut File| -> io::Result<()> {
            file.write_all(&bytes)?;
            file.sync_data()
        };
        write(&mut self.file).map_err(Problem::written(&self.path.join(OUTCOMES)))
    }

    /// Keeps the replay record of a failing unit; call it before its outcome is added.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep_failed(&self, outcome: &Outcome, record: Option<&[u8]>) -> Result<(), Problem> {
        let folder = self.path.join(FAILED);
        fs::create_dir_all(&folder).map_err(Problem::written(&folder))?;
        let name = outcome.unit.file_name();
        let line = outcome.line();
        let files = [("json", Some(line.as_slice())), ("record", record)];
        for (extension, bytes) in files {
            let path = folder.join(format!("{name}.{extension}"));
            if let Some(bytes) = bytes {
                write_atomic(&path, bytes, 0o644).map_err(Problem::written(&path))?;
            }
        }
        Ok(())
    }

    /// Every outcome, sorted by unit: the canonical bytes of the run.
    pub fn sorted(&self) -> Vec<u8> {
        sorted(self.done.values())
    }

    /// Takes an outcome; false when it was there.
    fn keep(&mut self, outcome: Outcome) -> Result<bool, Problem> {
        match self.done.get(&outcome.unit) {
            Some(other) if *other == outcome => Ok(false),
            Some(_) => Err(Problem::Contradiction(outcome.unit.to_string())),
            None => {
                self.done.insert(outcome.unit.clone(), outcome);
                Ok(true)
            }
        }
    }
}

/// Lines of outcomes that are sorted already.
pub(crate) fn sorted<'o>(outcomes: impl Iterator<Item = &'o Outcome>) -> Vec<u8> {
    outcomes.flat_map(Outcome::line).collect()
}

/// Writes a run folder that was put together of others. The manifest last: without it the folder is none.
pub(crate) fn write_merged(
    path: &Path,
    members: &Object,
    outcomes: &[u8],
    folders: &[PathBuf],
) -> Result<(), Problem> {
    fs::create_dir(path).map_err(Problem::written(path))?;
    for folder in folders.iter().map(|folder| folder.join(FAILED)).filter(|folder| folder.is_dir()) {
        let target = path.join(FAILED);
        fs::create_dir_all(&target).map_err(Problem::written(&target))?;
        for entry in fs::read_dir(&folder).map_err(Problem::read(&folder))? {
            let entry = entry.map_err(Problem::read(&folder))?;
            let target = target.join(entry.file_name());
            fs::copy(entry.path(), &target).map_err(Problem::written(&target))?;
        }
    }
    let file = path.join(OUTCOMES);
    write_atomic(&file, outcomes, 0o644).map_err(Problem::written(&file))?;
    write_manifest(&path.join(MANIFEST), members)
}

/// Writes a file of sorted outcomes, whole or not at all.
///
/// # Errors
/// It cannot be written.
pub fn write_outcomes(path: &Path, outcomes: &BTreeMap<Unit, Outcome>) -> Result<(), Problem> {
    write_atomic(path, &sorted(outcomes.values()), 0o644).map_err(Problem::written(path))
}

/// The outcomes of a file, and the length of its whole lines: a last line without its end was never acknowledged.
///
/// # Errors
/// A whole line that is no outcome.
pub fn read_outcomes(path: &Path) -> Result<(Vec<Outcome>, u64), Problem> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
        Err(error) => return Err(Problem::NotRead(path.to_path_buf(), error)),
    };
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut outcomes = Vec::new();
    for (line, number) in bytes[..whole].split_inclusive(|byte| *byte == b'\n').zip(1..) {
        let outcome = Outcome::parse(&line[..line.len() - 1]);
        outcomes.push(outcome.ok_or_else(|| Problem::OutcomeUnreadable(path.to_path_buf(), number))?);
    }
    Ok((outcomes, whole as u64))
}

/// The first member in which two manifests differ is an error.
pub(crate) fn same_manifest(path: &Path, ours: &Object, theirs: &Object) -> Result<(), Problem> {
    let differs = |(name, value): (&str, &Value)| (theirs.get(name) != Some(value)).then(|| name.to_owned());
    let missing = |(name, _): (&str, &Value)| ours.get(name).is_none().then(|| name.to_owned());
    match ours.iter().find_map(differs).or_else(|| theirs.iter().find_map(missing)) {
        Some(member) => Err(Problem::OtherManifest(path.to_path_buf(), member)),
        None => Ok(()),
    }
}

fn lock(path: &Path) -> Result<File, Problem> {
    let file = path.join(LOCK);
    let opened = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&file)
        .map_err(Problem::written(&file))?;
    match opened.try_lock() {
        Ok(()) => Ok(opened),
        Err(TryLockError::WouldBlock) => Err(Problem::FolderLocked(path.to_path_buf())),
        Err(TryLockError::Error(error)) => Err(Problem::NotWritten(file, error)),
    }
}

fn read_manifest(path: &Path) -> Result<Option<Object>, Problem> {
    let file = path.join(MANIFEST);
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Problem::NotRead(file, error)),
    };
    match Reader::strict().read(&bytes) {
        Ok(Value::Object(members)) => Ok(Some(members)),
        _ => Err(Problem::ForeignFolder(path.to_path_buf())),
    }
}

/// Writes the manifest of a folder that has nothing but our lock and what a crash left of writing it.
fn create(path: &Path, members: &Object) -> Result<String, Problem> {
    for entry in fs::read_dir(path).map_err(Problem::read(path))? {
        let name = entry.map_err(Problem::read(path))?.file_name();
        if name != LOCK && !name.as_encoded_bytes().starts_with(b".touchstone-") {
            return Err(Problem::ForeignFolder(path.to_path_buf()));
        }
    }
    let mut random = [0; 16];
    let file = path.join(MANIFEST);
    getrandom::fill(&mut random)
        .map_err(|error| Problem::NotWritten(file.clone(), io::Error::other(error.to_string())))?;
    let run_id = hex(&random);
    let mut members = members.clone();
    members.set("run_id", run_id.as_str());
    write_manifest(&file, &members)?;
    Ok(run_id)
}

fn write_manifest(file: &Path, members: &Object) -> Result<(), Problem> {
    let mut bytes = canonical(&members.clone().into());
    bytes.push(b'\n');
    write_atomic(file, &bytes, 0o644).map_err(Problem::written(file))
}

fn open_at(path: &Path, bytes: u64) -> io::Result<File> {
    let file = File::options().create(true).append(true).open(path)?;
    if file.metadata()?.len() != bytes {
        file.set_len(bytes)?;
    }
    // The name too: a file that a crash takes away with its lines was never acknowledged.
    file.sync_all()?;
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(file)
}

fn text(members: &Object, name: &str) -> Option<String> {
    members.get(name)?.as_str().map(str::to_owned)
}

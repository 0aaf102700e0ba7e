//! Where a run writes, and the checks before anything starts (desk specification 10.1, 12.1, ruling 20).

use super::RunError;
use super::journal::Journal;
use super::options::Options;
use super::reset::remove;
use super::retry::Plan;
use super::usage::UsageError;
use crate::gate::{StoredSuite, SuiteError};
use crate::keydir;
use crate::store::{ChainFile, public_text, write_atomic, write_new};
use crate::workspace::{Fault, Limits, Scan, changes, freeze, scan};
use canon::hex;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The unsigned rows of a run directory (12.1).
pub(super) const ROWS: &str = "rows.jsonl";

/// The places of one run.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) workspace: PathBuf,
    pub(super) run_dir: PathBuf,
    pub(super) suite: Option<PathBuf>,
    pub(super) task_id: String,
    pub(super) arm: &'static str,
    /// Device and inode of the run directory as it was made.
    pub(super) identity: (u64, u64),
    /// What the desk has put there beside the chain: name and, where it is small enough to be written anew, content.
    pub(super) known: BTreeMap<String, Option<Vec<u8>>>,
}

/// What was found to be in order.
pub(super) struct Prepared {
    pub(super) folder: Folder,
    pub(super) suite: Option<StoredSuite>,
    pub(super) plan: Plan,
}

/// Checks everything that can be checked and makes the run directory last.
pub(super) fn prepare(options: &Options) -> Result<Prepared, UsageError> {
    use crate::sandbox::{Choice, Level};
    if options.sandbox == Choice::None && options.floor.is_some_and(|floor| floor > Level::None) {
        return Err(UsageError::FloorWithoutSandbox);
    }
    if options.suite.is_some() && options.allow_no_suite {
        return Err(UsageError::SuiteAndNoSuite);
    }
    let of_enclosure = options.require_tier.is_some() || !options.readable.is_empty();
    if of_enclosure && !options.enclose {
        return Err(UsageError::TierWithoutEnclosure);
    }
    if options.enclose && !options.record_calls {
        return Err(UsageError::EnclosureWithoutCalls);
    }
    let asked = (options.retry, options.max_attempts, options.feedback_into);
    let plan = Plan::of(asked, options.gated, &options.command)?;
    if let Some(preset) = &options.agent {
        preset.fits(&options.command, options.agent_model.as_deref()).map_err(UsageError::Agent)?;
    }
    let task_id = task_id(options)?;
    let not_there = |path: &Path| UsageError::Workspace(path.to_path_buf(), Fault::NotADirectory);
    let workspace = options.workspace.canonicalize().map_err(|_| not_there(&options.workspace))?;
    if !workspace.is_dir() {
        return Err(not_there(&options.workspace));
    }
    let suite = options.suite.as_deref().map(real_suite).transpose()?;
    if suite.as_ref().is_some_and(|suite| share(suite, &workspace)) {
        return Err(UsageError::SuiteInside(options.suite.clone().unwrap_or_default()));
    }
    let wanted = match &options.run_dir {
        Some(path) => path.clone(),
        None => default_run_dir(&task_id)?,
    };
    let run_dir = future_path(&wanted).map_err(|error| UsageError::RunDir(wanted.clone(), error))?;
    if share(&run_dir, &workspace) || suite.as_ref().is_some_and(|suite| share(&run_dir, suite)) {
        return Err(UsageError::RunDirInside(wanted));
    }
    temporary(&workspace, suite.as_deref())?;
    let stored = match &suite {
        Some(path) => {
            let read = StoredSuite::read(path);
            Some(read.map_err(|error| UsageError::Suite(path.clone(), error))?)
        }
        None => None,
    };
    make_run_dir(&run_dir)?;
    let made = run_dir.canonicalize().and_then(|path| Ok((identity(&path)?, path)));
    let (identity, run_dir) = made.map_err(|error| UsageError::RunDir(wanted, error))?;
    let (arm, known) = (options.arm(), BTreeMap::new());
    let folder = Folder { workspace, run_dir, suite, task_id, arm, identity, known };
    Ok(Prepared { folder, suite: stored, plan })
}

pub(super) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let meta = fs::symlink_metadata(path)?;
    Ok((meta.dev(), meta.ino()))
}

/// Scratch folders work, and lie neither in the agent's workspace nor in the suite. What fails after the agent and
/// worked here is the agent's doing (ruling 16).
fn temporary(workspace: &Path, suite: Option<&Path>) -> Result<(), UsageError> {
    let folder = std::env::temp_dir();
    let failed = |why: String| UsageError::Temporary(folder.clone(), why);
    let real = folder.canonicalize().map_err(|error| failed(error.to_string()))?;
    if real.starts_with(workspace) || suite.is_some_and(|suite| real.starts_with(suite)) {
        return Err(failed("it lies in the workspace or the suite".to_owned()));
    }
    let made = tempfile::Builder::new().prefix("touchstone-").tempdir();
    let works = made.and_then(|made| fs::write(made.path().join("works"), b"x"));
    works.map_err(|error| failed(error.to_string()))
}

fn real_suite(path: &Path) -> Result<PathBuf, UsageError> {
    let missing = || UsageError::Suite(path.to_path_buf(), SuiteError::Unreadable(Fault::NotADirectory));
    let real = path.canonicalize().map_err(|_| missing())?;
    if real.is_dir() { Ok(real) } else { Err(missing()) }
}

/// One lies inside the other, or they are the same.
fn share(a: &Path, b: &Path) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

fn task_id(options: &Options) -> Result<String, UsageError> {
    let id = match &options.task_id {
        Some(id) => id.clone(),
        None => {
            let random = keydir::random::<3>().map(|bytes| hex(&*bytes)).unwrap_or_default();
            format!("ts_{}_{random}", crate::store::now_ms() / 1000)
        }
    };
    let right = !id.is_empty() && id.len() <= 200 && !id.chars().any(char::is_control);
    if right { Ok(id) } else { Err(UsageError::TaskId(id)) }
}

fn default_run_dir(task_id: &str) -> Result<PathBuf, UsageError> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).ok_or(UsageError::NoHome)?;
    // A task id may hold a slash; a folder name may not.
    let name: String =
        task_id.chars().map(|ch| if ch.is_alphanumeric() || "-_.".contains(ch) { ch } else { '_' }).collect();
    let name = if name.starts_with('.') { format!("_{name}") } else { name };
    Ok(Path::new(&home).join(".touchstone/runs").join(name))
}

/// The path without links, whether or not its last parts exist yet.
fn future_path(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    let mut missing = Vec::new();
    let mut at = absolute.as_path();
    loop {
        match at.canonicalize() {
            Ok(real) => return Ok(missing.iter().rev().fold(real, |path, name| path.join(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else { return Err(error) };
                missing.push(name.to_owned());
                at = parent;
            }
            Err(error) => return Err(error),
        }
    }
}

fn make_run_dir(path: &Path) -> Result<(), UsageError> {
    let failed = |error| UsageError::RunDir(path.to_path_buf(), error);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    match fs::read_dir(path).map_err(failed)?.next() {
        None => Ok(()),
        Some(_) => Err(UsageError::RunDirNotEmpty(path.to_path_buf())),
    }
}

impl Folder {
    /// Nothing was started or signed: the run directory goes, if the desk alone wrote into it.
    pub(super) fn give_back(&self, unused: Journal) {
        drop(unused);
        for name in self.claims() {
            let _ = fs::remove_file(self.file(&name));
        }
        let _ = fs::remove_dir(&self.run_dir);
    }

    /// The files whose creation claims the run directory.
    fn claims(&self) -> Vec<String> {
        vec![self.chain_name(), self.public_name(), ROWS.to_owned()]
    }

    /// `name` of the first attempt, `name_a<n>` of later ones (10.3e).
    pub(super) fn of_attempt(&self, stem: &str, attempt: u32) -> String {
        match attempt {
            1 => format!("{stem}_{}", self.arm),
            n => format!("{stem}_{}_a{n}", self.arm),
        }
    }

    pub(super) fn frozen(&self, attempt: u32) -> PathBuf {
        self.file(&self.of_attempt("_frozen", attempt))
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.run_dir.join(name)
    }

    /// From now on something of that name is the desk's; its content is not watched.
    pub(super) fn knows(&mut self, name: String) {
        self.known.insert(name, None);
    }

    /// Writes a file that stays as it is, whatever the agent does to it.
    pub(super) fn keep(&mut self, name: String, bytes: Vec<u8>) -> Result<(), RunError> {
        let path = self.file(&name);
        write_atomic(&path, &bytes, 0o644).map_err(|error| RunError::Io(path, error))?;
        self.known.insert(name, Some(bytes));
        Ok(())
    }

    /// A fresh key, its public half beside the chain, and the empty chain. Creating the chain is what claims the run
    /// directory: of two runs at once only one gets it. The arm without a chain claims it by its row.
    pub(super) fn open_chain(&mut self) -> Result<Journal, RunError> {
        let not_ours = |path: PathBuf, run_dir: &Path, error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => UsageError::RunDirNotEmpty(run_dir.to_path_buf()).into(),
            _ => RunError::Io(path, error),
        };
        if self.arm == "RUN-OFF" {
            let path = self.file(ROWS);
            write_new(&path, b"", 0o644).map_err(|error| not_ours(path, &self.run_dir, error))?;
            self.known.insert(ROWS.to_owned(), Some(Vec::new()));
            return Ok(Journal::unsigned());
        }
        let path = self.file(&self.chain_name());
        let identity = keydir::fresh().map_err(|error| RunError::Io(path.clone(), error))?;
        let key = identity.public();
        let chain =
            ChainFile::create(&path, identity).map_err(|error| not_ours(path, &self.run_dir, error))?;
        self.keep(self.public_name(), public_text(&key))?;
        Ok(Journal::signed(chain))
    }

    pub(super) fn chain_name(&self) -> String {
        format!("receipts_{}.ndjson", self.arm)
    }

    fn public_name(&self) -> String {
        format!("receipts_{}.pub.json", self.arm)
    }

    /// Removes a frozen copy, also one with folders that nobody may write to.
    pub(super) fn discard_frozen(&self, attempt: u32) {
        // What cannot be removed stays; a second freeze will then say so.
        let _ = remove(&self.frozen(attempt));
    }

    /// Ruling 16: the same step on an empty folder.
    pub(super) fn copy_of_nothing_works(&self) -> bool {
        let Ok(scratch) = tempfile::Builder::new().prefix("_empty_").tempdir_in(&self.run_dir) else {
            return false;
        };
        let empty = scratch.path().join("empty");
        fs::create_dir(&empty).is_ok()
            && freeze(&empty, &scratch.path().join("copy"), &Limits::default()).is_ok()
    }

    /// Whether the frozen copy still is what was frozen.
    pub(super) fn frozen_is(&self, attempt: u32, live: &Scan) -> bool {
        let Ok(now) = scan(&self.frozen(attempt), &Limits::default()) else { return false };
        let mut want = live.clone();
        want.leaves.retain(|leaf| !leaf.excluded && !matches!(leaf.kind, crate::workspace::Kind::Special(_)));
        for leaf in &mut want.leaves {
            leaf.mode &= 0o1777;
        }
        changes(&want, &now).is_empty()
    }
}

/// Gives the owner back the rights to a folder and all folders in it.
pub(super) fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

//! Where a run writes, and what is refused before anything starts (desk specification 10.1, 12.1, ruling 20).

use super::{ARM, Options, RunError};
use crate::gate::{StoredSuite, SuiteError};
use crate::keydir;
use crate::store::{ChainFile, public_text, write_atomic};
use crate::workspace::{Fault, Limits, Scan, changes, freeze, scan};
use canon::hex;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Wrong use, found before the agent starts (64).
#[derive(Debug)]
pub enum UsageError {
    /// The workspace is no directory, or cannot be read.
    Workspace(PathBuf, Fault),
    /// The suite does not exist or cannot be used.
    Suite(PathBuf, SuiteError),
    /// The suite and the workspace lie inside one another.
    SuiteInside(PathBuf),
    /// The run directory and the workspace or suite lie inside one another.
    RunDirInside(PathBuf),
    /// The run directory has something in it.
    RunDirNotEmpty(PathBuf),
    /// The run directory cannot be made.
    RunDir(PathBuf, io::Error),
    /// A task id that is empty, too long, or has control characters.
    TaskId(String),
    /// No home directory for the default run directory.
    NoHome,
    /// Temporary files cannot be made, or would lie where the agent or the suite is.
    Temporary(PathBuf, String),
    /// A test file of the suite declares no check: it would be refused whatever is delivered.
    NothingDeclared(String),
    /// `--require-sandbox` and `--sandbox none` together.
    FloorWithoutSandbox,
    /// `--suite` and `--allow-no-suite` together.
    SuiteAndNoSuite,
}

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            UsageError::Workspace(path, fault) => write!(f, "workspace {}: {fault}", path.display()),
            UsageError::Suite(path, error) => write!(f, "suite {}: {error}", path.display()),
            UsageError::SuiteInside(path) => write!(
                f,
                "suite {}: suite and workspace must not lie inside one another: a suite that the agent can \
                 edit is no suite; copy it elsewhere",
                path.display()
            ),
            UsageError::RunDirInside(path) => write!(
                f,
                "run directory {}: it must not share a path with the workspace or the suite; choose another",
                path.display()
            ),
            UsageError::RunDirNotEmpty(path) => write!(
                f,
                "run directory {}: it is not empty, and receipts are never overwritten; choose another",
                path.display()
            ),
            UsageError::RunDir(path, error) => write!(f, "run directory {}: {error}", path.display()),
            UsageError::TaskId(id) => write!(
                f,
                "task id {}: 1 to 200 characters without control characters are needed",
                canon::shown(id.as_bytes())
            ),
            UsageError::Temporary(path, why) => {
                write!(f, "temporary folder {}: {why}; set TMPDIR", path.display())
            }
            UsageError::NothingDeclared(file) => write!(
                f,
                "suite file {file} declares no check: it does not parse, or has no top-level \"def check_...\""
            ),
            UsageError::NoHome => f.write_str("no home directory: give --run-dir"),
            UsageError::FloorWithoutSandbox => {
                f.write_str("--require-sandbox and --sandbox none contradict one another: drop one")
            }
            UsageError::SuiteAndNoSuite => {
                f.write_str("--suite and --allow-no-suite contradict one another: drop one")
            }
        }
    }
}

impl std::error::Error for UsageError {}

/// The places of one run.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) workspace: PathBuf,
    pub(super) run_dir: PathBuf,
    pub(super) suite: Option<PathBuf>,
    pub(super) task_id: String,
    /// Device and inode of the run directory as it was made.
    identity: (u64, u64),
}

/// Checks everything that can be checked and makes the run directory last.
pub(super) fn prepare(options: &Options) -> Result<(Folder, Option<StoredSuite>), UsageError> {
    use crate::sandbox::{Choice, Level};
    if options.sandbox == Choice::None && options.floor.is_some_and(|floor| floor > Level::None) {
        return Err(UsageError::FloorWithoutSandbox);
    }
    if options.suite.is_some() && options.allow_no_suite {
        return Err(UsageError::SuiteAndNoSuite);
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
    Ok((Folder { workspace, run_dir, suite, task_id, identity }, stored))
}

/// Whether a regular file at `path` holds exactly `bytes`. Never reads more than that.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let same = || -> io::Result<bool> {
        let meta = fs::symlink_metadata(path)?;
        Ok(meta.is_file() && meta.len() == bytes.len() as u64 && fs::read(path)? == bytes)
    };
    same().unwrap_or(false)
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
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
    pub(super) fn give_back(&self, unused: ChainFile) {
        drop(unused);
        let _ = fs::remove_file(self.chain_file());
        let _ = fs::remove_file(self.public_file());
        let _ = fs::remove_dir(&self.run_dir);
    }

    pub(super) fn frozen(&self) -> PathBuf {
        self.run_dir.join(format!("_frozen_{ARM}"))
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.run_dir.join(name)
    }

    /// A fresh key, its public half beside the chain, and the empty chain. Creating the chain is what claims the run
    /// directory: of two runs at once only one gets it.
    pub(super) fn open_chain(&self) -> Result<ChainFile, RunError> {
        let path = self.chain_file();
        let identity = keydir::fresh().map_err(|error| RunError::Io(path.clone(), error))?;
        let key = identity.public();
        let chain = ChainFile::create(&path, identity).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => UsageError::RunDirNotEmpty(self.run_dir.clone()).into(),
            _ => RunError::Io(path.clone(), error),
        })?;
        let path = self.public_file();
        write_atomic(&path, &public_text(&key), 0o644).map_err(|error| RunError::Io(path, error))?;
        Ok(chain)
    }

    fn chain_file(&self) -> PathBuf {
        self.file(&format!("receipts_{ARM}.ndjson"))
    }

    fn public_file(&self) -> PathBuf {
        self.file(&format!("receipts_{ARM}.pub.json"))
    }

    /// After the agent: whether it left the run directory alone. It runs as the same user and may have found it. What it
    /// displaced, removed or edited is written anew from memory, so that what it leaves there cannot turn a refusal into
    /// a void run or into no receipt at all (ruling 16).
    pub(super) fn reclaim(&self, chain: &mut ChainFile) -> Result<bool, RunError> {
        let mut mine = identity(&self.run_dir).ok() == Some(self.identity);
        if !mine {
            self.make_anew().map_err(|error| self.failed(error))?;
        }
        // Rights that were taken away are the owner's to give back.
        let mode = fs::Permissions::from_mode(0o700);
        fs::set_permissions(&self.run_dir, mode).map_err(|error| self.failed(error))?;
        let public = public_text(&chain.public());
        if !holds(&self.public_file(), &public) {
            mine = false;
            self.put_aside(&self.public_file());
            let path = self.public_file();
            write_atomic(&path, &public, 0o644).map_err(|error| RunError::Io(path, error))?;
        }
        if !chain.is_intact() {
            mine = false;
            self.put_aside(&self.chain_file());
            chain.restore().map_err(|error| self.failed(error))?;
        }
        for planted in self.strangers() {
            mine = false;
            self.put_aside(&planted);
        }
        Ok(mine)
    }

    /// The run directory is gone or another: what stands in its place is moved aside, and folders above it that were
    /// closed are opened again.
    fn make_anew(&self) -> io::Result<()> {
        self.displace();
        let make = || fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.run_dir);
        if make().is_ok() {
            return Ok(());
        }
        for folder in self.run_dir.ancestors().skip(1) {
            let Ok(meta) = fs::symlink_metadata(folder) else { continue };
            if meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o300 != 0o300 {
                let _ = fs::set_permissions(folder, fs::Permissions::from_mode(meta.mode() | 0o700));
            }
        }
        self.displace();
        make()
    }

    /// Everything in the run directory that the desk did not write.
    fn strangers(&self) -> Vec<PathBuf> {
        let ours = [format!("receipts_{ARM}.ndjson"), format!("receipts_{ARM}.pub.json")];
        // Put aside already.
        let kept = |entry: &fs::DirEntry| !entry.file_name().as_encoded_bytes().starts_with(b"_planted-");
        let entries = fs::read_dir(&self.run_dir).into_iter().flatten().flatten().filter(kept);
        entries
            .filter(|entry| !ours.iter().any(|name| entry.file_name() == **name))
            .map(|entry| entry.path())
            .collect()
    }

    /// Takes a planted entry out of the way: renaming needs nothing of what it contains, however deep or closed it is.
    fn put_aside(&self, path: &Path) {
        let suffix = keydir::random::<6>().map(|bytes| hex(&*bytes)).unwrap_or_default();
        let aside = self.run_dir.join(format!("_planted-{suffix}"));
        if fs::rename(path, &aside).is_ok() && fs::symlink_metadata(&aside).is_ok_and(|meta| !meta.is_dir()) {
            // What is no folder needs no keeping.
            let _ = fs::remove_file(&aside);
        }
    }

    /// Moves aside what stands where the run directory was.
    fn displace(&self) {
        let suffix = keydir::random::<6>().map(|bytes| hex(&*bytes)).unwrap_or_default();
        let mut aside = self.run_dir.clone().into_os_string();
        aside.push(format!(".displaced-{suffix}"));
        let _ = fs::rename(&self.run_dir, aside);
    }

    fn failed(&self, error: io::Error) -> RunError {
        RunError::Io(self.run_dir.clone(), error)
    }

    /// Removes the frozen copy, also one with folders that nobody may write to.
    pub(super) fn discard_frozen(&self) {
        let frozen = self.frozen();
        if fs::remove_dir_all(&frozen).is_err() {
            open_up(&frozen);
            // What still cannot be removed stays; a second freeze will then say so.
            let _ = fs::remove_dir_all(&frozen);
        }
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
    pub(super) fn frozen_is(&self, live: &Scan) -> bool {
        let Ok(now) = scan(&self.frozen(), &Limits::default()) else { return false };
        let mut want = live.clone();
        want.leaves.retain(|leaf| !leaf.excluded && !matches!(leaf.kind, crate::workspace::Kind::Special(_)));
        for leaf in &mut want.leaves {
            leaf.mode &= 0o1777;
        }
        changes(&want, &now).is_empty()
    }
}

fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

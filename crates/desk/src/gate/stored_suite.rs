//! The suite, read whole and hashed before the agent starts (ruling 20). What happens to the folder afterwards is
//! seen and does not count: checks run from fresh copies of these bytes.

use crate::command_suite::config::{self, Check, ConfigError, Counts, Kind as ConfigKind};
use crate::python_suite::{self, Isolation, SuiteFile};
use crate::workspace::{Excluded, Fault, Kind, Leaf, Limits, Scan, hash_v2, scan};
use canon::Digest;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Largest suite, in bytes: it is held in memory.
const SUITE_BYTES_MAX: u64 = 256 << 20;

/// Why a suite cannot be used. All of these are wrong use (64), found before the agent starts.
#[derive(Debug)]
pub enum SuiteError {
    /// The folder cannot be read.
    Unreadable(Fault),
    /// A file changed or vanished while the suite was read.
    Io(PathBuf, io::Error),
    /// `suite.toml` is not version 1 to the letter.
    Config(ConfigError),
    /// `python -m RUNNER` in the delivery without `-I` or `-P`: a file of that name in the delivery would be the runner.
    RunnerFromDelivery(String),
    /// A test file in a folder of a Python suite, where none is run.
    TestInFolder(String),
    /// A Python file of the suite is not UTF-8.
    NotUtf8(String),
}

impl std::fmt::Display for SuiteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SuiteError::Unreadable(fault) => write!(f, "{fault}"),
            SuiteError::Io(path, error) => write!(f, "{}: {error}", path.display()),
            SuiteError::Config(error) => write!(f, "{error}"),
            SuiteError::RunnerFromDelivery(check) => write!(
                f,
                "check {check:?}: python -m looks for its runner in the delivery first, which could bring its own; \
                 add \"-I\" or \"-P\" before \"-m\""
            ),
            SuiteError::TestInFolder(name) => {
                write!(f, "{name} lies in a folder, where no test file is run: move it up, or leave it out")
            }
            SuiteError::NotUtf8(name) => write!(f, "{name} is not UTF-8"),
        }
    }
}

/// What kind of suite it is.
#[derive(Clone, Copy, Debug)]
pub enum SuiteKind<'a> {
    /// No check of any kind.
    Nothing,
    /// `check_*` functions.
    Python(Isolation),
    /// Commands.
    Commands {
        /// Whether exit-status checks count.
        counts: Counts,
        /// The checks.
        checks: &'a [Check],
        /// Runner configuration of the delivery that checks may see.
        allow: &'a [String],
    },
}

/// A suite in memory.
#[derive(Debug)]
pub struct StoredSuite {
    folder: PathBuf,
    files: Vec<(Leaf, Vec<u8>)>,
    config: Option<config::Suite>,
    python: python_suite::Suite,
    tree_sha256: Digest,
}

impl StoredSuite {
    /// The bytes of every file.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().map(|(_, bytes)| bytes.as_slice())
    }

    /// Reads the suite in `folder`.
    pub fn read(folder: &Path) -> Result<StoredSuite, SuiteError> {
        let limits = Limits { entries_max: 100_000, bytes_max: SUITE_BYTES_MAX };
        let tree = scan(folder, &limits).map_err(SuiteError::Unreadable)?;
        let mut files = Vec::new();
        for leaf in &tree.leaves {
            let bytes = match &leaf.kind {
                Kind::File { sha256, .. } => {
                    let path = folder.join(OsStr::from_bytes(&leaf.path));
                    let bytes = fs::read(&path).map_err(|error| SuiteError::Io(path.clone(), error))?;
                    if Digest::of(&bytes) != *sha256 {
                        return Err(SuiteError::Io(path, io::Error::other("changed while it was read")));
                    }
                    bytes
                }
                _ => Vec::new(),
            };
            files.push((leaf.clone(), bytes));
        }
        let top = |name: &str| files.iter().find(|(leaf, _)| leaf.path == name.as_bytes());
        let config = top(config::FILE_NAME)
            .map(|(_, bytes)| config::parse(bytes))
            .transpose()
            .map_err(SuiteError::Config)?;
        if let Some(check) = config.as_ref().and_then(shadowed_runner) {
            return Err(SuiteError::RunnerFromDelivery(check));
        }
        let commands = config.as_ref().is_some_and(|suite| matches!(suite.kind, ConfigKind::Commands { .. }));
        let python = python_files(folder, &files, !commands)?;
        Ok(StoredSuite {
            folder: folder.to_path_buf(),
            config,
            python: python_suite::Suite::from_files(python),
            tree_sha256: hash_v2(&tree, Excluded::Nothing),
            files,
        })
    }

    /// Commands, Python checks, or nothing.
    pub fn kind(&self) -> SuiteKind<'_> {
        match &self.config {
            Some(config::Suite { kind: ConfigKind::Commands { counts, checks }, allow, .. }) => {
                if checks.is_empty() {
                    SuiteKind::Nothing
                } else {
                    SuiteKind::Commands { counts: *counts, checks, allow }
                }
            }
            Some(config::Suite { kind: ConfigKind::Python { isolation }, .. }) => {
                self.python_kind(match isolation {
                    config::Isolation::Process => Isolation::Process,
                    config::Isolation::InProcess => Isolation::InProcess,
                })
            }
            None => self.python_kind(Isolation::Process),
        }
    }

    fn python_kind(&self, isolation: Isolation) -> SuiteKind<'_> {
        if self.python.tests().next().is_none() { SuiteKind::Nothing } else { SuiteKind::Python(isolation) }
    }

    /// The Python files directly in the folder.
    pub fn python(&self) -> &python_suite::Suite {
        &self.python
    }

    /// The peer's digest for Python suites (2.2), the tree's for command suites.
    pub fn sha256(&self) -> Digest {
        match self.kind() {
            SuiteKind::Commands { .. } => self.tree_sha256,
            _ => self.python.sha256(),
        }
    }

    /// The second hash over the whole folder, `suite.toml` included.
    pub fn tree_sha256(&self) -> Digest {
        self.tree_sha256
    }

    /// Whether the folder still holds what was read. For the record only (ruling 20).
    pub fn unchanged_on_disk(&self) -> bool {
        let limits = Limits { entries_max: 100_000, bytes_max: SUITE_BYTES_MAX };
        let now = scan(&self.folder, &limits);
        now.is_ok_and(|tree: Scan| hash_v2(&tree, Excluded::Nothing) == self.tree_sha256)
    }

    /// Writes the suite as it was read into `folder`, which must be empty.
    pub fn write_to(&self, folder: &Path) -> io::Result<()> {
        for (leaf, bytes) in &self.files {
            let path = folder.join(OsStr::from_bytes(&leaf.path));
            match &leaf.kind {
                Kind::Directory => fs::create_dir(&path)?,
                Kind::File { .. } => {
                    fs::write(&path, bytes)?;
                    fs::set_permissions(&path, fs::Permissions::from_mode(leaf.mode & 0o777))?;
                }
                Kind::Link { target, .. } => {
                    std::os::unix::fs::symlink(OsStr::from_bytes(target), &path)?;
                }
                // A suite has no use for FIFOs and devices; they are in the hash and stay out of the copy.
                Kind::Special(_) => {}
            }
        }
        Ok(())
    }
}

/// A switch that keeps the working folder off the import path.
fn guards(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(['I', 'P'])
}

/// The first check that starts a Python runner by name where the delivery's files come first.
fn shadowed_runner(suite: &config::Suite) -> Option<String> {
    let ConfigKind::Commands { checks, .. } = &suite.kind else { return None };
    let shadowed = |check: &&Check| {
        let words: Vec<&str> = check.run.iter().map(|word| word.as_text().unwrap_or_default()).collect();
        let program = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
        let Some(module_at) = words.iter().position(|word| *word == "-m") else { return false };
        program.starts_with("python")
            && check.cwd == config::Cwd::Workspace
            && !words[..module_at].iter().copied().any(guards)
    };
    checks.iter().find(shadowed).map(|check| check.name.clone())
}

/// `*.py` files directly in the folder (8.1).
///
/// A link to a file is read as that file, as the peer does: a test file that was passed over in silence would be a check
/// that cannot fail.
fn python_files(
    folder: &Path,
    files: &[(Leaf, Vec<u8>)],
    python_suite: bool,
) -> Result<Vec<SuiteFile>, SuiteError> {
    let mut python = Vec::new();
    for (leaf, bytes) in files {
        let Ok(name) = std::str::from_utf8(&leaf.path) else { continue };
        if !name.ends_with(".py") {
            continue;
        }
        if let Some((_, file)) = name.rsplit_once('/') {
            // Passed over in silence it would be a check that cannot fail.
            if python_suite && file.starts_with("test_") && !leaf.excluded {
                return Err(SuiteError::TestInFolder(name.to_owned()));
            }
            continue;
        }
        let bytes = match &leaf.kind {
            Kind::File { .. } => bytes.clone(),
            Kind::Directory => continue,
            Kind::Link { .. } | Kind::Special(_) => {
                let path = folder.join(name);
                let regular = fs::metadata(&path).is_ok_and(|meta| meta.is_file());
                let unusable = || io::Error::other("neither a file nor a link to one");
                let read = if regular { fs::read(&path) } else { Err(unusable()) };
                read.map_err(|error| SuiteError::Io(path, error))?
            }
        };
        if std::str::from_utf8(&bytes).is_err() {
            return Err(SuiteError::NotUtf8(name.to_owned()));
        }
        python.push(SuiteFile { name: name.to_owned(), bytes });
    }
    Ok(python)
}

//! The one door through which a chain is continued by a process that did not open it: a chain of consent (decision 0018).
//!
//! Every other chain belongs to one process for its whole life ([`crate::store::ChainFile::create`], PC-64). A chain of
//! consent lives for years. This door holds it under a lock, verifies all of it with the signer's own key, refuses
//! whatever does not hold, and asks for the head that was kept elsewhere: without one, lost lines cannot be seen. Nothing
//! but the three entries of consent passes, and no chain that holds anything else.
//!
//! The file is replaced as a whole, so a crash leaves the old chain or the new one and never half a line.

use crate::store::{now_ms, write_atomic};
use canon::{Digest, Value};
use ledger::identity::Identity;
use ledger::logbook::{self, AppendError, Appender};
use ledger::{Failure, Mode};
use peers::consent::{Audit, ERASED, Erasure, GRANT, Grant, Problem, WITHDRAW, Withdrawal, audit_chain};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The branch of a chain of consent.
const BRANCH: &str = "main";
/// Longest chain that is gone on with, in bytes.
const CHAIN_BYTES_MAX: u64 = 64 << 20;

/// Why an entry of consent is not acknowledged. Except after [`ConsentChainError::Io`] the file is as it was.
#[derive(Debug)]
pub enum ConsentChainError {
    /// The chain does not hold with this key: broken, torn, or somebody else's.
    Broken(Vec<Failure>),
    /// The chain is on another branch than `main`.
    OtherBranch,
    /// There is an entry of another kind on it: it is no chain of consent.
    ForeignEntry,
    /// The chain has entries and the caller did not say where it ends.
    HeadNeeded,
    /// It ends elsewhere than the caller says: it went on, or lines were lost.
    OtherHead,
    /// The audit would find fault with the new entry.
    Problem(Problem),
    /// The entry itself is not allowed.
    Append(AppendError),
    /// The system refused, or what was read back is not what was written: the file may hold the old chain or the new one.
    Io(io::Error),
}

canon::codes! {
    impl ConsentChainError: &self {
        ConsentChainError::Broken(_) => "consent_chain_broken",
        ConsentChainError::OtherBranch => "consent_chain_other_branch",
        ConsentChainError::ForeignEntry => "consent_chain_foreign_entry",
        ConsentChainError::HeadNeeded => "consent_chain_head_needed",
        ConsentChainError::OtherHead => "consent_chain_other_head",
        ConsentChainError::Append(_) => "consent_chain_entry",
        ConsentChainError::Io(_) => "consent_chain_io",
    } else {
        ConsentChainError::Problem(problem) => problem.code(),
    }
}

impl From<io::Error> for ConsentChainError {
    fn from(error: io::Error) -> ConsentChainError {
        ConsentChainError::Io(error)
    }
}

/// A chain of consent, locked, verified, open for one entry.
#[derive(Debug)]
pub struct ConsentChain {
    path: PathBuf,
    bytes: Vec<u8>,
    appender: Appender,
    audit: Audit,
    identity: Identity,
    /// Held until this goes; the file itself stays, or two could hold two locks.
    _lock: File,
}

impl ConsentChain {
    /// Waits for the lock, reads the chain and verifies all of it. Where there is no file and `expect_head` names none, a
    /// chain begins.
    ///
    /// # Errors
    ///
    /// See [`ConsentChainError`].
    pub fn open(
        path: &Path,
        identity: Identity,
        expect_head: Option<Digest>,
    ) -> Result<ConsentChain, ConsentChainError> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(beside)?;
        lock.lock()?;
        let bytes = read(path)?;
        let (appender, audit) = match &bytes {
            None => (Appender::new(BRANCH), Audit::default()),
            Some(bytes) => verified(bytes, &identity)?,
        };
        match expect_head {
            None if bytes.is_some() => return Err(ConsentChainError::HeadNeeded),
            Some(head) if head != appender.head() => return Err(ConsentChainError::OtherHead),
            _ => {}
        }
        let (path, bytes) = (path.to_path_buf(), bytes.unwrap_or_default());
        Ok(ConsentChain { path, bytes, appender, audit, identity, _lock: lock })
    }

    /// What the chain comes to now.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// Appends a grant; gives back the new head.
    ///
    /// # Errors
    ///
    /// See [`ConsentChainError`].
    pub fn grant(self, grant: &Grant) -> Result<Digest, ConsentChainError> {
        self.append(GRANT, grant.payload())
    }

    /// Appends a withdrawal; gives back the new head.
    ///
    /// # Errors
    ///
    /// See [`ConsentChainError`].
    pub fn withdraw(self, withdrawal: &Withdrawal) -> Result<Digest, ConsentChainError> {
        self.append(WITHDRAW, withdrawal.payload())
    }

    /// Appends an erasure; gives back the new head.
    ///
    /// # Errors
    ///
    /// See [`ConsentChainError`].
    pub fn erase(self, erasure: &Erasure) -> Result<Digest, ConsentChainError> {
        self.append(ERASED, erasure.payload())
    }

    /// Whether an erasure would be taken: asked before anything is deleted.
    ///
    /// # Errors
    ///
    /// See [`ConsentChainError`].
    pub fn would_take(&self, erasure: &Erasure) -> Result<(), ConsentChainError> {
        self.with(ERASED, erasure.payload()).map(|_| ())
    }

    /// The chain with one entry more, verified and audited, and its head; nothing is written.
    fn with(&self, kind: &str, payload: Value) -> Result<(Vec<u8>, Digest), ConsentChainError> {
        let mut appender = self.appender.clone();
        let entry =
            appender.append(kind, payload, &self.identity, now_ms()).map_err(ConsentChainError::Append)?;
        let bytes = [self.bytes.as_slice(), &entry.line].concat();
        let (_, audit) = verified(&bytes, &self.identity)?;
        match audit.problems.get(self.audit.problems.len()) {
            Some((_, problem)) => Err(ConsentChainError::Problem(*problem)),
            None => Ok((bytes, entry.hash)),
        }
    }

    /// Acknowledged when it returns: the whole chain with the new line is on disk and was read back.
    fn append(self, kind: &str, payload: Value) -> Result<Digest, ConsentChainError> {
        let (bytes, head) = self.with(kind, payload)?;
        // Somebody may write without asking for the lock.
        if read(&self.path)?.unwrap_or_default() != self.bytes {
            return Err(ConsentChainError::OtherHead);
        }
        write_atomic(&self.path, &bytes, 0o600)?;
        match read(&self.path) {
            Ok(Some(again)) if again == bytes => Ok(head),
            _ => Err(io::Error::other("what was written reads otherwise").into()),
        }
    }
}

/// The bytes of the chain; nothing where there is no file. A link, a pipe or a folder is no chain.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
        Ok(meta) if !meta.is_file() => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the chain is not a regular file"));
        }
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(CHAIN_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > CHAIN_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the chain is too long"));
    }
    Ok(Some(bytes))
}

/// Verifies every line with the signer's own key, and that this is a chain of consent.
fn verified(bytes: &[u8], identity: &Identity) -> Result<(Appender, Audit), ConsentChainError> {
    let key = identity.public();
    let chain = logbook::verify(bytes, &key, Mode::Strict);
    // An empty file is what a lost chain leaves; none that began is empty.
    let appender =
        Appender::after(&chain).ok_or_else(|| ConsentChainError::Broken(chain.failures.clone()))?;
    for entry in chain.lines.iter().filter_map(|line| line.entry.as_ref()) {
        if entry.branch() != BRANCH {
            return Err(ConsentChainError::OtherBranch);
        }
        if ![GRANT, WITHDRAW, ERASED].contains(&entry.kind.as_ref()) {
            return Err(ConsentChainError::ForeignEntry);
        }
    }
    let audit = audit_chain(bytes, &key).map_err(ConsentChainError::Broken)?;
    Ok((appender, audit))
}

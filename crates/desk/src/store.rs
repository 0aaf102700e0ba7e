//! Files that must survive a crash: the chain line by line, everything else whole or not at all.

use canon::{Digest, Object, Value, canonical};
use ledger::identity::{Identity, PublicKey};
use ledger::logbook::{AppendError, Appender};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Why an entry is not on the chain.
#[derive(Debug)]
pub enum StoreError {
    /// The entry itself is not allowed.
    Append(AppendError),
    /// It could not be made durable. The chain is closed: nothing may follow a line that may be torn.
    Io(io::Error),
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StoreError::Append(error) => write!(f, "entry refused: {error:?}"),
            StoreError::Io(error) => write!(f, "chain cannot be written: {error}"),
        }
    }
}

impl std::error::Error for StoreError {}

/// A chain file that is being written. The key lives as long as the chain is open and nowhere else.
#[derive(Debug)]
pub struct ChainFile {
    path: PathBuf,
    /// Everything that was acknowledged, to compare with and to restore from.
    written: Vec<u8>,
    /// What was written behind it and not yet synced.
    pending: Vec<u8>,
    file: File,
    appender: Appender,
    identity: Identity,
    closed: bool,
}

impl ChainFile {
    /// Creates the file; an existing one is never continued (31.14, PC-64).
    pub fn create(path: &Path, identity: Identity) -> io::Result<ChainFile> {
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
        sync_parent(path)?;
        let path = path.to_path_buf();
        let (written, pending) = (Vec::new(), Vec::new());
        Ok(ChainFile { path, written, pending, file, appender: Appender::default(), identity, closed: false })
    }

    /// The key that signs this chain.
    pub fn public(&self) -> PublicKey {
        self.identity.public()
    }

    /// Whether the file at the chain's path still is the one that was written, byte for byte.
    pub fn is_intact(&self) -> bool {
        let same_file = || -> io::Result<bool> {
            let (there, ours) = (std::fs::symlink_metadata(&self.path)?, self.file.metadata()?);
            Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino()))
        };
        let same_bytes = || -> io::Result<bool> {
            let longest = self.written.len() as u64 + 1;
            let mut bytes = Vec::new();
            File::open(&self.path)?.take(longest).read_to_end(&mut bytes)?;
            Ok(bytes == self.written)
        };
        same_file().unwrap_or(false) && same_bytes().unwrap_or(false)
    }

    /// Writes every acknowledged entry anew and goes on from there: somebody changed the file or took it away.
    pub fn restore(&mut self) -> io::Result<()> {
        write_atomic(&self.path, &self.written, 0o600)?;
        self.file = OpenOptions::new().append(true).open(&self.path)?;
        Ok(())
    }

    /// Signs an entry, writes its line and waits until it is on disk. The entry is acknowledged when this returns:
    /// a crash before that may lose it, a crash after it may not.
    pub fn append(&mut self, kind: &str, payload: Value) -> Result<Digest, StoreError> {
        let hash = self.append_unsynced(kind, payload)?;
        self.sync()?;
        Ok(hash)
    }

    /// Signs an entry and writes its line, and does not wait. It is acknowledged when [`ChainFile::sync`] returns. For
    /// chains whose entries can be made again; a run of the desk never uses it.
    pub fn append_unsynced(&mut self, kind: &str, payload: Value) -> Result<Digest, StoreError> {
        if self.closed {
            return Err(StoreError::Io(io::Error::other("the chain was closed by an earlier failure")));
        }
        let entry =
            self.appender.append(kind, payload, &self.identity, now_ms()).map_err(StoreError::Append)?;
        if let Err(error) = self.file.write_all(&entry.line) {
            self.closed = true;
            return Err(StoreError::Io(error));
        }
        self.pending.extend_from_slice(&entry.line);
        Ok(entry.hash)
    }

    /// Waits until every line is on disk.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        if let Err(error) = self.file.sync_data() {
            self.closed = true;
            return Err(StoreError::Io(error));
        }
        self.written.append(&mut self.pending);
        Ok(())
    }

    /// Hash of the last entry.
    pub fn head(&self) -> Digest {
        self.appender.head()
    }

    /// Number of entries.
    pub fn len(&self) -> u64 {
        self.appender.len()
    }

    /// True before the first entry.
    pub fn is_empty(&self) -> bool {
        self.appender.is_empty()
    }
}

/// Writes the public key that lies beside a chain: `pub_hex` and `vacant_id`.
pub fn write_public_key(path: &Path, key: &PublicKey) -> io::Result<()> {
    write_new(path, &public_text(key), 0o644)
}

/// The bytes of that file.
pub(crate) fn public_text(key: &PublicKey) -> Vec<u8> {
    let public = Object::new().with("vacant_id", key.id().as_str()).with("pub_hex", key.to_hex());
    json_line(&public.into())
}

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Writes a whole file: temporary sibling, fsync, rename, fsync of the folder. `mode` are its permission bits.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    put(path, bytes, mode)?;
    sync_parent(path)
}

/// Writes a whole file where there is none: of two at once only one succeeds.
pub(crate) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    filled(path, bytes, mode)?.persist_noclobber(path).map_err(|error| error.error)?;
    sync_parent(path)
}

/// Writes several files of one folder, each whole or not at all, and syncs the folder once. They are written side by
/// side: the file system then commits them together, which takes the time of one.
pub(crate) fn write_together(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<(), (PathBuf, io::Error)> {
    std::thread::scope(|scope| {
        let writers: Vec<_> = files
            .iter()
            .map(|(name, bytes)| {
                let path = folder.join(name);
                scope.spawn(move || put(&path, bytes, 0o644).map_err(|error| (path, error)))
            })
            .collect();
        let join = |writer: std::thread::ScopedJoinHandle<'_, _>| {
            writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        writers.into_iter().try_for_each(join)
    })?;
    sync_folder(folder).map_err(|error| (folder.to_path_buf(), error))
}

/// Temporary sibling, fsync, rename.
fn put(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    filled(path, bytes, mode)?.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A temporary sibling with the content, on disk.
fn filled(path: &Path, bytes: &[u8], mode: u32) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut temporary = tempfile::Builder::new().prefix(".touchstone-").tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    let bits = std::os::unix::fs::PermissionsExt::from_mode(mode);
    temporary.as_file().set_permissions(bits)?;
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

/// The bytes of a JSON file of ours: canonical, with a line feed.
pub(crate) fn json_line(value: &Value) -> Vec<u8> {
    let mut bytes = canonical(value);
    bytes.push(b'\n');
    bytes
}

fn sync_parent(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    sync_folder(folder)
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

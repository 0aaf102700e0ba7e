//! Walking a tree and hashing its files.

use super::{Fault, open};
use canon::{Digest, Hasher};
use rayon::prelude::*;
use rustix::fs::{AtFlags, Dir, FileType, SeekFrom};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// Directories that the peer's hash and the frozen copy leave out (section 7).
pub const EXCLUDED_DIRECTORIES: [&str; 3] = [".git", "__pycache__", ".pytest_cache"];

/// Bounds of a workspace. Past them is a finding, not a hang.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most entries.
    pub entries_max: u64,
    /// Most bytes in regular files, holes included.
    pub bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { entries_max: 2_000_000, bytes_max: 64 << 30 }
    }
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A regular file: length and, once hashed, the digest of its content.
    File {
        /// Bytes.
        size: u64,
        /// Content digest.
        sha256: Digest,
    },
    /// A symbolic link, never followed.
    Link {
        /// Target text as bytes.
        target: Vec<u8>,
        /// The target is an existing directory: such a link is invisible to the peer's walker.
        to_directory: bool,
    },
    /// A FIFO, socket or device, never opened.
    Special(&'static str),
}

/// One entry below the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Path relative to the root, components joined by `/`, as bytes.
    pub path: Vec<u8>,
    /// Permission bits, 07777.
    pub mode: u32,
    /// What it is.
    pub kind: Kind,
    /// It is, or lies in, one of the excluded directories.
    pub excluded: bool,
}

/// Everything below a root, sorted by path bytes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Scan {
    /// The entries; the root itself is none.
    pub leaves: Vec<Leaf>,
}

impl Scan {
    /// Number of regular files.
    pub fn files_n(&self) -> u64 {
        self.leaves.iter().filter(|leaf| matches!(leaf.kind, Kind::File { .. })).count() as u64
    }

    /// Paths of FIFOs, sockets and devices with what they are.
    pub fn specials(&self) -> impl Iterator<Item = (&[u8], &'static str)> {
        self.leaves.iter().filter_map(|leaf| match leaf.kind {
            Kind::Special(what) => Some((leaf.path.as_slice(), what)),
            _ => None,
        })
    }
}

/// Walks `root` and hashes its files on all cores.
pub fn scan(root: &Path, limits: &Limits) -> Result<Scan, Fault> {
    let root = open_root(root)?;
    let mut scan = walk(root.as_fd(), limits)?;
    hash_files(root.as_fd(), &mut scan)?;
    Ok(scan)
}

pub(super) fn open_root(root: &Path) -> Result<OwnedFd, Fault> {
    open::root(root).map_err(|errno| match errno {
        Errno::NOTDIR | Errno::NOENT | Errno::LOOP => Fault::NotADirectory,
        errno => Fault::Unreadable { path: Vec::new(), why: errno.to_string() },
    })
}

pub(super) fn fault(path: &[u8], errno: Errno) -> Fault {
    match errno {
        Errno::NAMETOOLONG => Fault::PathTooLong(path.to_vec()),
        // It was there a moment ago, or it was something else.
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Fault::Moved(path.to_vec()),
        errno => Fault::Unreadable { path: path.to_vec(), why: errno.to_string() },
    }
}

/// The tree without content digests: names, kinds, modes, link targets.
pub(super) fn walk(root: BorrowedFd<'_>, limits: &Limits) -> Result<Scan, Fault> {
    let mut leaves = Vec::new();
    let mut bytes = 0_u64;
    let mut pending: Vec<(Vec<u8>, bool)> = vec![(Vec::new(), false)];
    while let Some((directory, excluded)) = pending.pop() {
        let fd = open::below(root, &directory, true).map_err(|errno| fault(&directory, errno))?;
        let mut entries = Dir::read_from(&fd).map_err(|errno| fault(&directory, errno))?;
        while let Some(entry) = entries.read() {
            let entry = entry.map_err(|errno| fault(&directory, errno))?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let leaf = leaf(fd.as_fd(), &directory, name, excluded)?;
            match &leaf.kind {
                Kind::Directory => pending.push((leaf.path.clone(), leaf.excluded)),
                Kind::File { size, .. } => bytes = bytes.saturating_add(*size),
                _ => {}
            }
            leaves.push(leaf);
            if leaves.len() as u64 > limits.entries_max {
                return Err(Fault::TooManyEntries(limits.entries_max));
            }
            if bytes > limits.bytes_max {
                return Err(Fault::TooManyBytes(limits.bytes_max));
            }
        }
    }
    leaves.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(Scan { leaves })
}

fn leaf(at: BorrowedFd<'_>, directory: &[u8], name: &[u8], inside: bool) -> Result<Leaf, Fault> {
    let mut path = directory.to_vec();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    let stat =
        rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|errno| fault(&path, errno))?;
    let file_type = FileType::from_raw_mode(stat.st_mode);
    let kind = match file_type {
        FileType::Directory => Kind::Directory,
        FileType::RegularFile => Kind::File { size: stat.st_size.unsigned_abs(), sha256: Digest::ZERO },
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(at, name, Vec::new()).map_err(|errno| fault(&path, errno))?;
            let to = rustix::fs::statat(at, name, AtFlags::empty()).ok();
            let to_directory =
                to.is_some_and(|to| FileType::from_raw_mode(to.st_mode) == FileType::Directory);
            Kind::Link { target: target.into_bytes(), to_directory }
        }
        FileType::Fifo => Kind::Special("fifo"),
        FileType::Socket => Kind::Special("socket"),
        FileType::CharacterDevice => Kind::Special("character device"),
        FileType::BlockDevice => Kind::Special("block device"),
        FileType::Unknown => Kind::Special("unknown"),
    };
    let here =
        kind == Kind::Directory && EXCLUDED_DIRECTORIES.iter().any(|excluded| excluded.as_bytes() == name);
    // A link's own bits mean nothing and differ between systems.
    let mode = if matches!(kind, Kind::Link { .. }) { 0 } else { stat.st_mode & 0o7777 };
    Ok(Leaf { path, mode, kind, excluded: inside || here })
}

/// Fills in the content digests.
pub(super) fn hash_files(root: BorrowedFd<'_>, scan: &mut Scan) -> Result<(), Fault> {
    let hash = |leaf: &mut Leaf| {
        if let Kind::File { size, sha256 } = &mut leaf.kind {
            (*size, *sha256) = hash_file(root, &leaf.path)?;
        }
        Ok(())
    };
    scan.leaves.par_iter_mut().with_min_len(16).try_for_each(hash)
}

fn hash_file(root: BorrowedFd<'_>, path: &[u8]) -> Result<(u64, Digest), Fault> {
    let failed = |errno| fault(path, errno);
    let fd = open::below(root, path, false).map_err(failed)?;
    let stat = rustix::fs::fstat(&fd).map_err(failed)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Fault::Moved(path.to_vec()));
    }
    let size = stat.st_size.unsigned_abs();
    let mut hasher = Hasher::new();
    let sparse = (stat.st_blocks.unsigned_abs()).saturating_mul(512) < size && size > (1 << 20);
    let read = if sparse { hash_sparse(&fd, size, &mut hasher) } else { hash_dense(&fd, &mut hasher) };
    Ok((read.map_err(failed)?, hasher.finish()))
}

/// Buffers come from a pool of one per thread: a hundred thousand small files must not mean as many allocations.
fn with_buffer<T>(work: impl FnOnce(&mut [u8]) -> T) -> T {
    thread_local! {
        static BUFFER: std::cell::RefCell<Vec<u8>> = std::cell::RefCell::new(vec![0; 256 << 10]);
    }
    BUFFER.with_borrow_mut(|buffer| work(buffer))
}

fn hash_dense(fd: &OwnedFd, hasher: &mut Hasher) -> Result<u64, Errno> {
    with_buffer(|buffer| {
        let mut total = 0;
        loop {
            let read = rustix::io::retry_on_intr(|| rustix::io::read(fd, &mut *buffer))?;
            if read == 0 {
                return Ok(total);
            }
            hasher.update(&buffer[..read]);
            total += read as u64;
        }
    })
}

/// Holes are hashed as zeros without being read.
fn hash_sparse(fd: &OwnedFd, size: u64, hasher: &mut Hasher) -> Result<u64, Errno> {
    static ZEROS: [u8; 64 << 10] = [0; 64 << 10];
    let zeros = |hasher: &mut Hasher, mut count: u64| {
        while count > 0 {
            let step = count.min(ZEROS.len() as u64);
            hasher.update(&ZEROS[..step as usize]);
            count -= step;
        }
    };
    let mut at = 0;
    while at < size {
        let (data, hole) = match next_extent(fd, at, size)? {
            Some(extent) => extent,
            None => (size, size),
        };
        zeros(hasher, data - at);
        with_buffer(|buffer| {
            let mut position = data;
            while position < hole {
                let want = (hole - position).min(buffer.len() as u64) as usize;
                let read =
                    rustix::io::retry_on_intr(|| rustix::io::pread(fd, &mut buffer[..want], position))?;
                if read == 0 {
                    return Err(Errno::NOENT); // shorter than a moment ago
                }
                hasher.update(&buffer[..read]);
                position += read as u64;
            }
            Ok(())
        })?;
        at = hole;
    }
    Ok(size)
}

/// The next stretch of data at or after `at`, bounded by `size`.
pub(super) fn next_extent(fd: &OwnedFd, at: u64, size: u64) -> Result<Option<(u64, u64)>, Errno> {
    let data = match rustix::fs::seek(fd, SeekFrom::Data(at)) {
        Ok(data) if data < size => data,
        Ok(_) | Err(Errno::NXIO) => return Ok(None),
        // A file system that knows no holes: all of it is data.
        Err(Errno::INVAL) => return Ok(Some((at, size))),
        Err(errno) => return Err(errno),
    };
    let hole = rustix::fs::seek(fd, SeekFrom::Hole(data)).unwrap_or(size).min(size);
    Ok(Some((data, hole)))
}

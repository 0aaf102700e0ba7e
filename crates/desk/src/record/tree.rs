//! What lies in a pack, looked at without following a link and without opening a private key.

use super::problem::{Cause, Problem};
use super::{PRIVATE_KEY, SUMS};
use crate::workspace::open;
use canon::{Digest, Hasher};
use rayon::prelude::*;
use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

/// A pack as it lies there.
pub(super) struct Tree {
    root: OwnedFd,
    /// Regular files by path; nothing where a file could not be read, which is among the problems.
    pub(super) files: BTreeMap<String, Option<Digest>>,
    /// Private keys by path.
    pub(super) keys: BTreeSet<String>,
    /// Everything that has no place in a pack.
    pub(super) problems: Vec<Problem>,
}

impl Tree {
    /// Walks `root` and hashes its files. Only a root that cannot be opened is an error.
    pub(super) fn look(root: &Path) -> io::Result<Tree> {
        let mut tree = Tree {
            // What the user wrote may be a link; inside, none is followed.
            root: open::root(&root.canonicalize().unwrap_or_else(|_| root.to_path_buf()))?,
            files: BTreeMap::new(),
            keys: BTreeSet::new(),
            problems: Vec::new(),
        };
        let mut pending = vec![Vec::new()];
        while let Some(folder) = pending.pop() {
            if let Err(errno) = tree.list(&folder, &mut pending) {
                tree.problems.push(Problem::new(Cause::Unreadable, folder).with(errno.to_string()));
            }
        }
        tree.hash();
        tree.problems.sort();
        Ok(tree)
    }

    fn list(&mut self, folder: &[u8], pending: &mut Vec<Vec<u8>>) -> Result<(), Errno> {
        let fd = open::below(self.root.as_fd(), folder, true)?;
        let mut entries = Dir::read_from(&fd)?;
        while let Some(entry) = entries.read() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let mut path = folder.to_vec();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name);
            match rustix::fs::statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => self.place(path, FileType::from_raw_mode(stat.st_mode), pending),
                Err(errno) => {
                    self.problems.push(Problem::new(Cause::Unreadable, path).with(errno.to_string()));
                }
            }
        }
        Ok(())
    }

    fn place(&mut self, path: Vec<u8>, kind: FileType, pending: &mut Vec<Vec<u8>>) {
        match kind {
            FileType::Directory => pending.push(path),
            FileType::Symlink => self.problems.push(Problem::new(Cause::Link, path)),
            FileType::RegularFile => match String::from_utf8(path) {
                Ok(path) if file_name(&path) == PRIVATE_KEY => drop(self.keys.insert(path)),
                Ok(path) if unfit(&path) => self.problems.push(Problem::new(Cause::NameUnfit, path)),
                Ok(path) => drop(self.files.insert(path, None)),
                Err(error) => self.problems.push(Problem::new(Cause::NameNotUtf8, error.into_bytes())),
            },
            _ => self.problems.push(Problem::new(Cause::SpecialFile, path)),
        }
    }

    fn hash(&mut self) {
        let root = self.root.as_fd();
        let failed: Vec<Problem> = self
            .files
            .par_iter_mut()
            .filter_map(|(path, digest)| match hash(root, path) {
                Ok(found) => {
                    *digest = Some(found);
                    None
                }
                Err(error) => Some(Problem::new(Cause::Unreadable, path).with(error.to_string())),
            })
            .collect();
        self.problems.extend(failed);
    }

    /// The bytes of a file.
    pub(super) fn read(&self, path: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        regular(self.root.as_fd(), path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > bytes_max {
            return Err(io::Error::other(format!("longer than {bytes_max} bytes")));
        }
        Ok(bytes)
    }

    /// Takes a file that was just written, or replaced.
    pub(super) fn wrote(&mut self, path: &str, bytes: &[u8]) {
        self.files.insert(path.to_owned(), Some(Digest::of(bytes)));
    }

    /// What belongs into `SHA256SUMS`: every file but itself, in byte order of the paths.
    pub(super) fn sums(&self) -> String {
        let listed = self.files.iter().filter(|(path, _)| *path != SUMS);
        listed.filter_map(|(path, digest)| Some(format!("{}  {path}\n", digest.as_ref()?.to_hex()))).collect()
    }
}

/// A name that would make a line of `SHA256SUMS` mean something else.
fn unfit(path: &str) -> bool {
    path.chars().any(char::is_control) || path.ends_with(' ')
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn regular(root: std::os::fd::BorrowedFd<'_>, path: &str) -> io::Result<File> {
    let fd = open::below(root, path.as_bytes(), false)?;
    // It was a regular file when it was listed; a FIFO in its place must not be read.
    if FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("not a regular file"));
    }
    Ok(File::from(fd))
}

fn hash(root: std::os::fd::BorrowedFd<'_>, path: &str) -> io::Result<Digest> {
    let mut file = regular(root, path)?;
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; 128 << 10];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hasher.finish());
        }
        hasher.update(&buffer[..read]);
    }
}

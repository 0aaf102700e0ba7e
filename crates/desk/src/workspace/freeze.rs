//! The frozen copy: what is judged is what nobody can change any more (10.3e).

use super::diff::same;
use super::scan::{Kind, Leaf, Limits, Scan, fault, hash_files, next_extent, open_root, walk};
use super::{Fault, open};
use rayon::prelude::*;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Timespec, Timestamps};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// A finished freeze.
#[derive(Clone, Debug)]
pub struct Frozen {
    /// The live tree as it was before and after the copy.
    pub live: Scan,
}

/// Set-user and set-group bits are not carried over: a desk that runs as root must not leave a privileged program
/// of the agent's making in its run directory.
const COPIED_BITS: u32 = 0o1777;

/// Copies the workspace to `copy`, which must not exist, without the excluded directories and without special
/// files; then hashes the copy and the live tree and compares them entry by entry.
///
/// Every file of the copy has its own inode (PC-59). Links are copied as links. A difference is
/// [`Fault::Moved`]; trouble with writing is [`Fault::CopyFailed`].
pub fn freeze(live: &Path, copy: &Path, limits: &Limits) -> Result<Frozen, Fault> {
    let source = open_root(live)?;
    let listed = walk(source.as_fd(), limits)?;
    std::fs::create_dir(copy).map_err(|error| Fault::CopyFailed(error.to_string()))?;
    let target = open_root(copy)?;
    let kept: Vec<&Leaf> = listed.leaves.iter().filter(|leaf| !leaf.excluded).collect();
    copy_leaves(source.as_fd(), target.as_fd(), &kept, Manner::Evidence)?;
    compare(source.as_fd(), target.as_fd(), limits)
}

/// What a copy is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// To be judged: without privileged bits.
    Evidence,
    /// To be worked in again: all mode bits and the times of files.
    Whole,
}

impl Manner {
    fn bits(self) -> u32 {
        if self == Manner::Evidence { COPIED_BITS } else { 0o7777 }
    }
}

/// Copies everything of `from` into the folder `into`, which must be there and empty: the excluded directories, all mode
/// bits and the times of files too (11, resample). Special files cannot be copied; whoever hashes both sees that.
pub fn copy_whole(from: &Path, into: &Path, limits: &Limits) -> Result<(), Fault> {
    let source = open_root(from)?;
    let listed = walk(source.as_fd(), limits)?;
    let target = open_root(into)?;
    let all: Vec<&Leaf> = listed.leaves.iter().collect();
    copy_leaves(source.as_fd(), target.as_fd(), &all, Manner::Whole)
}

fn copy_leaves(
    source: BorrowedFd<'_>,
    target: BorrowedFd<'_>,
    leaves: &[&Leaf],
    manner: Manner,
) -> Result<(), Fault> {
    let directories = || leaves.iter().filter(|leaf| leaf.kind == Kind::Directory);
    for leaf in directories() {
        write(rustix::fs::mkdirat(target, leaf.path.as_slice(), Mode::RWXU))?;
    }
    let files: Vec<&Leaf> =
        leaves.iter().filter(|leaf| matches!(leaf.kind, Kind::File { .. })).copied().collect();
    files.par_iter().with_min_len(16).try_for_each(|leaf| copy_file(source, target, leaf, manner))?;
    for leaf in leaves {
        if let Kind::Link { target: text, .. } = &leaf.kind {
            write(rustix::fs::symlinkat(text.as_slice(), target, leaf.path.as_slice()))?;
        }
    }
    // Deepest first, so that a directory without write permission is closed only when it is complete.
    for leaf in directories().rev() {
        let mode = Mode::from_raw_mode(leaf.mode & manner.bits());
        write(rustix::fs::chmodat(target, leaf.path.as_slice(), mode, AtFlags::empty()))?;
    }
    Ok(())
}

fn write<T>(result: Result<T, Errno>) -> Result<T, Fault> {
    result.map_err(|errno| Fault::CopyFailed(errno.to_string()))
}

/// Hashes both trees anew and compares them.
fn compare(source: BorrowedFd<'_>, target: BorrowedFd<'_>, limits: &Limits) -> Result<Frozen, Fault> {
    let mut live = walk(source, limits)?;
    hash_files(source, &mut live)?;
    let mut copy = walk(target, limits)?;
    hash_files(target, &mut copy)?;
    let special = |leaf: &&Leaf| matches!(leaf.kind, Kind::Special(_));
    let mut expected = live.leaves.iter().filter(|leaf| !leaf.excluded && !special(leaf));
    let mut got = copy.leaves.iter();
    loop {
        match (expected.next(), got.next()) {
            (None, None) => return Ok(Frozen { live }),
            (Some(want), Some(got)) if want.path == got.path => {
                let stripped = Leaf { mode: want.mode & COPIED_BITS, ..want.clone() };
                if !same(&stripped, got) {
                    return Err(Fault::Moved(want.path.clone()));
                }
            }
            (want, got) => {
                let path = want.or(got).map(|leaf| leaf.path.clone());
                return Err(Fault::Moved(path.unwrap_or_default()));
            }
        }
    }
}

fn copy_file(
    source: BorrowedFd<'_>,
    target: BorrowedFd<'_>,
    leaf: &Leaf,
    manner: Manner,
) -> Result<(), Fault> {
    let failed = |errno| fault(&leaf.path, errno);
    let from = open::below(source, &leaf.path, false).map_err(failed)?;
    let stat = rustix::fs::fstat(&from).map_err(failed)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Fault::Moved(leaf.path.clone()));
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let to = write(rustix::fs::openat(target, leaf.path.as_slice(), flags, Mode::RUSR | Mode::WUSR))?;
    // A reflink shares blocks, not the inode: later writes to either side do not show in the other.
    if rustix::fs::ioctl_ficlone(&to, &from).is_err() {
        copy_extents(&from, &to, stat.st_size.unsigned_abs(), &leaf.path)?;
    }
    write(rustix::fs::fchmod(&to, Mode::from_raw_mode(stat.st_mode & manner.bits())))?;
    if manner == Manner::Evidence {
        return Ok(());
    }
    // Tools that compare times must not find everything new.
    let time = |tv_sec, tv_nsec: u64| Timespec { tv_sec, tv_nsec: tv_nsec.cast_signed() };
    let times = Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    };
    write(rustix::fs::futimens(&to, &times))
}

/// Copies data and leaves holes as holes: a sparse file of ten gigabytes must not fill the disk.
fn copy_extents(from: &OwnedFd, to: &OwnedFd, size: u64, path: &[u8]) -> Result<(), Fault> {
    write(rustix::fs::ftruncate(to, size))?;
    let mut at = 0;
    while at < size {
        let extent = next_extent(from, at, size).map_err(|errno| fault(path, errno))?;
        let Some((data, hole)) = extent else { break };
        copy_range(from, to, data, hole)?;
        at = hole;
    }
    Ok(())
}

fn copy_range(from: &OwnedFd, to: &OwnedFd, mut at: u64, end: u64) -> Result<(), Fault> {
    let (mut read_at, mut write_at) = (at, at);
    let mut buffer = Vec::new();
    while at < end {
        let want = usize::try_from(end - at).unwrap_or(usize::MAX).min(1 << 30);
        let moved = match rustix::fs::copy_file_range(from, Some(&mut read_at), to, Some(&mut write_at), want)
        {
            Ok(moved) => moved,
            // Different file systems on old kernels, or a file system without the call.
            Err(Errno::XDEV | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL | Errno::PERM) => {
                buffer.resize(256 << 10, 0);
                let moved = copy_once(from, to, at, want, &mut buffer)?;
                (read_at, write_at) = (at + moved as u64, at + moved as u64);
                moved
            }
            Err(errno) => return write(Err(errno)),
        };
        if moved == 0 {
            return Ok(()); // Shorter than a moment ago: the comparison will say so.
        }
        at += moved as u64;
    }
    Ok(())
}

fn copy_once(from: &OwnedFd, to: &OwnedFd, at: u64, want: usize, buffer: &mut [u8]) -> Result<usize, Fault> {
    let want = want.min(buffer.len());
    let read = write(rustix::io::retry_on_intr(|| rustix::io::pread(from, &mut buffer[..want], at)))?;
    let mut done = 0;
    while done < read {
        done += write(rustix::io::retry_on_intr(|| {
            rustix::io::pwrite(to, &buffer[done..read], at + done as u64)
        }))?;
    }
    Ok(read)
}

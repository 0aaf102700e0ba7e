//! Opening below a root without following links, so that a tree that changes under our hands cannot lead us out.

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// Opens a directory by its path. Its last part may be no link: an agent that puts one in the place of its workspace
/// must not have another tree judged. Callers resolve what a user wrote.
pub(crate) fn root(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    rustix::fs::open(path, flags, Mode::empty())
}

/// Opens `path` below `root` for reading. No component may be a link; a FIFO does not block.
pub(crate) fn below(root: BorrowedFd<'_>, path: &[u8], directory: bool) -> Result<OwnedFd, Errno> {
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    if directory {
        flags |= OFlags::DIRECTORY;
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let path = if path.is_empty() { b"." } else { path };
    match rustix::fs::openat2(root, path, flags, Mode::empty(), resolve) {
        // Kernels before 5.6 and some container filters have no openat2: take the components one by one.
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(root, path, flags),
        other => other,
    }
}

fn step_by_step(root: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut components = path.split(|byte| *byte == b'/').peekable();
    let mut held: Option<OwnedFd> = None;
    while let Some(name) = components.next() {
        let at = held.as_ref().map_or(root, |fd| fd.as_fd());
        let last = components.peek().is_none();
        let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let flags = if last { flags } else { step };
        held = Some(rustix::fs::openat(at, name, flags, Mode::empty())?);
    }
    held.ok_or(Errno::NOENT)
}

//! The workspace as it was at the start, kept for the attempts that begin anew (desk specification 10.3a and 11).

use super::folder::identity;
use super::payload::Hashes;
use crate::workspace::{Fault, Limits, Scan, copy_whole, scan};
use std::fs::{self, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Why the workspace is not what it was.
#[derive(Debug)]
pub(super) enum ResetFault {
    /// The desk cannot do it here.
    Desk(String),
    /// The agent is in the way: the same step works in an empty folder (ruling 16).
    Agent(String),
}

/// A copy of the workspace, `.git` and everything else included.
#[derive(Debug)]
pub(super) struct Origin {
    folder: PathBuf,
    workspace: PathBuf,
    root_mode: u32,
    /// Device and inode of the workspace: only that folder is ever emptied.
    identity: (u64, u64),
    hashes: Hashes,
}

impl Origin {
    /// Copies the workspace, which was seen as `before`, to `folder`, and looks whether it is all there.
    pub(super) fn take(workspace: &Path, folder: PathBuf, before: &Scan) -> Result<Origin, String> {
        let hashes = Hashes::of(before);
        let root_mode = fs::metadata(workspace).map_err(|error| error.to_string())?.mode() & 0o7777;
        fs::DirBuilder::new().mode(0o700).create(&folder).map_err(|error| error.to_string())?;
        let identity = identity(workspace).map_err(|error| error.to_string())?;
        let origin = Origin { folder, workspace: workspace.to_path_buf(), root_mode, identity, hashes };
        copy_whole(workspace, &origin.folder, &Limits::default()).map_err(|fault| fault.to_string())?;
        match origin.is_whole() {
            true => Ok(origin),
            false => Err("the workspace holds what cannot be copied (a socket, a device, a pipe)".to_owned()),
        }
    }

    fn is_whole(&self) -> bool {
        holds(&self.folder, &self.hashes)
    }

    /// Puts the workspace back. What is in it now is gone; the copy stays, also after a crash in the middle.
    pub(super) fn restore(&self) -> Result<Scan, ResetFault> {
        if !self.is_whole() {
            return Err(ResetFault::Agent("the agent changed the copy that was kept".to_owned()));
        }
        // By a link in its place the agent could have us empty any folder of the user.
        if identity(&self.workspace).ok() != Some(self.identity) {
            return Err(ResetFault::Agent(
                "the agent put something else in the workspace's place".to_owned(),
            ));
        }
        let why = match self.put_back() {
            Ok(scan) if Hashes::of(&scan).v2 == self.hashes.v2 => return Ok(scan),
            Ok(_) => "the workspace differs from its copy".to_owned(),
            Err(why) => why,
        };
        Err(if self.works_elsewhere() { ResetFault::Agent(why) } else { ResetFault::Desk(why) })
    }

    fn put_back(&self) -> Result<Scan, String> {
        let text = |error: std::io::Error| error.to_string();
        fs::set_permissions(&self.workspace, Permissions::from_mode(self.root_mode | 0o700)).map_err(text)?;
        for entry in fs::read_dir(&self.workspace).map_err(text)? {
            remove(&entry.map_err(text)?.path()).map_err(text)?;
        }
        copy_whole(&self.folder, &self.workspace, &Limits::default()).map_err(|fault| fault.to_string())?;
        let now = scan(&self.workspace, &Limits::default()).map_err(|fault: Fault| fault.to_string())?;
        fs::set_permissions(&self.workspace, Permissions::from_mode(self.root_mode)).map_err(text)?;
        Ok(now)
    }

    /// Ruling 16: the same step into an empty folder.
    fn works_elsewhere(&self) -> bool {
        let beside = self.folder.parent().unwrap_or(Path::new("."));
        let Ok(scratch) = tempfile::Builder::new().prefix("_empty_").tempdir_in(beside) else { return false };
        let works = copy_whole(&self.folder, scratch.path(), &Limits::default()).is_ok()
            && holds(scratch.path(), &self.hashes);
        super::folder::open_up(scratch.path());
        works
    }

    /// The copy is not needed any more.
    pub(super) fn discard(&self) {
        let _ = remove(&self.folder);
    }
}

fn holds(folder: &Path, hashes: &Hashes) -> bool {
    scan(folder, &Limits::default()).is_ok_and(|scan| Hashes::of(&scan).v2 == hashes.v2)
}

/// Removes a file, a link or a whole folder, also one that is closed to its owner.
pub(super) fn remove(path: &Path) -> std::io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(meta) if !meta.is_dir() => fs::remove_file(path),
        Ok(_) => {
            if fs::remove_dir_all(path).is_ok() {
                return Ok(());
            }
            super::folder::open_up(path);
            fs::remove_dir_all(path)
        }
    }
}

//! The run directory after an agent had the machine: what it changed there is noticed and written anew.

use super::RunError;
use super::folder::{Folder, identity};
use super::journal::Journal;
use crate::keydir;
use crate::store::write_atomic;
use canon::hex;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

impl Folder {
    /// After the agent: whether it left the run directory alone. It runs as the same user and may have found it. What it
    /// displaced, removed or edited is written anew from memory, so that what it leaves there cannot turn a refusal into
    /// a void run or into no receipt at all (ruling 16).
    pub(super) fn reclaim(&self, journal: &mut Journal) -> Result<bool, RunError> {
        let mut mine = identity(&self.run_dir).ok() == Some(self.identity);
        if !mine {
            self.make_anew().map_err(|error| self.failed(error))?;
        }
        // Rights that were taken away are the owner's to give back.
        let mode = fs::Permissions::from_mode(0o700);
        fs::set_permissions(&self.run_dir, mode).map_err(|error| self.failed(error))?;
        for (name, bytes) in &self.known {
            let Some(bytes) = bytes else { continue };
            let path = self.file(name);
            if !holds(&path, bytes) {
                mine = false;
                self.put_aside(&path);
                write_atomic(&path, bytes, 0o644).map_err(|error| RunError::Io(path, error))?;
            }
        }
        if let Some(chain) = journal.chain().filter(|chain| !chain.is_intact()) {
            mine = false;
            self.put_aside(&self.file(&self.chain_name()));
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
        let chain = self.chain_name();
        let ours =
            |name: &OsStr| *name == *chain || name.to_str().is_some_and(|name| self.known.contains_key(name));
        // Put aside already.
        let kept = |entry: &fs::DirEntry| !entry.file_name().as_encoded_bytes().starts_with(b"_planted-");
        let entries = fs::read_dir(&self.run_dir).into_iter().flatten().flatten().filter(kept);
        entries.filter(|entry| !ours(&entry.file_name())).map(|entry| entry.path()).collect()
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
}

/// Whether a regular file at `path` holds exactly `bytes`. Never reads more than that.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let same = || -> io::Result<bool> {
        let meta = fs::symlink_metadata(path)?;
        Ok(meta.is_file() && meta.len() == bytes.len() as u64 && fs::read(path)? == bytes)
    };
    same().unwrap_or(false)
}

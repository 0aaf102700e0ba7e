//! What a check sees of the frozen delivery: all of it, but for runner configuration that the suite did not allow
//! (ruling 19). The evidence itself is never handed to a check that may write.

use crate::command_suite::isolation::{Hidden, hidden};
use crate::workspace::{Fault, Kind, Limits, Scan, freeze};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The tree for the checks of a suite.
#[derive(Debug)]
pub(super) struct View {
    /// Its root: the frozen copy itself, or a second copy.
    pub(super) root: PathBuf,
    /// What it leaves out, for the record.
    pub(super) hidden: Vec<Hidden>,
}

/// The view for checks that only read: a second copy is made only when something must be left out.
pub(super) fn for_reading(
    frozen: &Path,
    scan: &Scan,
    allow: &[String],
    scratch: &Path,
) -> Result<View, Fault> {
    let paths: Vec<PathBuf> = scan
        .leaves
        .iter()
        .filter(|leaf| !leaf.excluded && leaf.kind != Kind::Directory)
        .map(|leaf| PathBuf::from(OsStr::from_bytes(&leaf.path)))
        .collect();
    // The globs were read when the suite was; one that fails here hides nothing less than everything it names.
    let hidden = hidden(&paths, allow).map_err(|error| Fault::CopyFailed(error.to_string()))?;
    if hidden.is_empty() {
        return Ok(View { root: frozen.to_path_buf(), hidden });
    }
    let root = scratch.join("view");
    copy_without(frozen, &root, &hidden)?;
    Ok(View { root, hidden })
}

/// A copy of the view that a check may write to.
pub(super) fn for_writing(view: &View, scratch: &Path) -> Result<PathBuf, Fault> {
    let root = scratch.join("workspace");
    copy_without(&view.root, &root, &view.hidden)?;
    Ok(root)
}

fn copy_without(from: &Path, to: &Path, hidden: &[Hidden]) -> Result<(), Fault> {
    freeze(from, to, &Limits::default())?;
    for hidden in hidden {
        match fs::remove_file(to.join(&hidden.path)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Fault::CopyFailed(error.to_string()));
            }
            _ => {}
        }
    }
    Ok(())
}

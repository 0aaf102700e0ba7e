//! What a check sees of the frozen delivery: all of it, but for runner configuration that the suite did not allow
//! (ruling 19). The evidence itself is never handed to a check that may write.

use crate::command_suite::isolation::{Hidden, Rule, hidden};
use crate::workspace::{Fault, Kind, Leaf, Limits, Scan, freeze};
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
    let mut hidden = hidden(&paths, allow).map_err(|error| Fault::CopyFailed(error.to_string()))?;
    for leaf in &scan.leaves {
        let path = PathBuf::from(OsStr::from_bytes(&leaf.path));
        if !leaf.excluded && leads_into_a_process(leaf) && !hidden.iter().any(|known| known.path == path) {
            hidden.push(Hidden { path, rule: &LINKS });
        }
    }
    if hidden.is_empty() {
        return Ok(View { root: frozen.to_path_buf(), hidden });
    }
    let root = scratch.join("view");
    copy_without(frozen, &root, &hidden)?;
    Ok(View { root, hidden })
}

/// A copy of the view at `root` that a check may write to, away from the suite's copy.
pub(super) fn for_writing(view: &View, root: &Path) -> Result<PathBuf, Fault> {
    copy_without(&view.root, root, &view.hidden)?;
    Ok(root.to_path_buf())
}

/// Links through which a delivery could reach what only the check's own process has: its working folder, its open files.
static LINKS: Rule = Rule {
    reader: "links into a process",
    globs: &[],
    why: "/proc/self and /dev/fd lead to the folders and files of the check, the suite among them",
};

/// A link whose text leads, from wherever the tree lies, below `/proc` or `/dev`.
fn leads_into_a_process(leaf: &Leaf) -> bool {
    let Kind::Link { target, .. } = &leaf.kind else { return false };
    let names: Vec<&[u8]> =
        target.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".").collect();
    // A relative one climbs past the root first: what follows the last `..` is then below it.
    let climbs = names.iter().rposition(|name| *name == b"..").map_or(0, |at| at + 1);
    let absolute = target.starts_with(b"/") || climbs > 0;
    absolute && names.get(climbs).is_some_and(|name| matches!(*name, b"proc" | b"dev"))
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

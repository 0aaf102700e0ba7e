//! The folder that the server serves. A client names what lies in it, and nothing else of this machine.

use crate::arguments::wrong;
use crate::wrong::{Refusal, Wrong};
use std::path::{Path, PathBuf};

/// A folder, with every link resolved.
#[derive(Clone, Debug)]
pub(crate) struct Root(PathBuf);

impl Root {
    pub(crate) fn new(folder: &Path) -> std::io::Result<Root> {
        let folder = folder.canonicalize()?;
        if folder.is_dir() { Ok(Root(folder)) } else { Err(std::io::ErrorKind::NotADirectory.into()) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// What an argument names, links resolved, when it lies in here. That a link is put in its place afterwards is not kept
    /// out: whoever can do that can start the command themselves.
    fn holds(&self, named: &Path) -> Option<PathBuf> {
        let found = self.0.join(named).canonicalize().ok()?;
        found.starts_with(&self.0).then_some(found)
    }
}

/// What the argument `name` names, in one of the folders; relative paths begin in the first.
pub(crate) fn inside(name: &str, text: &str, roots: &[&Root]) -> Result<PathBuf, Refusal> {
    let named = Path::new(text);
    if text.is_empty() {
        return Err(wrong(name, "an empty path"));
    }
    if let Some(found) = roots.iter().find_map(|root| root.holds(named)) {
        return Ok(found);
    }
    let there = roots.iter().any(|root| root.path().join(named).canonicalize().is_ok());
    // Of what lies elsewhere nothing is told, not even whether it is there.
    let within = roots.iter().any(|root| root.path().join(named).starts_with(root.path()));
    let climbs = named.components().any(|part| part == std::path::Component::ParentDir);
    if within && !climbs && !there {
        return Err(wrong(name, "there is no such path"));
    }
    Err(Refusal::new(Wrong::OutsideRoot, format!("{name}: not in the folder that this server serves")))
}

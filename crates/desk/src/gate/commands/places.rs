//! Where the desk put things, taken out of what runners say: those folders have other names in every run, and a record
//! of the same result must be the same record.

use std::path::{Component, Path, PathBuf};

/// The desk's own paths and what a record calls them.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Longest first, so that no path is replaced inside a longer one.
    needles: Vec<(String, &'static str)>,
}

impl Places {
    /// The folders of one check that starts in `cwd`. Runners name files by whole paths or from where they start.
    pub(super) fn add(&mut self, cwd: &Path, places: &[(&Path, &'static str)]) {
        for (path, name) in places {
            self.add_needle(path.to_str(), name);
            self.add_needle(from(cwd, path).to_str(), name);
        }
    }

    /// One name that is never anything but ours, as the last resort.
    pub(super) fn add_name(&mut self, path: &Path, name: &'static str) {
        self.add_needle(path.file_name().and_then(|name| name.to_str()), name);
    }

    fn add_needle(&mut self, needle: Option<&str>, name: &'static str) {
        // A path from a folder to itself is empty.
        let Some(needle) = needle.filter(|needle| !needle.is_empty()) else { return };
        if !self.needles.iter().any(|(known, _)| known == needle) {
            self.needles.push((needle.to_owned(), name));
            self.needles.sort_by_key(|(needle, _)| std::cmp::Reverse(needle.len()));
        }
    }

    /// The text with our paths replaced.
    pub(super) fn without(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (needle, name) in &self.needles {
            if text.contains(needle) {
                text = text.replace(needle, name);
            }
        }
        text
    }
}

/// The way from one absolute folder to another: `../../b/c`.
fn from(start: &Path, to: &Path) -> PathBuf {
    let (start, to): (Vec<Component<'_>>, Vec<_>) = (start.components().collect(), to.components().collect());
    let same = start.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = start[same..].iter().map(|_| Component::ParentDir);
    up.chain(to[same..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_replaced_however_they_are_written() {
        let mut places = Places::default();
        let (suite, work) = (Path::new("/tmp/gate/check-1-ab/suite"), Path::new("/tmp/run/frozen"));
        places.add(work, &[(suite, "{suite}"), (work, "{workspace}")]);
        places.add_name(Path::new("/tmp/gate/check-1-ab"), "{check}");
        let said = "file:///tmp/gate/check-1-ab/suite/a ../../gate/check-1-ab/suite/b /tmp/run/frozen/c";
        assert_eq!(places.without(said), "file://{suite}/a {suite}/b {workspace}/c");
        assert_eq!(places.without("tmp.gate.check-1-ab.suite"), "tmp.gate.{check}.suite");
    }
}

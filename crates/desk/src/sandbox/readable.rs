//! What an enclosed agent may read of the host: where its programs are installed, and nothing of anybody's data.

use super::{host, program_roots};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// Where programs install themselves below a home directory. Not `.local` as a whole: it holds key rings.
const BELOW_HOME: [&str; 26] = [
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/claude",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".asdf",
    ".bun",
    ".cargo/bin",
    ".deno",
    ".nodenv",
    ".npm-global",
    ".npm-packages",
    ".nvm",
    ".opencode/bin",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    ".yarn/bin",
    "go/bin",
    "node_modules",
];

/// Variables beside `PATH` that list folders programs are read from.
const LISTS: [&str; 5] = ["PATH", "PYTHONPATH", "PYTHONHOME", "NODE_PATH", "VIRTUAL_ENV"];

/// What is asked about.
pub(super) struct Asked<'a> {
    pub(super) command: &'a [OsString],
    pub(super) env: &'a [(OsString, OsString)],
    pub(super) home: &'a Path,
    pub(super) workspace: &'a Path,
    /// Not a folder that one of these lies in is made readable as a whole.
    pub(super) private: &'a [PathBuf],
}

impl Asked<'_> {
    /// The folders and files: where each lies inside, which is where it is named and where it really is, and where it really
    /// is.
    pub(super) fn readable(&self) -> BTreeMap<PathBuf, PathBuf> {
        let mut found = BTreeMap::new();
        for (_, value) in self.env.iter().filter(|(name, _)| LISTS.iter().any(|list| name == list)) {
            for folder in std::env::split_paths(value).filter(|folder| folder.is_absolute()) {
                self.take(&self.installation(&folder), &mut found);
            }
        }
        for word in self.command {
            self.word(word, &mut found);
        }
        for name in BELOW_HOME {
            self.take(&self.home.join(name), &mut found);
        }
        // A link that lies in a folder which is there anyway is there too.
        let links: Vec<PathBuf> =
            found.iter().filter(|(named, real)| named != real).map(|(named, _)| named.clone()).collect();
        for link in links {
            if found.keys().any(|other| link != *other && link.starts_with(other)) {
                found.remove(&link);
            }
        }
        found
    }

    /// A program of the command, or a file that it names.
    fn word(&self, word: &OsStr, found: &mut BTreeMap<PathBuf, PathBuf>) {
        let Some(path) = self.file_of(word) else { return };
        for root in program_roots(&path) {
            self.take(&root, found);
        }
        self.take(&self.installation(&path), found);
    }

    fn file_of(&self, word: &OsStr) -> Option<PathBuf> {
        if word.as_encoded_bytes().contains(&b'/') {
            let path = self.workspace.join(word);
            return path.is_file().then_some(path);
        }
        let path = self.env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value)?;
        let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(word)).find(|file| file.is_file())
    }

    /// What belongs together: a tree of node modules, the prefix above `bin`; else the path alone.
    fn installation(&self, path: &Path) -> PathBuf {
        let modules = path.ancestors().filter(|part| part.ends_with("node_modules")).last();
        if let Some(modules) = modules {
            return modules.to_path_buf();
        }
        match path.parent() {
            Some(prefix) if path.ends_with("bin") || path.ends_with("sbin") => {
                if self.holds_private(prefix) || self.keeps_data(prefix) {
                    path.to_path_buf()
                } else {
                    prefix.to_path_buf()
                }
            }
            _ => path.to_path_buf(),
        }
    }

    /// Hidden folders of the home directory hold more than programs: key rings, credentials. Of those only what the list
    /// above names is an installation.
    fn keeps_data(&self, prefix: &Path) -> bool {
        let below = |home: &Path, prefix: &Path| {
            let Ok(inside) = prefix.strip_prefix(home) else { return false };
            let first = inside.components().next();
            let hidden = first.is_some_and(|first| first.as_os_str().as_encoded_bytes().starts_with(b"."));
            hidden && !BELOW_HOME.iter().any(|one| inside.starts_with(one))
        };
        let real = (self.home.canonicalize(), prefix.canonicalize());
        below(self.home, prefix) || matches!(real, (Ok(home), Ok(prefix)) if below(&home, &prefix))
    }

    fn take(&self, path: &Path, found: &mut BTreeMap<PathBuf, PathBuf>) {
        let Ok(real) = path.canonicalize() else { return };
        let plain = path.components().all(|part| !matches!(part, Component::ParentDir | Component::CurDir));
        let shown =
            |path: &Path| host::PROGRAMS.iter().chain(host::FOR_AGENTS).any(|one| path.starts_with(one));
        // The workspace is there, and writable.
        let fits = |path: &Path| !path.starts_with(self.workspace) && !self.holds_private(path);
        if !fits(&real) {
            return;
        }
        for path in [plain.then_some(path), Some(&real)].into_iter().flatten() {
            if !shown(path) && fits(path) {
                found.insert(path.to_path_buf(), real.clone());
            }
        }
    }

    /// The whole of the home directory, of the temporary folder or of anything above the desk's own places is nobody's
    /// installation.
    fn holds_private(&self, path: &Path) -> bool {
        let private = self.private.iter().map(PathBuf::as_path);
        let mut all = private.chain([self.home, self.workspace, Path::new("/tmp"), Path::new("/etc/passwd")]);
        path.components().count() < 2 || all.any(|one| one.starts_with(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(top: &Path, names: &[&str]) {
        names.iter().for_each(|name| std::fs::create_dir_all(top.join(name)).unwrap());
    }

    #[test]
    fn installations_are_readable_and_homes_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        folders(
            &top,
            &["home/bin", "home/.ssh", "home/.local/bin", "node/bin", "x/node_modules/.bin", "ws/bin"],
        );
        // Programs are beside credentials and key rings there.
        folders(&top, &["home/.cargo/bin", "home/.local/share/keyrings", "home/.local/share/bin"]);
        folders(&top, &["real/v1/bin"]);
        std::os::unix::fs::symlink(top.join("real/v1"), top.join("real/current")).unwrap();
        std::fs::write(top.join("agent.py"), "").unwrap();
        let [home, workspace] = ["home", "ws"].map(|name| top.join(name));
        let path =
            ["home/bin", "node/bin", "x/node_modules/.bin", "ws/bin", "real/current/bin", "home", "none"];
        let beside = ["home/.cargo/bin", "home/.local/bin", "home/.local/share/bin"];
        let path = std::env::join_paths(path.into_iter().chain(beside).map(|name| top.join(name))).unwrap();
        let env = [("PATH".into(), path)];
        let command = ["python3".into(), "../agent.py".into(), "../home".into()];
        let asked = Asked { command: &command, env: &env, home: &home, workspace: &workspace, private: &[] };
        let got = asked.readable();
        let want = [
            "agent.py",
            "home/.cargo/bin",
            "home/.local/bin",
            "home/.local/share/bin",
            "home/bin",
            "node",
            "real/current",
            "real/v1",
            "x/node_modules",
        ];
        // Beside what the system's own python3 needs, wherever that is.
        let below: Vec<&Path> = got.keys().filter_map(|path| path.strip_prefix(&top).ok()).collect();
        assert_eq!(below, want.map(Path::new));
        assert_eq!(got[&top.join("real/current")], top.join("real/v1"));
        let links = got.iter().filter(|(named, real)| named != real && named.starts_with(&top));
        assert_eq!(links.count(), 1);
    }
}

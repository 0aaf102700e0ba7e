//! The programs that a suite names, found before the agent starts (rulings 16 and 17): an agent must not choose its own
//! judge by what it writes into a folder of `PATH`, into its workspace, or into a toolchain file.

use crate::sandbox::{program_path, program_roots};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program and what it needs to be seen inside the sandbox.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its path without links to its folder.
    pub program: PathBuf,
    /// Folders that it needs besides the system's.
    pub roots: Vec<PathBuf>,
    /// Variables that it needs.
    pub env: Vec<(OsString, OsString)>,
    seen: Option<Identity>,
}

/// What a file was. Its change time cannot be set by an ordinary user.
type Identity = (u64, u64, u64, i64, i64);

fn identity(path: &Path) -> Option<Identity> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino(), meta.size(), meta.ctime(), meta.ctime_nsec()))
}

impl Tool {
    /// Finds the program that `name` stands for here, or nothing. Folders of `PATH` that are relative or lie in the
    /// workspace are passed over.
    ///
    /// Version managers are asked which program they would start, outside the sandbox, where their own files are in
    /// reach, and not in the workspace, whose files they would obey.
    pub fn find(name: &str, workspace: &Path) -> Option<Tool> {
        let found = if name.contains('/') {
            let path = PathBuf::from(name);
            path.is_absolute().then_some(path)?
        } else {
            in_path(name, workspace)?
        };
        let is_proxy = found.canonicalize().is_ok_and(|real| real.file_name() == Some(OsStr::new("rustup")));
        let program = if is_proxy {
            asked(Path::new("rustup"), &["which", name])
        } else if is_python(name) && is_script(&found) {
            asked(&found, &["-I", "-c", "import sys; print(sys.executable)"])
        } else {
            None
        };
        let program = program_path(&program.unwrap_or(found));
        if program.starts_with(workspace) {
            return None;
        }
        let mut env = Vec::new();
        // A toolchain finds its other programs beside the first one.
        if let Some(folder) = program.parent().filter(|_| !name.contains('/')) {
            let mut path = folder.as_os_str().to_owned();
            path.push(":/usr/local/bin:/usr/bin:/bin");
            env.push(("PATH".into(), path));
        }
        Some(Tool { roots: program_roots(&program), env, seen: identity(&program), program })
    }

    /// Whether the program still is the file that was found.
    pub fn is_unchanged(&self) -> bool {
        self.seen.is_some() && identity(&self.program) == self.seen
    }
}

fn is_python(name: &str) -> bool {
    matches!(name, "python" | "python3")
}

fn in_path(name: &str, workspace: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let executable =
        |path: &PathBuf| rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file();
    let outside = |folder: &PathBuf| {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        folder.is_absolute() && !real.starts_with(workspace)
    };
    std::env::split_paths(&path).filter(outside).map(|folder| folder.join(name)).find(executable)
}

fn is_script(program: &Path) -> bool {
    let mut head = [0; 2];
    let read = std::fs::File::open(program).and_then(|mut file| std::io::Read::read(&mut file, &mut head));
    read.is_ok() && head == *b"#!"
}

fn asked(program: &Path, arguments: &[&str]) -> Option<PathBuf> {
    let mut command = Command::new(program);
    let output = command.args(arguments).current_dir("/").stdin(Stdio::null()).output().ok()?;
    let text = std::str::from_utf8(&output.stdout).ok()?.trim();
    (output.status.success() && Path::new(text).is_absolute()).then(|| PathBuf::from(text))
}

//! Our Python texts and how an interpreter is started with them.

use super::Isolation;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Parses suite texts and compiles our programs.
pub(super) const PREPARE: &str = include_str!("python/prepare.py");

/// The driver of in-process mode.
const IN_PROCESS: &str = concat!(
    include_str!("python/runner.py"),
    include_str!("python/start.py"),
    include_str!("python/inprocess.py")
);

/// The checker of process mode.
const CHECKER: &str = concat!(
    include_str!("python/runner.py"),
    include_str!("python/start.py"),
    include_str!("python/wire.py"),
    include_str!("python/link.py"),
    include_str!("python/standins.py"),
    include_str!("python/checker.py")
);

/// The candidate's process of process mode.
pub(super) const WORKER: &str = concat!(
    include_str!("python/runner.py"),
    include_str!("python/start.py"),
    include_str!("python/wire.py"),
    include_str!("python/worker.py")
);

/// How a process of a check starts, for other programs of the house that hold a candidate. Python source with
/// `give_up_privileges` and `settle_start`.
pub const START: &str = include_str!("python/start.py");

/// The same, and plain literals over a socket: `Channel`, `encode`, `decode`, `mutable_arguments`, `update_argument`.
pub const START_AND_WIRE: &str = concat!(include_str!("python/start.py"), include_str!("python/wire.py"));

/// The program that runs the checks of a file.
pub(super) fn checker(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::Process => CHECKER,
        Isolation::InProcess => IN_PROCESS,
    }
}

/// Which Python runs the checks.
#[derive(Clone, Debug)]
pub struct Interpreter {
    /// The program; looked up in PATH when it has no separator.
    pub program: PathBuf,
    /// Folders with third-party packages that suite and candidate may import. Added as they are: no `.pth`
    /// file and no `sitecustomize` of them is processed.
    pub packages: Vec<PathBuf>,
}

impl Default for Interpreter {
    fn default() -> Interpreter {
        Interpreter { program: PathBuf::from("python3"), packages: Vec::new() }
    }
}

impl Interpreter {
    /// Arguments of an isolated start: no `site` (so no `.pth`, `sitecustomize`, `usercustomize`), no user folder,
    /// no bytecode written. Not `-I`: the environment is the desk's own anyway, and `-I` would also ignore the
    /// fixed hash seed, without which the order of a set, and so a verdict, could differ between two runs.
    pub fn isolated_args(&self, script: &Path) -> Vec<OsString> {
        let flags = ["-s", "-S", "-B", "-X", "utf8"].map(OsString::from);
        flags.into_iter().chain([script.into()]).collect()
    }
}

/// The whole environment of a process. The variables matter to programs that a check or candidate starts.
pub fn environment(scratch: &Path) -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let fixed = [
        ("LANG", "C.UTF-8"),
        ("LC_ALL", "C.UTF-8"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("PYTHONNOUSERSITE", "1"),
        ("PYTHONHASHSEED", "0"),
    ];
    let mut env: Vec<(OsString, OsString)> =
        vec![("PATH".into(), path), ("HOME".into(), scratch.into()), ("TMPDIR".into(), scratch.into())];
    env.extend(fixed.map(|(key, value)| (key.into(), value.into())));
    env
}

//! Measured confinement for checks (receiving-desk.md sections 9 and 31 item 7; PC-36, PC-39, PC-40).
//!
//! What a sandbox is called follows from what was tried inside it, never from what was asked for:
//! [`Sandbox::establish`] starts a probe in each candidate level and reports the best one whose probe came back
//! with everything blocked that the level promises. There is no silent way to [`Level::None`].

mod canary;
mod confine;
pub(crate) mod enclosure;
mod family;
mod helper;
mod host;
mod inside;
pub(crate) mod job;
mod limits;
mod measure;
mod outside;
mod program;
mod readable;
mod relay;
mod rootfs;
mod seccomp;
pub(crate) mod sys;
mod unavailable;

pub use crate::supervise::{Cannot, Captured, Ended, Output, Running, StartError, Status, Stdin, Strays};
pub(crate) use family::sweep;
pub use helper::helper_main;
pub use limits::Limits;
pub use measure::{Answer, Measured, Probe};
pub use program::{program_path, program_roots};
pub use unavailable::{Cause, Unavailable};

/// The probe of an enclosure without an errand: it ends at once.
pub(crate) fn probe_command() -> Vec<OsString> {
    vec![rootfs::PROBE.into(), job::CANARY.into()]
}

use crate::supervise::{Streams, launch};
use job::{Job, Mode, Root};
use rustix::fs::{FileType, Mode as RawMode, OFlags};
use std::ffi::OsString;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How much is taken away from a check. Ordered: more is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Limits, time limit, clean environment, all processes ended. Only on explicit request.
    None,
    /// Files, network and other processes are out of reach by Landlock and seccomp; names of them may be visible.
    Landlock,
    /// A root, process list, network and user of its own, and all of the above.
    Full,
}

// Closed list, signed into receipts.
canon::codes! {
    impl Level: self {
        Level::None => "none",
        Level::Landlock => "landlock",
        Level::Full => "full",
    }
}

/// What the caller asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The best level that measures well; never `None`.
    Auto,
    /// No confinement, by explicit request.
    None,
}

/// How to establish a sandbox; [`Sandbox::establish`] for the usual case.
#[derive(Clone, Debug)]
pub struct Establish {
    /// What is asked for.
    pub choice: Choice,
    /// The least that is good enough (`--require-sandbox`).
    pub floor: Option<Level>,
    /// The binary whose `main` calls [`helper_main`]; `None` is the running one.
    pub helper: Option<PathBuf>,
    /// A directory, such as the run directory, in which one of the probe's sockets is placed.
    pub bait_directory: Option<PathBuf>,
    /// Behave as on a machine that forbids user namespaces. For tests.
    pub forbid_userns: bool,
}

impl Establish {
    /// As [`Sandbox::establish`], with the other fields at their usual values.
    pub fn new(choice: Choice, floor: Option<Level>) -> Establish {
        Establish { choice, floor, helper: None, bait_directory: None, forbid_userns: false }
    }

    /// Measures (once per process and setting) and takes the best level.
    pub fn run(&self) -> Result<Sandbox, Unavailable> {
        let at = |level| -> Result<Sandbox, Cause> {
            let measured = measure::measured(self, level)?;
            Ok(Sandbox { setting: self.clone(), level, measured, not_full: None, stop: None })
        };
        let floor = self.floor.unwrap_or(Level::None);
        if self.choice == Choice::None {
            let unavailable = |cause| Unavailable { floor, full: None, landlock: None, none: Some(cause) };
            let sandbox = at(Level::None).map_err(unavailable)?;
            return if floor == Level::None { Ok(sandbox) } else { Err(unavailable(Cause::BelowFloor)) };
        }
        let full = match at(Level::Full) {
            Ok(sandbox) => return Ok(sandbox),
            Err(cause) => cause,
        };
        match at(Level::Landlock) {
            Ok(sandbox) if floor <= Level::Landlock => Ok(Sandbox { not_full: Some(full), ..sandbox }),
            Ok(_) => {
                Err(Unavailable { floor, full: Some(full), landlock: Some(Cause::BelowFloor), none: None })
            }
            Err(cause) => Err(Unavailable { floor, full: Some(full), landlock: Some(cause), none: None }),
        }
    }
}

/// One run of a check.
#[derive(Debug)]
pub struct Spec {
    /// Program and arguments; looked up in `PATH` when it has no slash. No shell.
    pub argv: Vec<OsString>,
    /// Directory to start in; must be visible inside.
    pub cwd: PathBuf,
    /// Added to the clean environment, over it where names are equal.
    pub env: Vec<(OsString, OsString)>,
    /// Standard input.
    pub stdin: Stdin,
    /// Visible inside, not writable. Absolute, no symbolic link as last part.
    pub read_only: Vec<PathBuf>,
    /// Visible and writable inside. Absolute, no symbolic link as last part.
    pub writable: Vec<PathBuf>,
    /// An existing directory for HOME and TMPDIR. At level Full a memory file system of `Limits::scratch_bytes` lies
    /// over it and nothing reaches the disk. `None`: `/tmp` at level Full, else a temporary directory.
    pub scratch: Option<PathBuf>,
    /// Descriptors for the program and their numbers there. The desk's copies are closed by starting, so the other
    /// end of a pipe sees the end. Never pass an unconnected or datagram socket: it reaches any address.
    pub pass_fds: Vec<(OwnedFd, RawFd)>,
    /// Limits.
    pub limits: Limits,
}

impl Spec {
    /// A command in a directory that it sees read-only, with the limits of a check.
    pub fn new(argv: Vec<OsString>, cwd: impl Into<PathBuf>) -> Spec {
        let cwd = cwd.into();
        Spec {
            argv,
            read_only: vec![cwd.clone()],
            cwd,
            env: Vec::new(),
            stdin: Stdin::Null,
            writable: Vec::new(),
            scratch: None,
            pass_fds: Vec::new(),
            limits: Limits::check(),
        }
    }
}

/// A level that was measured and can start checks.
#[derive(Clone, Debug)]
pub struct Sandbox {
    setting: Establish,
    level: Level,
    measured: Measured,
    not_full: Option<Cause>,
    stop: Option<Arc<AtomicBool>>,
}

impl Sandbox {
    /// Measures what this machine allows and takes the best level, at least `floor`.
    pub fn establish(choice: Choice, floor: Option<Level>) -> Result<Sandbox, Unavailable> {
        Establish::new(choice, floor).run()
    }

    /// The level that the measurements support.
    pub fn level(&self) -> Level {
        self.level
    }

    /// What was measured inside.
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    /// Why `Auto` did not reach [`Level::Full`]; `None` when it did, or was not asked to.
    pub fn not_full(&self) -> Option<&Cause> {
        self.not_full.as_ref()
    }

    /// The same sandbox; what runs in it is ended as soon as `stop` is set.
    #[must_use]
    pub fn ended_by(self, stop: &Arc<AtomicBool>) -> Sandbox {
        Sandbox { stop: Some(Arc::clone(stop)), ..self }
    }

    /// Starts a check.
    pub fn start(&self, spec: Spec) -> Result<Running, StartError> {
        let running = start_at(&self.setting, self.level, spec)?;
        match &self.stop {
            None => Ok(running),
            Some(stop) => running.ended_by(stop).map_err(|error| StartError::System("stop", error)),
        }
    }
}

fn start_at(setting: &Establish, level: Level, spec: Spec) -> Result<Running, StartError> {
    let temporary = match (&spec.scratch, level) {
        (None, Level::Landlock | Level::None) => {
            let made = tempfile::Builder::new().prefix("touchstone-scratch-").tempdir();
            Some(made.map_err(|e| StartError::System("scratch", e))?)
        }
        _ => None,
    };
    let scratch = spec.scratch.or_else(|| temporary.as_ref().map(|t| t.path().to_path_buf()));
    let mut roots = Vec::new();
    for (paths, writable) in [(&spec.read_only, false), (&spec.writable, true)] {
        for path in paths {
            roots.push(root(path, writable)?);
        }
    }
    if let Some(scratch) = &scratch {
        root(scratch, true)?;
    }
    let (fds, pass) = spec.pass_fds.into_iter().unzip();
    let job = Job {
        mode: match level {
            Level::None => Mode::Plain,
            Level::Landlock => Mode::Landlock,
            Level::Full => Mode::Full,
        },
        forbid_userns: setting.forbid_userns,
        argv: spec.argv,
        cwd: spec.cwd,
        env: environment(scratch.as_deref().unwrap_or(Path::new("/tmp")), spec.env),
        roots,
        scratch,
        pass,
        limits: spec.limits,
        enclosed: None,
    };
    let streams = Streams { stdin: spec.stdin, stdout: Output::Capture, stderr: Output::Capture };
    launch(job, streams, fds, setting.helper.as_deref(), temporary)
}

/// Section 9: PATH, a home that is not the workspace, UTF-8, no bytecode files; then the caller's.
fn environment(scratch: &Path, more: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let usual: [(&str, OsString); 6] = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
        ("HOME", scratch.into()),
        ("TMPDIR", scratch.into()),
        ("LANG", "C.UTF-8".into()),
        ("LC_ALL", "C.UTF-8".into()),
        ("PYTHONDONTWRITEBYTECODE", "1".into()),
    ];
    let mut all: std::collections::BTreeMap<OsString, OsString> =
        usual.into_iter().map(|(name, value)| (name.into(), value)).collect();
    all.extend(more);
    all.into_iter().collect()
}

/// Looks at a root without following a link in its place, and remembers which object it was (ruling 16).
fn root(path: &Path, writable: bool) -> Result<Root, StartError> {
    let plain = path.is_absolute() && path.components().all(|c| !matches!(c, Component::ParentDir));
    if !plain || path.components().count() < 2 {
        return Err(StartError::NotAbsolute(path.into()));
    }
    let failed = |error: rustix::io::Errno| StartError::Root(path.into(), error.into());
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, RawMode::empty()).map_err(failed)?;
    let seen = rustix::fs::fstat(&fd).map_err(failed)?;
    match FileType::from_raw_mode(seen.st_mode) {
        FileType::Directory | FileType::RegularFile => {}
        _ => return Err(StartError::Root(path.into(), io::Error::other("neither a directory nor a file"))),
    }
    Ok(Root { path: path.into(), source: None, writable, device: seen.st_dev, inode: seen.st_ino })
}

//! The seam to process running: what a suite run asks for, implemented by the sandbox (and by a plain spawner in
//! the tests). Nothing here starts a process.

use std::ffi::OsString;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::path::PathBuf;
use std::time::Duration;

/// What a process is for. A sandbox may give each role other rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Parses suite texts; executes nothing of suite or delivery.
    Discovery,
    /// Runs the checks. In in-process mode it also holds the candidate.
    Checker,
    /// Runs the candidate for a checker; must not see the suite.
    Worker,
}

/// One process to start.
#[derive(Debug)]
pub struct Job {
    /// The interpreter, as configured; looked up in PATH when it has no separator.
    pub program: PathBuf,
    /// Arguments after the program.
    pub args: Vec<OsString>,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Working directory.
    pub cwd: PathBuf,
    /// Folders the process reads besides the system's: the frozen workspace, the suite copies, the runtime.
    pub read_only: Vec<PathBuf>,
    /// The one folder it may write.
    pub scratch: PathBuf,
    /// Descriptors and the numbers they have in the child. Descriptors 0, 1 and 2 that are not listed are
    /// the null device, the null device and the captured error stream.
    pub pass_fds: Vec<(OwnedFd, RawFd)>,
    /// Wall limit; at its end the process group is killed.
    pub wall: Duration,
    /// What it is for.
    pub role: Role,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Exit code.
    Code(i32),
    /// Ended by this signal.
    Signal(i32),
    /// Killed at its wall limit.
    TimedOut,
}

/// The end of a process.
#[derive(Clone, Debug)]
pub struct Exit {
    /// How it ended.
    pub status: Status,
    /// The last part of its error stream, lossily decoded.
    pub stderr_tail: String,
}

/// A running process (group).
pub trait Process: Send {
    /// Waits for the end, at most until the wall limit, and leaves no process of the group behind.
    fn wait(&mut self) -> io::Result<Exit>;
    /// Kills the group. Killing an ended process is fine.
    fn kill(&mut self);
}

/// A process that could not be started. Always the desk's environment, never the delivery (ruling 16).
#[derive(Debug)]
pub enum SpawnError {
    /// The program does not exist (ruling 17).
    ProgramMissing(PathBuf),
    /// Anything else.
    Io(io::Error),
}

impl From<io::Error> for SpawnError {
    fn from(error: io::Error) -> SpawnError {
        SpawnError::Io(error)
    }
}

/// Starts processes.
pub trait Spawner: Sync {
    /// Starts one; the descriptors of the job are closed in this process when it returns.
    fn start(&self, job: Job) -> Result<Box<dyn Process>, SpawnError>;
}

//! What is refused before anything starts, with exit code 64 (desk specification 10.1 and 11, ruling 20).

use crate::agents::PointError;
use crate::gate::SuiteError;
use crate::workspace::Fault;
use std::io;
use std::path::PathBuf;

/// Wrong use, found before the agent starts (64).
#[derive(Debug)]
pub enum UsageError {
    /// The workspace is no directory, or cannot be read.
    Workspace(PathBuf, Fault),
    /// The suite does not exist or cannot be used.
    Suite(PathBuf, SuiteError),
    /// The suite and the workspace lie inside one another.
    SuiteInside(PathBuf),
    /// The run directory and the workspace or suite lie inside one another.
    RunDirInside(PathBuf),
    /// The run directory has something in it.
    RunDirNotEmpty(PathBuf),
    /// The run directory cannot be made.
    RunDir(PathBuf, io::Error),
    /// A task id that is empty, too long, or has control characters.
    TaskId(String),
    /// No home directory for the default run directory.
    NoHome,
    /// Temporary files cannot be made, or would lie where the agent or the suite is.
    Temporary(PathBuf, String),
    /// A test file of the suite declares no check: it would be refused whatever is delivered.
    NothingDeclared(String),
    /// `--require-sandbox` and `--sandbox none` together.
    FloorWithoutSandbox,
    /// `--suite` and `--allow-no-suite` together.
    SuiteAndNoSuite,
    /// The preset does not fit the command.
    Agent(PointError),
    /// A tier above C is required of an agent that is not to be enclosed.
    TierWithoutEnclosure,
    /// An agent is to be enclosed without the proxy that is its way out.
    EnclosureWithoutCalls,
    /// Settings of retry and feedback that do not fit together (11).
    Retry(&'static str),
}

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            UsageError::Workspace(path, fault) => write!(f, "workspace {}: {fault}", path.display()),
            UsageError::Suite(path, error) => write!(f, "suite {}: {error}", path.display()),
            UsageError::SuiteInside(path) => write!(
                f,
                "suite {}: suite and workspace must not lie inside one another: a suite that the agent can \
                 edit is no suite; copy it elsewhere",
                path.display()
            ),
            UsageError::RunDirInside(path) => write!(
                f,
                "run directory {}: it must not share a path with the workspace or the suite; choose another",
                path.display()
            ),
            UsageError::RunDirNotEmpty(path) => write!(
                f,
                "run directory {}: it is not empty, and receipts are never overwritten; choose another",
                path.display()
            ),
            UsageError::RunDir(path, error) => write!(f, "run directory {}: {error}", path.display()),
            UsageError::TaskId(id) => write!(
                f,
                "task id {}: 1 to 200 characters without control characters are needed",
                canon::shown(id.as_bytes())
            ),
            UsageError::Temporary(path, why) => {
                write!(f, "temporary folder {}: {why}; set TMPDIR", path.display())
            }
            UsageError::NothingDeclared(file) => write!(
                f,
                "suite file {file} declares no check: it does not parse, or has no top-level \"def check_...\""
            ),
            UsageError::NoHome => f.write_str("no home directory: give --run-dir"),
            UsageError::FloorWithoutSandbox => {
                f.write_str("--require-sandbox and --sandbox none contradict one another: drop one")
            }
            UsageError::SuiteAndNoSuite => {
                f.write_str("--suite and --allow-no-suite contradict one another: drop one")
            }
            UsageError::TierWithoutEnclosure => {
                f.write_str("--require-tier and --readable are about an enclosed agent: add --enclose")
            }
            UsageError::EnclosureWithoutCalls => f.write_str(
                "--enclose and --calls ignore contradict one another: the way out of an enclosure is the proxy",
            ),
            UsageError::Agent(error) => write!(f, "{error}"),
            UsageError::Retry(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for UsageError {}

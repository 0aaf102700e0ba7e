//! What the user asked for.

use super::retry::{FeedbackInto, Retry};
use crate::agents::Preset;
use crate::sandbox::{Choice, Level};
use ledger::receipts::tier::Tier;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The agent's working folder.
    pub workspace: PathBuf,
    /// Where receipts go; nothing for a fresh folder under the home directory.
    pub run_dir: Option<PathBuf>,
    /// The suite.
    pub suite: Option<PathBuf>,
    /// Nothing is measured, and the user said so.
    pub allow_no_suite: bool,
    /// The desk judges (arm `RUN-ON`); otherwise it only records (arm `RUN-OFF`: no checks, no receipt).
    pub gated: bool,
    /// Name of the task; nothing for a generated one.
    pub task_id: Option<String>,
    /// Wall limit of the agent in milliseconds, for each attempt.
    pub timeout_ms: Option<u64>,
    /// Wall limit per test file or check in milliseconds.
    pub test_timeout_ms: u64,
    /// What happens after an attempt whose checks failed.
    pub retry: Retry,
    /// Most attempts; nothing for the default of the mode.
    pub max_attempts: Option<u32>,
    /// How the agent is told what failed.
    pub feedback_into: FeedbackInto,
    /// The agent reads what the desk reads.
    pub inherit_stdin: bool,
    /// The agent's standard output goes to `agent_stdout.log` and not to the screen.
    pub capture_stdout: bool,
    /// The model channel goes through a recording proxy.
    pub record_calls: bool,
    /// Its port on the loopback address; 0 for any free one.
    pub port: u16,
    /// A wire that nobody named goes to the provider's public address.
    pub allow_public_upstream: bool,
    /// Most calls of the run.
    pub max_calls: Option<u64>,
    /// Most bytes of all bodies of the run.
    pub max_bytes: Option<u64>,
    /// What points the agent at the proxy, beside the environment.
    pub agent: Option<Preset>,
    /// The model that its configuration names.
    pub agent_model: Option<String>,
    /// The agent runs in namespaces of its own, and its only way out is the proxy.
    pub enclose: bool,
    /// The least tier; nothing for B with `enclose`.
    pub require_tier: Option<Tier>,
    /// What an enclosed agent may read beside its installation.
    pub readable: Vec<PathBuf>,
    /// Behave as on a machine that forbids user namespaces to the agent. For tests.
    pub forbid_userns: bool,
    /// How checks are confined.
    pub sandbox: Choice,
    /// The least confinement.
    pub floor: Option<Level>,
    /// The frozen copies are removed at the end.
    pub discard_frozen: bool,
    /// Set from outside when the user wants the run to stop.
    pub interrupted: Arc<AtomicBool>,
    /// The agent's command.
    pub command: Vec<OsString>,
}

impl Options {
    /// The usual settings for `command` in `workspace`.
    pub fn new(workspace: PathBuf, command: Vec<OsString>) -> Options {
        Options {
            workspace,
            run_dir: None,
            suite: None,
            allow_no_suite: false,
            gated: true,
            task_id: None,
            timeout_ms: None,
            test_timeout_ms: 10_000,
            retry: Retry::None,
            max_attempts: None,
            feedback_into: FeedbackInto::File,
            inherit_stdin: false,
            capture_stdout: false,
            record_calls: false,
            port: 0,
            allow_public_upstream: false,
            max_calls: None,
            max_bytes: None,
            agent: None,
            agent_model: None,
            enclose: false,
            require_tier: None,
            readable: Vec::new(),
            forbid_userns: false,
            sandbox: Choice::Auto,
            floor: None,
            discard_frozen: false,
            interrupted: Arc::default(),
            command,
        }
    }

    /// The arm of the run (12.1).
    pub fn arm(&self) -> &'static str {
        if self.gated { "RUN-ON" } else { "RUN-OFF" }
    }
}

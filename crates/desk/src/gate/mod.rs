//! The one gate decision: a frozen delivery and a suite go in, a judgement comes out (desk specification section 8,
//! rulings 10 to 21).

mod commands;
mod python;
mod stored_suite;
mod tools;
mod view;

pub use stored_suite::{StoredSuite, SuiteError, SuiteKind};
pub use tools::Tool;

use crate::python_suite::InfraError;
use crate::sandbox::{Limits, Sandbox, Spec, Status};
use crate::workspace::{Fault, Scan};
use canon::{Digest, Value};
use std::path::Path;
use verdict::StopReason;

/// What the gate is asked to judge.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// The frozen copy.
    pub frozen: &'a Path,
    /// What lies in it.
    pub scan: &'a Scan,
    /// The task it answers.
    pub task_id: &'a str,
    /// An empty folder of the desk for copies and reports.
    pub scratch: &'a Path,
    /// Wall limit per test file or check, in milliseconds, where the suite sets none.
    pub test_timeout_ms: u64,
}

/// A verdict of the gate and everything that was measured for it.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// How the run ends if nothing else happens.
    pub stop: StopReason,
    /// Cases passed; nothing when no case was measured.
    pub passed: Option<u64>,
    /// Cases counted; nothing when no case was measured.
    pub total: Option<u64>,
    /// Digest of the reduced result; nothing when no check ran.
    pub result_sha256: Option<Digest>,
    /// Where the candidate ran: `process`, `in-process`, `command`.
    pub isolation: &'static str,
    /// Codes of everything against the delivery or in the way, each once, in order of appearance.
    pub reasons: Vec<String>,
    /// The failing cases for people, one line each.
    pub failures: Vec<String>,
    /// The whole record, for `visible_<ARM>.json`.
    pub record: Value,
}

impl Judgement {
    /// No check ran.
    pub(crate) fn without_checks(stop: StopReason, reason: &str, detail: String) -> Judgement {
        let record = canon::Object::new().with("reason", reason).with("detail", detail.as_str());
        Judgement {
            stop,
            passed: None,
            total: None,
            result_sha256: None,
            isolation: "none",
            reasons: vec![reason.to_owned()],
            failures: vec![detail],
            record: record.into(),
        }
    }
}

canon::codes! {
    /// What only the gate finds, beside the codes of readers, suites and the sandbox.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum GateReason {
        /// A case failed and passed in one run (ruling 13).
        CaseUnstable = "case_unstable",
        /// A check without confinement changed the frozen copy.
        FrozenCopyChanged = "frozen_copy_changed",
        /// A program of the suite changed while the agent ran.
        ToolTampered = "tool_tampered",
        /// The agent changed the run directory; receipts were restored.
        RunDirTampered = "run_dir_tampered",
        /// The agent's enclosure was not at its end what it was at its start.
        EnclosureChanged = "enclosure_changed",
    }
}

/// What was asked and found before the agent started (ruling 20).
#[derive(Debug)]
pub struct Readiness(Ready);

#[derive(Debug)]
enum Ready {
    Nothing,
    Python(Result<python::Ready, InfraError>),
    Commands(Vec<commands::Found>),
}

impl Readiness {
    /// A test file that declares no check: it would be refused whatever is delivered.
    pub fn nothing_declared(&self, suite: Option<&StoredSuite>) -> Option<String> {
        let (Ready::Python(Ok(ready)), Some(suite)) = (&self.0, suite) else { return None };
        ready.nothing_declared(suite)
    }

    /// What the suite needs and this machine lacks, as the end of the run.
    pub fn missing(&self) -> Option<Judgement> {
        match &self.0 {
            Ready::Python(Err(error)) => Some(python::not_ready(error)),
            Ready::Commands(tools) => commands::missing(tools),
            _ => None,
        }
    }
}

/// Asks what must be asked before the agent starts in `workspace`.
pub fn ready(suite: Option<&StoredSuite>, workspace: &Path) -> Readiness {
    let Some(suite) = suite else { return Readiness(Ready::Nothing) };
    Readiness(match suite.kind() {
        SuiteKind::Nothing => Ready::Nothing,
        SuiteKind::Python(isolation) => Ready::Python(python::ready(suite, isolation, workspace)),
        SuiteKind::Commands { checks, .. } => Ready::Commands(commands::tools(checks, workspace)),
    })
}

/// Runs the suite on the delivery inside the sandbox.
pub fn judge(
    sandbox: &Sandbox,
    suite: &StoredSuite,
    readiness: &Readiness,
    delivery: &Delivery<'_>,
) -> Judgement {
    match (suite.kind(), &readiness.0) {
        (SuiteKind::Commands { counts, checks, allow }, Ready::Commands(tools)) => {
            commands::Commands { sandbox, suite, counts, checks, allow, tools, delivery }.judge()
        }
        (SuiteKind::Python(isolation), Ready::Python(Ok(ready))) => {
            python::judge(sandbox, suite, isolation, ready, delivery)
        }
        (SuiteKind::Python(_), Ready::Python(Err(error))) => python::not_ready(error),
        _ => Judgement::without_checks(
            StopReason::NoSuite,
            StopReason::NoSuite.code(),
            "the suite has no checks".to_owned(),
        ),
    }
}

/// A program of the suite is not the file any more that was found before the agent started.
fn tampered(tool: &Tool) -> Judgement {
    let program = canon::shown(tool.program.as_os_str().as_encoded_bytes());
    let code = GateReason::ToolTampered.code();
    Judgement::without_checks(
        StopReason::DeliveryUnfit,
        code,
        format!("{program} changed while the agent ran"),
    )
}

/// Whether the desk itself can confine anything here (ruling 16): when the same step works on an empty folder, what
/// failed before is a finding about the delivery.
pub(crate) fn works_on_nothing(sandbox: &Sandbox, scratch: &Path) -> bool {
    let Ok(empty) = tempfile::Builder::new().prefix("empty-").tempdir_in(scratch) else { return false };
    let mut spec = Spec::new(vec!["/bin/true".into()], empty.path());
    spec.limits = Limits::check();
    match sandbox.start(spec) {
        Ok(running) => running.wait().status == Status::Exited(0),
        Err(_) => false,
    }
}

/// Turns trouble with hashing or freezing a delivery into the end of the run (ruling 16).
pub fn stop_for(fault: &Fault, copy_of_nothing_works: bool) -> StopReason {
    match fault {
        Fault::Moved(_) => StopReason::WsMovedDuringFreeze,
        Fault::CopyFailed(_) if !copy_of_nothing_works => StopReason::DeskFault,
        _ => StopReason::DeliveryUnfit,
    }
}

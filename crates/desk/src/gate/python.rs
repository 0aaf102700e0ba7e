//! Python suites inside the sandbox.

use super::tools::Tool;
use super::{Delivery, Judgement, StoredSuite, tampered, works_on_nothing};
use crate::python_suite::spawn::{Exit, Job, Process, SpawnError, Spawner, Status as ExitStatus};
use crate::python_suite::{self, InfraError, Interpreter, Isolation, Prepared, SuiteResult};
use crate::sandbox::{Cannot, Limits, Running, Sandbox, Spec, StartError, Status, Stdin};
use crate::supervise::{self, Start};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;
use verdict::StopReason;

/// A Python suite and the interpreter that was asked about it before the agent started.
#[derive(Debug)]
pub(super) struct Ready {
    tool: Tool,
    prepared: Prepared,
}

impl Ready {
    pub(super) fn nothing_declared(&self, suite: &StoredSuite) -> Option<String> {
        let tests = suite.python().tests().filter(|file| file.text().is_some());
        let mut with_names = tests.zip(self.prepared.declared());
        with_names.find(|(_, names)| names.is_empty()).map(|(file, _)| file.name.clone())
    }
}

/// Finds the interpreter and lets it parse the suite. Supervised, not confined: only the suite and our own texts are
/// read, and nothing of them is executed.
pub(super) fn ready(
    suite: &StoredSuite,
    isolation: Isolation,
    workspace: &Path,
) -> Result<Ready, InfraError> {
    let tool = Tool::find("python3", workspace).ok_or_else(|| InfraError::PythonMissing("python3".into()))?;
    let prepared = python_suite::prepare(&Supervised, &interpreter(&tool), suite.python(), isolation)?;
    Ok(Ready { tool, prepared })
}

fn interpreter(tool: &Tool) -> Interpreter {
    Interpreter { program: tool.program.clone(), packages: Vec::new() }
}

pub(super) fn judge(
    sandbox: &Sandbox,
    suite: &StoredSuite,
    isolation: Isolation,
    ready: &Ready,
    delivery: &Delivery<'_>,
) -> Judgement {
    if !ready.tool.is_unchanged() {
        return tampered(&ready.tool);
    }
    let options = python_suite::Options {
        isolation,
        wall: Duration::from_millis(delivery.test_timeout_ms),
        python: interpreter(&ready.tool),
        task_id: delivery.task_id.to_owned(),
        ..python_suite::Options::default()
    };
    let confined = Confined { sandbox, roots: ready.tool.roots.clone() };
    let result =
        python_suite::run_prepared(&confined, suite.python(), &ready.prepared, delivery.frozen, &options);
    match result {
        Ok(result) => of_result(&result),
        Err(error) => {
            let works = works_on_nothing(sandbox, delivery.scratch);
            let stop = if works { StopReason::DeliveryUnfit } else { StopReason::DeskFault };
            Judgement::without_checks(stop, error.code(), format!("{error:?}"))
        }
    }
}

/// The suite cannot be run here at all: the desk's environment, whatever the delivery is.
pub(super) fn not_ready(error: &InfraError) -> Judgement {
    match error {
        InfraError::PythonMissing(program) => Judgement::without_checks(
            StopReason::SuiteToolMissing,
            error.code(),
            format!("the suite needs {}, which is not installed", program.display()),
        ),
        InfraError::Io(why) => {
            Judgement::without_checks(StopReason::DeskFault, error.code(), format!("python: {why}"))
        }
    }
}

fn of_result(result: &SuiteResult) -> Judgement {
    let stop = if result.all_pass() { StopReason::VisiblePass } else { StopReason::VisibleFail };
    let mut reasons: Vec<String> = result.fault.iter().map(|fault| fault.code().to_owned()).collect();
    for case in result.files.iter().flat_map(|file| &file.cases).filter(|case| !case.ok()) {
        let code = case.kind.code().to_owned();
        if !reasons.contains(&code) {
            reasons.push(code);
        }
    }
    let failures = if result.all_pass() { None } else { result.failure_text() };
    Judgement {
        stop,
        passed: Some(result.passed() as u64),
        total: Some(result.total() as u64),
        result_sha256: Some(result.result_sha256()),
        isolation: result.isolation.code(),
        reasons,
        failures: failures
            .into_iter()
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .collect(),
        record: result.to_value(),
    }
}

/// Starts the processes of a Python suite inside the sandbox.
struct Confined<'a> {
    sandbox: &'a Sandbox,
    roots: Vec<PathBuf>,
}

impl Spawner for Confined<'_> {
    fn start(&self, job: Job) -> Result<Box<dyn Process>, SpawnError> {
        let program = job.program.clone();
        let mut read_only = job.read_only;
        read_only.extend(self.roots.iter().cloned());
        let (stdin, pass_fds) = split(job.pass_fds);
        let wall_ms = u64::try_from(job.wall.as_millis()).unwrap_or(u64::MAX);
        let spec = Spec {
            argv: std::iter::once(job.program.into_os_string()).chain(job.args).collect(),
            cwd: job.cwd,
            env: job.env,
            stdin,
            read_only,
            writable: Vec::new(),
            scratch: Some(job.scratch),
            pass_fds,
            limits: Limits::check_within_ms(wall_ms),
        };
        let running = self.sandbox.start(spec).map_err(spawn_error)?;
        Ok(Box::new(Confinee { running: Some(running), program }))
    }
}

/// Starts a process of a suite without confinement, under a keeper all the same.
struct Supervised;

impl Spawner for Supervised {
    fn start(&self, job: Job) -> Result<Box<dyn Process>, SpawnError> {
        let program = job.program.clone();
        let (stdin, pass_fds) = split(job.pass_fds);
        let wall_ms = u64::try_from(job.wall.as_millis()).unwrap_or(u64::MAX);
        let argv = std::iter::once(job.program.into_os_string()).chain(job.args).collect();
        let start = Start {
            env: job.env,
            stdin,
            pass_fds,
            limits: Limits { memory_bytes: None, address_bytes: None, ..Limits::check_within_ms(wall_ms) },
            ..Start::new(argv, job.cwd)
        };
        let running = supervise::start(start).map_err(spawn_error)?;
        Ok(Box::new(Confinee { running: Some(running), program }))
    }
}

/// Descriptor 0 is a stream of its own for the supervisor.
fn split(fds: Vec<(OwnedFd, RawFd)>) -> (Stdin, Vec<(OwnedFd, RawFd)>) {
    let mut stdin = Stdin::Null;
    let mut others = Vec::new();
    for (fd, number) in fds {
        if number == 0 { stdin = Stdin::Fd(fd) } else { others.push((fd, number)) }
    }
    (stdin, others)
}

fn spawn_error(error: StartError) -> SpawnError {
    SpawnError::Io(io::Error::other(error.to_string()))
}

struct Confinee {
    running: Option<Running>,
    program: PathBuf,
}

impl Process for Confinee {
    fn wait(&mut self) -> io::Result<Exit> {
        let Some(running) = self.running.take() else {
            return Err(io::Error::other("waited for twice"));
        };
        let ended = running.wait();
        let status = match ended.status {
            Status::Exited(code) => ExitStatus::Code(code),
            Status::Signaled(signal) => ExitStatus::Signal(signal),
            // Too many processes is what the check did; it ends like any other kill.
            Status::Killed | Status::TooManyProcesses => ExitStatus::Signal(9),
            Status::TimedOut => ExitStatus::TimedOut,
            Status::CouldNotStart { why: Cannot::NotFound, .. } => {
                let message = format!("{}: not found", self.program.display());
                return Err(io::Error::new(io::ErrorKind::NotFound, message));
            }
            other => return Err(io::Error::other(format!("{other:?}"))),
        };
        let tail = ended.stderr.bytes();
        let tail = &tail[tail.len().saturating_sub(4096)..];
        Ok(Exit { status, stderr_tail: String::from_utf8_lossy(tail).into_owned() })
    }

    fn kill(&mut self) {
        if let Some(running) = &self.running {
            running.kill();
        }
    }
}

/// The name of a program for messages.
pub(super) fn name_of(program: &OsStr) -> String {
    canon::shown(program.as_encoded_bytes())
}

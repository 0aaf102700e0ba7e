//! Python suites inside the sandbox.

use super::{Delivery, Judgement, StoredSuite, works_on_nothing};
use crate::python_suite::spawn::{Exit, Job, Process, SpawnError, Spawner, Status as ExitStatus};
use crate::python_suite::{self, InfraError, Interpreter, Isolation, SuiteResult};
use crate::sandbox::{
    Cannot, Limits, Running, Sandbox, Spec, StartError, Status, Stdin, program_path, program_roots,
};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use verdict::StopReason;

pub(super) fn judge(
    sandbox: &Sandbox,
    suite: &StoredSuite,
    isolation: Isolation,
    delivery: &Delivery<'_>,
) -> Judgement {
    let options = python_suite::Options {
        isolation,
        wall: Duration::from_millis(delivery.test_timeout_ms),
        python: interpreter(),
        task_id: delivery.task_id.to_owned(),
        ..python_suite::Options::default()
    };
    let confined = Confined { sandbox, roots: program_roots(&options.python.program) };
    match python_suite::run(&confined, suite.python(), delivery.frozen, &options) {
        Ok(result) => of_result(&result),
        Err(ref error @ InfraError::PythonMissing(ref program)) => Judgement::without_checks(
            StopReason::SuiteToolMissing,
            error.code(),
            format!("the suite needs {}, which is not installed", program.display()),
        ),
        Err(error) => {
            let stop = if works_on_nothing(sandbox, delivery.scratch) {
                StopReason::DeliveryUnfit
            } else {
                StopReason::DeskFault
            };
            Judgement::without_checks(stop, error.code(), format!("{error:?}"))
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

/// The interpreter that `python3` stands for. A script of that name (a version manager's shim) is asked, here and
/// outside the sandbox, which program it would start: inside, its own files are out of reach.
pub(super) fn interpreter() -> Interpreter {
    let Some(found) = in_path("python3") else { return Interpreter::default() };
    let program = if is_script(&found) { asked(&found).unwrap_or(found) } else { found };
    Interpreter { program: program_path(&program), packages: Vec::new() }
}

pub(super) fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let executable =
        |path: &PathBuf| rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(executable)
}

fn is_script(program: &Path) -> bool {
    let mut head = [0; 2];
    let read = std::fs::File::open(program).and_then(|mut file| io::Read::read(&mut file, &mut head));
    read.is_ok() && head == *b"#!"
}

fn asked(program: &Path) -> Option<PathBuf> {
    let output =
        Command::new(program).args(["-I", "-c", "import sys; print(sys.executable)"]).output().ok()?;
    let text = std::str::from_utf8(&output.stdout).ok()?.trim();
    (output.status.success() && Path::new(text).is_absolute()).then(|| PathBuf::from(text))
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
        let mut stdin = Stdin::Null;
        let mut pass_fds = Vec::new();
        for (fd, number) in job.pass_fds {
            if number == 0 { stdin = Stdin::Fd(fd) } else { pass_fds.push((fd, number)) }
        }
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

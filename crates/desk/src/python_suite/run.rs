//! Running the test files of a suite, each in fresh processes (desk specification 8.2).

use super::channel;
use super::prepare::{Prepared, Program, prepare};
use super::reconcile::{Observed, reconcile};
use super::record::{CaseRecord, FILE_CASE, FileResult, Kind, SuiteFault, SuiteResult, Visibility};
use super::runtime::{self, Interpreter};
use super::spawn::{Exit, Job, Process, Role, Spawner, Status};
use super::suite::{Suite, SuiteFile};
use super::{InfraError, Isolation};
use canon::{Digest, Object, Value, compact_ascii, hex};
use std::io::{self, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How a suite is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the candidate runs; decided by the suite (ruling 21).
    pub isolation: Isolation,
    /// Wall limit of each test file.
    pub wall: Duration,
    /// The interpreter.
    pub python: Interpreter,
    /// Who may see the result.
    pub visibility: Visibility,
    /// The task the result belongs to.
    pub task_id: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            isolation: Isolation::Process,
            wall: Duration::from_secs(10),
            python: Interpreter::default(),
            visibility: Visibility::Visible,
            task_id: String::new(),
        }
    }
}

/// Prepares and runs `suite` against the frozen `workspace`. Every outcome that the delivery can cause is a result; an
/// error is the desk's environment.
pub fn run(
    spawner: &dyn Spawner,
    suite: &Suite,
    workspace: &Path,
    options: &Options,
) -> Result<SuiteResult, InfraError> {
    let prepared = prepare(spawner, &options.python, suite, options.isolation)?;
    run_prepared(spawner, suite, &prepared, workspace, options)
}

/// The same for a suite that was prepared before the delivery existed.
pub fn run_prepared(
    spawner: &dyn Spawner,
    suite: &Suite,
    prepared: &Prepared,
    workspace: &Path,
    options: &Options,
) -> Result<SuiteResult, InfraError> {
    let mut result = SuiteResult {
        visibility: options.visibility,
        task_id: options.task_id.clone(),
        isolation: options.isolation,
        files: Vec::new(),
        suite_sha256: suite.sha256(),
        fault: fault(suite),
    };
    let mut declared = prepared.declared.iter().cloned();
    let workspace = workspace.canonicalize()?;
    for file in suite.tests() {
        let entry = if file.text().is_some() {
            let declared = declared.next().unwrap_or_default();
            FileRun { spawner, suite, prepared, workspace: &workspace, options, file }.run(declared)?
        } else {
            not_utf8(file)
        };
        result.files.push(entry);
    }
    Ok(result)
}

fn fault(suite: &Suite) -> Option<SuiteFault> {
    if suite.files().is_empty() {
        Some(SuiteFault::EmptySuite)
    } else if suite.tests().next().is_none() {
        Some(SuiteFault::NoTestFile)
    } else if suite.files().iter().any(|file| file.text().is_none()) {
        Some(SuiteFault::NotUtf8)
    } else {
        None
    }
}

fn not_utf8(file: &SuiteFile) -> FileResult {
    FileResult {
        file: file.name.clone(),
        sha256: Digest::of(&file.bytes),
        rc: None,
        timed_out: false,
        wall_ms: 0,
        declared: Vec::new(),
        end_marker: false,
        complete: false,
        cases: vec![CaseRecord::failing(FILE_CASE, Kind::DriverError, "not run: the test file is not UTF-8")],
        stderr_tail: String::new(),
    }
}

/// Numbers of the passed descriptors; the Python side knows them.
const SETUP_FD: i32 = 3;
const RESULT_FD: i32 = 4;
const CONVERSATION_FD: i32 = 5;

/// Added to the worker's limit: the checker's limit is the one that counts.
const WORKER_GRACE: Duration = Duration::from_secs(5);

struct FileRun<'a> {
    spawner: &'a dyn Spawner,
    suite: &'a Suite,
    prepared: &'a Prepared,
    workspace: &'a Path,
    options: &'a Options,
    file: &'a SuiteFile,
}

/// The fresh folders of one file. The suite folder stays empty: its modules are served from memory, so that a program
/// of the delivery that a check starts cannot read the expected results.
struct Folders {
    _root: tempfile::TempDir,
    suite: PathBuf,
    checker: PathBuf,
    worker: PathBuf,
    checker_scratch: PathBuf,
    worker_scratch: PathBuf,
}

impl Folders {
    fn new() -> io::Result<Folders> {
        let root = tempfile::Builder::new().prefix("touchstone-check-").tempdir()?;
        let base = root.path().canonicalize()?;
        let folder = |name: &str| -> io::Result<PathBuf> {
            let path = base.join(name);
            std::fs::create_dir(&path)?;
            Ok(path)
        };
        let folders = Folders {
            suite: folder("suite")?,
            checker: folder("checker")?,
            worker: folder("worker")?,
            checker_scratch: folder("checker-scratch")?,
            worker_scratch: folder("worker-scratch")?,
            _root: root,
        };
        Ok(folders)
    }
}

impl FileRun<'_> {
    fn run(&self, declared: Vec<String>) -> Result<FileResult, InfraError> {
        let folders = Folders::new()?;
        let key = channel::new_key()?;
        let (pipe_out, pipe_in) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        let setup = self.setup(&folders, &declared, &key);
        let (mut worker, conversation) = match self.options.isolation {
            Isolation::Process => {
                let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
                (Some(self.start_worker(&folders, theirs.into())?), Some(ours.into()))
            }
            Isolation::InProcess => (None, None),
        };
        let started = Instant::now();
        let watched = self.start_checker(&folders, setup, pipe_in, conversation);
        let watched = watched.and_then(|checker| watch(checker, pipe_out));
        // The worker never outlives its checker, not even when the checker could not be watched.
        if let Some(worker) = &mut worker {
            worker.kill();
            worker.wait()?;
        }
        let (exit, bytes) = watched?;
        let wall_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(self.conclude(declared, exit, &channel::read_report(&bytes, &key), wall_ms))
    }

    fn setup(&self, folders: &Folders, declared: &[String], key: &[u8; 32]) -> Value {
        let mut sources = Object::new();
        for file in self.suite.files() {
            if let Some(text) = file.text() {
                sources.set(&file.name, text);
            }
        }
        Object::new()
            .with("key", hex(key))
            .with("result_fd", i64::from(RESULT_FD))
            .with("file", self.file.name.as_str())
            .with("suite_dir", path_text(&folders.suite))
            .with("workspace", path_text(self.workspace))
            .with("packages", self.packages())
            .with("declared", declared.to_vec())
            .with("sources", sources)
            .with("shared_interpreter", self.options.isolation == Isolation::InProcess)
            .into()
    }

    fn packages(&self) -> Vec<String> {
        self.options.python.packages.iter().map(|path| path_text(path)).collect()
    }

    fn start_worker(&self, folders: &Folders, conversation: OwnedFd) -> Result<Box<dyn Process>, InfraError> {
        let setup = Object::new()
            .with("workspace", path_text(self.workspace))
            .with("packages", self.packages())
            .into();
        let fds = vec![(sealed(&setup)?, SETUP_FD), (conversation, CONVERSATION_FD)];
        let read_only = vec![self.workspace.to_owned(), folders.worker.clone()];
        let home = Home { code: &folders.worker, scratch: &folders.worker_scratch, read_only };
        self.start(Role::Worker, &self.prepared.worker, home, fds, self.options.wall + WORKER_GRACE)
    }

    fn start_checker(
        &self,
        folders: &Folders,
        setup: Value,
        result: OwnedFd,
        conversation: Option<OwnedFd>,
    ) -> Result<Box<dyn Process>, InfraError> {
        let mut fds = vec![(sealed(&setup)?, SETUP_FD), (result, RESULT_FD)];
        fds.extend(conversation.map(|fd| (fd, CONVERSATION_FD)));
        let read_only = vec![self.workspace.to_owned(), folders.checker.clone(), folders.suite.clone()];
        let home = Home { code: &folders.checker, scratch: &folders.checker_scratch, read_only };
        self.start(Role::Checker, &self.prepared.checker, home, fds, self.options.wall)
    }

    fn start(
        &self,
        role: Role,
        program: &Program,
        home: Home<'_>,
        pass_fds: Vec<(OwnedFd, i32)>,
        wall: Duration,
    ) -> Result<Box<dyn Process>, InfraError> {
        let (name, bytes) = program.file();
        let script = home.code.join(name);
        std::fs::write(&script, bytes)?;
        let python = &self.options.python;
        let read_only = home.read_only.into_iter().chain(python.packages.iter().cloned()).collect();
        Ok(self.spawner.start(Job {
            program: python.program.clone(),
            args: python.isolated_args(&script),
            env: runtime::environment(home.scratch),
            cwd: self.workspace.to_owned(),
            read_only,
            scratch: home.scratch.to_owned(),
            pass_fds,
            wall,
            role,
        })?)
    }

    fn conclude(
        &self,
        declared: Vec<String>,
        exit: Exit,
        report: &channel::Report,
        wall_ms: u64,
    ) -> FileResult {
        let reconciled = reconcile(&Observed {
            declared: &declared,
            report,
            status: exit.status,
            wall_s: self.options.wall.as_secs(),
        });
        FileResult {
            file: self.file.name.clone(),
            sha256: Digest::of(&self.file.bytes),
            rc: match exit.status {
                Status::Code(code) => Some(code),
                Status::Signal(signal) => Some(-signal),
                Status::TimedOut => None,
            },
            timed_out: exit.status == Status::TimedOut,
            wall_ms,
            declared,
            end_marker: report.end_marker,
            complete: reconciled.complete,
            cases: reconciled.cases,
            stderr_tail: tail(&exit.stderr_tail),
        }
    }
}

struct Home<'a> {
    code: &'a Path,
    scratch: &'a Path,
    read_only: Vec<PathBuf>,
}

/// Waits for the checker while its report is read, so that it never blocks on a full pipe.
fn watch(mut checker: Box<dyn Process>, pipe: OwnedFd) -> Result<(Exit, Vec<u8>), InfraError> {
    let ended = AtomicBool::new(false);
    let (exit, bytes) = std::thread::scope(|scope| {
        let reader = scope.spawn(|| channel::drain(pipe, &ended));
        let exit = checker.wait();
        ended.store(true, Ordering::Release);
        (exit, reader.join())
    });
    let bytes = bytes.map_err(|_| io::Error::other("the reader of the result pipe panicked"))??;
    Ok((exit?, bytes))
}

/// An unlinked file with `value`, at its start: nothing blocks on it, and closing it is the end of its content.
fn sealed(value: &Value) -> io::Result<OwnedFd> {
    let mut file = tempfile::tempfile()?;
    file.write_all(&compact_ascii(value))?;
    file.rewind()?;
    Ok(file.into())
}

/// A path for the Python side. The desk's folders and workspaces are UTF-8 paths; another one is not found there,
/// which is a failure and no wrong acceptance.
fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Characters of the error stream that a result keeps (8.4).
const STDERR_CHARS_MAX: usize = 400;

fn tail(text: &str) -> String {
    let skip = text.chars().count().saturating_sub(STDERR_CHARS_MAX);
    text.chars().skip(skip).collect()
}

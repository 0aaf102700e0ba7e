//! Running one program under supervision, and ending all of it (receiving-desk.md sections 9 and 10, PC-01,
//! PC-42, PC-43).
//!
//! Every run has its own *keeper*: this binary once more, started with a hidden first argument. The keeper is the
//! child subreaper of exactly one run, so whatever the program leaves behind, also after `setsid` and a double
//! fork, becomes the keeper's child and of nobody else. Several runs in one desk cannot mix up their strays.
//!
//! Three things end a run: the main process ends, the wall limit passes, or the desk wants it (or dies: the
//! keeper sees the end of its control pipe). That a pipe is still open ends nothing and delays nothing.

mod captured;
mod watch;

pub use captured::Captured;

use crate::sandbox::enclosure::Inside;
use crate::sandbox::{Limits, job, sys};
use captured::Stream;
use job::{Job, Mode, Report};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, OFlags, SealFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use watch::Watch;

/// How long after the wall limit the keeper may need before the desk ends it itself.
const KEEPER_GRACE: Duration = Duration::from_secs(30);
/// How long after a request to end the keeper may need.
const KILL_GRACE: Duration = Duration::from_secs(5);
/// How often the desk looks whether the keeper still is one, and how often it may be found stopped.
const TICK_NS: i64 = 200_000_000;
const STOPPED_TURNS_MAX: u32 = 5;
/// The longest a pipe is read after the end of the run. Only a stray that nobody could kill makes it last.
const DRAIN: Duration = Duration::from_millis(200);

/// What the program reads.
#[derive(Debug)]
pub enum Stdin {
    /// `/dev/null`.
    Null,
    /// What the desk itself reads.
    Inherit,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// An open descriptor, for instance the end of a pipe from another run.
    Fd(OwnedFd),
}

/// Where a standard output of the program goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Kept up to `Limits::output_bytes`, counted beyond.
    Capture,
    /// The desk's own stream.
    Inherit,
    /// A pipe, from which the desk writes to its own stream: the program does not hold the terminal or the file itself.
    Pass,
    /// `/dev/null`.
    Null,
}

/// A program to be supervised, without confinement or in an enclosure (the agent).
#[derive(Debug)]
pub struct Start {
    /// Program and arguments; looked up in the `PATH` of `env` when it has no slash. No shell.
    pub argv: Vec<OsString>,
    /// Directory to start in.
    pub cwd: PathBuf,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Standard input.
    pub stdin: Stdin,
    /// Standard output.
    pub stdout: Output,
    /// Standard error.
    pub stderr: Output,
    /// Descriptors for the program and their numbers there; the desk's copies are closed by starting.
    pub pass_fds: Vec<(OwnedFd, RawFd)>,
    /// Limits; [`Limits::unlimited`] for an agent.
    pub limits: Limits,
    /// The binary to use as keeper; `None` is the running one.
    pub helper: Option<PathBuf>,
    /// The enclosure that it runs in; nothing for none.
    pub(crate) enclosed: Option<Inside>,
}

impl Start {
    /// A program with an empty environment, nothing to read, captured output and no limits.
    pub fn new(argv: Vec<OsString>, cwd: impl Into<PathBuf>) -> Start {
        Start {
            argv,
            cwd: cwd.into(),
            env: Vec::new(),
            stdin: Stdin::Null,
            stdout: Output::Capture,
            stderr: Output::Capture,
            pass_fds: Vec::new(),
            limits: Limits::unlimited(),
            helper: None,
            enclosed: None,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The main process ended with this code.
    Exited(i32),
    /// The main process was ended by this signal.
    Signaled(i32),
    /// The wall limit passed.
    TimedOut,
    /// The desk asked for the end ([`Running::kill`]).
    Killed,
    /// `Limits::processes` was passed and everything was killed.
    TooManyProcesses,
    /// The program itself could not be started (ruling 17). It never ran.
    CouldNotStart {
        /// As it was asked for.
        program: OsString,
        /// The kernel's answer.
        why: Cannot,
    },
    /// The confinement could not be set up. The program never ran.
    SetupFailed {
        /// Which step.
        step: String,
        /// The kernel's error number, 0 when there is none.
        errno: i32,
    },
    /// The keeper ended without an answer: somebody outside killed it.
    Lost,
}

// Closed list, stable across rewording.
canon::codes! {
    impl Status: &self {
        Status::Exited(_) => "exited",
        Status::Signaled(_) => "signaled",
        Status::TimedOut => "timed_out",
        Status::Killed => "killed",
        Status::TooManyProcesses => "too_many_processes",
        Status::SetupFailed { .. } => "sandbox_setup_failed",
        Status::Lost => "keeper_lost",
    } else {
        Status::CouldNotStart { why, .. } => why.code(),
    }
}

/// Why a program could not be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cannot {
    /// No such file, here or in any directory of `PATH` (or its interpreter is missing).
    NotFound,
    /// It exists and may not be executed.
    NotPermitted,
    /// Neither a binary of this machine nor a script with an interpreter line.
    BadFormat,
    /// Another error number.
    Other(i32),
}

// Closed list, stable across rewording.
canon::codes! {
    impl Cannot: &self {
        Cannot::NotFound => "program_not_found",
        Cannot::NotPermitted => "program_not_permitted",
        Cannot::BadFormat => "program_bad_format",
        Cannot::Other(_) => "program_could_not_start",
    }
}

impl Cannot {
    pub(crate) fn from_errno(errno: i32) -> Cannot {
        match errno {
            libc::ENOENT | libc::ENOTDIR => Cannot::NotFound,
            libc::EACCES | libc::EPERM => Cannot::NotPermitted,
            libc::ENOEXEC => Cannot::BadFormat,
            other => Cannot::Other(other),
        }
    }

    pub(crate) fn errno(self) -> i32 {
        match self {
            Cannot::NotFound => libc::ENOENT,
            Cannot::NotPermitted => libc::EACCES,
            Cannot::BadFormat => libc::ENOEXEC,
            Cannot::Other(other) => other,
        }
    }
}

/// What was left when the main process had ended. "None" and "not measured" are different answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strays {
    /// Nothing was left; the kernel said so.
    None,
    /// So many processes were left, and all are gone now.
    Killed(u64),
    /// It could not be found out, or not all could be killed.
    NotMeasurable(String),
}

// Closed list, stable across rewording.
canon::codes! {
    impl Strays: &self {
        Strays::None => "strays_none",
        Strays::Killed(_) => "strays_killed",
        Strays::NotMeasurable(_) => "strays_not_measurable",
    }
}

/// A run that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub status: Status,
    /// Standard output, as far as it was captured.
    pub stdout: Captured,
    /// Standard error, as far as it was captured.
    pub stderr: Captured,
    /// What was left behind.
    pub strays: Strays,
    /// From the start of the program to its end.
    pub wall_ms: u64,
    /// What the probe of an enclosure said, at the start and at the end.
    pub(crate) probed: Vec<Vec<u8>>,
}

/// Why nothing was started. The desk's own environment, never the delivery (ruling 16).
#[derive(Debug)]
pub enum StartError {
    /// `argv` has no program.
    EmptyCommand,
    /// A word of the command or the environment contains a zero byte.
    ZeroByte,
    /// A path must be absolute and free of `..`.
    NotAbsolute(PathBuf),
    /// A root that was to be visible inside cannot be opened, or is a symbolic link.
    Root(PathBuf, io::Error),
    /// The system refused a pipe, a memory file, a thread or the keeper.
    System(&'static str, io::Error),
}

// Closed list, stable across rewording.
canon::codes! {
    impl StartError: &self {
        StartError::EmptyCommand => "start_empty_command",
        StartError::ZeroByte => "start_zero_byte",
        StartError::NotAbsolute(_) => "start_path_not_absolute",
        StartError::Root(..) => "start_root_unusable",
        StartError::System(..) => "start_system",
    }
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::EmptyCommand | StartError::ZeroByte => f.write_str(self.code()),
            StartError::NotAbsolute(path) => write!(f, "{}: {}", self.code(), path.display()),
            StartError::Root(path, why) => write!(f, "{}: {}: {why}", self.code(), path.display()),
            StartError::System(what, why) => write!(f, "{}: {what}: {why}", self.code()),
        }
    }
}

impl std::error::Error for StartError {}

/// A run that is going on. Dropping it ends the run.
#[derive(Debug)]
pub struct Running {
    control: OwnedFd,
    asked: Arc<AtomicBool>,
    pump: JoinHandle<Ended>,
    watch: Option<Watch>,
}

impl Running {
    /// Ends the run as soon as `stop` is set, also while somebody waits for it.
    ///
    /// # Errors
    /// The system gives no further descriptor or thread.
    pub fn ended_by(mut self, stop: &Arc<AtomicBool>) -> io::Result<Running> {
        self.watch = Some(Watch::new(self.killer()?, Arc::clone(stop))?);
        Ok(self)
    }

    /// Waits for the end of the run and all of its processes.
    pub fn wait(self) -> Ended {
        let Running { control, pump, .. } = self;
        let ended = pump.join().unwrap_or_else(|_| {
            lost(Strays::NotMeasurable("the desk's reader ended early".into()), Duration::ZERO)
        });
        drop(control);
        ended
    }

    /// Asks the keeper to end everything now. Does not wait.
    pub fn kill(&self) {
        end(&self.control, &self.asked);
    }

    /// A handle that can do the same while somebody else waits.
    pub fn killer(&self) -> io::Result<Killer> {
        Ok(Killer(self.control.try_clone()?, Arc::clone(&self.asked)))
    }
}

/// Ends a run from another thread.
#[derive(Debug)]
pub struct Killer(OwnedFd, Arc<AtomicBool>);

impl Killer {
    /// Asks the keeper to end everything now. Killing an ended run is fine.
    pub fn kill(&self) {
        end(&self.0, &self.1);
    }
}

fn end(control: &OwnedFd, asked: &AtomicBool) {
    asked.store(true, Ordering::Relaxed);
    // The keeper may be gone already; then there is nothing to kill.
    let _ = rustix::io::write(control, b"K");
}

/// Starts a program under supervision, without confinement but that of its enclosure.
pub fn start(start: Start) -> Result<Running, StartError> {
    let (fds, pass) = start.pass_fds.into_iter().unzip();
    let (roots, enclosed, forbid_userns) = match start.enclosed {
        Some(inside) => (inside.roots, Some(inside.enclosed), inside.forbid_userns),
        None => (Vec::new(), None, false),
    };
    let job = Job {
        mode: if enclosed.is_some() { Mode::Enclosed } else { Mode::Plain },
        forbid_userns,
        argv: start.argv,
        cwd: start.cwd,
        env: start.env,
        roots,
        scratch: None,
        pass,
        limits: start.limits,
        enclosed,
    };
    let streams = Streams { stdin: start.stdin, stdout: start.stdout, stderr: start.stderr };
    launch(job, streams, fds, start.helper.as_deref(), None)
}

/// The three standard streams of a run.
pub(crate) struct Streams {
    pub(crate) stdin: Stdin,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
}

/// Starts the keeper for `job`. `scratch` is removed when the run is over.
pub(crate) fn launch(
    job: Job,
    streams: Streams,
    pass: Vec<OwnedFd>,
    helper: Option<&Path>,
    scratch: Option<tempfile::TempDir>,
) -> Result<Running, StartError> {
    check_words(&job)?;
    let (control_read, control) = pair()?;
    let (status, status_write) = pair()?;
    let description = memory_file(&job.encode()).map_err(system("job"))?;
    let mut command = Command::new(helper.unwrap_or(Path::new("/proc/self/exe")));
    command.arg(job::CONFINE).env_clear();
    command.stdin(input(streams.stdin).map_err(system("stdin"))?);
    let (out, stdout) = output(streams.stdout)?;
    let (err, stderr) = output(streams.stderr)?;
    let onto = (
        passed(streams.stdout, std::io::stdout().as_fd())?,
        passed(streams.stderr, std::io::stderr().as_fd())?,
    );
    command.stdout(out).stderr(err);
    let mut fds = vec![description, control_read, status_write];
    fds.extend(pass);
    sys::hand_over(&mut command, fds);
    let keeper = command.spawn().map_err(system("keeper"))?;
    // The command owns our copies of the program's descriptors; they are closed here, before anybody waits for
    // an end of file on their other ends.
    drop(command);
    let ceiling = job.limits.output_bytes;
    let asked = Arc::new(AtomicBool::new(false));
    let pump = Pump {
        asked: Arc::clone(&asked),
        asked_at: None,
        stopped_turns: 0,
        keeper,
        status,
        answer: Vec::new(),
        stdout: Stream::new(stdout, ceiling, onto.0),
        stderr: Stream::new(stderr, ceiling, onto.1),
        started: Instant::now(),
        patience: job.limits.wall_ms.map(|ms| Duration::from_millis(ms).saturating_add(KEEPER_GRACE)),
    };
    let body = move || {
        let ended = pump.run();
        drop(scratch);
        ended
    };
    let pump = std::thread::Builder::new().name("run".into()).spawn(body).map_err(system("thread"))?;
    Ok(Running { control, asked, pump, watch: None })
}

fn system(what: &'static str) -> impl FnOnce(io::Error) -> StartError {
    move |why| StartError::System(what, why)
}

fn check_words(job: &Job) -> Result<(), StartError> {
    if job.argv.first().is_none_or(|program| program.is_empty()) {
        return Err(StartError::EmptyCommand);
    }
    let zero = |word: &OsStr| word.as_bytes().contains(&0);
    let words = job.argv.iter().chain(job.env.iter().flat_map(|(name, value)| [name, value]));
    if words.map(OsString::as_os_str).chain([job.cwd.as_os_str()]).any(zero) {
        return Err(StartError::ZeroByte);
    }
    Ok(())
}

fn pair() -> Result<(OwnedFd, OwnedFd), StartError> {
    pipe_with(PipeFlags::CLOEXEC).map_err(|e| StartError::System("pipe", e.into()))
}

/// A sealed file in memory, at its beginning: the reader can neither block nor change it.
pub(crate) fn memory_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = std::fs::File::from(rustix::fs::memfd_create("desk", flags)?);
    file.write_all(bytes)?;
    rustix::fs::fcntl_add_seals(
        &file,
        SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
    )?;
    io::Seek::rewind(&mut file)?;
    Ok(file.into())
}

fn input(stdin: Stdin) -> io::Result<Stdio> {
    Ok(match stdin {
        Stdin::Null => Stdio::null(),
        Stdin::Inherit => Stdio::inherit(),
        Stdin::Bytes(bytes) => memory_file(&bytes)?.into(),
        Stdin::Fd(fd) => fd.into(),
    })
}

fn output(kind: Output) -> Result<(Stdio, Option<OwnedFd>), StartError> {
    Ok(match kind {
        Output::Null => (Stdio::null(), None),
        Output::Inherit => (Stdio::inherit(), None),
        Output::Capture | Output::Pass => {
            let (read, write) = pair()?;
            rustix::fs::fcntl_setfl(&read, OFlags::NONBLOCK)
                .map_err(|e| StartError::System("pipe", e.into()))?;
            (write.into(), Some(read))
        }
    })
}

/// The desk's own stream, where what the program prints is written on to it.
fn passed(kind: Output, own: BorrowedFd<'_>) -> Result<Option<OwnedFd>, StartError> {
    (kind == Output::Pass).then(|| own.try_clone_to_owned()).transpose().map_err(system("stream"))
}

fn lost(strays: Strays, wall: Duration) -> Ended {
    let wall_ms = u64::try_from(wall.as_millis()).unwrap_or(u64::MAX);
    let (stdout, stderr) = (Captured::default(), Captured::default());
    Ended { status: Status::Lost, stdout, stderr, strays, wall_ms, probed: Vec::new() }
}

/// The desk's side of one run: reads both outputs and the answer until the answer's pipe ends.
struct Pump {
    keeper: Child,
    asked: Arc<AtomicBool>,
    asked_at: Option<Instant>,
    stopped_turns: u32,
    status: OwnedFd,
    answer: Vec<u8>,
    stdout: Stream,
    stderr: Stream,
    started: Instant,
    patience: Option<Duration>,
}

/// What one turn of the pump found.
enum Turn {
    Goes,
    Over,
    PatienceOver,
}

impl Pump {
    fn run(mut self) -> Ended {
        let answered = loop {
            match self.turn() {
                Turn::Goes => {}
                Turn::Over => break true,
                Turn::PatienceOver => break false,
            }
        };
        if !answered {
            // The keeper is ours and does not answer: stopped by somebody, or the machine is stuck.
            let _ = self.keeper.kill();
        }
        let wall = self.started.elapsed();
        let _ = self.keeper.wait();
        self.drain();
        let report = if answered { Report::decode(&self.answer) } else { None };
        let mut ended = match report {
            Some(r) => {
                let (strays, wall_ms, probed) = (r.strays, r.wall_ms, r.probed);
                Ended { status: r.status, strays, wall_ms, probed, ..lost(Strays::None, wall) }
            }
            None => lost(Strays::NotMeasurable("the keeper was ended from outside".into()), wall),
        };
        ended.stdout = self.stdout.finish();
        ended.stderr = self.stderr.finish();
        ended
    }

    /// The program runs as the same user and may have stopped its keeper: a request to end must not wait for that, and a
    /// stopped keeper is no keeper.
    fn keeper_does_not_answer(&mut self) -> bool {
        if self.asked.load(Ordering::Relaxed) {
            let since = *self.asked_at.get_or_insert_with(Instant::now);
            if since.elapsed() > KILL_GRACE {
                return true;
            }
        }
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.keeper.id())).unwrap_or_default();
        let state = stat.rsplit_once(')').map_or("", |(_, rest)| rest.trim_start());
        self.stopped_turns = if state.starts_with(['T', 't']) { self.stopped_turns + 1 } else { 0 };
        self.stopped_turns > STOPPED_TURNS_MAX
    }

    fn turn(&mut self) -> Turn {
        let left = match self.patience.map(|p| p.checked_sub(self.started.elapsed())) {
            None => None,
            Some(Some(left)) => Timespec::try_from(left).ok(),
            Some(None) => return Turn::PatienceOver,
        };
        let mut fds = vec![PollFd::new(&self.status, PollFlags::IN)];
        for pipe in [self.stdout.pipe(), self.stderr.pipe()].into_iter().flatten() {
            fds.push(PollFd::new(pipe, PollFlags::IN));
        }
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK_NS };
        let wait = left.filter(|left| (left.tv_sec, left.tv_nsec) < (0, TICK_NS)).unwrap_or(tick);
        let polled = poll(&mut fds, Some(&wait));
        let answer_ready = !fds[0].revents().is_empty();
        match polled {
            Err(_) => return Turn::Goes,
            Ok(0) if self.keeper_does_not_answer() => return Turn::PatienceOver,
            Ok(_) => {}
        }
        self.stdout.read_some();
        self.stderr.read_some();
        if answer_ready { self.read_answer() } else { Turn::Goes }
    }

    fn read_answer(&mut self) -> Turn {
        let mut buffer = [0; 4096];
        match rustix::io::read(&self.status, &mut buffer) {
            Ok(0) => Turn::Over,
            Ok(n) => {
                self.answer.extend_from_slice(&buffer[..n]);
                Turn::Goes
            }
            Err(rustix::io::Errno::INTR) => Turn::Goes,
            Err(_) => Turn::Over,
        }
    }

    /// Everything that could write is dead by now, so what is in the pipes is all there will be. Should a stray
    /// have been out of reach, the pipe is closed on it (PC-42).
    fn drain(&mut self) {
        let end = Instant::now() + DRAIN;
        while Instant::now() < end {
            let (out, err) = (self.stdout.read_some(), self.stderr.read_some());
            if !out && !err {
                return;
            }
        }
    }
}

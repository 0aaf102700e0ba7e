//! The helper side: the keeper of one run, and in the full profile the pid 1 of its namespace.
//!
//! ```text
//! desk ── keeper ── program                    Plain, Landlock: the keeper is the subreaper
//! desk ── keeper ── pid 1 ── program           Full, Enclosed: when pid 1 ends the kernel ends the rest
//!                └─ relay                      Enclosed: in the program's network, outside of its list of processes
//! ```
//! Who watches (keeper or pid 1) is the same code. Every process below dies with the one above it.

use super::job::{self, Job, Mode, Report};
use super::{canary, confine, family, inside, relay, rootfs, sys};
use crate::supervise::{Cannot, Status, Strays};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode as RawMode, OFlags};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitStatus, kill_process, kill_process_group, pidfd_open,
    set_child_subreaper, set_dumpable_behavior, set_parent_process_death_signal, setsid,
};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// Between SIGTERM and SIGKILL after the wall limit.
const TERM_GRACE: Duration = Duration::from_millis(500);
/// How often processes are counted where a limit on them is set.
const COUNT_EVERY: Duration = Duration::from_millis(20);
/// How often orphans are collected otherwise.
const REAP_EVERY: Duration = Duration::from_millis(250);

/// Why the program did not come to run.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) step: String,
    pub(super) errno: i32,
}

/// Names the step an error happened in.
pub(super) fn step<E: Into<io::Error>>(name: impl Into<String>) -> impl FnOnce(E) -> Failed {
    move |error| Failed { step: name.into(), errno: error.into().raw_os_error().unwrap_or(0) }
}

/// To be called first thing by the binary's `main`: `Some(code)` when this was a call of the helper, which is
/// done then (receiving-desk.md section 9).
pub fn helper_main(mut args: impl Iterator<Item = OsString>) -> Option<i32> {
    let _program = args.next();
    let first = args.next()?;
    if first == job::CONFINE {
        Some(keeper(args))
    } else if first == job::CANARY {
        Some(canary::sing())
    } else {
        None
    }
}

/// What a watching process holds.
struct Lines {
    control: OwnedFd,
    status: OwnedFd,
    nothing: OwnedFd,
    pass: Vec<OwnedFd>,
}

impl Lines {
    /// After the fork of the next process: no end of the program's pipes may stay open in a process above it.
    fn let_go(&mut self) {
        self.pass.clear();
        for number in 0..3 {
            let _ = sys::dup_to(self.nothing.as_raw_fd(), number);
        }
    }
}

fn keeper(numbers: impl Iterator<Item = OsString>) -> i32 {
    let mut fds = numbers.filter_map(|number| sys::adopt(number.to_str()?.parse().ok().filter(|n| *n > 2)?));
    let (Some(job), Some(control), Some(status)) = (fds.next(), fds.next(), fds.next()) else {
        eprintln!("{}: only the desk itself calls this", job::CONFINE);
        return 64;
    };
    let Ok(nothing) = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, RawMode::empty()) else {
        return 64;
    };
    let mut bytes = Vec::new();
    let read = std::fs::File::from(job).read_to_end(&mut bytes);
    let Some(job) = read.ok().and_then(|_| Job::decode(&bytes)) else { return 64 };
    let pass = fds.collect();
    let mut lines = Lines { control, status, nothing, pass };
    if let Err(failed) = keep(&job, &mut lines) {
        answer(&lines, failed.into(), Strays::None, Duration::ZERO, Vec::new());
    }
    0
}

impl From<Failed> for Status {
    fn from(failed: Failed) -> Status {
        Status::SetupFailed { step: failed.step, errno: failed.errno }
    }
}

fn answer(lines: &Lines, status: Status, strays: Strays, wall: Duration, probed: Vec<Vec<u8>>) {
    let wall_ms = u64::try_from(wall.as_millis()).unwrap_or(u64::MAX);
    // Nobody reads when the desk is gone.
    let _ = rustix::io::write(&lines.status, &Report { status, strays, wall_ms, probed }.encode());
}

fn keep(job: &Job, lines: &mut Lines) -> Result<(), Failed> {
    // Out of the desk's terminal: Ctrl-C reaches the desk, whose end then reaches us over the control pipe.
    setsid().map_err(step("setsid"))?;
    if !job.mode.spaced() {
        // The kernel takes any number but zero as "yes".
        set_child_subreaper(Some(Pid::INIT)).map_err(step("subreaper"))?;
        set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(step("dumpable"))?;
        return watch(job, lines);
    }
    rootfs::enter_namespaces(job)?;
    let relay =
        job.enclosed.as_ref().map(|enclosed| relay::start(enclosed, || lines.let_go())).transpose()?;
    rootfs::enter_process_list()?;
    match sys::fork().map_err(step("fork pid 1"))? {
        sys::Fork::Child => {
            let done = set_parent_process_death_signal(Some(Signal::KILL)).map_err(step("death signal"));
            if let Err(failed) = done.and_then(|()| pid_one(job, lines)) {
                answer(lines, failed.into(), Strays::None, Duration::ZERO, Vec::new());
            }
            std::process::exit(0)
        }
        sys::Fork::Parent(pid) => {
            lines.let_go();
            // Where the number cannot be read, everything below is waited for, the relay too.
            let first = Pid::from_raw(pid);
            let wait = || rustix::process::waitpid(first, rustix::process::WaitOptions::empty());
            while matches!(wait(), Err(rustix::io::Errno::INTR)) {}
            if let Some(relay) = relay {
                let _ = kill_process(relay, Signal::KILL);
            }
            Ok(())
        }
    }
}

fn pid_one(job: &Job, lines: &mut Lines) -> Result<(), Failed> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(step("dumpable"))?;
    rootfs::build(job)?;
    if job.mode != Mode::Enclosed {
        return watch(job, lines);
    }
    let start = inside::probe(job, 0)?;
    if let Some(open) = inside::first_open(&start) {
        return Err(Failed { step: format!("{}: {open}", inside::NOT_BLOCKED), errno: 0 });
    }
    let ran = run(job, lines)?;
    let mut probed = vec![start];
    // Who wants the end now does not wait for a measurement.
    if ran.status != Status::Killed {
        // What could not be measured is not there, and that lowers the tier.
        probed.extend(inside::probe(job, 1).ok());
    }
    answer(lines, ran.status, ran.strays, ran.wall, probed);
    Ok(())
}

/// How the program ended.
struct Ran {
    status: Status,
    strays: Strays,
    wall: Duration,
}

/// Runs the program and answers.
fn watch(job: &Job, lines: &mut Lines) -> Result<(), Failed> {
    let ran = run(job, lines)?;
    answer(lines, ran.status, ran.strays, ran.wall, Vec::new());
    Ok(())
}

/// Starts the program, waits for the end of the run whatever it is, kills what is left.
fn run(job: &Job, lines: &mut Lines) -> Result<Ran, Failed> {
    let (said, say) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(step("pipe for the start"))?;
    let started = Instant::now();
    let parent = rustix::process::getpid();
    let main = match sys::fork().map_err(step("fork"))? {
        sys::Fork::Child => {
            drop(said);
            program(job, &lines.pass, parent, &say)
        }
        sys::Fork::Parent(pid) => Pid::from_raw(pid).ok_or(Failed { step: "fork".into(), errno: 0 })?,
    };
    drop(say);
    lines.let_go();
    let status = follow(job, lines, main, said, started).unwrap_or_else(Status::from);
    let wall = started.elapsed();
    let strays = if job.mode.spaced() { clear_namespace(main) } else { family::sweep(main) };
    Ok(Ran { status, strays, wall })
}

fn follow(job: &Job, lines: &Lines, main: Pid, said: OwnedFd, started: Instant) -> Result<Status, Failed> {
    let pidfd = pidfd_open(main, PidfdFlags::empty()).map_err(step("pidfd"))?;
    // Ends at the exec (nothing said) or at the first thing that failed before it.
    let mut bytes = Vec::new();
    std::fs::File::from(said).read_to_end(&mut bytes).map_err(step("read the start"))?;
    if bytes.is_empty() {
        Ok(watch_main(job, lines, main, &pidfd, started))
    } else {
        Ok(start_failed(&bytes))
    }
}

fn start_failed(said: &[u8]) -> Status {
    Report::decode(said)
        .map_or(Status::SetupFailed { step: "start".into(), errno: 0 }, |report| report.status)
}

fn watch_main(job: &Job, lines: &Lines, main: Pid, pidfd: &OwnedFd, started: Instant) -> Status {
    let deadline = job.limits.wall_ms.map(|ms| started + Duration::from_millis(ms));
    let tick = if job.limits.processes.is_some() { COUNT_EVERY } else { REAP_EVERY };
    let mut forced: Option<(Status, Instant)> = None;
    loop {
        let now = Instant::now();
        let next = [deadline, forced.as_ref().map(|f| f.1)].into_iter().flatten().filter(|t| *t > now).min();
        let pause = next.map_or(tick, |t| t.duration_since(now).min(tick));
        let mut fds = [PollFd::new(pidfd, PollFlags::IN), PollFd::new(&lines.control, PollFlags::IN)];
        let _ = poll(&mut fds, Timespec::try_from(pause).ok().as_ref());
        let wanted = !fds[1].revents().is_empty();
        if let Some(status) = family::reap(main).watched {
            return forced.map_or_else(|| ended(status), |f| f.0);
        }
        if wanted {
            // A byte from the desk, or its end.
            let _ = kill_process_group(main, Signal::KILL);
            return forced.map_or(Status::Killed, |f| f.0);
        }
        if too_many(job) {
            return Status::TooManyProcesses;
        }
        match &forced {
            None if deadline.is_some_and(|d| Instant::now() >= d) => {
                let _ = kill_process_group(main, Signal::TERM);
                forced = Some((Status::TimedOut, Instant::now() + TERM_GRACE));
            }
            Some((status, kill_at)) if Instant::now() >= *kill_at => return status.clone(),
            _ => {}
        }
    }
}

fn too_many(job: &Job) -> bool {
    let Some(most) = job.limits.processes else { return false };
    family::descendants().is_ok_and(|family| family.len() as u64 > most)
}

fn ended(status: WaitStatus) -> Status {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Status::Exited(code),
        (None, Some(signal)) => Status::Signaled(signal),
        (None, None) => Status::Lost,
    }
}

/// Pid 1's sweep: one call of the kernel reaches everything, whatever session or group it is in.
fn clear_namespace(main: Pid) -> Strays {
    if family::reap(main).nobody_left {
        return Strays::None;
    }
    debug_assert!(rustix::process::getpid() == Pid::INIT);
    sys::kill_all_of_namespace();
    let mut count = 0;
    while let Ok(Some((pid, _))) = rustix::process::wait(rustix::process::WaitOptions::empty()) {
        count += u64::from(pid != main);
    }
    if count == 0 { Strays::None } else { Strays::Killed(count) }
}

/// The program's own process, up to its exec. What fails is said over `say`, which the exec closes.
pub(super) fn program(job: &Job, pass: &[OwnedFd], parent: Pid, say: &OwnedFd) -> ! {
    // Out of the way of the numbers that the program's own descriptors get.
    let least = job.pass.iter().max().map_or(64, |most| most.saturating_add(1).max(64));
    let Some(aside) = sys::dup_above(say.as_raw_fd(), least).ok().and_then(sys::adopt) else {
        say_and_end(say, Failed { step: "lift descriptors".into(), errno: libc::EBADF }.into())
    };
    match confine::become_program(job, pass, parent, least) {
        Err(failed) => say_and_end(&aside, failed.into()),
        Ok(errno) => {
            let program = job.argv.first().cloned().unwrap_or_default();
            say_and_end(&aside, Status::CouldNotStart { program, why: Cannot::from_errno(errno) })
        }
    }
}

fn say_and_end(say: &OwnedFd, status: Status) -> ! {
    let report = Report { status, strays: Strays::None, wall_ms: 0, probed: Vec::new() };
    let _ = rustix::io::write(say, &report.encode());
    std::process::exit(127)
}

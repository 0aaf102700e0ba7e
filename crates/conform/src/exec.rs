//! Runs that the judge makes itself: the same command in fresh processes, under other circumstances each time.

use crate::load::RunBytes;
use crate::{Problem, limits};
use desk::sandbox::{Limits, Status};
use desk::supervise::{self, Ended, Running, Start};
use rustix::thread::CpuSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What to run.
#[derive(Clone, Debug)]
pub struct Command {
    /// A line for `/bin/sh -c`, as it was typed.
    pub line: String,
    /// How often.
    pub times: u32,
    /// Whether circumstances are shuffled.
    pub shuffle: bool,
    /// Most seconds of one run.
    pub timeout_s: u64,
    /// Where the command runs.
    pub cwd: PathBuf,
    /// Set from outside when the runs are to stop; what they left behind is then removed.
    pub interrupted: Arc<AtomicBool>,
}

/// What was varied, as measured and not as intended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shuffled {
    /// One line for each circumstance: what it was in each run.
    pub varied: Vec<String>,
    /// Circumstances that could not be varied here, and why.
    pub not_varied: Vec<String>,
}

const LOCALES: [&str; 4] = ["C", "C.UTF-8", "tr_TR.UTF-8", "de_DE.UTF-8"];
const ZONES: [&str; 4] = ["UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"];
/// Seeds of the hash tables of Python, Perl and PHP-like runtimes that read one from the environment.
const HASH_SEEDS: [&str; 4] = ["0", "1", "4242", "99999999"];

/// Most of the working folder that is copied to give it another order.
const COPY_BYTES_MAX: u64 = 64 << 20;
const COPY_ENTRIES_MAX: usize = 10_000;

/// Runs the command and takes what it prints.
///
/// # Errors
/// The first run that cannot be started, fails, or prints no JSON.
pub fn run(command: &Command, case: &str) -> Result<(Vec<RunBytes>, Shuffled), Problem> {
    let mut shuffled = Shuffled::default();
    let mut runs = Vec::new();
    let mut orders = Vec::new();
    for index in 0..command.times as usize {
        let copy = if command.shuffle { copied(command, index, &mut shuffled) } else { None };
        let cwd = copy.as_ref().map_or(command.cwd.as_path(), tempfile::TempDir::path);
        orders.push(listing(cwd));
        let scratch = tempfile::tempdir().map_err(|error| Problem::NotStarted(error.to_string()))?;
        let ended = once(command, cwd, scratch.path(), index, &mut shuffled)?;
        if command.interrupted.load(Ordering::Relaxed) {
            return Err(Problem::Interrupted);
        }
        let name = format!("run {}", index + 1);
        let bytes = printed(ended, command.timeout_s).map_err(|problem| of_run(problem, &name))?;
        runs.push(RunBytes::single(name, case, bytes));
    }
    if command.shuffle {
        describe(command, &orders, &mut shuffled);
    }
    Ok((runs, shuffled))
}

fn once(
    command: &Command,
    cwd: &Path,
    scratch: &Path,
    index: usize,
    shuffled: &mut Shuffled,
) -> Result<Ended, Problem> {
    let argv = ["/bin/sh", "-c", &command.line].map(OsString::from).to_vec();
    let mut start = Start::new(argv, cwd);
    start.env = environment(command.shuffle.then_some(index), cwd, scratch);
    let output_bytes = 2 * limits().bytes_max as u64;
    start.limits = Limits { wall_ms: Some(command.timeout_s * 1000), output_bytes, ..Limits::unlimited() };
    let one_core = command.shuffle && index % 2 == 1;
    // A thread of its own: the affinity of a process is that of the thread that started it.
    let (bound, started) = std::thread::scope(|scope| {
        let start = scope.spawn(|| {
            let bound = if one_core { on_one_core() } else { Ok(()) };
            (bound, supervise::start(start).map(|running| wait(running, &command.interrupted)))
        });
        start.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    if let Err(error) = bound {
        shuffled.not_varied.push(format!("cores: run {}: {error}", index + 1));
    }
    started.map_err(|error| Problem::NotStarted(error.to_string()))
}

/// Waits for the end, or for the word to stop.
fn wait(running: Running, interrupted: &AtomicBool) -> Ended {
    let killer = running.killer();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                if let (true, Ok(killer)) = (interrupted.load(Ordering::Relaxed), &killer) {
                    return killer.kill();
                }
                std::thread::park_timeout(Duration::from_millis(5));
            }
        });
        let ended = running.wait();
        over.store(true, Ordering::Relaxed);
        ended
    })
}

/// The caller's environment; with an index, other settings for each index.
/// Temporary files are its own, so that one run does not find those of another.
fn environment(index: Option<usize>, cwd: &Path, scratch: &Path) -> Vec<(OsString, OsString)> {
    let mut set: Vec<(OsString, OsString)> =
        vec![("PWD".into(), cwd.into()), ("TMPDIR".into(), scratch.into())];
    if let Some(index) = index {
        let pick = |list: [&'static str; 4]| OsString::from(list[index % list.len()]);
        for name in ["LANG", "LC_ALL"] {
            set.push((name.into(), pick(LOCALES)));
        }
        set.push(("TZ".into(), pick(ZONES)));
        for name in ["PYTHONHASHSEED", "PERL_HASH_SEED"] {
            set.push((name.into(), pick(HASH_SEEDS)));
        }
    }
    let replaced = |name: &OsString| name == "OLDPWD" || set.iter().any(|(known, _)| known == name);
    let kept: Vec<_> = std::env::vars_os().filter(|(name, _)| !replaced(name)).collect();
    kept.into_iter().chain(set).collect()
}

fn on_one_core() -> io::Result<()> {
    let allowed = rustix::thread::sched_getaffinity(None)?;
    let first = (0..CpuSet::MAX_CPU).find(|core| allowed.is_set(*core));
    let mut one = CpuSet::new();
    one.set(first.unwrap_or(0));
    Ok(rustix::thread::sched_setaffinity(None, &one)?)
}

fn cores() -> usize {
    rustix::thread::sched_getaffinity(None).map_or(1, |allowed| allowed.count() as usize)
}

/// The problem with the run that it is about.
fn of_run(problem: Problem, name: &str) -> Problem {
    match problem {
        Problem::CommandFailed(status, said) => Problem::CommandFailed(format!("{status} in {name}"), said),
        other => other,
    }
}

fn printed(ended: Ended, timeout_s: u64) -> Result<Vec<u8>, Problem> {
    let said = || {
        let text = ended.stderr.text();
        text.lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("nothing on standard error")
            .to_owned()
    };
    match &ended.status {
        Status::Exited(0) => {}
        Status::TimedOut => return Err(Problem::TimedOut(timeout_s)),
        Status::Exited(code) => return Err(Problem::CommandFailed(format!("exit status {code}"), said())),
        Status::Signaled(signal) => return Err(Problem::CommandFailed(format!("signal {signal}"), said())),
        other => return Err(Problem::NotStarted(other.code().to_owned())),
    }
    if ended.stdout.dropped_bytes() > 0 {
        return Err(Problem::PrintedTooMuch(ended.stdout.total_bytes));
    }
    let bytes = ended.stdout.bytes();
    if bytes.iter().all(u8::is_ascii_whitespace) { Err(Problem::PrintedNothing(said())) } else { Ok(bytes) }
}

/// A copy of the working folder in memory, where a folder lists its entries in an order that follows from when each
/// was made. Nothing when that cannot be had, and the reason in `shuffled`.
fn copied(command: &Command, index: usize, shuffled: &mut Shuffled) -> Option<tempfile::TempDir> {
    let mut fail = |why: String| {
        let line = format!("directory order: {why}");
        if !shuffled.not_varied.contains(&line) {
            shuffled.not_varied.push(line);
        }
        None
    };
    let folder = match tempfile::Builder::new().prefix("touchstone-").tempdir_in("/dev/shm") {
        Ok(folder) => folder,
        Err(error) => return fail(format!("no folder in memory: {error}")),
    };
    let mut room = (COPY_BYTES_MAX, COPY_ENTRIES_MAX);
    match copy(&command.cwd, folder.path(), index, &mut room) {
        Ok(()) => Some(folder),
        Err(error) => fail(format!("the working folder was not copied: {error}")),
    }
}

fn copy(from: &Path, to: &Path, index: usize, room: &mut (u64, usize)) -> io::Result<()> {
    let mut entries: Vec<_> = std::fs::read_dir(from)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    let count = entries.len().max(1);
    entries.rotate_left(index / 2 % count);
    if index % 2 == 1 {
        entries.reverse();
    }
    for entry in entries {
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        room.1 = room
            .1
            .checked_sub(1)
            .ok_or_else(|| io::Error::other(format!("more than {COPY_ENTRIES_MAX} entries")))?;
        if kind.is_dir() {
            std::fs::create_dir(&target)?;
            copy(&entry.path(), &target, index, room)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(entry.path())?, target)?;
        } else if kind.is_file() {
            let length = entry.metadata()?.len();
            room.0 = room
                .0
                .checked_sub(length)
                .ok_or_else(|| io::Error::other(format!("more than {} MiB", COPY_BYTES_MAX >> 20)))?;
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Names in the order in which the folder gives them.
fn listing(folder: &Path) -> Vec<OsString> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.flatten().map(|entry| entry.file_name()).collect()
}

/// The line that says which settings a program of the C library takes for the default here.
fn missing(what: &str, default: &str, used: &[&str], installed: &[String]) -> Option<String> {
    let lacks: Vec<&str> =
        used.iter().copied().filter(|name| !installed.iter().any(|known| known == name)).collect();
    let names = lacks.join(", ");
    (!lacks.is_empty())
        .then(|| format!("{what}: not installed here, so the C library takes {default} for {names}"))
}

/// Locales that are installed, as they are usually written.
fn locales() -> Vec<String> {
    let output = std::process::Command::new("locale").arg("-a").output();
    let listed =
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    listed.lines().map(|name| name.replace(".utf8", ".UTF-8")).chain(["C".to_owned()]).collect()
}

/// Time zones that are installed.
fn zones() -> Vec<String> {
    let known = |zone: &&str| *zone == "UTC" || Path::new("/usr/share/zoneinfo").join(zone).exists();
    ZONES.iter().filter(|zone| known(zone)).map(|zone| (*zone).to_owned()).collect()
}

fn describe(command: &Command, orders: &[Vec<OsString>], shuffled: &mut Shuffled) {
    let each =
        |value: fn(usize) -> String| (0..command.times as usize).map(value).collect::<Vec<_>>().join(", ");
    shuffled.varied.push(format!("LANG and LC_ALL: {}", each(|index| LOCALES[index % 4].to_owned())));
    shuffled.varied.push(format!("TZ: {}", each(|index| ZONES[index % 4].to_owned())));
    let used = command.times as usize;
    shuffled.not_varied.extend(missing("locale", "C", &LOCALES[..used.min(4)], &locales()));
    shuffled.not_varied.extend(missing("time zone", "UTC", &ZONES[..used.min(4)], &zones()));
    shuffled.varied.push(format!("hash seed: {}", each(|index| HASH_SEEDS[index % 4].to_owned())));
    match cores() {
        1 => shuffled.not_varied.push("cores: this machine has one".to_owned()),
        all => shuffled.varied.push(format!("cores: all {all} and 1 by turns")),
    }
    let differ = orders.windows(2).any(|pair| pair[0] != pair[1]);
    if differ {
        shuffled.varied.push("directory order: another in each copy of the working folder".to_owned());
    } else if !shuffled.not_varied.iter().any(|line| line.starts_with("directory order")) {
        shuffled.not_varied.push("directory order: the copies list their entries in one order".to_owned());
    }
}

//! The last steps before the program runs: its descriptors, its limits, and what is taken from it.

use super::helper::{Failed, step};
use super::job::{Job, Mode, Root};
use super::seccomp::{self, Filter};
use super::sys;
use crate::sandbox::host;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{FileType, Mode as RawMode, OFlags};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, setrlimit};
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};
use std::ffi::{CString, OsStr};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The newest rules we know of; the crate takes what this kernel has of them.
const NEWEST: ABI = ABI::V10;

/// Turns this process into the program. Returns only when that failed: with the error number of the exec, or with
/// the step before it.
pub(super) fn become_program(job: &Job, pass: &[OwnedFd], parent: Pid, least: RawFd) -> Result<i32, Failed> {
    rustix::process::setsid().map_err(step("setsid"))?;
    sys::default_signals();
    rustix::process::chdir(&job.cwd).map_err(step("cwd"))?;
    place_descriptors(pass, &job.pass, least)?;
    // Before the confinement, which hides the list of processes that the count needs.
    let processes = processes_limit(job);
    let command = Command::new(job).ok_or(Failed { step: "zero byte".into(), errno: 0 })?;
    set_limits(job, processes)?;
    if job.mode != Mode::Plain {
        if job.mode != Mode::Enclosed {
            rustix::process::umask(RawMode::from_raw_mode(0o022));
        }
        rustix::thread::set_no_new_privs(true).map_err(step("no_new_privs"))?;
        landlock_rules(job)?;
        drop_capabilities()?;
        let filter = match job.mode {
            Mode::Enclosed => Filter::Agent,
            Mode::Full => Filter::Inside,
            _ => Filter::OnTheHost,
        };
        seccomp::apply(filter).map_err(|error| Failed { step: format!("seccomp: {error}"), errno: 0 })?;
    }
    // After the capabilities: changing them would clear it.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(step("death signal"))?;
    if rustix::process::getppid() != Some(parent) {
        return Err(Failed { step: "keeper gone".into(), errno: 0 });
    }
    Ok(command.exec())
}

fn place_descriptors(pass: &[OwnedFd], wanted: &[RawFd], least: RawFd) -> Result<(), Failed> {
    // First all out of the way, then into place: the numbers may overlap.
    let lifted: Result<Vec<RawFd>, _> = pass.iter().map(|fd| sys::dup_above(fd.as_raw_fd(), least)).collect();
    let lifted = lifted.map_err(step("lift descriptors"))?;
    sys::close_on_exec_from(3).map_err(step("close descriptors"))?;
    for (from, to) in lifted.iter().zip(wanted) {
        sys::dup_to(*from, *to).map_err(step("place descriptors"))?;
    }
    Ok(())
}

/// The kernel counts processes per user. In a user namespace of our own that is the run's own count; outside,
/// the user's other processes count too and must be added, or nothing could start on a busy desktop.
fn processes_limit(job: &Job) -> Option<u64> {
    let limit = job.limits.processes?;
    Some(if job.mode.spaced() { limit.saturating_add(2) } else { limit.saturating_add(threads_of_user()) })
}

fn threads_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::getuid().as_raw();
    let Ok(entries) = std::fs::read_dir("/proc") else { return 4096 };
    let numbers = entries.flatten().filter(|e| e.file_name().as_bytes().iter().all(u8::is_ascii_digit));
    let own = numbers.filter(|e| e.metadata().is_ok_and(|m| m.uid() == user));
    own.map(|e| std::fs::metadata(e.path().join("task")).map_or(1, |m| m.nlink().saturating_sub(2).max(1)))
        .sum()
}

fn set_limits(job: &Job, processes: Option<u64>) -> Result<(), Failed> {
    let l = &job.limits;
    let table = [
        (Resource::Core, Some(0)),
        (Resource::Cpu, l.cpu_seconds),
        (Resource::Fsize, l.file_bytes),
        (Resource::Nofile, l.open_files),
        (Resource::Nproc, processes),
        (Resource::Data, l.memory_bytes),
        (Resource::As, l.address_bytes),
    ];
    for (resource, wanted) in table {
        let Some(wanted) = wanted else { continue };
        // An ordinary user may not go above the hard limit that is already there.
        let most = getrlimit(resource).maximum.map_or(wanted, |hard| hard.min(wanted));
        // One second between the two lets SIGXCPU be seen before SIGKILL comes.
        let hard = if resource == Resource::Cpu {
            getrlimit(resource).maximum.map_or(most + 1, |h| h.min(most + 1))
        } else {
            most
        };
        let limit = Rlimit { current: Some(most), maximum: Some(hard) };
        setrlimit(resource, limit).map_err(step(format!("limit {resource:?}")))?;
    }
    Ok(())
}

/// Opens a root as the desk saw it: never through a link, never another object under the same name (ruling 16).
pub(super) fn open_root(root: &Root) -> Result<OwnedFd, Failed> {
    let name = || format!("root {}", root.path.display());
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::open(&root.path, flags, RawMode::empty()).map_err(step(name()))?;
    same_object(&fd, root)?;
    Ok(fd)
}

/// Refuses when the object is not the one the desk saw.
pub(super) fn same_object(fd: &OwnedFd, root: &Root) -> Result<(), Failed> {
    let seen = rustix::fs::fstat(fd).map_err(step("stat root"))?;
    if (seen.st_dev, seen.st_ino) == (root.device, root.inode) {
        return Ok(());
    }
    Err(Failed { step: format!("root {} was exchanged", root.path.display()), errno: 0 })
}

fn landlock_rules(job: &Job) -> Result<(), Failed> {
    let fail = |what: &'static str| {
        move |e: landlock::RulesetError| Failed { step: format!("landlock {what}: {e}"), errno: 0 }
    };
    let files = Ruleset::default().handle_access(AccessFs::from_all(NEWEST));
    // The network of an enclosed agent ends at its relay.
    let all = match job.mode {
        Mode::Enclosed => files,
        _ => files.and_then(|r| r.handle_access(AccessNet::from_all(NEWEST))),
    };
    let rules = all
        .and_then(|r| r.scope(Scope::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .map_err(fail("create"))?;
    let rules = if job.mode.spaced() { inside_rules(rules)? } else { host_rules(rules)? };
    let mut rules = rules;
    if let Some(enclosed) = &job.enclosed {
        rules = allow_path(rules, &enclosed.home, true)?;
        rules = allow_path(rules, Path::new("/dev/pts"), true)?;
    }
    for root in &job.roots {
        rules = allow(rules, open_root(root)?, root.writable)?;
    }
    if let Some(scratch) = &job.scratch {
        rules = allow_path(rules, scratch, true)?;
    }
    let done = rules.restrict_self().map_err(fail("restrict"))?;
    if done.ruleset == RulesetStatus::NotEnforced {
        // The crate takes every refusal for a kernel without it; the answer itself says whose it is.
        let answer = sys::try_syscall(libc::SYS_landlock_create_ruleset, 0).err();
        let errno = answer.and_then(|error| error.raw_os_error()).unwrap_or(libc::EOPNOTSUPP);
        return Err(Failed { step: "landlock not enforced".into(), errno });
    }
    Ok(())
}

/// In the full profile the mounts have already decided what exists.
fn inside_rules(rules: RulesetCreated) -> Result<RulesetCreated, Failed> {
    let mut rules = allow_path(rules, Path::new("/"), false)?;
    for path in ["/tmp", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"] {
        rules = allow_path(rules, Path::new(path), true)?;
    }
    Ok(rules)
}

/// Without namespaces the whole host is there, and only this list of it may be opened.
fn host_rules(mut rules: RulesetCreated) -> Result<RulesetCreated, Failed> {
    for path in host::PROGRAMS.iter().chain(host::SETTINGS).chain(host::KERNEL_FACTS) {
        rules = allow_path(rules, Path::new(path), false)?;
    }
    for path in host::DEVICES {
        rules = allow_path(rules, Path::new(path), true)?;
    }
    Ok(rules)
}

/// A path of ours; one that this host does not have is simply not there.
fn allow_path(rules: RulesetCreated, path: &Path, writable: bool) -> Result<RulesetCreated, Failed> {
    match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, RawMode::empty()) {
        Ok(fd) => allow(rules, fd, writable),
        Err(_) => Ok(rules),
    }
}

fn allow(rules: RulesetCreated, fd: OwnedFd, writable: bool) -> Result<RulesetCreated, Failed> {
    let kind =
        rustix::fs::fstat(&fd).map(|s| FileType::from_raw_mode(s.st_mode)).map_err(step("stat rule"))?;
    let all: BitFlags<AccessFs> =
        if writable { AccessFs::from_all(NEWEST) } else { AccessFs::from_read(NEWEST) };
    let access = match kind {
        FileType::Directory => all & !(AccessFs::MakeChar | AccessFs::MakeBlock),
        _ => all & AccessFs::from_file(NEWEST),
    };
    let added = rules.add_rule(PathBeneath::new(fd, access));
    added.map_err(|e| Failed { step: format!("landlock rule: {e}"), errno: 0 })
}

/// All of them, everywhere, for good: also user 0 gets none back at the exec.
pub(super) fn drop_capabilities() -> Result<(), Failed> {
    for capability in CapabilitySet::all().iter() {
        // Without CAP_SETPCAP (an ordinary user) the bounding set stays, and no_new_privs makes it meaningless.
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let _ = rustix::thread::clear_ambient_capability_set();
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED;
    let _ = rustix::thread::set_capabilities_secure_bits(bits);
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets).map_err(step("drop capabilities"))
}

/// Everything the exec needs, made before the confinement.
struct Command {
    candidates: Vec<CString>,
    argv: Vec<CString>,
    env: Vec<CString>,
}

impl Command {
    fn new(job: &Job) -> Option<Command> {
        let text = |word: &OsStr| CString::new(word.as_bytes()).ok();
        let pair = |(name, value): &(_, _)| {
            let (name, value): (&std::ffi::OsString, &std::ffi::OsString) = (name, value);
            CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok()
        };
        let program = job.argv.first()?;
        let candidates = if program.as_bytes().contains(&b'/') {
            vec![text(program)?]
        } else {
            let path = job.env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
            // An empty part would mean the directory that the delivery is in.
            let parts =
                path.unwrap_or_default().as_bytes().split(|b| *b == b':').filter(|p| p.starts_with(b"/"));
            parts.map(|p| CString::new([p, b"/", program.as_bytes()].concat()).ok()).collect::<Option<_>>()?
        };
        Some(Command {
            candidates,
            argv: job.argv.iter().map(|a| text(a)).collect::<Option<_>>()?,
            env: job.env.iter().map(pair).collect::<Option<_>>()?,
        })
    }

    /// Tries each place; the first answer other than "not here" is the answer.
    fn exec(&self) -> i32 {
        let mut answer = libc::ENOENT;
        for path in &self.candidates {
            match sys::execve(path, &self.argv, &self.env).raw_os_error().unwrap_or(libc::ENOENT) {
                libc::ENOENT | libc::ENOTDIR => {}
                libc::EACCES => answer = libc::EACCES,
                other => return other,
            }
        }
        answer
    }
}

//! The desk's side of the measurement: lays out the bait, sends the canary in, reads what it could reach.

use super::canary::Errand;
use super::job::CANARY;
use super::{Cause, Establish, Level, Limits, Spec, Status, Stdin, start_at};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What the canary tries inside a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Probe {
    /// Connect to a listener of the desk on the loopback address.
    TcpLoopback,
    /// Reach a socket in `/tmp`, by stream, by datagram, and round `socket()`.
    UnixPathTmp,
    /// The same in a directory that is visible inside.
    UnixPathVisible,
    /// Reach an abstract socket by stream.
    UnixAbstractStream,
    /// Reach an abstract socket by datagram.
    UnixAbstractDatagram,
    /// Write a file in a directory of the desk, and in a directory that is visible read-only.
    WriteOutside,
    /// Read a file of the desk.
    ReadSecret,
    /// Change the mode of a file of the desk.
    ChangeMode,
    /// See that the desk's process exists.
    SeeDesk,
    /// Send the desk a signal.
    SignalDesk,
    /// Read or set a limit of the desk's process.
    LimitDesk,
    /// Become the tracer of the parent process.
    PtraceParent,
    /// Make a user namespace.
    UserNamespace,
    /// Call `mount`.
    Mount,
    /// Call `keyctl`.
    Keyctl,
    /// Open the controlling terminal.
    Terminal,
    /// Raise a hard limit.
    RaiseLimit,
    /// Send a datagram to a socket of the desk on the loopback address.
    Udp,
    /// Ask a name server, of this machine or of another.
    Dns,
    /// Connect to an address of another machine.
    TcpOutside,
    /// Find an interface beside the loopback one, or speak to another part of the kernel by netlink.
    Netlink,
    /// Open a socket of a family that knows no network namespace, or needs none.
    OtherFamilies,
    /// Find a descriptor that nobody passed on.
    Descriptors,
    /// Read the memory, environment or descriptors of the process above.
    KeeperMemory,
}

// Closed list, signed into receipts.
canon::codes! {
    impl Probe: self {
        Probe::TcpLoopback => "tcp_loopback",
        Probe::UnixPathTmp => "unix_path_tmp",
        Probe::UnixPathVisible => "unix_path_visible",
        Probe::UnixAbstractStream => "unix_abstract_stream",
        Probe::UnixAbstractDatagram => "unix_abstract_datagram",
        Probe::WriteOutside => "write_outside",
        Probe::ReadSecret => "read_secret",
        Probe::ChangeMode => "change_mode",
        Probe::SeeDesk => "see_desk",
        Probe::SignalDesk => "signal_desk",
        Probe::LimitDesk => "limit_desk",
        Probe::PtraceParent => "ptrace_parent",
        Probe::UserNamespace => "user_namespace",
        Probe::Mount => "mount",
        Probe::Keyctl => "keyctl",
        Probe::Terminal => "terminal",
        Probe::RaiseLimit => "raise_limit",
        Probe::Udp => "udp",
        Probe::Dns => "dns",
        Probe::TcpOutside => "tcp_outside",
        Probe::Netlink => "netlink",
        Probe::OtherFamilies => "other_families",
        Probe::Descriptors => "descriptors",
        Probe::KeeperMemory => "keeper_memory",
    }
}

impl Probe {
    /// Those of an enclosure, in the order of the names.
    pub const OF_AGENTS: [Probe; 22] = [
        Probe::ChangeMode,
        Probe::Descriptors,
        Probe::Dns,
        Probe::KeeperMemory,
        Probe::Keyctl,
        Probe::LimitDesk,
        Probe::Mount,
        Probe::Netlink,
        Probe::OtherFamilies,
        Probe::PtraceParent,
        Probe::ReadSecret,
        Probe::SeeDesk,
        Probe::SignalDesk,
        Probe::TcpLoopback,
        Probe::TcpOutside,
        Probe::Udp,
        Probe::UnixAbstractDatagram,
        Probe::UnixAbstractStream,
        Probe::UnixPathTmp,
        Probe::UnixPathVisible,
        Probe::UserNamespace,
        Probe::WriteOutside,
    ];

    /// Those of checks, in the order of the report.
    pub const ALL: [Probe; 17] = [
        Probe::TcpLoopback,
        Probe::UnixPathTmp,
        Probe::UnixPathVisible,
        Probe::UnixAbstractStream,
        Probe::UnixAbstractDatagram,
        Probe::WriteOutside,
        Probe::ReadSecret,
        Probe::ChangeMode,
        Probe::SeeDesk,
        Probe::SignalDesk,
        Probe::LimitDesk,
        Probe::PtraceParent,
        Probe::UserNamespace,
        Probe::Mount,
        Probe::Keyctl,
        Probe::Terminal,
        Probe::RaiseLimit,
    ];

    /// Whether `level` promises that this is blocked. Without a process namespace names of processes stay visible,
    /// and a kernel without signal scopes lets them be signalled; both are reported and neither reaches data.
    fn promised_by(self, level: Level) -> bool {
        match level {
            Level::Full => true,
            Level::Landlock => !matches!(self, Probe::SeeDesk | Probe::SignalDesk),
            Level::None => false,
        }
    }
}

/// What came of one probe. The text is the system's own words, for the reader of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Tried, and refused.
    Blocked(String),
    /// Tried, and it worked.
    Reachable(String),
    /// Not tried, or no answer came back.
    NotMeasured(String),
}

// Closed list, signed into receipts.
canon::codes! {
    impl Answer: &self {
        Answer::Blocked(_) => "blocked",
        Answer::Reachable(_) => "reachable",
        Answer::NotMeasured(_) => "not_measured",
    }
}

impl Answer {
    /// The words beside the code.
    pub fn text(&self) -> &str {
        match self {
            Answer::Blocked(text) | Answer::Reachable(text) | Answer::NotMeasured(text) => text,
        }
    }
}

/// The measured report of one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured(BTreeMap<Probe, Answer>);

impl Measured {
    /// The answer to one probe.
    pub fn answer(&self, probe: Probe) -> &Answer {
        &self.0[&probe]
    }

    /// All answers in the order of [`Probe::ALL`].
    pub fn answers(&self) -> impl Iterator<Item = (Probe, &Answer)> {
        self.0.iter().map(|(probe, answer)| (*probe, answer))
    }

    fn open(&self, level: Level) -> Vec<Probe> {
        let promised = self.0.iter().filter(|(probe, _)| probe.promised_by(level));
        promised
            .filter(|(_, answer)| !matches!(answer, Answer::Blocked(_)))
            .map(|(probe, _)| *probe)
            .collect()
    }
}

type Key = (Option<PathBuf>, Option<PathBuf>, bool, Level);
static CACHE: Mutex<BTreeMap<Key, Result<Measured, Cause>>> = Mutex::new(BTreeMap::new());

/// Measures a level, or remembers; an error when it does not hold what the level promises.
pub(super) fn measured(setting: &Establish, level: Level) -> Result<Measured, Cause> {
    let key = (setting.helper.clone(), setting.bait_directory.clone(), setting.forbid_userns, level);
    // Held during the measurement, so that two threads do not measure the same.
    let mut cache = CACHE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    cache.entry(key).or_insert_with(|| measure(setting, level)).clone()
}

fn measure(setting: &Establish, level: Level) -> Result<Measured, Cause> {
    let failed = |what: &str, why: &dyn std::fmt::Display| Cause::ProbeFailed(format!("{what}: {why}"));
    let bait = Bait::lay(setting.bait_directory.as_deref()).map_err(|e| failed("bait", &e))?;
    let helper = match &setting.helper {
        Some(path) => path.canonicalize(),
        None => std::env::current_exe(),
    };
    let helper = helper.map_err(|e| failed("helper", &e))?;
    let spec = Spec {
        argv: vec![helper.clone().into(), CANARY.into()],
        cwd: bait.visible.path().into(),
        env: Vec::<(OsString, OsString)>::new(),
        stdin: Stdin::Bytes(bait.errand().encode()),
        read_only: vec![helper, bait.visible.path().into()],
        writable: Vec::new(),
        scratch: None,
        pass_fds: Vec::new(),
        limits: Limits::check(),
    };
    let ended = start_at(setting, level, spec).map_err(|e| failed("start", &e))?.wait();
    match ended.status {
        Status::Exited(0) => {}
        Status::SetupFailed { step, errno } => return Err(Cause::of_setup(step, errno)),
        other => return Err(Cause::ProbeFailed(format!("{}: {}", other.code(), ended.stderr.text()))),
    }
    let measured = bait.compare(&ended.stdout.text());
    let open = measured.open(level);
    if open.is_empty() { Ok(measured) } else { Err(Cause::NotBlocked(open)) }
}

/// Things outside that a confined program must not reach.
#[derive(Debug)]
pub(super) struct Bait {
    pub(super) hidden: tempfile::TempDir,
    pub(super) visible: tempfile::TempDir,
    tcp: TcpListener,
    paths: Vec<(Probe, PathBuf, UnixListener, UnixDatagram)>,
    name: String,
    stream: UnixListener,
    datagram: UnixDatagram,
}

impl Bait {
    pub(super) fn lay(directory: Option<&Path>) -> io::Result<Bait> {
        let named = |at: &Path| tempfile::Builder::new().prefix("touchstone-canary-").tempdir_in(at);
        // Never below a root of the probe, so nothing of it is visible inside.
        let hidden = match named(Path::new("/tmp")) {
            Ok(made) => made,
            Err(_) => named(&std::env::temp_dir())?,
        };
        let visible = named(&directory.map_or_else(std::env::temp_dir, Path::to_path_buf).canonicalize()?)?;
        let secret = hidden.path().join("secret");
        let mut options = std::fs::OpenOptions::new();
        io::Write::write_all(&mut options.write(true).create_new(true).mode(0o600).open(secret)?, b"secret")?;
        let mut paths = Vec::new();
        for (probe, at) in [(Probe::UnixPathTmp, hidden.path()), (Probe::UnixPathVisible, visible.path())] {
            let (stream, datagram) = (at.join("s"), at.join("s.dgram"));
            paths.push((probe, stream.clone(), UnixListener::bind(stream)?, UnixDatagram::bind(datagram)?));
        }
        let name = format!("{}", hidden.path().display());
        let abstract_name = |kind| SocketAddr::from_abstract_name(format!("{name}{kind}"));
        let bait = Bait {
            tcp: TcpListener::bind("127.0.0.1:0")?,
            paths,
            stream: UnixListener::bind_addr(&abstract_name("s")?)?,
            datagram: UnixDatagram::bind_addr(&abstract_name("d")?)?,
            name,
            hidden,
            visible,
        };
        bait.tcp.set_nonblocking(true)?;
        bait.stream.set_nonblocking(true)?;
        bait.datagram.set_nonblocking(true)?;
        for (_, _, stream, datagram) in &bait.paths {
            stream.set_nonblocking(true)?;
            datagram.set_nonblocking(true)?;
        }
        Ok(bait)
    }

    pub(super) fn errand(&self) -> Errand {
        Errand {
            port: self.tcp.local_addr().map_or(0, |a| a.port()),
            desk: rustix::process::getpid().as_raw_nonzero().get(),
            desk_started: super::canary::start_ticks(rustix::process::getpid().as_raw_nonzero().get()),
            hidden: self.hidden.path().into(),
            visible: self.visible.path().into(),
            name: self.name.clone(),
            agent: None,
        }
    }

    /// The canary's own words, overruled by what arrived out here.
    fn compare(&self, said: &str) -> Measured {
        let mut answers: BTreeMap<Probe, Answer> = Probe::ALL
            .into_iter()
            .map(|probe| (probe, Answer::NotMeasured("no answer from the probe".into())))
            .collect();
        for line in said.lines() {
            let mut parts = line.splitn(3, '\t');
            let (Some(name), Some(code), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            let Some(probe) = Probe::ALL.into_iter().find(|p| p.code() == name) else { continue };
            let answer = match code {
                "blocked" => Answer::Blocked(text.into()),
                "reachable" => Answer::Reachable(text.into()),
                _ => Answer::NotMeasured(text.into()),
            };
            answers.insert(probe, answer);
        }
        for probe in self.arrived() {
            answers.insert(probe, Answer::Reachable("seen by the desk".into()));
        }
        Measured(answers)
    }

    /// What was reached, as it is seen out here.
    pub(super) fn arrived(&self) -> Vec<Probe> {
        let mut seen = Vec::new();
        let mut note = |arrived: bool, probe| seen.extend(arrived.then_some(probe));
        let mut byte = [0];
        note(self.tcp.accept().is_ok(), Probe::TcpLoopback);
        note(self.stream.accept().is_ok(), Probe::UnixAbstractStream);
        note(self.datagram.recv(&mut byte).is_ok(), Probe::UnixAbstractDatagram);
        for (probe, _, stream, datagram) in &self.paths {
            note(stream.accept().is_ok() || datagram.recv(&mut byte).is_ok(), *probe);
        }
        let written = [&self.hidden, &self.visible].iter().any(|d| d.path().join("written").exists());
        note(written, Probe::WriteOutside);
        seen
    }
}

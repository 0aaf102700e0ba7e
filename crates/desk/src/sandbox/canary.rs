//! The probe: runs as the program inside a sandbox and tries everything that must not work.

use super::measure::{Answer, Probe};
use super::{outside, sys};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};

/// What the canary is told, over its standard input.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Errand {
    pub(super) port: u16,
    pub(super) desk: i32,
    pub(super) desk_started: u64,
    pub(super) hidden: PathBuf,
    pub(super) visible: PathBuf,
    pub(super) name: String,
    /// Of the probe of an enclosure.
    pub(super) agent: Option<AgentErrand>,
}

/// What the probe of an enclosure is told beside that.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AgentErrand {
    /// A datagram socket of the desk on the loopback address.
    pub(super) udp: u16,
    /// Where the agent finds its proxy.
    pub(super) door: u16,
    /// 64 hex characters, fresh for each attempt.
    pub(super) challenge: String,
    /// The moment, a word of [`ledger::receipts::tier::PHASES`].
    pub(super) phase: String,
    /// Name of the file that it tries to write.
    pub(super) marker: String,
    /// Folders that nothing may be written in.
    pub(super) closed: Vec<PathBuf>,
    /// Folders that must be others than these of the host.
    pub(super) private: Vec<Outer>,
}

/// A folder as the host has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outer {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) path: PathBuf,
}

impl Outer {
    fn encode(&self) -> Vec<u8> {
        let numbers = format!("{}:{}:", self.device, self.inode);
        [numbers.as_bytes(), self.path.as_os_str().as_bytes()].concat()
    }

    fn decode(bytes: &[u8]) -> Option<Outer> {
        let mut parts = bytes.splitn(3, |byte| *byte == b':');
        let mut number = || text(parts.next()?)?.parse().ok();
        let (device, inode) = (number()?, number()?);
        Some(Outer { device, inode, path: path(parts.next()?) })
    }
}

impl AgentErrand {
    fn parts(&self) -> Vec<Vec<u8>> {
        let text = |text: &String| text.clone().into_bytes();
        let mut parts = vec![self.udp.to_string().into_bytes(), self.door.to_string().into_bytes()];
        parts.extend([&self.challenge, &self.phase, &self.marker].map(text));
        parts.push(self.closed.len().to_string().into_bytes());
        parts.extend(self.closed.iter().map(|path| path.as_os_str().as_bytes().to_vec()));
        parts.extend(self.private.iter().map(Outer::encode));
        parts
    }

    fn decode<'a>(mut next: impl Iterator<Item = &'a [u8]>) -> Option<AgentErrand> {
        let udp = text(next.next()?)?.parse().ok()?;
        let door = text(next.next()?)?.parse().ok()?;
        let [challenge, phase, marker] =
            [text(next.next()?)?, text(next.next()?)?, text(next.next()?)?].map(str::to_owned);
        let closed_n: usize = text(next.next()?)?.parse().ok()?;
        let closed = next.by_ref().take(closed_n).map(path).collect();
        let private = next.map(Outer::decode).collect::<Option<_>>()?;
        Some(AgentErrand { udp, door, challenge, phase, marker, closed, private })
    }
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

impl Errand {
    /// Parts ended by zero bytes, which no path contains.
    pub(super) fn encode(&self) -> Vec<u8> {
        let numbers = [self.port.to_string(), self.desk.to_string(), self.desk_started.to_string()];
        let mut parts: Vec<&[u8]> = numbers.iter().map(String::as_bytes).collect();
        parts.extend([
            self.hidden.as_os_str().as_bytes(),
            self.visible.as_os_str().as_bytes(),
            self.name.as_bytes(),
        ]);
        let more = self.agent.as_ref().map(AgentErrand::parts).unwrap_or_default();
        parts.extend(more.iter().map(Vec::as_slice));
        parts.join(&0)
    }

    fn decode(bytes: &[u8]) -> Option<Errand> {
        let mut parts = bytes.split(|b| *b == 0);
        let mut next = || parts.next();
        let mut errand = Errand {
            port: text(next()?)?.parse().ok()?,
            desk: text(next()?)?.parse().ok()?,
            desk_started: text(next()?)?.parse().ok()?,
            hidden: path(next()?),
            visible: path(next()?),
            name: text(next()?)?.into(),
            agent: None,
        };
        let mut more = parts.peekable();
        if more.peek().is_some() {
            errand.agent = Some(AgentErrand::decode(more)?);
        }
        Some(errand)
    }
}

/// When a process started, by the kernel's count: tells the desk from a stranger with its number. 0 if unreadable.
pub(super) fn start_ticks(pid: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    after_name.split_ascii_whitespace().nth(19).and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Runs all probes and prints one line for each.
pub(super) fn sing() -> i32 {
    let mut bytes = Vec::new();
    let read = io::stdin().read_to_end(&mut bytes);
    let Some(errand) = read.ok().and_then(|_| Errand::decode(&bytes)) else { return 64 };
    let out = match &errand.agent {
        Some(agent) => outside::sing(&errand, agent),
        None => Probe::ALL.map(|probe| line(probe.code(), &attempt(probe, &errand))).concat(),
    };
    i32::from(io::stdout().write_all(out.as_bytes()).is_err())
}

/// One line of the report.
pub(super) fn line(name: &str, answer: &Answer) -> String {
    let words = answer.text().replace(['\n', '\t'], " ");
    format!("{name}\t{}\t{words}\n", answer.code())
}

/// Tries one thing.
pub(super) fn attempt(probe: Probe, e: &Errand) -> Answer {
    match probe {
        Probe::TcpLoopback => answer(TcpStream::connect((Ipv4Addr::LOCALHOST, e.port)).map(drop)),
        Probe::UnixPathTmp => first_open(unix_path(&e.hidden)),
        Probe::UnixPathVisible => first_open(unix_path(&e.visible)),
        Probe::UnixAbstractStream => answer(abstract_stream(&e.name)),
        Probe::UnixAbstractDatagram => first_open(abstract_datagram(&e.name)),
        Probe::WriteOutside => {
            let more = e.agent.as_ref().map(outside::write).unwrap_or_default();
            first_open([write(&e.hidden), write(&e.visible)].into_iter().chain(more).collect())
        }
        Probe::ReadSecret => answer(std::fs::read(e.hidden.join("secret")).map(drop)),
        Probe::ChangeMode => answer(std::fs::set_permissions(
            e.hidden.join("secret"),
            std::os::unix::fs::PermissionsExt::from_mode(0o600),
        )),
        Probe::SeeDesk => see_desk(e),
        Probe::SignalDesk => signal_desk(e),
        Probe::LimitDesk => match sys::try_syscall(libc::SYS_prlimit64, e.desk.into()) {
            Ok(_) if stranger(e) => Answer::Blocked("another process has this number here".into()),
            result => answer(result.map(drop)),
        },
        Probe::PtraceParent => answer(rustix::process::getppid().map_or_else(
            || Err(io::Error::other("parent not visible")),
            |parent| sys::try_ptrace(parent.as_raw_nonzero().get()),
        )),
        Probe::UserNamespace => answer(sys::unshare(libc::CLONE_NEWUSER)),
        Probe::Mount => answer(denied(libc::SYS_mount)),
        Probe::Keyctl => answer(denied(libc::SYS_keyctl)),
        Probe::Terminal => {
            answer(std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty").map(drop))
        }
        Probe::RaiseLimit => answer(raise_limit()),
        _ => match &e.agent {
            Some(agent) => outside::attempt(probe, agent),
            None => Answer::NotMeasured("for enclosures only".into()),
        },
    }
}

pub(super) fn answer(result: io::Result<()>) -> Answer {
    match result {
        Ok(()) => Answer::Reachable("it worked".into()),
        Err(why) => Answer::Blocked(why.to_string()),
    }
}

/// Several ways to one thing: reachable when one of them is.
pub(super) fn first_open(ways: Vec<io::Result<()>>) -> Answer {
    let mut words = Vec::new();
    for way in ways {
        match answer(way) {
            Answer::Blocked(why) => words.push(why),
            open => return open,
        }
    }
    words.dedup();
    Answer::Blocked(words.join("; "))
}

fn unix_path(directory: &Path) -> Vec<io::Result<()>> {
    let datagram = directory.join("s.dgram");
    vec![
        UnixStream::connect(directory.join("s")).and_then(|mut s| s.write_all(b"x")),
        UnixDatagram::unbound().and_then(|s| s.send_to(b"x", &datagram)).map(drop),
        sys::try_pair_datagram(datagram.as_os_str().as_bytes()),
    ]
}

fn abstract_stream(name: &str) -> io::Result<()> {
    let address = SocketAddr::from_abstract_name(format!("{name}s"))?;
    UnixStream::connect_addr(&address).and_then(|mut s| s.write_all(b"x"))
}

fn abstract_datagram(name: &str) -> Vec<io::Result<()>> {
    let send = || {
        let address = SocketAddr::from_abstract_name(format!("{name}d"))?;
        UnixDatagram::unbound()?.send_to_addr(b"x", &address).map(drop)
    };
    vec![send(), sys::try_pair_datagram(format!("\0{name}d").as_bytes())]
}

fn write(directory: &Path) -> io::Result<()> {
    std::fs::write(directory.join("written"), b"x")
}

fn see_desk(e: &Errand) -> Answer {
    match std::fs::metadata(format!("/proc/{}", e.desk)) {
        Err(why) => Answer::Blocked(why.to_string()),
        Ok(_) if stranger(e) => Answer::Blocked("another process has this number here".into()),
        Ok(_) => Answer::Reachable("its entry in /proc exists".into()),
    }
}

fn signal_desk(e: &Errand) -> Answer {
    match sys::try_signal(e.desk) {
        Ok(()) if stranger(e) => Answer::Blocked("another process has this number here".into()),
        result => answer(result),
    }
}

fn stranger(e: &Errand) -> bool {
    let started = start_ticks(e.desk);
    started != 0 && started != e.desk_started
}

/// Called with nothing but zeros, so any answer but a refusal means that the call was let through.
fn denied(call: i64) -> io::Result<()> {
    match sys::try_syscall(call, 0) {
        Ok(_) => Ok(()),
        Err(why) if matches!(why.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => Err(why),
        Err(_) => Ok(()),
    }
}

fn raise_limit() -> io::Result<()> {
    let Some(hard) = getrlimit(Resource::Nofile).maximum else { return Ok(()) };
    let more = Rlimit { current: Some(hard), maximum: Some(hard.saturating_add(1)) };
    Ok(setrlimit(Resource::Nofile, more)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_errand_survives_the_way() {
        let mut errand = Errand {
            port: 1,
            desk: 2,
            desk_started: 3,
            hidden: "/h".into(),
            visible: "/v".into(),
            name: "n".into(),
            agent: None,
        };
        assert_eq!(Errand::decode(&errand.encode()).as_ref(), Some(&errand));
        errand.agent = Some(AgentErrand {
            udp: 4,
            door: 5,
            challenge: "00".into(),
            phase: "start".into(),
            marker: "m".into(),
            closed: vec!["/etc".into(), "/usr".into()],
            private: vec![Outer { device: 6, inode: 7, path: "/home/a:b".into() }],
        });
        assert_eq!(Errand::decode(&errand.encode()).as_ref(), Some(&errand));
    }
}

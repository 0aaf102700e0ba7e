//! What the probe of an enclosure tries beside what every probe tries, and its report.

use super::canary::{AgentErrand, Errand, answer, attempt as try_one, first_open, line};
use super::measure::{Answer, Probe};
use super::sys;
use ledger::receipts::tier::{NAMESPACES, statement};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

/// How long an address may take to answer that it cannot be reached.
const CONNECT_MAX: Duration = Duration::from_millis(500);
/// How long the door may take.
const DOOR_MAX: Duration = Duration::from_secs(5);
/// Addresses that documents may name and nobody has (RFC 5737, RFC 3849).
const ELSEWHERE: (Ipv4Addr, Ipv6Addr) =
    (Ipv4Addr::new(192, 0, 2, 1), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));

/// The whole report: a line for each answer, one for the door, one for each namespace, and the digest that answers the
/// challenge.
pub(super) fn sing(errand: &Errand, agent: &AgentErrand) -> String {
    let answers = Probe::OF_AGENTS.map(|probe| (probe.code(), try_one(probe, errand)));
    let door = knock(agent);
    let namespaces = NAMESPACES.map(|name| (name, namespace("self", name)));
    let digest = statement(
        &agent.challenge,
        &agent.phase,
        answers.iter().map(|(name, answer)| (*name, answer.code())),
        door.code(),
        namespaces.into_iter(),
    );
    let mut out: String = answers.iter().map(|(name, answer)| line(name, answer)).collect();
    out.push_str(&line("door", &door));
    for (name, number) in namespaces {
        out.push_str(&format!("namespace\t{name}\t{number}\n"));
    }
    out.push_str(&format!("sha256\t{}\t\n", digest.to_hex()));
    out
}

/// The number of a namespace of a process; 0 when it cannot be read.
pub(super) fn namespace(process: &str, name: &str) -> i64 {
    let link = std::fs::read_link(format!("/proc/{process}/ns/{name}")).unwrap_or_default();
    let text = link.to_string_lossy();
    let number = text.split_once('[').and_then(|(_, rest)| rest.strip_suffix(']'));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Goes the agent's way to the proxy and shows there what only this probe knows.
fn knock(agent: &AgentErrand) -> Answer {
    let there = || -> io::Result<bool> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, agent.door));
        let mut stream = TcpStream::connect_timeout(&address, DOOR_MAX)?;
        stream.set_read_timeout(Some(DOOR_MAX))?;
        stream.write_all(format!("KNOCK {}\n", token(&agent.challenge, &agent.phase)).as_bytes())?;
        let mut said = Vec::new();
        stream.take(64).read_to_end(&mut said)?;
        Ok(said == b"OPEN\n")
    };
    match there() {
        Ok(true) => Answer::Reachable("the proxy answered".into()),
        Ok(false) => Answer::Blocked("another answer than the proxy's".into()),
        Err(why) => Answer::Blocked(why.to_string()),
    }
}

/// What is shown at the door at one moment: known to the desk and its probe.
pub(super) fn token(challenge: &str, phase: &str) -> String {
    canon::Digest::of(format!("touchstone.door/1\n{challenge}\n{phase}\n").as_bytes()).to_hex()
}

pub(super) fn attempt(probe: Probe, agent: &AgentErrand) -> Answer {
    match probe {
        Probe::Udp => send((Ipv4Addr::LOCALHOST, agent.udp).into(), b"x"),
        Probe::Dns => dns(),
        Probe::TcpOutside => {
            first_open(vec![elsewhere((ELSEWHERE.0, 80).into()), elsewhere((ELSEWHERE.1, 80).into())])
        }
        Probe::Netlink => netlink(),
        Probe::OtherFamilies => other_families(),
        Probe::Descriptors => descriptors(),
        Probe::KeeperMemory => keeper_memory(),
        _ => Answer::NotMeasured("no probe of this name".into()),
    }
}

/// A datagram leaves, or not: on a loopback device without a listener it comes back as an error of the next call.
fn send(to: SocketAddr, bytes: &[u8]) -> Answer {
    let there = || -> io::Result<()> {
        let local: SocketAddr = match to {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(local)?;
        socket.set_read_timeout(Some(CONNECT_MAX))?;
        socket.connect(to)?;
        socket.send(bytes)?;
        // Nobody answers; what counts is whether the network said that nobody is there.
        match socket.recv(&mut [0; 512]) {
            Err(why) if why.kind() == io::ErrorKind::ConnectionRefused => Err(why),
            _ => Ok(()),
        }
    };
    answer(there())
}

/// A question to the name server of this machine and to one elsewhere, and one by the library's own way.
fn dns() -> Answer {
    const QUESTION: &[u8] =
        b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03com\x00\x00\x01\x00\x01";
    let resolved = || -> io::Result<()> {
        let mut found = ("touchstone-probe.example.com", 80).to_socket_addrs()?;
        found.next().map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    };
    let mut words = Vec::new();
    let servers = [Ipv4Addr::LOCALHOST, Ipv4Addr::new(127, 0, 0, 53), ELSEWHERE.0];
    let asked = servers.map(|server| send((server, 53).into(), QUESTION));
    for one in asked.into_iter().chain([answer(resolved())]) {
        match one {
            Answer::Blocked(why) => words.push(why),
            open => return open,
        }
    }
    words.dedup();
    Answer::Blocked(words.join("; "))
}

fn elsewhere(to: SocketAddr) -> io::Result<()> {
    match TcpStream::connect_timeout(&to, CONNECT_MAX) {
        // Packets left and nobody answered: there is a way out.
        Err(why) if matches!(why.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => Ok(()),
        other => other.map(drop),
    }
}

/// Its own network has one interface; of the rest of the kernel it hears nothing.
fn netlink() -> Answer {
    let listed = std::fs::read_to_string("/proc/self/net/dev");
    let Ok(listed) = listed else {
        return Answer::NotMeasured("the list of interfaces cannot be read".into());
    };
    let mut names = listed.lines().skip(2).filter_map(|line| Some(line.split_once(':')?.0.trim()));
    if let Some(other) = names.find(|name| *name != "lo") {
        return Answer::Reachable(format!("there is an interface {other}"));
    }
    let others =
        [libc::NETLINK_KOBJECT_UEVENT, libc::NETLINK_AUDIT, libc::NETLINK_GENERIC, libc::NETLINK_NETFILTER];
    first_open(others.map(|kind| sys::try_socket(libc::AF_NETLINK, libc::SOCK_RAW, kind).map(drop)).into())
}

fn other_families() -> Answer {
    let families =
        [libc::AF_UNIX, libc::AF_VSOCK, libc::AF_PACKET, libc::AF_ALG, libc::AF_BLUETOOTH, libc::AF_TIPC];
    let mut ways: Vec<io::Result<()>> = Vec::new();
    for family in families {
        for kind in [libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_SEQPACKET, libc::SOCK_RAW] {
            ways.push(sys::try_socket(family, kind, 0).map(drop));
        }
    }
    ways.push(sys::try_socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP).map(drop));
    first_open(ways)
}

/// Standard input, output and error, and the one that looks.
fn descriptors() -> Answer {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else {
        return Answer::NotMeasured("the list of descriptors cannot be read".into());
    };
    let numbers: Vec<i32> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let strange = numbers.iter().filter(|number| **number > 2).filter_map(|number| {
        let to = std::fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
        // The list itself was read through one that is closed by now.
        Some(format!("{number}: {}", to.display()))
    });
    match strange.collect::<Vec<_>>() {
        none if none.is_empty() => Answer::Blocked("none beside the three".into()),
        some => Answer::Reachable(some.join(", ")),
    }
}

fn keeper_memory() -> Answer {
    let keeper = rustix::process::getppid().map_or(1, |parent| parent.as_raw_nonzero().get());
    let mut ways = Vec::new();
    for name in ["mem", "environ", "maps"] {
        let file = Path::new("/proc").join(keeper.to_string()).join(name);
        ways.push(std::fs::File::open(file).and_then(|mut file| file.read(&mut [0; 1])).map(drop));
    }
    ways.push(std::fs::read_dir(format!("/proc/{keeper}/fd")).map(drop));
    first_open(ways)
}

/// Tries to leave a file where it must not be possible, and looks whether the folders of its own are the host's.
pub(super) fn write(agent: &AgentErrand) -> Vec<io::Result<()>> {
    let closed = agent.closed.iter().map(|folder| std::fs::write(folder.join(&agent.marker), b"x"));
    let private = agent.private.iter().map(|outer| {
        let found = std::fs::metadata(&outer.path)?;
        if (found.dev(), found.ino()) == (outer.device, outer.inode) {
            return Ok(());
        }
        Err(io::Error::other("a folder of its own"))
    });
    closed.chain(private).collect()
}

//! The desk's side of an agent's enclosure: what is laid out before it, what the probes inside said, and what follows from
//! that (desk specification 29 and 31.20).

use super::canary::{AgentErrand, Errand, Outer};
pub(crate) use super::job::DOOR as SECOND_DOOR;
use super::job::{Enclosed, Root};
use super::measure::{Bait, Probe};
use super::readable::Asked;
use super::{StartError, outside, root};
use crate::keydir;
use canon::{Object, Value, hex};
use ledger::receipts::tier::{self, NAMESPACES, PHASES, Tier};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::UdpSocket;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How much the private folders of an agent may hold each.
pub(crate) const PRIVATE_BYTES: u64 = 2 << 30;

/// What the proxy is asked about at its second door: tokens that are expected, and those that came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Knocks(Arc<Mutex<BTreeMap<String, bool>>>);

impl Knocks {
    /// A token was shown: whether it is one of ours.
    pub(crate) fn shown(&self, token: &[u8]) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let came = std::str::from_utf8(token).ok().and_then(|token| known.get_mut(token));
        came.map(|came| *came = true).is_some()
    }

    fn expect(&self, token: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token, false);
    }

    fn came(&self, token: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(token) == Some(true)
    }
}

/// Where an agent is to be enclosed.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    /// The folder of the proxy's socket, and the port of its first door.
    pub(crate) door: (&'a Path, u16),
    pub(crate) knocks: &'a Knocks,
    /// The only place of the host that it may write to.
    pub(crate) workspace: &'a Path,
    /// Made for it, and removed after it.
    pub(crate) own_folder: Option<&'a Path>,
    /// What it may read beside its installation.
    pub(crate) readable: &'a [PathBuf],
    /// What it may not even see: the run directory, the suite.
    pub(crate) hidden: Vec<PathBuf>,
    /// As on a machine that forbids user namespaces. For tests.
    pub(crate) forbid_userns: bool,
}

/// What is laid out for one agent.
#[derive(Debug)]
pub(crate) struct Laid {
    bait: Bait,
    udp: UdpSocket,
    knocks: Knocks,
    challenge: String,
    marker: String,
    closed: Vec<PathBuf>,
    desk: [i64; 6],
}

/// What the keeper needs.
#[derive(Debug)]
pub(crate) struct Inside {
    pub(crate) roots: Vec<Root>,
    pub(crate) enclosed: Enclosed,
    pub(crate) forbid_userns: bool,
}

/// What was measured of one agent's enclosure.
#[derive(Clone, Debug)]
pub(crate) struct Enclosure {
    /// B when everything was refused at the start and at the end, else C.
    pub(crate) tier: Tier,
    /// Why it is not B.
    pub(crate) why: Option<String>,
    /// As it is signed.
    pub(crate) value: Value,
}

impl Place<'_> {
    /// Lays the bait and says what the keeper needs for `command` with `env`.
    pub(crate) fn lay(
        &self,
        command: &[OsString],
        env: &[(OsString, OsString)],
    ) -> Result<(Laid, Inside), StartError> {
        let system = |what| move |error: io::Error| StartError::System(what, error);
        let bait = Bait::lay(None).map_err(system("bait"))?;
        let udp = UdpSocket::bind("127.0.0.1:0").map_err(system("bait"))?;
        udp.set_nonblocking(true).map_err(system("bait"))?;
        let random = keydir::random::<32>().map_err(system("challenge"))?;
        let challenge = hex(&*random);
        let marker = format!(".touchstone-{}", &challenge[..16]);
        let home = home(env);
        let asked = Asked { command, env, home: &home, workspace: self.workspace, private: &self.hidden };
        let mut closed = self.hidden.clone();
        closed.extend(
            ["/", "/etc", "/usr", "/usr/bin", "/var/tmp", "/dev", "/proc", "/run"].map(PathBuf::from),
        );
        closed.extend(self.readable.iter().cloned());
        // What is the agent's own is no bait.
        closed.retain(|path| !path.starts_with(self.workspace));
        let laid = Laid {
            bait,
            udp,
            knocks: self.knocks.clone(),
            challenge,
            marker,
            closed,
            desk: NAMESPACES.map(|name| outside::namespace("self", name)),
        };
        let errands = PHASES.map(|phase| laid.errand(phase, self.door.1, &home));
        let mut readable = asked.readable();
        let more = self.readable.iter().map(PathBuf::as_path).chain([laid.bait.visible.path()]);
        readable.extend(more.map(|path| (path.to_path_buf(), path.to_path_buf())));
        let mut roots = Vec::new();
        for (named, real) in readable {
            let source = (named != real).then(|| real.clone());
            roots.push(Root { path: named, source, ..root(&real, false)? });
        }
        for path in [Some(self.workspace), self.own_folder].into_iter().flatten() {
            roots.push(root(path, true)?);
        }
        // What the user named is shown, also where it would be hidden.
        let shown = |path: &PathBuf| self.readable.iter().any(|named| path.starts_with(named));
        let hidden = self.hidden.iter().filter(|path| !shown(path)).cloned().collect();
        let (door, port) = (self.door.0.to_path_buf(), self.door.1);
        let enclosed = Enclosed { door, port, home, hidden, errands };
        Ok((laid, Inside { roots, enclosed, forbid_userns: self.forbid_userns }))
    }
}

/// The home directory, which is an empty one inside; `/tmp` where it is none that could be.
fn home(env: &[(OsString, OsString)]) -> PathBuf {
    let named = env.iter().find(|(name, _)| name == "HOME").map(|(_, value)| PathBuf::from(value));
    let fits = |home: &PathBuf| home.is_absolute() && home.components().count() > 1;
    let system = |home: &PathBuf| {
        ["/usr", "/bin", "/lib", "/etc", "/dev", "/proc"].iter().any(|p| home.starts_with(p))
    };
    named.filter(fits).filter(|home| !system(home)).unwrap_or_else(|| PathBuf::from("/tmp"))
}

impl Laid {
    fn errand(&self, phase: &str, door: u16, home: &Path) -> Vec<u8> {
        self.knocks.expect(outside::token(&self.challenge, phase));
        let outer = |path: &Path| {
            let meta = std::fs::metadata(path).ok()?;
            Some(Outer { device: meta.dev(), inode: meta.ino(), path: path.into() })
        };
        let private = [Path::new("/tmp"), home].into_iter().filter_map(outer).collect();
        let agent = AgentErrand {
            udp: self.udp.local_addr().map_or(0, |address| address.port()),
            door,
            challenge: self.challenge.clone(),
            phase: phase.to_owned(),
            marker: self.marker.clone(),
            closed: self.closed.clone(),
            private,
        };
        Errand { agent: Some(agent), ..self.bait.errand() }.encode()
    }

    /// What follows from what the probes said and from what arrived out here.
    pub(crate) fn compare(self, probed: &[Vec<u8>]) -> Enclosure {
        let mut value = Object::new().with("v", 1_i64).with("challenge", self.challenge.as_str());
        let mut desk = Object::new();
        NAMESPACES.into_iter().zip(self.desk).for_each(|(name, number)| desk.set(name, number));
        value.set("desk_namespaces", desk);
        let arrived = self.arrived();
        for (index, phase) in PHASES.into_iter().enumerate() {
            let came = self.knocks.came(&outside::token(&self.challenge, phase));
            let said = probed.get(index).map(|bytes| Said::read(bytes));
            value.set(phase, said.map(|said| said.value(&arrived, came)));
        }
        let value: Value = value.into();
        let why = tier::lacks(&value);
        let tier = if why.is_none() { Tier::B } else { Tier::C };
        Enclosure { tier, why, value }
    }

    /// What was reached out here, whoever did it, from the first probe to the last.
    fn arrived(&self) -> Vec<&'static str> {
        let mut seen: Vec<&str> = self.bait.arrived().into_iter().map(Probe::code).collect();
        if self.udp.recv(&mut [0]).is_ok() {
            seen.push(Probe::Udp.code());
        }
        for folder in &self.closed {
            let marker = folder.join(&self.marker);
            if std::fs::symlink_metadata(&marker).is_ok() {
                seen.push(Probe::WriteOutside.code());
                // Ours: its name is the challenge.
                let _ = std::fs::remove_file(marker);
            }
        }
        seen
    }
}

/// What one probe said.
#[derive(Default)]
struct Said {
    answers: BTreeMap<String, String>,
    door: Option<String>,
    namespaces: BTreeMap<String, i64>,
    sha256: String,
}

impl Said {
    fn read(bytes: &[u8]) -> Said {
        let text = String::from_utf8_lossy(bytes);
        let mut said = Said::default();
        for line in text.lines() {
            let mut parts = line.splitn(3, '\t');
            let (Some(name), Some(code), rest) = (parts.next(), parts.next(), parts.next()) else { continue };
            match name {
                "door" => said.door = Some(code.to_owned()),
                "sha256" => code.clone_into(&mut said.sha256),
                "namespace" => {
                    let number = rest.and_then(|number| number.parse().ok()).unwrap_or(0);
                    said.namespaces.insert(code.to_owned(), number);
                }
                _ => drop(said.answers.insert(name.to_owned(), code.to_owned())),
            }
        }
        said
    }

    /// The probe's own words, overruled by what was seen out here.
    fn value(mut self, arrived: &[&str], knocked: bool) -> Value {
        for name in arrived {
            self.answers.insert((*name).to_owned(), "reachable".to_owned());
        }
        let door = if knocked { self.door.as_deref().unwrap_or("not_measured") } else { "not_reached" };
        let answers = self.answers.iter().map(|(name, code)| (name.as_str(), code.as_str()));
        let namespaces = self.namespaces.iter().map(|(name, number)| (name.as_str(), *number));
        tier::moment_value(answers, door, namespaces, &self.sha256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verifier_asks_for_exactly_what_the_probe_tries() {
        let tried = Probe::OF_AGENTS.map(Probe::code);
        assert_eq!(tried, tier::REQUIRED);
    }

    #[test]
    fn a_token_counts_once_and_only_when_it_was_expected() {
        let knocks = Knocks::default();
        assert!(!knocks.shown(b"a"));
        knocks.expect("a".to_owned());
        assert!(!knocks.clone().came("a"));
        knocks.expect("a".to_owned());
        assert!(knocks.shown(b"a") && knocks.came("a") && !knocks.came("a"));
    }

    #[test]
    fn a_home_that_could_not_be_one_is_none() {
        let of = |home: &str| home_of(home);
        fn home_of(value: &str) -> PathBuf {
            home(&[("HOME".into(), value.into())])
        }
        assert_eq!(of("/home/u"), Path::new("/home/u"));
        for odd in ["", "/", "relative", "/usr/games", "/dev"] {
            assert_eq!(of(odd), Path::new("/tmp"), "{odd}");
        }
        assert_eq!(home(&[]), Path::new("/tmp"));
    }
}

//! What the desk tells its helper, and what the helper answers. Both go over inherited descriptors, never over
//! the command line or the environment, where other processes could read them.

use super::Limits;
use crate::supervise::{Cannot, Status, Strays};
use std::ffi::OsString;
use std::os::fd::RawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// First argument that turns the binary into the helper. After it come the numbers of its descriptors: the job in a
/// memory file; the control pipe, which stays open as long as the desk lives and wants the run, and on which a byte
/// means "kill now"; the pipe for the answer, whose end is the end of the run; then those for the program.
pub(crate) const CONFINE: &str = "__confine";
/// First argument that turns the binary into the probe that runs inside a sandbox.
pub(crate) const CANARY: &str = "__canary";
/// How much is taken away from the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Supervision and limits only.
    Plain,
    /// Landlock, seccomp, limits.
    Landlock,
    /// Namespaces and all of the above.
    Full,
    /// For an agent: as `Full`, with sockets in a network of its own, and a relay out of it.
    Enclosed,
}

impl Mode {
    /// With namespaces of its own.
    pub(crate) fn spaced(self) -> bool {
        matches!(self, Mode::Full | Mode::Enclosed)
    }
}

/// What an enclosed agent has beside its job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Enclosed {
    /// Folder of the proxy's socket, which is called [`DOOR`].
    pub(crate) door: PathBuf,
    /// Port of the loopback address inside behind which the relay listens.
    pub(crate) port: u16,
    /// An empty folder in memory inside.
    pub(crate) home: PathBuf,
    /// Covered where they would be visible.
    pub(crate) hidden: Vec<PathBuf>,
    /// What the probe is told at the start and at the end.
    pub(crate) errands: [Vec<u8>; 2],
}

/// Name of the proxy's socket in its folder.
pub(crate) const DOOR: &str = "s";

/// A path of the host that is visible inside, with the identity the desk saw when it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    /// Where it lies inside.
    pub(crate) path: PathBuf,
    /// Where it lies on the host, when that is elsewhere: `path` is a link there.
    pub(crate) source: Option<PathBuf>,
    pub(crate) writable: bool,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) mode: Mode,
    pub(crate) forbid_userns: bool,
    pub(crate) argv: Vec<OsString>,
    pub(crate) cwd: PathBuf,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) roots: Vec<Root>,
    pub(crate) scratch: Option<PathBuf>,
    /// The program's numbers for the descriptors that are passed on.
    pub(crate) pass: Vec<RawFd>,
    pub(crate) limits: Limits,
    /// With [`Mode::Enclosed`] only.
    pub(crate) enclosed: Option<Enclosed>,
}

/// The helper's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) status: Status,
    pub(crate) strays: Strays,
    pub(crate) wall_ms: u64,
    /// What the probe of an enclosure said at the start and at the end.
    pub(crate) probed: Vec<Vec<u8>>,
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, n: u64) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }
    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
    fn signed(&mut self, n: i32) {
        self.number(i64::from(n).cast_unsigned());
    }
    fn maybe(&mut self, n: Option<u64>) {
        self.number(u64::from(n.is_some()));
        self.number(n.unwrap_or(0));
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let (head, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*head))
    }
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }
    fn signed(&mut self) -> Option<i32> {
        i32::try_from(self.number()?.cast_signed()).ok()
    }
    fn maybe(&mut self) -> Option<Option<u64>> {
        let there = self.number()? == 1;
        let n = self.number()?;
        Some(there.then_some(n))
    }
    fn os(&mut self) -> Option<OsString> {
        Some(OsString::from_vec(self.bytes()?.to_vec()))
    }
    fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?).into_owned())
    }
    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        (0..count).map(|_| one(self)).collect()
    }
}

impl Job {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.number(match self.mode {
            Mode::Plain => 0,
            Mode::Landlock => 1,
            Mode::Full => 2,
            Mode::Enclosed => 3,
        });
        w.number(u64::from(self.forbid_userns));
        w.number(self.argv.len() as u64);
        self.argv.iter().for_each(|a| w.bytes(a.as_bytes()));
        w.bytes(self.cwd.as_os_str().as_bytes());
        w.number(self.env.len() as u64);
        for (name, value) in &self.env {
            w.bytes(name.as_bytes());
            w.bytes(value.as_bytes());
        }
        w.number(self.roots.len() as u64);
        for root in &self.roots {
            w.bytes(root.path.as_os_str().as_bytes());
            w.bytes(root.source.as_ref().map_or(&[][..], |path| path.as_os_str().as_bytes()));
            [u64::from(root.writable), root.device, root.inode].into_iter().for_each(|n| w.number(n));
        }
        w.bytes(self.scratch.as_ref().map_or(&[][..], |p| p.as_os_str().as_bytes()));
        w.number(self.pass.len() as u64);
        self.pass.iter().for_each(|fd| w.signed(*fd));
        let l = &self.limits;
        for n in [
            l.wall_ms,
            l.cpu_seconds,
            l.memory_bytes,
            l.address_bytes,
            l.processes,
            l.open_files,
            l.file_bytes,
        ] {
            w.maybe(n);
        }
        w.number(l.scratch_bytes);
        w.number(l.output_bytes);
        w.number(u64::from(self.enclosed.is_some()));
        if let Some(enclosed) = &self.enclosed {
            enclosed.encode(&mut w);
        }
        w.0
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Job> {
        let mut r = Reader(bytes);
        Some(Job {
            mode: match r.number()? {
                0 => Mode::Plain,
                1 => Mode::Landlock,
                2 => Mode::Full,
                3 => Mode::Enclosed,
                _ => return None,
            },
            forbid_userns: r.number()? == 1,
            argv: r.list(Reader::os)?,
            cwd: r.os()?.into(),
            env: r.list(|r| Some((r.os()?, r.os()?)))?,
            roots: r.list(|r| {
                Some(Root {
                    path: r.os()?.into(),
                    source: Some(r.os()?).filter(|path| !path.is_empty()).map(PathBuf::from),
                    writable: r.number()? == 1,
                    device: r.number()?,
                    inode: r.number()?,
                })
            })?,
            scratch: Some(r.os()?).filter(|p| !p.is_empty()).map(PathBuf::from),
            pass: r.list(Reader::signed)?,
            limits: Limits {
                wall_ms: r.maybe()?,
                cpu_seconds: r.maybe()?,
                memory_bytes: r.maybe()?,
                address_bytes: r.maybe()?,
                processes: r.maybe()?,
                open_files: r.maybe()?,
                file_bytes: r.maybe()?,
                scratch_bytes: r.number()?,
                output_bytes: r.number()?,
            },
            enclosed: if r.number()? == 1 { Some(Enclosed::decode(&mut r)?) } else { None },
        })
    }
}

impl Enclosed {
    fn encode(&self, w: &mut Writer) {
        w.bytes(self.door.as_os_str().as_bytes());
        w.number(u64::from(self.port));
        w.bytes(self.home.as_os_str().as_bytes());
        w.number(self.hidden.len() as u64);
        self.hidden.iter().for_each(|path| w.bytes(path.as_os_str().as_bytes()));
        self.errands.iter().for_each(|errand| w.bytes(errand));
    }

    fn decode(r: &mut Reader<'_>) -> Option<Enclosed> {
        Some(Enclosed {
            door: r.os()?.into(),
            port: u16::try_from(r.number()?).ok()?,
            home: r.os()?.into(),
            hidden: r.list(|r| Some(r.os()?.into()))?,
            errands: [r.bytes()?.to_vec(), r.bytes()?.to_vec()],
        })
    }
}

impl Report {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        let (tag, number, text): (u64, i32, &[u8]) = match &self.status {
            Status::Exited(code) => (0, *code, b""),
            Status::Signaled(signal) => (1, *signal, b""),
            Status::TimedOut => (2, 0, b""),
            Status::Killed => (3, 0, b""),
            Status::TooManyProcesses => (4, 0, b""),
            Status::CouldNotStart { program, why } => (5, why.errno(), program.as_bytes()),
            Status::SetupFailed { step, errno } => (6, *errno, step.as_bytes()),
            Status::Lost => (7, 0, b""),
        };
        w.number(tag);
        w.signed(number);
        w.bytes(text);
        let (tag, number, text) = match &self.strays {
            Strays::None => (0, 0, ""),
            Strays::Killed(n) => (1, *n, ""),
            Strays::NotMeasurable(why) => (2, 0, why.as_str()),
        };
        w.number(tag);
        w.number(number);
        w.bytes(text.as_bytes());
        w.number(self.wall_ms);
        w.number(self.probed.len() as u64);
        self.probed.iter().for_each(|said| w.bytes(said));
        w.0
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Report> {
        let mut r = Reader(bytes);
        let (tag, number) = (r.number()?, r.signed()?);
        let text = r.bytes()?;
        let status = match tag {
            0 => Status::Exited(number),
            1 => Status::Signaled(number),
            2 => Status::TimedOut,
            3 => Status::Killed,
            4 => Status::TooManyProcesses,
            5 => Status::CouldNotStart {
                program: OsString::from_vec(text.to_vec()),
                why: Cannot::from_errno(number),
            },
            6 => Status::SetupFailed { step: String::from_utf8_lossy(text).into_owned(), errno: number },
            _ => return None,
        };
        let (tag, number) = (r.number()?, r.number()?);
        let text = r.text()?;
        let strays = match tag {
            0 => Strays::None,
            1 => Strays::Killed(number),
            _ => Strays::NotMeasurable(text),
        };
        let wall_ms = r.number()?;
        Some(Report { status, strays, wall_ms, probed: r.list(|r| Some(r.bytes()?.to_vec()))? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_and_a_report_survive_the_way() {
        let job = Job {
            mode: Mode::Full,
            forbid_userns: true,
            argv: vec!["a".into(), OsString::from_vec(vec![0xff, b'\n'])],
            cwd: "/x".into(),
            env: vec![("K".into(), "".into())],
            roots: vec![Root {
                path: "/r".into(),
                source: Some("/s".into()),
                writable: true,
                device: 1,
                inode: u64::MAX,
            }],
            scratch: Some("/s".into()),
            pass: vec![3, 9],
            limits: Limits::check(),
            enclosed: Some(Enclosed {
                door: "/door".into(),
                port: 4711,
                home: "/home/u".into(),
                hidden: vec!["/run".into()],
                errands: [b"one".to_vec(), b"two".to_vec()],
            }),
        };
        assert_eq!(Job::decode(&job.encode()), Some(job.clone()));
        assert_eq!(Job::decode(&job.encode()[..20]), None);
        let report = Report {
            status: Status::Signaled(11),
            strays: Strays::Killed(2),
            wall_ms: 7,
            probed: vec![b"x".to_vec()],
        };
        assert_eq!(Report::decode(&report.encode()), Some(report));
    }
}

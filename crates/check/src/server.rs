//! A started interpreter that forks once per candidate: no candidate pays for starting Python, and none shares a
//! process with another.
//!
//! The server itself never runs candidate code. Between two candidates it shows that nothing of the first can be left
//! (processes, files, System V memory); where it cannot, it is ended and another one started, which costs time and
//! nothing else. A candidate that ends its server ends its own run with it.

use crate::CheckInfraError;
use crate::conversation::{Conversation, Ends};
use crate::place::{Place, Program, Wiring};
use crate::worker::START_PATIENCE;
use desk::sandbox::{Limits, Running};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::io::{self, IoSlice, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The server's end of the control socket.
const CONTROL_FD: i32 = 3;
/// How long the server may take to clear up.
const CLEAR_PATIENCE: Duration = Duration::from_secs(10);
/// Candidates after which a server is replaced, so that nothing grows without end.
const CANDIDATES_MAX: u32 = 5_000;

/// One started interpreter.
#[derive(Debug)]
pub(crate) struct Server {
    running: Running,
    control: UnixStream,
    served: u32,
    _folder: tempfile::TempDir,
}

impl Server {
    /// Starts one. `cpu_seconds` is the limit of each candidate.
    pub(crate) fn start(place: &Place, cpu_seconds: u64, limits: Limits) -> Result<Server, CheckInfraError> {
        let folder = place.folder()?;
        let (control, theirs) = UnixStream::pair()?;
        control.set_read_timeout(Some(START_PATIENCE))?;
        let seconds = cpu_seconds.to_string();
        let args = [place.level().code(), &seconds];
        let wiring = Wiring::fds(vec![(theirs.into(), CONTROL_FD)]);
        let running = place.start_python(Program::ForkServer, &args, folder.path(), wiring, limits)?;
        let server = Server { running, control, served: 0, _folder: folder };
        if server.word() == Some(b'S') {
            return Ok(server);
        }
        server.running.kill();
        Err(CheckInfraError::ended("the fork server", &server.running.wait()))
    }

    fn word(&self) -> Option<u8> {
        let mut word = [0];
        (&self.control).read_exact(&mut word).ok().map(|()| word[0])
    }

    /// A process for the next candidate, which has said that it is there.
    pub(crate) fn fork(&mut self) -> Result<Conversation, CheckInfraError> {
        let (mut conversation, ends) = Conversation::new()?;
        self.served += 1;
        self.hand_over(&ends)?;
        drop(ends);
        conversation
            .ready(Instant::now() + START_PATIENCE)
            .map_err(|broken| CheckInfraError::NotStarted(format!("the fork server: {broken:?}")))?;
        Ok(conversation)
    }

    fn hand_over(&self, ends: &Ends) -> io::Result<()> {
        let fds = [ends.requests.as_fd(), ends.replies.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        sendmsg(&self.control, &[IoSlice::new(b"R")], &mut ancillary, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Ends the candidate. The server, when it can take another one.
    pub(crate) fn cleared(self) -> Option<Server> {
        let patient = self.control.set_read_timeout(Some(CLEAR_PATIENCE)).is_ok();
        let asked = patient && (&self.control).write_all(b"E").is_ok();
        if asked && self.word() == Some(b'C') && self.served < CANDIDATES_MAX {
            return Some(self);
        }
        self.end();
        None
    }

    /// Ends the server and everything under it.
    pub(crate) fn end(self) {
        self.running.kill();
        self.running.wait();
    }
}

//! A process for one candidate.

use crate::CheckInfraError;
use crate::conversation::Conversation;
use crate::place::{Place, Program, Wiring};
use desk::sandbox::{Ended, Limits, Running, Stdin};
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a process may take to say that it is there; nothing of a candidate runs in that time.
pub(crate) const START_PATIENCE: Duration = Duration::from_secs(60);
/// Where a worker writes its replies.
const REPLIES_FD: i32 = 3;

/// A worker that said it is there, and the conversation with it.
pub(crate) struct Worker {
    running: Running,
    pub(crate) conversation: Conversation,
    _folder: tempfile::TempDir,
}

impl Worker {
    /// An interpreter for a Python candidate.
    pub(crate) fn python(place: &Place, limits: Limits) -> Result<Worker, CheckInfraError> {
        let mode = if place.bare() { "bare" } else { "confined" };
        Worker::start(place, |folder, wiring| {
            place.start_python(Program::Fresh, &[mode], folder, wiring, limits)
        })
    }

    /// Node.js for a JavaScript candidate.
    pub(crate) fn node(place: &Place, limits: Limits) -> Result<Worker, CheckInfraError> {
        let tool = place.node()?;
        let argv = vec![tool.program.clone().into_os_string(), place.code().join("call.js").into()];
        Worker::start(place, |folder, wiring| {
            place.start(tool, argv, tool.env.clone(), folder, wiring, limits)
        })
    }

    /// A program that was compiled from a candidate. It is the candidate from its first instruction on.
    pub(crate) fn program(place: &Place, program: &Path, limits: Limits) -> Result<Worker, CheckInfraError> {
        let tool = place.rustc()?;
        let argv: Vec<OsString> = vec![program.into()];
        Worker::start(place, |folder, mut wiring| {
            wiring.read_only.extend(program.parent().map(Path::to_path_buf));
            place.start(tool, argv, Vec::new(), folder, wiring, limits)
        })
    }

    fn start(
        place: &Place,
        launch: impl FnOnce(&Path, Wiring) -> Result<Running, CheckInfraError>,
    ) -> Result<Worker, CheckInfraError> {
        let folder = place.folder()?;
        let (mut conversation, ends) = Conversation::new()?;
        let fds = vec![(ends.replies, REPLIES_FD)];
        let wiring = Wiring { fds, ..Wiring::stdin(Stdin::Fd(ends.requests)) };
        let running = launch(folder.path(), wiring)?;
        if conversation.ready(Instant::now() + START_PATIENCE).is_err() {
            running.kill();
            return Err(CheckInfraError::ended("a worker", &running.wait()));
        }
        Ok(Worker { running, conversation, _folder: folder })
    }

    /// Ends the process and everything that it started.
    pub(crate) fn end(self) -> Ended {
        self.running.kill();
        self.running.wait()
    }
}

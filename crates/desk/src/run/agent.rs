//! Starting the agent (desk specification 10.3b and c, PC-01, PC-43).

use super::enclose::{self, NotStarted};
use super::folder::Folder;
use super::options::Options;
use super::orphans_killed;
use crate::agents::environment::Variables;
use crate::sandbox::enclosure::{Enclosure, Place};
use crate::sandbox::{Limits, StartError, Status, Stdin, sweep};
use crate::supervise::{self, Killer, Output, Start};
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What the desk saw of the agent. Its exit code is recorded and decides nothing.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Exit code, or minus the signal.
    pub(super) rc: Option<i64>,
    pub(super) timed_out: bool,
    /// The keeper of the run was ended from outside: what the agent left running is unknown.
    pub(super) keeper_lost: bool,
    /// Something was still alive and was ended; nothing when not measurable.
    pub(super) orphans_killed: Option<bool>,
    pub(super) wall_ms: u64,
    /// What it printed, where that was kept.
    pub(super) stdout: Option<Vec<u8>>,
    /// What was measured of its enclosure, where it had one.
    pub(super) enclosure: Option<Enclosure>,
}

pub(super) struct Agent<'a> {
    pub(super) options: &'a Options,
    pub(super) folder: &'a Folder,
    /// The command of this attempt.
    pub(super) command: Vec<OsString>,
    pub(super) variables: Variables,
    /// Where it is enclosed.
    pub(super) place: Option<Place<'a>>,
    /// Called again and again while the agent runs.
    pub(super) meanwhile: &'a dyn Fn(),
}

impl Agent<'_> {
    /// Runs the agent to its end and the end of everything that it started; an error is why it never started.
    pub(super) fn run(&self) -> Result<Outcome, NotStarted> {
        let mut start = Start::new(self.command.clone(), &self.folder.workspace);
        start.env = in_folder(self.variables.clone(), &self.folder.workspace);
        start.stdin = if self.options.inherit_stdin { Stdin::Inherit } else { Stdin::Null };
        // Who is enclosed holds nothing of the host, also no terminal and no file that the desk was started with.
        let own = if self.place.is_some() { Output::Pass } else { Output::Inherit };
        start.stdout = if self.options.capture_stdout { Output::Capture } else { own };
        start.stderr = own;
        start.limits = Limits { wall_ms: self.options.timeout_ms, ..Limits::unlimited() };
        let laid = self.place.as_ref().map(|place| {
            start.limits = enclose::limits(self.options.timeout_ms);
            enclose::temporary(&mut start.env);
            let (laid, inside) = place.lay(&start.argv, &start.env)?;
            start.enclosed = Some(inside);
            Ok(laid)
        });
        let laid = laid.transpose().map_err(|error: StartError| enclose::not_set_up(error.to_string(), 0))?;
        let running = supervise::start(start).map_err(NotStarted::spawn)?;
        let killer = running.killer().map_err(NotStarted::spawn)?;
        let over = AtomicBool::new(false);
        let main = std::thread::current();
        let ended = std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let ended = running.wait();
                over.store(true, Ordering::Relaxed);
                main.unpark();
                ended
            });
            self.watch(&killer, &over);
            waiter.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        (self.meanwhile)();
        let rc = match &ended.status {
            Status::Exited(code) => Some(i64::from(*code)),
            Status::Signaled(signal) => Some(-i64::from(*signal)),
            Status::TimedOut | Status::Killed | Status::TooManyProcesses | Status::Lost => None,
            Status::CouldNotStart { program, why } => {
                let program = canon::shown(program.as_encoded_bytes());
                return Err(NotStarted::spawn(format!("{}: {program}", why.code())));
            }
            Status::SetupFailed { step, errno } if laid.is_some() => {
                return Err(enclose::not_set_up(step.clone(), *errno));
            }
            Status::SetupFailed { step, errno } => {
                return Err(NotStarted::spawn(format!(
                    "{step}: {}",
                    std::io::Error::from_raw_os_error(*errno)
                )));
            }
        };
        let keeper_lost = ended.status == Status::Lost;
        // No other child of this process is left now.
        let strays = if keeper_lost { sweep(rustix::process::getpid()) } else { ended.strays };
        Ok(Outcome {
            rc,
            timed_out: ended.status == Status::TimedOut,
            keeper_lost,
            orphans_killed: orphans_killed(&strays),
            wall_ms: ended.wall_ms,
            stdout: self.options.capture_stdout.then(|| ended.stdout.bytes()),
            enclosure: laid.map(|laid| laid.compare(&ended.probed)),
        })
    }
}

impl Agent<'_> {
    /// Ends the agent when the user wants to stop. The agent is in a session of its own, so the terminal's interrupt
    /// does not reach it by itself.
    fn watch(&self, killer: &Killer, over: &AtomicBool) {
        while !over.load(Ordering::Relaxed) {
            if self.options.interrupted.load(Ordering::Relaxed) {
                return killer.kill();
            }
            (self.meanwhile)();
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
}

/// The environment in the agent's working folder.
fn in_folder(given: Variables, workspace: &std::path::Path) -> Variables {
    let kept = given.into_iter().filter(|(name, _)| name != "PWD" && name != "OLDPWD");
    kept.chain([("PWD".into(), workspace.into())]).collect()
}

//! Enclosing the agent of a run: whether it can be had here, found out before anything is signed, and how each attempt is
//! enclosed (desk specification 29, 31.20).

use super::channel::Channel;
use super::folder::Folder;
use super::options::Options;
use crate::sandbox::enclosure::{Enclosure, PRIVATE_BYTES, Place};
use crate::sandbox::{Cause, Limits, Status, probe_command};
use crate::supervise::{self, Output, Start};
use ledger::receipts::tier::Tier;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use verdict::StopReason;

/// How the agent of a run is enclosed.
#[derive(Clone, Debug)]
pub(super) struct Enclosing {
    /// The least tier.
    pub(super) floor: Tier,
    /// Why it is not enclosed after all, which the user had said would do.
    pub(super) gave_up: Option<String>,
    readable: Vec<PathBuf>,
}

/// Why an agent is not started.
#[derive(Debug)]
pub(super) struct NotStarted {
    pub(super) stop: StopReason,
    pub(super) why: String,
}

impl NotStarted {
    /// Not the enclosure's fault.
    pub(super) fn spawn(why: impl ToString) -> NotStarted {
        NotStarted { stop: StopReason::AgentSpawnFailed, why: why.to_string() }
    }
}

/// What helps where tier A was asked for.
const NO_HOOK: &str = "tier_not_reached: A is required and B was measured: no hook of an agent says yet which turn opened a \
                       call | --require-tier B";

/// Tries the enclosure with nothing but the probe inside; nothing when none was asked for.
pub(super) fn rehearse(
    options: &Options,
    folder: &Folder,
    channel: &Channel,
) -> Result<Option<Enclosing>, NotStarted> {
    if !options.enclose {
        return Ok(None);
    }
    let floor = options.require_tier.unwrap_or(Tier::B);
    let mut readable = Vec::new();
    for path in &options.readable {
        let real = path.canonicalize();
        readable.push(real.map_err(|error| unavailable(format!("--readable {}: {error}", path.display())))?);
    }
    let mut enclosing = Enclosing { floor, gave_up: None, readable };
    match enclosing.try_out(options, folder, channel) {
        Ok(()) if floor > Tier::B => {
            Err(NotStarted { stop: StopReason::TierNotReached, why: NO_HOOK.to_owned() })
        }
        Ok(()) => Ok(Some(enclosing)),
        Err(failed) if floor > Tier::C => Err(failed),
        Err(failed) => {
            let reason = failed.why.split(" | ").next().unwrap_or_default();
            enclosing.gave_up = Some(reason.to_owned());
            Ok(Some(enclosing))
        }
    }
}

impl Enclosing {
    /// Where an attempt is enclosed; nothing where that was given up.
    pub(super) fn place<'a>(
        &'a self,
        options: &Options,
        folder: &'a Folder,
        channel: &'a Channel,
        own_folder: Option<&'a Path>,
    ) -> Option<Place<'a>> {
        let door = channel.second_door()?;
        let hidden = [Some(folder.run_dir.clone()), folder.suite.clone()].into_iter().flatten().collect();
        self.gave_up.is_none().then_some(Place {
            door,
            knocks: &channel.knocks,
            workspace: &folder.workspace,
            own_folder,
            readable: &self.readable,
            hidden,
            forbid_userns: options.forbid_userns,
        })
    }

    fn try_out(&self, options: &Options, folder: &Folder, channel: &Channel) -> Result<(), NotStarted> {
        let Some(place) = self.place(options, folder, channel, None) else {
            return Err(unavailable("the proxy has no second door".to_owned()));
        };
        let mut start = Start::new(probe_command(), &folder.workspace);
        start.env = std::env::vars_os().filter(|(name, _)| name == "HOME" || name == "PATH").collect();
        start.limits = limits(None);
        (start.stdout, start.stderr) = (Output::Null, Output::Null);
        let (laid, inside) =
            place.lay(&options.command, &start.env).map_err(|error| unavailable(error.to_string()))?;
        start.enclosed = Some(inside);
        let ended = supervise::start(start).map_err(|error| unavailable(error.to_string()))?.wait();
        match ended.status {
            Status::SetupFailed { step, errno } => return Err(not_set_up(step, errno)),
            Status::Exited(_) => {}
            other => return Err(unavailable(format!("the probe: {}", other.code()))),
        }
        match laid.compare(&ended.probed).why {
            None => Ok(()),
            Some(why) => Err(unavailable(why)),
        }
    }

    /// Why an attempt cannot be accepted although its checks may pass: it was to be enclosed and was not to its end.
    pub(super) fn broken<'a>(&self, found: Option<&'a Enclosure>) -> Option<&'a str> {
        let found = found.filter(|found| found.tier < self.floor)?;
        found.why.as_deref()
    }
}

/// Limits of an enclosed agent.
pub(super) fn limits(wall_ms: Option<u64>) -> Limits {
    Limits { wall_ms, scratch_bytes: PRIVATE_BYTES, ..Limits::unlimited() }
}

/// Why no enclosure came about, and what helps.
pub(super) fn not_set_up(step: String, errno: i32) -> NotStarted {
    if errno == 0 {
        return unavailable(step);
    }
    let cause = Cause::of_setup(step, errno);
    ways_on(&format!("{cause}"), cause.cure())
}

fn unavailable(why: String) -> NotStarted {
    ways_on(&why, "run the desk on a machine or in a virtual machine where it works")
}

fn ways_on(why: &str, cure: &str) -> NotStarted {
    let less = "or accept an agent that is not enclosed, which the receipt then says: --require-tier C";
    let why = format!("{}: {why} | {cure} | {less}", StopReason::EnclosureUnavailable.code());
    NotStarted { stop: StopReason::EnclosureUnavailable, why }
}

/// Where temporary files of an enclosed agent go: into its own folder.
pub(super) fn temporary(variables: &mut [(OsString, OsString)]) {
    for (name, value) in variables {
        if ["TMPDIR", "TMP", "TEMP"].iter().any(|known| *name == *known) {
            *value = "/tmp".into();
        }
    }
}

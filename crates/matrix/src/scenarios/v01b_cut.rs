//! V01b.2: what comes between, at one running tick of a Sleep.

use super::Rooms;
use super::bed::{FIRST_COMMAND, cell};
use super::drive::{Drive, Fork};
use crate::header::Header;
use crate::outcome::Outcome;
use crate::scenario::Context;
use crate::unit::Unit;
use room::Room;
use room::input::{Command, Verb};
use room::item::{Exit, Goal, Phase};
use room::kind::Kind;
use room::profile::Profile;
use room::world::Obj;

/// What comes between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// A danger breaks out.
    Safety,
    /// The bed becomes unusable.
    Bed,
    /// Something wants a look.
    Cue,
    /// The same, and there is no way to what has to be looked at.
    Lost,
}

impl Cut {
    /// The arms of the scenario.
    pub(super) const ARMS: [&'static str; 4] = ["safety", "bed", "cue", "cue.lost"];

    pub(super) fn of(unit: &Unit) -> Option<Cut> {
        let arm = Cut::ARMS.iter().position(|arm| *arm == unit.arm)?;
        Some([Cut::Safety, Cut::Bed, Cut::Cue, Cut::Lost][arm])
    }

    pub(super) fn commands(self, profile: &Profile) -> Vec<Command> {
        let (id, [x, y]) = (FIRST_COMMAND, profile.world.anchor_clock);
        match self {
            Cut::Safety => vec![Command::new(id, Verb::Ignite)],
            Cut::Bed => vec![Command::new(id, Verb::Break).on(Obj::Bed)],
            Cut::Cue => vec![Command::new(id, Verb::Cue)],
            Cut::Lost => {
                vec![Command::new(id, Verb::Cue), Command::new(id + 1, Verb::Block).at(cell((x, y)))]
            }
        }
    }

    fn is_cue(self) -> bool {
        matches!(self, Cut::Cue | Cut::Lost)
    }
}

/// Running tick of the check at which a cue of running tick `tick` is acted on.
fn check_after(profile: &Profile, tick: u64) -> u64 {
    let interaction = &profile.interaction;
    let check = interaction.sleep_check.cast_unsigned();
    tick.max(interaction.sleep_min.cast_unsigned()).div_ceil(check) * check
}

/// How long a fork runs: until the Sleep must have ended, and the window for falling asleep again.
pub(super) fn span(profile: &Profile, cut: Cut, tick: u64) -> u64 {
    let wait = if cut.is_cue() { check_after(profile, tick) - tick } else { 0 };
    wait + profile.fixture.v01b_reentry_window.cast_unsigned()
}

/// What is seen of a fork.
struct Watch {
    sleep: u32,
    /// Ticks from the injection until the Sleep was off the body, and until it was CLOSED.
    left: Option<u64>,
    closed: Option<u64>,
    exit: Exit,
    /// Times that a Sleep entered RUNNING after that.
    entries: i64,
    was: bool,
    /// A Sleep was proposed within the hold, while the cue was not yet seen to.
    jitter: Option<u64>,
}

/// One fork: the injection comes in running tick `tick`.
pub(super) fn fork(drive: &mut Drive<'_>, context: &Context<'_, Rooms>, cut: Cut, (sleep, tick): (u32, u64)) {
    let profile = &context.world.profile;
    let span = span(profile, cut, tick);
    let running =
        drive.room.state().queue.active().is_some_and(|i| i.id == sleep && i.phase == Phase::Running);
    let mut fork = drive.fork(tick, span);
    let mut watch = Watch::new(sleep);
    fork.step(&cut.commands(profile));
    watch.look(&fork.room, 0);
    for n in 1..span {
        fork.step(&[]);
        watch.look(&fork.room, n);
    }
    drive.outcome.require("V01b.2", running, Some(fork.room.now()), "not_asleep");
    watch.judge(&fork, &mut drive.outcome, context.header, (cut, tick));
    fork.finish(&mut drive.outcome);
}

impl Watch {
    fn new(sleep: u32) -> Watch {
        Watch { sleep, left: None, closed: None, exit: Exit::None, entries: 0, was: false, jitter: None }
    }

    fn look(&mut self, room: &Room, n: u64) {
        let state = room.state();
        let sleep = state.queue.get(self.sleep);
        if self.left.is_none() && sleep.is_none_or(|item| !item.phase.on_body()) {
            self.left = Some(n);
            self.exit = sleep.map_or(Exit::None, |item| item.exit);
        }
        if self.closed.is_none() && sleep.is_none() {
            self.closed = Some(n);
        }
        let Some(left) = self.left else { return };
        let active = state.queue.active();
        let asleep = active.is_some_and(|item| item.kind == Kind::Sleep && item.phase == Phase::Running);
        self.entries += i64::from(asleep && !self.was);
        let hold = room.profile().interaction.sleep_reentry_hold.cast_unsigned();
        // Proposed is soon enough: GD-25 forbids the proposal, not only the Sleep.
        let proposed = state.queue.items.iter().any(|item| item.kind == Kind::Sleep && item.id != self.sleep);
        let seen_to = state.queue.items.iter().any(|item| item.goal == Goal::Cue);
        let waits = state.mind.cue.is_some() && n < left + hold;
        if proposed && (seen_to || waits) && self.jitter.is_none() {
            self.jitter = Some(n);
        }
        self.was = asleep;
    }

    fn judge(self, fork: &Fork, outcome: &mut Outcome, header: &Header, (cut, tick): (Cut, u64)) {
        let profile = fork.room.profile();
        let number = |name| header.number(name).unwrap_or_default();
        let at = Some(tick);
        let out = number("out").cast_unsigned();
        // The bed breaks in P7: the body feels it in the tick after.
        let known = match cut {
            Cut::Safety => 0,
            // At its last tick it ends before that by itself.
            Cut::Bed => u64::from(self.exit != Exit::EnergyOk),
            Cut::Cue | Cut::Lost => check_after(profile, tick) - tick,
        };
        let limit = known + out - 1;
        outcome.require("V01b.2", self.left == Some(known), at, "not_out");
        outcome.require("V01b.2", self.closed.is_some_and(|closed| closed <= limit), at, "not_closed");
        outcome.require("V01b.2", self.entries <= number("reentries"), at, "reentries");
        outcome.require("V01b.2", self.jitter.is_none(), at, "sleep_while_cue_open");
        match cut {
            Cut::Safety => outcome.reach("Safety episode"),
            Cut::Bed => {
                outcome.require("V01b.2", self.entries == 0, at, "slept_in_a_broken_bed");
                outcome.reach("bed failed");
            }
            Cut::Cue | Cut::Lost => self.cue(outcome, profile, cut, (at, known + tick)),
        }
    }

    fn cue(&self, outcome: &mut Outcome, profile: &Profile, cut: Cut, (at, checked): (Option<u64>, u64)) {
        // At the last check Energy is high enough, which comes first (GD-25).
        let by_itself = self.exit == Exit::EnergyOk;
        outcome.require("V01b.2", self.exit == Exit::Cue || by_itself, at, "exit_reason");
        if self.exit == Exit::Cue {
            outcome.reach("cue exit");
        }
        if checked == profile.interaction.sleep_min.cast_unsigned() {
            outcome.reach("cue in the first segment");
        }
        if self.entries > 0 {
            outcome.reach(if cut == Cut::Cue {
                "slept again after a cue"
            } else {
                "slept again after the hold"
            });
        }
    }
}

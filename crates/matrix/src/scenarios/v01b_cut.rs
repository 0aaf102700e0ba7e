//! V01b.2: what comes between, at one running tick of a Sleep.

use super::Rooms;
use super::bed::{FIRST_COMMAND, WAYS, cell};
use super::drive::{Drive, Fork};
use crate::header::Header;
use crate::outcome::Outcome;
use crate::scenario::Context;
use crate::unit::Unit;
use room::Room;
use room::grid::Cell;
use room::input::{Command, Verb};
use room::item::{Exit, Goal, Phase};
use room::kind::Kind;
use room::profile::Profile;
use room::state::Pose;
use room::world::{Obj, Parent};

/// What comes between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// A danger breaks out.
    Safety,
    /// The bed becomes unusable.
    Bed,
    /// Something wants a look.
    Cue,
    /// The same, and the body cannot get away from the bed.
    Lost,
}

impl Cut {
    /// The arms of the scenario.
    pub(super) const ARMS: [&'static str; 4] = ["safety", "bed", "cue", "cue.lost"];

    pub(super) fn of(unit: &Unit) -> Option<Cut> {
        let arm = Cut::ARMS.iter().position(|arm| *arm == unit.arm)?;
        Some([Cut::Safety, Cut::Bed, Cut::Cue, Cut::Lost][arm])
    }

    /// What comes in `n` ticks after the first.
    pub(super) fn commands(self, n: u64) -> Vec<Command> {
        let id = FIRST_COMMAND + n;
        let cue = Command::new(FIRST_COMMAND - 1, Verb::Cue);
        match (self, n) {
            (Cut::Safety, 0) => vec![Command::new(id, Verb::Ignite)],
            (Cut::Bed, 0) => vec![Command::new(id, Verb::Break).on(Obj::Bed)],
            (Cut::Cue, 0) => vec![cue],
            (Cut::Lost, _) => {
                let way = WAYS.get(n as usize).map(|way| Command::new(id, Verb::Block).at(cell(*way)));
                let command = way.unwrap_or_else(|| distraction(id + 1, n));
                (n == 0).then_some(cue).into_iter().chain([command]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Running ticks that it comes in, of a Sleep that has so many.
    pub(super) fn ticks(self, profile: &Profile, whole: u64) -> u64 {
        // Later it is not tired enough to want to go on sleeping at once.
        if self == Cut::Lost { 2 * profile.interaction.sleep_min.cast_unsigned() } else { whole }
    }

    fn is_cue(self) -> bool {
        matches!(self, Cut::Cue | Cut::Lost)
    }
}

/// Energy at which the body would go on sleeping although it just has: with anything more, repetition forbids it longer than
/// the cue does. The name of the threshold.
pub(super) const TIRED: &str = "tired";

/// Something is seen in every tick, so that every tick has a decision.
fn distraction(id: u64, n: u64) -> Command {
    let columns = (PLANT.end - PLANT.start).cast_unsigned();
    let x = PLANT.start + (n % columns).cast_signed();
    Command::new(id, Verb::Move).on(Obj::Plant).to(Parent::cell(cell((x, 0))))
}

/// Columns of row 0 that the plant is moved along.
const PLANT: std::ops::Range<i64> = 7..15;

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
    /// The cue was seen to.
    seen_to: bool,
    /// Where the body was, and a tick in which it went on without having got up.
    cell: Option<Cell>,
    lying: Option<u64>,
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
    for n in 0..span {
        fork.step(&cut.commands(n));
        watch.look(&fork.room, n);
    }
    drive.outcome.require("V01b.2", running, Some(fork.room.now()), "not_asleep");
    watch.judge(&fork, &mut drive.outcome, context.header, (cut, tick));
    fork.finish(&mut drive.outcome);
}

impl Watch {
    fn new(sleep: u32) -> Watch {
        Watch {
            sleep,
            left: None,
            closed: None,
            exit: Exit::None,
            entries: 0,
            was: false,
            seen_to: false,
            cell: None,
            lying: None,
            jitter: None,
        }
    }

    fn look(&mut self, room: &Room, n: u64) {
        let state = room.state();
        let walked = self.cell.is_some_and(|cell| cell != state.body.cell);
        self.cell = Some(state.body.cell);
        if walked && state.body.pose != Pose::Standing && self.lying.is_none() {
            self.lying = Some(n);
        }
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
        self.seen_to |= seen_to;
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
        outcome.require("V01b.2", self.lying.is_none(), self.lying, "walks_lying");
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
            outcome.require("V01b.2", self.seen_to || cut == Cut::Lost, at, "cue_not_seen_to");
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

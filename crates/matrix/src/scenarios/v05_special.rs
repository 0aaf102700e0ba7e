//! V05.3: preempted in PREPARING while holding a reservation; the end of a proposal while it is suspended; and what waits
//! for a person who has left.

use super::Rooms;
use super::bed::cell;
use super::drive::{Drive, reach_if};
use super::v05::drawn;
use super::v05_kinds::{FIRST_COMMAND, PERSON, content};
use super::v05_watch::Ends;
use crate::scenario::Context;
use crate::unit::Unit;
use room::draw::Stream;
use room::input::{Command, Verb};
use room::item::{Item, Label, Phase};
use room::kind::Kind;
use room::setup::{Hazard, RunMode, Want};
use room::world::Obj;

/// What is wanted: kinds that walk to what they reserve, and kinds that need a person.
const WALKS: [(Kind, Obj); 3] =
    [(Kind::PickUp, Obj::Plant), (Kind::Open, Obj::SharedBox), (Kind::Open, Obj::Window)];
const PERSONS: [(Kind, Option<Obj>); 3] =
    [(Kind::Ask, None), (Kind::Give, Some(Obj::Cup)), (Kind::Speak, None)];
/// A danger beside no way of this room, so that it suspends and does not invalidate.
const SOURCE: (i64, i64) = (1, 6);
/// Six steps at least from whatever may be walked to first (GD-09): wherever the first way leads, it is long enough.
const SPAWN: (i64, i64) = (3, 9);
/// Cells that are left of the way when it is preempted, at least.
const LEFT: u8 = 3;
/// Ticks until it is preempted at the latest, and ticks after that: the longest danger or block, and its end.
const TICKS: u64 = 200;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    /// A lease that ends at once: the preparation may go on after it.
    Preempted,
    /// A danger, which outlasts the proposal.
    Expired,
    /// The person leaves, and comes back after so many ticks or not.
    Blocked(Option<u64>),
}

/// One run: what is wanted and the tick of the preemption are drawn.
pub(super) fn run<'a>(unit: &Unit, context: &Context<'a, Rooms>) -> Drive<'a> {
    let case = match unit.arm.as_str() {
        "preempted" => Case::Preempted,
        "expired" => Case::Expired,
        _ => Case::Blocked(back(context)),
    };
    let mut drive = start(unit, context, case);
    let mut seen = Seen::new(case, drawn(context, Stream::Interleaving, (0, 0), 4));
    while drive.room.now() < seen.cut.unwrap_or(TICKS) + TICKS && !seen.closed {
        let commands = seen.commands(&drive);
        drive.step(&commands);
        seen.look(&drive);
    }
    seen.judge(&mut drive);
    drive
}

/// Half of the persons come back, within the time of the block.
fn back(context: &Context<'_, Rooms>) -> Option<u64> {
    let most = context.world.profile.clock.blocked_max.cast_unsigned();
    let wait = context.world.profile.clock.pending_max.cast_unsigned() + 2;
    let comes = drawn(context, Stream::Content, (0, 1), 2) == 0;
    comes.then(|| wait + drawn(context, Stream::Content, (0, 2), most - wait))
}

fn start<'a>(unit: &Unit, context: &Context<'a, Rooms>, case: Case) -> Drive<'a> {
    let profile = &context.world.profile;
    let pick = |n: usize| drawn(context, Stream::Content, (0, 0), n as u64) as usize;
    let person = matches!(case, Case::Blocked(_));
    let (kind, target) = if person { PERSONS[pick(PERSONS.len())] } else { some(WALKS[pick(WALKS.len())]) };
    let mut setup = super::drive::setup(unit, context);
    setup.mode = RunMode::Lab;
    setup.fixture.levels = Some(content(profile));
    setup.fixture.spawn = Some(cell(SPAWN));
    setup.fixture.want = Some(Want { kind, target, human: person.then_some(PERSON), times: 1 });
    setup.fixture.before = vec![Command::new(1, Verb::Come).by(PERSON)];
    let [ttc, ..] = profile.fixture.v03_ttc;
    setup.fixture.hazard =
        Some(Hazard { cell: cell(SOURCE), ttc: ttc.cast_unsigned(), visible: false, controllable: true });
    Drive::start(unit, context, setup)
}

fn some((kind, object): (Kind, Obj)) -> (Kind, Option<Obj>) {
    (kind, Some(object))
}

struct Seen {
    case: Case,
    /// Ticks of PREPARING, or of waiting, before it is preempted.
    delay: u64,
    item: Option<u32>,
    waited: u64,
    /// The tick in which it was.
    cut: Option<u64>,
    held: bool,
    suspended: bool,
    resumed: bool,
    blocked: Option<u64>,
    label: Option<Label>,
    /// Tick in which the proposal should end, and the one in which it did.
    ttl: u64,
    ended: Option<u64>,
    closed: bool,
    ends: Ends,
    late: Option<(&'static str, u64)>,
}

impl Seen {
    fn new(case: Case, delay: u64) -> Seen {
        Seen {
            case,
            delay: if matches!(case, Case::Blocked(_)) { 0 } else { delay },
            item: None,
            waited: 0,
            cut: None,
            held: false,
            suspended: false,
            resumed: false,
            blocked: None,
            label: None,
            ttl: 0,
            ended: None,
            closed: false,
            ends: Ends::default(),
            late: None,
        }
    }

    /// The item that this is about: it approaches what it has reserved, or is about to ask for a person.
    fn is_it(&self, item: &Item) -> bool {
        match self.case {
            // It is PENDING when the person goes, and tests its start after that.
            Case::Blocked(_) => item.phase == Phase::Proposed && item.human.is_some(),
            // Far enough away that it is still on its way when the lease has the body.
            _ => item.phase == Phase::Preparing && item.target.is_some() && item.distance > LEFT,
        }
    }

    /// The way is short: one step more, and it arrives before the lease has the body.
    fn last_chance(&self, item: &Item) -> bool {
        !matches!(self.case, Case::Blocked(_)) && item.distance == LEFT + 1
    }

    fn commands(&mut self, drive: &Drive<'_>) -> Vec<Command> {
        let now = drive.room.now();
        let item = drive.room.state().queue.items.iter().find(|item| self.is_it(item));
        if let Some(item) = item.filter(|_| self.cut.is_none()) {
            if self.item != Some(item.id) {
                (self.item, self.waited) = (Some(item.id), 0);
            }
            if self.waited >= self.delay || self.last_chance(item) {
                self.cut = Some(now);
                self.held = item.reserved;
                self.ttl = item.ttl;
            }
            self.waited += 1;
        }
        let id = FIRST_COMMAND + now;
        let after = self.cut.map(|tick| now - tick);
        let command = match (self.case, after) {
            (Case::Preempted, Some(0)) => Command::new(id, Verb::LeaseRequest),
            // It has the body by then.
            (Case::Preempted, Some(4)) => Command::new(id, Verb::LeaseEnd),
            (Case::Expired, Some(0)) => Command::new(id, Verb::Ignite),
            (Case::Blocked(_), Some(0)) => Command::new(id, Verb::Leave).by(PERSON),
            (Case::Blocked(back), Some(after)) if back == Some(after) => {
                Command::new(id, Verb::Come).by(PERSON)
            }
            _ => return Vec::new(),
        };
        vec![command]
    }

    fn look(&mut self, drive: &Drive<'_>) {
        let tick = drive.room.now() - 1;
        if let Some(code) = self.ends.look(&drive.room) {
            self.late = self.late.or(Some((code, tick)));
        }
        let Some(id) = self.item.filter(|_| self.cut.is_some()) else { return };
        match drive.room.state().queue.get(id) {
            Some(item) => {
                let waits = item.phase == Phase::Suspended && item.unstarted;
                self.suspended |= waits;
                if waits && item.until != Some(item.ttl) {
                    self.late = self.late.or(Some(("deadline_of_the_suspension", tick)));
                }
                self.resumed |= self.suspended && item.phase.on_body();
                if item.phase == Phase::Blocked && self.blocked.is_none() {
                    self.blocked = Some(tick);
                }
                self.label = Some(item.label);
                if item.label != Label::None && self.ended.is_none() {
                    self.ended = Some(tick);
                }
            }
            None => self.closed = true,
        }
    }

    fn judge(&self, drive: &mut Drive<'_>) {
        let at = self.cut;
        let held = drive.room.checks().held();
        let waits = drive.room.profile().clock.pending_max.cast_unsigned();
        let outcome = &mut drive.outcome;
        outcome.checked("V05.3", 1);
        if let Some((code, tick)) = self.late {
            outcome.fail("V05.3", Some(tick), code);
        }
        outcome.require("V05.3", self.closed, at, "never_closed");
        outcome.require("V05.4", held, at, "invariant");
        let preempted = self.held && self.suspended;
        match self.case {
            Case::Preempted => {
                outcome.require("V05.3", preempted, at, "not_preempted_while_reserved");
                reach_if(outcome, preempted, "preempted while reserved");
                if self.resumed {
                    outcome.reach("resumed");
                }
            }
            Case::Expired => {
                let expired = preempted && !self.resumed && self.label == Some(Label::Expired);
                outcome.require("V05.3", expired, at, "not_expired_while_suspended");
                outcome.require("V05.3", self.ended == Some(self.ttl), self.ended, "expired_at_another_time");
                if expired {
                    outcome.reach("expired while suspended");
                }
            }
            Case::Blocked(back) => {
                let in_time = at.zip(self.blocked).is_some_and(|(cut, tick)| tick - cut <= waits);
                outcome.require("V05.3", in_time, at, "not_blocked");
                let wanted = if back.is_some() { Label::Superseded } else { Label::Abandoned };
                outcome.require("V05.3", self.label == Some(wanted), at, "end_of_the_block");
                reach_if(outcome, self.blocked.is_some(), "blocked item");
                if self.label == Some(wanted) {
                    outcome.reach(if back.is_some() { "superseded" } else { "abandoned" });
                }
            }
        }
    }
}

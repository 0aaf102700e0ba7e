//! The rooms of V05, one for each kind of handling, and what comes between.

use super::Rooms;
use super::drive::{Drive, setup};
use crate::scenario::Context;
use crate::unit::Unit;
use room::Room;
use room::fixed::ONE;
use room::grid::Cell;
use room::input::{Command, Verb, Way};
use room::item::{Goal, Phase};
use room::kind::Kind;
use room::profile::Profile;
use room::setup::{RunMode, Want};
use room::state::Levels;
use room::world::{Obj, Parent};

/// The resident.
pub(super) const PERSON: u8 = 0;
/// Commands of an interleaving are numbered from here on.
pub(super) const FIRST_COMMAND: u64 = 100;
/// The phases that edits come in, in turn.
pub(super) const PHASES: [Phase; 6] =
    [Phase::Proposed, Phase::Pending, Phase::Preparing, Phase::Running, Phase::Committed, Phase::Cleaning];

/// What has to happen in some run.
pub(super) const NEEDS: &[&str] = &[
    "cancel in PROPOSED",
    "cancel in PENDING",
    "cancel in PREPARING",
    "cancel in RUNNING",
    "cancel in COMMITTED",
    "cancel in CLEANING",
    "teleport in PROPOSED",
    "teleport in PENDING",
    "teleport in PREPARING",
    "teleport in RUNNING",
    "teleport in COMMITTED",
    "teleport in CLEANING",
    "reset in PROPOSED",
    "reset in PENDING",
    "reset in PREPARING",
    "reset in RUNNING",
    "reset in COMMITTED",
    "reset in CLEANING",
    "succeeded",
    "failed",
    "blocked item",
    "abandoned",
    "superseded",
    "act waited for a commit",
    "opposite acts",
    "merged",
    "preempted while reserved",
    "resumed",
    "expired while suspended",
];

/// What a person or the environment does (GD-93).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Take,
    Return,
    Move,
    Open,
    Close,
    Lock,
    BlockHand,
}

impl Act {
    pub(super) const ALL: [Act; 7] =
        [Act::Take, Act::Return, Act::Move, Act::Open, Act::Close, Act::Lock, Act::BlockHand];
}

/// What the system does in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    None,
    Cancel,
    Teleport,
    Reset,
}

impl Edit {
    pub(super) const ALL: [Edit; 4] = [Edit::None, Edit::Cancel, Edit::Teleport, Edit::Reset];

    pub(super) fn word(self) -> &'static str {
        match self {
            Edit::None => "none",
            Edit::Cancel => "cancel",
            Edit::Teleport => "teleport",
            Edit::Reset => "reset",
        }
    }
}

/// What comes in the same tick as the act, or shortly after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum With {
    /// Something on every other channel: the order of channels decides.
    Others,
    /// The act that undoes it, by a larger number: the larger number stays.
    Opposite,
    /// The same again a moment later: it merges.
    Again,
}

impl With {
    pub(super) const ALL: [With; 3] = [With::Others, With::Opposite, With::Again];
}

/// Ticks until the same comes again: within the window in which it merges.
pub(super) const AGAIN: u64 = 2;

/// One interleaving.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) act: Act,
    /// In which tick of the life.
    pub(super) act_at: u64,
    pub(super) with: With,
    pub(super) edit: Edit,
    pub(super) phase: Phase,
    /// Ticks of that phase before the edit.
    pub(super) after: u64,
    /// Where things and the body are put.
    pub(super) content: u64,
    pub(super) kind: Kind,
}

/// Places that a person or the environment puts things.
const PLACES: [(i64, i64); 5] = [(8, 9), (10, 10), (3, 8), (12, 5), (5, 9)];

impl Plan {
    /// What is handled.
    fn object(&self) -> Obj {
        object(self.kind)
    }

    fn act(&self) -> Command {
        let to = self.place();
        let command = |verb| Command::new(FIRST_COMMAND, verb);
        match self.act {
            Act::Take => command(Verb::Take).on(Obj::Cup).by(PERSON),
            Act::Return => command(Verb::Return).on(Obj::Cup).to(to).by(PERSON),
            Act::Move => command(Verb::Move).on(Obj::Cup).to(to),
            Act::Open => command(Verb::PersonOpens).on(Obj::SharedBox).by(PERSON),
            Act::Close => command(Verb::PersonCloses).on(Obj::SharedBox).by(PERSON),
            Act::Lock => command(Verb::Lock).on(Obj::SharedBox),
            Act::BlockHand => command(Verb::BlockHand).by(PERSON),
        }
    }

    /// What comes in `n` ticks after the act, the act itself included.
    pub(super) fn acts(&self, n: u64, now: u64) -> Vec<Command> {
        let act = self.act();
        match (self.with, n) {
            (With::Others, 0) => self.others(act, now),
            (With::Opposite, 0) => {
                let mut both: Vec<Command> = self.opposite(&act).into_iter().chain([act]).collect();
                // Which one arrives first decides nothing.
                let place = self.content as usize % both.len();
                both.rotate_left(place);
                both
            }
            (With::Again, AGAIN) => vec![Command { id: FIRST_COMMAND + 2, ..act }],
            (_, 0) => vec![act],
            _ => Vec::new(),
        }
    }

    fn others(&self, act: Command, now: u64) -> Vec<Command> {
        let id = FIRST_COMMAND + 3;
        let mut answer = Command::new(id, Verb::Respond).doing(Kind::Scan);
        answer.request = Some(1);
        answer.asked = Some(now);
        let plant = Command::new(id + 1, Verb::Move).on(Obj::Plant).to(Parent::cell(self.cell()));
        let person = Command::new(id + 1, Verb::Come).by(PERSON + 1);
        let environment = act.verb.way() == Way::Environment;
        let cue = Command::new(id + 2, Verb::Cue);
        vec![answer, cue, if environment { person } else { plant }, act]
    }

    /// What undoes the act, on the same object and by the same channel.
    fn opposite(&self, act: &Command) -> Option<Command> {
        let verb = act.verb.opposite()?;
        let to = (verb == Verb::Return).then(|| self.place());
        Some(Command { id: FIRST_COMMAND + 2, verb, to, ..act.clone() })
    }

    /// Whether of two opposite acts the one with the larger number is what is true now; nothing when one cannot see that.
    pub(super) fn larger_stays(&self, room: &Room) -> Option<bool> {
        let on = room.state().world.object(Obj::SharedBox).on;
        match (self.with, self.act) {
            (With::Opposite, Act::Open) => Some(!on),
            (With::Opposite, Act::Close) => Some(on),
            (With::Opposite, Act::Lock) => Some(!room.state().hidden.objects[Obj::SharedBox.index()].locked),
            _ => None,
        }
    }

    pub(super) fn edit(&self) -> Option<Command> {
        let id = FIRST_COMMAND + 1;
        match self.edit {
            Edit::None => None,
            Edit::Cancel => Some(Command::new(id, Verb::Cancel)),
            Edit::Teleport => Some(Command::new(id, Verb::Teleport).at(self.cell())),
            Edit::Reset => Some(Command::new(id, Verb::Reset).on(self.object())),
        }
    }

    fn cell(&self) -> Cell {
        super::bed::cell(PLACES[(self.content % PLACES.len() as u64) as usize])
    }

    fn place(&self) -> Parent {
        let surfaces = [Parent::with(Obj::Table), Parent::with(Obj::Workbench), Parent::with(Obj::SharedBox)];
        let choice = (self.content / PLACES.len() as u64) as usize % (surfaces.len() + 1);
        surfaces.get(choice).copied().unwrap_or(Parent::cell(self.cell()))
    }
}

/// What a kind handles.
fn object(kind: Kind) -> Obj {
    if matches!(kind, Kind::Open | Kind::Close) { Obj::SharedBox } else { Obj::Cup }
}

/// Cells between the start and the table, and on the way to the box.
const BLOCKED: [(i64, i64); 2] = [(9, 8), (11, 7)];

/// A room in which a kind is wanted, and nothing else is.
pub(super) fn start<'a>(unit: &Unit, context: &Context<'a, Rooms>, kind: Kind) -> Drive<'a> {
    let profile = &context.world.profile;
    let mut setup = setup(unit, context);
    setup.mode = RunMode::Lab;
    setup.fixture.levels = Some(content(profile));
    let human = matches!(kind, Kind::Give | Kind::Receive).then_some(PERSON);
    setup.fixture.want = Some(Want { kind, target: Some(object(kind)), human, times: 1 });
    // Two blockers are in the way, so that a path is something that has to be known.
    let mut before: Vec<Command> = BLOCKED
        .iter()
        .zip(10..)
        .map(|(at, id)| Command::new(id, Verb::Block).at(super::bed::cell(*at)))
        .collect();
    before.push(Command::new(1, Verb::Come).by(PERSON));
    match kind {
        Kind::Close => before.push(Command::new(2, Verb::SwitchOn).on(Obj::SharedBox)),
        Kind::Receive => before.push(Command::new(2, Verb::Take).on(Obj::Cup).by(PERSON)),
        // With every other seed it is in the box, which can be locked.
        Kind::PickUp if unit.index().is_some_and(|index| index % 2 == 1) => {
            before.push(Command::new(2, Verb::SwitchOn).on(Obj::SharedBox));
            before.push(Command::new(3, Verb::Move).on(Obj::Cup).to(Parent::with(Obj::SharedBox)));
        }
        _ => {}
    }
    setup.fixture.before = before;
    Drive::start(unit, context, setup)
}

/// Nothing is short.
pub(super) fn content(profile: &Profile) -> Levels {
    let reserve = profile.regulation.initial_reserves;
    Levels {
        energy: ONE,
        hydration: ONE,
        calories: ONE,
        thermal: reserve,
        pain: 0,
        posture: reserve,
        engagement: 0,
    }
}

/// Steps until an item of this kind is proposed for what is wanted, and gives it.
pub(super) fn until_proposed(drive: &mut Drive<'_>, kind: Kind) -> Option<u32> {
    let most = drive.room.profile().clock.blocked_max;
    for _ in 0..most {
        drive.step(&[]);
        let wanted =
            drive.room.state().queue.items.iter().find(|item| item.goal == Goal::Want && item.kind == kind);
        if let Some(item) = wanted {
            return (item.phase == Phase::Proposed).then_some(item.id);
        }
    }
    None
}

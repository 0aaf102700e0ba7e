//! The rooms of V05, one for each kind of handling, and what comes between.

use super::Rooms;
use super::drive::{Drive, setup};
use crate::scenario::Context;
use crate::unit::Unit;
use room::fixed::ONE;
use room::grid::Cell;
use room::input::{Command, Verb};
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

/// One interleaving.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) act: Act,
    /// In which tick of the life.
    pub(super) act_at: u64,
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

    pub(super) fn act(&self) -> Command {
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

/// A room in which a kind is wanted, and nothing else is.
pub(super) fn start<'a>(unit: &Unit, context: &Context<'a, Rooms>, kind: Kind) -> Drive<'a> {
    let profile = &context.world.profile;
    let mut setup = setup(unit, context);
    setup.mode = RunMode::Lab;
    setup.fixture.levels = Some(content(profile));
    let human = matches!(kind, Kind::Give | Kind::Receive).then_some(PERSON);
    setup.fixture.want = Some(Want { kind, target: Some(object(kind)), human, times: 1 });
    let mut before = vec![Command::new(1, Verb::Come).by(PERSON)];
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

//! The channels of V02, what serves them, and the layouts that put it as far away as WalkTo goes.

use super::Rooms;
use super::bed::cell;
use super::drive::setup;
use crate::outcome::Outcome;
use crate::scenario::Context;
use crate::unit::Unit;
use room::Room;
use room::fixed::{ONE, div_ceil};
use room::grid::{Cell, Grid, Paths};
use room::input::{Command, Verb};
use room::item::{Goal, Item, Phase};
use room::kind::Kind;
use room::profile::Profile;
use room::setup::{Fixture, Setup};
use room::state::{Channel, Levels};
use room::world::Obj;

/// Commands of the scenarios are numbered from here on; the layout has the numbers below.
pub(super) const FIRST_COMMAND: u64 = 1_000;

/// A channel with its two ways.
#[derive(Clone, Copy)]
pub(super) struct Service {
    pub(super) channel: Channel,
    pub(super) primary: Obj,
    pub(super) backup: Obj,
    /// What is lost in a tick, µ.
    pub(super) rate: i64,
    /// Worst way and action of one path, ticks (GD-33).
    path: i64,
    layout: &'static Layout,
    /// A start from which Tier 3 chooses the primary without a draw: everything else is worth less by more than the window.
    near: (i64, i64),
}

/// Blockers, and a start as far from the primary as from there to the backup.
struct Layout {
    walls: &'static [Wall],
    start: (i64, i64),
    /// Where the primary is used from, and the backup from there.
    primary: (i64, i64),
    backup: (i64, i64),
}

/// Cells of one column, from one row to another.
type Wall = (i64, i64, i64);

/// Water and food are in the south-west, the table in the south-east: the way leads once around the north.
const SUPPLIES: Layout = Layout {
    walls: &[(6, 9, 11), (8, 1, 11), (11, 8, 8), (12, 8, 8), (10, 9, 9), (11, 10, 10)],
    start: (15, 7),
    primary: (2, 10),
    backup: (13, 9),
};
const FOOD: Layout = Layout { primary: (0, 8), ..SUPPLIES };
/// The bed is left along the west wall, the chair reached from the north of the alcove.
const ALCOVE: Layout = Layout {
    walls: &[(2, 1, 9), (1, 1, 1), (4, 2, 7), (3, 7, 7), (3, 9, 9), (4, 9, 9), (5, 9, 9)],
    start: (15, 4),
    primary: (0, 1),
    backup: (3, 4),
};

impl Service {
    pub(super) fn of(channel: &str, profile: &Profile) -> Service {
        let regulation = &profile.regulation;
        match channel {
            "hydration" => Service {
                channel: Channel::Hydration,
                primary: Obj::Dispenser,
                backup: Obj::Jug,
                rate: -regulation.hydration_rate,
                path: regulation.hydration_path,
                layout: &SUPPLIES,
                near: (8, 8),
            },
            "calories" => Service {
                channel: Channel::Calories,
                primary: Obj::Pantry,
                backup: Obj::Tin,
                rate: -regulation.calories_rate,
                path: regulation.calories_path,
                layout: &FOOD,
                near: (8, 8),
            },
            _ => Service {
                channel: Channel::Energy,
                primary: Obj::Bed,
                backup: Obj::Chair,
                rate: -regulation.energy_awake,
                path: regulation.energy_path,
                layout: &ALCOVE,
                near: (0, 5),
            },
        }
    }

    /// Ticks before the danger time at which it has to start, 20 % included (RC-RES-12).
    pub(super) fn margin(&self, profile: &Profile) -> i64 {
        let whole = self.path + profile.regulation.failure_discovery + self.path;
        div_ceil(whole * (ONE + profile.regulation.tier1_margin), ONE)
    }

    /// The level at the start of a tick whose end is the latest legal start.
    pub(super) fn latest_level(&self, profile: &Profile) -> i64 {
        profile.regulation.danger_enter + self.rate * self.margin(profile)
    }

    /// Levels with this channel at `level` and nothing else short.
    pub(super) fn levels(&self, profile: &Profile, level: i64) -> Levels {
        let reserve = profile.regulation.initial_reserves;
        let mut levels = Levels {
            energy: ONE,
            hydration: ONE,
            calories: ONE,
            thermal: reserve,
            pain: 0,
            posture: reserve,
            engagement: 0,
        };
        match self.channel {
            Channel::Hydration => levels.hydration = level,
            Channel::Calories => levels.calories = level,
            _ => levels.energy = level,
        }
        levels
    }

    pub(super) fn goal(&self) -> Goal {
        self.channel.goal()
    }

    /// What the backup does.
    pub(super) fn backup_kind(&self) -> Kind {
        match self.channel {
            Channel::Hydration => Kind::Drink,
            Channel::Calories => Kind::Eat,
            _ => Kind::Rest,
        }
    }

    /// The commands that leave the channel without its backup.
    fn without_backup(&self) -> Command {
        let command = Command::new(FIRST_COMMAND - 1, Verb::Restock).on(self.backup).amount(0);
        if self.channel == Channel::Energy {
            Command::new(command.id, Verb::Break).on(self.backup)
        } else {
            command
        }
    }

    /// As far from the primary as WalkTo goes.
    pub(super) fn start(&self) -> Cell {
        cell(self.layout.start)
    }

    /// As far from the backup as WalkTo goes.
    pub(super) fn beside_primary(&self) -> Cell {
        cell(self.layout.primary)
    }

    /// A setup as far away as WalkTo goes.
    pub(super) fn far(&self, unit: &Unit, context: &Context<'_, Rooms>, from: Cell, level: i64) -> Setup {
        let mut setup = setup(unit, context);
        setup.fixture = self.fixture(&context.world.profile, level);
        setup.fixture.spawn = Some(from);
        setup.fixture.before = self.layout.blockers();
        setup
    }

    /// The reference room, with or without the backup.
    pub(super) fn near(&self, unit: &Unit, context: &Context<'_, Rooms>, level: i64, backup: bool) -> Setup {
        let mut setup = setup(unit, context);
        setup.fixture = self.fixture(&context.world.profile, level);
        setup.fixture.spawn = Some(cell(self.near));
        if !backup {
            setup.fixture.before = vec![self.without_backup()];
        }
        setup
    }

    fn fixture(&self, profile: &Profile, level: i64) -> Fixture {
        let mut fixture = Fixture::reference();
        fixture.levels = Some(self.levels(profile, level));
        fixture
    }

    /// The layout is what it is made for: both ways have exactly the length of the longest WalkTo.
    pub(super) fn check_layout(&self, room: &Room, outcome: &mut Outcome) {
        let profile = room.profile();
        let Some(grid) = Grid::of(&profile.world) else { return };
        let paths = Paths::new(&grid, &room.state().world.blocked);
        let layout = self.layout;
        for (from, to) in [(layout.start, layout.primary), (layout.primary, layout.backup)] {
            let steps = paths.distance(cell(from), cell(to)).map(i64::from);
            outcome.require("V02.5", steps == Some(profile.interaction.walk_wcet), None, "layout");
        }
    }
}

impl Layout {
    fn blockers(&self) -> Vec<Command> {
        let cells = self.walls.iter().flat_map(|(x, from, to)| (*from..=*to).map(move |y| cell((*x, y))));
        cells.zip(1..).map(|(cell, id): (Cell, u64)| Command::new(id, Verb::Block).at(cell)).collect()
    }
}

/// Items for a goal that wait or work.
pub(super) fn alive(room: &Room, goal: Goal) -> impl Iterator<Item = &Item> {
    room.state().queue.items.iter().filter(move |item| item.goal == goal && item.alive())
}

/// Those of them that are neither suspended nor blocked: more than one is queued in a row (V02.2).
pub(super) fn under_way(room: &Room, goal: Goal) -> usize {
    alive(room, goal).filter(|item| !matches!(item.phase, Phase::Suspended | Phase::Blocked)).count()
}

/// Portions that are left at a supply, or 0.
pub(super) fn stock(room: &Room, obj: Obj) -> u32 {
    room.state().world.object(obj).stock
}

//! A body that lies down at once: it starts beside the bed and can reach nothing else until Sleep is on its way. So the
//! Sleep that V01b and V03 look at begins at a known tick and no draw has a part in it.

use super::drive::Drive;
use room::fixed::ONE;
use room::grid::Cell;
use room::input::{Command, Verb};
use room::item::Phase;
use room::kind::Kind;
use room::profile::Profile;
use room::setup::Fixture;
use room::state::Levels;

/// Beside the bed (GD-92), and the two ways out of there.
const BESIDE: (i64, i64) = (0, 1);
pub(super) const WAYS: [(i64, i64); 2] = [(1, 1), (0, 2)];
/// Ticks that are spent awake before Sleep runs: proposed, pending, preparing.
const AWAKE: i64 = 3;
/// Commands of a scenario are numbered from here on; the fixture has the numbers below.
pub(super) const FIRST_COMMAND: u64 = 100;

/// The cell at two coordinates.
pub(super) fn cell((x, y): (i64, i64)) -> Cell {
    Cell::at(x, y).expect("a cell of the room")
}

/// The fixture: Energy is at `energy` when Sleep enters RUNNING, and nothing else is short.
pub(super) fn fixture(profile: &Profile, energy: i64) -> Fixture {
    let mut fixture = Fixture::reference();
    let reserve = profile.regulation.initial_reserves;
    let levels = Levels {
        energy: energy - AWAKE * profile.regulation.energy_awake,
        hydration: ONE,
        calories: ONE,
        thermal: reserve,
        pain: 0,
        posture: reserve,
        engagement: 0,
    };
    fixture.spawn = Some(cell(BESIDE));
    fixture.levels = Some(levels);
    fixture.before =
        WAYS.iter().zip(1..).map(|(way, id)| Command::new(id, Verb::Block).at(cell(*way))).collect();
    fixture
}

/// Steps until Sleep enters RUNNING in the next tick, with the ways open again. Gives its item; nothing when it does not
/// come to that.
pub(super) fn fall_asleep(drive: &mut Drive<'_>) -> Option<u32> {
    drive.step(&[]);
    for (way, id) in WAYS.iter().zip(1 + WAYS.len() as u64..) {
        drive.step(&[Command::new(id, Verb::Unblock).at(cell(*way))]);
    }
    let item = drive.room.state().queue.active()?;
    (item.kind == Kind::Sleep && item.phase == Phase::Preparing).then_some(item.id)
}

//! An object that is somewhere else whenever the Agent comes near (GD-94). What moves it sees the body and the object,
//! nothing of the mind.

use room::Room;
use room::draw::{Stream, draw, uniform};
use room::grid::Cell;
use room::input::{Command, Verb};
use room::world::{Obj, Parent};

/// The first command of a mover; the ones of a fixture have smaller numbers.
pub(super) const FIRST_MOVE: u64 = 100;

/// What moves it.
pub(super) struct Mover {
    pub(super) object: Obj,
    /// Cells that it can be put on.
    places: Vec<Cell>,
    /// Steps within which it is moved.
    reach: i64,
    /// Seed of the places.
    seed: u64,
    /// Moves that are left; nothing when there is no end to them.
    left: Option<u64>,
    pub(super) moved: u64,
}

impl Mover {
    /// One that never stops.
    pub(super) fn new(object: Obj, places: Vec<Cell>, reach: i64, seed: u64) -> Mover {
        Mover { object, places, reach, seed, left: None, moved: 0 }
    }

    /// One that stops after some moves.
    pub(super) fn times(self, moves: u64) -> Mover {
        Mover { left: Some(moves), ..self }
    }

    /// The command of this tick, if the Agent is near and `now` allows it.
    pub(super) fn command(&mut self, room: &Room, now: bool) -> Option<Command> {
        let state = room.state();
        let here = state.body.cell;
        let cell = state.world.cell_of(self.object)?;
        if !now || self.left == Some(0) || cell.manhattan(here) > self.reach {
            return None;
        }
        let far = |place: &&Cell| place.manhattan(here) > 2 * self.reach && **place != cell;
        let far: Vec<Cell> = self.places.iter().filter(far).copied().collect();
        let drawn = draw(self.seed, Stream::Content as u64, state.now, 0);
        let to = far.get(uniform(drawn, far.len() as u64) as usize)?;
        self.left = self.left.map(|left| left - 1);
        self.moved += 1;
        let id = FIRST_MOVE + self.moved;
        Some(Command::new(id, Verb::Move).on(self.object).to(Parent::cell(*to)))
    }
}

/// The cells of the profile's zones.
pub(super) fn zones(room: &Room) -> Vec<Cell> {
    room.profile().world.zones.iter().filter_map(|[x, y]| Cell::at(*x, *y)).collect()
}

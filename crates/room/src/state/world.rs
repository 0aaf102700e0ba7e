//! The visible world, and what only the authority knows of it.

use crate::grid::{Cell, CellSet};
use crate::world::{Authority, Obj, Source, Visible};

/// The people that can be in the room: resident, stranger, witness (GD-15).
pub const HUMANS: usize = 3;

crate::state! {
    /// A person: moved by inputs only (GD-15).
    pub struct Human {
        /// In the room.
        pub present: bool,
        /// Where.
        pub cell: Cell,
        /// What the hand holds.
        pub hand: Option<Obj>,
        /// The hand is full of something else.
        pub busy: bool,
    }
}

crate::state! {
    /// The visible world. Each object has a parent, and each parent lists its objects: INV-01 compares the two.
    pub struct World {
        /// The 24 objects.
        pub objects: [Visible; Obj::COUNT],
        /// What lies on or in each object.
        pub inside: [u32; Obj::COUNT],
        /// What lies on the floor.
        pub floor: u32,
        /// What stands or is mounted.
        pub fixed: u32,
        /// What is gone.
        pub destroyed: u32,
        /// Resident, stranger, witness.
        pub humans: [Human; HUMANS],
        /// Cells closed by authored blockers.
        pub blocked: CellSet,
        /// Raised with each reduced change (GD-04).
        pub version: u32,
    }
}

crate::state! {
    /// What only the authority knows (GD-84).
    pub struct Hidden {
        /// Of each object.
        pub objects: [Authority; Obj::COUNT],
        /// The sources of danger: the heater, and at most one authored.
        pub sources: Vec<Source>,
    }
}

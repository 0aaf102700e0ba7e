//! Inputs that were taken, and what conservation is checked against.

use crate::input::Command;

crate::state! {
    /// An input that may merge with a later one.
    pub struct Recent {
        /// The command.
        pub command: Command,
        /// When it was taken.
        pub tick: u64,
    }
}

crate::state! {
    /// Inputs that were taken.
    pub struct Seen {
        /// Their numbers, ascending.
        pub commands: Vec<u64>,
        /// Those that a repetition merges with.
        pub recent: Vec<Recent>,
        /// Acts that wait for the end of a commit.
        pub deferred: Vec<Command>,
    }
}

crate::state! {
    /// The Outcomes that were reduced, of items that are not closed.
    pub struct Reduced {
        /// The item.
        pub item: u32,
        /// One bit a part; bit 0 is the final Outcome.
        pub parts: u32,
    }
}

crate::state! {
    /// What conservation is checked against (INV-05), and how often was drawn (PC-74).
    pub struct Audit {
        /// Reduced Outcomes of open items.
        pub reduced: Vec<Reduced>,
        /// Outcomes that arrived twice and changed nothing.
        pub duplicates: u32,
        /// Water consumed, portions.
        pub water_used: u32,
        /// Food consumed, thirds.
        pub food_used: u32,
        /// Water added or taken away from outside, portions, as a sum of both signs.
        pub water_added: i64,
        /// Food, thirds.
        pub food_added: i64,
        /// Draws of each stream.
        pub draws: [u32; 10],
        /// Outcomes so far.
        pub outcomes: u32,
        /// Items that entered PREPARING.
        pub prepared: u32,
        /// Items canceled after that.
        pub canceled: u32,
    }
}

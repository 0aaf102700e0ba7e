//! Interactions that are not closed, and their pending effects.

use super::Channel;
use crate::item::{Item, Owner};

crate::state! {
    /// All Interactions that are not closed.
    pub struct Queue {
        /// The Agent's, at most three (RC-SCO-06).
        pub items: Vec<Item>,
        /// The private slot of Safety.
        pub safety: Vec<Item>,
        /// The private slot of the Operator.
        pub operator: Vec<Item>,
        /// Number of the next item.
        pub next: u32,
    }
}

impl Queue {
    /// All items, the Agent's first.
    pub fn all(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().chain(&self.safety).chain(&self.operator)
    }

    /// All items, to be changed.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Item> {
        self.items.iter_mut().chain(&mut self.safety).chain(&mut self.operator)
    }

    /// The item that holds the body.
    #[inline]
    #[must_use]
    pub fn active(&self) -> Option<&Item> {
        self.all().find(|item| item.phase.on_body())
    }

    /// An item by its number.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&Item> {
        self.all().find(|item| item.id == id)
    }

    /// An item by its number, to be changed.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Item> {
        self.all_mut().find(|item| item.id == id)
    }

    /// The items of an owner.
    pub fn slot(&mut self, owner: Owner) -> &mut Vec<Item> {
        match owner {
            Owner::Agent => &mut self.items,
            Owner::Safety => &mut self.safety,
            Owner::Operator => &mut self.operator,
        }
    }
}

crate::state! {
    /// The expected effect of an accepted item on a channel (GD-36).
    pub struct Pending {
        /// Which channel.
        pub channel: Channel,
        /// Which item.
        pub item: u32,
        /// What is certain, µ.
        pub guaranteed: i64,
        /// What is expected, µ, before its probability.
        pub expected: i64,
        /// Probability of success, µ.
        pub success: i64,
        /// Earliest start.
        pub start: u64,
        /// Expected completion.
        pub complete: u64,
        /// When a failure would be known.
        pub discovery: u64,
        /// What the backup would need, ticks.
        pub backup: u64,
        /// Version of the target.
        pub object_version: u32,
        /// Premise version of the target.
        pub premise_version: u32,
    }
}

crate::state! {
    /// All of them.
    pub struct Pendings {
        /// In the order of their opening.
        pub list: Vec<Pending>,
    }
}

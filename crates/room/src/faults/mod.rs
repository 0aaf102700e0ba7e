//! Faults that tests plant in a room to show that something turns red, and that the blame falls on the right phase and
//! field. The whole module exists only with the feature `faults`; where a fault acts, the code asks `planted!`.
//!
//! A planted fault is no part of the state: it is neither saved nor hashed. Faults that need an impurity (a clock, the order
//! of a hash map, an address) get it from the test, because this crate may not touch one.

mod cases;
mod list;
mod plant;

pub use cases::{Case, SHRINKABLE, case, noisy};
pub use list::{Fault, TABLE};
pub use plant::fails;

use crate::check::Check;
use crate::section::Phase;

crate::names! {
    /// What makes two runs differ that should be one.
    pub enum Impurity {
        /// The order of a hash map with a random state.
        HashOrder = "hash_order",
        /// The clock of the machine.
        Clock = "clock",
        /// Which of two threads is first.
        Race = "race",
        /// An address of the heap.
        Address = "address",
        /// A variable of the environment.
        Environment = "environment",
        /// The locale.
        Locale = "locale",
        /// Somebody keeps the events.
        Listening = "listening",
        /// A counter of the process, left where a former run ended.
        Leftover = "leftover",
        /// Another build.
        Build = "build",
        /// The generator of the system.
        Entropy = "entropy",
        /// The order in which packets arrive.
        Arrival = "arrival",
    }
}

/// How a planted fault turns a run red.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// The run is made twice, and differs.
    Nondeterminism(Impurity),
    /// The run is saved, loaded and continued, and differs.
    Snapshot,
    /// What was computed of the state is not what it is computed to afresh.
    Fold,
    /// A check of the tick breaks.
    Invariant(Check),
    /// The contract of each tick holds, and the room does not behave as it says: a scenario has to catch it.
    Clean,
}

/// A fault, where it shows first, and what catches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which fault.
    pub fault: Fault,
    /// Phase in which its first difference arises.
    pub phase: Phase,
    /// How the path of the first differing field begins.
    pub field: &'static str,
    /// What turns the run red.
    pub means: Means,
    /// The scenario that catches it, or would without the check.
    pub scenario: &'static str,
}

impl Fault {
    /// Its row.
    #[must_use]
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

/// What is planted in a room.
#[derive(Clone, Copy, Debug)]
pub struct Planted {
    fault: Option<Fault>,
    source: fn() -> u64,
}

impl Planted {
    pub(crate) fn is(self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    pub(crate) fn impurity(self) -> u64 {
        (self.source)()
    }
}

impl Default for Planted {
    fn default() -> Planted {
        Planted { fault: None, source: nothing }
    }
}

/// The source of faults that need none.
#[must_use]
pub fn nothing() -> u64 {
    0
}

/// What a section keeps when it is written to, although it is not true any more.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stuck {
    pub(crate) fold: bool,
    pub(crate) digest: bool,
}

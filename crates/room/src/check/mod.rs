//! P14: ten invariants and ten gates of bounded progress, on every tick (sections 10 and 11, 16.15).
//!
//! The checks look and never touch: with or without them the room does the same (PC-74). A check whose domain was empty
//! in a run is *unchecked*, not passed.

mod invariants;
mod liveness;

use crate::item::{Evidence, Goal};
use crate::room::{Failed, Room};
use crate::state::RecoveryMode;
use crate::world::Family;
use std::collections::{BTreeMap, BTreeSet};

crate::names! {
    /// What is checked.
    pub enum Check {
        /// Each object has exactly one legal parent.
        Inv01 = "INV-01",
        /// The hand holds at most one object, and both sides agree.
        Inv02 = "INV-02",
        /// Exactly one owner of the body.
        Inv03 = "INV-03",
        /// At most one active body Interaction.
        Inv04 = "INV-04",
        /// An Outcome is reduced once; resources are conserved.
        Inv05 = "INV-05",
        /// Facts come from observations and Outcomes only.
        Inv06 = "INV-06",
        /// Nothing but P3, P6, P7 and P8 writes world, body and numbers.
        Inv07 = "INV-07",
        /// An active Interaction has a version, a reservation and a deadline ahead.
        Inv08 = "INV-08",
        /// Nothing that causes the danger is submitted again.
        Inv09 = "INV-09",
        /// An edit leaves nothing half done.
        Inv10 = "INV-10",
        /// Waiting in the queue is bounded.
        Liv01 = "LIV-01",
        /// Each phase is bounded.
        Liv02 = "LIV-02",
        /// Retries are bounded.
        Liv03 = "LIV-03",
        /// Search is bounded.
        Liv04 = "LIV-04",
        /// Control comes back.
        Liv05 = "LIV-05",
        /// Safety before harm, and no jitter.
        Liv06 = "LIV-06",
        /// Commitments always have a next step. Unchecked at stage 0: there are none.
        Liv07 = "LIV-07",
        /// A late answer is never committed.
        Liv08 = "LIV-08",
        /// Recovery ends.
        Liv09 = "LIV-09",
        /// A new phase fits before every deadline.
        Liv10 = "LIV-10",
        /// A channel that can be served does not reach its failure boundary (GD-30).
        Survival = "survival",
    }
}

/// The first tick at which something was broken (RC-LOG-11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What.
    pub check: Check,
    /// When.
    pub tick: u64,
    /// The object, item or channel it is about.
    pub about: u64,
}

/// What was checked in a run so far.
#[derive(Clone, Debug)]
pub struct Checks {
    /// Times that each check had something to look at.
    pub counts: [u64; Check::COUNT],
    /// The first violation.
    pub first: Option<Violation>,
    /// Violations so far, at most one a check and tick.
    pub violations: u64,
    /// Checks that were violated, one bit each.
    pub broken: u32,
    /// Smallest level of each channel so far, µ.
    pub lowest: [i64; crate::state::Channel::COUNT],
    outcomes: BTreeSet<(u32, u8)>,
    oldest: u32,
    entry: Option<(u8, u64)>,
    /// Ticks in a row with a low risk in this mode of Safety, as far as they were seen.
    clear: Option<u64>,
    /// Failed attempts.
    failed: BTreeMap<Failed, u32>,
    /// The same by goal, family and evidence: neither a day nor a version makes these fewer.
    failed_total: BTreeMap<(Goal, Family, Evidence), u32>,
    /// Requests whose answer became a proposal.
    requests: BTreeSet<u64>,
    /// Recovery at the end of the last tick.
    recovery: Option<(RecoveryMode, u32)>,
    /// Channels that are at their end for a reason that is no failure.
    excused: u8,
}

impl Checks {
    pub(crate) fn new() -> Checks {
        Checks {
            counts: [0; Check::COUNT],
            first: None,
            violations: 0,
            broken: 0,
            lowest: [crate::fixed::ONE; crate::state::Channel::COUNT],
            outcomes: BTreeSet::new(),
            oldest: 0,
            entry: None,
            clear: None,
            failed: BTreeMap::new(),
            failed_total: BTreeMap::new(),
            requests: BTreeSet::new(),
            recovery: None,
            excused: 0,
        }
    }

    /// Counts from 0 on; what was reduced and which danger was entered is still known.
    fn restart(&mut self) {
        self.counts = [0; Check::COUNT];
        self.first = None;
        self.violations = 0;
        self.broken = 0;
        self.lowest = [crate::fixed::ONE; crate::state::Channel::COUNT];
    }

    /// Nothing was violated.
    #[must_use]
    pub fn held(&self) -> bool {
        self.violations == 0
    }

    /// How often a check had something to look at.
    #[must_use]
    pub fn count(&self, check: Check) -> u64 {
        self.counts[check as usize]
    }

    #[inline]
    fn checked(&mut self, check: Check) {
        self.counts[check as usize] += 1;
    }

    fn broke(&mut self, check: Check, tick: u64, about: u64) {
        self.violations += 1;
        self.broken |= 1 << check as u32;
        if self.first.is_none() {
            self.first = Some(Violation { check, tick, about });
        }
    }
}

impl Room {
    /// A copy that goes its own way and counts its own checks.
    #[must_use]
    pub fn fork(&self) -> Room {
        let mut fork = self.clone();
        if let Some(checks) = &mut fork.checks {
            checks.restart();
        }
        fork
    }

    pub(crate) fn check(&mut self) {
        let Some(mut checks) = self.checks.take() else { return };
        self.invariants(&mut checks);
        self.liveness(&mut checks);
        self.survival(&mut checks);
        self.checks = Some(checks);
    }
}

//! Shell ring: many envelopes over worker threads (K-5), and their receipts on a signed chain (K-6).
//!
//! The kernel is a pure function of one envelope and of what the audit layer knows about those before it. This crate
//! adds what the pure ring may not have: threads, clock, process id, files. What it adds stands in physical fields.

pub mod chain;
mod lines;
mod pool;

pub use lines::{Lines, lines};
pub use pool::{Done, run};

use std::collections::BTreeMap;
use verdict::{Action, Triple};

/// What came out, by action and by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Records of the input; each has a receipt.
    pub records: u64,
    /// Lines with nothing but blanks: no record.
    pub blank_lines: u64,
    /// Receipts by action, layer and reason.
    pub verdicts: BTreeMap<(&'static str, &'static str, &'static str), u64>,
}

impl Summary {
    fn count(&mut self, verdict: Triple) {
        self.records += 1;
        *self.verdicts.entry((verdict.action.word(), verdict.layer, verdict.reason)).or_default() += 1;
    }

    /// Receipts with this action.
    pub fn of(&self, action: Action) -> u64 {
        let same = self.verdicts.iter().filter(|((word, ..), _)| *word == action.word());
        same.map(|(_, count)| count).sum()
    }
}

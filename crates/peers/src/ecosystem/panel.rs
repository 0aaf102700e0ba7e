//! Sealed panels: reviewers commit before anybody sees a vote.

use canon::{Digest, Value};
use ledger::commitment;
use std::collections::BTreeMap;

canon::codes! {
    /// Why a panel does not take a commitment or a reveal.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PanelRefusal {
        /// The reviewer has committed already.
        CommittedTwice = "panel_committed_twice",
        /// The panel is closed: nothing is committed any more.
        Closed = "panel_closed",
        /// The panel is open: nothing is revealed yet.
        Open = "panel_open",
        /// The reviewer has not committed.
        NotCommitted = "panel_not_committed",
        /// What is revealed is not what was committed to.
        OtherReveal = "panel_other_reveal",
    }
}

/// Commitments, then votes.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    commitments: BTreeMap<String, Digest>,
    votes: BTreeMap<String, Value>,
    closed: bool,
}

impl Panel {
    /// An open panel.
    pub fn new() -> Panel {
        Panel::default()
    }

    /// Takes the commitment of a reviewer, once.
    pub fn commit(&mut self, reviewer: &str, commitment: Digest) -> Result<(), PanelRefusal> {
        if self.closed {
            return Err(PanelRefusal::Closed);
        }
        if self.commitments.contains_key(reviewer) {
            return Err(PanelRefusal::CommittedTwice);
        }
        self.commitments.insert(reviewer.to_owned(), commitment);
        Ok(())
    }

    /// Ends committing.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Takes what a reviewer committed to.
    pub fn reveal(&mut self, reviewer: &str, vote: &Value, nonce: &str) -> Result<(), PanelRefusal> {
        if !self.closed {
            return Err(PanelRefusal::Open);
        }
        let committed = self.commitments.get(reviewer).ok_or(PanelRefusal::NotCommitted)?;
        if commitment::commit(vote, nonce).ok().as_ref() != Some(committed) {
            return Err(PanelRefusal::OtherReveal);
        }
        self.votes.insert(reviewer.to_owned(), vote.clone());
        Ok(())
    }

    /// The votes so far; nothing while the panel is open.
    pub fn votes(&self) -> Option<&BTreeMap<String, Value>> {
        self.closed.then_some(&self.votes)
    }
}

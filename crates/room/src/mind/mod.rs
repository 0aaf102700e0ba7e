//! How the Agent chooses. Modules here see beliefs, body and memory through [`View`], never the world itself: the
//! hidden-field barrier (GD-84) is that `View` has no such field, and tidy holds that nothing here names one.

mod candidates;
mod cognitive;
mod tier1;
mod tier3;

pub(crate) use candidates::{Candidate, all};
pub(crate) use tier1::{best_option, executors};
pub(crate) use tier3::{Scored, parts, place, score_all};

use crate::choose::Memory;
use crate::grid::{Cell, Paths};
use crate::item::Goal;
use crate::layout::Layout;
use crate::learn::{Context, Expectations};
use crate::profile::Profile;
use crate::retry::{Attempt, Ledger, Refusal};
use crate::setup::Setup;
use crate::state::{Beliefs, Body, Channel, Levels, Mind, Pendings, Queue, Recovery, Regulation, SafetyMode};
use crate::world::{Obj, Visible};

/// Everything a decision may read.
pub(crate) struct View<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) layout: &'a Layout,
    pub(crate) setup: &'a Setup,
    pub(crate) paths: &'a Paths,
    pub(crate) now: u64,
    pub(crate) safety: SafetyMode,
    pub(crate) levels: &'a Levels,
    pub(crate) body: &'a Body,
    pub(crate) beliefs: &'a Beliefs,
    pub(crate) regulation: &'a Regulation,
    pub(crate) queue: &'a Queue,
    pub(crate) pending: &'a Pendings,
    pub(crate) mind: &'a Mind,
    pub(crate) memory: &'a Memory,
    pub(crate) expectations: &'a Expectations,
    pub(crate) retries: &'a Ledger,
    pub(crate) recovery: &'a Recovery,
    #[cfg(feature = "faults")]
    pub(crate) planted: crate::faults::Planted,
}

/// A guaranteed way of serving a channel: what failed beside it does not use up its attempts, nor it theirs.
pub(crate) fn shares_no_total(goal: Goal, obj: Obj) -> bool {
    obj.guaranteed() && Channel::of_goal(goal).is_some()
}

impl View<'_> {
    /// What is believed of an object.
    pub(crate) fn seen(&self, obj: Obj) -> &Visible {
        &self.beliefs.objects[obj.index()].seen
    }

    /// The cell from which an object is believed usable, and the steps there.
    pub(crate) fn access(&self, obj: Obj) -> Option<(Cell, u8)> {
        if self.body.hand == Some(obj) {
            return Some((self.body.cell, 0));
        }
        self.layout.nearest(obj, &|o| self.seen(o).parent, self.body.cell, self.paths)
    }

    /// A believed path within reach.
    pub(crate) fn reachable(&self, obj: Obj) -> bool {
        self.access(obj).is_some_and(|(_, steps)| i64::from(steps) <= self.profile.interaction.walk_wcet)
    }

    /// Day or night.
    pub(crate) fn context(&self) -> Context {
        Context::at(&self.profile.clock, self.now)
    }

    /// Learned probability that an Interaction on an object works; certain for what is guaranteed (GD-36).
    pub(crate) fn success(&self, kind: crate::kind::Kind, obj: Obj) -> i64 {
        if obj.guaranteed() {
            return crate::fixed::ONE;
        }
        self.expectations.success(self.profile, kind, obj as u8, self.context())
    }

    /// Whether the ledger allows one more attempt. What is guaranteed shares no budget with what failed beside it.
    pub(crate) fn allowed(&self, goal: Goal, obj: Obj) -> Result<(), Refusal> {
        if self.recovery.suspended & (1 << goal as u32) != 0 && Channel::of_goal(goal).is_none() {
            return Err(Refusal::Local);
        }
        let seen = self.seen(obj);
        let attempt = Attempt {
            goal: goal as u8,
            object: obj as u8,
            family: obj.family() as u8,
            premise_version: seen.premise_version,
            stable_since: seen.premise_since,
        };
        match self.retries.allows(self.profile, &attempt, self.now) {
            Err(Refusal::Total(_)) if shares_no_total(goal, obj) => Ok(()),
            Err(Refusal::Unstable) if planted!(self, StabilityIgnored) => Ok(()),
            answer => answer,
        }
    }

    /// Level of a channel as Tier 3 expects it: with pending effects, weighted by their probability (RC-RES-11).
    pub(crate) fn expected_level(&self, channel: Channel) -> i64 {
        if planted!(self, PendingIgnored) {
            return self.levels.of(channel);
        }
        let pending: i64 = self
            .pending
            .list
            .iter()
            .filter(|pending| pending.channel == channel)
            .map(|pending| crate::fixed::mul(pending.expected, pending.success))
            .sum();
        self.levels.of(channel) + pending
    }
}

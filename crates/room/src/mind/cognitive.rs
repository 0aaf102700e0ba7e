//! The cognitive Test (GD-39): from beliefs only, with the code of each rejection.

use super::View;
use super::candidates::Candidate;
use crate::item::{Goal, Phase, Tier};
use crate::kind::Kind;
use crate::reject::Reject;
use crate::retry::Refusal;
use crate::state::Pending;
use crate::world::{Obj, Place};

impl View<'_> {
    /// Why a candidate cannot work, as far as the Agent knows.
    pub(crate) fn reject(&self, candidate: &Candidate) -> Option<Reject> {
        let serves = |pending: &Pending| pending.channel.goal() == candidate.goal;
        let another = |pending: &Pending| serves(pending) && !self.resumes(candidate, pending.item);
        if self.pending.list.iter().any(another) && !planted!(self, PendingIgnored) {
            return Some(Reject::PendingEffect);
        }
        if self.woken_for_a_cue(candidate) && !planted!(self, SleepsOnAfterCue) {
            return Some(Reject::DwellOrMargin);
        }
        if let Some(target) = candidate.target
            && let Some(reject) = self.reject_target(candidate, target)
        {
            return Some(reject);
        }
        if let Some(cell) = candidate.cell {
            let near = self.paths.distance(self.body.cell, cell);
            if near.is_none_or(|steps| i64::from(steps) > self.profile.interaction.walk_wcet) {
                return Some(Reject::PathUnknown);
            }
        }
        if candidate.human.is_some_and(|human| self.beliefs.present & (1 << human) == 0) {
            return Some(Reject::VersionStale);
        }
        self.reject_hand(candidate)
    }

    /// The candidate goes on with an item that was suspended: that is no second one for the same service (GD-36).
    fn resumes(&self, candidate: &Candidate, item: u32) -> bool {
        self.queue.get(item).is_some_and(|item| {
            item.phase == Phase::Suspended && item.kind == candidate.kind && item.target == candidate.target
        })
    }

    /// A Sleep that ended for a cue does not come back before the cue has been seen to, or nothing came of it for a while
    /// (GD-25).
    fn woken_for_a_cue(&self, candidate: &Candidate) -> bool {
        let hold = self.profile.interaction.sleep_reentry_hold.cast_unsigned();
        let woke = self.mind.cue.as_ref().and_then(|cue| cue.woke);
        candidate.kind == Kind::Sleep
            && candidate.tier == Tier::T3
            && woke.is_some_and(|woke| self.now < woke + hold)
    }

    fn reject_target(&self, candidate: &Candidate, target: Obj) -> Option<Reject> {
        let seen = self.seen(target);
        let search = candidate.goal == Goal::Search;
        if search {
            let most = self.profile.interaction.scan_max;
            return (self.mind.search == Some(target)
                && i64::from(self.mind.scans) >= most
                && !planted!(self, ScansUnlimited))
            .then_some(Reject::VersionStale);
        }
        let gone = matches!(seen.parent.place, Place::Destroyed)
            || (seen.parent.place == Place::HumanHand && candidate.kind != Kind::Receive);
        let empty = matches!(candidate.kind, Kind::Drink | Kind::Eat) && seen.stock == 0;
        let broken = seen.broken && !matches!(candidate.kind, Kind::LookAt | Kind::Repair | Kind::PickUp);
        if gone || empty || broken {
            return Some(Reject::VersionStale);
        }
        match self.allowed(candidate.goal, target) {
            Err(Refusal::Local | Refusal::Unstable) => return Some(Reject::RetryLocal),
            Err(Refusal::Total(_)) => return Some(Reject::RetryTotal),
            Ok(()) => {}
        }
        let beside = !matches!(candidate.kind, Kind::PutDown | Kind::Give | Kind::Receive);
        (beside && !self.reachable(target)).then_some(Reject::PathUnknown)
    }

    fn reject_hand(&self, candidate: &Candidate) -> Option<Reject> {
        let hand = self.body.hand;
        let fits = match candidate.kind {
            Kind::PickUp | Kind::Receive => hand.is_none(),
            Kind::PutDown | Kind::Give => hand.is_some(),
            Kind::Repair => hand == Some(Obj::Screwdriver),
            _ => true,
        };
        (!fits).then_some(Reject::HandConflict)
    }
}

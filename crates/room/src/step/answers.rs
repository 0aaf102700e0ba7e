//! P12: answers of the slow proposer (GD-88, V04a). It is never waited for; what comes late or twice is not queued.

use crate::input::Command;
use crate::item::{Goal, Source, Tier};
use crate::kind::Kind;
use crate::mind::Candidate;
use crate::reject::Reject;
use crate::room::Room;
use crate::state::{ControlMode, SafetyMode};

impl Room {
    pub(crate) fn take_answers(&mut self) {
        for answer in std::mem::take(&mut self.tick.answers) {
            if let Err(reject) = self.take_answer(&answer) {
                self.refuse(answer.id, reject);
            }
        }
    }

    fn take_answer(&mut self, answer: &Command) -> Result<(), Reject> {
        let (Some(request), Some(asked), Some(kind)) = (answer.request, answer.asked, answer.kind) else {
            return Err(Reject::UnknownId);
        };
        // Only Safety orders these: no answer can name them.
        if matches!(kind, Kind::Evacuate | Kind::Protect) {
            return Err(Reject::UnknownId);
        }
        if self.state.mind.answered.contains(&request) && !planted!(self, AnswerTwice) {
            return Err(Reject::ClusterDuplicate);
        }
        self.state.mind.edit(self.phase).answered.push(request);
        let ttl = asked.saturating_add(self.ticks(self.profile.clock.proposal_ttl));
        if self.state.now >= ttl && !planted!(self, LateAnswer) {
            return Err(Reject::TtlExpired);
        }
        if asked > self.state.now {
            return Err(Reject::UnknownId);
        }
        // Behind the barrier of an edit no transaction is opened (GD-28).
        if self.tick.edited.is_some() {
            return Err(Reject::VersionStale);
        }
        if self.state.safety.mode != SafetyMode::Clear {
            return Err(Reject::DeadlineSafety);
        }
        if self.state.control.mode != ControlMode::Autonomous {
            return Err(Reject::DwellOrMargin);
        }
        let withdrawn = self.state.mind.withdrawn.is_some_and(|tick| tick >= asked);
        let changed = answer.object.is_some_and(|obj| self.believed(obj).premise_since >= asked);
        if withdrawn || changed {
            return Err(Reject::VersionStale);
        }
        let mut candidate = Candidate::of(Goal::Want, kind, answer.object, Tier::T3, Source::Human);
        candidate.cell = answer.cell;
        candidate.human = answer.human;
        if let Some(reject) = self.view().reject(&candidate) {
            return Err(reject);
        }
        let next = self.state.queue.next;
        self.choose(candidate, 0, None, &mut None);
        self.tick.accepted.push((request, asked));
        if let Some(item) = self.state.queue.edit(self.phase).get_mut(next) {
            item.command = Some(answer.id);
        }
        Ok(())
    }
}

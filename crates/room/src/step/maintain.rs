//! P13: deadlines of the queue, releases, closing, pending effects, the watchdog (GD-20, GD-29, GD-36).

use crate::event::What;
use crate::item::{Evidence, Goal, Item, Label, Owner, Phase};
use crate::room::{Room, Trigger};
use crate::state::Channel;

impl Room {
    pub(crate) fn maintain(&mut self) {
        let mut ids = [0; SLOTS];
        let mut count = 0;
        for item in self.state.queue.all().filter(|item| item.phase != Phase::Running).take(SLOTS) {
            ids[count] = item.id;
            count += 1;
        }
        for id in &ids[..count] {
            self.maintain_item(*id);
        }
        if count > 0 {
            self.close();
        }
        self.next_command();
        #[cfg(feature = "faults")]
        self.maintain_planted();
        self.watchdog();
        self.help_calls();
    }

    fn maintain_item(&mut self, id: u32) {
        let Some(item) = self.state.queue.get(id) else { return };
        let now = self.state.now;
        let clock = &self.profile.clock;
        let dwell = now + 1 - item.since;
        if item.risk && !matches!(item.phase, Phase::Committed | Phase::Cleaning | Phase::Closed) {
            self.clean(id, Label::SafetyInvalidated);
            return;
        }
        let proposal = matches!(item.phase, Phase::Proposed | Phase::Pending | Phase::Preparing)
            || (item.phase == Phase::Suspended && item.unstarted);
        if proposal && now >= item.ttl {
            self.clean(id, Label::Expired);
            return;
        }
        match item.phase {
            Phase::Proposed if item.stop || self.stale(item) => self.clean(id, Label::Canceled),
            Phase::Pending if planted!(self, PendingWithoutEnd) => {}
            Phase::Pending if dwell > self.ticks(clock.pending_max) => self.block(id),
            Phase::Preparing if dwell > self.ticks(clock.preparing_max) => self.clean(id, Label::Expired),
            Phase::Suspended => self.suspended(id),
            Phase::Blocked => self.blocked(id),
            Phase::Cleaning => self.release(id),
            _ => {}
        }
    }

    /// Before it starts, a proposal whose target changed is not what was chosen.
    fn stale(&self, item: &Item) -> bool {
        item.owner == Owner::Agent && self.moved_away(item)
    }

    fn block(&mut self, id: u32) {
        let until = self.state.now + self.ticks(self.profile.clock.blocked_max);
        let Some(item) = self.state.queue.get(id) else { return };
        // Only what changes from here on is new evidence on what blocks it (edge 22).
        let versions = item.target.map(|target| {
            let object = self.state.world.object(target);
            (object.object_version, object.premise_version)
        });
        if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
            item.until = Some(until);
            (item.object_version, item.premise_version) =
                versions.unwrap_or((item.object_version, item.premise_version));
        }
        self.release(id);
        self.edge(id, Phase::Blocked);
        self.drop_pending(id);
        self.trigger(Trigger::Evidence);
    }

    fn blocked(&mut self, id: u32) {
        let Some(item) = self.state.queue.get(id) else { return };
        if self.unblocked(item) {
            self.clean(id, Label::Superseded);
        } else if item.until.is_some_and(|until| self.state.now >= until)
            && !planted!(self, BlockedWithoutEnd)
        {
            self.clean(id, Label::Abandoned);
        }
    }

    /// What kept it from starting is over: a person is back, a deadline has been met, its target changed (edge 22).
    pub(crate) fn unblocked(&self, item: &Item) -> bool {
        self.start_test(item) == Evidence::Ok && self.phase_fits(item) || self.moved_away(item)
    }

    fn suspended(&mut self, id: u32) {
        if !planted!(self, SuspendedHolds) {
            self.release(id);
        }
        let Some(item) = self.state.queue.get(id) else { return };
        if item.stop || self.moved_away(item) {
            self.clean(id, Label::Canceled);
        } else if item.until.is_some_and(|until| self.state.now >= until) {
            self.clean(id, Label::Expired);
        }
    }

    /// Gives the soft reservation back.
    pub(crate) fn release(&mut self, id: u32) {
        let Some(item) = self.state.queue.get(id) else { return };
        let Some(object) = item.target.filter(|_| item.reserved) else { return };
        if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
            item.reserved = false;
        }
        self.emit(|| What::Reservation { item: id, object, held: false });
    }

    /// What has been cleaned up is CLOSED and leaves the queue.
    fn close(&mut self) {
        let now = self.state.now;
        let done = |item: &Item, profile: &crate::profile::Profile| {
            let cleanup = profile.interaction.of(item.kind).cleanup.cast_unsigned();
            item.phase == Phase::Cleaning && !item.reserved && now + 1 - item.since > cleanup
        };
        let over: Vec<(u32, bool)> = self
            .state
            .queue
            .all()
            .filter(|item| done(item, &self.profile) && !planted!(self, CleaningWithoutEnd))
            .map(|item| (item.id, sees_to_cue(item)))
            .collect();
        for (id, cue) in over {
            if cue {
                self.state.mind.edit(self.phase).cue = None;
            }
            self.drop_pending(id);
            self.edge(id, Phase::Closed);
            let queue = self.state.queue.edit(self.phase);
            for slot in [&mut queue.items, &mut queue.safety, &mut queue.operator] {
                slot.retain(|item| item.id != id);
            }
            self.state.audit.edit(self.phase).reduced.retain(|reduced| reduced.item != id);
            self.trigger(Trigger::Closed);
        }
    }

    /// The pending effect of an item is over.
    pub(crate) fn drop_pending(&mut self, id: u32) {
        if self.state.pending.list.iter().any(|pending| pending.item == id) {
            self.state.pending.edit(self.phase).list.retain(|pending| pending.item != id);
        }
    }

    /// After a service settled: what is queued for the same channel and is not needed any more is canceled (GD-36).
    pub(crate) fn revalidate(&mut self, channel: Channel) {
        if self.state.levels.of(channel) < self.profile.regulation.comfort || planted!(self, NotRevalidated) {
            return;
        }
        let goal = channel.goal();
        let queued: Vec<u32> = self
            .state
            .queue
            .items
            .iter()
            .filter(|item| {
                let waits = matches!(
                    item.phase,
                    Phase::Proposed | Phase::Pending | Phase::Suspended | Phase::Blocked
                );
                item.goal == goal && waits
            })
            .map(|item| item.id)
            .collect();
        for id in queued {
            self.clean(id, Label::Canceled);
        }
    }
}

/// What a cue asked for was tried: the cue is done with when that is CLOSED (GD-25, GD-56).
fn sees_to_cue(item: &Item) -> bool {
    item.goal == Goal::Cue && matches!(item.label, Label::Succeeded | Label::Failed)
}

/// The queue and the two private slots, with what is still being cleaned up in each.
const SLOTS: usize = 8;

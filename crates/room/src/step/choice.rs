//! P12, the end of a transaction: what was chosen becomes an intent and an item, or goes on with one (GD-38, GD-20).

use crate::event::Decision;
use crate::item::{Goal, Item, Label, Phase, Tier};
use crate::mind::Candidate;
use crate::reject::Reject;
use crate::room::Room;
use crate::state::{Channel, Intent, Pending};

impl Room {
    /// Writes the choice: one intent and one proposal, and one request to stop what is in the way. False when the queue
    /// has no place.
    pub(crate) fn choose(
        &mut self,
        candidate: Candidate,
        score: i64,
        deadline: Option<u64>,
        record: &mut Option<Box<Decision>>,
    ) -> bool {
        let tier = candidate.tier;
        if let Some(record) = record {
            record.tier = Some(tier);
            record.chosen = Some(candidate.id());
            record.cell = candidate.cell;
        }
        let id = match self.suspended_for(&candidate) {
            // What holds the body leaves it first, and what does not fit before a deadline waits (GD-33).
            Some(id)
                if self.state.queue.active().is_some()
                    || self.state.queue.get(id).is_none_or(|item| !self.phase_fits(item)) =>
            {
                self.make_way(id, tier, record);
                return true;
            }
            Some(id) => self.resume(id, deadline),
            None => self.propose(&candidate, deadline),
        };
        let Some(id) = id else {
            self.refuse(0, Reject::QueueFull);
            return true;
        };
        if let Some(record) = record {
            record.item = Some(id);
        }
        self.intend(&candidate, score);
        self.make_way(id, tier, record);
        true
    }

    fn intend(&mut self, candidate: &Candidate, score: i64) {
        let now = self.state.now;
        if candidate.tier == Tier::T3 {
            self.state.habits.edit(self.phase).chosen(&self.profile.selection, candidate.behaviour(), now);
        }
        if planted!(self, DecisionWritesLevels) {
            self.state.levels.edit(self.phase).hydration += 1;
        }
        let mind = self.state.mind.edit(self.phase);
        let id = mind.next_intent;
        mind.next_intent += 1;
        mind.intent = Some(Intent {
            id,
            goal: candidate.goal,
            kind: candidate.kind,
            target: candidate.target,
            tier: candidate.tier,
            since: now,
            score,
        });
        if candidate.goal == Goal::Search && mind.search != candidate.target {
            mind.search = candidate.target;
            mind.scans = 0;
        }
    }

    /// A suspended item for exactly this choice (edge 20).
    fn suspended_for(&self, candidate: &Candidate) -> Option<u32> {
        let same = |item: &&Item| {
            item.phase == Phase::Suspended
                && item.goal == candidate.goal
                && item.kind == candidate.kind
                && item.target == candidate.target
                && !self.moved_away(item)
        };
        self.state.queue.items.iter().find(same).map(|item| item.id)
    }

    fn resume(&mut self, id: u32, deadline: Option<u64>) -> Option<u32> {
        let target = self.state.queue.get(id)?.target;
        if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
            item.deadline = deadline.or(item.deadline);
            item.reserved = target.is_some();
            // It has to run again before the deadline of its suspension; the proposal's own end is used up.
            item.ttl = item.until.unwrap_or(item.ttl);
        }
        self.edge(id, Phase::Preparing);
        self.drop_pending(id);
        self.open_pending(id);
        Some(id)
    }

    fn propose(&mut self, candidate: &Candidate, deadline: Option<u64>) -> Option<u32> {
        let most = usize::try_from(self.profile.clock.queue_items_max).unwrap_or(0);
        if self.state.queue.items.len() >= most {
            self.make_room(candidate.tier);
            return None;
        }
        let mut item = self.blank_item(
            candidate.kind,
            candidate.target,
            candidate.goal,
            candidate.tier,
            candidate.source,
        );
        item.cell = candidate.cell;
        item.human = candidate.human;
        item.deadline = deadline;
        let id = item.id;
        self.state.queue.edit(self.phase).items.push(item);
        self.edge(id, Phase::Proposed);
        self.open_pending(id);
        Some(id)
    }

    /// The queue is full: the least of what waits is taken back, so that the next transaction has a place. What is being
    /// cleaned up already gives one; and what is blocked no more has ended by that, not by a refusal (edge 22).
    fn make_room(&mut self, tier: Tier) {
        let items = &self.state.queue.items;
        if items.iter().any(|item| item.phase == Phase::Cleaning) {
            return;
        }
        let least = items
            .iter()
            .filter(|item| item.tier >= tier)
            .filter(|item| {
                matches!(item.phase, Phase::Proposed | Phase::Pending | Phase::Suspended | Phase::Blocked)
            })
            .max_by_key(|item| (item.tier, item.id));
        let Some(least) = least else { return };
        let over = least.phase == Phase::Blocked && self.unblocked(least);
        self.clean(least.id, if over { Label::Superseded } else { Label::Canceled });
    }

    /// What is on the body, or next on it, and belongs to a lower layer makes way.
    pub(crate) fn make_way(&mut self, for_item: u32, tier: Tier, record: &mut Option<Box<Decision>>) {
        let lower: Vec<(u32, Phase)> = self
            .state
            .queue
            .items
            .iter()
            .filter(|item| item.id != for_item && item.tier > tier && !item.stop)
            .filter(|item| item.phase.on_body() || item.phase == Phase::Pending)
            .map(|item| (item.id, item.phase))
            .collect();
        for (id, phase) in lower {
            if phase == Phase::Pending {
                self.clean(id, Label::Canceled);
            } else {
                self.stop_for(id, record);
            }
        }
    }

    pub(crate) fn stop_for(&mut self, id: u32, record: &mut Option<Box<Decision>>) {
        self.ask_to_stop(id);
        if let Some(record) = record {
            record.stopped = Some(id);
        }
    }

    /// The pending effect of a proposal (GD-36).
    fn open_pending(&mut self, id: u32) {
        let Some(item) = self.state.queue.get(id) else { return };
        let (Some(channel), Some(target)) = (Channel::of_goal(item.goal), item.target) else { return };
        let view = self.view();
        let success = view.success(item.kind, target);
        let context = view.context();
        let expected =
            self.state.expectations.expected(&self.profile, item.kind, target as u8, context).effects
                [crate::mind::place(channel)];
        let steps = view.access(target).map_or(0, |(_, steps)| u64::from(steps));
        let row = self.profile.interaction.of(item.kind);
        let start = self.state.now + steps;
        let complete = start + row.minimum.cast_unsigned();
        let pending = Pending {
            channel,
            item: id,
            guaranteed: if target.guaranteed() { expected } else { 0 },
            expected,
            success,
            start,
            complete,
            discovery: complete + self.ticks(self.profile.regulation.failure_discovery),
            backup: self.margin(channel).cast_unsigned(),
            object_version: item.object_version,
            premise_version: item.premise_version,
        };
        self.state.pending.edit(self.phase).list.push(pending);
    }

    /// What starts on the body leaves its trace for pacing.
    pub(crate) fn note_start(&mut self, id: u32) {
        let now = self.state.now;
        match self.state.queue.get(id).map(|item| item.goal) {
            Some(Goal::Inspect) => self.state.mind.edit(self.phase).novelty = Some(now),
            Some(Goal::Explore) => {
                let mind = self.state.mind.edit(self.phase);
                mind.novelty = Some(now);
                mind.explored = Some(now);
            }
            _ => {}
        }
    }

    /// Counts a completed execution (GD-41).
    pub(crate) fn repeat(&mut self, item: &Item) {
        if item.tier != Tier::T3 {
            return;
        }
        let now = self.state.now;
        let candidate = Candidate::of(item.goal, item.kind, item.target, item.tier, item.source);
        self.state.habits.edit(self.phase).completed(&self.profile.selection, &candidate.execution(), now);
    }
}

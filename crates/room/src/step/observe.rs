//! P9 and P10: the observation feed of stage 0 and what becomes of it (GD-85).
//!
//! Non-hidden changes are observed with certainty. Hidden fields never come through here: this reads the visible world
//! and, for a danger, only whether it can be perceived.

use crate::event::What;
use crate::item::Evidence;
use crate::room::{Room, Trigger};
use crate::state::{Belief, Fact, FactKind};
use crate::world::{Obj, Visible};

impl Room {
    /// Beliefs of the first tick: what anybody sees on coming in.
    pub(crate) fn observe_at_start(&mut self) {
        for obj in Obj::ALL {
            let seen = self.state.world.object(obj).clone();
            self.state.beliefs.edit(self.phase).objects[obj.index()] = Belief { seen, tick: 0 };
        }
        self.believe_surroundings();
        self.judge_supplies();
    }

    pub(crate) fn observe(&mut self) {
        if self.state.world.version != self.state.beliefs.version {
            self.observe_world();
        }
        self.observe_hazard();
    }

    fn observe_world(&mut self) {
        for obj in Obj::ALL {
            if self.state.world.object(obj).object_version
                != self.state.beliefs.objects[obj.index()].seen.object_version
            {
                self.observe_object(obj);
            }
        }
        self.believe_surroundings();
    }

    fn observe_object(&mut self, obj: Obj) {
        let now = self.state.now;
        let seen = self.state.world.object(obj).clone();
        let foreign = seen.premise_version != self.state.beliefs.objects[obj.index()].seen.premise_version;
        let beliefs = self.state.beliefs.edit(self.phase);
        beliefs.objects[obj.index()] = Belief { seen, tick: now };
        if foreign {
            beliefs.refuted &= !obj.bit();
            self.state.habits.edit(self.phase).evidence(obj as u8);
            // The Agent's own changes are Outcomes already; only what others did is news.
            let sequence = self.emit(|| What::Fact { kind: FactKind::ObjectChanged, object: Some(obj) });
            self.tick.sources.push(sequence);
            let told = if planted!(self, FactWithoutSource) { sequence + 1 } else { sequence };
            self.fact(FactKind::ObjectChanged, Some(obj), Evidence::Ok, told);
            self.trigger(Trigger::Evidence);
        }
    }

    fn believe_surroundings(&mut self) {
        let world = &self.state.world;
        let present =
            world.humans.iter().enumerate().fold(0, |mask, (n, h)| mask | (u8::from(h.present) << n));
        let (blocked, version) = (world.blocked, world.version);
        let changed = self.state.beliefs.blocked != blocked || self.state.beliefs.present != present;
        let beliefs = self.state.beliefs.edit(self.phase);
        beliefs.blocked = blocked;
        beliefs.present = present;
        beliefs.version = version;
        if changed {
            self.trigger(Trigger::Evidence);
        }
    }

    /// A cue of a danger, if it can be perceived at all; once an episode.
    fn observe_hazard(&mut self) {
        if self.state.hidden.sources.iter().all(|source| !source.dangerous()) {
            if self.state.beliefs.hazard {
                self.state.beliefs.edit(self.phase).hazard = false;
            }
            return;
        }
        let perceived = self
            .state
            .hidden
            .sources
            .iter()
            .any(|source| (source.visible || planted!(self, HiddenCauseTold)) && source.dangerous());
        if perceived && !self.state.beliefs.hazard {
            self.state.beliefs.edit(self.phase).hazard = true;
            let sequence = self.emit(|| What::Fact { kind: FactKind::HazardCue, object: None });
            self.tick.sources.push(sequence);
            self.fact(FactKind::HazardCue, None, Evidence::Ok, sequence);
        }
    }

    /// What follows from the news of this tick for the channels.
    pub(crate) fn learn_facts(&mut self) {
        if self.state.beliefs.writers() != 0 || self.state.retries.writers() != 0 {
            self.judge_supplies();
        }
    }

    /// One fact, with the event that it comes from; gives its cluster. The list is a ring.
    pub(crate) fn fact(
        &mut self,
        kind: FactKind,
        object: Option<Obj>,
        evidence: Evidence,
        sequence: u32,
    ) -> u32 {
        let now = self.state.now;
        let most = usize::try_from(self.profile.memory.facts_max).unwrap_or(0);
        let facts = self.state.facts.edit(self.phase);
        let cluster = facts.next_cluster;
        facts.next_cluster += 1;
        facts.total += 1;
        if facts.list.len() >= most {
            facts.list.remove(0);
        }
        // One cause, one cluster: stage 0 has no second modality that could tell the same again.
        facts.list.push(Fact { kind, object, evidence, tick: now, sequence, cluster, episode: cluster });
        cluster
    }

    /// What the Agent believes of an object.
    pub(crate) fn believed(&self, obj: Obj) -> &Visible {
        &self.state.beliefs.objects[obj.index()].seen
    }
}

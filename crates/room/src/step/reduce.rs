//! P7: the one entry through which what happened writes state (RC-RED-01). Each Outcome counts once (INV-05).

use super::Outcome;
use crate::episode::Evidence as Taken;
use crate::event::What;
use crate::item::{Evidence, Exit, Goal, Owner};
use crate::kind::Kind;
use crate::learn::{Attribution, Context, EFFECTS, Observed};
use crate::room::Room;
use crate::state::{Channel, FactKind, Reduced};
use crate::tell::{Slow, Told};
use crate::world::{Cause, Family, Obj, Parent};

impl Room {
    pub(crate) fn reduce(&mut self) {
        if !(self.tick.acts.is_empty() && self.tick.edits.is_empty() && self.state.seen.deferred.is_empty()) {
            self.reduce_acts();
        }
        if self.tick.outcomes.is_empty() {
            return;
        }
        for outcome in std::mem::take(&mut self.tick.outcomes) {
            self.reduce_outcome(&outcome);
            if planted!(self, OutcomeTwice) {
                self.reduce_outcome(&outcome);
            }
        }
    }

    fn reduce_outcome(&mut self, outcome: &Outcome) {
        if !self.first_time(outcome) && !planted!(self, OutcomeTwice) {
            let (item, part) = (outcome.item, outcome.part);
            self.state.audit.edit(self.phase).duplicates += 1;
            self.emit(|| What::Duplicate { item, part });
            return;
        }
        self.state.audit.edit(self.phase).outcomes += 1;
        self.tick.reduced.push((outcome.item, outcome.part));
        let (item, part, success) = (outcome.item, outcome.part, outcome.success);
        let sequence = self.emit(|| What::Outcome { item, part, success });
        self.tick.sources.push(sequence);
        if outcome.success {
            self.physical(outcome);
        }
        if outcome.part == 0 {
            self.settle(outcome, sequence);
        }
    }

    /// Notes an Outcome; false when it was reduced before.
    fn first_time(&mut self, outcome: &Outcome) -> bool {
        let bit = 1 << outcome.part;
        let reduced = &self.state.audit.reduced;
        let known = reduced.iter().find(|known| known.item == outcome.item);
        if known.is_some_and(|known| known.parts & bit != 0) || !self.lives(outcome.item) {
            return false;
        }
        let reduced = &mut self.state.audit.edit(self.phase).reduced;
        match reduced.iter_mut().find(|known| known.item == outcome.item) {
            Some(known) => known.parts |= bit,
            None => reduced.push(Reduced { item: outcome.item, parts: bit }),
        }
        true
    }

    /// Numbers are never used again: what is no longer in the queue has had its Outcomes.
    fn lives(&self, item: u32) -> bool {
        self.state.queue.get(item).is_some()
    }

    /// The predicted effects of the Agent's own Outcome.
    fn physical(&mut self, outcome: &Outcome) {
        match (outcome.kind, outcome.part) {
            (Kind::PickUp, 1) => self.own_move(outcome.target, Parent::AGENT_HAND),
            (Kind::PutDown, 1) => self.put_down(outcome),
            (Kind::Open | Kind::Close, 1) => self.switch_object(outcome),
            (Kind::Give, 1) => {
                let held = self.state.body.hand;
                self.own_move(held, Parent::human(outcome.human.unwrap_or(0)));
            }
            (Kind::Receive, 1) => self.own_move(outcome.target, Parent::AGENT_HAND),
            (Kind::Drink, 1) => {
                self.consume(outcome.target, Channel::Hydration, self.profile.regulation.drink_effect)
            }
            (Kind::Eat, 1..) => {
                self.consume(outcome.target, Channel::Calories, self.profile.regulation.eat_part_effect)
            }
            (Kind::Repair | Kind::Create, 1..) => self.engage(self.profile.regulation.engagement_part, true),
            (Kind::Repair, 0) => self.repaired(outcome.target),
            (Kind::Protect, 0) => self.shut_off(outcome.target),
            (Kind::LookAt | Kind::Scan, 0) => self.looked(outcome),
            _ => {}
        }
    }

    fn own_move(&mut self, object: Option<Obj>, to: Parent) {
        let Some(object) = object else { return };
        self.put(object, to);
        let now = self.state.now;
        self.state.world.edit(self.phase).changed(object, Cause::Own, now);
        self.familiar();
    }

    fn put_down(&mut self, outcome: &Outcome) {
        let place = self.state.queue.get(outcome.item).and_then(|item| self.drop_place(item));
        if let Some(place) = place {
            let held = self.state.body.hand;
            self.own_move(held, place);
        }
    }

    fn switch_object(&mut self, outcome: &Outcome) {
        let Some(object) = outcome.target else { return };
        let now = self.state.now;
        let world = self.state.world.edit(self.phase);
        world.objects[object.index()].on = outcome.kind == Kind::Open;
        world.changed(object, Cause::Own, now);
        self.familiar();
    }

    fn consume(&mut self, source: Option<Obj>, channel: Channel, effect: i64) {
        let Some(source) = source else { return };
        let now = self.state.now;
        let world = self.state.world.edit(self.phase);
        let stock = &mut world.objects[source.index()].stock;
        *stock = stock.saturating_sub(if planted!(self, DrinksFromNothing) { 0 } else { 1 });
        world.changed(source, Cause::Own, now);
        let audit = self.state.audit.edit(self.phase);
        if source.family() == Family::Water {
            audit.water_used += 1;
        } else {
            audit.food_used += 1;
        }
        self.add_effect(channel, effect);
    }

    fn repaired(&mut self, object: Option<Obj>) {
        let Some(object) = object else { return };
        let now = self.state.now;
        self.state.hidden.edit(self.phase).objects[object.index()].damaged = false;
        let world = self.state.world.edit(self.phase);
        world.objects[object.index()].broken = false;
        world.changed(object, Cause::Own, now);
        self.state.expectations.edit(self.phase).premise_changed(&self.profile, object as u8);
    }

    /// Protect ends the source at the switch it stands at (GD-12).
    fn shut_off(&mut self, switch: Option<Obj>) {
        let Some(switch) = switch else { return };
        let now = self.state.now;
        let world = self.state.world.edit(self.phase);
        world.objects[switch.index()].on = false;
        world.changed(switch, Cause::Foreign, now);
    }

    /// An inspection: counted for the object, and a novelty the first time (GD-27, GD-31).
    fn looked(&mut self, outcome: &Outcome) {
        let owner = self.state.queue.get(outcome.item).map(|item| item.owner);
        if owner == Some(Owner::Safety) {
            self.state.safety.edit(self.phase).confirmed = true;
            return;
        }
        let Some(object) = outcome.target else { return };
        let version = self.state.world.object(object).premise_version;
        let inspected = &mut self.state.mind.edit(self.phase).inspected[object.index()];
        if inspected.premise_version != version {
            inspected.count = 0;
            inspected.premise_version = version;
        }
        inspected.count += if planted!(self, InspectionForgotten) { 0 } else { 1 };
        if inspected.count == 1 || planted!(self, InspectionForgotten) {
            self.engage(self.profile.regulation.engagement_novelty, true);
        }
    }

    /// Familiar handling counts at most once in a while (GD-31).
    fn familiar(&mut self) {
        let now = self.state.now;
        let period = self.ticks(self.profile.regulation.engagement_familiar_period);
        if self.state.regulation.familiar.is_none_or(|last| now >= last + period) {
            self.state.regulation.edit(self.phase).familiar = Some(now);
            self.engage(self.profile.regulation.engagement_familiar, false);
        }
    }

    /// The final Outcome: what is learned, what is counted, what is served.
    fn settle(&mut self, outcome: &Outcome, sequence: u32) {
        let Some(item) = self.state.queue.get(outcome.item) else { return };
        let (goal, owner, tier) = (item.goal, item.owner, item.tier);
        let item = item.clone();
        if owner != Owner::Agent {
            // What others did with the body teaches nothing about the Agent's own choices (RC-RED-06f).
            self.emit(|| What::Kept { field: "expectation", why: "control" });
            return;
        }
        let kind = if outcome.success { FactKind::Success } else { FactKind::Failure };
        // Idling teaches nothing and is no fact.
        if outcome.target.is_some() {
            let cluster = self.fact(kind, outcome.target, outcome.evidence, sequence);
            self.learn_outcome(outcome, goal, cluster);
        }
        if outcome.success {
            self.succeeded(outcome, goal);
            if !planted!(self, RepetitionForgotten) {
                self.repeat(&item);
            }
        } else {
            self.note_failure(outcome, &item);
            self.charge(outcome, goal);
        }
        self.drop_pending(outcome.item);
        self.recovery_outcome(outcome, goal, tier);
        if goal == Goal::Want && outcome.success && self.is_wanted(outcome.kind) {
            self.state.mind.edit(self.phase).wanted += 1;
        }
        if goal == Goal::Help {
            self.asked();
        }
    }

    /// What the content asks for itself, and not what has to be done before it.
    fn is_wanted(&self, kind: Kind) -> bool {
        let handles = |kind| matches!(kind, Kind::Open | Kind::Close);
        self.setup
            .fixture
            .want
            .as_ref()
            .is_some_and(|want| want.kind == kind || (handles(want.kind) && handles(kind)))
    }

    fn succeeded(&mut self, outcome: &Outcome, goal: Goal) {
        let now = self.state.now;
        if let Some(channel) = Channel::of_goal(goal) {
            self.state.regulation.edit(self.phase).served[channel.index()] = now;
            self.revalidate(channel);
        }
        if goal == Goal::Search && outcome.kind == Kind::Scan {
            self.state.mind.edit(self.phase).scans += 1;
        }
    }

    /// Expectation of this Interaction on this object at this time of day (GD-47). Unknown causes teach nothing.
    fn learn_outcome(&mut self, outcome: &Outcome, goal: Goal, cluster: u32) {
        let Some(object) = outcome.target else { return };
        let attribution = match outcome.evidence {
            _ if outcome.success => Attribution::Success,
            Evidence::NoEffect | Evidence::DoesNotOpen | Evidence::NotGraspable => Attribution::Failure,
            Evidence::PathBlocked => {
                self.tell(cluster, &Told::Blocked(self.state.body.cell));
                Attribution::Unknown
            }
            _ if planted!(self, UnknownCauseTeaches) => Attribution::Failure,
            _ => Attribution::Unknown,
        };
        let context = Context::at(&self.profile.clock, self.state.now);
        let effects = self.observed_effects(outcome, goal);
        // A segment that was cut short says nothing about what a whole one brings.
        let whole = matches!(outcome.exit, Exit::None | Exit::Done | Exit::EnergyOk);
        if attribution == Attribution::Unknown || !whole {
            self.emit(|| What::Kept {
                field: "expectation",
                why: if whole { "cause unknown" } else { "cut short" },
            });
            return;
        }
        let observed = Observed {
            kind: outcome.kind,
            object: object as u8,
            context,
            attribution,
            effects,
            duration: outcome.ran,
        };
        let before = self.state.expectations.success(&self.profile, outcome.kind, object as u8, context);
        if self.tell(cluster, &Told::Outcome(observed)) != Taken::New {
            self.emit(|| What::Kept { field: "expectation", why: "cluster known" });
            return;
        }
        if planted!(self, LearnsTwice) {
            self.state.expectations.edit(self.phase).observe(&self.profile, &observed);
        }
        let after = self.state.expectations.success(&self.profile, outcome.kind, object as u8, context);
        self.emit(|| What::Wrote { field: "expectation", of: object as u64, from: before, to: after });
    }

    /// Tells the slow fields of a cause, which at stage 0 is one cluster of its own.
    pub(crate) fn tell(&mut self, cluster: u32, told: &Told) -> Taken {
        let (now, phase) = (self.state.now, self.phase);
        let state = &mut self.state;
        let (episodes, expectations) = (state.episodes.edit(phase), state.expectations.edit(phase));
        Slow { profile: &self.profile, episodes, expectations }.tell(cluster, cluster, told, now)
    }

    fn observed_effects(&self, outcome: &Outcome, goal: Goal) -> [i64; EFFECTS] {
        let regulation = &self.profile.regulation;
        let mut effects = self
            .state
            .expectations
            .expected(
                &self.profile,
                outcome.kind,
                outcome.target.map_or(0, |o| o as u8),
                Context::at(&self.profile.clock, self.state.now),
            )
            .effects;
        let rate = match outcome.kind {
            Kind::Sleep => regulation.energy_sleep_net,
            Kind::Rest if goal == Goal::Energy => regulation.energy_rest_net,
            _ => return effects,
        };
        effects[crate::mind::place(Channel::Energy)] =
            (rate * outcome.ran.cast_signed()).min(crate::fixed::ONE);
        effects
    }
}

//! P6, RUNNING: one tick of what each Interaction does, its commit windows and its ends (GD-22, GD-25, GD-27).

use super::Outcome;
use crate::item::{Evidence, Exit, Goal, Item, Phase};
use crate::kind::Kind;
use crate::room::{Room, Trigger};
use crate::state::{Channel, Pose};

impl Room {
    pub(crate) fn run(&mut self, id: u32) {
        let Some(item) = self.state.queue.get(id) else { return };
        let evidence = self.still_valid(item);
        if evidence != Evidence::Ok {
            self.fail(id, evidence);
            return;
        }
        match item.kind {
            Kind::Sleep | Kind::Rest => self.run_reserve(id),
            Kind::WalkTo | Kind::Evacuate => self.run_way(id),
            _ => self.run_fixed(id),
        }
    }

    /// Re-verified in every tick: the object, the person, and that nothing was changed under the hands.
    fn still_valid(&self, item: &Item) -> Evidence {
        let blind = planted!(self, BedNotVerified) && item.kind == Kind::Sleep;
        if item.phase == Phase::Committed || blind {
            return Evidence::Ok;
        }
        let evidence = self.target_test(item);
        if evidence != Evidence::Ok {
            return evidence;
        }
        if self.moved_away(item) && item.parts == 0 {
            return Evidence::NotThere;
        }
        Evidence::Ok
    }

    /// Interactions of a fixed length, with their commits.
    fn run_fixed(&mut self, id: u32) {
        let Some(item) = self.state.queue.get(id) else { return };
        let (kind, tick) = (item.kind, item.running_tick(self.state.now).cast_signed());
        let row = self.profile.interaction.of(kind);
        let (last, part) = (row.maximum, row.part_at(tick).map(|part| (part, row.commit_spans[part])));
        if let Some((part, span)) = part {
            let evidence = self.commit_test(item);
            if evidence != Evidence::Ok {
                self.fail(id, evidence);
                return;
            }
            self.commit(id, part, span);
        }
        if self
            .state
            .queue
            .get(id)
            .is_some_and(|i| i.phase == Phase::Committed && self.state.now >= i.commit_until)
            && !planted!(self, CommitWithoutEnd)
        {
            self.edge(id, Phase::Running);
        }
        if tick >= last
            && !(planted!(self, RunWithoutEnd) && kind == Kind::LookAt)
            && self.state.queue.get(id).is_some_and(|i| i.phase == Phase::Running)
        {
            self.succeed(id, Exit::Done);
            if kind == Kind::Idle {
                self.trigger(Trigger::Idle);
            }
        }
    }

    /// A commit window begins: its Outcome is out, and nothing interrupts before its end (edges 12, 17, 18).
    fn commit(&mut self, id: u32, part: usize, span: i64) {
        let until = self.state.now + self.ticks(span) - 1;
        if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
            item.commit_until = until;
            item.parts = part as u8 + 1;
        }
        self.edge(id, Phase::Committed);
        self.outcome(id, part as u8 + 1, true);
    }

    /// WalkTo and Evacuate: a step a tick until they are there.
    fn run_way(&mut self, id: u32) {
        let Some(item) = self.state.queue.get(id) else { return };
        let (tick, kind) = (item.running_tick(self.state.now).cast_signed(), item.kind);
        match self.destination(item) {
            Some((_, 0)) => self.succeed(id, Exit::Done),
            Some((goal, steps)) => {
                if planted!(self, EvacuatesSlowly) && !self.state.now.is_multiple_of(u64::from(u8::BITS)) {
                    return;
                }
                self.walk(id, goal, steps);
                if steps == 1 {
                    self.succeed(id, Exit::Done);
                } else if tick >= self.profile.interaction.of(kind).maximum {
                    self.clean(id, crate::item::Label::Timeout);
                }
            }
            None => self.fail(id, Evidence::PathBlocked),
        }
    }

    /// Sleep and Rest: no fixed end (GD-25).
    fn run_reserve(&mut self, id: u32) {
        let Some(item) = self.state.queue.get(id) else { return };
        let done = item.running_tick(self.state.now);
        let kind = item.kind;
        let pose = if kind == Kind::Sleep { Pose::Lying } else { Pose::Sitting };
        if self.state.body.pose != pose {
            self.state.body.edit(self.phase).pose = pose;
        }
        let Some(item) = self.state.queue.get(id) else { return };
        if let Some(exit) = self.reserve_exit(item, done) {
            let cue = exit == Exit::Cue;
            self.succeed(id, exit);
            if cue {
                let now = self.state.now;
                if let Some(due) = &mut self.state.mind.edit(self.phase).cue {
                    due.woke = Some(now);
                }
            }
        }
    }

    /// Asked in running tick `done`: P8 has let the body rest that many times since the edge to RUNNING, because its
    /// rates follow the state after P6 (GD-03).
    fn reserve_exit(&self, item: &Item, done: u64) -> Option<Exit> {
        let held = self.setup.fixture.sleep_hold && item.kind == Kind::Sleep;
        if self.state.regulation.tier1 & !self.eased(item) != 0 {
            return Some(Exit::Tier1);
        }
        if planted!(self, CueWakesAtOnce)
            && self.state.mind.cue.as_ref().is_some_and(|cue| cue.woke.is_none())
        {
            return Some(Exit::Cue);
        }
        let row = self.profile.interaction.of(item.kind);
        if done >= row.maximum.cast_unsigned() {
            return Some(Exit::Limit);
        }
        let check = self.profile.interaction.sleep_check.cast_unsigned();
        let too_soon = done < row.minimum.cast_unsigned() && !planted!(self, SleepMinimumIgnored);
        if held || too_soon || !done.is_multiple_of(check) {
            return self.recovery_rest_over(item);
        }
        match () {
            () if self.rested(item) => Some(Exit::EnergyOk),
            () if self.state.mind.cue.as_ref().is_some_and(|cue| cue.woke.is_none()) => Some(Exit::Cue),
            () if self.better_than_resting(item) => Some(Exit::Margin),
            () => None,
        }
    }

    /// Channels that a lying or sitting body eases by itself: leaving it for them would only begin the same again.
    fn eased(&self, item: &Item) -> u8 {
        let own = Channel::of_goal(item.goal).map_or(0, Channel::bit);
        let rest = Channel::Energy.bit() | Channel::Pain.bit() | Channel::Posture.bit();
        let warming = if self.recovers_warmth() { Channel::Thermal.bit() } else { 0 };
        own | rest | warming
    }

    fn rested(&self, item: &Item) -> bool {
        let interaction = &self.profile.interaction;
        let levels = &self.state.levels;
        let exit = if item.kind == Kind::Sleep { interaction.sleep_exit } else { interaction.rest_exit };
        match item.goal {
            Goal::Pain => levels.of(Channel::Pain) >= exit,
            Goal::Posture => levels.posture >= exit,
            _ => levels.energy >= exit,
        }
    }

    pub(crate) fn final_outcome(&mut self, id: u32, success: bool) {
        self.outcome(id, 0, success);
    }

    fn outcome(&mut self, id: u32, part: u8, success: bool) {
        let Some(item) = self.state.queue.get(id) else { return };
        let ran = match item.phase {
            Phase::Running | Phase::Committed => item.running_tick(self.state.now),
            _ => u64::from(item.ran),
        };
        let outcome = Outcome {
            item: id,
            part,
            kind: item.kind,
            target: item.target,
            human: item.human,
            prepared: item.phase.on_body(),
            success,
            evidence: item.evidence,
            exit: item.exit,
            ran,
        };
        self.tick.outcomes.push(outcome);
    }
}

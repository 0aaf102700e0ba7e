//! P12: one transaction at most (GD-38). The highest layer that has something to do decides.

use crate::choose;
use crate::draw::{Stream, happens};
use crate::event::{Considered, Decision, What};
use crate::item::{Goal, Item, Owner, Phase, Source, Tier};
use crate::kind::Kind;
use crate::mind::{self, Candidate, Scored};
use crate::reject::Reject;
use crate::room::{Listen, Room, Trigger};
use crate::state::{Channel, ControlMode, RecoveryMode};

impl Room {
    pub(crate) fn decide(&mut self) {
        self.pacing();
        if !self.tick.answers.is_empty() {
            self.take_answers();
        }
        if self.state.mind.triggers == 0 && !self.idle_hands() {
            return;
        }
        // Behind the barrier of an edit no transaction is opened; the triggers stay (GD-28).
        let barred = self.state.control.mode != ControlMode::Autonomous || self.tick.edited.is_some();
        if barred && !planted!(self, RiskResubmitted) {
            return;
        }
        self.transaction();
    }

    /// Nothing in the queue is on its way: something has to be decided.
    fn idle_hands(&self) -> bool {
        self.state.control.mode == ControlMode::Autonomous && !self.state.queue.items.iter().any(Item::alive)
    }

    fn pacing(&mut self) {
        let pacing = self.ticks(self.profile.selection.novelty_pacing);
        if self.state.mind.novelty.is_some_and(|start| self.state.now == start + pacing) {
            self.trigger(Trigger::Novelty);
        }
    }

    fn transaction(&mut self) {
        let mind = self.state.mind.edit(self.phase);
        let triggers = std::mem::take(&mut mind.triggers);
        mind.transactions += 1;
        #[cfg(feature = "faults")]
        self.miscount();
        let mut record = self.open_record_of(triggers);
        let decided = (planted!(self, Tier3First) && self.tier3(&mut record))
            || self.tier1(&mut record)
            || self.tier1r(&mut record)
            || self.tier2(&mut record)
            || self.tier3(&mut record)
            || self.tier4(&mut record, triggers);
        if let Some(mut record) = record {
            if !decided {
                record.tier = None;
            }
            self.emit(|| What::Decision(record));
        }
    }

    fn open_record_of(&self, triggers: u32) -> Option<Box<Decision>> {
        (self.listen == Listen::Everything).then(|| {
            Box::new(Decision {
                number: self.state.mind.transactions,
                version: self.state.world.version,
                triggers,
                safety: self.state.safety.mode,
                owner: self.state.control.owner,
                intent: self.state.mind.intent.as_ref().map(|intent| (intent.goal, intent.kind)),
                candidates: Vec::new(),
                tier: None,
                pool: Vec::new(),
                draw: None,
                margin: None,
                chosen: None,
                item: None,
                stopped: None,
                cell: None,
            })
        })
    }

    // ---- Tier 1

    /// Body channels at their latest start, in the order of their deadlines (GD-40).
    fn tier1(&mut self, record: &mut Option<Box<Decision>>) -> bool {
        let mask = self.state.regulation.tier1 | self.state.regulation.early;
        if mask == 0 {
            return false;
        }
        let mut channels: Vec<(u64, Channel)> = Channel::ALL
            .into_iter()
            .filter(|channel| mask & channel.bit() != 0)
            .map(|channel| (self.latest(channel).unwrap_or(self.state.now), channel))
            .collect();
        channels.sort();
        for (latest, channel) in channels {
            if self.serve(channel, latest, record) {
                return true;
            }
        }
        false
    }

    /// Sees to one channel. True when this decided the transaction: the channel is on its way or was proposed.
    fn serve(&mut self, channel: Channel, latest: u64, record: &mut Option<Box<Decision>>) -> bool {
        let goal = channel.goal();
        let under_way = self.state.queue.items.iter().find(|item| {
            item.goal == goal && item.alive() && !matches!(item.phase, Phase::Suspended | Phase::Blocked)
        });
        if let Some(item) = under_way {
            let (id, tier) = (item.id, item.tier);
            if tier != Tier::T1 {
                self.raise(id, latest);
            }
            self.make_way(id, Tier::T1, record);
            return true;
        }
        let late = self.state.now > latest;
        let view = self.view();
        let fits = |kind, obj| {
            let steps = view.access(obj).map_or(0, |(_, steps)| i64::from(steps));
            let approach =
                steps + self.profile.interaction.approach_turn + self.profile.interaction.approach_reserve;
            self.fits(kind, approach, Tier::T1, Owner::Agent, Some(channel)).is_none()
        };
        let Some(candidate) = mind::best_option(&view, channel, late, fits) else { return false };
        if let Some(other) = self.blocked_by(&candidate, Some(channel))
            && self.state.regulation.early & other.bit() == 0
            && self.has_option(other)
        {
            self.state.regulation.edit(self.phase).early |= other.bit();
            return self.serve(other, self.state.now, record);
        }
        self.choose(candidate, 0, Some(latest), record)
    }

    fn has_option(&self, channel: Channel) -> bool {
        mind::best_option(&self.view(), channel, false, |_, _| true).is_some()
    }

    fn raise(&mut self, id: u32, deadline: u64) {
        if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
            item.tier = Tier::T1;
            item.deadline = Some(deadline);
        }
    }

    /// The channel whose deadline a candidate would miss.
    fn blocked_by(&self, candidate: &Candidate, own: Option<Channel>) -> Option<Channel> {
        if planted!(self, AdmissionSkipped) {
            return None;
        }
        let view = self.view();
        let steps = match (candidate.target, candidate.cell) {
            (Some(obj), _) => view.access(obj).map_or(0, |(_, steps)| i64::from(steps)),
            (None, Some(cell)) => self.paths.distance(self.state.body.cell, cell).map_or(0, i64::from),
            (None, None) => 0,
        };
        let interaction = &self.profile.interaction;
        let approach = steps + interaction.approach_turn + interaction.approach_reserve;
        self.fits(candidate.kind, approach, candidate.tier, Owner::Agent, own)
    }

    // ---- Tier 1R and Tier 2

    fn tier1r(&mut self, record: &mut Option<Box<Decision>>) -> bool {
        if self.state.recovery.mode != RecoveryMode::Active {
            return false;
        }
        if self.state.recovery.item.is_some() {
            return true;
        }
        match self.recovery_option() {
            Some((option, candidate)) => {
                let done = self.choose(candidate, 0, None, record);
                let item =
                    self.state.queue.items.last().filter(|item| item.tier == Tier::T1R).map(|item| item.id);
                let recovery = self.state.recovery.edit(self.phase);
                recovery.option = option;
                recovery.item = item;
                done
            }
            None => {
                self.recovery_exhausted();
                false
            }
        }
    }

    /// A cue, or a call for help that a present person can be asked.
    fn tier2(&mut self, record: &mut Option<Box<Decision>>) -> bool {
        let busy = |goal| self.state.queue.items.iter().any(|item| item.alive() && item.goal == goal);
        // What sees to a cue is in the queue until it is CLOSED.
        let seen_to = self.state.queue.items.iter().any(|item| item.goal == Goal::Cue);
        let cue = self.state.mind.cue.as_ref().filter(|_| !seen_to && !planted!(self, CueForgotten));
        let present = self.state.beliefs.present;
        let asking = present != 0
            && self.state.regulation.record.iter().any(|record| record.asking)
            && !busy(Goal::Help);
        let candidate = if cue.is_some() {
            Candidate::of(Goal::Cue, Kind::LookAt, Some(crate::world::Obj::Clock), Tier::T2, Source::Cue)
        } else if asking {
            let mut ask = Candidate::of(Goal::Help, Kind::Ask, None, Tier::T2, Source::Need);
            ask.human = Some(present.trailing_zeros() as u8);
            ask
        } else {
            return seen_to || busy(Goal::Help);
        };
        // A cue ends Sleep and Rest by their own rule, at their own checks (GD-25).
        let resting =
            self.state.queue.active().is_some_and(|item| matches!(item.kind, Kind::Sleep | Kind::Rest));
        if resting || self.view().reject(&candidate).is_some() || self.early(&candidate) {
            return false;
        }
        self.choose(candidate, 0, None, record)
    }

    /// A deadline is too near for it: the channel is served first (GD-33). True when it does not fit.
    fn early(&mut self, candidate: &Candidate) -> bool {
        let Some(channel) = self.blocked_by(candidate, Channel::of_goal(candidate.goal)) else {
            return false;
        };
        if self.state.regulation.early & channel.bit() == 0 && self.has_option(channel) {
            self.state.regulation.edit(self.phase).early |= channel.bit();
            self.trigger(Trigger::Tier1);
        }
        true
    }

    // ---- Tier 3 and Tier 4

    fn tier3(&mut self, record: &mut Option<Box<Decision>>) -> bool {
        let ordinary = |item: &Item| item.alive() && item.tier != Tier::T4 && item.phase != Phase::Suspended;
        let running =
            self.state.queue.items.iter().find(|item| ordinary(item) && item.phase != Phase::Blocked);
        let running = running.map(|item| (item.id, item.tier, item.phase, item.kind));
        // What waits for the body or is ordered by a higher layer is not replaced by an ordinary choice.
        match running {
            Some((_, tier, _, _)) if tier != Tier::T3 => return true,
            Some((_, _, phase, kind))
                if phase != Phase::Running || matches!(kind, Kind::Sleep | Kind::Rest) =>
            {
                return true;
            }
            _ => {}
        }
        let scored = self.scored();
        if let Some(record) = record {
            record.candidates.extend(scored.iter().map(considered));
        }
        let mut open: Vec<&Scored> = scored.iter().filter(|scored| scored.reject.is_none()).collect();
        if let Some((id, ..)) = running {
            return self.switch_from(id, &open, record);
        }
        if open.is_empty() {
            return false;
        }
        if open.len() > 1 {
            open.sort_by_key(|scored| scored.candidate.id());
            #[cfg(feature = "faults")]
            self.disorder(&mut open);
        }
        let Some((candidate, score)) = self.pick(&open, record) else { return false };
        if self.early(&candidate) {
            return false;
        }
        self.choose(candidate, score, None, record)
    }

    fn scored(&self) -> Vec<Scored> {
        let view = self.view();
        let mut candidates = Vec::new();
        mind::all(&view, &mut candidates);
        candidates.retain(|candidate| candidate.tier == Tier::T3);
        let mut scored = Vec::with_capacity(candidates.len());
        mind::score_all(&view, &candidates, &mut scored);
        scored
    }

    /// Weighted choice inside the window (GD-42).
    fn pick(&mut self, open: &[&Scored], record: &mut Option<Box<Decision>>) -> Option<(Candidate, i64)> {
        let scores: Vec<i64> = open.iter().map(|scored| scored.parts.score()).collect();
        let window = choose::window(&self.profile.selection, &scores);
        let drawn = if window.len() > 1 { Some(self.draw(Stream::Pool)) } else { None };
        let place = choose::pick(&window, drawn.unwrap_or(0))?;
        if let Some(record) = record {
            record.pool = window.iter().map(|w| (open[w.place].candidate.id(), w.weight)).collect();
            record.draw = drawn;
        }
        Some((open[place].candidate.clone(), scores[place]))
    }

    /// What runs goes on unless something is better by the margin after the dwell (GD-43).
    fn switch_from(&mut self, id: u32, open: &[&Scored], record: &mut Option<Box<Decision>>) -> bool {
        let Some(intent) = &self.state.mind.intent else { return true };
        let dwelt = self.state.now - intent.since;
        let continuation = intent.score;
        let best = open.iter().max_by_key(|scored| scored.parts.score());
        let Some(best) = best else { return true };
        let score = best.parts.score();
        if let Some(record) = record {
            record.margin = Some(score - continuation);
        }
        let hasty = planted!(self, MarginIgnored) && score >= continuation;
        if !hasty && !choose::may_switch(&self.profile.clock, dwelt, continuation, score) {
            return true;
        }
        let candidate = best.candidate.clone();
        if self.early(&candidate) {
            return true;
        }
        self.stop_for(id, record);
        self.choose(candidate, score, None, record)
    }

    /// Whether something else is better than going on sleeping or resting (GD-25).
    pub(crate) fn better_than_resting(&self, item: &Item) -> bool {
        let view = self.view();
        let own = Candidate::of(item.goal, item.kind, item.target, Tier::T3, Source::Need);
        let mut parts = crate::mind::parts(&view, &own);
        parts.cost = 0;
        let continuation = parts.score();
        self.scored().iter().any(|scored| {
            scored.reject.is_none()
                && scored.candidate.goal != item.goal
                && scored.parts.score() >= continuation + self.profile.clock.switch_margin
        })
    }

    fn tier4(&mut self, record: &mut Option<Box<Decision>>, triggers: u32) -> bool {
        if self
            .state
            .queue
            .items
            .iter()
            .any(|item| item.alive() && item.phase != Phase::Blocked && item.phase != Phase::Suspended)
        {
            return true;
        }
        let reevaluated = triggers & (1 << Trigger::Idle as u32) != 0;
        let candidate = match reevaluated.then(|| self.exploration()).flatten() {
            Some(explore) => explore,
            None => Candidate::of(Goal::Idle, Kind::Idle, None, Tier::T4, Source::Environment),
        };
        if self.early(&candidate) && candidate.kind != Kind::Idle {
            return false;
        }
        self.choose(candidate, 0, None, record)
    }

    /// Now and then a walk to where the Agent has not been for the longest time (GD-44).
    fn exploration(&mut self) -> Option<Candidate> {
        let now = self.state.now;
        let period = self.ticks(self.profile.selection.tier4_explore_period);
        if self.state.mind.explored.is_some_and(|last| now < last + period)
            || !choose::novelty_due(&self.profile.selection, self.state.mind.novelty, now)
        {
            return None;
        }
        if !happens(self.draw(Stream::Explore), self.profile.selection.tier4_explore) {
            return None;
        }
        let here = self.state.body.cell;
        let cell = crate::grid::Cell::all()
            .filter(|cell| *cell != here && self.paths.distance(here, *cell).is_some())
            .min_by_key(|cell| (self.state.visits.cells[cell.index()], *cell))?;
        let mut explore = Candidate::of(Goal::Explore, Kind::WalkTo, None, Tier::T4, Source::Environment);
        explore.cell = Some(cell);
        Some(explore)
    }
}

fn considered(scored: &Scored) -> Considered {
    // Those are rejections of what was scored; everything else fails a Test before that.
    let after = [Reject::BelowAdmission, Reject::AlternationLock, Reject::FamilyShare];
    let counted = scored.reject.is_none_or(|reject| after.contains(&reject));
    Considered {
        id: scored.candidate.id(),
        source: scored.candidate.source,
        tier: scored.candidate.tier,
        reject: scored.reject,
        parts: counted.then_some(scored.parts),
        score: scored.parts.score(),
    }
}

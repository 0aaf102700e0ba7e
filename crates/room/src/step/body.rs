//! P6: the active Interaction advances by one tick (GD-20 to GD-24). One edge of the machine a tick.

use super::safety::Order;
use crate::event::What;
use crate::grid::{Cell, Direction};
use crate::item::{Evidence, Exit, Goal, Item, Label, Owner, Phase, Source, Tier};
use crate::kind::Kind;
use crate::room::{Room, Trigger};

impl Room {
    pub(crate) fn advance_body(&mut self) {
        if let Some(active) = self.state.queue.active() {
            let (id, yields) = (active.id, self.yields(active));
            if yields {
                self.leave_body(id);
            } else {
                self.advance(id);
                if !planted!(self, TwoActive) {
                    return;
                }
            }
        }
        self.start_next();
    }

    /// The item has to go, and is at a safe point (GD-22, GD-24).
    fn yields(&self, item: &Item) -> bool {
        (item.owner != self.state.control.owner || item.stop || item.risk) && self.at_safe_point(item)
    }

    fn at_safe_point(&self, item: &Item) -> bool {
        match item.phase {
            Phase::Committed => false,
            Phase::Running => {
                let done = item.running_tick(self.state.now).saturating_sub(1);
                self.profile.interaction.of(item.kind).safe_point(done.cast_signed())
            }
            _ => true,
        }
    }

    /// Off the body: what caused the danger and what another owner ordered is over, what has had its last commit has its
    /// result, the rest is suspended.
    fn leave_body(&mut self, id: u32) {
        let Some(item) = self.state.queue.get(id) else { return };
        let parts = self.profile.interaction.of(item.kind).windows().count();
        if item.risk {
            self.clean(id, Label::SafetyInvalidated);
        } else if parts > 0 && usize::from(item.parts) == parts {
            self.succeed(id, Exit::Done);
        } else if item.owner == Owner::Agent {
            self.suspend(id);
        } else {
            self.clean(id, Label::Canceled);
        }
    }

    fn suspend(&mut self, id: u32) {
        let now = self.state.now;
        let resume = self.ticks(self.profile.clock.resume_deadline);
        let Some(item) = self.state.queue.get(id) else { return };
        let kept = self.kept_ticks(item);
        let Some(item) = self.state.queue.edit(self.phase).get_mut(id) else { return };
        item.unstarted = item.phase != Phase::Running;
        let renews = planted!(self, SuspensionRenews);
        item.until = Some(if item.unstarted && !renews { item.ttl } else { now + resume });
        if item.phase == Phase::Running {
            item.ran = kept;
        }
        item.stop = false;
        self.edge(id, Phase::Suspended);
        self.trigger(Trigger::Closed);
    }

    /// Running ticks that a suspended item need not do again: Sleep and Rest keep every tick, the others whole parts (GD-20).
    fn kept_ticks(&self, item: &Item) -> u32 {
        let done = match item.kind {
            Kind::Sleep | Kind::Rest => item.running_tick(self.state.now).saturating_sub(1),
            _ => {
                let windows = self.profile.interaction.of(item.kind).windows();
                let last = windows.take(item.parts.into()).last();
                last.map_or(0, |(commit, _)| commit.unsigned_abs())
            }
        };
        u32::try_from(done).unwrap_or(u32::MAX)
    }

    /// The next item onto the body: one that is PENDING, else the best that is PROPOSED (edge 2).
    fn start_next(&mut self) {
        let owner = self.state.control.owner;
        let pending =
            self.state.queue.all().find(|i| i.owner == owner && i.phase == Phase::Pending).map(|i| i.id);
        if let Some(id) = pending {
            self.test_start(id);
            return;
        }
        if self.state.control.mode == crate::state::ControlMode::Negotiating {
            return;
        }
        let best = self
            .state
            .queue
            .all()
            .filter(|item| item.owner == owner && item.phase == Phase::Proposed)
            .min_by_key(|item| {
                let last_first = if planted!(self, LastProposedFirst) { u32::MAX } else { 0 };
                (item.tier, item.deadline.unwrap_or(u64::MAX), item.id ^ last_first)
            })
            .map(|item| item.id);
        if let Some(id) = best {
            self.edge(id, Phase::Pending);
            self.note_start(id);
        }
    }

    /// Edge 4 or 5: the Tests and the admission of the phase, then the reservation.
    fn test_start(&mut self, id: u32) {
        let Some(item) = self.state.queue.get(id) else { return };
        if item.risk {
            self.clean(id, Label::SafetyInvalidated);
            return;
        }
        if item.stop {
            self.clean(id, Label::Canceled);
            return;
        }
        // What was chosen is not what is there any more.
        let evidence = if self.moved_away(item) { Evidence::NotThere } else { self.start_test(item) };
        match evidence {
            Evidence::Ok if planted!(self, AdmissionSkipped) || self.phase_fits(item) => {
                let target = item.target;
                self.reserve(id, target);
                self.state.audit.edit(self.phase).prepared += 1;
                self.edge(id, Phase::Preparing);
            }
            // A person holds it, or a deadline is near: both may pass within the dwell.
            Evidence::Ok | Evidence::RefusedByPerson => {}
            _ => self.fail(id, evidence),
        }
    }

    fn reserve(&mut self, id: u32, target: Option<crate::world::Obj>) {
        let Some(object) = target.filter(|_| !planted!(self, NotReserved)) else { return };
        if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
            item.reserved = true;
            item.lost = false;
        }
        self.emit(|| What::Reservation { item: id, object, held: true });
    }

    fn advance(&mut self, id: u32) {
        match self.state.queue.get(id).map(|item| item.phase) {
            Some(Phase::Preparing) => self.prepare(id),
            Some(Phase::Running | Phase::Committed) => self.run(id),
            _ => {}
        }
    }

    /// One tick of approach, turning and re-verification (GD-21).
    fn prepare(&mut self, id: u32) {
        let Some(item) = self.state.queue.get(id) else { return };
        if self.moved_away(item) {
            self.fail(id, Evidence::NotThere);
            return;
        }
        let evidence = self.start_test(item);
        if evidence != Evidence::Ok {
            self.fail(id, evidence);
            return;
        }
        let whole_way = matches!(item.kind, Kind::WalkTo | Kind::Evacuate);
        let Some((goal, steps)) = self.destination(item) else {
            self.fail(id, Evidence::PathBlocked);
            return;
        };
        if steps > 0 && !whole_way {
            self.walk(id, goal, steps);
        } else if let Some(turned) = self.turn_needed(item) {
            self.state.body.edit(self.phase).facing = turned;
            self.progress(id);
        } else if self.phase_fits(item) {
            let next = self.state.now + 1;
            if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
                item.run_from = next;
                item.progress = next;
            }
            self.edge(id, Phase::Running);
        } else {
            // Another deadline has come nearer: the body is not kept waiting with a phase that does not fit.
            self.ask_to_stop(id);
        }
    }

    /// The target is not what it was when this was proposed (GD-21).
    pub(crate) fn moved_away(&self, item: &Item) -> bool {
        item.target
            .is_some_and(|target| self.state.world.object(target).premise_version != item.premise_version)
    }

    /// One step toward `goal`.
    pub(crate) fn walk(&mut self, id: u32, goal: Cell, steps: u8) {
        let here = self.state.body.cell;
        let safe = self.state.queue.get(id).and_then(|item| self.way_to_switch(item, goal));
        let next = match safe {
            Some(way) => way.map(|(_, next)| next),
            None => self.paths.next_step(here, goal),
        };
        let Some(next) = next else {
            self.fail(id, Evidence::PathBlocked);
            return;
        };
        let now = self.state.now;
        let body = self.state.body.edit(self.phase);
        body.cell = next;
        if !planted!(self, WalksLying) {
            body.pose = crate::state::Pose::Standing;
        }
        if let Some(facing) = Direction::between(here, next) {
            body.facing = facing;
        }
        self.tick.walked = true;
        self.state.visits.edit(self.phase).cells[next.index()] = u32::try_from(now + 1).unwrap_or(u32::MAX);
        if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
            if steps < item.distance || item.distance == 0 {
                item.progress = now;
            }
            item.distance = steps;
        }
    }

    /// The next quarter turn that is needed to face the target, if any.
    fn turn_needed(&self, item: &Item) -> Option<Direction> {
        let target = item.target.filter(|target| !self.in_hand(*target))?;
        if matches!(item.kind, Kind::PutDown) {
            return None;
        }
        let cell = self.state.world.cell_of(target)?;
        let wanted = Direction::facing(self.state.body.cell, cell)?;
        let facing = self.state.body.facing;
        (wanted != facing).then(|| facing.quarter_toward(wanted))
    }

    /// A failure: its evidence, its Outcome, and CLEANING in the same tick (edges 5, 8, 14, 19, 24).
    pub(crate) fn fail(&mut self, id: u32, evidence: Evidence) {
        if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
            item.evidence = evidence;
        }
        self.final_outcome(id, false);
        self.clean(id, Label::Failed);
        self.trigger(Trigger::Evidence);
    }

    /// A success: its Outcome, and CLEANING in the same tick.
    pub(crate) fn succeed(&mut self, id: u32, exit: Exit) {
        if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
            item.exit = exit;
        }
        self.final_outcome(id, true);
        self.clean(id, Label::Succeeded);
    }

    /// Into CLEANING with a label; the body is free from here on (GD-24).
    pub(crate) fn clean(&mut self, id: u32, label: Label) {
        let Some(item) = self.state.queue.edit(self.phase).get_mut(id) else { return };
        if matches!(item.phase, Phase::Cleaning | Phase::Closed) {
            return;
        }
        let prepared = item.phase.on_body();
        item.label = label;
        item.stop = false;
        if prepared && matches!(label, Label::Canceled | Label::SafetyInvalidated | Label::SystemEdit) {
            self.state.audit.edit(self.phase).canceled += 1;
        }
        self.edge(id, Phase::Cleaning);
        self.trigger(Trigger::Closed);
    }

    /// Asks an item to leave the body at its next safe point.
    pub(crate) fn ask_to_stop(&mut self, id: u32) {
        if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
            item.stop = true;
        }
    }

    /// One edge, with its event.
    pub(crate) fn edge(&mut self, id: u32, to: Phase) {
        let now = self.state.now;
        let Some(item) = self.state.queue.edit(self.phase).get_mut(id) else { return };
        let from = std::mem::replace(&mut item.phase, to);
        item.since = now;
        item.progress = now;
        let (kind, label, evidence, exit) = (item.kind, item.label, item.evidence, item.exit);
        self.emit(|| What::Edge { item: id, kind, from, to, label, evidence, exit });
    }

    pub(crate) fn progress(&mut self, id: u32) {
        let now = self.state.now;
        if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
            item.progress = now;
        }
    }

    /// An item of Safety or the Operator: starts at PENDING in its private slot (GD-24).
    pub(crate) fn propose_for(&mut self, owner: Owner, order: Order) -> u32 {
        let (goal, tier, source) = match owner {
            Owner::Safety => (Goal::Safety, Tier::T0, Source::Environment),
            _ => (Goal::Operator, Tier::T2, Source::Human),
        };
        let mut item = self.blank_item(order.kind, order.target, goal, tier, source);
        item.owner = owner;
        item.cell = order.cell;
        item.phase = Phase::Pending;
        let (id, kind) = (item.id, item.kind);
        self.state.queue.edit(self.phase).slot(owner).push(item);
        let (label, evidence, exit) = (Label::None, Evidence::Ok, Exit::None);
        let from = Phase::Proposed;
        self.emit(|| What::Edge { item: id, kind, from, to: Phase::Pending, label, evidence, exit });
        id
    }

    /// A new item that nobody has put anywhere yet.
    pub(crate) fn blank_item(
        &mut self,
        kind: Kind,
        target: Option<crate::world::Obj>,
        goal: Goal,
        tier: Tier,
        source: Source,
    ) -> Item {
        let now = self.state.now;
        let ttl = now + self.ticks(self.profile.clock.proposal_ttl);
        let versions = target.map(|t| {
            let object = self.state.world.object(t);
            (object.object_version, object.premise_version)
        });
        let (object_version, premise_version) = versions.unwrap_or((0, 0));
        let queue = self.state.queue.edit(self.phase);
        if planted!(self, AddressAsNumber) {
            queue.next += (impurity!(self) & 1) as u32;
        }
        let id = queue.next;
        queue.next += 1;
        Item {
            id,
            kind,
            target,
            cell: None,
            human: None,
            goal,
            tier,
            owner: Owner::Agent,
            source,
            phase: Phase::Proposed,
            since: now,
            created: now,
            ttl,
            deadline: None,
            ran: 0,
            run_from: now,
            parts: 0,
            commit_until: 0,
            unstarted: false,
            until: None,
            reserved: false,
            lost: false,
            object_version,
            premise_version,
            risk: false,
            label: Label::None,
            evidence: Evidence::Ok,
            exit: Exit::None,
            stop: false,
            command: None,
            progress: now,
            distance: 0,
        }
    }
}

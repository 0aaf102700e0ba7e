//! P4: Product Safety (section 3, GD-23). It reads authoritative risk and protects the body; nothing of what it reads
//! goes into the Agent's facts.

use crate::episode::Overrider;
use crate::event::What;
use crate::grid::Cell;
use crate::item::{Item, Owner, Phase};
use crate::kind::Kind;
use crate::room::{Room, Trigger};
use crate::state::SafetyMode;
use crate::world::{Obj, Source, Stage};

/// What Safety wants the body to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) kind: Kind,
    pub(crate) target: Option<Obj>,
    pub(crate) cell: Option<Cell>,
}

impl Room {
    pub(crate) fn watch_safety(&mut self) {
        let worst = self.worst_source();
        if self.state.safety.mode == SafetyMode::Clear && worst.is_none() {
            return;
        }
        let source = worst.unwrap_or(usize::from(self.state.safety.source));
        if self.state.safety.mode == SafetyMode::Clear {
            self.enter(source);
        } else {
            self.follow(source);
        }
    }

    /// The source with the largest risk, if any has one.
    fn worst_source(&self) -> Option<usize> {
        let sources = &self.state.hidden.sources;
        (0..sources.len()).filter(|n| sources[*n].risk > 0).max_by_key(|n| (sources[*n].risk, usize::MAX - n))
    }

    fn enter(&mut self, source: usize) {
        let at = &self.state.hidden.sources[source];
        let exclusive = planted!(self, ThresholdExclusive);
        if at.risk < self.profile.safety.alert_enter
            || (exclusive && at.risk == self.profile.safety.alert_enter)
        {
            return;
        }
        let (flame, hopeless) = (at.stage == Stage::Flame, at.uncontrollable);
        let now = self.state.now;
        let safety = self.state.safety.edit(self.phase);
        safety.episode += 1;
        safety.entries += 1;
        safety.entered = now;
        safety.source = source as u8;
        safety.confirmed = flame;
        safety.called = false;
        safety.assisted = false;
        safety.assist_until = None;
        safety.safe_at = None;
        self.mark_risk();
        self.overridden(Overrider::Safety);
        let mode = match () {
            () if hopeless || !self.can_escape() => SafetyMode::Uncontrollable,
            () if self.must_leave() => SafetyMode::Evacuating,
            () => SafetyMode::Alert,
        };
        self.safety_mode(mode);
        self.note_safe();
    }

    fn follow(&mut self, source: usize) {
        let now = self.state.now;
        self.state.safety.edit(self.phase).source = source as u8;
        if self.state.hidden.sources[source].stage == Stage::Flame {
            self.state.safety.edit(self.phase).confirmed = true;
        }
        let clear = self.state.hidden.sources.iter().all(|s| s.risk < self.profile.safety.recovery_below);
        let outside = !self.in_danger(source);
        let safety = self.state.safety.edit(self.phase);
        safety.clear_from = if clear { safety.clear_from.or(Some(now)) } else { None };
        safety.outside_from = if outside { safety.outside_from.or(Some(now)) } else { None };
        self.note_safe();
        if let Some(mode) = self.next_mode() {
            self.safety_mode(mode);
        }
    }

    fn note_safe(&mut self) {
        if self.state.safety.safe_at.is_none() && !self.in_danger(usize::from(self.state.safety.source)) {
            self.state.safety.edit(self.phase).safe_at = Some(self.state.now);
        }
    }

    fn next_mode(&self) -> Option<SafetyMode> {
        let safety = &self.state.safety;
        let held = |from: Option<u64>, hold: i64| {
            let hold = if planted!(self, ExitAtOnce) { 1 } else { self.ticks(hold) };
            from.is_some_and(|from| self.state.now + 1 - from >= hold)
        };
        let clear = held(safety.clear_from, self.profile.safety.clear_hold);
        let outside = held(safety.outside_from, self.profile.safety.clear_hold);
        let again =
            self.state.hidden.sources[usize::from(safety.source)].risk >= self.profile.safety.alert_enter;
        match safety.mode {
            SafetyMode::Alert if !self.can_escape() => Some(SafetyMode::Uncontrollable),
            SafetyMode::Alert if self.must_leave() => Some(SafetyMode::Evacuating),
            SafetyMode::Alert if clear => Some(SafetyMode::Recovery),
            SafetyMode::Evacuating if !self.can_escape() => Some(SafetyMode::Uncontrollable),
            SafetyMode::Evacuating if clear && outside => Some(SafetyMode::Recovery),
            SafetyMode::Recovery if again && self.must_leave() => Some(SafetyMode::Evacuating),
            SafetyMode::Recovery if again => Some(SafetyMode::Alert),
            SafetyMode::Recovery
                if held(safety.clear_from, self.profile.safety.recovery_hold) && self.is_reset() =>
            {
                Some(SafetyMode::Clear)
            }
            SafetyMode::Uncontrollable => self.reconsider(clear),
            _ => None,
        }
    }

    /// UNCONTROLLABLE is looked at again only when something changed: an executor, or the danger itself.
    fn reconsider(&self, clear: bool) -> Option<SafetyMode> {
        let source = &self.state.hidden.sources[usize::from(self.state.safety.source)];
        if source.uncontrollable && source.dangerous() && !clear {
            return None;
        }
        match () {
            () if clear => Some(SafetyMode::Recovery),
            () if !self.can_escape() || self.state.safety.clear_from.is_some() => None,
            () if self.must_leave() => Some(SafetyMode::Evacuating),
            () => Some(SafetyMode::Alert),
        }
    }

    /// Nothing of the danger is left in the queue, and the body is free of the Operator.
    fn is_reset(&self) -> bool {
        self.state.queue.all().all(|item| !item.risk) && self.state.queue.operator.is_empty()
    }

    /// Confirmed, or the latest reaction time approaches (RC-SAF-03, CX-19).
    fn must_leave(&self) -> bool {
        let source = usize::from(self.state.safety.source);
        let near = self.profile.safety.evac_at_remaining_ttc.cast_unsigned();
        let remaining = self.state.hidden.sources[source].remaining(self.state.now);
        self.state.safety.confirmed || remaining.is_some_and(|left| left <= near)
    }

    /// Whether the Agent is safe already, or can still be before the harm (RC-SAF-05).
    fn can_escape(&self) -> bool {
        let source = usize::from(self.state.safety.source);
        if !self.in_danger(source) {
            return true;
        }
        let Some((_, steps)) = self.nearest_safe(source) else { return false };
        let running = self
            .state
            .queue
            .safety
            .iter()
            .any(|item| item.kind == Kind::Evacuate && item.phase == Phase::Running);
        // Preempting, starting: two ticks at the most before the first step.
        let start = if running { 0 } else { self.profile.safety.interrupt_max.cast_unsigned() };
        match self.state.hidden.sources[source].remaining(self.state.now) {
            Some(0) | None => true,
            Some(left) => u64::from(steps) + start <= left,
        }
    }

    /// The nearest safe cell; ties go to the smaller y, then the smaller x (GD-13).
    pub(crate) fn nearest_safe(&self, source: usize) -> Option<(Cell, u8)> {
        let from = self.state.body.cell;
        Cell::all()
            .filter(|cell| !self.cell_in_danger(*cell, source))
            .filter_map(|cell| self.paths.distance(from, cell).map(|steps| (steps, cell)))
            .min()
            .map(|(steps, cell)| (cell, steps))
    }

    fn safety_mode(&mut self, to: SafetyMode) {
        let from = self.state.safety.mode;
        self.emit(|| What::Safety { from, to });
        let now = self.state.now;
        let safety = self.state.safety.edit(self.phase);
        safety.mode = to;
        safety.since = now;
        safety.clear_from = None;
        safety.outside_from = None;
        let call = matches!(to, SafetyMode::Evacuating | SafetyMode::Uncontrollable) && !safety.called;
        safety.called |= call && !planted!(self, CallsAgain);
        if to == SafetyMode::Clear {
            self.released(Overrider::Safety);
        }
        if call {
            self.emit(|| What::Call { channel: None });
        }
        self.trigger(Trigger::Mode);
    }

    /// Marks what causes the danger, before Safety acts (RC-SAF-11, GD-23).
    fn mark_risk(&mut self) {
        if planted!(self, RiskNotMarked) {
            return;
        }
        let source = usize::from(self.state.safety.source);
        let marked: Vec<u32> = self
            .state
            .queue
            .items
            .iter()
            .chain(&self.state.queue.operator)
            .filter(|item| item.alive() && self.causes_risk(item, source))
            .map(|item| item.id)
            .collect();
        for id in marked {
            if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
                item.risk = true;
            }
        }
    }

    /// The one predicate for items and commands: its target is the source, its goal cell lies in the danger set, or it
    /// sets the source ON.
    pub(crate) fn causes_risk(&self, item: &Item, source: usize) -> bool {
        self.is_risky(&Order { kind: item.kind, target: item.target, cell: item.cell }, source)
    }

    /// The same, of what is ordered.
    pub(crate) fn is_risky(&self, order: &Order, source: usize) -> bool {
        let heater = source == 0;
        let on_source = heater && matches!(order.target, Some(Obj::Heater));
        let switches_on = heater && order.kind == Kind::Open && order.target == Some(Obj::Breaker);
        on_source
            || switches_on
            || self.goal_cell(order).is_some_and(|cell| self.cell_in_danger(cell, source))
    }

    /// Whether a cell lies in the danger set of this source, or of another one that is dangerous at the same time: who
    /// leaves one danger does not walk into the other.
    pub(crate) fn cell_in_danger(&self, cell: Cell, source: usize) -> bool {
        let near = |at: &Source| at.cell.manhattan(cell) <= self.profile.safety.danger_radius;
        let sources = &self.state.hidden.sources;
        near(&sources[source]) || sources.iter().any(|other| other.dangerous() && near(other))
    }

    /// The shortest way through safe cells only: its steps and its next cell (GD-13).
    fn safe_way(&self, to: Cell, source: usize) -> Option<(u8, Cell)> {
        self.paths.around(self.state.body.cell, to, |cell| self.cell_in_danger(cell, source))
    }

    /// Whether Safety walks to a switch from a safe cell, and therefore through safe cells only; then its way.
    pub(crate) fn way_to_switch(&self, item: &Item, to: Cell) -> Option<Option<(u8, Cell)>> {
        let source = usize::from(self.state.safety.source);
        let through_safe = item.owner == Owner::Safety
            && item.kind == Kind::Protect
            && self.state.safety.mode == SafetyMode::Evacuating
            && !self.in_danger(source);
        through_safe.then(|| self.safe_way(to, source))
    }

    fn in_danger(&self, source: usize) -> bool {
        self.cell_in_danger(self.state.body.cell, source)
    }

    /// Where it makes the Agent stand.
    fn goal_cell(&self, order: &Order) -> Option<Cell> {
        order.cell.or_else(|| self.access(order.target?).map(|(cell, _)| cell))
    }

    /// The action of Safety in its mode (GD-13).
    pub(crate) fn order(&self) -> Option<Order> {
        let safety = &self.state.safety;
        let source = usize::from(safety.source);
        let hold = Order { kind: Kind::Protect, target: None, cell: None };
        let leave = || match self.nearest_safe(source) {
            Some((cell, _)) => Order { kind: Kind::Evacuate, target: None, cell: Some(cell) },
            None => hold,
        };
        let stop = |through_safe| self.switch(source, through_safe);
        let inside = self.in_danger(source);
        let at = &self.state.hidden.sources[source];
        match safety.mode {
            SafetyMode::Alert if at.visible && !safety.confirmed => {
                let target = (source == 0).then_some(Obj::Heater);
                Some(Order { kind: Kind::LookAt, target, cell: None })
            }
            SafetyMode::Alert => Some(stop(false).unwrap_or(if inside { leave() } else { hold })),
            SafetyMode::Evacuating if inside => Some(leave()),
            SafetyMode::Evacuating => Some(stop(true).unwrap_or(hold)),
            SafetyMode::Uncontrollable => Some(hold),
            SafetyMode::Recovery if inside => Some(leave()),
            SafetyMode::Recovery => Some(hold),
            SafetyMode::Clear => None,
        }
    }

    /// Protect at a switch of the source: the nearest in time, or the one that is reached through safe cells only.
    fn switch(&self, source: usize, through_safe: bool) -> Option<Order> {
        let at = &self.state.hidden.sources[source];
        if source != 0 || !matches!(at.stage, Stage::Overheat | Stage::Flame) {
            return None;
        }
        let protect = |target| Order { kind: Kind::Protect, target: Some(target), cell: None };
        // What is visibly broken shuts nothing off: trying it again in every tick is no way out (RC-SAF-14).
        let works = |switch: &Obj| !self.state.world.object(*switch).broken;
        if through_safe {
            let (cell, _) = self.access(Obj::Breaker).filter(|_| works(&Obj::Breaker))?;
            let (steps, _) = self.safe_way(cell, source)?;
            return (i64::from(steps) <= self.profile.interaction.walk_wcet).then_some(protect(Obj::Breaker));
        }
        let left = at.remaining(self.state.now)?.cast_signed();
        let need =
            |steps: u8| i64::from(steps) + self.profile.safety.evacuate_max + self.profile.safety.reaction();
        [Obj::Heater, Obj::Breaker]
            .into_iter()
            .filter(works)
            .filter_map(|switch| self.access(switch).map(|(_, steps)| (steps, switch)))
            .filter(|(steps, _)| need(*steps) <= left)
            .min()
            .map(|(_, switch)| protect(switch))
    }

    /// Keeps the private slot of Safety at what it wants now.
    pub(crate) fn order_body(&mut self) {
        let Some(order) = self.order() else { return };
        let same = |item: &Item| item.alive() && item.kind == order.kind && item.target == order.target;
        if self.state.queue.safety.iter().any(same) {
            return;
        }
        let busy = self.state.queue.safety.iter().any(Item::alive);
        if busy {
            for item in &mut self.state.queue.edit(self.phase).safety {
                item.stop = item.alive();
            }
            // Handed over at the next safe point; the new order follows.
            return;
        }
        self.propose_for(Owner::Safety, order);
    }
}

//! P5: one owner of the body (section 6.1, GD-26), and the inputs of direct control.

use super::safety::Order;
use crate::episode::{Override, Overrider};
use crate::event::What;
use crate::input::{Command, Verb};
use crate::item::{Evidence, Item, Label, Owner, Phase};
use crate::kind::Kind;
use crate::reject::Reject;
use crate::room::{Room, Trigger};
use crate::setup::RunMode;
use crate::state::{ControlMode, FactKind, SafetyMode};
use crate::tell::Told;

impl Room {
    pub(crate) fn arbitrate(&mut self) {
        let mode = self.control_mode();
        if mode != self.state.control.mode {
            self.control(mode);
        }
        if self.state.control.owner == Owner::Safety {
            self.order_body();
        }
        if self.state.control.intervened.is_some() {
            self.note_return();
        }
    }

    fn control_mode(&self) -> ControlMode {
        let control = &self.state.control;
        let now = self.state.now;
        match self.state.safety.mode {
            _ if planted!(self, NoPreemption) => {}
            SafetyMode::Recovery => return ControlMode::Recovery,
            SafetyMode::Clear => {}
            _ if self.assist_open() => return ControlMode::OperatorLease,
            _ => return ControlMode::Emergency,
        }
        match control.mode {
            ControlMode::Emergency | ControlMode::Recovery => ControlMode::Autonomous,
            ControlMode::Negotiating if control.lease_asked && now >= control.until => {
                ControlMode::OperatorLease
            }
            ControlMode::Negotiating if now >= control.until => ControlMode::Autonomous,
            ControlMode::OperatorLease if self.lease_over() => ControlMode::Autonomous,
            mode => mode,
        }
    }

    /// Its time is over, nobody has commanded for a while, or a body deadline has come (GD-26).
    fn lease_over(&self) -> bool {
        if planted!(self, LeaseWithoutEnd) {
            return false;
        }
        let control = &self.state.control;
        let now = self.state.now;
        let idle = self.ticks(self.profile.clock.lease_idle_end);
        now >= control.until || now >= control.commanded + idle || self.state.regulation.tier1 != 0
    }

    fn control(&mut self, to: ControlMode) {
        let from = self.state.control.mode;
        let now = self.state.now;
        self.emit(|| What::Control { from, to });
        let lease = self.ticks(self.profile.clock.lab_lease);
        let served = self.first_tier1();
        let control = self.state.control.edit(self.phase);
        control.mode = to;
        control.owner = if planted!(self, OwnerNotSwitched) { control.owner } else { to.owner() };
        control.since = now;
        control.waiting = None;
        match (from, to) {
            (ControlMode::Negotiating, ControlMode::OperatorLease) => {
                control.until = now + lease;
                control.commanded = now;
                control.lease_asked = false;
            }
            (ControlMode::OperatorLease, _) => control.refused_for = served,
            _ => {}
        }
        if from == ControlMode::OperatorLease {
            self.stop_slot(Owner::Operator);
        }
        if from.owner() == Owner::Safety && to.owner() != Owner::Safety {
            self.stop_slot(Owner::Safety);
        }
        if to == ControlMode::OperatorLease {
            self.overridden(Overrider::Operator);
        }
        if from == ControlMode::OperatorLease {
            self.released(Overrider::Operator);
        }
        self.trigger(Trigger::Mode);
    }

    /// What an owner that loses the body had ordered never revives (RC-SAF-11).
    fn stop_slot(&mut self, owner: Owner) {
        let ids: Vec<u32> =
            self.state.queue.all().filter(|i| i.owner == owner && i.alive()).map(|i| i.id).collect();
        for id in ids {
            match self.state.queue.get(id).map(|item| item.phase) {
                Some(Phase::Preparing | Phase::Running | Phase::Committed) => self.ask_to_stop(id),
                // What waits, is blocked or suspended holds no body that it could give back at a safe point.
                Some(_) => self.clean(id, Label::Canceled),
                None => {}
            }
        }
    }

    /// Commands on CH-4.
    pub(crate) fn operator(&mut self, command: Command) {
        let now = self.state.now;
        self.state.control.edit(self.phase).intervened = Some(now);
        match command.verb {
            Verb::LeaseRequest => self.lease_request(&command),
            Verb::LeaseRenew => self.lease_renew(&command),
            Verb::LeaseEnd if self.state.control.mode == ControlMode::OperatorLease => {
                self.state.control.edit(self.phase).until = now;
            }
            Verb::Assist => self.assist(&command),
            Verb::Command => self.command(command),
            _ => self.refuse(command.id, Reject::ChannelClosed),
        }
    }

    fn lease_request(&mut self, command: &Command) {
        let free =
            self.state.safety.mode == SafetyMode::Clear && self.state.control.mode == ControlMode::Autonomous;
        let deadline = self.state.regulation.tier1 != 0 || self.refused_still();
        if self.setup.mode != RunMode::Lab || !free {
            self.refuse(command.id, Reject::ChannelClosed);
        } else if deadline {
            self.refuse(command.id, Reject::DeadlineTier1);
        } else {
            let until = self.state.now + self.ticks(self.profile.clock.lab_handshake);
            self.control(ControlMode::Negotiating);
            if planted!(self, LeaseWithoutHandshake) {
                self.control(ControlMode::OperatorLease);
                return;
            }
            let control = self.state.control.edit(self.phase);
            control.until = until;
            control.lease_asked = true;
        }
    }

    fn lease_renew(&mut self, command: &Command) {
        if self.state.control.mode != ControlMode::OperatorLease
            || self.state.safety.mode != SafetyMode::Clear
        {
            self.refuse(command.id, Reject::ChannelClosed);
        } else if self.state.regulation.tier1 != 0 || self.refused_still() {
            self.refuse(command.id, Reject::DeadlineTier1);
        } else {
            let until = self.state.now + self.ticks(self.profile.clock.lab_lease);
            self.state.control.edit(self.phase).until = until;
        }
    }

    /// The channel for which a lease ended has not been served since.
    fn refused_still(&self) -> bool {
        self.state
            .control
            .refused_for
            .is_some_and(|channel| self.state.regulation.served[channel.index()] <= self.state.control.since)
    }

    fn assist(&mut self, command: &Command) {
        let emergency = matches!(self.state.safety.mode, SafetyMode::Alert | SafetyMode::Evacuating);
        if !emergency || self.state.safety.assisted {
            self.refuse(command.id, Reject::ChannelClosed);
            return;
        }
        let until = self.state.now + self.ticks(self.profile.clock.assist_window);
        let safety = self.state.safety.edit(self.phase);
        safety.assisted = true;
        safety.assist_until = Some(until);
    }

    /// The emergency assist window is open, and there is time left (GD-26).
    pub(crate) fn assist_open(&self) -> bool {
        let safety = &self.state.safety;
        let source = &self.state.hidden.sources[usize::from(safety.source)];
        let late = self.ticks(self.profile.safety.assist_takeback_ttc);
        let time = source.remaining(self.state.now).is_none_or(|left| left > late);
        let emergency = matches!(safety.mode, SafetyMode::Alert | SafetyMode::Evacuating);
        emergency && time && safety.assist_until.is_some_and(|until| self.state.now < until)
    }

    fn command(&mut self, command: Command) {
        let assist = self.assist_open();
        let closed = self.state.control.mode != ControlMode::OperatorLease
            || (self.state.safety.mode != SafetyMode::Clear && !assist);
        if closed && !planted!(self, LeaseInDanger) {
            self.refuse(command.id, Reject::ChannelClosed);
            return;
        }
        if let Some(reject) = self.command_reject(&command, assist) {
            self.refuse(command.id, reject);
            return;
        }
        let now = self.state.now;
        let running = self.state.queue.operator.iter().filter(|item| item.alive()).count();
        self.state.control.edit(self.phase).commanded = now;
        if running == 0 {
            self.carry_out(&command);
        } else if self.state.control.waiting.is_none() {
            self.state.control.edit(self.phase).waiting = Some(command);
        } else {
            self.refuse(command.id, Reject::LeaseBusy);
        }
    }

    fn command_reject(&self, command: &Command, assist: bool) -> Option<Reject> {
        let kind = command.kind?;
        if matches!(kind, Kind::Evacuate | Kind::Protect) {
            return Some(Reject::ChannelClosed);
        }
        if !assist {
            return None;
        }
        // Each command of the window has to lead toward safety, and none into a danger set (GD-26).
        let source = usize::from(self.state.safety.source);
        let order = Order { kind, target: command.object, cell: command.cell };
        let Some((_, now)) = self.nearest_safe(source) else { return Some(Reject::ZoneTarget) };
        let closer = command.cell.and_then(|cell| self.steps_to_safe_from(cell, source));
        let leads_out = closer.is_some_and(|steps| steps < now) && !self.is_risky(&order, source);
        (!leads_out).then_some(Reject::ZoneTarget)
    }

    fn steps_to_safe_from(&self, cell: crate::grid::Cell, source: usize) -> Option<u8> {
        crate::grid::Cell::all()
            .filter(|to| !self.cell_in_danger(*to, source))
            .filter_map(|to| self.paths.distance(cell, to))
            .min()
    }

    fn carry_out(&mut self, command: &Command) {
        let Some(kind) = command.kind else { return };
        let id =
            self.propose_for(Owner::Operator, Order { kind, target: command.object, cell: command.cell });
        if let Some(item) = self.state.queue.edit(self.phase).get_mut(id) {
            item.command = Some(command.id);
            item.human = command.human;
        }
    }

    /// The waiting command follows the one that has ended.
    pub(crate) fn next_command(&mut self) {
        let free = !self.state.queue.operator.iter().any(Item::alive);
        if !free
            || self.state.control.mode != ControlMode::OperatorLease
            || self.state.control.waiting.is_none()
        {
            return;
        }
        if let Some(command) = self.state.control.edit(self.phase).waiting.take() {
            self.carry_out(&command);
        }
    }

    /// The body is taken over: one causal episode. The Agent feels the takeover and learns nothing of why (RC-SAF-16,
    /// RC-RED-06f, GD-76).
    pub(crate) fn overridden(&mut self, by: Overrider) {
        let sequence = self.emit(|| What::Fact { kind: FactKind::Takeover, object: None });
        self.tick.sources.push(sequence);
        let cluster = self.fact(FactKind::Takeover, None, Evidence::Ok, sequence);
        let record = Override { episode: cluster, by, perceivable: true, from: self.state.now, until: None };
        if planted!(self, ClusterPerEvent) {
            self.tell(cluster + 1, &Told::Override(record.clone()));
        }
        self.tell(cluster, &Told::Override(record));
        self.emit(|| What::Kept { field: "consent", why: "control" });
    }

    /// The takeover is over.
    pub(crate) fn released(&mut self, by: Overrider) {
        let now = self.state.now;
        let open = self.state.episodes.overrides.iter().find(|one| one.by == by && one.until.is_none());
        if let Some(episode) = open.map(|one| one.episode) {
            self.state.episodes.edit(self.phase).released(episode, now);
        }
    }

    /// After an intervention: the body is back when the Agent owns it and acts or waits (RC-CTL-05).
    fn note_return(&mut self) {
        let over = !matches!(self.state.control.mode, ControlMode::OperatorLease | ControlMode::Negotiating);
        if over && self.state.queue.operator.is_empty() {
            self.state.control.edit(self.phase).intervened = None;
        }
    }
}

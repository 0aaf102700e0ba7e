//! P7, first half: what people, the environment and the system editor do to the room.

use crate::event::What;
use crate::fixed::ONE;
use crate::input::{Command, Verb, Way};
use crate::item::{Item, Label, Phase};
use crate::reject::Reject;
use crate::room::{Room, Trigger};
use crate::start::first_parent;
use crate::state::{Channel, Levels};
use crate::world::{Cause, Obj, Parent, Place};

impl Room {
    /// Acts of this tick and those that waited for the end of a commit.
    pub(crate) fn reduce_acts(&mut self) {
        let waited = if self.state.seen.deferred.is_empty() {
            Vec::new()
        } else {
            std::mem::take(&mut self.state.seen.edit(self.phase).deferred)
        };
        let acts = std::mem::take(&mut self.tick.acts);
        let edits = std::mem::take(&mut self.tick.edits);
        let mut all: Vec<Command> = waited.into_iter().chain(acts).chain(edits).collect();
        if planted!(self, ActsRaced) && impurity!(self) & 1 == 1 {
            all.reverse();
        }
        for command in all {
            if self.meets_commit(&command) {
                self.state.seen.edit(self.phase).deferred.push(command);
            } else if command.verb.way() == Way::SystemEdit {
                self.edit_system(&command);
            } else {
                self.apply_act(&command);
            }
        }
    }

    /// A commit on the same object, or any commit for an edit, ends first (GD-28).
    fn meets_commit(&self, command: &Command) -> bool {
        let edit = command.verb.way() == Way::SystemEdit;
        if planted!(self, EditDuringCommit) {
            return false;
        }
        let touches = |target: Option<Obj>| edit || (target.is_some() && target == command.object);
        self.state.queue.all().any(|item| item.phase == Phase::Committed && touches(item.target))
            || self.tick.outcomes.iter().any(|outcome| outcome.part > 0 && touches(outcome.target))
    }

    /// One act from outside. What cannot be is refused and changes nothing.
    pub(crate) fn apply_act(&mut self, command: &Command) {
        let done = match command.verb {
            Verb::Come | Verb::Leave | Verb::BlockHand | Verb::TreatPain => self.person(command),
            Verb::Take => self.take_object(command),
            Verb::Move | Verb::Return => self.move_object(command),
            Verb::Block | Verb::Unblock => self.block_cell(command),
            _ => self.change_object(command),
        };
        if !done {
            self.refuse(command.id, Reject::HandConflict);
        }
    }

    fn person(&mut self, command: &Command) -> bool {
        let Some(human) = command.human.map(usize::from) else { return false };
        if command.verb == Verb::TreatPain {
            let present = self.state.world.humans[human].present;
            if present {
                let levels = self.state.levels.edit(self.phase);
                levels.pain = (levels.pain - self.profile.regulation.pain_help).max(0);
            }
            return present;
        }
        let person = &mut self.state.world.edit(self.phase).humans[human];
        match command.verb {
            Verb::Come => person.present = true,
            Verb::Leave => person.present = false,
            _ => person.busy = true,
        }
        self.state.world.edit(self.phase).version += 1;
        true
    }

    fn take_object(&mut self, command: &Command) -> bool {
        let (Some(object), Some(human)) = (command.object, command.human) else { return false };
        let person = &self.state.world.humans[usize::from(human)];
        let able = person.present && person.hand.is_none() && !person.busy;
        able && self.relocate(object, Parent::human(human))
    }

    fn move_object(&mut self, command: &Command) -> bool {
        let (Some(object), Some(to)) = (command.object, command.to) else { return false };
        self.has_room(to) && self.relocate(object, to)
    }

    fn has_room(&self, to: Parent) -> bool {
        match to.place {
            Place::Surface => {
                let holder = to.holder().map_or(0, |holder| self.state.world.held_by(holder));
                i64::from(holder) < self.profile.world.surface_capacity
            }
            Place::Container => {
                let holder = to.holder().map_or(0, |holder| self.state.world.held_by(holder));
                i64::from(holder) < self.profile.world.container_capacity
            }
            Place::Cell => self.walkable(crate::grid::Cell(to.of)),
            Place::HumanHand => self.state.world.humans[usize::from(to.of)].hand.is_none(),
            _ => true,
        }
    }

    /// Moves an object from outside; what the Agent holds stays in its hand.
    fn relocate(&mut self, object: Obj, to: Parent) -> bool {
        let parent = self.state.world.object(object).parent;
        if matches!(parent.place, Place::AgentHand | Place::Destroyed) {
            return false;
        }
        self.put(object, to);
        self.foreign_change(object);
        true
    }

    /// Moves an object: parent, both lists, hand, in one step.
    pub(crate) fn put(&mut self, object: Obj, to: Parent) {
        let mut hand = self.state.body.hand;
        let old = self.state.world.object(object).parent;
        self.state.world.edit(self.phase).place(object, to, &mut hand);
        if let Some(holder) = old.holder().filter(|_| planted!(self, OldListKept)) {
            self.state.world.edit(self.phase).inside[holder.index()] |= object.bit();
        }
        if hand != self.state.body.hand && !(planted!(self, HandNotCleared) && hand.is_none()) {
            self.state.body.edit(self.phase).hand = hand;
        }
        self.emit(|| What::Moved { object, to });
    }

    /// Counts a change from outside; reservations of the object are lost (GD-28).
    fn foreign_change(&mut self, object: Obj) {
        let now = self.state.now;
        self.state.world.edit(self.phase).changed(object, Cause::Foreign, now);
        if self.state.queue.all().any(|item| item.target == Some(object) && item.reserved) {
            for item in self.state.queue.edit(self.phase).all_mut().filter(|item| item.target == Some(object))
            {
                item.lost |= item.reserved && !planted!(self, LossNotNoted);
                item.reserved = false;
            }
        }
    }

    fn block_cell(&mut self, command: &Command) -> bool {
        let Some(cell) = command.cell else { return false };
        let free = self.walkable(cell) && cell != self.state.body.cell;
        let blocked = self.state.world.blocked.has(cell);
        if command.verb == Verb::Block && !free || command.verb == Verb::Unblock && !blocked {
            return false;
        }
        let world = self.state.world.edit(self.phase);
        if command.verb == Verb::Block {
            world.blocked.insert(cell);
        } else {
            world.blocked.remove(cell);
        }
        world.version += 1;
        self.find_paths();
        true
    }

    fn change_object(&mut self, command: &Command) -> bool {
        let Some(object) = command.object else {
            return command.verb == Verb::Fault && self.fault();
        };
        let hidden = self.state.hidden.edit(self.phase);
        let authority = &mut hidden.objects[object.index()];
        match command.verb {
            Verb::Lock => authority.locked = true,
            Verb::Unlock => authority.locked = false,
            Verb::Damage => authority.damaged = true,
            Verb::Mend => authority.damaged = false,
            _ => {}
        }
        let stock_before = i64::from(self.state.world.object(object).stock);
        let visible = &mut self.state.world.edit(self.phase).objects[object.index()];
        match command.verb {
            Verb::Break => visible.broken = true,
            Verb::Mend => visible.broken = false,
            Verb::SwitchOn | Verb::PersonOpens => visible.on = true,
            Verb::SwitchOff | Verb::PersonCloses => visible.on = false,
            Verb::Restock => {
                visible.stock = u32::try_from(command.amount.unwrap_or(0) / ONE).unwrap_or(0);
                let added = i64::from(visible.stock) - stock_before;
                let audit = self.state.audit.edit(self.phase);
                if object.family() == crate::world::Family::Water {
                    audit.water_added += added;
                } else {
                    audit.food_added += added;
                }
            }
            Verb::Destroy => return self.destroy(object),
            _ => {}
        }
        if matches!(command.verb, Verb::Damage | Verb::Mend) && !planted!(self, NoVersionDiscount) {
            self.state.expectations.edit(self.phase).premise_changed(&self.profile, object as u8);
        }
        self.foreign_change(object);
        true
    }

    fn destroy(&mut self, object: Obj) -> bool {
        if !object.movable() {
            return false;
        }
        let stock = std::mem::take(&mut self.state.world.edit(self.phase).objects[object.index()].stock);
        let audit = self.state.audit.edit(self.phase);
        match object.family() {
            crate::world::Family::Water => audit.water_added -= i64::from(stock),
            crate::world::Family::Food => audit.food_added -= i64::from(stock),
            _ => {}
        }
        self.put(object, Parent::DESTROYED);
        self.foreign_change(object);
        true
    }

    fn fault(&mut self) -> bool {
        self.state.hidden.edit(self.phase).sources[0].fault = true;
        true
    }

    /// Behind the barrier: affected items end first, then the edit, atomically, signed `system` (GD-28).
    fn edit_system(&mut self, command: &Command) {
        if let Some(reject) = self.edit_reject(command) {
            self.refuse(command.id, reject);
            return;
        }
        let affected: Vec<u32> = self
            .state
            .queue
            .all()
            .filter(|item| item.alive() && touched(command.verb, command.object, item))
            .map(|item| item.id)
            .collect();
        for id in affected {
            if !planted!(self, EditLeavesHalf) {
                self.clean(id, Label::SystemEdit);
            }
        }
        let verb = command.verb;
        match verb {
            Verb::Teleport => {
                if let Some(cell) = command.cell {
                    self.state.body.edit(self.phase).cell = cell;
                }
            }
            Verb::Reset => self.reset_object(command),
            Verb::SetLevel => self.set_level(command),
            // An answer to what was asked until now comes too late (GD-88).
            Verb::Cancel => self.state.mind.edit(self.phase).withdrawn = Some(self.state.now),
            _ => {}
        }
        self.tick.edited = Some((verb, command.object));
        self.emit(|| What::Edited { verb });
        self.trigger(Trigger::Evidence);
    }

    /// Nobody is put where no one can stand, or into a danger: there Safety would have no time left (GD-13).
    fn edit_reject(&self, command: &Command) -> Option<Reject> {
        let cell = command.cell.filter(|_| command.verb == Verb::Teleport)?;
        let sources = &self.state.hidden.sources;
        let danger = (0..sources.len()).any(|n| sources[n].dangerous() && self.cell_in_danger(cell, n));
        match () {
            () if !self.walkable(cell) => Some(Reject::PathUnknown),
            () if danger => Some(Reject::ZoneTarget),
            () => None,
        }
    }

    fn reset_object(&mut self, command: &Command) {
        let Some(object) = command.object else { return };
        let to = first_parent(&self.profile, &self.layout, object);
        self.put(object, to);
        let authority = &mut self.state.hidden.edit(self.phase).objects[object.index()];
        authority.locked = false;
        authority.damaged = false;
        self.state.world.edit(self.phase).objects[object.index()].broken = object == Obj::Radio;
        self.foreign_change(object);
    }

    fn set_level(&mut self, command: &Command) {
        let (Some(channel), Some(amount)) = (command.channel, command.amount) else { return };
        let level = amount.clamp(0, ONE);
        *field(self.state.levels.edit(self.phase), channel) =
            if channel == Channel::Pain { ONE - level } else { level };
    }
}

/// Which items an edit touches.
pub(crate) fn touched(verb: Verb, object: Option<Obj>, item: &Item) -> bool {
    match verb {
        Verb::Teleport => matches!(item.phase, Phase::Pending | Phase::Preparing | Phase::Running),
        // The intent is taken back, with everything that waits for it; a commit is over before this (GD-28).
        Verb::Cancel => item.phase != Phase::Committed,
        Verb::Reset => item.target.is_some() && item.target == object,
        _ => false,
    }
}

/// Where the level of a channel is stored.
pub(crate) fn field(levels: &mut Levels, channel: Channel) -> &mut i64 {
    match channel {
        Channel::Hydration => &mut levels.hydration,
        Channel::Calories => &mut levels.calories,
        Channel::Energy => &mut levels.energy,
        Channel::Pain => &mut levels.pain,
        Channel::Thermal => &mut levels.thermal,
        Channel::Posture => &mut levels.posture,
    }
}

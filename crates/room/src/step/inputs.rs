//! P2: inputs of this tick, merged, ordered and handed to the phase that acts on them (GD-17).

use crate::event::What;
use crate::input::{Command, Verb, Way};
use crate::item::Evidence;
use crate::reject::Reject;
use crate::room::{Room, Trigger};
use crate::setup::RunMode;
use crate::state::{Cue, FactKind, Recent};

impl Room {
    pub(crate) fn take_inputs(&mut self, inputs: &[Command]) {
        if !self.state.seen.recent.is_empty() {
            self.forget_recent();
        }
        if inputs.is_empty() {
            return;
        }
        let mut taken: Vec<Command> = Vec::with_capacity(inputs.len());
        for command in inputs {
            if self.is_new(command) && !self.merges(command, &mut taken) {
                taken.push(command.clone());
            }
        }
        taken.sort_by_key(|command| (command.verb.way(), command.id));
        #[cfg(feature = "faults")]
        self.disorder_inputs(&mut taken);
        for command in taken {
            self.take(command);
        }
    }

    /// A command id counts once in a run (GD-04).
    fn is_new(&mut self, command: &Command) -> bool {
        match self.state.seen.commands.binary_search(&command.id) {
            Ok(_) => {
                self.refuse(command.id, Reject::ClusterDuplicate);
                false
            }
            Err(place) => {
                self.state.seen.edit(self.phase).commands.insert(place, command.id);
                true
            }
        }
    }

    /// Repetitions merge with what was taken in the last ticks; of opposite commands on one object the larger number
    /// stays; one command a channel and tick.
    fn merges(&mut self, command: &Command, taken: &mut [Command]) -> bool {
        let repeated = !planted!(self, RepetitionActs)
            && self.state.seen.recent.iter().any(|recent| recent.command.same_as(command))
            || taken.iter().any(|other| other.same_as(command));
        if repeated {
            self.emit(|| What::Merged(command.clone()));
            return true;
        }
        let opposite = taken
            .iter()
            .position(|other| command.verb.opposite() == Some(other.verb) && other.object == command.object);
        if let Some(place) = opposite {
            let loser = if taken[place].id < command.id && !planted!(self, OppositeFirstStays) {
                std::mem::replace(&mut taken[place], command.clone())
            } else {
                command.clone()
            };
            self.emit(|| What::Merged(loser));
            return true;
        }
        let full = taken.iter().any(|other| other.verb.way() == command.verb.way());
        if full && command.verb.way() != Way::Proposer {
            self.refuse(command.id, Reject::QueueFull);
        }
        full && command.verb.way() != Way::Proposer
    }

    fn forget_recent(&mut self) {
        let window = self.ticks(self.profile.clock.input_merge_window);
        let now = self.state.now;
        if self.state.seen.recent.iter().any(|recent| recent.tick + window < now) {
            self.state.seen.edit(self.phase).recent.retain(|recent| recent.tick + window >= now);
        }
    }

    fn take(&mut self, command: Command) {
        if !self.open(command.verb) {
            self.refuse(command.id, Reject::ChannelClosed);
            return;
        }
        let now = self.state.now;
        // Renewals and commands of a lease repeat on purpose; what a person asks twice in a moment is one thing.
        if command.verb.way() != Way::Operator && command.verb.way() != Way::Proposer {
            self.state.seen.edit(self.phase).recent.push(Recent { command: command.clone(), tick: now });
        }
        self.emit(|| What::Input(command.clone()));
        match command.verb.way() {
            Way::Speech => self.hear(&command),
            Way::Act => self.tick.acts.push(command),
            Way::Environment if command.verb == Verb::Ignite => self.tick.ignite = true,
            Way::Environment => self.tick.acts.push(command),
            Way::Operator => self.operator(command),
            Way::SystemEdit => self.tick.edits.push(command),
            Way::Proposer => self.tick.answers.push(command),
        }
    }

    /// Which channels are open in a mode (GD-16).
    fn open(&self, verb: Verb) -> bool {
        match (verb.way(), self.setup.mode) {
            (Way::Operator, RunMode::Coexistence) => {
                verb == Verb::Assist || (verb == Verb::Command && self.assist_open())
            }
            (Way::SystemEdit, RunMode::Coexistence) => false,
            _ => true,
        }
    }

    fn hear(&mut self, command: &Command) {
        let now = self.state.now;
        match command.verb {
            Verb::Grant => {
                if let (Some(goal), Some(class)) = (command.goal, command.class) {
                    if planted!(self, GrantTwice) {
                        self.state.retries.edit(self.phase).grant(&self.profile, goal as u8, class);
                    }
                    if self.state.retries.edit(self.phase).grant(&self.profile, goal as u8, class) {
                        self.unsuspend(goal);
                    } else {
                        self.refuse(command.id, Reject::RetryTotal);
                    }
                }
                self.trigger(Trigger::Input);
            }
            _ => {
                if self.state.mind.cue.is_none() {
                    self.state.mind.edit(self.phase).cue =
                        Some(Cue { since: now, command: command.id, woke: None });
                }
                let sequence = self.tick.sequence - 1;
                self.tick.sources.push(sequence);
                self.fact(FactKind::CueNoticed, None, Evidence::Ok, sequence);
                self.trigger(Trigger::Cue);
            }
        }
    }

    /// Records a rejection (GD-39).
    pub(crate) fn refuse(&mut self, about: u64, reject: Reject) {
        self.emit(|| What::Refused { about, reject });
    }
}

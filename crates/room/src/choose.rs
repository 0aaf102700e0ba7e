//! Choice among candidates (RC-SEL-15 to RC-SEL-19, GD-42, GD-43): the window, the switching margin, and what the room
//! remembers to keep a choice from swinging or repeating.

use crate::draw::uniform;
use crate::kind::Kind;
use crate::profile::{Clock, Selection};

/// The layer that decides: the one with the highest priority that has a candidate (GD-38).
#[must_use]
pub fn highest<T: Ord>(tiers: impl Iterator<Item = T>) -> Option<T> {
    tiers.min()
}

/// A candidate in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighted {
    /// Its place in the list of scores.
    pub place: usize,
    /// Its weight: the constant less the gap to the best.
    pub weight: i64,
}

/// The candidates within the window of the best score (GD-42). `scores` are those of the admissible candidates, sorted by
/// the bytes of their ID.
#[must_use]
pub fn window(selection: &Selection, scores: &[i64]) -> Vec<Weighted> {
    let best = scores.iter().max().copied().unwrap_or_default();
    let gaps = scores.iter().enumerate().map(|(place, score)| (place, best - score));
    let inside = gaps.filter(|(_, gap)| *gap <= selection.window);
    inside.map(|(place, gap)| Weighted { place, weight: selection.weight - gap }).collect()
}

/// The candidate that a draw of stream 1 picks, by its place; nothing of an empty window.
#[must_use]
pub fn pick(window: &[Weighted], draw: u64) -> Option<usize> {
    let sum: i64 = window.iter().map(|candidate| candidate.weight).sum();
    let mut left = uniform(draw, sum.unsigned_abs()).cast_signed();
    for candidate in window {
        if left < candidate.weight {
            return Some(candidate.place);
        }
        left -= candidate.weight;
    }
    None
}

/// Whether another candidate may replace the running one (RC-SEL-15, RC-SEL-16): its dwell is over and it is better by the
/// margin. Safety, control rights, invalidation and a higher Tier do not ask.
#[inline]
#[must_use]
pub fn may_switch(clock: &Clock, dwelt: u64, continuation: i64, challenger: i64) -> bool {
    dwelt >= clock.intent_min_dwell.unsigned_abs() && challenger - continuation >= clock.switch_margin
}

/// Whether a novelty candidate without another source may start (GD-43): enough ticks since the start of the last one.
#[must_use]
pub fn novelty_due(selection: &Selection, last: Option<u64>, now: u64) -> bool {
    last.is_none_or(|last| now - last >= selection.novelty_pacing.unsigned_abs())
}

crate::names! {
    /// Families of ordinary behaviour (GD-60).
    pub enum BehaviourFamily {
        /// TurnTo, LookAt, Scan.
        Observe = "observe",
        /// WalkTo.
        Move = "move",
        /// PickUp, PutDown, Open, Close.
        Handle = "handle",
        /// Drink, Eat.
        Nourish = "nourish",
        /// Rest, Sleep.
        Restore = "restore",
        /// Repair, Create.
        Make = "make",
        /// Speak, Ask, Negotiate, Give, Receive.
        Social = "social",
        /// Evacuate, Protect, Idle, Wait: not ordinary.
        None = "none",
    }
}

impl BehaviourFamily {
    /// The family of an Interaction.
    #[must_use]
    pub fn of_kind(kind: Kind) -> BehaviourFamily {
        match kind {
            Kind::TurnTo | Kind::LookAt | Kind::Scan => BehaviourFamily::Observe,
            Kind::WalkTo => BehaviourFamily::Move,
            Kind::PickUp | Kind::PutDown | Kind::Open | Kind::Close => BehaviourFamily::Handle,
            Kind::Drink | Kind::Eat => BehaviourFamily::Nourish,
            Kind::Rest | Kind::Sleep => BehaviourFamily::Restore,
            Kind::Repair | Kind::Create => BehaviourFamily::Make,
            Kind::Speak | Kind::Ask | Kind::Negotiate | Kind::Give | Kind::Receive => BehaviourFamily::Social,
            Kind::Evacuate | Kind::Protect | Kind::Idle | Kind::Wait => BehaviourFamily::None,
        }
    }
}

crate::state! {
    /// What a choice is compared by: an Interaction and its object.
    #[derive(Copy, PartialOrd, Ord)]
    pub struct Behaviour {
        /// Which Interaction.
        pub kind: Kind,
        /// On which object.
        pub object: Option<u8>,
    }
}

crate::state! {
    /// A choice of Tier 3, and what became of it.
    pub struct Choice {
        /// What was chosen.
        pub behaviour: Behaviour,
        /// Its item was CLOSED with success.
        pub succeeded: bool,
        /// A new evidence cluster about its object has arrived since it was left.
        pub renewed: bool,
    }
}

crate::state! {
    /// A switch between two behaviours (GD-43).
    pub struct Switch {
        /// The smaller one of the pair.
        pub one: Behaviour,
        /// The larger one.
        pub other: Behaviour,
        /// When.
        pub tick: u64,
    }
}

crate::names! {
    /// What a repetition counter counts (GD-41).
    pub enum Dimension {
        /// The same Interaction on the same object.
        Instance = "instance",
        /// The same object.
        Object = "object",
        /// The same family of behaviour.
        Family = "family",
        /// The same service goal.
        Service = "service",
    }
}

crate::state! {
    /// A repetition counter; it decays by itself.
    pub struct Counter {
        /// What it counts.
        pub dimension: Dimension,
        /// Of which Interaction, for an instance.
        pub kind: Option<Kind>,
        /// Object, family of behaviour, or goal.
        pub subject: Option<u8>,
        /// Its value at `since`, µ.
        pub value: i64,
        /// Tick from which the decay is counted.
        pub since: u64,
    }
}

impl Counter {
    fn at(&self, selection: &Selection, now: u64) -> i64 {
        let ticks = i64::try_from(now - self.since).unwrap_or(i64::MAX);
        self.value.saturating_sub(selection.repetition_decay.saturating_mul(ticks)).max(0)
    }
}

/// One execution as repetition sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// What was done.
    pub behaviour: Behaviour,
    /// Family of the object.
    pub object_family: u8,
    /// Service goal.
    pub goal: u8,
    /// It has a Need, project, commitment or human source: it may be repeated.
    pub wanted: bool,
}

crate::state! {
    /// Executions of one kind in a row that nobody asked for (RC-XPG-12).
    pub struct Streak {
        /// Which Interaction.
        pub kind: Kind,
        /// On which family of objects.
        pub object_family: u8,
        /// How many.
        pub count: u32,
        /// Tick of the last one.
        pub last: u64,
    }
}

crate::state! {
    /// What the choice remembers. It is written on choices, completions and evidence only: counters and windows are
    /// computed when they are read.
    pub struct Memory {
        /// The last two different behaviours of Tier 3, the older one first.
        pub choices: Vec<Choice>,
        /// Switches of the window.
        pub switches: Vec<Switch>,
        /// Repetition counters.
        pub counters: Vec<Counter>,
        /// The running streak.
        pub streak: Option<Streak>,
    }
}

impl Memory {
    /// Nothing chosen yet.
    #[must_use]
    pub fn new() -> Memory {
        Memory { choices: Vec::new(), switches: Vec::new(), counters: Vec::new(), streak: None }
    }

    /// Tier 3 has chosen `behaviour`. True when that was a switch (GD-43): the last one was left without success, or this
    /// is a return to the one before it and nothing new is known.
    pub fn chosen(&mut self, selection: &Selection, behaviour: Behaviour, now: u64) -> bool {
        let Some(last) = self.choices.last().cloned() else {
            self.push(behaviour);
            return false;
        };
        if last.behaviour == behaviour {
            self.choices.last_mut().into_iter().for_each(|choice| choice.succeeded = false);
            return false;
        }
        let back = self.choices.len() > 1 && self.choices[0].behaviour == behaviour;
        let renewed = last.renewed || self.choices[0].renewed;
        let switch = !last.succeeded || (back && !renewed);
        if switch {
            let window = selection.alternation_window.unsigned_abs();
            self.switches.retain(|switch| now - switch.tick < window);
            let (one, other) = ordered(last.behaviour, behaviour);
            self.switches.push(Switch { one, other, tick: now });
        }
        self.push(behaviour);
        switch
    }

    fn push(&mut self, behaviour: Behaviour) {
        if self.choices.len() > 1 {
            self.choices.remove(0);
        }
        self.choices.push(Choice { behaviour, succeeded: false, renewed: false });
    }

    /// An execution was CLOSED with success: its counters rise (GD-41), its streak grows (GD-43).
    pub fn completed(&mut self, selection: &Selection, execution: &Execution, now: u64) {
        let behaviour = execution.behaviour;
        let last = self.choices.last_mut().filter(|choice| choice.behaviour == behaviour);
        last.into_iter().for_each(|choice| choice.succeeded = true);
        self.counters.retain(|counter| counter.at(selection, now) > 0);
        for (dimension, step) in steps(selection) {
            let (kind, subject) = key(dimension, execution);
            self.raise(selection, dimension, kind, subject, step, now);
        }
        if BehaviourFamily::of_kind(behaviour.kind) != BehaviourFamily::None {
            self.extend_streak(selection, execution, now);
        }
    }

    fn raise(
        &mut self,
        selection: &Selection,
        dimension: Dimension,
        kind: Option<Kind>,
        subject: Option<u8>,
        step: i64,
        now: u64,
    ) {
        let wanted = |counter: &&mut Counter| {
            (counter.dimension, counter.kind, counter.subject) == (dimension, kind, subject)
        };
        match self.counters.iter_mut().find(wanted) {
            Some(counter) => {
                counter.value = counter.at(selection, now) + step;
                counter.since = now;
            }
            None => self.counters.push(Counter { dimension, kind, subject, value: step, since: now }),
        }
    }

    fn extend_streak(&mut self, selection: &Selection, execution: &Execution, now: u64) {
        let count = if execution.wanted {
            None
        } else if self.in_streak(execution) {
            let held = self.streak.as_ref().filter(|streak| !over(selection, streak, now));
            Some(held.map_or(1, |streak| streak.count + 1))
        } else {
            Some(1)
        };
        self.streak = count.map(|count| Streak {
            kind: execution.behaviour.kind,
            object_family: execution.object_family,
            count,
            last: now,
        });
    }

    fn in_streak(&self, execution: &Execution) -> bool {
        self.streak.as_ref().is_some_and(|streak| {
            (streak.kind, streak.object_family) == (execution.behaviour.kind, execution.object_family)
        })
    }

    /// A new evidence cluster about an object: pairs with it are free again, and the streak is over.
    pub fn evidence(&mut self, object: u8) {
        let about = |behaviour: &Behaviour| behaviour.object == Some(object);
        self.switches.retain(|switch| !about(&switch.one) && !about(&switch.other));
        for choice in self.choices.iter_mut().filter(|choice| about(&choice.behaviour)) {
            choice.renewed = true;
        }
        self.streak = None;
    }

    /// Repetition of a candidate, not above 0: four counters, and the penalty for swinging back; capped together (GD-41,
    /// GD-43).
    #[must_use]
    pub fn repetition(&self, selection: &Selection, execution: &Execution, now: u64) -> i64 {
        let matches =
            |counter: &&Counter| (counter.kind, counter.subject) == key(counter.dimension, execution);
        let counted: i64 =
            self.counters.iter().filter(matches).map(|counter| counter.at(selection, now)).sum();
        let swinging = self.swings(selection, execution.behaviour, now)
            >= selection.alternation_penalty_at.unsigned_abs();
        let penalty = if swinging { selection.alternation_penalty } else { 0 };
        -(counted + penalty).min(selection.repetition)
    }

    /// Whether a candidate is out because of too many switches with the current behaviour (RC-SEL-19, GD-43).
    #[must_use]
    pub fn locked(&self, selection: &Selection, behaviour: Behaviour, now: u64) -> bool {
        self.swings(selection, behaviour, now) >= selection.alternation_lock.unsigned_abs()
    }

    /// Whether a candidate would be the fourth of its kind in a row (GD-43, RC-XPG-12).
    #[must_use]
    pub fn stopped(&self, selection: &Selection, execution: &Execution, now: u64) -> bool {
        let ordinary = BehaviourFamily::of_kind(execution.behaviour.kind) != BehaviourFamily::None;
        let full = self.streak.as_ref().is_some_and(|streak| {
            u64::from(streak.count) >= selection.repetition_stop.unsigned_abs()
                && !over(selection, streak, now)
        });
        ordinary && !execution.wanted && full && self.in_streak(execution)
    }

    /// Switches between a candidate and the current behaviour within the window.
    fn swings(&self, selection: &Selection, behaviour: Behaviour, now: u64) -> u64 {
        let Some(current) = self.choices.last().map(|choice| choice.behaviour) else { return 0 };
        let pair = ordered(current, behaviour);
        let window = selection.alternation_window.unsigned_abs();
        let recent = self.switches.iter().filter(|switch| now - switch.tick < window);
        recent.filter(|switch| (switch.one, switch.other) == pair).count() as u64
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}

/// The refusal of a streak is over.
fn over(selection: &Selection, streak: &Streak, now: u64) -> bool {
    now - streak.last >= selection.repetition_stop_hold.unsigned_abs()
}

fn ordered(one: Behaviour, other: Behaviour) -> (Behaviour, Behaviour) {
    if one <= other { (one, other) } else { (other, one) }
}

fn steps(selection: &Selection) -> [(Dimension, i64); 4] {
    [
        (Dimension::Instance, selection.repetition_instance),
        (Dimension::Object, selection.repetition_object),
        (Dimension::Family, selection.repetition_family),
        (Dimension::Service, selection.repetition_service),
    ]
}

/// The Interaction and subject that a counter of this dimension has for an execution.
fn key(dimension: Dimension, execution: &Execution) -> (Option<Kind>, Option<u8>) {
    let Behaviour { kind, object } = execution.behaviour;
    match dimension {
        Dimension::Instance => (Some(kind), object),
        Dimension::Object => (None, object),
        Dimension::Family => (None, Some(BehaviourFamily::of_kind(kind) as u8)),
        Dimension::Service => (None, Some(execution.goal)),
    }
}

#[cfg(test)]
mod tests;

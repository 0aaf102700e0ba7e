//! What is looked at in every tick of an interleaving of V05.

use super::v05_kinds::{AGAIN, Edit, Plan, With};
use crate::header::Header;
use crate::outcome::Outcome;
use room::Room;
use room::event::{Event, What};
use room::input::Command;
use room::item::{Item, Label, Phase};
use std::collections::BTreeMap;

/// Ticks that are looked at after the item is CLOSED.
const AFTER: u64 = 8;
/// Ticks after which an item must be CLOSED whatever comes between: waiting, BLOCKED, and cleaning.
const LIFE_MAX: u64 = 200;

/// The phase that what comes in now meets. A commit of one tick begins and ends in it.
pub(super) fn phase(room: &Room, item: u32) -> Option<Phase> {
    let item = room.state().queue.get(item)?;
    let row = room.profile().interaction.of(item.kind);
    let commits = row.part_at(item.running_tick(room.now()).cast_signed()).is_some();
    Some(if item.phase == Phase::Running && commits { Phase::Committed } else { item.phase })
}

/// One interleaving.
pub(super) struct Watch {
    item: u32,
    plan: Plan,
    start: Option<u64>,
    /// Ticks in the phase of the edit so far.
    in_phase: u64,
    /// Tick of the edit, and the phase of the item then.
    edited: Option<(u64, Phase)>,
    over: Option<u64>,
    last: Option<(Phase, Label)>,
    /// It was suspended when the edit came.
    spared: bool,
    deferred: bool,
    merged: bool,
    opposite: Option<bool>,
    ends: Ends,
    bad: Vec<(&'static str, &'static str, u64)>,
}

impl Watch {
    pub(super) fn new(item: u32, plan: Plan) -> Watch {
        Watch {
            item,
            plan,
            start: None,
            in_phase: 0,
            edited: None,
            over: None,
            last: None,
            spared: false,
            deferred: false,
            merged: false,
            opposite: None,
            ends: Ends::default(),
            bad: Vec::new(),
        }
    }

    pub(super) fn goes_on(&self, room: &Room) -> bool {
        let start = self.start.unwrap_or(room.now());
        let after = self.over.is_none_or(|over| room.now() < over + AFTER);
        after && room.now() < start + LIFE_MAX
    }

    /// What comes in at this tick.
    pub(super) fn commands(&mut self, room: &Room) -> Vec<Command> {
        let now = room.now();
        let start = *self.start.get_or_insert(now);
        let after = now.checked_sub(start + self.plan.act_at);
        let mut commands = after.map_or_else(Vec::new, |n| self.plan.acts(n, now));
        let phase = phase(room, self.item);
        if let Some(edit) =
            self.plan.edit().filter(|_| phase == Some(self.plan.phase) && self.edited.is_none())
        {
            if self.in_phase == self.plan.after {
                self.edited = Some((now, self.plan.phase));
                commands.push(edit);
            }
            self.in_phase += 1;
        }
        commands
    }

    pub(super) fn look(&mut self, room: &Room, header: &Header) {
        let state = room.state();
        let tick = state.now - 1;
        self.inputs(room, tick);
        let item = state.queue.get(self.item);
        if item.is_none() && self.over.is_none() {
            self.over = Some(tick);
        }
        if let Some(item) = item {
            self.last = Some((item.phase, item.label));
        }
        self.deferred |= !state.seen.deferred.is_empty();
        if let Some(code) = self.ends.look(room) {
            self.note("V05.3", code, tick);
        }
        self.edit_is_over(item, header, tick);
    }

    /// V05.1: channels in their order, the larger of two opposite numbers, and one of what is said twice.
    fn inputs(&mut self, room: &Room, tick: u64) {
        let taken = room.events().iter().filter_map(|event| match &event.what {
            What::Input(command) => Some((command.verb.way(), command.id)),
            _ => None,
        });
        if !taken.is_sorted() {
            self.note("V05.1", "order_of_channels", tick);
        }
        let acted = self.start.map(|start| start + self.plan.act_at);
        let merged = |event: &Event| matches!(event.what, What::Merged(_));
        self.merged |= room.events().iter().any(merged);
        if acted == Some(tick) && room.state().seen.deferred.is_empty() {
            self.opposite = self.opposite.or(self.plan.larger_stays(room));
            if self.opposite == Some(false) {
                self.note("V05.1", "smaller_number_stays", tick);
            }
        }
        let again = acted.map(|tick| tick + AGAIN) == Some(tick) && self.plan.with == With::Again;
        if again && !room.events().iter().any(merged) {
            self.note("V05.1", "repeated_act_not_merged", tick);
        }
    }

    /// V05.2: what was touched is not alive any more.
    fn edit_is_over(&mut self, item: Option<&Item>, header: &Header, tick: u64) {
        let Some((when, phase)) = self.edited else { return };
        let limit = header.number("edited").unwrap_or_default().cast_unsigned();
        // A teleport leaves what waits where it is.
        let alive = item.is_some_and(Item::alive);
        let waits = item.is_some_and(|item| item.phase == Phase::Suspended);
        self.spared |= waits && tick < when + limit;
        let touched = match self.plan.edit {
            Edit::None => false,
            Edit::Teleport => !self.spared && phase != Phase::Proposed && phase != Phase::Cleaning,
            Edit::Cancel | Edit::Reset => true,
        };
        if touched && alive && tick >= when + limit - 1 {
            self.note("V05.2", "edit_without_end", tick);
        }
    }

    fn note(&mut self, check: &'static str, code: &'static str, tick: u64) {
        if self.bad.iter().all(|bad| bad.1 != code) {
            self.bad.push((check, code, tick));
        }
    }

    pub(super) fn judge(mut self, room: &Room, outcome: &mut Outcome) {
        let end = room.now();
        if self.over.is_none() {
            self.note("V05.1", "never_closed", end);
        }
        let label = self.last.map(|last| last.1);
        if !room.checks().held() {
            self.note("V05.4", "invariant", end);
        }
        for check in ["V05.1", "V05.2", "V05.3", "V05.4"] {
            outcome.checked(check, u64::from(check != "V05.2" || self.edited.is_some()));
        }
        for (check, code, tick) in &self.bad {
            outcome.fail(check, Some(*tick), code);
        }
        if let Some((_, phase)) = self.edited {
            outcome.reach(&format!("{} in {}", self.plan.edit.word(), phase.name()));
        }
        let situations = [
            (label == Some(Label::Succeeded), "succeeded"),
            (label == Some(Label::Failed), "failed"),
            (self.deferred, "act waited for a commit"),
            (self.opposite.is_some(), "opposite acts"),
            (self.merged, "merged"),
        ];
        situations.iter().filter(|(there, _)| *there).for_each(|(_, situation)| outcome.reach(situation));
    }
}

/// V05.3, of every item: soft reservations are given back and ends are CLOSED in time.
#[derive(Default)]
pub(super) struct Ends {
    /// Since when an item is where it may hold nothing, or at its end.
    since: BTreeMap<u32, (u64, Phase)>,
}

impl Ends {
    /// After a tick: the first thing that is late.
    pub(super) fn look(&mut self, room: &Room) -> Option<&'static str> {
        let clock = &room.profile().clock;
        let tick = room.now() - 1;
        let mut late = None;
        for item in room.state().queue.all() {
            let (_, phase) = *self.since.get(&item.id).unwrap_or(&(tick, item.phase));
            if phase != item.phase || !self.since.contains_key(&item.id) {
                self.since.insert(item.id, (tick, item.phase));
            }
            let age = (tick - self.since[&item.id].0).cast_signed();
            let released = !item.reserved || age < clock.soft_release_max;
            match item.phase {
                Phase::Suspended | Phase::Blocked if !released => late = late.or(Some("reservation_kept")),
                Phase::Cleaning if age >= clock.terminal_to_closed_max => late = late.or(Some("not_closed")),
                _ => {}
            }
        }
        late
    }
}

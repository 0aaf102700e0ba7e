//! The stub of V04a: what it proposes, when its answer comes, what happens before that, and what is looked at.

use super::bed::cell;
use super::drive::Drive;
use crate::header::Header;
use crate::outcome::Outcome;
use room::Room;
use room::event::What;
use room::grid::Cell;
use room::input::{Command, Verb};
use room::item::{Goal, Label, Owner, Phase};
use room::kind::Kind;
use room::reject::Reject;
use room::state::SafetyMode;
use room::world::{Obj, Parent};

/// Numbers of commands: those of the fixture, of the preparation, and of the case.
const PREPARE: u64 = 50;
const EVENT: u64 = 100;
const ANSWER: u64 = 200;
/// The request.
const REQUEST: u64 = 7;
/// Ticks from the request to the event.
const EVENT_AFTER: u64 = 5;
/// Ticks that are looked at after the second delivery: time for the longest way and the longest fixed Interaction.
const AFTER: u64 = 80;
/// The resident.
const PERSON: u8 = 0;

/// What is proposed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    pub(super) kind: Kind,
    object: Option<Obj>,
    place: Option<Cell>,
    human: Option<u8>,
    /// What the hand must hold for it.
    holds: Option<Obj>,
}

impl Proposal {
    pub(super) fn of(kind: Kind) -> Proposal {
        let on = |object| Proposal { kind, object: Some(object), place: None, human: None, holds: None };
        let nothing = Proposal { kind, object: None, place: None, human: None, holds: None };
        let person = Proposal { human: Some(PERSON), ..nothing };
        match kind {
            Kind::LookAt | Kind::PickUp => on(Obj::Cup),
            Kind::PutDown => Proposal { holds: Some(Obj::Cup), ..on(Obj::Cup) },
            Kind::Give => Proposal { holds: Some(Obj::Cup), human: Some(PERSON), ..on(Obj::Cup) },
            Kind::Receive => Proposal { human: Some(PERSON), ..on(Obj::Cup) },
            Kind::Open | Kind::Close => on(Obj::Window),
            Kind::Drink => on(Obj::Dispenser),
            Kind::Eat => on(Obj::Pantry),
            Kind::Rest => on(Obj::Chair),
            Kind::Sleep => on(Obj::Bed),
            Kind::Repair => Proposal { holds: Some(Obj::Screwdriver), ..on(Obj::Radio) },
            Kind::Create => on(Obj::Workbench),
            Kind::WalkTo => Proposal { place: Some(cell((5, 10))), ..nothing },
            Kind::Speak | Kind::Ask | Kind::Negotiate => person,
            _ => nothing,
        }
    }

    /// Ordered by Safety alone: no proposer may name it.
    fn is_foreign(self) -> bool {
        matches!(self.kind, Kind::Evacuate | Kind::Protect)
    }

    /// The room in which it is a legal candidate.
    pub(super) fn before(self, spawn: Cell) -> Vec<Command> {
        let mut commands = vec![Command::new(1, Verb::Come).by(PERSON)];
        if let Some(object) = self.holds {
            commands.push(Command::new(3, Verb::Move).on(object).to(Parent::cell(spawn)));
        }
        match self.kind {
            Kind::Receive => commands.push(Command::new(2, Verb::Take).on(Obj::Cup).by(PERSON)),
            Kind::Close => commands.push(Command::new(2, Verb::SwitchOn).on(Obj::Window)),
            _ => {}
        }
        commands
    }

    fn answer(self, id: u64, asked: u64) -> Command {
        let mut answer = Command::new(id, Verb::Respond).doing(self.kind);
        answer.object = self.object;
        answer.cell = self.place;
        answer.human = self.human;
        answer.request = Some(REQUEST);
        answer.asked = Some(asked);
        answer
    }

    /// Something about the target changes: what can be carried is somewhere else, a person leaves, a cell is closed, and
    /// what stands becomes unusable. Without a target nothing about it can change.
    fn moved(self) -> Option<Command> {
        let id = EVENT;
        if self.human.is_some() {
            return Some(Command::new(id, Verb::Leave).by(PERSON));
        }
        if let Some(place) = self.place {
            return Some(Command::new(id, Verb::Block).at(place));
        }
        let object = self.object?;
        if self.holds == Some(object) {
            // What the hand holds is taken out of it by an edit only.
            return Some(Command::new(id, Verb::Reset).on(object));
        }
        Some(if object.movable() {
            Command::new(id, Verb::Move).on(object).to(Parent::with(Obj::Workbench))
        } else {
            Command::new(id, Verb::Break).on(object)
        })
    }
}

/// What happens between request and answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Moved,
    Danger,
    Canceled,
    Nothing,
}

/// An event, and whether the answer comes before the end of its request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) event: Event,
    pub(super) in_time: bool,
}

impl Case {
    pub(super) fn all() -> impl Iterator<Item = Case> {
        let events = [Event::Moved, Event::Danger, Event::Canceled, Event::Nothing];
        events.into_iter().flat_map(|event| [true, false].map(|in_time| Case { event, in_time }))
    }
}

/// Puts into the hand what the proposal needs, by a lease. True when it is there and the Agent decides again.
pub(super) fn prepare(drive: &mut Drive<'_>, proposal: Proposal) -> bool {
    let Some(object) = proposal.holds else {
        drive.step(&[]);
        return true;
    };
    let take = Command::new(PREPARE + 1, Verb::Command).doing(Kind::PickUp).on(object);
    let lease = drive.room.profile().clock.lab_lease.cast_unsigned();
    for tick in 0..lease {
        drive.step(&match tick {
            0 => vec![Command::new(PREPARE, Verb::LeaseRequest)],
            2 => vec![take.clone()],
            _ => vec![],
        });
        if drive.room.state().body.hand == Some(object) {
            break;
        }
    }
    drive.step(&[Command::new(PREPARE + 2, Verb::LeaseEnd)]);
    let most = drive.room.profile().clock.control_return_max;
    for _ in 0..most {
        let state = drive.room.state();
        if state.control.owner == Owner::Agent && state.queue.operator.is_empty() {
            break;
        }
        drive.step(&[]);
    }
    drive.room.state().body.hand == Some(object)
}

/// Where the body is when the danger is to break out.
pub(super) fn body_at_event(mut drive: Drive<'_>, proposal: Proposal) -> Option<Cell> {
    prepare(&mut drive, proposal);
    for _ in 0..=EVENT_AFTER {
        drive.step(&[]);
    }
    Some(drive.room.state().body.cell)
}

/// One case, from its request.
pub(super) struct Watch {
    proposal: Proposal,
    case: Case,
    asked: u64,
    /// Tick of the first delivery.
    due: u64,
    safe_by: i64,
    items_max: i64,
    /// Items with the number of an answer.
    items: Vec<u32>,
    carried_out: bool,
    /// Rejections of the two deliveries.
    rejected: [Option<Reject>; 2],
    idle: i64,
    longest_idle: i64,
    safe: Option<i64>,
    danger_at_answer: bool,
}

impl Watch {
    pub(super) fn new(room: &Room, header: &Header, proposal: Proposal, case: Case) -> Watch {
        let profile = room.profile();
        let asked = room.now();
        let row = profile.interaction.of(proposal.kind);
        let open_ended = matches!(proposal.kind, Kind::Rest | Kind::Sleep);
        let duration = if open_ended { row.minimum } else { row.wcet };
        let delay = header.number("delay").unwrap_or_default() * duration;
        let ttl = profile.clock.proposal_ttl;
        // Ten times the duration, on the side of the TTL that the case is about.
        let delay = if case.in_time { delay.min(ttl - 1) } else { delay.max(ttl) };
        Watch {
            proposal,
            case,
            asked,
            due: asked + delay.cast_unsigned(),
            safe_by: header.number("safe").unwrap_or_default(),
            items_max: header.number("items").unwrap_or_default(),
            items: Vec::new(),
            carried_out: false,
            rejected: [None; 2],
            idle: 0,
            longest_idle: 0,
            safe: None,
            danger_at_answer: false,
        }
    }

    /// Ticks of the case.
    pub(super) fn span(&self) -> u64 {
        self.due - self.asked + 1 + AFTER
    }

    /// What comes in at this tick.
    pub(super) fn commands(&self, room: &Room) -> Vec<Command> {
        let now = room.now();
        let event = match self.case.event {
            Event::Moved => self.proposal.moved(),
            Event::Danger => Some(Command::new(EVENT, Verb::Ignite)),
            Event::Canceled => Some(Command::new(EVENT, Verb::Cancel)),
            Event::Nothing => None,
        };
        let mut commands: Vec<Command> = event.filter(|_| now == self.onset()).into_iter().collect();
        if now == self.due || now == self.due + 1 {
            commands.push(self.proposal.answer(ANSWER + now - self.due, self.asked));
        }
        commands
    }

    fn onset(&self) -> u64 {
        self.asked + EVENT_AFTER
    }

    pub(super) fn look(&mut self, room: &Room, events: &[room::event::Event]) {
        let state = room.state();
        let tick = state.now - 1;
        for event in events {
            if let What::Refused { about, reject } = event.what
                && (ANSWER..ANSWER + 2).contains(&about)
            {
                self.rejected[(about - ANSWER) as usize] = Some(reject);
            }
        }
        if tick == self.due {
            self.danger_at_answer = state.safety.mode != SafetyMode::Clear;
        }
        for item in &state.queue.items {
            let ours = item.command.is_some_and(|command| command >= ANSWER);
            if ours && !self.items.contains(&item.id) {
                self.items.push(item.id);
            }
            self.carried_out |= ours && item.label == Label::Succeeded;
        }
        // Until the answer nothing waits for it.
        if tick < self.due {
            self.idle = if state.queue.active().is_some() { 0 } else { self.idle + 1 };
            self.longest_idle = self.longest_idle.max(self.idle);
        }
        self.safety(room, tick);
    }

    fn safety(&mut self, room: &Room, tick: u64) {
        let Some(source) = room.state().hidden.sources.get(1) else { return };
        let outside = source.cell.manhattan(room.state().body.cell) > room.profile().safety.danger_radius;
        if tick >= self.onset() && outside && self.safe.is_none() {
            self.safe = Some((tick - self.onset()).cast_signed());
        }
    }

    /// What must become of the first delivery.
    fn expected(&self) -> Option<Reject> {
        match self.case.event {
            _ if self.proposal.is_foreign() => Some(Reject::UnknownId),
            _ if !self.case.in_time => Some(Reject::TtlExpired),
            Event::Danger => Some(Reject::DeadlineSafety),
            Event::Canceled => Some(Reject::VersionStale),
            Event::Moved if self.proposal.moved().is_some() => Some(self.changed()),
            _ => None,
        }
    }

    /// A closed cell has no version: the way there is what is missing.
    fn changed(&self) -> Reject {
        if self.proposal.place.is_some() { Reject::PathUnknown } else { Reject::VersionStale }
    }

    pub(super) fn judge(&self, drive: &mut Drive<'_>) {
        let at = Some(self.due);
        let most = drive.room.profile().clock.pending_max;
        let open = drive.room.state().queue.items.iter().filter(|item| item.goal == Goal::Want);
        let late = open.filter(|item| item.phase != Phase::Closed).any(|item| item.command.is_none());
        let outcome = &mut drive.outcome;
        let expected = self.expected();
        let queued = self.items.len() as i64;
        outcome.require("V04a.1", self.rejected[0] == expected, at, "answer");
        outcome.require("V04a.2", self.longest_idle <= most, at, "waited");
        outcome.require("V04a.2", expected.is_none() == (queued > 0), at, "queued");
        outcome.require("V04a.2", !late, at, "queued_without_number");
        outcome.require("V04a.3", queued <= self.items_max, at, "queued_twice");
        let foreign = self.proposal.is_foreign() && self.rejected[1] == Some(Reject::UnknownId);
        let again = foreign || self.rejected[1] == Some(Reject::ClusterDuplicate);
        outcome.require("V04a.3", again, Some(self.due + 1), "second_delivery");
        if self.case.event == Event::Danger {
            let safe = self.safe.is_some_and(|safe| safe <= self.safe_by);
            outcome.require("V04a.2", safe, at, "safe_set");
        }
        self.reached(outcome, expected);
    }

    fn reached(&self, outcome: &mut Outcome, expected: Option<Reject>) {
        let situations = [
            (!self.items.is_empty(), "answer queued"),
            (self.carried_out, "answer carried out"),
            (expected == Some(Reject::TtlExpired), "late answer"),
            (self.danger_at_answer && self.case.in_time, "answer in a danger"),
            (
                self.case.in_time && self.case.event == Event::Moved && expected.is_some(),
                "answer about what has changed",
            ),
            (self.case.in_time && self.case.event == Event::Canceled, "answer to what was withdrawn"),
            (self.rejected[1].is_some(), "second delivery"),
            (self.case.event == Event::Danger && self.safe.is_some(), "Safety episode"),
        ];
        situations.iter().filter(|(there, _)| *there).for_each(|(_, situation)| outcome.reach(situation));
    }
}

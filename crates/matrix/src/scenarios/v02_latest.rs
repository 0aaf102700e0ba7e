//! V02.5: the primary starts at its latest legal tick and fails at its commit point.

use super::Rooms;
use super::drive::Drive;
use super::v02_room::{FIRST_COMMAND, Service, alive, under_way};
use crate::outcome::Outcome;
use crate::scenario::Context;
use crate::unit::Unit;
use room::input::{Command, Verb};
use room::item::{Evidence, Item, Label, Owner, Phase, Tier};
use room::kind::Kind;
use room::setup::RunMode;
use room::state::{Channel, ControlMode};

/// One run: which part of the primary fails, and for how many ticks a lease holds the body before.
#[derive(Clone, Copy)]
struct Case {
    part: usize,
    lease: Option<i64>,
}

/// Ticks of a lease before the latest start, from the first running tick of the Wait that it commands on. Anything longer
/// is not admitted so near to the deadline (GD-33).
const LEASES: std::ops::Range<i64> = 4..12;

/// Every part that can fail, each from an idle body and from one that a lease holds.
pub(super) fn latest(unit: &Unit, context: &Context<'_, Rooms>, channel: &str) -> Outcome {
    let profile = &context.world.profile;
    let service = Service::of(channel, profile);
    let parts = if service.channel == Channel::Calories { profile.interaction.eat_parts.len() } else { 1 };
    let mut outcome = Outcome::new(unit);
    for part in 0..parts {
        for lease in std::iter::once(None).chain(LEASES.map(Some)) {
            one(unit, context, &service, Case { part, lease }).add_to(&mut outcome);
        }
    }
    outcome
}

fn one<'a>(unit: &Unit, context: &Context<'a, Rooms>, service: &Service, case: Case) -> Drive<'a> {
    let profile = &context.world.profile;
    let start = case.lease.unwrap_or(0);
    let from = if case.lease.is_some() { service.beside_primary() } else { service.start() };
    let mut setup = service.far(unit, context, from, service.latest_level(profile) + service.rate * start);
    setup.mode = RunMode::Lab;
    if case.part == 0 && service.channel != Channel::Energy {
        // It does not work, and only trying shows that.
        setup.fixture.before.push(Command::new(FIRST_COMMAND - 1, Verb::Damage).on(service.primary));
    }
    let mut drive = Drive::start(unit, context, setup);
    let mut own = Outcome::new(unit);
    service.check_layout(&drive.room, &mut own);
    drive.outcome = own;
    let mut seen = Seen::default();
    // The danger time of the latest start. Sleep moves it away, so that there the level itself is the end.
    let danger = (start + service.margin(profile)).cast_unsigned();
    let sleeps = service.channel == Channel::Energy;
    while (sleeps || drive.room.now() <= danger) && seen.done.is_none() && !seen.crossed {
        let commands = commands(&drive, service, case);
        drive.step(&commands);
        seen.look(&drive, service);
    }
    seen.judge(&mut drive, service, case, danger);
    drive
}

/// What comes in: the lease and its one command, and what makes a later part or the bed fail.
fn commands(drive: &Drive<'_>, service: &Service, case: Case) -> Vec<Command> {
    let now = drive.room.now();
    let id = FIRST_COMMAND + now;
    let mut commands = Vec::new();
    let handshake = drive.room.profile().clock.lab_handshake.cast_unsigned();
    if case.lease.is_some() && now == 0 {
        commands.push(Command::new(id, Verb::LeaseRequest));
    } else if case.lease.is_some() && now == handshake + 1 {
        commands.push(Command::new(id, Verb::Command).doing(Kind::Wait));
    }
    let primary = alive(&drive.room, service.goal()).find(|item| item.target == Some(service.primary));
    let Some(item) = primary.filter(|item| item.phase == Phase::Running) else { return commands };
    let interaction = &drive.room.profile().interaction;
    let due = |tick: i64| item.running_tick(now).cast_signed() == tick;
    let more = Command::new(
        id + FIRST_COMMAND,
        if service.channel == Channel::Energy { Verb::Break } else { Verb::Damage },
    );
    let fails = match service.channel {
        // The first check of Sleep is as good as a commit (GD-33).
        Channel::Energy => due(interaction.sleep_check),
        Channel::Calories if case.part > 0 => due(interaction.eat_parts[case.part] - 1),
        _ => false,
    };
    if fails {
        commands.push(more.on(service.primary));
    }
    commands
}

#[derive(Default)]
struct Seen {
    /// The first item for the channel: number, tick, tier.
    first: Option<(u32, u64, Tier)>,
    /// How it ended: running tick, label, evidence.
    failed: Option<(u64, Label, Evidence)>,
    /// Tick at which the backup was done, or let the body rest.
    done: Option<u64>,
    queued: usize,
    crossed: bool,
    /// The lease had its item on the body in the tick before the first item.
    held: bool,
    holding: bool,
}

impl Seen {
    fn look(&mut self, drive: &Drive<'_>, service: &Service) {
        let room = &drive.room;
        let state = room.state();
        let tick = state.now - 1;
        self.queued = self.queued.max(under_way(room, service.goal()));
        self.crossed |= state.levels.of(service.channel) < room.profile().regulation.danger_enter;
        let item = state.queue.items.iter().find(|item| item.goal == service.goal());
        if let Some(item) = item.filter(|_| self.first.is_none()) {
            self.first = Some((item.id, tick, item.tier));
            self.held = self.holding;
        }
        self.holding = state.control.mode == ControlMode::OperatorLease
            && state.queue.active().is_some_and(|item| item.owner == Owner::Operator);
        let first = self.first.and_then(|(id, ..)| state.queue.get(id));
        if let Some(item) = first.filter(|item| self.failed.is_none() && !item.alive()) {
            self.failed = Some((item.running_tick(tick), item.label, item.evidence));
        }
        let backup = |item: &&Item| item.kind == service.backup_kind() && item.target == Some(service.backup);
        let done = state.queue.items.iter().find(backup).is_some_and(|item| match service.channel {
            Channel::Energy => item.phase == Phase::Running,
            _ => item.label == Label::Succeeded,
        });
        if done && self.done.is_none() {
            self.done = Some(tick);
        }
    }

    fn judge(&self, drive: &mut Drive<'_>, service: &Service, case: Case, danger: u64) {
        let start = case.lease.unwrap_or(0).cast_unsigned();
        let at = Some(drive.room.now());
        let hand_back = drive.room.profile().clock.nonpreempt_max.cast_unsigned();
        let left =
            drive.room.state().levels.of(service.channel) - drive.room.profile().regulation.danger_enter;
        let left = left / service.rate;
        let outcome = &mut drive.outcome;
        // From an idle body in the very tick; from a lease in the next, when the body is the Agent's again.
        let begun = self.first.is_some_and(|(_, tick, tier)| {
            tier == Tier::T1 && (start..=start + if start > 0 { hand_back } else { 0 }).contains(&tick)
        });
        outcome.require("V02.5", begun, at, "not_at_the_latest_start");
        let evidence = self.failed.map(|(_, label, evidence)| (label, evidence));
        let failed = evidence == Some((Label::Failed, Evidence::NoEffect));
        // After a lease it is later than the latest start: the guaranteed way comes first, and is as far away.
        outcome.require("V02.5", failed || case.lease.is_some(), at, "primary_did_not_fail");
        // What was eaten before the failure is as good as the backup.
        let fed = case.part > 0 && !self.crossed;
        let sleeps = service.channel == Channel::Energy;
        let in_time = self.done.is_some_and(|done| sleeps || done < danger);
        outcome.require("V02.5", in_time || fed, at, "backup_too_late");
        outcome.require("V02.5", !self.crossed, at, "crossed");
        outcome.require("V02.2", self.queued <= 1, at, "queued_in_a_row");
        if failed {
            outcome.reach("failed at the commit");
        }
        if self.held {
            outcome.reach("lease at the latest start");
        }
        if let Some(done) = self.done {
            outcome.reach("backup used");
            outcome.count(
                &format!("slack_{}", service.channel.name()),
                if sleeps { left } else { danger.cast_signed() - done.cast_signed() },
            );
        }
    }
}

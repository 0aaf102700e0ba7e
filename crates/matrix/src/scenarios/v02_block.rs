//! V02.4: the primary becomes unusable at each tick of a phase.

use super::Rooms;
use super::drive::{Drive, Fork};
use super::v02_room::{FIRST_COMMAND, Service, alive, stock, under_way};
use crate::outcome::Outcome;
use crate::scenario::Context;
use crate::unit::Unit;
use room::Room;
use room::input::{Command, Verb};
use room::item::Phase;
use room::kind::Kind;
use room::state::{Channel, Controllable};

/// The phases that are blocked, by their names in the arms.
pub(super) const PHASES: [&str; 3] = ["pending", "preparing", "running"];

fn phase_of(name: &str) -> Phase {
    match name {
        "pending" => Phase::Pending,
        "preparing" => Phase::Preparing,
        _ => Phase::Running,
    }
}

/// Forks at each tick at which the primary is in a phase, and blocks it there.
pub(super) fn block(
    unit: &Unit,
    context: &Context<'_, Rooms>,
    channel: &str,
    phase: &str,
    backup: bool,
) -> Outcome {
    let profile = &context.world.profile;
    let service = Service::of(channel, profile);
    let level = service.latest_level(profile);
    let setup = if backup {
        service.far(unit, context, service.start(), level)
    } else {
        service.near(unit, context, level, false)
    };
    let mut drive = Drive::start(unit, context, setup);
    let most = segment(&drive, &service);
    let (mut forks, mut over) = (0, false);
    while !over && forks < most {
        drive.step(&[]);
        let item = alive(&drive.room, service.goal()).next();
        let there = item.is_some_and(|item| item.target == Some(service.primary));
        let now = item.map(|item| if item.phase == Phase::Committed { Phase::Running } else { item.phase });
        if there && now == Some(phase_of(phase)) {
            forks += 1;
            fork(&mut drive, &service, backup, forks);
        }
        over = !there || (forks > 0 && now != Some(phase_of(phase)));
    }
    drive.outcome.require("V02.4", forks > 0, Some(drive.room.now()), "phase_not_reached");
    drive.outcome.count("forks", forks.cast_signed());
    drive.finish()
}

/// Ticks of the phase that are blocked: all, of Sleep its shortest segment. After that it may end at every check.
fn segment(drive: &Drive<'_>, service: &Service) -> u64 {
    let interaction = &drive.room.profile().interaction;
    let sleep = service.channel == Channel::Energy;
    let most = if sleep { interaction.of(Kind::Sleep).minimum } else { interaction.of(Kind::Eat).maximum };
    most.max(drive.room.profile().clock.preparing_max).cast_unsigned()
}

fn fork(drive: &mut Drive<'_>, service: &Service, backup: bool, number: u64) {
    let mut fork = drive.fork(number, service.margin(drive.room.profile()).cast_unsigned());
    let before = Level::of(&fork.room, service);
    fork.step(&[Command::new(FIRST_COMMAND, Verb::Break).on(service.primary)]);
    if backup {
        with_backup(&mut fork, service, before, &mut drive.outcome);
    } else {
        without_backup(&mut fork, service, before, &mut drive.outcome);
    }
    fork.finish(&mut drive.outcome);
}

/// A channel before the block.
#[derive(Clone, Copy)]
struct Level {
    level: i64,
    primary: u32,
    backup: u32,
}

impl Level {
    fn of(room: &Room, service: &Service) -> Level {
        Level {
            level: room.state().levels.of(service.channel),
            primary: stock(room, service.primary),
            backup: stock(room, service.backup),
        }
    }
}

/// The backup is on the body and its effect is there, before the level crosses the danger threshold.
fn with_backup(fork: &mut Fork, service: &Service, before: Level, outcome: &mut Outcome) {
    let danger = fork.room.profile().regulation.danger_enter;
    // The tick in which the level would be below it by itself.
    let horizon = (before.level - danger) / service.rate + 1;
    let (mut effect, mut lowest, mut queued) = (None, before.level, 0);
    for tick in 1..=horizon {
        let level = fork.room.state().levels.of(service.channel);
        lowest = lowest.min(level);
        queued = queued.max(under_way(&fork.room, service.goal()));
        if effect.is_none() && served(&fork.room, service, before) {
            effect = Some(tick);
            break;
        }
        fork.step(&[]);
    }
    let at = Some(fork.room.now());
    outcome.require("V02.4", effect.is_some(), at, "no_backup_effect");
    outcome.require("V02.4", lowest >= danger, at, "crossed");
    outcome.require("V02.2", queued <= 1, at, "queued_in_a_row");
    let pending = &fork.room.state().pending.list;
    let stale = pending.iter().any(|p| fork.room.state().queue.get(p.item).is_none());
    outcome.require("V02.4", !stale, at, "pending_effect_without_item");
    if let Some(tick) = effect {
        outcome
            .count("slack", (horizon - tick).min(outcome.counts.get("slack").copied().unwrap_or(i64::MAX)));
        let by_primary = stock(&fork.room, service.primary) < before.primary;
        outcome.reach(if by_primary { "primary done before the block" } else { "backup used" });
    }
}

/// An effect arrived: a portion is gone, or the backup lets the body rest.
fn served(room: &Room, service: &Service, before: Level) -> bool {
    let used = stock(room, service.backup) < before.backup || stock(room, service.primary) < before.primary;
    let resting = room.state().queue.active().is_some_and(|item| {
        item.kind == service.backup_kind()
            && item.target == Some(service.backup)
            && item.phase == Phase::Running
    });
    used || (service.channel == Channel::Energy && resting)
}

/// The record is open in time and before the level crosses the threshold, or the effect was there already.
fn without_backup(fork: &mut Fork, service: &Service, before: Level, outcome: &mut Outcome) {
    let profile = std::sync::Arc::clone(fork.room.profile());
    let regulation = &profile.regulation;
    let n = service.channel.index();
    let mut opened = None;
    let mut queued = 0;
    for tick in 1..=regulation.uncontrollable_max_delay {
        queued = queued.max(under_way(&fork.room, service.goal()));
        if fork.room.state().regulation.record[n].since.is_some() {
            opened = Some(tick);
            break;
        }
        fork.step(&[]);
    }
    let state = fork.room.state();
    let level = state.levels.of(service.channel);
    // Drink is done with its one portion: the channel is not short any more.
    let high = level > regulation.warning_exit;
    let at = Some(state.now);
    outcome.require("V02.4", opened.is_some() || high, at, "record_not_opened");
    outcome.require("V02.4", level >= regulation.danger_enter, at, "crossed");
    let flag = state.regulation.control[n];
    outcome.require("V02.4", flag != Controllable::Yes, at, "controllable_without_a_way");
    outcome.require("V02.2", queued <= 1, at, "queued_in_a_row");
    if opened.is_some() {
        outcome.reach("record opened");
    }
    if stock(&fork.room, service.primary) < before.primary {
        outcome.reach("primary done before the block");
    }
}

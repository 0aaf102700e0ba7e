//! V02.1 to V02.3: one item a channel until it has settled, and nothing stale after that.

use super::Rooms;
use super::drive::Drive;
use super::v02_room::{FIRST_COMMAND, Service, alive, stock, under_way};
use crate::scenario::Context;
use crate::unit::Unit;
use room::fixed::ONE;
use room::input::{Command, Verb};
use room::item::{Label, Phase};
use room::kind::Kind;
use room::setup::RunMode;
use room::world::{Obj, Parent};

/// Something happens in every tick, so that every tick has a decision: the plant is moved along these columns of row 0.
const PLANT: std::ops::Range<i64> = 7..15;

/// Tick of the latest start of the suspended primary, and the one in which the lease is asked for: it is preparing then.
const LATEST: i64 = 8;
const LEASE: u64 = 3;

fn distraction(tick: u64) -> Command {
    let columns = (PLANT.end - PLANT.start).cast_unsigned();
    let x = PLANT.start + (tick % columns).cast_signed();
    Command::new(FIRST_COMMAND + tick, Verb::Move).on(Obj::Plant).to(Parent::cell(super::bed::cell((x, 0))))
}

/// V02.1 and V02.2: a slow item on its way, the level low until it settles.
pub(super) fn queue<'a>(unit: &Unit, context: &Context<'a, Rooms>, channel: &str) -> Drive<'a> {
    let profile = &context.world.profile;
    let service = Service::of(channel, profile);
    let level = service.latest_level(profile);
    let mut drive = Drive::start(unit, context, service.far(unit, context, service.start(), level));
    let most = profile.interaction.sleep_max.cast_unsigned();
    let (mut ids, mut settled) = (Vec::new(), false);
    while drive.room.now() < most && !settled {
        let tick = drive.room.now();
        drive.step(&[distraction(tick)]);
        let queue = &drive.room.state().queue;
        for item in queue.items.iter().filter(|item| item.goal == service.goal()) {
            if !ids.contains(&item.id) {
                ids.push(item.id);
            }
            settled |= item.label == Label::Succeeded;
        }
        let queued = under_way(&drive.room, service.goal());
        drive.outcome.require("V02.2", queued <= 1, Some(tick), "queued_in_a_row");
    }
    let at = Some(drive.room.now());
    drive.outcome.require("V02.1", settled, at, "not_settled");
    drive.outcome.require("V02.1", ids.len() == 1, at, "more_than_one_item");
    let transactions = u64::from(drive.room.state().mind.transactions);
    drive.outcome.require("V02.2", transactions + 1 >= drive.room.now(), at, "no_decision_in_every_tick");
    if settled {
        drive.outcome.reach("slow item settled");
    }
    drive
}

/// The item of the primary has succeeded in this tick.
fn settled(drive: &Drive<'_>, service: &Service) -> bool {
    let items = &drive.room.state().queue.items;
    items.iter().any(|item| item.goal == service.goal() && item.label == Label::Succeeded)
}

/// Nothing that waited is left in the tick in which the other one settled.
fn after(drive: &mut Drive<'_>, service: &Service, waited: Option<u32>) {
    let at = Some(drive.room.now());
    let done = settled(drive, service);
    let left = alive(&drive.room, service.goal()).count();
    let label = waited.and_then(|id| drive.room.state().queue.get(id)).map(|item| item.label);
    drive.outcome.require("V02.3", waited.is_some(), at, "nothing_waited");
    drive.outcome.require("V02.3", done, at, "not_settled");
    drive.outcome.require("V02.3", left == 0, at, "stale_item_left");
    drive.outcome.require("V02.3", label == Some(Label::Canceled), at, "not_canceled");
    if label == Some(Label::Canceled) {
        drive.outcome.reach("stale item canceled");
    }
}

/// V02.3: a lease suspends the preparation of the primary until after its latest start. Then the backup comes first, and when it
/// has settled the primary is not wanted any more.
pub(super) fn suspended<'a>(unit: &Unit, context: &Context<'a, Rooms>, channel: &str) -> Drive<'a> {
    let profile = &context.world.profile;
    let service = Service::of(channel, profile);
    let level = service.latest_level(profile) + service.rate * LATEST;
    let mut setup = service.near(unit, context, level, true);
    setup.mode = RunMode::Lab;
    let mut drive = Drive::start(unit, context, setup);
    let mut waited = None;
    for tick in 0..profile.clock.blocked_max.cast_unsigned() {
        let request = Command::new(FIRST_COMMAND, Verb::LeaseRequest);
        drive.step(if tick == LEASE { std::slice::from_ref(&request) } else { &[] });
        let item = alive(&drive.room, service.goal()).find(|item| item.phase == Phase::Suspended);
        waited = waited.or(item.filter(|item| item.unstarted).map(|item| item.id));
        let queued = under_way(&drive.room, service.goal());
        drive.outcome.require("V02.2", queued <= 1, Some(tick), "queued_in_a_row");
        if settled(&drive, &service) {
            break;
        }
    }
    if waited.is_some() {
        drive.outcome.reach("suspended preparation");
    }
    after(&mut drive, &service, waited);
    drive
}

/// V02.2: what is on its way is canceled again and again; nothing follows it before it is CLOSED (GD-36).
pub(super) fn canceled<'a>(unit: &Unit, context: &Context<'a, Rooms>, channel: &str) -> Drive<'a> {
    let profile = &context.world.profile;
    let service = Service::of(channel, profile);
    let mut setup = service.near(unit, context, profile.regulation.danger_exit, true);
    setup.mode = RunMode::Lab;
    let mut drive = Drive::start(unit, context, setup);
    let mut cancels = 0;
    for tick in 0..profile.clock.blocked_max.cast_unsigned() {
        let preparing = alive(&drive.room, service.goal()).any(|item| item.phase == Phase::Preparing);
        let cancel = Command::new(FIRST_COMMAND + tick, Verb::Cancel);
        cancels += u64::from(preparing);
        drive.step(if preparing { std::slice::from_ref(&cancel) } else { &[] });
        let items = &drive.room.state().queue.items;
        let open = items.iter().filter(|item| item.goal == service.goal()).count();
        drive.outcome.require("V02.2", open <= 1, Some(tick), "queued_before_closed");
    }
    drive.outcome.require("V02.2", cancels > 1, Some(drive.room.now()), "not_canceled_again");
    drive.outcome.reach("canceled on its way");
    drive
}

/// V02.3: two answers of a proposer wait behind the service, and follow it in the order in which they came (GD-20 edge 2).
pub(super) fn order<'a>(unit: &Unit, context: &Context<'a, Rooms>, channel: &str) -> Drive<'a> {
    let profile = &context.world.profile;
    let service = Service::of(channel, profile);
    let mut drive =
        Drive::start(unit, context, service.near(unit, context, service.latest_level(profile), true));
    let (mut ids, mut started) = (Vec::new(), Vec::new());
    for tick in 0..profile.clock.blocked_max.cast_unsigned() {
        let answers = ANSWERS.iter().filter(|at| **at == tick).map(|at| answer(*at));
        let answers: Vec<Command> = answers.collect();
        drive.step(&answers);
        for item in drive.room.state().queue.items.iter().filter(|item| item.command.is_some()) {
            if !ids.contains(&item.id) {
                ids.push(item.id);
            }
            if item.phase.on_body() && !started.contains(&item.id) {
                started.push(item.id);
            }
        }
        let queued = under_way(&drive.room, service.goal());
        drive.outcome.require("V02.2", queued <= 1, Some(tick), "queued_in_a_row");
    }
    let at = Some(drive.room.now());
    drive.outcome.require("V02.3", ids.len() == ANSWERS.len() && ids == started, at, "order_of_what_waited");
    drive.outcome.reach("two waited");
    drive
}

/// Ticks of two answers.
const ANSWERS: [u64; 2] = [3, 5];

fn answer(tick: u64) -> Command {
    let mut answer = Command::new(FIRST_COMMAND + tick, Verb::Respond).doing(Kind::Scan);
    answer.request = Some(tick);
    answer.asked = Some(tick - 1);
    answer
}

/// Ticks from the request of a lease to its first command, and between its commands.
const HELD: u64 = 5;

/// V02.1: a service that settles at a level that is high already fills it up and no further; the portion is gone (GD-27).
pub(super) fn waste<'a>(unit: &Unit, context: &Context<'a, Rooms>, channel: &str) -> Drive<'a> {
    let profile = &context.world.profile;
    let service = Service::of(channel, profile);
    let mut setup = service.near(unit, context, ONE, true);
    setup.mode = RunMode::Lab;
    setup.fixture.spawn = Some(service.beside_primary());
    let mut drive = Drive::start(unit, context, setup);
    let stocked = stock(&drive.room, service.primary);
    let mut highest = 0;
    for tick in 0..profile.clock.negotiating_max.cast_unsigned() {
        let id = FIRST_COMMAND + tick;
        let serve = Command::new(id, Verb::Command).doing(service.backup_kind()).on(service.primary);
        let command = match tick {
            0 => Some(Command::new(id, Verb::LeaseRequest)),
            HELD => Some(serve),
            // The holder of a lease that says nothing has lost it.
            tick if tick % HELD == 0 => Some(Command::new(id, Verb::Command).doing(Kind::Wait)),
            _ => None,
        };
        drive.step(command.as_slice());
        highest = highest.max(drive.room.state().levels.of(service.channel));
    }
    let at = Some(drive.room.now());
    let used = stock(&drive.room, service.primary) < stocked;
    let waste = drive.room.state().regulation.waste;
    drive.outcome.require("V02.1", highest <= ONE, at, "beyond_its_domain");
    drive.outcome.require("V02.1", used && waste > 0, at, "no_waste");
    drive.outcome.require("V02.2", under_way(&drive.room, service.goal()) == 0, at, "queued_in_a_row");
    drive.outcome.reach("waste");
    drive
}

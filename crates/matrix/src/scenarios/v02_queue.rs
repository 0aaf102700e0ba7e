//! V02.1 to V02.3: one item a channel until it has settled, and nothing stale after that.

use super::Rooms;
use super::drive::Drive;
use super::v02_room::{FIRST_COMMAND, Service, alive, under_way};
use crate::scenario::Context;
use crate::unit::Unit;
use room::input::{Command, Verb};
use room::item::{Label, Phase};
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

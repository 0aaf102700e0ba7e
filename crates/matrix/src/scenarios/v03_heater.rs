//! V03 with the hazard device: the entry threshold is met exactly, a second danger comes before the first is over, and a body
//! that cannot get away is harmed once.

use super::Rooms;
use super::bed::{FIRST_COMMAND, cell};
use super::drive::{setup, take_checks};
use crate::outcome::Outcome;
use crate::scenario::Context;
use crate::unit::Unit;
use room::event::What;
use room::fixed::ONE;
use room::input::{Command, Verb};
use room::profile::Profile;
use room::setup::{Hazard, RunMode};
use room::state::SafetyMode;
use room::world::{Obj, Stage};
use room::{Listen, Room};
use std::sync::Arc;

/// A walled-in place beside the heater, and what closes it.
const BESIDE: (i64, i64) = (13, 3);
const CLOSED: [(i64, i64); 3] = [(12, 3), (14, 3), (13, 2)];

/// A room whose heater has a fault and is on from the first tick.
fn room(unit: &Unit, context: &Context<'_, Rooms>, walled: bool, hazard: Option<Hazard>) -> Option<Room> {
    let mut setup = setup(unit, context);
    setup.mode = RunMode::Lab;
    setup.fixture.hazard = hazard;
    let mut before = vec![Command::new(1, Verb::Fault), Command::new(2, Verb::SwitchOn).on(Obj::Heater)];
    if walled {
        setup.fixture.spawn = Some(cell(BESIDE));
        before.extend(CLOSED.iter().zip(3..).map(|(at, id)| Command::new(id, Verb::Block).at(cell(*at))));
    }
    setup.fixture.before = before;
    let mut room = Room::new(Arc::clone(&context.world.profile), setup).ok()?;
    (context.world.prepare)(&mut room);
    Some(room)
}

/// Ticks until the heater overheats.
fn until_hot(profile: &Profile) -> u64 {
    profile.safety.heater_fault_delay.cast_unsigned()
}

/// All three.
pub(super) fn heater(unit: &Unit, context: &Context<'_, Rooms>, outcome: &mut Outcome) {
    let [x, y] = context.world.profile.fixture.v03_source;
    let far = context.world.profile.fixture.v03_fork.cast_unsigned() * 2;
    let hazard = Hazard { cell: cell((x, y)), ttc: far, visible: true, controllable: true };
    let rooms = [room(unit, context, false, None), room(unit, context, false, Some(hazard))];
    if let [Some(alone), Some(two)] = rooms {
        threshold(alone, outcome);
        again(two, context, outcome);
    } else {
        outcome.require("V03.2", false, None, "heater_refused");
    }
    if let Some(walled) = room(unit, context, true, None) {
        harmed_once(walled, outcome);
    }
}

/// The risk at the onset is the entry threshold itself, and that is enough (GD-12, GD-23).
fn threshold(mut room: Room, outcome: &mut Outcome) {
    let profile = Arc::clone(room.profile());
    while room.state().hidden.sources[0].stage != Stage::Overheat && room.now() <= until_hot(&profile) + 1 {
        let before = room.state().safety.mode;
        outcome.checked("V03.2", 1);
        if before != SafetyMode::Clear {
            outcome.fail("V03.2", Some(room.now()), "entry_without_danger");
        }
        room.step(&[]);
    }
    let exact = room.state().hidden.sources[0].risk == profile.safety.alert_enter;
    let entered = room.state().safety.mode != SafetyMode::Clear;
    outcome.require("V03.2", exact && entered, Some(room.now()), "entry_at_the_threshold");
    outcome.ticks += room.now();
    take_checks(outcome, &room);
}

/// The heater overheats while the body recovers from the other danger: one episode, one entry, one call for help.
fn again(mut room: Room, context: &Context<'_, Rooms>, outcome: &mut Outcome) {
    let profile = Arc::clone(room.profile());
    // RECOVERY begins two ticks before that.
    let series = profile.fixture.v03_series_ends[1] + profile.safety.clear_hold;
    let ignite = until_hot(&profile) - series.cast_unsigned();
    let (mut calls, mut edges, mut recovered, mut back) = (0, 0, false, false);
    room.listen(Listen::Everything);
    let end = until_hot(&profile) + profile.safety.heater_ttc.cast_unsigned();
    while room.now() < end {
        let onset = (room.now() == ignite).then(|| Command::new(FIRST_COMMAND, Verb::Ignite));
        let from = room.state().safety.mode;
        room.step(onset.as_slice());
        let to = room.state().safety.mode;
        edges += i64::from(from == SafetyMode::Clear && to != from);
        recovered |= to == SafetyMode::Recovery;
        back |= from == SafetyMode::Recovery && matches!(to, SafetyMode::Alert | SafetyMode::Evacuating);
        calls +=
            room.events().iter().filter(|event| event.what == What::Call { channel: None }).count() as i64;
    }
    let at = Some(room.now());
    let entries = context.header.number("entries");
    outcome.require("V03.2", recovered && back, at, "second_danger_not_met");
    outcome.require("V03.2", Some(edges) == entries, at, "entries_of_two_dangers");
    outcome.require("V03.2", calls == profile.safety.distress_calls_max, at, "calls");
    if back {
        outcome.reach("danger in RECOVERY");
    }
    outcome.ticks += room.now();
    take_checks(outcome, &room);
}

/// No way out: Safety says so, and the flame harms once. LIV-06 is about dangers that can be left, so that the checks of this
/// room do not count.
fn harmed_once(mut room: Room, outcome: &mut Outcome) {
    let profile = Arc::clone(room.profile());
    let flame = until_hot(&profile) + profile.safety.heater_ttc.cast_unsigned();
    let mut uncontrollable = false;
    while room.now() <= flame + profile.safety.evacuate_max.cast_unsigned() {
        room.step(&[]);
        uncontrollable |= room.state().safety.mode == SafetyMode::Uncontrollable;
    }
    let pain = room.state().levels.pain;
    let harmed = room.state().hidden.sources[0].harmed;
    outcome.require("V03.3", uncontrollable && harmed, Some(flame), "no_way_out");
    outcome.require("V03.3", pain <= profile.safety.harm_pain && pain < ONE, Some(flame), "harmed_again");
}

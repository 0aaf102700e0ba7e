//! The scenarios of stage 0 (section 12, fixtures of 16.15). One file each; `drive` is what they share.

mod bed;
mod drive;
mod runaway;
mod v01;
mod v01b;
mod v01b_comfort;
mod v01b_cut;
mod v02;
mod v02_block;
mod v02_latest;
mod v02_queue;
mod v02_room;
mod v03;
mod v03_heater;
mod v03_watch;
mod v04a;
mod v04a_stub;
mod v05;
mod v05_kinds;
mod v05_special;
mod v05_watch;
mod v08;
mod v08_room;
mod v09;
mod v10;
mod v19;
mod v20;
mod v22a;

use crate::mutation::Mutation;
use crate::scenario::Scenario;
use canon::{Reader, Value};
use room::Room;
use room::profile::Profile;
use std::sync::Arc;

/// What all scenarios of the room share.
#[derive(Clone, Debug)]
pub struct Rooms {
    /// The profile that rooms are made with.
    pub profile: Arc<Profile>,
    /// Done to every room before its first tick: nothing, or a planted fault in the tests of the scenarios.
    pub prepare: fn(&mut Room),
}

impl Rooms {
    /// Rooms of the reference profile.
    #[must_use]
    pub fn reference() -> Rooms {
        Rooms { profile: Profile::reference(), prepare: |_| {} }
    }
}

/// All of them.
#[must_use]
pub fn all() -> Vec<Scenario<Rooms>> {
    vec![
        v01::scenario(),
        v01b::scenario(),
        v02::scenario(),
        v03::scenario(),
        v04a::scenario(),
        v05::scenario(),
        v08::scenario(),
        v09::scenario(),
        v10::scenario(),
        v19::scenario(),
        v20::scenario(),
        v22a::scenario(),
    ]
}

/// Every planted fault of the room and what caught it: made and compared by `tests/mutations` of this crate.
const TABLE: &str = include_str!("mutations.jsonl");

/// Names of the planted faults of the room, which scenarios may say that they catch.
#[must_use]
pub fn faults() -> Vec<String> {
    mutations().into_iter().map(|mutation| mutation.name).collect()
}

/// What planted faults were caught by.
///
/// # Panics
/// Never: a test reads the table that is compiled in.
#[must_use]
pub fn mutations() -> Vec<Mutation> {
    let lines =
        TABLE.lines().map(|line| Reader::strict().read(line.as_bytes()).expect("the table is JSON Lines"));
    lines.map(|line| mutation(&line)).collect()
}

fn mutation(line: &Value) -> Mutation {
    let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let red = line.get("red").and_then(Value::as_str);
    let scenario = red.map(|_| text("scenario"));
    // What the test of the room shows beside the scenario: it blames phase and field, and holds that they are these.
    Mutation {
        name: text("name"),
        what: red.map_or_else(String::new, |red| format!("first red: {red}")),
        planted: text("planted"),
        caught_by: scenario.into_iter().collect(),
        beside: format!("room: {}", text("in_the_room")),
        blamed: Some(text("blamed")).filter(|blamed| !blamed.is_empty()),
    }
}

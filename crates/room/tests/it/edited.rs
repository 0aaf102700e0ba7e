//! A snapshot that was edited: it is refused, or the room goes on with it; nothing panics.

use crate::room;
use canon::{Object, Value};
use room::Room;
use room::input::{Command, Verb};
use room::profile::Profile;
use room::setup::Identity;
use room::world::{Obj, Parent};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is put in the place of a leaf that is a number.
const NUMBERS: [&str; 7] =
    ["-1.000000", "0.000000", "1.000000", "9.000000", "200.000000", "70000.000000", "9000000000.000000"];

/// The value with its part `n` (counted down in the order of reading) changed by `change`.
fn edited(value: &Value, n: &mut usize, change: &dyn Fn(&Value) -> Value) -> Value {
    let here = *n == 0;
    *n = n.wrapping_sub(1);
    if here {
        return change(value);
    }
    match value {
        Value::Object(object) => {
            let mut copy = Object::new();
            for (name, member) in object.iter() {
                copy.set(name, edited(member, n, change));
            }
            copy.into()
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| edited(item, n, change)).collect()),
        other => other.clone(),
    }
}

fn parts(value: &Value) -> usize {
    let mut n = usize::MAX;
    let _ = edited(value, &mut n, &Value::clone);
    usize::MAX - n
}

/// What another hand could have written there.
fn changes(other: usize) -> impl Fn(&Value) -> Value {
    move |value| match value {
        Value::Array(items) => match other {
            0 => Value::Array(items.iter().skip(1).cloned().collect()),
            1 => Value::Array(items.iter().chain(items.first()).cloned().collect()),
            _ => Value::Array(Vec::new()),
        },
        Value::Bool(flag) => Value::Bool(!flag),
        Value::Object(_) => Value::Null,
        _ => NUMBERS[other].into(),
    }
}

/// A room in which a danger, a person, something in a hand, a search and waiting items are on record.
fn lived() -> Room {
    let mut room = room("V01", 3, Identity::Niko);
    for tick in 0..3_000_u64 {
        let commands = match tick {
            40 => vec![Command::new(1, Verb::Damage).on(Obj::Dispenser)],
            90 => vec![Command::new(2, Verb::Come).by(0)],
            120 => vec![Command::new(3, Verb::Take).on(Obj::Cup).by(0)],
            200 => vec![Command::new(4, Verb::Return).on(Obj::Cup).by(0).to(Parent::with(Obj::Window))],
            300 => vec![Command::new(5, Verb::Block).at(room::grid::Cell::at(6, 9).unwrap())],
            2_980 => vec![Command::new(6, Verb::Fault)],
            2_985 => vec![Command::new(7, Verb::SwitchOn).on(Obj::Heater)],
            _ => Vec::new(),
        };
        room.step(&commands);
    }
    room
}

#[test]
fn an_edited_snapshot_is_refused_or_goes_on() {
    let saved = lived().save();
    let all = parts(&saved);
    let (mut refused, mut went_on) = (0, 0);
    let mut fell = Vec::new();
    for part in 0..all {
        // One edit in three, for time; the whole found nothing that this does not.
        for other in (0..NUMBERS.len()).filter(|other| (part + other) % 3 == 0) {
            let copy = edited(&saved, &mut part.clone(), &changes(other));
            let end = catch_unwind(AssertUnwindSafe(|| {
                let mut loaded = Room::load(Profile::reference(), &copy).ok()?;
                for _ in 0..40 {
                    loaded.step(&[]);
                }
                Some(loaded.fold())
            }));
            match end {
                Ok(None) => refused += 1,
                Ok(Some(_)) => went_on += 1,
                Err(_) => fell.push((part, other)),
            }
        }
    }
    assert_eq!(fell, [], "{refused} refused, {went_on} went on");
    assert!(refused > 500 && went_on > 500, "{refused} refused, {went_on} went on of {all} parts");
}

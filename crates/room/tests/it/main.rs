//! The room from outside.
#![allow(clippy::unwrap_used)]

mod chances;
mod edited;
mod odd;
mod rejects;
mod replay;
mod snapshot;
mod storm;

use room::Room;
use room::profile::Profile;
use room::setup::{Identity, Setup};

/// The reference room with a calibration seed.
fn room(suite: &str, index: u64, identity: Identity) -> Room {
    Room::new(Profile::reference(), Setup::of(suite, index, identity)).expect("the reference room starts")
}

/// Runs without inputs; gives the fold of every tick folded together.
fn run(room: &mut Room, ticks: u64) -> u64 {
    let mut folds = 0_u64;
    for _ in 0..ticks {
        room.step(&[]);
        folds = folds.rotate_left(7) ^ room.fold();
    }
    folds
}

//! Runs one room for three days and prints what became of it: the smallest use of the crate.
//!
//! `cargo run --release -p room --example live -- V01 0 mira 259200`

use room::setup::{Identity, Setup};
use room::{Listen, Room, profile::Profile};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |n: usize, default: &str| words.get(n).cloned().unwrap_or_else(|| default.to_owned());
    let identity = Identity::of(&word(2, "mira")).expect("mira or niko");
    let index = word(1, "0").parse().expect("an index");
    let ticks: u64 = word(3, "259200").parse().expect("ticks");
    let mut room =
        Room::new(Profile::reference(), Setup::of(&word(0, "V01"), index, identity)).expect("a room");
    let loud = words.get(4).is_some();
    if loud {
        room.listen(Listen::Everything);
    }
    let mut folds = 0_u64;
    for _ in 0..ticks {
        let events = room.step(&[]);
        if loud {
            for event in events {
                println!("{} {:?}", event.tick, event.what);
            }
        }
        folds ^= room.fold();
    }
    let fold = room.fold();
    let checks = room.checks();
    println!("fold {fold:016x} folds {folds:016x}");
    println!("violations {} first {:?}", checks.violations, checks.first);
    println!("lowest {:?}", checks.lowest);
    println!("levels {:?}", *room.state().levels);
    println!("counts {:?}", checks.counts);
}

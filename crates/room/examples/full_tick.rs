//! Ticks a processor second of the full contract: every invariant and gate of progress and a 64-bit fold on each tick.
//!
//! `cargo run --release -p room --example full_tick` prints `ticks_per_second=N`; with `log` it makes every log line too.

use room::diff::{Side, first_difference};
use room::input::{Command, Input, Verb};
use room::log::write_line;
use room::profile::Profile;
use room::setup::{Identity, Setup};
use room::{Listen, Room};

/// Three simulated days.
const TICKS: u64 = 259_200;
/// Runs, of which the median counts.
const RUNS: usize = 5;

fn main() {
    let log = std::env::args().any(|word| word == "log");
    let mut rates: Vec<u64> = (0..RUNS as u64).map(|index| rate(index, log)).collect();
    rates.sort_unstable();
    println!("ticks_per_second={}", rates[RUNS / 2]);
    println!("runs={rates:?} simulated_days_per_second={}", rates[RUNS / 2] / 86_400);
    println!("bytes_per_room={}", bytes_per_room());
    println!("first_difference_ms={}", first_difference_ms());
}

/// Two runs of three days that part in their last hour.
fn first_difference_ms() -> u64 {
    let input = |id| Input { tick: TICKS - 3_600, command: Command::new(id, Verb::Cue) };
    let (a, b) = (vec![input(1)], vec![input(2)]);
    let side = |inputs| {
        let setup = Setup::of("V01", 0, Identity::Mira);
        Side { room: Room::new(Profile::reference(), setup).expect("the reference room starts"), inputs }
    };
    let started = processor_ns();
    let found = first_difference(side(&a), side(&b), TICKS).expect("they differ");
    assert_eq!(found.tick, TICKS - 3_600);
    (processor_ns() - started) / 1_000_000
}

/// Resident memory that each of many running rooms adds, the shared profile excluded.
fn bytes_per_room() -> u64 {
    const ROOMS: u64 = 200;
    let make = |index| {
        let setup = Setup::of("V01", index, Identity::Niko);
        let mut room = Room::new(Profile::reference(), setup).expect("the reference room starts");
        (0..2_000).for_each(|_| {
            room.step(&[]);
        });
        room
    };
    let warm = make(0);
    let before = resident_bytes();
    let rooms: Vec<Room> = (0..ROOMS).map(make).collect();
    let after = resident_bytes();
    assert_eq!(rooms.len() as u64, ROOMS);
    drop(warm);
    after.saturating_sub(before) / ROOMS
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("a Linux machine");
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("resident pages");
    pages * 4_096
}

fn rate(index: u64, log: bool) -> u64 {
    let setup = Setup::of("V01", index, Identity::Mira);
    let mut room = Room::new(Profile::reference(), setup).expect("the reference room starts");
    if log {
        room.listen(Listen::Everything);
    }
    let mut lines = Vec::new();
    let mut folds = 0;
    let started = processor_ns();
    for _ in 0..TICKS {
        for event in room.step(&[]) {
            write_line(event, &mut lines);
        }
        folds ^= room.fold();
        if lines.len() > 1 << 16 {
            lines.clear();
        }
    }
    let spent = processor_ns() - started;
    assert!(room.checks().held() && folds != 0);
    TICKS * 1_000_000_000 / spent.max(1)
}

/// Processor time of this process, from the clock ticks of the system: coarse, so runs are long.
fn processor_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("a Linux machine");
    text.split(' ').next().and_then(|ns| ns.parse().ok()).expect("nanoseconds on the processor")
}

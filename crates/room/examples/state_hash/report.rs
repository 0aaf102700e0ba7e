//! What must be equal on every machine. Standard library and pure ring only: it is built for machines that have no
//! file, clock or argument.

use room::Room;
use room::draw::{draw, happens, mix, seed, uniform};
use room::fixed::{ONE, div, mul};
use room::input::{Command, Verb};
use room::profile::Profile;
use room::setup::{Identity, Setup};
use room::world::{Obj, Parent};
use std::fmt::Write as _;

const SEEDS: u64 = 5;
const TICKS: u64 = 72 * 3600;

/// One line for each digest.
pub(crate) fn report() -> String {
    let mut text = String::new();
    for index in 0..SEEDS {
        let seed = seed("V01", index);
        writeln!(text, "draws V01 {index} {TICKS} {:016x}", draws(seed)).expect("a string takes every text");
        for identity in Identity::ALL {
            let (folds, hash) = lived(index, identity);
            let name = identity.name();
            writeln!(text, "room V01 {index} {name} {TICKS} {folds:016x} {hash}")
                .expect("a string takes every text");
        }
        writeln!(text, "fixed V01 {index} {TICKS} {:016x}", fixed(seed)).expect("a string takes every text");
    }
    text.push_str(&planted());
    text
}

/// Three disturbed days: the folds of all ticks, and the state hash of the last.
fn lived(index: u64, identity: Identity) -> (u64, String) {
    let setup = Setup::of("V01", index, identity);
    let mut room = Room::new(Profile::reference(), setup).expect("the reference room starts");
    let mut folds = 0_u64;
    for tick in 0..TICKS {
        room.step(&disturbed(tick));
        folds = mix(folds ^ room.fold());
    }
    assert!(room.checks().held(), "{:?}", room.checks().first);
    (folds, room.state_hash().to_hex())
}

/// What others do: a broken dispenser that is mended, a cup that moves, a visitor, and the heater.
fn disturbed(tick: u64) -> Vec<Command> {
    let id = tick + 1;
    match tick {
        5_000 => vec![Command::new(id, Verb::Come).by(0)],
        5_400 => vec![Command::new(id, Verb::Move).on(Obj::Cup).to(Parent::with(Obj::Window))],
        9_000 => vec![Command::new(id, Verb::Damage).on(Obj::Dispenser)],
        90_000 => vec![Command::new(id, Verb::Mend).on(Obj::Dispenser)],
        100_000 => vec![Command::new(id, Verb::Fault)],
        100_010 => vec![Command::new(id, Verb::SwitchOn).on(Obj::Heater)],
        120_000 => vec![Command::new(id, Verb::Cue)],
        _ => Vec::new(),
    }
}

/// A draw of each stream, and what it is brought to, on every tick of 72 hours.
fn draws(seed: u64) -> u64 {
    (0..TICKS).fold(seed, |fold, tick| {
        let drawn = draw(seed, 1 + tick % 9, tick, tick % 4);
        let event = u64::from(happens(drawn, 250_000));
        mix(mix(fold ^ drawn) ^ uniform(drawn, 1 + tick) ^ event)
    })
}

/// Products and quotients of drawn quantities of both signs.
fn fixed(seed: u64) -> u64 {
    (0..TICKS).fold(seed, |fold, tick| {
        let quantity = |k| draw(seed, 8, tick, k).cast_signed() >> 24;
        let (a, b) = (quantity(0), quantity(1));
        mix(mix(fold ^ mul(a, b % ONE).cast_unsigned()) ^ div(a, (b % ONE) | 1).cast_unsigned())
    })
}

/// With the variable set when it is compiled, what no machine-independent program may say: how wide its addresses are and
/// in which order its bytes lie. It shows that a difference is seen.
fn planted() -> String {
    match option_env!("MACHINES_PLANTED") {
        Some(_) => format!("planted {} {}\n", usize::BITS, u16::from_ne_bytes([1, 2])),
        None => String::new(),
    }
}

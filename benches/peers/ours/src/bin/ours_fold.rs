//! The yardstick in our own idiom, with 64 bits of the state folded each tick.

use std::process::ExitCode;

fn main() -> ExitCode {
    yardstick::main::<ours::Yard<true>>()
}

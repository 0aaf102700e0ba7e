//! The yardstick in our own idiom.

use std::process::ExitCode;

fn main() -> ExitCode {
    yardstick::main::<ours::Yard<false>>()
}

//! The yardstick as a bare loop.

mod room;

use room::Room;
use std::process::ExitCode;
use yardstick::{Peer, Record};

impl Peer for Room {
    fn start() -> Room {
        Room::new()
    }

    fn run(&mut self, ticks: u64) {
        Room::run(self, ticks);
    }

    fn record(&self) -> Record {
        let doing = (self.current < 12).then_some((self.current.into(), self.left.into()));
        Record { ticks: self.ticks, needs: self.needs.map(u64::from), doing, generator: self.generator }
    }
}

fn main() -> ExitCode {
    yardstick::main::<Room>()
}

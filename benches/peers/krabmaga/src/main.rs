//! The yardstick in krABMaga.

mod room;

use krabmaga::engine::schedule::Schedule;
use krabmaga::engine::state::State as _;
use room::{Person, Room};
use std::process::ExitCode;
use yardstick::{Peer, Record};

/// What `simulate_old!` holds: the state and its schedule.
struct Simulation {
    room: Room,
    schedule: Schedule,
}

impl Peer for Simulation {
    fn start() -> Simulation {
        let (mut room, mut schedule) = (Room::new(), Schedule::new());
        room.init(&mut schedule);
        Simulation { room, schedule }
    }

    fn run(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.schedule.step(self.room.as_state_mut());
            if self.room.end_condition(&mut self.schedule) {
                break;
            }
        }
    }

    fn record(&self) -> Record {
        let agents = self.schedule.get_all_events();
        let people: Vec<&Person> = agents.iter().filter_map(|agent| agent.downcast_ref()).collect();
        let [person] = people[..] else { panic!("{} people in the room", people.len()) };
        assert_eq!(person.id, 0);
        Record {
            ticks: self.room.step,
            needs: person.needs.map(u64::from),
            doing: person.doing.map(|doing| (doing.interaction as u64, doing.left.into())),
            generator: person.generator,
        }
    }
}

fn main() -> ExitCode {
    yardstick::main::<Simulation>()
}

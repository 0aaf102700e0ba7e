//! Room tick v0 as a krABMaga model: the room is the State, the person an Agent that the Schedule repeats.

use krabmaga::engine::agent::Agent;
use krabmaga::engine::schedule::Schedule;
use krabmaga::engine::state::State;
use std::any::Any;

/// Something that the room offers.
#[derive(Clone, Copy)]
pub(crate) struct Interaction {
    need: usize,
    gain: u32,
    duration: u32,
}

/// The room: what it offers and the step that it is in.
pub(crate) struct Room {
    pub(crate) step: u64,
    interactions: Vec<Interaction>,
}

impl Room {
    pub(crate) fn new() -> Room {
        let offer = |k: u32| Interaction { need: k as usize % 8, gain: 100 + 17 * k, duration: 5 + 3 * k };
        Room { step: 0, interactions: (0..12).map(offer).collect() }
    }
}

impl State for Room {
    fn init(&mut self, schedule: &mut Schedule) {
        self.reset();
        schedule.schedule_repeating(Box::new(Person::new(0)), 0.0, 0);
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_state_mut(&mut self) -> &mut dyn State {
        self
    }

    fn as_state(&self) -> &dyn State {
        self
    }

    fn reset(&mut self) {
        self.step = 0;
    }

    fn update(&mut self, step: u64) {
        self.step = step;
    }
}

/// What the person is about.
#[derive(Clone, Copy)]
pub(crate) struct Doing {
    pub(crate) interaction: usize,
    pub(crate) left: u32,
}

/// The one agent.
#[derive(Clone)]
pub(crate) struct Person {
    pub(crate) id: u32,
    pub(crate) needs: [u32; 8],
    pub(crate) doing: Option<Doing>,
    pub(crate) generator: u64,
}

impl Person {
    fn new(id: u32) -> Person {
        Person { id, needs: [500; 8], doing: None, generator: 1 }
    }

    fn advance(&mut self, room: &Room) {
        let Some(doing) = &mut self.doing else { return };
        doing.left -= 1;
        if doing.left == 0 {
            let done = room.interactions[doing.interaction];
            self.needs[done.need] = (self.needs[done.need] + done.gain).min(1000);
            self.doing = None;
        }
    }

    fn decay(&mut self, room: &Room) {
        let need = &mut self.needs[room.step as usize % 8];
        *need = need.saturating_sub(1);
    }

    fn choose(&mut self, room: &Room) {
        if self.doing.is_some() {
            return;
        }
        let mut best: Option<(u32, usize)> = None;
        for (k, offered) in room.interactions.iter().enumerate() {
            let gap = 1000 - self.needs[offered.need];
            let score = gap * gap / 1000 * offered.gain / offered.duration + self.two_bits();
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, k));
            }
        }
        self.doing =
            best.map(|(_, interaction)| Doing { interaction, left: room.interactions[interaction].duration });
    }

    fn two_bits(&mut self) -> u32 {
        self.generator ^= self.generator << 13;
        self.generator ^= self.generator >> 7;
        self.generator ^= self.generator << 17;
        self.generator as u32 & 3
    }
}

impl Agent for Person {
    fn step(&mut self, state: &mut dyn State) {
        let room = state.as_any().downcast_ref::<Room>().expect("a person lives in a room");
        self.advance(room);
        self.decay(room);
        self.choose(room);
    }
}

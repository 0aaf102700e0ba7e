//! Anything that an input list may say, in any order: nothing panics, every check holds, a snapshot is everything.

use room::Room;
use room::check::Check;
use room::draw::{mix, uniform};
use room::grid::{CELLS, Cell};
use room::input::{self, Command, Input, Verb};
use room::item::Goal;
use room::kind::Kind;
use room::profile::Profile;
use room::record::Feed;
use room::retry::Class;
use room::setup::{Hazard, Identity, RunMode, Setup, Want};
use room::state::{Channel, HUMANS, Levels};
use room::world::{Obj, Parent};

/// Numbers of one storm, in the order in which they are asked for.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = mix(self.0);
        uniform(self.0, sides as u64) as usize
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.roll(list.len())]
    }

    fn cell(&mut self) -> Cell {
        Cell::of_index(self.roll(CELLS)).expect("an index of the room")
    }

    fn parent(&mut self) -> Parent {
        match self.roll(4) {
            0 => Parent::cell(self.cell()),
            1 => Parent::with(self.of(&[Obj::Table, Obj::Workbench, Obj::Window])),
            2 => Parent::with(self.of(&[Obj::Drawer, Obj::SharedBox])),
            _ => Parent::human(self.roll(HUMANS) as u8),
        }
    }

    /// Any command whose arguments fit.
    fn command(&mut self, id: u64, verbs: &[Verb]) -> Command {
        loop {
            let mut command = Command::new(id, self.of(verbs)).by(self.roll(HUMANS) as u8);
            command.object = Some(self.of(&Obj::ALL));
            command.to = Some(self.parent());
            command.cell = Some(self.cell());
            command.kind = Some(self.of(&Kind::ALL));
            command.channel = Some(self.of(&Channel::ALL));
            command.amount = Some(self.roll(20) as i64 * 1_000_000);
            if command.verb == Verb::SetLevel {
                command.amount = Some(150_000 + self.roll(850_001) as i64);
            }
            command.goal = Some(self.of(&Goal::ALL));
            command.class = Some(self.of(&Class::ALL));
            command.request = Some(self.roll(40) as u64);
            for part in 0..4 {
                if self.roll(3) == 0 {
                    match part {
                        0 => command.object = None,
                        1 => command.cell = None,
                        2 => command.human = None,
                        _ => command.to = None,
                    }
                }
            }
            command.asked = Some(0);
            if input::check(&[Input { tick: 0, command: command.clone() }]).is_ok() {
                return command;
            }
        }
    }
}

/// A storm: about one command in each stretch of `calm` ticks.
pub(crate) fn storm(seed: u64, ticks: u64, calm: usize, verbs: &[Verb]) -> Vec<Input> {
    let mut dice = Dice(seed);
    let mut inputs = Vec::new();
    for tick in 0..ticks {
        while dice.roll(calm) == 0 {
            let mut command = dice.command(inputs.len() as u64 + 1, verbs);
            command.asked = Some(tick.saturating_sub(dice.roll(80) as u64));
            inputs.push(Input { tick, command });
        }
    }
    inputs
}

pub(crate) fn setup(seed: u64) -> Setup {
    let mut dice = Dice(seed ^ 0x5E70);
    let mut setup = Setup::of("V05", seed % 50, dice.of(&Identity::ALL));
    setup.mode = dice.of(&RunMode::ALL);
    let fixture = &mut setup.fixture;
    let mut level = || 100_000 + dice.roll(900_001) as i64;
    fixture.levels = Some(Levels {
        energy: level(),
        hydration: level(),
        calories: level(),
        thermal: level(),
        pain: 1_000_000 - level(),
        posture: level(),
        engagement: level() - 550_000,
    });
    fixture.heater_visible = dice.roll(2) == 0;
    fixture.permanent = dice.roll(4) == 0;
    fixture.sleep_hold = dice.roll(8) == 0;
    if dice.roll(2) == 0 {
        let kind = dice.of(&Kind::ALL);
        fixture.want = Some(Want { kind, target: Some(dice.of(&Obj::ALL)), human: Some(0), times: 100 });
    }
    if dice.roll(2) == 0 {
        let ttc = 20 + dice.roll(40) as u64;
        fixture.hazard = Some(Hazard {
            cell: dice.of(&[Cell::at(2, 1), Cell::at(13, 4), Cell::at(9, 8)]).expect("in the room"),
            ttc,
            visible: dice.roll(2) == 0,
            controllable: ttc > 26,
        });
    }
    setup
}

/// Runs a storm with every check, and from one place on a second room that was saved and loaded there.
fn run(seed: u64, ticks: u64) -> Result<Room, String> {
    let inputs = storm(seed, ticks, 2 + (seed % 43) as usize, &Verb::ALL);
    let mut room = Room::new(Profile::reference(), setup(seed)).map_err(|fault| format!("{fault:?}"))?;
    let (mut feed, mut twin) = (Feed::new(&inputs), None);
    for tick in 0..ticks {
        let commands = feed.at(tick).to_vec();
        if tick == seed * 7 % ticks {
            let loaded = Room::load(Profile::reference(), &room.save());
            twin = Some(loaded.map_err(|misread| format!("load: {misread:?}"))?);
        }
        room.step(&commands);
        if let Some(found) = &room.checks().first {
            return Err(format!("{} at {} about {}", found.check.name(), found.tick, found.about));
        }
        if let Some(twin) = &mut twin {
            twin.step(&commands);
            if twin.fold() != room.state().fold_afresh() || !twin.checks().held() {
                return Err(format!("the loaded room differs at {tick}: {:?}", twin.checks().first));
            }
        }
    }
    Ok(room)
}

/// `STORMS=5000 cargo test -p room --test it storm` is the long campaign.
#[test]
fn a_storm_breaks_nothing() {
    let asked = std::env::var("STORMS").ok().and_then(|text| text.parse().ok());
    let mut counts = [0; Check::COUNT];
    let mut broken = Vec::new();
    for seed in 0..asked.unwrap_or(120) {
        match std::panic::catch_unwind(|| run(seed, 2_000)) {
            Ok(Ok(room)) => counts.iter_mut().zip(room.checks().counts).for_each(|(sum, one)| *sum += one),
            Ok(Err(found)) => broken.push(format!("{seed}: {found}")),
            Err(_) => broken.push(format!("{seed}: panic")),
        }
    }
    assert!(broken.is_empty(), "{} of the storms: {:?}", broken.len(), &broken[..broken.len().min(9)]);
    let unchecked: Vec<&str> =
        Check::ALL.into_iter().filter(|check| counts[*check as usize] == 0).map(Check::name).collect();
    assert_eq!(
        unchecked,
        ["LIV-07"],
        "there are no commitments at stage 0, and everything else was looked at"
    );
}

//! For each fault a short run in which it matters: content, inputs, ticks.

use super::Fault;
use crate::grid::Cell;
use crate::input::{Command, Input, Verb};
use crate::item::Goal;
use crate::kind::Kind;
use crate::retry::Class;
use crate::setup::{Hazard, Identity, RunMode, Setup, Want};
use crate::state::{Channel, Levels};
use crate::world::{Obj, Parent};

/// A run in which a fault matters.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it starts from.
    pub setup: Setup,
    /// Everything from outside.
    pub inputs: Vec<Input>,
    /// How long it is watched.
    pub ticks: u64,
}

impl Case {
    /// The reference room, left alone.
    fn of(ticks: u64) -> Case {
        Case { setup: Setup::of("V01", 3, Identity::Niko), inputs: Vec::new(), ticks }
    }

    fn lab(mut self) -> Case {
        self.setup.mode = RunMode::Lab;
        self
    }

    fn levels(mut self, change: impl FnOnce(&mut Levels)) -> Case {
        let reference = 700_000;
        let mut levels = self.setup.fixture.levels.unwrap_or(Levels {
            energy: reference,
            hydration: reference,
            calories: reference,
            thermal: reference,
            pain: 0,
            posture: reference,
            engagement: 0,
        });
        change(&mut levels);
        self.setup.fixture.levels = Some(levels);
        self
    }

    fn at(mut self, x: i64, y: i64) -> Case {
        self.setup.fixture.spawn = Cell::at(x, y);
        self
    }

    fn wants(mut self, kind: Kind, target: Obj) -> Case {
        self.setup.fixture.want = Some(Want { kind, target: Some(target), human: None, times: 99 });
        self
    }

    fn hazard(mut self, x: i64, y: i64, visible: bool) -> Case {
        let cell = Cell::at(x, y).unwrap_or(Cell(0));
        self.setup.fixture.hazard = Some(Hazard { cell, ttc: 27, visible, controllable: true });
        self
    }

    /// One more command; its number is its place.
    fn with(mut self, tick: u64, command: Command) -> Case {
        let id = self.inputs.len() as u64 + 1;
        self.inputs.push(Input { tick, command: Command { id, ..command } });
        self
    }

    fn every(self, ticks: impl Iterator<Item = u64>, command: impl Fn(u64) -> Command) -> Case {
        ticks.fold(self, |case, tick| case.with(tick, command(tick)))
    }

    /// Inputs by their ticks, numbered anew.
    fn ordered(mut self) -> Case {
        let mut inputs = std::mem::take(&mut self.inputs);
        inputs.sort_by_key(|input| input.tick);
        inputs.into_iter().fold(self, |case, input| case.with(input.tick, input.command))
    }

    /// Much that has nothing to do with the fault: what a shrink has to take away.
    fn among_noise(mut self, ticks: u64) -> Case {
        let movable = [Obj::Notebook, Obj::Plant, Obj::Coil, Obj::MedicationBox];
        let to = [Parent::with(Obj::Window), Parent::with(Obj::Workbench)];
        self.ticks += ticks;
        let end = self.ticks;
        let noise = |tick: u64| {
            let n = tick as usize;
            on(Verb::Move, movable[n % movable.len()]).to(to[n / movable.len() % to.len()])
        };
        self.every((20..end).step_by(37), noise).ordered()
    }
}

fn verb(verb: Verb) -> Command {
    Command::new(0, verb)
}

fn on(what: Verb, object: Obj) -> Command {
    verb(what).on(object)
}

fn answer(request: u64, asked: u64) -> Command {
    Command { kind: Some(Kind::Scan), request: Some(request), asked: Some(asked), ..verb(Verb::Respond) }
}

fn dry(case: Case) -> Case {
    let empty = |object| on(Verb::Restock, object).amount(0);
    case.with(1, empty(Obj::Dispenser)).with(2, empty(Obj::Jug))
}

fn thirst(ticks: u64) -> Case {
    Case::of(ticks).levels(|levels| levels.hydration = 300_000)
}

fn tired(ticks: u64) -> Case {
    Case::of(ticks).levels(|levels| levels.energy = 250_000)
}

fn burning(ticks: u64) -> Case {
    Case::of(ticks).with(0, verb(Verb::Fault)).with(1, on(Verb::SwitchOn, Obj::Heater))
}

fn ignited(ticks: u64) -> Case {
    Case::of(ticks).hazard(9, 8, false).with(10, verb(Verb::Ignite))
}

/// The chair cannot be picked up: three failures of one goal.
fn failing(ticks: u64) -> Case {
    let mend = |_| on(Verb::Mend, Obj::Chair);
    Case::of(ticks).wants(Kind::PickUp, Obj::Chair).every((100..ticks).step_by(100), mend)
}

/// The window does not open, and is locked anew again and again.
fn locked(case: Case, ticks: impl Iterator<Item = u64>) -> Case {
    case.wants(Kind::Open, Obj::Window).every(ticks, |_| on(Verb::Lock, Obj::Window))
}

/// The cup is moved while it is approached.
fn moving(ticks: u64) -> Case {
    let places = [Parent::with(Obj::Window), Parent::with(Obj::Workbench), Parent::with(Obj::Table)];
    let to = |tick: u64| on(Verb::Move, Obj::Cup).to(places[(tick / 7 % 3) as usize]);
    Case::of(ticks).wants(Kind::PickUp, Obj::Cup).every((4..60).step_by(7), to)
}

/// The way into the alcove is closed.
fn closed(case: Case, from: u64) -> Case {
    let gap = (8..12).filter_map(|y| Cell::at(6, y));
    gap.zip(from..).fold(case, |case, (cell, tick)| case.with(tick, verb(Verb::Block).at(cell)))
}

fn commanded(ticks: u64, kind: Kind, object: Option<Obj>) -> Case {
    let human = (kind == Kind::Give).then_some(0);
    let command = Command { object, human, ..verb(Verb::Command) };
    Case::of(ticks).lab().with(1, verb(Verb::LeaseRequest)).with(4, command.doing(kind))
}

/// Faults whose case can be asked of a shrink.
pub const SHRINKABLE: [Fault; 12] = [
    Fault::OldListKept,
    Fault::TwoActive,
    Fault::DrinksFromNothing,
    Fault::BedNotVerified,
    Fault::EditLeavesHalf,
    Fault::LeaseInDanger,
    Fault::SuspendedHolds,
    Fault::RetryNotCharged,
    Fault::LeaseWithoutEnd,
    Fault::LateAnswer,
    Fault::NoVersionDiscount,
    Fault::GrantTwice,
];

/// The run of a fault, with far too many inputs and ticks: see [`super::fails`].
#[must_use]
pub fn noisy(fault: Fault) -> Case {
    case(fault).among_noise(2_000)
}

/// The run of a fault.
#[must_use]
pub fn case(fault: Fault) -> Case {
    of(fault).ordered()
}

fn of(fault: Fault) -> Case {
    match fault {
        Fault::StaleFoldLevels
        | Fault::StaleFoldQueue
        | Fault::StaleDigest
        | Fault::ClockInDecay
        | Fault::AddressInFold
        | Fault::DecayOffByOne
        | Fault::BoredomOnTheMinute
        | Fault::DebugBranch
        | Fault::DecisionWritesLevels => Case::of(60),
        Fault::MapOrder
        | Fault::AddressAsNumber
        | Fault::LocaleOrder
        | Fault::ListeningDraws
        | Fault::LeftoverCounter
        | Fault::SystemDraw
        | Fault::SharedStream
        | Fault::LostHabits
        | Fault::LostVisits
        | Fault::LostProgress
        | Fault::LostTriggers
        | Fault::CleaningWithoutEnd
        | Fault::RunWithoutEnd
        | Fault::NotReserved
        | Fault::PacingIgnored
        | Fault::RepetitionForgotten
        | Fault::InspectionForgotten => Case::of(3_000),
        Fault::EnvironmentThreshold => Case::of(60).levels(|levels| levels.hydration = 600_000),
        _ => of_inputs(fault),
    }
}

/// What people, the environment and the editor have to do with it.
fn of_inputs(fault: Fault) -> Case {
    match fault {
        Fault::ActsRaced => {
            let case = Case::of(400).with(1, verb(Verb::Come).by(0));
            (10..400).step_by(20).fold(case, |case, tick| {
                let to = Parent::with(if tick % 40 == 10 { Obj::Window } else { Obj::Workbench });
                case.with(tick, on(Verb::Take, Obj::Cup).by(0)).with(tick, on(Verb::Move, Obj::Cup).to(to))
            })
        }
        Fault::ArrivalOrder | Fault::SpeechFirst => Case::of(400)
            .every((10..400).step_by(20), |_| verb(Verb::Cue))
            .every((10..400).step_by(20), |_| on(Verb::Break, Obj::Picture)),
        Fault::OppositeFirstStays => {
            Case::of(20).with(5, on(Verb::Lock, Obj::Drawer)).with(5, on(Verb::Unlock, Obj::Drawer))
        }
        Fault::RepetitionActs | Fault::LostRecent => {
            Case::of(20).with(5, on(Verb::Break, Obj::Picture)).with(7, on(Verb::Break, Obj::Picture))
        }
        Fault::FactWithoutSource => Case::of(20).with(5, on(Verb::Break, Obj::Picture)),
        Fault::LostPaths => Case::of(60).with(1, verb(Verb::Block).at(Cell::at(9, 8).unwrap_or(Cell(0)))),
        Fault::OldListKept => Case::of(60).wants(Kind::PickUp, Obj::Cup),
        Fault::HandNotCleared => Case::of(120).wants(Kind::PutDown, Obj::Cup),
        Fault::EditDuringCommit | Fault::LostDeferred => {
            let level = |tick: u64| {
                Command { channel: Some(Channel::Calories), ..verb(Verb::SetLevel) }
                    .amount(500_000 + tick as i64)
            };
            Case::of(60).lab().wants(Kind::PickUp, Obj::Cup).every(2..60, level)
        }
        Fault::EditLeavesHalf => Case::of(60).lab().every((3..60).step_by(6), |_| verb(Verb::Cancel)),
        Fault::LossNotNoted => Case::of(60).every((3..60).step_by(6), |_| on(Verb::Mend, Obj::Table)),
        Fault::TwoActive | Fault::LastProposedFirst | Fault::AnswerTwice => {
            Case::of(60).with(3, answer(1, 2)).with(4, answer(2, 2)).with(5, answer(2, 2))
        }
        Fault::LateAnswer => Case::of(120).with(80, answer(1, 2)),
        Fault::ScansUnlimited => {
            Case::of(600).wants(Kind::PickUp, Obj::Cup).with(0, on(Verb::Destroy, Obj::Cup))
        }
        Fault::ColdByDay => Case::of(60).at(11, 1).with(3, on(Verb::PersonOpens, Obj::Window).by(0)),
        Fault::MarginIgnored => {
            let case = Case::of(300).wants(Kind::PutDown, Obj::Cup);
            case.every((3..300).step_by(2), |_| on(Verb::Mend, Obj::Picture))
        }
        _ => of_body(fault),
    }
}

/// Reserves, sleep, supplies, learning.
fn of_body(fault: Fault) -> Case {
    match fault {
        Fault::OutcomeTwice | Fault::DrinksFromNothing | Fault::CommitWithoutEnd | Fault::LearnsTwice => {
            thirst(200)
        }
        Fault::LostPending | Fault::WholeTransfer | Fault::LostLearner => thirst(200),
        Fault::PendingIgnored => thirst(200).lab().every((3..60).step_by(6), |_| verb(Verb::Cancel)),
        Fault::NoVersionDiscount => thirst(300).with(200, on(Verb::Damage, Obj::Dispenser)),
        Fault::DeadlineUnseen | Fault::Tier3First => Case::of(60).levels(|levels| levels.hydration = 151_300),
        Fault::NotRevalidated => {
            let case = Case::of(120).levels(|levels| levels.hydration = 151_400);
            case.lab().with(3, verb(Verb::LeaseRequest))
        }
        Fault::BackupUnused => {
            let case = Case::of(20_000).levels(|levels| levels.hydration = 160_000);
            case.with(1, on(Verb::Damage, Obj::Dispenser))
        }
        Fault::EffectNotClamped => {
            let case = commanded(60, Kind::Drink, Some(Obj::Dispenser)).at(2, 10);
            case.with(10, verb(Verb::Command).doing(Kind::Scan))
        }
        Fault::AdmissionSkipped => {
            let case = commanded(60, Kind::Sleep, Some(Obj::Bed));
            case.levels(|levels| levels.hydration = 152_500)
        }
        Fault::RecordNeverOpened | Fault::RecordLate | Fault::HelpWithoutEnd => dry(thirst(400)),
        Fault::TraitsInDanger => dry(Case::of(400).levels(|levels| levels.hydration = 140_000)),
        Fault::BlockedWithoutEnd => {
            dry(thirst(400)).with(20, verb(Verb::Come).by(0)).with(34, verb(Verb::Leave).by(0))
        }
        Fault::DecayAsleep | Fault::WalksLying => tired(12_000),
        Fault::BedNotVerified => tired(1_000).with(300, on(Verb::Break, Obj::Bed)),
        Fault::SleepMinimumIgnored | Fault::CueWakesAtOnce => tired(600).with(100, verb(Verb::Cue)),
        Fault::SleepsOnAfterCue => {
            let case =
                closed(tired(900).levels(|levels| levels.energy = 154_000), 150).with(200, verb(Verb::Cue));
            case.every((340..400).step_by(4), |_| on(Verb::Mend, Obj::Picture))
        }
        Fault::CueForgotten => Case::of(100).with(50, verb(Verb::Cue)),
        Fault::LostBands => Case::of(200).levels(|levels| levels.pain = 650_400),
        Fault::UnknownCauseTeaches | Fault::StabilityIgnored => moving(400),
        Fault::GrantTwice => {
            let grant =
                Command { goal: Some(Goal::Want), class: Some(Class::MovingTarget), ..verb(Verb::Grant) };
            moving(400).with(300, grant)
        }
        _ => of_progress(fault),
    }
}

/// Retries, recovery, leases and dangers.
fn of_progress(fault: Fault) -> Case {
    match fault {
        Fault::RetryNotCharged | Fault::LostRetries => failing(400),
        Fault::RecoveryWithoutEnd | Fault::LostRecovery => failing(1_000),
        Fault::TotalsResetDaily => {
            locked(Case::of(90_000), (10..3_000).step_by(100).chain((86_500..89_900).step_by(100)))
        }
        Fault::RecoveryInRecovery => {
            let class = Some(Class::ObjectFailure);
            let grant = Command { goal: Some(Goal::Want), class, ..verb(Verb::Grant) };
            locked(Case::of(400), [10, 60, 88].into_iter()).with(90, grant)
        }
        Fault::PendingWithoutEnd => {
            commanded(120, Kind::Give, None).with(12, verb(Verb::Command).doing(Kind::Scan))
        }
        Fault::SuspendedHolds | Fault::SuspensionRenews => {
            Case::of(120).lab().with(4, verb(Verb::LeaseRequest))
        }
        Fault::LeaseWithoutEnd | Fault::LeaseWithoutHandshake => {
            Case::of(120).lab().with(4, verb(Verb::LeaseRequest))
        }
        Fault::LeaseInDanger => {
            let back = verb(Verb::Command).doing(Kind::WalkTo).at(Cell::at(9, 8).unwrap_or(Cell(0)));
            ignited(60).lab().with(13, back)
        }
        Fault::ClusterPerEvent | Fault::LostEpisodes | Fault::OwnerNotSwitched | Fault::NoPreemption => {
            ignited(160)
        }
        Fault::ExitAtOnce | Fault::LostClearRun | Fault::HiddenCauseTold => ignited(160),
        Fault::EvacuatesSlowly => Case::of(160).hazard(9, 8, false).with(2, verb(Verb::Ignite)),
        Fault::RiskNotMarked => Case::of(160).hazard(9, 8, false).with(4, verb(Verb::Ignite)),
        Fault::ThresholdExclusive | Fault::CallsAgain => burning(700),
        Fault::RiskResubmitted => burning(900).wants(Kind::LookAt, Obj::Heater),
        Fault::HarmedAgain => {
            let mut case = burning(700).at(15, 4);
            let around = [(15, 3), (15, 5), (14, 4)].into_iter().filter_map(|(x, y)| Cell::at(x, y));
            case.setup.fixture.before =
                around.zip(1..).map(|(cell, id)| Command { id, ..verb(Verb::Block).at(cell) }).collect();
            case
        }
        _ => Case::of(3_000),
    }
}

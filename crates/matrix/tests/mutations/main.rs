//! Every planted fault of the room, run through the scenario that should catch it. The table that reports show is what this
//! test found: `TOUCHSTONE_MUTATIONS=1` writes it, and without that it is compared.
//!
//! `cargo test -p matrix --features faults --test mutations`
#![allow(clippy::unwrap_used)]

mod shrinks;

use canon::{Object, Value, canonical};
use matrix::gate::judge;
use matrix::header::Header;
use matrix::scenario::{Choice, Context, Pass, Set};
use matrix::scenarios::{Rooms, all};
use matrix::{Outcome, Scenario, Unit};
use room::Room;
use room::faults::{Fault, Means, Row, TABLE};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Which fault `plant` plants.
static FAULT: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Stands for every impurity: it is never the same twice.
static IMPURE: AtomicU64 = AtomicU64::new(1);

/// Units that are tried for one fault at the most, or one of each arm.
const UNITS_MAX: usize = 6;

fn plant(room: &mut Room) {
    if let Some(row) = TABLE.get(FAULT.load(Ordering::Relaxed)) {
        room.plant(row.fault, impure);
    }
}

fn impure() -> u64 {
    room::draw::mix(IMPURE.fetch_add(1, Ordering::Relaxed))
}

fn run(scenario: &Scenario<Rooms>, header: &Header, world: &Rooms, unit: &Unit, pass: Pass) -> Outcome {
    let seed = scenario.seeds.suite().zip(unit.index()).map(|(suite, index)| room::draw::seed(suite, index));
    (scenario.run)(unit, &Context { world, header, seed, pass })
}

/// Units of every arm and identity, a few of each.
fn spread(scenario: &Scenario<Rooms>) -> Vec<Unit> {
    let mut groups: BTreeMap<(String, String), Vec<Unit>> = BTreeMap::new();
    for unit in (scenario.units)(&Choice { set: Set::Calibration, exhaustive: false }) {
        groups.entry((unit.arm.clone(), unit.identity.clone())).or_default().push(unit);
    }
    let longest = groups.values().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .flat_map(|n| groups.values().filter_map(move |group| group.get(n)).cloned().collect::<Vec<_>>())
        .take(UNITS_MAX.max(groups.len()))
        .collect()
}

/// What turned red first: a check, a difference of two runs, or the gate over the units that were run.
fn red(scenario: &Scenario<Rooms>, world: &Rooms, twice: bool) -> Option<String> {
    let header = Header::parse(scenario.header).unwrap();
    let mut outcomes = Vec::new();
    let units = spread(scenario);
    for unit in &units {
        let first = run(scenario, &header, world, unit, Pass::default());
        if let Some(failure) = first.failures.first() {
            return Some(format!("{} {}", failure.check, failure.code));
        }
        if !twice {
            outcomes.push(first);
            continue;
        }
        let second = run(scenario, &header, world, unit, Pass { second: true, reload_every: Some(1_009) });
        if let Some(field) = first.difference(&second) {
            return Some(format!("twice: {field}"));
        }
        outcomes.push(first);
    }
    outcomes.sort_by(|a, b| a.unit.cmp(&b.unit));
    let mut planned = units;
    planned.sort();
    let judged = judge(scenario, &header, world, &planned, &outcomes);
    judged.findings.iter().find(|finding| finding.fails).map(|finding| format!("gate {}", finding.place))
}

/// What the test of the room itself shows of a fault (`cargo test -p room --features faults --test faults`).
fn in_the_room(row: &Row) -> String {
    match row.means {
        Means::Invariant(check) => format!("check {}", check.name()),
        Means::Nondeterminism(impurity) => format!("two runs differ ({})", impurity.name()),
        Means::Snapshot => "save and load".to_owned(),
        Means::Fold => "folds computed afresh".to_owned(),
        Means::Clean => "a clean room beside it".to_owned(),
    }
}

fn line(row: &Row, turned: Option<&str>) -> Object {
    let planted = format!("{} {}", row.phase.name(), row.field);
    Object::new()
        .with("name", row.fault.name())
        .with("planted", planted.as_str())
        .with("blamed", planted.as_str())
        .with("in_the_room", in_the_room(row))
        .with("scenario", row.scenario)
        .with("red", turned)
}

#[test]
fn every_planted_fault_is_caught_and_every_scenario_catches_one() {
    let scenarios: BTreeMap<&str, Scenario<Rooms>> = all().into_iter().map(|one| (one.id, one)).collect();
    let world = Rooms { prepare: plant, ..Rooms::reference() };
    let mut table = Vec::new();
    let mut caught: BTreeMap<&str, usize> = BTreeMap::new();
    for (n, row) in TABLE.iter().enumerate() {
        FAULT.store(n, Ordering::Relaxed);
        let turned = scenarios.get(row.scenario).and_then(|scenario| {
            // A run that panics is red for the runner too.
            let twice = matches!(row.means, Means::Nondeterminism(_) | Means::Snapshot | Means::Fold);
            catch_unwind(AssertUnwindSafe(|| red(scenario, &world, twice)))
                .unwrap_or(Some("panicked".to_owned()))
        });
        println!("{:<28} {:<5} {}", row.fault.name(), row.scenario, turned.as_deref().unwrap_or("-"));
        if turned.is_some() {
            *caught.entry(row.scenario).or_default() += 1;
        }
        table.extend(canonical(&Value::Object(line(row, turned.as_deref()))));
        table.push(b'\n');
    }
    FAULT.store(usize::MAX, Ordering::Relaxed);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/scenarios/mutations.jsonl");
    if std::env::var_os("TOUCHSTONE_MUTATIONS").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    assert_eq!(
        String::from_utf8_lossy(&table),
        std::fs::read_to_string(path).unwrap(),
        "the table is out of date"
    );
    for (id, scenario) in &scenarios {
        assert!(caught.get(id).is_some_and(|n| *n > 0), "nothing turns {id} red: a defect");
        for name in scenario.mutations {
            let fault = Fault::of(name).unwrap_or_else(|| panic!("{id}: {name} is no planted fault"));
            assert_eq!(fault.row().scenario, *id, "{name}");
        }
    }
}

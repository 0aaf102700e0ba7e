//! Runs a scenario on seeds that are neither calibration nor holdout, to find weak fixtures and faults of the room before a
//! holdout seed meets them. Nothing here counts, and no number may be moved by what it shows (GD-07).
//!
//! `cargo run --release -p matrix --example rehearse -- V05 1000 1200`

use matrix::header::Header;
use matrix::scenario::{Choice, Context, Pass, Set};
use matrix::scenarios::{Rooms, all};
use matrix::unit::At;
use matrix::{Scenario, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// The first index that is neither calibration nor holdout.
const FIRST: u64 = 150;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let range = |n: usize| arguments.get(n).and_then(|text| text.parse::<u64>().ok());
    let (Some(id), Some(from), Some(to)) = (arguments.first(), range(1), range(2)) else {
        eprintln!("usage: rehearse SCENARIO FROM TO");
        std::process::exit(64);
    };
    let Some(scenario) = all().into_iter().find(|one| one.id == id) else {
        eprintln!("no scenario {id}");
        std::process::exit(64);
    };
    if from < FIRST {
        eprintln!("indices below {FIRST} are calibration or holdout");
        std::process::exit(64);
    }
    let failed = rehearse(&scenario, from..to);
    std::process::exit(i32::from(failed > 0));
}

/// Units that failed.
fn rehearse(scenario: &Scenario<Rooms>, indices: std::ops::Range<u64>) -> usize {
    let header = Header::parse(scenario.header).unwrap_or_else(|error| panic!("{error:?}"));
    let world = Rooms::reference();
    let arms: BTreeSet<(String, String)> =
        (scenario.units)(&Choice { set: Set::Calibration, exhaustive: false })
            .into_iter()
            .filter(|unit| unit.index().is_some())
            .map(|unit| (unit.arm, unit.identity))
            .collect();
    let (mut units, mut failed) = (0, 0);
    let mut reached: BTreeMap<String, usize> = BTreeMap::new();
    for index in indices {
        for (arm, identity) in &arms {
            let unit = Unit::new(scenario.id, arm, identity, At::Index(index));
            let seed = scenario.seeds.suite().map(|suite| room::draw::seed(suite, index));
            let outcome = (scenario.run)(
                &unit,
                &Context { world: &world, header: &header, seed, pass: Pass::default() },
            );
            units += 1;
            failed += usize::from(!outcome.failures.is_empty());
            for failure in &outcome.failures {
                println!("{unit} {} {} at tick {:?}", failure.check, failure.code, failure.tick);
            }
            for situation in &outcome.reached {
                *reached.entry(situation.to_string()).or_default() += 1;
            }
        }
    }
    println!("{failed} of {units} units failed; reached {reached:?}");
    failed
}

//! Runs units of the scenarios of the room as the runner would, on calibration indices, with a profile or rooms that are
//! not the reference.

use matrix::gate::{Judgement, judge};
use matrix::header::Header;
use matrix::scenario::{Choice, Context, Pass, Set};
use matrix::scenarios::{Rooms, all};
use matrix::{Outcome, Scenario, Unit};
use room::profile::{Profile, REFERENCE};
use std::sync::Arc;

/// Scenario and header of an id.
pub(crate) fn scenario(id: &str) -> (Scenario<Rooms>, Header) {
    let scenario = all().into_iter().find(|scenario| scenario.id == id).unwrap();
    let header = Header::parse(scenario.header).unwrap_or_else(|bad| panic!("{id}: {bad:?}"));
    (scenario, header)
}

/// Its units on calibration indices.
pub(crate) fn units(id: &str, exhaustive: bool) -> Vec<Unit> {
    (scenario(id).0.units)(&Choice { set: Set::Calibration, exhaustive })
}

/// Some of those, by their texts.
pub(crate) fn some(id: &str, wanted: impl FnMut(&Unit) -> bool) -> Vec<Unit> {
    units(id, false).into_iter().filter(wanted).collect()
}

/// One run of each unit.
pub(crate) fn run(world: &Rooms, units: &[Unit]) -> Vec<Outcome> {
    units.iter().map(|unit| run_as(world, unit, Pass::default())).collect()
}

/// One run of a unit in these circumstances.
pub(crate) fn run_as(world: &Rooms, unit: &Unit, pass: Pass) -> Outcome {
    let (scenario, header) = scenario(&unit.scenario);
    let seed = scenario.seeds.suite().zip(unit.index()).map(|(suite, index)| room::draw::seed(suite, index));
    (scenario.run)(unit, &Context { world, header: &header, seed, pass })
}

/// What these units come to.
pub(crate) fn judged(world: &Rooms, units: &[Unit]) -> Judgement {
    let (scenario, header) = scenario(&units[0].scenario);
    let mut outcomes = run(world, units);
    outcomes.sort_by(|a, b| a.unit.cmp(&b.unit));
    judge(&scenario, &header, world, units, &outcomes)
}

/// Runs units and holds that nothing is found and every situation is reached. Says what it came to.
pub(crate) fn green(units: &[Unit]) -> Judgement {
    let judgement = judged(&Rooms::reference(), units);
    assert_eq!(judgement.findings, [], "{:?}", judgement.checks);
    judgement
}

/// Codes of the failures, each once, sorted.
pub(crate) fn failures(world: &Rooms, units: &[Unit]) -> Vec<String> {
    let mut codes: Vec<String> = judged(world, units)
        .findings
        .into_iter()
        .filter(|finding| finding.fails)
        .map(|finding| finding.place.split(": ").next().unwrap_or_default().to_owned())
        .collect();
    codes.sort();
    codes.dedup();
    codes
}

/// The reference profile with some of its values changed: `("v09_cycles", "value = 10", "value = 3")`.
pub(crate) fn edited(edits: &[(&str, &str, &str)]) -> Rooms {
    let mut text = REFERENCE.to_owned();
    for (key, from, to) in edits {
        let line = text.lines().find(|line| line.starts_with(&format!("{key} ="))).unwrap();
        assert!(line.contains(from), "{line}");
        text = text.replacen(line, &line.replacen(from, to, 1), 1);
    }
    let profile = Profile::parse(&text).unwrap_or_else(|problems| panic!("{problems:?}"));
    Rooms { profile: Arc::new(profile), ..Rooms::reference() }
}

/// Rooms of a profile that its own checks would refuse.
pub(crate) fn refused(edit: impl FnOnce(&mut Profile)) -> Rooms {
    let mut profile = Profile::clone(&Profile::reference());
    edit(&mut profile);
    Rooms { profile: Arc::new(profile), ..Rooms::reference() }
}

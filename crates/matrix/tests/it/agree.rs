//! What holds for every scenario of the room: the lint lets it through, and a second run that is saved and loaded on the way
//! comes to the same.

use crate::rig::{run_as, scenario, some};
use matrix::lint::{Constant, Fault, Profile, lint};
use matrix::scenario::Pass;
use matrix::scenarios::{Rooms, all};
use std::collections::BTreeSet;

#[test]
fn the_lint_finds_nothing_but_faults_that_are_not_planted_yet() {
    let rooms = Rooms::reference();
    let constants: Vec<Constant> = rooms
        .profile
        .keys()
        .iter()
        .map(|(key, stage)| Constant { key: key.clone(), stage: *stage })
        .collect();
    let profile = Profile { config_hash: rooms.profile.config_hash(), constants: &constants, faults: &[] };
    let scenarios = all();
    let found = lint(0, &scenarios, &profile).err().unwrap_or_default();
    let other: Vec<String> = found
        .iter()
        .filter(|finding| !matches!(finding.fault, Fault::MutationUnknown | Fault::NoMutation))
        .map(|finding| format!("{finding:?}"))
        .collect();
    assert!(other.is_empty(), "{other:#?}");
}

/// PC-72 over the first seed or part of each arm of the scenarios of this file.
#[test]
fn saving_and_loading_on_the_way_changes_nothing() {
    let rooms = Rooms::reference();
    for id in ["V08", "V09", "V10", "V19", "V20", "V22a"] {
        let mut arms = BTreeSet::new();
        // Seven days are for the whole matrix.
        let short = |arm: &str| id != "V10" || arm == "double";
        for unit in
            some(id, |unit| short(&unit.arm) && arms.insert((unit.arm.clone(), unit.identity.clone())))
        {
            let (first, again) = (Pass::default(), Pass { second: true, reload_every: Some(1_009) });
            let (first, again) = (run_as(&rooms, &unit, first), run_as(&rooms, &unit, again));
            assert_eq!(first.difference(&again), None, "{unit}");
        }
        assert!(!scenario(id).0.needs.is_empty());
    }
}

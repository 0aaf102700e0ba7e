//! Planted faults and what catches them. A scenario that no fault can turn red is a defect, and so is a fault that nothing
//! catches.

use crate::lint::Linted;
use std::collections::BTreeSet;

/// A planted fault, run through the matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutation {
    /// Its name, as scenarios write it.
    pub name: String,
    /// What it does, or how a scenario first turned red.
    pub what: String,
    /// Where it was planted: phase and field.
    pub planted: String,
    /// Scenarios that it turned red.
    pub caught_by: BTreeSet<String>,
    /// A test beside the scenarios that turns red; it counts as no scenario. Empty where there is none.
    pub beside: String,
    /// Where the first difference or failure was found; nothing when nothing caught it.
    pub blamed: Option<String>,
}

impl Mutation {
    /// Whether a scenario turned red.
    pub fn is_caught(&self) -> bool {
        !self.caught_by.is_empty()
    }

    /// Whether the blame fell on where it was planted.
    pub fn is_blamed_right(&self) -> bool {
        self.blamed.as_ref() == Some(&self.planted)
    }
}

/// What a table of mutations lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Faults that nothing caught.
    pub uncaught: Vec<String>,
    /// Scenarios that no fault turned red.
    pub never_red: Vec<String>,
    /// `scenario: fault` that the scenario says it catches and did not.
    pub missed: Vec<String>,
}

/// Compares what was caught with what scenarios say that they catch.
pub fn gaps<W>(linted: &Linted<'_, W>, mutations: &[Mutation]) -> Gaps {
    let mut gaps = Gaps::default();
    gaps.uncaught.extend(mutations.iter().filter(|one| !one.is_caught()).map(|one| one.name.clone()));
    for (scenario, _) in linted.scenarios() {
        let catches =
            |name: &str| mutations.iter().any(|one| one.name == name && one.caught_by.contains(scenario.id));
        if !mutations.iter().any(|one| one.caught_by.contains(scenario.id)) {
            gaps.never_red.push(scenario.id.to_owned());
        }
        let missed = scenario.mutations.iter().filter(|name| !catches(name));
        gaps.missed.extend(missed.map(|name| format!("{}: {name}", scenario.id)));
    }
    gaps
}

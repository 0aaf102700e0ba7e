//! Two files of outcomes that must be equal: runs of two processes, two builds, two machines.

use crate::Problem;
use crate::outcome::Outcome;
use crate::store::read_outcomes;
use crate::unit::Unit;
use std::collections::BTreeMap;
use std::path::Path;

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Units that both have.
    pub compared: u64,
    /// Units that differ, and the first field in which they do.
    pub differ: Vec<(Unit, String)>,
    /// Units that only one of the two has.
    pub alone: Vec<Unit>,
}

impl Comparison {
    /// Whether everything was compared and nothing differs. A comparison of nothing is none.
    pub fn is_equal(&self) -> bool {
        self.compared > 0 && self.differ.is_empty() && self.alone.is_empty()
    }
}

/// Compares outcomes; what is said of second runs does not count.
pub fn compare(left: &BTreeMap<Unit, Outcome>, right: &BTreeMap<Unit, Outcome>) -> Comparison {
    let mut comparison = Comparison::default();
    for (unit, outcome) in left {
        match right.get(unit) {
            None => comparison.alone.push(unit.clone()),
            Some(other) => {
                comparison.compared += 1;
                comparison.differ.extend(outcome.difference(other).map(|field| (unit.clone(), field)));
            }
        }
    }
    comparison.alone.extend(right.keys().filter(|unit| !left.contains_key(*unit)).cloned());
    comparison
}

/// The same of two files.
///
/// # Errors
/// A file that cannot be read, has a line that is no outcome, or two outcomes of one unit.
pub fn compare_files(left: &Path, right: &Path) -> Result<Comparison, Problem> {
    Ok(compare(&by_unit(left)?, &by_unit(right)?))
}

/// The outcomes of a file, by unit.
///
/// # Errors
/// As [`compare_files`].
pub fn by_unit(path: &Path) -> Result<BTreeMap<Unit, Outcome>, Problem> {
    let mut outcomes: BTreeMap<Unit, Outcome> = BTreeMap::new();
    for outcome in read_outcomes(path)?.0 {
        let unit = outcome.unit.clone();
        if let Some(other) = outcomes.insert(unit.clone(), outcome.clone())
            && other != outcome
        {
            return Err(Problem::Contradiction(unit.to_string()));
        }
    }
    Ok(outcomes)
}

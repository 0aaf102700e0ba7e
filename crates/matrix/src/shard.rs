//! Parts of a plan that are run apart and put together again. The whole is the same bytes as if it had never been apart.

use crate::Problem;
use crate::outcome::Outcome;
use crate::store::{self, Folder};
use crate::unit::Unit;
use canon::{Digest, Object, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

/// `i/n`: every n-th unit, from the i-th. Neighbours of one arm go to different shards, so all take about the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    number: u64,
    of: u64,
}

/// Most parts of a plan.
const PARTS_MAX: u64 = 65_536;

impl Shard {
    /// All of it.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// The part `number` of `of`, from 1; no more parts than anybody has machines.
    pub fn new(number: u64, of: u64) -> Option<Shard> {
        (of <= PARTS_MAX && (1..=of).contains(&number)).then_some(Shard { number, of })
    }

    /// Reads `i/n`.
    pub fn parse(text: &str) -> Option<Shard> {
        let (number, of) = text.split_once('/')?;
        let shard = Shard::new(number.parse().ok()?, of.parse().ok()?)?;
        (shard.to_string() == text).then_some(shard)
    }

    /// Its number, from 1.
    pub fn number(self) -> u64 {
        self.number
    }

    /// How many there are.
    pub fn of(self) -> u64 {
        self.of
    }

    /// Its part of a sorted plan.
    pub fn part(self, whole: &[Unit]) -> impl Iterator<Item = &Unit> {
        let step = usize::try_from(self.of).unwrap_or(usize::MAX);
        whole.iter().skip(usize::try_from(self.number - 1).unwrap_or(usize::MAX)).step_by(step)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// What lies in one run folder or several, put together.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The manifest of the whole, without the names of runs.
    pub members: Object,
    /// The runs that it is of, sorted.
    pub run_ids: Vec<String>,
    /// Outcomes by unit.
    pub outcomes: BTreeMap<Unit, Outcome>,
    /// Shards that are not there, or not complete.
    pub missing: Vec<u64>,
}

impl Merged {
    /// Every outcome, sorted by unit: the bytes of the run that was never apart.
    pub fn sorted(&self) -> Vec<u8> {
        store::sorted(self.outcomes.values())
    }

    /// Writes it as a run folder of its own, which is new. Replay records of failing units come with it from `folders`.
    ///
    /// # Errors
    /// There is something already, or it cannot be written.
    pub fn write(&self, path: &Path, folders: &[PathBuf]) -> Result<(), Problem> {
        let members =
            self.members.clone().with("merged_of", self.run_ids.clone()).with("run_id", self.run_id());
        store::write_merged(path, &members, &self.sorted(), folders)
    }

    /// The name of the whole: that of the run when it is one, else one that follows from the names of its parts.
    pub fn run_id(&self) -> String {
        match self.run_ids.as_slice() {
            [one] => one.clone(),
            all => Digest::of(all.join(",").as_bytes()).to_hex()[..32].to_owned(),
        }
    }

    /// The same, when every shard is there.
    ///
    /// # Errors
    /// The shards that are not.
    pub fn complete(self) -> Result<Merged, Problem> {
        if self.missing.is_empty() { Ok(self) } else { Err(Problem::ShardMissing(self.missing)) }
    }
}

/// Reads one run folder, or puts those of shards together. Equal outcomes of a unit are one.
///
/// # Errors
/// Folders of different manifests, and outcomes that contradict each other.
pub fn merge(folders: &[PathBuf]) -> Result<Merged, Problem> {
    let mut whole: Option<Object> = None;
    let mut outcomes: BTreeMap<Unit, Outcome> = BTreeMap::new();
    let mut seen: BTreeMap<Shard, u64> = BTreeMap::new();
    let mut run_ids = BTreeSet::new();
    // A folder that is given twice is one.
    let folders: BTreeSet<&PathBuf> = folders.iter().collect();
    for path in folders {
        let (mut members, lines) = Folder::peek(path)?;
        let foreign = || Problem::ForeignFolder(path.clone());
        let shard =
            members.get("shard").and_then(Value::as_str).and_then(Shard::parse).ok_or_else(foreign)?;
        run_ids.extend(names_of(&mut members));
        members.set("shard", Shard::WHOLE.to_string());
        match &whole {
            None => whole = Some(members),
            Some(whole) => store::same_manifest(path, whole, &members)?,
        }
        *seen.entry(shard).or_default() += lines.len() as u64;
        for outcome in lines {
            let unit = outcome.unit.clone();
            if let Some(other) = outcomes.insert(unit.clone(), outcome.clone())
                && other != outcome
            {
                return Err(Problem::Contradiction(unit.to_string()));
            }
        }
    }
    let members = whole.ok_or(Problem::NothingSelected)?;
    let units_n = members
        .get("units_n")
        .and_then(Value::as_i64)
        .and_then(|n| u64::try_from(n).ok())
        .unwrap_or_default();
    let missing = missing(&seen, units_n, outcomes.len() as u64);
    Ok(Merged { members, run_ids: run_ids.into_iter().collect(), outcomes, missing })
}

/// Takes the names of runs out of a manifest.
fn names_of(members: &mut Object) -> Vec<String> {
    let own = members.remove("run_id");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match members.remove("merged_of") {
        Some(Value::Array(parts)) => parts.iter().filter_map(text).collect(),
        _ => own.as_ref().and_then(text).into_iter().collect(),
    }
}

/// Shards of which there is no folder, or not every outcome. Folders of a different partition only count by their units.
fn missing(seen: &BTreeMap<Shard, u64>, units_n: u64, outcomes_n: u64) -> Vec<u64> {
    if outcomes_n >= units_n {
        return Vec::new();
    }
    let of = seen.keys().map(|shard| shard.of).max().unwrap_or(1);
    let size = |number: u64| units_n / of + u64::from(number <= units_n % of);
    let whole = |number: &u64| seen.get(&Shard { number: *number, of }).is_some_and(|n| *n >= size(*number));
    let missing: BTreeSet<u64> = (1..=of).filter(|number| !whole(number)).collect();
    missing.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{At, seeded};

    #[test]
    fn parts_are_disjoint_and_whole() {
        let mut whole = seeded("V01", &["main"], &["mira", "niko"], 50..=149);
        whole.push(Unit::new("V02", "pending", "-", At::Chunk(0)));
        whole.sort();
        for of in [1, 2, 3, 7, 201, 300] {
            let mut together: Vec<&Unit> =
                (1..=of).flat_map(|number| Shard::new(number, of).unwrap().part(&whole)).collect();
            together.sort();
            assert_eq!(together, whole.iter().collect::<Vec<_>>(), "{of}");
        }
    }

    #[test]
    fn a_shard_has_one_text() {
        assert_eq!(Shard::parse("2/3").unwrap().to_string(), "2/3");
        for text in
            ["", "0/3", "4/3", "1/0", "1/65537", "1/18446744073709551615", "01/3", "1", "1/2/3", "-1/3"]
        {
            assert_eq!(Shard::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let seen = |list: &[(u64, u64)]| {
            list.iter().map(|(number, n)| (Shard { number: *number, of: 3 }, *n)).collect()
        };
        assert_eq!(missing(&seen(&[(1, 4), (2, 3), (3, 3)]), 10, 10), [0_u64; 0]);
        assert_eq!(missing(&seen(&[(1, 4), (3, 3)]), 10, 7), [2]);
        assert_eq!(missing(&seen(&[(1, 3), (2, 3), (3, 3)]), 10, 9), [1]);
    }
}

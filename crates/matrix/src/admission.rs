//! Who may run what: calibration indices are free, holdout indices need a freeze record of this gate hash, once per freeze
//! (GD-05). Nothing runs without an [`Admission`], and there is no other way to one.

use crate::Problem;
use crate::freeze::gate_of;
use crate::plan::{Plan, is_holdout};
use crate::records::{Kind, Record, Records};
use crate::shard::Shard;
use crate::store::Folder;
use crate::unit::Unit;
use canon::{Digest, Object, Value};
use ledger::identity::Identity;
use std::collections::BTreeMap;

/// That a plan may be run into a folder.
#[derive(Clone, Debug)]
pub struct Admission {
    run_id: String,
    gate_hash: Digest,
    plan_digest: Digest,
    freeze: Option<Record>,
    again: bool,
}

impl Admission {
    /// The run it is for.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Whether it lets this plan run.
    pub(crate) fn lets<W>(&self, plan: &Plan<'_, W>) -> bool {
        let manifest = plan.manifest();
        self.gate_hash == plan.definition().gate_hash()
            && self.plan_digest == manifest.plan_digest
            && (self.freeze.is_some() || !plan.has_holdout())
    }

    /// The freeze record of this gate hash, where there is one; always when there are holdout units.
    pub fn freeze(&self) -> Option<&Record> {
        self.freeze.as_ref()
    }

    /// Whether holdout units are run that another run took under the same freeze.
    pub fn is_again(&self) -> bool {
        self.again
    }
}

/// Admits a plan into its folder. For holdout units the first call signs a record that takes them; a run that goes on after a
/// crash is known by its folder's `run_id`. `again` is a reason to run units that another run took: it is recorded.
///
/// # Errors
/// [`Problem::NotFrozen`], [`Problem::HoldoutSpent`], [`Problem::OutcomesLost`], and whatever keeps a record from being written.
pub fn admit<W>(
    plan: &Plan<'_, W>,
    folder: &Folder,
    records: &mut Records,
    again: Option<&str>,
    identity: Identity,
) -> Result<Admission, Problem> {
    let gate = plan.definition().gate_hash();
    let freeze = frozen(records.all(), gate).cloned();
    let admission = |freeze, again| Admission {
        run_id: folder.run_id().to_owned(),
        gate_hash: gate,
        plan_digest: plan.manifest().plan_digest,
        freeze,
        again,
    };
    if !plan.has_holdout() {
        not_lost(records.all(), folder)?;
        return Ok(admission(freeze, false));
    }
    let Some(freeze) = freeze else { return Err(Problem::NotFrozen(gate.to_hex())) };
    let mut is_again = false;
    records.append(Kind::Holdout, identity, |all| {
        not_lost(all, folder)?;
        if let Some(ours) = all.iter().find(|record| is_claim_of(record, folder.run_id())) {
            is_again = ours.payload.get("again").is_some_and(|again| !again.is_null());
            return Ok(None);
        }
        let claim = claim(plan, folder.run_id(), &freeze);
        let spent =
            all.iter().find(|record| record.kind == Kind::Holdout && overlap(&record.payload, &claim));
        match (spent, again) {
            (Some(spent), None) => Err(Problem::HoldoutSpent(spent.number)),
            (Some(_), Some(why)) => {
                is_again = true;
                Ok(Some(claim.with("again", why)))
            }
            (None, _) => Ok(Some(claim.with("again", Value::Null))),
        }
    })?;
    Ok(admission(Some(freeze), is_again))
}

/// The admission of a run that has one: for a second process, which writes no record and holds no folder.
///
/// # Errors
/// [`Problem::NotFrozen`] where no record lets this run have its holdout units.
pub fn recognise<W>(plan: &Plan<'_, W>, run_id: &str, records: &Records) -> Result<Admission, Problem> {
    let gate = plan.definition().gate_hash();
    let freeze = frozen(records.all(), gate).cloned();
    let claim = records.all().iter().find(|record| is_claim_of(record, run_id));
    let plan_digest = plan.manifest().plan_digest;
    let fits =
        |record: &Record| gate_of(record) == Some(gate) && record.text("plan_sha256") == plan_digest.to_hex();
    if plan.has_holdout() && (freeze.is_none() || !claim.is_some_and(fits)) {
        return Err(Problem::NotFrozen(gate.to_hex()));
    }
    let again = claim.is_some_and(|record| record.payload.get("again").is_some_and(|again| !again.is_null()));
    Ok(Admission { run_id: run_id.to_owned(), gate_hash: gate, plan_digest, freeze, again })
}

/// Whether a signed record takes a holdout unit.
pub(crate) fn takes(claim: &Record, unit: &Unit) -> bool {
    let ranges = claim.payload.get("units").and_then(|units| units.get(&row_of(unit))?.as_str());
    let held = |index| {
        parse_ranges(ranges.unwrap_or_default()).iter().any(|(low, high)| (*low..=*high).contains(&index))
    };
    unit.index().is_some_and(held)
}

/// How a claim names what belongs together.
fn row_of(unit: &Unit) -> String {
    format!("{}/{}/{}", unit.scenario, unit.arm, unit.identity)
}

fn frozen(all: &[Record], gate: Digest) -> Option<&Record> {
    all.iter().find(|record| record.kind == Kind::Freeze && gate_of(record) == Some(gate))
}

fn is_claim_of(record: &Record, run_id: &str) -> bool {
    record.kind == Kind::Holdout && record.text("run_id") == run_id
}

/// A run that ended with more outcomes than its folder has now was emptied, and would be run again under its old name.
fn not_lost(all: &[Record], folder: &Folder) -> Result<(), Problem> {
    let ours =
        all.iter().filter(|record| record.kind == Kind::Run && record.text("run_id") == folder.run_id());
    let said = ours.filter_map(|record| record.natural("outcomes_n")).max().unwrap_or_default();
    let there = folder.outcomes().len() as u64;
    if there < said { Err(Problem::OutcomesLost(said, there)) } else { Ok(()) }
}

/// What a run takes: by `scenario/arm/identity` the ranges of holdout indices.
fn claim<W>(plan: &Plan<'_, W>, run_id: &str, freeze: &Record) -> Object {
    let manifest = plan.manifest();
    let mut indices: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for unit in plan.whole().iter().filter(|unit| is_holdout(unit)) {
        indices.entry(row_of(unit)).or_default().extend(unit.index());
    }
    let mut units = Object::new();
    for (row, indices) in indices {
        units.set(&row, ranges(&indices));
    }
    Object::new()
        .with("run_id", run_id)
        .with("gate_hash", plan.definition().gate_hash())
        .with("freeze", freeze.head)
        .with("plan_sha256", manifest.plan_digest)
        .with("shard", manifest.shard.to_string())
        .with("units", units)
}

/// Sorted numbers as `50-69,80`.
fn ranges(sorted: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in sorted {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 >= *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let text = |(first, last): &(u64, u64)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

fn parse_ranges(text: &str) -> Vec<(u64, u64)> {
    let number = |text: &str| text.parse().ok();
    let range = |text: &str| match text.split_once('-') {
        Some((first, last)) => Some((number(first)?, number(last)?)),
        None => number(text).map(|one| (one, one)),
    };
    text.split(',').filter_map(range).collect()
}

/// Whether two claims under one gate hash could be of the same unit. Shards of one plan are not.
fn overlap(one: &Object, other: &Object) -> bool {
    let text =
        |claim: &Object, name: &str| claim.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let same = |name: &str| text(one, name) == text(other, name);
    let shards = [one, other].map(|claim| Shard::parse(&text(claim, "shard")).unwrap_or(Shard::WHOLE));
    let apart = shards[0].of() == shards[1].of() && shards[0].number() != shards[1].number();
    if !same("gate_hash") || (same("plan_sha256") && apart) {
        return false;
    }
    let rows = |claim: &Object| claim.get("units").and_then(Value::as_object).cloned().unwrap_or_default();
    let (ours, theirs) = (rows(one), rows(other));
    ours.iter().any(|(row, indices)| {
        let indices = parse_ranges(indices.as_str().unwrap_or_default());
        let others = parse_ranges(theirs.get(row).and_then(Value::as_str).unwrap_or_default());
        indices.iter().any(|(first, last)| others.iter().any(|(low, high)| first <= high && low <= last))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_back() {
        for text in ["50-149", "50", "50-52,60,70-71"] {
            let numbers: Vec<u64> =
                parse_ranges(text).into_iter().flat_map(|(first, last)| first..=last).collect();
            assert_eq!(ranges(&numbers), text);
        }
    }

    #[test]
    fn claims_overlap_where_they_could_be_of_one_unit() {
        let claim = |gate: &str, plan: &str, shard: &str, row: &str, indices: &str| {
            let units = Object::new().with(row, indices);
            Object::new()
                .with("gate_hash", gate)
                .with("plan_sha256", plan)
                .with("shard", shard)
                .with("units", units)
        };
        let ours = claim("g", "p", "1/2", "V01/main/mira", "50-69");
        for (other, expected) in [
            (claim("g", "p", "2/2", "V01/main/mira", "50-69"), false),
            (claim("g", "p", "1/2", "V01/main/mira", "50-69"), true),
            (claim("g", "p", "2/3", "V01/main/mira", "50-69"), true),
            (claim("g", "q", "2/2", "V01/main/mira", "69"), true),
            (claim("g", "q", "1/1", "V01/main/mira", "70-80"), false),
            (claim("g", "q", "1/1", "V01/main/niko", "50"), false),
            (claim("h", "p", "1/2", "V01/main/mira", "50"), false),
        ] {
            assert_eq!(overlap(&ours, &other), expected, "{other:?}");
            assert_eq!(overlap(&other, &ours), expected, "{other:?}");
        }
    }
}

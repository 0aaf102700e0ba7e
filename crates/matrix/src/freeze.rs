//! Freezing: configuration, test definitions, seeds and thresholds become one hash before anybody looks (RC-SEE-04, GD-05).

use crate::Problem;
use crate::header::{Bound, Header};
use crate::lint::Linted;
use crate::outcome::hex16;
use crate::records::{Kind, Record, Records};
use crate::scenario::{Scenario, Set};
use canon::{Digest, Hasher, Object, Value, canonical, canonical_digest};
use desk::store::write_atomic;
use ledger::identity::Identity;
use std::collections::BTreeMap;

/// What is frozen.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The stage.
    pub stage: u8,
    /// Digest of the canonical configuration.
    pub config_hash: Digest,
    /// The lines of the gate hash, sorted by name: `config`, `seeds`, `test/V01`, `thresholds`.
    pub lines: Vec<(String, Digest)>,
    /// The seed manifest: suite, indices and seeds of every scenario, canonical JSON.
    pub seeds: Vec<u8>,
    /// The threshold table: thresholds and allowed failures of every scenario, canonical JSON.
    pub thresholds: Vec<u8>,
}

impl Definition {
    /// Of scenarios that passed the lint; there is no other way to a seed manifest (RC-LNT-05).
    pub fn of<W>(linted: &Linted<'_, W>) -> Definition {
        let mut seeds = Object::new();
        let mut thresholds = Object::new();
        let mut lines = vec![("config".to_owned(), linted.config_hash())];
        for (scenario, header) in linted.scenarios() {
            seeds.set(scenario.id, seeds_of(scenario));
            thresholds.set(scenario.id, thresholds_of(header));
            lines.push((format!("test/{}", scenario.id), canonical_digest(&scenario.definition())));
        }
        let seeds =
            canonical(&Object::new().with("lineage", room::draw::LINEAGE).with("scenarios", seeds).into());
        let thresholds = canonical(&thresholds.into());
        lines.push(("seeds".to_owned(), Digest::of(&seeds)));
        lines.push(("thresholds".to_owned(), Digest::of(&thresholds)));
        lines.sort();
        Definition { stage: linted.stage(), config_hash: linted.config_hash(), lines, seeds, thresholds }
    }

    /// SHA-256 over `name NUL hex-sha256 LF`, sorted by name (GD-05).
    pub fn gate_hash(&self) -> Digest {
        gate_hash(&self.lines)
    }
}

fn gate_hash(lines: &[(String, Digest)]) -> Digest {
    let mut hasher = Hasher::new();
    for (name, digest) in lines {
        hasher.update(format!("{name}\0{digest}\n").as_bytes());
    }
    hasher.finish()
}

fn seeds_of<W>(scenario: &Scenario<W>) -> Value {
    let Some(suite) = scenario.seeds.suite() else { return Value::Null };
    let set = |set: Set| {
        let mut seeds = Object::new();
        for index in scenario.seeds.indices(set) {
            seeds.set(&index.to_string(), hex16(room::draw::seed(suite, index)));
        }
        seeds
    };
    Object::new()
        .with("suite", suite)
        .with("calibration", set(Set::Calibration))
        .with("holdout", set(Set::Holdout))
        .into()
}

fn thresholds_of(header: &Header) -> Value {
    let mut thresholds = Object::new();
    for (name, bound) in &header.thresholds {
        thresholds.set(name, bound_value(bound));
    }
    let mut allowed = Object::new();
    header.allowed.iter().for_each(|(check, n)| allowed.set(check, *n));
    let mut bindings = Object::new();
    for (phrase, bound) in &header.bindings {
        bindings.set(phrase, bound.as_ref().map(bound_value));
    }
    Object::new().with("thresholds", thresholds).with("allowed", allowed).with("bindings", bindings).into()
}

fn bound_value(bound: &Bound) -> Value {
    match bound {
        Bound::Number(number, unit) => {
            Object::new().with("number", *number).with("unit", unit.as_str()).into()
        }
        Bound::Constant(key) => Object::new().with("constant", key.as_str()).into(),
    }
}

/// Writes the seed manifest and the threshold table and signs a freeze record, unless the newest one says the same.
/// `beside` is recorded and not part of the gate hash: which engine, on which machine.
///
/// # Errors
/// Records that do not verify, or that cannot be written.
pub fn freeze(
    definition: &Definition,
    records: &mut Records,
    identity: Identity,
    beside: &BTreeMap<String, String>,
) -> Result<Record, Problem> {
    let gate = definition.gate_hash();
    let folder = records.folder().to_path_buf();
    std::fs::create_dir_all(&folder).map_err(Problem::written(&folder))?;
    for (name, bytes) in [("seeds", &definition.seeds), ("thresholds", &definition.thresholds)] {
        let path = folder.join(format!("{name}-{}.json", short(gate)));
        write_atomic(&path, bytes, 0o644).map_err(Problem::written(&path))?;
    }
    let is_newest = |all: &[Record]| {
        all.iter()
            .rev()
            .find(|record| record.kind == Kind::Freeze)
            .filter(|record| gate_of(record) == Some(gate))
            .cloned()
    };
    let mut there = None;
    let written = records.append(Kind::Freeze, identity, |all| {
        there = is_newest(all);
        Ok(there.is_none().then(|| payload(definition, beside)))
    })?;
    written.or(there).ok_or(Problem::NotFrozen(gate.to_hex()))
}

fn payload(definition: &Definition, beside: &BTreeMap<String, String>) -> Object {
    let line =
        |(name, digest): &(String, Digest)| Object::new().with("name", name.as_str()).with("sha256", *digest);
    let mut notes = Object::new();
    beside.iter().for_each(|(name, text)| notes.set(name, text.as_str()));
    Object::new()
        .with("stage", u64::from(definition.stage))
        .with("config_hash", definition.config_hash)
        .with("gate_hash", definition.gate_hash())
        .with("lines", definition.lines.iter().map(line).collect::<Vec<_>>())
        .with("beside", notes)
}

/// The gate hash of a record.
pub fn gate_of(record: &Record) -> Option<Digest> {
    Digest::parse(record.text("gate_hash")).ok()
}

/// The lines of a freeze record.
pub fn lines_of(record: &Record) -> Option<Vec<(String, Digest)>> {
    let line = |line: &Value| {
        let text = |name: &str| line.get(name).and_then(Value::as_str);
        Some((text("name")?.to_owned(), Digest::parse(text("sha256")?).ok()?))
    };
    record.payload.get("lines")?.as_array()?.iter().map(line).collect()
}

/// Whether the gate hash of a freeze record is that of its lines, and its configuration the one among them.
pub(crate) fn holds(record: &Record) -> bool {
    lines_of(record).is_some_and(|lines| {
        let config = lines.iter().find(|(name, _)| name == "config").map(|(_, digest)| digest.to_hex());
        lines.is_sorted()
            && gate_of(record) == Some(gate_hash(&lines))
            && config.as_deref() == Some(record.text("config_hash"))
    })
}

/// The display form: the first 16 digits.
pub fn short(digest: Digest) -> String {
    let mut hex = digest.to_hex();
    hex.truncate(16);
    hex
}

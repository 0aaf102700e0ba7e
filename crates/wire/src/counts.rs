//! Counts over the rows of an index, by class (31.11).

use crate::{CallError, Class, Outcome, Protocol, Row, Wire};
use canon::{Object, Value};
use std::collections::BTreeMap;

/// Calls by how they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<Outcome, u64>);

impl Tally {
    /// Calls that ended so.
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.0.get(&outcome).copied().unwrap_or(0)
    }

    /// All of them.
    pub fn all(&self) -> u64 {
        self.0.values().sum()
    }
}

/// What an index counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that ask a model.
    pub model: Tally,
    /// Other calls.
    pub other: Tally,
    /// Calls by what was spoken.
    pub by_protocol: BTreeMap<Protocol, u64>,
    /// Calls by wire.
    pub by_wire: BTreeMap<Wire, u64>,
    /// Calls with an error, by its code.
    pub errors: BTreeMap<CallError, u64>,
    /// Models that answered, by name.
    pub models: BTreeMap<String, u64>,
    /// Bytes of all requests.
    pub request_bytes: u64,
    /// Bytes of all answers.
    pub response_bytes: u64,
}

/// Different names of models that are counted apart; more go without a name. An upstream cannot make a run's memory or
/// summary grow.
const MODELS_MAX: usize = 64;

impl Counts {
    /// Takes a row.
    pub fn add(&mut self, row: &Row) {
        let tally = if row.class == Class::Model { &mut self.model } else { &mut self.other };
        *tally.0.entry(row.outcome).or_default() += 1;
        *self.by_protocol.entry(row.protocol).or_default() += 1;
        *self.by_wire.entry(row.wire).or_default() += 1;
        if let Some(error) = row.error {
            *self.errors.entry(error).or_default() += 1;
        }
        if let Some(model) = &row.model {
            let known = self.models.contains_key(model) || self.models.len() < MODELS_MAX;
            *self.models.entry(if known { model.clone() } else { String::new() }).or_default() += 1;
        }
        self.request_bytes = self.request_bytes.saturating_add(row.request_bytes);
        self.response_bytes = self.response_bytes.saturating_add(row.response_bytes);
    }

    /// Every finished call, whatever its path or status: `requests_seen`.
    pub fn requests_seen(&self) -> u64 {
        self.model.all() + self.other.all()
    }

    /// Model calls that succeeded (ruling 15): without one a run is VOID.
    pub fn model_succeeded(&self) -> u64 {
        self.model.of(Outcome::Succeeded)
    }

    /// Calls that were answered here.
    pub fn blocked(&self) -> u64 {
        self.model.of(Outcome::Blocked) + self.other.of(Outcome::Blocked)
    }

    /// For a summary: only what is not zero.
    pub fn value(&self) -> Value {
        fn map<K: Copy>(map: &BTreeMap<K, u64>, code: impl Fn(K) -> &'static str) -> Object {
            map.iter().fold(Object::new(), |object, (key, n)| object.with(code(*key), *n))
        }
        let tally = |tally: &Tally| {
            let by = map(&tally.0, Outcome::code);
            Object::new().with("calls_n", tally.all()).with("by_outcome", by)
        };
        let models = self.models.iter().fold(Object::new(), |object, (name, n)| object.with(name, *n));
        Object::new()
            .with("requests_seen", self.requests_seen())
            .with("model_succeeded_n", self.model_succeeded())
            .with("blocked_n", self.blocked())
            .with("model", tally(&self.model))
            .with("other", tally(&self.other))
            .with("by_protocol", map(&self.by_protocol, Protocol::code))
            .with("by_wire", map(&self.by_wire, Wire::code))
            .with("errors", map(&self.errors, CallError::code))
            .with("models", models)
            .with("request_bytes", self.request_bytes)
            .with("response_bytes", self.response_bytes)
            .into()
    }
}

//! The receipt of a run: what a stranger needs to check it, without the record itself (architecture, the same four things
//! for every run: verdict, evidence class, replay hash, and a place on a ledger).

use crate::check::Check;
use crate::record::Record;
use canon::{Digest, Object, Value};

canon::codes! {
    /// The verdict of a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Verdict {
        /// Every check that had something to look at held on every tick.
        Held = "room_contract_held",
        /// A check did not hold.
        Broken = "room_contract_broken",
    }
}

/// Layer of the verdict: a contract over a whole run is a question of consistency.
const LAYER: &str = "L8";

/// Field table of receipts, for whoever grades this runtime (D-3).
pub const FIELDS: &str = include_str!("../fields.toml");

/// The receipt of a record.
#[must_use]
pub fn of(record: &Record) -> Value {
    let verdict = verdict(record);
    let action = if verdict == Verdict::Held { "allow" } else { "block" };
    let checks: Vec<Object> =
        record.checks.iter().map(|(check, count)| checked(record, *check, *count)).collect();
    let state = record.keyframes.last().map(|frame| frame.hash.to_hex());
    Object::new()
        .with("kind", "room_run")
        .with("suite", record.setup.suite.as_str())
        .with("index", record.setup.index)
        .with("seed", record.setup.seed.as_str())
        .with("identity", record.setup.identity.name())
        .with("mode", record.setup.mode.name())
        .with("excluded_from_core_metrics", record.setup.mode == crate::setup::RunMode::Lab)
        .with("ticks", record.ticks)
        .with("inputs_n", record.inputs.len() as u64)
        .with("config_sha256", record.config_hash)
        .with("gate_sha256", record.gate_hash)
        .with("record_sha256", Digest::of(&record.text()))
        .with("state_sha256", state)
        .with("folds_sha256", record.folds_digest)
        .with("checks", checks)
        .with("violation", record.violation.as_ref().map(violation))
        .with(
            "verdict",
            Object::new().with("action", action).with("layer", LAYER).with("reason", verdict.code()),
        )
        .with("evidence_class", "simulated")
        .into()
}

/// What the run came to.
#[must_use]
pub fn verdict(record: &Record) -> Verdict {
    if record.violation.is_some() { Verdict::Broken } else { Verdict::Held }
}

/// A check over nothing is unchecked; it never reads as held.
fn checked(record: &Record, check: Check, count: u64) -> Object {
    let broken = record.violation.as_ref().is_some_and(|violation| violation.check == check);
    let word = match count {
        _ if broken => "broken",
        0 => "unchecked",
        _ => "held",
    };
    Object::new().with("id", check.name()).with("times", count).with("word", word)
}

fn violation(violation: &crate::check::Violation) -> Object {
    Object::new()
        .with("check", violation.check.name())
        .with("tick", violation.tick)
        .with("about", violation.about)
}

//! The receipt: what was decided about one envelope, and why (K-6). `fields.toml` classifies every field.

use crate::guard::{Finding, Step};
use crate::route::Channel;
use canon::{Digest, Object, Value};
use verdict::Triple;

/// The field table of a run of receipts (D-3, ruling 23).
pub const FIELDS: &str = include_str!("../fields.toml");

/// Version of the field table.
pub const TABLE_VERSION: u64 = 2;

/// Route of a receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routed {
    /// Name of the skill.
    pub skill: String,
    /// Version of the skill.
    pub version: u32,
    /// SHA-256 of its WebAssembly module; nothing for a built-in skill. A name and a version are what its author says.
    pub module: Option<Digest>,
    /// How it was found.
    pub channel: Channel,
    /// 0 to 1 000 000.
    pub score: u32,
}

/// Everything about one envelope that is the same in every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Number of the record in its input, from 1.
    pub record: u64,
    /// The envelope's id; nothing when it could not be read.
    pub id: Option<String>,
    /// Who sent it; nothing when it could not be read.
    pub sender: Option<String>,
    /// Digest of the canonical envelope, or of the line when that could not be read.
    pub sha256: Digest,
    /// Action, layer, reason.
    pub verdict: Triple,
    /// What was hit; nothing when everything passed.
    pub finding: Option<Finding>,
    /// Where it went; nothing when it went nowhere.
    pub route: Option<Routed>,
    /// What the skill made; nothing when it did not run or gave nothing.
    pub output: Option<Value>,
    /// Every step that was taken.
    pub steps: Vec<Step>,
}

/// What differs between two runs by nature (R4); the shell measures it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Physical {
    /// Milliseconds since 1970.
    pub ts: i64,
    /// How long the envelope took, in nanoseconds.
    pub elapsed: u64,
    /// Place in the order of completion, from 1.
    pub thread_order: u64,
    /// The process.
    pub pid: u32,
}

impl Receipt {
    /// The receipt as a value without floats. Members stand in canonical order.
    pub fn into_value(self, physical: &Physical) -> Value {
        let finding = self
            .finding
            .map(|finding| Object::new().with("member", finding.member).with("pattern", finding.pattern));
        let route = self.route.as_ref().map(|route| {
            Object::new()
                .with("channel", route.channel.word())
                .with("score", u64::from(route.score))
                .with("skill", route.skill.as_str())
        });
        let skill = self.route.map(|route| {
            Object::new()
                .with("module_sha256", route.module)
                .with("name", route.skill)
                .with("version", u64::from(route.version))
        });
        let envelope =
            Object::new().with("id", self.id).with("sender", self.sender).with("sha256", self.sha256);
        Object::new()
            .with("elapsed", physical.elapsed)
            .with("envelope", envelope)
            .with("evidence_class", "simulated")
            .with("hit", finding)
            .with("measure_source", Value::Null)
            .with("measure_ts", Value::Null)
            .with("output", self.output.unwrap_or(Value::Null))
            .with("pid", u64::from(physical.pid))
            .with("record", self.record)
            .with("route", route)
            .with("skill", skill)
            .with("steps", steps(&self.steps))
            .with("table_version", TABLE_VERSION)
            .with("thread_order", physical.thread_order)
            .with("ts", physical.ts)
            .with("verdict", triple(self.verdict))
            .into()
    }
}

fn triple(triple: Triple) -> Object {
    Object::new()
        .with("action", triple.action.word())
        .with("layer", triple.layer)
        .with("reason", triple.reason)
}

fn steps(steps: &[Step]) -> Value {
    let step =
        |(index, step): (usize, &Step)| Value::from(triple(step.triple).with("step", index as u64 + 1));
    Value::Array(steps.iter().enumerate().map(step).collect())
}

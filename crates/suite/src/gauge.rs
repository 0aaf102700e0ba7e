//! The gauge of a suite: does it accept a known good answer and refuse known bad ones (desk specification 17)?
//!
//! Nothing is run here. A gauge that passes shows only that the suite does not accept everything.

use crate::spec::Spec;
use canon::{Digest, Object, Value, canonical_digest};

/// The version of the record.
const VERSION: i64 = 1;

/// What obtained the outcomes. The peer has no runner of its own; ours is named in the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Digest of what defines it.
    pub sha256: Digest,
}

/// What was measured. A run that could not be made has no place here: cannot measure is not measured zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gauge {
    suite_sha256: Digest,
    ref_sha256: Digest,
    ref_passed: bool,
    accepted: Vec<bool>,
    runner: Runner,
}

impl Gauge {
    /// The gauge of `spec`: whether the text `reference` passed, and for each known-bad stub, in order, whether the suite
    /// accepted it.
    pub fn new(spec: &Spec, reference: &str, ref_passed: bool, accepted: Vec<bool>, runner: Runner) -> Gauge {
        let ref_sha256 = Digest::of(reference.as_bytes());
        Gauge { suite_sha256: spec.digest(), ref_sha256, ref_passed, accepted, runner }
    }

    /// The suite that was gauged.
    pub fn suite_sha256(&self) -> Digest {
        self.suite_sha256
    }

    /// There were stubs, and none got through.
    pub fn all_rejected(&self) -> bool {
        !self.accepted.is_empty() && !self.accepted.contains(&true)
    }

    /// The reference passed and all stubs were refused. Never without a stub.
    pub fn ok(&self) -> bool {
        self.ref_passed && self.all_rejected()
    }

    /// The record as the peer has it, without a runner.
    pub fn peer_record(&self) -> Object {
        let rejected = self.accepted.iter().filter(|accepted| !**accepted).count() as u64;
        let through = self.accepted.iter().enumerate().filter(|(_, accepted)| **accepted);
        let through: Vec<u64> = through.map(|(index, _)| index as u64).collect();
        Object::new()
            .with("v", VERSION)
            .with("suite_sha256", self.suite_sha256)
            .with("ref_sha256", self.ref_sha256)
            .with("ref_passed", self.ref_passed)
            .with("n_broken", self.accepted.len() as u64)
            .with("n_rejected", rejected)
            .with("all_rejected", self.all_rejected())
            .with("accepted_stubs", through)
            .with("ok", self.ok())
    }

    /// The record, with the runner. It holds no float.
    pub fn record(&self) -> Value {
        let runner = Object::new()
            .with("name", self.runner.name.as_str())
            .with("version", self.runner.version.as_str())
            .with("sha256", self.runner.sha256);
        self.peer_record().with("runner", runner).into()
    }

    /// The digest of [`Gauge::record`].
    pub fn digest(&self) -> Digest {
        canonical_digest(&self.record())
    }

    /// What a committed suite carries of it (18.4).
    pub fn summary(&self) -> Value {
        Object::new()
            .with("suite_sha256", self.suite_sha256)
            .with("ref_sha256", self.ref_sha256)
            .with("n_broken", self.accepted.len() as u64)
            .with("all_rejected", self.all_rejected())
            .with("ref_passed", self.ref_passed)
            .into()
    }
}

/// The stub of a suite that names none: takes anything, returns nothing.
pub fn default_stub(spec: &Spec) -> String {
    format!("def {}(*args, **kwargs):\n    return None\n", spec.entry_point())
}

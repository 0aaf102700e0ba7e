//! The gauge of a suite with a runner of ours (desk specification 17).
//!
//! The peer ships no runner: whoever gauges a suite there brings one, and the record does not say which. Ours runs the
//! reference and the stubs as it runs every candidate, and the record names it.

use crate::place;
use crate::{Candidate, CheckInfraError, Evaluation, Evaluator};
use canon::Hasher;
use suite::gauge::{Gauge, Runner};
use suite::native::Program;
use suite::spec::Spec;

/// Name and version of the runner; another version may answer differently.
pub const RUNNER: &str = "touchstone-check";
/// See [`RUNNER`].
pub const RUNNER_VERSION: &str = "1";

/// The runner, with the digest of the texts that decide what a candidate answers and whether that is right.
pub fn runner() -> Runner {
    let mut hasher = Hasher::new();
    hasher.update(Program::this().sha256.as_bytes());
    for text in place::ADAPTERS {
        hasher.update(&(text.len() as u64).to_be_bytes());
        hasher.update(text.as_bytes());
    }
    Runner { name: RUNNER.into(), version: RUNNER_VERSION.into(), sha256: hasher.finish() }
}

/// A gauge and what it follows from.
#[derive(Clone, Debug)]
pub struct Gauged {
    /// The record.
    pub gauge: Gauge,
    /// How the reference did.
    pub reference: Evaluation,
    /// How each stub did, in order.
    pub stubs: Vec<Evaluation>,
}

/// Runs the reference once, then each stub in order. An empty list of stubs never passes.
///
/// # Errors
///
/// [`CheckInfraError`] when one could not be run: cannot measure is not measured zero.
pub fn gauge(
    evaluator: &mut Evaluator<'_>,
    spec: &Spec,
    reference: &Candidate,
    stubs: &[Candidate],
) -> Result<Gauged, CheckInfraError> {
    let of_reference = evaluator.evaluate(spec, reference)?;
    let of_stubs: Vec<Evaluation> =
        stubs.iter().map(|stub| evaluator.evaluate(spec, stub)).collect::<Result<_, _>>()?;
    let accepted = of_stubs.iter().map(|seen| seen.ok).collect();
    let gauge = Gauge::new(spec, &reference.source, of_reference.ok, accepted, runner());
    Ok(Gauged { gauge, reference: of_reference, stubs: of_stubs })
}

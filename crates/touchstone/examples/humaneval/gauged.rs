//! Each suite with its published solution and with stubs that are known to be wrong.

use crate::bank::Bank;
use check::gauge::gauge;
use check::{Candidate, Evaluator, Options, Place};
use suite::gauge::default_stub;
use suite::spec::Spec;

/// What the stubs return, in the order of [`Gauged::let_through`].
pub(crate) const STUBS: [&str; 6] =
    ["None (the default stub)", "its first argument", "0", "\"\"", "[]", "True"];

/// What all gauges came to.
pub(crate) struct Gauged {
    /// Suites that accept the published solution.
    pub(crate) reference_passed: usize,
    /// Suites whose gauge passes with the default stub alone.
    pub(crate) ok_default: usize,
    /// Suites whose gauge passes with all stubs.
    pub(crate) ok_all: usize,
    /// For each stub the number of suites that accept it.
    pub(crate) let_through: [usize; STUBS.len()],
    /// Suites that let something through: name, and the stubs that they accept.
    pub(crate) leaks: Vec<(String, Vec<&'static str>)>,
}

fn stubs(spec: &Spec) -> Vec<Candidate> {
    let returns = |what: &&str| format!("def {}(*args, **kwargs):\n    return {what}\n", spec.entry_point());
    let others = ["args[0] if args else None", "0", "\"\"", "[]", "True"];
    let all = [default_stub(spec)].into_iter().chain(others.iter().map(returns));
    all.map(Candidate::python).collect()
}

/// Gauges every suite of the bank.
pub(crate) fn all(place: &Place, options: Options, bank: &Bank) -> Result<Gauged, String> {
    let mut evaluator = Evaluator::new(place, options);
    let mut all = Gauged {
        reference_passed: 0,
        ok_default: 0,
        ok_all: 0,
        let_through: [0; STUBS.len()],
        leaks: Vec::new(),
    };
    for problem in &bank.problems {
        let reference = Candidate::python(problem.solution.as_str());
        let stubs = stubs(&problem.spec);
        let gauged =
            gauge(&mut evaluator, &problem.spec, &reference, &stubs).map_err(|why| why.to_string())?;
        let accepted: Vec<bool> = gauged.stubs.iter().map(|seen| seen.ok).collect();
        all.reference_passed += usize::from(gauged.reference.ok);
        all.ok_all += usize::from(gauged.gauge.ok());
        all.ok_default += usize::from(gauged.reference.ok && accepted.first() == Some(&false));
        for (count, accepted) in all.let_through.iter_mut().zip(&accepted) {
            *count += usize::from(*accepted);
        }
        let through: Vec<&str> =
            STUBS.iter().zip(&accepted).filter(|(_, accepted)| **accepted).map(|(stub, _)| *stub).collect();
        if !through.is_empty() {
            all.leaks.push((problem.task.task_id.clone(), through));
        }
    }
    Ok(all)
}

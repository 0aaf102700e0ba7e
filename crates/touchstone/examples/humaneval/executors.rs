//! Honest executors: each with a key, a chain and processes of its own, all three at the same time.

use crate::MUTANTS_MAX;
use crate::bank::{Bank, Problem};
use check::mutation::mutants;
use check::{Candidate, Evaluator, Options, Place};
use desk::keydir;
use peers::quorum::{Attestation, Bound, Code, Executor, Gauged, Outcome, Probe, Roster, form_verdict};
use std::num::NonZeroUsize;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use suite::spec::Spec;

/// How many judge.
pub(crate) const EXECUTORS: usize = 3;
/// How many of them have to.
pub(crate) const QUORUM: NonZeroUsize = NonZeroUsize::MIN.saturating_add(EXECUTORS / 2);

/// A text that is judged.
pub(crate) struct Draft {
    /// Place of the problem in the bank.
    pub(crate) problem: usize,
    pub(crate) code: Code,
    /// One of the operators; nothing for the published solution.
    pub(crate) operator: Option<String>,
}

/// The published solutions, and up to [`MUTANTS_MAX`] mutants of each.
pub(crate) fn candidates(place: &Place, bank: &Bank) -> Result<Vec<Draft>, String> {
    let mut all = Vec::new();
    for (problem, Problem { solution, .. }) in bank.problems.iter().enumerate() {
        all.push(Draft { problem, code: Code(solution.clone()), operator: None });
        let made = mutants(place, solution).map_err(|why| why.to_string())??.mutants;
        let taken = made.len().min(MUTANTS_MAX);
        for number in 0..taken {
            let mutant = &made[number * made.len() / taken];
            let operator = Some(mutant.operator.clone());
            all.push(Draft { problem, code: Code(mutant.code.clone()), operator });
        }
    }
    Ok(all)
}

/// What three honest executors saw of each draft.
pub(crate) struct Seen {
    pub(crate) by_executor: Vec<Vec<Outcome>>,
}

/// How many mutants the suites noticed.
pub(crate) struct Mutation {
    pub(crate) killed: usize,
    pub(crate) made: usize,
    /// Published solutions that were accepted.
    pub(crate) accepted: usize,
    /// Drafts of which the three honest runs saw different things.
    pub(crate) unstable: usize,
}

impl Seen {
    /// What all three saw; nothing when they differ.
    pub(crate) fn truth(&self, draft: usize) -> Option<&Outcome> {
        let first = self.by_executor.first()?.get(draft)?;
        self.by_executor.iter().all(|seen| seen.get(draft) == Some(first)).then_some(first)
    }

    pub(crate) fn mutation(&self, drafts: &[Draft]) -> Mutation {
        let mut all = Mutation { killed: 0, made: 0, accepted: 0, unstable: 0 };
        for (number, draft) in drafts.iter().enumerate() {
            match (self.truth(number), &draft.operator) {
                (None, _) => all.unstable += 1,
                (Some(seen), None) => all.accepted += usize::from(seen.visible_ok),
                (Some(seen), Some(_)) => {
                    all.killed += usize::from(!seen.visible_ok);
                    all.made += 1;
                }
            }
        }
        all
    }
}

/// Runs a draft and says what it saw.
struct Honest<'a> {
    evaluator: Evaluator<'a>,
    spec: &'a Spec,
}

impl Probe for Honest<'_> {
    type Error = check::CheckInfraError;

    fn run(&mut self, code: &Code, _: &Bound<'_>) -> Result<Outcome, Self::Error> {
        let seen = self.evaluator.evaluate(self.spec, &Candidate::python(code.0.as_str()))?;
        Ok(Outcome {
            visible_ok: seen.ok,
            first_failing_test: seen.first_failing_test.map(|test| test as u64),
            loads_ok: seen.loads_ok,
            detail_reason: seen.detail.map(|detail| detail.code().to_owned()),
        })
    }
}

/// Each of three executors runs every draft once, and keeps what it saw for the cases.
pub(crate) fn honest(place: &Place, options: Options, bank: &Bank, drafts: &[Draft]) -> Result<Seen, String> {
    let by_executor = at_once(|_| {
        let mut probe = Honest { evaluator: Evaluator::new(place, options), spec: &bank.problems[0].spec };
        let mut seen = Vec::new();
        for draft in drafts {
            let problem = &bank.problems[draft.problem];
            probe.spec = &problem.spec;
            seen.push(probe.run(&draft.code, &bound(problem)?).map_err(|why| why.to_string())?);
        }
        Ok(seen)
    })?;
    Ok(Seen { by_executor })
}

/// Seconds for a quorum over the published solutions: every executor runs and signs all of them, then the verdicts are formed. The
/// sandbox is there already; everything that an executor starts counts.
pub(crate) fn timed(place: &Place, options: Options, bank: &Bank) -> Result<f64, String> {
    let start = Instant::now();
    let said = at_once(|number| {
        let probe = Honest { evaluator: Evaluator::new(place, options), spec: &bank.problems[0].spec };
        let identity = keydir::fresh().map_err(|error| error.to_string())?;
        let mut executor = Executor::new(&name(number), identity, probe);
        let mut said = Vec::new();
        for problem in &bank.problems {
            executor.probe().spec = &problem.spec;
            said.push(attest(&mut executor, &Code(problem.solution.clone()), &bound(problem)?)?);
        }
        Ok((executor.key(), said))
    })?;
    let roster: Roster = said.iter().enumerate().map(|(number, (key, _))| (name(number), *key)).collect();
    for (number, problem) in bank.problems.iter().enumerate() {
        let statements: Vec<Attestation> = said.iter().map(|(_, said)| said[number].clone()).collect();
        let binding = bound(problem)?.binding(&Code(problem.solution.clone()));
        let verdict = form_verdict(&statements, &roster, &binding, QUORUM, Gauged::Unchecked);
        if verdict.visible_ok != Some(true) {
            return Err(format!("{}: the published solution is not accepted", problem.task.task_id));
        }
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Three threads, one for each executor.
fn at_once<T: Send>(run: impl Fn(usize) -> Result<T, String> + Sync) -> Result<Vec<T>, String> {
    std::thread::scope(|scope| {
        let run = &run;
        let started: Vec<_> = (0..EXECUTORS).map(|number| scope.spawn(move || run(number))).collect();
        started
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "an executor's thread ended".to_owned())?)
            .collect()
    })
}

/// Signs one statement.
pub(crate) fn attest<P: Probe>(
    executor: &mut Executor<P>,
    code: &Code,
    bound: &Bound<'_>,
) -> Result<Attestation, String>
where
    P::Error: std::fmt::Debug,
{
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    executor.attest(code, bound, now).map_err(|why| format!("{why:?}"))
}

/// The problem's suite, bound to its task. No name is reserved: a suite that has one of those cannot be read at all.
pub(crate) fn bound(problem: &Problem) -> Result<Bound<'_>, String> {
    problem.suite.bind(&problem.task, &|_| false).map_err(|unbound| unbound.code().to_owned())
}

/// The name of an executor, from 0.
pub(crate) fn name(number: usize) -> String {
    format!("executor-{number}")
}

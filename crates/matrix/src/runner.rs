//! Runs units over threads, each twice: once in the order of the plan, once the other way round, in one process. What
//! differs fails (`matrix_twice_differs`). Outcomes go to the folder in batches; a word stops it between units.

use crate::Problem;
use crate::admission::Admission;
use crate::gate::Fault;
use crate::lint::Linted;
use crate::outcome::{Outcome, Twice};
use crate::plan::{Plan, Second};
use crate::scenario::Pass;
use crate::store::Folder;
use crate::unit::Unit;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The check under which a run that panicked is counted.
pub const RUN_CHECK: &str = "RUN";

/// How it is run. None of it may change an outcome.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads.
    pub threads: NonZeroUsize,
    /// Outcomes of one write to disk.
    pub batch: NonZeroUsize,
}

/// Where a run stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Units that have an outcome, those of earlier processes included.
    pub done: usize,
    /// All units.
    pub total: usize,
    /// Units that fail.
    pub failing: usize,
    /// Ticks of this process, both runs counted.
    pub ticks: u64,
    /// The unit that ended last.
    pub last: Option<Unit>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every unit has an outcome.
    Finished,
    /// Somebody stopped it; the folder can be gone on with.
    Stopped,
}

/// One run of one unit.
#[derive(Clone, Copy)]
struct Job<'u> {
    unit: &'u Unit,
    pass: Pass,
}

type Ended<'u> = (Job<'u>, Outcome);

/// Runs the units of a plan that have no outcome in the folder yet.
///
/// # Errors
/// An outcome could not be made durable, or a thread not be started.
pub fn run<W: Sync>(
    plan: &Plan<'_, W>,
    admission: &Admission,
    world: &W,
    folder: &mut Folder,
    options: Options,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Progress),
) -> Result<End, Problem> {
    admitted(plan, admission, folder.run_id())?;
    let pending: Vec<&Unit> = plan.units().filter(|unit| !folder.outcomes().contains_key(*unit)).collect();
    let total = plan.units().count();
    let failing = folder.outcomes().values().filter(|outcome| outcome.is_failing()).count();
    let mut at = Progress { done: total - pending.len(), total, failing, ticks: 0, last: None };
    progress(&at);
    let jobs = jobs(&pending, plan.second, options.batch.get().max(2 * options.threads.get()));
    let mut halves = Halves { second: plan.second, first: BTreeMap::new() };
    let mut batch = Vec::new();
    work(plan.linted, &jobs, world, options.threads, stop, &mut |(job, outcome)| {
        at.ticks += outcome.ticks;
        let Some(outcome) = halves.whole(job, outcome) else { return Ok(()) };
        at.done += 1;
        if outcome.is_failing() {
            at.failing += 1;
            folder.keep_failed(&outcome, record(plan.linted, &outcome.unit, world).as_deref())?;
        }
        at.last = Some(outcome.unit.clone());
        batch.push(outcome);
        if batch.len() >= options.batch.get() {
            folder.append(&batch)?;
            batch.clear();
        }
        progress(&at);
        Ok(())
    })?;
    folder.append(&batch)?;
    Ok(if at.done == at.total { End::Finished } else { End::Stopped })
}

/// Runs a list of units once, for a second process whose outcomes are compared with those of the first.
///
/// # Errors
/// A thread cannot be started, or a unit is not in the plan.
pub fn run_units<W: Sync>(
    plan: &Plan<'_, W>,
    admission: &Admission,
    units: &[Unit],
    world: &W,
    pass: Pass,
    threads: NonZeroUsize,
    stop: &AtomicBool,
) -> Result<BTreeMap<Unit, Outcome>, Problem> {
    admitted(plan, admission, admission.run_id())?;
    if let Some(unknown) = units.iter().find(|unit| plan.whole().binary_search(unit).is_err()) {
        return Err(Problem::UnitUnknown(unknown.to_string()));
    }
    let mut jobs: Vec<Job<'_>> = units.iter().map(|unit| Job { unit, pass }).collect();
    if pass.second {
        jobs.reverse();
    }
    let mut outcomes = BTreeMap::new();
    work(plan.linted, &jobs, world, threads, stop, &mut |(job, outcome)| {
        outcomes.insert(job.unit.clone(), outcome);
        Ok(())
    })?;
    Ok(outcomes)
}

/// What was admitted is this plan, for this run.
fn admitted<W>(plan: &Plan<'_, W>, admission: &Admission, run_id: &str) -> Result<(), Problem> {
    if admission.run_id() == run_id && admission.lets(plan) {
        Ok(())
    } else {
        Err(Problem::NotFrozen(plan.definition().gate_hash().to_hex()))
    }
}

/// Windows of units, each forwards and, when there is a second run, backwards behind that.
fn jobs<'u>(pending: &[&'u Unit], second: Option<Second>, window: usize) -> Vec<Job<'u>> {
    let mut jobs = Vec::new();
    for window in pending.chunks(window) {
        jobs.extend(window.iter().map(|unit| Job { unit, pass: Pass::default() }));
        if let Some(second) = second {
            let pass = Pass { second: true, reload_every: second.reload_every };
            jobs.extend(window.iter().rev().map(|unit| Job { unit, pass }));
        }
    }
    jobs
}

/// Outcomes that wait for the other run of their unit.
struct Halves<'u> {
    second: Option<Second>,
    first: BTreeMap<&'u Unit, Outcome>,
}

impl<'u> Halves<'u> {
    fn whole(&mut self, job: Job<'u>, outcome: Outcome) -> Option<Outcome> {
        let Some(second) = self.second else { return Some(outcome) };
        let Some(other) = self.first.remove(job.unit) else {
            self.first.insert(job.unit, outcome);
            return None;
        };
        let (mut first, other) = if job.pass.second { (other, outcome) } else { (outcome, other) };
        first.twice = Some(Twice { varied: second.varied(), differs: first.difference(&other) });
        Some(first)
    }
}

/// Runs jobs in order over threads and hands over what comes out, in the order in which it does.
fn work<'u, W: Sync>(
    linted: &Linted<'_, W>,
    jobs: &[Job<'u>],
    world: &W,
    threads: NonZeroUsize,
    stop: &AtomicBool,
    take: &mut dyn FnMut(Ended<'u>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let next = AtomicUsize::new(0);
    // Bounded: no worker runs far ahead of what is on disk.
    let (results, ended) = sync_channel(threads.get());
    std::thread::scope(|scope| {
        // It ends with this closure, and with it every worker that has something to hand over.
        let ended = ended;
        for _ in 0..threads.get().min(jobs.len()) {
            let (next, results) = (&next, results.clone());
            let worker = std::thread::Builder::new().spawn_scoped(scope, move || {
                one_by_one(linted, jobs, world, next, stop, &results);
            });
            if let Err(error) = worker {
                // Those that run find no more work.
                next.store(jobs.len(), Ordering::Relaxed);
                return Err(Problem::ThreadNotStarted(error));
            }
        }
        drop(results);
        collect(ended, &next, jobs.len(), take)
    })
}

fn collect<'u>(
    ended: Receiver<Ended<'u>>,
    next: &AtomicUsize,
    jobs: usize,
    take: &mut dyn FnMut(Ended<'u>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    while let Ok(one) = ended.recv() {
        if let Err(problem) = take(one) {
            next.store(jobs, Ordering::Relaxed);
            return Err(problem);
        }
    }
    Ok(())
}

fn one_by_one<'u, W>(
    linted: &Linted<'_, W>,
    jobs: &[Job<'u>],
    world: &W,
    next: &AtomicUsize,
    stop: &AtomicBool,
    results: &SyncSender<Ended<'u>>,
) {
    while !stop.load(Ordering::Relaxed) {
        let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
        if results.send((*job, one(linted, job.unit, world, job.pass))).is_err() {
            return;
        }
    }
}

/// One run. A panic is a failure of the unit and not the end of the others.
fn one<W>(linted: &Linted<'_, W>, unit: &Unit, world: &W, pass: Pass) -> Outcome {
    let ran = catch_unwind(AssertUnwindSafe(|| {
        let (scenario, context) = linted.context(unit, world, pass)?;
        Some((scenario.run)(unit, &context))
    }));
    match ran {
        // A scenario that answers for another unit did not run this one.
        Ok(Some(outcome)) if outcome.unit == *unit => outcome,
        _ => {
            let mut outcome = Outcome::new(unit);
            outcome.require(RUN_CHECK, false, None, Fault::Panicked.code());
            outcome
        }
    }
}

/// The replay record of a failing unit, where the scenario can make one.
fn record<W>(linted: &Linted<'_, W>, unit: &Unit, world: &W) -> Option<Vec<u8>> {
    catch_unwind(AssertUnwindSafe(|| {
        let (scenario, context) = linted.context(unit, world, Pass::default())?;
        (scenario.record)(unit, &context)
    }))
    .ok()
    .flatten()
}

//! The pool: workers read, one thread links in input order what the audit layer must know, workers handle, and the
//! receipts leave in input order. Batches keep the memory bounded.

use crate::{Summary, lines};
use canon::{Value, canonical};
use desk::store::now_ms;
use kernel::audit::{Audit, AuditContext};
use kernel::receipt::Physical;
use kernel::{Arrival, Kernel, Scratch};
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use verdict::Triple;

/// Records of one batch.
const BATCH: usize = 64;
/// Batches on their way, for each thread.
const WINDOW: usize = 4;

/// One receipt.
#[derive(Clone, Debug)]
pub struct Done {
    /// The receipt, canonical, with its line feed.
    pub line: Vec<u8>,
    /// The receipt as a value.
    pub value: Value,
    /// Its verdict.
    pub verdict: Triple,
}

enum Job<'a> {
    Read(usize, u64, &'a [&'a [u8]]),
    Handle(usize, Vec<(Timed, AuditContext)>),
}

/// An arrival and how long reading it took, in nanoseconds.
struct Timed(Arrival, u64);

enum Worked {
    Read(usize, Vec<Timed>),
    Handled(usize, Vec<Done>),
    Panicked(Box<dyn std::any::Any + Send>),
}

/// Handles every record of `file` on `threads` threads; `take` gets the receipts in input order.
///
/// # Errors
/// What `take` gives, or that a thread cannot be started; nothing is handed to `take` after that.
pub fn run(
    kernel: &Kernel,
    file: &[u8],
    threads: NonZeroUsize,
    take: &mut dyn FnMut(Done) -> io::Result<()>,
) -> io::Result<Summary> {
    let lines = lines(file);
    let mut summary = Summary { blank_lines: lines.blank, ..Summary::default() };
    let order = AtomicU64::new(0);
    let (jobs, waiting) = channel();
    let waiting = Mutex::new(waiting);
    let (results, worked) = channel();
    std::thread::scope(|scope| {
        for number in 1..=threads.get() {
            let (waiting, results, order) = (&waiting, results.clone(), &order);
            let worker = std::thread::Builder::new()
                .spawn_scoped(scope, move || work(kernel, waiting, &results, order));
            worker.map_err(|error| {
                let why = format!("thread {number} of {threads} cannot be started: {error}");
                io::Error::new(error.kind(), why)
            })?;
        }
        // Only workers hold senders now, so that the end of all of them is an error and not a wait without end.
        drop(results);
        let batches: Vec<&[&[u8]]> = lines.records.chunks(BATCH).collect();
        let flow =
            Flow { batches, jobs, sent: 0, linked: 0, left: 0, read: BTreeMap::new(), done: BTreeMap::new() };
        flow.run(&worked, WINDOW * threads.get(), &mut |done| {
            summary.count(done.verdict);
            take(done)
        })
        // The senders of jobs end here, and with them the workers.
    })?;
    Ok(summary)
}

/// Where the batches are.
struct Flow<'a> {
    batches: Vec<&'a [&'a [u8]]>,
    jobs: Sender<Job<'a>>,
    /// Batches that were sent to be read, linked, and that left.
    sent: usize,
    linked: usize,
    left: usize,
    read: BTreeMap<usize, Vec<Timed>>,
    done: BTreeMap<usize, Vec<Done>>,
}

impl Flow<'_> {
    fn run(
        mut self,
        worked: &Receiver<Worked>,
        window: usize,
        take: &mut dyn FnMut(Done) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut audit = Audit::new();
        let gone = || io::Error::other("every worker ended");
        while self.left < self.batches.len() {
            while self.sent < self.batches.len() && self.sent < self.left + window {
                let record = (self.sent * BATCH) as u64 + 1;
                let job = Job::Read(self.sent, record, self.batches[self.sent]);
                self.jobs.send(job).map_err(|_| gone())?;
                self.sent += 1;
            }
            match worked.recv().map_err(|_| gone())? {
                Worked::Read(index, arrivals) => drop(self.read.insert(index, arrivals)),
                Worked::Handled(index, done) => drop(self.done.insert(index, done)),
                Worked::Panicked(panic) => resume_unwind(panic),
            }
            while let Some(arrivals) = self.read.remove(&self.linked) {
                let link = |timed: Timed| {
                    let context = timed.0.context(&mut audit);
                    (timed, context)
                };
                let job = Job::Handle(self.linked, arrivals.into_iter().map(link).collect());
                self.jobs.send(job).map_err(|_| gone())?;
                self.linked += 1;
            }
            while let Some(done) = self.done.remove(&self.left) {
                done.into_iter().try_for_each(&mut *take)?;
                self.left += 1;
            }
        }
        Ok(())
    }
}

fn work(kernel: &Kernel, waiting: &Mutex<Receiver<Job<'_>>>, results: &Sender<Worked>, order: &AtomicU64) {
    let mut scratch = Scratch::default();
    loop {
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        let worked = catch_unwind(AssertUnwindSafe(|| match job {
            Job::Read(index, record, lines) => Worked::Read(index, read(record, lines)),
            Job::Handle(index, arrivals) => {
                let one = |(timed, context)| handle(kernel, timed, &context, &mut scratch, order);
                Worked::Handled(index, arrivals.into_iter().map(one).collect())
            }
        }));
        if results.send(worked.unwrap_or_else(Worked::Panicked)).is_err() {
            return;
        }
    }
}

fn read(first: u64, lines: &[&[u8]]) -> Vec<Timed> {
    let one = |(line, record): (&&[u8], u64)| {
        let start = Instant::now();
        let arrival = Arrival::read(record, line);
        Timed(arrival, nanoseconds(start))
    };
    lines.iter().zip(first..).map(one).collect()
}

fn handle(
    kernel: &Kernel,
    Timed(arrival, reading): Timed,
    context: &AuditContext,
    scratch: &mut Scratch,
    order: &AtomicU64,
) -> Done {
    let start = Instant::now();
    let receipt = kernel.handle(arrival, context, scratch);
    let verdict = receipt.verdict;
    let value = receipt.into_value(&Physical {
        ts: now_ms(),
        elapsed: reading + nanoseconds(start),
        thread_order: order.fetch_add(1, Ordering::Relaxed) + 1,
        pid: std::process::id(),
    });
    let mut line = canonical(&value);
    line.push(b'\n');
    Done { line, value, verdict }
}

fn nanoseconds(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

//! Envelopes a second: `cargo bench -p cluster`. Envelopes of 1 KiB, each with its place in its sender's chain, through
//! reading, guard, router and a cheap skill, in processor time of one thread; the same with the receipt written; and the
//! whole cluster in wall time.
//! `BENCH_N` sets how many (100 000), an argument `core` leaves the cluster out. The arguments `count` and `count-written`
//! handle them once without a clock, for a counter of instructions: the difference between two `BENCH_N` is the cost of
//! the envelopes.
#![allow(missing_docs, clippy::unwrap_used)]

use canon::{Digest, Object, Value, canonical};
use kernel::audit::Audit;
use kernel::receipt::Physical;
use kernel::{Arrival, Config, Kernel, Scratch};
use rustix::time::{ClockId, clock_gettime};
use std::num::NonZeroUsize;
use std::time::Instant;

/// Half of the tasks have a trigger, half are found by their words.
const TASKS: [&str; 4] = [
    "count words of this text",
    "how many words has the text that I wrote yesterday",
    "word count please",
    "tell me the number of words, letters and lines in it",
];
const TEXT: &str = "The desk hashes what lies in the folder before the agent starts, and again when it has ended; \
                    def add(a, b):\n    return a + b  # nothing else changed, \"quoted\" words too.\n";

fn main() {
    let count: usize = std::env::var("BENCH_N").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let kernel = Kernel::new(Config::default()).unwrap();
    let lines = envelopes(count);
    let bytes: usize = lines.iter().map(Vec::len).sum();
    println!("{count} envelopes, {} bytes each on average", bytes / count);
    for (argument, write) in [("count", false), ("count-written", true)] {
        if std::env::args().any(|arg| arg == argument) {
            return pass(&kernel, &lines, write);
        }
    }
    let rounds = 5;
    for write in [false, true] {
        let mut rates: Vec<usize> = (0..rounds).map(|_| core(&kernel, &lines, write)).collect();
        rates.sort_unstable();
        let what = if write { "with the receipt written" } else { "read, guard, route, skill" };
        let (low, median, high) = (rates[0], rates[rounds / 2], rates[rounds - 1]);
        println!(
            "one core, {what}: {median} per processor second (n {rounds}, {low} to {high}; target 100000)"
        );
    }
    if std::env::args().any(|arg| arg == "core") {
        return;
    }
    let file = lines.join(&b'\n');
    let all = std::thread::available_parallelism().unwrap();
    for threads in [NonZeroUsize::MIN, all] {
        let mut rates: Vec<usize> =
            (0..rounds).map(|_| cluster_rate(&kernel, &file, count, threads)).collect();
        rates.sort_unstable();
        let (low, median, high) = (rates[0], rates[rounds / 2], rates[rounds - 1]);
        println!("cluster, {threads} threads: {median} per second (n {rounds}, {low} to {high})");
    }
}

fn core(kernel: &Kernel, lines: &[Vec<u8>], write: bool) -> usize {
    let start = cpu();
    pass(kernel, lines, write);
    per_second(lines.len(), cpu() - start)
}

fn pass(kernel: &Kernel, lines: &[Vec<u8>], write: bool) {
    let (mut audit, mut scratch) = (Audit::new(), Scratch::default());
    let physical = Physical { ts: 0, elapsed: 0, thread_order: 0, pid: 0 };
    let mut done = 0;
    for (line, record) in lines.iter().zip(1..) {
        let arrival = Arrival::read(record, line);
        let context = arrival.context(&mut audit);
        let receipt = kernel.handle(arrival, &context, &mut scratch);
        done += usize::from(receipt.verdict.reason == "skill_done");
        if write {
            std::hint::black_box(canonical(&receipt.into_value(&physical)));
        }
    }
    assert_eq!(done, lines.len(), "every envelope passes and is handled");
}

/// Processor time of this thread, in nanoseconds: other programs on the machine take wall time, not this.
fn cpu() -> u128 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u128 * 1_000_000_000 + time.tv_nsec as u128
}

fn cluster_rate(kernel: &Kernel, file: &[u8], count: usize, threads: NonZeroUsize) -> usize {
    let mut written = 0;
    let start = Instant::now();
    let summary = cluster::run(kernel, file, threads, &mut |done| {
        written += done.line.len();
        Ok(())
    });
    assert_eq!(summary.unwrap().records, count as u64);
    per_second(count, start.elapsed().as_nanos())
}

fn per_second(count: usize, nanoseconds: u128) -> usize {
    (count as u128 * 1_000_000_000 / nanoseconds.max(1)) as usize
}

fn envelopes(count: usize) -> Vec<Vec<u8>> {
    let mut prev: Option<Digest> = None;
    let one = |index: usize| {
        let text = TEXT.repeat(5);
        let envelope = Object::new()
            .with("id", format!("envelope-{index}"))
            .with("sender", "agent-a")
            .with("recipient", "desk")
            .with("task", TASKS[index % TASKS.len()])
            .with("payload", Object::new().with("text", &text[..660 + index % 60]))
            .with("permission", 1_u64)
            .with("trace", format!("trace-{index}"))
            .with("mode", "live")
            .with("claims", Object::new().with("identity", "agent-a").with("level", 1_u64))
            .with("seq", index as u64 + 1)
            .with("prev", prev);
        let line = canonical(&Value::Object(envelope));
        prev = Some(Digest::of(&line));
        line
    };
    (0..count).map(one).collect()
}

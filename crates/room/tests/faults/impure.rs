//! What a pure crate may not touch: the test hands it to the faults that read it.

use room::faults::Impurity;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) type Source = fn() -> u64;

/// Where the two runs of one comparison stand. Most ask the same source, which never says the same twice; the others are
/// two environments.
pub(crate) fn sources(impurity: Impurity) -> [Source; 2] {
    match impurity {
        Impurity::HashOrder => [hash_order; 2],
        Impurity::Clock => [clock; 2],
        Impurity::Race => [race; 2],
        // Two schedules: on a busy machine a real race can fall out the same way twice.
        Impurity::Arrival => [|| 0, || 1],
        Impurity::Address => [address; 2],
        Impurity::Environment => [|| tuning("0"), || tuning("100000")],
        Impurity::Locale => [|| collation("C"), || collation("de_DE.UTF-8")],
        Impurity::Listening => [room::faults::nothing; 2],
        Impurity::Leftover => [leftover; 2],
        Impurity::Build => [|| u64::from(cfg!(debug_assertions)), || u64::from(!cfg!(debug_assertions))],
        Impurity::Entropy => [entropy; 2],
    }
}

/// What a process reads of its own environment.
pub(crate) fn environment() -> u64 {
    tuning(&std::env::var("ROOM_TUNING").unwrap_or_default())
}

/// And of its locale.
pub(crate) fn locale() -> u64 {
    collation(&std::env::var("LC_ALL").unwrap_or_default())
}

fn tuning(text: &str) -> u64 {
    text.parse().unwrap_or_default()
}

/// Outside of the C locale words are not sorted by their bytes.
fn collation(name: &str) -> u64 {
    u64::from(!matches!(name, "" | "C" | "POSIX"))
}

/// The place of the first key of a hash map of 64.
fn hash_order() -> u64 {
    let map: HashMap<u64, ()> = (0..64).map(|key| (key, ())).collect();
    map.keys().next().copied().unwrap_or_default()
}

fn entropy() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Steps of a clock can be coarse: its low bits alone may always be 0.
    let nanos = now.subsec_nanos();
    u64::from((nanos ^ nanos >> 3 ^ nanos >> 7 ^ nanos >> 10) & 1)
}

/// Where the allocator puts something that stays.
fn address() -> u64 {
    let size = 1 + (entropy() % 256) as usize;
    let kept: &'static [u8] = Vec::leak(vec![0_u8; size]);
    kept.as_ptr().addr() as u64 >> 4
}

/// How often one thread looked before it saw the other.
fn race() -> u64 {
    let (start, seen, looks) = (Barrier::new(2), AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            seen.store(true, Ordering::Release);
        });
        start.wait();
        while !seen.load(Ordering::Acquire) {
            looks.fetch_add(1, Ordering::Relaxed);
        }
    });
    let looks = looks.into_inner();
    looks ^ (entropy_of_schedule() & 1)
}

/// Which of two threads arrived first.
fn entropy_of_schedule() -> u64 {
    let (start, first) = (Barrier::new(2), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for id in 1..=2 {
            let (start, first) = (&start, &first);
            scope.spawn(move || {
                start.wait();
                let _ = first.compare_exchange(0, id, Ordering::AcqRel, Ordering::Acquire);
            });
        }
    });
    first.into_inner()
}

/// A counter of the process: it goes on where the last run ended.
fn leftover() -> u64 {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    COUNTER.fetch_add(1, Ordering::Relaxed)
}

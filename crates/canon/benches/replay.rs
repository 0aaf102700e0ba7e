//! The replay form against `serde_json` parse, write and SHA-256 of the same bytes, and sensitivity against one hash.
//!
//! `cargo bench -p canon`. Both sides of a ratio alternate in one process; medians. Where there is a `python3` it hashes
//! the same bytes with its `json` and `hashlib`, twice: between our two measurements of each document.
#![allow(clippy::unwrap_used)]

use canon::replay::{Canonicaliser, Document, Table};
use canon::{Digest, Limits};
use std::hint::black_box;
use std::time::{Duration, Instant};

const TABLE: &str = "version = 1\n[fields]\n'*' = 'repro'\nhost = 'physical'\n[lists]\nsteps = { order = 'key', keys = ['step'] }\n";

/// A receipt of `steps` steps, keys in the order in which a program would write them.
fn receipt(steps: usize) -> String {
    let step = |step: usize| {
        format!(
            "{{\"step\": {step}, \"action\": \"allow\", \"layer\": \"L{}\", \"reason\": \"route_trigger\", \"score\": 0.{:06}, \
             \"output\": \"line {step} of what the skill said, \\\"quoted\\\"\", \"ts\": {}, \"cached\": {}}}",
            step % 8 + 1,
            (step * 7919) % 1_000_000,
            1_796_000_000 + step,
            step.is_multiple_of(3)
        )
    };
    let steps: Vec<String> = (0..steps).map(step).collect();
    format!(
        "{{\"id\": \"r-1\", \"task\": \"count words\", \"evidence_class\": \"simulated\", \"ts\": 1796000000.25, \"host\": \"a\", \
         \"steps\": [{}]}}",
        steps.join(", ")
    )
}

/// Medians of the two, alternating.
fn pair(rounds: usize, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> (Duration, Duration) {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        a.push(time(&mut ours));
        b.push(time(&mut theirs));
    }
    a.sort();
    b.sort();
    (a[rounds / 2], b[rounds / 2])
}

fn hash(table: &Table, bytes: &[u8]) -> String {
    let document = Document::json(bytes, Limits::default()).unwrap();
    Canonicaliser::new(table).form(&document).unwrap().hash()
}

fn serde(bytes: &[u8]) -> Digest {
    let value: serde_json::Value = serde_json::from_slice(bytes).unwrap();
    Digest::of(&serde_json::to_vec(&value).unwrap())
}

fn against_serde(table: &Table, name: &str, text: &str, repeat: usize) {
    let bytes = text.as_bytes();
    let (ours, theirs) = pair(
        31,
        || (0..repeat).for_each(|_| drop(black_box(hash(table, black_box(bytes))))),
        || {
            (0..repeat).for_each(|_| {
                black_box(serde(black_box(bytes)));
            })
        },
    );
    let rate = |time: Duration| (bytes.len() * repeat) as f64 / time.as_secs_f64() / 1e6;
    println!(
        "{name:<22} {:>7} bytes  ours {:>6.1} MB/s  serde_json {:>6.1} MB/s  time ratio {:.2} (target 2)",
        bytes.len(),
        rate(ours),
        rate(theirs),
        ours.as_secs_f64() / theirs.as_secs_f64()
    );
}

fn sensitivity(table: &Table, text: &str) {
    let document = Document::json(text.as_bytes(), Limits::default()).unwrap();
    let changes = Canonicaliser::new(table).sensitivity(&document).unwrap().changes;
    let (full, one) = pair(
        31,
        || {
            let document = Document::json(black_box(text.as_bytes()), Limits::default()).unwrap();
            black_box(Canonicaliser::new(table).sensitivity(&document).unwrap());
        },
        || drop(black_box(hash(table, black_box(text.as_bytes())))),
    );
    println!(
        "sensitivity            {changes:>7} changes  {:>8.1} us against one hash {:.1} us  ratio {:.1} (target 50)",
        full.as_secs_f64() * 1e6,
        one.as_secs_f64() * 1e6,
        full.as_secs_f64() / one.as_secs_f64()
    );
}

/// Python's medians in seconds: read, dump sorted and hash; the same without reading.
const PYTHON: &str = r#"
import hashlib, json, statistics, sys, time
data = open(sys.argv[1], "rb").read()
repeat = int(sys.argv[2])
def median(work):
    times = []
    for _ in range(15):
        start = time.perf_counter()
        for _ in range(repeat):
            work()
        times.append((time.perf_counter() - start) / repeat)
    return statistics.median(times)
def dump(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
value = json.loads(data)
print(median(lambda: dump(json.loads(data))), median(lambda: dump(value)))
"#;

fn python(text: &str, repeat: usize) -> Option<(f64, f64)> {
    let file = std::env::temp_dir().join(format!("touchstone-bench-{}.json", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let output = std::process::Command::new("python3")
        .args(["-c", PYTHON])
        .arg(&file)
        .arg(repeat.to_string())
        .output();
    std::fs::remove_file(&file).unwrap();
    let printed = String::from_utf8(output.ok()?.stdout).ok()?;
    let (whole, dump) = printed.trim().split_once(' ')?;
    Some((whole.parse().ok()?, dump.parse().ok()?))
}

fn against_python(table: &Table, name: &str, text: &str, repeat: usize) {
    let bytes = text.as_bytes();
    let document = Document::json(bytes, Limits::default()).unwrap();
    let measure = || {
        let (whole, form) = pair(
            31,
            || (0..repeat).for_each(|_| drop(black_box(hash(table, black_box(bytes))))),
            || {
                (0..repeat).for_each(|_| {
                    drop(black_box(Canonicaliser::new(table).form(black_box(&document)).unwrap().hash()))
                })
            },
        );
        (whole.as_secs_f64() / repeat as f64, form.as_secs_f64() / repeat as f64)
    };
    let before = measure();
    let Some(theirs) = python(text, repeat.div_ceil(10)) else {
        return println!("{name:<22} no python3 to compare with");
    };
    let after = measure();
    let ours = ((before.0 + after.0) / 2.0, (before.1 + after.1) / 2.0);
    println!(
        "{name:<22} python reads, dumps, hashes: {:.1} times our time; without reading on both sides: {:.1} times (target 10)",
        theirs.0 / ours.0,
        theirs.1 / ours.1
    );
}

fn main() {
    let table = Table::parse(TABLE).unwrap();
    let (small, large) = (receipt(5), receipt(5_600));
    against_serde(&table, "receipt of 1 KiB", &small, 1_000);
    against_serde(&table, "receipt of 1 MiB", &large, 1);
    against_python(&table, "receipt of 1 KiB", &small, 1_000);
    against_python(&table, "receipt of 1 MiB", &large, 1);
    sensitivity(&table, &receipt(166));
}

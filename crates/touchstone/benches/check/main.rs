//! Suites that are data, evaluated here, against the peer's `run_python_check` of the same suites rendered by the peer.
//!
//! `PEER_PYTHON=... cargo bench -p touchstone --bench check`. Peer, fresh and forked alternate in each of the rounds of
//! one run; what is compared is the median time of one candidate. Both sides must give the same answers.
#![allow(missing_docs, clippy::unwrap_used)]

use canon::{Object, Value, compact_ascii};
use check::{Candidate, Evaluator, Options, Place, Reuse};
use desk::sandbox::{Choice, Establish};
use std::io::{BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use suite::spec::{Mode, Spec};

const ROUNDS: usize = 5;

/// Entry point, tests, a right candidate and a wrong one.
type Task = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);

const TASKS: &[Task] = &[
    (
        "add",
        &[("[2, 3]", "5"), ("[-1, 1]", "0"), ("[10, 20]", "30")],
        "def add(a, b):\n    return a + b\n",
        "def add(a, b):\n    return a - b\n",
    ),
    (
        "gcd",
        &[("[12, 18]", "6"), ("[7, 5]", "1"), ("[100, 75]", "25")],
        "import math\ndef gcd(a, b):\n    return math.gcd(a, b)\n",
        "def gcd(a, b):\n    return min(a, b)\n",
    ),
    (
        "words",
        &[("['the cat the dog']", "{'the': 2, 'cat': 1, 'dog': 1}"), ("['']", "{}")],
        "def words(text):\n    found = {}\n    for word in text.split():\n        found[word] = found.get(word, 0) + 1\n    return found\n",
        "def words(text):\n    return {word: 1 for word in text.split()}\n",
    ),
    (
        "primes",
        &[("[10]", "[2, 3, 5, 7]"), ("[2]", "[]"), ("[30]", "[2, 3, 5, 7, 11, 13, 17, 19, 23, 29]")],
        "def primes(n):\n    return [p for p in range(2, n) if all(p % q for q in range(2, p))]\n",
        "def primes(n):\n    return [p for p in range(2, n) if p % 2]\n",
    ),
    (
        "digits",
        &[("['a1b22']", "['1', '22']"), ("['']", "[]"), ("['007']", "['007']")],
        "import re\ndef digits(text):\n    return re.findall('[0-9]+', text)\n",
        "import re\ndef digits(text):\n    return re.findall('[0-9]', text)\n",
    ),
];

/// Suites, and for each a right and a wrong candidate.
fn pairs() -> Vec<(Value, Spec, &'static str)> {
    let both = |task: &'static Task| {
        let test = |(arguments, expected): &(&str, &str)| {
            Value::from(Object::new().with("args", *arguments).with("expected", *expected))
        };
        let tests: Vec<Value> = task.1.iter().map(test).collect();
        let suite: Value =
            Object::new().with("v", 1i64).with("entry_point", task.0).with("tests", tests).into();
        let spec = suite::spec::Spec::from_value(&suite, Mode::Strict, suite::spec::Task::NotGiven).unwrap();
        [task.2, task.3].map(|source| (suite.clone(), spec.clone(), source))
    };
    TASKS.iter().flat_map(both).collect()
}

/// The question for the peer.
fn question(pairs: &[(Value, Spec, &str)]) -> Value {
    let pair = |(suite, _, candidate): &(Value, Spec, &str)| -> Value {
        Object::new().with("suite", suite.clone()).with("candidate", *candidate).into()
    };
    Value::Array(pairs.iter().map(pair).collect())
}

/// One round of the peer: answers and seconds.
fn peer_round(peer: &mut Child, out: &mut impl std::io::BufRead) -> Vec<(bool, f64)> {
    writeln!(peer.stdin.as_mut().unwrap(), "go").unwrap();
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let text = line.trim().trim_matches(['[', ']']);
    let mut fields = text.split([',', '[', ']']).map(str::trim).filter(|field| !field.is_empty());
    let mut all = Vec::new();
    while let (Some(accepted), Some(seconds)) = (fields.next(), fields.next()) {
        all.push((accepted == "true", seconds.parse().unwrap()));
    }
    all
}

fn our_round(evaluator: &mut Evaluator<'_>, pairs: &[(Value, Spec, &str)]) -> Vec<(bool, f64)> {
    let one = |(_, spec, source): &(Value, Spec, &str)| {
        let started = Instant::now();
        let seen = evaluator.evaluate(spec, &Candidate::python(*source)).unwrap();
        (seen.ok, started.elapsed().as_secs_f64())
    };
    pairs.iter().map(one).collect()
}

fn median(samples: &[(bool, f64)]) -> f64 {
    let mut seconds: Vec<f64> = samples.iter().map(|(_, seconds)| *seconds).collect();
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn main() {
    let Ok(python) = std::env::var("PEER_PYTHON") else {
        println!("PEER_PYTHON is not set: nothing is compared");
        return;
    };
    let helper = Some(env!("CARGO_BIN_EXE_touchstone").into());
    let sandbox = Establish { helper, ..Establish::new(Choice::Auto, None) }.run().unwrap();
    let place = Place::new(sandbox).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/check/peer.py");
    let mut command = Command::new(python);
    let mut peer = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(peer.stdout.take().unwrap());
    let pairs = pairs();
    let mut line = compact_ascii(&question(&pairs));
    line.push(b'\n');
    peer.stdin.as_mut().unwrap().write_all(&line).unwrap();
    let mut fresh = Evaluator::new(&place, Options::default());
    let mut forked = Evaluator::new(&place, Options { reuse: Reuse::Fork, ..Options::default() });
    let mut samples: [Vec<(bool, f64)>; 3] = Default::default();
    // The first round does not count (caches, the start of the server).
    for round in 0..=ROUNDS {
        let each =
            [peer_round(&mut peer, &mut out), our_round(&mut fresh, &pairs), our_round(&mut forked, &pairs)];
        let answers = each.each_ref().map(|one| one.iter().map(|(ok, _)| *ok).collect::<Vec<_>>());
        assert!(answers[0] == answers[1] && answers[1] == answers[2], "answers differ: {answers:?}");
        assert_eq!(
            answers[0].iter().filter(|ok| **ok).count() * 2,
            answers[0].len(),
            "half of them are right"
        );
        if round > 0 {
            for (all, one) in samples.iter_mut().zip(each) {
                all.extend(one);
            }
        }
    }
    drop(peer.stdin.take());
    peer.wait().unwrap();
    let [theirs, fresh, forked] = samples.each_ref().map(|all| median(all) * 1000.0);
    println!("{} candidates, {ROUNDS} rounds, sandbox {}", pairs.len(), place.level().code());
    println!("peer's run_python_check  {theirs:8.2} ms");
    println!("ours, fresh process      {fresh:8.2} ms  {:6.2} x (wanted 3)", theirs / fresh);
    println!("ours, forked process     {forked:8.2} ms  {:6.2} x (wanted 20)", theirs / forked);
}

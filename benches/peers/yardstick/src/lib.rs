//! What every Rust program of the yardstick shares: the record of a final state, its hash, and the command line of
//! README.md. No framework is known here.

use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::process::{Command, ExitCode};

/// A framework's room, from the outside.
pub trait Peer: Sized {
    /// The room before its first tick.
    fn start() -> Self;
    /// So many ticks, each on its own.
    fn run(&mut self, ticks: u64);
    /// The final state as README.md writes it.
    fn record(&self) -> Record;
    /// Saved to bytes and loaded from them, with the name of the means; nothing when the framework has none.
    fn reloaded(self) -> Option<(&'static str, Self)> {
        None
    }
    /// The fold over every tick, where one is kept.
    fn fold(&self) -> Option<u64> {
        None
    }
}

/// The final state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Ticks done.
    pub ticks: u64,
    /// The eight needs in points.
    pub needs: [u64; 8],
    /// The current interaction and its ticks left.
    pub doing: Option<(u64, u64)>,
    /// State of the generator.
    pub generator: u64,
}

impl Record {
    /// Twelve words, in the order of README.md.
    #[must_use]
    pub fn words(&self) -> [u64; 12] {
        let [a, b, c, d, e, f, g, h] = self.needs;
        let (current, left) = self.doing.map_or((0, 0), |(k, left)| (k + 1, left));
        [self.ticks, a, b, c, d, e, f, g, h, current, left, self.generator]
    }

    /// FNV-1a, 64 bits, over the words as little-endian bytes.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let bytes = self.words().into_iter().flat_map(u64::to_le_bytes);
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

/// The program of a framework: `hash TICKS`, `check TICKS`, `speed TICKS [ROUNDS]`.
pub fn main<P: Peer>() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["hash", ticks] => number(ticks).map(|ticks| {
            println!("{}", end(&ran::<P>(ticks)));
            true
        }),
        ["check", ticks] => number(ticks).and_then(check::<P>),
        ["speed", ticks] => number(ticks).map(|ticks| speed::<P>(ticks, 5)),
        ["speed", ticks, rounds] => {
            number(ticks).and_then(|ticks| Ok(speed::<P>(ticks, number(rounds)?.max(1))))
        }
        _ => Err("usage: hash TICKS | check TICKS | speed TICKS [ROUNDS]".to_owned()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(64)
        }
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|error| format!("{text}: {error}"))
}

fn ran<P: Peer>(ticks: u64) -> P {
    let mut peer = P::start();
    peer.run(ticks);
    peer
}

/// Hash and, where one is kept, fold.
fn end<P: Peer>(peer: &P) -> String {
    let fold = peer.fold().map(|fold| format!(" fold {fold:016x}")).unwrap_or_default();
    format!("{:016x}{fold}", peer.record().hash())
}

/// Two runs in one process, two processes, saved and loaded half-way: false when one of them differs.
fn check<P: Peer>(ticks: u64) -> Result<bool, String> {
    let whole = end(&ran::<P>(ticks));
    let mut all = true;
    let mut say = |what: &str, equal: bool, how: &str| {
        println!("{what}={}{how}", if equal { "equal" } else { "DIFFERENT" });
        all &= equal;
    };
    say("one_process", end(&ran::<P>(ticks)) == whole, "");
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut equal = true;
    for _ in 0..2 {
        let child = Command::new(&program).args(["hash", &ticks.to_string()]).output();
        let child = child.map_err(|error| error.to_string())?;
        equal &= child.status.success() && String::from_utf8_lossy(&child.stdout).trim() == whole;
    }
    say("two_processes", equal, "");
    match ran::<P>(ticks / 2).reloaded() {
        None => println!("save_load=none"),
        Some((how, mut peer)) => {
            peer.run(ticks - ticks / 2);
            say("save_load", end(&peer) == whole, &format!(" ({how})"));
        }
    }
    Ok(all)
}

/// Ticks per second of processor time: the median of the rounds.
fn speed<P: Peer>(ticks: u64, rounds: u64) -> bool {
    black_box(end(&ran::<P>(ticks / 10)));
    let mut rates: Vec<f64> = (0..rounds)
        .map(|_| {
            let mut peer = P::start();
            let began = processor_seconds();
            peer.run(black_box(ticks));
            let took = processor_seconds() - began;
            black_box(end(&peer));
            ticks as f64 / took
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    let (low, median, high) = (rates[0], rates[rates.len() / 2], rates[rates.len() - 1]);
    println!("ticks_per_second={median:.0} n={rounds} low={low:.0} high={high:.0}");
    true
}

fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

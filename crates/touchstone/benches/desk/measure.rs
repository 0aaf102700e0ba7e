//! Repeating, medians, and the table.

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// One measurement.
#[derive(Clone, Copy, Default)]
pub(crate) struct Point {
    seconds: f64,
    cpu_seconds: f64,
    peak_kib: u64,
}

/// Several of one thing.
#[derive(Clone)]
pub(crate) struct Sample {
    points: Vec<Point>,
}

/// A program with a clean home and no output.
pub(crate) fn command(program: &str, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("HOME", home).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Repeats after one run that does not count (caches, page cache).
pub(crate) fn repeat(count: usize, mut once: impl FnMut() -> Point) -> Sample {
    once();
    Sample { points: (0..count).map(|_| once()).collect() }
}

pub(crate) fn timed(work: impl FnOnce()) -> Point {
    let started = Instant::now();
    work();
    Point { seconds: started.elapsed().as_secs_f64(), ..Point::default() }
}

/// Runs a program to its end: wall time, processor time of it and its children, its peak memory.
#[allow(
    unsafe_code,
    clippy::zombie_processes,
    reason = "the standard library gives no resource usage of a child"
)]
pub(crate) fn child(command: &mut Command) -> Point {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let child = command.spawn().unwrap();
    let (mut status, pid) = (0, i32::try_from(child.id()).unwrap());
    // SAFETY: both pointers are to live values of the right type, and nobody else waits for this child.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::wait4(pid, &raw mut status, 0, &raw mut usage), pid);
        usage
    };
    let seconds = started.elapsed().as_secs_f64();
    let of = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    assert!(libc::WIFEXITED(status), "{command:?} was ended by a signal");
    // The peer calls a run without model calls void (3); a run of its own may also be refused.
    assert!(matches!(libc::WEXITSTATUS(status), 0 | 3), "{command:?} exits {}", libc::WEXITSTATUS(status));
    Point {
        seconds,
        cpu_seconds: of(usage.ru_utime) + of(usage.ru_stime),
        peak_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0),
    }
}

impl Sample {
    /// Measured by hand.
    pub(crate) fn of(points: Vec<Point>) -> Sample {
        Sample { points }
    }

    pub(crate) fn quantile(&self, part: f64) -> f64 {
        let mut all: Vec<f64> = self.points.iter().map(|point| point.seconds).collect();
        all.sort_by(f64::total_cmp);
        all[((all.len() - 1) as f64 * part).round() as usize]
    }

    pub(crate) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    pub(crate) fn peak_mib(&self) -> u64 {
        self.points.iter().map(|point| point.peak_kib).max().unwrap_or(0) / 1024
    }

    fn map(&self, of: impl Fn(&Point) -> f64) -> Sample {
        Sample { points: self.points.iter().map(|point| Point { seconds: of(point), ..*point }).collect() }
    }

    /// Processor time in place of wall time.
    pub(crate) fn cpu(&self) -> Sample {
        self.map(|point| point.cpu_seconds)
    }

    /// Things done per second.
    pub(crate) fn per_second(&self, things: usize) -> Sample {
        self.map(|point| things as f64 / point.seconds)
    }
}

/// Lines that are printed as they come and again at the end, as a Markdown table.
#[derive(Default)]
pub(crate) struct Table(Vec<[String; 6]>);

impl Table {
    /// A sample; with `ours`, its median divided by the median of ours.
    pub(crate) fn line(&mut self, name: &str, sample: &Sample, ours: Option<&Sample>, target: &str) {
        let ratio = ours.map_or(String::new(), |ours| format!("{:.2} x", sample.median() / ours.median()));
        let spread = format!("{} to {}", short(sample.quantile(0.0)), short(sample.quantile(1.0)));
        let count = sample.points.len().to_string();
        self.add([name.to_owned(), count, short(sample.median()), spread, ratio, target.to_owned()]);
    }

    /// A single number against a target.
    pub(crate) fn number(&mut self, name: &str, value: String, target: &str, met: bool) {
        let met = if met { "" } else { "MISSED: " };
        self.add([
            name.to_owned(),
            String::new(),
            value,
            String::new(),
            String::new(),
            format!("{met}{target}"),
        ]);
    }

    fn add(&mut self, line: [String; 6]) {
        println!("{}", line.join("  "));
        self.0.push(line);
    }
}

fn short(value: f64) -> String {
    match value {
        value if value >= 1000.0 => format!("{value:.0}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.5}"),
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["what", "n", "median", "spread", "ratio to ours", "target"].map(str::to_owned);
        let rule = ["---", "--:", "--:", "---", "--:", "--:"].map(str::to_owned);
        for line in [&head, &rule].into_iter().chain(&self.0) {
            writeln!(f, "| {} |", line.join(" | "))?;
        }
        Ok(())
    }
}

/// The machine in neutral words.
pub(crate) fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .unwrap_or("")
        .trim_matches([' ', '\t', ':']);
    let kernel = read("/proc/sys/kernel/osrelease");
    let kernel = kernel.split('-').next().unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{cores} cores, {model}, Linux {}, load {}", kernel.trim(), read("/proc/loadavg").trim())
}

//! HumanEval judged by three executors, some of whom lie: the experiment of `docs/quorum-humaneval.md`, end to end.
//!
//! `cargo run --release -p touchstone --example humaneval -- HumanEval.jsonl.gz [FOLDER]` prints what it found, and writes it
//! into FOLDER as `quorum-humaneval.md` and `quorum-humaneval.jsonl`. Python 3 on the path is needed.

mod bank;
mod cases;
mod executors;
mod gauged;
mod report;

use bank::Bank;
use check::{Options, Place, Reuse};
use desk::sandbox::{Choice, Sandbox, helper_main};
use report::Report;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Mutants that are taken of a problem, evenly from the list of all of its mutants, which is ordered.
const MUTANTS_MAX: usize = 4;
/// Runs of the clock, of which the median is told.
const ROUNDS: usize = 3;
/// For loading a candidate and all of its calls. Mutants that never end cost so much three times.
const TIMEOUT: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    // The desk re-executes this program as its helper.
    if let Some(code) = helper_main(std::env::args_os()) {
        std::process::exit(code);
    }
    // The test needs that too, so it has no harness: whatever `cargo test` is asked for, it runs.
    #[cfg(test)]
    {
        tests::own_problems();
        println!("own_problems ... ok");
        ExitCode::SUCCESS
    }
    #[cfg(not(test))]
    command()
}

/// The command, without the part that belongs to the desk.
#[cfg_attr(test, expect(dead_code, reason = "the test is no command"))]
fn command() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (data, folder) = match arguments.as_slice() {
        [data] => (data, None),
        [data, folder] => (data, Some(folder)),
        _ => {
            eprintln!("humaneval HumanEval.jsonl.gz [FOLDER]");
            return ExitCode::from(64);
        }
    };
    let done = experiment(Path::new(data), ROUNDS).and_then(|report| {
        println!("{}", report.lines().join("\n"));
        folder.map_or(Ok(()), |folder| report.write(Path::new(folder)))
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("humaneval: {why}");
            ExitCode::from(22)
        }
    }
}

/// Everything, in the order in which it is reported.
fn experiment(data: &Path, rounds: usize) -> Result<Report, String> {
    let bank = Bank::read(data)?;
    let sandbox = Sandbox::establish(Choice::Auto, None).map_err(|why| why.to_string())?;
    let place = Place::new(sandbox).map_err(|why| why.to_string())?;
    let options = |reuse| Options { timeout: TIMEOUT, reuse, ..Options::default() };
    let gauged = gauged::all(&place, options(Reuse::Fork), &bank)?;
    let candidates = executors::candidates(&place, &bank)?;
    let seen = executors::honest(&place, options(Reuse::Fork), &bank, &candidates)?;
    let cases = cases::all(&bank, &candidates, &seen)?;
    let mut seconds = [Vec::new(), Vec::new()];
    // Reused and fresh alternate: a busy neighbour meets both.
    for _ in 0..rounds {
        for (all, reuse) in seconds.iter_mut().zip([Reuse::Fork, Reuse::Fresh]) {
            all.push(executors::timed(&place, options(reuse), &bank)?);
        }
    }
    Ok(Report {
        level: format!("{:?}", place.level()),
        mutation: seen.mutation(&candidates),
        bank,
        gauged,
        cases,
        seconds,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Three problems of our own, one of which does not convert: the program works and names liars. No figure of time.
    pub(super) fn own_problems() {
        let own = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/humaneval/own.jsonl"));
        let report = experiment(own, 1).unwrap();
        assert_eq!((report.bank.problems.len(), report.bank.unable.len()), (2, 1));
        // A suite of two tests that both want True lets the constant True through, and says so.
        assert_eq!(report.gauged.reference_passed, 2);
        assert_eq!(report.gauged.let_through, [0, 0, 0, 0, 0, 1]);
        let of = |name: &str| report.cases.iter().find(|case| case.name.starts_with(name)).unwrap();
        let n = of("a").n;
        assert!(n > 2 && of("a").right == n && of("a").honest_named == 0);
        for one in ["b", "d"] {
            assert_eq!(
                (of(one).right, of(one).liar_named, of(one).honest_named, of(one).undecided),
                (n, n, 0, 0)
            );
        }
        let detail = of("c");
        assert!(detail.lies > 0 && detail.lies < n);
        assert_eq!((detail.right, detail.liar_named, detail.honest_named), (n, detail.lies, 0));
        // The limit: two who lie alike decide, and the honest one is the dissenter.
        assert_eq!((of("e").right, of("e").liar_named, of("e").honest_named), (0, 0, n));
        assert!(report.markdown(0).contains("| e: "));
    }
}

//! `touchstone demo`: the gate refuses a lying agent and accepts an honest one. Every line is measured while it
//! happens: the agents are real processes, the checks really run, exit codes are those of this binary run again.

mod stage;

use crate::exit;
use crate::output::{self, Tone, paint};
use stage::{Act, Stage};
use std::path::PathBuf;
use std::time::Instant;

/// Watch the gate refuse a lying agent and accept an honest one, in seconds, offline.
///
/// Needs a POSIX shell; uses Python for the checks when it is there.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Keep the files of the demo here: a new or empty folder [default: a temporary one, removed at the end].
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Runs the verb and returns its exit code: 0 when the gate behaved, 1 when it did not.
pub(crate) fn run(args: &Args) -> u8 {
    let started = Instant::now();
    let temporary = match &args.keep {
        Some(_) => None,
        None => match tempfile::Builder::new().prefix("touchstone-demo-").tempdir() {
            Ok(folder) => Some(folder),
            Err(error) => return output::usage(&format!("no temporary folder: {error}")),
        },
    };
    let root = args.keep.clone().or_else(|| temporary.as_ref().map(|folder| folder.path().to_path_buf()));
    let Some(root) = root else { return exit::FAILED };
    let stage = match Stage::set(&root) {
        Ok(stage) => stage,
        Err(error) => return output::usage(&format!("{}: {error}", root.display())),
    };
    let mut good = true;
    for act in [Act::LIAR, Act::HONEST] {
        match stage.play(act) {
            Ok(as_expected) => good &= as_expected,
            Err(error) => {
                output::usage(&format!("the demo could not go on: {error}"));
                return exit::FAILED;
            }
        }
    }
    closing(&stage, good, started, args.keep.is_some());
    if good { exit::OK } else { exit::FAILED }
}

fn closing(stage: &Stage, good: bool, started: Instant, kept: bool) {
    output::line("");
    if !good {
        output::line(&paint("The gate did not behave as it should on this machine: see above.", Tone::Bad));
        return;
    }
    output::line("The agent said it was done both times. Only the checks decided.");
    output::line(&paint(
        "Accepted means: the checks of the suite passed. It presumes that what you want\n\
         can be written as checks; where it cannot, there is no free referee.",
        Tone::Quiet,
    ));
    if kept {
        output::line(&format!(
            "\nCheck the receipts yourself:\n  touchstone verify '{}/receipts-*'",
            stage.shown()
        ));
    } else {
        output::line("\nTo keep the receipts and check them yourself: touchstone demo --keep DIR");
    }
    let ms = started.elapsed().as_millis();
    output::line(&paint(&format!("{ms} ms in all."), Tone::Quiet));
}

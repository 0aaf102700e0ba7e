//! `touchstone room`: one simulated agent under its contract (room contract).

mod compare;
mod journal;
mod live;
mod profile;
mod small;

use crate::exit;
use crate::output::{self, line};
use ::room::profile::Profile;
use ::room::record::{Record, Refusal};
use canon::{Object, canonical};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Run, replay and compare the room: one simulated agent whose contract is checked on every tick.
///
/// Exit: 0 it holds (replay: every hash is met, diff: no difference), 1 it does not, 64 wrong use.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Run one room and write its record: what decides the run, and the hashes that a replay has to meet.
    ///
    /// Example: touchstone room run --suite V01 --index 0 --identity mira --days 3 --out mira.room.json
    /// Example: touchstone room run --index 7 --inputs disturb.jsonl --ticks 3000 --log run.log.gz
    #[command(verbatim_doc_comment)]
    Run(live::Args),
    /// Run a record again and compare every hash. Inputs come from the record only.
    ///
    /// Example: touchstone room replay mira.room.json
    #[command(verbatim_doc_comment)]
    Replay {
        /// The record.
        #[arg(value_name = "RECORD")]
        record: PathBuf,
        /// A log of the same run, as `room run --log` wrote it: its lines are compared with those of the replay.
        #[arg(long, value_name = "FILE")]
        log: Option<PathBuf>,
        #[command(flatten)]
        profile: profile::Choice,
        /// The whole answer as one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Name the first tick, phase and field in which two runs differ.
    ///
    /// Example: touchstone room diff a.room.json b.room.json
    #[command(verbatim_doc_comment)]
    Diff {
        /// The first record.
        #[arg(value_name = "A")]
        a: PathBuf,
        /// The second.
        #[arg(value_name = "B")]
        b: PathBuf,
        #[command(flatten)]
        profile: profile::Choice,
        /// The whole answer as one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Read the log of a run: from the file that `room run --log` wrote, or made anew from a record.
    ///
    /// Example: touchstone room log mira.room.json --what decision --from 3600 --to 7200
    #[command(verbatim_doc_comment)]
    Log(journal::Args),
    /// Check a profile: every key known, every number in its range, and what must hold between them.
    ///
    /// Example: touchstone room profile profiles/v0-reference.toml
    #[command(verbatim_doc_comment)]
    Profile(profile::Args),
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    heard(match &args.verb {
        Verb::Run(args) => live::run(args),
        Verb::Replay { record, log, profile, json } => {
            compare::replay(record, log.as_deref(), profile, *json)
        }
        Verb::Diff { a, b, profile, json } => compare::diff(a, b, profile, *json),
        Verb::Log(args) => journal::run(args),
        Verb::Profile(args) => profile::run(args),
    })
}

/// `matrix replay`: a record is replayed in one way only.
pub(crate) fn replay_of(record: &Path, json: bool) -> u8 {
    heard(compare::replay(record, None, &profile::Choice::reference(), json))
}

/// `matrix shrink`.
pub(crate) fn shrink_of(record: &Path, out: Option<&Path>, json: bool) -> u8 {
    heard(small::shrink(record, out, json))
}

fn heard(answer: Result<u8, Wrong>) -> u8 {
    answer.unwrap_or_else(|wrong| {
        output::refused(&wrong.said, &wrong.hint);
        wrong.code
    })
}

/// Why nothing could be answered.
pub(super) struct Wrong {
    said: String,
    hint: String,
    code: u8,
}

impl Wrong {
    fn usage(said: impl Into<String>, hint: impl Into<String>) -> Wrong {
        Wrong { said: said.into(), hint: hint.into(), code: exit::USAGE }
    }

    fn failed(said: impl Into<String>, hint: impl Into<String>) -> Wrong {
        Wrong { said: said.into(), hint: hint.into(), code: exit::FAILED }
    }
}

/// The sentence of a refusal: what, where, and the code.
fn said(refusal: &Refusal) -> String {
    let code = refusal.fault.code();
    let detail =
        if refusal.detail.is_empty() { String::new() } else { format!(" ({})", shown(&refusal.detail)) };
    format!("{code} at {}{detail}", shown(&refusal.at))
}

fn shown(text: &str) -> String {
    canon::shown(text.as_bytes())
}

/// The bytes of a file; `-` is standard input.
fn bytes_of(path: &Path) -> Result<Vec<u8>, Wrong> {
    let read = || {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    };
    if path == Path::new("-") { read() } else { std::fs::read(path) }
        .map_err(|error| Wrong::usage(format!("{}: {error}", path.display()), "give a file that can be read"))
}

/// Reads a record; what is no record is refused with its place.
fn record_of(path: &Path) -> Result<Record, Wrong> {
    Record::read(&bytes_of(path)?).map_err(|refusal| {
        Wrong::failed(
            format!("{}: {}", path.display(), said(&refusal)),
            "a record is what `touchstone room run --out` wrote, unchanged",
        )
    })
}

fn reference(choice: &profile::Choice) -> Result<Arc<Profile>, Wrong> {
    choice.load()
}

fn print_json(answer: Object) {
    line(&String::from_utf8_lossy(&canonical(&answer.into())));
}

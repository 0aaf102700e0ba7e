//! `touchstone matrix`: every property against every scenario and seed (room contract, sections 12 to 16.15).

mod say;
mod show;
mod work;

use crate::exit;
use crate::output::{self, line};
use ::matrix::lint::{Constant, Finding, Linted, Profile, lint};
use ::matrix::plan::{Plan, Second, Selection};
use ::matrix::scenario::Set;
use ::matrix::scenarios::{self, Rooms};
use ::matrix::shard::Shard;
use ::matrix::{Problem, Scenario};
use canon::{Object, canonical};
use std::path::PathBuf;

/// Run the room's verification matrix: scenarios over seeds that were fixed before anybody looked.
///
/// Exit: 0 pass, 1 fail, 2 yellow (calibration seeds, something not reached, not everything run), 64 wrong use.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// List the scenarios with their runs, checks, situations and planted faults.
    ///
    /// Example: touchstone matrix list
    #[command(verbatim_doc_comment)]
    List {
        /// The whole answer as one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Check the scenarios before anything is hashed or run: modules, constants, vague words, stages.
    ///
    /// Example: touchstone matrix lint
    #[command(verbatim_doc_comment)]
    Lint {
        /// The whole answer as one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Hash configuration, tests, seeds and thresholds together, and sign that as a freeze record.
    ///
    /// Example: touchstone matrix freeze --sign mykeys
    #[command(verbatim_doc_comment)]
    Freeze {
        #[command(flatten)]
        signing: Signing,
        /// The whole answer as one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Run scenarios, each run twice. A folder that was interrupted is gone on with.
    ///
    /// Without --seeds these are the calibration seeds. Holdout seeds need a freeze record of exactly this
    /// configuration, and are taken once for each freeze.
    ///
    /// Example: touchstone matrix run --out runs/calibration
    /// Example: touchstone matrix run --seeds holdout --out runs/holdout
    /// Example: touchstone matrix run --suite V01 --indices 0-9 --out runs/v01
    #[command(verbatim_doc_comment)]
    Run(Box<work::RunArgs>),
    /// The second process of `run`.
    #[command(hide = true)]
    Worker(Box<work::WorkerArgs>),
    /// Run the replay record of a failing run again.
    ///
    /// Example: touchstone matrix replay runs/v01/failed/V01+main+mira+3.record
    #[command(verbatim_doc_comment)]
    Replay {
        /// A record of the folder `failed`.
        #[arg(value_name = "RECORD")]
        record: PathBuf,
        /// The whole answer as one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Make the reports of a run folder: Markdown, JSON Lines, one page.
    ///
    /// Example: touchstone matrix report runs/holdout --out report
    #[command(verbatim_doc_comment)]
    Report(work::ReportArgs),
    /// Put the folders of shards together and conclude.
    ///
    /// Example: touchstone matrix merge runs/1 runs/2 --out runs/whole.jsonl
    #[command(verbatim_doc_comment)]
    Merge(work::MergeArgs),
    /// Find the fewest inputs and the shortest prefix of a failing record that still fail.
    ///
    /// Example: touchstone matrix shrink failing.room.json
    #[command(verbatim_doc_comment)]
    Shrink {
        /// The record of a run that broke a check.
        #[arg(value_name = "RECORD")]
        record: PathBuf,
        /// Write the small record here.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// The whole answer as one JSON object.
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
struct Signing {
    /// Where the signed records lie: what was frozen, which holdout seeds were taken, how runs ended.
    #[arg(long, value_name = "DIR", default_value = "profiles/records")]
    records: PathBuf,
    /// Sign with the key of this folder [default: a key of its own for each record].
    #[arg(long, value_name = "KEYDIR")]
    sign: Option<PathBuf>,
}

/// Which runs.
#[derive(clap::Args)]
struct Which {
    /// Stage of the room.
    #[arg(long, value_name = "N", default_value_t = 0)]
    stage: u8,
    /// Only these scenarios.
    #[arg(long = "suite", value_name = "ID")]
    suites: Vec<String>,
    /// calibration (indices 0 to 49) or holdout (50 to 149).
    #[arg(long, value_name = "SET", default_value = "calibration", value_parser = set)]
    seeds: Set,
    /// Only these indices, as 0-9 or 7.
    #[arg(long, value_name = "A-B", value_parser = range)]
    indices: Vec<(u64, u64)>,
    /// Only these arms, as V01/main.
    #[arg(long = "arm", value_name = "ID/ARM")]
    arms: Vec<String>,
    /// Only these runs, as V01/main/mira/3.
    #[arg(long = "unit", value_name = "UNIT", value_parser = unit)]
    units: Vec<::matrix::Unit>,
    /// With the parts of V08 that are 625 million choices.
    #[arg(long)]
    exhaustive: bool,
}

fn set(text: &str) -> Result<Set, String> {
    [Set::Calibration, Set::Holdout]
        .into_iter()
        .find(|set| set.word() == text)
        .ok_or_else(|| "calibration or holdout is needed".to_owned())
}

fn range(text: &str) -> Result<(u64, u64), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok((first, last)),
        _ => Err("an index or a range as 0-9 is needed".to_owned()),
    }
}

fn unit(text: &str) -> Result<::matrix::Unit, String> {
    ::matrix::Unit::parse(text).ok_or_else(|| "a run as V01/main/mira/3 is needed".to_owned())
}

impl Which {
    /// The same choice as words, for another process.
    fn words(&self) -> Vec<String> {
        let mut words = vec!["--stage".to_owned(), self.stage.to_string()];
        let mut word = |name: &str, value: String| words.extend([name.to_owned(), value]);
        word("--seeds", self.seeds.word().to_owned());
        self.suites.iter().for_each(|id| word("--suite", id.clone()));
        self.indices.iter().for_each(|(first, last)| word("--indices", format!("{first}-{last}")));
        self.arms.iter().for_each(|arm| word("--arm", arm.clone()));
        self.units.iter().for_each(|unit| word("--unit", unit.to_string()));
        if self.exhaustive {
            words.push("--exhaustive".to_owned());
        }
        words
    }

    fn selection(&self) -> Selection {
        Selection {
            set: self.seeds,
            exhaustive: self.exhaustive,
            scenarios: self.suites.clone(),
            arms: self.arms.clone(),
            indices: self.indices.clone(),
            units: self.units.clone(),
        }
    }
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let answer = match &args.verb {
        Verb::List { json } => Ok(show::list(*json)),
        Verb::Lint { json } => show::lint(*json),
        Verb::Freeze { signing, json } => work::freeze(signing, *json),
        Verb::Run(args) => work::run(args),
        Verb::Worker(args) => work::worker(args),
        Verb::Report(args) => work::report(args),
        Verb::Merge(args) => work::merge(args),
        Verb::Replay { record, json } => return crate::room::replay_of(record, *json),
        Verb::Shrink { record, out, json } => return crate::room::shrink_of(record, out.as_deref(), *json),
    };
    answer.unwrap_or_else(|problem| {
        let (said, hint, usage) = say::say(&problem);
        output::refused(&said, hint);
        if usage { exit::USAGE } else { exit::FAILED }
    })
}

/// The scenarios of this binary.
struct Stage {
    scenarios: Vec<Scenario<Rooms>>,
    rooms: Rooms,
}

impl Stage {
    fn new() -> Stage {
        Stage { scenarios: scenarios::all(), rooms: Rooms::reference() }
    }

    fn lint(&self, stage: u8) -> Result<Linted<'_, Rooms>, Vec<Finding>> {
        let keys = self.rooms.profile.keys();
        let constants: Vec<Constant> =
            keys.iter().map(|(key, stage)| Constant { key: key.clone(), stage: *stage }).collect();
        let faults = scenarios::faults();
        let faults: Vec<&str> = faults.iter().map(String::as_str).collect();
        let profile =
            Profile { config_hash: self.rooms.profile.config_hash(), constants: &constants, faults: &faults };
        lint(stage, &self.scenarios, &profile)
    }

    fn linted(&self, stage: u8) -> Result<Linted<'_, Rooms>, Problem> {
        self.lint(stage).map_err(Problem::from)
    }
}

fn plan<'m>(
    linted: &'m Linted<'m, Rooms>,
    which: &Which,
    second: Option<Second>,
) -> Result<Plan<'m, Rooms>, Problem> {
    Plan::of(linted, which.selection(), second, Shard::WHOLE)
}

fn print_json(answer: Object) {
    line(&String::from_utf8_lossy(&canonical(&answer.into())));
}

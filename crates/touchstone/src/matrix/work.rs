//! `matrix freeze`, `run`, `report`, `merge`.

use super::{Signing, Stage, Which, plan, print_json};
use crate::exit;
use crate::output::{Busy, Tone, hanging, line, now_text, paint};
use crate::stop::Second as SecondSignal;
use crate::stop::on_signals;
use ::matrix::admission::{admit, recognise};
use ::matrix::compare::{by_unit, compare};
use ::matrix::freeze;
use ::matrix::lint::Linted;
use ::matrix::plan::{Second, is_holdout};
use ::matrix::records::{Kind, Records};
use ::matrix::report::{Facts, html, json_lines, markdown};
use ::matrix::runner::{End, Options, Progress, run_units};
use ::matrix::scenario::Pass;
use ::matrix::scenarios::{Rooms, mutations};
use ::matrix::shard::{self, Merged, Shard};
use ::matrix::store::{Folder, write_outcomes};
use ::matrix::verdict::{Conclusion, Standing, conclude, held_to, sign};
use ::matrix::{Problem, Unit};
use ::verdict::report::Colour;
use canon::Object;
use desk::keydir;
use indicatif::{ProgressBar, ProgressStyle};
use ledger::identity::Identity;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What the second process came to, beside the outcomes of the first.
const OTHER_PROCESS: &str = "second-process.jsonl";
/// How it ran, in words that are the same on every machine.
const OTHER: &str = "another process, one thread, other order";

/// Outcomes of one write to disk.
const BATCH: usize = 16;

#[derive(clap::Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    which: Which,
    /// The run folder: new, or one to go on with.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Threads [default: one for each core].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Each run once. The result is yellow: nothing was compared.
    #[arg(long)]
    once: bool,
    /// In the second runs, save, load and go on after every so many ticks.
    #[arg(long, value_name = "TICKS", default_value_t = 7_919)]
    reload_every: u64,
    /// Only the part I of N, to be merged.
    #[arg(long, value_name = "I/N", value_parser = part)]
    shard: Option<Shard>,
    /// Take holdout seeds that another run took under this freeze; the reason is recorded and the result is yellow.
    #[arg(long, value_name = "REASON", value_parser = reason)]
    again: Option<String>,
    #[command(flatten)]
    signing: Signing,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(super) struct WorkerArgs {
    #[command(flatten)]
    which: Which,
    #[arg(long)]
    run_id: String,
    #[arg(long, value_parser = part)]
    shard: Shard,
    #[arg(long)]
    out: PathBuf,
    #[arg(long)]
    records: PathBuf,
}

#[derive(clap::Args)]
pub(super) struct ReportArgs {
    /// The run folder.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Where report.md, report.jsonl and report.html go.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    signing: Signing,
}

#[derive(clap::Args)]
pub(super) struct MergeArgs {
    /// Folders of shards.
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Write all outcomes here, sorted.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    signing: Signing,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

fn part(text: &str) -> Result<Shard, String> {
    Shard::parse(text).ok_or_else(|| "a part as 1/3 is needed".to_owned())
}

fn reason(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("a reason is needed".to_owned()) } else { Ok(text.to_owned()) }
}

impl Signing {
    fn identity(&self) -> Result<Identity, Problem> {
        let not_read =
            |path: &Path, why: String| Problem::NotRead(path.to_path_buf(), std::io::Error::other(why));
        match &self.sign {
            Some(folder) => keydir::load(folder, None).map_err(|error| not_read(folder, error.to_string())),
            None => keydir::fresh().map_err(|error| not_read(Path::new("random bytes"), error.to_string())),
        }
    }
}

// ---------------------------------------------------------------------------------------------- freeze

pub(super) fn freeze(signing: &Signing, json: bool) -> Result<u8, Problem> {
    let stage = Stage::new();
    let linted = stage.linted(0)?;
    let definition = freeze::Definition::of(&linted);
    let mut records = Records::read(&signing.records)?;
    let beside = BTreeMap::from([("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]);
    let record = freeze::freeze(&definition, &mut records, signing.identity()?, &beside)?;
    if json {
        print_json(
            Object::new()
                .with("number", record.number)
                .with("gate_sha256", definition.gate_hash())
                .with("config_sha256", definition.config_hash)
                .with("head", record.head),
        );
    } else {
        line(&format!("{}  record {}", paint("FROZEN", Tone::Good), record.number));
        line(&format!("gate   {}", definition.gate_hash().to_hex()));
        line(&format!("config {}", definition.config_hash.to_hex()));
        line(&format!("head   {}  (keep it)", record.head.to_hex()));
    }
    Ok(exit::OK)
}

// ------------------------------------------------------------------------------------------------- run

pub(super) fn run(args: &RunArgs) -> Result<u8, Problem> {
    let stage = Stage::new();
    let linted = stage.linted(args.which.stage)?;
    let second = (!args.once).then_some(Second { reload_every: Some(args.reload_every).filter(|n| *n > 0) });
    let mut plan = plan(&linted, &args.which, second)?;
    if let Some(shard) = args.shard {
        plan = plan.with_shard(shard);
    }
    let mut folder = Folder::open(&args.out, &plan.manifest())?;
    let mut records = Records::read(&args.signing.records)?;
    let admission = admit(&plan, &folder, &mut records, args.again.as_deref(), args.signing.identity()?)?;
    let stop = stop_on_signals()?;
    let threads = args.threads.or(std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let options = Options { threads, batch: NonZeroUsize::new(BATCH).unwrap_or(NonZeroUsize::MIN) };
    let bar = Bar::new(plan.units().count());
    let end =
        ::matrix::runner::run(&plan, &admission, &stage.rooms, &mut folder, options, &stop, &mut |at| {
            bar.at(at)
        })?;
    bar.end();
    if end == End::Stopped {
        line(&format!("{}  the same command goes on from here", paint("STOPPED", Tone::Warn)));
        return Ok(exit::YELLOW);
    }
    if !args.once {
        other_process(args, folder.run_id())?;
    }
    if args.shard.is_some_and(|shard| shard.of() > 1) {
        line(&format!(
            "{}  {} runs; merge the shards to conclude",
            paint("DONE", Tone::Good),
            folder.outcomes().len()
        ));
        return Ok(exit::OK);
    }
    let parts = std::slice::from_ref(&args.out);
    let merged = shard::merge(parts)?;
    let conclusion = concluded(&linted, &stage, &merged, &records, parts)?;
    let gate = plan.definition().gate_hash();
    if admission.freeze().is_some() {
        sign(&conclusion, &merged.run_id(), gate, &mut records, args.signing.identity()?)?;
    }
    Ok(tell(&conclusion, &gate.to_hex(), args.json))
}

/// The same runs once more, in a process of its own, on one thread, in the other order (PC-70).
fn other_process(args: &RunArgs, run_id: &str) -> Result<(), Problem> {
    let failed = |why: String| Problem::ThreadNotStarted(std::io::Error::other(why));
    let program = std::env::current_exe().map_err(Problem::ThreadNotStarted)?;
    let out = args.out.join(OTHER_PROCESS);
    let mut command = Command::new(program);
    command.args(["matrix", "worker", "--run-id", run_id, "--out"]).arg(&out);
    command.arg("--shard").arg(args.shard.unwrap_or(Shard::WHOLE).to_string());
    command.args(args.which.words()).arg("--records").arg(&args.signing.records);
    let busy = Busy::default();
    busy.with(Some("the same runs in another process"));
    let output = command.output().map_err(Problem::ThreadNotStarted)?;
    busy.with(None);
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

/// The second process.
pub(super) fn worker(args: &WorkerArgs) -> Result<u8, Problem> {
    // It outlives nobody: without this, kill -9 of the run leaves it computing for minutes.
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .map_err(|errno| Problem::ThreadNotStarted(errno.into()))?;
    let stage = Stage::new();
    let linted = stage.linted(args.which.stage)?;
    // What is run decides the digest of the plan, and how second runs are made does not.
    let plan = plan(&linted, &args.which, None)?.with_shard(args.shard);
    let records = Records::read(&args.records)?;
    let admission = recognise(&plan, &args.run_id, &records)?;
    let units: Vec<Unit> = plan.units().cloned().collect();
    let pass = Pass { second: true, reload_every: None };
    let stop = stop_on_signals()?;
    let outcomes = run_units(&plan, &admission, &units, &stage.rooms, pass, NonZeroUsize::MIN, &stop)?;
    write_outcomes(&args.out, &outcomes)?;
    Ok(exit::OK)
}

fn stop_on_signals() -> Result<Arc<AtomicBool>, Problem> {
    let stop = Arc::new(AtomicBool::new(false));
    // After a second one nothing is lost: outcomes are on disk by the batch.
    on_signals(&stop, SecondSignal::Kills).map_err(Problem::ThreadNotStarted)?;
    Ok(stop)
}

/// A bar on a terminal; nothing where nobody watches.
struct Bar(ProgressBar);

impl Bar {
    fn new(total: usize) -> Bar {
        let bar = ProgressBar::new(total as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} left {eta}  {msg}") {
            bar.set_style(style);
        }
        Bar(bar)
    }

    fn at(&self, progress: &Progress) {
        self.0.set_position(progress.done as u64);
        let last = progress.last.as_ref().map(Unit::to_string).unwrap_or_default();
        self.0.set_message(format!("failing {}  {last}", progress.failing));
    }

    fn end(&self) {
        self.0.finish_and_clear();
    }
}

fn tell(conclusion: &Conclusion, gate: &str, json: bool) -> u8 {
    let colour = conclusion.report.colour();
    let hash = conclusion.report.verdict_hash();
    if json {
        let check = |check: &::verdict::report::Check| {
            Object::new().with("id", check.id).with("outcome", check.outcome().word())
        };
        print_json(
            Object::new()
                .with("colour", colour.word())
                .with("exit", i64::from(colour.exit_code()))
                .with("gate_sha256", gate)
                .with("runs", conclusion.outcomes_n)
                .with("verdict_hash", hash)
                .with("replay_sha256", conclusion.replay_digest)
                .with("checks", conclusion.report.checks.iter().map(check).collect::<Vec<_>>()),
        );
        return colour.exit_code();
    }
    for check in &conclusion.report.checks {
        line(&format!("{:<12} {:<7} {}", check.outcome().word(), check.id, check.title));
        for finding in &check.findings {
            let words = format!("{} {} {}", finding.reason, finding.place, finding.detail);
            line(&hanging("               ", &canon::shown(words.as_bytes())));
        }
    }
    let (word, tone) = match colour {
        Colour::Green => ("PASS", Tone::Good),
        Colour::Yellow => ("YELLOW", Tone::Warn),
        Colour::Red => ("FAIL", Tone::Bad),
    };
    line(&format!(
        "{}  {} runs, verdict_hash {hash}, evidence: simulated",
        paint(word, tone),
        conclusion.outcomes_n
    ));
    colour.exit_code()
}

// ---------------------------------------------------------------------------------- report and merge

/// The outcomes of run folders, judged.
fn concluded(
    linted: &Linted<'_, Rooms>,
    stage: &Stage,
    merged: &Merged,
    records: &Records,
    folders: &[PathBuf],
) -> Result<Conclusion, Problem> {
    let mut standing = Standing::of(linted, merged, records)?;
    if merged.members.get("second").is_some_and(|second| !second.is_null()) {
        // What the second process left out, or somebody took away, is a run that was not compared.
        let mut other = BTreeMap::new();
        for folder in folders.iter().map(|folder| folder.join(OTHER_PROCESS)).filter(|file| file.exists()) {
            other.extend(by_unit(&folder)?);
        }
        standing.compared.push((OTHER.to_owned(), compare(&merged.outcomes, &other)));
    }
    conclude(linted, &stage.rooms, &merged.outcomes, &standing)
}

pub(super) fn report(args: &ReportArgs) -> Result<u8, Problem> {
    let stage = Stage::new();
    let records = Records::read(&args.signing.records)?;
    let linted = stage.linted(0)?;
    let parts = std::slice::from_ref(&args.folder);
    let merged = shard::merge(parts)?;
    let mut conclusion = concluded(&linted, &stage, &merged, &records, parts)?;
    held_to(&mut conclusion, &merged.run_id(), &records);
    let mutations = mutations();
    let notes = vec![format!("engine {}", env!("CARGO_PKG_VERSION"))];
    let command = |unit: &Unit| format!("touchstone matrix run --unit {unit} --out again");
    let facts = Facts {
        conclusion: &conclusion,
        outcomes: &merged.outcomes,
        records: records.all(),
        mutations: &mutations,
        command: &command,
        notes: &notes,
        ts_build: &now_text(),
    };
    std::fs::create_dir_all(&args.out).map_err(|error| Problem::NotWritten(args.out.clone(), error))?;
    for (name, text) in [
        ("report.md", markdown(&facts).into_bytes()),
        ("report.jsonl", json_lines(&facts)),
        ("report.html", html(&facts).into_bytes()),
    ] {
        let path = args.out.join(name);
        std::fs::write(&path, text).map_err(|error| Problem::NotWritten(path.clone(), error))?;
        line(&path.display().to_string());
    }
    Ok(tell(&conclusion, &freeze::Definition::of(&linted).gate_hash().to_hex(), false))
}

pub(super) fn merge(args: &MergeArgs) -> Result<u8, Problem> {
    let stage = Stage::new();
    let linted = stage.linted(0)?;
    let mut records = Records::read(&args.signing.records)?;
    let merged = shard::merge(&args.folders)?.complete()?;
    if let Some(out) = &args.out {
        write_outcomes(out, &merged.outcomes)?;
    }
    let conclusion = concluded(&linted, &stage, &merged, &records, &args.folders)?;
    let gate = freeze::Definition::of(&linted).gate_hash();
    // Parts sign nothing of how they ended: the whole does, once.
    let ended = records.of(Kind::Run).any(|record| record.text("run_id") == merged.run_id());
    if merged.outcomes.keys().any(is_holdout) && !ended {
        sign(&conclusion, &merged.run_id(), gate, &mut records, args.signing.identity()?)?;
    }
    let mut conclusion = conclusion;
    held_to(&mut conclusion, &merged.run_id(), &records);
    Ok(tell(&conclusion, &gate.to_hex(), args.json))
}

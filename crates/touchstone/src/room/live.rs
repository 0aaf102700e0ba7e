//! `room run`.

use super::journal::Writer;
use super::{Wrong, bytes_of, print_json, profile, reference, said};
use crate::exit;
use crate::output::{Busy, Tone, line, now_text, paint};
use ::room::event::{Event, What};
use ::room::input::Input;
use ::room::record::{Record, record_watched};
use ::room::setup::{GIVEN_SEED, Identity, RunMode, Setup, read_seed};
use ::room::{given, receipt};
use canon::Digest;
use desk::keydir;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Suite of the seed formula.
    #[arg(long, value_name = "ID", default_value = "V01")]
    suite: String,
    /// Index of the seed.
    #[arg(long, value_name = "N", default_value_t = 0)]
    index: u64,
    /// The seed itself, 16 hexadecimal digits, instead of that of suite and index.
    #[arg(long, value_name = "HEX", conflicts_with_all = ["suite", "index"])]
    seed: Option<String>,
    /// Who lives in the room: mira or niko.
    #[arg(long, value_name = "NAME", default_value = "mira")]
    identity: String,
    /// Simulated days; a tick is a second.
    #[arg(long, value_name = "N", conflicts_with = "ticks", value_parser = clap::value_parser!(u64).range(1..=60))]
    days: Option<u64>,
    /// Ticks [default: one day].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=5_184_000))]
    ticks: Option<u64>,
    /// Commands from outside, JSON Lines (docs/room.md); - is standard input.
    #[arg(long, value_name = "FILE")]
    inputs: Option<PathBuf>,
    /// Lab mode: direct control and system edits are open, and the run is excluded from the core metrics.
    #[arg(long)]
    lab: bool,
    /// Write the record here. An existing file is refused.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write every event here, JSON Lines, compressed as it comes.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Sign the receipt with the key of this folder (`touchstone key new`); needs --chain.
    #[arg(long, value_name = "KEYDIR", requires = "chain")]
    sign: Option<PathBuf>,
    /// The chain of the signed receipt, a new file NAME.ndjson. Needs --sign.
    #[arg(long, value_name = "FILE", requires = "sign")]
    chain: Option<PathBuf>,
    #[command(flatten)]
    profile: profile::Choice,
    /// The receipt as one JSON object.
    #[arg(long)]
    json: bool,
}

impl Args {
    fn setup(&self) -> Result<Setup, Wrong> {
        let identity = Identity::of(&self.identity).ok_or_else(|| {
            Wrong::usage("--identity: mira or niko is needed", "the two reference identities")
        })?;
        let mut setup = Setup::of(&self.suite, self.index, identity);
        if let Some(seed) = &self.seed {
            if read_seed(seed).is_none() {
                let said =
                    format!("--seed {}: 16 hexadecimal digits are needed", canon::shown(seed.as_bytes()));
                return Err(Wrong::usage(said, "or take a suite and an index: --suite V01 --index 0"));
            }
            setup.suite = GIVEN_SEED.to_owned();
            setup.seed.clone_from(seed);
        }
        if self.lab {
            setup.mode = RunMode::Lab;
        }
        Ok(setup)
    }

    fn ticks(&self, day: i64) -> u64 {
        self.ticks.unwrap_or_else(|| self.days.unwrap_or(1) * day.cast_unsigned())
    }

    fn inputs(&self) -> Result<Vec<Input>, Wrong> {
        let Some(path) = &self.inputs else { return Ok(Vec::new()) };
        given::read(&bytes_of(path)?).map_err(|refusal| {
            let hint = "docs/room.md lists the verbs and what each needs";
            Wrong::failed(format!("{}: {}", path.display(), said(&refusal)), hint)
        })
    }
}

pub(super) fn run(args: &Args) -> Result<u8, Wrong> {
    places(args)?;
    let profile = reference(&args.profile)?;
    let (setup, inputs) = (args.setup()?, args.inputs()?);
    let ticks = args.ticks(profile.clock.day_ticks);
    let started = Instant::now();
    let busy = Busy::default();
    busy.with(Some("the room lives"));
    let mut journal = args.log.as_deref().map(Writer::create).transpose()?;
    let late = inputs.iter().filter(|input| input.tick >= ticks).count();
    let listens = journal.is_some() || !inputs.is_empty();
    let mut refused = 0;
    let made = record_watched(&profile, setup, inputs, ticks, listens, &mut |events| {
        refused += events.iter().filter(|event| is_refused_input(event)).count();
        if let Some(journal) = &mut journal {
            journal.take(events);
        }
    });
    let record = made.map_err(|refusal| Wrong::failed(said(&refusal), "nothing was run"))?;
    if let Some(journal) = journal {
        journal.end()?;
    }
    busy.with(None);
    if let Some(out) = &args.out {
        write_new(out, &record.text())?;
    }
    let head = sign(args, &record)?;
    tell(args, &record, head, started, [refused, late]);
    Ok(if record.violation.is_none() { exit::OK } else { exit::FAILED })
}

/// Every place that will be written is looked at before anything runs.
fn places(args: &Args) -> Result<(), Wrong> {
    let folder =
        |path: &Path| path.parent().filter(|p| *p != Path::new("")).unwrap_or(Path::new(".")).to_path_buf();
    let mut taken: Vec<&Path> = Vec::new();
    for path in [&args.out, &args.log, &args.chain].into_iter().flatten() {
        if path.symlink_metadata().is_ok() || taken.contains(&path.as_path()) {
            return Err(Wrong::usage(format!("{}: exists", path.display()), "choose a new file"));
        }
        if !folder(path).is_dir() {
            return Err(Wrong::usage(
                format!("{}: its folder is not there", path.display()),
                "make the folder first",
            ));
        }
        taken.push(path);
    }
    if args
        .chain
        .as_ref()
        .is_some_and(|chain| chain.extension().is_none_or(|extension| extension != "ndjson"))
    {
        return Err(Wrong::usage(
            "--chain: a chain is called NAME.ndjson",
            "`touchstone verify` reads no other name",
        ));
    }
    if !::matrix::unit::is_name(&args.suite) {
        return Err(Wrong::usage("--suite: letters, digits, -, _ and . are taken", "V01, for example"));
    }
    Ok(())
}

/// A command from outside that was refused; candidates of the Agent that were eliminated are no inputs.
fn is_refused_input(event: &Event) -> bool {
    matches!(event.what, What::Refused { about, .. } if about != 0)
}

pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Wrong> {
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    made.and_then(|mut file| file.write_all(bytes))
        .map_err(|error| Wrong::failed(format!("{}: {error}", path.display()), "the record was not written"))
}

fn sign(args: &Args, record: &Record) -> Result<Option<Digest>, Wrong> {
    let (Some(folder), Some(chain)) = (&args.sign, &args.chain) else { return Ok(None) };
    let identity = keydir::load(folder, None).map_err(|why| {
        Wrong::usage(format!("{}: {why}", folder.display()), "`touchstone key new DIR` makes a key")
    })?;
    let head = matrix::receipts::sign(chain, identity, &[receipt::of(record)]).map_err(|error| {
        Wrong::failed(format!("{}: {error}", chain.display()), "choose a new file NAME.ndjson")
    })?;
    Ok(Some(head))
}

fn tell(args: &Args, record: &Record, head: Option<Digest>, started: Instant, [refused, late]: [usize; 2]) {
    if args.json {
        let mut answer = receipt::of(record).as_object().cloned().unwrap_or_default();
        // Physical: the field table of receipts drops both.
        answer.set("ts", now_text());
        answer.set("elapsed", u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX));
        if let Some(head) = head {
            answer.set("chain_head", head);
        }
        print_json(answer);
        return;
    }
    let word = match record.violation {
        None => paint("HELD", Tone::Good),
        Some(_) => paint("BROKEN", Tone::Bad),
    };
    let setup = &record.setup;
    line(&format!(
        "{word}  {} {} {}  {} ticks, {} inputs, evidence: simulated",
        setup.suite,
        setup.index,
        setup.identity.name(),
        record.ticks,
        record.inputs.len()
    ));
    if refused > 0 {
        line(&format!(
            "inputs refused: {refused} of {}; `room log --what refused` has the codes",
            record.inputs.len()
        ));
    }
    if late > 0 {
        line(&format!("inputs after the end: {late} of {}", record.inputs.len()));
    }
    if setup.mode == RunMode::Lab {
        line("excluded_from_core_metrics: a Lab run");
    }
    let looked = record.checks.iter().filter(|(_, count)| *count > 0).count();
    let unchecked: Vec<&str> =
        record.checks.iter().filter(|(_, count)| *count == 0).map(|(check, _)| check.name()).collect();
    line(&format!("checks with something to look at: {looked} of {}", record.checks.len()));
    if !unchecked.is_empty() {
        line(&crate::output::hanging("unchecked: ", &unchecked.join(" ")));
    }
    if let Some(violation) = &record.violation {
        line(&format!("first broken: {} at tick {}", violation.check.name(), violation.tick));
    }
    if let Some(frame) = record.keyframes.last() {
        line(&format!("state  {}", frame.hash.to_hex()));
    }
    line(&format!("record {}", Digest::of(&record.text()).to_hex()));
    if let Some(head) = head {
        line(&format!("head   {}  (2 entries; keep both)", head.to_hex()));
    }
}

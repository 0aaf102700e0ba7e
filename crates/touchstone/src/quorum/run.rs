//! A panel of executors on this machine: each a process with a key of its own.

use super::panel::{EXECUTORS_MAX, Panel, ROSTER, make, roster_bytes};
use super::say;
use super::verdict::{Commitment, select};
use crate::output::{Tone, line, paint};
use crate::{exit, output};
use canon::{Reader, Value};
use desk::store::write_atomic;
use ledger::identity::PublicKey;
use peers::quorum::Roster;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

#[derive(clap::Args)]
pub(super) struct AskArgs {
    /// The suite, a JSON object.
    #[arg(long, value_name = "FILE")]
    suite: PathBuf,
    /// Name of the task.
    #[arg(long, value_name = "ID")]
    task_id: String,
    /// Votes that are needed for a verdict [default: more than half of the roster].
    #[arg(long, value_name = "N")]
    quorum: Option<NonZeroUsize>,
    /// The folder of the panel: a new one.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Drafts in the order in which they are tried; the author is the file unless one is named.
    #[arg(value_name = "[AUTHOR=]FILE", required = true)]
    drafts: Vec<String>,
}

#[derive(clap::Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    ask: AskArgs,
    /// How many executors judge.
    #[arg(long, value_name = "K", default_value_t = 3)]
    executors: usize,
    /// Seconds for loading a draft and all of its calls together.
    #[arg(long, value_name = "S", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// How drafts are confined: the best that this machine allows, or not at all.
    #[arg(long, value_parser = ["auto", "none"], default_value = "auto")]
    sandbox: String,
    #[command(flatten)]
    commitment: Commitment,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

impl AskArgs {
    fn make(&self) -> Result<(), String> {
        make(&self.out, &self.suite, &self.task_id, self.quorum, &self.drafts)
    }
}

pub(super) fn ask(args: &AskArgs) -> u8 {
    if let Err(why) = args.make() {
        return output::usage(&why);
    }
    line(&format!("{}  {}", paint("ASKED", Tone::Good), args.out.display()));
    line(&format!("       touchstone quorum attest {} --id NAME", args.out.display()));
    exit::OK
}

pub(super) fn run(args: &RunArgs) -> u8 {
    match judged(args) {
        Ok(code) => code,
        Err(Stopped::Usage(why)) => output::usage(&why),
        Err(Stopped::NotMeasured(why)) => {
            output::refused(&why, "an executor that could not measure says nothing about a draft");
            exit::VOID
        }
    }
}

enum Stopped {
    Usage(String),
    NotMeasured(String),
}

impl From<String> for Stopped {
    fn from(why: String) -> Stopped {
        Stopped::Usage(why)
    }
}

fn judged(args: &RunArgs) -> Result<u8, Stopped> {
    if args.executors == 0 || args.executors > EXECUTORS_MAX {
        return Err(Stopped::Usage(format!("--executors: 1 to {EXECUTORS_MAX}")));
    }
    let opened = args.commitment.open()?;
    args.ask.make()?;
    let panel = Panel::read(&args.ask.out)?;
    // A suite that is not the one committed to costs no run.
    let nobody = select(&panel, Roster::new(), opened.as_ref())?;
    if let Err(refused) = &nobody.selection.shipped
        && refused.reason().is_some()
    {
        return Ok(say::selection(&nobody, true, args.json));
    }
    let roster = attested(args)?;
    let path = args.ask.out.join(ROSTER);
    write_atomic(&path, &roster_bytes(&roster), 0o644)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let counting = select(&panel, roster, opened.as_ref())?;
    Ok(say::selection(&counting, true, args.json))
}

/// Starts every executor, waits for all, and takes each one's key from its own mouth.
fn attested(args: &RunArgs) -> Result<Roster, Stopped> {
    let not_measured = |why: std::io::Error| Stopped::NotMeasured(why.to_string());
    let program = std::env::current_exe().map_err(not_measured)?;
    let busy = output::Busy::default();
    busy.with(Some("the executors judge"));
    let start = |number: usize| {
        let id = format!("executor-{number}");
        let child = executor(&program, args, &id).spawn().map_err(not_measured)?;
        Ok((id, child))
    };
    let started: Result<Vec<(String, Child)>, Stopped> = (1..=args.executors).map(start).collect();
    let mut roster = Roster::new();
    for (id, child) in started? {
        let output = child.wait_with_output().map_err(not_measured)?;
        let key = key_of(&output.stdout).ok_or_else(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            Stopped::NotMeasured(format!("{id}: {}", canon::shown(said.trim().as_bytes())))
        })?;
        roster.insert(id, key);
    }
    busy.with(None);
    Ok(roster)
}

fn executor(program: &Path, args: &RunArgs, id: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["quorum", "attest", "--with-parent", "--id", id, "--timeout", &args.timeout.to_string()]);
    command.args(["--sandbox", &args.sandbox]).arg("--").arg(&args.ask.out);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn key_of(said: &[u8]) -> Option<PublicKey> {
    let said = Reader::strict().read(said.trim_ascii()).ok()?;
    PublicKey::parse(said.get("key").and_then(Value::as_str)?).ok()
}

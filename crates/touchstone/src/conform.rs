//! `touchstone conform`: is a runtime reproducible?

mod docs;
mod init;
mod text;

use crate::exit;
use crate::output::{self, Busy, line};
use crate::stop::{self, Second};
use canon::{Object, Value};
use clap::Subcommand;
use conform::load::RunBytes;
use conform::{Problem, exec, golden, host_class, load};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use verdict::judge::{self, Judgement, Run};
use verdict::report::Report;

/// Grade a runtime by its runs: full, sampled or incompatible, and why.
///
/// Runs are files (JSON or JSON Lines), folders of them, or what a command prints in fresh processes. The field table
/// says which fields must be equal between two runs; `touchstone conform init` proposes one.
///
/// Exit: 0 full (green)  1 incompatible (red), or no judgement was possible  2 sampled (yellow)
///
/// Example: touchstone conform --table fields.toml --run a.json --run b.json
/// Example: touchstone conform --table fields.toml --times 4 --shuffle --exec 'python3 agent.py'
#[derive(clap::Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    other: Option<Other>,
    /// The field table.
    #[arg(long, value_name = "FILE", required = true)]
    table: Option<PathBuf>,
    /// A run: a file, or a folder of JSON files; twice or more.
    #[arg(long = "run", value_name = "PATH", conflicts_with = "exec")]
    runs: Vec<PathBuf>,
    /// A command line for /bin/sh whose standard output is the run; started afresh for each run.
    #[arg(long, value_name = "COMMAND", required_unless_present = "runs")]
    exec: Option<String>,
    /// How often the command is run.
    #[arg(long, value_name = "N", default_value_t = 2, conflicts_with = "runs", value_parser = clap::value_parser!(u32).range(1..=1000))]
    times: u32,
    /// Run it each time under another locale, time zone, hash seed, directory order and number of cores.
    #[arg(long, conflicts_with = "runs")]
    shuffle: bool,
    /// Most seconds of one run of the command.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, conflicts_with = "runs", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout_s: u64,
    /// Golden values that must be hit.
    #[arg(long, value_name = "FILE")]
    golden: Option<PathBuf>,
    /// Name of the task in the golden file; the only one there when it has one.
    #[arg(long, value_name = "NAME")]
    case: Option<String>,
    /// Write attestation.md and attestation.jsonl into this folder.
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Other {
    /// Propose a field table from one run or more.
    Init(init::Args),
    /// Look for claims of measurement in Markdown documents that have no evidence beside them.
    Docs(docs::Args),
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: Args) -> u8 {
    match &args.other {
        Some(Other::Init(args)) => init::run(args),
        Some(Other::Docs(args)) => docs::run(args),
        None => match judged(&args) {
            Ok(judged) => judged.tell(&args),
            Err(problem) => text::problem(&problem, args.json),
        },
    }
}

/// What was judged, and what is worth saying beside the judgement.
struct Judged {
    judgement: Judgement,
    /// Records of each run.
    records: Vec<(String, usize)>,
    not_read: Vec<String>,
    shuffled: exec::Shuffled,
}

fn judged(args: &Args) -> Result<Judged, Problem> {
    if let Some(folder) = &args.report {
        remove_reports(folder)?;
    }
    let path = args.table.as_deref().unwrap_or(Path::new(""));
    let table = load::table(path)?;
    let golden = args.golden.as_deref().map(|path| golden::read(path, &table)).transpose()?;
    let mut golden = golden;
    if let (Some(golden), Some(case)) = (&mut golden, &args.case) {
        golden.keep(case);
    }
    let only = golden.as_ref().and_then(golden::only_case);
    let case = args.case.clone().or(only).unwrap_or_else(|| "run".to_owned());
    let (bytes, shuffled) = runs(args, &case)?;
    let runs: Vec<Run<'_>> = bytes.iter().map(RunBytes::read).collect::<Result<_, _>>()?;
    let subject = args.exec.clone().unwrap_or_else(|| "runs".to_owned());
    let judgement =
        judge::judge(&subject, &table, &runs, golden.as_ref(), &host_class()).map_err(Problem::Refused)?;
    let mut judgement = judgement;
    let not_read: Vec<String> =
        bytes.iter().flat_map(|run| run.not_read.iter().map(|file| format!("{}/{file}", run.name))).collect();
    note(&mut judgement.report, &runs, &not_read, &shuffled);
    if let Some(folder) = &args.report {
        write_reports(&judgement.report, folder)?;
    }
    let records =
        |run: &Run<'_>| (run.name.clone(), run.tasks.values().map(canon::replay::Document::records).sum());
    Ok(Judged { records: runs.iter().map(records).collect(), judgement, not_read, shuffled })
}

/// What was compared, under which circumstances, and what was not looked at: beside the check that compares.
fn note(report: &mut Report, runs: &[Run<'_>], not_read: &[String], shuffled: &exec::Shuffled) {
    let Some(check) = report.checks.iter_mut().find(|check| check.id == "D4") else { return };
    check
        .notes
        .push(format!("runs: {}", runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>().join(", ")));
    check.notes.extend(shuffled.varied.iter().map(|what| format!("varied: {what}")));
    check.notes.extend(shuffled.not_varied.iter().map(|what| format!("NOT varied: {what}")));
    check.notes.extend(not_read.iter().map(|file| format!("not read: {file}")));
}

fn runs(args: &Args, case: &str) -> Result<(Vec<RunBytes>, exec::Shuffled), Problem> {
    let Some(line) = &args.exec else {
        let runs = args.runs.iter().map(|path| load::run(path, case)).collect::<Result<_, _>>()?;
        return Ok((runs, exec::Shuffled::default()));
    };
    let busy = Busy::default();
    busy.with(Some("running the command"));
    let command = exec::Command {
        line: line.clone(),
        times: args.times,
        shuffle: args.shuffle,
        timeout_s: args.timeout_s,
        interrupted: interrupt()?,
        cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
    };
    let ran = exec::run(&command, case);
    busy.with(None);
    ran
}

/// A flag that the first interrupt sets; a second one ends the program at once.
fn interrupt() -> Result<Arc<AtomicBool>, Problem> {
    let flag = Arc::new(AtomicBool::new(false));
    stop::on_signals(&flag, Second::Kills).map_err(|error| Problem::NotStarted(error.to_string()))?;
    Ok(flag)
}

/// Takes away the reports of an earlier judgement: an old green page must not outlive a failure.
pub(crate) fn remove_reports(folder: &Path) -> Result<(), Problem> {
    for name in ["attestation.md", "attestation.jsonl"] {
        let path = folder.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound && folder.is_dir() => {
                return Err(Problem::NotWritten(path, error.to_string()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// `attestation.md` and `attestation.jsonl`.
pub(crate) fn write_reports(report: &Report, folder: &Path) -> Result<(), Problem> {
    let problem =
        |path: &Path, error: std::io::Error| Problem::NotWritten(path.to_path_buf(), error.to_string());
    std::fs::create_dir_all(folder).map_err(|error| problem(folder, error))?;
    let ts_build = output::now_text();
    for (name, bytes) in [
        ("attestation.md", report.to_markdown(&ts_build).into_bytes()),
        ("attestation.jsonl", report.to_json_lines(&ts_build)),
    ] {
        let path = folder.join(name);
        desk::store::write_atomic(&path, &bytes, 0o644).map_err(|error| problem(&path, error))?;
    }
    Ok(())
}

impl Judged {
    fn tell(&self, args: &Args) -> u8 {
        let report = &self.judgement.report;
        let exit = report.colour().exit_code();
        if args.json {
            let mut answer = Object::new()
                .with("grade", self.judgement.level.word())
                .with("exit", u64::from(exit))
                .with("repro_hash", &self.judgement.digest.to_hex()[..16])
                .with("repro_digest", self.judgement.digest)
                .with("records", self.records.iter().map(|(_, count)| *count as u64).collect::<Vec<_>>())
                .with("not_read", self.not_read.clone())
                .with("varied", self.shuffled.varied.clone())
                .with("not_varied", self.shuffled.not_varied.clone());
            for (name, value) in text::report_members(report) {
                answer.set(name, value);
            }
            line(&String::from_utf8_lossy(&canon::canonical(&Value::Object(answer))));
        } else {
            text::grade(self.judgement.level, self.judgement.digest);
            text::checks(report);
            self.beside();
            if let Some(folder) = &args.report {
                text::row(
                    "reports",
                    &format!("{0}/attestation.md and {0}/attestation.jsonl", folder.display()),
                );
            }
        }
        exit
    }

    /// What was compared, and what was not looked at.
    fn beside(&self) {
        let records: Vec<String> =
            self.records.iter().map(|(name, count)| format!("{name}: {count}")).collect();
        text::row("records", &records.join(", "));
        for varied in &self.shuffled.varied {
            text::row("varied", varied);
        }
        for not_varied in &self.shuffled.not_varied {
            text::row("NOT varied", not_varied);
        }
        if !self.not_read.is_empty() {
            text::row(
                "not read",
                &format!("{} that are no JSON files: {}", self.not_read.len(), text::some(&self.not_read)),
            );
        }
    }
}

/// Wrong use is told apart from a run that fails.
pub(crate) fn failed(problem: &Problem, json: bool) -> u8 {
    text::problem(problem, json);
    exit::FAILED
}

pub(crate) use text::{checks, report_members, reports, row};

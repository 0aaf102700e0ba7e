//! `touchstone attest`: the self-attestation.

use crate::conform::{checks, failed, remove_reports, report_members, reports, row, write_reports};
use crate::output::{Busy, Tone, line, paint};
use canon::Object;
use conform::Problem;
use conform::attest::{self, Instruments, Subject};
use std::path::{Path, PathBuf};
use verdict::report::{Colour, Report};

/// Grade what this binary claims about itself, by the checklist D1 to D10.
///
/// Runs the kernel on every example of every skill (1 thread and 16 threads, two processes) and the desk on four
/// deliveries (twice), judges them, and writes attestation.md and attestation.jsonl. The verdict hash is the same on
/// every machine; ts_build is no part of it.
///
/// Exit: 0 green  1 red  2 yellow
///
/// Example: touchstone attest --out reports
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Folder for the two reports.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Also keep the runs and the field tables there, so that `touchstone conform` can judge them again.
    #[arg(long)]
    keep_runs: bool,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    match attested(args) {
        Err(problem) => failed(&problem, args.json),
        Ok(report) => {
            tell(&report, args);
            report.colour().exit_code()
        }
    }
}

fn attested(args: &Args) -> Result<Report, Problem> {
    remove_reports(&args.out)?;
    let program = std::env::current_exe().map_err(|error| Problem::NotStarted(error.to_string()))?;
    let busy = Busy::default();
    busy.with(Some("running kernel and desk"));
    let subjects = attest::collect(&program);
    busy.with(None);
    let subjects = subjects?;
    let report = attest::examine(&subjects, &Instruments::ours());
    write_reports(&report, &args.out)?;
    if args.keep_runs {
        subjects.iter().try_for_each(|subject| keep(subject, &args.out))?;
    }
    Ok(report)
}

/// `kernel.fields.toml`, `kernel-1.jsonl`, `kernel-2.jsonl` and so on.
fn keep(subject: &Subject, folder: &Path) -> Result<(), Problem> {
    let write = |name: String, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).map_err(|error| Problem::NotWritten(path, error.to_string()))
    };
    if let Some(table) = &subject.table {
        write(format!("{}.fields.toml", subject.name), table.as_bytes())?;
    }
    for (run, number) in subject.runs.iter().zip(1..) {
        for bytes in run.tasks.values() {
            write(format!("{}-{number}.jsonl", subject.name), bytes)?;
        }
    }
    Ok(())
}

fn tell(report: &Report, args: &Args) {
    if args.json {
        let mut answer = Object::new().with("exit", u64::from(report.colour().exit_code()));
        for (name, value) in report_members(report) {
            answer.set(name, value);
        }
        return line(&String::from_utf8_lossy(&canon::canonical(&answer.into())));
    }
    let tone = match report.colour() {
        Colour::Green => Tone::Good,
        Colour::Yellow => Tone::Warn,
        Colour::Red => Tone::Bad,
    };
    line(&format!("{}  {}", paint(&report.colour().word().to_uppercase(), tone), report.subject));
    checks(report);
    row("verdict", &format!("{} ({})", report.verdict_hash(), report.verdict_digest()));
    row("reports", &reports(&args.out));
}

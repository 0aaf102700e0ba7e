//! `touchstone conform init`.

use crate::exit;
use crate::output::{line, usage};
use conform::load::{self, RunBytes};
use conform::{Problem, init};
use std::path::PathBuf;
use verdict::judge::{self, Run};

/// Propose a field table from one run or more.
///
/// Every field that was found is listed. What has to be physical is, what differed between the runs is proposed as
/// physical, everything else is left to you: a comment for each field, none decided.
///
/// Exit: 0 written, 1 a run cannot be read
///
/// Example: touchstone conform init --run a.json --run b.json --out fields.toml
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// A run: a file, or a folder of JSON files.
    #[arg(long = "run", value_name = "PATH", required = true)]
    runs: Vec<PathBuf>,
    /// Where to write the table; standard output without it. A file that exists is not overwritten.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the verb and returns its exit code.
pub(super) fn run(args: &Args) -> u8 {
    let written = proposed(&args.runs).and_then(|text| match &args.out {
        None => {
            line(text.trim_end());
            Ok(())
        }
        Some(path) => {
            new_file(path, &text).map_err(|error| Problem::NotWritten(path.clone(), error.to_string()))
        }
    });
    match (written, &args.out) {
        (Err(problem), _) => super::failed(&problem, false),
        (Ok(()), Some(path)) => {
            usage_note(path);
            exit::OK
        }
        (Ok(()), None) => exit::OK,
    }
}

fn usage_note(path: &std::path::Path) {
    let path = canon::shown(path.as_os_str().as_encoded_bytes());
    usage(&format!(
        "wrote {path}; decide its commented lines, and question each proposed physical, before you use it"
    ));
}

fn proposed(paths: &[PathBuf]) -> Result<String, Problem> {
    let bytes: Vec<RunBytes> = paths.iter().map(|path| load::run(path, "run")).collect::<Result<_, _>>()?;
    let runs: Vec<Run<'_>> = bytes.iter().map(RunBytes::read).collect::<Result<_, _>>()?;
    if runs.len() > 1 {
        judge::comparable(&runs).map_err(Problem::Refused)?;
    }
    Ok(init::propose(&runs))
}

fn new_file(path: &std::path::Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    std::fs::File::create_new(path)?.write_all(text.as_bytes())
}

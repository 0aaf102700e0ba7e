//! `touchstone check`: candidates against suites that are data (desk specification 16, 31.5).

mod rows;
mod say;
mod work;

use crate::exit;
use crate::output;
use crate::stop::{self, Second};
use crate::verify::read_regular;
use ::check::{CheckInfraError, Language, Options, Place, Reuse};
use desk::sandbox::{Choice, Sandbox};
use rows::Row;
pub(crate) use say::why;
use std::io::{IsTerminal as _, Read as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use suite::spec::{Mode, Spec, Task};

/// Longest file of a suite or candidate, and longest list of rows, in bytes.
const FILE_BYTES_MAX: u64 = 8 << 20;
const ROWS_BYTES_MAX: u64 = 256 << 20;

/// Run candidates against suites that are data: literals, no code.
///
/// Each line of the input is {"id", "suite", "candidate", "language"}; each gives one line, in the order of the input:
/// {"id", "ok", "first_failing_test", "n_tests", "loads_ok", "detail_reason", "message", "renderer"}. "ok" is null
/// where nothing was measured, and "error" says why. "language" is python (also when it is missing), javascript or rust.
///
/// Exit: 0 all accepted, 20 one refused, 22 one not measured (says nothing about the candidate), 64 wrong use.
///
/// Example: touchstone check rows.jsonl --reuse > answers.jsonl
/// Example: touchstone check --suite suite.json --candidate solution.py
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// One row a line; - is standard input.
    #[arg(value_name = "FILE", required_unless_present = "suite", conflicts_with = "suite")]
    file: Option<PathBuf>,
    /// One suite instead of rows, a JSON object. Needs --candidate.
    #[arg(long, value_name = "FILE", requires = "candidate")]
    suite: Option<PathBuf>,
    /// One candidate: a .py, .js, .cjs or .rs file. Needs --suite.
    #[arg(long, value_name = "FILE", requires = "suite")]
    candidate: Option<PathBuf>,
    #[command(flatten)]
    how: How,
    /// Rows at the same time, 1 to 64 [default: one for each core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: Option<u16>,
    /// JSON lines also at a terminal.
    #[arg(long)]
    json: bool,
}

/// How candidates run; the same for `gauge`.
#[derive(clap::Args)]
pub(crate) struct How {
    /// Seconds for loading a candidate and all of its calls together. A candidate in Rust has 60 s before to be compiled.
    #[arg(long, value_name = "S", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// Fork Python candidates from a started interpreter instead of starting one for each. None shares a process.
    #[arg(long)]
    reuse: bool,
    /// How candidates are confined: the best that this machine allows, or not at all.
    #[arg(long, value_parser = ["auto", "none"], default_value = "auto")]
    sandbox: String,
}

impl How {
    /// Measures the sandbox; a machine without one measures nothing (22).
    pub(crate) fn place(&self) -> Result<Place, u8> {
        let choice = if self.sandbox == "none" { Choice::None } else { Choice::Auto };
        let made = Sandbox::establish(choice, None).map_err(|why| why.to_string());
        let stop = Arc::new(AtomicBool::new(false));
        let place = made.and_then(|sandbox| {
            // What runs is ended in order, so that folders and processes go with the place.
            stop::on_signals(&stop, Second::Exits(exit::VOID)).map_err(|why| why.to_string())?;
            Ok(Place::new(sandbox).map_err(|why| why.to_string())?.ended_by(&stop))
        });
        place.map_err(|why| {
            output::refused(&why, "--sandbox none runs candidates without one, by your request");
            exit::VOID
        })
    }

    pub(crate) fn options(&self) -> Options {
        let reuse = if self.reuse { Reuse::Fork } else { Reuse::Fresh };
        Options { timeout: Duration::from_secs(self.timeout), reuse, ..Options::default() }
    }
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let rows = match rows(args) {
        Ok(rows) => rows,
        Err(why) => return output::usage(&why),
    };
    let place = match args.how.place() {
        Ok(place) => place,
        Err(code) => return code,
    };
    let words = !args.json && std::io::stdout().is_terminal();
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let jobs = args.jobs.map_or(cores, usize::from);
    let mut code = exit::OK;
    work::in_order(&place, args.how.options(), &rows, jobs, &mut |row, result| {
        let said = if words { say::words(row, &result, place.level()) } else { say::line(row, &result) };
        output::line(&said);
        code = worse(code, code_of(&result));
    });
    code
}

/// What became of a row.
pub(crate) type Answer = Result<::check::Evaluation, CheckInfraError>;

fn code_of(answer: &Answer) -> u8 {
    match answer {
        Ok(seen) if seen.ok => exit::OK,
        Ok(_) => exit::REFUSED,
        Err(_) => exit::VOID,
    }
}

/// What was not measured outweighs what was refused.
fn worse(a: u8, b: u8) -> u8 {
    a.max(b)
}

fn rows(args: &Args) -> Result<Vec<Row>, String> {
    match (&args.suite, &args.candidate, &args.file) {
        (Some(suite), Some(candidate), _) => {
            let language = language(candidate)?;
            let (suite, source) = (suite_file(suite)?, text(candidate)?);
            let id = candidate.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok(vec![Row { id: id.into(), suite, candidate: ::check::Candidate { language, source } }])
        }
        (_, _, Some(file)) => rows::read(&bytes(file)?).map_err(|why| format!("{}: {why}", file.display())),
        _ => Err("rows, or --suite and --candidate, are needed".to_owned()),
    }
}

/// What a file is written in, by its ending.
pub(crate) fn language(path: &Path) -> Result<Language, String> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    Language::of_extension(ending)
        .ok_or_else(|| format!("{}: a candidate is a .py, .js, .cjs or .rs file", path.display()))
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    let bytes = read_regular(path, FILE_BYTES_MAX).map_err(|error| format!("{}: {error}", path.display()))?;
    String::from_utf8(bytes).map_err(|_| format!("{}: not UTF-8", path.display()))
}

/// A suite in a file of its own.
pub(crate) fn suite_file(path: &Path) -> Result<Spec, String> {
    let bytes = read_regular(path, FILE_BYTES_MAX).map_err(|error| format!("{}: {error}", path.display()))?;
    Spec::from_bytes(&bytes, Mode::Strict, Task::NotGiven).map_err(|why| format!("{}: {why}", path.display()))
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    if path.as_os_str() != "-" {
        return read_regular(path, ROWS_BYTES_MAX).map_err(|error| error.to_string());
    }
    let mut all = Vec::new();
    std::io::stdin().lock().take(ROWS_BYTES_MAX).read_to_end(&mut all).map_err(|error| error.to_string())?;
    Ok(all)
}

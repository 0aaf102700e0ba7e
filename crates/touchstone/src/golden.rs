//! `touchstone golden`: freeze and check golden values.

use crate::conform::{failed, row};
use crate::exit;
use crate::output::{Tone, line, paint};
use canon::Object;
use clap::Subcommand;
use conform::golden::{self, MARK};
use conform::load::RunBytes;
use conform::{Problem, host_class, load};
use std::path::PathBuf;
use verdict::golden::{Golden, Hit};
use verdict::judge::{self, Run};

/// Freeze golden values and check that they are hit and changed on purpose only.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Freeze(FreezeArgs),
    Check(CheckArgs),
}

/// Write the hashes of runs into a golden file.
///
/// Entries of other host classes stay; under another field table the file begins anew.
///
/// Exit: 0 written, 1 not
///
/// Example: touchstone golden freeze --table fields.toml --run a.json --out golden.json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
struct FreezeArgs {
    /// The field table.
    #[arg(long, value_name = "FILE")]
    table: PathBuf,
    /// A run; its case is the file's name without ending, in a folder each file's path.
    #[arg(long = "run", value_name = "PATH", required = true)]
    runs: Vec<PathBuf>,
    /// The golden file.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Name of the case, for one task.
    #[arg(long, value_name = "NAME")]
    case: Option<String>,
}

/// Check runs against a golden file, or a range of commits against the rule that golden files change on purpose only.
///
/// With --range A..B: red when a golden file changed and no title of a commit in the range has [golden]. Golden files are
/// those named golden*.json and those that touchstone.toml lists (golden = ["path"]).
///
/// Exit: 0 every golden value hit (or: changed on purpose)  1 one was not  2 a task without a golden value
///
/// Example: touchstone golden check --table fields.toml --golden golden.json --run a.json
/// Example: touchstone golden check --range origin/main..HEAD
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
struct CheckArgs {
    /// Commits to look at, of the repository in the current folder.
    #[arg(long, value_name = "A..B", conflicts_with_all = ["table", "golden", "runs", "case"])]
    range: Option<String>,
    /// The field table.
    #[arg(long, value_name = "FILE", required_unless_present = "range")]
    table: Option<PathBuf>,
    /// The golden file.
    #[arg(long, value_name = "FILE", required_unless_present = "range")]
    golden: Option<PathBuf>,
    /// A run.
    #[arg(long = "run", value_name = "PATH", required_unless_present = "range")]
    runs: Vec<PathBuf>,
    /// Name of the case, for one task; the only one in the golden file when it has one.
    #[arg(long, value_name = "NAME")]
    case: Option<String>,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let (done, json) = match &args.action {
        Action::Freeze(args) => (freeze(args), false),
        Action::Check(args) => (check(args), args.json),
    };
    done.unwrap_or_else(|problem| failed(&problem, json))
}

fn freeze(args: &FreezeArgs) -> Result<u8, Problem> {
    let table = load::table(&args.table)?;
    let bytes = golden::load(&args.runs, args.case.as_deref())?;
    let runs: Vec<Run<'_>> = bytes.iter().map(RunBytes::read).collect::<Result<_, _>>()?;
    let golden = golden::freeze(&table, &runs, &args.out)?;
    for (case, hosts) in golden::cases(&golden) {
        row(
            &canon::shown(case.as_bytes()),
            &format!("{hosts} {}", if hosts == 1 { "host class" } else { "host classes" }),
        );
    }
    line(&format!("frozen for {}; commit it with {MARK} in the title", host_class()));
    Ok(exit::OK)
}

fn check(args: &CheckArgs) -> Result<u8, Problem> {
    match (&args.range, &args.table, &args.golden) {
        (Some(range), _, _) => check_range(range, args.json),
        (None, Some(table), Some(path)) => {
            let table = load::table(table)?;
            let mut golden = golden::read(path, &table)?;
            if let Some(case) = &args.case {
                golden.keep(case);
            }
            let case = args.case.clone().or_else(|| golden::only_case(&golden));
            let bytes = golden::load(&args.runs, case.as_deref())?;
            let mut answers = Vec::new();
            for run in &bytes {
                let forms = judge::forms(&table, &run.read()?).map_err(Problem::Refused)?;
                answers.extend(forms.into_iter().map(|(case, form)| {
                    let hit = golden.look_up(&case, &host_class(), form.digest());
                    (case, form.hash(), hit)
                }));
            }
            Ok(tell_hits(&golden, &answers, args.json))
        }
        _ => Ok(exit::USAGE),
    }
}

fn word(hit: Hit) -> (&'static str, Tone, u8) {
    match hit {
        Hit::Hit => ("hit", Tone::Good, 0),
        Hit::Absent => ("absent", Tone::Warn, 2),
        Hit::OtherHost => ("not hit on another host class", Tone::Warn, 2),
        Hit::Missed(_) => ("NOT HIT", Tone::Bad, 1),
    }
}

fn tell_hits(golden: &Golden, answers: &[(String, String, Hit)], json: bool) -> u8 {
    let mut codes: Vec<u8> = answers.iter().map(|(_, _, hit)| word(*hit).2).collect();
    // A golden value that no run is about was not hit.
    let uncovered =
        golden::cases(golden).keys().any(|case| answers.iter().all(|(judged, _, _)| judged != case));
    codes.extend(uncovered.then_some(2));
    let exit = if codes.contains(&1) { 1 } else { codes.iter().copied().max().unwrap_or(exit::FAILED) };
    if json {
        let case = |(case, hash, hit): &(String, String, Hit)| {
            Object::new()
                .with("case", case.as_str())
                .with("repro_hash", hash.as_str())
                .with("golden", word(*hit).0)
        };
        let answer = Object::new()
            .with("exit", u64::from(exit))
            .with("host", host_class())
            .with("cases", answers.iter().map(case).collect::<Vec<_>>());
        line(&String::from_utf8_lossy(&canon::canonical(&answer.into())));
        return exit;
    }
    for (case, hash, hit) in answers {
        let (text, tone, _) = word(*hit);
        row(&canon::shown(case.as_bytes()), &format!("{hash} {}", paint(text, tone)));
    }
    let judged: Vec<&str> = answers.iter().map(|(case, _, _)| case.as_str()).collect();
    for case in golden::cases(golden).keys().filter(|case| !judged.contains(case)) {
        row(&canon::shown(case.as_bytes()), &paint("not in the run", Tone::Warn));
    }
    let hits = answers.iter().filter(|(_, _, hit)| *hit == Hit::Hit).count();
    line(&format!("{hits} of {} hit, {} in the golden file", answers.len(), golden::cases(golden).len()));
    exit
}

fn check_range(range: &str, json: bool) -> Result<u8, Problem> {
    let looked = golden::range(std::path::Path::new("."), range)?;
    let exit = if looked.red { exit::FAILED } else { exit::OK };
    if json {
        let unmarked = |(id, title, file): &(String, String, String)| {
            Object::new()
                .with("commit", id.as_str())
                .with("title", title.as_str())
                .with("file", file.as_str())
        };
        let answer = Object::new()
            .with("exit", u64::from(exit))
            .with("commits", looked.commits as u64)
            .with("marked", looked.marked as u64)
            .with("unmarked", looked.unmarked.iter().map(unmarked).collect::<Vec<_>>());
        line(&String::from_utf8_lossy(&canon::canonical(&answer.into())));
        return Ok(exit);
    }
    let words = if looked.red {
        paint(&format!("RED  a golden file changed and no title has {MARK}"), Tone::Bad)
    } else {
        let why = if looked.differs {
            "a title in the range has [golden]"
        } else {
            "no golden file differs at its end"
        };
        format!("{}  {why}", paint("GREEN", Tone::Good))
    };
    line(&words);
    row("commits", &looked.commits.to_string());
    row("marked", &format!("{} changes of golden files under a title with {MARK}", looked.marked));
    for (id, title, file) in &looked.unmarked {
        row(
            "unmarked",
            &format!("{id} {}: {}", canon::shown(file.as_bytes()), canon::shown(title.as_bytes())),
        );
    }
    Ok(exit)
}

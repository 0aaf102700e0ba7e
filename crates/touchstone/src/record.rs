//! `touchstone record`: make and check evidence packs (desk specification 23).

use crate::exit;
use crate::output::{self, Tone, line, paint};
use canon::{Object, Reader, Value, shown};
use desk::record::{self, Options, PackError, Packed, Problem};
use std::path::{Path, PathBuf};

/// Make and check evidence packs.
///
/// A pack proves that it agrees with itself, not that it is true: sums can be made again after a change.
///
/// Exit: 0 the pack agrees with itself, 1 it does not, 64 wrong use.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Make a folder a pack: verify its chains, write the manifest, list every file in SHA256SUMS.
    ///
    /// Example: touchstone record pack out/run7 --field model_id=mock-1 --missing wire.jsonl="no proxy"
    #[command(verbatim_doc_comment)]
    Pack(PackArgs),
    /// List everything that is wrong with a pack.
    ///
    /// Example: touchstone record check out/run7
    #[command(verbatim_doc_comment)]
    Check {
        /// The pack.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// The whole answer as one JSON object.
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
struct PackArgs {
    /// The folder; it is packed where it lies and nothing is copied.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A manifest field, as JSON or as text. What is neither given nor measured is written as null.
    #[arg(long = "field", value_name = "NAME=VALUE", value_parser = pair)]
    fields: Vec<(String, String)>,
    /// Why wire.jsonl, model_io.jsonl or a field is missing.
    #[arg(long, value_name = "NAME=REASON", value_parser = pair)]
    missing: Vec<(String, String)>,
    /// Pack a folder again that is a pack already.
    #[arg(long)]
    replace: bool,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("NAME=VALUE is needed".to_owned()),
    }
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    match &args.verb {
        Verb::Pack(args) => pack(args),
        Verb::Check { folder, json } => check(folder, *json),
    }
}

fn check(folder: &Path, json: bool) -> u8 {
    let problems = match record::check(folder) {
        Ok(problems) => problems,
        Err(error) => return output::usage(&format!("{}: {error}", folder.display())),
    };
    if json {
        print_json(answer(folder, &problems));
    } else {
        print_problems(folder, &problems);
    }
    code(&problems)
}

fn code(problems: &[Problem]) -> u8 {
    if problems.is_empty() { exit::OK } else { exit::FAILED }
}

/// Members that are filled by this command and by nobody else.
const OWN: [&str; 2] = ["missing", "excluded_private_keys"];

fn pack(args: &PackArgs) -> u8 {
    if let Some((name, _)) = args.fields.iter().find(|(name, _)| OWN.contains(&name.as_str())) {
        return output::usage(&format!(
            "--field {name}: this member is filled by pack itself (see --missing)"
        ));
    }
    let mut fields = record::measured(Path::new("."));
    for (name, value) in &args.fields {
        // `seeds=[1,2]` is JSON, `model_id=mock-1` is text.
        let read = Reader::strict().read(value.as_bytes());
        fields.set(name, read.unwrap_or_else(|_| value.as_str().into()));
    }
    let options = Options { missing: args.missing.clone(), replace: args.replace };
    match record::pack(&args.folder, &fields, &options) {
        Ok(packed) => {
            if args.json {
                print_json(packed_answer(&args.folder, &packed));
            } else {
                print_packed(&args.folder, &packed);
            }
            code(&packed.problems)
        }
        Err(PackError::Unfit(problems)) if args.json => {
            print_json(answer(&args.folder, &problems));
            exit::FAILED
        }
        Err(PackError::Unfit(problems)) => {
            print_problems(&args.folder, &problems);
            line("nothing was written: take these out of the folder and pack it again");
            exit::FAILED
        }
        Err(error) => output::usage(&format!("{}: {}", args.folder.display(), why(&error))),
    }
}

fn why(error: &PackError) -> String {
    match error {
        PackError::AlreadyThere(name) => {
            format!("{name} is there already; --replace packs the folder again and makes new sums")
        }
        PackError::Float(_) => "a field has a float: write an integer or a decimal text (\"1.5\")".to_owned(),
        PackError::Unfit(_) => "the folder holds what no pack can hold".to_owned(),
        PackError::Io(error) => error.to_string(),
    }
}

// ---------------------------------------------------------------------------------------------- words

fn print_json(answer: Object) {
    line(&String::from_utf8_lossy(&canon::canonical(&answer.into())));
}

fn answer(folder: &Path, problems: &[Problem]) -> Object {
    let problem = |problem: &Problem| {
        Value::from(
            Object::new()
                .with("code", problem.code())
                .with("path", shown(&problem.path))
                .with("line", problem.line.map(|line| line as u64))
                .with("detail", problem.detail.as_deref()),
        )
    };
    Object::new()
        .with("folder", shown(folder.as_os_str().as_encoded_bytes()))
        .with("ok", problems.is_empty())
        .with("problems_n", problems.len() as u64)
        .with("problems", Value::Array(problems.iter().map(problem).collect()))
}

fn packed_answer(folder: &Path, packed: &Packed) -> Object {
    let made: Vec<String> = packed.made.iter().map(|name| (*name).to_owned()).collect();
    answer(folder, &packed.problems)
        .with("files_n", packed.files_n as u64)
        .with("chains_n", packed.chains_n as u64)
        .with("written", made)
        .with("unknown_fields", packed.unknown.clone())
        .with("excluded_private_keys", packed.excluded.clone())
}

fn print_packed(folder: &Path, packed: &Packed) {
    line(&format!("packed  files listed: {}, chains looked at: {}", packed.files_n, packed.chains_n));
    if packed.made.contains(&record::ANOMALIES) {
        line("        anomalies.md was missing; the new one says that nobody was asked");
    }
    if !packed.unknown.is_empty() {
        line(&format!("        written as null, not known: {}", packed.unknown.join(", ")));
        line("        give them with --field NAME=VALUE and --replace");
    }
    for key in &packed.excluded {
        line(&format!("        private key left out and declared: {}", shown(key.as_bytes())));
    }
    print_problems(folder, &packed.problems);
}

fn print_problems(folder: &Path, problems: &[Problem]) {
    let folder = shown(folder.as_os_str().as_encoded_bytes());
    let reasons = verdict::registry::all();
    for problem in problems {
        let place = problem.line.map_or(String::new(), |line| format!(":{line}"));
        let path = shown(&problem.path);
        let path = if problem.path.is_empty() { "the pack itself" } else { &path };
        line(&format!("{}  {path}{place}", paint(problem.code(), Tone::Bad)));
        if let Some(reason) = reasons.get(problem.code()) {
            line(&format!("        {}", reason.meaning));
        }
        if let Some(detail) = &problem.detail {
            // Foreign parts of it were escaped where it was made.
            line(&paint(&format!("        {detail}"), Tone::Quiet));
        }
    }
    if problems.is_empty() {
        line(&format!("{}  {folder}: agrees with itself", paint("OK", Tone::Good)));
        line(&paint(
            "        (sums detect a change, they do not prevent one, and say nothing about truth)",
            Tone::Quiet,
        ));
    } else {
        line(&format!("{}  {folder}: problems: {}", paint("FAIL", Tone::Bad), problems.len()));
    }
}

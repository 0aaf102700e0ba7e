//! `touchstone kernel`: envelopes in, receipts out (determinism specification, section 9).

mod modules;
mod places;

use crate::exit;
use crate::output::{self, Tone, line, paint};
use ::kernel::route::{Candidate, Route, Scratch};
use ::kernel::{Config, Kernel};
use canon::{Digest, Object, Value, canonical};
use cluster::{Done, Summary};
use modules::Modules;
use places::{Places, foreign};
use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use verdict::Action;

/// Run envelopes through guard, router and skills; every decision has a reason code.
///
/// Exit: 0 every record has a receipt (look into them for the verdicts), 1 the receipts cannot be written, 64 wrong
/// use.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Handle every envelope of a JSON Lines file and write a receipt for each, in the order of the file.
    ///
    /// The same file gives the same receipts on any number of threads, but for ts, elapsed, thread_order and pid.
    ///
    /// Example: touchstone kernel run envelopes.jsonl --threads 4 --out receipts.jsonl
    /// Example: touchstone kernel run envelopes.jsonl --skill examples/skills/text_vowels --fuel 1000000
    #[command(verbatim_doc_comment)]
    Run(RunArgs),
    /// List the skills with what they take.
    ///
    /// Example: touchstone kernel skills --json
    #[command(verbatim_doc_comment)]
    Skills {
        #[command(flatten)]
        modules: Modules,
        /// The whole answer as one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Say where a task would go, and what came next.
    ///
    /// Exit: 0 it goes to a skill, 1 it goes nowhere.
    ///
    /// Example: touchstone kernel route "how many words are in this text"
    #[command(verbatim_doc_comment)]
    Route {
        /// The task, as the member `task` of an envelope.
        #[arg(value_name = "TEXT")]
        text: String,
        #[command(flatten)]
        modules: Modules,
        /// The whole answer as one JSON object.
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
struct RunArgs {
    /// One envelope a line; - is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Worker threads, 1 to 256 [default: one for each core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Write the receipts here instead of standard output. An existing file is refused.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Sign each receipt with the key of this folder (`touchstone key new`); needs --chain. Keep head and count, which
    /// are printed: without them nobody can tell from the chain whether its end was cut off.
    #[arg(long, value_name = "KEYDIR", requires = "chain")]
    sign: Option<PathBuf>,
    /// The chain of signed receipts, a new file NAME.ndjson; its public key is written beside it. Needs --sign.
    #[arg(long, value_name = "FILE", requires = "sign")]
    chain: Option<PathBuf>,
    /// A skill needs at least this permission here, 0 to 3.
    #[arg(long = "permission", value_name = "SKILL=N")]
    permissions: Vec<String>,
    #[command(flatten)]
    modules: Modules,
    /// The summary as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Not read by the parser of arguments, which would show a wrong one as it is.
fn permissions(texts: &[String]) -> Result<BTreeMap<String, u8>, String> {
    let one = |text: &String| {
        let pair =
            text.split_once('=').and_then(|(skill, level)| Some((skill.to_owned(), level.parse().ok()?)));
        pair.ok_or_else(|| format!("--permission {}: SKILL=N is needed", canon::shown(text.as_bytes())))
    };
    texts.iter().map(one).collect()
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let (modules, permitted) = match &args.verb {
        Verb::Run(args) => (&args.modules, &args.permissions[..]),
        Verb::Skills { modules, .. } | Verb::Route { modules, .. } => (modules, &[][..]),
    };
    let hint = |why| format!("{why}; `touchstone kernel skills` lists the skills");
    let made = permissions(permitted).and_then(|permissions| {
        let skills = modules.load()?;
        Kernel::new(Config { skills, permissions }).map_err(hint)
    });
    let kernel = match made {
        Ok(kernel) => kernel,
        Err(why) => return output::usage(&why),
    };
    match &args.verb {
        Verb::Run(args) => envelopes(&kernel, args),
        Verb::Skills { json, .. } => skills(&kernel, *json),
        Verb::Route { text, json, .. } => route(&kernel, text, *json),
    }
}

// ------------------------------------------------------------------------------------------------- run

fn envelopes(kernel: &Kernel, args: &RunArgs) -> u8 {
    let opened = read(&args.file).and_then(|file| Ok((file, Places::open(args)?)));
    let (file, mut places) = match opened {
        Ok(opened) => opened,
        Err(why) => return output::usage(&why),
    };
    let ran = cluster::run(kernel, &file, threads(args), &mut |done: Done| places.take(done));
    match ran.and_then(|summary| Ok((summary, places.end()?))) {
        Ok((summary, signed)) => {
            report(&summary, signed, args);
            exit::OK
        }
        Err(error) => {
            places.give_up();
            output::usage(&format!("the receipts cannot be written: {error}"));
            exit::FAILED
        }
    }
}

fn threads(args: &RunArgs) -> NonZeroUsize {
    let wanted = args.threads.and_then(|threads| NonZeroUsize::new(usize::from(threads)));
    wanted.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    read.map_err(|error| foreign(path, &error.to_string()))?;
    Ok(bytes)
}

/// Head and number of entries of a chain that was signed.
type Signed = (Digest, u64);

/// On standard error, because the receipts may be on standard output.
fn report(summary: &Summary, signed: Option<Signed>, args: &RunArgs) {
    let text = if args.json {
        String::from_utf8_lossy(&canonical(&summary_value(summary, signed).into())).into_owned()
    } else {
        let chain = args.chain.as_deref().zip(signed);
        let chain = chain.map(|(path, signed)| chain_lines(path, signed)).unwrap_or_default();
        [summary_lines(summary), chain].concat().join("\n")
    };
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Every beginning of a chain is a chain: only who knows head and count sees that its end is missing.
fn chain_lines(path: &Path, (head, entries): Signed) -> Vec<String> {
    vec![
        format!(
            "chain head {head}, entries {entries}: keep both, a chain that was cut verifies without them"
        ),
        format!(
            "touchstone verify {} --expect-head {head} --expect-count {entries}",
            canon::shown(path.as_os_str().as_encoded_bytes())
        ),
    ]
}

fn summary_value(summary: &Summary, signed: Option<Signed>) -> Object {
    let verdict = |((action, layer, reason), count): (&(&str, &str, &str), &u64)| {
        let row = Object::new().with("action", *action).with("layer", *layer).with("reason", *reason);
        Value::from(row.with("count", *count))
    };
    Object::new()
        .with("records", summary.records)
        .with("blank_lines", summary.blank_lines)
        .with("allow", summary.of(Action::Allow))
        .with("advise", summary.of(Action::Advise))
        .with("block", summary.of(Action::Block))
        .with("verdicts", Value::Array(summary.verdicts.iter().map(verdict).collect()))
        .with("chain_head", signed.map(|(head, _)| head))
        .with("chain_entries", signed.map(|(_, entries)| entries))
}

fn summary_lines(summary: &Summary) -> Vec<String> {
    let of = summary.records;
    let mut lines = vec![format!("records {of}, blank lines {}", summary.blank_lines)];
    for action in [Action::Allow, Action::Advise, Action::Block] {
        lines.push(format!("{:<7} {} of {of}", action.word(), summary.of(action)));
        let rows = summary.verdicts.iter().filter(|((word, ..), _)| *word == action.word());
        lines.extend(
            rows.map(|((_, layer, reason), count)| format!("  {layer:<6} {reason:<32} {count} of {of}")),
        );
    }
    lines
}

// ---------------------------------------------------------------------------------------------- skills

fn skills(kernel: &Kernel, json: bool) -> u8 {
    let manifests = kernel.skills().manifests();
    if json {
        let skill = |(index, manifest): (usize, &::kernel::skill::Manifest)| {
            let argument = |argument: &::kernel::skill::Argument| {
                let named = Object::new().with("name", argument.name.as_str());
                Value::from(
                    named.with("meaning", argument.meaning.as_str()).with("required", argument.required),
                )
            };
            Value::from(
                Object::new()
                    .with("name", manifest.name.as_str())
                    .with("version", u64::from(manifest.version))
                    .with("module_sha256", kernel.skills().module(index))
                    .with("description", manifest.description.as_str())
                    .with("triggers", manifest.triggers.clone())
                    .with("permission", u64::from(manifest.permission))
                    .with("arguments", Value::Array(manifest.arguments.iter().map(argument).collect())),
            )
        };
        let answer = Object::new()
            .with("skills_n", manifests.len() as u64)
            .with("skills", Value::Array(manifests.enumerate().map(skill).collect()));
        print_json(answer);
        return exit::OK;
    }
    for manifest in manifests {
        let arguments: Vec<String> = manifest
            .arguments
            .iter()
            .map(|argument| (canon::shown(argument.name.as_bytes()), argument.required))
            .map(|(name, required)| if required { name } else { format!("[{name}]") })
            .collect();
        line(&format!("{}  {}", paint(&manifest.name, Tone::Good), arguments.join(" ")));
        line(&output::hanging("  ", &canon::shown(manifest.description.as_bytes())));
    }
    exit::OK
}

// ----------------------------------------------------------------------------------------------- route

fn route(kernel: &Kernel, text: &str, json: bool) -> u8 {
    let route = kernel.router().route(text, &mut Scratch::default());
    let ranked = kernel.router().ranked(text, 3);
    let name = |found: &Candidate| {
        kernel.skills().manifests().nth(found.skill).map_or("", |manifest| manifest.name.as_str())
    };
    let row = |found: &Candidate| {
        let row = Object::new().with("skill", name(found)).with("channel", found.channel.word());
        row.with("score", u64::from(found.score))
    };
    let (found, code) = match route {
        Route::Found(found) => (Some(found), "route_found"),
        Route::None(why) => (None, why.code()),
    };
    if json {
        let others: Vec<Object> = ranked.iter().map(row).collect();
        print_json(
            Object::new()
                .with("reason", code)
                .with("route", found.as_ref().map(row))
                .with("floor", u64::from(::kernel::route::FLOOR))
                .with("ranked", others),
        );
    } else {
        let shown = |found: &Candidate| {
            format!("{:<20} {:<8} {} of 1000000", name(found), found.channel.word(), found.score)
        };
        match &found {
            Some(found) => line(&shown(found)),
            None => line(&format!(
                "{}: no skill (floor {} of 1000000)",
                paint(code, Tone::Warn),
                ::kernel::route::FLOOR
            )),
        }
        line(&paint("by words and their neighbours:", Tone::Quiet));
        ranked.iter().for_each(|found| line(&paint(&format!("  {}", shown(found)), Tone::Quiet)));
    }
    if found.is_some() { exit::OK } else { exit::FAILED }
}

fn print_json(answer: Object) {
    line(&String::from_utf8_lossy(&canonical(&answer.into())));
}

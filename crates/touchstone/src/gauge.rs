//! `touchstone gauge`: how good a suite is (desk specification 17).

use crate::check::{How, language, suite_file, text, why};
use crate::output::{Tone, hanging, line, paint};
use crate::{exit, output};
use ::check::gauge::{Gauged, gauge};
use ::check::mutation::{self, Score};
use ::check::{Candidate, CheckInfraError, Evaluation, Evaluator, Language};
use canon::{Object, Value, canonical};
use std::io::IsTerminal as _;
use std::path::PathBuf;
use suite::gauge::default_stub;
use suite::spec::Spec;

/// Run a reference, which the suite must accept, and known-bad stubs, all of which it must refuse.
///
/// Without a stub, one that takes anything and returns None. Passing shows only that the suite does not accept
/// everything. --mutation counts how many small mistakes in a Python reference the suite notices, and decides nothing.
///
/// Exit: 0 ok, 20 not ok, 22 not measured, 64 wrong use.
///
/// Example: touchstone gauge suite.json reference.py stub.py --mutation
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The suite, a JSON object.
    #[arg(value_name = "SUITE")]
    suite: PathBuf,
    /// A candidate that is known to be right: a .py, .js, .cjs or .rs file.
    #[arg(value_name = "REFERENCE")]
    reference: PathBuf,
    /// Candidates that are known to be wrong.
    #[arg(value_name = "STUB")]
    stubs: Vec<PathBuf>,
    /// Also make small mistakes in the reference and list those that the suite does not notice.
    #[arg(long)]
    mutation: bool,
    #[command(flatten)]
    how: How,
    /// The record as JSON also at a terminal.
    #[arg(long)]
    json: bool,
}

/// What is gauged.
struct Read {
    spec: Spec,
    reference: Candidate,
    stubs: Vec<Candidate>,
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let read = match read(args) {
        Ok(read) => read,
        Err(why) => return output::usage(&why),
    };
    let place = match args.how.place() {
        Ok(place) => place,
        Err(code) => return code,
    };
    let mut evaluator = Evaluator::new(&place, args.how.options());
    let measured = gauge(&mut evaluator, &read.spec, &read.reference, &read.stubs).and_then(|gauged| {
        let score = args
            .mutation
            .then(|| mutation::score(&place, &mut evaluator, &read.spec, &read.reference.source))
            .transpose()?;
        Ok((gauged, score))
    });
    let (gauged, score) = match measured {
        Ok((gauged, None)) => (gauged, None),
        Ok((gauged, Some(Ok(score)))) => (gauged, Some(score)),
        Ok((_, Some(Err(why)))) => return output::usage(&format!("{}: {why}", args.reference.display())),
        Err(why) => return void(&why),
    };
    if args.json || !std::io::stdout().is_terminal() {
        let object = Object::new().with("gauge", gauged.gauge.record());
        let object = match &score {
            Some(score) => object.with("mutation", score.to_value()),
            None => object,
        };
        line(&String::from_utf8_lossy(&canonical(&Value::Object(object))));
    } else {
        words(&gauged, score.as_ref());
    }
    if gauged.gauge.ok() { exit::OK } else { exit::REFUSED }
}

fn void(why: &CheckInfraError) -> u8 {
    output::refused(&why.to_string(), "nothing was measured, and nothing is said about the suite");
    exit::VOID
}

fn read(args: &Args) -> Result<Read, String> {
    let candidate = |path: &PathBuf| -> Result<Candidate, String> {
        Ok(Candidate { language: language(path)?, source: text(path)? })
    };
    let (spec, reference) = (suite_file(&args.suite)?, candidate(&args.reference)?);
    if args.mutation && reference.language != Language::Python {
        return Err("--mutation needs a reference in Python".to_owned());
    }
    let mut stubs: Vec<Candidate> = args.stubs.iter().map(candidate).collect::<Result<_, _>>()?;
    if stubs.is_empty() {
        stubs.push(Candidate::python(default_stub(&spec)));
    }
    Ok(Read { spec, reference, stubs })
}

fn words(gauged: &Gauged, score: Option<&Score>) {
    let said = |name: &str, seen: &Evaluation, wanted: bool| {
        let word = if seen.ok { "accepted" } else { "refused " };
        let tone = if seen.ok == wanted { Tone::Good } else { Tone::Bad };
        line(&hanging(&format!("{}  ", paint(word, tone)), format!("{name}  {}", why(seen)).trim_end()));
    };
    said("reference", &gauged.reference, true);
    for (index, seen) in gauged.stubs.iter().enumerate() {
        said(&format!("stub {}", index + 1), seen, false);
    }
    let (word, tone, why) = match (gauged.gauge.ok(), gauged.reference.ok) {
        (true, _) => ("ok", Tone::Good, "shows only that the suite does not accept everything"),
        (false, false) => ("not ok", Tone::Bad, "the reference is refused: it is wrong, or the suite is"),
        (false, true) => ("not ok", Tone::Bad, "the suite accepts what is known to be wrong"),
    };
    line(&hanging("", &format!("{}: {why}", paint(word, tone))));
    if let Some(score) = score {
        of_mutants(score);
    }
}

fn of_mutants(score: &Score) {
    line(&hanging(
        "mistakes  ",
        &format!("{} of {} noticed, which decides nothing", score.killed, score.total),
    ));
    if !score.normalized_passed {
        let why = "the suite refuses the reference once it is written anew, so the number says nothing";
        line(&hanging("          ", why));
    }
    for mutant in &score.survivors {
        let (before, after) = (canon::shown(mutant.before.as_bytes()), canon::shown(mutant.after.as_bytes()));
        let text = format!("line {}: {before} became {after} ({})", mutant.line, mutant.operator);
        line(&hanging("  missed  ", &text));
    }
}

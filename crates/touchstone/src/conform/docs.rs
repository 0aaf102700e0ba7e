//! `touchstone conform docs`.

use crate::output::{Tone, line, paint};
use canon::Object;
use conform::{Problem, docs};
use std::path::PathBuf;
use verdict::report::{Colour, Report};

/// Look for claims of measurement in Markdown documents that have no evidence beside them (E-3).
///
/// A document that says one of the phrases needs, in its own folder, a .json or .jsonl receipt whose evidence class is
/// measured or third_party and in order. `touchstone.toml` in DIR may list the phrases: [docs] phrases = [...].
///
/// Exit: 0 green  1 a document or the list cannot be read  2 a claim without evidence, or no document at all
///
/// Example: touchstone conform docs .
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The folder; hidden folders, target and node_modules are left out.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Runs the verb and returns its exit code.
pub(super) fn run(args: &Args) -> u8 {
    match checked(args) {
        Err(problem) => super::failed(&problem, args.json),
        Ok(report) => {
            tell(&report, args.json);
            report.colour().exit_code()
        }
    }
}

fn checked(args: &Args) -> Result<Report, Problem> {
    docs::check(&args.folder, &docs::phrases(&args.folder)?)
}

fn tell(report: &Report, json: bool) {
    if json {
        let mut answer = Object::new().with("exit", u64::from(report.colour().exit_code()));
        for (name, value) in super::report_members(report) {
            answer.set(name, value);
        }
        return line(&String::from_utf8_lossy(&canon::canonical(&answer.into())));
    }
    let tone = match report.colour() {
        Colour::Green => Tone::Good,
        Colour::Yellow => Tone::Warn,
        Colour::Red => Tone::Bad,
    };
    line(&paint(&report.colour().word().to_uppercase(), tone));
    super::checks(report);
}

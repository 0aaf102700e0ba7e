//! Counting statements about one draft when nothing but digests is known: those of other programs, too.

use super::panel::{chains, roster, voices};
use super::say;
use crate::output;
use crate::verify::read_regular;
use canon::Digest;
use peers::quorum::{Binding, Gauged, Verdict, form_verdict, majority};
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Folder with one chain for each executor, NAME.ndjson.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Who may judge: a JSON list of {"executor_id", "pub_hex"}.
    #[arg(long, value_name = "FILE")]
    roster: PathBuf,
    /// Name of the task.
    #[arg(long, value_name = "ID")]
    task_id: String,
    /// The draft that was judged.
    #[arg(long, value_name = "FILE")]
    draft: PathBuf,
    /// Digest of the suite.
    #[arg(long, value_name = "HEX", value_parser = digest)]
    suite_sha256: Digest,
    /// Digest of the program that ran.
    #[arg(long, value_name = "HEX", value_parser = digest)]
    render_sha256: Digest,
    /// Votes that are needed [default: more than half of the roster].
    #[arg(long, value_name = "N")]
    quorum: Option<NonZeroUsize>,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

fn digest(text: &str) -> Result<Digest, String> {
    Digest::parse(text).map_err(|_| "64 lowercase hex digits are needed".to_owned())
}

/// Longest draft, in bytes.
const DRAFT_BYTES_MAX: u64 = 8 << 20;

impl Args {
    fn verdict(&self) -> Result<Verdict, String> {
        let roster = roster(&self.roster)?;
        let draft = read_regular(&self.draft, DRAFT_BYTES_MAX)
            .map_err(|error| format!("{}: {error}", self.draft.display()))?;
        let binding = Binding {
            task_id: self.task_id.clone(),
            draft: Digest::of(&draft),
            suite: self.suite_sha256,
            render: self.render_sha256,
        };
        let said = voices(&chains(&self.folder)?, &binding.task_id, binding.draft);
        Ok(form_verdict(
            &said,
            &roster,
            &binding,
            self.quorum.unwrap_or_else(|| majority(&roster)),
            Gauged::Unchecked,
        ))
    }
}

pub(super) fn run(args: &Args) -> u8 {
    match args.verdict() {
        Ok(verdict) => say::verdict(&verdict, args.json),
        Err(why) => output::usage(&why),
    }
}

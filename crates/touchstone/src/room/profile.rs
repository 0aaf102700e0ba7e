//! `room profile`, and the profile that the other verbs use.

use super::{Wrong, bytes_of, print_json};
use crate::exit;
use crate::output::{Tone, line, paint};
use ::room::profile::{Problem, Profile};
use canon::Object;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(clap::Args)]
pub(super) struct Args {
    /// The profile.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(super) struct Choice {
    /// The numbers of the room [default: the reference profile of this binary].
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
}

impl Choice {
    /// The profile of this binary.
    pub(super) fn reference() -> Choice {
        Choice { profile: None }
    }

    pub(super) fn load(&self) -> Result<Arc<Profile>, Wrong> {
        let Some(path) = &self.profile else { return Ok(Profile::reference()) };
        read(path)?.map(Arc::new).map_err(|problems| {
            let first = problems.first().map_or_else(String::new, said);
            Wrong::failed(
                format!("{}: {first}", path.display()),
                format!("`touchstone room profile {}` names all {}", path.display(), problems.len()),
            )
        })
    }
}

fn read(path: &Path) -> Result<Result<Profile, Vec<Problem>>, Wrong> {
    let bytes = bytes_of(path)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Wrong::usage(format!("{}: not UTF-8", path.display()), "a profile is a TOML file"))?;
    Ok(Profile::parse(&text))
}

fn said(problem: &Problem) -> String {
    let detail = canon::shown(problem.detail.as_bytes());
    format!("{} at {} ({detail})", problem.code.code(), canon::shown(problem.key.as_bytes()))
}

pub(super) fn run(args: &Args) -> Result<u8, Wrong> {
    let read = read(&args.file)?;
    if args.json {
        let problems = read.as_ref().err().map_or(&[][..], Vec::as_slice);
        let problem = |problem: &Problem| {
            Object::new()
                .with("reason", problem.code.code())
                .with("key", problem.key.as_str())
                .with("detail", problem.detail.as_str())
        };
        print_json(
            Object::new()
                .with("config_sha256", read.as_ref().ok().map(Profile::config_hash))
                .with("problems", problems.iter().map(problem).collect::<Vec<_>>()),
        );
    } else {
        match &read {
            Ok(profile) => {
                line(&format!("{}  config {}", paint("OK", Tone::Good), profile.config_hash().to_hex()));
            }
            Err(problems) => {
                problems.iter().for_each(|problem| line(&said(problem)));
                line(&format!("{}  problems: {}", paint("REFUSED", Tone::Bad), problems.len()));
            }
        }
    }
    Ok(if read.is_ok() { exit::OK } else { exit::FAILED })
}

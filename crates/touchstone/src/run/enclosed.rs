//! The arguments of an enclosed run, and what is said of its tier.

use crate::output::{Tone, paint};
use canon::shown;
use desk::run::{Options, Report, Tier};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(super) struct Enclosed {
    /// Run the agent in namespaces of its own: the recording proxy is its only way out, the workspace the only place of
    /// yours that it can write to. Where that cannot be had the run is void (22).
    #[arg(long)]
    pub(super) enclose: bool,
    /// The least tier, as measured: B is an enclosure; C goes on without one and says so [default: B with --enclose].
    #[arg(long, value_name = "TIER", value_parser = ["A", "B", "B'", "C"])]
    require_tier: Option<String>,
    /// What an enclosed agent may read beside the folders that its programs are installed in; may be repeated.
    #[arg(long, value_name = "PATH")]
    readable: Vec<PathBuf>,
}

impl Enclosed {
    /// Puts them into the options of the run.
    pub(super) fn apply(self, options: Options) -> Options {
        let require_tier = self.require_tier.as_deref().and_then(Tier::parse);
        Options { enclose: self.enclose, require_tier, readable: self.readable, ..options }
    }
}

/// Lines of the report: nothing where no enclosure was asked for.
pub(super) fn lines(report: &Report) -> Vec<(&'static str, String)> {
    let Some((tier, why)) = &report.tier else { return Vec::new() };
    match why {
        _ if *tier == "B" => {
            vec![(
                "tier",
                "B: enclosed, as measured inside at start and end; no hook was measured".to_owned(),
            )]
        }
        Some(why) => {
            let loud = paint("THE AGENT WAS NOT ENCLOSED", Tone::Warn);
            vec![("tier", format!("{tier}: {loud}: {}", shown(why.as_bytes())))]
        }
        None => vec![("tier", format!("{tier}: no enclosure was measured"))],
    }
}

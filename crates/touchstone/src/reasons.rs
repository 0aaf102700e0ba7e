//! `touchstone reasons`: what a code means, for everybody who meets one.

use crate::exit;
use crate::output::{self, Tone, line, paint};
use canon::{Object, Value, shown};
use std::collections::BTreeMap;
use verdict::registry::{Reason, all};

/// Say what a reason code means, or list all of them.
///
/// Exit: 0 known, 1 no such code.
///
/// Example: touchstone reasons bad_signature
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The code, or the beginning of one; without it every code is listed.
    #[arg(value_name = "CODE")]
    code: Option<String>,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let reasons = all();
    // As it stands on the screen: a value may follow the code.
    let wanted = args.code.as_deref().unwrap_or_default().split(':').next().unwrap_or_default();
    let found: BTreeMap<&String, &Reason> = match reasons.get_key_value(wanted) {
        Some((code, reason)) => BTreeMap::from([(code, reason)]),
        None => reasons.iter().filter(|(code, _)| code.starts_with(wanted)).collect(),
    };
    if args.json {
        let mut answer = Object::new();
        for (code, reason) in &found {
            answer.set(code, value(code, reason));
        }
        line(&String::from_utf8_lossy(&canon::canonical(&answer.into())));
    } else {
        print(&found);
    }
    if found.is_empty() {
        output::usage(&format!(
            "no reason code is or begins with {}; `touchstone reasons` lists all of them",
            shown(wanted.as_bytes())
        ));
        return exit::FAILED;
    }
    exit::OK
}

fn value(code: &str, reason: &Reason) -> Value {
    Object::new()
        .with("family", reason.family(code))
        .with("layer", reason.layer.as_str())
        .with("meaning", reason.meaning.as_str())
        .with("since", reason.since.as_str())
        .into()
}

/// By layer, then by code.
fn print(found: &BTreeMap<&String, &Reason>) {
    let mut layers: BTreeMap<&str, Vec<(&str, &Reason)>> = BTreeMap::new();
    for (code, reason) in found {
        layers.entry(&reason.layer).or_default().push((code, reason));
    }
    for (layer, codes) in layers {
        line(&paint(layer, Tone::Quiet));
        for (code, reason) in codes {
            line(&output::hanging(&format!("  {code:<32} "), &reason.meaning));
            if found.len() == 1 {
                let words = format!("  family {}, since {}", reason.family(code), reason.since);
                line(&paint(&words, Tone::Quiet));
            }
        }
    }
}

//! `matrix shrink`: a failing record, with as little in it as still fails.

use super::{Wrong, print_json, record_of, reference};
use crate::exit;
use crate::output::{Busy, Tone, line, paint};
use ::room::check::Check;
use ::room::profile::Profile;
use ::room::record::{Record, record};
use canon::Object;
use std::path::Path;
use std::sync::Arc;

/// How often a run is tried at the most.
const TRIES_MAX: u64 = 5_000;
/// Most bytes of a small record.
const BYTES_MAX: usize = 32 * 1024;

pub(super) fn shrink(path: &Path, out: Option<&Path>, json: bool) -> Result<u8, Wrong> {
    let failing = record_of(path)?;
    let profile = reference(&super::profile::Choice::reference())?;
    let Some(check) = failing.violation.as_ref().map(|violation| violation.check) else {
        return Err(Wrong::usage("the record broke no check", "only a failing run shrinks"));
    };
    let busy = Busy::default();
    busy.with(Some("shrinking"));
    let fails = |inputs: &[_], ticks: u64| breaks(&failing, &profile, inputs, ticks, check);
    let shrunk = ::matrix::shrink::shrink(&failing.inputs, failing.ticks, TRIES_MAX, fails);
    busy.with(None);
    let Some(shrunk) = shrunk else {
        return Err(Wrong::failed(
            "the record does not fail when it is run again",
            "`room replay` says where it differs",
        ));
    };
    let made = record(&profile, failing.setup.clone(), shrunk.inputs.clone(), shrunk.ticks)
        .map_err(|refusal| Wrong::failed(super::said(&refusal), "nothing was run"))?;
    let text = made.text();
    if let Some(out) = out {
        super::live::write_new(out, &text)?;
    }
    let small = text.len() <= BYTES_MAX;
    if json {
        print_json(
            Object::new()
                .with("check", check.name())
                .with("inputs", shrunk.inputs.len() as u64)
                .with("inputs_before", failing.inputs.len() as u64)
                .with("ticks", shrunk.ticks)
                .with("ticks_before", failing.ticks)
                .with("tries", shrunk.tries)
                .with("minimal", shrunk.minimal)
                .with("bytes", text.len() as u64),
        );
    } else {
        line(&format!(
            "{}  {}: {} of {} inputs, {} of {} ticks, {} tries{}",
            paint("SMALLER", Tone::Good),
            check.name(),
            shrunk.inputs.len(),
            failing.inputs.len(),
            shrunk.ticks,
            failing.ticks,
            shrunk.tries,
            if shrunk.minimal { "" } else { ", not known to be minimal" }
        ));
        line(&one_line(&made));
    }
    Ok(if small { exit::OK } else { exit::FAILED })
}

fn breaks(
    failing: &Record,
    profile: &Arc<Profile>,
    inputs: &[::room::input::Input],
    ticks: u64,
    check: Check,
) -> bool {
    let made = record(profile, failing.setup.clone(), inputs.to_vec(), ticks);
    made.is_ok_and(|made| made.violation.is_some_and(|violation| violation.check == check))
}

/// The line that makes the run again.
fn one_line(record: &Record) -> String {
    let inputs: Vec<String> = record
        .inputs
        .iter()
        .map(|input| {
            String::from_utf8_lossy(&canon::canonical(&::room::given::line(input).into())).into_owned()
        })
        .collect();
    let setup = &record.setup;
    let lab = if setup.mode == ::room::setup::RunMode::Lab { " --lab" } else { "" };
    let run = format!(
        "touchstone room run --seed {} --identity {} --ticks {}{lab}",
        setup.seed,
        setup.identity.name(),
        record.ticks
    );
    if inputs.is_empty() {
        run
    } else {
        format!("printf '%s\\n' '{}' | {run} --inputs -", inputs.join("' '"))
    }
}

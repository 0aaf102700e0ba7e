//! `room replay` and `room diff`.

use super::journal::lines;
use super::{Wrong, print_json, profile, record_of, reference, said, shown};
use crate::exit;
use crate::output::{Busy, Tone, hanging, line, paint};
use ::room::Room;
use ::room::diff::{Difference, Side, first_difference};
use ::room::log::write_line;
use ::room::profile::Profile;
use ::room::record::{Record, Refusal, record_watched};
use canon::Object;
use std::path::Path;
use std::sync::Arc;

pub(super) fn replay(
    path: &Path,
    log: Option<&Path>,
    choice: &profile::Choice,
    json: bool,
) -> Result<u8, Wrong> {
    let record = record_of(path)?;
    let profile = reference(choice)?;
    let busy = Busy::default();
    busy.with(Some("replaying"));
    let answer = record.replay(&profile);
    let log = match (&answer, log) {
        (Ok(()), Some(log)) => log_difference(&record, &profile, log)?,
        _ => None,
    };
    busy.with(None);
    if json {
        print_json(replay_object(&record, answer.as_ref().err(), log.as_deref()));
    } else {
        tell_replay(&record, answer.as_ref().err(), log.as_deref());
    }
    Ok(if answer.is_ok() && log.is_none() { exit::OK } else { exit::FAILED })
}

/// Where a stored log is not what the replay decides; the hashes alone would not show it (PC-75).
fn log_difference(record: &Record, profile: &Arc<Profile>, log: &Path) -> Result<Option<String>, Wrong> {
    let mut stored = lines(log)?;
    let mut number = 0_u64;
    let mut found = None;
    let mut buffer = Vec::new();
    let made = record_watched(
        profile,
        record.setup.clone(),
        record.inputs.clone(),
        record.ticks,
        true,
        &mut |events| {
            for event in events {
                number += 1;
                buffer.clear();
                write_line(event, &mut buffer);
                let ours = &buffer[..buffer.len() - 1];
                let same = matches!(stored.next(), Some(Ok(theirs)) if theirs == ours);
                if !same && found.is_none() {
                    found = Some(format!("line {number}, tick {}", event.tick));
                }
            }
        },
    );
    made.map_err(|refusal| Wrong::failed(said(&refusal), "nothing was run"))?;
    // Whatever comes now is not of this run: a line, an empty one, or what cannot be unpacked.
    let longer = stored.next().is_some();
    Ok(found.or_else(|| longer.then(|| format!("line {}, after the end", number + 1))))
}

fn replay_object(record: &Record, refusal: Option<&Refusal>, log: Option<&str>) -> Object {
    Object::new()
        .with("ok", refusal.is_none() && log.is_none())
        .with("ticks", record.ticks)
        .with("keyframes", record.keyframes.len() as u64)
        .with("reason", refusal.map(|refusal| refusal.fault.code()))
        .with("at", refusal.map(|refusal| refusal.at.as_str()))
        .with("detail", refusal.map(|refusal| refusal.detail.as_str()))
        .with("log_differs_at", log)
}

fn tell_replay(record: &Record, refusal: Option<&Refusal>, log: Option<&str>) {
    match (refusal, log) {
        (Some(refusal), _) => line(&hanging(&format!("{}  ", paint("DIFFERENT", Tone::Bad)), &said(refusal))),
        (None, Some(at)) => {
            line(&format!("{}  the log is not of this run: {at}", paint("DIFFERENT", Tone::Bad)))
        }
        (None, None) => line(&format!(
            "{}  {} ticks, {} of {} state hashes met, every fold equal",
            paint("EQUAL", Tone::Good),
            record.ticks,
            record.keyframes.len(),
            record.keyframes.len()
        )),
    }
}

pub(super) fn diff(a: &Path, b: &Path, choice: &profile::Choice, json: bool) -> Result<u8, Wrong> {
    let (left, right) = (record_of(a)?, record_of(b)?);
    let profile = reference(choice)?;
    let ticks = left.ticks.min(right.ticks);
    let found = first_difference(side(&left, &profile)?, side(&right, &profile)?, ticks);
    let longer = found.is_none() && left.ticks != right.ticks;
    if json {
        print_json(diff_object(found.as_ref(), ticks, longer));
    } else {
        tell_diff(found.as_ref(), ticks, longer);
    }
    Ok(if found.is_none() && !longer { exit::OK } else { exit::FAILED })
}

/// What to do about a record that is not run.
fn hint(refusal: &Refusal) -> &'static str {
    match refusal.fault {
        ::room::record::RecordFault::Profile => "it was made with other numbers: give them with --profile",
        _ => "the record was edited",
    }
}

fn side<'r>(record: &'r Record, profile: &Arc<Profile>) -> Result<Side<'r>, Wrong> {
    record.check(profile).map_err(|refusal| Wrong::failed(said(&refusal), hint(&refusal)))?;
    let room = Room::new(Arc::clone(profile), record.setup.clone())
        .map_err(|fault| Wrong::failed(fault.code(), "the setup of the record cannot start"))?;
    Ok(Side { room, inputs: &record.inputs })
}

fn diff_object(found: Option<&Difference>, ticks: u64, longer: bool) -> Object {
    Object::new()
        .with("equal", found.is_none() && !longer)
        .with("ticks", ticks)
        .with("tick", found.map(|found| found.tick))
        .with("phase", found.map(|found| found.phase.name()))
        .with("field", found.map(|found| found.field.as_str()))
        .with("a", found.map(|found| found.a.as_str()))
        .with("b", found.map(|found| found.b.as_str()))
}

fn tell_diff(found: Option<&Difference>, ticks: u64, longer: bool) {
    match found {
        Some(found) => {
            let word = paint("DIFFERENT", Tone::Bad);
            line(&format!(
                "{word}  tick {}, phase {}, field {}",
                found.tick,
                found.phase.name(),
                shown(&found.field)
            ));
            line(&hanging("  A  ", &shown(&found.a)));
            line(&hanging("  B  ", &shown(&found.b)));
        }
        None if longer => {
            line(&format!("{}  equal for {ticks} ticks; one run is longer", paint("DIFFERENT", Tone::Warn)))
        }
        None => line(&format!("{}  no difference in {ticks} ticks", paint("EQUAL", Tone::Good))),
    }
}

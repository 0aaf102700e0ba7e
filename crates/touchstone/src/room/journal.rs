//! `room log`: the log of section 9, written compressed while the room runs, read as lines or as sentences.

use super::{Wrong, record_of, reference, said};
use crate::exit;
use crate::output::{hanging, line};
use ::room::event::Event;
use ::room::log::write_line;
use ::room::record::record_watched;
use canon::{Object, Reader, Value};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(super) struct Args {
    /// A log that `room run --log` wrote, or a record, from which it is made anew.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// First tick.
    #[arg(long, value_name = "TICK", default_value_t = 0)]
    from: u64,
    /// Last tick.
    #[arg(long, value_name = "TICK", default_value_t = u64::MAX)]
    to: u64,
    /// Only this kind of event: decision, edge, outcome, safety, wrote, kept ...
    #[arg(long, value_name = "KIND")]
    what: Option<String>,
    #[command(flatten)]
    profile: super::profile::Choice,
    /// The lines as they are stored.
    #[arg(long)]
    json: bool,
}

/// A log that is being written.
pub(super) struct Writer {
    path: PathBuf,
    file: GzEncoder<BufWriter<File>>,
    lines: Vec<u8>,
    failed: Option<std::io::Error>,
}

/// Bytes that are gathered before they are compressed.
const GATHER: usize = 1 << 16;

impl Writer {
    pub(super) fn create(path: &Path) -> Result<Writer, Wrong> {
        let file = File::create_new(path)
            .map_err(|error| Wrong::usage(format!("{}: {error}", path.display()), "choose a new file"))?;
        let file = GzEncoder::new(BufWriter::new(file), Compression::fast());
        Ok(Writer { path: path.to_owned(), file, lines: Vec::with_capacity(2 * GATHER), failed: None })
    }

    /// The events of a tick. A write that fails is told in the end.
    pub(super) fn take(&mut self, events: &[Event]) {
        events.iter().for_each(|event| write_line(event, &mut self.lines));
        if self.lines.len() >= GATHER {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if let Err(error) = self.file.write_all(&self.lines) {
            self.failed.get_or_insert(error);
        }
        self.lines.clear();
    }

    pub(super) fn end(mut self) -> Result<(), Wrong> {
        self.flush();
        let ended = match self.failed {
            Some(error) => Err(error),
            None => self.file.finish().and_then(|mut file| file.flush()),
        };
        ended.map_err(|error| {
            Wrong::failed(format!("{}: {error}", self.path.display()), "the log is not whole")
        })
    }
}

/// The stored lines of a log.
pub(super) fn lines(path: &Path) -> Result<impl Iterator<Item = std::io::Result<Vec<u8>>>, Wrong> {
    let file = File::open(path)
        .map_err(|error| Wrong::usage(format!("{}: {error}", path.display()), "give a log or a record"))?;
    Ok(BufReader::new(MultiGzDecoder::new(file)).split(b'\n'))
}

fn is_compressed(path: &Path) -> bool {
    let mut magic = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == [0x1f, 0x8b]
}

/// Kinds of events, as lines of a log name them.
const KINDS: [&str; 20] = [
    "input",
    "merged",
    "refused",
    "hazard",
    "safety",
    "control",
    "recovery",
    "call",
    "edge",
    "reservation",
    "outcome",
    "duplicate",
    "wrote",
    "kept",
    "moved",
    "band",
    "controllable",
    "uncontrolled",
    "fact",
    "decision",
];

pub(super) fn run(args: &Args) -> Result<u8, Wrong> {
    if let Some(what) = args.what.as_deref().filter(|what| !KINDS.contains(what) && *what != "edited") {
        let said = format!("--what {}: no such kind", canon::shown(what.as_bytes()));
        return Err(Wrong::usage(said, format!("one of {}, edited", KINDS.join(" "))));
    }
    if args.from > args.to {
        return Err(Wrong::usage("--from lies behind --to", "give the first tick, then the last"));
    }
    if is_compressed(&args.file) {
        for read in lines(&args.file)? {
            let read = read.map_err(|error| {
                Wrong::failed(format!("{}: {error}", args.file.display()), "the log is cut off or damaged")
            })?;
            show(args, &read)?;
        }
        return Ok(exit::OK);
    }
    let record = record_of(&args.file)?;
    let profile = reference(&args.profile)?;
    record.check(&profile).map_err(|refusal| Wrong::failed(said(&refusal), "the record was edited"))?;
    let mut buffer = Vec::new();
    let mut failed = None;
    let ticks = record.ticks.min(args.to.saturating_add(1));
    let made = record_watched(&profile, record.setup, record.inputs, ticks, true, &mut |events| {
        for event in events {
            buffer.clear();
            write_line(event, &mut buffer);
            if let Err(wrong) = show(args, &buffer[..buffer.len() - 1]) {
                failed.get_or_insert(wrong);
            }
        }
    });
    made.map_err(|refusal| Wrong::failed(said(&refusal), "nothing was run"))?;
    failed.map_or(Ok(exit::OK), Err)
}

fn show(args: &Args, stored: &[u8]) -> Result<(), Wrong> {
    let value = Reader::strict().read(stored).map_err(|error| {
        Wrong::failed(
            format!("a line of the log cannot be read: {}", error.fault.code()),
            "the log is damaged",
        )
    })?;
    let Some(object) = value.as_object() else { return Ok(()) };
    let tick = object.get("tick").and_then(Value::as_i64).unwrap_or(0).cast_unsigned();
    let what = object.get("what").and_then(Value::as_str).unwrap_or("");
    if tick < args.from || tick > args.to || args.what.as_deref().is_some_and(|wanted| wanted != what) {
        return Ok(());
    }
    if args.json {
        // As it is stored, and in letters that no terminal obeys: a log can be anybody's.
        line(&String::from_utf8_lossy(&canon::compact_ascii(&value)));
    } else {
        line(&sentence(tick, what, object));
    }
    Ok(())
}

/// One event for a reader: tick, kind, and the members that say what happened.
fn sentence(tick: u64, what: &str, object: &Object) -> String {
    let head = format!("{tick:>7}  {:<13} ", canon::shown(what.as_bytes()));
    let text = |name: &str| match object.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::Str(text)) => text.clone(),
        Some(other) => String::from_utf8_lossy(&canon::canonical(other)).into_owned(),
    };
    let words = match what {
        "edge" => format!(
            "{} {} {} -> {} {}",
            text("item"),
            text("kind"),
            text("from"),
            text("to"),
            reason(object, &["label", "evidence", "exit"])
        ),
        "decision" => decision(object),
        "safety" | "control" | "recovery" | "band" => {
            format!("{} {} -> {} {}", text("channel"), text("from"), text("to"), text("cause"))
        }
        _ => object
            .iter()
            .filter(|(name, _)| !matches!(*name, "tick" | "sequence" | "what"))
            .filter(|(_, value)| !value.is_null())
            .map(|(name, _)| format!("{name}={}", text(name)))
            .collect::<Vec<_>>()
            .join(" "),
    };
    // Whatever of the line is foreign is made harmless in one place.
    match words.trim() {
        "" => head.trim_end().to_owned(),
        words => hanging(&head, &canon::shown(words.as_bytes())),
    }
}

fn reason(object: &Object, names: &[&str]) -> String {
    let words = names.iter().filter_map(|name| object.get(name).and_then(Value::as_str));
    words.filter(|word| !matches!(*word, "none" | "ok")).collect::<Vec<_>>().join(" ")
}

/// A decision in a line: layer, choice, score, and what else was in the running.
fn decision(object: &Object) -> String {
    let Some(chosen) = object.get("chosen").and_then(Value::as_str) else {
        return "nothing to change".to_owned();
    };
    let tier = object.get("tier").and_then(Value::as_str).unwrap_or("-");
    let candidates = object.get("candidates").and_then(Value::as_array).unwrap_or(&[]);
    let score = |candidate: &Value| candidate.get("score").and_then(Value::as_i64).unwrap_or(0);
    let shown: Vec<String> = candidates
        .iter()
        .filter_map(|candidate| {
            let id = candidate.get("id")?.as_str()?;
            let why = candidate.get("rejected").and_then(|r| r.get("reason")).and_then(Value::as_str);
            Some(match why {
                Some(why) => format!("{id} out: {why}"),
                None => format!("{id} {}", ::room::shape::micro_text(score(candidate))),
            })
        })
        .collect();
    let rest = if shown.is_empty() { String::new() } else { format!(" | {}", shown.join(" | ")) };
    format!("tier {tier}: {chosen}{rest}")
}

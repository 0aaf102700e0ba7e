//! The skills that come with the kernel, one file a family.

mod bytes;
mod calendar;
mod code;
mod csv;
mod date;
mod diff;
mod generator;
mod grid;
mod json;
mod myers;
mod numbers;
mod prose;
mod python;
mod redact;
mod review;
mod sample;
mod schema;
mod secrets;
mod spelled;
mod stats;
mod table;
mod text;
mod unified;

use super::{Argument, Body, Entry, Example, Failed, Manifest};
use canon::{Object, Reader, Value};

/// A built-in skill: payload in, output out, nothing else.
pub(super) type Function = fn(&Object) -> Result<Value, Failed>;

/// A skill as its family declares it; the texts become a [`Manifest`].
struct Declared {
    name: &'static str,
    version: u32,
    description: &'static str,
    triggers: &'static [&'static str],
    /// Arguments without which the skill refuses: name and meaning.
    needs: &'static [(&'static str, &'static str)],
    /// Arguments that may be left out.
    takes: &'static [(&'static str, &'static str)],
    /// Payload and output as JSON text.
    examples: &'static [(&'static str, &'static str)],
    run: Function,
}

/// Every family.
const FAMILIES: &[&[Declared]] = &[
    bytes::SKILLS,
    code::SKILLS,
    date::SKILLS,
    diff::SKILLS,
    json::SKILLS,
    review::SKILLS,
    sample::SKILLS,
    stats::SKILLS,
    table::SKILLS,
    text::SKILLS,
];

/// All of them.
pub(super) fn all() -> Vec<Entry> {
    FAMILIES.iter().flat_map(|family| family.iter()).map(entry).collect()
}

fn entry(declared: &Declared) -> Entry {
    let argument = |required| {
        move |(name, meaning): &(&str, &str)| Argument {
            name: (*name).to_owned(),
            meaning: (*meaning).to_owned(),
            required,
        }
    };
    let manifest = Manifest {
        name: declared.name.to_owned(),
        version: declared.version,
        description: declared.description.to_owned(),
        triggers: declared.triggers.iter().map(|trigger| (*trigger).to_owned()).collect(),
        // They read the payload and touch nothing else.
        permission: 0,
        arguments: declared
            .needs
            .iter()
            .map(argument(true))
            .chain(declared.takes.iter().map(argument(false)))
            .collect(),
        examples: declared.examples.iter().map(example).collect(),
    };
    Entry { manifest, body: Body::Builtin(declared.run) }
}

/// The texts are constants; a test reads all of them.
fn example((payload, output): &(&str, &str)) -> Example {
    let read = |text: &str| Reader::strict().read(text.as_bytes()).expect("a declared example is JSON");
    let Value::Object(payload) = read(payload) else { unreachable!("a declared payload is an object") };
    Example { payload, output: read(output) }
}

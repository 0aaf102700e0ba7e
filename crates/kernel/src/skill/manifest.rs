//! The manifest of a skill that does not come with the kernel, as TOML.
//!
//! ```toml
//! name = "text.vowels"
//! version = 1
//! description = "Count the vowels of a text."
//! triggers = ["count vowels"]
//! permission = 0
//!
//! [[argument]]
//! name = "text"
//! meaning = "the text"
//! required = true
//!
//! [[example]]
//! payload = '{"text":"audio"}'
//! output = "4"
//! ```

use super::{Argument, Example, Manifest};
use canon::{Reader, Value};
use serde::Deserialize;

/// Longest manifest, in bytes.
const BYTES_MAX: usize = 256 << 10;

/// Most triggers of one skill: a skill that many phrases mean is several skills.
const TRIGGERS_MAX: usize = 16;

canon::codes! {
    /// Why a manifest was refused.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ManifestFault {
        /// Not TOML, longer than 256 KiB, or a member is missing, unknown or of the wrong type.
        NotManifest = "manifest_not_readable",
        /// The name is not `family.verb` in lower-case letters, digits and `_`.
        NameUnfit = "manifest_name_unfit",
        /// The version is 0, the permission over 3, the description blank, or there is no trigger, a blank one or more
        /// than 16.
        MemberUnfit = "manifest_member_unfit",
        /// There is no argument or example, an argument stands twice, or an example is not JSON, holds a float in its
        /// output, or does not fit the arguments.
        ExampleUnfit = "manifest_example_unfit",
    }
}

/// A manifest that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestError {
    /// The reason code.
    pub fault: ManifestFault,
    /// Which member, or what the reader said.
    pub detail: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    version: u32,
    description: String,
    triggers: Vec<String>,
    permission: u8,
    #[serde(rename = "argument", default)]
    arguments: Vec<WrittenArgument>,
    #[serde(rename = "example", default)]
    examples: Vec<WrittenExample>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenArgument {
    name: String,
    meaning: String,
    required: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenExample {
    payload: String,
    output: String,
}

fn refused(fault: ManifestFault, detail: impl Into<String>) -> ManifestError {
    ManifestError { fault, detail: detail.into() }
}

impl Manifest {
    /// Reads a manifest; the module documentation of this file, and `docs/kernel-skills.md`, show one.
    ///
    /// # Errors
    /// A [`ManifestError`] with the reason code.
    pub fn from_toml(text: &str) -> Result<Manifest, ManifestError> {
        if text.len() > BYTES_MAX {
            return Err(refused(ManifestFault::NotManifest, format!("more than {BYTES_MAX} bytes")));
        }
        let written: Written =
            toml::from_str(text).map_err(|error| refused(ManifestFault::NotManifest, error.message()))?;
        let arguments = arguments(written.arguments)?;
        let examples = written.examples.iter().enumerate();
        let examples: Vec<Example> =
            examples.map(|(index, example)| read(index, example, &arguments)).collect::<Result<_, _>>()?;
        if examples.is_empty() {
            return Err(refused(ManifestFault::ExampleUnfit, "there is no example"));
        }
        let manifest = Manifest {
            name: written.name,
            version: written.version,
            description: written.description.trim().to_owned(),
            triggers: written.triggers,
            permission: written.permission,
            arguments,
            examples,
        };
        members(&manifest)?;
        Ok(manifest)
    }
}

fn members(manifest: &Manifest) -> Result<(), ManifestError> {
    let word = |part: &str| {
        !part.is_empty()
            && part.len() <= 40
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    if !manifest.name.split_once('.').is_some_and(|(family, verb)| word(family) && word(verb)) {
        return Err(refused(ManifestFault::NameUnfit, &manifest.name));
    }
    let triggers = &manifest.triggers;
    let rules = [
        ("version", manifest.version > 0),
        ("permission", manifest.permission <= 3),
        ("description", !manifest.description.is_empty()),
        ("triggers", (1..=TRIGGERS_MAX).contains(&triggers.len())),
        ("triggers", triggers.iter().all(|trigger| !trigger.trim().is_empty())),
    ];
    match rules.iter().find(|(_, holds)| !holds) {
        Some((member, _)) => Err(refused(ManifestFault::MemberUnfit, *member)),
        None => Ok(()),
    }
}

fn arguments(written: Vec<WrittenArgument>) -> Result<Vec<Argument>, ManifestError> {
    let mut arguments: Vec<Argument> = Vec::new();
    for WrittenArgument { name, meaning, required } in written {
        if name.is_empty() || arguments.iter().any(|known| known.name == name) {
            return Err(refused(ManifestFault::ExampleUnfit, format!("argument {name:?}")));
        }
        arguments.push(Argument { name, meaning, required });
    }
    if arguments.is_empty() {
        return Err(refused(ManifestFault::ExampleUnfit, "there is no argument"));
    }
    Ok(arguments)
}

fn read(index: usize, example: &WrittenExample, arguments: &[Argument]) -> Result<Example, ManifestError> {
    let unfit = |why: &str| refused(ManifestFault::ExampleUnfit, format!("example {index}: {why}"));
    let json = |text: &str| Reader::strict().read(text.as_bytes()).map_err(|error| unfit(error.fault.code()));
    let Value::Object(payload) = json(&example.payload)? else {
        return Err(unfit("payload is not an object"));
    };
    let output = json(&example.output)?;
    if canon::lint_no_floats(&output).is_err() {
        return Err(unfit("output holds a float"));
    }
    let known = |name: &str| arguments.iter().any(|argument| argument.name == name);
    if !payload.iter().all(|(name, _)| known(name)) {
        return Err(unfit("payload has a member that is no argument"));
    }
    let given = |argument: &Argument| !argument.required || payload.get(&argument.name).is_some();
    if !arguments.iter().all(given) {
        return Err(unfit("payload lacks a required argument"));
    }
    Ok(Example { payload, output })
}

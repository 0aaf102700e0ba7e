//! How often the router chooses what a person would: disclosed with denominators, and no criterion of anything (K-3).

use super::{Route, Router, Scratch};
use crate::skill::Manifest;

/// A task and the skill that a person would choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// The task.
    pub text: String,
    /// Name of the skill.
    pub skill: String,
}

/// A task that went elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The task.
    pub text: String,
    /// The skill that a person would choose.
    pub wanted: String,
    /// What the router chose: a skill, or the code that says why none.
    pub got: String,
}

/// The score of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accuracy {
    /// Intents that were routed as a person would.
    pub hits: usize,
    /// Intents in the set.
    pub of: usize,
    /// The others, in the order of the set.
    pub misses: Vec<Miss>,
}

/// Routes every intent.
pub fn accuracy<'a>(
    router: &Router,
    manifests: impl Iterator<Item = &'a Manifest>,
    intents: &[Intent],
) -> Accuracy {
    let names: Vec<&str> = manifests.map(|manifest| manifest.name.as_str()).collect();
    let mut scratch = Scratch::default();
    let mut misses = Vec::new();
    for intent in intents {
        let got = match router.route(&intent.text, &mut scratch) {
            Route::Found(found) => names.get(found.skill).copied().unwrap_or_default(),
            Route::None(why) => why.code(),
        };
        if got != intent.skill {
            let (text, wanted) = (intent.text.clone(), intent.skill.clone());
            misses.push(Miss { text, wanted, got: got.to_owned() });
        }
    }
    Accuracy { hits: intents.len() - misses.len(), of: intents.len(), misses }
}

/// Reads a file of `[[intent]]` tables.
///
/// # Errors
/// What is wrong with the file; a set without intents is wrong too.
pub fn intents(text: &str) -> Result<Vec<Intent>, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let entries = table.get("intent").and_then(toml::Value::as_array).ok_or("there is no intent")?;
    let member = |entry: &toml::Value, name: &str| {
        let text = entry.get(name).and_then(toml::Value::as_str).map(str::to_owned);
        text.ok_or_else(|| format!("an intent lacks {name}"))
    };
    let read = |entry| Ok(Intent { text: member(entry, "text")?, skill: member(entry, "skill")? });
    entries.iter().map(read).collect()
}

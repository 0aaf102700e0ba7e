//! The frozen profile (section 2, 16.16): every number of the room is a key of one file, and a number that is no key
//! does not exist for the code.

mod checks;
mod entry;
mod keys;
mod kinds;
mod later;
mod problem;

pub use keys::{
    Clock, Experience, Fixture, Interactions, Learning, Memory, Regulation, Safety, Selection, Task, World,
};
pub use kinds::{COMMITS_MAX, KindRow};
pub use problem::{Code, Problem};

use canon::{Digest, Object, Value as Json};
use entry::{Entries, Entry, Reader};
use later::LATER;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

/// The reference profile as written.
pub const REFERENCE: &str = include_str!("../../../../profiles/v0-reference.toml");

/// The numbers of stage 0. Units are those of the file: µ (1.0 = 1 000 000) or whole ticks, cells, counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// `K.clock`
    pub clock: Clock,
    /// `K.safety`
    pub safety: Safety,
    /// `K.interaction`
    pub interaction: Interactions,
    /// `K.regulation`
    pub regulation: Regulation,
    /// `K.task`
    pub task: Task,
    /// `K.selection`
    pub selection: Selection,
    /// `K.learning`
    pub learning: Learning,
    /// `K.memory`
    pub memory: Memory,
    /// `K.experience`
    pub experience: Experience,
    /// `K.fixture`
    pub fixture: Fixture,
    /// `K.world`
    pub world: World,
    config_hash: Digest,
    keys: Vec<(String, u8)>,
}

impl Profile {
    /// Reads and checks a profile.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of codes and keys.
    pub fn parse(text: &str) -> Result<Profile, Vec<Problem>> {
        let mut problems = Vec::new();
        let file = File::read(text, &mut problems);
        unknown_keys(&file.entries, &mut problems);
        let mut profile = file.profile(&mut problems);
        profile.interaction.fill_rows();
        // Relations between numbers that were not read would only repeat that.
        if problems.is_empty() {
            checks::check(&profile, &mut problems);
        }
        problems.sort();
        if problems.is_empty() { Ok(profile) } else { Err(problems) }
    }

    /// The profile `v0-reference`.
    ///
    /// # Panics
    /// Never: a test reads the file that is compiled in.
    #[must_use]
    pub fn reference() -> Arc<Profile> {
        static PROFILE: LazyLock<Arc<Profile>> = LazyLock::new(|| {
            Arc::new(Profile::parse(REFERENCE).unwrap_or_else(|problems| panic!("{problems:?}")))
        });
        Arc::clone(&PROFILE)
    }

    /// SHA-256 of the canonical form of the file (GD-05), keys of later stages included.
    #[must_use]
    pub fn config_hash(&self) -> Digest {
        self.config_hash
    }

    /// Every key of the file as `group.key`, with the first stage that may refer to it (16.16).
    #[must_use]
    pub fn keys(&self) -> &[(String, u8)] {
        &self.keys
    }
}

impl Safety {
    /// Detection, worst interruption and protective action: 1 + 2 + 10 ticks (RC-SAF-09).
    #[must_use]
    pub fn reaction(&self) -> i64 {
        self.detect_budget + self.interrupt_max + self.evacuate_max
    }
}

/// The file before anything is asked of it.
struct File {
    name: String,
    entries: Entries,
}

impl File {
    fn read(text: &str, problems: &mut Vec<Problem>) -> File {
        let mut file = File { name: String::new(), entries: Entries::new() };
        let table: toml::Table = match text.parse() {
            Ok(table) => table,
            Err(error) => {
                let error: toml::de::Error = error;
                problems.push(Problem::new(Code::File, "", error.message()));
                return file;
            }
        };
        for (member, value) in &table {
            match (member.as_str(), value) {
                ("name", toml::Value::String(name)) => file.name.clone_from(name),
                ("K", toml::Value::Table(groups)) => {
                    for (group, value) in groups {
                        file.entries.insert(group.clone(), entries(group, value, problems));
                    }
                }
                _ => problems.push(Problem::new(Code::File, "", member)),
            }
        }
        if file.name.is_empty() {
            problems.push(Problem::new(Code::File, "", "name"));
        }
        file
    }

    fn profile(&self, problems: &mut Vec<Problem>) -> Profile {
        let mut reader = Reader { entries: &self.entries, problems };
        Profile {
            clock: Clock::read(&mut reader),
            safety: Safety::read(&mut reader),
            interaction: Interactions::read(&mut reader),
            regulation: Regulation::read(&mut reader),
            task: Task::read(&mut reader),
            selection: Selection::read(&mut reader),
            learning: Learning::read(&mut reader),
            memory: Memory::read(&mut reader),
            experience: Experience::read(&mut reader),
            fixture: Fixture::read(&mut reader),
            world: World::read(&mut reader),
            config_hash: canon::canonical_digest(&self.canonical()),
            keys: self.keys(),
        }
    }

    fn keys(&self) -> Vec<(String, u8)> {
        let key = |group: &str, (key, entry): (&String, &Entry)| {
            (format!("{group}.{key}"), entry.stage.unsigned_abs() as u8)
        };
        self.entries.iter().flat_map(|(group, entries)| entries.iter().map(|one| key(group, one))).collect()
    }

    fn canonical(&self) -> Json {
        let mut groups = Object::new();
        for (group, entries) in &self.entries {
            let mut keys = Object::new();
            for (key, entry) in entries {
                keys.set(key, entry.canonical());
            }
            groups.set(group, keys);
        }
        Object::new().with("K", groups).with("name", self.name.as_str()).into()
    }
}

fn entries(group: &str, value: &toml::Value, problems: &mut Vec<Problem>) -> BTreeMap<String, Entry> {
    let mut found = BTreeMap::new();
    let Some(table) = value.as_table() else {
        problems.push(Problem::new(Code::Entry, group, "no table"));
        return found;
    };
    for (key, value) in table {
        let name = format!("{group}.{key}");
        match value.as_table().map(|table| Entry::of(&name, table)) {
            Some(Ok(entry)) => {
                entry.check(&name, problems);
                found.insert(key.clone(), entry);
            }
            Some(Err(problem)) => problems.push(problem),
            None => problems.push(Problem::new(Code::Entry, name, "no table")),
        }
    }
    found
}

/// Keys with a field, by group.
const FIELDS: [(&str, &[&str]); 11] = [
    (Clock::GROUP, Clock::KEYS),
    (Safety::GROUP, Safety::KEYS),
    (Interactions::GROUP, Interactions::KEYS),
    (Regulation::GROUP, Regulation::KEYS),
    (Task::GROUP, Task::KEYS),
    (Selection::GROUP, Selection::KEYS),
    (Learning::GROUP, Learning::KEYS),
    (Memory::GROUP, Memory::KEYS),
    (Experience::GROUP, Experience::KEYS),
    (Fixture::GROUP, Fixture::KEYS),
    (World::GROUP, World::KEYS),
];

/// RC-LNT-02, RC-LNT-04: every key is in the registry, every key of the registry is there, and none claims a stage in
/// which the code could not know it.
fn unknown_keys(found: &Entries, problems: &mut Vec<Problem>) {
    let set = |table: &[(&'static str, &'static [&'static str])]| -> BTreeSet<(&str, &str)> {
        table.iter().flat_map(|(group, keys)| keys.iter().map(move |key| (*group, *key))).collect()
    };
    let (fields, later) = (set(&FIELDS), set(LATER));
    for (group, entries) in found {
        for (key, entry) in entries {
            let place = (group.as_str(), key.as_str());
            let name = format!("{group}.{key}");
            if later.contains(&place) && !(1..=3).contains(&entry.stage) {
                problems.push(Problem::new(Code::Stage, name, format!("{} of 1..=3", entry.stage)));
            } else if !later.contains(&place) && !fields.contains(&place) {
                problems.push(Problem::new(Code::UnknownKey, name, ""));
            }
        }
    }
    for (group, key) in later {
        if !found.get(group).is_some_and(|entries| entries.contains_key(key)) {
            problems.push(Problem::new(Code::MissingKey, format!("{group}.{key}"), ""));
        }
    }
}

#[cfg(test)]
mod tests;

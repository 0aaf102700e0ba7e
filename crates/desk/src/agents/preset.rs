//! The table of agents (`presets.toml`), read at compile time.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

const TABLE: &str = include_str!("presets.toml");

/// One agent of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// The name of `--agent`.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// The program that is looked for on `PATH`.
    pub program: String,
    /// A command that installs it.
    pub install: String,
    /// The version that was tried.
    pub tried: String,
    /// What it speaks.
    pub protocols: Vec<String>,
    /// What its user should know.
    pub note: String,
    /// Variables beside those that every agent gets.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Files of its private folder.
    #[serde(default, rename = "file")]
    pub files: Vec<File>,
    /// Words right behind the program.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Arguments of a call of the program that writes its configuration before each attempt.
    #[serde(default)]
    pub prepare: Vec<String>,
}

/// A file of a private folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Below the folder.
    pub path: String,
    /// Its text.
    pub text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    version: u32,
    agent: Vec<Preset>,
}

/// Every preset, by name.
pub fn presets() -> Vec<Preset> {
    // A test reads the table; one that cannot be read lists nothing and never half of itself.
    let table = toml::from_str::<Table>(TABLE).ok().filter(|table| table.version == 1);
    table.map(|table| table.agent).unwrap_or_default()
}

/// What a preset needs from its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The program on `PATH`.
    Program,
    /// `--agent-model NAME`.
    Model,
}

impl Preset {
    /// The preset of a name.
    pub fn named(name: &str) -> Option<Preset> {
        presets().into_iter().find(|preset| preset.name == name)
    }

    /// What it needs.
    pub fn needs(&self) -> Vec<Need> {
        let model = self.values().any(|text| text.contains("{model}"));
        std::iter::once(Need::Program).chain(model.then_some(Need::Model)).collect()
    }

    /// How it is pointed at the proxy, in words of a closed list: always by `environment`, some by more.
    pub fn ways(&self) -> Vec<&'static str> {
        let mut ways = vec!["environment"];
        ways.extend((!self.files.is_empty()).then_some("configuration"));
        ways.extend((!self.arguments.is_empty()).then_some("arguments"));
        ways.extend((!self.prepare.is_empty()).then_some("prepared"));
        ways
    }

    /// Where its program lies on `path`, the value of `PATH`.
    pub fn installed(&self, path: &OsStr) -> Option<PathBuf> {
        std::env::split_paths(path).map(|folder| folder.join(&self.program)).find(|file| is_program(file))
    }

    /// Every text that may hold a placeholder.
    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        let files = self.files.iter().flat_map(|file| [file.path.as_str(), file.text.as_str()]);
        let words = self.arguments.iter().chain(&self.prepare).map(String::as_str);
        self.environment.values().map(String::as_str).chain(files).chain(words)
    }

    /// Place in `command` of the program's name, whatever folder stands before it.
    pub(super) fn place_in(&self, command: &[OsString]) -> Option<usize> {
        command.iter().position(|word| Path::new(word).file_name() == Some(OsStr::new(&self.program)))
    }
}

fn is_program(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_is_whole() {
        let table: Table = toml::from_str(TABLE).unwrap();
        assert_eq!(table.version, 1);
        let names: Vec<&str> = table.agent.iter().map(|preset| preset.name.as_str()).collect();
        assert!(names.is_sorted() && names.iter().collect::<BTreeSet<_>>().len() == names.len(), "{names:?}");
        assert_eq!(presets().len(), 15);
        let protocols = ["chat_completions", "responses", "messages", "ollama", "gemini"];
        for preset in presets() {
            assert!(preset.note.len() > 10 && !preset.tried.is_empty() && !preset.protocols.is_empty());
            assert!(
                preset.protocols.iter().all(|name| protocols.contains(&name.as_str())),
                "{}",
                preset.name
            );
            assert!(preset.install.starts_with("npm ") || preset.install.starts_with("pip "));
            for file in &preset.files {
                let plain = file.path.split('/').all(|part| !["", ".", ".."].contains(&part));
                assert!(plain, "{}: {}", preset.name, file.path);
            }
            // Whoever gets files is told where they are.
            let told =
                preset.environment.values().chain(&preset.arguments).any(|text| text.contains("{folder}"));
            assert!(told || preset.files.is_empty(), "{}", preset.name);
        }
    }

    #[test]
    fn what_a_preset_needs_and_how_it_works() {
        let of = |name| Preset::named(name).unwrap();
        assert_eq!(of("codex").needs(), [Need::Program]);
        assert_eq!(of("continue").needs(), [Need::Program, Need::Model]);
        assert_eq!(of("llm").ways(), ["environment"]);
        assert_eq!(of("pi").ways(), ["environment", "configuration"]);
        assert_eq!(of("continue").ways(), ["environment", "configuration", "arguments"]);
        assert_eq!(of("cline").ways(), ["environment", "prepared"]);
        assert!(Preset::named("goose").is_none());
    }

    #[test]
    fn a_program_is_found_where_it_can_be_started() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
        for (at, mode) in [(&first, 0o644), (&second, 0o755)] {
            std::fs::create_dir(at).unwrap();
            let file = at.join("pi");
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths([&first, &second]).unwrap();
        let pi = Preset::named("pi").unwrap();
        assert_eq!(pi.installed(&path), Some(second.join("pi")));
        assert_eq!(pi.installed(first.as_os_str()), None);
    }

    #[test]
    fn the_program_is_found_in_a_command() {
        let place = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            Preset::named("continue").unwrap().place_in(&words)
        };
        assert_eq!(place(&["cn", "-p", "x"]), Some(0));
        assert_eq!(place(&["npx", "/opt/bin/cn", "x"]), Some(1));
        assert_eq!(place(&["sh", "-c", "cn -p x"]), None);
    }
}

//! An agent that is pointed at a proxy: variables, files in a folder of its own, words of its command.

use super::environment::{Door, Environment, behind};
use super::preset::{Need, Preset};
use crate::store::write_new;
use canon::Digest;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Why an agent cannot be pointed at the proxy.
#[derive(Debug)]
pub enum PointError {
    /// The preset needs `--agent-model`.
    ModelMissing(String),
    /// A model's name with a character that could end the text it is put into.
    ModelName(String),
    /// The preset adds words behind this program, which the command does not hold.
    ProgramMissing(String),
    /// The private folder cannot be made or written.
    Folder(PathBuf, io::Error),
}

// Closed list, stable across rewording.
canon::codes! {
    impl PointError: &self {
        PointError::ModelMissing(_) => "preset_model_missing",
        PointError::ModelName(_) => "preset_model_name",
        PointError::ProgramMissing(_) => "preset_program_missing",
        PointError::Folder(..) => "preset_folder_unusable",
    }
}

impl std::fmt::Display for PointError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PointError::ModelMissing(name) => {
                write!(f, "{}: the preset {name} needs --agent-model NAME", self.code())
            }
            PointError::ModelName(model) => {
                let model = canon::shown(model.as_bytes());
                write!(f, "{}: {model}: letters, digits and . _ : / @ + - are allowed", self.code())
            }
            PointError::ProgramMissing(program) => {
                write!(f, "{}: the command does not hold the program {program}", self.code())
            }
            PointError::Folder(path, error) => write!(f, "{}: {}: {error}", self.code(), path.display()),
        }
    }
}

impl std::error::Error for PointError {}

impl Preset {
    /// What can be said before anything starts: the model is there and harmless, the program is in the command.
    pub fn fits(&self, command: &[OsString], model: Option<&str>) -> Result<(), PointError> {
        if model.is_none() && self.needs().contains(&Need::Model) {
            return Err(PointError::ModelMissing(self.name.clone()));
        }
        let plain = |ch: char| ch.is_ascii_alphanumeric() || "._:/@+-".contains(ch);
        if let Some(model) = model.filter(|model| model.is_empty() || !model.chars().all(plain)) {
            return Err(PointError::ModelName(model.to_owned()));
        }
        let adds_words = !self.arguments.is_empty() || !self.prepare.is_empty();
        if adds_words && self.place_in(command).is_none() {
            return Err(PointError::ProgramMissing(self.program.clone()));
        }
        Ok(())
    }
}

/// An agent as it is started behind a proxy. Its folder goes with this value.
#[derive(Debug)]
pub struct Pointed {
    /// What it is given, and what was taken from it.
    pub environment: Environment,
    /// Its command.
    pub command: Vec<OsString>,
    /// A command that writes its configuration first, where it has one.
    pub prepare: Option<Vec<OsString>>,
    folder: Option<PathBuf>,
}

impl Pointed {
    /// Points `command` at `door`. `workspace` gives the private folder its name: two arms of one workspace see the same
    /// path, which some agents repeat in their prompts (10.4).
    pub fn at(
        door: &Door,
        preset: Option<(&Preset, Option<&str>)>,
        given: &[(OsString, OsString)],
        command: &[OsString],
        workspace: &Path,
    ) -> Result<Pointed, PointError> {
        let mut pointed = Pointed {
            environment: behind(given, door),
            command: command.to_vec(),
            prepare: None,
            folder: None,
        };
        let Some((preset, model)) = preset else { return Ok(pointed) };
        preset.fits(command, model)?;
        let uses_folder = preset.values().any(|text| text.contains("{folder}")) || !preset.files.is_empty();
        if uses_folder {
            pointed.folder = Some(private_folder(workspace)?);
        }
        let fill = Fill { door, folder: pointed.folder.clone(), model };
        for file in &preset.files {
            let path = fill.folder.clone().unwrap_or_default().join(&file.path);
            let parents = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            let text = fill.text(&file.text);
            let written = parents.and_then(|()| write_new(&path, text.trim_start().as_bytes(), 0o600));
            written.map_err(|error| PointError::Folder(path, error))?;
        }
        let variables = &mut pointed.environment.variables;
        for (name, value) in &preset.environment {
            variables.retain(|(given, _)| *given != *name.as_str());
            variables.push((name.into(), fill.text(value).into()));
        }
        if let Some(place) = preset.place_in(command) {
            let words = |words: &[String]| -> Vec<OsString> {
                words.iter().map(|word| fill.text(word).into()).collect()
            };
            if !preset.prepare.is_empty() {
                let program = command[..=place].to_vec();
                pointed.prepare = Some([program, words(&preset.prepare)].concat());
            }
            pointed.command.splice(place + 1..place + 1, words(&preset.arguments));
        }
        Ok(pointed)
    }

    /// The private folder, where there is one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }
}

impl Drop for Pointed {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            // What cannot be removed holds nothing secret: the sentinel is nobody's key.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

struct Fill<'a> {
    door: &'a Door,
    folder: Option<PathBuf>,
    model: Option<&'a str>,
}

impl Fill<'_> {
    /// The text with its placeholders filled in.
    fn text(&self, text: &str) -> String {
        // A temporary folder whose name is no text was refused when the run was prepared.
        let folder = self.folder.as_deref().map(|folder| folder.to_string_lossy().into_owned());
        text.replace("{base_v1}", &self.door.base_v1())
            .replace("{base}", &self.door.base)
            .replace("{sentinel}", &self.door.sentinel)
            .replace("{folder}", &folder.unwrap_or_default())
            .replace("{model}", self.model.unwrap_or_default())
    }
}

/// A fresh folder for one attempt: the same name for the same workspace, and another one when that is taken, by a run that
/// goes on or that was killed.
fn private_folder(workspace: &Path) -> Result<PathBuf, PointError> {
    let digest = Digest::of(workspace.as_os_str().as_bytes()).to_hex();
    let temporary = std::env::temp_dir();
    let named = temporary.join(format!("touchstone-agent-{}", &digest[..16]));
    let make = |path: &Path| DirBuilder::new().mode(0o700).create(path);
    match make(&named) {
        Ok(()) => Ok(named),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let other = tempfile::Builder::new().prefix("touchstone-agent-").tempdir_in(&temporary);
            other.map(tempfile::TempDir::keep).map_err(|error| PointError::Folder(temporary, error))
        }
        Err(error) => Err(PointError::Folder(named, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::preset::presets;
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn door() -> Door {
        Door { base: "http://127.0.0.1:4711".to_owned(), sentinel: "vacant-run-00ff".to_owned() }
    }

    fn pointed(name: &str, command: &[&str]) -> Pointed {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        let preset = Preset::named(name).unwrap();
        // A workspace of this test alone: its name gives the folder its name.
        let workspace = tempfile::tempdir().unwrap();
        let given = [("HOME".into(), "/home/user".into()), ("CODEX_HOME".into(), "/home/user/.codex".into())];
        Pointed::at(&door(), Some((&preset, Some("m"))), &given, &command, workspace.path()).unwrap()
    }

    fn variable<'a>(pointed: &'a Pointed, name: &str) -> &'a str {
        let mut of = pointed.environment.variables.iter().filter(|(given, _)| *given == *name);
        let found = of.next().map(|(_, value)| value.to_str().unwrap()).unwrap_or("(none)");
        assert!(of.next().is_none(), "{name} stands twice");
        found
    }

    #[test]
    fn a_file_in_a_folder_of_its_own_that_goes_with_the_attempt() {
        let pointed = pointed("codex", &["codex", "exec", "x"]);
        let folder = pointed.folder().unwrap().to_path_buf();
        assert_eq!(Path::new(variable(&pointed, "CODEX_HOME")), folder);
        assert_eq!(variable(&pointed, "CODEX_API_KEY"), "vacant-run-00ff");
        assert_eq!(variable(&pointed, "HOME"), "/home/user");
        let text = std::fs::read_to_string(folder.join("config.toml")).unwrap();
        assert_eq!(text, "openai_base_url = \"http://127.0.0.1:4711/v1\"\n");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join("config.toml"))), (0o700, 0o600));
        drop(pointed);
        assert!(!folder.exists());
    }

    /// Some agents repeat the path of their folder in what they send.
    #[test]
    fn one_workspace_has_one_folder_name_and_two_runs_have_two() {
        let preset = Preset::named("pi").unwrap();
        let workspace = tempfile::tempdir().unwrap();
        let at =
            || Pointed::at(&door(), Some((&preset, None)), &[], &["pi".into()], workspace.path()).unwrap();
        let first = at();
        let name = first.folder().unwrap().to_path_buf();
        let beside = at();
        assert_ne!(beside.folder().unwrap(), name);
        assert!(beside.folder().unwrap().join("models.json").is_file());
        drop(first);
        assert_eq!(at().folder().unwrap(), name);
    }

    #[test]
    fn words_stand_behind_the_program_wherever_it_is() {
        let pointed = pointed("continue", &["npx", "cn", "-p", "do it"]);
        let folder = pointed.folder().unwrap();
        let config = folder.join("continue.yaml");
        let words: Vec<&str> = pointed.command.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(words, ["npx", "cn", "--config", config.to_str().unwrap(), "-p", "do it"]);
        let text = std::fs::read_to_string(config).unwrap();
        assert!(text.contains("model: \"m\"") && text.contains("apiKey: \"vacant-run-00ff\""), "{text}");
    }

    #[test]
    fn a_configuration_that_the_agent_writes_itself() {
        let pointed = pointed("cline", &["cline", "do it"]);
        let words: Vec<&str> =
            pointed.prepare.as_ref().unwrap().iter().map(|word| word.to_str().unwrap()).collect();
        let want = ["cline", "auth", "-p", "openai", "-k", "vacant-run-00ff", "-m", "m", "-b"];
        assert_eq!(words[..9], want);
        assert_eq!(Path::new(variable(&pointed, "HOME")), pointed.folder().unwrap());
    }

    /// Whatever the preset: no placeholder is left, JSON and TOML can be read, and nothing of the user's is named.
    #[test]
    fn every_preset_can_be_pointed() {
        for preset in presets() {
            let pointed = pointed(&preset.name, &[&preset.program, "x"]);
            let folder = pointed.folder().map(Path::to_path_buf);
            let mut texts: Vec<String> = Vec::new();
            for (name, value) in &pointed.environment.variables {
                texts.push(format!("{}={}", name.display(), value.display()));
            }
            texts.extend(pointed.command.iter().map(|word| word.display().to_string()));
            for file in &preset.files {
                let text = std::fs::read_to_string(folder.as_ref().unwrap().join(&file.path)).unwrap();
                match Path::new(&file.path).extension().and_then(|ending| ending.to_str()) {
                    Some("json") => drop(canon::Reader::strict().read(text.trim().as_bytes()).unwrap()),
                    Some("toml") => drop(toml::from_str::<toml::Table>(&text).unwrap()),
                    _ => {}
                }
                texts.push(text);
            }
            for placeholder in ["{base", "{sentinel}", "{folder}", "{model}"] {
                assert!(!texts.iter().any(|text| text.contains(placeholder)), "{}: {texts:?}", preset.name);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let code = |name: &str, command: &[&str], model: Option<&str>| {
            let command: Vec<OsString> = command.iter().map(OsString::from).collect();
            Preset::named(name).unwrap().fits(&command, model).map_err(|error| {
                assert!(error.to_string().starts_with(error.code()), "{error}");
                error.code()
            })
        };
        assert_eq!(code("continue", &["cn"], None), Err("preset_model_missing"));
        assert_eq!(code("continue", &["cn"], Some("a\"\nb")), Err("preset_model_name"));
        assert_eq!(code("continue", &["cn"], Some("")), Err("preset_model_name"));
        assert_eq!(code("continue", &["sh", "-c", "cn -p x"], Some("m")), Err("preset_program_missing"));
        assert_eq!(code("codex", &["sh", "-c", "codex exec x"], None), Ok(()));
        assert_eq!(code("continue", &["cn"], Some("anthropic/claude-1.5:x@y")), Ok(()));
        let gone = PointError::Folder("/x".into(), io::ErrorKind::NotFound.into());
        assert_eq!(gone.code(), "preset_folder_unusable");
    }
}

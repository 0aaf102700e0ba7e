//! The table of agents that are tried: `examples/agents/agents.toml`.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// An agent, pinned.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its name, for `--only`.
    pub name: String,
    /// The name for `touchstone run --agent`.
    pub preset: Option<String>,
    /// Its package of npm.
    npm: Option<String>,
    /// Its package of PyPI.
    pip: Option<String>,
    /// The version that is installed.
    pub version: String,
    /// One for each protocol.
    #[serde(default, rename = "trial")]
    pub trials: Vec<Trial>,
}

/// One way to run it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// What it is expected to speak.
    pub protocol: String,
    /// `--agent-model`.
    pub model: Option<String>,
    /// How the stub makes it write a file.
    pub style: String,
    /// Its command; `{prompt}` is the task.
    pub command: Vec<String>,
    /// What its user would set.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// Where a package comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// npm.
    Npm(&'a str),
    /// PyPI.
    Pip(&'a str),
}

impl Agent {
    /// Its package.
    pub fn source(&self) -> Result<Source<'_>, String> {
        match (&self.npm, &self.pip) {
            (Some(name), None) => Ok(Source::Npm(name)),
            (None, Some(name)) => Ok(Source::Pip(name)),
            _ => Err(format!("{}: exactly one of npm and pip", self.name)),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    version: u32,
    agent: Vec<Agent>,
}

/// Every agent of the table, in its order.
pub fn agents(root: &Path) -> Result<Vec<Agent>, String> {
    let path = root.join("examples/agents/agents.toml");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let table: Table = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    if table.version != 1 {
        return Err(format!("{}: version {} is not known", path.display(), table.version));
    }
    for agent in &table.agent {
        agent.source()?;
    }
    Ok(table.agent)
}

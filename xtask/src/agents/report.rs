//! What was seen, as `examples/agents/results.toml`, and the document that is made from it.

use super::table::{Agent, Source};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const RESULTS: &str = "examples/agents/results.toml";
const DOCUMENT: &str = "docs/agents.md";

/// One agent over one protocol.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    agent: String,
    package: String,
    version: String,
    /// What it was set to speak; nothing when it could not be installed.
    protocol: Option<String>,
    preset: Option<String>,
    /// The day, UTC.
    date: String,
    /// Seconds of the honest run.
    pub(super) seconds: u64,
    pub(super) tier: String,
    /// Protocols of calls that succeeded, and whether they were streamed.
    pub(super) seen: BTreeSet<String>,
    /// What did not hold; empty when all did.
    pub(super) problems: Vec<String>,
    pub(super) not_installed: Option<String>,
    pub(super) honest: Option<Side>,
    pub(super) lying: Option<Side>,
}

/// One run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Side {
    pub(super) exit: i32,
    pub(super) stop: String,
    /// The word of `touchstone verify`.
    pub(super) verify: String,
    /// Calls of a model that succeeded.
    pub(super) models: i64,
    pub(super) failed: i64,
    pub(super) others: i64,
    pub(super) blocked: i64,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Results {
    row: Vec<Row>,
}

impl Row {
    pub(super) fn of(agent: &Agent, protocol: &str) -> Row {
        let package = match agent.source() {
            Ok(Source::Npm(name)) => format!("npm {name}"),
            Ok(Source::Pip(name)) => format!("PyPI {name}"),
            Err(why) => why,
        };
        Row {
            agent: agent.name.clone(),
            package,
            version: agent.version.clone(),
            protocol: Some(protocol.to_owned()).filter(|protocol| !protocol.is_empty()),
            preset: agent.preset.clone(),
            date: today(),
            seconds: 0,
            tier: "none".to_owned(),
            seen: BTreeSet::new(),
            problems: Vec::new(),
            not_installed: None,
            honest: None,
            lying: None,
        }
    }

    pub(super) fn not_installed(agent: &Agent, why: String) -> Row {
        Row { not_installed: Some(why), ..Row::of(agent, "") }
    }

    /// One line for the screen.
    pub(super) fn line(&self) -> String {
        let name = format!("{} {} {}", self.agent, self.version, self.protocol.as_deref().unwrap_or("-"));
        match (&self.not_installed, self.problems.as_slice()) {
            (Some(why), _) => format!("{name}: not installed: {why}"),
            (None, []) => {
                format!("{name}: honest {}; lying {}", side(self.honest.as_ref()), side(self.lying.as_ref()))
            }
            (None, problems) => format!("{name}: NOT AS EXPECTED: {}", problems.join("; ")),
        }
    }

    fn cells(&self) -> String {
        let preset = match (&self.preset, &self.not_installed) {
            (Some(name), _) => format!("`--agent {name}`"),
            (None, Some(_)) => "-".to_owned(),
            (None, None) => "environment".to_owned(),
        };
        let seen: Vec<&str> = self.seen.iter().map(String::as_str).collect();
        let told = match (&self.not_installed, self.problems.is_empty()) {
            (Some(why), _) => format!("does not install: {why}"),
            (None, true) => "as expected".to_owned(),
            (None, false) => self.problems.join("; "),
        };
        let cells = [
            format!("{} {}", self.agent, self.version),
            seen.join("; "),
            preset,
            side(self.honest.as_ref()),
            side(self.lying.as_ref()),
            self.tier.clone(),
            told.replace('|', "/"),
            self.date.clone(),
        ];
        format!("| {} |\n", cells.join(" | "))
    }
}

fn side(side: Option<&Side>) -> String {
    let Some(side) = side else { return "-".to_owned() };
    let word = match side.exit {
        0 => "ACCEPTED",
        20 => "REFUSED",
        21 => "INCONCLUSIVE",
        _ => "VOID",
    };
    let Side { verify, models, failed, others, blocked, .. } = side;
    format!("{word} {}, verify {verify}, calls {models}/{failed}/{others}/{blocked}", side.exit)
}

fn today() -> String {
    let output = Command::new("date").args(["-u", "+%F"]).output();
    output.map_or_else(
        |_| "(no date)".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// Puts new rows in the place of the old ones of their agents, and makes the document anew.
pub(super) fn write(root: &Path, agents: &[Agent], new: Vec<Row>) -> Result<(), String> {
    let mut results = read(root).unwrap_or_default();
    let renewed: BTreeSet<String> = new.iter().map(|row| row.agent.clone()).collect();
    results.row.retain(|row| !renewed.contains(&row.agent));
    results.row.extend(new);
    let place = |row: &Row| agents.iter().position(|agent| agent.name == row.agent);
    results.row.retain(|row| place(row).is_some());
    results.row.sort_by_key(|row| place(row));
    let text = toml::to_string(&results).map_err(|error| error.to_string())?;
    let text =
        format!("# Written by `cargo xtask agents`: what was seen. docs/agents.md is made from it.\n{text}");
    put(root, RESULTS, &text)?;
    put(root, DOCUMENT, &document(root)?)
}

fn put(root: &Path, name: &str, text: &str) -> Result<(), String> {
    std::fs::write(root.join(name), text).map_err(|error| format!("{name}: {error}"))
}

fn read(root: &Path) -> Result<Results, String> {
    let text = std::fs::read_to_string(root.join(RESULTS)).map_err(|error| format!("{RESULTS}: {error}"))?;
    toml::from_str(&text).map_err(|error| format!("{RESULTS}: {error}"))
}

/// The document as it must be, from the results that are in the repository.
pub fn document(root: &Path) -> Result<String, String> {
    let results = read(root)?;
    let rows: String = results.row.iter().map(Row::cells).collect();
    let agents: BTreeSet<&str> =
        results.row.iter().filter(|row| row.honest.is_some()).map(|row| &row.agent[..]).collect();
    let well =
        results.row.iter().filter(|row| row.not_installed.is_none() && row.problems.is_empty()).count();
    let counted = format!(
        "{} agents were run in {} trials; {well} trials came out as expected.",
        agents.len(),
        results.row.iter().filter(|row| row.honest.is_some()).count(),
    );
    Ok(format!("{HEAD}\n{counted}\n\n{COLUMNS}{rows}{FOOT}"))
}

const COLUMNS: &str = "\
| agent | protocols of its calls | pointed by | honest | lying | tier | came out | date |
|---|---|---|---|---|---|---|---|
";

const HEAD: &str = "\
# Real agents under the desk

Generated by `cargo xtask agents` from `examples/agents/results.toml`: do not edit. The command installs the pinned versions
of `examples/agents/agents.toml` into a private folder (`TOUCHSTONE_AGENTS`, else `touchstone/agents` in the user's cache), and
runs each under `touchstone run --calls record --agent NAME` with the task to write `solution.py`, which a suite then checks.
The model is `examples/agents/stub.py` on the loopback address: the agents are real, what the model says is a script. In the
honest run it has the agent write the right file, in the lying run a wrong one; both times it says that all checks pass.

A trial comes out as expected when the honest run is accepted and the lying one refused (`visible_fail`), `verify` says OK of both
records, at least one model call succeeded in each, every request reached the model with the real key, the real key is in
no file of the run directory, of the workspace, of the home and temporary folders and in nothing that was printed, and nine files of
the user's own configuration are what they were. Calls are counted as `verify` counts them: model calls answered well / model calls not
answered well / others / blocked. Tier: nothing was enclosed in these runs.
";

const FOOT: &str = "
Run it yourself: `cargo xtask agents`, or `cargo xtask agents --only llm,pi --check` for some, writing nothing. It needs Node.js, npm,
Python 3, both package registries, and about 5 GB of disk. Whatever these agents call beside a model is not answered here.
";

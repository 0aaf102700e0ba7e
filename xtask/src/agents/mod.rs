//! `cargo xtask agents`: real agents, pinned, under `touchstone run`, against a scripted model on the loopback address.
//!
//! Each agent gets a task that a suite can check. Once the model has it write the right file, once a wrong one, and both
//! times say that all is done. What was seen goes to `examples/agents/results.toml`, and from there into `docs/agents.md`.

mod install;
mod report;
mod stub;
mod table;
mod trial;

pub use report::document;
pub use table::{Agent, agents};

use report::Row;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is asked on the command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// Names of agents; nothing for all.
    only: Vec<String>,
    /// Nothing is written into the repository; an agent that does not do what is expected fails.
    check: bool,
}

/// Reads the arguments behind `agents`.
pub fn ask(words: &[String]) -> Result<Ask, String> {
    let mut ask = Ask::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--check" => ask.check = true,
            "--only" => {
                let names = words.next().ok_or("--only needs names, with commas between them")?;
                ask.only = names.split(',').map(str::to_owned).collect();
            }
            other => return Err(format!("{other}: only --check and --only NAMES are known")),
        }
    }
    Ok(ask)
}

/// Runs the trials and tells on standard output; an error is why that could not be done. True when every trial that
/// could be made came out as expected.
pub fn run(ask: &Ask) -> Result<bool, String> {
    let root = root();
    let all = agents(&root)?;
    let known = |name: &&String| all.iter().any(|agent| agent.name == **name);
    if let Some(name) = ask.only.iter().find(|name| !known(name)) {
        return Err(format!("{name} is not in examples/agents/agents.toml"));
    }
    let wanted: Vec<&Agent> =
        all.iter().filter(|agent| ask.only.is_empty() || ask.only.contains(&agent.name)).collect();
    // A copy: a build beside us takes nothing away from a run.
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let desk = place.path().join("touchstone");
    std::fs::copy(build(&root)?, &desk).map_err(|error| format!("{}: {error}", desk.display()))?;
    let mut rows = Vec::new();
    for agent in wanted {
        for row in trials(&root, &desk, agent)? {
            println!("{}", row.line());
            rows.push(row);
        }
    }
    let all_well = rows.iter().all(|row| row.problems.is_empty());
    if !ask.check {
        report::write(&root, &all, rows)?;
    }
    Ok(all_well)
}

fn trials(root: &Path, desk: &Path, agent: &Agent) -> Result<Vec<Row>, String> {
    let folder = match (install::install(agent), agent.trials.is_empty()) {
        (Ok(folder), false) => folder,
        // Known not to be had: what is expected.
        (Err(why), true) => return Ok(vec![Row::not_installed(agent, why)]),
        (Err(why), false) => {
            let mut row = Row::not_installed(agent, why);
            row.problems.push("it could be installed when the table was written".to_owned());
            return Ok(vec![row]);
        }
        (Ok(_), true) => {
            let mut row = Row::of(agent, "");
            row.problems.push("it can be installed here: give it a trial".to_owned());
            return Ok(vec![row]);
        }
    };
    agent.trials.iter().map(|trial| trial::both(root, desk, agent, trial, &folder)).collect()
}

/// The binary, built now.
fn build(root: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built =
        Command::new(cargo).args(["build", "--quiet", "--package", "touchstone"]).current_dir(root).status();
    match built {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("cargo build: {status}")),
        Err(error) => return Err(format!("cargo build: {error}")),
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("debug/touchstone"))
}

/// The repository.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().unwrap_or(root)
}

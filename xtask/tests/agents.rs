//! The table of real agents, what was seen of them, and the document fit together.
#![allow(clippy::unwrap_used)]

use xtask::agents::{agents, ask, document, root};

#[test]
fn the_document_is_made_from_the_results() {
    let written = std::fs::read_to_string(root().join("docs/agents.md")).unwrap();
    assert_eq!(written, document(&root()).unwrap(), "run `cargo xtask agents`, or undo the edit");
}

/// What the presets say was tried is the version that is tried here, and every agent of the table has its rows.
#[test]
fn presets_trials_and_results_are_of_the_same_versions() {
    let read =
        |name: &str| -> toml::Table { std::fs::read_to_string(root().join(name)).unwrap().parse().unwrap() };
    let presets = read("crates/desk/src/agents/presets.toml");
    let results = read("examples/agents/results.toml");
    let rows = results["row"].as_array().unwrap();
    let all = agents(&root()).unwrap();
    for agent in &all {
        assert!(agent.version.starts_with(|ch: char| ch.is_ascii_digit()), "{} is not pinned", agent.name);
        let of = |row: &&toml::Value| row["agent"].as_str() == Some(&agent.name[..]);
        let versions: Vec<&str> =
            rows.iter().filter(of).map(|row| row["version"].as_str().unwrap()).collect();
        assert_eq!(versions, vec![&agent.version[..]; agent.trials.len().max(1)], "{}", agent.name);
    }
    for preset in presets["agent"].as_array().unwrap() {
        let (name, tried) = (preset["name"].as_str().unwrap(), preset["tried"].as_str().unwrap());
        let agent = all.iter().find(|agent| agent.preset.as_deref() == Some(name));
        assert_eq!(agent.map(|agent| &agent.version[..]), Some(tried), "{name}");
    }
}

#[test]
fn arguments() {
    let of = |words: &[&str]| ask(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    assert!(of(&[]).is_ok() && of(&["--only", "llm,pi", "--check"]).is_ok());
    assert!(of(&["--only"]).is_err() && of(&["--all"]).is_err());
}

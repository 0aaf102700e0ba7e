//! The machine-readable facts in AGENTS.md are compared with the code.

use super::stage::touchstone;
use canon::{Reader, Value};
use desk::sandbox::Level;
use ledger::receipts::Verdict;
use verdict::StopReason;

fn facts() -> Value {
    let text = std::fs::read_to_string(vectors::repository().join("AGENTS.md")).unwrap();
    let block = text.split("```json").nth(1).unwrap().split("```").next().unwrap();
    Reader::strict().read(block.as_bytes()).unwrap()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn stop_reasons_and_exit_codes() {
    let facts = facts();
    let listed = facts.get("stop_reasons").unwrap().as_object().unwrap();
    let mut ours: Vec<(String, i64)> =
        StopReason::ALL.iter().map(|stop| (stop.code().to_owned(), i64::from(stop.exit_code()))).collect();
    let mut theirs: Vec<(String, i64)> =
        listed.iter().map(|(code, exit)| (code.to_owned(), exit.as_i64().unwrap())).collect();
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);
    let verify = facts.get("exit_codes").unwrap().get("verify").unwrap();
    for verdict in [Verdict::Ok, Verdict::Void, Verdict::Broken, Verdict::Unverifiable] {
        assert_eq!(verify.get(verdict.word()).unwrap().as_i64(), Some(i64::from(verdict.exit_code())));
    }
    let usage = touchstone().arg("--no-such-flag").output().unwrap().status.code().map(i64::from);
    assert_eq!(facts.get("exit_codes").unwrap().get("usage").unwrap().as_i64(), usage);
}

#[test]
fn verbs_version_and_limits() {
    let facts = facts();
    let help = String::from_utf8(touchstone().arg("--help").output().unwrap().stdout).unwrap();
    let commands = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let mut verbs: Vec<String> = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .map(str::to_owned)
        .collect();
    verbs.sort();
    assert_eq!(verbs, texts(facts.get("verbs").unwrap()));
    let version = String::from_utf8(touchstone().arg("--version").output().unwrap().stdout).unwrap();
    assert_eq!(version.trim(), format!("touchstone {}", vectors::text(&facts, "version")));
    let levels: Vec<&str> =
        [Level::None, Level::Landlock, Level::Full].iter().map(|level| level.code()).collect();
    assert_eq!(levels, texts(facts.get("sandbox_levels").unwrap()));
    let limits = facts.get("limits").unwrap();
    let payload = ledger::logbook::PAYLOAD_BYTES_MAX as i64;
    assert_eq!(limits.get("payload_bytes_max").unwrap().as_i64(), Some(payload));
    let depth = canon::Limits::default().depth_max as i64;
    assert_eq!(limits.get("json_depth_max").unwrap().as_i64(), Some(depth));
    for option in texts(facts.get("chain_guarantees").unwrap().get("anchor_options").unwrap()) {
        let help = touchstone().args(["verify", "--help"]).output().unwrap().stdout;
        assert!(String::from_utf8(help).unwrap().contains(&option), "{option}");
    }
}

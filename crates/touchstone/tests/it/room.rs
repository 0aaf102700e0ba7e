//! The room and its matrix on the command line.

use super::stage::{touchstone, verify};
use canon::{Reader, Value};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const INPUTS: &str = "{\"tick\":50,\"id\":1,\"verb\":\"come\",\"human\":0}\n\
    {\"tick\":80,\"id\":2,\"verb\":\"move\",\"object\":\"cup\",\"to\":\"surface:window\"}\n";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.jsonl"), INPUTS).unwrap();
    folder
}

fn call(folder: &Path, words: &[&str]) -> Output {
    touchstone().args(words).current_dir(folder).output().unwrap()
}

#[track_caller]
fn exits(folder: &Path, words: &[&str], code: i32) -> String {
    let output = call(folder, words);
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
    said
}

/// Changes the first `from` of a file.
fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn a_run_leaves_a_record_a_log_and_a_signed_receipt() {
    let folder = folder();
    let at = folder.path();
    exits(at, &["key", "new", "keys"], 0);
    let run = ["room", "run", "--index", "3", "--ticks", "2000", "--inputs", "in.jsonl"];
    let files = ["--out", "r.json", "--log", "r.log.gz", "--sign", "keys", "--chain", "c.ndjson", "--json"];
    let output = call(at, &[&run[..], &files[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    let receipt = Reader::strict().read(output.stdout.trim_ascii()).unwrap();
    assert_eq!(vectors::text(&receipt, "evidence_class"), "simulated");
    assert_eq!(vectors::text(receipt.get("verdict").unwrap(), "reason"), "room_contract_held");
    assert_eq!(verify(&at.join("c.ndjson")).1, Some(0));
    exits(at, &["room", "replay", "r.json", "--log", "r.log.gz"], 0);
    // A file that is there is not written over, and nothing is run for it.
    assert!(exits(at, &[&run[..], &["--out", "r.json"]].concat(), 64).contains("exists"));
    let log = exits(at, &["room", "log", "r.log.gz", "--what", "input"], 0);
    assert_eq!(log.lines().count(), 2, "{log}");
    assert_eq!(log, exits(at, &["room", "log", "r.json", "--what", "input"], 0));
}

#[test]
fn what_was_edited_is_named_pc_71_pc_73_pc_75() {
    let folder = folder();
    let at = folder.path();
    let run = ["room", "run", "--ticks", "1300", "--inputs", "in.jsonl", "--out"];
    for name in ["a.json", "shift.json", "cut.json"] {
        exits(at, &[&run[..], &[name]].concat(), 0);
    }
    edit(&at.join("shift.json"), "\"tick\":\"50.000000\"", "\"tick\":\"51.000000\"");
    let said = exits(at, &["room", "replay", "shift.json"], 1);
    assert!(said.contains("room_record_input_edited at inputs.0.tick"), "{said}");
    let text = fs::read(at.join("cut.json")).unwrap();
    fs::write(at.join("cut.json"), &text[..text.len() / 2]).unwrap();
    assert!(exits(at, &["room", "replay", "cut.json"], 1).contains("room_record_unreadable"));
    // A replay takes its inputs from the record; a second source is wrong use.
    exits(at, &["room", "replay", "a.json", "--inputs", "in.jsonl"], 64);
    fs::copy(at.join("a.json"), at.join("who.json")).unwrap();
    edit(&at.join("who.json"), "\"identity\":\"mira\"", "\"identity\":\"niko\"");
    assert!(exits(at, &["room", "replay", "who.json"], 1).contains("room_record_setup_edited"));
    edit(&at.join("in.jsonl"), "surface:window", "surface:workbench");
    exits(at, &[&run[..], &["b.json"]].concat(), 0);
    let said = exits(at, &["room", "diff", "a.json", "b.json"], 1);
    assert!(said.contains("tick 80, phase P2, field seen.recent"), "{said}");
    assert!(exits(at, &["room", "diff", "a.json", "a.json"], 0).contains("no difference"));
}

#[test]
fn a_log_of_another_decision_is_noticed_pc_75() {
    let folder = folder();
    let at = folder.path();
    exits(at, &["room", "run", "--ticks", "400", "--out", "a.json", "--log", "a.log.gz"], 0);
    exits(at, &["room", "run", "--ticks", "400", "--index", "1", "--out", "b.json", "--log", "b.log.gz"], 0);
    let said = exits(at, &["room", "replay", "a.json", "--log", "b.log.gz"], 1);
    assert!(said.contains("the log is not of this run: line "), "{said}");
}

/// A log can be anybody's: nothing in it reaches the terminal as a command to the terminal, and nothing may follow its end.
#[test]
fn a_forged_log_has_no_power_over_the_terminal() {
    let folder = folder();
    let at = folder.path();
    let packed = |name: &str, lines: &[u8]| {
        let mut file = GzEncoder::new(fs::File::create(at.join(name)).unwrap(), Compression::fast());
        file.write_all(lines).unwrap();
        file.finish().unwrap();
    };
    let evil = "\\u001b]0;owned\\u0007\u{9b}2J\u{202e}";
    let forged = |what: &str, members: &str| format!("{{\"tick\":1,\"what\":\"{what}\",{members}}}\n");
    let lines = [
        forged("input", &format!("\"{evil}\":\"{evil}\",\"nested\":[{{\"{evil}\":\"{evil}\"}}]")),
        forged("edge", &format!("\"item\":\"{evil}\",\"label\":\"{evil}\"")),
        forged("safety", &format!("\"channel\":\"{evil}\",\"cause\":[\"{evil}\"]")),
        forged(
            "decision",
            &format!(
                "\"chosen\":\"{evil}\",\"tier\":\"{evil}\",\"candidates\":[{{\"id\":\"{evil}\"}},\
                 {{\"id\":\"{evil}\",\"rejected\":{{\"reason\":\"{evil}\"}}}}]"
            ),
        ),
        forged(evil, "\"a\":1"),
    ];
    packed("evil.gz", lines.concat().as_bytes());
    for json in [&[][..], &["--json"]] {
        let said = exits(at, &[&["room", "log", "evil.gz"], json].concat(), 0);
        assert!(said.lines().count() >= lines.len(), "{said}");
        let hidden = |ch: char| ch != '\n' && (ch.is_control() || ch == '\u{202e}');
        assert!(!said.contains(hidden), "{said:?}");
        assert!(said.contains("owned"), "the text itself is shown: {said}");
    }
    exits(at, &["room", "run", "--ticks", "50", "--out", "r.json", "--log", "r.gz"], 0);
    for tail in ["\n", "garbage", "{}\n"] {
        let mut bytes = fs::read(at.join("r.gz")).unwrap();
        packed("tail.gz", tail.as_bytes());
        bytes.extend(fs::read(at.join("tail.gz")).unwrap());
        fs::write(at.join("longer.gz"), bytes).unwrap();
        let said = exits(at, &["room", "replay", "r.json", "--log", "longer.gz"], 1);
        assert!(said.contains("after the end"), "{tail:?}: {said}");
    }
}

#[test]
fn rooms_of_other_lengths_are_not_equal() {
    let folder = folder();
    let at = folder.path();
    exits(at, &["room", "run", "--ticks", "50", "--out", "a.json"], 0);
    exits(at, &["room", "run", "--ticks", "60", "--out", "b.json"], 0);
    let said = exits(at, &["room", "diff", "a.json", "b.json", "--json"], 1);
    assert!(said.contains("\"equal\":false"), "{said}");
    assert!(exits(at, &["room", "diff", "a.json", "a.json", "--json"], 0).contains("\"equal\":true"));
}

#[test]
fn inputs_and_profiles_that_cannot_be_are_refused_pc_69() {
    let folder = folder();
    let at = folder.path();
    for (line, said) in [
        ("{\"tick\":1,\"id\":1,\"verb\":\"explode\"}", "line 1.verb"),
        ("{\"tick\":1,\"id\":1,\"verb\":\"cue\",\"who\":1}", "line 1.who"),
        ("{\"tick\":9,\"id\":1,\"verb\":\"cue\"}\n{\"tick\":8,\"id\":2,\"verb\":\"cue\"}", "room_input_past"),
        (
            "{\"tick\":8,\"id\":1,\"verb\":\"cue\"}\n{\"tick\":9,\"id\":1,\"verb\":\"cue\"}",
            "room_input_duplicate",
        ),
    ] {
        fs::write(at.join("bad.jsonl"), line).unwrap();
        let answer = exits(at, &["room", "run", "--ticks", "10", "--inputs", "bad.jsonl"], 1);
        assert!(answer.contains(said), "{line}: {answer}");
    }
    // What a mode does not open is counted, and so is what comes after the end.
    fs::write(
        at.join("lab.jsonl"),
        "{\"tick\":2,\"id\":1,\"verb\":\"cancel\"}\n{\"tick\":99,\"id\":2,\"verb\":\"cue\"}\n",
    )
    .unwrap();
    let said = exits(at, &["room", "run", "--ticks", "10", "--inputs", "lab.jsonl"], 0);
    assert!(
        said.contains("inputs refused: 1 of 2") && said.contains("inputs after the end: 1 of 2"),
        "{said}"
    );
    exits(at, &["room", "run", "--ticks", "10", "--out", "none/r.json"], 64);
    exits(at, &["room", "run", "--ticks", "10", "--out", "r", "--log", "r"], 64);
    exits(at, &["room", "run", "--ticks", "10", "--suite", "a\u{1b}b"], 64);
    let reference = vectors::repository().join("profiles/v0-reference.toml");
    fs::copy(reference, at.join("p.toml")).unwrap();
    exits(at, &["room", "profile", "p.toml"], 0);
    edit(&at.join("p.toml"), "proposal_ttl = { value = 60", "proposal_ttl = { value = 6000");
    assert!(exits(at, &["room", "profile", "p.toml"], 1).contains("prof_range at clock.proposal_ttl"));
    exits(at, &["room", "run", "--ticks", "10", "--profile", "p.toml"], 1);
    edit(&at.join("p.toml"), "proposal_ttl", "proposal_tll");
    assert!(exits(at, &["room", "profile", "p.toml"], 1).contains("prof_unknown_key"));
}

// ---------------------------------------------------------------------------------------------- matrix

const RUN: [&str; 8] = ["matrix", "run", "--suite", "V01", "--arm", "V01/main", "--records", "records"];

#[test]
fn the_lint_passes_and_every_scenario_is_listed() {
    let folder = folder();
    exits(folder.path(), &["matrix", "lint"], 0);
    let listed = exits(folder.path(), &["matrix", "list", "--json"], 0);
    let answer = Reader::strict().read(listed.trim().as_bytes()).unwrap();
    for scenario in answer.get("scenarios").and_then(Value::as_array).unwrap() {
        let filled = |name: &str| !scenario.get(name).and_then(Value::as_array).unwrap().is_empty();
        assert!(filled("checks") && filled("needs"), "{}", vectors::text(scenario, "id"));
    }
}

#[test]
fn holdout_needs_a_freeze_record_rc_see_02() {
    let folder = folder();
    let said = exits(folder.path(), &[&RUN[..], &["--seeds", "holdout", "--out", "h"]].concat(), 1);
    assert!(said.contains("matrix_not_frozen"), "{said}");
    // A calibration index of the same scenario needs none; that nothing was held out makes it yellow.
    let one = ["--unit", "V01/main/mira/3", "--out", "c", "--once"];
    exits(folder.path(), &[&RUN[..], &one[..]].concat(), 2);
    let other = exits(folder.path(), &[&RUN[..], &["--unit", "V01/main/mira/4", "--out", "c"]].concat(), 64);
    assert!(other.contains("matrix_other_manifest"), "{other}");
}

/// Killed in the middle and gone on with: the outcomes of a run that was never interrupted.
#[test]
fn a_killed_matrix_goes_on_where_it_was() {
    let folder = folder();
    let at = folder.path();
    let which = ["--indices", "0-2", "--once", "--threads", "1"];
    let words = |out: &'static str| [&RUN[..], &which[..], &["--out", out]].concat();
    exits(at, &words("whole"), 2);
    let outcomes = |out: &str| fs::read_to_string(at.join(out).join("outcomes.jsonl")).unwrap_or_default();
    let mut child = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(words("cut"))
        .current_dir(at)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // As soon as the folder is there: some runs are done, or none.
    while !at.join("cut/manifest.json").exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    exits(at, &words("cut"), 2);
    let sorted = |out: &str| {
        let mut lines: Vec<String> = outcomes(out).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted("cut"), sorted("whole"));
    assert_eq!(sorted("whole").len(), 6);
}

/// What another process came to is asked for by every conclusion: taken away, edited or never made, it is no pass.
#[test]
fn a_second_process_that_is_gone_is_noticed() {
    let folder = folder();
    let at = folder.path();
    let units = ["--unit", "V01/main/mira/3", "--out", "c"];
    let check = |said: &str, word: &str| {
        let line = said.lines().find(|line| line.contains(" OTHER ")).unwrap_or_default();
        assert!(line.starts_with(word), "{word}: {said}");
    };
    check(&exits(at, &[&RUN[..], &units].concat(), 2), "holds");
    let report = ["matrix", "report", "c", "--records", "records", "--out", "p"];
    exits(at, &[&RUN[..], &["--seeds", "holdout", "--out", "h", "--again", " "]].concat(), 64);
    check(&exits(at, &report, 2), "holds");
    // Given twice, a folder is one, and its second process still counts.
    check(&exits(at, &["matrix", "merge", "c", "c", "--records", "records"], 2), "holds");
    let other = at.join("c/second-process.jsonl");
    let whole = fs::read_to_string(&other).unwrap();
    let (before, after) = whole.split_once("\"state_hash\":\"").unwrap();
    let digit = if after.starts_with('0') { "1" } else { "0" };
    fs::write(&other, format!("{before}\"state_hash\":\"{digit}{}", &after[1..])).unwrap();
    check(&exits(at, &report, 1), "failed");
    fs::write(&other, "").unwrap();
    check(&exits(at, &report, 2), "warned");
    fs::remove_file(&other).unwrap();
    check(&exits(at, &report, 2), "warned");
    fs::write(&other, whole).unwrap();
    check(&exits(at, &report, 2), "holds");
}

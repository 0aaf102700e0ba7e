//! The answer of `verify` for people.

use super::{Answer, Checked};
use crate::output::{self, Tone, line, paint};
use canon::{Value, shown};
use ledger::receipts::{ChainFacts, ChainReport, Completeness, TaskEnd, Verdict};
use ledger::{Failure, Mode, Warning};
use std::path::Path;

/// Most warnings and task ends that are listed one by one.
const LISTED_MAX: usize = 8;

/// What belongs to a chain stands below it; a digest of 64 digits still fits the line.
const INDENT: &str = "        ";

fn indented(text: &str) {
    line(&output::hanging(INDENT, text));
}

/// Whether the sub-directories are run directories.
fn holds_runs(folder: &Path) -> bool {
    let inside = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_chain = |name: &std::ffi::OsStr| {
        let name = name.as_encoded_bytes();
        name.starts_with(b"receipts_") && name.ends_with(b".ndjson")
    };
    inside(folder).any(|entry| inside(&entry.path()).any(|file| is_chain(&file.file_name())))
}

pub(super) fn print(answer: &Answer) {
    for one in &answer.checked {
        print_run(one);
    }
    let chains = answer.chains();
    let count = |verdict| chains.iter().filter(|chain| chain.verdict == verdict).count();
    let kinds = [Verdict::Ok, Verdict::Void, Verdict::Broken, Verdict::Unverifiable];
    let parts: Vec<String> = kinds
        .into_iter()
        .filter(|verdict| count(*verdict) > 0)
        .map(|verdict| format!("{} {}", count(verdict), verdict.word()))
        .collect();
    let found = if parts.is_empty() { "no chain found".to_owned() } else { parts.join(", ") };
    let compat = if answer.mode == Mode::PeerCompat { "  (peer compatibility: lenient)" } else { "" };
    line(&format!(
        "{}  {} of {}: {found}{compat}",
        word(answer.verdict),
        plural(chains.len(), "chain"),
        plural(answer.checked.len(), "path")
    ));
}

fn word(verdict: Verdict) -> String {
    let tone = match verdict {
        Verdict::Ok => Tone::Good,
        Verdict::Void => Tone::Warn,
        Verdict::Broken | Verdict::Unverifiable => Tone::Bad,
    };
    paint(&format!("{:<12}", verdict.word()), tone)
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn print_run(one: &Checked) {
    let path = shown(one.target.shown.as_os_str().as_encoded_bytes());
    if one.chains.is_empty() {
        line(&format!("{}  {path}", word(Verdict::Unverifiable)));
        if one.target.problems.is_empty() {
            indented("no receipts_<ARM>.ndjson here: nothing was verified");
            if one.target.shown.is_dir() && holds_runs(&one.target.shown) {
                indented(&format!("did you mean {}/*?", path.trim_end_matches('/')));
            }
        }
    }
    for chain in &one.chains {
        print_chain(&path, chain);
        if let Some(entries) = one.entries.get(&chain.arm) {
            entries.print(INDENT);
        }
    }
    for (file, why) in &one.target.problems {
        indented(&format!("{}: {}", shown(file), shown(why.as_bytes())));
    }
}

fn print_chain(path: &str, chain: &ChainReport) {
    let arm = shown(chain.arm.as_bytes());
    let entries = chain.chain.as_ref().map_or(String::new(), |facts| {
        let failed = if facts.failed_n > 0 { format!(", {} failing", facts.failed_n) } else { String::new() };
        format!("  {}{failed}", plural(facts.entries_n, "entry").replace("entrys", "entries"))
    });
    line(&format!("{}  {path}  {arm}{entries}", word(chain.verdict)));
    if let Some(facts) = &chain.chain {
        print_ends(facts, chain.verdict);
        print_measured(facts, chain.verdict);
    }
    for failure in &chain.failures {
        indented(&describe(failure));
    }
    print_warnings(&chain.warnings);
    if let Some(facts) = &chain.chain {
        print_anchor(chain, facts);
    }
}

fn print_ends(facts: &ChainFacts, verdict: Verdict) {
    // A signature names a key, not the truth (30, boundary 6); a broken chain not even that.
    let who = if verdict == Verdict::Broken { "unproven" } else { "this key said" };
    for end in facts.ends.iter().take(LISTED_MAX) {
        indented(&format!("{who}: {}", describe_end(end)));
    }
    if facts.ends.len() > LISTED_MAX {
        indented(&format!("and {} more tasks", facts.ends.len() - LISTED_MAX));
    }
    if let Some(reason) = &facts.void_reason {
        indented(&format!("void: {}", shown(reason.as_bytes())));
    }
}

/// What was measured beside the verdict: which calls count, and what the agent could reach. Nothing of a broken chain.
fn print_measured(facts: &ChainFacts, verdict: Verdict) {
    if verdict == Verdict::Broken || facts.ends.is_empty() {
        return;
    }
    let calls = facts.calls.as_ref().map_or("calls not recorded".to_owned(), |calls| {
        format!(
            "model calls {} answered, {} failed; other {}, blocked {}",
            calls.model_succeeded_n, calls.model_failed_n, calls.other_n, calls.blocked_n
        )
    });
    let said: Vec<&str> = facts.tiers.keys().map(String::as_str).collect();
    let tier = match said.as_slice() {
        [] => "no tier measured".to_owned(),
        said if facts.tier_inside => format!("tier {}, probed inside", said.join(" and ")),
        said => format!("tier {} said, not probed inside", said.join(" and ")),
    };
    indented(&shown(format!("{calls}; {tier}").as_bytes()));
}

fn describe_end(end: &TaskEnd) -> String {
    let verdict = match (end.void, end.accepted) {
        (true, _) => "void",
        (_, Some(true)) => "accepted",
        (_, Some(false)) => "refused",
        (_, None) => "not judged",
    };
    format!("task {} {verdict} ({})", shown(end.task_id.as_bytes()), shown(end.stop_reason.as_bytes()))
}

fn describe(failure: &Failure) -> String {
    let mut text = paint(failure.reason.code(), Tone::Bad);
    if let Some(seq) = failure.seq {
        text += &format!("  entry {seq}");
    }
    if let Some(number) = failure.line {
        text += &format!("  line {number}");
    }
    if let Some(offset) = failure.offset {
        text += &format!("  byte {offset}");
    }
    for (key, value) in failure.detail.iter() {
        text += &format!("  {key} {}", short(value));
    }
    text
}

/// A value on one line: hashes shortened, foreign text escaped.
fn short(value: &Value) -> String {
    let text = match value {
        Value::Str(text) => text.clone(),
        other => String::from_utf8_lossy(&canon::canonical(other)).into_owned(),
    };
    let clipped: String = text.chars().take(if text.len() == 64 { 12 } else { 60 }).collect();
    let mark = if clipped.len() < text.len() { "…" } else { "" };
    format!("{}{mark}", shown(clipped.as_bytes()))
}

fn print_warnings(warnings: &[(usize, Warning)]) {
    for (number, warning) in warnings.iter().take(LISTED_MAX) {
        let place = if *number > 0 { format!("  line {number}") } else { String::new() };
        indented(&paint(&format!("warning {}{place}", warning.code()), Tone::Warn));
    }
    if warnings.len() > LISTED_MAX {
        indented(&format!("and {} more warnings", warnings.len() - LISTED_MAX));
    }
}

/// What the chain alone cannot say: whose key it is, and whether its end is there.
fn print_anchor(chain: &ChainReport, facts: &ChainFacts) {
    let head = facts.head.map_or_else(String::new, |head| head.to_hex());
    let key = chain.vacant_id.as_deref().unwrap_or("unknown");
    let wrong = chain.failures.iter().any(|failure| failure.reason.code() == "key_not_pinned");
    let pinned = match (chain.pinned, wrong) {
        (true, false) => "pinned",
        (true, true) => "not the pinned key",
        (false, _) => "not pinned; --expect-key says whose it must be",
    };
    let anchored = match chain.completeness {
        Completeness::NotAnchored => "(not anchored: what was cut off the end would not show)",
        Completeness::Anchored => "(anchored)",
        Completeness::Contradicted => "(contradicted by what is known from outside)",
    };
    for text in [format!("key {key} ({pinned})"), format!("head {head}"), anchored.to_owned()] {
        line(&paint(&output::hanging(INDENT, &text), Tone::Quiet));
    }
}

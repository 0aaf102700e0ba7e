//! Markdown, for people and for diffs. Foreign text is plain text: nothing in it is markup.

use super::{Facts, MUTATION_COLUMNS, MUTATIONS_FROM, grouped, interval, signed, word};
use crate::records::{Kind, Record};
use std::fmt::Write as _;

/// The report as Markdown.
pub fn markdown(facts: &Facts<'_>) -> String {
    let mut out = String::new();
    head(&mut out, facts);
    scenarios(&mut out, facts);
    findings(&mut out, facts);
    totals(&mut out, facts);
    measures(&mut out, facts);
    distributions(&mut out, facts);
    coverage(&mut out, facts);
    mutations(&mut out, facts);
    failing(&mut out, facts);
    records(&mut out, facts);
    out
}

/// Writing to a string does not fail.
macro_rules! put {
    ($out:expr, $($part:tt)*) => {{
        let _ = write!($out, $($part)*);
    }};
}

fn head(out: &mut String, facts: &Facts<'_>) {
    let report = &facts.conclusion.report;
    let colour = report.colour();
    put!(out, "# Verification matrix: {}\n\n", plain(&report.subject));
    put!(out, "**{}** (exit {}). ", word(colour), colour.exit_code());
    let (runs, ticks) = (grouped(facts.conclusion.outcomes_n), grouped(facts.ticks()));
    put!(out, "{runs} runs, {ticks} ticks, evidence class `simulated`.\n\n");
    put!(out, "`verdict_hash` {} (`{}`)\n\n", report.verdict_hash(), report.verdict_digest());
    for (name, digest) in &report.evidence {
        put!(out, "* {}: `{digest}`\n", plain(name));
    }
    for note in facts.notes {
        put!(out, "* {}\n", plain(note));
    }
    put!(out, "\nMade {}; the time is no part of the verdict.\n", plain(facts.ts_build));
}

fn table(out: &mut String, title: &str, head: &[&str]) {
    put!(out, "\n## {title}\n\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
}

fn scenarios(out: &mut String, facts: &Facts<'_>) {
    table(
        out,
        "Scenarios",
        &["scenario", "what", "outcome", "runs", "of", "ticks", "real checks", "failures"],
    );
    for judgement in &facts.conclusion.judgements {
        let (made, failed) = judgement.totals();
        put!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            judgement.id,
            plain(judgement.title),
            facts.came(judgement).word(),
            grouped(judgement.ran),
            grouped(judgement.planned),
            grouped(judgement.ticks),
            grouped(made),
            grouped(failed)
        );
    }
}

fn findings(out: &mut String, facts: &Facts<'_>) {
    let checks = &facts.conclusion.report.checks;
    if checks.iter().all(|check| check.findings.is_empty()) {
        return;
    }
    table(out, "Findings", &["where", "reason", "fails", "place", "detail"]);
    for (check, finding) in checks.iter().flat_map(|check| check.findings.iter().map(move |one| (check, one)))
    {
        let fails = if finding.fails { "yes" } else { "no" };
        let (place, detail) = (plain(&finding.place), plain(&finding.detail));
        put!(out, "| {} | `{}` | {fails} | {place} | {detail} |\n", check.id, finding.reason);
    }
}

fn totals(out: &mut String, facts: &Facts<'_>) {
    table(out, "Checks", &["scenario", "check", "really made", "in runs", "of", "failed", "allowed"]);
    for judgement in &facts.conclusion.judgements {
        for (check, total) in &judgement.checks {
            let made = if total.made == 0 { "unchecked".to_owned() } else { grouped(total.made) };
            let numbers = [total.runs, judgement.ran, total.failed, total.allowed].map(grouped).join(" | ");
            put!(out, "| {} | {} | {made} | {numbers} |\n", judgement.id, plain(check));
        }
    }
}

fn measures(out: &mut String, facts: &Facts<'_>) {
    let measured = facts.measured();
    if measured.is_empty() {
        return;
    }
    table(
        out,
        "Measures, with intervals of 95 %",
        &["scenario", "measure", "counts", "value [lower, upper]"],
    );
    for one in &measured {
        let value = one.interval.map_or_else(|| "of nothing".to_owned(), interval);
        put!(out, "| {} | {} | {} | {value} |\n", one.scenario, plain(one.name()), plain(&one.counts()));
    }
}

fn distributions(out: &mut String, facts: &Facts<'_>) {
    let series = facts.series();
    if series.is_empty() {
        return;
    }
    let head = ["scenario", "count", "runs of", "n", "minimum", "quartile", "median", "quartile", "maximum"];
    table(out, "Distributions over all seeds", &head);
    for (one, group) in series.iter().flat_map(|one| one.groups.iter().map(move |group| (one, group))) {
        let five = group.distribution.five().map(signed).join(" | ");
        let (name, label, n) = (plain(&one.name), plain(&group.label), group.values.len());
        put!(out, "| {} | {name} | {label} | {n} | {five} |\n", plain(&one.scenario));
    }
}

fn coverage(out: &mut String, facts: &Facts<'_>) {
    table(out, "Situations reached", &["scenario", "situation", "in runs", "of"]);
    for judgement in &facts.conclusion.judgements {
        for (situation, runs) in &judgement.reached {
            let runs = if *runs == 0 { "**never**".to_owned() } else { grouped(*runs) };
            put!(out, "| {} | {} | {runs} | {} |\n", judgement.id, plain(situation), grouped(judgement.ran));
        }
    }
}

fn mutations(out: &mut String, facts: &Facts<'_>) {
    if facts.mutations.is_empty() {
        out.push_str("\n## Planted faults\n\nNot run for this report.\n");
        return;
    }
    table(out, "Planted faults", &MUTATION_COLUMNS);
    for one in facts.mutations {
        let caught: Vec<&str> = one.caught_by.iter().map(String::as_str).collect();
        let caught = match caught.is_empty() {
            true if one.beside.is_empty() => "**nothing**".to_owned(),
            true => "no scenario".to_owned(),
            false => plain(&caught.join(", ")),
        };
        let beside = plain(&one.beside);
        let blamed = one.blamed.as_deref().map_or_else(String::new, plain);
        let (name, what, planted) = (plain(&one.name), plain(&one.what), plain(&one.planted));
        put!(out, "| {name} | {planted} | {caught} | {what} | {beside} | {blamed} |\n");
    }
    let caught = facts.mutations.iter().filter(|one| one.is_caught()).count();
    let right = facts.mutations.iter().filter(|one| one.is_blamed_right()).count();
    let n = facts.mutations.len();
    put!(
        out,
        "\n{caught} of {n} turned a scenario red, {right} were blamed on the place where they were planted. "
    );
    put!(out, "{MUTATIONS_FROM}\n");
}

fn failing(out: &mut String, facts: &Facts<'_>) {
    let (listed, n) = facts.failing();
    if n == 0 {
        return;
    }
    put!(out, "\n## Failing runs\n\n{n} in all; each line makes one again.\n\n");
    for one in &listed {
        put!(
            out,
            "* {}: {}\n\n  ```\n  {}\n  ```\n",
            plain(&one.unit),
            plain(&one.what),
            one_line(&one.command)
        );
    }
    if n > listed.len() {
        put!(out, "\n{} more are in the run folder.\n", n - listed.len());
    }
}

fn records(out: &mut String, facts: &Facts<'_>) {
    table(out, "Signed records", &["number", "what", "gate hash", "signed by", "entry hash", "says"]);
    for record in facts.records {
        let (what, gate) = (record.kind.entry(), plain(record.text("gate_hash")));
        let (number, signer, head) = (record.number, plain(&record.signer), record.head);
        put!(out, "| {number} | {what} | {gate} | {signer} | `{head}` | {} |\n", plain(&says(record)));
    }
    if facts.records.is_empty() {
        out.push_str("\nNothing was frozen.\n");
    }
}

/// What a record says, in a few words.
pub(super) fn says(record: &Record) -> String {
    match record.kind {
        Kind::Freeze => format!("configuration {}", record.text("config_hash")),
        Kind::Holdout => match record.text("again") {
            "" => format!("run {} takes shard {}", record.text("run_id"), record.text("shard")),
            why => format!("run {} runs shard {} again: {why}", record.text("run_id"), record.text("shard")),
        },
        Kind::Run => {
            let reason = record.payload.get("verdict").and_then(|verdict| verdict.get("reason")?.as_str());
            let outcomes = record.natural("outcomes_n").unwrap_or_default();
            let (reason, hash) = (reason.unwrap_or_default(), record.text("verdict_hash"));
            format!("run {}: {reason}, {outcomes} outcomes, verdict {hash}", record.text("run_id"))
        }
    }
}

/// One line, and nothing in it is Markdown or HTML.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for ch in one_line(text).chars() {
        if "`*_[]<>|~&#\\".contains(ch) {
            out.push('\\');
        }
        out.push(ch);
    }
    out
}

/// One line without characters that only a terminal understands; no fence of a code block ends in it.
fn one_line(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    canon::shown(text.as_bytes()).replace("```", "'''")
}

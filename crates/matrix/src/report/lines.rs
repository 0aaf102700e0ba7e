//! JSON Lines, for machines: one fact a line, each with its `kind`. Intervals are decimal text (ruling 6).

use super::{Facts, Measured, decimal};
use crate::gate::Judgement;
use crate::mutation::Mutation;
use crate::records::Record;
use ::verdict::report::{Check, Finding};
use canon::{Object, Value, canonical};

/// The report as JSON Lines.
pub fn json_lines(facts: &Facts<'_>) -> Vec<u8> {
    let report = &facts.conclusion.report;
    let mut lines = vec![head(facts)];
    lines.extend(report.checks.iter().flat_map(|check| checks(check, report.layer)));
    lines.extend(facts.conclusion.judgements.iter().flat_map(|judgement| judged(facts, judgement)));
    lines.extend(facts.measured().iter().map(measure));
    for series in facts.series() {
        lines.extend(series.groups.iter().map(|group| {
            Object::new()
                .with("kind", "distribution")
                .with("scenario", series.scenario.as_str())
                .with("name", series.name.as_str())
                .with("group", group.label.as_str())
                .with("five", group.distribution.five().to_vec())
                .with("values", group.distribution.sorted.clone())
        }));
    }
    let (failing, n) = facts.failing();
    lines.extend(failing.into_iter().map(|one| {
        Object::new()
            .with("kind", "failing")
            .with("unit", one.unit)
            .with("what", one.what)
            .with("command", one.command)
    }));
    lines.push(Object::new().with("kind", "failing_n").with("n", n as u64));
    lines.extend(facts.mutations.iter().map(mutation));
    lines.extend(facts.records.iter().map(record));
    let mut out = Vec::new();
    for line in lines {
        out.extend(canonical(&line.into()));
        out.push(b'\n');
    }
    out
}

fn head(facts: &Facts<'_>) -> Object {
    let report = &facts.conclusion.report;
    let mut evidence = Object::new();
    report.evidence.iter().for_each(|(name, digest)| evidence.set(name, *digest));
    Object::new()
        .with("kind", "verdict")
        .with("subject", report.subject.as_str())
        .with("colour", report.colour().word())
        .with("exit", u64::from(report.colour().exit_code()))
        .with("verdict_hash", report.verdict_hash())
        .with("verdict_digest", report.verdict_digest())
        .with("evidence_class", ::verdict::evidence::EvidenceClass::Simulated.word())
        .with("evidence", evidence)
        .with("runs", facts.conclusion.outcomes_n)
        .with("ticks", facts.ticks())
        .with("notes", facts.notes.to_vec())
        .with("ts_build", facts.ts_build)
}

fn checks(check: &Check, layer: &'static str) -> Vec<Object> {
    let whole = Object::new()
        .with("kind", "check")
        .with("id", check.id)
        .with("title", check.title)
        .with("outcome", check.outcome().word())
        .with("looked_at", check.looked_at)
        .with("unit", check.unit);
    let finding = |finding: &Finding| {
        let triple = finding.triple(layer);
        Object::new()
            .with("kind", "finding")
            .with("check", check.id)
            .with("action", triple.action.word())
            .with("layer", triple.layer)
            .with("reason", triple.reason)
            .with("place", finding.place.as_str())
            .with("detail", finding.detail.as_str())
    };
    [whole].into_iter().chain(check.findings.iter().map(finding)).collect()
}

fn judged(facts: &Facts<'_>, judgement: &Judgement) -> Vec<Object> {
    let mut lines = vec![
        Object::new()
            .with("kind", "scenario")
            .with("id", judgement.id)
            .with("title", judgement.title)
            .with("outcome", facts.came(judgement).word())
            .with("planned", judgement.planned)
            .with("ran", judgement.ran)
            .with("ticks", judgement.ticks),
    ];
    lines.extend(judgement.checks.iter().map(|(check, total)| {
        Object::new()
            .with("kind", "total")
            .with("scenario", judgement.id)
            .with("check", check.as_str())
            .with("made", total.made)
            .with("runs", total.runs)
            .with("failed", total.failed)
            .with("allowed", total.allowed)
    }));
    lines.extend(judgement.reached.iter().map(|(situation, runs)| {
        Object::new()
            .with("kind", "reached")
            .with("scenario", judgement.id)
            .with("situation", situation.as_str())
            .with("runs", *runs)
            .with("of", judgement.ran)
    }));
    lines
}

fn measure(measured: &Measured<'_>) -> Object {
    let interval = measured.interval.map(|interval| {
        Object::new()
            .with("value", decimal(interval.value))
            .with("lower", decimal(interval.lower))
            .with("upper", decimal(interval.upper))
    });
    Object::new()
        .with("kind", "measure")
        .with("scenario", measured.scenario)
        .with("name", measured.name())
        .with("counts", measured.measure.value())
        .with("interval", interval)
}

fn mutation(mutation: &Mutation) -> Object {
    Object::new()
        .with("kind", "mutation")
        .with("name", mutation.name.as_str())
        .with("what", mutation.what.as_str())
        .with("planted", mutation.planted.as_str())
        .with("caught_by", mutation.caught_by.iter().map(String::as_str).collect::<Vec<_>>())
        .with("beside", mutation.beside.as_str())
        .with("blamed", mutation.blamed.as_deref())
}

fn record(record: &Record) -> Object {
    Object::new()
        .with("kind", "record")
        .with("number", record.number)
        .with("type", record.kind.entry())
        .with("head", record.head)
        .with("signer", record.signer.as_str())
        .with("ts_ms", record.ts_ms)
        .with("payload", Value::Object(record.payload.clone()))
}

//! The ten checks.

use super::{Fault, Instruments, Subject};
use crate::host_class;
use canon::replay::{Canonicaliser, Document, Table, each_tampered, respelled};
use canon::{Digest, Object, Value};
use std::collections::BTreeMap;
use verdict::golden::Golden;
use verdict::judge::{self, Judgement, Run};
use verdict::registry;
use verdict::report::{Check, Colour, Finding, Report};

/// The checklist of the specification, section 7: number, what, and what is counted.
const LIST: [(&str, &str, &str); 10] = [
    ("D1", "field table public, unknown fields counted", "paths"),
    ("D2", "lists of objects have an order", "paths"),
    ("D3", "numbers are integers or text and have one spelling", "numbers"),
    ("D4", "independent runs agree", "runs"),
    ("D5", "every change of a repro leaf is seen", "changes"),
    ("D6", "golden values are hit", "golden values"),
    ("D7", "every verdict has action, layer and a registered reason", "verdicts"),
    ("D8", "receipts say where they come from", "receipts"),
    ("D9", "the verdict hash is reproducible, ts_build outside", "conclusions"),
    ("D10", "exit codes are 0, 1 and 2", "colours"),
];

/// Checks under way, by id.
pub(super) struct Checks {
    registry: BTreeMap<String, registry::Reason>,
    open: BTreeMap<&'static str, (u64, Vec<Finding>, Vec<String>)>,
    evidence: Vec<(String, Digest)>,
}

impl Fault {
    fn at(self, place: String, detail: impl Into<String>) -> Finding {
        Finding { reason: self.code(), place, detail: detail.into(), fails: true }
    }
}

impl Checks {
    pub(super) fn new() -> Checks {
        Checks { registry: registry::all(), open: BTreeMap::new(), evidence: Vec::new() }
    }

    fn add(&mut self, id: &'static str, looked_at: u64, findings: impl IntoIterator<Item = Finding>) {
        let open = self.open.entry(id).or_default();
        open.0 += looked_at;
        open.1.extend(findings);
    }

    /// D1 to D8 over one subject.
    pub(super) fn take(&mut self, subject: &Subject, instruments: &Instruments) {
        let place = subject.name.to_owned();
        let table = match subject.table.as_deref().map(Table::parse) {
            Some(Ok(table)) => table,
            Some(Err(error)) => {
                return self.add(
                    "D1",
                    0,
                    [Fault::NoTable.at(place, format!("{}: {}", error.fault.code(), error.detail))],
                );
            }
            None => return self.add("D1", 0, [Fault::NoTable.at(place, "there is no field table")]),
        };
        let runs: Vec<Run<'_>> = match subject.runs.iter().map(crate::load::RunBytes::read).collect() {
            Ok(runs) => runs,
            Err(problem) => return self.add("D4", 0, [Fault::NotJudged.at(place, problem.code())]),
        };
        let golden = subject.golden.as_deref().map(Golden::parse).transpose();
        let golden = match golden {
            Ok(golden) => golden.filter(|golden| golden.table == table.digest()),
            Err(_) => None,
        };
        match judge::judge(subject.name, &table, &runs, golden.as_ref(), &host_class()) {
            Ok(judgement) => self.judged(subject.name, judgement),
            Err(refused) => {
                return self.add(
                    "D4",
                    0,
                    [Fault::NotJudged.at(place, format!("{}: {}", refused.refusal.code(), refused.detail))],
                );
            }
        }
        let disclosed = subject.disclosed.iter().map(|what| format!("{}: {what}", subject.name));
        self.open.entry("D8").or_default().2.extend(disclosed);
        for document in runs[0].tasks.values().flat_map(Document::receipts) {
            self.numbers(subject.name, &table, &document, instruments);
            self.hash_sees(subject.name, &table, &document, instruments);
        }
        for document in runs.iter().flat_map(|run| run.tasks.values()).flat_map(Document::receipts) {
            self.verdict(subject.name, &document);
        }
    }

    /// What the judge says goes to the line of the checklist that it belongs to.
    fn judged(&mut self, name: &str, judgement: Judgement) {
        self.evidence.extend(
            judgement.report.evidence.into_iter().map(|(what, digest)| (format!("{name}: {what}"), digest)),
        );
        for check in judgement.report.checks {
            let (id, looked_at) = match check.id {
                "D1" | "D2" | "D4" | "D6" | "D8" => (check.id, check.looked_at),
                // Each change is hashed from the start below and counted there, once. No leak and a physical
                // difference say whether dropping works, and count nothing here.
                "D5" | "S-3" => ("D5", 0),
                _ => ("D4", 0),
            };
            let here = |finding: Finding| Finding { place: format!("{name}: {}", finding.place), ..finding };
            self.add(id, looked_at, check.findings.into_iter().map(here));
            let notes = check.notes.into_iter().map(|note| format!("{name}: {note}"));
            self.open.entry(id).or_default().2.extend(notes);
        }
    }

    /// D3: no float in what we sign or hash (ruling 6), and no spelling of a number that reaches the hash.
    fn numbers(&mut self, name: &str, table: &Table, document: &Document<'_>, instruments: &Instruments) {
        let value = document.to_value();
        let float = canon::lint_no_floats(&value).err();
        let (count, text) = respelled(&mut Canonicaliser::new(table), document);
        let same = (instruments.hash)(table, document.to_json().as_bytes())
            == (instruments.hash)(table, text.as_bytes());
        let float = float.map(|float| Fault::Float.at(format!("{name}: {}", float.path), "a binary float"));
        let spelling = (!same).then(|| Fault::Spelling.at(name.to_owned(), "1 and 1e0 have two hashes"));
        self.add("D3", count, float.into_iter().chain(spelling));
    }

    /// D5 once more, with the whole text of every changed receipt and the hash that was handed in.
    fn hash_sees(&mut self, name: &str, table: &Table, document: &Document<'_>, instruments: &Instruments) {
        let before = (instruments.hash)(table, document.to_json().as_bytes());
        let mut unseen = Vec::new();
        let mut changes = 0;
        each_tampered(&mut Canonicaliser::new(table), document, &mut |path, text| {
            changes += 1;
            if before.is_none() || (instruments.hash)(table, text.as_bytes()) == before {
                unseen.push(path.to_owned());
            }
        });
        let finding = |path: String| Finding {
            reason: judge::Fault::Insensitive.code(),
            place: format!("{name}: {path}"),
            detail: "a change here does not change the hash".to_owned(),
            fails: true,
        };
        self.add("D5", changes, unseen.into_iter().map(finding));
    }

    /// D7: V-1, V-5 and V-6 of the verdict in a receipt.
    fn verdict(&mut self, name: &str, document: &Document<'_>) {
        let value = document.to_value();
        let verdict = value.get("verdict").and_then(Value::as_object);
        let finding = match verdict.map(triple) {
            Some(Some((action, reason))) if !self.registry.contains_key(reason) => {
                Some(Fault::UnregisteredReason.at(name.to_owned(), format!("{action} {reason}")))
            }
            Some(Some(("block", reason))) if unexplained(&value) => Some(
                Fault::BlockUnexplained
                    .at(name.to_owned(), format!("block {reason} names nothing that was hit")),
            ),
            Some(Some(_)) => None,
            _ => Some(
                Fault::VerdictShape.at(name.to_owned(), "no verdict of exactly action, layer and reason"),
            ),
        };
        self.add("D7", 1, finding);
    }

    pub(super) fn report(mut self, subjects: &[Subject], instruments: &Instruments) -> Report {
        let names: Vec<&str> = subjects.iter().map(|subject| subject.name).collect();
        let mut report = Report {
            subject: format!("touchstone: {}", names.join(", ")),
            layer: "judge",
            grade: None,
            evidence: std::mem::take(&mut self.evidence),
            checks: Vec::new(),
        };
        for (id, title, unit) in &LIST[..8] {
            let (looked_at, findings, notes) = self.open.remove(id).unwrap_or_default();
            report.checks.push(Check::new(id, title, looked_at, unit).with(findings).noting(notes));
        }
        report.checks.push(reproducible(&report, instruments));
        report.checks.push(exits(instruments));
        report
    }
}

/// Action and reason of a verdict that has the right shape.
fn triple(verdict: &Object) -> Option<(&str, &str)> {
    let text = |name: &str| verdict.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (action, _, reason) = (text("action")?, text("layer")?, text("reason")?);
    (verdict.len() == 3 && ["allow", "advise", "block"].contains(&action)).then_some((action, reason))
}

/// A receipt that blocks names the pattern, member or check that was hit, beside the verdict.
fn unexplained(receipt: &Value) -> bool {
    let empty = |value: &Value| match value {
        Value::Str(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null => true,
        _ => false,
    };
    ["hit", "failures", "reasons", "trouble"].iter().all(|name| receipt.get(name).is_none_or(empty))
}

/// D9: the hash of the conclusion so far does not move with the time of building, and does with the conclusion.
fn reproducible(report: &Report, instruments: &Instruments) -> Check {
    let (_, title, unit) = LIST[8];
    let (now, later) = ((instruments.conclude)(report, "1"), (instruments.conclude)(report, "2"));
    let mut other = report.clone();
    other.subject.push('.');
    let moved = (instruments.conclude)(&other, "1") != now;
    let finding = (now != later || !moved).then(|| {
        Fault::VerdictHash.at(String::new(), "it moves with ts_build, or does not move with the conclusion")
    });
    Check::new("D9", title, 3, unit).with(finding)
}

/// D10.
fn exits(instruments: &Instruments) -> Check {
    let (_, title, unit) = LIST[9];
    let wrong = [(Colour::Green, 0), (Colour::Red, 1), (Colour::Yellow, 2)].into_iter().filter_map(
        |(colour, code)| {
            let found = (instruments.exit)(colour);
            (found != code).then(|| {
                Fault::ExitCodes.at(colour.word().to_owned(), format!("ends with {found}, not {code}"))
            })
        },
    );
    Check::new("D10", title, 3, unit).with(wrong)
}

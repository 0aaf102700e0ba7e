//! The report of a judgement: checks with findings, one conclusion, one reproducible hash (section 7).

use crate::stop::{Action, Triple};
use canon::replay::{Canonicaliser, Document, Table};
use canon::{Digest, Limits, Object, Value, canonical};

/// How a check came out. "Not measured" is a result of its own and never a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Everything that was looked at holds.
    Holds,
    /// There was nothing to look at.
    Unchecked,
    /// An honesty or unknown-field warning.
    Warned,
    /// It does not hold.
    Failed,
}

impl Outcome {
    /// The word of the report.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Holds => "holds",
            Outcome::Unchecked => "unchecked",
            Outcome::Warned => "warned",
            Outcome::Failed => "failed",
        }
    }
}

/// What a report comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    /// Every check holds.
    Green,
    /// Something was warned about, or not checked.
    Yellow,
    /// A check failed.
    Red,
}

impl Colour {
    /// The word of the report.
    pub fn word(self) -> &'static str {
        match self {
            Colour::Green => "green",
            Colour::Yellow => "yellow",
            Colour::Red => "red",
        }
    }

    /// Exit code of `conform` and `attest` (ruling 7).
    pub fn exit_code(self) -> u8 {
        match self {
            Colour::Green => 0,
            Colour::Red => 1,
            Colour::Yellow => 2,
        }
    }
}

/// One thing that a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The reason code.
    pub reason: &'static str,
    /// Where: a path of a receipt, a file, a case. Empty when it is about the whole.
    pub place: String,
    /// Words for people; not part of the conclusion.
    pub detail: String,
    /// Whether it fails the check or only warns.
    pub fails: bool,
}

impl Finding {
    /// The triple that the whole product uses (V-1, V-7).
    pub fn triple(&self, layer: &'static str) -> Triple {
        Triple { action: if self.fails { Action::Block } else { Action::Advise }, layer, reason: self.reason }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// `D1` to `D10`, `S-2` and so on: the clause.
    pub id: &'static str,
    /// What is checked.
    pub title: &'static str,
    /// How many things were looked at, and what they are: the denominator.
    pub looked_at: u64,
    /// Their name, plural.
    pub unit: &'static str,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What is worth knowing beside that. Words for people; not part of the conclusion.
    pub notes: Vec<String>,
}

impl Check {
    /// A check over `looked_at` things.
    pub fn new(id: &'static str, title: &'static str, looked_at: u64, unit: &'static str) -> Check {
        Check { id, title, looked_at, unit, findings: Vec::new(), notes: Vec::new() }
    }

    /// The same with what was found.
    #[must_use]
    pub fn with(mut self, findings: impl IntoIterator<Item = Finding>) -> Check {
        self.findings.extend(findings);
        self
    }

    /// The same with words beside it.
    #[must_use]
    pub fn noting(mut self, notes: impl IntoIterator<Item = String>) -> Check {
        self.notes.extend(notes);
        self
    }

    /// The unit, in the singular for one.
    pub fn unit_for_count(&self) -> &'static str {
        match (self.looked_at, self.unit) {
            (1, "pairs of runs") => "pair of runs",
            (1, unit) => unit.strip_suffix('s').unwrap_or(unit),
            (_, unit) => unit,
        }
    }

    /// How it came out. A check over nothing is unchecked.
    pub fn outcome(&self) -> Outcome {
        if self.findings.iter().any(|finding| finding.fails) {
            Outcome::Failed
        } else if !self.findings.is_empty() {
            Outcome::Warned
        } else if self.looked_at == 0 {
            Outcome::Unchecked
        } else {
            Outcome::Holds
        }
    }

    /// The part of the conclusion.
    fn conclusion(&self, layer: &'static str) -> Value {
        let finding = |finding: &Finding| {
            let triple = finding.triple(layer);
            Object::new()
                .with("action", triple.action.word())
                .with("layer", triple.layer)
                .with("reason", triple.reason)
                .with("place", finding.place.as_str())
        };
        Object::new()
            .with("id", self.id)
            .with("title", self.title)
            .with("outcome", self.outcome().word())
            .with("looked_at", self.looked_at)
            .with("unit", self.unit)
            .with("findings", self.findings.iter().map(finding).collect::<Vec<_>>())
            .into()
    }
}

/// A whole report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What was judged.
    pub subject: String,
    /// Which part of the product judged: the layer of every triple.
    pub layer: &'static str,
    /// The grade, where one is given.
    pub grade: Option<&'static str>,
    /// Names and digests of what the conclusion rests on.
    pub evidence: Vec<(String, Digest)>,
    /// The checks.
    pub checks: Vec<Check>,
}

/// The field table of a conclusion. Checks keep their order, which is the order of the checklist.
const CONCLUSION: &str = "version = 1\nscale = 0\n[fields]\n'*' = 'repro'\n\
    [lists]\nchecks = { order = 'sequence' }\nfindings = { order = 'set' }\nevidence = { order = 'key', keys = ['name'] }\n";

impl Report {
    /// Green only when every check holds; a report without checks says nothing and is red.
    pub fn colour(&self) -> Colour {
        match self.checks.iter().map(Check::outcome).max() {
            None | Some(Outcome::Failed) => Colour::Red,
            Some(Outcome::Warned | Outcome::Unchecked) => Colour::Yellow,
            Some(Outcome::Holds) => Colour::Green,
        }
    }

    /// What the report concludes: everything but words, times and places on this machine.
    pub fn conclusion(&self) -> Value {
        let evidence = |(name, digest): &(String, Digest)| {
            Object::new().with("name", name.as_str()).with("digest", *digest)
        };
        Object::new()
            .with("subject", self.subject.as_str())
            .with("grade", self.grade)
            .with("colour", self.colour().word())
            .with("exit", u64::from(self.colour().exit_code()))
            .with("evidence", self.evidence.iter().map(evidence).collect::<Vec<_>>())
            .with("checks", self.checks.iter().map(|check| check.conclusion(self.layer)).collect::<Vec<_>>())
            .into()
    }

    /// `verdict_hash`: the whole digest of the conclusion in replay form. `ts_build` is no part of it (section 7).
    pub fn verdict_digest(&self) -> Digest {
        let bytes = canonical(&self.conclusion());
        let form = Table::parse(CONCLUSION).ok().and_then(|table| {
            let document = Document::json(&bytes, Limits::default()).ok()?;
            Canonicaliser::new(&table).form(&document).ok()
        });
        // Both are ours; a fault of this build must not look like a digest of something.
        form.map_or(Digest::ZERO, |form| form.digest())
    }

    /// The short form of [`Report::verdict_digest`].
    pub fn verdict_hash(&self) -> String {
        let mut hex = self.verdict_digest().to_hex();
        hex.truncate(16);
        hex
    }

    /// `attestation.jsonl`: one check a line, then one line of the whole.
    pub fn to_json_lines(&self, ts_build: &str) -> Vec<u8> {
        let mut out = Vec::new();
        for check in &self.checks {
            let mut line = check.conclusion(self.layer);
            if let Value::Object(object) = &mut line {
                object.set(
                    "details",
                    check.findings.iter().map(|finding| finding.detail.as_str()).collect::<Vec<_>>(),
                );
            }
            out.extend(canonical(&line));
            out.push(b'\n');
        }
        let mut whole = match self.conclusion() {
            Value::Object(object) => object,
            _ => Object::new(),
        };
        whole.remove("checks");
        whole.set("verdict_hash", self.verdict_hash());
        whole.set("verdict_digest", self.verdict_digest());
        whole.set("ts_build", ts_build);
        out.extend(canonical(&whole.into()));
        out.push(b'\n');
        out
    }

    /// `attestation.md`, for people.
    pub fn to_markdown(&self, ts_build: &str) -> String {
        let mut out = format!("# Attestation of {}\n\n", plain(&self.subject));
        let grade = self.grade.map(|grade| format!(" Grade **{grade}**.")).unwrap_or_default();
        let colour = self.colour();
        out.push_str(&format!("**{}** (exit {}).{grade}\n\n", colour.word(), colour.exit_code()));
        out.push_str("| check | what | outcome | looked at | findings |\n|---|---|---|---|---|\n");
        for check in &self.checks {
            out.push_str(&format!(
                "| {} | {} | {} | {} {} | {} |\n",
                check.id,
                check.title,
                check.outcome().word(),
                check.looked_at,
                check.unit_for_count(),
                check.findings.len()
            ));
        }
        for check in self.checks.iter().filter(|check| !check.findings.is_empty() || !check.notes.is_empty())
        {
            out.push_str(&format!("\n## {} {}\n\n", check.id, check.title));
            for finding in &check.findings {
                let place = if finding.place.is_empty() {
                    String::new()
                } else {
                    format!(" at {}", plain(&finding.place))
                };
                out.push_str(&format!("* `{}`{place}: {}\n", finding.reason, plain(&finding.detail)));
            }
            for note in &check.notes {
                out.push_str(&format!("* {}\n", plain(note)));
            }
        }
        if !self.evidence.is_empty() {
            out.push_str("\n## What it rests on\n\n| name | SHA-256 |\n|---|---|\n");
            for (name, digest) in &self.evidence {
                out.push_str(&format!("| {} | `{digest}` |\n", plain(name)));
            }
        }
        out.push_str(&format!(
            "\n`verdict_hash` {} (`{}`) follows from the conclusion alone; `ts_build` {ts_build} is no part of it.\n",
            self.verdict_hash(),
            self.verdict_digest()
        ));
        out
    }
}

/// Somebody else's text in a page: one line, and nothing in it is Markdown or HTML.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for ch in canon::shown(text.as_bytes()).chars() {
        if "`*_[]<>|~&#\\".contains(ch) {
            out.push('\\');
        }
        out.push(ch);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let warned = Finding {
            reason: "judge_unknown_field",
            place: "a".into(),
            detail: "3 times".into(),
            fails: false,
        };
        let checks = vec![
            Check::new("D1", "fields", 3, "fields").with([warned]),
            Check::new("D4", "runs agree", 2, "runs"),
        ];
        Report { subject: "x".into(), layer: "judge", grade: Some("sampled"), evidence: Vec::new(), checks }
    }

    #[test]
    fn a_check_over_nothing_never_holds() {
        assert_eq!(Check::new("D1", "fields", 0, "fields").outcome(), Outcome::Unchecked);
        assert_eq!(Report { checks: Vec::new(), ..report() }.colour(), Colour::Red);
        let nothing = Report { checks: vec![Check::new("D1", "fields", 0, "fields")], ..report() };
        assert_eq!(nothing.colour().exit_code(), 2);
    }

    #[test]
    fn the_hash_follows_the_conclusion_and_nothing_else() {
        let hash = report().verdict_hash();
        assert_ne!(report().verdict_digest(), Digest::ZERO);
        let mut words = report();
        words.checks[0].findings[0].detail = "other words".into();
        assert_eq!(words.verdict_hash(), hash);
        let mut place = report();
        place.checks[0].findings[0].place = "b".into();
        assert_ne!(place.verdict_hash(), hash);
        let mut count = report();
        count.checks[1].looked_at = 3;
        assert_ne!(count.verdict_hash(), hash);
        let mut failed = report();
        failed.checks[0].findings[0].fails = true;
        assert_ne!(failed.verdict_hash(), hash);
        assert_eq!(failed.colour(), Colour::Red);
        let mut grade = report();
        grade.grade = Some("full");
        assert_ne!(grade.verdict_hash(), hash);
    }

    #[test]
    fn nothing_in_a_page_is_somebody_elses_markup() {
        let mut hostile = report();
        hostile.subject = "x\n\n**green** (exit 0)".into();
        hostile.checks[0].findings[0].place = "a`b | <script>\n# D9".into();
        hostile.checks[0].findings[0].detail = "[link](http://h) \x1b[2J".into();
        let page = hostile.to_markdown("T");
        assert!(
            !page.contains("\n**green**") && !page.contains("<script>") && !page.contains("\n# D9"),
            "{page}"
        );
        assert!(!page.contains("[link]") && !page.contains('\x1b'), "{page}");
    }

    #[test]
    fn both_texts_carry_hash_and_time() {
        let (lines, page) = (report().to_json_lines("T"), report().to_markdown("T"));
        let lines = String::from_utf8(lines).unwrap();
        assert_eq!(lines.lines().count(), 3);
        for text in [&lines, &page] {
            assert!(
                text.contains(&report().verdict_hash()) && text.contains("judge_unknown_field"),
                "{text}"
            );
        }
        assert_eq!(
            report().to_json_lines("T2").len(),
            report().to_json_lines("T").len() + 1,
            "only the time differs"
        );
    }
}

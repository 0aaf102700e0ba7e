//! The judge: is this runtime reproducible, and does its hash mean anything (sections 3, 4 and 8)?

use crate::evidence::{self, Dishonesty};
use crate::golden::{Golden, Hit};
use crate::report::{Check, Colour, Finding, Report};
use canon::Digest;
use canon::replay::{Canonicaliser, Difference, Document, Form, FormError, Observed, Table, difference};
use std::collections::{BTreeMap, BTreeSet};

/// Most places that are named of one check; the count is always whole.
const NAMED_MAX: usize = 200;

/// What may be claimed (section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No claim of determinism.
    Incompatible,
    /// Limited reproduction, not all tasks.
    Sampled,
    /// Replayable, DIFF=0.
    Full,
}

impl Level {
    /// The draft's word.
    pub fn word(self) -> &'static str {
        match self {
            Level::Full => "full",
            Level::Sampled => "sampled",
            Level::Incompatible => "incompatible",
        }
    }

    /// The level that goes with a colour (ruling 24: full 0, sampled 2, incompatible 1).
    pub fn of(colour: Colour) -> Level {
        match colour {
            Colour::Green => Level::Full,
            Colour::Yellow => Level::Sampled,
            Colour::Red => Level::Incompatible,
        }
    }
}

canon::codes! {
    /// What the judge finds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fault {
        /// A field that the table does not name (R1).
        UnknownField = "judge_unknown_field",
        /// A list of objects without a stable key (D-5).
        UnkeyedList = "judge_unkeyed_list",
        /// Two runs differ (section 3).
        Unstable = "judge_unstable",
        /// A change that the hash does not see (S-1).
        Insensitive = "judge_insensitive",
        /// Nothing takes part in the hash (S-2).
        Vacuous = "judge_vacuous",
        /// A physical value that reaches the hash (S-3).
        PhysicalLeak = "judge_physical_leak",
        /// Nothing that was dropped differed between the runs (section 8).
        NoPhysicalDifference = "judge_no_physical_difference",
        /// There are no golden values.
        NoGolden = "judge_no_golden",
        /// A task without a golden value.
        GoldenAbsent = "judge_golden_absent",
        /// A golden value whose task is not in the run: it was not hit.
        GoldenUncovered = "judge_golden_uncovered",
        /// The golden value of this host class was not hit.
        GoldenMissed = "judge_golden_missed",
        /// The golden value of another host class was not hit (L-1).
        GoldenOtherHost = "judge_golden_other_host",
        /// Two ways of judging a change disagree: a fault of this build.
        BuildFault = "judge_build_fault",
    }
}

impl Fault {
    fn at(self, place: impl Into<String>, detail: impl Into<String>) -> Finding {
        let warns = matches!(
            self,
            Fault::UnknownField
                | Fault::UnkeyedList
                | Fault::NoPhysicalDifference
                | Fault::NoGolden
                | Fault::GoldenAbsent
                | Fault::GoldenUncovered
                | Fault::GoldenOtherHost
        );
        Finding { reason: self.code(), place: place.into(), detail: detail.into(), fails: !warns }
    }
}

/// One run: its tasks by name. A file is one task, a folder one for each file.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// Where it came from.
    pub name: String,
    /// Names and documents.
    pub tasks: BTreeMap<String, Document<'a>>,
}

canon::codes! {
    /// Why there is no judgement at all.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Refusal {
        /// Fewer than two runs.
        OneRun = "conform_one_run",
        /// The runs have not the same tasks.
        OtherTasks = "conform_other_tasks",
        /// A task has not the same number of records in every run.
        OtherLength = "conform_other_length",
        /// A task that is no object and no list of objects, or has no record at all.
        NoReceipts = "conform_no_receipts",
        /// A document has no canonical form.
        NoForm = "conform_no_form",
    }
}

/// A refusal to judge: never a grade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The reason.
    pub refusal: Refusal,
    /// Which run or task, and what about it.
    pub detail: String,
}

/// A judgement.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// What may be claimed.
    pub level: Level,
    /// Replay digest of the first run.
    pub digest: Digest,
    /// Replay digest of each task of the first run.
    pub tasks: BTreeMap<String, Digest>,
    /// The report, with the level as its grade.
    pub report: Report,
}

/// Judges two or more runs of one runtime by its field table (sections 3, 4, 8).
///
/// # Errors
/// [`Refused`] when there is nothing to compare; a refusal is never a grade.
pub fn judge(
    subject: &str,
    table: &Table,
    runs: &[Run<'_>],
    golden: Option<&Golden>,
    host: &str,
) -> Result<Judgement, Refused> {
    comparable(runs)?;
    let mut judge = Judge { canonicaliser: Canonicaliser::new(table), runs };
    let observed = judge.observe()?;
    let (stability, physical, forms) = judge.compare()?;
    let mut checks = vec![fields(&observed, runs.len()), lists(&observed, runs.len()), stability];
    checks.extend(judge.sensitivity()?);
    checks.extend([physical, goldens(golden, &forms, host), judge.honesty()]);
    if let (1, Some(only)) = (forms.len(), forms.keys().next()) {
        checks.iter_mut().for_each(|check| without_task(check, only));
    }
    let tasks: BTreeMap<String, Digest> =
        forms.iter().map(|(name, form)| (name.clone(), form.digest())).collect();
    let digest = run_digest(&forms);
    let evidence = std::iter::once(("field table".to_owned(), table.digest()))
        .chain([("run".to_owned(), digest)])
        .chain(
            tasks.iter().filter(|_| tasks.len() > 1).map(|(name, digest)| (format!("task {name}"), *digest)),
        )
        .collect();
    let mut report = Report { subject: subject.to_owned(), layer: "judge", grade: None, evidence, checks };
    let level = Level::of(report.colour());
    report.grade = Some(level.word());
    Ok(Judgement { level, digest, tasks, report })
}

/// The digest of a run: its task's, or that of an object with one member for each task.
pub fn run_digest(forms: &BTreeMap<String, Form>) -> Digest {
    if let (1, Some(form)) = (forms.len(), forms.values().next()) {
        return form.digest();
    }
    let member = |(name, form): (&String, &Form)| {
        format!("{}:{}", String::from_utf8_lossy(&canon::canonical(&name.as_str().into())), form.text())
    };
    let members: Vec<String> = forms.iter().map(member).collect();
    Digest::of(format!("{{{}}}", members.join(",")).as_bytes())
}

/// Canonical forms of the tasks of one run.
///
/// # Errors
/// [`Refused`] for a task without receipts or without a canonical form.
pub fn forms(table: &Table, run: &Run<'_>) -> Result<BTreeMap<String, Form>, Refused> {
    let mut canonicaliser = Canonicaliser::new(table);
    let form = |(name, document): (&String, &Document<'_>)| {
        has_receipts(&run.name, name, document)?;
        let form = canonicaliser.form(document).map_err(|error| no_form(name, &error))?;
        Ok((name.clone(), form))
    };
    run.tasks.iter().map(form).collect()
}

fn refuse(refusal: Refusal, detail: String) -> Refused {
    Refused { refusal, detail }
}

fn no_form(task: &str, error: &FormError) -> Refused {
    let place = match error {
        FormError::OpaqueNumber(path) => format!("{task}: {path}"),
        FormError::TooLong => task.to_owned(),
    };
    refuse(Refusal::NoForm, format!("{place}: {}", error.code()))
}

fn has_receipts(run: &str, task: &str, document: &Document<'_>) -> Result<(), Refused> {
    if !document.has_fields() || document.records() == 0 {
        return Err(refuse(Refusal::NoReceipts, format!("{run}: {task}")));
    }
    Ok(())
}

/// Whether runs go together: two or more, of the same tasks, with receipts, as many in each.
///
/// # Errors
/// [`Refused`] with the first way in which they do not.
pub fn comparable(runs: &[Run<'_>]) -> Result<(), Refused> {
    let [first, others @ ..] = runs else {
        return Err(refuse(Refusal::OneRun, "no run was given".into()));
    };
    if others.is_empty() {
        return Err(refuse(Refusal::OneRun, first.name.clone()));
    }
    for run in runs {
        let (theirs, ours): (BTreeSet<_>, BTreeSet<_>) =
            (run.tasks.keys().collect(), first.tasks.keys().collect());
        let mut odd = theirs.symmetric_difference(&ours);
        if let Some(task) = odd.next() {
            let (has, lacks) = if ours.contains(task) { (first, run) } else { (run, first) };
            let more = odd.count();
            let more = if more > 0 { format!(" ({more} more such)") } else { String::new() };
            return Err(refuse(
                Refusal::OtherTasks,
                format!("{task} is in {} and not in {}{more}", has.name, lacks.name),
            ));
        }
        if run.tasks.is_empty() {
            return Err(refuse(Refusal::NoReceipts, run.name.clone()));
        }
        for (task, document) in &run.tasks {
            has_receipts(&run.name, task, document)?;
            let (records, expected) = (document.records(), first.tasks[task].records());
            if records != expected {
                let detail =
                    format!("{task}: {expected} records in {}, {records} in {}", first.name, run.name);
                return Err(refuse(Refusal::OtherLength, detail));
            }
        }
    }
    Ok(())
}

struct Judge<'j> {
    canonicaliser: Canonicaliser<'j>,
    runs: &'j [Run<'j>],
}

impl Judge<'_> {
    /// What stands in all the runs.
    fn observe(&mut self) -> Result<Observed, Refused> {
        for (task, document) in self.runs.iter().flat_map(|run| &run.tasks) {
            self.canonicaliser.form(document).map_err(|error| no_form(task, &error))?;
        }
        Ok(self.canonicaliser.observed())
    }

    /// Every run against the first: what takes part must be equal (D4), something that was dropped should differ.
    fn compare(&mut self) -> Result<(Check, Check, BTreeMap<String, Form>), Refused> {
        let mut forms = BTreeMap::new();
        let mut differences: Vec<Finding> = Vec::new();
        let mut physical = BTreeSet::new();
        let (first, others) = (&self.runs[0], &self.runs[1..]);
        for (task, document) in &first.tasks {
            for run in others {
                let comparison = self
                    .canonicaliser
                    .compare(document, &run.tasks[task])
                    .map_err(|error| no_form(task, &error))?;
                let [ours, theirs] = &comparison.forms;
                let room = NAMED_MAX.saturating_sub(differences.len());
                differences.extend(
                    difference(ours, theirs, room.max(1))
                        .iter()
                        .map(|found| unstable(task, &run.name, found)),
                );
                physical.extend(comparison.physical);
                forms.insert(task.clone(), ours.clone());
            }
        }
        let sorted = differences.iter().any(|found| found.place.contains('['));
        let note = sorted.then(|| "positions in lists are those after sorting".to_owned());
        let stability = Check::new("D4", "independent runs agree", self.runs.len() as u64, "runs")
            .with(differences)
            .noting(note);
        let pairs = others.len() as u64;
        let mut dropping =
            Check::new("drop", "what is dropped differs between the runs", pairs, "pairs of runs");
        if physical.is_empty() {
            let detail = "nothing that the table drops differed, or nothing is dropped: for full a receipt needs a physical field that does differ, such as ts";
            dropping = dropping.with([Fault::NoPhysicalDifference.at("", detail)]);
        } else {
            dropping = dropping.noting([format!("differed: {}", joined(physical.iter()))]);
        }
        Ok((stability, dropping, forms))
    }

    /// Changes every leaf of the first run, which stands for all of them when they agree (S-1 to S-3).
    fn sensitivity(&mut self) -> Result<[Check; 2], Refused> {
        let (mut changes, mut reverse_changes) = (0, 0);
        let (mut findings, mut leaks) = (Vec::new(), Vec::new());
        for (task, document) in &self.runs[0].tasks {
            let refused = |error: FormError| no_form(task, &error);
            self.canonicaliser.reset();
            let sensitivity = self.canonicaliser.sensitivity(document).map_err(refused)?;
            self.canonicaliser.reset();
            self.canonicaliser.form(document).map_err(refused)?;
            if self.canonicaliser.observed().leaves() == 0 {
                findings.push(
                    Fault::Vacuous
                        .at(task, "no field of it takes part in the hash, which therefore never changes"),
                );
            }
            changes += sensitivity.changes;
            findings.extend(sensitivity.unseen.into_iter().map(|path| {
                Fault::Insensitive.at(in_task(task, &path), "a change here does not change the hash")
            }));
            findings.extend(sensitivity.disagree.into_iter().map(|path| {
                Fault::BuildFault.at(in_task(task, &path), "the quick judgement and the hash disagree")
            }));
            let reverse = self.canonicaliser.reverse(document).map_err(refused)?;
            reverse_changes += reverse.changes;
            leaks.extend(reverse.leaked.into_iter().map(|path| {
                Fault::PhysicalLeak
                    .at(in_task(task, &path), "a change of this dropped value changes the hash")
            }));
        }
        // Without a dropped value there is nothing that could leak; that nothing differed is said by another check.
        let reverse =
            Check::new("S-3", "no dropped value reaches the hash", reverse_changes, "dropped values");
        Ok([
            Check::new("D5", "every change of a repro leaf is seen", changes, "changes").with(findings),
            reverse.with(leaks),
        ])
    }

    /// Evidence classes of every receipt of every run (D8).
    fn honesty(&self) -> Check {
        let mut receipts = 0;
        let mut found: BTreeMap<Dishonesty, (u64, String)> = BTreeMap::new();
        for run in self.runs {
            for (task, document) in &run.tasks {
                for (index, receipt) in document.receipts().iter().enumerate() {
                    receipts += 1;
                    // What lies inside of a receipt need not have a class; where it has one that is a claim too.
                    let inner = receipt.inner_with("evidence_class");
                    let wrong =
                        std::iter::once(receipt).chain(&inner).flat_map(|object| evidence::examine(object).1);
                    for dishonesty in wrong.collect::<BTreeSet<_>>() {
                        let task = if run.tasks.len() > 1 { format!("/{task}") } else { String::new() };
                        let first = || (0, format!("record {} of {}{task}", index + 1, run.name));
                        found.entry(dishonesty).or_insert_with(first).0 += 1;
                    }
                }
            }
        }
        let finding = |(dishonesty, (count, first)): (Dishonesty, (u64, String))| Finding {
            reason: dishonesty.code(),
            place: String::new(),
            detail: format!("{}: {count} of {receipts} receipts, the first is {first}", dishonesty.mark()),
            fails: dishonesty.is_red(),
        };
        Check::new("D8", "receipts say where they come from", receipts, "receipts")
            .with(found.into_iter().map(finding))
    }
}

fn in_task(task: &str, path: &str) -> String {
    format!("{task}: {path}")
}

/// Where there is one task only, its name says nothing.
fn without_task(check: &mut Check, only: &str) {
    for finding in &mut check.findings {
        if let Some(path) = finding.place.strip_prefix(only).and_then(|rest| rest.strip_prefix(": ")) {
            finding.place = path.to_owned();
        }
    }
}

fn unstable(task: &str, run: &str, found: &Difference) -> Finding {
    let shown = |side: &Option<String>| match side {
        None => "nothing".to_owned(),
        Some(text) => shortened(text),
    };
    let detail = format!("{} in the first run, {} in {run}", shown(&found.left), shown(&found.right));
    Fault::Unstable.at(in_task(task, &found.path), detail)
}

/// The first names of a list, and how many there are.
fn joined<'n>(names: impl ExactSizeIterator<Item = &'n String>) -> String {
    const SHOWN: usize = 12;
    let count = names.len();
    let names: Vec<&str> = names.take(SHOWN).map(String::as_str).collect();
    let rest = if count > SHOWN { format!(" and {} more", count - SHOWN) } else { String::new() };
    format!("{}{rest}", names.join(", "))
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}...", &text[..at]),
    }
}

fn fields(observed: &Observed, runs: usize) -> Check {
    let paths = |counts: &BTreeMap<String, u64>| counts.len() as u64;
    let all = paths(&observed.repro) + paths(&observed.physical) + paths(&observed.unknown);
    let dropped = joined(observed.physical.keys());
    let note = (!dropped.is_empty()).then(|| format!("physical, dropped: {dropped}"));
    let finding = |(path, count): (&String, &u64)| {
        Fault::UnknownField
            .at(path, format!("in no class of the table; dropped {count} times in {runs} runs"))
    };
    Check::new("D1", "every field is in the table", all, "paths")
        .with(observed.unknown.iter().map(finding))
        .noting(note)
}

fn lists(observed: &Observed, runs: usize) -> Check {
    let finding = |(path, count): (&String, &u64)| {
        Fault::UnkeyedList.at(
            path,
            format!("sorted by bytes {count} times in {runs} runs for want of a key that is repro: say key, set or sequence"),
        )
    };
    let paths = observed.repro.len() as u64;
    Check::new("D2", "lists of objects have an order", paths, "paths")
        .with(observed.unkeyed.iter().map(finding))
}

/// Every task against its golden value (D6, L-1).
fn goldens(golden: Option<&Golden>, forms: &BTreeMap<String, Form>, host: &str) -> Check {
    let check =
        |looked_at: usize| Check::new("D6", "golden values are hit", looked_at as u64, "golden values");
    let Some(golden) = golden else {
        return check(0).with([Fault::NoGolden.at("", "without golden values the grade is at best sampled")]);
    };
    let mut looked_at = 0;
    let mut findings = Vec::new();
    for (task, form) in forms {
        let hit = golden.look_up(task, host, form.digest());
        looked_at += usize::from(hit != Hit::Absent);
        match hit {
            Hit::Hit => {}
            Hit::Absent => {
                findings.push(Fault::GoldenAbsent.at(task, "no golden value: this task is not covered"))
            }
            Hit::Missed(frozen) => {
                let detail = format!("frozen {}, now {}", &frozen.to_hex()[..16], form.hash());
                findings.push(Fault::GoldenMissed.at(task, detail));
            }
            Hit::OtherHost => {
                findings.push(Fault::GoldenOtherHost.at(task, "not the golden value of another host class"));
            }
        }
    }
    let cases: BTreeSet<&String> = golden.entries.iter().map(|entry| &entry.case).collect();
    for case in cases.into_iter().filter(|case| !forms.contains_key(*case)) {
        looked_at += 1;
        findings.push(
            Fault::GoldenUncovered.at(case, "the run has no such task, so its golden value was not hit"),
        );
    }
    check(looked_at).with(findings)
}

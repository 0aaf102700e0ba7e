//! Verifying a run directory: desk specification section 13, with 31.10 and 31.12 in strict mode.
//!
//! The shell reads the files and decides about threads; every answer is made here.

mod attested;
mod facts;
mod report;
mod rows;
pub mod tier;
mod wire;

pub use facts::{End, Facts, Role};
pub use report::{ChainFacts, ChainReport, Completeness, TaskEnd, Verdict, batch, totals};
pub use wire::Calls;

use crate::certificate::Invalid;
use crate::identity::PublicKey;
use crate::logbook::{self, Chain, Examined, Line};
use crate::{Failure, Fault, Mode, Warning};
use canon::{Digest, Reader, Value};
use rows::Row;
use std::collections::{BTreeMap, BTreeSet};

/// The files of one run directory by name relative to it: `rows.jsonl`, `receipts_<ARM>.ndjson` and
/// `.pub.json`, `run_<ARM>.json`, `visible_<ARM>*.json`, `wire_<ARM>/index.jsonl`.
pub type Files = BTreeMap<String, Vec<u8>>;

canon::codes! {
    /// Why a chain that holds is void all the same; a void run of ours names its stop reason instead.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum VoidReason {
        /// A verdict says that the proxy saw no request (13).
        NoRequestsSeen = "no_requests_seen",
        /// Calls were made and none of them reached a model (31.11, ruling 15).
        NoModelCallSucceeded = "no_model_call_succeeded",
    }
}

/// What the caller knows from outside, and how to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Strict, or the peer's leniency.
    pub mode: Mode,
    /// A head that the chain must reach.
    pub expect_head: Option<Digest>,
    /// A number of entries that the chain must reach.
    pub expect_count: Option<u64>,
    /// The key, as hex or as id, that must have signed.
    pub expect_key: Option<String>,
    /// The least enclosure tier.
    pub require_tier: Option<String>,
}

impl Options {
    /// Nothing known from outside.
    pub fn new(mode: Mode) -> Options {
        Options { mode, expect_head: None, expect_count: None, expect_key: None, require_tier: None }
    }
}

/// How lines are looked at: one after the other, or by the shell on several threads. The order of the answer is the
/// order of the lines either way.
pub trait Lines {
    /// Applies `examine` to every line.
    fn examine(
        &self,
        lines: &[Line<'_>],
        examine: &(dyn Fn(&Line<'_>) -> Examined<Facts> + Sync),
    ) -> Vec<Examined<Facts>>;
}

/// One line after the other.
pub struct InOrder;

impl Lines for InOrder {
    fn examine(
        &self,
        lines: &[Line<'_>],
        examine: &(dyn Fn(&Line<'_>) -> Examined<Facts> + Sync),
    ) -> Vec<Examined<Facts>> {
        lines.iter().map(examine).collect()
    }
}

/// Checks every chain of a run directory; an empty answer means that there was none.
pub fn verify_run(files: &Files, options: &Options, lines: &dyn Lines) -> Vec<ChainReport> {
    let arms: Vec<&str> = files.keys().filter_map(|name| arm_of(name)).collect();
    let (rows, row_failures) =
        files.get("rows.jsonl").map(|file| rows::read(file, options.mode)).unwrap_or_default();
    let row_arms: BTreeSet<&str> = rows.iter().map(|row| row.arm.as_str()).collect();
    let without: Vec<String> =
        row_arms.into_iter().filter(|arm| !arms.contains(arm)).map(str::to_owned).collect();
    let check = |arm: &&str| {
        let mut run = Run { files, options, arm, rows: &rows, failures: row_failures.clone() };
        let mut report = run.verify(lines);
        if !without.is_empty() && options.mode == Mode::Strict {
            report.warnings.push((0, Warning::ArmWithoutReceipts));
        }
        report.arms_without_receipts = without.clone();
        report
    };
    arms.iter().map(check).collect()
}

/// The arm of a chain file's name. An arm name contains no dot (12.1).
fn arm_of(name: &str) -> Option<&str> {
    let arm = name.strip_prefix("receipts_")?.strip_suffix(".ndjson")?;
    (!arm.is_empty() && !arm.contains('.')).then_some(arm)
}

/// Most lines of a chain, blank ones included: a file of line feeds must not take the memory of a chain.
const LINES_MAX: usize = 2_000_000;

struct Run<'a> {
    files: &'a Files,
    options: &'a Options,
    arm: &'a str,
    rows: &'a [Row],
    failures: Vec<Failure>,
}

impl Run<'_> {
    fn strict(&self) -> bool {
        self.options.mode == Mode::Strict
    }

    fn fail(&mut self, failure: Failure) {
        self.failures.push(failure);
    }

    fn verify(&mut self, lines: &dyn Lines) -> ChainReport {
        let file = &self.files[&format!("receipts_{}.ndjson", self.arm)];
        let Some(key) = self.key() else { return self.unverifiable(None) };
        let id = key.id();
        let lines_n = file.iter().filter(|byte| **byte == b'\n').count();
        if lines_n > LINES_MAX {
            self.fail(
                Failure::of(Fault::ChainTooLong).with("got", lines_n as u64).with("want", LINES_MAX as u64),
            );
            return self.unverifiable(Some(id.to_string()));
        }
        let split = logbook::lines(file);
        if split.iter().all(|line| line.bytes.iter().all(u8::is_ascii_whitespace)) {
            self.fail(Failure::of(Fault::EmptyChain));
            return self.unverifiable(Some(id.to_string()));
        }
        let mode = self.options.mode;
        let examined = lines.examine(&split, &|line| logbook::examine(line, &key, mode, &Facts::of));
        let mut chain = logbook::link(examined);
        // Row failures stand after the chain's own, as in the peer's report.
        let row_failures = std::mem::replace(&mut self.failures, std::mem::take(&mut chain.failures));
        let mut facts = self.chain_facts(&chain);
        self.failures.extend(row_failures);
        self.reconcile(&chain, &mut facts);
        let completeness = self.completeness(&chain);
        let pinned = self.pin(&key);
        self.tier(&mut facts);
        let mut report = ChainReport {
            arm: self.arm.to_owned(),
            verdict: Verdict::Ok,
            failures: Vec::new(),
            warnings: std::mem::take(&mut chain.warnings),
            arms_without_receipts: Vec::new(),
            completeness,
            pinned,
            vacant_id: Some(id.to_string()),
            chain: None,
        };
        if self.strict() && !facts.tiers.is_empty() && !facts.tier_inside {
            // Written, without a probe from inside the agent's namespace (31.20).
            report.warnings.push((0, Warning::TierNotMeasuredInside));
            (facts.tier, facts.attested) = (None, None);
        }
        if facts.uncounted {
            report.warnings.push((0, Warning::WireIndexMissing));
        }
        report.failures = std::mem::take(&mut self.failures);
        report.verdict = match (&report.failures[..], &facts.void_reason) {
            ([], None) => Verdict::Ok,
            ([], Some(_)) => Verdict::Void,
            _ => Verdict::Broken,
        };
        report.chain = Some(facts);
        report
    }

    fn unverifiable(&mut self, vacant_id: Option<String>) -> ChainReport {
        // An id that contradicts its key is a lie, not a gap.
        let lie = self.failures.iter().any(|failure| failure.reason == Fault::IdNotDerivedFromKey);
        ChainReport {
            arm: self.arm.to_owned(),
            verdict: if lie { Verdict::Broken } else { Verdict::Unverifiable },
            failures: std::mem::take(&mut self.failures),
            warnings: Vec::new(),
            arms_without_receipts: Vec::new(),
            completeness: Completeness::NotAnchored,
            pinned: false,
            vacant_id,
            chain: None,
        }
    }

    /// The key beside the chain. Strict: the id beside it is derived and compared, always.
    fn key(&mut self) -> Option<PublicKey> {
        let Some(file) = self.files.get(&format!("receipts_{}.pub.json", self.arm)) else {
            self.fail(Failure::of(Fault::PubkeyFileMissing));
            return None;
        };
        let reader = if self.strict() { Reader::strict() } else { Reader::peer() };
        let value = match reader.read(file) {
            Ok(value) => value,
            Err(error) => {
                let failure = Failure::of(Fault::PubkeyFileUnreadable).with("why", error.fault.code());
                self.fail(Failure { offset: Some(error.offset), ..failure });
                return None;
            }
        };
        let text = |member: &str| value.get(member).and_then(Value::as_str);
        let Some(key) = text("pub_hex").and_then(|hex| PublicKey::parse(hex).ok()) else {
            self.fail(Failure::of(Fault::PubkeyFileUnreadable).with("why", Invalid::BadKey.code()));
            return None;
        };
        let id = key.id();
        if self.strict() && text("vacant_id") != Some(id.as_str()) {
            let got = value.get("vacant_id").cloned().unwrap_or(Value::Null);
            self.fail(Failure::of(Fault::IdNotDerivedFromKey).with("got", got).with("want", id.as_str()));
        }
        Some(key)
    }

    fn chain_facts(&self, chain: &Chain<Facts>) -> ChainFacts {
        let failing: BTreeSet<(Option<i64>, Option<usize>)> = self
            .failures
            .iter()
            // The peer counts distinct `seq`; a line without one counts by its place.
            .map(|failure| (failure.seq, if failure.seq.is_some() { None } else { failure.line }))
            .collect();
        let mut facts = ChainFacts {
            entries_n: chain.entries_n,
            failed_n: failing.len(),
            chain_ok: self.failures.is_empty(),
            verify_chain: chain.verify_chain,
            stream_id: chain.stream_id,
            head: Some(chain.head),
            ..ChainFacts::default()
        };
        for entry in chain.lines.iter().filter_map(|line| line.entry.as_ref()) {
            *facts.type_counts.entry(entry.kind.to_string()).or_insert(0) += 1;
        }
        facts
    }

    /// Steps 3 to 5 of section 13.
    fn reconcile(&mut self, chain: &Chain<Facts>, facts: &mut ChainFacts) {
        let all = || chain.lines.iter().filter_map(|line| line.entry.as_ref()?.facts.as_ref());
        let of = |role| all().filter(move |facts| facts.role == role);
        let ends: Vec<(&str, &End)> =
            all().filter_map(|facts| Some((facts.task_id.as_ref(), facts.end.as_deref()?))).collect();
        let voids_n = of(Role::Void).count();
        facts.verdict_n = of(Role::Verdict).count();
        facts.attempt_n = of(Role::Attempt).count();
        self.compare_rows(&ends, facts);
        if facts.attempt_n < facts.verdict_n {
            self.fail(
                Failure::of(Fault::AttemptFewerThanVerdict)
                    .with("verdict_n", facts.verdict_n as u64)
                    .with("attempt_n", facts.attempt_n as u64),
            );
        }
        if self.strict() {
            self.shape(&all().collect::<Vec<_>>());
            self.ended(of(Role::Start), Fault::RunNotEnded, &ends);
            self.ended(of(Role::Attempt), Fault::AttemptWithoutVerdict, &ends);
            self.signed_files(&all().collect::<Vec<_>>());
        }
        facts.ends = all()
            .filter_map(|facts| {
                let end = facts.end.as_deref()?;
                Some(TaskEnd {
                    task_id: facts.task_id.to_string(),
                    accepted: end.accepted,
                    stop_reason: end.stop_reason.to_string(),
                    void: facts.role == Role::Void,
                })
            })
            .collect();
        let verdicts: Vec<(&str, &End)> = of(Role::Verdict)
            .filter_map(|facts| Some((facts.task_id.as_ref(), facts.end.as_deref()?)))
            .collect();
        mediation(&verdicts, facts);
        if self.strict() {
            self.wire(&verdicts, facts);
            if voids_n > 0 {
                let first = facts.ends.iter().find(|end| end.void);
                facts.void_reason = first.map(|end| end.stop_reason.clone());
            }
        }
        attested::tiers(&verdicts, facts);
        if self.strict() {
            self.tiers_follow(&all().collect::<Vec<_>>(), facts);
        }
    }

    /// Same-origin reconciliation (13, step 3): void entries of ours stand for a verdict.
    fn compare_rows(&mut self, ends: &[(&str, &End)], facts: &mut ChainFacts) {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.arm == self.arm).collect();
        facts.rows_n = rows.len();
        if ends.len() != rows.len() {
            self.fail(
                Failure::of(Fault::VerdictCountNeRows)
                    .with("verdict_n", ends.len() as u64)
                    .with("rows_n", rows.len() as u64),
            );
        }
        let signed: BTreeSet<&str> = ends.iter().map(|(task, _)| *task).collect();
        let rowed: BTreeSet<&str> = rows.iter().map(|row| row.task_id.as_str()).collect();
        if signed != rowed {
            let only = |left: &BTreeSet<&str>, right: &BTreeSet<&str>| {
                Value::Array(left.difference(right).map(|task| (*task).into()).collect())
            };
            self.fail(
                Failure::of(Fault::VerdictTaskIdsNeRows)
                    .with("only_in_receipts", only(&signed, &rowed))
                    .with("only_in_rows", only(&rowed, &signed)),
            );
        }
        if signed.len() != ends.len() {
            self.fail(
                Failure::of(Fault::DuplicateVerdictForTask)
                    .with("verdict_n", ends.len() as u64)
                    .with("distinct_task_ids", signed.len() as u64),
            );
        }
        if self.strict() {
            let by_task: BTreeMap<&str, &End> = ends.iter().copied().collect();
            for row in rows {
                if let Some(end) = by_task.get(row.task_id.as_str()) {
                    self.failures.extend(row.differences(end));
                }
            }
        }
    }

    /// A chain that simply stops before its closing entry must not look finished (PC-63).
    fn ended<'f>(&mut self, opened: impl Iterator<Item = &'f Facts>, fault: Fault, ends: &[(&str, &End)]) {
        let ended: BTreeSet<&str> = ends.iter().map(|(task, _)| *task).collect();
        let open: BTreeSet<&str> =
            opened.map(|facts| facts.task_id.as_ref()).filter(|task| !ended.contains(task)).collect();
        if !open.is_empty() {
            let tasks = open.into_iter().map(Value::from).collect();
            self.fail(Failure::of(fault).with("task_ids", Value::Array(tasks)));
        }
    }

    /// What the entries must be beside their signatures: named tasks, verdicts that mean what they say, and for runs of
    /// ours the one order that the launcher writes.
    fn shape(&mut self, all: &[&Facts]) {
        if all.iter().any(|facts| !facts.named) {
            self.fail(Failure::of(Fault::MemberType).with("member", "task_id"));
        }
        for facts in all.iter().filter(|facts| facts.role == Role::Verdict) {
            let Some(end) = facts.end.as_deref() else { continue };
            let unknown = facts.ours && end.agrees().is_none();
            if end.agrees() == Some(false) || unknown {
                let failure = Failure::of(Fault::VerdictContradictsReason);
                let failure = failure.with("task_id", facts.task_id.as_ref()).with("accepted", end.accepted);
                self.fail(failure.with("stop_reason", end.stop_reason.as_ref()));
            }
        }
        if !all.iter().any(|facts| facts.ours) {
            return;
        }
        let order: Vec<Role> = all.iter().map(|facts| facts.role).collect();
        let closed = match &order[..] {
            [Role::Start, middle @ .., Role::Verdict | Role::Void] => {
                middle.iter().all(|role| *role == Role::Attempt)
            }
            // What is open is named by the rule about ends.
            [Role::Start, rest @ ..] => rest.iter().all(|role| *role == Role::Attempt),
            _ => false,
        };
        let one_task = all.windows(2).all(|pair| pair[0].task_id == pair[1].task_id);
        // A verdict counts the attempts that it rests on; of a void run one may have ended too early to be signed.
        let attempts_n = order.iter().filter(|role| **role == Role::Attempt).count() as i64;
        let counted = |end: &End| end.attempts_used().is_none_or(|used| used == attempts_n);
        let verdicts = all.iter().filter(|facts| facts.role == Role::Verdict);
        let counted = verdicts.filter_map(|facts| facts.end.as_deref()).all(counted);
        if !closed || !one_task || !counted || !all.iter().all(|facts| facts.ours) {
            self.fail(Failure::of(Fault::RunShape).with("entries_n", all.len() as u64));
        }
        let ends = all.iter().filter_map(|facts| facts.end.as_deref());
        let uncovered = |end: &End| {
            let calls = end.requests_seen.is_some() && end.wire_sha256.is_none();
            end.summary_sha256.is_none() || end.row_sha256.is_none() || calls
        };
        if ends.into_iter().any(uncovered) {
            self.fail(Failure::of(Fault::EndDigestMissing));
        }
    }

    /// The summary whose digest was signed, and the files that it names (31.10).
    fn signed_files(&mut self, all: &[&Facts]) {
        for facts in all {
            let Some(end) = facts.end.as_deref() else { continue };
            let Some(want) = end.summary_sha256 else { continue };
            let Some(summary) = self.files.get(&format!("run_{}.json", self.arm)) else {
                self.fail(Failure::of(Fault::SummaryMissing));
                continue;
            };
            let got = Digest::of(summary);
            if got != want {
                self.fail(Failure::of(Fault::SummaryDigestMismatch).with("got", got).with("want", want));
                continue;
            }
            let summary = Reader::strict().read(summary).unwrap_or(Value::Null);
            if facts.ours {
                self.summary_says(&summary, facts, end);
            }
            self.named_files(&summary);
        }
    }

    fn summary_says(&mut self, summary: &Value, facts: &Facts, end: &End) {
        let said: [(&str, Value); 3] = [
            ("task_id", facts.task_id.as_ref().into()),
            ("stop_reason", end.stop_reason.as_ref().into()),
            ("accepted", end.accepted.into()),
        ];
        for (member, want) in said {
            let got = summary.get(member).cloned();
            if got.as_ref() != Some(&want) {
                let failure = Failure::of(Fault::SummaryContradictsVerdict).with("field", member);
                self.fail(failure.with("summary", got).with("signed", want));
            }
        }
        let named = summary.get("files_sha256").and_then(Value::as_object);
        // The digest of the conversation covers bodies; class and end of each call are in the index alone.
        let covers_calls = named.is_some_and(|named| named.get(&self.wire_name()).is_some());
        if named.is_none() || end.requests_seen.is_some() && !covers_calls {
            let failure = Failure::of(Fault::SummaryContradictsVerdict);
            self.fail(failure.with("field", "files_sha256"));
        }
    }

    fn named_files(&mut self, summary: &Value) {
        let Some(named) = summary.get("files_sha256").and_then(Value::as_object) else { return };
        for (name, want) in named.iter() {
            let got: Value = self.files.get(name).map(|file| Digest::of(file)).into();
            if got != *want {
                let failure = Failure::of(Fault::SignedFileMismatch);
                self.fail(failure.with("file", name).with("got", got).with("want", want.clone()));
            }
        }
    }

    /// Counts what reached a model, not what was attempted (31.11).
    fn wire(&mut self, verdicts: &[(&str, &End)], facts: &mut ChainFacts) {
        let Some(file) = self.files.get(&self.wire_name()) else {
            // Nobody can say any more what the calls were: "not measured" is not "mediated". Calls that were never
            // counted, and counts of none, need no index.
            if facts.mediated == Some(true) {
                facts.mediated = None;
                facts.uncounted = true;
            }
            return;
        };
        let [(task, end)] = verdicts else { return };
        let index = match wire::read(file) {
            Ok(index) => index,
            Err(failure) => return self.fail(failure),
        };
        if let Some(want) = end.wire_sha256
            && want != index.digest
        {
            let failure = Failure::of(Fault::WireIndexMismatch);
            self.fail(failure.with("got", index.digest).with("want", want));
        }
        if end.requests_seen.is_some_and(|seen| seen != index.calls_n) {
            let failure = Failure::of(Fault::WireIndexMismatch);
            self.fail(failure.with("got", index.calls_n).with("want", end.requests_seen));
        }
        facts.calls = Some(index.calls);
        if end.requests_seen.is_some_and(|seen| seen > 0) && index.calls.model_succeeded_n == 0 {
            facts.mediated = Some(false);
            facts.void_reason = Some(VoidReason::NoModelCallSucceeded.code().to_owned());
            facts.unmediated_task_ids = vec![(*task).to_owned()];
        }
    }

    fn wire_name(&self) -> String {
        format!("wire_{}/index.jsonl", self.arm)
    }

    fn completeness(&mut self, chain: &Chain<Facts>) -> Completeness {
        let (head, count) = (self.options.expect_head, self.options.expect_count);
        if head.is_none() && count.is_none() {
            return Completeness::NotAnchored;
        }
        let mut hashes = chain.lines.iter().filter_map(|line| Some(line.entry.as_ref()?.hash));
        let mut contradicted = false;
        if let Some(want) = count
            && (chain.entries_n as u64) < want
        {
            contradicted = true;
            let failure = Failure::of(Fault::CountNotReached);
            self.fail(failure.with("got", chain.entries_n as u64).with("want", want));
        }
        if let Some(want) = head {
            // With a count the head must stand at that very place.
            let reached = match count {
                Some(count) => {
                    count > 0 && hashes.nth(usize::try_from(count - 1).unwrap_or(usize::MAX)) == Some(want)
                }
                None => hashes.any(|hash| hash == want),
            };
            if !reached {
                contradicted = true;
                let failure = Failure::of(Fault::HeadNotReached);
                self.fail(failure.with("got", chain.head).with("want", want));
            }
        }
        if contradicted { Completeness::Contradicted } else { Completeness::Anchored }
    }

    fn pin(&mut self, key: &PublicKey) -> bool {
        let Some(want) = &self.options.expect_key else { return false };
        let (id, hex) = (key.id(), key.to_hex());
        if want != id.as_str() && *want != hex {
            let want = want.as_str();
            self.fail(Failure::of(Fault::KeyNotPinned).with("got", id.as_str()).with("want", want));
        }
        true
    }
}

/// Step 4 of section 13: three answers, true, false, not measured.
fn mediation(verdicts: &[(&str, &End)], facts: &mut ChainFacts) {
    let counts: Vec<(&str, i64)> =
        verdicts.iter().filter_map(|(task, end)| Some((*task, end.requests_seen?))).collect();
    facts.with_requests_n = counts.len();
    // A count that no honest proxy writes must not end the program.
    facts.requests_total = counts.iter().fold(0_i64, |sum, (_, count)| sum.saturating_add(*count));
    let zero = counts.iter().filter(|(_, count)| *count == 0);
    facts.unmediated_task_ids = zero.map(|(task, _)| (*task).to_owned()).collect();
    facts.mediated = (!counts.is_empty()).then_some(facts.unmediated_task_ids.is_empty());
    if facts.mediated == Some(false) {
        facts.void_reason = Some(VoidReason::NoRequestsSeen.code().to_owned());
    }
    facts.ungated_task_ids =
        verdicts.iter().filter(|(_, end)| end.ungated).map(|(task, _)| (*task).to_owned()).collect();
}

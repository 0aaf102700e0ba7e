//! Committing to a suite before the first draft exists, and the gate that holds everybody to it (18.4).

use super::{Bound, Suite, Task, Unbound};
use crate::signed;
use canon::{Digest, Object, Value};
use ledger::commitment;
use ledger::identity::{Identity, PublicKey};
use ledger::logbook::{AppendError, Appended, Appender};

const COMMIT: &str = "peer_exec_suite_commit";
const VERSION: i64 = 2;

/// What a gauge found: whether the suite lets the reference through and nothing that is known to be bad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GaugeRecord {
    /// The suite that was gauged.
    pub suite_sha256: Digest,
    /// The reference.
    pub ref_sha256: Digest,
    /// The reference passed.
    pub ref_passed: bool,
    /// Known-bad solutions that were tried.
    pub broken_n: u64,
    /// All of them were refused.
    pub all_rejected: bool,
}

impl GaugeRecord {
    /// Whether the gauge passed. An empty set of known-bad solutions shows nothing.
    pub fn is_ok(&self) -> bool {
        self.ref_passed && self.all_rejected && self.broken_n > 0
    }

    fn to_value(&self) -> Value {
        Object::new()
            .with("suite_sha256", self.suite_sha256)
            .with("ref_sha256", self.ref_sha256)
            .with("n_broken", self.broken_n)
            .with("all_rejected", self.all_rejected)
            .with("ref_passed", self.ref_passed)
            .into()
    }

    fn read(value: &Value) -> Option<GaugeRecord> {
        let object = value.as_object()?;
        Some(GaugeRecord {
            suite_sha256: signed::digest(object, "suite_sha256")?,
            ref_sha256: signed::digest(object, "ref_sha256")?,
            ref_passed: signed::boolean(object, "ref_passed")?,
            broken_n: signed::count(object, "n_broken")?,
            all_rejected: signed::boolean(object, "all_rejected")?,
        })
    }
}

canon::codes! {
    impl SuiteGaugeError: &self {
        SuiteGaugeError::RecordMissing => "gauge_record_missing",
        SuiteGaugeError::OtherSuite => "gauge_suite_mismatch",
        SuiteGaugeError::Failed => "gauge_failed",
        SuiteGaugeError::Nonce => "bad_nonce",
        SuiteGaugeError::Append(_) => "suite_commit_not_appended",
    }
}

/// Why a suite cannot be committed to. Nothing is appended then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuiteGaugeError {
    /// There is no record.
    RecordMissing,
    /// The record is about another suite.
    OtherSuite,
    /// The gauge did not pass.
    Failed,
    /// The nonce has fewer than 16 characters.
    Nonce,
    /// The chain does not take the entry.
    Append(AppendError),
}

/// Signs the commitment to the suite of `bound` as the next entry of `chain`.
pub fn commit_suite(
    chain: &mut Appender,
    committer: &Identity,
    bound: &Bound<'_>,
    gauge: Option<&GaugeRecord>,
    nonce: &str,
    ts_ms: i64,
) -> Result<Appended, SuiteGaugeError> {
    let suite = bound.suite();
    let gauge = gauge.ok_or(SuiteGaugeError::RecordMissing)?;
    if gauge.suite_sha256 != suite.suite_sha256 {
        return Err(SuiteGaugeError::OtherSuite);
    }
    if !gauge.is_ok() {
        return Err(SuiteGaugeError::Failed);
    }
    let commitment = commitment::commit(&suite.normalised, nonce).map_err(|_| SuiteGaugeError::Nonce)?;
    let payload = Object::new()
        .with("v", VERSION)
        .with("task_id", bound.task().task_id.as_str())
        .with("commitment", commitment)
        .with("suite_sha256", suite.suite_sha256)
        .with("entry_point", suite.entry_point.as_str())
        .with("n_tests", suite.tests_n)
        .with("gauge", gauge.to_value());
    chain.append(COMMIT, payload.into(), committer, ts_ms).map_err(SuiteGaugeError::Append)
}

canon::codes! {
    impl Ungated: self {
        Ungated::WrongEntryType => "wrong_entry_type",
        Ungated::BadVersion => "bad_version",
        Ungated::TaskMismatch => "task_mismatch",
        Ungated::EntryPointNotCommitted => "entry_point_not_committed",
        Ungated::CommitmentMismatch => "commitment_mismatch",
        Ungated::BadNonce => "bad_nonce",
        Ungated::RecordMissing => "gauge_record_missing",
        Ungated::OtherSuite => "gauge_suite_mismatch",
        Ungated::Failed => "gauge_failed",
        Ungated::BadSignatureEncoding => "bad_signature_encoding",
        Ungated::BadSignature => "bad_signature",
    } else {
        Ungated::Unbound(unbound) => unbound.code(),
    }
}

/// Why a suite is not the one that was committed to. The first reason that applies, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ungated {
    /// The entry is no commitment to a suite.
    WrongEntryType,
    /// Another version (not asked by the peer).
    BadVersion,
    /// The suite cannot be run for the task.
    Unbound(Unbound),
    /// Committed to for another task (not asked by the peer).
    TaskMismatch,
    /// The commitment names another entry point, or none.
    EntryPointNotCommitted,
    /// Suite and nonce do not give the commitment.
    CommitmentMismatch,
    /// The nonce has fewer than 16 characters.
    BadNonce,
    /// No record was signed with it.
    RecordMissing,
    /// The record is about another suite.
    OtherSuite,
    /// The gauge did not pass.
    Failed,
    /// The signature is not 128 lowercase hex digits.
    BadSignatureEncoding,
    /// The committer did not sign it.
    BadSignature,
}

/// A commitment with what opens it. The key is no option: without it an inflated gauge record passes, as it does in
/// the peer.
#[derive(Clone, Copy, Debug)]
pub struct Committed<'a> {
    /// The signed entry.
    pub entry: &'a Value,
    /// The nonce.
    pub nonce: &'a str,
    /// Key of whoever committed.
    pub committer: &'a PublicKey,
}

/// Checks that `suite` is what was committed to for `task`, with a gauge that passed.
pub fn suite_gate(
    committed: &Committed<'_>,
    task: &Task,
    suite: &Suite,
    is_reserved: &dyn Fn(&str) -> bool,
) -> Result<GaugeRecord, Ungated> {
    let entry = committed.entry.as_object().ok_or(Ungated::WrongEntryType)?;
    let payload = entry.get("payload").and_then(Value::as_object).ok_or(Ungated::WrongEntryType)?;
    let ensure = |holds: bool, refusal| if holds { Ok(()) } else { Err(refusal) };
    ensure(signed::text(entry, "type") == Some(COMMIT), Ungated::WrongEntryType)?;
    ensure(signed::integer(payload, "v") == Some(VERSION), Ungated::BadVersion)?;
    let bound = suite.bind(task, is_reserved).map_err(Ungated::Unbound)?;
    let is = |member: &str, want: &str| signed::text(payload, member) == Some(want);
    ensure(is("task_id", &bound.task().task_id), Ungated::TaskMismatch)?;
    ensure(is("entry_point", &suite.entry_point), Ungated::EntryPointNotCommitted)?;
    let opened = commitment::commit(&suite.normalised, committed.nonce).map_err(|_| Ungated::BadNonce)?;
    let same = is("commitment", &opened.to_hex()) && is("suite_sha256", &suite.suite_sha256.to_hex());
    ensure(same, Ungated::CommitmentMismatch)?;
    let gauge = payload.get("gauge").and_then(GaugeRecord::read).ok_or(Ungated::RecordMissing)?;
    ensure(gauge.suite_sha256 == suite.suite_sha256, Ungated::OtherSuite)?;
    ensure(gauge.is_ok(), Ungated::Failed)?;
    let text = signed::text(entry, "sig").and_then(signed::signature);
    ensure(text.is_some(), Ungated::BadSignatureEncoding)?;
    ensure(signed::verifies(entry, committed.committer, "sig"), Ungated::BadSignature)?;
    Ok(gauge)
}

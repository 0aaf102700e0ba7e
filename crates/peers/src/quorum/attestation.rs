//! What one executor signs about one draft (18.1).

use super::{Bound, Code};
use crate::signed;
use canon::{Digest, Object, Value, canonical_digest, canonical_part};
use ledger::identity::{Identity, PublicKey};
use ledger::logbook::{AppendError, Appender};
use std::collections::BTreeMap;

/// Entry type of a statement.
pub(super) const ATTESTATION: &str = "peer_exec_attestation";
const VERSION: i64 = 2;

/// Who may judge, with which key. The key that a statement carries is never asked.
pub type Roster = BTreeMap<String, PublicKey>;

canon::codes! {
    /// Why a statement is no vote. The first reason that applies, in this order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Inadmissible {
        /// The executor is not in the roster.
        UnknownExecutor = "unknown_executor",
        /// The entry is no statement of an executor.
        WrongEntryType = "wrong_entry_type",
        /// The statement has another version.
        BadVersion = "bad_version",
        /// The statement is signed for another name.
        ExecutorIdMismatch = "executor_id_mismatch",
        /// A member of the judgement is missing or of another type.
        MissingVerdictField = "missing_verdict_field",
        /// It is about another task.
        TaskMismatch = "task_mismatch",
        /// It is about another draft.
        DraftMismatch = "draft_mismatch",
        /// It is about another suite.
        SuiteMismatch = "suite_mismatch",
        /// Another program ran.
        RenderMismatch = "render_mismatch",
        /// The signature is not 128 lowercase hex digits.
        BadSignatureEncoding = "bad_signature_encoding",
        /// The key of the roster did not sign it.
        BadSignature = "bad_signature",
        /// The executor signed two different statements: none of them counts.
        Equivocation = "equivocation",
    }
}

/// What a statement must be about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The task.
    pub task_id: String,
    /// Digest of the draft.
    pub draft: Digest,
    /// Digest of the suite.
    pub suite: Digest,
    /// Digest of the program that runs it.
    pub render: Digest,
}

/// An entry of an executor's chain, and under whose name it is handed in.
#[derive(Clone, Debug, PartialEq)]
pub struct Attestation {
    /// The name.
    pub executor_id: String,
    /// The signed entry.
    pub entry: Value,
}

/// What an executor saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Every test passed.
    pub visible_ok: bool,
    /// Index of the first one that did not, from 0.
    pub first_failing_test: Option<u64>,
    /// The draft could be loaded.
    pub loads_ok: bool,
    /// Kind of the failure.
    pub detail_reason: Option<String>,
}

/// Runs a suite on a draft. This is the only place at which a quorum reaches the world.
pub trait Probe {
    /// Why a run could not be made. A run that could not be made is no vote.
    type Error;
    /// Runs the suite of `bound` on `code`.
    fn run(&mut self, code: &Code, bound: &Bound<'_>) -> Result<Outcome, Self::Error>;
}

/// A statement that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Vote {
    pub(super) visible_ok: bool,
    pub(super) first_failing_test: Option<u64>,
    pub(super) payload: Digest,
    pub(super) entry: Digest,
}

/// Checks one statement against roster and binding.
pub fn verify_attestation(
    said: &Attestation,
    roster: &Roster,
    binding: &Binding,
) -> Result<(), Inadmissible> {
    admit(said, roster, binding).map(|_| ())
}

pub(super) fn admit(said: &Attestation, roster: &Roster, binding: &Binding) -> Result<Vote, Inadmissible> {
    let ensure = |holds: bool, refusal| if holds { Ok(()) } else { Err(refusal) };
    let key = roster.get(&said.executor_id).ok_or(Inadmissible::UnknownExecutor)?;
    let entry = said.entry.as_object().ok_or(Inadmissible::WrongEntryType)?;
    ensure(signed::text(entry, "type") == Some(ATTESTATION), Inadmissible::WrongEntryType)?;
    let payload = entry.get("payload").and_then(Value::as_object).ok_or(Inadmissible::BadVersion)?;
    ensure(signed::integer(payload, "v") == Some(VERSION), Inadmissible::BadVersion)?;
    let is = |member: &str, want: &str| signed::text(payload, member) == Some(want);
    ensure(is("executor_id", &said.executor_id), Inadmissible::ExecutorIdMismatch)?;
    let (visible_ok, first_failing_test) = judgement(payload).ok_or(Inadmissible::MissingVerdictField)?;
    ensure(is("task_id", &binding.task_id), Inadmissible::TaskMismatch)?;
    ensure(is("draft_sha256", &binding.draft.to_hex()), Inadmissible::DraftMismatch)?;
    ensure(is("suite_sha256", &binding.suite.to_hex()), Inadmissible::SuiteMismatch)?;
    ensure(is("render_sha256", &binding.render.to_hex()), Inadmissible::RenderMismatch)?;
    let text = signed::text(entry, "sig").and_then(signed::signature);
    ensure(text.is_some(), Inadmissible::BadSignatureEncoding)?;
    ensure(signed::verifies(entry, key, "sig"), Inadmissible::BadSignature)?;
    Ok(Vote {
        visible_ok,
        first_failing_test,
        payload: canonical_digest(&Value::Object(payload.clone())),
        entry: Digest::of(&canonical_part(entry, |member| member != "sig")),
    })
}

/// What was judged; nothing when a member is missing or the members contradict one another.
fn judgement(payload: &Object) -> Option<(bool, Option<u64>)> {
    let visible_ok = signed::boolean(payload, "visible_ok")?;
    let first_failing_test = match payload.get("first_failing_test")? {
        Value::Null => None,
        _ => Some(signed::count(payload, "first_failing_test")?),
    };
    signed::count(payload, "n_visible_tests")?;
    signed::boolean(payload, "loads_ok")?;
    let reason = payload.get("detail_reason")?;
    (reason.is_null() || reason.as_str().is_some()).then_some((visible_ok, first_failing_test))
}

/// Somebody who judges: a name, a key, a chain of its own, and a way to run things.
pub struct Executor<P> {
    id: String,
    identity: Identity,
    chain: Appender,
    lines: Vec<u8>,
    probe: P,
}

/// Why an executor has no statement.
#[derive(Debug)]
pub enum CannotAttest<E> {
    /// The suite could not be run.
    Probe(E),
    /// The entry could not be written.
    Append(AppendError),
}

impl<P: Probe> Executor<P> {
    /// An executor with an empty chain.
    pub fn new(id: &str, identity: Identity, probe: P) -> Executor<P> {
        Executor { id: id.to_owned(), identity, chain: Appender::default(), lines: Vec::new(), probe }
    }

    /// Its name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its key, for the roster.
    pub fn key(&self) -> PublicKey {
        self.identity.public()
    }

    /// How it runs things, to be set for the next draft.
    pub fn probe(&mut self) -> &mut P {
        &mut self.probe
    }

    /// Its chain file.
    pub fn lines(&self) -> &[u8] {
        &self.lines
    }

    /// Runs the suite on a draft and signs what it saw. Nothing is appended when the run could not be made.
    pub fn attest(
        &mut self,
        code: &Code,
        bound: &Bound<'_>,
        ts_ms: i64,
    ) -> Result<Attestation, CannotAttest<P::Error>> {
        let outcome = self.probe.run(code, bound).map_err(CannotAttest::Probe)?;
        let binding = bound.binding(code);
        let payload = Object::new()
            .with("v", VERSION)
            .with("executor_id", self.id.as_str())
            .with("task_id", binding.task_id)
            .with("draft_sha256", binding.draft)
            .with("suite_sha256", binding.suite)
            .with("render_sha256", binding.render)
            .with("visible_ok", outcome.visible_ok)
            .with("first_failing_test", outcome.first_failing_test)
            .with("n_visible_tests", bound.suite().tests_n())
            .with("loads_ok", outcome.loads_ok)
            .with("detail_reason", outcome.detail_reason);
        let appended = self.chain.append(ATTESTATION, payload.into(), &self.identity, ts_ms);
        let line = appended.map_err(CannotAttest::Append)?.line;
        self.lines.extend_from_slice(&line);
        // What was just written is read again by the one reader that everybody uses.
        let entry = canon::Reader::strict().read(line.trim_ascii_end()).unwrap_or(Value::Null);
        Ok(Attestation { executor_id: self.id.clone(), entry })
    }
}

//! What the consent entries of a chain come to.

use super::{ERASED, Erasure, GRANT, Grant, WITHDRAW, Withdrawal};
use crate::signed::is_token;
use canon::{Digest, Value};
use ledger::identity::PublicKey;
use ledger::{Failure, Mode, logbook};
use std::collections::BTreeMap;

canon::codes! {
    /// What is wrong with a consent entry of a chain that holds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Problem {
        /// The entry names no subject that can be used.
        SubjectUnusable = "consent_subject_unusable",
        /// Members are missing, too many or of another type, or the erasure leaves the nonce.
        Malformed = "consent_malformed",
        /// A grant for somebody who granted before and was not erased.
        GrantedTwice = "consent_granted_twice",
        /// A withdrawal for somebody who granted nothing.
        OrphanWithdrawal = "consent_orphan_withdrawal",
        /// A withdrawal that names another grant. It counts all the same: doubt is no consent.
        OtherGrant = "consent_other_grant",
        /// A withdrawal for somebody who has withdrawn.
        WithdrawnTwice = "consent_withdrawn_twice",
        /// An erasure for somebody who withdrew nothing.
        OrphanErasure = "consent_orphan_erasure",
        /// An erasure that names another withdrawal. It does not count: nothing is said of this one.
        OtherWithdrawal = "consent_other_withdrawal",
        /// An erasure that names another nonce than the grant. It does not count.
        OtherNonce = "consent_other_nonce",
    }
}

/// Where a subject stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Consent stands.
    Granted,
    /// Consent was taken back; what describes the person is still there.
    Withdrawn,
    /// What described the person is gone.
    Erased,
}

impl State {
    /// The word of a report.
    pub const fn text(self) -> &'static str {
        match self {
            State::Granted => "granted",
            State::Withdrawn => "withdrawn",
            State::Erased => "erased",
        }
    }
}

/// One subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Where it stands.
    pub state: State,
    /// What consent was given for.
    pub fields: Vec<String>,
    /// What the grant commits to: the persona with the nonce.
    pub commitment: Digest,
    /// `seq` of the grant.
    pub grant_seq: i64,
    /// `seq` of the withdrawal.
    pub withdraw_seq: Option<i64>,
    /// `seq` of the erasure.
    pub erase_seq: Option<i64>,
    /// What was erased, sorted.
    pub erased_refs: Vec<String>,
    grant_hash: Digest,
    withdraw_hash: Option<Digest>,
    nonce_ref: String,
}

impl Subject {
    /// Entry hash of the grant, which a withdrawal names.
    pub fn grant_hash(&self) -> Digest {
        self.grant_hash
    }

    /// Entry hash of the withdrawal, which an erasure names.
    pub fn withdraw_hash(&self) -> Option<Digest> {
        self.withdraw_hash
    }

    /// What the grant calls its nonce.
    pub fn nonce_ref(&self) -> &str {
        &self.nonce_ref
    }

    /// Withdrawn, and not erased yet.
    pub fn is_unfulfilled(&self) -> bool {
        self.state == State::Withdrawn
    }
}

/// A problem and the `seq` at which it is.
pub type Problems = Vec<(i64, Problem)>;

/// Subjects by reference, and what is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Everybody who granted something.
    pub subjects: BTreeMap<String, Subject>,
    /// In order of the chain.
    pub problems: Problems,
}

/// One entry, as the audit sees it.
struct Seen<'a> {
    seq: i64,
    hash: Digest,
    payload: &'a Value,
}

/// Audits entries `(seq, type, entry hash, payload)` of a chain that was verified; types of other kinds are passed over.
pub fn audit<'a>(entries: impl IntoIterator<Item = (i64, &'a str, Digest, &'a Value)>) -> Audit {
    let mut audit = Audit::default();
    for (seq, kind, hash, payload) in entries {
        let seen = Seen { seq, hash, payload };
        let step = match kind {
            GRANT => Audit::granted,
            WITHDRAW => Audit::withdrawn,
            ERASED => Audit::erased,
            _ => continue,
        };
        let subject = payload.get("subject_ref").and_then(Value::as_str);
        let problem = if subject.is_some_and(is_token) {
            step(&mut audit, &seen)
        } else {
            Some(Problem::SubjectUnusable)
        };
        audit.problems.extend(problem.map(|problem| (seq, problem)));
    }
    audit
}

/// Verifies a chain and audits it; the failures of a chain that does not hold instead.
pub fn audit_chain(file: &[u8], key: &PublicKey) -> Result<Audit, Vec<Failure>> {
    let keep = |_: &str, payload: &Value| Some(payload.clone());
    let lines = logbook::lines(file);
    let chain =
        logbook::link(lines.iter().map(|line| logbook::examine(line, key, Mode::Strict, &keep)).collect());
    if !chain.failures.is_empty() {
        return Err(chain.failures);
    }
    let entries = chain.lines.iter().filter_map(|line| line.entry.as_ref());
    Ok(audit(
        entries
            .filter_map(|entry| Some((entry.seq?, entry.kind.as_ref(), entry.hash, entry.facts.as_ref()?))),
    ))
}

impl Audit {
    fn granted(&mut self, seen: &Seen<'_>) -> Option<Problem> {
        let Some(grant) = Grant::read(seen.payload) else { return Some(Problem::Malformed) };
        // Whoever was erased may begin anew; before that, a grant would hide a withdrawal or an erasure that is due.
        if self.subjects.get(&grant.subject_ref).is_some_and(|subject| subject.state != State::Erased) {
            return Some(Problem::GrantedTwice);
        }
        let subject = Subject {
            state: State::Granted,
            fields: grant.fields.into_iter().collect(),
            commitment: grant.commitment,
            grant_seq: seen.seq,
            withdraw_seq: None,
            erase_seq: None,
            erased_refs: Vec::new(),
            grant_hash: seen.hash,
            withdraw_hash: None,
            nonce_ref: grant.nonce_ref,
        };
        self.subjects.insert(grant.subject_ref, subject);
        None
    }

    fn withdrawn(&mut self, seen: &Seen<'_>) -> Option<Problem> {
        let Some(withdrawal) = Withdrawal::read(seen.payload) else { return Some(Problem::Malformed) };
        let Some(subject) = self.subjects.get_mut(&withdrawal.subject_ref) else {
            return Some(Problem::OrphanWithdrawal);
        };
        if subject.state != State::Granted {
            return Some(Problem::WithdrawnTwice);
        }
        subject.state = State::Withdrawn;
        subject.withdraw_seq = Some(seen.seq);
        subject.withdraw_hash = Some(seen.hash);
        (withdrawal.grant_hash != subject.grant_hash).then_some(Problem::OtherGrant)
    }

    fn erased(&mut self, seen: &Seen<'_>) -> Option<Problem> {
        let Some(erasure) = Erasure::read(seen.payload) else { return Some(Problem::Malformed) };
        let subject = self.subjects.get_mut(&erasure.subject_ref);
        let Some(subject) = subject.filter(|subject| subject.is_unfulfilled()) else {
            return Some(Problem::OrphanErasure);
        };
        if subject.withdraw_hash != Some(erasure.withdraw_hash) {
            return Some(Problem::OtherWithdrawal);
        }
        if subject.nonce_ref != erasure.nonce_ref {
            return Some(Problem::OtherNonce);
        }
        subject.state = State::Erased;
        subject.erase_seq = Some(seen.seq);
        subject.erased_refs = erasure.erased.into_iter().map(|file| file.reference).collect();
        None
    }
}

//! `verify_delivery`: what the asking desk checks before anything of a delivery is used (section 19).

use super::receipt::Receipt;
use super::review::Review;
use super::verify::{Asked, Refusal, verify_delegation_receipt};
use crate::ecosystem::Registry;
use crate::signed;
use canon::{Digest, Value};
use ledger::Mode;
use ledger::identity::PublicKey;
use ledger::logbook;

/// Entry type of a delivery on the deliverer's chain.
const DELIVER: &str = "DELIVER";

canon::codes! {
    impl Undelivered: &self {
        Undelivered::CheckUnusable => "delivery_check_unusable",
        Undelivered::SignerUnknown => "delivery_signer_unknown",
        Undelivered::ChainMissing => "delivery_chain_missing",
        Undelivered::ChainBroken => "delivery_chain_broken",
        Undelivered::Substrate => "delivery_substrate",
        Undelivered::Stream => "delivery_stream",
        Undelivered::Branch => "delivery_branch",
        Undelivered::HeadMoved => "delivery_head_moved",
        Undelivered::ReviewerUnknown => "delivery_reviewer_unknown",
        Undelivered::ReviewedEntryUnknown => "delivery_reviewed_entry_unknown",
        Undelivered::ReviewedEntryPlace => "delivery_reviewed_entry_place",
        Undelivered::ReviewedEntryType => "delivery_reviewed_entry_type",
        Undelivered::ReviewedTask => "delivery_reviewed_task",
        Undelivered::ReviewedAnswer => "delivery_reviewed_answer",
        Undelivered::CheckNotMeasured => "delivery_check_not_measured",
        Undelivered::CheckFailed => "delivery_check_failed",
    } else {
        Undelivered::Receipt(refusal) => refusal.code(),
        Undelivered::Policy(refusal) => refusal.code(),
    }
}

/// Why a delivery is not taken. The first reason that applies, in this order (the policy stands before the local check).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// The check cannot be used here.
    CheckUnusable,
    /// The signer is not announced.
    SignerUnknown,
    /// The receipt or its card does not hold.
    Receipt(Refusal),
    /// The deliverer shows no chain.
    ChainMissing,
    /// The deliverer's chain does not verify.
    ChainBroken,
    /// It runs on something else now.
    Substrate,
    /// It has another stream now.
    Stream,
    /// It has another branch now.
    Branch,
    /// Its chain went on, or back.
    HeadMoved,
    /// A reviewer is not announced.
    ReviewerUnknown,
    /// The reviewed entry is not on the chain, or is there more than once.
    ReviewedEntryUnknown,
    /// The reviewed entry is not the one before the last.
    ReviewedEntryPlace,
    /// The reviewed entry is no delivery.
    ReviewedEntryType,
    /// The reviewed entry is about another task.
    ReviewedTask,
    /// The reviewed entry holds another answer.
    ReviewedAnswer,
    /// The policy does not admit it.
    Policy(NotAdmitted),
    /// The check could not be run here. That is not a pass.
    CheckNotMeasured,
    /// The check fails here.
    CheckFailed,
}

canon::codes! {
    /// Why the policy does not admit a delivery that holds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NotAdmitted {
        /// Made without reputation, reviews and audits.
        TrustOff = "policy_trust_off",
        /// The ecosystem's own check did not pass.
        NotVerified = "policy_not_verified",
        /// Not audited.
        NotAudited = "policy_not_audited",
        /// The audit failed.
        AuditFailed = "policy_audit_failed",
        /// Too few reviews pass.
        TooFewReviews = "policy_too_few_reviews",
        /// It took more attempts than agreed, or names none.
        Attempts = "policy_attempts",
    }
}

/// A policy that cannot be: attempts are 1 to 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyError;

/// What a desk asks of a delivery that holds. There is no way to ask for less than a verified delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    require_trust: bool,
    require_audit: bool,
    passing_reviews_min: u64,
    max_attempts: u64,
}

impl Default for Policy {
    /// Trust mode on, audited, one passing review, three attempts.
    fn default() -> Policy {
        Policy { require_trust: true, require_audit: true, passing_reviews_min: 1, max_attempts: 3 }
    }
}

impl Policy {
    /// Another number of attempts, 1 to 10.
    pub fn with_max_attempts(self, max_attempts: u64) -> Result<Policy, PolicyError> {
        if (1..=10).contains(&max_attempts) { Ok(Policy { max_attempts, ..self }) } else { Err(PolicyError) }
    }

    /// Another number of passing reviews; 0 admits a delivery that nobody reviewed.
    #[must_use]
    pub fn with_passing_reviews(self, passing_reviews_min: u64) -> Policy {
        Policy { passing_reviews_min, ..self }
    }

    /// Admits deliveries that were not audited; a failed audit is refused all the same.
    #[must_use]
    pub fn without_audit(self) -> Policy {
        Policy { require_audit: false, ..self }
    }

    /// Admits deliveries of an ecosystem without reputation, reviews and audits.
    #[must_use]
    pub fn without_trust(self) -> Policy {
        Policy { require_trust: false, ..self }
    }

    /// How many attempts a deliverer has.
    pub fn max_attempts(&self) -> u64 {
        self.max_attempts
    }

    /// Whether it admits what `receipt` states.
    pub fn admit(&self, receipt: &Receipt) -> Result<(), NotAdmitted> {
        let audit = receipt.audit;
        if self.require_trust && !receipt.trust_on {
            Err(NotAdmitted::TrustOff)
        } else if !receipt.verified {
            Err(NotAdmitted::NotVerified)
        } else if self.require_audit && !audit.performed {
            Err(NotAdmitted::NotAudited)
        } else if audit.performed && !audit.passed {
            Err(NotAdmitted::AuditFailed)
        } else if receipt.reviews.passed < self.passing_reviews_min {
            Err(NotAdmitted::TooFewReviews)
        } else if !(1..=self.max_attempts).contains(&receipt.attempts) {
            Err(NotAdmitted::Attempts)
        } else {
            Ok(())
        }
    }
}

/// The check of a request, run by the caller: the pure ring starts nothing.
pub trait Check {
    /// Whether the check can be used here at all.
    fn is_usable(&self, tests: &Value) -> bool;
    /// Runs it on the answer; nothing when it could not be run.
    fn passes(&self, tests: &Value, answer: &str) -> Option<bool>;
}

/// What a deliverer shows at this moment.
#[derive(Clone, Copy, Debug)]
pub struct Live<'a> {
    /// What it runs on.
    pub substrate: &'a str,
    /// Its chain file.
    pub chain: &'a [u8],
}

/// What the asking desk has.
pub struct Desk<'a> {
    /// Who is announced, with which key.
    pub registry: &'a Registry,
    /// What the deliverer with an id shows now.
    pub live: &'a dyn Fn(&str) -> Option<Live<'a>>,
    /// What is asked beyond holding.
    pub policy: Policy,
    /// The check, run here.
    pub check: &'a dyn Check,
}

/// An entry of the live chain, as far as reviews speak of it.
struct Entry {
    hash: Digest,
    kind: String,
    branch: String,
    task_id: Option<String>,
    answer: Option<Digest>,
}

/// Checks a delivery: receipt and card against the announced key, the live chain, every review against chain and
/// registry, the policy, and last the check itself, here.
pub fn verify_delivery(
    document: &Value,
    card: &Value,
    asked: &Asked<'_>,
    desk: &Desk<'_>,
) -> Result<Receipt, Undelivered> {
    if !desk.check.is_usable(asked.tests) {
        return Err(Undelivered::CheckUnusable);
    }
    let id = document.get("signer").and_then(|signer| signer.get("vacant_id")?.as_str());
    let key = id.and_then(|id| desk.registry.key_of(id)).ok_or(Undelivered::SignerUnknown)?;
    let receipt = verify_delegation_receipt(document, card, asked, &key).map_err(Undelivered::Receipt)?;
    let live = (desk.live)(&receipt.signer.vacant_id).ok_or(Undelivered::ChainMissing)?;
    let chain = live_chain(&receipt, &live, &key)?;
    for review in card.get("reviews").and_then(Value::as_array).unwrap_or_default() {
        reviewed(&receipt, review, &chain, desk.registry)?;
    }
    desk.policy.admit(&receipt).map_err(Undelivered::Policy)?;
    match desk.check.passes(asked.tests, asked.answer) {
        Some(true) => Ok(receipt),
        Some(false) => Err(Undelivered::CheckFailed),
        None => Err(Undelivered::CheckNotMeasured),
    }
}

fn live_chain(receipt: &Receipt, live: &Live<'_>, key: &PublicKey) -> Result<Vec<Entry>, Undelivered> {
    let keep = |_: &str, payload: &Value| {
        let object = payload.as_object();
        let task = object.and_then(|object| signed::word(object, "task_id"));
        Some((task, object.and_then(|object| signed::digest(object, "answer_sha256"))))
    };
    let lines = logbook::lines(live.chain);
    let chain =
        logbook::link(lines.iter().map(|line| logbook::examine(line, key, Mode::Strict, &keep)).collect());
    if !chain.verify_chain || !chain.failures.is_empty() || chain.entries_n == 0 {
        return Err(Undelivered::ChainBroken);
    }
    let entry = |entry: logbook::Entry<(Option<String>, Option<Digest>)>| {
        let branch = entry.branch().to_owned();
        let (task_id, answer) = entry.facts.unwrap_or_default();
        Entry { hash: entry.hash, kind: entry.kind.into_string(), branch, task_id, answer }
    };
    let (stream, head) = (chain.stream_id, chain.head);
    let entries: Vec<Entry> = chain.lines.into_iter().filter_map(|line| line.entry).map(entry).collect();
    let ensure = |holds: bool, refusal| if holds { Ok(()) } else { Err(refusal) };
    ensure(receipt.substrate == live.substrate, Undelivered::Substrate)?;
    ensure(stream == Some(receipt.signer.stream_id), Undelivered::Stream)?;
    ensure(entries.iter().all(|entry| entry.branch == receipt.signer.branch_id), Undelivered::Branch)?;
    ensure(head == receipt.signer.chain_head, Undelivered::HeadMoved)?;
    Ok(entries)
}

fn reviewed(
    receipt: &Receipt,
    given: &Value,
    chain: &[Entry],
    registry: &Registry,
) -> Result<(), Undelivered> {
    let ensure = |holds: bool, refusal| if holds { Ok(()) } else { Err(refusal) };
    let review =
        given.get("envelope").and_then(Review::read).ok_or(Undelivered::Receipt(Refusal::ReviewShape))?;
    // That it is announced with this key follows: both ids are derived from their keys.
    ensure(registry.key_of(&review.reviewer_id).is_some(), Undelivered::ReviewerUnknown)?;
    let places: Vec<usize> =
        (0..chain.len()).filter(|place| chain[*place].hash == review.target_head).collect();
    let [place] = places[..] else { return Err(Undelivered::ReviewedEntryUnknown) };
    ensure(place + 2 == chain.len(), Undelivered::ReviewedEntryPlace)?;
    let entry = &chain[place];
    // That the review names this branch follows: it names the receipt's, which all of the chain is on.
    ensure(entry.kind == DELIVER, Undelivered::ReviewedEntryType)?;
    ensure(entry.task_id.as_deref() == Some(receipt.task_id.as_str()), Undelivered::ReviewedTask)?;
    ensure(entry.answer == Some(receipt.answer_sha256), Undelivered::ReviewedAnswer)
}

//! The delegation receipt: what the deliverer signs about one request, its answer and the card beside it.

use super::verify::Refusal;
use crate::signed;
use canon::{Digest, Object, Value, canonical_digest};
use ledger::identity::{Identity, PublicKey};

pub(super) const KIND: &str = "vacant.delegation.receipt";

const MEMBERS: [&str; 19] = [
    "v",
    "kind",
    "request_id",
    "request_sha256",
    "task_sha256",
    "tests_sha256",
    "risk",
    "task_id",
    "answer_sha256",
    "trust_card_sha256",
    "verified",
    "trust_on",
    "audit",
    "reviews",
    "attempts",
    "substrate",
    "signer",
    "ts_ms",
    "sig",
];

/// Whether the ecosystem audited, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audit {
    /// An audit was made.
    pub performed: bool,
    /// It passed.
    pub passed: bool,
}

impl Audit {
    pub(super) fn read(value: &Value) -> Option<Audit> {
        let object = value.as_object().filter(|object| signed::exact(object, &["performed", "passed"]))?;
        Some(Audit {
            performed: signed::boolean(object, "performed")?,
            passed: signed::boolean(object, "passed")?,
        })
    }

    pub(super) fn to_value(self) -> Value {
        Object::new().with("performed", self.performed).with("passed", self.passed).into()
    }
}

/// How many reviews lie on the card, and how many of them pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewCount {
    /// All of them.
    pub count: u64,
    /// Those that pass.
    pub passed: u64,
}

/// Who signs, and where the deliverer's chain stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    /// Id as written; compared with the key.
    pub vacant_id: String,
    /// Key as written; compared with the anchored one.
    pub key: PublicKey,
    /// Stream of the deliverer.
    pub stream_id: Digest,
    /// Its branch.
    pub branch_id: String,
    /// Its last entry.
    pub chain_head: Digest,
}

/// What was asked for and agreed, as the deliverer heard it.
#[derive(Clone, Debug)]
pub struct Terms<'a> {
    /// Id of the request, from the asking side.
    pub request_id: &'a str,
    /// The task.
    pub task: &'a str,
    /// The check, as given.
    pub tests: &'a Value,
    /// `normal` or `high`.
    pub risk: &'a str,
    /// The answer that is delivered.
    pub answer: &'a str,
}

/// A receipt as read. Reading checks members and types, nothing else.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// Id of the request.
    pub request_id: String,
    /// Digest of the request.
    pub request_sha256: Digest,
    /// Digest of the task.
    pub task_sha256: Digest,
    /// Digest of the check.
    pub tests_sha256: Digest,
    /// `normal` or `high`, as written.
    pub risk: String,
    /// Task on the deliverer's chain.
    pub task_id: String,
    /// Digest of the answer.
    pub answer_sha256: Digest,
    /// Digest of the card.
    pub card_sha256: Digest,
    /// The ecosystem's own check passed.
    pub verified: bool,
    /// The ecosystem ran with reputation, reviews and audits.
    pub trust_on: bool,
    /// Audit of this delivery.
    pub audit: Audit,
    /// Reviews of this delivery.
    pub reviews: ReviewCount,
    /// Attempts that it took, the last one included.
    pub attempts: u64,
    /// What the deliverer runs on.
    pub substrate: String,
    /// Who signs.
    pub signer: Signer,
    /// Milliseconds since 1970, given by the deliverer.
    pub ts_ms: i64,
}

pub(super) fn request_digest(request_id: &str, terms: (&str, &Value, &str)) -> Digest {
    let (task, tests, risk) = terms;
    let request = Object::new().with("request_id", request_id).with("task", task);
    canonical_digest(&request.with("tests", tests.clone()).with("risk", risk).into())
}

impl Receipt {
    /// A receipt for `terms`, with digests computed. The other members are what the deliverer states.
    pub fn for_terms(terms: &Terms<'_>, card: &Value, signer: Signer, ts_ms: i64) -> Receipt {
        Receipt {
            request_id: terms.request_id.to_owned(),
            request_sha256: request_digest(terms.request_id, (terms.task, terms.tests, terms.risk)),
            task_sha256: Digest::of(terms.task.as_bytes()),
            tests_sha256: canonical_digest(terms.tests),
            risk: terms.risk.to_owned(),
            task_id: card.get("task_id").and_then(Value::as_str).unwrap_or_default().to_owned(),
            answer_sha256: Digest::of(terms.answer.as_bytes()),
            card_sha256: canonical_digest(card),
            verified: false,
            trust_on: false,
            audit: Audit { performed: false, passed: false },
            reviews: ReviewCount { count: 0, passed: 0 },
            attempts: 1,
            substrate: String::new(),
            signer,
            ts_ms,
        }
    }

    fn claim(&self) -> Object {
        let reviews = Object::new().with("count", self.reviews.count).with("passed", self.reviews.passed);
        let signer = Object::new()
            .with("vacant_id", self.signer.vacant_id.as_str())
            .with("pub", self.signer.key.to_hex())
            .with("stream_id", self.signer.stream_id)
            .with("branch_id", self.signer.branch_id.as_str())
            .with("chain_head", self.signer.chain_head);
        Object::new()
            .with("v", 1_i64)
            .with("kind", KIND)
            .with("request_id", self.request_id.as_str())
            .with("request_sha256", self.request_sha256)
            .with("task_sha256", self.task_sha256)
            .with("tests_sha256", self.tests_sha256)
            .with("risk", self.risk.as_str())
            .with("task_id", self.task_id.as_str())
            .with("answer_sha256", self.answer_sha256)
            .with("trust_card_sha256", self.card_sha256)
            .with("verified", self.verified)
            .with("trust_on", self.trust_on)
            .with("audit", self.audit.to_value())
            .with("reviews", reviews)
            .with("attempts", self.attempts)
            .with("substrate", self.substrate.as_str())
            .with("signer", signer)
            .with("ts_ms", self.ts_ms)
    }

    /// The signed document.
    pub fn sign(&self, deliverer: &Identity) -> Value {
        signed::sign(self.claim(), deliverer, "sig").into()
    }

    /// Members, version and types of a document, in this order; the signature is not looked at.
    pub fn read(document: &Value) -> Result<Receipt, Refusal> {
        let object = document.as_object().ok_or(Refusal::Members)?;
        let exact = |member: &str, names: &[&str]| {
            object.get(member).and_then(Value::as_object).is_some_and(|inner| signed::exact(inner, names))
        };
        if !signed::exact(object, &MEMBERS)
            || !exact("audit", &["performed", "passed"])
            || !exact("reviews", &["count", "passed"])
            || !exact("signer", &["vacant_id", "pub", "stream_id", "branch_id", "chain_head"])
        {
            return Err(Refusal::Members);
        }
        if signed::integer(object, "v") != Some(1) || signed::text(object, "kind") != Some(KIND) {
            return Err(Refusal::VersionOrKind);
        }
        let receipt = Receipt::typed(object).ok_or(Refusal::MemberType)?;
        if receipt.reviews.passed > receipt.reviews.count {
            return Err(Refusal::PassedExceedsCount);
        }
        match signed::text(object, "sig").and_then(signed::signature) {
            Some(_) => Ok(receipt),
            None => Err(Refusal::SignatureText),
        }
    }

    fn typed(object: &Object) -> Option<Receipt> {
        let reviews = object.get("reviews")?.as_object()?;
        let signer = object.get("signer")?.as_object()?;
        signed::text(object, "sig")?;
        Some(Receipt {
            request_id: signed::word(object, "request_id")?,
            request_sha256: signed::digest(object, "request_sha256")?,
            task_sha256: signed::digest(object, "task_sha256")?,
            tests_sha256: signed::digest(object, "tests_sha256")?,
            risk: signed::word(object, "risk")?,
            task_id: signed::word(object, "task_id")?,
            answer_sha256: signed::digest(object, "answer_sha256")?,
            card_sha256: signed::digest(object, "trust_card_sha256")?,
            verified: signed::boolean(object, "verified")?,
            trust_on: signed::boolean(object, "trust_on")?,
            audit: Audit::read(object.get("audit")?)?,
            reviews: ReviewCount {
                count: signed::count(reviews, "count")?,
                passed: signed::count(reviews, "passed")?,
            },
            attempts: signed::count(object, "attempts")?,
            substrate: signed::word(object, "substrate")?,
            signer: Signer {
                vacant_id: signed::word(signer, "vacant_id")?,
                key: PublicKey::parse(signed::text(signer, "pub")?).ok()?,
                stream_id: signed::digest(signer, "stream_id")?,
                branch_id: signed::word(signer, "branch_id")?,
                chain_head: signed::digest(signer, "chain_head")?,
            },
            ts_ms: signed::integer(object, "ts_ms")?,
        })
    }
}

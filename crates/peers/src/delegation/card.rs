//! The delivery card (the peer calls it trust card): who delivered, with which reputation, and what reviewers signed.

use super::receipt::Audit;
use super::review::Word;
use crate::fixed::Fixed;
use crate::signed;
use canon::{Digest, Object, Value};
use ledger::identity::{Identity, PublicKey};

/// Characters of an id that a card shows: the last ones.
const SUFFIX: usize = 16;

/// Reputation of the deliverer when the card was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Between 0 and 1; written with three digits.
    pub score: Fixed,
    /// Observations; written with one digit.
    pub n_obs: Fixed,
    /// What a reader should know, such as probation. Written also when there is nothing.
    pub flags: Vec<String>,
}

/// A review as it lies on a card.
#[derive(Clone, Debug)]
pub struct Given {
    /// Name of the reviewer, for people.
    pub name: String,
    /// Key of the reviewer.
    pub key: PublicKey,
    /// What the review comes to.
    pub word: Word,
    /// What it counted for.
    pub weight: Fixed,
    /// The signed envelope.
    pub envelope: Value,
}

/// A card without its signature.
#[derive(Clone, Debug)]
pub struct Card {
    /// Task on the deliverer's chain.
    pub task_id: String,
    /// First 16 digits of the digest of the check.
    pub spec_digest: String,
    /// The ecosystem ran with reputation, reviews and audits.
    pub trust_on: bool,
    /// Name of the deliverer, for people.
    pub name: String,
    /// Stream of the deliverer.
    pub stream_id: Digest,
    /// Reputation of the deliverer.
    pub credit: Credit,
    /// Its reviews.
    pub reviews: Vec<Given>,
    /// Audit of this delivery.
    pub audit: Audit,
    /// Outcome of a later audit; nothing until there is one.
    pub retro_audit: Option<bool>,
    /// Last entry of the deliverer's chain.
    pub chain_head: Digest,
    /// Milliseconds since 1970, given by the deliverer.
    pub ts_ms: i64,
}

impl Card {
    /// The signed document.
    pub fn sign(&self, deliverer: &Identity) -> Value {
        let key = deliverer.public();
        let credit = Object::new()
            .with("score", self.credit.score.rounded(3).to_peer_number())
            .with("n_obs", self.credit.n_obs.rounded(1).to_peer_number())
            .with("flags", self.credit.flags.clone());
        let who = Object::new()
            .with("name", self.name.as_str())
            .with("stream_id", suffix(&self.stream_id.to_hex()))
            .with("vacant_id", suffix(key.id().as_str()))
            .with("credit", credit);
        let reviews: Vec<Value> = self.reviews.iter().map(Given::to_value).collect();
        let claim = Object::new()
            .with("task_id", self.task_id.as_str())
            .with("spec_digest", self.spec_digest.as_str())
            .with("trust_on", self.trust_on)
            .with("deliverer", who)
            .with("reviews", reviews)
            .with("audit", self.audit.to_value())
            .with("retro_audit", self.retro_audit)
            .with("chain_head", suffix(&self.chain_head.to_hex()))
            .with("ts_ms", self.ts_ms)
            .with("signed_by", "deliverer")
            .with("signer_pub_hex", key.to_hex());
        signed::sign(claim, deliverer, "host_sig").into()
    }

    /// Whether `key` signed this card, and is the key that it names.
    pub fn is_signed_by(card: &Value, key: &PublicKey) -> bool {
        let named = card.get("signer_pub_hex").and_then(Value::as_str) == Some(key.to_hex().as_str());
        named && card.as_object().is_some_and(|object| signed::verifies(object, key, "host_sig"))
    }
}

impl Given {
    fn to_value(&self) -> Value {
        Object::new()
            .with("reviewer", self.name.as_str())
            .with("verdict", self.word.text())
            .with("weight", self.weight.to_peer_number())
            .with("sig", self.envelope.get("sig").cloned().unwrap_or(Value::Null))
            .with("reviewer_pub_hex", self.key.to_hex())
            .with("envelope", self.envelope.clone())
            .into()
    }
}

/// The last 16 characters; ids and digests are ASCII and longer.
pub(super) fn suffix(text: &str) -> &str {
    text.get(text.len().saturating_sub(SUFFIX)..).unwrap_or(text)
}

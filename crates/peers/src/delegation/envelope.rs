//! Envelopes between parties, and the guard that keeps the order of one sender.

use crate::signed;
use canon::{Digest, NotCanonical, Object, Value, canonical, canonical_part, lint_no_floats};
use ledger::identity::{Identity, PublicKey};
use std::collections::BTreeMap;

/// Largest canonical body, in bytes.
pub const BODY_BYTES_MAX: usize = 256 << 10;

const MEMBERS: [&str; 9] = ["v", "from", "to", "seq", "prev_hash", "ts_ms", "kind", "body", "sig"];

canon::codes! {
    /// Why an envelope is not taken. The first reason that applies, in this order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Unacceptable {
        /// A member is missing, too many or of another type, or the version is another.
        Shape = "envelope_shape",
        /// The body is over 256 KiB.
        BodyTooLarge = "envelope_body_too_large",
        /// It is addressed to somebody else.
        OtherRecipient = "envelope_other_recipient",
        /// The sender's id is not derived from the key that is known for it.
        SenderId = "envelope_sender_id",
        /// The signature does not cover it.
        Signature = "envelope_signature",
        /// Its number was used before.
        Replayed = "envelope_replayed",
        /// A number before it is missing.
        Gap = "envelope_gap",
        /// It does not follow the sender's last envelope.
        OtherHistory = "envelope_other_history",
    }
}

/// Why an envelope cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsendable {
    /// Canonical body too large, in bytes.
    BodyTooLarge(usize),
    /// A float in the body (ruling 6), and where.
    Float(NotCanonical),
}

/// An envelope that was read and whose order was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// Id of the sender.
    pub from: String,
    /// Id of the recipient.
    pub to: String,
    /// Number among the sender's envelopes to this recipient, from 1.
    pub seq: u64,
    /// Digest of the sender's envelope before it, zeros for the first.
    pub prev_hash: Digest,
    /// Milliseconds since 1970, given by the sender.
    pub ts_ms: i64,
    /// What it is.
    pub kind: String,
    /// What it says.
    pub body: Value,
    /// Digest of what is signed; the next one's `prev_hash`.
    pub hash: Digest,
}

/// The end of one sender's envelopes to one recipient, while they are written.
#[derive(Clone, Debug)]
pub struct Draft {
    to: String,
    seq: u64,
    head: Digest,
}

impl Draft {
    /// No envelope yet.
    pub fn new(to: &str) -> Draft {
        Draft { to: to.to_owned(), seq: 0, head: Digest::ZERO }
    }

    /// Signs the next envelope.
    pub fn sign(
        &mut self,
        from: &Identity,
        kind: &str,
        body: Value,
        ts_ms: i64,
    ) -> Result<Value, Unsendable> {
        lint_no_floats(&body).map_err(Unsendable::Float)?;
        let size = canonical(&body).len();
        if size > BODY_BYTES_MAX {
            return Err(Unsendable::BodyTooLarge(size));
        }
        let claim = Object::new()
            .with("v", 1_i64)
            .with("from", from.public().id().as_str())
            .with("to", self.to.as_str())
            .with("seq", self.seq + 1)
            .with("prev_hash", self.head)
            .with("ts_ms", ts_ms)
            .with("kind", kind)
            .with("body", body);
        self.seq += 1;
        self.head = Digest::of(&canonical(&Value::Object(claim.clone())));
        Ok(signed::sign(claim, from, "sig").into())
    }
}

/// What one recipient remembers of each sender: last number and last digest.
#[derive(Clone, Debug)]
pub struct Guard {
    recipient: String,
    senders: BTreeMap<String, (u64, Digest)>,
}

impl Guard {
    /// Remembers nobody.
    pub fn new(recipient: &str) -> Guard {
        Guard { recipient: recipient.to_owned(), senders: BTreeMap::new() }
    }

    /// Takes an envelope of the holder of `key`, or says why not; what is refused is not remembered.
    pub fn take(&mut self, envelope: &Value, key: &PublicKey) -> Result<Envelope, Unacceptable> {
        let read = read(envelope).ok_or(Unacceptable::Shape)?;
        if canonical(&read.body).len() > BODY_BYTES_MAX {
            return Err(Unacceptable::BodyTooLarge);
        }
        if read.to != self.recipient {
            return Err(Unacceptable::OtherRecipient);
        }
        if key.id().as_str() != read.from {
            return Err(Unacceptable::SenderId);
        }
        if !envelope.as_object().is_some_and(|object| signed::verifies(object, key, "sig")) {
            return Err(Unacceptable::Signature);
        }
        let (seq, head) = self.senders.get(&read.from).copied().unwrap_or((0, Digest::ZERO));
        if read.seq <= seq {
            return Err(Unacceptable::Replayed);
        }
        if read.seq - seq > 1 {
            return Err(Unacceptable::Gap);
        }
        if read.prev_hash != head {
            return Err(Unacceptable::OtherHistory);
        }
        self.senders.insert(read.from.clone(), (read.seq, read.hash));
        Ok(read)
    }
}

fn read(envelope: &Value) -> Option<Envelope> {
    let object = envelope.as_object().filter(|object| signed::exact(object, &MEMBERS))?;
    if signed::integer(object, "v") != Some(1) {
        return None;
    }
    Some(Envelope {
        from: signed::word(object, "from")?,
        to: signed::word(object, "to")?,
        seq: signed::count(object, "seq")?,
        prev_hash: signed::digest(object, "prev_hash")?,
        ts_ms: signed::integer(object, "ts_ms")?,
        kind: signed::word(object, "kind")?,
        body: object.get("body")?.clone(),
        hash: Digest::of(&canonical_part(object, |member| member != "sig")),
    })
}

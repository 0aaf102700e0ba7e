//! What the audit layer must know about the envelopes before one (L7): a pass in input order, so that handling itself
//! needs no order and can run on many threads.

use crate::envelope::Envelope;
use canon::Digest;
use std::collections::{BTreeMap, BTreeSet};

/// What is expected of one envelope, given those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditContext {
    /// The number that its sender's next envelope has.
    pub next_seq: u64,
    /// Digest of the sender's envelope before it.
    pub prev: Option<Digest>,
    /// The sender used its id before.
    pub id_repeated: bool,
}

impl AuditContext {
    /// What is expected of a sender's first envelope.
    pub fn first() -> AuditContext {
        AuditContext { next_seq: 1, prev: None, id_repeated: false }
    }
}

/// The senders met so far.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    senders: BTreeMap<String, Sender>,
}

#[derive(Clone, Debug)]
struct Sender {
    next_seq: u64,
    prev: Option<Digest>,
    /// The first 16 bytes of the digest of each id, as a number: ids may be long, and there may be many.
    ids: BTreeSet<u128>,
}

impl Audit {
    /// Nobody met yet.
    pub fn new() -> Audit {
        Audit::default()
    }

    /// What is expected of `envelope`; it then counts as sent, whatever the guard says about it. An envelope behind a
    /// gap is where the count goes on; a repeated number does not turn it back.
    pub fn next(&mut self, envelope: &Envelope) -> AuditContext {
        if !self.senders.contains_key(&envelope.sender) {
            let sender = Sender { next_seq: 1, prev: None, ids: BTreeSet::new() };
            self.senders.insert(envelope.sender.clone(), sender);
        }
        let Some(sender) = self.senders.get_mut(&envelope.sender) else { return AuditContext::first() };
        let mut id = [0; 16];
        id.copy_from_slice(&Digest::of(envelope.id.as_bytes()).as_bytes()[..16]);
        let context = AuditContext {
            next_seq: sender.next_seq,
            prev: sender.prev,
            id_repeated: !sender.ids.insert(u128::from_be_bytes(id)),
        };
        if envelope.seq >= sender.next_seq {
            sender.next_seq = envelope.seq + 1;
            sender.prev = Some(envelope.digest);
        }
        context
    }
}

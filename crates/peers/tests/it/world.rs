//! A delivery of our own that holds, and ways to change it: signed again or not, so that each check is met alone.

use crate::set;
use canon::{Digest, Object, Value, canonical, canonical_digest};
use ledger::identity::Identity;
use ledger::logbook::Appender;
use peers::Fixed;
use peers::delegation::{
    Asked, Audit, Card, Credit, Given, Receipt, Review, ReviewCount, Scores, Signer, Terms, Word,
};

pub(crate) const TASK: &str = "write add(a, b)";
pub(crate) const ANSWER: &str = "def add(a, b):\n    return a + b";

pub(crate) fn identity(seed: u8) -> Identity {
    Identity::from_seed(&[seed; 32])
}

/// What was asked for, with everything that proves the answer.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) request_id: Option<String>,
    pub(crate) task: String,
    pub(crate) tests: Value,
    pub(crate) risk: String,
    pub(crate) answer: String,
    pub(crate) anchor: u8,
    pub(crate) receipt: Value,
    pub(crate) card: Value,
    pub(crate) chain: Vec<u8>,
}

pub(crate) const DELIVERER: u8 = 1;
pub(crate) const REVIEWERS: [u8; 2] = [2, 3];

/// Entries (type, payload) of a chain of the deliverer; its lines, and the hash of each.
pub(crate) fn chain_of(entries: &[(&str, Object)]) -> (Vec<u8>, Vec<Digest>) {
    let mut chain = Appender::default();
    let (mut lines, mut hashes) = (Vec::new(), Vec::new());
    for (kind, payload) in entries {
        let appended =
            chain.append(kind, payload.clone().into(), &identity(DELIVERER), 1_790_000_000_000).unwrap();
        lines.extend(appended.line);
        hashes.push(appended.hash);
    }
    (lines, hashes)
}

pub(crate) fn deliver() -> Object {
    Object::new().with("task_id", "t-1").with("answer_sha256", Digest::of(ANSWER.as_bytes()))
}

pub(crate) fn usual_chain() -> Vec<(&'static str, Object)> {
    vec![("GENESIS", Object::new().with("who", "alpha")), ("DELIVER", deliver()), ("CLOSE", Object::new())]
}

impl World {
    pub(crate) fn new() -> World {
        World::on(&usual_chain(), 1)
    }

    /// A delivery on a chain of these entries, reviews of the entry at `reviewed`.
    pub(crate) fn on(entries: &[(&str, Object)], reviewed: usize) -> World {
        let (chain, hashes) = chain_of(entries);
        let deliverer = identity(DELIVERER);
        let review = |seed: u8| {
            let reviewer = identity(seed);
            let review = Review {
                reviewer_id: reviewer.public().id().to_string(),
                target_id: deliverer.public().id().to_string(),
                target_stream: hashes[0],
                branch_id: "main".to_owned(),
                target_head: hashes[reviewed],
                task_id: "t-1".to_owned(),
                substrate: "stub".to_owned(),
                scores: Scores::all(Word::Pass),
                ts_ms: 1_790_000_000_002,
                family: None,
            };
            let (key, weight) = (reviewer.public(), Fixed::thousandths(250));
            Given { name: "r".to_owned(), key, word: Word::Pass, weight, envelope: review.sign(&reviewer) }
        };
        let tests = Object::new().with("type", "run_python").with("code", "assert add(2, 3) == 5");
        let tests = Value::Object(tests);
        let audit = Audit { performed: true, passed: true };
        let flags = Vec::new();
        let card = Card {
            task_id: "t-1".to_owned(),
            spec_digest: canonical_digest(&tests).to_hex()[..16].to_owned(),
            trust_on: true,
            name: "alpha".to_owned(),
            stream_id: hashes[0],
            credit: Credit { score: Fixed::parse("0.6667").unwrap(), n_obs: Fixed::ONE, flags },
            reviews: REVIEWERS.into_iter().map(review).collect(),
            audit,
            retro_audit: None,
            chain_head: *hashes.last().unwrap(),
            ts_ms: 1_790_000_000_004,
        };
        let card = card.sign(&deliverer);
        let signer = Signer {
            vacant_id: deliverer.public().id().to_string(),
            key: deliverer.public(),
            stream_id: hashes[0],
            branch_id: "main".to_owned(),
            chain_head: *hashes.last().unwrap(),
        };
        let terms = Terms { request_id: "req-1", task: TASK, tests: &tests, risk: "high", answer: ANSWER };
        let receipt = Receipt {
            verified: true,
            trust_on: true,
            audit,
            reviews: ReviewCount { count: 2, passed: 2 },
            substrate: "stub".to_owned(),
            ..Receipt::for_terms(&terms, &card, signer, 1_790_000_000_005)
        };
        World {
            request_id: Some("req-1".to_owned()),
            task: TASK.to_owned(),
            receipt: receipt.sign(&deliverer),
            tests,
            risk: "high".to_owned(),
            answer: ANSWER.to_owned(),
            anchor: DELIVERER,
            card,
            chain,
        }
    }

    pub(crate) fn asked(&self) -> Asked<'_> {
        Asked {
            request_id: self.request_id.as_deref(),
            task: &self.task,
            tests: &self.tests,
            risk: &self.risk,
            answer: &self.answer,
        }
    }

    /// The deliverer signs the receipt as it stands now.
    pub(crate) fn sign_receipt(&mut self) {
        sign(&mut self.receipt, "sig", DELIVERER);
    }

    /// The receipt names the card as it stands now, and is signed.
    pub(crate) fn bind_card(&mut self) {
        set(&mut self.receipt, "trust_card_sha256", canonical_digest(&self.card));
        self.sign_receipt();
    }

    /// The deliverer signs card and receipt as they stand now.
    pub(crate) fn sign_card(&mut self) {
        sign(&mut self.card, "host_sig", DELIVERER);
        self.bind_card();
    }

    /// The reviewer with this seed signs review `index`; card and receipt follow.
    pub(crate) fn sign_review(&mut self, index: usize, seed: u8) {
        let mut envelope =
            self.card.get("reviews").unwrap().as_array().unwrap()[index].get("envelope").unwrap().clone();
        sign(&mut envelope, "sig", seed);
        set(&mut self.card, &format!("reviews.{index}.sig"), envelope.get("sig").unwrap().clone());
        set(&mut self.card, &format!("reviews.{index}.envelope"), envelope);
        self.sign_card();
    }
}

/// Signs everything but the member `member`, which becomes the signature.
pub(crate) fn sign(value: &mut Value, member: &str, seed: u8) {
    let mut claim = value.as_object().unwrap().clone();
    claim.remove(member);
    let signature = identity(seed).sign(&canonical(&Value::Object(claim.clone())));
    *value = claim.with(member, canon::hex(&signature)).into();
}

//! A review: what one key says about one entry of another's chain.

use crate::fixed::Fixed;
use crate::signed;
use canon::{Digest, Object, Value};
use ledger::identity::Identity;

canon::codes! {
    /// What is scored (section 21), in the peer's order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Dimension {
        /// True of the world.
        Factual = "factual",
        /// Follows from what it says.
        Logical = "logical",
        /// Answers what was asked.
        Relevance = "relevance",
        /// Claims what was done, no more.
        Honesty = "honesty",
        /// Was of use.
        Adoption = "adoption",
    }
}

/// Scores between 0 and 1 of some dimensions, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scores([Option<Fixed>; 5]);

/// What a review comes to. Whoever scores in between says neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Every score is 1.
    Pass,
    /// Every score is 0.
    Fail,
}

impl Word {
    /// As a card writes it.
    pub const fn text(self) -> &'static str {
        match self {
            Word::Pass => "PASS",
            Word::Fail => "FAIL",
        }
    }

    /// Reads what a card writes.
    pub fn read(text: &str) -> Option<Word> {
        [Word::Pass, Word::Fail].into_iter().find(|word| word.text() == text)
    }
}

impl Scores {
    /// The same score in every dimension.
    pub fn all(word: Word) -> Scores {
        Scores([Some(if word == Word::Pass { Fixed::ONE } else { Fixed::ZERO }); 5])
    }

    /// One dimension alone; nothing for a score that is not between 0 and 1.
    pub fn only(dimension: Dimension, score: Fixed) -> Option<Scores> {
        let mut scores = Scores([None; 5]);
        scores.0[dimension as usize] = Some(in_range(score)?);
        Some(scores)
    }

    /// The score of a dimension, if it has one.
    pub fn get(&self, dimension: Dimension) -> Option<Fixed> {
        self.0[dimension as usize]
    }

    /// What they come to, when they agree and are 0 or 1.
    pub fn word(&self) -> Option<Word> {
        let all = |score| self.0.iter().flatten().all(|one| *one == score);
        if all(Fixed::ONE) {
            Some(Word::Pass)
        } else if all(Fixed::ZERO) {
            Some(Word::Fail)
        } else {
            None
        }
    }

    fn read(value: &Value) -> Option<Scores> {
        let object = value.as_object()?;
        let mut scores = Scores([None; 5]);
        for (name, score) in object.iter() {
            let dimension = Dimension::ALL.iter().find(|dimension| dimension.code() == name)?;
            scores.0[*dimension as usize] = Some(in_range(Fixed::read(score)?)?);
        }
        (!object.is_empty()).then_some(scores)
    }

    fn to_value(&self) -> Value {
        let mut object = Object::new();
        for dimension in Dimension::ALL {
            if let Some(score) = self.get(*dimension) {
                object.set(dimension.code(), score.to_peer_number());
            }
        }
        object.into()
    }
}

fn in_range(score: Fixed) -> Option<Fixed> {
    (Fixed::ZERO..=Fixed::ONE).contains(&score).then_some(score)
}

/// A review without its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// Id of the reviewer.
    pub reviewer_id: String,
    /// Id of the reviewed.
    pub target_id: String,
    /// Stream of the reviewed.
    pub target_stream: Digest,
    /// Branch of the reviewed.
    pub branch_id: String,
    /// The entry that was reviewed.
    pub target_head: Digest,
    /// Task of the delivery.
    pub task_id: String,
    /// What the reviewed runs on.
    pub substrate: String,
    /// The scores.
    pub scores: Scores,
    /// Milliseconds since 1970, given by the reviewer.
    pub ts_ms: i64,
    /// Family of tasks; absent in old reviews, never empty.
    pub family: Option<String>,
}

const MEMBERS: [&str; 10] = [
    "reviewer_id",
    "target_id",
    "target_stream_id",
    "branch_id",
    "target_head",
    "task_id",
    "substrate",
    "scores",
    "ts_ms",
    "sig",
];

impl Review {
    /// What is signed. `family` is written only when there is one, so that old signatures stay valid.
    pub fn claim(&self) -> Object {
        let mut claim = Object::new()
            .with("reviewer_id", self.reviewer_id.as_str())
            .with("target_id", self.target_id.as_str())
            .with("target_stream_id", self.target_stream)
            .with("branch_id", self.branch_id.as_str())
            .with("target_head", self.target_head)
            .with("task_id", self.task_id.as_str())
            .with("substrate", self.substrate.as_str())
            .with("scores", self.scores.to_value())
            .with("ts_ms", self.ts_ms);
        if let Some(family) = &self.family {
            claim.set("family", family.as_str());
        }
        claim
    }

    /// The signed envelope.
    pub fn sign(&self, reviewer: &Identity) -> Value {
        signed::sign(self.claim(), reviewer, "sig").into()
    }

    /// Reads an envelope, without looking at the signature; nothing for another shape.
    pub fn read(envelope: &Value) -> Option<Review> {
        let object = envelope.as_object()?;
        let family = match object.get("family") {
            None => None,
            Some(_) => Some(signed::word(object, "family")?),
        };
        let members = MEMBERS.len() + usize::from(family.is_some());
        if object.len() != members || !MEMBERS.iter().all(|member| object.get(member).is_some()) {
            return None;
        }
        Some(Review {
            reviewer_id: signed::word(object, "reviewer_id")?,
            target_id: signed::word(object, "target_id")?,
            target_stream: signed::digest(object, "target_stream_id")?,
            branch_id: signed::word(object, "branch_id")?,
            target_head: signed::digest(object, "target_head")?,
            task_id: signed::word(object, "task_id")?,
            substrate: signed::word(object, "substrate")?,
            scores: Scores::read(object.get("scores")?)?,
            ts_ms: signed::integer(object, "ts_ms")?,
            family,
        })
    }

    /// Whether `key` signed this envelope.
    pub fn is_signed_by(envelope: &Value, key: &ledger::identity::PublicKey) -> bool {
        envelope.as_object().is_some_and(|object| signed::verifies(object, key, "sig"))
    }
}

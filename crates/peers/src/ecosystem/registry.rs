//! Who is announced, whose stream is whose, and which reviews are recorded.

use super::panel::{Panel, PanelRefusal};
use super::reputation::{Key, Reputation};
use super::weight::{NEWCOMER_OBSERVATIONS, review_weight};
use crate::delegation::{Review, Word};
use crate::fixed::Fixed;
use canon::{Digest, Value};
use ledger::identity::PublicKey;
use ledger::logbook;
use std::collections::{BTreeMap, BTreeSet};

/// Informative tasks that two reviewers must share before their agreement says something.
const SHARED_TASKS_MIN: u64 = 5;

canon::codes! {
    /// Why an announcement is not taken. The first reason that applies, in this order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Unannounced {
        /// The id is not derived from the key.
        IdNotDerived = "announce_id_not_derived",
        /// No first entry proves that this key opened the stream.
        StreamNotProven = "announce_stream_not_proven",
        /// The stream belongs to another key.
        StreamOwned = "announce_stream_owned",
        /// The head was left behind before.
        HeadWentBack = "announce_head_went_back",
        /// Nobody with this stream is announced.
        StreamUnknown = "announce_stream_unknown",
    }
}

canon::codes! {
    impl ReviewRefusal: self {
        ReviewRefusal::Shape => "review_shape",
        ReviewRefusal::ReviewerUnknown => "review_reviewer_unknown",
        ReviewRefusal::Signature => "review_signature",
        ReviewRefusal::SelfReview => "review_self",
        ReviewRefusal::NotFresh => "review_not_fresh",
        ReviewRefusal::Branch => "review_branch",
        ReviewRefusal::Substrate => "review_substrate",
        ReviewRefusal::Family => "review_family",
        ReviewRefusal::Duplicate => "review_duplicate",
    } else {
        ReviewRefusal::Sealed(refusal) => refusal.code(),
    }
}

/// Why a review is not recorded. The first reason that applies, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewRefusal {
    /// No review envelope.
    Shape,
    /// The reviewer is not announced.
    ReviewerUnknown,
    /// The announced key did not sign it.
    Signature,
    /// Reviewer and reviewed are one.
    SelfReview,
    /// The reviewed has another stream, or its chain has another end by now.
    NotFresh,
    /// The reviewed has another branch.
    Branch,
    /// The reviewed runs on something else.
    Substrate,
    /// The reviewed does not take this family of tasks.
    Family,
    /// The panel does not take the reveal.
    Sealed(PanelRefusal),
    /// This reviewer has reviewed this entry.
    Duplicate,
}

/// What somebody says of itself.
#[derive(Clone, Debug)]
pub struct Announcement<'a> {
    /// Id, compared with the key.
    pub id: &'a str,
    /// Key.
    pub key: PublicKey,
    /// Stream, with the first entry that proves it.
    pub stream: Option<(Digest, &'a Value)>,
    /// Branch.
    pub branch: &'a str,
    /// What it runs on.
    pub substrate: &'a str,
    /// Families of tasks that it takes; reviews without a family are always about it.
    pub families: &'a [&'a str],
    /// Who declares to control it.
    pub controller: Option<&'a str>,
}

/// Somebody who is announced.
#[derive(Clone, Debug)]
pub struct Resident {
    /// Key.
    pub key: PublicKey,
    /// Stream, proven.
    pub stream: Option<Digest>,
    /// Branch.
    pub branch: String,
    /// What it runs on.
    pub substrate: String,
    /// Who declares to control it.
    pub controller: Option<String>,
    /// Order of the first announcement, from 0.
    pub order: u64,
    families: BTreeSet<String>,
}

/// Reviews of one entry, in the order in which they were recorded.
#[derive(Clone, Debug, Default)]
struct Reviewed {
    reviewers: Vec<String>,
    same_origin_n: u32,
    newcomers_n: u32,
}

/// What came of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// What it counted for.
    pub weight: Fixed,
    /// It comes from the same origin as the reviewed or as an earlier reviewer.
    pub same_origin: bool,
}

/// Everybody who is announced, and what was said of whom.
#[derive(Default)]
pub struct Registry {
    residents: BTreeMap<String, Resident>,
    owners: BTreeMap<Digest, String>,
    /// Heads that were seen of each stream, in order; the last one is current. They outlive every announcement.
    heads: BTreeMap<Digest, Vec<Digest>>,
    reviewed: BTreeMap<(Digest, Digest), Reviewed>,
    panels: BTreeMap<(Digest, Digest), Panel>,
    /// By task, who passed it and who did not.
    words: BTreeMap<String, BTreeMap<String, Word>>,
    reputation: Reputation,
}

impl Registry {
    /// Nobody.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Announces somebody, or changes what was announced; the order stays that of the first time.
    pub fn announce(&mut self, said: &Announcement<'_>) -> Result<(), Unannounced> {
        if said.key.id().as_str() != said.id {
            return Err(Unannounced::IdNotDerived);
        }
        if let Some((stream, genesis)) = said.stream {
            if logbook::verify_genesis(genesis, &said.key) != Some(stream) {
                return Err(Unannounced::StreamNotProven);
            }
            if self.owners.get(&stream).is_some_and(|owner| owner != said.id) {
                return Err(Unannounced::StreamOwned);
            }
            self.owners.insert(stream, said.id.to_owned());
            self.heads.entry(stream).or_insert_with(|| vec![stream]);
        }
        let known = self.residents.get(said.id);
        let resident = Resident {
            key: said.key,
            stream: said.stream.map(|(stream, _)| stream),
            branch: said.branch.to_owned(),
            substrate: said.substrate.to_owned(),
            controller: said.controller.map(str::to_owned),
            order: known.map_or(self.residents.len() as u64, |known| known.order),
            families: said.families.iter().map(|family| (*family).to_owned()).collect(),
        };
        self.residents.insert(said.id.to_owned(), resident);
        Ok(())
    }

    /// Somebody by id.
    pub fn get(&self, id: &str) -> Option<&Resident> {
        self.residents.get(id)
    }

    /// The announced key of an id.
    pub fn key_of(&self, id: &str) -> Option<PublicKey> {
        self.residents.get(id).map(|resident| resident.key)
    }

    /// What everybody is worth.
    pub fn reputation(&self) -> &Reputation {
        &self.reputation
    }

    /// The same, for penalties.
    pub fn reputation_mut(&mut self) -> &mut Reputation {
        &mut self.reputation
    }

    /// Notes where a stream stands. Back to a head that was left is refused: whoever does that shows two histories.
    pub fn note_head(&mut self, stream: Digest, head: Digest) -> Result<(), Unannounced> {
        let heads = self.heads.get_mut(&stream).ok_or(Unannounced::StreamUnknown)?;
        if heads.last() == Some(&head) {
            return Ok(());
        }
        if heads.contains(&head) {
            return Err(Unannounced::HeadWentBack);
        }
        heads.push(head);
        Ok(())
    }

    /// Opens a sealed panel on an entry; one that is there stays.
    pub fn open_panel(&mut self, stream: Digest, head: Digest) -> &mut Panel {
        self.panels.entry((stream, head)).or_default()
    }

    /// Records a review; `nonce` is what a sealed panel asks for. Nothing changes when it is refused.
    pub fn record_review(
        &mut self,
        envelope: &Value,
        nonce: Option<&str>,
    ) -> Result<Recorded, ReviewRefusal> {
        let review = Review::read(envelope).ok_or(ReviewRefusal::Shape)?;
        let reviewer = self.residents.get(&review.reviewer_id).ok_or(ReviewRefusal::ReviewerUnknown)?;
        if !Review::is_signed_by(envelope, &reviewer.key) {
            return Err(ReviewRefusal::Signature);
        }
        if review.reviewer_id == review.target_id {
            return Err(ReviewRefusal::SelfReview);
        }
        let reviewer = (review.reviewer_id.clone(), reviewer.reputation_key(&review.reviewer_id));
        self.is_about_the_present(&review)?;
        let entry = (review.target_stream, review.target_head);
        let seen = self.reviewed.get(&entry).is_some_and(|seen| seen.reviewers.contains(&reviewer.0));
        if let Some(panel) = self.panels.get_mut(&entry) {
            let reveal = panel.reveal(&reviewer.0, &review.claim().into(), nonce.unwrap_or_default());
            reveal.map_err(ReviewRefusal::Sealed)?;
        }
        if seen {
            return Err(ReviewRefusal::Duplicate);
        }
        Ok(self.weigh(&review, reviewer))
    }

    fn is_about_the_present(&self, review: &Review) -> Result<(), ReviewRefusal> {
        let target = self.residents.get(&review.target_id).ok_or(ReviewRefusal::NotFresh)?;
        let head = self.heads.get(&review.target_stream).and_then(|heads| heads.last());
        if target.stream != Some(review.target_stream) || head != Some(&review.target_head) {
            return Err(ReviewRefusal::NotFresh);
        }
        if target.branch != review.branch_id {
            return Err(ReviewRefusal::Branch);
        }
        if target.substrate != review.substrate {
            return Err(ReviewRefusal::Substrate);
        }
        match &review.family {
            Some(family) if !target.families.contains(family) => Err(ReviewRefusal::Family),
            _ => Ok(()),
        }
    }

    fn weigh(&mut self, review: &Review, (id, key): (String, Key)) -> Recorded {
        let (score, observations) = (self.reputation.score(&key), self.reputation.observations(&key));
        let mut seen = self.reviewed.remove(&(review.target_stream, review.target_head)).unwrap_or_default();
        let same_origin =
            [&review.target_id].into_iter().chain(&seen.reviewers).any(|other| self.is_same(&id, other));
        let newcomer = observations < NEWCOMER_OBSERVATIONS;
        seen.same_origin_n += u32::from(same_origin);
        seen.newcomers_n += u32::from(newcomer);
        let (same_rank, new_rank) =
            (same_origin.then_some(seen.same_origin_n), newcomer.then_some(seen.newcomers_n));
        let weight = review_weight(score, observations, same_rank, new_rank);
        seen.reviewers.push(id.clone());
        self.reviewed.insert((review.target_stream, review.target_head), seen);
        if let Some(word) = review.scores.word() {
            self.words.entry(review.task_id.clone()).or_default().insert(id, word);
        }
        let target = Key {
            stream: review.target_stream.to_hex(),
            branch: review.branch_id.clone(),
            substrate: review.substrate.clone(),
            family: review.family.clone().unwrap_or_default(),
        };
        self.reputation.review(&target, &review.scores, weight);
        Recorded { weight, same_origin }
    }

    /// Same declared controller, or the same words in nine of ten tasks about which reviewers differed, of at least five.
    fn is_same(&self, one: &str, other: &str) -> bool {
        let controller = |id: &str| self.residents.get(id).and_then(|resident| resident.controller.clone());
        if controller(one).is_some_and(|controller_of_one| Some(controller_of_one) == controller(other)) {
            return true;
        }
        let informative = self.words.values().filter(|words| {
            words.values().any(|word| *word != Word::Pass) && words.values().any(|word| *word != Word::Fail)
        });
        let both = informative.filter_map(|words| Some((words.get(one)?, words.get(other)?)));
        let (shared, agreed) =
            both.fold((0, 0), |(shared, agreed), (a, b)| (shared + 1, agreed + u64::from(a == b)));
        shared >= SHARED_TASKS_MIN && agreed * 10 >= shared * 9
    }
}

impl Resident {
    /// Where its reputation as a reviewer is kept; by its id while it shows no stream.
    fn reputation_key(&self, id: &str) -> Key {
        Key {
            stream: self.stream.map_or_else(|| id.to_owned(), |stream| stream.to_hex()),
            branch: self.branch.clone(),
            substrate: self.substrate.clone(),
            family: String::new(),
        }
    }
}

//! Announcements, heads, sealed panels, and the order in which a review is checked before it counts.

use crate::world::{identity, sign};
use crate::{drop_member, set};
use canon::{Digest, Object, Value};
use ledger::commitment::commit;
use ledger::identity::Identity;
use ledger::logbook::Appender;
use peers::Fixed;
use peers::delegation::{Review, Scores, Word};
use peers::ecosystem::{
    Announcement, Key, Panel, PanelRefusal, Recorded, Registry, ReviewRefusal, Unannounced,
};

/// The first entry of somebody's chain, and its hash.
fn genesis(who: &Identity) -> (Value, Digest) {
    genesis_saying(who, who.public().id().as_str())
}

fn genesis_saying(who: &Identity, says: &str) -> (Value, Digest) {
    let payload = Object::new().with("who", says);
    let appended = Appender::default().append("GENESIS", payload.into(), who, 1).unwrap();
    (canon::Reader::strict().read(appended.line.trim_ascii_end()).unwrap(), appended.hash)
}

fn announce(registry: &mut Registry, seed: u8, controller: Option<&str>) -> Result<Digest, Unannounced> {
    let who = identity(seed);
    let (entry, stream) = genesis(&who);
    let id = who.public().id();
    let said = Announcement {
        id: id.as_str(),
        key: who.public(),
        stream: Some((stream, &entry)),
        branch: "main",
        substrate: "stub",
        families: &["parsing"],
        controller,
    };
    registry.announce(&said).map(|()| stream)
}

const TARGET: u8 = 1;

fn registry() -> Registry {
    let mut registry = Registry::new();
    for seed in 1..=4 {
        announce(&mut registry, seed, None).unwrap();
    }
    registry
}

fn review_at(by: u8, head: Digest, task_id: &str, word: Word) -> Review {
    let (_, stream) = genesis(&identity(TARGET));
    Review {
        reviewer_id: identity(by).public().id().to_string(),
        target_id: identity(TARGET).public().id().to_string(),
        target_stream: stream,
        branch_id: "main".to_owned(),
        target_head: head,
        task_id: task_id.to_owned(),
        substrate: "stub".to_owned(),
        scores: Scores::all(word),
        ts_ms: 1,
        family: None,
    }
}

fn review(by: u8) -> Review {
    let (_, stream) = genesis(&identity(TARGET));
    review_at(by, stream, "t-1", Word::Pass)
}

#[test]
fn announcements() {
    let mut registry = Registry::new();
    let (entry, stream) = genesis(&identity(1));
    let id = identity(1).public().id();
    let said = |key: u8, stream| Announcement {
        id: id.as_str(),
        key: identity(key).public(),
        stream,
        branch: "main",
        substrate: "stub",
        families: &[],
        controller: None,
    };
    assert_eq!(registry.announce(&said(2, None)), Err(Unannounced::IdNotDerived));
    let other = Digest::of(b"other");
    assert_eq!(registry.announce(&said(1, Some((other, &entry)))), Err(Unannounced::StreamNotProven));
    let (foreign, foreign_stream) = genesis(&identity(2));
    assert_eq!(
        registry.announce(&said(1, Some((foreign_stream, &foreign)))),
        Err(Unannounced::StreamNotProven)
    );
    assert_eq!(registry.key_of(id.as_str()), None, "nothing of what was refused is kept");
    assert_eq!(registry.announce(&said(1, Some((stream, &entry)))), Ok(()));
    announce(&mut registry, 2, None).unwrap();
    // Announced again, the order stays.
    assert_eq!(registry.announce(&said(1, Some((stream, &entry)))), Ok(()));
    assert_eq!(registry.get(id.as_str()).unwrap().order, 0);
    assert_eq!(registry.get(identity(2).public().id().as_str()).unwrap().order, 1);
}

/// An entry hash does not cover the signature: two keys that sign the same first entry have the same stream id. The
/// first to announce it owns it.
#[test]
fn a_stream_has_one_owner() {
    let mut registry = Registry::new();
    let mut announce = |seed: u8| {
        let (entry, stream) = genesis_saying(&identity(seed), "the same words");
        let id = identity(seed).public().id();
        registry.announce(&Announcement {
            id: id.as_str(),
            key: identity(seed).public(),
            stream: Some((stream, &entry)),
            branch: "main",
            substrate: "stub",
            families: &[],
            controller: None,
        })
    };
    assert_eq!(announce(1), Ok(()));
    assert_eq!(announce(2), Err(Unannounced::StreamOwned));
    assert_eq!(announce(1), Ok(()));
}

#[test]
fn heads_do_not_go_back() {
    let mut registry = registry();
    let (_, stream) = genesis(&identity(TARGET));
    let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
    assert_eq!(registry.note_head(stream, a), Ok(()));
    assert_eq!(registry.note_head(stream, a), Ok(()));
    assert_eq!(registry.note_head(stream, b), Ok(()));
    assert_eq!(registry.note_head(stream, a), Err(Unannounced::HeadWentBack));
    assert_eq!(registry.note_head(stream, stream), Err(Unannounced::HeadWentBack));
    // Announcing again does not make the past forgotten.
    let (id, key) = (identity(TARGET).public().id(), identity(TARGET).public());
    let (branch, substrate) = ("main", "stub");
    let streamless = Announcement {
        id: id.as_str(),
        key,
        stream: None,
        branch,
        substrate,
        families: &[],
        controller: None,
    };
    registry.announce(&streamless).unwrap();
    announce(&mut registry, TARGET, None).unwrap();
    assert_eq!(registry.note_head(stream, a), Err(Unannounced::HeadWentBack));
    assert_eq!(registry.note_head(Digest::of(b"nobody's"), a), Err(Unannounced::StreamUnknown));
}

/// Each refusal alone, in the order in which they are looked at.
#[test]
fn reviews_in_order() {
    let refused = |envelope: &Value| registry().record_review(envelope, None).unwrap_err();
    let good = review(2).sign(&identity(2));
    assert!(registry().record_review(&good, None).is_ok());
    let mut broken = good.clone();
    drop_member(&mut broken, "scores");
    assert_eq!(refused(&broken), ReviewRefusal::Shape);
    assert_eq!(refused(&review(9).sign(&identity(9))), ReviewRefusal::ReviewerUnknown);
    assert_eq!(refused(&review(2).sign(&identity(3))), ReviewRefusal::Signature);
    assert_eq!(refused(&review(TARGET).sign(&identity(TARGET))), ReviewRefusal::SelfReview);
    let edited = |member: &str, to: Value| {
        let mut envelope = good.clone();
        set(&mut envelope, member, to);
        sign(&mut envelope, "sig", 2);
        refused(&envelope)
    };
    assert_eq!(edited("target_head", Digest::of(b"x").into()), ReviewRefusal::NotFresh);
    assert_eq!(edited("target_stream_id", Digest::of(b"x").into()), ReviewRefusal::NotFresh);
    assert_eq!(edited("target_id", "nobody".into()), ReviewRefusal::NotFresh);
    assert_eq!(edited("branch_id", "side".into()), ReviewRefusal::Branch);
    assert_eq!(edited("substrate", "another".into()), ReviewRefusal::Substrate);
    assert_eq!(edited("family", "poetry".into()), ReviewRefusal::Family);
    let mut registry = registry();
    registry.record_review(&good, None).unwrap();
    assert_eq!(registry.record_review(&good, None), Err(ReviewRefusal::Duplicate));
    let with_family = Review { family: Some("parsing".to_owned()), ..review(3) };
    assert!(registry.record_review(&with_family.sign(&identity(3)), None).is_ok());
}

#[test]
fn a_head_that_moved_makes_reviews_stale() {
    let mut registry = registry();
    let (_, stream) = genesis(&identity(TARGET));
    registry.note_head(stream, Digest::of(b"next")).unwrap();
    let stale = registry.record_review(&review(2).sign(&identity(2)), None);
    assert_eq!(stale, Err(ReviewRefusal::NotFresh));
}

#[test]
fn sealed_panels() {
    let (mut panel, nonce) = (Panel::new(), "nonce-0123456789");
    let vote = Value::from("pass");
    let committed = commit(&vote, nonce).unwrap();
    assert_eq!(panel.commit("r", committed), Ok(()));
    assert_eq!(panel.commit("r", committed), Err(PanelRefusal::CommittedTwice));
    assert_eq!(panel.reveal("r", &vote, nonce), Err(PanelRefusal::Open));
    assert_eq!(panel.votes(), None);
    panel.close();
    assert_eq!(panel.commit("s", committed), Err(PanelRefusal::Closed));
    assert_eq!(panel.reveal("s", &vote, nonce), Err(PanelRefusal::NotCommitted));
    assert_eq!(panel.reveal("r", &"fail".into(), nonce), Err(PanelRefusal::OtherReveal));
    assert_eq!(panel.reveal("r", &vote, "short"), Err(PanelRefusal::OtherReveal));
    assert_eq!(panel.reveal("r", &vote, nonce), Ok(()));
    assert_eq!(panel.votes().unwrap().len(), 1);
}

#[test]
fn a_sealed_review_is_recorded_after_the_panel_closed() {
    let mut registry = registry();
    let (_, stream) = genesis(&identity(TARGET));
    let (review, nonce) = (review(2), "nonce-0123456789");
    let envelope = review.sign(&identity(2));
    let panel = registry.open_panel(stream, stream);
    panel.commit(&review.reviewer_id, commit(&review.claim().into(), nonce).unwrap()).unwrap();
    let refused = |refusal| Err(ReviewRefusal::Sealed(refusal));
    assert_eq!(registry.record_review(&envelope, Some(nonce)), refused(PanelRefusal::Open));
    registry.open_panel(stream, stream).close();
    assert_eq!(registry.record_review(&envelope, None), refused(PanelRefusal::OtherReveal));
    assert!(registry.record_review(&envelope, Some(nonce)).is_ok());
    assert_eq!(registry.record_review(&envelope, Some(nonce)), Err(ReviewRefusal::Duplicate));
}

fn text(recorded: Recorded) -> (String, bool) {
    (recorded.weight.to_text(), recorded.same_origin)
}

#[test]
fn newcomers_count_less_the_more_they_are() {
    let mut registry = registry();
    let mut weights = Vec::new();
    for by in [2, 3, 4] {
        weights.push(text(registry.record_review(&review(by).sign(&identity(by)), None).unwrap()).0);
    }
    // 0.05 is the floor of the known, and the caps 0.1, 0.05, 0.0333 hold the rest.
    assert_eq!(weights, ["0.05", "0.05", "0.033333333333333333"]);
    let (_, stream) = genesis(&identity(TARGET));
    let word = |text: &str| text.to_owned();
    let key =
        Key { stream: stream.to_hex(), branch: word("main"), substrate: word("stub"), family: String::new() };
    assert!(registry.reputation().score(&key) > Fixed::HALF);
    registry.reputation_mut().punish(&key.stream, peers::ecosystem::Penalty::FalseDelivery);
    assert!(registry.reputation().score(&key) < Fixed::HALF);
}

#[test]
fn one_controller_is_one_origin() {
    let mut registry = Registry::new();
    for (seed, controller) in [(1, Some("lab")), (2, Some("lab")), (3, None), (4, Some("other"))] {
        announce(&mut registry, seed, controller).unwrap();
    }
    let mut origin = |by: u8| text(registry.record_review(&review(by).sign(&identity(by)), None).unwrap()).1;
    assert_eq!((origin(2), origin(3), origin(4)), (true, false, false));
}

/// Two reviewers who say the same where others differ are one origin, after five such tasks.
#[test]
fn the_same_behaviour_is_one_origin() {
    let mut registry = registry();
    let (_, stream) = genesis(&identity(TARGET));
    let mut last = Vec::new();
    for task in 0..6 {
        let head = Digest::of(format!("head {task}").as_bytes());
        registry.note_head(stream, head).unwrap();
        let task_id = format!("t-{task}");
        let mut say = |by: u8, word: Word| {
            let review = review_at(by, head, &task_id, word);
            registry.record_review(&review.sign(&identity(by)), None).unwrap().same_origin
        };
        last = vec![say(2, Word::Pass), say(3, Word::Fail), say(4, Word::Pass)];
        assert_eq!(last[2], task >= 5, "after {task} tasks");
    }
    assert_eq!(last, [false, false, true]);
}

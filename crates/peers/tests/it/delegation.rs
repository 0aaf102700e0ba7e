//! Receipts: 27 cases of the peer, the same bytes made again, and every refusal met alone.

use crate::world::{DELIVERER, REVIEWERS, World, identity};
use crate::{drop_member, labelled, set};
use canon::{Digest, Object, Value, canonical, canonical_digest};
use ledger::identity::PublicKey;
use peers::Fixed;
use peers::delegation::{
    Asked, Audit, Card, Credit, Dimension, Given, Receipt, Refusal, Review, ReviewCount, Signer, Terms, Word,
    verify_delegation_receipt,
};
use std::collections::BTreeSet;

const FILE: &str = "vectors/receiving-desk/delegation/delegation.json";

/// Which of our codes may answer where the peer says this.
fn codes_of(reason: &str) -> &'static [Refusal] {
    match reason {
        "answer_sha256 mismatch" => &[Refusal::AnswerDigest],
        "request_sha256 mismatch" => &[Refusal::RequestDigest],
        "request_id mismatch" => &[Refusal::RequestId],
        "receipt signer is not anchored in registry" => &[Refusal::NotAnchored],
        "receipt signature verification failed" => &[Refusal::Signature],
        "receipt schema mismatch" => &[Refusal::Members],
        "unsupported receipt version or kind" => &[Refusal::VersionOrKind],
        "invalid receipt signature" => &[Refusal::SignatureText],
        "signer identity binding mismatch" => &[Refusal::SignerId],
        "review pass count exceeds total" => &[Refusal::PassedExceedsCount],
        "trust_card_sha256 mismatch" => &[Refusal::CardDigest],
        "trust card task_id mismatch" => &[Refusal::CardTask],
        "trust card chain head mismatch" => &[Refusal::CardHead],
        "reviewer identity binding or uniqueness failed" => &[Refusal::ReviewerId, Refusal::ReviewerTwice],
        "review verdict does not match signed scores" => &[Refusal::ReviewWord],
        "review signature verification failed" => &[Refusal::ReviewSignature],
        "deliverer cannot review itself" => &[Refusal::SelfReview],
        "invalid review weight" => &[Refusal::ReviewWeight],
        other => panic!("a reason that no case had: {other}"),
    }
}

#[test]
fn the_peers_cases() {
    let Some(path) = vectors::shared("the_peers_cases", FILE) else { return };
    let file = vectors::json(&path);
    let cases = vectors::list(&file, "cases");
    assert_eq!(cases.len(), 27);
    for case in cases {
        let name = vectors::text(case, "case");
        let base = file.get("given").unwrap();
        let given = |member: &str| {
            case.get("given").and_then(|given| given.get(member)).unwrap_or_else(|| base.get(member).unwrap())
        };
        let document = |member: &str| case.get(member).unwrap_or_else(|| file.get(member).unwrap());
        let asked = Asked {
            request_id: given("request_id").as_str(),
            task: given("task").as_str().unwrap(),
            tests: given("tests"),
            risk: given("risk").as_str().unwrap(),
            answer: given("answer").as_str().unwrap(),
        };
        let anchor = PublicKey::parse(given("anchor_pub_hex").as_str().unwrap()).unwrap();
        let answer = verify_delegation_receipt(document("receipt"), document("trust_card"), &asked, &anchor);
        match case.get("reason").and_then(Value::as_str) {
            Some(reason) => {
                let refusal = answer.err().unwrap_or_else(|| panic!("{name} was taken"));
                assert!(codes_of(reason).contains(&refusal), "{name}: {refusal:?} for {reason:?}");
            }
            None => assert!(answer.is_ok(), "{name}: {:?}", answer.err()),
        }
        assert_eq!(case.get("ok").unwrap().as_bool(), Some(case.get("reason").is_none()), "{name}");
    }
}

#[test]
fn the_peers_card_and_old_and_new_reviews() {
    let Some(path) = vectors::shared("the_peers_card_and_old_and_new_reviews", FILE) else { return };
    let file = vectors::json(&path);
    let key = PublicKey::parse(vectors::text(file.get("given").unwrap(), "anchor_pub_hex")).unwrap();
    let card = file.get("trust_card").unwrap();
    assert!(Card::is_signed_by(card, &key));
    let mut edited = card.clone();
    set(&mut edited, "audit.passed", false);
    assert!(!Card::is_signed_by(&edited, &key));
    let with_family = file.get("review_with_family").unwrap();
    let review = Review::read(with_family).unwrap();
    assert_eq!(review.family.as_deref(), Some("parsing"));
    assert_eq!(review.scores.get(Dimension::Factual), Some(Fixed::HALF));
    assert_eq!(review.scores.word(), None);
    let first = &vectors::list(card, "reviews")[0];
    let reviewer = PublicKey::parse(vectors::text(first, "reviewer_pub_hex")).unwrap();
    assert!(Review::is_signed_by(with_family, &reviewer));
    let mut empty = with_family.clone();
    set(&mut empty, "family", "");
    assert_eq!(Review::read(&empty), None, "an empty family is never written");
}

/// What we sign is, byte for byte, what the peer signs.
#[test]
fn the_peers_documents_made_again() {
    let test = "the_peers_documents_made_again";
    let Some(path) = vectors::shared(test, FILE) else { return };
    let (file, deliverer) = (vectors::json(&path), labelled(test, "alpha").unwrap());
    let (receipt, card) = (file.get("receipt").unwrap(), file.get("trust_card").unwrap());
    let signer = receipt.get("signer").unwrap();
    let digest = |value: &Value, member: &str| Digest::parse(vectors::text(value, member)).unwrap();
    let mut reviews = Vec::new();
    for (given, label) in vectors::list(card, "reviews").iter().zip(["reviewer", "gamma"]) {
        let reviewer = labelled(test, label).unwrap();
        let envelope = Review::read(given.get("envelope").unwrap()).unwrap().sign(&reviewer);
        assert_eq!(canonical(&envelope), canonical(given.get("envelope").unwrap()));
        let name = vectors::text(given, "reviewer").to_owned();
        let weight = Fixed::read(given.get("weight").unwrap()).unwrap();
        reviews.push(Given { name, key: reviewer.public(), word: Word::Pass, weight, envelope });
    }
    let audit = Audit { performed: true, passed: true };
    let made = Card {
        task_id: "t-1".to_owned(),
        spec_digest: vectors::text(card, "spec_digest").to_owned(),
        trust_on: true,
        name: "alpha".to_owned(),
        stream_id: digest(signer, "stream_id"),
        credit: Credit {
            score: Fixed::parse("0.66666").unwrap(),
            n_obs: Fixed::parse("1.04").unwrap(),
            flags: vec![],
        },
        reviews,
        audit,
        retro_audit: None,
        chain_head: digest(signer, "chain_head"),
        ts_ms: 1_790_000_000_004,
    };
    let made = made.sign(&deliverer);
    assert_eq!(canonical(&made), canonical(card));
    let given = file.get("given").unwrap();
    let terms = Terms {
        request_id: vectors::text(given, "request_id"),
        task: vectors::text(given, "task"),
        tests: given.get("tests").unwrap(),
        risk: vectors::text(given, "risk"),
        answer: vectors::text(given, "answer"),
    };
    let signer = Signer {
        vacant_id: deliverer.public().id().to_string(),
        key: deliverer.public(),
        stream_id: digest(signer, "stream_id"),
        branch_id: "main".to_owned(),
        chain_head: digest(signer, "chain_head"),
    };
    let again = Receipt {
        verified: true,
        trust_on: true,
        audit,
        reviews: ReviewCount { count: 2, passed: 2 },
        substrate: "stub".to_owned(),
        ..Receipt::for_terms(&terms, &made, signer, 1_790_000_000_005)
    };
    assert_eq!(canonical(&again.sign(&deliverer)), canonical(receipt));
    for (member, digest) in file.get("expected_hashes").unwrap().as_object().unwrap().iter() {
        assert_eq!(receipt.get(member), Some(digest), "{member}");
    }
}

/// A change of a delivery that holds, and the refusal that answers.
pub(crate) type Case = (&'static str, Refusal, fn(&mut World));

/// One case at least for each refusal, each with everything before it in order.
pub(crate) const CASES: &[Case] = &[
    ("no_object", Refusal::Members, |w| w.receipt = Value::Null),
    ("member_missing", Refusal::Members, |w| drop_member(&mut w.receipt, "risk")),
    ("member_too_many", Refusal::Members, |w| set(&mut w.receipt, "extra", 1_i64)),
    ("member_too_many_inside", Refusal::Members, |w| set(&mut w.receipt, "audit.extra", 1_i64)),
    ("version_2", Refusal::VersionOrKind, |w| set(&mut w.receipt, "v", 2_i64)),
    ("version_true", Refusal::VersionOrKind, |w| set(&mut w.receipt, "v", true)),
    ("other_kind", Refusal::VersionOrKind, |w| set(&mut w.receipt, "kind", "note")),
    ("count_is_boolean", Refusal::MemberType, |w| set(&mut w.receipt, "reviews.count", true)),
    ("attempts_negative", Refusal::MemberType, |w| set(&mut w.receipt, "attempts", -1_i64)),
    ("verified_is_integer", Refusal::MemberType, |w| set(&mut w.receipt, "verified", 1_i64)),
    ("digest_upper_case", Refusal::MemberType, |w| set(&mut w.receipt, "task_sha256", "A".repeat(64))),
    ("passed_exceeds_count", Refusal::PassedExceedsCount, |w| set(&mut w.receipt, "reviews.passed", 3_i64)),
    ("signature_short", Refusal::SignatureText, |w| set(&mut w.receipt, "sig", "00")),
    ("signature_upper_case", Refusal::SignatureText, |w| {
        let upper = w.receipt.get("sig").unwrap().as_str().unwrap().to_uppercase();
        set(&mut w.receipt, "sig", upper);
    }),
    ("other_request", Refusal::RequestId, |w| w.request_id = Some("req-2".to_owned())),
    ("key_of_a_stranger", Refusal::NotAnchored, |w| w.anchor = 9),
    ("id_of_another", Refusal::SignerId, |w| {
        set(&mut w.receipt, "signer.vacant_id", identity(9).public().id().as_str());
        w.sign_receipt();
    }),
    ("edited_after_signing", Refusal::Signature, |w| set(&mut w.receipt, "attempts", 2_i64)),
    ("task_asked_differs", Refusal::RequestDigest, |w| w.task.push('!')),
    ("task_digest_of_another", Refusal::TaskDigest, |w| {
        set(&mut w.receipt, "task_sha256", Digest::of(b"x"));
        w.sign_receipt();
    }),
    ("tests_digest_of_others", Refusal::TestsDigest, |w| {
        set(&mut w.receipt, "tests_sha256", Digest::of(b"x"));
        w.sign_receipt();
    }),
    ("answer_received_differs", Refusal::AnswerDigest, |w| w.answer.push(' ')),
    ("card_of_another_receipt", Refusal::CardDigest, |w| set(&mut w.card, "audit.passed", false)),
    ("risk_lowered_in_the_receipt", Refusal::Risk, |w| {
        set(&mut w.receipt, "risk", "normal");
        w.sign_receipt();
    }),
    ("card_of_another_task", Refusal::CardTask, |w| {
        set(&mut w.card, "task_id", "t-2");
        w.sign_card();
    }),
    ("card_of_another_key", Refusal::CardKey, |w| {
        set(&mut w.card, "signer_pub_hex", identity(9).public().to_hex());
        w.sign_card();
    }),
    ("card_edited_and_bound", Refusal::CardSignature, |w| {
        set(&mut w.card, "audit.passed", false);
        w.bind_card();
    }),
    ("card_shows_another_stream", Refusal::CardStream, |w| {
        set(&mut w.card, "deliverer.stream_id", "0000000000000000");
        w.sign_card();
    }),
    ("card_shows_another_id", Refusal::CardSigner, |w| {
        set(&mut w.card, "deliverer.vacant_id", "0000000000000000");
        w.sign_card();
    }),
    ("card_shows_another_head", Refusal::CardHead, |w| {
        set(&mut w.card, "chain_head", "0000000000000000");
        w.sign_card();
    }),
    ("card_says_trust_off", Refusal::TrustMode, |w| {
        set(&mut w.card, "trust_on", false);
        w.sign_card();
    }),
    ("card_says_audit_failed", Refusal::Audit, |w| {
        set(&mut w.card, "audit.passed", false);
        w.sign_card();
    }),
    ("receipt_counts_one_review", Refusal::ReviewCounts, |w| {
        set(&mut w.receipt, "reviews.count", 1_i64);
        set(&mut w.receipt, "reviews.passed", 1_i64);
        w.sign_receipt();
    }),
    ("card_has_no_reviews", Refusal::ReviewCounts, |w| {
        set(&mut w.card, "reviews", Value::Null);
        w.sign_card();
    }),
    ("score_over_one", Refusal::ReviewShape, |w| {
        set(&mut w.card, "reviews.0.envelope.scores.factual", 2_i64);
        w.sign_review(0, REVIEWERS[0]);
    }),
    ("score_of_no_dimension", Refusal::ReviewShape, |w| {
        set(&mut w.card, "reviews.0.envelope.scores.beauty", 1_i64);
        w.sign_review(0, REVIEWERS[0]);
    }),
    ("no_scores", Refusal::ReviewShape, |w| {
        set(&mut w.card, "reviews.0.envelope.scores", Object::new());
        w.sign_review(0, REVIEWERS[0]);
    }),
    ("reviewer_id_of_another", Refusal::ReviewerId, |w| {
        set(&mut w.card, "reviews.0.reviewer_pub_hex", identity(9).public().to_hex());
        w.sign_card();
    }),
    ("one_reviewer_twice", Refusal::ReviewerTwice, |w| {
        let first = w.card.get("reviews").unwrap().as_array().unwrap()[0].clone();
        set(&mut w.card, "reviews.1", first);
        w.sign_card();
    }),
    ("deliverer_reviews_itself", Refusal::SelfReview, |w| {
        let key = identity(DELIVERER).public();
        set(&mut w.card, "reviews.0.reviewer_pub_hex", key.to_hex());
        set(&mut w.card, "reviews.0.envelope.reviewer_id", key.id().as_str());
        w.sign_review(0, DELIVERER);
    }),
    ("card_shows_another_signature", Refusal::ReviewSigDiffers, |w| {
        set(&mut w.card, "reviews.0.sig", "0".repeat(128));
        w.sign_card();
    }),
    ("review_edited", Refusal::ReviewSignature, |w| {
        set(&mut w.card, "reviews.0.envelope.task_id", "t-9");
        w.sign_card();
    }),
    ("review_of_another_task", Refusal::ReviewNotBound, |w| review_of_another(w, "task_id")),
    ("review_of_another_target", Refusal::ReviewNotBound, |w| review_of_another(w, "target_id")),
    ("review_of_another_branch", Refusal::ReviewNotBound, |w| review_of_another(w, "branch_id")),
    ("review_of_another_substrate", Refusal::ReviewNotBound, |w| review_of_another(w, "substrate")),
    ("review_of_another_stream", Refusal::ReviewNotBound, |w| {
        set(&mut w.card, "reviews.0.envelope.target_stream_id", Digest::of(b"x"));
        w.sign_review(0, REVIEWERS[0]);
    }),
    ("fail_called_pass", Refusal::ReviewWord, |w| {
        set(&mut w.card, "reviews.0.envelope.scores.factual", 0_i64);
        w.sign_review(0, REVIEWERS[0]);
    }),
    ("weight_negative", Refusal::ReviewWeight, |w| weight(w, Value::from(-1_i64))),
    ("weight_boolean", Refusal::ReviewWeight, |w| weight(w, Value::from(true))),
    ("weight_text", Refusal::ReviewWeight, |w| weight(w, Value::from("0.25"))),
];

fn review_of_another(world: &mut World, member: &str) {
    set(&mut world.card, &format!("reviews.0.envelope.{member}"), "another");
    world.sign_review(0, REVIEWERS[0]);
}

fn weight(world: &mut World, weight: Value) {
    set(&mut world.card, "reviews.1.weight", weight);
    world.sign_card();
}

pub(crate) fn judge(world: &World) -> Result<(), Refusal> {
    let key = identity(world.anchor).public();
    verify_delegation_receipt(&world.receipt, &world.card, &world.asked(), &key).map(|_| ())
}

#[test]
fn every_refusal_is_met_alone() {
    assert_eq!(judge(&World::new()), Ok(()));
    let mut met = BTreeSet::new();
    for (name, refusal, change) in CASES {
        let mut world = World::new();
        change(&mut world);
        assert_eq!(judge(&world), Err(*refusal), "{name}");
        met.insert(*refusal);
    }
    assert_eq!(met, Refusal::ALL.iter().copied().collect());
}

/// The order of the list is the order of the checks: of two faults the earlier one answers.
#[test]
fn of_two_faults_the_earlier_answers() {
    // Reviews are looked at one after another: a reviewer that stands there twice is met at the second one.
    let met_later = |refusal| refusal < Refusal::CardTask || refusal == Refusal::ReviewerTwice;
    let ordered: Vec<&Case> = CASES.iter().filter(|(_, refusal, _)| !met_later(*refusal)).collect();
    for pair in ordered.windows(2).filter(|pair| pair[0].1 < pair[1].1) {
        let mut world = World::new();
        pair[1].2(&mut world);
        pair[0].2(&mut world);
        assert_eq!(judge(&world), Err(pair[0].1), "{} before {}", pair[0].0, pair[1].0);
    }
}

#[test]
fn any_request_will_do_when_none_is_named_and_no_review_is_needed() {
    let mut world = World::new();
    world.request_id = None;
    assert_eq!(judge(&world), Ok(()));
    set(&mut world.card, "reviews", Vec::<Value>::new());
    set(&mut world.receipt, "reviews.count", 0_i64);
    set(&mut world.receipt, "reviews.passed", 0_i64);
    world.sign_card();
    assert_eq!(judge(&world), Ok(()));
    assert_eq!(
        canonical_digest(&world.card).to_hex(),
        world.receipt.get("trust_card_sha256").unwrap().as_str().unwrap()
    );
}

/// Paths of every value inside, the outermost excepted.
fn paths(value: &Value, prefix: &str, found: &mut Vec<String>) {
    let mut inside = |name: &str, value: &Value| {
        let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        found.push(path.clone());
        paths(value, &path, found);
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| inside(&index.to_string(), item));
        }
        Value::Object(object) => object.iter().for_each(|(name, member)| inside(name, member)),
        _ => {}
    }
}

/// No value of a receipt or of a card can be changed without being noticed, whatever it is changed into.
#[test]
fn no_value_can_be_changed() {
    let good = World::new();
    let mut changed = 0;
    for card in [false, true] {
        let document = |world: &World| if card { world.card.clone() } else { world.receipt.clone() };
        let mut found = Vec::new();
        paths(&document(&good), "", &mut found);
        for path in &found {
            for to in [
                Value::Null,
                false.into(),
                7_i64.into(),
                "other".into(),
                Value::Array(vec![]),
                Object::new().into(),
            ] {
                let mut edited = document(&good);
                set(&mut edited, path, to);
                if canonical(&edited) == canonical(&document(&good)) {
                    continue;
                }
                let mut world = good.clone();
                *(if card { &mut world.card } else { &mut world.receipt }) = edited;
                assert!(judge(&world).is_err(), "{path}");
                changed += 1;
            }
        }
    }
    assert!(changed > 400, "{changed}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Whatever stands at any place of a signed card, it is answered and not panicked about: the deliverer signs it itself.
    #[test]
    fn a_deliverer_may_sign_anything(place in 0_usize..200, what in 0_usize..8) {
        let mut world = World::new();
        let mut found = Vec::new();
        paths(&world.card, "", &mut found);
        let to: Value = [
            Value::Null, true.into(), (-1_i64).into(), "".into(), "é".repeat(20).into(), Value::Array(vec![Value::Null]),
            Object::new().into(), Value::Float(canon::Float::new(1e300)),
        ][what].clone();
        let path = found[place % found.len()].clone();
        if path != "host_sig" {
            set(&mut world.card, &path, to);
            world.sign_card();
        }
        let _ = judge(&world);
        // The same at every place of the receipt.
        let mut world = World::new();
        let mut found = Vec::new();
        paths(&world.receipt, "", &mut found);
        let path = found[place % found.len()].clone();
        set(&mut world.receipt, &path, Value::Float(canon::Float::new(-0.0)));
        world.sign_receipt();
        let _ = judge(&world);
    }
}

//! `verify_delegation_receipt`: one order of checks, the first failure wins (section 19).

use super::card::{Card, suffix};
use super::receipt::{Audit, Receipt, request_digest};
use super::review::{Review, Word};
use crate::fixed::Fixed;
use crate::signed;
use canon::{Digest, Object, Value, canonical_digest};
use ledger::identity::PublicKey;
use std::collections::BTreeSet;

canon::codes! {
    /// Why a delegation receipt does not hold, in the order in which it is looked at.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Refusal {
        /// A member is missing or too many.
        Members = "receipt_members",
        /// Another version or kind.
        VersionOrKind = "receipt_version_or_kind",
        /// A member of another type.
        MemberType = "receipt_member_type",
        /// More reviews pass than there are.
        PassedExceedsCount = "receipt_passed_exceeds_count",
        /// The signature is not 128 lowercase hex digits.
        SignatureText = "receipt_signature_text",
        /// Another request was asked about.
        RequestId = "receipt_request_id",
        /// The signer's key is not the anchored one.
        NotAnchored = "receipt_signer_not_anchored",
        /// The signer's id is not derived from its key.
        SignerId = "receipt_signer_id_not_derived",
        /// The signature does not cover the receipt.
        Signature = "receipt_signature",
        /// Digest of the request.
        RequestDigest = "receipt_request_sha256",
        /// Digest of the task.
        TaskDigest = "receipt_task_sha256",
        /// Digest of the check.
        TestsDigest = "receipt_tests_sha256",
        /// Digest of the answer.
        AnswerDigest = "receipt_answer_sha256",
        /// Digest of the card.
        CardDigest = "receipt_card_sha256",
        /// Another risk than was asked for.
        Risk = "receipt_risk",
        /// The card speaks of another task.
        CardTask = "card_task",
        /// The card names another key.
        CardKey = "card_key",
        /// The signature does not cover the card.
        CardSignature = "card_signature",
        /// The card shows another stream.
        CardStream = "card_stream",
        /// The card shows another id.
        CardSigner = "card_signer",
        /// The card shows another head.
        CardHead = "card_head",
        /// Receipt and card name different modes.
        TrustMode = "card_trust_mode",
        /// Receipt and card say different things of the audit.
        Audit = "card_audit",
        /// The receipt counts other reviews than the card holds.
        ReviewCounts = "card_review_counts",
        /// A review has another shape.
        ReviewShape = "card_review_shape",
        /// A reviewer's id is not derived from its key.
        ReviewerId = "card_reviewer_id_not_derived",
        /// A reviewer stands on the card twice.
        ReviewerTwice = "card_reviewer_twice",
        /// The deliverer reviewed itself.
        SelfReview = "card_self_review",
        /// The card shows another signature than the review has.
        ReviewSigDiffers = "card_review_sig_differs",
        /// The signature does not cover the review.
        ReviewSignature = "card_review_signature",
        /// The review is about another delivery.
        ReviewNotBound = "card_review_not_bound",
        /// The card calls the review something else than its scores say.
        ReviewWord = "card_review_verdict",
        /// A weight is negative or no number.
        ReviewWeight = "card_review_weight",
    }
}

/// What the asking side knows by itself.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Id of the request; nothing when any will do.
    pub request_id: Option<&'a str>,
    /// The task as sent.
    pub task: &'a str,
    /// The check as sent.
    pub tests: &'a Value,
    /// The risk as sent.
    pub risk: &'a str,
    /// The answer as received.
    pub answer: &'a str,
}

/// Checks a receipt and the card beside it against the key that the asking side has anchored. A receipt without
/// reviews holds: whether that is enough is a matter of policy.
pub fn verify_delegation_receipt(
    document: &Value,
    card: &Value,
    asked: &Asked<'_>,
    anchor: &PublicKey,
) -> Result<Receipt, Refusal> {
    let receipt = Receipt::read(document)?;
    signer(&receipt, document, asked, anchor)?;
    digests(&receipt, card, asked)?;
    card_of(&receipt, card, anchor)?;
    reviews(&receipt, card)?;
    Ok(receipt)
}

fn ensure(holds: bool, refusal: Refusal) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(refusal) }
}

fn signer(receipt: &Receipt, document: &Value, asked: &Asked<'_>, anchor: &PublicKey) -> Result<(), Refusal> {
    ensure(asked.request_id.is_none_or(|id| id == receipt.request_id), Refusal::RequestId)?;
    ensure(receipt.signer.key == *anchor, Refusal::NotAnchored)?;
    ensure(anchor.id().as_str() == receipt.signer.vacant_id, Refusal::SignerId)?;
    let covered = document.as_object().is_some_and(|object| signed::verifies(object, anchor, "sig"));
    ensure(covered, Refusal::Signature)
}

fn digests(receipt: &Receipt, card: &Value, asked: &Asked<'_>) -> Result<(), Refusal> {
    let request = request_digest(&receipt.request_id, (asked.task, asked.tests, asked.risk));
    ensure(receipt.request_sha256 == request, Refusal::RequestDigest)?;
    ensure(receipt.task_sha256 == Digest::of(asked.task.as_bytes()), Refusal::TaskDigest)?;
    ensure(receipt.tests_sha256 == canonical_digest(asked.tests), Refusal::TestsDigest)?;
    ensure(receipt.answer_sha256 == Digest::of(asked.answer.as_bytes()), Refusal::AnswerDigest)?;
    ensure(receipt.card_sha256 == canonical_digest(card), Refusal::CardDigest)?;
    ensure(receipt.risk == asked.risk, Refusal::Risk)
}

fn card_of(receipt: &Receipt, card: &Value, anchor: &PublicKey) -> Result<(), Refusal> {
    let text = |member: &str| card.get(member).and_then(Value::as_str).unwrap_or_default();
    let who =
        |member: &str| card.get("deliverer").and_then(|who| who.get(member)?.as_str()).unwrap_or_default();
    ensure(text("task_id") == receipt.task_id, Refusal::CardTask)?;
    ensure(text("signer_pub_hex") == anchor.to_hex(), Refusal::CardKey)?;
    ensure(Card::is_signed_by(card, anchor), Refusal::CardSignature)?;
    ensure(who("stream_id") == suffix(&receipt.signer.stream_id.to_hex()), Refusal::CardStream)?;
    ensure(who("vacant_id") == suffix(&receipt.signer.vacant_id), Refusal::CardSigner)?;
    ensure(text("chain_head") == suffix(&receipt.signer.chain_head.to_hex()), Refusal::CardHead)?;
    ensure(card.get("trust_on").and_then(Value::as_bool) == Some(receipt.trust_on), Refusal::TrustMode)?;
    ensure(card.get("audit").and_then(Audit::read) == Some(receipt.audit), Refusal::Audit)
}

fn reviews(receipt: &Receipt, card: &Value) -> Result<(), Refusal> {
    let reviews = card.get("reviews").and_then(Value::as_array).ok_or(Refusal::ReviewCounts)?;
    let passes = |review: &&Value| review.get("verdict").and_then(Value::as_str) == Some(Word::Pass.text());
    let counted = (reviews.len() as u64, reviews.iter().filter(passes).count() as u64);
    ensure(counted == (receipt.reviews.count, receipt.reviews.passed), Refusal::ReviewCounts)?;
    let mut reviewers = BTreeSet::new();
    reviews.iter().try_for_each(|review| one_review(receipt, review, &mut reviewers))
}

fn one_review(receipt: &Receipt, given: &Value, reviewers: &mut BTreeSet<String>) -> Result<(), Refusal> {
    let object = given.as_object().ok_or(Refusal::ReviewShape)?;
    let (key, word, envelope, review) = shape(object).ok_or(Refusal::ReviewShape)?;
    let id = key.id();
    ensure(id.as_str() == review.reviewer_id, Refusal::ReviewerId)?;
    ensure(reviewers.insert(review.reviewer_id.clone()), Refusal::ReviewerTwice)?;
    ensure(review.reviewer_id != receipt.signer.vacant_id, Refusal::SelfReview)?;
    ensure(object.get("sig") == envelope.get("sig"), Refusal::ReviewSigDiffers)?;
    ensure(Review::is_signed_by(envelope, &key), Refusal::ReviewSignature)?;
    let bound = review.target_id == receipt.signer.vacant_id
        && review.target_stream == receipt.signer.stream_id
        && review.branch_id == receipt.signer.branch_id
        && review.task_id == receipt.task_id
        && review.substrate == receipt.substrate;
    ensure(bound, Refusal::ReviewNotBound)?;
    ensure(review.scores.word() == Some(word), Refusal::ReviewWord)?;
    // A boolean is no number; a number too large for any weight is none either.
    let weight = object.get("weight").and_then(Fixed::read);
    ensure(weight.is_some_and(|weight| weight >= Fixed::ZERO), Refusal::ReviewWeight)
}

fn shape(object: &Object) -> Option<(PublicKey, Word, &Value, Review)> {
    let key = PublicKey::parse(signed::text(object, "reviewer_pub_hex")?).ok()?;
    let word = Word::read(signed::text(object, "verdict")?)?;
    let envelope = object.get("envelope")?;
    Some((key, word, envelope, Review::read(envelope)?))
}

//! Answer certificates (desk specification section 6).

use crate::Mode;
use crate::identity::{Identity, PublicKey};
use crate::logbook::signature_bytes;
use canon::{Digest, Object, Value, canonical};

const CLAIM: [&str; 8] =
    ["v", "vacant_id", "pub", "prompt_sha256", "answer_sha256", "check", "verified", "ts_ms"];

canon::codes! {
    /// Why a certificate does not hold. The first reason that applies, in this order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Invalid {
        /// A claim field or the signature is missing or of the wrong type.
        Malformed = "certificate_malformed",
        /// A member that the signature does not cover (strict only).
        UnknownMember = "unknown_member",
        /// The key is no Ed25519 key.
        BadKey = "bad_public_key",
        /// The id is not derived from the key.
        IdNotDerivedFromKey = "id_not_derived_from_key",
        /// The signature text is not 128 lowercase hex digits.
        BadSignatureEncoding = "bad_signature_encoding",
        /// The signature does not cover the claim.
        BadSignature = "bad_signature",
        /// The answer that was supplied is another one.
        AnswerMismatch = "answer_mismatch",
    }
}

/// What a certificate states besides who signed it.
#[derive(Clone, Debug)]
pub struct Claim<'a> {
    /// The question, whose digest is signed.
    pub prompt: &'a str,
    /// The answer, whose digest is signed.
    pub answer: &'a str,
    /// Name of the check that ran.
    pub check: &'a str,
    /// Whether it passed.
    pub verified: bool,
    /// Milliseconds since 1970, given by the caller.
    pub ts_ms: i64,
}

/// Signs a certificate.
pub fn issue(identity: &Identity, claim: &Claim<'_>) -> Value {
    let key = identity.public();
    let mut certificate = Object::new()
        .with("v", 1_i64)
        .with("vacant_id", key.id().as_str())
        .with("pub", key.to_hex())
        .with("prompt_sha256", Digest::of(claim.prompt.as_bytes()))
        .with("answer_sha256", Digest::of(claim.answer.as_bytes()))
        .with("check", claim.check)
        .with("verified", claim.verified)
        .with("ts_ms", claim.ts_ms);
    let signature = identity.sign(&canonical(&Value::Object(certificate.clone())));
    certificate.set("sig", canon::hex(&signature));
    Value::Object(certificate)
}

/// Checks a certificate, and the answer when one is supplied.
pub fn verify(certificate: &Value, answer: Option<&str>, mode: Mode) -> Result<(), Invalid> {
    let object = certificate.as_object().ok_or(Invalid::Malformed)?;
    let mut claim = Object::new();
    for field in CLAIM {
        claim.set(field, object.get(field).ok_or(Invalid::Malformed)?.clone());
    }
    well_typed(&claim, mode)?;
    let known = |key: &str| key == "sig" || CLAIM.contains(&key);
    if mode == Mode::Strict && object.iter().any(|(key, _)| !known(key)) {
        return Err(Invalid::UnknownMember);
    }
    let text = |key: &str| object.get(key).and_then(Value::as_str).ok_or(Invalid::Malformed);
    let key = PublicKey::parse(text("pub")?).map_err(|_| Invalid::BadKey)?;
    if key.id().as_str() != text("vacant_id")? {
        return Err(Invalid::IdNotDerivedFromKey);
    }
    let signature = signature_bytes(text("sig")?, mode).ok_or(Invalid::BadSignatureEncoding)?;
    let answer_digest = text("answer_sha256")?.to_owned();
    if !key.verify(&canonical(&Value::Object(claim)), &signature) {
        return Err(Invalid::BadSignature);
    }
    match answer {
        Some(answer) if Digest::of(answer.as_bytes()).to_hex() != answer_digest => {
            Err(Invalid::AnswerMismatch)
        }
        _ => Ok(()),
    }
}

fn well_typed(claim: &Object, mode: Mode) -> Result<(), Invalid> {
    let get = |key: &str| claim.get(key).unwrap_or(&Value::Null);
    let typed = get("v").as_i64() == Some(1)
        && get("verified").as_bool().is_some()
        && matches!(get("ts_ms"), Value::Int(_))
        && ["prompt_sha256", "answer_sha256", "check"].iter().all(|key| get(key).as_str().is_some());
    if typed || mode == Mode::PeerCompat { Ok(()) } else { Err(Invalid::Malformed) }
}

//! Claims with a signature member: read strictly, signed and verified in one way.

use canon::{Digest, Object, Value, canonical, canonical_part};
use ledger::identity::{Identity, PublicKey};

/// True when the members are exactly `names`.
pub(crate) fn exact(object: &Object, names: &[&str]) -> bool {
    object.len() == names.len() && names.iter().all(|name| object.get(name).is_some())
}

pub(crate) fn text<'a>(object: &'a Object, member: &str) -> Option<&'a str> {
    object.get(member)?.as_str()
}

/// A text that is not empty.
pub(crate) fn word(object: &Object, member: &str) -> Option<String> {
    text(object, member).filter(|text| !text.is_empty()).map(str::to_owned)
}

pub(crate) fn digest(object: &Object, member: &str) -> Option<Digest> {
    Digest::parse(text(object, member)?).ok()
}

pub(crate) fn boolean(object: &Object, member: &str) -> Option<bool> {
    object.get(member)?.as_bool()
}

/// A whole number that is not negative.
pub(crate) fn count(object: &Object, member: &str) -> Option<u64> {
    u64::try_from(object.get(member)?.as_i64()?).ok()
}

pub(crate) fn integer(object: &Object, member: &str) -> Option<i64> {
    object.get(member)?.as_i64()
}

/// The bytes of exactly 128 lowercase hex digits.
pub(crate) fn signature(text: &str) -> Option<[u8; 64]> {
    canon::unhex(text)?.try_into().ok()
}

/// The claim with its signature as the member `member`.
pub(crate) fn sign(claim: Object, identity: &Identity, member: &str) -> Object {
    let signature = identity.sign(&canonical(&Value::Object(claim.clone())));
    claim.with(member, canon::hex(&signature))
}

/// Whether the member `member` signs everything else.
pub(crate) fn verifies(object: &Object, key: &PublicKey, member: &str) -> bool {
    let signature = text(object, member).and_then(signature);
    signature.is_some_and(|signature| key.verify(&canonical_part(object, |name| name != member), &signature))
}

/// A word that may stand on a chain: 1 to 128 of `A-Za-z0-9._/:-`. Free text may not.
pub(crate) fn is_token(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._/:-".contains(&byte))
}

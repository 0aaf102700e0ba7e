//! Sealed commitments: hiding rests on the nonce alone (desk specification 4.4 and 2.2).

use canon::{Digest, Value, canonical};

/// The nonce has fewer than 16 characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonceTooShort;

/// SHA-256 of canonical(payload), the byte 0x1F and the nonce.
pub fn commit(payload: &Value, nonce: &str) -> Result<Digest, NonceTooShort> {
    if nonce.chars().count() < 16 {
        return Err(NonceTooShort);
    }
    let mut bytes = canonical(payload);
    bytes.push(0x1f);
    bytes.extend_from_slice(nonce.as_bytes());
    Ok(Digest::of(&bytes))
}

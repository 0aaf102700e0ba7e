//! Keys and the ids derived from them (desk specification section 3).

use canon::{hex, unhex};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use std::fmt;

/// A public key that decodes to a curve point. Its text is 64 lowercase hex digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// The text or the bytes are no usable Ed25519 public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadKey;

impl PublicKey {
    /// A key from its 32 bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<PublicKey, BadKey> {
        VerifyingKey::from_bytes(bytes).map(PublicKey).map_err(|_| BadKey)
    }

    /// Reads exactly 64 lowercase hex digits.
    pub fn parse(text: &str) -> Result<PublicKey, BadKey> {
        let bytes: [u8; 32] = unhex(text).ok_or(BadKey)?.try_into().map_err(|_| BadKey)?;
        PublicKey::from_bytes(&bytes)
    }

    /// 64 lowercase hex digits.
    pub fn to_hex(&self) -> String {
        hex(self.0.as_bytes())
    }

    /// The id of this key.
    pub fn id(&self) -> VacantId {
        let mut multihash = [0; 34];
        // 0x12 0x20: SHA-256, 32 bytes.
        multihash[..2].copy_from_slice(&[0x12, 0x20]);
        multihash[2..].copy_from_slice(canon::Digest::of(self.0.as_bytes()).as_bytes());
        VacantId(format!("z{}", bs58::encode(multihash).into_string()))
    }

    /// Strict verification: canonical `S`, no small-order point, no second equation. There is no other one.
    pub fn verify(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.to_hex())
    }
}

/// `z` and base58btc of the SHA-256 multihash of a public key; only ever derived, never taken on faith.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct VacantId(String);

impl VacantId {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for VacantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A signing key. The secret is wiped when it is dropped.
pub struct Identity(SigningKey);

impl Identity {
    /// The identity of a 32-byte seed. Where the seed comes from is the shell's business.
    pub fn from_seed(seed: &[u8; 32]) -> Identity {
        Identity(SigningKey::from_bytes(seed))
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Deterministic signature (RFC 8032).
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }

    pub(crate) fn seed(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.public().id())
    }
}

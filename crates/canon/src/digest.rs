//! SHA-256 and its one text form: 64 lowercase hex digits.

use sha2::Digest as _;
use std::fmt;

/// A SHA-256 digest. Its text form is 64 lowercase hex digits, nothing else is accepted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The all-zero sentinel that stands for "no previous entry" (desk specification 4.1).
    pub const ZERO: Digest = Digest([0; 32]);

    /// Digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(sha2::Sha256::digest(bytes).into())
    }

    /// A digest from its 32 raw bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Digest {
        Digest(bytes)
    }

    /// The 32 raw bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// 64 lowercase hex digits.
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    /// Reads exactly 64 lowercase hex digits.
    pub fn parse(text: &str) -> Result<Digest, DigestParseError> {
        let bytes = unhex(text).ok_or(DigestParseError)?;
        Ok(Digest(bytes.try_into().map_err(|_| DigestParseError)?))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.to_hex())
    }
}

/// The text is not 64 lowercase hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DigestParseError;

/// SHA-256 over bytes that arrive in pieces.
#[derive(Default, Clone)]
pub struct Hasher(sha2::Sha256);

impl Hasher {
    /// An empty hasher.
    pub fn new() -> Hasher {
        Hasher::default()
    }

    /// Takes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything taken so far.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// Lowercase hex of `bytes`.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)] as char);
        text.push(DIGITS[usize::from(byte & 15)] as char);
    }
    text
}

/// Bytes of a lowercase hex text; nothing for upper case, blanks or an odd length, so that one value has one
/// text.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    fn digit(byte: u8) -> Option<u8> {
        match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        }
    }
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some((digit(*high)? << 4) | digit(*low)?)).collect()
}

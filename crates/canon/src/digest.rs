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

/// SHA-256 of a text whose beginning is known by its state only: `state` is the state after the first `absorbed` bytes,
/// `rest` is everything behind them.
///
/// Nothing when `absorbed` is no multiple of the block of 64 bytes, where there is no such state.
pub fn resumed(mut state: [u32; 8], absorbed: u64, rest: &[u8]) -> Option<Digest> {
    if !absorbed.is_multiple_of(64) {
        return None;
    }
    // Padding of FIPS 180-4: one bit, zeros, the length of everything in bits.
    let mut padded = rest.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    let bits = absorbed.checked_add(rest.len() as u64)?.checked_mul(8)?;
    padded.extend_from_slice(&bits.to_be_bytes());
    sha2::block_api::compress256(&mut state, padded.as_chunks::<64>().0);
    let mut bytes = [0; 32];
    for (word, out) in state.iter().zip(bytes.as_chunks_mut::<4>().0) {
        *out = word.to_be_bytes();
    }
    Some(Digest(bytes))
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

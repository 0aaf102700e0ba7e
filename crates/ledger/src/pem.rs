//! The private key file: PKCS#8 PEM, plain or PBES2 (desk specification section 3).

use crate::identity::Identity;
use pkcs8::der::{Decode as _, asn1::OctetStringRef, pem::LineEnding};
use pkcs8::pkcs5::pbes2;
use pkcs8::{EncryptedPrivateKeyInfoRef, ObjectIdentifier, PrivateKeyInfoRef, SecretDocument};
use zeroize::Zeroizing;

const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const PLAIN: &str = "PRIVATE KEY";
const LOCKED: &str = "ENCRYPTED PRIVATE KEY";

/// Rounds that we write; what we read comes from the file.
pub const PBKDF2_ROUNDS: u32 = 600_000;

/// Why a key file was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PemError {
    /// Not PEM, or PEM of something else.
    NotAKeyFile,
    /// Encrypted, and no passphrase was given.
    PassphraseNeeded,
    /// The passphrase does not open it, or the parameters are not supported.
    CannotDecrypt,
    /// A key of another type.
    NotEd25519,
}

// The stable code.
canon::codes! {
    impl PemError: self {
        PemError::NotAKeyFile => "key_file_malformed",
        PemError::PassphraseNeeded => "key_passphrase_needed",
        PemError::CannotDecrypt => "key_cannot_decrypt",
        PemError::NotEd25519 => "key_not_ed25519",
    }
}

/// Salt and initialisation vector of an encrypted file: fresh random bytes from the shell.
pub struct Entropy {
    /// PBKDF2 salt.
    pub salt: [u8; 16],
    /// AES-256-CBC initialisation vector.
    pub iv: [u8; 16],
}

/// Reads a key file. The key is derived from the private part alone.
pub fn read(text: &str, passphrase: Option<&[u8]>) -> Result<Identity, PemError> {
    let (label, document) = SecretDocument::from_pem(text).map_err(|_| PemError::NotAKeyFile)?;
    match label {
        PLAIN => identity(document.as_bytes()),
        LOCKED => {
            let passphrase = passphrase.ok_or(PemError::PassphraseNeeded)?;
            let locked = EncryptedPrivateKeyInfoRef::from_der(document.as_bytes())
                .map_err(|_| PemError::NotAKeyFile)?;
            let opened = locked.decrypt(passphrase).map_err(|_| PemError::CannotDecrypt)?;
            // A wrong passphrase can leave bytes that look padded: they are then no key.
            identity(opened.as_bytes()).map_err(|_| PemError::CannotDecrypt)
        }
        _ => Err(PemError::NotAKeyFile),
    }
}

fn identity(der: &[u8]) -> Result<Identity, PemError> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(|_| PemError::NotAKeyFile)?;
    if info.algorithm.oid != ED25519 {
        return Err(PemError::NotEd25519);
    }
    // RFC 8410: the private key is an octet string inside the octet string.
    let inner =
        <&OctetStringRef>::from_der(info.private_key.as_bytes()).map_err(|_| PemError::NotAKeyFile)?;
    let seed: Zeroizing<[u8; 32]> =
        Zeroizing::new(inner.as_bytes().try_into().map_err(|_| PemError::NotAKeyFile)?);
    Ok(Identity::from_seed(&seed))
}

/// The 48-byte DER of an Ed25519 key: a fixed head, then the seed.
fn der(identity: &Identity) -> Zeroizing<Vec<u8>> {
    const HEAD: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    Zeroizing::new([&HEAD[..], identity.seed()].concat())
}

/// Writes an unencrypted key file: 64-column body, trailing line feed.
pub fn write_plain(identity: &Identity) -> Zeroizing<String> {
    to_pem(&der(identity), PLAIN)
}

/// Writes a key file under a passphrase: PBES2, PBKDF2-HMAC-SHA256, AES-256-CBC.
pub fn write_locked(
    identity: &Identity,
    passphrase: &[u8],
    entropy: &Entropy,
) -> Result<Zeroizing<String>, PemError> {
    let parameters =
        pbes2::Parameters::generate_pbkdf2_sha256_aes256cbc(PBKDF2_ROUNDS, &entropy.salt, entropy.iv)
            .map_err(|_| PemError::CannotDecrypt)?;
    let plain = der(identity);
    let info = PrivateKeyInfoRef::from_der(&plain).map_err(|_| PemError::NotAKeyFile)?;
    let locked = info.encrypt_with_params(parameters, passphrase).map_err(|_| PemError::CannotDecrypt)?;
    Ok(to_pem(locked.as_bytes(), LOCKED))
}

fn to_pem(der: &[u8], label: &'static str) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(der.len() * 2 + 80));
    // Encoding into a buffer that is large enough cannot fail; an empty text would be refused on reading.
    if let Ok(pem) = pkcs8::der::pem::encode_string(label, LineEnding::LF, der) {
        let pem = Zeroizing::new(pem);
        text.push_str(&pem);
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

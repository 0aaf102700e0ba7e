//! Key directories (desk specification section 3): `identity.key` 0600, `identity.pub`, `vacant_id`, folder 0700.

use crate::store::{write_atomic, write_new};
use ledger::identity::Identity;
use ledger::pem::{self, Entropy, PemError};
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;
use zeroize::Zeroizing;

/// Why a key directory cannot be used.
#[derive(Debug)]
pub enum KeyError {
    /// There is a key already; it is never overwritten.
    Exists,
    /// The key file or its folder may be read by others.
    OpenToOthers,
    /// `identity.pub` or `vacant_id` beside the key says something else than the key.
    Contradicted(&'static str),
    /// The key file is not one.
    Pem(PemError),
    /// The system refused.
    Io(io::Error),
}

impl From<io::Error> for KeyError {
    fn from(error: io::Error) -> KeyError {
        KeyError::Io(error)
    }
}

impl std::fmt::Display for KeyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KeyError::Exists => f.write_str("there is a key already, and keys are never overwritten"),
            KeyError::OpenToOthers => f.write_str("others may read it: chmod 600 the key and 700 its folder"),
            KeyError::Contradicted(file) => {
                write!(
                    f,
                    "{file} is not derived from the key beside it: remove it, or find out who put it there"
                )
            }
            KeyError::Pem(error) => f.write_str(error.code()),
            KeyError::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for KeyError {}

/// Fresh random bytes of the system.
pub(crate) fn random<const N: usize>() -> io::Result<Zeroizing<[u8; N]>> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut *bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

/// A fresh key that is written nowhere.
pub fn fresh() -> io::Result<Identity> {
    Ok(Identity::from_seed(&*random::<32>()?))
}

/// A fresh word that nobody can guess: 64 hex digits, for a door that asks for one.
///
/// # Errors
/// The system gave no random bytes.
pub fn token() -> io::Result<String> {
    Ok(canon::hex(&*random::<32>()?))
}

/// Makes a key and writes its directory.
pub fn create(folder: &Path, passphrase: Option<&[u8]>) -> Result<Identity, KeyError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let key = folder.join("identity.key");
    if fs::symlink_metadata(&key).is_ok() {
        return Err(KeyError::Exists);
    }
    let identity = fresh()?;
    let text = match passphrase {
        None => pem::write_plain(&identity),
        Some(passphrase) => {
            let entropy = Entropy { salt: *random::<16>()?, iv: *random::<16>()? };
            pem::write_locked(&identity, passphrase, &entropy).map_err(KeyError::Pem)?
        }
    };
    let public = identity.public();
    write_new(&key, text.as_bytes(), 0o600).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => KeyError::Exists,
        _ => KeyError::Io(error),
    })?;
    write_atomic(&folder.join("identity.pub"), format!("{}\n", public.to_hex()).as_bytes(), 0o644)?;
    write_atomic(&folder.join("vacant_id"), format!("{}\n", public.id()).as_bytes(), 0o644)?;
    Ok(identity)
}

/// Reads a key. Public key and id are derived from it; the two text files are for people, may be absent, and must not
/// say something else (section 3: whenever an id and a key appear together, derive and compare).
pub fn load(folder: &Path, passphrase: Option<&[u8]>) -> Result<Identity, KeyError> {
    let path = folder.join("identity.key");
    let meta = fs::metadata(&path)?;
    if meta.mode() & 0o077 != 0 || fs::metadata(folder)?.mode() & 0o077 != 0 {
        return Err(KeyError::OpenToOthers);
    }
    let text = Zeroizing::new(fs::read_to_string(&path)?);
    let identity = pem::read(&text, passphrase).map_err(KeyError::Pem)?;
    let public = identity.public();
    for (file, derived) in [("identity.pub", public.to_hex()), ("vacant_id", public.id().to_string())] {
        match fs::read_to_string(folder.join(file)) {
            Ok(text) if text.trim_end() != derived => return Err(KeyError::Contradicted(file)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(identity)
}

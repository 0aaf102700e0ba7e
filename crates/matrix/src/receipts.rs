//! Receipts of room runs on a signed chain, so that `touchstone verify CHAIN` answers for them. The last entry says how
//! many there are: a chain without it was cut.

use canon::{Digest, Object, Value};
use desk::store::{ChainFile, StoreError, write_public_key};
use ledger::identity::Identity;
use std::io;
use std::path::{Path, PathBuf};

/// Type of the entry of a run.
pub const ENTRY: &str = "room_receipt";
/// Type of the last entry: `receipts_n`.
pub const END: &str = "room_receipts_end";

/// Signs receipts onto a new chain `NAME.ndjson`; the public key is written beside it. Gives the head.
///
/// # Errors
/// The file exists, or cannot be written and made durable.
pub fn sign(path: &Path, identity: Identity, receipts: &[Value]) -> io::Result<Digest> {
    let public = identity.public();
    let mut file = ChainFile::create(path, identity)?;
    if let Err(error) = write_public_key(&public_path(path), &public) {
        // Nothing of a chain that cannot be made may stand in the way of the next attempt.
        let _ = std::fs::remove_file(path);
        return Err(error);
    }
    append(&mut file, receipts).map_err(|error| io::Error::other(error.to_string()))
}

fn append(file: &mut ChainFile, receipts: &[Value]) -> Result<Digest, StoreError> {
    for receipt in receipts {
        file.append_unsynced(ENTRY, receipt.clone())?;
    }
    file.append_unsynced(END, Object::new().with("receipts_n", receipts.len() as u64).into())?;
    file.sync()?;
    Ok(file.head())
}

/// Where the public key of a chain lies.
#[must_use]
pub fn public_path(chain: &Path) -> PathBuf {
    chain.with_extension("pub.json")
}

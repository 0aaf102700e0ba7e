//! Receipts on a signed chain, in input order, so that `touchstone verify CHAIN` answers for them.

use canon::{Digest, Object, Value, canonical, canonical_digest};
use desk::store::{ChainFile, StoreError, write_public_key};
use ledger::identity::Identity;
use ledger::logbook::PAYLOAD_BYTES_MAX;
use std::io;
use std::path::Path;

/// Type of the entries.
pub const ENTRY: &str = "kernel_receipt";

/// A chain of receipts that is being written.
#[derive(Debug)]
pub struct Chain(ChainFile);

impl Chain {
    /// Creates `path`, which is new and ends in `.ndjson`, and the public key beside it (`NAME.pub.json`).
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub fn create(path: &Path, identity: Identity) -> io::Result<Chain> {
        let public = identity.public();
        let chain = ChainFile::create(path, identity)?;
        write_public_key(&path.with_extension("pub.json"), &public)?;
        Ok(Chain(chain))
    }

    /// Signs a receipt. It is on disk when [`Chain::sync`] has returned, not before: a line is not waited for, because
    /// receipts can be made again from their envelopes.
    ///
    /// # Errors
    /// The line cannot be written; the chain is closed then.
    pub fn append(&mut self, receipt: Value) -> Result<(), StoreError> {
        self.0.append_unsynced(ENTRY, fitted(receipt)).map(drop)
    }

    /// Waits until everything is on disk, and returns the head.
    ///
    /// # Errors
    /// It cannot be made durable.
    pub fn sync(&mut self) -> Result<Digest, StoreError> {
        self.0.sync()?;
        Ok(self.0.head())
    }

    /// Number of receipts.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// True before the first receipt.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// An entry has at most 64 KiB. Of a larger receipt the output is replaced by its digest; the receipt line has it whole.
fn fitted(receipt: Value) -> Value {
    if canonical(&receipt).len() <= PAYLOAD_BYTES_MAX {
        return receipt;
    }
    let Value::Object(mut receipt) = receipt else { return receipt };
    let output = receipt.remove("output").unwrap_or(Value::Null);
    receipt.set("output", Value::Null);
    receipt.set("output_sha256", canonical_digest(&output));
    if canonical(&Value::Object(receipt.clone())).len() <= PAYLOAD_BYTES_MAX {
        return receipt.into();
    }
    // A member name that was hit may be long too; the digest of the whole receipt binds it all the same.
    let whole = canonical_digest(&Value::Object(receipt.clone()));
    let verdict = receipt.remove("verdict").unwrap_or(Value::Null);
    let record = receipt.remove("record").unwrap_or(Value::Null);
    Object::new().with("receipt_sha256", whole).with("record", record).with("verdict", verdict).into()
}

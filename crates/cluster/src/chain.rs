//! Receipts on a signed chain, in input order, so that `touchstone verify CHAIN` answers for them.
//!
//! The last entry says how many receipts there are and what their run's replay digest is: a chain without it was cut, or
//! its run did not end. A signature cannot show that, because every beginning of a chain is a chain.

use canon::replay::{Canonicaliser, Document, Table};
use canon::{Digest, Limits, Object, Value, canonical, canonical_digest};
use desk::store::{ChainFile, StoreError, write_public_key};
use ledger::identity::Identity;
use ledger::logbook::PAYLOAD_BYTES_MAX;
use std::io;
use std::path::{Path, PathBuf};

/// Type of the entry of a receipt.
pub const ENTRY: &str = "kernel_receipt";

/// Type of the last entry: `receipts_n` and `replay_sha256`, the digest that `touchstone conform` computes of the run
/// (null when the receipts have no canonical form).
pub const END: &str = "kernel_run_end";

/// A chain of receipts that is being written.
#[derive(Debug)]
pub struct Chain {
    file: ChainFile,
    receipts: u64,
    /// The receipts, a line each, to digest them in the end.
    lines: Vec<u8>,
}

impl Chain {
    /// Creates `path`, which is new and ends in `.ndjson`, and the public key beside it (`NAME.pub.json`).
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub fn create(path: &Path, identity: Identity) -> io::Result<Chain> {
        let public = identity.public();
        let file = ChainFile::create(path, identity)?;
        if let Err(error) = write_public_key(&public_path(path), &public) {
            // Nothing of a chain that cannot be made may stand in the way of the next attempt.
            let _ = std::fs::remove_file(path);
            return Err(error);
        }
        Ok(Chain { file, receipts: 0, lines: Vec::new() })
    }

    /// Signs a receipt. It is on disk when [`Chain::end`] has returned, not before: a line is not waited for, because
    /// receipts can be made again from their envelopes.
    ///
    /// # Errors
    /// The line cannot be written; the chain is closed then.
    pub fn append(&mut self, receipt: Value) -> Result<(), StoreError> {
        let line = canonical(&receipt);
        let receipt = if line.len() <= PAYLOAD_BYTES_MAX { receipt } else { fitted(receipt) };
        self.file.append_unsynced(ENTRY, receipt)?;
        self.receipts += 1;
        self.lines.extend_from_slice(&line);
        self.lines.push(b'\n');
        Ok(())
    }

    /// Signs the last entry, waits until everything is on disk, and returns the head.
    ///
    /// # Errors
    /// It cannot be written or made durable.
    pub fn end(&mut self) -> Result<Digest, StoreError> {
        let digest = replay_digest(&self.lines);
        let end = Object::new().with("receipts_n", self.receipts).with("replay_sha256", digest);
        self.file.append_unsynced(END, end.into())?;
        self.file.sync()?;
        Ok(self.file.head())
    }

    /// Number of entries.
    pub fn len(&self) -> u64 {
        self.file.len()
    }

    /// True before the first receipt.
    pub fn is_empty(&self) -> bool {
        self.file.is_empty()
    }
}

/// Where the public key of a chain lies.
pub fn public_path(chain: &Path) -> PathBuf {
    chain.with_extension("pub.json")
}

/// The replay digest of a run of receipts, one a line: the same for the same envelopes.
pub fn replay_digest(lines: &[u8]) -> Option<Digest> {
    let table = Table::parse(kernel::receipt::FIELDS).ok()?;
    let limits = Limits { bytes_max: lines.len(), ..Limits::default() };
    let run = Document::lines(lines, limits).ok()?;
    Some(Canonicaliser::new(&table).form(&run).ok()?.digest())
}

/// An entry has at most 64 KiB. Of a larger receipt the output is replaced by its digest; the receipt line has it whole.
fn fitted(receipt: Value) -> Value {
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

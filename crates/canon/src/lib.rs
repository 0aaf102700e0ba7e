//! Bytes: the strict JSON reader, the ledger's canonical writer, digests.
//!
//! Pure ring. Everything here is a function from bytes to bytes; there is one reader and one writer for
//! whatever gets hashed or signed (`docs/formats.md`, "Canonical JSON").
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::float_arithmetic)]

mod build;
mod codes;
mod digest;
mod members;
mod number;
mod read;
pub mod replay;
mod scan;
mod shown;
mod value;
mod write;

pub use digest::{Digest, DigestParseError, Hasher, hex, resumed, unhex};
pub use members::{List, Members, Written};
pub use number::{Float, Int};
pub use read::{Limits, ReadError, ReadFault, Reader};
pub use shown::shown;
pub use value::{Object, Value};
pub use write::{NotCanonical, canonical, canonical_digest, canonical_part, compact_ascii, lint_no_floats};

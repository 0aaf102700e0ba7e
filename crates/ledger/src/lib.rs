//! What a signed entry says and whether a chain, a certificate or a run directory holds.
//!
//! Pure ring: bytes in, answers out. Reading files, threads and sentences belong to the shell.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::float_arithmetic)]

pub mod certificate;
pub mod commitment;
mod fault;
pub mod identity;
pub mod logbook;
pub mod pem;
pub mod receipts;
pub mod selftest;

pub use fault::{Failure, Fault, Shape, Warning};

/// How strictly foreign bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every leniency of section 4.5 and ruling 22 is a failure or a named warning. The default.
    Strict,
    /// Mirrors the Python peer's answers (`--peer-compat`). Signatures are checked as strictly as ever.
    PeerCompat,
}

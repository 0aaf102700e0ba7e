//! The ledger against the peer's vectors, Wycheproof, and the faults of PC-60 to PC-65.
#![allow(clippy::unwrap_used)]

mod chains;
mod claims;
mod keys;
mod reasons;
mod runs;

//! The kernel as its callers see it.
#![allow(clippy::unwrap_used)]

mod envelopes;
mod example;
mod harmless;
mod hostile;
mod obfuscation;
mod receipts;
mod routes;
mod stage;

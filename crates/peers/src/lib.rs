//! What several parties say to one another, and when it counts: delegation receipts and deliveries (desk
//! specification 19), launch templates (20), reputation, registry, router, auditor (21), consent and memory rules (22),
//! k keys that judge (18).
//!
//! Pure ring: a key, a chain and a clock reading are arguments. Nothing here starts a program: a check that must run
//! is a trait of the caller.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::float_arithmetic)]

pub mod consent;
pub mod controller;
pub mod delegation;
pub mod ecosystem;
mod fixed;
pub mod memory;
pub mod quorum;
mod signed;

pub use fixed::Fixed;

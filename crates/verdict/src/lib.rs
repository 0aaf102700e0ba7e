//! The vocabulary of decisions: how a run may end, evidence classes, grades, reports, and the registry of every
//! reason code.
//!
//! Pure ring. Codes are signed into receipts, so their meaning never changes (V-3, V-6); sentences are made in the
//! binary.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::float_arithmetic)]

pub mod evidence;
pub mod golden;
pub mod judge;
pub mod registry;
pub mod report;
mod stop;

pub use stop::{Action, StopReason, Triple};

//! A deterministic agent runtime: envelope, guard, route, skill, receipt (determinism specification, section 9).
//!
//! Pure ring. The same envelopes give the same receipts on every machine: no clock, no random source, no float.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::float_arithmetic)]

pub mod skill;

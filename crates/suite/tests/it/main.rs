//! Tests of the crate `suite`, one binary.
#![allow(clippy::unwrap_used)]

mod checks;
mod gauge;
mod humaneval;
mod literal;
mod literal_python;
mod native;
mod peer;
mod python;
mod spec;

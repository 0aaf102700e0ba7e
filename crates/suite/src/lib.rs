//! Suites as data: literals of Python, SuiteSpec, text checks, the gauge (desk specification 15 to 17, 31.5).
//!
//! Pure ring. Nothing here runs a delivery: the crate says what a suite is, what its digest is and what an answer is
//! worth once somebody else has obtained it.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::float_arithmetic)]

pub mod checks;
pub mod gauge;
pub mod literal;
pub mod native;
pub mod render;
pub mod spec;

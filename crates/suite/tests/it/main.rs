//! Tests of the crate `suite`, one binary.

mod literal;
mod literal_python;
mod python;

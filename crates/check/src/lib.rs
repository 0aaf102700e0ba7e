//! Shell ring: runs candidates and says whether they do what a test or a suite asks for (desk specification 15 to 17,
//! 31.3, 31.5).
//!
//! Two ways, one principle: what is expected never enters the process of the candidate, and nothing that the candidate
//! prints is read as an answer.
//!
//! * [`library`]: a Python test text and a Python candidate in two processes (section 15), for checks that are code.
//! * [`Evaluator`]: a suite that is data (section 16), compared here, in Rust, with what a candidate in Python,
//!   JavaScript or Rust returns over a small protocol (`docs/check-protocol.md`).
//!
//! [`gauge`] and [`mutation`] ask how good a suite is, with the second way as their runner (section 17).
//!
//! Whose fault it was: a worker says that it is there before it is given the candidate. What goes wrong before is a
//! [`CheckInfraError`] and says nothing about the candidate; what goes wrong after is the candidate's (ruling 16).

mod candidate;
mod conversation;
mod crossing;
mod detail;
mod evaluate;
pub mod gauge;
mod infra;
pub mod library;
pub mod mutation;
mod place;
mod rust;
mod screen;
mod server;
mod spec;
mod worker;

pub use candidate::{Candidate, Language};
pub use detail::Detail;
pub use evaluate::{Evaluation, Evaluator, Options, Reuse, Suite};
pub use infra::CheckInfraError;
pub use place::Place;

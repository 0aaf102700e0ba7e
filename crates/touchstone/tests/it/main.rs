//! The binary as a user runs it.
#![allow(clippy::unwrap_used)]

mod crash;
mod demo;
mod facts;
mod hostile;
mod judges;
mod keys;
mod peer;
mod record;
mod run;
mod stage;
mod suites;
mod verify;
mod workspace;

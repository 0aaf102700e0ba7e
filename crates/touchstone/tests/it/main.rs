//! The binary as a user runs it.
#![allow(clippy::unwrap_used)]

mod agents;
mod attest;
mod calls;
mod clones;
mod command_suites;
mod conform;
mod conform_examples;
mod crash;
mod demo;
mod documents;
mod enclosure;
mod facts;
mod floor;
mod golden;
mod hostile;
mod judges;
mod kernel;
mod kernel_modules;
mod keys;
mod made_runs;
mod peer;
mod places;
mod probe;
mod record;
mod retry;
mod room;
mod run;
mod stage;
mod stop;
mod streams;
mod suites;
mod verify;
mod verify_claims;
mod watch;
mod workspace;

//! Shell ring: runs agents and checks.

pub mod agents;
pub mod command_suite;
pub mod consent_chain;
pub mod gate;
pub mod keydir;
pub mod launch;
pub mod python_suite;
pub mod record;
pub mod report;
pub mod run;
pub mod sandbox;
pub mod store;
pub mod supervise;
pub mod workspace;

//! Shell ring: runs agents and checks.

pub mod command_suite;
pub mod python_suite;
pub mod report;
pub mod sandbox;
pub mod supervise;
pub mod workspace;

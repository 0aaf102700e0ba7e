//! Command suites: `suite.toml` and how its commands are read.
//!
//! [`config`] turns the file into a value, the desk runs what it says, [`judge`] turns what happened into a verdict,
//! [`isolation`] says which files of a delivery the check must not see, and [`tool`] whether the runner is installed.

pub mod config;
pub mod isolation;
pub mod judge;
pub mod tool;

pub use config::{Check, ConfigError, Counts, Isolation, Kind, Suite};
pub use judge::{CheckResult, Evidence, Verdict, judge_check, judge_suite};

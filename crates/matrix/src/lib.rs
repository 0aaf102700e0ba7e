//! Runs every property of the room against every scenario and seed: frozen manifests, sharded and resumable runs,
//! reports (room contract, sections 12, 14, 16.15).
//!
//! ```text
//! scenarios -> lint        nothing that the lint refuses is hashed or run          (RC-LNT-05)
//!           -> freeze      config, tests, seeds, thresholds: one gate hash, signed (GD-05)
//!           -> Plan        which units, which shard
//!           -> admit       holdout indices under a freeze record, once             (RC-SEE-02)
//!           -> runner      threads, each unit twice, batches on disk
//!           -> conclude    gates of the scenarios, one verdict hash
//!           -> report      Markdown, JSON Lines, one page
//! ```
//!
//! Only `scenarios` knows rooms; everything else knows their seed formula, and what a scenario runs is a parameter.

pub mod admission;
pub mod compare;
pub mod freeze;
pub mod gate;
pub mod header;
pub mod lint;
pub mod modules;
pub mod mutation;
pub mod outcome;
pub mod plan;
mod problem;
pub mod receipts;
pub mod records;
pub mod report;
pub mod runner;
pub mod scenario;
pub mod scenarios;
pub mod shard;
pub mod shrink;
pub mod stats;
pub mod store;
pub mod unit;
pub mod verdict;

pub use outcome::Outcome;
pub use problem::Problem;
pub use scenario::Scenario;
pub use unit::{At, Unit};

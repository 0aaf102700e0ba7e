//! The matrix over small made-up scenarios.
#![allow(clippy::unwrap_used)]

mod agree;
mod freezes;
mod kill;
mod lints;
mod reports;
mod rig;
mod runs;
mod shards;
mod stage;
mod stores;
mod v01b;
mod v02;
mod v03;
mod v04a;
mod v05;
mod v08;
mod v09;
mod v10;
mod v19;
mod v20;
mod v22a;
mod verdicts;

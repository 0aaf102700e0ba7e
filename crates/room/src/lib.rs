//! One agent in one room, under a contract that holds on every tick (room contract, stage 0).
//!
//! Pure ring: integers only, no clock, no file, no thread, no map with a random order.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::float_arithmetic)]

#[macro_use]
mod planted;

pub mod check;
pub mod choose;
pub mod diff;
pub mod draw;
pub mod episode;
pub mod event;
#[cfg(feature = "faults")]
pub mod faults;
pub mod fixed;
pub mod given;
pub mod grid;
pub mod input;
pub mod item;
pub mod kind;
mod layout;
pub mod learn;
pub mod log;

mod mind;
pub mod profile;
pub mod receipt;
pub mod record;
pub mod reject;
pub mod retry;
mod room;
pub mod score;
pub mod section;
pub mod setup;
pub mod shape;
mod start;
pub mod state;
mod step;
pub mod tell;
pub mod traits;
pub mod v08;
pub mod world;

pub use room::{Listen, Room, SetupFault, Trigger};

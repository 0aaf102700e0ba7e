//! Agents that are known by name, and what points each at the proxy of a run.

pub mod environment;
mod preset;
mod private;

pub use preset::{Need, Preset, presets};
pub use private::{PointError, Pointed};

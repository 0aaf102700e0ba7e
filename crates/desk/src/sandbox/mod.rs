//! Measured confinement for checks.

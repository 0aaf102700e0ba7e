//! Command suites: `suite.toml` and how its commands are read.

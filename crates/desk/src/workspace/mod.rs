//! Workspace hash, difference and freeze.

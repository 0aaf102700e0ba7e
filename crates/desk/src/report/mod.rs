//! Readers of test reports: TAP and JUnit XML, and the one table of outcomes.

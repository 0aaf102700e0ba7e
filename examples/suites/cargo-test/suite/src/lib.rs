//! Empty: the suite is `tests/acceptance.rs`.

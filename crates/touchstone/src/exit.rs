//! Exit codes, in one table with the README (ruling 7).

/// Everything asked for holds.
pub(crate) const OK: u8 = 0;
/// `verify`: BROKEN or UNVERIFIABLE; elsewhere: a check of ours failed.
pub(crate) const FAILED: u8 = 1;
/// Wrong use: arguments that cannot be meant.
pub(crate) const USAGE: u8 = 64;
/// Neither: something lowers what may be said.
pub(crate) const YELLOW: u8 = 2;
/// `check`, `gauge`: something was refused.
pub(crate) const REFUSED: u8 = 20;
/// `check`, `gauge`: something was not measured, which says nothing about a candidate.
pub(crate) const VOID: u8 = 22;

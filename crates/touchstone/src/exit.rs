//! Exit codes, in one table with the README (ruling 7).

/// Everything asked for holds.
pub(crate) const OK: u8 = 0;
/// `verify`: BROKEN or UNVERIFIABLE; elsewhere: a check of ours failed.
pub(crate) const FAILED: u8 = 1;
/// Wrong use: arguments that cannot be meant.
pub(crate) const USAGE: u8 = 64;
/// Neither: something lowers what may be said.
pub(crate) const YELLOW: u8 = 2;
/// `check`, `gauge`, `quorum`: something was refused.
pub(crate) const REFUSED: u8 = 20;
/// `quorum`: no majority decided.
pub(crate) const UNDECIDED: u8 = 21;
/// `check`, `gauge`, `quorum`, `gate-then-run`: something was not measured, which says nothing about a candidate.
pub(crate) const VOID: u8 = 22;
/// `gate-then-run`: the delivery was not admitted, nothing was started.
pub(crate) const NOT_ADMITTED: u8 = 20;
/// `gate-then-run`: the agent ran and failed.
pub(crate) const AGENT_FAILED: u8 = 21;
/// `gate-then-run`: the agent could not be started, or ran and is not on record.
pub(crate) const NOT_ON_RECORD: u8 = 22;

//! The exit-status reader.

use super::Refusal;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// It ended by itself with this status.
    Exited(i32),
    /// A signal ended it.
    Signaled(i32),
}

/// Reads an exit status: 0 is fine, everything else is a refusal that names it (ruling 11).
///
/// # Errors
/// [`Refusal::ExitStatusNonzero`] or [`Refusal::KilledBySignal`].
pub const fn read(status: ExitStatus) -> Result<(), Refusal> {
    match status {
        ExitStatus::Exited(0) => Ok(()),
        ExitStatus::Exited(status) => Err(Refusal::ExitStatusNonzero { status }),
        ExitStatus::Signaled(signal) => Err(Refusal::KilledBySignal { signal }),
    }
}

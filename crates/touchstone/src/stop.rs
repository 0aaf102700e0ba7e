//! Signals: the first one is a wish, the second one is obeyed at once.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_default, register_conditional_shutdown};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a second signal does.
#[derive(Clone, Copy)]
pub(crate) enum Second {
    /// Ends the program with this exit code.
    Exits(u8),
    /// Ends the program as if nobody had listened.
    Kills,
}

/// Sets `flag` at the first interrupt, hang-up or request to end.
pub(crate) fn on_signals(flag: &Arc<AtomicBool>, second: Second) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the handler of the second signal must find the flag that the first one set.
        match second {
            Second::Exits(code) => register_conditional_shutdown(signal, i32::from(code), Arc::clone(flag))?,
            Second::Kills => register_conditional_default(signal, Arc::clone(flag))?,
        };
        register(signal, Arc::clone(flag))?;
    }
    Ok(())
}

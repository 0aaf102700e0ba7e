//! Ending a run because somebody wants the desk to stop, while another thread waits for that run.

use super::Killer;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Thread, park_timeout};
use std::time::Duration;

/// How often the wish is looked for. A run that ends by itself waits for none of it.
const EVERY: Duration = Duration::from_millis(20);

/// A thread that looks for the wish; it ends with this value.
#[derive(Debug)]
pub(super) struct Watch {
    over: Arc<AtomicBool>,
    thread: Thread,
}

impl Watch {
    pub(super) fn new(killer: Killer, stop: Arc<AtomicBool>) -> io::Result<Watch> {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let looking = move || {
            while !seen.load(Ordering::Relaxed) {
                if stop.load(Ordering::Relaxed) {
                    return killer.kill();
                }
                park_timeout(EVERY);
            }
        };
        let handle = std::thread::Builder::new().name("stop".to_owned()).spawn(looking)?;
        Ok(Watch { over, thread: handle.thread().clone() })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }
}

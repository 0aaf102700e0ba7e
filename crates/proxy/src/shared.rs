//! What all calls of a proxy share.

use crate::config::{Config, Event, Fault, Targets};
use crate::upstream::Tls;
use canon::Digest;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use wire::{Counts, Row, Wire};

/// How far the proxy has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Calls are passed on.
    Open,
    /// New calls are refused and recorded; those that run may end.
    Quiet,
    /// Those that still run are cut.
    Stopped,
}

pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) targets: Targets,
    pub(crate) tls: Tls,
    pub(crate) phase: watch::Sender<Phase>,
    /// Calls that were passed on.
    pub(crate) calls: AtomicU64,
    /// Bytes of all bodies.
    pub(crate) bytes: Arc<AtomicU64>,
    book: Mutex<Book>,
    /// A call was closed.
    pub(crate) closed: Condvar,
}

/// What is known of the calls so far.
#[derive(Default)]
pub(crate) struct Book {
    /// Calls that began and have no line yet.
    pub(crate) open: u64,
    /// Calls that ended and whose lines could not be written.
    pub(crate) lost: u64,
    pub(crate) counts: Counts,
    /// Digests by line of the index.
    pub(crate) pairs: Vec<(Digest, Option<Digest>)>,
    pub(crate) faults: Vec<Fault>,
    /// The index cannot be written.
    pub(crate) broken: bool,
}

impl Book {
    /// Calls ended; `written` says whether their lines are on the disk.
    pub(crate) fn close(&mut self, rows: &[Row], written: bool) {
        self.open = self.open.saturating_sub(rows.len() as u64);
        if !written {
            self.lost += rows.len() as u64;
            return;
        }
        for row in rows {
            self.counts.add(row);
            self.pairs.push((row.request_sha256, row.response_sha256));
        }
    }
}

impl Shared {
    pub(crate) fn new(config: Config, targets: Targets, tls: Tls) -> Shared {
        Shared {
            config,
            targets,
            tls,
            phase: watch::Sender::new(Phase::Open),
            calls: AtomicU64::new(0),
            bytes: Arc::default(),
            book: Mutex::default(),
            closed: Condvar::new(),
        }
    }

    /// The book. A thread that panicked with it left whole numbers behind.
    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tell(&self, event: &Event<'_>) {
        if let Some(watch) = &self.config.watch {
            watch(event);
        }
    }

    pub(crate) fn fault(&self, fault: Fault) {
        self.tell(&Event::Fault(&fault));
        self.book().faults.push(fault);
    }

    pub(crate) fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// Waits until the proxy has come so far.
    pub(crate) async fn reached(&self, phase: Phase) {
        // The sender lives as long as this.
        let _ = self.phase.subscribe().wait_for(|now| *now >= phase).await;
    }

    /// Whether a limit is used up; otherwise the call counts.
    pub(crate) fn admit(&self) -> Result<(), wire::CallError> {
        let limits = self.config.limits;
        if limits.bytes.is_some_and(|most| self.bytes.load(Ordering::Relaxed) >= most) {
            return Err(wire::CallError::ByteLimit);
        }
        let before = self.calls.fetch_add(1, Ordering::Relaxed);
        if limits.calls.is_some_and(|most| before >= most) {
            return Err(wire::CallError::CallLimit);
        }
        Ok(())
    }

    /// A text for the record, without real keys.
    pub(crate) fn clean(&self, text: &str) -> String {
        let keys = Wire::ALL.iter().filter_map(|wire| self.config.keys.of(*wire));
        let keys = keys.filter_map(|key| std::str::from_utf8(key.reveal()).ok());
        keys.fold(
            text.to_owned(),
            |text, key| if text.contains(key) { text.replace(key, "***") } else { text },
        )
    }
}

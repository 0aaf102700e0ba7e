//! The agent's side of a call: its body on the way up, and whether it is still there afterwards.

use crate::body::Body;
use crate::call::{NotStored, Request};
use crate::shared::{Phase, Shared};
use crate::stream::Buffer;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

/// An agent that sends no more may have hung up or only have said so; a direct connection could not tell either. It has
/// hung up when nothing came for it in so long.
pub(crate) const SILENCE: Duration = Duration::from_secs(5);

/// Why a request is not passed on any more.
#[derive(Debug)]
pub(crate) enum Stuck {
    /// The agent hung up in the middle of it.
    Cut,
    /// It hung up afterwards.
    Gone,
    /// It breaks the chunked coding.
    Malformed,
    /// The upstream takes no more; it may still answer.
    Deaf,
    /// It could not be stored.
    NotStored,
}

impl From<NotStored> for Stuck {
    fn from(_: NotStored) -> Stuck {
        Stuck::NotStored
    }
}

/// Passes a body on. Each piece is on disk before it goes on.
pub(crate) async fn send(
    from: &mut (impl AsyncRead + Unpin),
    buffer: &mut Buffer,
    to: &mut (impl AsyncWrite + Unpin),
    body: &mut Body,
    request: &mut Request,
) -> Result<(), Stuck> {
    while !body.done() {
        if buffer.is_empty() && !matches!(buffer.fill(from).await, Ok(1..)) {
            return Err(Stuck::Cut);
        }
        let mut stored = Ok(());
        let read = body.read(buffer, |payload| {
            if stored.is_ok() {
                stored = request.push(payload);
            }
        });
        stored?;
        let length = read.map_err(|_| Stuck::Malformed)?;
        let piece = &buffer.filled()[..length];
        let written = to.write_all(piece).await;
        buffer.consume(length);
        if written.is_err() || to.flush().await.is_err() {
            return Err(Stuck::Deaf);
        }
    }
    request.copy.complete = true;
    Ok(())
}

/// Signs between the two directions of a call.
#[derive(Default)]
pub(crate) struct Signs {
    /// The request is through.
    pub(crate) sent: AtomicBool,
    pub(crate) on_sent: Notify,
    /// The agent sends no more.
    pub(crate) ended: AtomicBool,
    /// Pieces that the agent got.
    pub(crate) pieces: AtomicU64,
}

impl Signs {
    pub(crate) fn tell_sent(&self) {
        self.sent.store(true, Ordering::Relaxed);
        self.on_sent.notify_one();
    }
}

/// Waits until the agent is gone. What it sends ahead, up to a piece, is kept.
pub(crate) async fn hung_up(
    shared: &Shared,
    from: &mut (impl AsyncRead + Unpin),
    buffer: &mut Buffer,
    to: Option<&mut (impl AsyncWrite + Unpin)>,
    signs: &Signs,
) {
    loop {
        if buffer.is_full() {
            std::future::pending::<()>().await;
        }
        match buffer.fill(from).await {
            Ok(0) => break,
            Ok(_) => {}
            Err(_) => return,
        }
    }
    signs.ended.store(true, Ordering::Relaxed);
    if let Some(to) = to {
        // The upstream sees what it would have seen; whatever it makes of that.
        let _ = to.shutdown().await;
    }
    loop {
        let before = signs.pieces.load(Ordering::Relaxed);
        tokio::select! {
            () = tokio::time::sleep(SILENCE) => {}
            // The agent's processes are ended by now: nobody waits for the rest.
            () = shared.reached(Phase::Quiet) => return,
        }
        if signs.pieces.load(Ordering::Relaxed) == before {
            return;
        }
    }
}

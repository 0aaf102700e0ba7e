//! After an upgrade: bytes pass as they are, and a log says which frames they were. Payloads are kept like bodies, their
//! masks taken off.

use crate::call::{Call, NotStored};
use crate::shared::{Phase, Shared};
use crate::store::Blob;
use crate::stream::{Buffer, Stream};
use crate::upstream::Upstream;
use canon::Object;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;
use wire::End;
use wire::frames::{Frame, Frames, Part};

/// `<call_id>.frames.jsonl`.
struct Log<'a> {
    blob: Blob,
    start: Instant,
    frames: &'a mut u64,
}

impl Log<'_> {
    fn line(&mut self, from: &str, frame: Frame) -> std::io::Result<()> {
        *self.frames += 1;
        let line = Object::new()
            .with("at_us", self.start.elapsed().as_micros() as u64)
            .with("from", from)
            .with("opcode", u64::from(frame.opcode))
            .with("last", frame.last)
            .with("bytes", frame.length);
        let mut bytes = canon::compact_ascii(&line.into());
        bytes.push(b'\n');
        self.blob.push(&bytes)
    }
}

/// Relays until both sides ended. Neither side's end says whether what came is all there is (ruling 15).
pub(crate) async fn relay(
    shared: &Shared,
    agent: &mut Stream,
    buffer: &mut Buffer,
    mut upstream: Upstream,
    call: &mut Call,
) -> End {
    let Ok(blob) = Blob::create(&shared.config.folder, &call.id, "frames.jsonl") else { return End::Store };
    let log = Mutex::new(Log { blob, start: call.start, frames: call.frames.insert(0) });
    let gone = Notify::new();
    let (mut agent_in, mut agent_out) = tokio::io::split(agent);
    let (mut up_in, mut up_out) = tokio::io::split(&mut upstream.stream);
    let (request, response) = (&mut call.request, &mut call.response);
    let up = async {
        let keep = |bytes: &[u8]| request.copy.push(bytes);
        let ended = one_way(&mut agent_in, buffer, &mut up_out, "agent", &log, keep).await;
        gone.notify_one();
        ended
    };
    let keep = |bytes: &[u8]| response.push(bytes);
    let down = one_way(&mut up_in, &mut upstream.buffer, &mut agent_out, "upstream", &log, keep);
    let nobody_waits = async {
        gone.notified().await;
        shared.reached(Phase::Quiet).await;
    };
    let (up, down) = tokio::select! {
        biased;
        both = async { tokio::join!(up, down) } => both,
        () = nobody_waits => return End::Agent,
    };
    let whole = matches!((&up, &down), (Ok(()), Ok(())));
    (call.request.copy.complete, call.response.copy.complete) = (whole, whole);
    match (up, down) {
        (Err(Lost::NotStored), _) | (_, Err(Lost::NotStored)) => End::Store,
        (Err(Lost::Reading), _) | (_, Err(Lost::Writing)) => End::Agent,
        (Err(Lost::Writing), _) | (_, Err(Lost::Reading)) => End::Upstream,
        (Ok(()), Ok(())) => End::Complete,
    }
}

enum Lost {
    Reading,
    Writing,
    NotStored,
}

async fn one_way(
    from: &mut (impl AsyncRead + Unpin),
    buffer: &mut Buffer,
    to: &mut (impl AsyncWrite + Unpin),
    name: &str,
    log: &Mutex<Log<'_>>,
    mut keep: impl FnMut(&[u8]) -> Result<(), NotStored>,
) -> Result<(), Lost> {
    let (mut frames, mut scratch) = (Frames::default(), Vec::new());
    let ended = loop {
        if buffer.is_empty() {
            match buffer.fill(from).await {
                Ok(0) => break Ok(()),
                Ok(_) => {}
                Err(_) => break Err(Lost::Reading),
            }
        }
        let mut stored = true;
        frames.push(buffer.filled(), &mut scratch, |part| {
            stored &= match part {
                Part::Payload(bytes) => keep(bytes).is_ok(),
                Part::End(frame) => {
                    log.lock().unwrap_or_else(PoisonError::into_inner).line(name, frame).is_ok()
                }
            };
        });
        if !stored {
            break Err(Lost::NotStored);
        }
        let length = buffer.filled().len();
        if to.write_all(buffer.filled()).await.is_err() || to.flush().await.is_err() {
            break Err(Lost::Writing);
        }
        buffer.consume(length);
    };
    // The other side learns of the end; what it still sends may pass.
    let _ = to.shutdown().await;
    ended
}

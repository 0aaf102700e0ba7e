//! The upstream's side of a call: heads and body on the way down.

use crate::body::Body;
use crate::call::Response;
use crate::head::{self, AnswerHead};
use crate::shared::Shared;
use crate::stream::Buffer;
use crate::upload::Signs;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use wire::{Answer, CallError, Framing, Protocol};

/// How an answer ended.
#[derive(Debug)]
pub(crate) enum Answered {
    /// By its framing; the connection can be used again.
    Complete,
    /// With the connection.
    Closed,
    /// The connection speaks another protocol from here on.
    Switched,
    /// An upgrade was asked for and there is none.
    NoUpgrade,
    /// The upstream broke off, by a reset or an end, or what it sent is no answer.
    Upstream { error: CallError, reset: bool },
    /// The agent does not take it.
    Agent,
    /// It could not be stored.
    NotStored,
}

/// What of a call the answer depends on.
pub(crate) struct Asked<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) id: &'a str,
    pub(crate) start: Instant,
    pub(crate) method: &'a str,
    pub(crate) protocol: Protocol,
    pub(crate) upgrade: bool,
    pub(crate) signs: &'a Signs,
}

/// Statuses that say that nobody here speaks WebSocket. Others (who are you, too many) are the answer itself.
fn has_no_upgrade(status: u16) -> bool {
    matches!(status, 200..=299 | 400 | 404 | 405 | 426 | 501)
}

/// Passes an answer on.
pub(crate) async fn receive(
    asked: &Asked<'_>,
    from: &mut (impl AsyncRead + Unpin),
    buffer: &mut Buffer,
    to: &mut (impl AsyncWrite + Unpin),
    response: &mut Response,
) -> Answered {
    let head = loop {
        let head = match next_head(from, buffer).await {
            Ok(head) => head,
            Err(error) => return Answered::Upstream { error, reset: false },
        };
        if !(100..200).contains(&head.status) || head.status == 101 {
            break head;
        }
        let interim = head.forwarded();
        if response.head_is_clean(&interim).is_err() {
            return Answered::NotStored;
        }
        if !passed(to, &interim).await {
            return Answered::Agent;
        }
    };
    if head.status == 101 && !asked.upgrade {
        return Answered::Upstream { error: CallError::UpstreamMalformed, reset: false };
    }
    if asked.upgrade && has_no_upgrade(head.status) {
        return Answered::NoUpgrade;
    }
    let Ok(framing) = wire::answer_framing(asked.method, head.status, &head.fields.lines()) else {
        return Answered::Upstream { error: CallError::UpstreamMalformed, reset: false };
    };
    let us = asked.start.elapsed().as_micros() as u64;
    let forwarded = head.forwarded();
    let begun = response.begin(asked.shared, asked.id, head.status, us);
    if begun.and_then(|()| response.head_is_clean(&forwarded)).is_err() {
        return Answered::NotStored;
    }
    response.closes = wire::headers::closes(&head.fields.lines());
    response.open_ended = matches!(framing, Framing::Chunked | Framing::Close) && head.status != 101;
    if !passed(to, &forwarded).await {
        return Answered::Agent;
    }
    if head.status == 101 {
        return Answered::Switched;
    }
    let (kind, coding) = (head.fields.get("content-type"), head.fields.get("content-encoding"));
    response.reader = Some(Answer::new(asked.protocol, kind.as_deref(), coding.as_deref()));
    body(asked, from, buffer, to, Body::new(framing), response).await
}

async fn next_head(
    from: &mut (impl AsyncRead + Unpin),
    buffer: &mut Buffer,
) -> Result<AnswerHead, CallError> {
    loop {
        if let Some(head) = head::answer(buffer.filled())? {
            buffer.consume(head.length);
            return Ok(head);
        }
        match buffer.fill(from).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return Err(CallError::UpstreamClosed),
        }
    }
}

async fn passed(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> bool {
    to.write_all(bytes).await.is_ok() && to.flush().await.is_ok()
}

async fn body(
    asked: &Asked<'_>,
    from: &mut (impl AsyncRead + Unpin),
    buffer: &mut Buffer,
    to: &mut (impl AsyncWrite + Unpin),
    mut body: Body,
    response: &mut Response,
) -> Answered {
    while !body.done() {
        if buffer.is_empty() {
            match buffer.fill(from).await {
                Ok(0) if matches!(body, Body::Close) => return Answered::Closed,
                Ok(0) => return Answered::Upstream { error: CallError::UpstreamCut, reset: false },
                Ok(_) => {}
                Err(error) => {
                    // A TLS connection that just ends says the same as a reset.
                    let reset = matches!(body, Body::Close) || error.kind() == io::ErrorKind::ConnectionReset;
                    return Answered::Upstream { error: CallError::UpstreamCut, reset };
                }
            }
        }
        let mut stored = Ok(());
        let read = body.read(buffer, |payload| {
            if stored.is_ok() {
                stored = response.push(payload);
            }
        });
        if stored.is_err() {
            return Answered::NotStored;
        }
        // What is malformed goes on as it came: a direct connection would have brought it too.
        let length = read.unwrap_or(buffer.filled().len());
        if !passed(to, &buffer.filled()[..length]).await {
            return Answered::Agent;
        }
        buffer.consume(length);
        asked.signs.pieces.fetch_add(1, Ordering::Relaxed);
        if read.is_err() {
            return Answered::Upstream { error: CallError::UpstreamMalformed, reset: false };
        }
    }
    response.copy.complete = true;
    Answered::Complete
}

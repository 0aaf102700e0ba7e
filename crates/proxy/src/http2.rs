//! An upstream that speaks HTTP/2 only: a task stands between it and the relay and speaks HTTP/1.1 with the relay, so that
//! recording, hang-ups and limits have one implementation. HTTP/1.1 is offered first: an agent that speaks HTTP/1.1 would
//! get it on a direct connection too, and only then bytes can be the same.

use crate::body::Body;
use crate::head::{self, RequestHead};
use crate::stream::Buffer;
use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use wire::Framing;

/// Bytes that may wait between task and relay in one direction.
const WAITING: usize = 32 << 10;

/// Headers that HTTP/2 says otherwise or not at all.
const NOT_SAID: [&str; 6] = ["host", "connection", "transfer-encoding", "keep-alive", "upgrade", "te"];

/// The relay's end of a connection. The task ends with it.
pub(crate) fn translated(stream: TlsStream<TcpStream>, authority: String) -> DuplexStream {
    let (relay, own) = tokio::io::duplex(WAITING);
    tokio::spawn(async move {
        let Ok((sender, connection)) = h2::client::handshake(stream).await else { return };
        tokio::select! {
            // Drives the frames; it ends with the connection, and a call that runs breaks off with it.
            _ = connection => {}
            _ = calls(own, sender, &authority) => {}
        }
    });
    relay
}

/// Call after call, until one breaks off. `None` closes the relay's end, which is how a broken HTTP/1.1 upstream looks.
async fn calls(own: DuplexStream, mut sender: SendRequest<Bytes>, authority: &str) -> Option<()> {
    let (mut from, mut to) = tokio::io::split(own);
    let mut buffer = Buffer::default();
    loop {
        let head = loop {
            if let Some(head) = head::request(buffer.filled()).ok()? {
                break head;
            }
            more(&mut buffer, &mut from).await?;
        };
        buffer.consume(head.length);
        let framing = wire::request_framing(&head.fields.lines()).ok()?;
        let body = Body::new(framing);
        sender = sender.ready().await.ok()?;
        let (answer, stream) = sender.send_request(request(&head, authority)?, body.done()).ok()?;
        let sent = AtomicBool::new(body.done());
        let up = send(&mut from, &mut buffer, body, stream, &sent);
        tokio::select! {
            biased;
            received = receive(&mut to, answer, &head.method) => received?,
            () = up => return None,
        }
        if !sent.load(Ordering::Relaxed) {
            return None;
        }
    }
}

async fn more(buffer: &mut Buffer, from: &mut (impl AsyncRead + Unpin)) -> Option<()> {
    matches!(buffer.fill(from).await, Ok(1..)).then_some(())
}

fn request(head: &RequestHead, authority: &str) -> Option<Request<()>> {
    let uri = format!("https://{authority}{}", head.target);
    let mut request = Request::builder().method(head.method.as_str()).uri(uri).body(()).ok()?;
    *request.version_mut() = http::Version::HTTP_2;
    for line in head.fields.lines() {
        if NOT_SAID.iter().any(|name| line.is(name)) {
            continue;
        }
        let mut value = HeaderValue::from_bytes(line.trimmed()).ok()?;
        // Kept out of the tables of the compression: it may be a key.
        value.set_sensitive(line.is("authorization") || line.is("x-api-key") || line.is("x-goog-api-key"));
        request.headers_mut().append(HeaderName::from_bytes(line.name).ok()?, value);
    }
    Some(request)
}

/// Sends a body as the upstream takes it. Ends when it cannot go on, or when the relay hangs up afterwards.
async fn send(
    from: &mut (impl AsyncRead + Unpin),
    buffer: &mut Buffer,
    mut body: Body,
    mut stream: SendStream<Bytes>,
    sent: &AtomicBool,
) {
    while !sent.load(Ordering::Relaxed) {
        if buffer.is_empty() && more(buffer, from).await.is_none() {
            // A request that breaks off is no shorter request.
            return stream.send_reset(h2::Reason::CANCEL);
        }
        let mut payload = Vec::new();
        let Ok(length) = body.read(buffer, |bytes| payload.extend_from_slice(bytes)) else { return };
        buffer.consume(length);
        if put(&mut stream, Bytes::from(payload), body.done()).await.is_none() {
            return;
        }
        sent.store(body.done(), Ordering::Relaxed);
    }
    // The relay sends its next request after this answer: what comes now is its end.
    while more(buffer, from).await.is_some() {}
    stream.send_reset(h2::Reason::CANCEL);
}

async fn put(stream: &mut SendStream<Bytes>, mut bytes: Bytes, last: bool) -> Option<()> {
    while !bytes.is_empty() {
        stream.reserve_capacity(bytes.len());
        let room = poll_fn(|context| stream.poll_capacity(context)).await?.ok()?;
        let piece = bytes.split_to(room.min(bytes.len()));
        stream.send_data(piece, last && bytes.is_empty()).ok()?;
        if last && bytes.is_empty() {
            return Some(());
        }
    }
    if last { stream.send_data(bytes, true).ok() } else { Some(()) }
}

/// Writes the answer as HTTP/1.1.
async fn receive(to: &mut (impl AsyncWrite + Unpin), answer: ResponseFuture, method: &str) -> Option<()> {
    let (head, mut body) = answer.await.ok()?.into_parts();
    let head = Response::from_parts(head, ());
    let lines: Vec<_> = head
        .headers()
        .get("content-length")
        .map(|value| wire::headers::Line { name: b"content-length", value: value.as_bytes() })
        .into_iter()
        .collect();
    let framing = wire::answer_framing(method, head.status().as_u16(), &lines).ok()?;
    let chunked = framing == Framing::Close;
    to.write_all(&answer_head(&head, chunked)).await.ok()?;
    while let Some(data) = body.data().await {
        let data = data.ok()?;
        let length = data.len();
        if chunked && length > 0 {
            to.write_all(format!("{length:x}\r\n").as_bytes()).await.ok()?;
        }
        to.write_all(&data).await.ok()?;
        if chunked && length > 0 {
            to.write_all(b"\r\n").await.ok()?;
        }
        body.flow_control().release_capacity(length).ok()?;
    }
    let trailers = trailers(&mut body).await?;
    if chunked {
        let mut end = b"0\r\n".to_vec();
        push(&mut end, &trailers);
        end.extend_from_slice(b"\r\n");
        to.write_all(&end).await.ok()?;
    }
    Some(())
}

async fn trailers(body: &mut RecvStream) -> Option<HeaderMap> {
    body.trailers().await.ok().map(Option::unwrap_or_default)
}

fn answer_head(head: &Response<()>, chunked: bool) -> Vec<u8> {
    let status = head.status();
    let mut out =
        format!("HTTP/1.1 {} {}\r\n", status.as_u16(), status.canonical_reason().unwrap_or_default());
    if chunked {
        out.push_str("transfer-encoding: chunked\r\n");
    }
    let mut out = out.into_bytes();
    push(&mut out, head.headers());
    out.extend_from_slice(b"\r\n");
    out
}

fn push(out: &mut Vec<u8>, headers: &HeaderMap) {
    for (name, value) in headers {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            out.extend_from_slice(part);
        }
    }
}

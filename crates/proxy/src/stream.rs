//! One connection of either side, and the buffer in front of it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

/// Bytes that are read at once: together with the copy for the other direction this is what a stream costs.
const PIECE: usize = 32 << 10;

/// A connection.
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<TlsStream<TcpStream>>),
    /// The task that speaks HTTP/2.
    Http2(DuplexStream),
}

impl Stream {
    /// The other side sees a reset instead of an end: a body that is framed by its end must not look complete.
    pub(crate) fn reset_when_dropped(&self) {
        if let Stream::Tcp(stream) = self {
            // Where this fails the connection is gone already.
            let _ = stream.set_zero_linger();
        }
    }

    /// True when nothing lies in it and nobody closed it.
    pub(crate) async fn is_quiet(&mut self) -> bool {
        let mut byte = [0];
        std::future::poll_fn(|context| {
            let read = Pin::new(&mut *self).poll_read(context, &mut ReadBuf::new(&mut byte));
            Poll::Ready(read.is_pending())
        })
        .await
    }

    /// Whether an end of one direction can be passed on and the other stays open.
    pub(crate) fn half_closes(&self) -> bool {
        !matches!(self, Stream::Tls(_) | Stream::Http2(_))
    }
}

macro_rules! each {
    ($self:ident, $stream:ident => $call:expr) => {
        match $self.get_mut() {
            Stream::Tcp(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
            Stream::Unix(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
            Stream::Tls(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
            Stream::Http2(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => stream.poll_read(cx, buf))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each!(self, stream => stream.poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => stream.poll_shutdown(cx))
    }
}

/// What was read and not yet used.
#[derive(Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
}

impl Buffer {
    pub(crate) fn filled(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// True when a whole piece waits.
    pub(crate) fn is_full(&self) -> bool {
        self.to - self.from >= PIECE
    }

    pub(crate) fn consume(&mut self, length: usize) {
        self.from += length;
        debug_assert!(self.from <= self.to, "no more is used than there is");
    }

    /// Reads once; 0 is the end. Dropping the future loses nothing.
    pub(crate) async fn fill(&mut self, reader: &mut (impl AsyncRead + Unpin)) -> io::Result<usize> {
        if self.is_empty() {
            (self.from, self.to) = (0, 0);
            if self.bytes.len() > PIECE {
                self.bytes = Vec::new();
            }
        }
        if self.to == self.bytes.len() {
            self.bytes.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
            self.bytes.resize(self.to + PIECE, 0);
        }
        let length = reader.read(&mut self.bytes[self.to..]).await?;
        self.to += length;
        Ok(length)
    }
}

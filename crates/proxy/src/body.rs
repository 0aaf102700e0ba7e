//! Where a body ends, beside the bytes that pass.

use crate::stream::Buffer;
use wire::Framing;
use wire::chunked::{Chunked, Malformed};

/// What is left of a body.
pub(crate) enum Body {
    Length(u64),
    Chunked(Box<Chunked>),
    Close,
}

impl Body {
    pub(crate) fn new(framing: Framing) -> Body {
        match framing {
            Framing::None => Body::Length(0),
            Framing::Length(length) => Body::Length(length),
            Framing::Chunked => Body::Chunked(Box::default()),
            Framing::Close => Body::Close,
        }
    }

    /// All of it was read.
    pub(crate) fn done(&self) -> bool {
        match self {
            Body::Length(left) => *left == 0,
            Body::Chunked(chunked) => chunked.done(),
            Body::Close => false,
        }
    }

    /// Reads what lies in the buffer. Gives the number of bytes that belong to the body.
    pub(crate) fn read(
        &mut self,
        buffer: &Buffer,
        mut payload: impl FnMut(&[u8]),
    ) -> Result<usize, Malformed> {
        let bytes = buffer.filled();
        match self {
            Body::Length(left) => {
                let length = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                payload(&bytes[..length]);
                *left -= length as u64;
                Ok(length)
            }
            Body::Chunked(chunked) => chunked.push(bytes, payload),
            Body::Close => {
                payload(bytes);
                Ok(bytes.len())
            }
        }
    }
}

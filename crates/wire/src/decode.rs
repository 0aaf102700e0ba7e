//! Packed bodies, unpacked on a copy for the readers (ruling 18). What is forwarded and hashed stays packed (PC-27).

use std::io::{self, Write};

/// Unpacked bytes after which the copy is not read on: a small body may unpack to a very large one (PC-30).
const UNPACKED_MAX: u64 = 256 << 20;

/// Takes the unpacked bytes.
pub(crate) trait Plain {
    /// The next bytes.
    fn plain(&mut self, bytes: &[u8]);
}

/// Hands on what a decoder writes, up to the limit.
pub(crate) struct Limited<P> {
    inner: P,
    left: u64,
}

impl<P: Plain> Write for Limited<P> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len() as u64;
        self.left = self.left.checked_sub(length).ok_or(io::ErrorKind::FileTooLarge)?;
        self.inner.plain(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A reader behind the coding of its body.
pub(crate) struct Decoded<P: Plain> {
    coder: Coder<P>,
    readable: bool,
}

enum Coder<P: Plain> {
    Identity(P),
    Gzip(Box<flate2::write::MultiGzDecoder<Limited<P>>>),
    Zlib(Box<flate2::write::ZlibDecoder<Limited<P>>>),
    Brotli(Box<brotli_decompressor::DecompressorWriter<Limited<P>>>),
}

impl<P: Plain> Decoded<P> {
    /// A reader for a body with this `Content-Encoding`. With a coding that is not known nothing is read.
    pub(crate) fn new(coding: Option<&[u8]>, inner: P) -> Decoded<P> {
        let coding = coding.unwrap_or_default().trim_ascii().to_ascii_lowercase();
        let limited = |inner| Limited { inner, left: UNPACKED_MAX };
        let coder = match &coding[..] {
            b"gzip" | b"x-gzip" => Coder::Gzip(Box::new(flate2::write::MultiGzDecoder::new(limited(inner)))),
            b"deflate" => Coder::Zlib(Box::new(flate2::write::ZlibDecoder::new(limited(inner)))),
            b"br" => {
                let decoder = brotli_decompressor::DecompressorWriter::new(limited(inner), BUFFER);
                Coder::Brotli(Box::new(decoder))
            }
            other => {
                let readable = other.is_empty() || other == b"identity";
                return Decoded { coder: Coder::Identity(inner), readable };
            }
        };
        Decoded { coder, readable: true }
    }

    /// Whether everything so far could be read: the coding is known, the body not damaged and not too large.
    pub(crate) fn readable(&self) -> bool {
        self.readable
    }

    /// The reader behind.
    pub(crate) fn inner(&mut self) -> &mut P {
        match &mut self.coder {
            Coder::Identity(inner) => inner,
            Coder::Gzip(decoder) => &mut decoder.get_mut().inner,
            Coder::Zlib(decoder) => &mut decoder.get_mut().inner,
            Coder::Brotli(decoder) => &mut decoder.get_mut().inner,
        }
    }

    /// Reads on. Decoders hand out what they have at once, so that nothing waits for the next piece.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        if !self.readable {
            return;
        }
        let result = match &mut self.coder {
            Coder::Identity(inner) => {
                inner.plain(piece);
                Ok(())
            }
            Coder::Gzip(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush()),
            Coder::Zlib(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush()),
            Coder::Brotli(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush()),
        };
        self.readable = result.is_ok();
    }

    /// The body ends: a packed body that ends early is damaged.
    pub(crate) fn finish(&mut self) {
        let result = match &mut self.coder {
            Coder::Identity(_) => Ok(()),
            Coder::Gzip(decoder) => decoder.try_finish(),
            Coder::Zlib(decoder) => decoder.try_finish(),
            Coder::Brotli(decoder) => decoder.close(),
        };
        self.readable &= result.is_ok();
    }
}

const BUFFER: usize = 8 << 10;

impl<P: Plain> std::fmt::Debug for Decoded<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Decoded {{ readable: {} }}", self.readable)
    }
}

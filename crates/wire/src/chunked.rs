//! The chunked coding, read beside the bytes that are forwarded: which of them are body, and where it ends. Bytes are
//! never put together again from what was read.

/// Longest line of a chunk size with its extensions, in bytes.
const LINE_MAX: usize = 4096;
/// Longest trailer section, in bytes.
const TRAILERS_MAX: usize = 16 << 10;

/// The coding is broken at this place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Digits of a size; whether there was one already.
    Size {
        digits: u8,
    },
    /// Behind the size, up to the line feed.
    Extension,
    /// The carriage return of a size line was read.
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// At the start of a line of trailers.
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
    Done,
}

/// Reader of one chunked body.
#[derive(Clone, Debug)]
pub struct Chunked {
    state: State,
    /// Bytes left in this chunk.
    left: u64,
    /// Bytes of the line or of the trailers so far.
    line: usize,
}

impl Default for Chunked {
    fn default() -> Chunked {
        Chunked { state: State::Size { digits: 0 }, left: 0, line: 0 }
    }
}

impl Chunked {
    /// At the start of a body.
    pub fn new() -> Chunked {
        Chunked::default()
    }

    /// True when the last chunk and its trailers were read.
    pub fn done(&self) -> bool {
        self.state == State::Done
    }

    /// Reads on. Gives the number of bytes that belong to this body, which is less than all of them at its end or where
    /// it breaks; body bytes among them go to `payload`. After a break every call gives `Malformed`.
    pub fn push(&mut self, piece: &[u8], mut payload: impl FnMut(&[u8])) -> Result<usize, Malformed> {
        let mut at = 0;
        while at < piece.len() && self.state != State::Done {
            if self.state == State::Data {
                let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(piece.len() - at);
                payload(&piece[at..at + length]);
                at += length;
                self.left -= length as u64;
                if self.left == 0 {
                    self.state = State::DataCr;
                }
                continue;
            }
            self.state = self.step(piece[at])?;
            at += 1;
        }
        Ok(at)
    }

    fn step(&mut self, byte: u8) -> Result<State, Malformed> {
        self.line += 1;
        let max = if self.left == 0 && self.in_trailers() { TRAILERS_MAX } else { LINE_MAX };
        if self.line > max {
            return Err(Malformed);
        }
        match (self.state, byte) {
            (State::Size { digits }, byte) if byte.is_ascii_hexdigit() && digits < 15 => {
                self.left = self.left << 4 | u64::from((byte as char).to_digit(16).unwrap_or(0));
                Ok(State::Size { digits: digits + 1 })
            }
            (State::Size { digits: 1.. }, b'\r') => Ok(State::SizeLf),
            (State::Size { digits: 1.. }, b';' | b' ' | b'\t') => Ok(State::Extension),
            (State::Extension, b'\r') => Ok(State::SizeLf),
            // A lone line feed ends a line for some readers only.
            (State::Extension, b'\t' | b' '..=b'~' | 0x80..) => Ok(State::Extension),
            (State::SizeLf, b'\n') => {
                self.line = 0;
                Ok(if self.left == 0 { State::TrailerStart } else { State::Data })
            }
            (State::DataCr, b'\r') => Ok(State::DataLf),
            (State::DataLf, b'\n') => {
                self.line = 0;
                Ok(State::Size { digits: 0 })
            }
            (State::TrailerStart, b'\r') => Ok(State::EndLf),
            (State::TrailerStart, b'!'..=b'~') => Ok(State::Trailer),
            (State::Trailer, b'\r') => Ok(State::TrailerLf),
            (State::Trailer, b'\t' | b' '..=b'~' | 0x80..) => Ok(State::Trailer),
            (State::TrailerLf, b'\n') => Ok(State::TrailerStart),
            (State::EndLf, b'\n') => Ok(State::Done),
            _ => Err(Malformed),
        }
    }

    fn in_trailers(&self) -> bool {
        matches!(self.state, State::TrailerStart | State::Trailer | State::TrailerLf | State::EndLf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> (Result<usize, Malformed>, Vec<u8>, bool) {
        let (mut chunked, mut body, mut used) = (Chunked::new(), Vec::new(), 0);
        for piece in pieces {
            match chunked.push(piece, |bytes| body.extend_from_slice(bytes)) {
                Ok(length) => used += length,
                Err(error) => return (Err(error), body, chunked.done()),
            }
        }
        (Ok(used), body, chunked.done())
    }

    #[test]
    fn extensions_trailers_and_what_follows() {
        let whole = b"5;a=\"b\"\r\nhello\r\n0001\r\n!\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n";
        let with_next = [&whole[..], b"GET / HTTP/1.1\r\n"].concat();
        assert_eq!(read(&[&with_next]), (Ok(whole.len()), b"hello!".to_vec(), true));
        let bytes: Vec<&[u8]> = whole.chunks(1).collect();
        assert_eq!(read(&bytes), (Ok(whole.len()), b"hello!".to_vec(), true));
    }

    #[test]
    fn what_is_broken() {
        for body in [
            &b"5\nhello\r\n"[..],
            b"x\r\n",
            b"\r\n",
            b"5\r\nhelloX\r\n",
            b"5;a\nb\r\nhello\r\n0\r\n\r\n",
            b"1000000000000000\r\n",
            b"0\r\n folded\r\n\r\n",
            b"0\r\nA: b\n\r\n",
            b"+5\r\n",
            b"0x5\r\n",
        ] {
            assert_eq!(read(&[body]).0, Err(Malformed), "{}", String::from_utf8_lossy(body));
        }
        let long = [&b"5;"[..], &[b'a'; 5000]].concat();
        assert_eq!(read(&[&long]).0, Err(Malformed));
    }
}

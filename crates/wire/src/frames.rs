//! Frames of a WebSocket (RFC 6455, section 5.2), read beside the bytes that are relayed.

/// One frame, when its last byte was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it is: 1 text, 2 binary, 8 close, 9 ping, 10 pong, 0 a continuation.
    pub opcode: u8,
    /// Whether the message ends with it.
    pub last: bool,
    /// Bytes of its payload.
    pub length: u64,
}

/// A part of what passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Bytes of a payload, its mask taken off.
    Payload(&'a [u8]),
    /// A frame ended.
    End(Frame),
}

/// Reader of one direction.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    head: Vec<u8>,
    frame: Option<Frame>,
    left: u64,
    mask: [u8; 4],
    at: usize,
}

/// Longest head of a frame in bytes.
const HEAD_MAX: usize = 14;

impl Frames {
    /// Reads on. `scratch` takes unmasked bytes and is left with the last ones.
    pub fn push(&mut self, piece: &[u8], scratch: &mut Vec<u8>, mut out: impl FnMut(Part<'_>)) {
        let mut rest = piece;
        while !rest.is_empty() || self.frame.is_some_and(|_| self.left == 0) {
            let Some(frame) = self.frame else {
                self.head.push(rest[0]);
                rest = &rest[1..];
                self.begin();
                continue;
            };
            let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(rest.len());
            if length > 0 {
                scratch.clear();
                let mask = self.mask.iter().cycle().skip(self.at % 4);
                scratch.extend(rest[..length].iter().zip(mask).map(|(byte, mask)| byte ^ mask));
                out(Part::Payload(scratch));
                self.at = (self.at + length) % 4;
                self.left -= length as u64;
                rest = &rest[length..];
            }
            if self.left == 0 {
                out(Part::End(frame));
                self.frame = None;
            }
        }
    }

    /// True between two frames.
    pub fn between(&self) -> bool {
        self.frame.is_none() && self.head.is_empty()
    }

    /// Starts a frame when its head is complete.
    fn begin(&mut self) {
        let [first, second, ..] = self.head[..] else { return };
        let extended = match second & 0x7F {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let masked = second & 0x80 != 0;
        let needed = 2 + extended + if masked { 4 } else { 0 };
        debug_assert!(needed <= HEAD_MAX, "two bytes, a length of eight, a mask of four");
        if self.head.len() < needed {
            return;
        }
        let length = match extended {
            0 => u64::from(second & 0x7F),
            _ => self.head[2..2 + extended].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        };
        self.mask = [0; 4];
        if masked {
            self.mask.copy_from_slice(&self.head[2 + extended..needed]);
        }
        self.frame = Some(Frame { opcode: first & 0x0F, last: first & 0x80 != 0, length });
        (self.left, self.at) = (length, 0);
        self.head.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_lengths_and_pieces() {
        let mut bytes = vec![0x81, 0x85, 1, 2, 3, 4];
        bytes.extend(b"hello".iter().zip([1, 2, 3, 4, 1]).map(|(byte, mask)| byte ^ mask));
        bytes.extend([0x89, 0x00, 0x02, 126, 1, 0]);
        bytes.extend([7; 256]);
        bytes.extend([0x80, 127, 0, 0, 0, 0, 0, 0, 0, 1, 9]);
        for size in [1, 2, 5, 1000] {
            let (mut frames, mut scratch) = (Frames::default(), Vec::new());
            let (mut payload, mut ends) = (Vec::new(), Vec::new());
            for piece in bytes.chunks(size) {
                frames.push(piece, &mut scratch, |part| match part {
                    Part::Payload(bytes) => payload.extend_from_slice(bytes),
                    Part::End(frame) => ends.push((frame.opcode, frame.last, frame.length)),
                });
            }
            assert!(frames.between());
            assert_eq!(payload, [&b"hello"[..], &[7; 256], &[9]].concat());
            assert_eq!(ends, [(1, true, 5), (9, true, 0), (2, false, 256), (0, true, 1)]);
        }
    }
}

//! What a program printed: the first and the last half of the ceiling, and how much it was in all.

use rustix::event::{PollFd, PollFlags, poll};
use std::collections::VecDeque;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

/// Output of a run, cut in the middle when it was longer than the ceiling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The beginning; everything when nothing was cut.
    pub head: Vec<u8>,
    /// The end, when something was cut.
    pub tail: Vec<u8>,
    /// How many bytes were printed, kept or not.
    pub total_bytes: u64,
}

impl Captured {
    /// How many bytes in the middle were not kept.
    pub fn dropped_bytes(&self) -> u64 {
        self.total_bytes - (self.head.len() + self.tail.len()) as u64
    }

    /// Head and tail, with a line between them that says how much is missing.
    pub fn bytes(&self) -> Vec<u8> {
        let mut all = self.head.clone();
        if self.dropped_bytes() > 0 {
            all.extend_from_slice(
                format!("\n[... {} bytes not kept ...]\n", self.dropped_bytes()).as_bytes(),
            );
        }
        all.extend_from_slice(&self.tail);
        all
    }

    /// The same as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

/// A capture under way: memory stays under the ceiling whatever comes.
#[derive(Debug)]
pub(super) struct Keeping {
    ceiling: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Keeping {
    pub(super) fn new(ceiling_bytes: u64) -> Keeping {
        let ceiling = usize::try_from(ceiling_bytes).unwrap_or(usize::MAX);
        Keeping { ceiling, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = (self.ceiling / 2).saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        bytes = &bytes[room..];
        let half = self.ceiling - self.ceiling / 2;
        bytes = &bytes[bytes.len().saturating_sub(half)..];
        let over = (self.tail.len() + bytes.len()).saturating_sub(half);
        self.tail.drain(..over);
        self.tail.extend(bytes);
    }

    pub(super) fn finish(self) -> Captured {
        let mut kept = Captured { head: self.head, tail: self.tail.into(), total_bytes: self.total };
        if kept.dropped_bytes() == 0 {
            kept.head.append(&mut kept.tail);
        }
        kept
    }
}

/// Writes all; who reads no more loses it, as with a pipe of its own.
fn pass_on(onto: BorrowedFd<'_>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(onto, bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::from_borrowed_fd(onto, PollFlags::OUT)], None);
            }
            Err(_) => return,
        }
    }
}

/// One captured output: the pipe until it ends, and what is kept of it.
#[derive(Debug)]
pub(super) struct Stream {
    pipe: Option<OwnedFd>,
    keeping: Keeping,
    /// Where it is written on to as it comes, instead of being kept.
    onto: Option<OwnedFd>,
}

impl Stream {
    pub(super) fn new(pipe: Option<OwnedFd>, ceiling_bytes: u64, onto: Option<OwnedFd>) -> Stream {
        Stream { pipe, keeping: Keeping::new(ceiling_bytes), onto }
    }

    /// Reads once; false when there is nothing to read at the moment or any more.
    pub(super) fn read_some(&mut self) -> bool {
        let Some(pipe) = &self.pipe else { return false };
        let mut buffer = [0; 65536];
        match rustix::io::read(pipe, &mut buffer) {
            Ok(0) => {
                self.pipe = None;
                false
            }
            Ok(n) => {
                match &self.onto {
                    Some(onto) => pass_on(onto.as_fd(), &buffer[..n]),
                    None => self.keeping.take(&buffer[..n]),
                }
                true
            }
            Err(_) => false,
        }
    }

    /// The pipe, until it ends.
    pub(super) fn pipe(&self) -> Option<&OwnedFd> {
        self.pipe.as_ref()
    }

    /// What was kept.
    pub(super) fn finish(self) -> Captured {
        self.keeping.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(ceiling: u64, pieces: &[&str]) -> Captured {
        let mut keeping = Keeping::new(ceiling);
        pieces.iter().for_each(|p| keeping.take(p.as_bytes()));
        keeping.finish()
    }

    #[test]
    fn short_output_is_kept_whole() {
        let kept = keep(10, &["12345", "67", "890"]);
        assert_eq!((kept.text().as_str(), kept.total_bytes, kept.dropped_bytes()), ("1234567890", 10, 0));
    }

    #[test]
    fn long_output_keeps_both_ends_and_says_what_is_missing() {
        let kept = keep(4, &["abc", "defghij", "k", "xyz"]);
        assert_eq!(kept.text(), "ab\n[... 10 bytes not kept ...]\nyz");
        assert_eq!(keep(0, &["abc"]).total_bytes, 3);
    }
}

//! The desk's end of a conversation with one candidate (docs/check-protocol.md).
//!
//! Requests go over one pipe, replies come over another that only the worker holds: what a candidate prints is never
//! read here. One call is open at a time, and its reply repeats a secret that is fresh for each call. Whoever writes
//! anything else, early or late, has broken the protocol, and the conversation ends with that.

use canon::{Limits, Object, Reader, Value, compact_ascii, hex};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

/// Longest line of a reply, in bytes. A value has at most 4 Mi characters, of which JSON may double each.
const LINE_BYTES_MAX: usize = 16 << 20;
/// Bytes of the secret of a call.
const SECRET_BYTES: usize = 16;

/// How a conversation ended before its time. Always the candidate's doing once its process was ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// No complete reply within the limit.
    TimedOut,
    /// The worker's end is closed.
    Ended,
    /// A line that is no reply to the open call.
    NotAllowed,
}

/// What a worker answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The candidate was loaded and has the entry point.
    Loaded,
    /// The text of the returned value.
    Value(String),
    /// An error of the candidate: class and message.
    Error(String, String),
}

/// The two ends that the desk keeps.
#[derive(Debug)]
pub(crate) struct Conversation {
    requests: OwnedFd,
    replies: OwnedFd,
    arrived: Vec<u8>,
}

/// The two ends that the worker gets.
pub(crate) struct Ends {
    /// To be read.
    pub(crate) requests: OwnedFd,
    /// To be written.
    pub(crate) replies: OwnedFd,
}

impl Conversation {
    /// Two new pipes.
    pub(crate) fn new() -> io::Result<(Conversation, Ends)> {
        let (theirs_in, requests) = pipe_with(PipeFlags::CLOEXEC)?;
        let (replies, theirs_out) = pipe_with(PipeFlags::CLOEXEC)?;
        // Our ends only: a candidate that reads or writes nothing must not stop the desk.
        fcntl_setfl(&requests, OFlags::NONBLOCK)?;
        fcntl_setfl(&replies, OFlags::NONBLOCK)?;
        let conversation = Conversation { requests, replies, arrived: Vec::new() };
        Ok((conversation, Ends { requests: theirs_in, replies: theirs_out }))
    }

    /// Waits until the worker says that it is there. Nothing of the candidate has run by then.
    pub(crate) fn ready(&mut self, until: Instant) -> Result<(), Broken> {
        let line = self.exchange(&[], until)?;
        if line == br#"{"ready":"1"}"# { Ok(()) } else { Err(Broken::NotAllowed) }
    }

    /// Sends one request with a fresh secret and waits for its reply. The inner error is the system's randomness.
    pub(crate) fn ask(
        &mut self,
        members: &[(&str, &str)],
        until: Instant,
    ) -> io::Result<Result<Reply, Broken>> {
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        let nonce = hex(&secret);
        let mut request = Object::new().with("nonce", nonce.as_str());
        for (name, text) in members {
            request.set(name, *text);
        }
        let mut line = compact_ascii(&Value::from(request));
        line.push(b'\n');
        Ok(self.exchange(&line, until).and_then(|line| read(&line, &nonce).ok_or(Broken::NotAllowed)))
    }

    /// Writes `rest` and reads one line, both at once: a worker that talks before it has listened blocks nobody.
    fn exchange(&mut self, mut rest: &[u8], until: Instant) -> Result<Vec<u8>, Broken> {
        if !self.arrived.is_empty() {
            return Err(Broken::NotAllowed);
        }
        loop {
            if let Some(end) = self.arrived.iter().position(|byte| *byte == b'\n') {
                let after = self.arrived.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.arrived, after);
                line.pop();
                return if rest.is_empty() { Ok(line) } else { Err(Broken::NotAllowed) };
            }
            if self.arrived.len() > LINE_BYTES_MAX {
                return Err(Broken::NotAllowed);
            }
            let left = until.checked_duration_since(Instant::now()).ok_or(Broken::TimedOut)?;
            let wait = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 3600, tv_nsec: 0 });
            let mut fds = vec![PollFd::new(&self.replies, PollFlags::IN)];
            if !rest.is_empty() {
                fds.push(PollFd::new(&self.requests, PollFlags::OUT));
            }
            match poll(&mut fds, Some(&wait)) {
                Ok(0) => return Err(Broken::TimedOut),
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return Err(Broken::Ended),
            }
            let (reads, writes) =
                (!fds[0].revents().is_empty(), fds.get(1).is_some_and(|fd| !fd.revents().is_empty()));
            if writes {
                rest = &rest[self.write(rest)?..];
            }
            if reads {
                self.read()?;
            }
        }
    }

    fn write(&self, bytes: &[u8]) -> Result<usize, Broken> {
        match rustix::io::write(&self.requests, bytes) {
            Ok(count) => Ok(count),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(_) => Err(Broken::Ended),
        }
    }

    fn read(&mut self) -> Result<(), Broken> {
        let mut piece = [0; 16 << 10];
        match rustix::io::read(&self.replies, &mut piece) {
            Ok(0) => Err(Broken::Ended),
            Ok(count) => {
                self.arrived.extend_from_slice(&piece[..count]);
                Ok(())
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(_) => Err(Broken::Ended),
        }
    }
}

/// A reply has the secret and either `loaded`, `value`, or `error` with `message`, and nothing else.
fn read(line: &[u8], nonce: &str) -> Option<Reply> {
    let limits = Limits { depth_max: 2, bytes_max: LINE_BYTES_MAX };
    let value = Reader::strict().with_limits(limits).read(line).ok()?;
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let count = value.as_object()?.len();
    if text("nonce")? != nonce {
        return None;
    }
    match (text("loaded"), text("value"), text("error"), text("message"), count) {
        (Some(_), None, None, None, 2) => Some(Reply::Loaded),
        (None, Some(value), None, None, 2) => Some(Reply::Value(value)),
        (None, None, Some(error), Some(message), 3) => Some(Reply::Error(error, message)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::time::Duration;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    /// A worker that answers each request with what `reply` makes of its line.
    fn with(reply: impl Fn(&str) -> String + Send + 'static) -> Conversation {
        use std::io::{BufRead as _, Write as _};
        let (conversation, ends) = Conversation::new().unwrap();
        std::thread::spawn(move || {
            let mut out = std::fs::File::from(ends.replies);
            for line in io::BufReader::new(std::fs::File::from(ends.requests)).lines() {
                let Ok(line) = line else { return };
                if out.write_all(reply(&line).as_bytes()).is_err() {
                    return;
                }
            }
        });
        conversation
    }

    fn nonce_of(line: &str) -> String {
        let value = Reader::strict().read(line.as_bytes()).unwrap();
        value.get("nonce").and_then(Value::as_str).unwrap().to_owned()
    }

    #[track_caller]
    fn check(reply: impl Fn(&str) -> String + Send + 'static, expected: Result<Reply, Broken>) {
        let answer = with(reply).ask(&[("call", "[1]")], soon()).unwrap();
        assert_eq!(answer, expected);
    }

    #[test]
    fn only_the_reply_to_the_open_call_is_one() {
        check(
            |line| format!("{{\"nonce\":\"{}\",\"value\":\"1\"}}\n", nonce_of(line)),
            Ok(Reply::Value("1".into())),
        );
        check(
            |line| format!("{{\"nonce\":\"{}\",\"error\":\"E\",\"message\":\"m\"}}\n", nonce_of(line)),
            Ok(Reply::Error("E".into(), "m".into())),
        );
        check(|_| "{\"nonce\":\"00\",\"value\":\"1\"}\n".into(), Err(Broken::NotAllowed));
        check(|_| "5\n".into(), Err(Broken::NotAllowed));
        check(
            |line| format!("{{\"nonce\":\"{}\",\"value\":\"1\",\"ok\":\"1\"}}\n", nonce_of(line)),
            Err(Broken::NotAllowed),
        );
        check(
            |line| format!("{{\"nonce\":\"{0}\",\"value\":\"1\",\"error\":\"E\"}}\n", nonce_of(line)),
            Err(Broken::NotAllowed),
        );
    }

    #[test]
    fn what_was_written_ahead_ends_the_conversation() {
        let mut twice = with(|line| {
            let reply = format!("{{\"nonce\":\"{}\",\"value\":\"1\"}}\n", nonce_of(line));
            format!("{reply}{reply}")
        });
        assert_eq!(twice.ask(&[], soon()).unwrap(), Ok(Reply::Value("1".into())));
        assert_eq!(twice.ask(&[], soon()).unwrap(), Err(Broken::NotAllowed));
    }

    #[test]
    fn an_end_and_a_silence_are_told_apart() {
        let (mut conversation, ends) = Conversation::new().unwrap();
        assert_eq!(conversation.ask(&[], Instant::now()).unwrap(), Err(Broken::TimedOut));
        drop(ends);
        assert_eq!(conversation.ask(&[], soon()).unwrap(), Err(Broken::Ended));
    }

    #[test]
    fn a_request_larger_than_any_pipe_arrives() {
        let large = "x".repeat(1 << 20);
        let mut conversation =
            with(|line| format!("{{\"nonce\":\"{}\",\"value\":\"{}\"}}\n", nonce_of(line), line.len()));
        let answer = conversation.ask(&[("call", &large)], soon()).unwrap();
        assert!(matches!(answer, Ok(Reply::Value(length)) if length.parse::<usize>().unwrap() > large.len()));
    }
}

//! Heads of HTTP/1.1: read with their lines as spelled, written with nothing changed but what has to be (14.4, PC-29).

use crate::Secret;
use httparse::Status;
use wire::headers::{self, Line};
use wire::{CallError, Wire};
use zeroize::Zeroizing;

/// Longest head in bytes.
const HEAD_MAX: usize = 64 << 10;
/// Most lines of a head.
const LINES_MAX: usize = 256;

/// The header lines of a head, as they came.
#[derive(Default)]
pub(crate) struct Fields {
    bytes: Vec<u8>,
    /// Start, colon and end of each.
    at: Vec<(usize, usize, usize)>,
}

impl Fields {
    /// Of a whole head with its start line.
    fn of(head: &[u8]) -> Fields {
        let (mut at, mut from) = (Vec::new(), 0);
        for piece in head.split_inclusive(|byte| *byte == b'\n') {
            let line = piece.strip_suffix(b"\n").unwrap_or(piece);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if let Some(colon) = line.iter().position(|byte| *byte == b':').filter(|_| from > 0) {
                at.push((from, from + colon, from + line.len()));
            }
            from += piece.len();
        }
        Fields { bytes: head.to_vec(), at }
    }

    pub(crate) fn lines(&self) -> Vec<Line<'_>> {
        let line = |(from, colon, to): &(usize, usize, usize)| Line {
            name: &self.bytes[*from..*colon],
            value: &self.bytes[colon + 1..*to],
        };
        self.at.iter().map(line).collect()
    }

    /// The value of the first line of that lower-case name.
    pub(crate) fn get(&self, name: &str) -> Option<Vec<u8>> {
        self.lines().iter().find(|line| line.is(name)).map(|line| line.trimmed().to_vec())
    }
}

/// Head of a request.
pub(crate) struct RequestHead {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) fields: Fields,
    /// Its length in bytes.
    pub(crate) length: usize,
}

/// Reads the head of a request. `None` asks for more bytes.
pub(crate) fn request(bytes: &[u8]) -> Result<Option<RequestHead>, CallError> {
    let mut lines = [httparse::EMPTY_HEADER; LINES_MAX];
    let mut parsed = httparse::Request::new(&mut lines);
    let length = match parsed.parse(bytes) {
        Ok(Status::Partial) if bytes.len() < HEAD_MAX => return Ok(None),
        Ok(Status::Partial) | Err(httparse::Error::TooManyHeaders) => return Err(CallError::HeadTooLarge),
        Ok(Status::Complete(length)) => length,
        Err(httparse::Error::Version) => return Err(CallError::Version),
        Err(_) => return Err(CallError::HeadMalformed),
    };
    // A lone line feed ends a line for some readers only (PC-35).
    let head = &bytes[..length];
    let lone = head.iter().enumerate().any(|(at, byte)| *byte == b'\n' && (at == 0 || head[at - 1] != b'\r'));
    let fields = Fields::of(head);
    let hosts = fields.lines().iter().filter(|line| line.is("host")).count();
    if lone || hosts > 1 {
        return Err(CallError::HeadMalformed);
    }
    if parsed.version != Some(1) {
        return Err(CallError::Version);
    }
    let (method, target) = (parsed.method.unwrap_or_default(), parsed.path.unwrap_or_default());
    Ok(Some(RequestHead { method: method.to_owned(), target: target.to_owned(), fields, length }))
}

/// Head of an answer.
pub(crate) struct AnswerHead {
    pub(crate) status: u16,
    pub(crate) fields: Fields,
    pub(crate) length: usize,
}

/// Reads the head of an answer. `None` asks for more bytes.
pub(crate) fn answer(bytes: &[u8]) -> Result<Option<AnswerHead>, CallError> {
    let mut lines = [httparse::EMPTY_HEADER; LINES_MAX];
    let mut parsed = httparse::Response::new(&mut lines);
    match parsed.parse(bytes) {
        Ok(Status::Partial) if bytes.len() < HEAD_MAX => Ok(None),
        Ok(Status::Complete(length)) => {
            let status = parsed.code.unwrap_or_default();
            Ok(Some(AnswerHead { status, fields: Fields::of(&bytes[..length]), length }))
        }
        _ => Err(CallError::UpstreamMalformed),
    }
}

impl AnswerHead {
    /// The head as the agent gets it.
    pub(crate) fn forwarded(&self) -> Vec<u8> {
        let bytes = &self.fields.bytes;
        let first = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at);
        let mut out = bytes[..first].strip_suffix(b"\r").unwrap_or(&bytes[..first]).to_vec();
        out.extend_from_slice(b"\r\n");
        for line in headers::end_to_end(&self.fields.lines(), self.status == 101) {
            push(&mut out, line.name, line.value);
        }
        out.extend_from_slice(b"\r\n");
        out
    }
}

fn push(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    for part in [name, b":", value, b"\r\n"] {
        out.extend_from_slice(part);
    }
}

/// What of a request is changed on its way.
pub(crate) struct Change<'a> {
    pub(crate) wire: Wire,
    /// Path with the query at the upstream; the sentinel may stand in it.
    pub(crate) path: &'a str,
    /// The upstream's own name.
    pub(crate) authority: &'a str,
    pub(crate) sentinel: &'a str,
    pub(crate) key: Option<&'a Secret>,
    pub(crate) upgrade: bool,
}

const AUTH: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];

impl RequestHead {
    /// The head as the upstream gets it: it carries the real key and is wiped.
    pub(crate) fn forwarded(&self, change: &Change<'_>) -> Zeroizing<Vec<u8>> {
        let key = change.key.map(Secret::reveal);
        // Room for a key in each place, so that no copy of it stays behind in a smaller buffer.
        let room =
            self.length + change.path.len() + change.authority.len() + 4 * key.map_or(0, <[u8]>::len) + 128;
        let mut out = Zeroizing::new(Vec::with_capacity(room));
        let target = headers::swapped_target(change.path, change.sentinel, key).map(Zeroizing::new);
        let mut swapped = key.is_some() && target.is_some();
        out.extend_from_slice(self.method.as_bytes());
        out.push(b' ');
        out.extend_from_slice(target.as_ref().map_or(change.path.as_bytes(), |target| target.as_slice()));
        out.extend_from_slice(b" HTTP/1.1\r\n");
        let lines = self.fields.lines();
        for line in headers::end_to_end(&lines, change.upgrade) {
            if line.is("host") {
                push(&mut out, line.name, format!(" {}", change.authority).as_bytes());
                continue;
            }
            match headers::swapped(&line, change.wire, change.sentinel, key) {
                None => push(&mut out, line.name, line.value),
                Some(None) => {}
                Some(Some(value)) => {
                    swapped = true;
                    push(&mut out, line.name, &Zeroizing::new(value));
                }
            }
        }
        let own = lines.iter().any(|line| AUTH.iter().any(|name| line.is(name)));
        if let Some(key) = key.filter(|_| !swapped && !own) {
            let (name, before) = headers::key_header(change.wire);
            push(&mut out, name.as_bytes(), &Zeroizing::new([b" ", before.as_bytes(), key].concat()));
        }
        out.extend_from_slice(b"\r\n");
        out
    }
}

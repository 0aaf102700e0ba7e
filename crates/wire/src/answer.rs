//! What an answer says about itself: whether its stream ended as its protocol ends one, whether it carries an error, which
//! model spoke and how many tokens it counted (31.11, PC-25). Copies are read, bounded, and nothing is altered.

use crate::Protocol;
use crate::decode::{Decoded, Plain};
use crate::events::{Events, Lines, Sse};
use crate::scan::{Leaf, Scan, Sink};

/// How the body of an answer is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Server-sent events or lines of JSON.
    Stream,
    /// One document.
    Document,
}

/// Tokens that the answer states; what it does not state is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read.
    pub input: Option<u64>,
    /// Tokens written.
    pub output: Option<u64>,
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// How the body was read.
    pub kind: Kind,
    /// False for a coding that is not known, a damaged body, or one that unpacks to more than the limit. What was read
    /// before that stands.
    pub readable: bool,
    /// The stream ended as its protocol ends one.
    pub ended: bool,
    /// The body carries an error.
    pub error: bool,
    /// The model that spoke.
    pub model: Option<String>,
    /// Tokens.
    pub usage: Usage,
}

/// Reader of one answer.
#[derive(Debug)]
pub struct Answer(Decoded<Body>);

#[derive(Debug)]
enum Reader {
    /// Nothing came yet and the type does not say what it will be.
    Unsure,
    Sse(Sse),
    Lines(Lines),
    Document,
}

#[derive(Debug)]
struct Body {
    reader: Reader,
    scan: Scan,
    seen: Seen,
}

/// What the events so far said.
#[derive(Debug)]
struct Seen {
    protocol: Protocol,
    ended: bool,
    error: bool,
    model: Option<String>,
    usage: Usage,
    /// `type` of the event that is being read.
    kind: Vec<u8>,
    /// The event that is being read says that it is the last, by a member.
    last: bool,
}

impl Answer {
    /// A reader for an answer with these headers.
    pub fn new(protocol: Protocol, content_type: Option<&[u8]>, coding: Option<&[u8]>) -> Answer {
        let media = content_type.unwrap_or_default().split(|byte| *byte == b';').next().unwrap_or_default();
        let media = media.trim_ascii().to_ascii_lowercase();
        let reader = match &media[..] {
            b"text/event-stream" => Reader::Sse(Sse::default()),
            b"application/x-ndjson" | b"application/jsonl" | b"application/x-jsonlines" => {
                Reader::Lines(Lines::default())
            }
            b"application/json" => Reader::Document,
            _ => Reader::Unsure,
        };
        let seen = Seen {
            protocol,
            ended: false,
            error: false,
            model: None,
            usage: Usage::default(),
            kind: Vec::new(),
            last: false,
        };
        Answer(Decoded::new(coding, Body { reader, scan: Scan::default(), seen }))
    }

    /// Reads on.
    pub fn push(&mut self, piece: &[u8]) {
        self.0.push(piece);
    }

    /// True once the protocol's own end was read.
    pub fn ended(&mut self) -> bool {
        self.0.inner().seen.ended
    }

    /// What was read. `complete` is false when the body broke off: a last event that nothing ended is then left out.
    pub fn finish(mut self, complete: bool) -> Reading {
        if complete {
            self.0.finish();
        }
        let readable = self.0.readable();
        let body = self.0.inner();
        if complete && readable {
            body.finish();
        }
        let kind = match body.reader {
            Reader::Sse(_) | Reader::Lines(_) => Kind::Stream,
            Reader::Document | Reader::Unsure => Kind::Document,
        };
        let Seen { ended, error, ref mut model, usage, .. } = body.seen;
        Reading { kind, readable, ended, error, model: model.take(), usage }
    }
}

impl Plain for Body {
    fn plain(&mut self, bytes: &[u8]) {
        if matches!(self.reader, Reader::Unsure) {
            self.reader = guess(bytes);
        }
        let mut parts = Parts { scan: &mut self.scan, seen: &mut self.seen };
        match &mut self.reader {
            Reader::Sse(sse) => sse.push(bytes, &mut parts),
            Reader::Lines(lines) => lines.push(bytes, &mut parts),
            Reader::Document | Reader::Unsure => parts.scan.push(bytes, parts.seen),
        }
    }
}

impl Body {
    fn finish(&mut self) {
        let mut parts = Parts { scan: &mut self.scan, seen: &mut self.seen };
        match &mut self.reader {
            Reader::Sse(sse) => sse.finish(&mut parts),
            Reader::Lines(lines) => lines.finish(&mut parts),
            Reader::Document | Reader::Unsure => {
                parts.scan.finish(parts.seen);
                parts.seen.event_end(b"", b"");
            }
        }
    }
}

/// A stream without its media type: some servers send events as plain text.
fn guess(first: &[u8]) -> Reader {
    let first = first.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(first);
    let field =
        ["data:", "event:", "id:", "retry:", ":"].iter().any(|start| first.starts_with(start.as_bytes()));
    match first {
        [] => Reader::Unsure,
        _ if field => Reader::Sse(Sse::default()),
        _ => Reader::Document,
    }
}

struct Parts<'a> {
    scan: &'a mut Scan,
    seen: &'a mut Seen,
}

impl Events for Parts<'_> {
    fn data(&mut self, bytes: &[u8]) {
        self.scan.push(bytes, self.seen);
    }

    fn end(&mut self, name: &[u8], head: &[u8]) {
        self.scan.finish(self.seen);
        self.scan.reset();
        self.seen.event_end(name, head);
    }
}

impl Seen {
    /// An event, or the whole document, was read.
    fn event_end(&mut self, name: &[u8], head: &[u8]) {
        let kind = if self.kind.is_empty() { name } else { &self.kind };
        self.error |= name == b"error" || kind == b"error" || kind == b"response.failed";
        self.ended |= match self.protocol {
            Protocol::ChatCompletions | Protocol::Completions | Protocol::Other => {
                head.trim_ascii_end() == b"[DONE]"
            }
            Protocol::Responses => [&b"response.completed"[..], b"response.incomplete"].contains(&kind),
            Protocol::Messages => kind == b"message_stop",
            Protocol::Complete | Protocol::Ollama | Protocol::Gemini => self.last,
        };
        self.kind.clear();
        self.last = false;
    }

    fn count(&mut self, path: &[&[u8]], number: u64) {
        let usage: &[&[u8]] = match path {
            [b"response" | b"message", rest @ ..] => rest,
            all => all,
        };
        match usage {
            [b"usage", b"prompt_tokens" | b"input_tokens"]
            | [b"usageMetadata", b"promptTokenCount"]
            | [b"prompt_eval_count"] => self.usage.input = Some(number),
            [b"usage", b"completion_tokens" | b"output_tokens"]
            | [b"usageMetadata", b"candidatesTokenCount"]
            | [b"eval_count"] => self.usage.output = Some(number),
            _ => {}
        }
    }
}

/// A number of tokens.
fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The name of a model as it may stand in a record.
fn model_name(text: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(text).ok()?;
    let plain = !name.is_empty() && name.chars().all(|ch| !ch.is_control() && ch != '\\');
    plain.then(|| name.to_owned())
}

impl Sink for Seen {
    fn leaf(&mut self, path: &[&[u8]], leaf: Leaf<'_>) {
        match (path, leaf) {
            ([b"type"], Leaf::Str(text)) => {
                self.kind.clear();
                self.kind.extend_from_slice(text);
            }
            ([b"error"] | [b"response", b"error"], leaf) => {
                self.error |= !matches!(leaf, Leaf::Bare(b"null" | b"false") | Leaf::Str(b""));
            }
            ([b"model" | b"modelVersion"] | [b"response" | b"message", b"model"], Leaf::Str(text))
                if self.model.is_none() =>
            {
                self.model = model_name(text);
            }
            ([b"done"], Leaf::Bare(b"true")) => self.last = true,
            ([b"stop_reason"] | [b"candidates", b"finishReason"], Leaf::Str(text)) => {
                self.last |= !text.is_empty();
            }
            (path, Leaf::Bare(text)) => {
                if let Some(number) = number(text) {
                    self.count(path, number);
                }
            }
            _ => {}
        }
    }
}

/// Reader of a request: which model it names. A packed request is not unpacked: its model is "not readable" (PC-30).
#[derive(Debug)]
pub struct RequestReader {
    scan: Scan,
    model: Named,
    readable: bool,
}

#[derive(Debug, Default)]
struct Named(Option<String>);

impl Sink for Named {
    fn leaf(&mut self, path: &[&[u8]], leaf: Leaf<'_>) {
        if let ([b"model"], Leaf::Str(text), None) = (path, leaf, &self.0) {
            self.0 = model_name(text);
        }
    }
}

impl RequestReader {
    /// A reader for a request with this `Content-Encoding`.
    pub fn new(coding: Option<&[u8]>) -> RequestReader {
        let coding = coding.unwrap_or_default().trim_ascii();
        let readable = coding.is_empty() || coding.eq_ignore_ascii_case(b"identity");
        RequestReader { scan: Scan::default(), model: Named::default(), readable }
    }

    /// Reads on.
    pub fn push(&mut self, piece: &[u8]) {
        if self.readable && self.model.0.is_none() {
            self.scan.push(piece, &mut self.model);
        }
    }

    /// False for a packed body.
    pub fn readable(&self) -> bool {
        self.readable
    }

    /// The model that the request names.
    pub fn model(&self) -> Option<&str> {
        self.model.0.as_deref()
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;

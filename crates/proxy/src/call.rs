//! One call: what is known of it while it runs, and its line at the end.

use crate::config::{Fault, FaultKind};
use crate::head::RequestHead;
use crate::secret::Echo;
use crate::shared::Shared;
use crate::store::Blob;
use canon::Digest;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use wire::{
    Answer, CallError, Class, End, Facts, Kind, Protocol, Reading, RequestReader, Route, Row, Usage, Wire,
};

/// The body of one direction as it passes: on disk and hashed before it goes on.
pub(crate) struct Kept {
    blob: Option<Blob>,
    total: Arc<AtomicU64>,
    /// All of it passed.
    pub(crate) complete: bool,
    /// What the system said when it could not be stored.
    failed: Option<io::Error>,
}

impl Kept {
    fn new(total: Arc<AtomicU64>) -> Kept {
        Kept { blob: None, total, complete: false, failed: None }
    }

    fn open(&mut self, shared: &Shared, call_id: &str, side: &str) -> Result<(), NotStored> {
        let blob = Blob::create(&shared.config.folder, call_id, side);
        self.keep(blob).map(|blob| self.blob = Some(blob))
    }

    fn keep<T>(&mut self, result: io::Result<T>) -> Result<T, NotStored> {
        result.map_err(|error| {
            self.failed.get_or_insert(error);
            NotStored
        })
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), NotStored> {
        self.total.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let pushed = self.blob.as_mut().map_or(Ok(()), |blob| blob.push(bytes));
        self.keep(pushed)
    }
}

/// A body could not or may not be stored; why is kept in its [`Kept`] or [`Response`].
#[derive(Debug)]
pub(crate) struct NotStored;

/// What the agent sends.
pub(crate) struct Request {
    pub(crate) copy: Kept,
    pub(crate) reader: RequestReader,
}

/// What it gets.
pub(crate) struct Response {
    pub(crate) copy: Kept,
    /// Status of the answer; 0 before there is one.
    pub(crate) status: u16,
    pub(crate) first_byte_us: Option<u64>,
    pub(crate) reader: Option<Answer>,
    /// It came without a length.
    pub(crate) open_ended: bool,
    /// The upstream closes after it.
    pub(crate) closes: bool,
    /// Looks for the real key, where there is one.
    pub(crate) echo: Option<Echo>,
    /// It was found.
    echoed: bool,
}

/// A call that runs.
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) start: Instant,
    ts_ms: u64,
    pub(crate) route: Route,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) upstream: Option<String>,
    pub(crate) request: Request,
    pub(crate) response: Response,
    pub(crate) error: Option<CallError>,
    pub(crate) blocked: bool,
    pub(crate) frames: Option<u64>,
}

/// 32 hex digits that no other call has.
fn fresh_id() -> String {
    let mut bytes = [0; 16];
    if getrandom::fill(&mut bytes).is_err() {
        // A name only has to be new: the clock and a counter are enough where the system has no random bytes.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        bytes[..8].copy_from_slice(&nanos.to_be_bytes());
        bytes[8..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    }
    canon::hex(&bytes)
}

impl Call {
    /// A call begins: from now on it is open, until its line is written.
    pub(crate) fn begin(shared: &Shared) -> Call {
        shared.book().open += 1;
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let copy = || Kept::new(Arc::clone(&shared.bytes));
        Call {
            id: fresh_id(),
            start: Instant::now(),
            ts_ms: since.map_or(0, |since| since.as_millis() as u64),
            route: Route { wire: Wire::Openai, protocol: Protocol::Other, class: Class::Other },
            method: String::new(),
            path: String::new(),
            upstream: None,
            request: Request { copy: copy(), reader: RequestReader::new(None) },
            response: Response {
                copy: copy(),
                status: 0,
                first_byte_us: None,
                reader: None,
                open_ended: false,
                closes: false,
                echo: None,
                echoed: false,
            },
            error: None,
            blocked: false,
            frames: None,
        }
    }

    /// The head of its request was read.
    pub(crate) fn head(&mut self, shared: &Shared, head: &RequestHead, upgrade: bool) {
        self.method = head.method.clone();
        self.path = shared.clean(&head.target);
        self.route = wire::route(&head.method, &head.target, upgrade);
        self.response.echo = shared.config.keys.of(self.route.wire).map(Echo::of);
        self.request.reader = RequestReader::new(head.fields.get("content-encoding").as_deref());
    }

    /// The file of the request, which every call has.
    pub(crate) fn open_request(&mut self, shared: &Shared) -> Result<(), NotStored> {
        self.request.copy.open(shared, &self.id, "req.bin")
    }

    fn us(&self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }

    /// Its line, when everything is over. What could not be stored becomes a fault.
    pub(crate) fn finish(mut self, shared: &Shared, end: End) -> Row {
        if self.request.copy.blob.is_none() && self.request.copy.failed.is_none() {
            // Refused by its head: the file is there all the same, and empty.
            let _ = self.open_request(shared);
        }
        let failed = self.request.copy.failed.take().or(self.response.copy.failed.take());
        let end = if failed.is_some() || self.response.echoed { End::Store } else { end };
        if self.response.echoed {
            self.error = Some(CallError::KeyInAnswer);
        }
        if let Some(error) = failed {
            let (call_id, kind) = (self.id.clone(), FaultKind::Body);
            shared.fault(Fault { call_id, kind, why: error.to_string() });
            self.error = Some(CallError::NotStored);
        }
        self.row(shared, end)
    }

    fn row(mut self, shared: &Shared, end: End) -> Row {
        let elapsed_us = self.us();
        let complete = self.response.copy.complete;
        let reading = self.response.reader.take().map(|reader| reader.finish(complete)).unwrap_or(NOTHING);
        let status = self.response.status;
        let facts = Facts { class: self.route.class, blocked: self.blocked, status, end, reading: &reading };
        let outcome = facts.outcome();
        let request_complete = self.request.copy.complete;
        let (request_sha256, request_bytes) =
            self.request.copy.blob.map_or((Digest::of(b""), 0), Blob::finish);
        let response = self.response.copy.blob.map(Blob::finish);
        Row {
            call_id: self.id,
            ts_ms: self.ts_ms,
            mode: shared.config.mode,
            wire: self.route.wire,
            protocol: self.route.protocol,
            class: self.route.class,
            method: self.method,
            path: self.path,
            upstream: self.upstream,
            request_sha256,
            request_bytes,
            request_complete,
            request_model: self.request.reader.model().map(|name| shared.clean(name)),
            request_readable: self.request.reader.readable(),
            status,
            error: self.error,
            outcome,
            blocked: self.blocked,
            response_sha256: response.map(|(digest, _)| digest),
            response_bytes: response.map_or(0, |(_, bytes)| bytes),
            streamed: self.response.open_ended || reading.kind == Kind::Stream,
            stream_ended: reading.ended,
            partial: !request_complete || (status != 0 && !complete),
            model: reading.model.map(|name| shared.clean(&name)),
            usage: reading.usage,
            frames: self.frames,
            elapsed_us,
            first_byte_us: self.response.first_byte_us,
        }
    }
}

/// No answer was read.
const NOTHING: Reading = Reading {
    kind: Kind::Document,
    readable: true,
    ended: false,
    error: false,
    model: None,
    usage: Usage { input: None, output: None },
};

impl Request {
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), NotStored> {
        self.reader.push(bytes);
        self.copy.push(bytes)
    }
}

impl Response {
    /// Its head came: the file of its body is made.
    pub(crate) fn begin(&mut self, shared: &Shared, id: &str, status: u16, us: u64) -> Result<(), NotStored> {
        self.status = status;
        self.first_byte_us = Some(us);
        self.copy.open(shared, id, "resp.bin")
    }

    /// Whether these bytes of a head carry the real key.
    pub(crate) fn head_is_clean(&mut self, head: &[u8]) -> Result<(), NotStored> {
        self.echoed |= self.echo.as_ref().is_some_and(|echo| echo.in_text(head));
        if self.echoed { Err(NotStored) } else { Ok(()) }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), NotStored> {
        self.echoed |= self.echo.as_mut().is_some_and(|echo| echo.in_piece(bytes));
        if self.echoed {
            return Err(NotStored);
        }
        if let Some(reader) = &mut self.reader {
            reader.push(bytes);
        }
        self.copy.push(bytes)
    }
}

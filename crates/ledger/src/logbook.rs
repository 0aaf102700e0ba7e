//! The logbook: chapter 4 of the desk specification and nothing else.
//!
//! Writing goes through [`Appender`]; reading is two steps. [`examine`] looks at one line alone (that part runs
//! on several threads), [`link`] compares neighbours in order.

use crate::identity::{Identity, PublicKey};
use crate::{Failure, Fault, Mode, Shape, Warning};
use canon::{
    Digest, NotCanonical, Object, Reader, Value, canonical, canonical_digest, canonical_part, lint_no_floats,
};

/// Largest canonical payload, in bytes.
pub const PAYLOAD_BYTES_MAX: usize = 65_536;

/// Members that the entry hash covers, in canonical order of a stored line without `sig`.
const SIGNED: [&str; 7] = ["branch_id", "payload", "prev_hash", "seq", "stream_id", "ts_ms", "type"];

/// Most faults that are named of one line, and most failures of one chain.
const LINE_FAULTS_MAX: usize = 16;
const FAILURES_MAX: usize = 10_000;

/// `ts_ms` past this value is worth a warning: other readers lose digits.
const TIMESTAMP_MAX: i64 = 1 << 53;

// ---------------------------------------------------------------------------------------------- writing

/// Why an entry may not be appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendError {
    /// The chain has another branch; a fork is another logbook.
    OtherBranch,
    /// Canonical payload too large, in bytes.
    PayloadTooLarge(usize),
    /// A float in the payload, and where.
    Float(NotCanonical),
}

/// The end of a chain that is being written.
#[derive(Clone, Debug)]
pub struct Appender {
    branch: String,
    seq: u64,
    head: Digest,
    stream: Option<Digest>,
}

/// An entry that was just signed.
#[derive(Clone, Debug)]
pub struct Appended {
    /// The line for the file, with its line feed.
    pub line: Vec<u8>,
    /// The entry hash.
    pub hash: Digest,
    /// Its position, from 1.
    pub seq: u64,
}

impl Default for Appender {
    fn default() -> Appender {
        Appender::new("main")
    }
}

impl Appender {
    /// An empty chain on `branch`.
    pub fn new(branch: &str) -> Appender {
        Appender { branch: branch.to_owned(), seq: 0, head: Digest::ZERO, stream: None }
    }

    /// Goes on where `chain` ends. Nothing for a chain that does not hold or is empty: nobody goes on over a gap (PC-64).
    pub fn after<F>(chain: &Chain<F>) -> Option<Appender> {
        let first = chain.lines.iter().find_map(|line| line.entry.as_ref())?;
        let holds = chain.verify_chain && chain.failures.is_empty();
        holds.then(|| Appender {
            branch: first.branch.to_string(),
            seq: chain.entries_n as u64,
            head: chain.head,
            stream: chain.stream_id,
        })
    }

    /// Entry hash of the last entry, zeros when there is none.
    pub fn head(&self) -> Digest {
        self.head
    }

    /// Hash of the first entry.
    pub fn stream_id(&self) -> Option<Digest> {
        self.stream
    }

    /// Number of entries.
    pub fn len(&self) -> u64 {
        self.seq
    }

    /// True before the first entry.
    pub fn is_empty(&self) -> bool {
        self.seq == 0
    }

    /// Signs the next entry. The caller makes the line durable before it acts on the hash.
    pub fn append(
        &mut self,
        kind: &str,
        payload: Value,
        identity: &Identity,
        ts_ms: i64,
    ) -> Result<Appended, AppendError> {
        lint_no_floats(&payload).map_err(AppendError::Float)?;
        let size = canonical(&payload).len();
        if size > PAYLOAD_BYTES_MAX {
            return Err(AppendError::PayloadTooLarge(size));
        }
        let mut entry = Object::new()
            .with("branch_id", self.branch.as_str())
            .with("payload", payload)
            .with("prev_hash", self.head)
            .with("seq", self.seq + 1)
            .with("stream_id", self.stream.unwrap_or(Digest::ZERO))
            .with("ts_ms", ts_ms)
            .with("type", kind);
        let signed = canonical(&Value::Object(entry.clone()));
        let hash = Digest::of(&signed);
        entry.set("sig", canon::hex(&identity.sign(&signed)));
        let mut line = canonical(&Value::Object(entry));
        line.push(b'\n');
        self.seq += 1;
        self.head = hash;
        self.stream.get_or_insert(hash);
        Ok(Appended { line, hash, seq: self.seq })
    }

    /// The same, with the branch said again: another branch is an error, never a silent rewrite.
    pub fn append_on(
        &mut self,
        branch: &str,
        kind: &str,
        payload: Value,
        identity: &Identity,
        ts_ms: i64,
    ) -> Result<Appended, AppendError> {
        if branch != self.branch {
            return Err(AppendError::OtherBranch);
        }
        self.append(kind, payload, identity, ts_ms)
    }
}

// ---------------------------------------------------------------------------------------------- reading

/// One line of a chain file.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Its bytes, without the line feed.
    pub bytes: &'a [u8],
    /// Number of the line, from 1.
    pub number: usize,
    /// Byte offset of its start.
    pub offset: usize,
    /// False for a last line without a line feed.
    pub ended: bool,
}

/// Splits a file at line feeds, and at nothing else: U+2028 inside a string is no line end (PC-49).
pub fn lines(file: &[u8]) -> Vec<Line<'_>> {
    each_line(file).collect()
}

/// The same one by one.
pub(crate) fn each_line(file: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut offset = 0;
    file.split_inclusive(|byte| *byte == b'\n').enumerate().map(move |(index, piece)| {
        let bytes = piece.strip_suffix(b"\n").unwrap_or(piece);
        let line = Line { bytes, number: index + 1, offset, ended: bytes.len() < piece.len() };
        offset += piece.len();
        line
    })
}

/// What one line says, looked at alone. `F` is what the caller wants to keep of the payload.
#[derive(Clone, Debug)]
pub struct Examined<F> {
    number: usize,
    offset: usize,
    ended: bool,
    /// The envelope; nothing for a blank or an unreadable line.
    pub entry: Option<Entry<F>>,
    /// Faults of the line alone, the signature's last.
    faults: Vec<(Fault, Option<usize>, Object)>,
    /// Warnings of the line alone.
    pub warnings: Vec<Warning>,
}

/// An envelope, reduced to what the chain needs.
#[derive(Clone, Debug)]
pub struct Entry<F> {
    /// `seq`, when it is an integer of 64 bits.
    pub seq: Option<i64>,
    /// `type`.
    pub kind: Box<str>,
    /// Entry hash.
    pub hash: Digest,
    /// What the caller kept of the payload.
    pub facts: Option<F>,
    /// `ts_ms`, when it is an integer of 64 bits.
    pub ts_ms: Option<i64>,
    prev: Option<Digest>,
    stream: Option<Digest>,
    branch: Box<str>,
    signature_ok: bool,
}

impl<F> Entry<F> {
    /// `branch_id`.
    pub fn branch(&self) -> &str {
        &self.branch
    }
}

/// Looks at one line: reads it, hashes it, checks its signature.
pub fn examine<F>(
    line: &Line<'_>,
    key: &PublicKey,
    mode: Mode,
    keep: &dyn Fn(&str, &Value) -> Option<F>,
) -> Examined<F> {
    let mut examined = Examined {
        number: line.number,
        offset: line.offset,
        ended: line.ended,
        entry: None,
        faults: Vec::new(),
        warnings: Vec::new(),
    };
    let bytes = strip_line_end(line, &mut examined.warnings);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        examined.warnings.push(Warning::BlankLine);
        return examined;
    }
    let reader = if mode == Mode::Strict { Reader::strict() } else { Reader::peer() };
    match reader.read(bytes) {
        Ok(Value::Object(object)) => read_entry(&mut examined, &object, bytes, key, mode, keep),
        Ok(_) => examined.faults.push((
            Fault::EntryUnreadable,
            Some(line.offset),
            Object::new().with("why", Shape::NotAnObject.code()),
        )),
        Err(error) => {
            let torn = !line.ended && error.fault == canon::ReadFault::UnexpectedEnd;
            let fault = if torn { Fault::TornTail } else { Fault::EntryUnreadable };
            let detail = Object::new().with("why", error.fault.code());
            examined.faults.push((fault, Some(line.offset + error.offset), detail));
        }
    }
    examined
}

fn strip_line_end<'a>(line: &Line<'a>, warnings: &mut Vec<Warning>) -> &'a [u8] {
    if !line.ended {
        warnings.push(Warning::NoFinalNewline);
    }
    match line.bytes.strip_suffix(b"\r") {
        Some(rest) => {
            warnings.push(Warning::CrLf);
            rest
        }
        None => line.bytes,
    }
}

fn read_entry<F>(
    examined: &mut Examined<F>,
    object: &Object,
    bytes: &[u8],
    key: &PublicKey,
    mode: Mode,
    keep: &dyn Fn(&str, &Value) -> Option<F>,
) {
    let missing: Vec<&str> =
        SIGNED.iter().chain(&["sig"]).copied().filter(|member| object.get(member).is_none()).collect();
    if let Some(first) = missing.first() {
        let detail = Object::new().with("member", *first).with("missing_n", missing.len() as u64);
        examined.faults.push((Fault::MemberMissing, Some(examined.offset), detail));
    }
    if mode == Mode::Strict {
        lint_members(examined, object, bytes);
    }
    let signed = canonical_part(object, |member| SIGNED.contains(&member));
    let digest = |member: &str| Digest::parse(object.get(member)?.as_str()?).ok();
    let text = |member: &str| object.get(member).and_then(Value::as_str).unwrap_or_default();
    let integer = |member: &str| object.get(member).and_then(Value::as_i64);
    let signature = signature_bytes(text("sig"), mode);
    if signature.is_none() && mode == Mode::Strict && object.get("sig").is_some() {
        examined.faults.push((Fault::BadSignatureEncoding, Some(examined.offset), Object::new()));
    }
    // A signature that cannot be decoded was already named in strict mode; the peer only knows one code.
    let signature_ok = match &signature {
        Some(signature) => key.verify(&signed, signature),
        None => mode == Mode::Strict,
    };
    examined.entry = Some(Entry {
        seq: integer("seq"),
        kind: text("type").into(),
        hash: Digest::of(&signed),
        facts: object.get("payload").and_then(|payload| keep(text("type"), payload)),
        ts_ms: integer("ts_ms"),
        prev: digest("prev_hash"),
        stream: digest("stream_id"),
        branch: text("branch_id").into(),
        signature_ok,
    });
}

/// What ruling 22 asks of a line beyond the peer.
fn lint_members<F>(examined: &mut Examined<F>, object: &Object, bytes: &[u8]) {
    let at = Some(examined.offset);
    // A line can carry any number of strange members; a few are enough to name it.
    let mut fault = |fault, detail: Object| {
        if examined.faults.len() < LINE_FAULTS_MAX {
            examined.faults.push((fault, at, detail));
        }
    };
    for (member, value) in object.iter() {
        if !SIGNED.contains(&member) && member != "sig" {
            fault(Fault::UnknownMember, Object::new().with("member", member));
        }
        let right = match member {
            "seq" | "ts_ms" => matches!(value, Value::Int(_)),
            "branch_id" | "prev_hash" | "sig" | "stream_id" | "type" => value.as_str().is_some(),
            _ => true,
        };
        if !right {
            fault(Fault::MemberType, Object::new().with("member", member));
        }
    }
    // Only `1e15` and its like grow when they are written canonically, to less than eight times their length.
    if bytes.len() > PAYLOAD_BYTES_MAX / 8 {
        let payload_bytes = object.get("payload").map_or(0, |payload| canonical(payload).len());
        if payload_bytes > PAYLOAD_BYTES_MAX {
            fault(Fault::PayloadTooLarge, Object::new().with("bytes", payload_bytes as u64));
        }
    }
    if let Some(Value::Int(ts)) = object.get("ts_ms")
        && ts.as_i64().is_none_or(|ts| !(0..=TIMESTAMP_MAX).contains(&ts))
    {
        examined.warnings.push(Warning::TimestampRange);
    }
    if canonical_part(object, |_| true) != bytes {
        examined.warnings.push(Warning::NotCanonical);
    }
}

/// The 64 bytes of a signature text. Strict: exactly 128 lowercase hex digits. The peer also takes upper case and
/// blanks between the bytes.
pub fn signature_bytes(text: &str, mode: Mode) -> Option<[u8; 64]> {
    let bytes = match mode {
        Mode::Strict => canon::unhex(text)?,
        Mode::PeerCompat => {
            let lower = text.to_ascii_lowercase();
            let pairs = lower.split_ascii_whitespace().map(canon::unhex);
            pairs.collect::<Option<Vec<_>>>()?.concat()
        }
    };
    bytes.try_into().ok()
}

/// A chain whose lines were looked at and compared.
#[derive(Clone, Debug)]
pub struct Chain<F> {
    /// The lines, blank ones included.
    pub lines: Vec<Examined<F>>,
    /// Every failure, in order of the file.
    pub failures: Vec<Failure>,
    /// Warnings by line number.
    pub warnings: Vec<(usize, Warning)>,
    /// Entry hash of the last entry, zeros when there is none.
    pub head: Digest,
    /// Hash of the first entry.
    pub stream_id: Option<Digest>,
    /// Number of entries that could be read.
    pub entries_n: usize,
    /// The boolean of 4.2, computed on its own; it agrees with `failures` or that is a failure too.
    pub verify_chain: bool,
}

/// Compares neighbours (4.3): every failure is listed, the running hash goes on from the entry as read.
pub fn link<F>(lines: Vec<Examined<F>>) -> Chain<F> {
    let mut chain = Chain {
        failures: Vec::new(),
        warnings: Vec::new(),
        head: Digest::ZERO,
        stream_id: None,
        entries_n: 0,
        verify_chain: false,
        lines: Vec::new(),
    };
    let mut branch: Option<Box<str>> = None;
    for line in &lines {
        cap(&mut chain.failures);
        chain.warnings.extend(line.warnings.iter().map(|warning| (line.number, *warning)));
        if let Some(entry) = &line.entry {
            chain.entries_n += 1;
            let branch = branch.get_or_insert_with(|| entry.branch.clone());
            let faults = link_faults(entry, chain.entries_n, &chain, branch);
            chain.failures.extend(faults.into_iter().map(|(fault, detail)| place(line, fault, None, detail)));
            if !entry.signature_ok {
                chain.failures.push(place(line, Fault::BadSignature, None, Object::new()));
            }
            chain.head = entry.hash;
            chain.stream_id.get_or_insert(entry.hash);
        }
        for (fault, offset, detail) in &line.faults {
            let mut failure = place(line, *fault, *offset, detail.clone());
            if *fault == Fault::TornTail {
                failure = failure.with("good_entries", chain.entries_n as u64);
            }
            chain.failures.push(failure);
        }
    }
    chain.verify_chain = holds(&lines);
    if chain.verify_chain != chain.failures.is_empty() {
        chain.failures.push(Failure::of(Fault::DetailedVsLogbookDisagree));
    }
    chain.lines = lines;
    chain
}

/// Keeps the first failures and counts the rest: a file of rubbish must not take many times its size.
pub(crate) fn cap(failures: &mut Vec<Failure>) {
    if failures.len() <= 2 * FAILURES_MAX {
        return;
    }
    let more = |failure: &Failure| failure.detail.get("more_n").and_then(Value::as_i64).unwrap_or(1);
    let count: i64 = failures[FAILURES_MAX..].iter().map(more).sum();
    failures.truncate(FAILURES_MAX);
    failures.push(Failure::of(Fault::MoreFailures).with("more_n", count));
}

/// The boolean of 4.2, written a second time on purpose: a disagreement with the list is a fault of this build.
fn holds<F>(lines: &[Examined<F>]) -> bool {
    let entries: Vec<&Entry<F>> = lines.iter().filter_map(|line| line.entry.as_ref()).collect();
    let first = entries.first();
    lines.iter().all(|line| line.faults.is_empty())
        && entries.iter().all(|entry| entry.signature_ok)
        && (1..).zip(&entries).all(|(position, entry)| entry.seq == Some(position))
        && first.is_none_or(|first| first.stream == Some(Digest::ZERO) && first.prev == Some(Digest::ZERO))
        && entries.windows(2).all(|pair| pair[1].prev == Some(pair[0].hash))
        && entries.iter().skip(1).all(|entry| {
            first.is_some_and(|first| entry.stream == Some(first.hash) && entry.branch == first.branch)
        })
}

fn place<F>(line: &Examined<F>, reason: Fault, offset: Option<usize>, detail: Object) -> Failure {
    Failure {
        reason,
        seq: line.entry.as_ref().and_then(|entry| entry.seq),
        kind: line.entry.as_ref().map(|entry| entry.kind.to_string()),
        line: Some(line.number),
        offset: Some(offset.unwrap_or(line.offset)),
        detail,
    }
}

fn link_faults<F>(entry: &Entry<F>, position: usize, chain: &Chain<F>, branch: &str) -> Vec<(Fault, Object)> {
    let mut faults = Vec::new();
    let mut unequal = |fault, got: Value, want: Value| {
        if got != want {
            faults.push((fault, Object::new().with("got", got).with("want", want)));
        }
    };
    if position == 1 {
        unequal(Fault::GenesisStreamIdNotSentinel, entry.stream.into(), Digest::ZERO.into());
    }
    unequal(Fault::SeqNotContiguous, entry.seq.into(), (position as i64).into());
    unequal(Fault::PrevHashBroken, entry.prev.into(), chain.head.into());
    // A first entry that calls itself a later one is held to a later one's rules, as in the peer's list.
    if position > 1 || entry.seq != Some(1) {
        let stream = chain.stream_id.unwrap_or(entry.hash);
        unequal(Fault::StreamIdMismatch, entry.stream.into(), stream.into());
        unequal(Fault::BranchIdMismatch, entry.branch.as_ref().into(), branch.into());
    }
    faults
}

impl<F> Examined<F> {
    /// Number of the line, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Byte offset of the line.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// False for a last line without a line feed.
    pub fn ended(&self) -> bool {
        self.ended
    }
}

/// Reads and checks a whole chain on one thread.
pub fn verify(file: &[u8], key: &PublicKey, mode: Mode) -> Chain<()> {
    link(lines(file).iter().map(|line| examine(line, key, mode, &|_, _| None)).collect())
}

/// Proof that `key` opened the chain that begins with `entry` (4.4): the stream id, or nothing. It does not prove
/// that the key opened no other.
pub fn verify_genesis(entry: &Value, key: &PublicKey) -> Option<Digest> {
    let zero = Digest::ZERO.to_hex();
    let text = |member: &str| entry.get(member).and_then(Value::as_str);
    if entry.get("seq")?.as_i64() != Some(1) || text("stream_id")? != zero || text("prev_hash")? != zero {
        return None;
    }
    let mut signed = entry.as_object()?.clone();
    let signature = signature_bytes(signed.remove("sig")?.as_str()?, Mode::Strict)?;
    let signed = Value::Object(signed);
    key.verify(&canonical(&signed), &signature).then(|| canonical_digest(&signed))
}

//! The envelope: eleven members, strictly (K-1). `docs/kernel.md` has the table.

mod spelling;

use crate::guard::{Finding, Reason};
use canon::{Digest, Limits, Object, ReadFault, Reader, Value};

/// Longest line that is read, in bytes.
pub const ENVELOPE_BYTES_MAX: usize = 4 << 20;

/// Highest `seq`: what every JSON reader keeps.
pub const SEQ_MAX: i64 = 1 << 53;

/// Every member, in the order of K-1.
pub const MEMBERS: [&str; 11] =
    ["id", "sender", "recipient", "task", "payload", "permission", "trace", "mode", "claims", "seq", "prev"];

/// What is asked of the kernel, by whom, with which rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Name of the envelope, unique among those of its sender.
    pub id: String,
    /// Who sent it.
    pub sender: String,
    /// To whom.
    pub recipient: String,
    /// What is to be done, in words; the router reads it.
    pub task: String,
    /// What the skill works on.
    pub payload: Object,
    /// 0 to 3.
    pub permission: u8,
    /// The caller's trace; L6 asks for it.
    pub trace: Option<String>,
    /// The mode as written; L6 asks for it.
    pub mode: Option<String>,
    /// What the sender says about itself and its data.
    pub claims: Claims,
    /// Number of the envelope among those of its sender, from 1.
    pub seq: u64,
    /// Digest of the sender's envelope before this one.
    pub prev: Option<Digest>,
    /// Digest of the canonical bytes of this envelope.
    pub digest: Digest,
    /// Length of the line that it was read from, in bytes.
    pub line_bytes: usize,
}

/// Whether the skill is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is.
    Live,
    /// It is not: guard and route only.
    DryRun,
    /// It is, for comparison with an earlier run.
    Replay,
}

impl Mode {
    /// The mode of this word; the list is closed.
    pub fn of(word: &str) -> Option<Mode> {
        match word {
            "live" => Some(Mode::Live),
            "dry_run" => Some(Mode::DryRun),
            "replay" => Some(Mode::Replay),
            _ => None,
        }
    }
}

/// The closed list of claims; each may be left out or null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// Who the sender says it is.
    pub identity: Option<String>,
    /// Which level it says it has, 0 to 3.
    pub level: Option<u8>,
    /// Evidence class of the payload (section 6).
    pub evidence_class: Option<String>,
    /// Where a measurement comes from.
    pub measure_source: Option<String>,
    /// When it was made.
    pub measure_ts: Option<String>,
    /// Digest of the canonical payload.
    pub payload_sha256: Option<Digest>,
}

impl Envelope {
    /// Reads one envelope from the bytes of a line.
    ///
    /// # Errors
    /// The first fault, as a finding of L1 or L2 that names the member.
    pub fn read(line: &[u8]) -> Result<Envelope, Finding> {
        let limits = Limits { bytes_max: ENVELOPE_BYTES_MAX, ..Limits::default() };
        match Reader::strict().with_limits(limits).read(line) {
            Ok(Value::Object(object)) => Envelope::from_object(object, line),
            Ok(_) => Err(Finding::new(Reason::NotAnObject, "$")),
            Err(error) => Err(match error.fault {
                ReadFault::TooLong(_) => Finding::new(Reason::EnvelopeOver4Mib, "$"),
                fault => Finding::new(Reason::Unreadable, "$").with_pattern(fault.code()),
            }),
        }
    }

    fn from_object(object: Object, line: &[u8]) -> Result<Envelope, Finding> {
        let value = Value::Object(object);
        // Most senders write canonically, so that they can hash what they sent: nothing is written again then.
        let digest = if spelling::is_canonical(line, &value) {
            Digest::of(line)
        } else {
            canon::canonical_digest(&value)
        };
        let Value::Object(mut object) = value else { return Err(Finding::new(Reason::NotAnObject, "$")) };
        if let Some((member, _)) = object.iter().find(|(member, _)| !MEMBERS.contains(member)) {
            return Err(Finding::new(Reason::UnknownMember, canon::shown(member.as_bytes())));
        }
        let mut take = Take { object: &mut object };
        Ok(Envelope {
            id: take.name("id", Reason::MissingId, Reason::TypeId, Reason::EmptyId)?,
            sender: take.name("sender", Reason::MissingSender, Reason::TypeSender, Reason::EmptySender)?,
            recipient: take.name(
                "recipient",
                Reason::MissingRecipient,
                Reason::TypeRecipient,
                Reason::EmptyRecipient,
            )?,
            task: take.name("task", Reason::MissingTask, Reason::TypeTask, Reason::EmptyTask)?,
            payload: take.object("payload", Reason::MissingPayload, Reason::TypePayload)?,
            permission: take.permission()?,
            trace: take.optional("trace", Reason::TypeTrace)?,
            mode: take.optional("mode", Reason::TypeMode)?,
            claims: Claims::read(take.object("claims", Reason::MissingClaims, Reason::TypeClaims)?)?,
            seq: take.seq()?,
            prev: take.prev()?,
            digest,
            line_bytes: line.len(),
        })
    }
}

/// Takes members out of an object, without copying them.
struct Take<'a> {
    object: &'a mut Object,
}

impl Take<'_> {
    fn member(&mut self, name: &'static str, missing: Reason) -> Result<Value, Finding> {
        self.object.remove(name).ok_or_else(|| Finding::new(missing, name))
    }

    fn name(
        &mut self,
        name: &'static str,
        missing: Reason,
        kind: Reason,
        empty: Reason,
    ) -> Result<String, Finding> {
        match self.member(name, missing)? {
            Value::Str(text) if text.is_empty() => Err(Finding::new(empty, name)),
            Value::Str(text) => Ok(text),
            _ => Err(Finding::new(kind, name)),
        }
    }

    fn object(&mut self, name: &'static str, missing: Reason, kind: Reason) -> Result<Object, Finding> {
        match self.member(name, missing)? {
            Value::Object(object) => Ok(object),
            _ => Err(Finding::new(kind, name)),
        }
    }

    /// Text, null, or not there.
    fn optional(&mut self, name: &'static str, kind: Reason) -> Result<Option<String>, Finding> {
        match self.object.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Str(text)) => Ok(Some(text)),
            Some(_) => Err(Finding::new(kind, name)),
        }
    }

    fn integer(&mut self, name: &'static str, missing: Reason, kind: Reason) -> Result<Option<i64>, Finding> {
        match self.member(name, missing)? {
            Value::Int(number) => Ok(number.as_i64()),
            _ => Err(Finding::new(kind, name)),
        }
    }

    fn permission(&mut self) -> Result<u8, Finding> {
        let value = self.integer("permission", Reason::MissingPermission, Reason::TypePermission)?;
        level(value).ok_or_else(|| Finding::new(Reason::RangePermission, "permission"))
    }

    fn seq(&mut self) -> Result<u64, Finding> {
        let value = self.integer("seq", Reason::MissingSeq, Reason::TypeSeq)?;
        let seq = value.filter(|seq| (1..=SEQ_MAX).contains(seq)).and_then(|seq| u64::try_from(seq).ok());
        seq.ok_or_else(|| Finding::new(Reason::RangeSeq, "seq"))
    }

    fn prev(&mut self) -> Result<Option<Digest>, Finding> {
        match self.member("prev", Reason::MissingPrev)? {
            Value::Null => Ok(None),
            Value::Str(text) => match Digest::parse(&text) {
                Ok(digest) => Ok(Some(digest)),
                Err(_) => Err(Finding::new(Reason::PrevMalformed, "prev")),
            },
            _ => Err(Finding::new(Reason::TypePrev, "prev")),
        }
    }
}

fn level(value: Option<i64>) -> Option<u8> {
    value.and_then(|value| u8::try_from(value).ok()).filter(|level| *level <= 3)
}

impl Claims {
    fn read(object: Object) -> Result<Claims, Finding> {
        let mut claims = Claims::default();
        for (name, value) in object.iter() {
            let unfit = || Finding::new(Reason::ClaimUnfit, format!("claims.{name}"));
            let text = || match value {
                Value::Null => Ok(None),
                Value::Str(text) => Ok(Some(text.clone())),
                _ => Err(unfit()),
            };
            match name {
                "identity" => claims.identity = text()?,
                "level" if value.is_null() => {}
                "level" => claims.level = Some(level(value.as_i64()).ok_or_else(unfit)?),
                "evidence_class" => claims.evidence_class = text()?,
                "measure_source" => claims.measure_source = text()?,
                "measure_ts" => claims.measure_ts = text()?,
                "payload_sha256" => {
                    let digest = text()?.map(|text| Digest::parse(&text)).transpose();
                    claims.payload_sha256 = digest.map_err(|_| unfit())?;
                }
                _ => {
                    let member = format!("claims.{}", canon::shown(name.as_bytes()));
                    return Err(Finding::new(Reason::ClaimUnknown, member));
                }
            }
        }
        Ok(claims)
    }
}

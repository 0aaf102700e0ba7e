//! One line of the index (14.6), to and from a value. Members of the peer keep their names; times are decimal strings,
//! because no float enters a form of ours (ruling 6).

use crate::{CallError, Class, Outcome, Protocol, Usage, Wire};
use canon::{Digest, Object, Value, compact_ascii};

canon::codes! {
    /// Member `mode`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Mode {
        /// Arm OFF.
        Tee = "tee",
        /// Arm ON.
        Act = "act",
    }
}

/// One finished call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// 32 hex digits; names the two files of bodies.
    pub call_id: String,
    /// Milliseconds since 1970 at its start.
    pub ts_ms: u64,
    /// The arm.
    pub mode: Mode,
    /// Whose upstream.
    pub wire: Wire,
    /// What was spoken.
    pub protocol: Protocol,
    /// Whether a model was asked.
    pub class: Class,
    /// The method; empty when there was none to read.
    pub method: String,
    /// The target as it came, query included.
    pub path: String,
    /// Where it went, or would have; none for what belongs to no upstream.
    pub upstream: Option<String>,
    /// Digest of the request's body, transfer coding undone, content coding kept.
    pub request_sha256: Digest,
    /// Its length in bytes.
    pub request_bytes: u64,
    /// Whether all of it came.
    pub request_complete: bool,
    /// The model that the request names; none when it names none.
    pub request_model: Option<String>,
    /// False for a packed request: nobody looked for a model in it.
    pub request_readable: bool,
    /// Status that the agent got from the upstream or from here; 0 when no answer came from the upstream.
    pub status: u16,
    /// What went wrong.
    pub error: Option<CallError>,
    /// How it ended.
    pub outcome: Outcome,
    /// Answered here; nothing was sent.
    pub blocked: bool,
    /// Digest of the answer's body, none when there was no answer.
    pub response_sha256: Option<Digest>,
    /// Its length in bytes.
    pub response_bytes: u64,
    /// Whether the answer was a stream of events, or came without a length.
    pub streamed: bool,
    /// The stream ended as its protocol ends one.
    pub stream_ended: bool,
    /// The bytes of one side are not all of it.
    pub partial: bool,
    /// The model that answered.
    pub model: Option<String>,
    /// Tokens that the answer states.
    pub usage: Usage,
    /// Frames that were relayed after an upgrade.
    pub frames: Option<u64>,
    /// Microseconds from the request's first byte to its end.
    pub elapsed_us: u64,
    /// Microseconds to the head of the final answer.
    pub first_byte_us: Option<u64>,
}

/// A row cannot be read: the member that is missing or is something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFault(pub &'static str);

/// `1.000042` for 1 000 042 with six digits.
fn decimal(number: u64, digits: usize) -> String {
    let scale = 10_u64.pow(digits as u32);
    format!("{}.{:0digits$}", number / scale, number % scale)
}

fn undecimal(text: &str, digits: usize) -> Option<u64> {
    let (whole, part) = text.split_once('.')?;
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if part.len() != digits || !plain(whole) || !plain(part) {
        return None;
    }
    let scale = 10_u64.pow(digits as u32);
    whole.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(part.parse().ok()?)
}

impl Row {
    /// The row as a value: members of the peer in its order, then ours.
    pub fn value(&self) -> Value {
        let mut row = Object::new()
            .with("call_id", &self.call_id[..])
            .with("ts", decimal(self.ts_ms, 3))
            .with("mode", self.mode.code())
            .with("wire", self.wire.code())
            .with("method", &self.method[..])
            .with("path", &self.path[..])
            .with("upstream", self.upstream.clone())
            .with("request_sha256", self.request_sha256)
            .with("request_bytes", self.request_bytes)
            .with("body_rewritten", false)
            .with("status", u64::from(self.status))
            .with("error", self.error.map(CallError::code));
        if self.blocked {
            row.set("blocked", true);
        }
        if self.error == Some(CallError::NonModelPath) {
            row.set("refused_path", true);
        }
        let usage = Object::new().with("input", self.usage.input).with("output", self.usage.output);
        row.with("response_sha256", self.response_sha256)
            .with("response_bytes", self.response_bytes)
            .with("streamed", self.streamed)
            .with("elapsed_s", decimal(self.elapsed_us, 6))
            .with("first_byte_s", self.first_byte_us.map(|us| decimal(us, 6)))
            .with("protocol", self.protocol.code())
            .with("class", self.class.code())
            .with("outcome", self.outcome.code())
            .with("stream_ended", self.stream_ended)
            .with("partial", self.partial)
            .with("request_complete", self.request_complete)
            .with("request_readable", self.request_readable)
            .with("request_model", self.request_model.clone())
            .with("model", self.model.clone())
            .with("usage", usage)
            .with("frames", self.frames)
            .into()
    }

    /// The row of a value.
    pub fn read(value: &Value) -> Result<Row, RowFault> {
        let from = From(value);
        Ok(Row {
            call_id: from.text("call_id")?,
            ts_ms: undecimal(&from.text("ts")?, 3).ok_or(RowFault("ts"))?,
            mode: from.code("mode", Mode::ALL, Mode::code)?,
            wire: from.code("wire", Wire::ALL, Wire::code)?,
            protocol: from.code("protocol", Protocol::ALL, Protocol::code)?,
            class: from.code("class", Class::ALL, Class::code)?,
            method: from.text("method")?,
            path: from.text("path")?,
            upstream: from.maybe("upstream", From::text)?,
            request_sha256: from.digest("request_sha256")?,
            request_bytes: from.number("request_bytes")?,
            request_complete: from.truth("request_complete")?,
            request_model: from.maybe("request_model", From::text)?,
            request_readable: from.truth("request_readable")?,
            status: u16::try_from(from.number("status")?).map_err(|_| RowFault("status"))?,
            error: from.maybe("error", |from, name| from.code(name, CallError::ALL, CallError::code))?,
            outcome: from.code("outcome", Outcome::ALL, Outcome::code)?,
            blocked: value.get("blocked").is_some() && from.truth("blocked")?,
            response_sha256: from.maybe("response_sha256", From::digest)?,
            response_bytes: from.number("response_bytes")?,
            streamed: from.truth("streamed")?,
            stream_ended: from.truth("stream_ended")?,
            partial: from.truth("partial")?,
            model: from.maybe("model", From::text)?,
            usage: usage(value.get("usage").ok_or(RowFault("usage"))?)?,
            frames: from.maybe("frames", From::number)?,
            elapsed_us: undecimal(&from.text("elapsed_s")?, 6).ok_or(RowFault("elapsed_s"))?,
            first_byte_us: from
                .maybe("first_byte_s", |from, name| undecimal(&from.text(name)?, 6).ok_or(RowFault(name)))?,
        })
    }
}

fn usage(value: &Value) -> Result<Usage, RowFault> {
    let from = From(value);
    Ok(Usage { input: from.maybe("input", From::number)?, output: from.maybe("output", From::number)? })
}

/// Members of a row, or the name of the one that is not as it should be.
struct From<'a>(&'a Value);

impl From<'_> {
    fn get(&self, name: &'static str) -> Result<&Value, RowFault> {
        self.0.get(name).ok_or(RowFault(name))
    }

    fn text(&self, name: &'static str) -> Result<String, RowFault> {
        self.get(name)?.as_str().map(str::to_owned).ok_or(RowFault(name))
    }

    fn number(&self, name: &'static str) -> Result<u64, RowFault> {
        self.get(name)?.as_i64().and_then(|number| number.try_into().ok()).ok_or(RowFault(name))
    }

    fn truth(&self, name: &'static str) -> Result<bool, RowFault> {
        self.get(name)?.as_bool().ok_or(RowFault(name))
    }

    fn digest(&self, name: &'static str) -> Result<Digest, RowFault> {
        Digest::parse(&self.text(name)?).map_err(|_| RowFault(name))
    }

    fn code<T: Copy>(
        &self,
        name: &'static str,
        all: &[T],
        code: impl Fn(T) -> &'static str,
    ) -> Result<T, RowFault> {
        let text = self.text(name)?;
        all.iter().copied().find(|member| code(*member) == text).ok_or(RowFault(name))
    }

    fn maybe<T>(
        &self,
        name: &'static str,
        read: impl Fn(&Self, &'static str) -> Result<T, RowFault>,
    ) -> Result<Option<T>, RowFault> {
        if self.get(name)?.is_null() { Ok(None) } else { read(self, name).map(Some) }
    }
}

/// The digest of an index: pairs of request and answer in the order of its lines (2.2, 14.6).
pub fn digest<'a>(rows: impl IntoIterator<Item = &'a (Digest, Option<Digest>)>) -> Digest {
    let pair = |(request, response): &(Digest, Option<Digest>)| {
        Value::Array(vec![Value::from(*request), Value::from(*response)])
    };
    Digest::of(&compact_ascii(&Value::Array(rows.into_iter().map(pair).collect())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use canon::Reader;

    pub(crate) fn row() -> Row {
        Row {
            call_id: "0123456789abcdef0123456789abcdef".to_owned(),
            ts_ms: 1_796_035_649_007,
            mode: Mode::Act,
            wire: Wire::Gemini,
            protocol: Protocol::Gemini,
            class: Class::Model,
            method: "POST".to_owned(),
            path: "/v1beta/models/m:generateContent?x=é".to_owned(),
            upstream: None,
            request_sha256: Digest::of(b"a"),
            request_bytes: 1,
            request_complete: true,
            request_model: Some("m".to_owned()),
            request_readable: true,
            status: 403,
            error: Some(CallError::NonModelPath),
            outcome: Outcome::Blocked,
            blocked: true,
            response_sha256: Some(Digest::of(b"b")),
            response_bytes: 1 << 40,
            streamed: true,
            stream_ended: true,
            partial: true,
            model: Some("n".to_owned()),
            usage: Usage { input: Some(1), output: None },
            frames: Some(3),
            elapsed_us: 1_000_042,
            first_byte_us: Some(999_999),
        }
    }

    #[test]
    fn there_and_back() {
        let mut row = row();
        for _ in 0..2 {
            let line = compact_ascii(&row.value());
            let value = Reader::strict().read(&line).unwrap();
            assert_eq!(Row::read(&value).as_ref(), Ok(&row));
            assert!(canon::lint_no_floats(&value).is_ok());
            let refused = row.error == Some(CallError::NonModelPath);
            assert_eq!(value.get("refused_path").is_some(), refused);
            row = Row {
                error: None,
                blocked: false,
                response_sha256: None,
                first_byte_us: None,
                frames: None,
                model: None,
                ..row
            };
        }
        assert_eq!(decimal(1_000_042, 6), "1.000042");
    }

    #[test]
    fn a_row_that_is_none() {
        let whole = row().value();
        let members: Vec<String> =
            whole.as_object().unwrap().iter().map(|(name, _)| name.to_owned()).collect();
        let unread = ["body_rewritten", "blocked", "refused_path"];
        for name in members.iter().filter(|name| !unread.contains(&name.as_str())) {
            let mut object = whole.as_object().unwrap().clone();
            object.remove(name);
            assert_eq!(Row::read(&object.into()), Err(RowFault(leak(name))));
        }
    }

    fn leak(name: &str) -> &'static str {
        Box::leak(name.to_owned().into_boxed_str())
    }
}

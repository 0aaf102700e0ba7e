//! The index of wire calls beside a chain: its digest and whether a model was reached (31.10, 31.11).

use crate::{Failure, Fault};
use canon::{Digest, Reader, Value, compact_ascii};

/// What the index says.
#[derive(Debug)]
pub(super) struct Index {
    /// Number of calls.
    pub(super) calls_n: i64,
    /// Calls that an upstream answered with success.
    pub(super) answered_n: i64,
    /// Digest of the request and response pairs in completion order (2.2).
    pub(super) digest: Digest,
}

/// Reads `index.jsonl`.
pub(super) fn read(file: &[u8]) -> Result<Index, Failure> {
    let (mut pairs, mut answered_n) = (Vec::new(), 0);
    for line in crate::logbook::each_line(file) {
        if line.bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let bad = |why: &str, offset: usize| Failure {
            line: Some(line.number),
            offset: Some(line.offset + offset),
            ..Failure::of(Fault::WireIndexUnreadable).with("why", why)
        };
        let call =
            Reader::strict().read(line.bytes).map_err(|error| bad(error.fault.code(), error.offset))?;
        let side = |member: &str| call.get(member).cloned().unwrap_or(Value::Null);
        pairs.push(Value::Array(vec![side("request_sha256"), side("response_sha256")]));
        answered_n += i64::from(answered(&call));
    }
    let calls_n = pairs.len() as i64;
    Ok(Index { calls_n, answered_n, digest: Digest::of(&compact_ascii(&Value::Array(pairs))) })
}

/// A call that never left the machine, or that the upstream refused, reached no model.
fn answered(call: &Value) -> bool {
    let blocked = call.get("blocked").and_then(Value::as_bool) == Some(true);
    let status = call.get("status").and_then(Value::as_i64).unwrap_or(0);
    !blocked && (200..300).contains(&status)
}

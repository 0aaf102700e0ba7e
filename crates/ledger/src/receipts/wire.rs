//! The index of wire calls beside a chain: its digest and how many calls of each class it has (31.10, 31.11, ruling 15).

use crate::{Failure, Fault};
use canon::{Digest, Reader, Value, compact_ascii};

/// Calls of an index by class and end (31.11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Calls that asked a model and were answered as ruling 15 wants it: only these save a run from VOID.
    pub model_succeeded_n: u64,
    /// Calls that asked a model and came to another end.
    pub model_failed_n: u64,
    /// Other calls: lists of models, embeddings, probes.
    pub other_n: u64,
    /// Calls that were answered on this machine and never left it, whatever they asked.
    pub blocked_n: u64,
}

/// What the index says.
#[derive(Debug)]
pub(super) struct Index {
    /// Number of calls.
    pub(super) calls_n: i64,
    /// The same by class.
    pub(super) calls: Calls,
    /// Digest of the request and response pairs in completion order (2.2).
    pub(super) digest: Digest,
}

/// Reads `index.jsonl`.
pub(super) fn read(file: &[u8]) -> Result<Index, Failure> {
    let (mut pairs, mut calls) = (Vec::new(), Calls::default());
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
        *calls.place_of(&call) += 1;
    }
    let calls_n = pairs.len() as i64;
    Ok(Index { calls_n, calls, digest: Digest::of(&compact_ascii(&Value::Array(pairs))) })
}

impl Calls {
    /// The count that a call belongs to. What cannot be told is no model call that succeeded.
    fn place_of(&mut self, call: &Value) -> &mut u64 {
        if call.get("blocked").and_then(Value::as_bool) == Some(true) {
            &mut self.blocked_n
        } else if !asks_a_model(call) {
            &mut self.other_n
        } else if succeeded(call) {
            &mut self.model_succeeded_n
        } else {
            &mut self.model_failed_n
        }
    }
}

/// Our proxy wrote down what it saw; of the peer's calls only method and path are known.
fn asks_a_model(call: &Value) -> bool {
    let text = |member: &str| call.get(member).and_then(Value::as_str);
    match text("class") {
        Some(class) => class == "model",
        None => text("method") == Some("POST") && text("path").is_some_and(model_path),
    }
}

/// Paths that ask a model for text, by whole segments. The peer's proxy classes nothing else.
fn model_path(target: &str) -> bool {
    let path = target.split('?').next().unwrap_or_default();
    let mut segments: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
    if segments.first() == Some(&"v1") {
        segments.remove(0);
    }
    matches!(segments[..], ["chat", "completions"] | ["completions" | "responses" | "messages" | "complete"])
}

/// Ruling 15. The peer writes no outcome: a status of success without an error has to do.
fn succeeded(call: &Value) -> bool {
    let status = call.get("status").and_then(Value::as_i64).unwrap_or(0);
    let outcome = call.get("outcome").map(|outcome| outcome.as_str() == Some("wire_succeeded"));
    let no_error = call.get("error").is_none_or(|error| *error == Value::Null);
    (200..300).contains(&status) && no_error && outcome.unwrap_or(true)
}

//! `rows.jsonl`: the unsigned end of the reconciliation.

use super::facts::{COMPARED, End};
use crate::logbook::cap;
use crate::{Failure, Fault, Mode, Shape};
use canon::{Digest, Reader, Value, canonical_digest};

/// One row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) task_id: String,
    pub(super) arm: String,
    /// Values of [`COMPARED`], in its order: a long file of rows stays small in memory.
    compared: Box<[Option<Value>; COMPARED.len()]>,
    /// Digest of the whole row.
    sha256: Digest,
}

/// Reads every row. A line that cannot be read is a failure with its place, never a row fewer (PC-49).
pub(super) fn read(file: &[u8], mode: Mode) -> (Vec<Row>, Vec<Failure>) {
    let reader = if mode == Mode::Strict { Reader::strict() } else { Reader::peer() };
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    for line in crate::logbook::each_line(file) {
        cap(&mut failures);
        if line.bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let bad = |why: &str, offset: usize| Failure {
            line: Some(line.number),
            offset: Some(line.offset + offset),
            ..Failure::of(Fault::RowUnreadable).with("why", why)
        };
        match reader.read(line.bytes) {
            Ok(value) => match row(&value) {
                Some(row) => rows.push(row),
                None => failures.push(bad(Shape::RowWithoutTaskOrArm.code(), 0)),
            },
            Err(error) => failures.push(bad(error.fault.code(), error.offset)),
        }
    }
    (rows, failures)
}

fn row(value: &Value) -> Option<Row> {
    let text = |member: &str| Some(value.get(member)?.as_str()?.to_owned());
    let compared = Box::new(COMPARED.map(|member| value.get(member).cloned()));
    Some(Row { task_id: text("task_id")?, arm: text("arm")?, compared, sha256: canonical_digest(value) })
}

impl Row {
    /// Every member that both sides carry and that differs (31.10).
    pub(super) fn differences(&self, end: &End) -> Vec<Failure> {
        let mut failures = Vec::new();
        for ((member, signed), row) in COMPARED.iter().zip(&end.compared).zip(&*self.compared) {
            let (Some(signed), Some(row)) = (signed, row) else { continue };
            if signed != row {
                failures.push(
                    Failure::of(Fault::RowVerdictDiffers)
                        .with("task_id", self.task_id.as_str())
                        .with("field", *member)
                        .with("row", row.clone())
                        .with("signed", signed.clone()),
                );
            }
        }
        // A member that no verdict repeats, or one that is gone.
        if failures.is_empty() && end.row_sha256.is_some_and(|want| want != self.sha256) {
            failures.push(
                Failure::of(Fault::RowVerdictDiffers)
                    .with("task_id", self.task_id.as_str())
                    .with("field", "the whole row")
                    .with("row", self.sha256)
                    .with("signed", end.row_sha256),
            );
        }
        failures
    }
}

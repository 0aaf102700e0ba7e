//! The entries of a chain, as they were signed, beside the verdict on them (`--entries`).

use crate::output::{self, line};
use canon::{Object, Reader, Value, canonical, shown};
use ledger::logbook::{Line, lines};

/// Most entries that are shown of one chain.
const SHOWN_MAX: usize = 10_000;

/// What is shown of a chain file: its first entries as read, and the number of lines that follow.
#[derive(Default)]
pub(super) struct Entries {
    read: Vec<Option<Object>>,
    more_n: usize,
}

impl Entries {
    pub(super) fn of(file: &[u8]) -> Entries {
        let lines = lines(file);
        let read = |line: &Line<'_>| match Reader::strict().read(line.bytes) {
            Ok(Value::Object(entry)) => Some(entry),
            _ => None,
        };
        Entries {
            read: lines.iter().take(SHOWN_MAX).map(read).collect(),
            more_n: lines.len().saturating_sub(SHOWN_MAX),
        }
    }

    /// An array of the entries; `null` stands for a line that is none.
    pub(super) fn to_value(&self) -> Value {
        Value::Array(self.read.iter().map(|entry| entry.clone().map_or(Value::Null, Value::from)).collect())
    }

    /// One paragraph for each: number, type, and what was signed.
    pub(super) fn print(&self, indent: &str) {
        for (number, entry) in self.read.iter().enumerate() {
            let Some(entry) = entry else {
                line(&format!("{indent}{:>4}  no entry", number + 1));
                continue;
            };
            let kind = entry.get("type").and_then(Value::as_str).unwrap_or("?");
            line(&format!("{indent}{:>4}  {}", number + 1, shown(kind.as_bytes())));
            let payload = entry.get("payload").and_then(Value::as_object);
            for (name, value) in payload.into_iter().flat_map(Object::iter) {
                let text = value.as_str().map_or_else(|| canonical(value), |text| text.as_bytes().to_vec());
                let head = format!("{indent}      {}  ", shown(name.as_bytes()));
                line(&output::hanging(&head, &shown(&text)));
            }
        }
        if self.more_n > 0 {
            line(&format!("{indent}and {} more entries", self.more_n));
        }
    }
}

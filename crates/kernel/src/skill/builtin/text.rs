//! Text.

use crate::skill::{Argument, Body, Entry, Example, Failed, Fault, Manifest};
use canon::{Object, Value};

/// The skills of this family.
pub(super) fn skills() -> Vec<Entry> {
    let manifest = Manifest {
        name: "text.words".into(),
        version: 1,
        description: "Count the words of a text: runs of letters and digits between blanks.".into(),
        triggers: vec!["count words".into(), "word count".into()],
        permission: 0,
        arguments: vec![Argument { name: "text".into(), meaning: "the text".into(), required: true }],
        examples: vec![Example {
            payload: Object::new().with("text", "one two"),
            output: Value::from(2_u64),
        }],
    };
    vec![Entry { manifest, body: Body::Builtin(words) }]
}

fn words(payload: &Object) -> Result<Value, Failed> {
    let missing = |fault| Failed { fault, detail: "text".into() };
    let text = payload.get("text").ok_or_else(|| missing(Fault::ArgumentMissing))?;
    let text = text.as_str().ok_or_else(|| missing(Fault::ArgumentUnfit))?;
    Ok(Value::from(text.split_whitespace().count() as u64))
}

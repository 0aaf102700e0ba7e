//! Which arguments a language can be given at all. That is a matter of our adapter and never of the candidate, so it is found
//! here, in the desk, before anything of the candidate runs.

use crate::{Language, Suite};
use suite::literal::{BigInt, Value, parse};

/// The first test with an argument that candidates in `language` cannot be given.
pub(crate) fn not_for(language: Language, suite: &dyn Suite) -> Option<usize> {
    if language == Language::Python {
        return None;
    }
    (0..suite.tests()).find(|test| {
        // What is no literal was made by somebody else than a suite; the adapter says so.
        parse(suite.arguments(*test)).is_ok_and(|value| !crosses(language, &value))
    })
}

fn crosses(language: Language, value: &Value) -> bool {
    let all = |values: &[Value]| values.iter().all(|value| crosses(language, value));
    match value {
        Value::Complex(_) => false,
        // JavaScript has integers of any size and strings of half pairs.
        Value::Int(number) => language == Language::JavaScript || fits(number),
        Value::Str(text) => language == Language::JavaScript || text.as_str().is_some(),
        Value::List(values) | Value::Tuple(values) => all(values),
        Value::Set(values) => all(values.members()),
        Value::Dict(pairs) => {
            pairs.members().iter().all(|(key, value)| crosses(language, key) && crosses(language, value))
        }
        Value::None | Value::Ellipsis | Value::Bool(_) | Value::Float(_) | Value::Bytes(_) => true,
    }
}

fn fits(number: &BigInt) -> bool {
    i128::try_from(number).is_ok()
}

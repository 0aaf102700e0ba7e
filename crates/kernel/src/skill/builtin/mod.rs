//! The skills that come with the kernel, one file a family.

mod text;

use super::{Entry, Failed};
use canon::{Object, Value};

/// A built-in skill: payload in, output out, nothing else.
pub(super) type Function = fn(&Object) -> Result<Value, Failed>;

/// All of them.
pub(super) fn all() -> Vec<Entry> {
    text::skills()
}

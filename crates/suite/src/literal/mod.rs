//! Literals of Python: the values that a suite and a candidate exchange (desk specification 16.2).
//!
//! [`parse`] reads what `ast.literal_eval` of Python 3.11 reads, [`emit`] writes the one text that is hashed. The text
//! names a *value*: layout, prefixes and bases are gone, equal keys have collapsed as Python collapses them.
//!
//! ```
//! use suite::literal::{emit, equal, parse};
//! let value = parse("( 'a' 'b', 0x10, {1: 'x', True: 'y'} )").unwrap();
//! assert_eq!(emit(&value), "('ab', 16, {1: 'y'})");
//! assert!(equal(&parse("[1, 2]").unwrap(), &parse("[True, 2.0]").unwrap()));
//! ```
//!
//! Two things do not come back as they were, because they do not in Python either: `-1j` is written `(-0-1j)`, which
//! is read as `-1j` with a positive zero; and an infinity is written `1e999`, a NaN `nan`, which is no literal.
//!
//! Two texts that Python reads are refused with [`ErrorName::Syntax`]: `\N{...}`, which needs the table of character
//! names, and `set()` in characters that are only compatible with ASCII. What stands in the braces of an f-string is not
//! read: an f-string is no literal either way, but Python may call it a syntax error.

mod convert;
mod displays;
mod emit;
mod equal;
mod grammar;
mod lex;
mod number;
mod scan;
mod text;
mod unicode;
mod value;

pub use emit::{emit, emit_text};
pub(crate) use equal::same_members;
pub use equal::{Unhashable, equal};
pub(crate) use lex::keyword;
pub use num_bigint::BigInt;
pub(crate) use number::{difference_within, scaled};
pub use number::{integer_as_float, whole};
pub use text::Text;
pub use unicode::identifier;
pub use value::{Complex, Dict, Set, Value};

/// Reads one literal. Blanks and tabs in front are skipped.
///
/// Any text is answered: brackets may nest 200 deep as in Python, other nesting about as deep; time is linear in the
/// text but for decimal integers, which have at most 4300 digits.
///
/// # Errors
///
/// What Python raises, and where.
pub fn parse(text: &str) -> Result<Value, LiteralError> {
    let tokens = lex::tokens(text)?;
    let node = grammar::expression(&tokens)?;
    convert::value(node)
}

/// Why a text is no literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiteralError {
    /// The exception that Python raises.
    pub name: ErrorName,
    /// Byte offset in the text, as near as it is known.
    pub offset: usize,
    /// What is wrong, in a few words.
    pub message: &'static str,
}

/// The exception of Python, which is part of the code `not_a_literal:NAME`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorName {
    /// Not an expression of Python.
    Syntax,
    /// A line begins with blanks.
    Indentation,
    /// An expression that is no literal, such as a call.
    Value,
    /// A list, set or dict as a key or as a member of a set.
    Type,
    /// An integer that no float can hold, added to an imaginary number.
    Overflow,
    /// Nested deeper than the reader goes without brackets.
    Recursion,
}

impl ErrorName {
    /// Every name.
    pub const ALL: [ErrorName; 6] = [
        ErrorName::Syntax,
        ErrorName::Indentation,
        ErrorName::Value,
        ErrorName::Type,
        ErrorName::Overflow,
        ErrorName::Recursion,
    ];

    /// The name of the exception in Python.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorName::Syntax => "SyntaxError",
            ErrorName::Indentation => "IndentationError",
            ErrorName::Value => "ValueError",
            ErrorName::Type => "TypeError",
            ErrorName::Overflow => "OverflowError",
            ErrorName::Recursion => "RecursionError",
        }
    }
}

impl std::fmt::Display for LiteralError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {}: {}", self.name.as_str(), self.offset, self.message)
    }
}

impl std::error::Error for LiteralError {}

/// A syntax error.
fn syntax<T>(offset: usize, message: &'static str) -> Result<T, LiteralError> {
    Err(LiteralError { name: ErrorName::Syntax, offset, message })
}

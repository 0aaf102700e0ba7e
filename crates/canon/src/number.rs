//! Numbers as the ledger writes them: integers of any size, binary64 in Python's shortest text.

use std::fmt;

/// An integer of any size, held as its canonical decimal text: `-` only before a non-zero number, no leading
/// zeros (desk specification 2.1).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Int(Box<str>);

impl Int {
    /// The integer of a JSON integer token (`-?[0-9]+` without leading zeros); `-0` becomes `0`.
    pub(crate) fn from_token(token: &str) -> Int {
        Int(if token == "-0" { "0" } else { token }.into())
    }

    /// The value when it fits in 64 bits.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The decimal text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<i64> for Int {
    fn from(value: i64) -> Int {
        Int(value.to_string().into())
    }
}

impl From<u64> for Int {
    fn from(value: u64) -> Int {
        Int(value.to_string().into())
    }
}

/// A binary64 that only exists so that a peer's chain can be read and hashed again; entries of our own carry
/// none (ruling 6, `lint_no_floats`). NaN and infinities occur in peer mode only.
#[derive(Clone, Copy, Debug)]
pub struct Float(f64);

/// Equality of the bits: `-0.0` and `0.0` have different texts, so they are different values here.
impl PartialEq for Float {
    fn eq(&self, other: &Float) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Float {}

impl Float {
    /// Wraps a binary64.
    pub const fn new(value: f64) -> Float {
        Float(value)
    }

    /// The wrapped value.
    pub fn get(self) -> f64 {
        self.0
    }

    /// False for NaN and the infinities, which have no JSON text.
    pub fn is_finite(self) -> bool {
        self.0.is_finite()
    }
}

/// Python's `repr`: positional for decimal exponents -4 < e <= 16, else scientific with a signed exponent of at
/// least two digits. The shortest digits come from the standard library's formatter, which rounds correctly.
impl fmt::Display for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_nan() {
            return f.write_str("NaN");
        }
        if self.0.is_infinite() {
            return f.write_str(if self.0.is_sign_negative() { "-Infinity" } else { "Infinity" });
        }
        let scientific = format!("{:e}", self.0);
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let (sign, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => ("-", rest),
            None => ("", mantissa),
        };
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        // The formatter puts the point after the first digit; the specification puts it before.
        let exponent: i32 = exponent.parse::<i32>().unwrap_or(0) + 1;
        f.write_str(sign)?;
        if -4 < exponent && exponent <= 16 {
            write_positional(f, &digits, exponent)
        } else {
            write_scientific(f, &digits, exponent - 1)
        }
    }
}

fn write_positional(f: &mut fmt::Formatter<'_>, digits: &str, point: i32) -> fmt::Result {
    let count = digits.len() as i32;
    if point <= 0 {
        write!(f, "0.{}{digits}", "0".repeat(point.unsigned_abs() as usize))
    } else if point >= count {
        write!(f, "{digits}{}.0", "0".repeat((point - count) as usize))
    } else {
        let (whole, fraction) = digits.split_at(point as usize);
        write!(f, "{whole}.{fraction}")
    }
}

fn write_scientific(f: &mut fmt::Formatter<'_>, digits: &str, exponent: i32) -> fmt::Result {
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(f, "{first}{point}{rest}e{sign}{:02}", exponent.unsigned_abs())
}

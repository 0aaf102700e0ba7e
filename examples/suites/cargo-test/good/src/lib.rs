//! A calculator.

/// The sum.
pub fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// The quotient, if there is one.
pub fn divide(a: i64, b: i64) -> Option<i64> {
    a.checked_div(b)
}

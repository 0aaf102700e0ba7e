//! Fixed-point arithmetic: signed 64-bit integers in µ, 1.0 = 1 000 000 µ (GD-01).

/// 1.0 in µ.
pub const ONE: i64 = 1_000_000;

/// Product of two values in µ, truncated toward zero. Exact in between.
///
/// # Panics
/// When the product is no `i64`.
#[must_use]
pub fn mul(a: i64, b: i64) -> i64 {
    narrow(i128::from(a) * i128::from(b) / i128::from(ONE))
}

/// `a / b` of two values in µ, in µ, truncated toward zero.
///
/// # Panics
/// When `b` is 0 or the quotient is no `i64`.
#[must_use]
pub fn div(a: i64, b: i64) -> i64 {
    narrow(i128::from(a) * i128::from(ONE) / i128::from(b))
}

/// `ceil(a / b)` of two positive integers.
///
/// # Panics
/// When `b` is not positive or `a` is negative.
#[must_use]
pub fn div_ceil(a: i64, b: i64) -> i64 {
    assert!(a >= 0 && b > 0, "ceil({a} / {b})");
    (a + b - 1) / b
}

fn narrow(value: i128) -> i64 {
    i64::try_from(value).expect("a quantity of the room fits 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncation_is_toward_zero_gd_01() {
        assert_eq!(mul(1, 999_999), 0);
        assert_eq!(mul(-1, 999_999), 0);
        assert_eq!(mul(450_000, 200_000), 90_000);
        assert_eq!(div(1, 3), 333_333);
        assert_eq!(div(-1, 3), -333_333);
        assert_eq!(div_ceil(107 * 5, 5), 107);
        assert_eq!(div_ceil(1, 5), 1);
    }

    #[test]
    fn a_product_of_large_values_is_exact_in_between() {
        assert_eq!(mul(9_000_000_000_000, ONE), 9_000_000_000_000);
    }
}

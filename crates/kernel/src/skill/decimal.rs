//! Exact decimal numbers on 128-bit integers, and exact quotients of larger ones. What does not fit is a fault, never a
//! wrong digit.

use super::{Failed, Fault};
use canon::Value;
use num_bigint::{BigInt, BigUint, Sign};
use std::cmp::Ordering;
use std::fmt;

/// Most fractional digits of a number: enough for every digit of a binary64 from 10^-13 on.
pub(super) const SCALE_MAX: u32 = 30;

/// `units / 10^scale`, with the smallest scale that holds the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    units: i128,
    scale: u32,
}

/// Why a text or value is no [`Decimal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotDecimal {
    /// It does not spell a number.
    NotNumber,
    /// It spells a number with more digits than fit.
    TooManyDigits,
}

/// The fault of a calculation whose numbers do not fit.
pub(super) fn overflow() -> Failed {
    Failed::new(Fault::Overflow, "a number of the calculation has too many digits")
}

/// `10^exponent`, which fits for every exponent up to 38.
pub(super) fn ten(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

impl Decimal {
    /// Reads `-?[0-9]+(.[0-9]+)?([eE][+-]?[0-9]+)?`; leading zeros are allowed, as tables have them.
    pub(super) fn parse(text: &str) -> Result<Decimal, NotDecimal> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, read_exponent(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return Err(NotDecimal::NotNumber),
            None => (mantissa, ""),
        };
        let mut units = 0_i128;
        let mut zeros = 0_u32;
        for byte in whole.bytes().chain(fraction.bytes()) {
            let digit = (byte as char).to_digit(10).ok_or(NotDecimal::NotNumber)?;
            // Zeros at the end are counted, not held: 1000 zeros after the point cost nothing.
            if digit == 0 {
                zeros += 1;
            } else {
                let shifted = ten(zeros + 1).and_then(|factor| units.checked_mul(factor));
                units = if units == 0 { Some(0) } else { shifted }.ok_or(NotDecimal::TooManyDigits)?;
                units = units.checked_add(i128::from(digit)).ok_or(NotDecimal::TooManyDigits)?;
                zeros = 0;
            }
        }
        if whole.is_empty() {
            return Err(NotDecimal::NotNumber);
        }
        let scale = fraction.len() as i64 - i64::from(zeros) - exponent;
        Decimal::of_units(if negative { -units } else { units }, scale)
    }

    /// The number of an integer, of a float by its shortest exact text, or of a string.
    pub(super) fn of(value: &Value) -> Result<Decimal, NotDecimal> {
        match value {
            Value::Int(number) => Decimal::parse(number.as_str()),
            Value::Float(number) => Decimal::parse(&number.to_string()),
            Value::Str(text) => Decimal::parse(text),
            _ => Err(NotDecimal::NotNumber),
        }
    }

    fn of_units(units: i128, scale: i64) -> Result<Decimal, NotDecimal> {
        if units == 0 {
            return Ok(Decimal { units, scale: 0 });
        }
        if scale <= 0 {
            let factor = u32::try_from(-scale).ok().and_then(ten);
            let units = factor.and_then(|factor| units.checked_mul(factor));
            return Ok(Decimal { units: units.ok_or(NotDecimal::TooManyDigits)?, scale: 0 });
        }
        let scale = u32::try_from(scale).ok().filter(|scale| *scale <= SCALE_MAX);
        Ok(Decimal { units, scale: scale.ok_or(NotDecimal::TooManyDigits)? })
    }

    /// Fractional digits.
    pub(super) fn scale(self) -> u32 {
        self.scale
    }

    /// The number in units of `10^-scale`; nothing when that does not fit or is not whole.
    pub(super) fn units(self, scale: u32) -> Option<i128> {
        self.units.checked_mul(ten(scale.checked_sub(self.scale)?)?)
    }

    /// The exact sum.
    pub(super) fn plus(self, other: Decimal) -> Result<Decimal, Failed> {
        let scale = self.scale.max(other.scale);
        let sum = self.units(scale).zip(other.units(scale)).and_then(|(a, b)| a.checked_add(b));
        let (mut units, mut scale) = (sum.ok_or_else(overflow)?, scale);
        while scale > 0 && units % 10 == 0 {
            (units, scale) = (units / 10, scale - 1);
        }
        Ok(Decimal { units, scale })
    }
}

fn read_exponent(text: &str) -> Result<i64, NotDecimal> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NotDecimal::NotNumber);
    }
    let size: i64 = digits.parse().ok().filter(|size| *size < 100_000).ok_or(NotDecimal::TooManyDigits)?;
    Ok(if text.starts_with('-') { -size } else { size })
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        // Whole part and fraction apart: the whole number in the other's units might not fit.
        let parts = |number: &Decimal| {
            let one = 10_i128.pow(number.scale);
            let fraction = number.units.rem_euclid(one) * 10_i128.pow(SCALE_MAX - number.scale);
            (number.units.div_euclid(one), fraction)
        };
        parts(self).cmp(&parts(other))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spelled(self.units, self.scale))
    }
}

/// `units / 10^scale` with exactly `scale` fractional digits; no zero is negative.
pub(super) fn spelled(units: i128, scale: u32) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let width = scale as usize + 1;
    let digits = format!("{:0width$}", units.unsigned_abs());
    let (whole, fraction) = digits.split_at(digits.len() - scale as usize);
    let point = if scale == 0 { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

/// `numerator / denominator / 10^shift` in units of `10^-digits`, half to even. What is between is exact, however large;
/// the result has to fit.
pub(super) fn quotient(
    numerator: impl Into<BigInt>,
    denominator: impl Into<BigInt>,
    shift: i64,
    digits: u32,
) -> Result<i128, Failed> {
    let (numerator, denominator) = (numerator.into(), denominator.into());
    let (units, rest, below) = divided(&numerator, &denominator, shift, digits)?;
    let up = match (&rest * 2_u32).cmp(&below) {
        Ordering::Less => false,
        Ordering::Equal => units.bit(0),
        Ordering::Greater => true,
    };
    let negative = (numerator.sign() == Sign::Minus) != (denominator.sign() == Sign::Minus);
    let units = i128::try_from(units + u32::from(up)).map_err(|_| overflow())?;
    Ok(if negative { -units } else { units })
}

/// The same for the absolute values, rounded down, with the rest and what it is a rest of.
pub(super) fn divided(
    numerator: &BigInt,
    denominator: &BigInt,
    shift: i64,
    digits: u32,
) -> Result<(BigUint, BigUint, BigUint), Failed> {
    let (mut above, mut below) = (numerator.magnitude().clone(), denominator.magnitude().clone());
    if below == BigUint::ZERO {
        return Err(Failed::new(Fault::Undefined, "division by zero"));
    }
    let digits = i64::from(digits) - shift;
    // Scales are at most twice 30, and digits at most 24.
    let factor = BigUint::from(10_u32).pow(u32::try_from(digits.unsigned_abs()).map_err(|_| overflow())?);
    if digits < 0 {
        below *= factor
    } else {
        above *= factor
    }
    let units = &above / &below;
    let rest = above - &units * &below;
    Ok((units, rest, below))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let got = Decimal::parse(text).map(|number| number.to_string());
        assert_eq!(got.unwrap_or_else(|fault| format!("{fault:?}")), expected, "{text}");
    }

    #[test]
    fn numbers_are_read_exactly() {
        check("1", "1");
        check("-0", "0");
        check("-0.0", "0");
        check("007.50", "7.5");
        check("1e3", "1000");
        check("1.5e-3", "0.0015");
        check("100e-2", "1");
        check("123456789012345678901234567890", "123456789012345678901234567890");
        check("0.000000000000000001", "0.000000000000000001");
        check(&format!("0.{}1", "0".repeat(29)), &format!("0.{}1", "0".repeat(29)));
        check(&format!("0.{}1", "0".repeat(30)), "TooManyDigits");
        check("1e39", "TooManyDigits");
        check("1e-99999999999999999999", "TooManyDigits");
        check(&format!("1.{}", "0".repeat(500)), "1");
        for text in
            ["", "-", ".5", "5.", "+1", "1e", "1e+", "0x1", "1 ", "--1", "NaN", "Infinity", "1.2.3", "１"]
        {
            check(text, "NotNumber");
        }
    }

    #[test]
    fn order_is_that_of_the_numbers() {
        let sorted = [
            "-2",
            "-1.5",
            "-1.4",
            "0",
            "0.5",
            "1",
            "1.000000000000000001",
            "170141183460469231731687303715884105727",
        ];
        for pair in sorted.windows(2) {
            assert!(Decimal::parse(pair[0]).unwrap() < Decimal::parse(pair[1]).unwrap(), "{pair:?}");
        }
    }

    #[test]
    fn quotients_round_half_to_even() {
        let of = |a, b, digits| quotient(a, b, 0, digits).map(|units| spelled(units, digits)).unwrap();
        assert_eq!(of(1, 3, 6), "0.333333");
        assert_eq!(of(2, 3, 6), "0.666667");
        assert_eq!([of(1, 2, 0), of(3, 2, 0), of(-5, 2, 0), of(5, -2, 0)], ["0", "2", "-2", "-2"]);
        assert_eq!(of(-1, 1000, 2), "0.00");
        assert_eq!(of(i128::MAX / 10, i128::MAX / 10, 2), "1.00");
        assert_eq!(quotient(25, 1, 2, 1), Ok(2));
        assert_eq!(quotient(i128::MAX, 1, 38, 2), Ok(170));
        assert_eq!(quotient(1, 4, -3, 0), Ok(250));
        assert_eq!(quotient(1, 0, 0, 2).unwrap_err().fault, Fault::Undefined);
        assert_eq!(quotient(i128::MAX, 1, 0, 2).unwrap_err().fault, Fault::Overflow);
        assert_eq!(quotient(i128::MIN, 1, 0, 0).unwrap_err().fault, Fault::Overflow);
    }
}

//! Lists of exact decimals in one unit, and what statistics make of them.

use crate::skill::decimal::{Decimal, NotDecimal, divided, overflow, spelled};
use crate::skill::payload::{any, count_or, list, unfit};
use crate::skill::{Failed, Fault};
use canon::{Object, Value};

/// Numbers in units of `10^-scale`, the smallest scale that holds all of them.
pub(super) struct Numbers {
    pub(super) units: Vec<i128>,
    pub(super) scale: u32,
}

fn number(value: &Value, name: &str) -> Result<Decimal, Failed> {
    Decimal::of(value).map_err(|fault| match fault {
        NotDecimal::NotNumber => unfit(name, "holds something that is no number"),
        NotDecimal::TooManyDigits => overflow(),
    })
}

impl Numbers {
    /// The list `name`, which has at least `least` numbers.
    pub(super) fn of(payload: &Object, name: &str, least: usize) -> Result<Numbers, Failed> {
        let numbers = list(payload, name)?.iter().map(|value| number(value, name));
        let numbers: Vec<Decimal> = numbers.collect::<Result<_, _>>()?;
        if numbers.len() < least {
            return Err(Failed::new(Fault::Undefined, format!("{name}: fewer than {least} numbers")));
        }
        Numbers::aligned(&numbers)
    }

    /// The single number `name`.
    pub(super) fn one(payload: &Object, name: &str) -> Result<Numbers, Failed> {
        let value = any(payload, name)?;
        Numbers::aligned(&[number(value, name).map_err(|failed| match failed.fault {
            Fault::ArgumentUnfit => unfit(name, "is not a number"),
            _ => failed,
        })?])
    }

    fn aligned(numbers: &[Decimal]) -> Result<Numbers, Failed> {
        let scale = numbers.iter().map(|number| number.scale()).max().unwrap_or(0);
        let units = numbers.iter().map(|number| number.units(scale)).collect::<Option<_>>();
        Ok(Numbers { units: units.ok_or_else(overflow)?, scale })
    }

    /// The exact sum in units.
    pub(super) fn sum(&self) -> Result<i128, Failed> {
        self.units.iter().try_fold(0_i128, |sum, unit| sum.checked_add(*unit)).ok_or_else(overflow)
    }

    /// How far the point of a unit is from that of 1.
    pub(super) fn shift(&self) -> i64 {
        i64::from(self.scale)
    }

    /// A number of units as the shortest exact text.
    pub(super) fn shown(&self, units: i128) -> Result<String, Failed> {
        let text = spelled(units, self.scale);
        Decimal::parse(&text).map(|number| number.to_string()).map_err(|_| overflow())
    }
}

/// The argument `digits`.
pub(super) fn digits(payload: &Object) -> Result<u32, Failed> {
    Ok(count_or(payload, "digits", 0..=12, 6)? as u32)
}

/// `n * sum(x * y) - sum(x) * sum(y)`, exact: `n^2` times the covariance in units.
///
/// The first number is taken from all others before: that changes nothing and keeps the squares small.
pub(super) fn paired(x: &Numbers, y: &Numbers) -> Result<i128, Failed> {
    if x.units.len() != y.units.len() {
        return Err(unfit("y", "has another number of elements than x"));
    }
    let (first_x, first_y) = (x.units[0], y.units[0]);
    let (mut sum_x, mut sum_y, mut products) = (0_i128, 0_i128, 0_i128);
    for (x, y) in x.units.iter().zip(&y.units) {
        let (x, y) = x.checked_sub(first_x).zip(y.checked_sub(first_y)).ok_or_else(overflow)?;
        sum_x = sum_x.checked_add(x).ok_or_else(overflow)?;
        sum_y = sum_y.checked_add(y).ok_or_else(overflow)?;
        products = x.checked_mul(y).and_then(|xy| products.checked_add(xy)).ok_or_else(overflow)?;
    }
    let (all, apart) = (products.checked_mul(x.units.len() as i128), sum_x.checked_mul(sum_y));
    all.zip(apart).and_then(|(all, apart)| all.checked_sub(apart)).ok_or_else(overflow)
}

/// The square root of `above / below / 10^shift` in units of `10^-digits`, half to even. Both are not negative.
pub(super) fn root(above: i128, below: i128, shift: i64, digits: u32) -> Result<i128, Failed> {
    let four = above.unsigned_abs().checked_mul(4).ok_or_else(overflow)?;
    let (square, rest, _) = divided(four, below.unsigned_abs(), shift, 2 * digits)?;
    // Twice the root, rounded down: its last bit says whether the rest is at least a half.
    let twice = square.isqrt();
    let exact = rest == 0 && twice * twice == square;
    let (whole, half) = ((twice / 2) as i128, twice % 2 == 1);
    Ok(whole + i128::from(half && (!exact || whole % 2 == 1)))
}

/// `xy / sqrt(xx * yy)` in units of 10^-6, half to even; `xx` and `yy` are positive.
pub(super) fn correlated(xx: i128, xy: i128, yy: i128) -> Result<i128, Failed> {
    const UNIT: u128 = 1_000_000;
    let too_large = |_| overflow();
    let (xx, yy) = (u128::try_from(xx).map_err(too_large)?, u128::try_from(yy).map_err(too_large)?);
    let size = xy.unsigned_abs();
    // r >= k / (2 * UNIT), squared and without division: (2 * UNIT * xy)^2 >= k^2 * xx * yy.
    let target = size.checked_mul(2 * UNIT).ok_or_else(overflow)?;
    let target = wide(target, target);
    let bound = |twice: u128| (twice * twice).checked_mul(xx).map(|scaled| wide(scaled, yy));
    let (mut low, mut high) = (0_u128, 2 * UNIT);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if bound(middle).ok_or_else(overflow)? <= target {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let exact = bound(low).ok_or_else(overflow)? == target;
    let (whole, half) = (low / 2, low % 2 == 1);
    let rounded = whole as i128 + i128::from(half && (!exact || whole % 2 == 1));
    Ok(if xy < 0 { -rounded } else { rounded })
}

/// The product in 256 bits: high half, low half.
fn wide(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a_high, a_low, b_high, b_low) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let low = a_low * b_low;
    let middle = a_high * b_low + (low >> 64);
    let other = a_low * b_high + (middle & LOW);
    (a_high * b_high + (middle >> 64) + (other >> 64), (other << 64) | (low & LOW))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_products_are_those_of_halves() {
        assert_eq!(wide(u128::MAX, u128::MAX), (u128::MAX - 1, 1));
        assert_eq!(wide(1 << 100, 1 << 100), (1 << 72, 0));
        assert_eq!(wide(3, 5), (0, 15));
    }

    #[test]
    fn roots_round_half_to_even() {
        // sqrt(0.25) = 0.5 and sqrt(2.25) = 1.5 are ties; sqrt(2) and sqrt(3) are not.
        assert_eq!(
            [root(1, 4, 0, 0), root(9, 4, 0, 0), root(2, 1, 0, 0), root(300, 1, 2, 0)],
            [Ok(0), Ok(2), Ok(1), Ok(2)]
        );
        assert_eq!(root(2, 1, 0, 12).map(|root| spelled(root, 12)).as_deref(), Ok("1.414213562373"));
        assert_eq!(root(i128::MAX, 1, 0, 6).unwrap_err().fault, Fault::Overflow);
    }

    #[test]
    fn correlations_of_large_sums_are_exact() {
        assert_eq!(correlated(1 << 80, 1 << 80, 1 << 80), Ok(1_000_000));
        assert_eq!(correlated(1 << 80, -(1 << 79), 1 << 80), Ok(-500_000));
        assert_eq!(correlated(1, 0, 1), Ok(0));
        assert_eq!(correlated(i128::MAX, i128::MAX, i128::MAX).unwrap_err().fault, Fault::Overflow);
    }
}

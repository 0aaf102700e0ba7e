//! Lists of exact decimals in one unit, and what statistics make of them.

use crate::skill::decimal::{Decimal, NotDecimal, divided, overflow, spelled};
use crate::skill::payload::{any, count_or, list, unfit};
use crate::skill::{Failed, Fault};
use canon::{Object, Value};
use num_bigint::{BigInt, BigUint, Sign};

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
pub(super) fn paired(x: &Numbers, y: &Numbers) -> Result<BigInt, Failed> {
    if x.units.len() != y.units.len() {
        return Err(unfit("y", "has another number of elements than x"));
    }
    let (first_x, first_y) = (x.units[0], y.units[0]);
    let (mut sum_x, mut sum_y) = (0_i128, 0_i128);
    // Products that fit are added up here and carried over when they do not fit any more.
    let (mut products, mut small) = (BigInt::ZERO, 0_i128);
    for (x, y) in x.units.iter().zip(&y.units) {
        let (x, y) = x.checked_sub(first_x).zip(y.checked_sub(first_y)).ok_or_else(overflow)?;
        sum_x = sum_x.checked_add(x).ok_or_else(overflow)?;
        sum_y = sum_y.checked_add(y).ok_or_else(overflow)?;
        if let Some(sum) = x.checked_mul(y).and_then(|xy| small.checked_add(xy)) {
            small = sum;
        } else {
            products += std::mem::take(&mut small);
            products += BigInt::from(x) * y;
        }
    }
    Ok((products + small) * x.units.len() - BigInt::from(sum_x) * sum_y)
}

/// The square root of `above / below / 10^shift` in units of `10^-digits`, half to even. Both are not negative.
pub(super) fn root(above: &BigInt, below: &BigInt, shift: i64, digits: u32) -> Result<i128, Failed> {
    let (square, rest, _) = divided(&(above * 4_u32), below, shift, 2 * digits)?;
    // Twice the root, rounded down: its last bit says whether the rest is at least a half.
    let twice = root_below(&square);
    let exact = rest == BigUint::ZERO && &twice * &twice == square;
    let half = twice.bit(0);
    let whole = i128::try_from(twice >> 1_u32).map_err(|_| overflow())?;
    Ok(whole + i128::from(half && (!exact || whole % 2 == 1)))
}

/// The greatest number whose square is not greater, by Newton's method from above.
fn root_below(square: &BigUint) -> BigUint {
    if *square == BigUint::ZERO {
        return BigUint::ZERO;
    }
    let mut root = BigUint::from(1_u32) << square.bits().div_ceil(2);
    loop {
        let next: BigUint = (&root + square / &root) >> 1_u32;
        if next >= root {
            return root;
        }
        root = next;
    }
}

/// `xy / sqrt(xx * yy)` in units of `10^-digits`, half to even; `xx` and `yy` are positive.
pub(super) fn correlated(xx: &BigInt, xy: &BigInt, yy: &BigInt, digits: u32) -> Result<i128, Failed> {
    let size = root(&(xy * xy), &(xx * yy), 0, digits)?;
    Ok(if xy.sign() == Sign::Minus { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_round_half_to_even() {
        let root = |above: i64, below: i64, shift, digits| root(&above.into(), &below.into(), shift, digits);
        // sqrt(0.25) = 0.5 and sqrt(2.25) = 1.5 are ties; sqrt(2) and sqrt(3) are not.
        let roots =
            [root(1, 4, 0, 0), root(9, 4, 0, 0), root(2, 1, 0, 0), root(300, 1, 2, 0), root(0, 1, 0, 0)];
        assert_eq!(roots, [Ok(0), Ok(2), Ok(1), Ok(2), Ok(0)]);
        assert_eq!(root(2, 1, 0, 12).map(|root| spelled(root, 12)).as_deref(), Ok("1.414213562373"));
        assert_eq!(root(1, 1, -90, 0).unwrap_err().fault, Fault::Overflow);
    }

    #[test]
    fn roots_are_the_greatest_below() {
        for number in 0_u32..3000 {
            assert_eq!(root_below(&number.into()), BigUint::from(number.isqrt()), "{number}");
        }
        let large = (BigUint::from(1_u32) << 300_u32) + 12_345_u32;
        assert_eq!(root_below(&(&large * &large)), large);
        assert_eq!(root_below(&(&large * &large - 1_u32)), &large - 1_u32);
    }

    #[test]
    fn correlations_of_large_sums_are_exact() {
        let one = BigInt::from(1) << 200_u32;
        let half: BigInt = &one / 2;
        let of = |xy: &BigInt| correlated(&one, xy, &one, 6);
        assert_eq!([of(&one), of(&-half), of(&BigInt::ZERO)], [Ok(1_000_000), Ok(-500_000), Ok(0)]);
    }
}

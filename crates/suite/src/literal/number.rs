//! Between integers and binary64, exactly and without arithmetic on floats.

use super::BigInt;
use canon::Float;
use num_bigint::Sign;

/// Bits of the fraction of a binary64.
const FRACTION: u32 = 52;
/// The exponent of the last bit of the smallest number: a binary64 is `fraction * 2^(exponent - 1075)`.
const BIAS: i32 = 1075;

/// A finite binary64 as `(negative, mantissa, exponent)`: the value is `mantissa * 2^exponent`.
pub(crate) fn parts(value: Float) -> Option<(bool, u64, i32)> {
    let value = value.get();
    if !value.is_finite() {
        return None;
    }
    let bits = value.to_bits();
    let fraction = bits & ((1 << FRACTION) - 1);
    let raised = (bits >> FRACTION & 0x7ff) as i32;
    let (mantissa, raised) = if raised == 0 { (fraction, 1) } else { (fraction | 1 << FRACTION, raised) };
    Some((value.is_sign_negative(), mantissa, raised - BIAS))
}

/// The integer that a float is equal to, if it is whole.
pub fn whole(value: Float) -> Option<BigInt> {
    let (negative, mantissa, exponent) = parts(value)?;
    let magnitude = if exponent >= 0 {
        BigInt::from(mantissa) << exponent.unsigned_abs()
    } else {
        let shift = exponent.unsigned_abs();
        if mantissa != 0 && mantissa.trailing_zeros() < shift {
            return None;
        }
        BigInt::from(mantissa.checked_shr(shift).unwrap_or(0))
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// The float nearest to an integer, ties to even; nothing where Python raises `OverflowError`.
pub fn integer_as_float(value: &BigInt) -> Option<Float> {
    // Within 1100 bits the decimal text is short; above, it is out of range anyway.
    if value.bits() > 1100 {
        return None;
    }
    let nearest = value.to_string().parse::<f64>().ok()?;
    nearest.is_finite().then(|| Float::new(nearest))
}

/// `value * 2^1074` of a finite float: every binary64 is a whole number of these.
pub(crate) fn scaled(value: Float) -> Option<BigInt> {
    let (negative, mantissa, exponent) = parts(value)?;
    // The smallest exponent is -1074, so the shift is never negative.
    let magnitude = BigInt::from(mantissa) << (exponent + BIAS - 1).unsigned_abs();
    Some(if negative { -magnitude } else { magnitude })
}

/// True when `|a - b|`, rounded to binary64 as the subtraction of two floats is, is at most `bound`.
///
/// Rounding is monotone, so it suffices to compare the exact difference with the last real number that is rounded to
/// `bound` or below: the middle between `bound` and its successor, which itself goes to the even one of the two.
pub(crate) fn difference_within(a: &BigInt, b: &BigInt, bound: Float) -> bool {
    let difference = BigInt::from_biguint(Sign::Plus, (a - b).magnitude().clone());
    let next = Float::new(f64::from_bits(bound.get().to_bits().wrapping_add(1)));
    // Only a bound without an end has no scaled value; a suite refuses those.
    let Some(low) = scaled(bound) else { return bound.get().is_infinite() };
    // Above the largest float comes 2^1024, to which everything nearer is rounded.
    let high = scaled(next).unwrap_or_else(|| BigInt::from(1) << (1024 + BIAS - 1).unsigned_abs());
    let twice = difference * 2u32;
    let middle = low + high;
    if bound.get().to_bits() & 1 == 0 { twice <= middle } else { twice < middle }
}

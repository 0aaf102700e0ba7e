//! Decimals with 18 places on integers, for reputation (section 21).
//!
//! The peer computes in binary64. A pure crate has no floats, and its answers must be the same on every machine, so the
//! same formulas run here on exact decimals; the peer's figures agree to 1e-12, which is all that its vectors ask.

use canon::{Float, Value};

const PLACES: u32 = 18;
const UNIT: i128 = 10_i128.pow(PLACES);
/// Values stop here; products of two of them still fit.
const RAW_MAX: i128 = 1_000_000_000 * UNIT;
/// 2^(-1/200): what one event leaves of an observation.
const EVENT_DECAY: Fixed = Fixed(996_540_262_827_867_834);
/// Events after which half of an observation is left.
const HALF_LIFE_EVENTS: u64 = 200;
const LN_2: Fixed = Fixed(693_147_180_559_945_309);

/// A decimal with 18 places, between -10^9 and 10^9. Results beyond stop at the border.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Fixed(i128);

impl Fixed {
    /// 0
    pub const ZERO: Fixed = Fixed(0);
    /// 1
    pub const ONE: Fixed = Fixed(UNIT);
    /// 0.5
    pub const HALF: Fixed = Fixed(UNIT / 2);

    /// `n` thousandths.
    pub const fn thousandths(n: i64) -> Fixed {
        Fixed::bounded(n as i128 * (UNIT / 1000))
    }

    /// A whole number.
    pub const fn whole(n: i64) -> Fixed {
        // 64 bits times 10^18 fit in 128.
        Fixed::bounded(n as i128 * UNIT)
    }

    const fn bounded(raw: i128) -> Fixed {
        Fixed(if raw > RAW_MAX {
            RAW_MAX
        } else if raw < -RAW_MAX {
            -RAW_MAX
        } else {
            raw
        })
    }

    /// Sum.
    #[must_use]
    pub const fn plus(self, other: Fixed) -> Fixed {
        Fixed::bounded(self.0 + other.0)
    }

    /// Difference.
    #[must_use]
    pub const fn minus(self, other: Fixed) -> Fixed {
        Fixed::bounded(self.0 - other.0)
    }

    /// Product. The wholes and the fractions are multiplied apart, because the product of two raw values has 180 bits.
    #[must_use]
    pub fn times(self, other: Fixed) -> Fixed {
        let (whole, part) = (self.0.div_euclid(UNIT), self.0.rem_euclid(UNIT));
        let (other_whole, other_part) = (other.0.div_euclid(UNIT), other.0.rem_euclid(UNIT));
        let mixed = whole * other_part + part * other_whole;
        let parts = (part * other_part + UNIT / 2) / UNIT;
        Fixed::bounded(whole * other_whole * UNIT + mixed + parts)
    }

    /// Quotient; nothing for a divisor that is not positive.
    pub fn over(self, divisor: Fixed) -> Option<Fixed> {
        // Nine places at a time: the remainder times 10^18 has too many bits.
        const STEP: i128 = 1_000_000_000;
        if divisor.0 <= 0 {
            return None;
        }
        let (mut quotient, mut rest) = (self.0.div_euclid(divisor.0), self.0.rem_euclid(divisor.0));
        if quotient.abs() > RAW_MAX / UNIT {
            return Some(Fixed::bounded(if quotient > 0 { RAW_MAX } else { -RAW_MAX }));
        }
        for _ in 0..2 {
            quotient = quotient * STEP + rest * STEP / divisor.0;
            rest = rest * STEP % divisor.0;
        }
        Some(Fixed::bounded(quotient))
    }

    /// Square root; 0 for what is negative.
    #[must_use]
    pub fn sqrt(self) -> Fixed {
        // sqrt(raw / 10^18) = isqrt(raw * 10^(2k)) / (10^9 * 10^k), with k as large as 128 bits allow.
        let (mut raw, mut scale) = (self.0.max(0), 1_000_000_000_i128);
        while raw > 0 && raw < i128::MAX / 100 {
            raw *= 100;
            scale *= 10;
        }
        Fixed::bounded(raw.isqrt() * 1_000_000_000 / (scale / 1_000_000_000))
    }

    /// Natural logarithm of a whole number; 0 for 0 and 1.
    #[must_use]
    pub fn ln(n: u64) -> Fixed {
        let doublings = n.max(1).ilog2();
        // n = 2^doublings * m with 1 <= m < 2, and ln m = 2 atanh((m - 1) / (m + 1)).
        let m = Fixed((i128::from(n.max(1)) * UNIT) >> doublings);
        let z = m.minus(Fixed::ONE).over(m.plus(Fixed::ONE)).unwrap_or_default();
        let (square, mut power, mut sum) = (z.times(z), z, Fixed::ZERO);
        for odd in (1..60).step_by(2) {
            sum = sum.plus(Fixed(power.0 / odd));
            power = power.times(square);
        }
        Fixed(2 * sum.0).plus(Fixed(LN_2.0 * i128::from(doublings)))
    }

    /// What is left of an observation after `events`: one half to the power of events / 200 (section 21).
    #[must_use]
    pub fn decay(events: u64) -> Fixed {
        let halvings = events / HALF_LIFE_EVENTS;
        if halvings >= 64 {
            return Fixed::ZERO;
        }
        let left = (0..events % HALF_LIFE_EVENTS).fold(Fixed::ONE, |left, _| left.times(EVENT_DECAY));
        Fixed(left.0 >> halvings)
    }

    /// Rounded to `places` digits after the point, halves to the even digit.
    #[must_use]
    pub fn rounded(self, places: u32) -> Fixed {
        let step = 10_i128.pow(PLACES - places.min(PLACES));
        let (whole, rest) = (self.0.div_euclid(step), self.0.rem_euclid(step));
        let up = rest * 2 > step || (rest * 2 == step && whole % 2 != 0);
        Fixed::bounded((whole + i128::from(up)) * step)
    }

    /// The decimal of a JSON number, as far as 18 places hold it; nothing for another value or a number out of range.
    pub fn read(value: &Value) -> Option<Fixed> {
        match value {
            Value::Int(number) => Fixed::parse(number.as_str()),
            Value::Float(number) if number.is_finite() => Fixed::parse(&number.to_string()),
            _ => None,
        }
    }

    /// Reads `-1`, `0.25`, `1e-05`; nothing for another text or a number out of range.
    pub fn parse(text: &str) -> Option<Fixed> {
        let (mantissa, exponent) = match text.split_once('e') {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = [whole, part].concat();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        // The value is digits * 10^shift in units of the last place.
        let shift = i32::try_from(PLACES)
            .ok()?
            .checked_add(exponent)?
            .checked_sub(i32::try_from(part.len()).ok()?)?;
        let raw = shifted(digits.trim_start_matches('0'), shift)?;
        (raw <= RAW_MAX).then_some(Fixed(if negative { -raw } else { raw }))
    }

    /// The shortest text, with at least one digit after the point, as Python writes it between 0.0001 and 10^16.
    pub fn to_text(self) -> String {
        let (whole, part) =
            (self.0.unsigned_abs() / UNIT.unsigned_abs(), self.0.unsigned_abs() % UNIT.unsigned_abs());
        let digits = format!("{part:018}");
        let digits = digits.trim_end_matches('0');
        let sign = if self.0 < 0 { "-" } else { "" };
        format!("{sign}{whole}.{}", if digits.is_empty() { "0" } else { digits })
    }

    /// The JSON number of the peer's forms, which has a point (record 0017). Nothing of ours holds it.
    pub fn to_peer_number(self) -> Value {
        Value::Float(Float::new(self.to_text().parse().unwrap_or_default()))
    }

    /// Thousandths, rounded down: for records of our own.
    pub fn in_thousandths(self) -> i64 {
        // At most 10^12, which 64 bits hold.
        i64::try_from(self.0.div_euclid(UNIT / 1000)).unwrap_or_default()
    }

    /// `numerator / 2^64 < self`, exactly: for a rate and a hash.
    pub(crate) fn exceeds_share(self, numerator: u64) -> bool {
        i128::from(numerator) * UNIT < self.0.clamp(0, UNIT) << 64
    }
}

/// `digits * 10^shift`, digits below the last place cut off; nothing when it does not fit.
fn shifted(digits: &str, shift: i32) -> Option<i128> {
    if digits.is_empty() {
        return Some(0);
    }
    if shift < 0 {
        let cut = usize::try_from(-shift).ok()?;
        let kept = digits.get(..digits.len().saturating_sub(cut))?;
        return if kept.is_empty() { Some(0) } else { kept.parse().ok() };
    }
    digits.parse::<i128>().ok()?.checked_mul(10_i128.checked_pow(u32::try_from(shift).ok()?)?)
}

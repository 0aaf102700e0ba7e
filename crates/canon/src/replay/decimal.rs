//! Decimal text to fixed point, with as many digits as there are and never through a binary float (D-2).

use std::cmp::Ordering;

/// Largest exponent that a number may be written with, either way.
pub(crate) const EXPONENT_MAX: i64 = 400;
/// Most fractional digits that a table may ask for.
pub(crate) const SCALE_MAX: u32 = 400;

/// The parts of a JSON number.
struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: i64,
}

/// The exponent that a JSON number is written with; far out of range where it has too many digits to tell.
pub(crate) fn exponent(token: &str) -> i64 {
    match exponent_mark(token) {
        None => 0,
        Some(at) => token[at + 1..].parse().unwrap_or(i64::MAX),
    }
}

fn exponent_mark(token: &str) -> Option<usize> {
    token.bytes().position(|byte| byte | 0x20 == b'e')
}

impl<'a> Parts<'a> {
    fn of(token: &'a str) -> Parts<'a> {
        let (negative, rest) = match token.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, token),
        };
        let mantissa = &rest[..exponent_mark(rest).unwrap_or(rest.len())];
        let point = mantissa.bytes().position(|byte| byte == b'.');
        let (whole, fraction) = point.map_or((mantissa, ""), |at| (&mantissa[..at], &mantissa[at + 1..]));
        Parts { negative, whole, fraction, exponent: exponent(token).clamp(-EXPONENT_MAX, EXPONENT_MAX) }
    }

    /// Whether nothing has to be moved or rounded: the common case.
    fn is_short(&self, scale: u32) -> bool {
        self.exponent == 0 && scale > 0 && self.fraction.len() <= scale as usize
    }
}

/// Appends the fixed-point text of a JSON number token: `scale` fractional digits, rounded half to even, `-0` as `0`.
pub(crate) fn push_fixed(out: &mut String, token: &str, scale: u32) {
    let plain = token.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if plain && token != "-0" {
        out.push_str(token);
        push_fraction(out, "", scale);
        return;
    }
    let parts = Parts::of(token);
    if parts.is_short(scale) {
        if parts.negative && token.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
            out.push('-');
        }
        out.push_str(parts.whole);
        out.push('.');
        out.push_str(parts.fraction);
        out.extend(std::iter::repeat_n('0', scale as usize - parts.fraction.len()));
        return;
    }
    let digits: Vec<u8> = parts.whole.bytes().chain(parts.fraction.bytes()).collect();
    // Digits before `cut` stay; the point stands `scale` digits before it.
    let cut = parts.whole.len() as i64 + parts.exponent + i64::from(scale);
    let mut kept: Vec<u8> = match usize::try_from(cut) {
        Err(_) => Vec::new(),
        Ok(cut) => (0..cut).map(|at| digits.get(at).copied().unwrap_or(b'0')).collect(),
    };
    if rounds_up(&digits, cut, kept.last().copied()) {
        increment(&mut kept);
    }
    push_digits(out, parts.negative, &kept, scale);
}

/// Half to even: whether what is cut off makes the last digit that stays one larger.
fn rounds_up(digits: &[u8], cut: i64, last: Option<u8>) -> bool {
    // Cut before the first digit by more than one place: less than a tenth of a unit.
    let Ok(cut) = usize::try_from(cut) else { return false };
    let Some((first, rest)) = digits.get(cut..).and_then(<[u8]>::split_first) else { return false };
    match first.cmp(&b'5') {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => rest.iter().any(|digit| *digit != b'0') || last.is_some_and(|last| last % 2 == 1),
    }
}

/// One more, in decimal.
fn increment(digits: &mut Vec<u8>) {
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
    digits.insert(0, b'1');
}

/// Writes digits of which the last `scale` are fractional.
fn push_digits(out: &mut String, negative: bool, digits: &[u8], scale: u32) {
    let first = digits.iter().position(|digit| *digit != b'0').unwrap_or(digits.len());
    let digits = &digits[first..];
    if negative && !digits.is_empty() {
        out.push('-');
    }
    let whole = digits.len().saturating_sub(scale as usize);
    match whole {
        0 => out.push('0'),
        _ => out.extend(digits[..whole].iter().map(|digit| char::from(*digit))),
    }
    let fraction: String = digits[whole..].iter().map(|digit| char::from(*digit)).collect();
    push_fraction(out, &fraction, scale);
}

/// The point and the fractional digits, filled with zeros from the left.
fn push_fraction(out: &mut String, digits: &str, scale: u32) {
    if scale == 0 {
        return;
    }
    out.push('.');
    out.extend(std::iter::repeat_n('0', scale as usize - digits.len()));
    out.push_str(digits);
}

/// Whether two number texts are the same value, exactly.
pub(crate) fn same_value(a: &str, b: &str) -> bool {
    significant(a) == significant(b)
}

/// Sign, digits without zeros at either end, and the power of ten of the last digit.
fn significant(token: &str) -> (bool, Vec<u8>, i64) {
    let parts = Parts::of(token);
    let mut digits: Vec<u8> =
        parts.whole.bytes().chain(parts.fraction.bytes()).skip_while(|digit| *digit == b'0').collect();
    let mut power = parts.exponent - parts.fraction.len() as i64;
    while digits.last() == Some(&b'0') {
        digits.pop();
        power += 1;
    }
    if digits.is_empty() { (false, digits, 0) } else { (parts.negative, digits, power) }
}

/// The fixed-point text that is one unit in the last place further from zero.
pub(crate) fn next_unit(fixed: &str) -> String {
    let (negative, magnitude) = match fixed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, fixed),
    };
    let scale = magnitude.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let mut digits: Vec<u8> = magnitude.bytes().filter(u8::is_ascii_digit).collect();
    increment(&mut digits);
    let mut out = String::new();
    push_digits(&mut out, negative, &digits, scale as u32);
    out
}

/// Orders two fixed-point texts of one scale by value.
pub(crate) fn compare_fixed(a: &str, b: &str) -> Ordering {
    let by_magnitude = |a: &str, b: &str| a.len().cmp(&b.len()).then_with(|| a.cmp(b));
    match (a.strip_prefix('-'), b.strip_prefix('-')) {
        (None, None) => by_magnitude(a, b),
        (Some(a), Some(b)) => by_magnitude(b, a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(token: &str, scale: u32) -> String {
        let mut out = String::new();
        push_fixed(&mut out, token, scale);
        out
    }

    #[test]
    fn one_value_has_one_spelling() {
        for token in ["1", "1.0", "1e0", "10e-1", "0.1e1", "1.0000000", "1E+0", "100e-2"] {
            assert_eq!(fixed(token, 6), "1.000000", "{token}");
        }
        for token in ["0", "-0", "0.0", "-0.0", "0e5", "-0e-400", "0.0000001", "-0.0000004"] {
            assert_eq!(fixed(token, 6), "0.000000", "{token}");
        }
    }

    #[test]
    fn halves_go_to_the_even_neighbour() {
        for (token, scale, expected) in [
            ("0.5", 0, "0"),
            ("1.5", 0, "2"),
            ("2.5", 0, "2"),
            ("2.50000000000000000001", 0, "3"),
            ("-2.5", 0, "-2"),
            ("-3.5", 0, "-4"),
            ("9.5", 0, "10"),
            ("0.05", 1, "0.0"),
            ("0.15", 1, "0.2"),
            ("5e-1", 0, "0"),
            ("5.1e-1", 0, "1"),
            ("5e-2", 0, "0"),
            ("99.9999995", 6, "100.000000"),
            ("99.9999985", 6, "99.999998"),
            ("0.9999999", 6, "1.000000"),
        ] {
            assert_eq!(fixed(token, scale), expected, "{token} at {scale}");
        }
    }

    #[test]
    fn no_digit_is_lost() {
        assert_eq!(fixed("9007199254740993", 6), "9007199254740993.000000");
        assert_eq!(fixed("9007199254740993.0", 6), "9007199254740993.000000");
        assert_eq!(fixed("1e400", 0), format!("1{}", "0".repeat(400)));
        assert_eq!(fixed("1e-400", 400), format!("0.{}1", "0".repeat(399)));
        assert_eq!(
            fixed("123456789012345678901234567890.123456789", 9),
            "123456789012345678901234567890.123456789"
        );
    }

    #[test]
    fn equal_values_are_told_from_near_ones() {
        for (a, b) in [("1", "1.0"), ("1e2", "100"), ("-0", "0.0"), ("0.10", "1e-1"), ("-1.50e1", "-15")] {
            assert!(same_value(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("1", "-1"),
            ("0.1", "0.1000000000000000001"),
            ("9007199254740993", "9007199254740992"),
            ("1", "10"),
        ] {
            assert!(!same_value(a, b), "{a} {b}");
        }
    }

    #[test]
    fn units_and_order() {
        assert_eq!(next_unit("0.999999"), "1.000000");
        assert_eq!(next_unit("-0.000001"), "-0.000002");
        assert_eq!(next_unit("0"), "1");
        assert_eq!(next_unit("0.000000"), "0.000001");
        let ordered = ["-10.0", "-9.9", "-0.1", "0.0", "0.1", "9.9", "10.0"];
        for (at, a) in ordered.iter().enumerate() {
            for (other, b) in ordered.iter().enumerate() {
                assert_eq!(compare_fixed(a, b), at.cmp(&other), "{a} {b}");
            }
        }
    }
}

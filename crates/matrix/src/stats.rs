//! Intervals and distributions (GD-46, RC-SEE-05). Floats are allowed here: counts go in, a report or a comparison with a
//! threshold comes out, and nothing of it is hashed or signed. Only operations that IEEE 754 rounds exactly are used, so
//! every machine computes the same.

/// The 0.975 quantile of the normal distribution (GD-46).
pub const Z: f64 = 1.959_963_984_540_054;

/// A share of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    /// How many.
    pub k: u64,
    /// Of how many.
    pub n: u64,
}

/// A value between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The point estimate.
    pub value: f64,
    /// The lower bound.
    pub lower: f64,
    /// The upper bound.
    pub upper: f64,
}

impl Share {
    /// `k` of `n`; nothing when it is more than all.
    pub fn new(k: u64, n: u64) -> Option<Share> {
        (k <= n).then_some(Share { k, n })
    }

    /// The point estimate; nothing of nothing.
    pub fn rate(self) -> Option<f64> {
        (self.n > 0).then(|| self.k as f64 / self.n as f64)
    }

    /// The Wilson interval of 95 %; nothing of nothing.
    pub fn wilson(self) -> Option<Interval> {
        let p = self.rate()?;
        let n = self.n as f64;
        let z2 = Z * Z;
        let centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / (1.0 + z2 / n);
        // At 0 and 1 the bound is the point itself; rounding must not put it beyond.
        let lower = if self.k == 0 { 0.0 } else { (centre - half).max(0.0) };
        let upper = if self.k == self.n { 1.0 } else { (centre + half).min(1.0) };
        Some(Interval { value: p, lower, upper })
    }
}

/// The Newcombe-Wilson interval of the difference `one - other` (GD-46):
/// `lower = d − sqrt((p1−l1)² + (u2−p2)²)`, `upper = d + sqrt((u1−p1)² + (p2−l2)²)`. Nothing where either is of nothing.
pub fn difference(one: Share, other: Share) -> Option<Interval> {
    let (a, b) = (one.wilson()?, other.wilson()?);
    let square = |x: f64| x * x;
    let value = a.value - b.value;
    let lower = value - (square(a.value - a.lower) + square(b.upper - b.value)).sqrt();
    let upper = value + (square(a.upper - a.value) + square(b.value - b.lower)).sqrt();
    Some(Interval { value, lower, upper })
}

/// Whether the lower bound of the difference is above 0 (RC-LRN-01). A difference of nothing is not.
pub fn surely_greater(one: Share, other: Share) -> bool {
    difference(one, other).is_some_and(|interval| interval.lower > 0.0)
}

/// Whether the point estimates differ by at least `micro` µ, in integers alone. A difference of nothing does not.
pub fn differs_by(one: Share, other: Share, micro: i64) -> bool {
    if one.n == 0 || other.n == 0 {
        return false;
    }
    let wide = i128::from;
    let (k1, n1, k2, n2) =
        (wide(one.k as i64), wide(one.n as i64), wide(other.k as i64), wide(other.n as i64));
    (k1 * n2 - k2 * n1) * 1_000_000 >= wide(micro) * n1 * n2
}

/// A distribution over all seeds: every value, and five of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// All values, sorted.
    pub sorted: Vec<i64>,
}

impl Distribution {
    /// Of these values; nothing of nothing.
    pub fn of(values: impl IntoIterator<Item = i64>) -> Option<Distribution> {
        let mut sorted: Vec<i64> = values.into_iter().collect();
        sorted.sort_unstable();
        (!sorted.is_empty()).then_some(Distribution { sorted })
    }

    /// Minimum, lower quartile, median, upper quartile, maximum: values that occurred (nearest rank), never between two.
    pub fn five(&self) -> [i64; 5] {
        let last = self.sorted.len() - 1;
        let rank = |quarter: usize| {
            self.sorted[(quarter * self.sorted.len()).div_ceil(4).saturating_sub(1).min(last)]
        };
        [self.sorted[0], rank(1), rank(2), rank(3), self.sorted[last]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, expected: f64) {
        assert!((got - expected).abs() < 5e-6, "{got} is not {expected}");
    }

    fn share(k: u64, n: u64) -> Share {
        Share::new(k, n).unwrap()
    }

    #[test]
    fn the_vector_of_gd_46() {
        let interval = difference(share(9_517, 20_000), share(2_954, 20_000)).unwrap();
        close(interval.value, 0.32815);
        close(interval.lower, 0.31962);
        close(interval.upper, 0.33660);
        assert!(surely_greater(share(9_517, 20_000), share(2_954, 20_000)));
        assert!(!surely_greater(share(2_954, 20_000), share(9_517, 20_000)));
    }

    /// AR-19: what 200 and 20 000 cases can tell apart.
    #[test]
    fn the_smallest_difference_that_is_seen() {
        let small = difference(share(120, 200), share(100, 200)).unwrap();
        assert!((small.lower - 0.0026).abs() < 5e-5, "{small:?}");
        let wide = difference(share(115, 200), share(85, 200)).unwrap();
        assert!((wide.lower - 0.05).abs() < 0.005 && (wide.upper - 0.24).abs() < 0.005, "{wide:?}");
        let narrow = difference(share(11_500, 20_000), share(8_500, 20_000)).unwrap();
        assert!((narrow.lower - 0.140).abs() < 5e-4 && (narrow.upper - 0.160).abs() < 5e-4, "{narrow:?}");
    }

    /// Newcombe 1998, table II, method 10.
    #[test]
    fn published_intervals() {
        for (one, other, lower, upper) in [
            (share(56, 70), share(48, 80), 0.0524, 0.3339),
            (share(9, 10), share(3, 10), 0.1705, 0.8090),
            (share(10, 10), share(0, 10), 0.6075, 1.0),
        ] {
            let interval = difference(one, other).unwrap();
            assert!(
                (interval.lower - lower).abs() < 5e-5 && (interval.upper - upper).abs() < 5e-5,
                "{interval:?}"
            );
        }
        let single = share(15, 148).wilson().unwrap();
        assert!((single.lower - 0.0624).abs() < 5e-5 && (single.upper - 0.1605).abs() < 5e-5, "{single:?}");
    }

    #[test]
    fn the_ends_are_the_ends() {
        assert_eq!(share(0, 0).wilson(), None);
        assert_eq!(Share::new(2, 1), None);
        let (none, all) = (share(0, 10).wilson().unwrap(), share(10, 10).wilson().unwrap());
        assert!(none.lower <= 0.0 && none.upper > 0.2 && all.upper >= 1.0 && all.lower < 0.8);
        assert!(!surely_greater(share(0, 0), share(0, 10)));
    }

    #[test]
    fn differences_are_compared_as_integers() {
        assert!(differs_by(share(15, 100), share(0, 100), 150_000));
        assert!(!differs_by(share(149_999, 1_000_000), share(0, 7), 150_000));
        assert!(!differs_by(share(1, 1), share(0, 0), 0));
        assert!(!differs_by(share(0, 100), share(15, 100), 150_000));
    }

    #[test]
    fn five_values_that_occurred() {
        let five = |values: &[i64]| Distribution::of(values.iter().copied()).unwrap().five();
        assert_eq!(Distribution::of([]), None);
        assert_eq!(five(&[3]), [3; 5]);
        assert_eq!(five(&[4, 1]), [1, 1, 1, 4, 4]);
        assert_eq!(five(&[1, 2, 3, 4]), [1, 1, 2, 3, 4]);
        assert_eq!(five(&[5, 4, 3, 2, 1]), [1, 2, 3, 4, 5]);
        assert_eq!(five(&(0..100).collect::<Vec<_>>()), [0, 24, 49, 74, 99]);
    }
}

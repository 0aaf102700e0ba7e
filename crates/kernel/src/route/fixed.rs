//! Arithmetic in whole numbers: the same bits on every machine, in every order of compilation.

/// Fraction bits of weights and scores.
pub(super) const BITS: u32 = 30;

/// One, with [`BITS`] fraction bits.
pub(super) const ONE: i64 = 1 << BITS;

/// Largest whole number whose square is not above `value`.
pub(super) fn isqrt(value: u128) -> u128 {
    value.isqrt()
}

/// Narrows; what does not fit is the largest number that does. Weights of at most 2000 words stay far below.
pub(super) fn narrow(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

/// Product of two numbers with [`BITS`] fraction bits, rounded down.
pub(super) fn mul(a: i64, b: i64) -> i64 {
    narrow((i128::from(a) * i128::from(b)) >> BITS)
}

/// Quotient of two numbers with the same fraction bits; 0 for a division by 0.
pub(super) fn div(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { narrow((i128::from(a) << BITS) / i128::from(b)) }
}

/// Square root of a number with [`BITS`] fraction bits; 0 for a negative one.
pub(super) fn sqrt(value: i64) -> i64 {
    let wide = u128::try_from(value).unwrap_or(0) << BITS;
    narrow(i128::try_from(isqrt(wide)).unwrap_or(i128::MAX))
}

/// Binary logarithm of a whole number of at least 1, bit by bit.
pub(super) fn log2(value: u64) -> i64 {
    let whole = value.max(1).ilog2();
    if value.is_power_of_two() {
        return i64::from(whole) << BITS;
    }
    let mut result = i64::from(whole) << BITS;
    // The mantissa, in [1, 2), with 62 fraction bits.
    let mut mantissa = u128::from(value.max(1)) << (62 - whole.min(62));
    for bit in (0..BITS).rev() {
        mantissa = (mantissa * mantissa) >> 62;
        if mantissa >= 1 << 63 {
            mantissa >>= 1;
            result += 1 << bit;
        }
    }
    result
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix: cyclic Jacobi, a fixed number of sweeps, so that the
/// result depends on the matrix alone. Returned in falling order of the values, the first index first among equals.
pub(super) fn eigen(mut a: Vec<Vec<i64>>) -> (Vec<i64>, Vec<Vec<i64>>) {
    const SWEEPS: usize = 12;
    // Elements below this are rounding; turning them about would go on for ever.
    const NOISE: i64 = 16;
    let n = a.len();
    let mut v: Vec<Vec<i64>> =
        (0..n).map(|row| (0..n).map(|column| if row == column { ONE } else { 0 }).collect()).collect();
    for _ in 0..SWEEPS {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() > NOISE {
                    let (c, s) = rotation(a[p][p], a[q][q], a[p][q]);
                    rotate(&mut a, &mut v, (p, q), (c, s));
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|index| (std::cmp::Reverse(a[*index][*index]), *index));
    let values = order.iter().map(|index| a[*index][*index]).collect();
    let vectors = v.iter().map(|row| order.iter().map(|index| row[*index]).collect()).collect();
    (values, vectors)
}

/// Cosine and sine of the angle that makes the element at (p, q) zero.
fn rotation(app: i64, aqq: i64, apq: i64) -> (i64, i64) {
    // tan of the angle is 2 apq / (d + sign(d) sqrt(d^2 + 4 apq^2)), the smaller root.
    let d = i128::from(aqq) - i128::from(app);
    let twice = 2 * i128::from(apq);
    let root = isqrt((d * d + twice * twice).unsigned_abs());
    let root = i128::try_from(root).unwrap_or(i128::MAX);
    let below = if d < 0 { d - root } else { d + root };
    let t = if below == 0 { ONE } else { narrow((twice << BITS) / below) };
    let c = div(ONE, sqrt(narrow(i128::from(ONE) + i128::from(mul(t, t)))));
    (c, mul(t, c))
}

fn rotate(a: &mut [Vec<i64>], v: &mut [Vec<i64>], (p, q): (usize, usize), (c, s): (i64, i64)) {
    let turn = |x: i64, y: i64| (mul(c, x) - mul(s, y), mul(s, x) + mul(c, y));
    for row in a.iter_mut() {
        (row[p], row[q]) = turn(row[p], row[q]);
    }
    let (upper, lower) = a.split_at_mut(q);
    for (x, y) in upper[p].iter_mut().zip(&mut lower[0]) {
        (*x, *y) = turn(*x, *y);
    }
    for row in v.iter_mut() {
        (row[p], row[q]) = turn(row[p], row[q]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_and_roots() {
        assert_eq!(log2(1), 0);
        assert_eq!(log2(8), 3 * ONE);
        // 1.584962500721156 * 2^30, cut.
        assert_eq!(log2(3), 1_701_840_526);
        assert_eq!(sqrt(2 * ONE), 1_518_500_249);
        assert_eq!(div(ONE, 3 * ONE), 357_913_941);
        assert_eq!((mul(-1, 1), div(ONE, 0)), (-1, 0));
    }

    #[test]
    fn eigenvalues_of_a_known_matrix() {
        // [[2, 1], [1, 2]] has 3 and 1.
        let (values, vectors) = eigen(vec![vec![2 * ONE, ONE], vec![ONE, 2 * ONE]]);
        assert!((values[0] - 3 * ONE).abs() < 64 && (values[1] - ONE).abs() < 64, "{values:?}");
        assert!((vectors[0][0].abs() - 759_250_125).abs() < 64, "{vectors:?}");
        assert_eq!(vectors[0][0].signum(), vectors[1][0].signum());
    }

    #[test]
    fn the_matrix_comes_back() {
        let n = 12;
        let element = |row: usize, column: usize| {
            let (low, high) = (row.min(column) as i64, row.max(column) as i64);
            (low * 7919 + high * 104_729) % 1000 * (ONE / 1000)
        };
        let matrix: Vec<Vec<i64>> =
            (0..n).map(|row| (0..n).map(|column| element(row, column)).collect()).collect();
        let (values, vectors) = eigen(matrix.clone());
        for row in 0..n {
            for column in 0..n {
                let back: i64 =
                    (0..n).map(|k| mul(mul(vectors[row][k], values[k]), vectors[column][k])).sum();
                assert!((back - matrix[row][column]).abs() < 4096, "{row} {column}");
            }
        }
    }
}

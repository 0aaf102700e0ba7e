//! Statistics on exact decimals: every sum is exact, one rounding (half to even) at the end.

use super::Declared;
use super::numbers::{Numbers, correlated, digits, paired, root};
use crate::skill::decimal::{overflow, quotient, spelled, ten};
use crate::skill::payload::{count_or, unfit};
use crate::skill::{Failed, Fault};
use canon::{Object, Value};
use num_bigint::BigInt;

const NUMBERS: (&str, &str) = (
    "numbers",
    "a list of at most 100 000 integers, decimal strings or JSON numbers with at most 30 fractional digits",
);
const DIGITS: (&str, &str) = ("digits", "fractional digits of the result, 0 to 12; 6 when absent");

/// The skills of this family.
pub(super) const SKILLS: &[Declared] = &[
    Declared {
        name: "stats.mean",
        version: 1,
        description: "The arithmetic mean (average) and the exact total of a list of numbers.",
        triggers: &["arithmetic mean", "average of", "mean of"],
        needs: &[NUMBERS],
        takes: &[DIGITS],
        examples: &[
            (r#"{"numbers":[0.1,"0.2",1]}"#, r#"{"mean":"0.433333","sum":"1.3","count":3}"#),
            (r#"{"numbers":[1,2],"digits":0}"#, r#"{"mean":"2","sum":"3","count":2}"#),
        ],
        run: mean,
    },
    Declared {
        name: "stats.median",
        version: 1,
        description: "The median of a list of numbers: the middle value, which a few extreme outliers do not move.",
        triggers: &["median of", "the median", "middle value"],
        needs: &[NUMBERS],
        takes: &[DIGITS],
        examples: &[
            (r#"{"numbers":[9,1,1000000]}"#, r#""9.000000""#),
            (r#"{"numbers":["1.5",2],"digits":2}"#, r#""1.75""#),
        ],
        run: median,
    },
    Declared {
        name: "stats.quantile",
        version: 1,
        description: "Percentiles and quartiles: the value below which a given share of the numbers lies, with linear \
                      interpolation, such as the 95th percentile of latencies.",
        triggers: &["percentile", "quantile", "quartile"],
        needs: &[NUMBERS, ("share", "the share from 0 to 1, such as \"0.95\"")],
        takes: &[DIGITS],
        examples: &[
            (r#"{"numbers":[4,1,3,2],"share":"0.25"}"#, r#""1.750000""#),
            (r#"{"numbers":[10,20],"share":1}"#, r#""20.000000""#),
        ],
        run: quantile,
    },
    Declared {
        name: "stats.spread",
        version: 1,
        description: "How widely numbers scatter: variance and standard deviation of a sample or a whole population, \
                      minimum, maximum.",
        triggers: &["standard deviation", "variance", "how widely numbers scatter"],
        needs: &[NUMBERS],
        takes: &[DIGITS, ("of", "sample (when absent; divides by n - 1) or population")],
        examples: &[
            (
                r#"{"numbers":[2,4,4,4,5,5,7,9],"of":"population"}"#,
                r#"{"variance":"4.000000","deviation":"2.000000","least":"2","greatest":"9"}"#,
            ),
            (
                r#"{"numbers":["0.1","0.2"],"digits":4}"#,
                r#"{"variance":"0.0050","deviation":"0.0707","least":"0.1","greatest":"0.2"}"#,
            ),
        ],
        run: spread,
    },
    Declared {
        name: "stats.histogram",
        version: 1,
        description: "Distribution of numbers as a histogram: count how many fall into each of several bins of equal \
                      width.",
        triggers: &["histogram", "bin the numbers", "frequency distribution"],
        needs: &[NUMBERS],
        takes: &[("bins", "1 to 1000; 10 when absent"), DIGITS],
        examples: &[
            (
                r#"{"numbers":[0,1,2,3,10],"bins":2,"digits":1}"#,
                r#"[{"from":"0.0","to":"5.0","count":4},{"from":"5.0","to":"10.0","count":1}]"#,
            ),
            (r#"{"numbers":[3,3],"bins":2,"digits":0}"#, r#"[{"from":"3","to":"3","count":2}]"#),
        ],
        run: histogram,
    },
    Declared {
        name: "stats.line",
        version: 1,
        description: "Linear regression: fit a straight trend line to points by least squares, with slope, intercept \
                      and coefficient of determination.",
        triggers: &["linear regression", "trend line", "least squares", "fit a line"],
        needs: &[("x", NUMBERS.1), ("y", "as many numbers as x")],
        takes: &[DIGITS],
        examples: &[
            (
                r#"{"x":[0,1,2],"y":[1,3,5]}"#,
                r#"{"slope":"2.000000","intercept":"1.000000","r_squared":"1.000000"}"#,
            ),
            (
                r#"{"x":["0.5",1,2,4],"y":[1,"-2.25",0,3],"digits":3}"#,
                r#"{"slope":"0.970","intercept":"-1.380","r_squared":"0.473"}"#,
            ),
        ],
        run: line,
    },
    Declared {
        name: "stats.correlation",
        version: 1,
        description: "Pearson's correlation coefficient of two series of numbers: how closely one follows the other, \
                      from -1 to 1.",
        triggers: &["correlation", "pearson", "correlate"],
        needs: &[("x", NUMBERS.1), ("y", "as many numbers as x")],
        takes: &[DIGITS],
        examples: &[
            (r#"{"x":[1,2,3],"y":["0.3","0.2","0.1"]}"#, r#""-1.000000""#),
            (r#"{"x":[1,2,3,4],"y":[1,3,2,5]}"#, r#""0.831522""#),
        ],
        run: correlation,
    },
];

fn mean(payload: &Object) -> Result<Value, Failed> {
    let (numbers, digits) = (Numbers::of(payload, "numbers", 1)?, digits(payload)?);
    let sum = numbers.sum()?;
    let mean = quotient(sum, numbers.units.len() as i128, numbers.shift(), digits)?;
    let object = Object::new().with("mean", spelled(mean, digits)).with("sum", numbers.shown(sum)?);
    Ok(object.with("count", numbers.units.len() as u64).into())
}

fn median(payload: &Object) -> Result<Value, Failed> {
    at_share(&mut Numbers::of(payload, "numbers", 1)?, 1, 2, digits(payload)?)
}

fn quantile(payload: &Object) -> Result<Value, Failed> {
    let share = Numbers::one(payload, "share")?;
    let whole = ten(share.scale).ok_or_else(overflow)?;
    if !(0..=whole).contains(&share.units[0]) {
        return Err(unfit("share", "is not between 0 and 1"));
    }
    at_share(&mut Numbers::of(payload, "numbers", 1)?, share.units[0], whole, digits(payload)?)
}

/// The number at `share / whole` of the sorted list, linear between two neighbours (type 7 of Hyndman and Fan).
fn at_share(numbers: &mut Numbers, share: i128, whole: i128, digits: u32) -> Result<Value, Failed> {
    numbers.units.sort_unstable();
    let place = share.checked_mul(numbers.units.len() as i128 - 1).ok_or_else(overflow)?;
    let (index, rest) = ((place / whole) as usize, place % whole);
    let low = BigInt::from(numbers.units[index]);
    let high = numbers.units.get(index + 1).map_or(low.clone(), |high| BigInt::from(*high));
    let above = (high - &low) * rest + low * whole;
    Ok(Value::Str(spelled(quotient(above, whole, numbers.shift(), digits)?, digits)))
}

fn spread(payload: &Object) -> Result<Value, Failed> {
    let sample = crate::skill::payload::choice(payload, "of", &["sample", "population"])? == "sample";
    let (numbers, digits) = (Numbers::of(payload, "numbers", if sample { 2 } else { 1 })?, digits(payload)?);
    let n = BigInt::from(numbers.units.len());
    // n * sum(x^2) - sum(x)^2, which is n^2 times the variance of the population.
    let squares = paired(&numbers, &numbers)?;
    let divisor = &n * (&n - u32::from(sample));
    let deviation = root(&squares, &divisor, 2 * numbers.shift(), digits)?;
    let variance = quotient(squares, divisor, 2 * numbers.shift(), digits)?;
    let ends = numbers.units.iter().min().zip(numbers.units.iter().max());
    let (least, greatest) = ends.ok_or_else(overflow)?;
    let object = Object::new().with("variance", spelled(variance, digits));
    let object = object.with("deviation", spelled(deviation, digits)).with("least", numbers.shown(*least)?);
    Ok(object.with("greatest", numbers.shown(*greatest)?).into())
}

fn histogram(payload: &Object) -> Result<Value, Failed> {
    let (numbers, digits) = (Numbers::of(payload, "numbers", 1)?, digits(payload)?);
    let bins = count_or(payload, "bins", 1..=1000, 10)?;
    let ends = numbers.units.iter().min().zip(numbers.units.iter().max());
    let (least, greatest) = ends.ok_or_else(overflow)?;
    let width = greatest.checked_sub(*least).ok_or_else(overflow)?;
    // Equal numbers have no width to divide.
    let bins = if width == 0 { 1 } else { bins };
    let mut counts = vec![0_u64; bins];
    for number in &numbers.units {
        let place = (number - least).checked_mul(bins as i128).ok_or_else(overflow)?;
        let bin = if width == 0 { 0 } else { (place / width) as usize };
        // The last bin holds its upper end too.
        counts[bin.min(bins - 1)] += 1;
    }
    let edge = |bin: usize| {
        let above = width.checked_mul(bin as i128).zip(least.checked_mul(bins as i128));
        let above = above.and_then(|(step, low)| step.checked_add(low)).ok_or_else(overflow)?;
        Ok::<String, Failed>(spelled(quotient(above, bins as i128, numbers.shift(), digits)?, digits))
    };
    let mut rows = Vec::with_capacity(bins);
    for (bin, count) in counts.into_iter().enumerate() {
        rows.push(Object::new().with("from", edge(bin)?).with("to", edge(bin + 1)?).with("count", count));
    }
    Ok(rows.into())
}

fn line(payload: &Object) -> Result<Value, Failed> {
    let (x, y, digits) = (Numbers::of(payload, "x", 2)?, Numbers::of(payload, "y", 2)?, digits(payload)?);
    let (xx, xy, yy) = (paired(&x, &x)?, paired(&x, &y)?, paired(&y, &y)?);
    if xx == BigInt::ZERO {
        return Err(Failed::new(Fault::Undefined, "all numbers of x are equal"));
    }
    let slope = quotient(xy.clone(), xx.clone(), y.shift() - x.shift(), digits)?;
    let above = &xx * y.sum()? - &xy * x.sum()?;
    let intercept = quotient(above, &xx * x.units.len(), y.shift(), digits)?;
    let object =
        Object::new().with("slope", spelled(slope, digits)).with("intercept", spelled(intercept, digits));
    // A flat row of points has no variance that could be explained.
    let explained = if yy == BigInt::ZERO { None } else { Some(quotient(&xy * &xy, xx * yy, 0, digits)?) };
    Ok(object.with("r_squared", explained.map(|explained| spelled(explained, digits))).into())
}

fn correlation(payload: &Object) -> Result<Value, Failed> {
    let (x, y) = (Numbers::of(payload, "x", 2)?, Numbers::of(payload, "y", 2)?);
    let digits = digits(payload)?;
    let (xx, xy, yy) = (paired(&x, &x)?, paired(&x, &y)?, paired(&y, &y)?);
    if xx == BigInt::ZERO || yy == BigInt::ZERO {
        return Err(Failed::new(Fault::Undefined, "all numbers of a series are equal"));
    }
    Ok(Value::Str(spelled(correlated(&xx, &xy, &yy, digits)?, digits)))
}

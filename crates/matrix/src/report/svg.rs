//! Drawings: every seed is a dot, an interval is a bar. Widths are of the drawing; the page scales them.

use super::html::escape;
use super::{Group, Measured, Series, signed};
use crate::gate::Measure;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const WIDTH: f64 = 560.0;
/// Left and right of the first and last value.
const PAD: f64 = 24.0;
/// Height of the dots of a group.
const ROW: f64 = 52.0;
/// Height of the line of words above them.
const WORDS: f64 = 26.0;
/// Height of the axis.
const AXIS: f64 = 26.0;
/// More values than this in a group are drawn as bars.
const DOTS_MAX: usize = 400;
/// Sizes of dots that are tried.
const SIZES: [f64; 5] = [6.0, 5.0, 4.0, 3.0, 2.5];

/// Writing to a string does not fail.
macro_rules! put {
    ($out:expr, $($part:tt)*) => {{
        let _ = write!($out, $($part)*);
    }};
}

/// Where a value stands.
struct Scale {
    low: f64,
    span: f64,
}

impl Scale {
    fn of(low: f64, high: f64) -> Scale {
        Scale { low, span: if high > low { high - low } else { 1.0 } }
    }

    fn x(&self, value: f64) -> f64 {
        PAD + (value - self.low) / self.span * (WIDTH - 2.0 * PAD)
    }
}

/// A series over all seeds: a row of dots for each group, over one axis.
pub(super) fn strip(series: &Series) -> String {
    let (low, high) = series.range();
    let scale = Scale::of(low as f64, high as f64);
    let rows = series.groups.len() as f64;
    let height = rows * (ROW + WORDS) + AXIS;
    let mut out = String::new();
    let label = escape(&format!(
        "{} {}: {} values from {} to {}",
        series.scenario,
        series.name,
        series.len(),
        low,
        high
    ));
    put!(out, "<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{label}\">");
    axis(&mut out, &scale, (low, high), height);
    let size = size_of_dots(&scale, series);
    for (index, group) in series.groups.iter().enumerate() {
        row(&mut out, &scale, group, index as f64 * (ROW + WORDS), size);
    }
    out.push_str("</svg>");
    out
}

/// Lines at round numbers.
fn axis(out: &mut String, scale: &Scale, (low, high): (i64, i64), height: f64) {
    let base = height - AXIS;
    for tick in ticks(low, high) {
        let x = scale.x(tick as f64);
        put!(out, "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{WORDS:.0}\" y2=\"{base:.0}\"/>");
        let text = signed(tick);
        // A word at the edge stays inside.
        let anchor = match x {
            x if x < 2.0 * PAD => "start",
            x if x > WIDTH - 2.0 * PAD => "end",
            _ => "middle",
        };
        put!(
            out,
            "<text class=\"tick\" x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"{anchor}\">{text}</text>",
            base + 18.0
        );
    }
}

/// At most seven round numbers within a range, and its ends when there are none.
fn ticks(low: i64, high: i64) -> Vec<i64> {
    let span = i128::from(high) - i128::from(low);
    if span == 0 {
        return vec![low];
    }
    let mut step = 1_i128;
    'found: loop {
        for factor in [1, 2, 5] {
            if span / (step * factor) <= 5 {
                step *= factor;
                break 'found;
            }
        }
        step *= 10;
    }
    let first = i128::from(low).div_euclid(step) * step;
    let ticks =
        (0..=7).map(|n| first + n * step).filter(|tick| (i128::from(low)..=i128::from(high)).contains(tick));
    let ticks: Vec<i64> = ticks.filter_map(|tick| i64::try_from(tick).ok()).collect();
    if ticks.len() > 1 { ticks } else { vec![low, high] }
}

fn row(out: &mut String, scale: &Scale, group: &Group, top: f64, size: Option<f64>) {
    let [min, lower, median, upper, max] = group.distribution.five();
    let base = top + WORDS + ROW - 2.0;
    let x = |value: i64| scale.x(value as f64);
    let words = format!("median {}, {} to {}", signed(median), signed(min), signed(max));
    put!(out, "<text class=\"who\" x=\"{PAD}\" y=\"{:.0}\">{}</text>", top + 19.0, escape(&group.label));
    let right = WIDTH - PAD;
    put!(
        out,
        "<text class=\"five\" x=\"{right}\" y=\"{:.0}\" text-anchor=\"end\">{words}</text>",
        top + 19.0
    );
    let (left, width) = (x(lower) - 4.0, x(upper) - x(lower) + 8.0);
    let (y, height) = (top + WORDS, ROW);
    put!(
        out,
        "<rect class=\"box\" x=\"{left:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"3\"/>"
    );
    put!(
        out,
        "<line class=\"base\" x1=\"{PAD}\" x2=\"{right}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
        base + 2.0,
        base + 2.0
    );
    match size.and_then(|size| Some((size, places(scale, group, size)?))) {
        Some((size, places)) => dots(out, group, &places, size, base),
        None => bars(out, scale, group, base),
    }
    let x = x(median);
    put!(out, "<line class=\"median\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{y:.1}\" y2=\"{:.1}\"/>", base + 2.0);
}

/// The size of dots at which no column of any group is higher than its row or runs into the next. Nothing when there are too
/// many.
fn size_of_dots(scale: &Scale, series: &Series) -> Option<f64> {
    let fits = |group: &Group, size| group.values.len() <= DOTS_MAX && places(scale, group, size).is_some();
    SIZES.into_iter().find(|size| series.groups.iter().all(|group| fits(group, *size)))
}

/// Where each dot stands: its middle, and its height over the base.
fn places(scale: &Scale, group: &Group, size: f64) -> Option<Vec<(f64, f64)>> {
    let mut columns: BTreeMap<i64, usize> = BTreeMap::new();
    let column = |value: i64| (scale.x(value as f64) / size).round() as i64;
    group.values.iter().for_each(|(value, _)| *columns.entry(column(*value)).or_default() += 1);
    let rows = ((ROW - 4.0) / size).floor() as usize;
    let wide = |n: usize| n.div_ceil(rows);
    let all: Vec<(i64, usize)> = columns.iter().map(|(at, n)| (*at, wide(*n))).collect();
    let apart =
        |pair: &[(i64, usize)]| (pair[1].0 - pair[0].0) as f64 >= (pair[0].1 + pair[1].1) as f64 / 2.0;
    let inside = all.iter().all(|(_, wide)| *wide as f64 * size <= WIDTH / 2.0);
    if !inside || !all.windows(2).all(apart) {
        return None;
    }
    let mut taken: BTreeMap<i64, usize> = BTreeMap::new();
    let place = |(value, _): &(i64, String)| {
        let at = column(*value);
        let nth = taken.entry(at).or_default();
        let wide = wide(columns[&at]);
        let (row, side) = (*nth / wide, *nth % wide);
        *nth += 1;
        let middle = at as f64 * size + (side as f64 - (wide - 1) as f64 / 2.0) * size;
        (middle.clamp(size / 2.0, WIDTH - size / 2.0), row as f64 * size + size / 2.0)
    };
    Some(group.values.iter().map(place).collect())
}

fn dots(out: &mut String, group: &Group, places: &[(f64, f64)], size: f64, base: f64) {
    let radius = size / 2.0 - 0.4;
    for ((value, unit), (x, up)) in group.values.iter().zip(places) {
        let y = base - up;
        let title = escape(&format!("{unit}: {value}"));
        put!(
            out,
            "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"><title>{title}</title></circle>"
        );
    }
}

/// Too many to tell apart: how many in each column.
fn bars(out: &mut String, scale: &Scale, group: &Group, base: f64) {
    const COLUMN: f64 = 6.0;
    let mut columns: BTreeMap<i64, (usize, i64, i64)> = BTreeMap::new();
    for (value, _) in &group.values {
        let at = (scale.x(*value as f64) / COLUMN).round() as i64;
        let column = columns.entry(at).or_insert((0, *value, *value));
        *column = (column.0 + 1, column.1.min(*value), column.2.max(*value));
    }
    let most = columns.values().map(|column| column.0).max().unwrap_or(1) as f64;
    for (at, (n, low, high)) in columns {
        let height = ((ROW - 4.0) * n as f64 / most).max(1.0);
        let (x, y) = (at as f64 * COLUMN - COLUMN / 2.0, base - height);
        let values = if low == high { low.to_string() } else { format!("{low} to {high}") };
        put!(out, "<rect class=\"dot\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"5\" height=\"{height:.1}\">");
        put!(out, "<title>{n} runs: {values}</title></rect>");
    }
}

/// The interval of a measure; a difference has a line at 0.
pub(super) fn bar(measured: &Measured<'_>) -> String {
    let Some(interval) = measured.interval else { return String::new() };
    let (low, high) = match measured.measure {
        Measure::Share { .. } => (0.0, 1.0),
        Measure::Difference { .. } => (interval.lower.min(0.0) - 0.02, interval.upper.max(0.0) + 0.02),
    };
    let scale = Scale::of(low, high);
    let mut out =
        format!("<svg class=\"bar\" viewBox=\"0 0 {WIDTH} 40\" role=\"img\" aria-label=\"interval\">");
    let right = WIDTH - PAD;
    put!(out, "<line class=\"base\" x1=\"{PAD}\" x2=\"{right}\" y1=\"20\" y2=\"20\"/>");
    let marks: &[f64] = if low < 0.0 { &[0.0] } else { &[0.0, 0.5, 1.0] };
    for mark in marks {
        let x = scale.x(*mark);
        put!(out, "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"8\" y2=\"32\"/>");
        put!(out, "<text class=\"tick\" x=\"{:.1}\" y=\"37\">{mark}</text>", x + 3.0);
    }
    let (lower, upper, value) = (scale.x(interval.lower), scale.x(interval.upper), scale.x(interval.value));
    let width = (upper - lower).max(1.0);
    put!(
        out,
        "<rect class=\"interval\" x=\"{lower:.1}\" y=\"14\" width=\"{width:.1}\" height=\"12\" rx=\"3\"/>"
    );
    put!(out, "<circle class=\"point\" cx=\"{value:.1}\" cy=\"20\" r=\"5\"/></svg>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(ticks(0, 10), [0, 2, 4, 6, 8, 10]);
        assert_eq!(ticks(5, 7), [5, 6, 7]);
        assert_eq!(ticks(3, 3), [3]);
        assert_eq!(ticks(-7, 12), [-5, 0, 5, 10]);
        assert_eq!(ticks(45_853, 46_100), [45_900, 45_950, 46_000, 46_050, 46_100]);
        assert!(ticks(i64::MIN, i64::MAX).len() > 1);
        for span in 1..2_000 {
            let ticks = ticks(-37, -37 + span);
            assert!((2..=7).contains(&ticks.len()), "{span}: {ticks:?}");
        }
    }
}

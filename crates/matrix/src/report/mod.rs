//! Reports: the same facts as Markdown, as JSON Lines and as one page that needs nothing else.
//!
//! Nothing here decides: the colour and the verdict hash are those of [`Conclusion`]. Intervals are computed here, of counts.

mod html;
mod lines;
mod markdown;
mod svg;

pub use html::html;
pub use lines::json_lines;
pub use markdown::markdown;

use crate::gate::{Judgement, Measure};
use crate::mutation::Mutation;
use crate::outcome::Outcome;
use crate::records::Record;
use crate::stats::{Distribution, Interval, difference};
use crate::unit::Unit;
use crate::verdict::Conclusion;
use ::verdict::report::{Colour, Outcome as Came};
use std::collections::BTreeMap;

/// Everything that a report is made of.
pub struct Facts<'a> {
    /// What was concluded.
    pub conclusion: &'a Conclusion,
    /// Every outcome.
    pub outcomes: &'a BTreeMap<Unit, Outcome>,
    /// Every signed record, all freezes among them.
    pub records: &'a [Record],
    /// Planted faults and what caught them; none when they were not run.
    pub mutations: &'a [Mutation],
    /// The command, one line, that makes a unit again.
    pub command: &'a dyn Fn(&Unit) -> String,
    /// Words about the run: machines, engine, limits.
    pub notes: &'a [String],
    /// When the report was made: no part of the verdict.
    pub ts_build: &'a str,
}

/// The table of planted faults.
const MUTATION_COLUMNS: [&str; 6] =
    ["fault", "planted in", "scenario that turned red", "first red", "and beside the scenarios", "blamed on"];
/// Where the table comes from: it is no part of the run that is reported.
const MUTATIONS_FROM: &str = "The table comes with this build, made by its test `mutations` with a few units for each fault; it \
                              was not made by the run reported here.";

/// Failing units that a report lists; the rest is counted.
const FAILING_MAX: usize = 100;

/// The values of one count in one group of runs.
pub(crate) struct Group {
    /// `main mira`.
    pub(crate) label: String,
    /// Value and unit, sorted by value.
    pub(crate) values: Vec<(i64, String)>,
    /// The distribution.
    pub(crate) distribution: Distribution,
}

/// One count of a scenario over all its runs.
pub(crate) struct Series {
    pub(crate) scenario: String,
    pub(crate) name: String,
    pub(crate) groups: Vec<Group>,
}

impl Series {
    /// The one value that every run of every group has.
    pub(crate) fn constant(&self) -> Option<i64> {
        let first = self.groups.first()?.distribution.sorted[0];
        let same = |group: &Group| group.distribution.sorted.iter().all(|value| *value == first);
        self.groups.iter().all(same).then_some(first)
    }

    /// The smallest and the largest value.
    pub(crate) fn range(&self) -> (i64, i64) {
        let five = self.groups.iter().map(|group| group.distribution.five());
        five.fold((i64::MAX, i64::MIN), |(low, high), five| (low.min(five[0]), high.max(five[4])))
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.groups.iter().map(|group| group.values.len()).sum()
    }
}

/// A unit that fails, and what to say of it.
pub(crate) struct Failing {
    pub(crate) unit: String,
    pub(crate) what: String,
    pub(crate) command: String,
}

/// A measure with its interval; nothing where it is of nothing.
pub(crate) struct Measured<'a> {
    pub(crate) scenario: &'static str,
    pub(crate) measure: &'a Measure,
    pub(crate) interval: Option<Interval>,
}

impl<'a> Measured<'a> {
    fn of(scenario: &'static str, measure: &'a Measure) -> Measured<'a> {
        let interval = match measure {
            Measure::Share { share, .. } => share.wilson(),
            Measure::Difference { one, other, .. } => difference(one.1, other.1),
        };
        Measured { scenario, measure, interval }
    }

    pub(crate) fn name(&self) -> &str {
        match self.measure {
            Measure::Share { name, .. } | Measure::Difference { name, .. } => name,
        }
    }

    /// The counts in words.
    pub(crate) fn counts(&self) -> String {
        match self.measure {
            Measure::Share { share, .. } => format!("{} of {}", grouped(share.k), grouped(share.n)),
            Measure::Difference { one, other, .. } => format!(
                "{} {} of {}, {} {} of {}",
                one.0,
                grouped(one.1.k),
                grouped(one.1.n),
                other.0,
                grouped(other.1.k),
                grouped(other.1.n)
            ),
        }
    }
}

impl Facts<'_> {
    /// Every count of every scenario, in order.
    pub(crate) fn series(&self) -> Vec<Series> {
        type Values = Vec<(i64, String)>;
        let mut found: BTreeMap<(&str, &str), BTreeMap<String, Values>> = BTreeMap::new();
        for outcome in self.outcomes.values() {
            let label = match outcome.unit.identity.as_str() {
                "-" => outcome.unit.arm.clone(),
                identity => format!("{} {identity}", outcome.unit.arm),
            };
            for (name, value) in &outcome.counts {
                let groups = found.entry((&outcome.unit.scenario, name)).or_default();
                groups.entry(label.clone()).or_default().push((*value, outcome.unit.to_string()));
            }
        }
        let group = |(label, mut values): (String, Values)| {
            values.sort_by_key(|(value, _)| *value);
            let distribution = Distribution::of(values.iter().map(|(value, _)| *value))?;
            Some(Group { label, values, distribution })
        };
        let series = |((scenario, name), groups): ((&str, &str), BTreeMap<String, Values>)| Series {
            scenario: scenario.to_owned(),
            name: name.to_owned(),
            groups: groups.into_iter().filter_map(group).collect(),
        };
        found.into_iter().map(series).collect()
    }

    /// Failing units, the first of them, and how many there are.
    pub(crate) fn failing(&self) -> (Vec<Failing>, usize) {
        let all: Vec<&Outcome> = self.outcomes.values().filter(|outcome| outcome.is_failing()).collect();
        let listed = all.iter().take(FAILING_MAX).map(|outcome| Failing {
            unit: outcome.unit.to_string(),
            what: what_failed(outcome),
            command: (self.command)(&outcome.unit),
        });
        (listed.collect(), all.len())
    }

    /// Every measure of every gate.
    pub(crate) fn measured(&self) -> Vec<Measured<'_>> {
        let all = self.conclusion.judgements.iter();
        all.flat_map(|judgement| judgement.measures.iter().map(|measure| Measured::of(judgement.id, measure)))
            .collect()
    }

    /// How a scenario came out.
    pub(crate) fn came(&self, judgement: &Judgement) -> Came {
        let check = self.conclusion.report.checks.iter().find(|check| check.id == judgement.id);
        check.map_or(Came::Unchecked, ::verdict::report::Check::outcome)
    }

    /// Ticks of all runs, each counted once.
    pub(crate) fn ticks(&self) -> u64 {
        self.conclusion.judgements.iter().fold(0, |ticks, judgement| ticks.saturating_add(judgement.ticks))
    }
}

fn what_failed(outcome: &Outcome) -> String {
    let differs = outcome.twice.as_ref().and_then(|twice| twice.differs.as_ref());
    let differs = differs.map(|field| format!("the second run differs in {field}"));
    let first = outcome.failures.first().map(|failure| match failure.tick {
        Some(tick) => format!("{} {} at tick {}", failure.check, failure.code, grouped(tick)),
        None => format!("{} {}", failure.check, failure.code),
    });
    let more = (outcome.failures_n > 1).then(|| format!("{} failures in all", grouped(outcome.failures_n)));
    [first, more, differs].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The word that people read.
pub(crate) fn word(colour: Colour) -> &'static str {
    match colour {
        Colour::Green => "pass",
        Colour::Yellow => "yellow",
        Colour::Red => "fail",
    }
}

/// A number with a blank between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// The same with a sign.
pub(crate) fn signed(number: i64) -> String {
    let sign = if number < 0 { "\u{2212}" } else { "" };
    format!("{sign}{}", grouped(number.unsigned_abs()))
}

/// Five digits behind the point, as GD-46 writes them.
pub(crate) fn decimal(number: f64) -> String {
    format!("{number:.5}")
}

/// An interval in words.
pub(crate) fn interval(interval: Interval) -> String {
    format!("{} [{}, {}]", decimal(interval.value), decimal(interval.lower), decimal(interval.upper))
}

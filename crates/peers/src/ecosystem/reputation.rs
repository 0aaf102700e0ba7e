//! Five Beta counts per stream and substrate, with a half-life of 200 events of the stream itself.

use crate::delegation::{Dimension, Scores};
use crate::fixed::Fixed;
use std::collections::BTreeMap;

/// Most that a review counts for that comes from the same origin as what it reviews.
pub const WEIGHT_SAME_ORIGIN: Fixed = Fixed::thousandths(100);
/// How much room the upper bound gives to what is little known.
const EXPLORATION: Fixed = Fixed::thousandths(300);

/// Whose reputation, at what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Stream of the deliverer or reviewer.
    pub stream: String,
    /// Its branch.
    pub branch: String,
    /// What it runs on.
    pub substrate: String,
    /// Family of tasks, empty for all.
    pub family: String,
}

/// Counts for and against; 1 and 1 when nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Beta {
    alpha: Fixed,
    beta: Fixed,
}

impl Beta {
    const PRIOR: Beta = Beta { alpha: Fixed::ONE, beta: Fixed::ONE };

    /// Towards the prior: x becomes 1 + (x - 1) * decay.
    fn aged(self, events: u64) -> Beta {
        let decay = Fixed::decay(events);
        let one = |x: Fixed| Fixed::ONE.plus(x.minus(Fixed::ONE).times(decay));
        Beta { alpha: one(self.alpha), beta: one(self.beta) }
    }

    fn mean(self) -> Fixed {
        self.alpha.over(self.alpha.plus(self.beta)).unwrap_or(Fixed::HALF)
    }
}

/// Counts after a slash: the mean becomes `factor` of itself, the sum grows to S + lambda * S * (1 / factor - 1). With
/// lambda 1 the counts for stay as they are. A factor that is not between 0 (excluded) and 1 changes nothing.
pub fn slashed(alpha: Fixed, beta: Fixed, factor: Fixed, lambda: Fixed) -> (Fixed, Fixed) {
    let sum = alpha.plus(beta);
    let (Some(mean), Some(inverse)) = (alpha.over(sum), Fixed::ONE.over(factor)) else {
        return (alpha, beta);
    };
    if factor > Fixed::ONE {
        return (alpha, beta);
    }
    let sum = sum.plus(lambda.times(sum).times(inverse.minus(Fixed::ONE)));
    let alpha = mean.times(factor).times(sum);
    (alpha, sum.minus(alpha))
}

/// What is taken away, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Penalty {
    /// Delivered what does not hold: half is left.
    FalseDelivery,
    /// Passed what does not hold: half is left.
    FalsePass,
    /// Blocked what holds: four fifths are left.
    FalseBlock,
}

impl Penalty {
    /// What is left of the mean.
    pub const fn factor(self) -> Fixed {
        match self {
            Penalty::FalseDelivery | Penalty::FalsePass => Fixed::HALF,
            Penalty::FalseBlock => Fixed::thousandths(800),
        }
    }
}

struct Cell {
    dimensions: [Beta; 5],
    /// Number of the stream's event at which the counts were last brought up to date.
    seq: u64,
}

/// Every reputation, with the event counter of every stream.
#[derive(Default)]
pub struct Reputation {
    events: BTreeMap<String, u64>,
    cells: BTreeMap<Key, Cell>,
}

impl Reputation {
    /// Nothing known.
    pub fn new() -> Reputation {
        Reputation::default()
    }

    /// One review: an event of the stream. Every dimension ages, those with a score are updated by `weight`.
    /// A negative weight counts as 0.
    pub fn review(&mut self, key: &Key, scores: &Scores, weight: Fixed) {
        let now = self.events.entry(key.stream.clone()).or_default();
        *now += 1;
        let now = *now;
        let cell = self.cells.entry(key.clone()).or_insert(Cell { dimensions: [Beta::PRIOR; 5], seq: now });
        cell.age(now);
        let weight = weight.max(Fixed::ZERO);
        for (dimension, beta) in Dimension::ALL.iter().zip(&mut cell.dimensions) {
            if let Some(score) = scores.get(*dimension) {
                beta.alpha = beta.alpha.plus(weight.times(score));
                beta.beta = beta.beta.plus(weight.times(Fixed::ONE.minus(score)));
            }
        }
    }

    /// Takes from every reputation of the stream, so that a penalty is not shed by another branch, substrate or family.
    pub fn slash(&mut self, stream: &str, factor: Fixed, lambda: Fixed) {
        let now = self.events.get(stream).copied().unwrap_or_default();
        for (_, cell) in self.cells.iter_mut().filter(|(key, _)| key.stream == stream) {
            cell.age(now);
            for beta in &mut cell.dimensions {
                (beta.alpha, beta.beta) = slashed(beta.alpha, beta.beta, factor, lambda);
            }
        }
    }

    /// [`Reputation::slash`] by a penalty of the list, with lambda 1.
    pub fn punish(&mut self, stream: &str, penalty: Penalty) {
        self.slash(stream, penalty.factor(), Fixed::ONE);
    }

    /// Mean of the five means; 0.5 for what is unknown.
    pub fn score(&self, key: &Key) -> Fixed {
        self.mean_of(key, Beta::mean).unwrap_or(Fixed::HALF)
    }

    /// Mean of the five observation counts, not below 0.
    pub fn observations(&self, key: &Key) -> Fixed {
        let seen = |beta: Beta| beta.alpha.plus(beta.beta).minus(Fixed::whole(2));
        self.mean_of(key, seen).unwrap_or_default().max(Fixed::ZERO)
    }

    /// Counts for and against in one dimension as last brought up to date, and the event at which that was.
    pub fn counts(&self, key: &Key, dimension: Dimension) -> Option<(Fixed, Fixed, u64)> {
        let cell = self.cells.get(key)?;
        let beta = cell.dimensions[dimension as usize];
        Some((beta.alpha, beta.beta, cell.seq))
    }

    fn mean_of(&self, key: &Key, of: impl Fn(Beta) -> Fixed) -> Option<Fixed> {
        let cell = self.cells.get(key)?;
        let age = self.events.get(&key.stream).copied().unwrap_or_default() - cell.seq;
        let sum = cell.dimensions.iter().fold(Fixed::ZERO, |sum, beta| sum.plus(of(beta.aged(age))));
        sum.over(Fixed::whole(5))
    }
}

impl Cell {
    fn age(&mut self, now: u64) {
        let events = now - self.seq;
        self.dimensions = self.dimensions.map(|beta| beta.aged(events));
        self.seq = now;
    }
}

/// Upper bound for choosing: score + 0.3 * sqrt(ln(total + 1) / n), where `total` counts at least 1 and `n` at
/// least 10^-9.
pub fn ucb(score: Fixed, observations: Fixed, total: u64) -> Fixed {
    let least = Fixed::thousandths(1).times(Fixed::thousandths(1)).times(Fixed::thousandths(1));
    // Two roots: the quotient of ln and 10^-9 would stop at the border.
    let root = Fixed::ln(total.max(1).saturating_add(1)).sqrt().over(observations.max(least).sqrt());
    score.plus(EXPLORATION.times(root.unwrap_or_default()))
}

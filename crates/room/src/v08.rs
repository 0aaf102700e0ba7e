//! The parameter grid of V08 (RC-FIX-03, GD-46) over the scoring and choice that the room uses: integer counts, one seed at
//! a time, so that a caller can spread seeds over threads.

mod perturb;

pub use perturb::{Perturbed, cells_of, perturbed};

use crate::choose::{highest, pick, window};
use crate::draw::{Draws, Stream, draw, seed, uniform};
use crate::profile::{Profile, Selection};
use crate::score::Contributions;
use crate::traits::{Tag, Vector, correction};

/// Offsets of verify_first.
const OFFSETS: usize = 5;
/// Suite of the seeds.
pub const SUITE: &str = "V08";
/// The two identities: Mira, Niko.
pub const IDENTITIES: usize = 2;

/// Traits of the identities, in that order.
#[must_use]
pub fn identities(selection: &Selection) -> [&Vector; IDENTITIES] {
    [&selection.trait_mira, &selection.trait_niko]
}

/// Cells of the grid: one value of each of the six lists.
#[must_use]
pub fn cells(profile: &Profile) -> usize {
    profile.fixture.v08_lists.iter().map(|list| list.len()).product()
}

/// The contributions of a cell; list 1 is the most significant digit of its number.
#[must_use]
pub fn contributions(profile: &Profile, cell: usize) -> Contributions {
    let mut left = cell;
    let mut parts = profile.fixture.v08_lists.map(|list| list[0]);
    for (part, list) in parts.iter_mut().zip(profile.fixture.v08_lists).rev() {
        *part = list[left % list.len()];
        left /= list.len();
    }
    let [gain, role, information, correction, cost, repetition] = parts;
    Contributions { gain, role, information, correction, cost, repetition }
}

/// Part A for one seed: what was found in each cell for each identity. Everything but `evaluated`, `admitted` and the
/// scores must be 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evaluated {
    /// Vectors that were evaluated.
    pub evaluated: u64,
    /// Vectors whose base is admitted.
    pub admitted: u64,
    /// Smallest score, µ.
    pub lowest: i64,
    /// Largest score, µ.
    pub highest: i64,
    /// Sum of all scores, µ.
    pub sum: i64,
    /// Vectors that clamping changed although they are in range, or did not bring into range although they were not.
    pub unclamped: u64,
    /// Choices in which Tier 3 beat a body deadline.
    pub beat_tier1: u64,
    /// Choices in which Tier 3 beat an action of Safety.
    pub beat_safety: u64,
    /// Traits that counted in danger.
    pub corrected_in_danger: u64,
}

/// Part A (V08.2): the whole grid for one seed and both identities.
#[must_use]
pub fn evaluate(profile: &Profile, index: u64) -> Evaluated {
    let selection = &profile.selection;
    let seed = seed(SUITE, index);
    let mut found = Evaluated { lowest: i64::MAX, highest: i64::MIN, ..Evaluated::default() };
    for traits in identities(selection) {
        for cell in 0..cells(profile) {
            let parts = contributions(profile, cell);
            let draw = draw(seed, Stream::Pool as u64, cell as u64, 0);
            found.evaluated += 1;
            found.admitted += u64::from(parts.admissible(selection));
            found.lowest = found.lowest.min(parts.score());
            found.highest = found.highest.max(parts.score());
            found.sum += parts.score();
            found.unclamped += u64::from(!clamps(profile, parts));
            found.beat_tier1 += u64::from(tier_chosen(selection, parts, Tier::Body, draw) != Tier::Body);
            found.beat_safety += u64::from(tier_chosen(selection, parts, Tier::Safety, draw) != Tier::Safety);
            let danger =
                [Tag::VerifyFirst, Tag::StartNow].map(|tag| correction(selection, traits, tag, false));
            found.corrected_in_danger += u64::from(danger != [0; 2]);
        }
    }
    found
}

/// The layers that compete in part A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Safety,
    Body,
    Ordinary,
}

/// The layer that decides between an ordinary candidate with these parts and one of another layer that has no score.
fn tier_chosen(selection: &Selection, parts: Contributions, other: Tier, draw: u64) -> Tier {
    let contenders = [(Tier::Ordinary, parts.score()), (other, 0)];
    let tier = highest(contenders.iter().map(|(tier, _)| *tier)).unwrap_or(Tier::Ordinary);
    let pool: Vec<(Tier, i64)> = contenders.into_iter().filter(|(own, _)| *own == tier).collect();
    let scores: Vec<i64> = pool.iter().map(|(_, score)| *score).collect();
    pick(&window(selection, &scores), draw).map_or(Tier::Ordinary, |place| pool[place].0)
}

/// Parts in range stay, and parts pushed out of it by ε come back to where they were.
fn clamps(profile: &Profile, parts: Contributions) -> bool {
    let selection = &profile.selection;
    let nudged = |by: i64| {
        let moved = Contributions {
            gain: parts.gain + by,
            role: parts.role + by,
            information: parts.information + by,
            correction: parts.correction + by,
            cost: parts.cost + by,
            repetition: parts.repetition + by,
        };
        let back = moved.clamped(selection);
        back == back.clamped(selection) && (back.score() - parts.score()).signum() != -by.signum()
    };
    let epsilon = profile.fixture.v08_epsilon;
    parts.clamped(selection) == parts && nudged(epsilon) && nudged(-epsilon)
}

/// One declared opportunity: what does not depend on cell or identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opportunity {
    /// Cell of the grid.
    pub cell: usize,
    /// Place of the offset of verify_first in its list.
    pub offset: usize,
    /// The draw of the choice.
    pub draw: u64,
}

/// The set of an index, calibration or holdout, as its first and last (RC-SEE-02).
#[must_use]
pub fn set_of(profile: &Profile, index: u64) -> [u64; 2] {
    let fixture = &profile.fixture;
    let [calibration, holdout] =
        [fixture.seed_calibration, fixture.seed_holdout].map(|set| set.map(i64::unsigned_abs));
    if (calibration[0]..=calibration[1]).contains(&index) { calibration } else { holdout }
}

/// The opportunities of one seed (RC-LRN-01). Ordinals count from the first seed of its set, so that calibration and holdout
/// both pass through the grid from its beginning.
#[must_use]
pub fn opportunities(profile: &Profile, index: u64) -> Vec<Opportunity> {
    let fixture = &profile.fixture;
    let seed = seed(SUITE, index);
    let [first, _] = set_of(profile, index);
    let count = fixture.v08_opportunities.unsigned_abs();
    let offsets = OFFSETS as u64;
    let opportunity = |k: u64| {
        let number = count * index.saturating_sub(first) + k;
        Opportunity {
            cell: (number * fixture.v08_stride.unsigned_abs() % cells(profile) as u64) as usize,
            offset: uniform(draw(seed, Stream::Content as u64, k, 0), offsets) as usize,
            draw: draw(seed, Stream::Pool as u64, k, 0),
        }
    };
    (0..count).map(opportunity).collect()
}

/// Whether Traits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Situation {
    /// Safety is CLEAR and no channel is in DANGER.
    Ordinary,
    /// Safety is ALERT, or a channel is in DANGER.
    Danger,
}

/// The odds of verify_first against start_now: the sum of the weights in the window, and the part of it that start_now has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Odds {
    sum: u32,
    start: u32,
}

impl Odds {
    /// The odds of one cell, identity and offset.
    fn at(profile: &Profile, situation: Situation, cell: usize, identity: usize, offset: usize) -> Odds {
        let selection = &profile.selection;
        let traits = identities(selection)[identity];
        let of = |tag| correction(selection, traits, tag, situation == Situation::Ordinary);
        let base = contributions(profile, cell);
        let start = Contributions { correction: of(Tag::StartNow), ..base };
        let verify = Contributions {
            gain: base.gain + profile.fixture.v08_offsets[offset],
            correction: of(Tag::VerifyFirst),
            ..base
        };
        Odds::of(selection, start.clamped(selection), verify.clamped(selection))
    }

    /// The pool is walked in the order start_now, verify_first (GD-46). With nothing admissible the Agent idles.
    fn of(selection: &Selection, start: Contributions, verify: Contributions) -> Odds {
        let admitted: Vec<(bool, i64)> = [(false, start), (true, verify)]
            .into_iter()
            .filter(|(_, parts)| parts.admissible(selection))
            .map(|(verify, parts)| (verify, parts.score()))
            .collect();
        let scores: Vec<i64> = admitted.iter().map(|(_, score)| *score).collect();
        let mut odds = Odds { sum: 0, start: 0 };
        for candidate in window(selection, &scores) {
            let weight = u32::try_from(candidate.weight).unwrap_or_default();
            odds.sum += weight;
            if !admitted[candidate.place].0 {
                odds.start += weight;
            }
        }
        if odds.sum == 0 { Odds { sum: 0, start: 1 } } else { odds }
    }

    /// Whether this draw shows the target behaviour.
    #[inline]
    fn verifies(self, draw: u64) -> bool {
        uniform(draw, u64::from(self.sum)) >= u64::from(self.start)
    }
}

/// Odds of each cell, identity and offset: what does not depend on the seed.
pub struct Table {
    odds: Vec<[[Odds; OFFSETS]; IDENTITIES]>,
}

impl Table {
    /// The odds of the whole grid.
    #[must_use]
    pub fn new(profile: &Profile, situation: Situation) -> Table {
        let row = |cell: usize| {
            std::array::from_fn(|identity| {
                std::array::from_fn(|offset| Odds::at(profile, situation, cell, identity, offset))
            })
        };
        Table { odds: (0..cells(profile)).map(row).collect() }
    }
}

/// Choices of one seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Choices of each identity.
    pub choices: u64,
    /// Choices that show the target behaviour: Mira, Niko.
    pub target: [u64; IDENTITIES],
    /// Opportunities in which the identities chose differently.
    pub different: u64,
}

impl Shown {
    #[inline]
    fn add(&mut self, verifies: [bool; IDENTITIES]) {
        self.choices += 1;
        self.different += u64::from(verifies[0] != verifies[1]);
        for (count, verifies) in self.target.iter_mut().zip(verifies) {
            *count += u64::from(verifies);
        }
    }
}

/// Parts B and D for one seed: the declared opportunities, in one of the two situations. In danger `different` must be 0.
#[must_use]
pub fn declared(profile: &Profile, situation: Situation, index: u64) -> Shown {
    let mut shown = Shown::default();
    for Opportunity { cell, offset, draw } in opportunities(profile, index) {
        shown.add(std::array::from_fn(|identity| {
            Odds::at(profile, situation, cell, identity, offset).verifies(draw)
        }));
    }
    shown
}

/// The exhaustive reading of V08.1 for one seed: as many opportunities in every cell, each with draws of its own (CX-31).
/// The draws of part B are those with `k` 0; those of a cell have its number, from 1.
#[must_use]
pub fn exhaustive(profile: &Profile, table: &Table, index: u64) -> Shown {
    let seed = seed(SUITE, index);
    let offsets = OFFSETS as u64;
    let opportunities: Vec<[Draws; 2]> = (0..profile.fixture.v08_opportunities.unsigned_abs())
        .map(|k| [Stream::Content, Stream::Pool].map(|stream| Draws::of(seed, stream as u64, k)))
        .collect();
    let mut shown = Shown::default();
    for (row, number) in table.odds.iter().zip(1..) {
        for [content, pool] in &opportunities {
            let offset = uniform(content.get(number), offsets) as usize;
            let draw = pool.get(number);
            shown.add(std::array::from_fn(|identity| row[identity][offset].verifies(draw)));
        }
    }
    shown
}

#[cfg(test)]
mod tests;

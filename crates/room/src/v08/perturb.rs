//! Part C of V08 (V08.3, AR-20): two equal behaviours whose inputs tremble do not swing.

use super::{IDENTITIES, SUITE, cells, contributions, identities, set_of};
use crate::choose::{Behaviour, Execution, Memory, may_switch};
use crate::draw::{Stream, draw, seed};
use crate::kind::Kind;
use crate::profile::Profile;
use crate::score::Contributions;
use crate::traits::{Tag, correction};

/// What the runs of one cell showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Perturbed {
    /// Runs.
    pub runs: u64,
    /// Ticks of all runs.
    pub steps: u64,
    /// Most switches of a run; not above `ab_switch_max`.
    pub most_switches: u64,
}

/// Signs of the six inputs of both candidates in one tick, one bit each.
type Signs = u64;

/// The cells whose random pattern comes from the seed of `index`: those that leave its ordinal when they are divided by the
/// number of seeds of its set.
pub fn cells_of(profile: &Profile, index: u64) -> impl Iterator<Item = usize> + use<> {
    let [first, last] = set_of(profile, index);
    let (ordinal, seeds) = (index.saturating_sub(first) as usize, (last + 1 - first) as usize);
    (ordinal..cells(profile)).step_by(seeds)
}

/// Every run of one cell: each identity, from each behaviour, with the adversarial and with the random pattern.
#[must_use]
pub fn perturbed(profile: &Profile, index: u64, cell: usize) -> Perturbed {
    let seed = seed(SUITE, index);
    let random = |tick: u64| draw(seed, Stream::Interleaving as u64, tick, cell as u64);
    let reversal = profile.fixture.v08_reversal.unsigned_abs();
    let adversarial = |tick: u64| if (tick / reversal).is_multiple_of(2) { FIRST_UP } else { SECOND_UP };
    let mut found = Perturbed::default();
    for identity in 0..IDENTITIES {
        for first in [true, false] {
            for pattern in [&random as &dyn Fn(u64) -> Signs, &adversarial] {
                let switches = run(profile, cell, identity, first, pattern);
                found.runs += 1;
                found.steps += profile.fixture.v08_perturbed.unsigned_abs();
                found.most_switches = found.most_switches.max(switches);
            }
        }
    }
    found
}

/// Inputs of one candidate.
const INPUTS: u64 = 6;
/// All inputs of the first candidate raised, all of the second lowered.
const FIRST_UP: Signs = (1 << INPUTS) - 1;
/// The reverse.
const SECOND_UP: Signs = FIRST_UP << INPUTS;

/// Switches of one run. Admission is not asked: a candidate below it could only switch less.
fn run(profile: &Profile, cell: usize, identity: usize, first: bool, signs: &dyn Fn(u64) -> Signs) -> u64 {
    let (selection, clock) = (&profile.selection, &profile.clock);
    let traits = identities(selection)[identity];
    let parts = [Tag::VerifyFirst, Tag::StartNow].map(|tag| Contributions {
        correction: correction(selection, traits, tag, true),
        ..contributions(profile, cell)
    });
    let behaviours = [Kind::LookAt, Kind::Repair].map(|kind| Behaviour { kind, object: Some(0) });
    let mut memory = Memory::new();
    let (mut current, mut since, mut switches) = (usize::from(!first), 0, 0);
    memory.chosen(selection, behaviours[current], 0);
    for now in 0..profile.fixture.v08_perturbed.unsigned_abs() {
        let signs = signs(now);
        let other = 1 - current;
        let execution = Execution { behaviour: behaviours[other], object_family: 0, goal: 0, wanted: false };
        let score = |place: usize| nudged(profile, parts[place], signs >> (INPUTS * place as u64)).score();
        let challenger = score(other) + memory.repetition(selection, &execution, now);
        let free = !memory.locked(selection, behaviours[other], now);
        if free && may_switch(clock, now - since, score(current), challenger) {
            memory.chosen(selection, behaviours[other], now);
            (current, since, switches) = (other, now, switches + 1);
        }
    }
    switches
}

/// The parts with ε added where the bit is set and taken off where it is not.
fn nudged(profile: &Profile, parts: Contributions, signs: Signs) -> Contributions {
    let epsilon = profile.fixture.v08_epsilon;
    let mut signs = signs;
    let mut nudge = |value: i64| {
        let up = signs & 1 == 1;
        signs >>= 1;
        if up { value + epsilon } else { value - epsilon }
    };
    let moved = Contributions {
        gain: nudge(parts.gain),
        role: nudge(parts.role),
        information: nudge(parts.information),
        correction: nudge(parts.correction),
        cost: nudge(parts.cost),
        repetition: nudge(parts.repetition),
    };
    moved.clamped(&profile.selection)
}

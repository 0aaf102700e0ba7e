//! Expectation learning (RC-EXP-01 to RC-EXP-08, GD-47): what an Interaction on an object is believed to bring, moved by
//! Outcomes whose cause is known.
//!
//! Evidence units are counted in halves, so that the half unit that the other half of the day receives is a whole number.

use crate::fixed::{ONE, mul};
use crate::grid::Cell;
use crate::kind::Kind;
use crate::profile::{Clock, Profile};

/// Channels of an effect vector, in the order of GD-30: Energy, Hydration, Calories, ThermalComfort, PainComfort,
/// PostureComfort, Engagement.
pub const EFFECTS: usize = 7;

/// Half units of one unit of evidence.
const HALVES: i64 = 2;

crate::names! {
    /// The whole vocabulary of contexts (GD-47): any other label makes no key.
    pub enum Context {
        /// 06:00 to 22:00.
        Day = "day",
        /// The rest.
        Night = "night",
    }
}

impl Context {
    /// The context of a tick (GD-19).
    #[must_use]
    pub fn at(clock: &Clock, tick: u64) -> Context {
        let second = (tick.cast_signed() + clock.clock_origin) % clock.day_ticks;
        if (clock.day_begin..clock.night_begin).contains(&second) { Context::Day } else { Context::Night }
    }

    fn other(self) -> Context {
        match self {
            Context::Day => Context::Night,
            Context::Night => Context::Day,
        }
    }
}

crate::state! {
    /// What is expected of one Interaction on one object in one context (RC-EXP-01).
    pub struct Expectation {
        /// Which Interaction.
        pub kind: Kind,
        /// On which object.
        pub object: u8,
        /// In which half of the day.
        pub context: Context,
        /// Probability of success, µ.
        pub success: i64,
        /// Evidence behind it, in half units.
        pub half_units: u32,
        /// Effect of a success on each channel, µ.
        pub effects: [i64; EFFECTS],
        /// Mean duration of a success, ticks.
        pub duration: u64,
    }
}

impl Expectation {
    /// What is expected before any Outcome (RC-EXP-03): the frozen prior and what the profile says of the Interaction.
    #[must_use]
    pub fn prior(profile: &Profile, kind: Kind, object: u8, context: Context) -> Expectation {
        let row = profile.interaction.of(kind);
        Expectation {
            kind,
            object,
            context,
            success: profile.learning.p0,
            half_units: units(profile.learning.prior_evidence),
            effects: planned(profile, kind),
            duration: row.maximum.unsigned_abs(),
        }
    }

    /// Weight that the next Outcome would have, µ (RC-EXP-01).
    #[must_use]
    pub fn uncertainty(&self) -> i64 {
        HALVES * ONE / (i64::from(self.half_units) + HALVES)
    }

    /// GD-47: `p ← floor((h p + 2 o) / (h + 2))`, the step clipped, p kept in its range. Returns the step, µ.
    fn learn(&mut self, profile: &Profile, success: bool) -> i64 {
        let learning = &profile.learning;
        let halves = i64::from(self.half_units);
        let outcome = if success { ONE } else { 0 };
        let mean = (halves * self.success + HALVES * outcome) / (halves + HALVES);
        let step = (mean - self.success).clamp(-learning.step_max, learning.step_max);
        let before = self.success;
        self.success = (before + step).clamp(learning.p_floor, ONE);
        self.half_units = (self.half_units + units(1)).min(units(learning.evidence_cap));
        self.success - before
    }

    /// GD-47: `e ← e + clip((observed − e) / (n + 1))`. A duration has no unit interval: its step is clipped to the same
    /// fraction of itself.
    fn learn_effects(&mut self, profile: &Profile, observed: &Observed) {
        let divisor = i64::from(self.half_units) + HALVES;
        let most = profile.learning.step_max;
        let toward =
            |from: i64, to: i64, most: i64| from + (HALVES * (to - from) / divisor).clamp(-most, most);
        for (effect, seen) in self.effects.iter_mut().zip(observed.effects) {
            *effect = toward(*effect, seen, most);
        }
        let mean = self.duration.cast_signed();
        self.duration = toward(mean, observed.duration.cast_signed(), mul(mean, most)).max(0).unsigned_abs();
    }

    /// What the sibling context learns from a step (RC-TRU-04): half the step and half a unit.
    fn transfer(&mut self, profile: &Profile, step: i64) {
        let learning = &profile.learning;
        let share = learning.day_night_transfer;
        self.success = (self.success + mul(step, share)).clamp(learning.p_floor, ONE);
        let gained = mul(HALVES, share).unsigned_abs() as u32;
        self.half_units = (self.half_units + gained).min(units(learning.evidence_cap));
    }

    fn key(&self) -> (Kind, u8, Context) {
        (self.kind, self.object, self.context)
    }
}

fn units(count: i64) -> u32 {
    (HALVES * count).unsigned_abs() as u32
}

/// The planned effect of a whole run, µ (GD-35); of the longest one where the length is open.
fn planned(profile: &Profile, kind: Kind) -> [i64; EFFECTS] {
    let regulation = &profile.regulation;
    let row = profile.interaction.of(kind);
    let over = |rate: i64| (rate * row.maximum).clamp(-ONE, ONE);
    match kind {
        Kind::Drink => [0, regulation.drink_effect, 0, 0, 0, 0, 0],
        Kind::Eat => [0, 0, regulation.eat_effect, 0, 0, 0, 0],
        Kind::Sleep => {
            let (energy, pain, posture) =
                (regulation.energy_sleep_net, regulation.pain_rest, regulation.posture_sleep);
            [over(energy), 0, 0, 0, over(pain), over(posture), 0]
        }
        Kind::Rest => {
            let (energy, pain, posture) =
                (regulation.energy_rest_net, regulation.pain_rest, regulation.posture_rest);
            [over(energy), 0, 0, 0, over(pain), over(posture), 0]
        }
        Kind::Repair | Kind::Create => {
            let parts = row.windows().count() as i64 * regulation.engagement_part;
            [0, 0, 0, 0, 0, over(regulation.posture_repair), parts]
        }
        _ => [0; EFFECTS],
    }
}

/// What an Outcome says about its cause (RC-EXP-04).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribution {
    /// It worked.
    Success,
    /// It failed, and the object is the reason.
    Failure,
    /// It failed, and nobody knows why: nothing is learned (RC-ROU-01g).
    Unknown,
}

/// One Outcome as the learner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed {
    /// Which Interaction.
    pub kind: Kind,
    /// On which object.
    pub object: u8,
    /// In which half of the day.
    pub context: Context,
    /// What it says.
    pub attribution: Attribution,
    /// Effect on each channel, µ; read on success only, because gain is effect × p and a failure counts once.
    pub effects: [i64; EFFECTS],
    /// How long it took, ticks; read on success only.
    pub duration: u64,
}

crate::state! {
    /// Ticks that something is believed to cost on top; they fade by themselves.
    pub struct BelievedCost {
        /// Cell or object.
        pub subject: u8,
        /// Ticks at `since`.
        pub ticks: u64,
        /// Tick from which the fading is counted.
        pub since: u64,
    }
}

impl BelievedCost {
    /// What is left of it: one tick less for each whole period (GD-47).
    fn at(&self, profile: &Profile, now: u64) -> BelievedCost {
        let period = profile.learning.believed_cost_decay_period.unsigned_abs();
        let faded = (now - self.since) / period;
        BelievedCost {
            subject: self.subject,
            ticks: self.ticks.saturating_sub(faded),
            since: self.since + faded * period,
        }
    }
}

crate::state! {
    /// The learner. It is written on Outcomes only: fading is computed when it is read.
    pub struct Expectations {
        /// In the order of Interaction, object, context.
        pub list: Vec<Expectation>,
        /// Extra cost of cells (RC-ROU-01c), in their order.
        pub cells: Vec<BelievedCost>,
        /// Extra waits for objects (RC-ROU-01b), in their order.
        pub objects: Vec<BelievedCost>,
    }
}

impl Expectations {
    /// Nothing learned yet.
    #[must_use]
    pub fn new() -> Expectations {
        Expectations { list: Vec::new(), cells: Vec::new(), objects: Vec::new() }
    }

    /// What is expected: learned, or the prior.
    #[must_use]
    pub fn expected(&self, profile: &Profile, kind: Kind, object: u8, context: Context) -> Expectation {
        match self.place(kind, object, context) {
            Ok(place) => self.list[place].clone(),
            Err(_) => Expectation::prior(profile, kind, object, context),
        }
    }

    /// Probability of success, µ: what scoring reads.
    #[must_use]
    pub fn success(&self, profile: &Profile, kind: Kind, object: u8, context: Context) -> i64 {
        let place = self.place(kind, object, context);
        place.map_or(profile.learning.p0, |place| self.list[place].success)
    }

    /// Learns from one Outcome; other objects learn nothing (`far_transfer` is 0).
    pub fn observe(&mut self, profile: &Profile, observed: &Observed) {
        let success = match observed.attribution {
            Attribution::Success => true,
            Attribution::Failure => false,
            Attribution::Unknown => return,
        };
        let entry = self.entry(profile, observed.kind, observed.object, observed.context);
        if success {
            entry.learn_effects(profile, observed);
        }
        let step = entry.learn(profile, success);
        let sibling = observed.context.other();
        self.entry(profile, observed.kind, observed.object, sibling).transfer(profile, step);
    }

    /// The object was damaged or repaired: old evidence loses weight, the probability stays (RC-EXP-05, GD-47).
    pub fn premise_changed(&mut self, profile: &Profile, object: u8) {
        let most = units(profile.learning.version_discount);
        for entry in self.list.iter_mut().filter(|entry| entry.object == object) {
            entry.half_units = entry.half_units.min(most);
        }
    }

    /// A way was blocked at this cell, and that is known.
    pub fn blocked(&mut self, profile: &Profile, cell: Cell, now: u64) {
        let ticks = profile.learning.path_block_cost.unsigned_abs();
        raise(&mut self.cells, profile, cell.0, ticks, now);
    }

    /// An object was in use for so long.
    pub fn waited(&mut self, profile: &Profile, object: u8, ticks: u64, now: u64) {
        raise(&mut self.objects, profile, object, ticks, now);
    }

    /// Extra ticks of a route through these cells.
    #[must_use]
    pub fn route_cost(&self, profile: &Profile, route: impl Iterator<Item = Cell>, now: u64) -> u64 {
        if self.cells.is_empty() {
            return 0;
        }
        route.map(|cell| cost(&self.cells, profile, cell.0, now)).sum()
    }

    /// Extra ticks of waiting for an object.
    #[must_use]
    pub fn wait_cost(&self, profile: &Profile, object: u8, now: u64) -> u64 {
        cost(&self.objects, profile, object, now)
    }

    fn place(&self, kind: Kind, object: u8, context: Context) -> Result<usize, usize> {
        self.list.binary_search_by_key(&(kind, object, context), Expectation::key)
    }

    fn entry(&mut self, profile: &Profile, kind: Kind, object: u8, context: Context) -> &mut Expectation {
        let place = self.place(kind, object, context).unwrap_or_else(|place| {
            self.list.insert(place, Expectation::prior(profile, kind, object, context));
            place
        });
        &mut self.list[place]
    }
}

impl Default for Expectations {
    fn default() -> Expectations {
        Expectations::new()
    }
}

fn cost(costs: &[BelievedCost], profile: &Profile, subject: u8, now: u64) -> u64 {
    let place = costs.binary_search_by_key(&subject, |cost| cost.subject);
    place.map_or(0, |place| costs[place].at(profile, now).ticks)
}

/// Adds to the cost of a subject, and forgets what has faded to nothing.
fn raise(costs: &mut Vec<BelievedCost>, profile: &Profile, subject: u8, ticks: u64, now: u64) {
    costs.retain(|cost| cost.at(profile, now).ticks > 0);
    match costs.binary_search_by_key(&subject, |cost| cost.subject) {
        Ok(place) => {
            let left = costs[place].at(profile, now);
            costs[place] = BelievedCost { ticks: left.ticks + ticks, ..left };
        }
        Err(place) => costs.insert(place, BelievedCost { subject, ticks, since: now }),
    }
}

/// GD-48: an object is competitive while its score lies in the window of an alternative with the prior and the same base.
#[must_use]
pub fn competitive(profile: &Profile, success: i64) -> bool {
    gap(profile, success) <= profile.selection.window
}

/// Score that an object lacks to that alternative, µ.
#[must_use]
pub fn gap(profile: &Profile, success: i64) -> i64 {
    mul(profile.selection.gain, profile.learning.p0 - success)
}

#[cfg(test)]
mod tests;

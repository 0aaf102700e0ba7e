//! Scores of Tier 3 (RC-SEL-07 to RC-SEL-14, GD-41): six contributions, each normalised, clamped to its own range and kept
//! by name. Everything is in µ.

use crate::fixed::{ONE, div, mul};
use crate::profile::{Regulation, Selection};

/// The contributions to one candidate, µ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contributions {
    /// Expected gain of regulation (RC-SEL-08).
    pub gain: i64,
    /// Relevance for a role or goal (RC-SEL-09).
    pub role: i64,
    /// Information or true novelty (RC-SEL-10).
    pub information: i64,
    /// Trait correction (RC-SEL-11); Preference, Affect and Habit belong to stage 2.
    pub correction: i64,
    /// Time, distance, risk, resources; not above 0 (RC-SEL-12).
    pub cost: i64,
    /// Repetition and saturation; not above 0 (RC-SEL-13).
    pub repetition: i64,
}

impl Contributions {
    /// Each part brought into the range of its rule.
    #[must_use]
    pub fn clamped(self, selection: &Selection) -> Contributions {
        Contributions {
            gain: self.gain.clamp(0, selection.gain),
            role: self.role.clamp(0, selection.role),
            information: self.information.clamp(0, selection.information),
            correction: self.correction.clamp(-selection.correction, selection.correction),
            cost: self.cost.clamp(-selection.cost, 0),
            repetition: self.repetition.clamp(-selection.repetition, 0),
        }
    }

    /// What admission looks at: everything but corrections (GD-44, CX-61).
    #[inline]
    #[must_use]
    pub fn base(&self) -> i64 {
        self.gain + self.role + self.information + self.cost + self.repetition
    }

    /// The score.
    #[inline]
    #[must_use]
    pub fn score(&self) -> i64 {
        self.base() + self.correction
    }

    /// Whether Tier 3 may choose it (GD-44).
    #[inline]
    #[must_use]
    pub fn admissible(&self, selection: &Selection) -> bool {
        self.base() >= selection.admission
    }
}

/// Urgency of a reserve, 0…1: 0 at comfort, 1 at the danger threshold. The level includes pending effects.
#[must_use]
pub fn urgency(regulation: &Regulation, selection: &Selection, level: i64) -> i64 {
    div(regulation.comfort - level, selection.urgency_span).clamp(0, ONE)
}

/// Urgency of boredom, 0…1.
#[must_use]
pub fn underload(regulation: &Regulation, selection: &Selection, engagement: i64) -> i64 {
    overload(regulation, selection, -engagement)
}

/// Urgency of too much load, 0…1.
#[must_use]
pub fn overload(regulation: &Regulation, selection: &Selection, engagement: i64) -> i64 {
    div(engagement - regulation.engagement_band, selection.engagement_span).clamp(0, ONE)
}

/// Gain of regulation: `0.45 u p min(1, effect / 0.20)`.
#[must_use]
pub fn regulation_gain(selection: &Selection, urgency: i64, success: i64, effect: i64) -> i64 {
    let filled = div(effect, selection.effect_full).clamp(0, ONE);
    mul(mul(mul(selection.gain, urgency), success), filled)
}

/// Relevance of a role obligation or an ordinary goal, 0…1.
#[must_use]
pub fn role(selection: &Selection, relevance: i64) -> i64 {
    mul(selection.role, relevance.clamp(0, ONE))
}

/// What an inspection is worth after `times` completed ones of the same premise version: `0.15 × 0.3ⁿ`.
#[must_use]
pub fn information(selection: &Selection, times: u32) -> i64 {
    let mut value = selection.information;
    for _ in 0..times {
        if value == 0 {
            break;
        }
        value = mul(value, selection.information_decay);
    }
    value
}

/// What a candidate is expected to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expense {
    /// Expected ticks, the way included.
    pub ticks: i64,
    /// Cells to walk.
    pub cells: i64,
    /// Estimate of the risk, µ.
    pub risk: i64,
    /// Portions consumed.
    pub portions: i64,
}

/// The cost of that: four parts, each with its cap; not above 0.
#[must_use]
pub fn cost(selection: &Selection, expense: &Expense) -> i64 {
    let time = (selection.cost_time * expense.ticks).min(selection.cost_time_cap);
    let distance = (selection.cost_distance * expense.cells).min(selection.cost_distance_cap);
    let risk = mul(selection.cost_risk, expense.risk).min(selection.cost_risk_cap);
    let resource = (selection.cost_resource * expense.portions).min(selection.cost_resource_cap);
    -(time + distance + risk + resource)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use proptest::prelude::*;

    /// The smallest base that GD-41 admits, at these levels.
    fn base_at(level: i64, success: i64, effect: i64, expense: &Expense) -> i64 {
        let profile = Profile::reference();
        let (regulation, selection) = (&profile.regulation, &profile.selection);
        let urgency = urgency(regulation, selection, level);
        let gain = regulation_gain(selection, urgency, success, effect);
        Contributions { gain, cost: cost(selection, expense), ..Contributions::default() }.base()
    }

    #[test]
    fn inspect_values_of_gd_41() {
        let profile = Profile::reference();
        let values = [0, 1, 2, 3].map(|times| information(&profile.selection, times));
        assert_eq!(values, [150_000, 45_000, 13_500, 4_050], "AR-33, RC-XPG-08");
        assert_eq!(information(&profile.selection, u32::MAX), 0);
    }

    #[test]
    fn urgency_of_reserves_and_engagement() {
        let profile = Profile::reference();
        let (regulation, selection) = (&profile.regulation, &profile.selection);
        let of = |level| urgency(regulation, selection, level);
        assert_eq!([550_000, 350_000, 150_000, 0, 1_000_000].map(of), [0, 500_000, ONE, ONE, 0]);
        let under = |value| underload(regulation, selection, value);
        assert_eq!([-250_000, -1_000_000, 0, 1_000_000].map(under), [0, ONE, 0, 0]);
        assert_eq!(overload(regulation, selection, 625_000), 500_000);
    }

    #[test]
    fn admission_levels_of_gd_41() {
        let profile = Profile::reference();
        let drink = Expense { ticks: 25, cells: 13, risk: 0, portions: 1 };
        assert_eq!(cost(&profile.selection, &drink), -71_000);
        for (success, level) in [(ONE, 442_000), (750_000, 406_500)] {
            assert!(base_at(level, success, 550_000, &drink) >= profile.selection.admission);
            assert!(base_at(level + 1_000, success, 550_000, &drink) < profile.selection.admission);
        }
        let sleep = Expense { ticks: 320, cells: 20, risk: 0, portions: 0 };
        assert_eq!(cost(&profile.selection, &sleep), -140_000);
        for (success, level) in [(ONE, 381_000), (750_000, 324_500)] {
            assert!(base_at(level, success, 200_000, &sleep) >= profile.selection.admission);
            assert!(base_at(level + 1_000, success, 200_000, &sleep) < profile.selection.admission);
        }
    }

    #[test]
    fn the_range_of_scores() {
        let profile = Profile::reference();
        let selection = &profile.selection;
        let all = |value| Contributions {
            gain: value,
            role: value,
            information: value,
            correction: value,
            cost: value,
            repetition: value,
        };
        // At stage 0 there is one correction of 0.10 and not four.
        assert_eq!(all(-9 * ONE).clamped(selection).score(), -650_000);
        let best = Contributions { cost: 0, repetition: 0, ..all(9 * ONE) };
        assert_eq!(best.clamped(selection).score(), 950_000, "AR-17");
    }

    proptest! {
        #[test]
        fn clamped_parts_stay_in_their_ranges(parts in prop::array::uniform6(-2_000_000..2_000_000_i64)) {
            let profile = Profile::reference();
            let [gain, role, information, correction, cost, repetition] = parts;
            let raw = Contributions { gain, role, information, correction, cost, repetition };
            let once = raw.clamped(&profile.selection);
            prop_assert_eq!(once, once.clamped(&profile.selection));
            prop_assert!((-650_000..=950_000).contains(&once.score()));
        }

        #[test]
        fn an_expense_never_costs_more_than_its_cap(
            ticks in 0..1_000_000_i64, cells in 0..200_i64, risk in 0..=ONE, portions in 0..100_i64,
        ) {
            let profile = Profile::reference();
            let cost = cost(&profile.selection, &Expense { ticks, cells, risk, portions });
            prop_assert!((-profile.selection.cost..=0).contains(&cost));
        }
    }
}

//! Traits (GD-45): constants of an identity that correct the score of tagged candidates by at most 0.10, and by nothing in
//! danger or outside Tier 3 (RC-LRN-02).

use crate::fixed::{ONE, mul};
use crate::profile::Selection;

/// Caution, curiosity, persistence, sociability; each −1…1, µ.
pub type Vector = [i64; 4];

/// What a candidate is an instance of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tag {
    /// Inspects a device or part before a stage.
    VerifyFirst,
    /// Begins the stage directly.
    StartNow,
    /// Looks for something new.
    ExploreNovel,
    /// Asks a person.
    AskHuman,
    /// Searches without help.
    SearchSelf,
    /// Goes on after a setback.
    ContinueAfterSetback,
    /// Changes the method.
    SwitchMethod,
}

impl Tag {
    /// How much each Trait weighs for it.
    #[must_use]
    pub fn loading(self, selection: &Selection) -> &Vector {
        match self {
            Tag::VerifyFirst => &selection.loading_verify_first,
            Tag::StartNow => &selection.loading_start_now,
            Tag::ExploreNovel => &selection.loading_explore_novel,
            Tag::AskHuman => &selection.loading_ask_human,
            Tag::SearchSelf => &selection.loading_search_self,
            Tag::ContinueAfterSetback => &selection.loading_continue_after_setback,
            Tag::SwitchMethod => &selection.loading_switch_method,
        }
    }
}

/// The Trait correction of a candidate, µ. `ordinary` is true in Tier 3 with Safety CLEAR and no channel in DANGER;
/// otherwise Traits do not count.
#[must_use]
pub fn correction(selection: &Selection, traits: &Vector, tag: Tag, ordinary: bool) -> i64 {
    if !ordinary {
        return 0;
    }
    let loading = tag.loading(selection);
    let sum: i64 = traits.iter().zip(loading).map(|(value, weight)| mul(*value, *weight)).sum();
    mul(selection.correction, sum.clamp(-ONE, ONE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    const TAGS: [Tag; 7] = [
        Tag::VerifyFirst,
        Tag::StartNow,
        Tag::ExploreNovel,
        Tag::AskHuman,
        Tag::SearchSelf,
        Tag::ContinueAfterSetback,
        Tag::SwitchMethod,
    ];

    #[test]
    fn corrections_of_gd_45() {
        let profile = Profile::reference();
        let selection = &profile.selection;
        let of = |traits: &Vector| TAGS.map(|tag| correction(selection, traits, tag, true));
        assert_eq!(of(&selection.trait_mira), [50_000, -25_000, 0, 20_000, 0, 20_000, -20_000]);
        assert_eq!(of(&selection.trait_niko), [-50_000, 25_000, 20_000, -20_000, 5_000, -10_000, 10_000]);
    }

    #[test]
    fn a_correction_is_bounded_and_gone_in_danger_rc_lrn_02() {
        let profile = Profile::reference();
        let selection = &profile.selection;
        for tag in TAGS {
            assert_eq!(correction(selection, &selection.trait_mira, tag, false), 0);
            for extreme in [[ONE; 4], [-ONE; 4]] {
                let most = selection.correction;
                assert!(correction(selection, &extreme, tag, true).abs() <= most);
            }
        }
    }
}

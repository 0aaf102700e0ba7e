//! Tiers of a chain: what is claimed, what follows from the probes beside the claim, what was required (desk specification 13
//! step 5, 31.20).

use super::tier::Tier;
use super::{ChainFacts, End, Facts, Role, Run};
use crate::{Failure, Fault};

impl Run<'_> {
    /// `--require-tier`.
    pub(super) fn tier(&mut self, facts: &mut ChainFacts) {
        let Some(want) = &self.options.require_tier else { return };
        let enough = |tier: &str| match (Tier::parse(tier), Tier::parse(want)) {
            (Some(got), Some(want)) => got >= want && got > Tier::C,
            _ => false,
        };
        // Strict: only what was measured inside the agent's namespace is a tier (31.20).
        let measured = !self.strict() || facts.tier_inside;
        if !measured || facts.tiers.is_empty() || !facts.tiers.keys().all(|tier| enough(tier)) {
            let want = want.as_str();
            let failure = Failure::of(Fault::TierBelowRequired);
            self.fail(failure.with("got", facts.tier.as_deref()).with("want", want));
        }
    }

    /// 31.20: a tier of ours follows from the probes that are signed with it, in the verdict and in every attempt of its
    /// task. A tier that others wrote without a probe is no tier, and no lie either.
    pub(super) fn tiers_follow(&mut self, all: &[&Facts], facts: &mut ChainFacts) {
        facts.tier_inside = !facts.tiers.is_empty();
        for entry in all.iter().filter(|entry| entry.role != Role::Start) {
            let Some(claimed) = entry.tier.as_deref() else { continue };
            let follows = if entry.inside == Some(true) { Tier::B } else { Tier::C };
            let of_task = |other: &&&Facts| other.role == Role::Attempt && other.task_id == entry.task_id;
            let weakest = all.iter().filter(of_task).all(|other| other.inside == Some(true));
            let follows = if entry.role == Role::Verdict && !weakest { Tier::C } else { follows };
            let too_much = Tier::parse(claimed).is_none_or(|claimed| claimed > follows);
            let probed = entry.ours || entry.inside.is_some();
            if too_much && probed {
                let failure = Failure::of(Fault::TierContradictsProbes);
                self.fail(failure.with("got", claimed).with("want", follows.word()));
            }
            facts.tier_inside &= entry.role == Role::Attempt || (probed && !too_much);
        }
    }
}

/// Step 5 of section 13.
pub(super) fn tiers(verdicts: &[(&str, &End)], facts: &mut ChainFacts) {
    for (task, end) in verdicts {
        let Some(tier) = &end.tier else { continue };
        *facts.tiers.entry(tier.to_string()).or_insert(0) += 1;
        if tier.as_ref() != "A" {
            facts.unattested_task_ids.push((*task).to_owned());
        }
    }
    let mut names = facts.tiers.keys();
    facts.tier = match (names.next(), names.next()) {
        (Some(only), None) => Some(only.clone()),
        (Some(_), Some(_)) => Some("mixed".to_owned()),
        _ => None,
    };
    facts.attested = (!facts.tiers.is_empty()).then_some(facts.unattested_task_ids.is_empty());
}

//! A verdict is challenged: a fresh panel judges again.

use super::verdict::Verdict;
use std::collections::BTreeSet;

canon::codes! {
    /// What the second panel makes of the first verdict.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Upheld {
        /// It says the same.
        Upheld = "upheld",
        /// It says the opposite.
        Overturned = "overturned",
        /// One of the two did not decide.
        Undecided = "undecided",
    }
}

/// The outcome of a challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// What became of the first verdict.
    pub outcome: Upheld,
    /// Who dissented or equivocated in either panel. Of an overturned verdict that was unanimous nobody is named by
    /// this: the panels contradict one another, and which of them is wrong they do not say.
    pub accused: BTreeSet<String>,
}

/// The two panels judge different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherMatter;

/// Compares two verdicts about the same draft, suite and task.
pub fn challenge_rerun(first: &Verdict, second: &Verdict) -> Result<Challenge, OtherMatter> {
    if first.binding != second.binding {
        return Err(OtherMatter);
    }
    let outcome = match (first.visible_ok, second.visible_ok) {
        (Some(first), Some(second)) if first == second => Upheld::Upheld,
        (Some(_), Some(_)) => Upheld::Overturned,
        _ => Upheld::Undecided,
    };
    let named = [first, second]
        .into_iter()
        .flat_map(|verdict| verdict.dissenters.iter().chain(&verdict.equivocators));
    Ok(Challenge { outcome, accused: named.cloned().collect() })
}

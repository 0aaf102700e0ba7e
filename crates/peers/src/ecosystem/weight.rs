//! What a review counts for.

use super::reputation::WEIGHT_SAME_ORIGIN;
use crate::fixed::Fixed;

/// Least weight of a reviewer that nobody has a reason to doubt.
const WEIGHT_MIN: Fixed = Fixed::thousandths(50);
/// Observations that a reviewer needs to be no newcomer.
pub const NEWCOMER_OBSERVATIONS: Fixed = Fixed::whole(5);

/// max(0.05, score * obs / (obs + 5)). A review of the same origin, the `same_origin`-th on this entry, counts at most
/// 0.1 / k; so does that of a newcomer, the `newcomer`-th on this entry. Ranks count from 1.
pub fn review_weight(
    score: Fixed,
    observations: Fixed,
    same_origin: Option<u32>,
    newcomer: Option<u32>,
) -> Fixed {
    let known = score.times(observations).over(observations.plus(Fixed::whole(5))).unwrap_or_default();
    let cap = |rank: u32| WEIGHT_SAME_ORIGIN.over(Fixed::whole(i64::from(rank.max(1)))).unwrap_or_default();
    let caps = [same_origin, newcomer].into_iter().flatten().map(cap);
    caps.fold(known.max(WEIGHT_MIN), Fixed::min)
}

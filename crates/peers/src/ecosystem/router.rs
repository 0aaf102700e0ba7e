//! Who gets the next task.

use super::reputation::ucb;
use crate::fixed::Fixed;
use canon::Digest;

/// Most that somebody on probation is routed by.
const PROBATION_CAP: Fixed = Fixed::thousandths(550);
/// Every tenth task goes to somebody on probation, so that probation can end.
const PROBATION_TURN: u64 = 10;

/// Somebody who could take the task.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Id.
    pub id: String,
    /// Order of announcement; equal scores go to the earlier.
    pub order: u64,
    /// Reputation at this kind of task.
    pub score: Fixed,
    /// Its observations.
    pub observations: Fixed,
    /// Put on probation from outside.
    pub marked: bool,
}

impl Candidate {
    /// Marked, or with less than one observation.
    pub fn on_probation(&self) -> bool {
        self.marked || self.observations < Fixed::ONE
    }
}

/// Routes by reputation and counts the routes.
#[derive(Clone, Debug, Default)]
pub struct Router {
    routed: u64,
}

impl Router {
    /// No route yet.
    pub fn new() -> Router {
        Router::default()
    }

    /// The id of the candidate that takes the task; nothing when there is none, which counts as no route.
    pub fn route<'a>(&mut self, candidates: &'a [Candidate]) -> Option<&'a str> {
        if candidates.is_empty() {
            return None;
        }
        let probation = candidates.iter().filter(|candidate| candidate.on_probation()).count();
        let turn = (self.routed + 1).is_multiple_of(PROBATION_TURN) && probation > 0;
        let capped = probation < candidates.len();
        let bound = |candidate: &Candidate| {
            let bound = ucb(candidate.score, candidate.observations, self.routed);
            // In their own turn, and when there is nobody else, those on probation are compared as they are.
            if candidate.on_probation() && capped && !turn { bound.min(PROBATION_CAP) } else { bound }
        };
        let eligible = candidates.iter().filter(|candidate| !turn || candidate.on_probation());
        let chosen = eligible.min_by_key(|candidate| (std::cmp::Reverse(bound(candidate)), candidate.order));
        self.routed += 1;
        chosen.map(|candidate| candidate.id.as_str())
    }
}

/// The route without reputation: SHA-256("niche:seed") as a number, modulo the candidates sorted by id.
pub fn random_route<'a>(niche: &str, seed: &str, ids: &[&'a str]) -> Option<&'a str> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    let count = ids.len() as u64;
    if count == 0 {
        return None;
    }
    let digest = Digest::of(format!("{niche}:{seed}").as_bytes());
    // At most 2^55 candidates: the rest times 256 fits.
    let rest = digest.as_bytes().iter().fold(0_u64, |rest, byte| (rest * 256 + u64::from(*byte)) % count);
    ids.get(usize::try_from(rest).ok()?).copied()
}

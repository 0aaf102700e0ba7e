//! The retry ledger (RC-TSK-01 to RC-TSK-04, RC-CMT-08, RC-CMT-09, GD-52): what may still be tried, keyed by the service
//! goal and never by an intent or its wording.
//!
//! A failure is charged once, to a local counter (goal, object, premise version, reason) and to a total counter (goal,
//! object family, class of disturbance). Neither time, nor a new day, nor a new version, nor a success lowers a total.

use crate::profile::Profile;

crate::names! {
    /// Classes of disturbance (RC-TSK-02).
    pub enum Class {
        /// The target was somewhere else before it was reached.
        MovingTarget = "moving_target_during_approach",
        /// The way was closed.
        PathBlock = "repeated_path_block",
        /// The object did not do what it should.
        ObjectFailure = "repeated_object_failure",
        /// Any other reason: each is a class `other:<reason>` of its own, which grants cannot raise.
        Other = "other",
    }
}

crate::state! {
    /// Failures with nothing changed (RC-TSK-01).
    pub struct Local {
        /// Service goal.
        pub goal: u8,
        /// Target.
        pub object: u8,
        /// Premise version of the target.
        pub premise_version: u32,
        /// General evidence of the failure.
        pub reason: u8,
        /// How many.
        pub failures: u32,
    }
}

crate::state! {
    /// Failures of one goal on one family by one class (RC-TSK-02).
    pub struct Total {
        /// Service goal.
        pub goal: u8,
        /// Family of the targets.
        pub family: u8,
        /// Class of disturbance.
        pub class: Class,
        /// The reason, for [`Class::Other`]; 0 otherwise.
        pub reason: u8,
        /// How many.
        pub failures: u32,
        /// Grants by explicit renegotiation (RC-TSK-04).
        pub grants: u32,
        /// A grant came after the last failure: the next attempt need not wait for stability.
        pub granted: bool,
        /// Tick of the last failure.
        pub last: u64,
    }
}

impl Total {
    /// Failures that it may have.
    #[must_use]
    pub fn limit(&self, profile: &Profile) -> u32 {
        let task = &profile.task;
        let limit = match self.class {
            Class::Other => task.other_budget,
            _ => task.class_budget + i64::from(self.grants) * task.grant,
        };
        count(limit.min(task.lifetime_cap))
    }

    /// True when nothing more may be tried: its failures are one failure cluster at its budget (CX-56).
    #[must_use]
    pub fn at_budget(&self, profile: &Profile) -> bool {
        self.failures >= self.limit(profile)
    }

    /// RC-TSK-03: from the third attempt on a moving target must have been still for a while. A move or a failure starts
    /// the clock again.
    fn stable(&self, profile: &Profile, stable_since: u64, now: u64) -> bool {
        let free = self.failures + 1 < count(profile.task.stable_from_attempt);
        let still = now.saturating_sub(stable_since.max(self.last));
        self.class != Class::MovingTarget
            || free
            || self.granted
            || still >= profile.task.stable_window.unsigned_abs()
    }
}

/// An attempt that is considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Service goal.
    pub goal: u8,
    /// Target.
    pub object: u8,
    /// Its family.
    pub family: u8,
    /// Its premise version.
    pub premise_version: u32,
    /// Tick since which it has been where it is with that version.
    pub stable_since: u64,
}

/// Why an attempt may not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Tried unchanged too often.
    Local,
    /// The total of this class is used up.
    Total(Class),
    /// The target moves: not yet.
    Unstable,
}

/// An attempt that ended FAILED after it had entered PREPARING.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What was attempted.
    pub attempt: Attempt,
    /// By which class of disturbance it failed.
    pub class: Class,
    /// With which general evidence.
    pub reason: u8,
}

crate::state! {
    /// All counters; each list has a counter from its first failure on, in the order of first failures.
    pub struct Ledger {
        /// Local counters.
        pub locals: Vec<Local>,
        /// Total counters.
        pub totals: Vec<Total>,
    }
}

impl Ledger {
    /// Nothing has failed yet.
    #[must_use]
    pub fn new() -> Ledger {
        Ledger { locals: Vec::new(), totals: Vec::new() }
    }

    /// Whether an attempt may be made now (GD-52).
    ///
    /// # Errors
    /// What forbids it. The reason of a future failure is not known, so each reason and each class is asked.
    pub fn allows(&self, profile: &Profile, attempt: &Attempt, now: u64) -> Result<(), Refusal> {
        let most = count(profile.task.local_attempts);
        let unchanged = self.locals.iter().filter(|local| {
            (local.goal, local.object, local.premise_version)
                == (attempt.goal, attempt.object, attempt.premise_version)
        });
        if unchanged.into_iter().any(|local| local.failures >= most) {
            return Err(Refusal::Local);
        }
        for total in self.of(attempt.goal, attempt.family) {
            if total.at_budget(profile) {
                return Err(Refusal::Total(total.class));
            }
            if !total.stable(profile, attempt.stable_since, now) {
                return Err(Refusal::Unstable);
            }
        }
        Ok(())
    }

    /// Charges a failure once to both counters. True when it brings its total to the limit, which triggers
    /// FAILURE_RECOVERY (RC-FRC-01).
    pub fn charge(&mut self, profile: &Profile, failure: &Failure, now: u64) -> bool {
        self.local(failure).failures += 1;
        let total = self.total(failure);
        total.failures += 1;
        total.granted = false;
        total.last = now;
        total.failures == total.limit(profile)
    }

    /// Charges a failure of what shares no total with its family: to the local counter alone.
    pub fn charge_unchanged(&mut self, failure: &Failure) {
        self.local(failure).failures += 1;
    }

    /// Takes a grant for the counter of this goal and class that failed last (GD-57). False when there is none, when its
    /// class has no grants, or when they are used up.
    pub fn grant(&mut self, profile: &Profile, goal: u8, class: Class) -> bool {
        let most = count(profile.task.grants_max);
        let asked = self.totals.iter_mut().filter(|total| (total.goal, total.class) == (goal, class));
        match asked.max_by_key(|total| total.last) {
            Some(total) if class != Class::Other && total.grants < most => {
                total.grants += 1;
                total.granted = true;
                true
            }
            _ => false,
        }
    }

    /// The total counters of a goal on a family.
    pub fn of(&self, goal: u8, family: u8) -> impl Iterator<Item = &Total> {
        self.totals.iter().filter(move |total| (total.goal, total.family) == (goal, family))
    }

    fn local(&mut self, failure: &Failure) -> &mut Local {
        let Attempt { goal, object, premise_version, .. } = failure.attempt;
        let new = Local { goal, object, premise_version, reason: failure.reason, failures: 0 };
        let place = self.locals.iter().position(|local| Local { failures: 0, ..local.clone() } == new);
        find_or_add(&mut self.locals, place, new)
    }

    fn total(&mut self, failure: &Failure) -> &mut Total {
        let Attempt { goal, family, .. } = failure.attempt;
        let reason = if failure.class == Class::Other { failure.reason } else { 0 };
        let key = (goal, family, failure.class, reason);
        let place =
            self.totals.iter().position(|total| (total.goal, total.family, total.class, total.reason) == key);
        let new = Total {
            goal,
            family,
            class: failure.class,
            reason,
            failures: 0,
            grants: 0,
            granted: false,
            last: 0,
        };
        find_or_add(&mut self.totals, place, new)
    }
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger::new()
    }
}

fn find_or_add<T>(list: &mut Vec<T>, place: Option<usize>, new: T) -> &mut T {
    let place = place.unwrap_or_else(|| {
        list.push(new);
        list.len() - 1
    });
    &mut list[place]
}

fn count(value: i64) -> u32 {
    u32::try_from(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    const NOT_THERE: u8 = 1;

    /// The cup, asked for, with a version that rises with each move.
    struct Cup {
        premise_version: u32,
        stable_since: u64,
    }

    impl Cup {
        fn attempt(&self) -> Attempt {
            Attempt {
                goal: 16,
                object: 14,
                family: 4,
                premise_version: self.premise_version,
                stable_since: self.stable_since,
            }
        }

        fn moved(&mut self, now: u64) {
            self.premise_version += 1;
            self.stable_since = now;
        }
    }

    fn failure(cup: &Cup, class: Class) -> Failure {
        Failure { attempt: cup.attempt(), class, reason: NOT_THERE }
    }

    /// Tries every 40 ticks for a week; the cup is moved at each approach. Returns the ticks of the attempts.
    fn week_of_moves(profile: &Profile, mut negotiate: impl FnMut(&mut Ledger, u64)) -> Vec<u64> {
        let (mut ledger, mut cup, mut tried) =
            (Ledger::new(), Cup { premise_version: 0, stable_since: 0 }, Vec::new());
        for now in (0..profile.fixture.v10_ticks.unsigned_abs()).step_by(40) {
            negotiate(&mut ledger, now);
            if ledger.allows(profile, &cup.attempt(), now).is_ok() {
                let lost = failure(&cup, Class::MovingTarget);
                cup.moved(now + 20);
                ledger.charge(profile, &lost, now + 20);
                tried.push(now);
            }
        }
        tried
    }

    /// V10.1, V10.4: three attempts in seven days, whatever the version.
    #[test]
    fn v10_a_target_that_always_moves_is_tried_three_times() {
        let profile = Profile::reference();
        assert_eq!(week_of_moves(&profile, |_, _| {}), [0, 40, 120], "the third waits for 48 still ticks");
    }

    /// V10.2, CX-57: the second attempt waits for nothing, the third for 48 ticks with the same version.
    #[test]
    fn v10_a_target_that_stops_moving_is_tried_again() {
        let profile = Profile::reference();
        let (mut ledger, mut cup) = (Ledger::new(), Cup { premise_version: 0, stable_since: 0 });
        for now in [10, 20] {
            assert_eq!(ledger.allows(&profile, &cup.attempt(), now), Ok(()));
            let lost = failure(&cup, Class::MovingTarget);
            cup.moved(now);
            assert!(!ledger.charge(&profile, &lost, now));
        }
        assert_eq!(ledger.allows(&profile, &cup.attempt(), 67), Err(Refusal::Unstable));
        assert_eq!(ledger.allows(&profile, &cup.attempt(), 68), Ok(()));
        cup.moved(60);
        assert_eq!(
            ledger.allows(&profile, &cup.attempt(), 107),
            Err(Refusal::Unstable),
            "the clock restarts"
        );
        assert_eq!(ledger.allows(&profile, &cup.attempt(), 108), Ok(()));
    }

    /// V10.3: each renegotiation adds exactly one, five attempts in a life.
    #[test]
    fn v10_renegotiation_adds_one_up_to_five() {
        let profile = Profile::reference();
        for (offers, attempts) in [(1, 4), (2, 5), (30, 5)] {
            let (mut left, mut taken) = (offers, 0);
            let tried = week_of_moves(&profile, |ledger, now| {
                let at_budget = ledger.of(16, 4).any(|total| total.at_budget(&profile));
                if left > 0 && at_budget && now % 4_000 == 0 {
                    left -= 1;
                    taken += u32::from(ledger.grant(&profile, 16, Class::MovingTarget));
                }
            });
            assert_eq!(tried.len(), attempts, "{offers} offers: {tried:?}");
            assert_eq!(taken as usize, attempts - 3);
        }
    }

    /// RC-TSK-01: unchanged, twice; a new premise version opens the local counter and not the total.
    #[test]
    fn an_unchanged_premise_is_tried_twice() {
        let profile = Profile::reference();
        let (mut ledger, mut cup) = (Ledger::new(), Cup { premise_version: 0, stable_since: 0 });
        let broken = failure(&cup, Class::ObjectFailure);
        assert!(!ledger.charge(&profile, &broken, 5));
        assert_eq!(ledger.allows(&profile, &cup.attempt(), 5), Ok(()));
        assert!(!ledger.charge(&profile, &broken, 6));
        assert_eq!(ledger.allows(&profile, &cup.attempt(), 600_000), Err(Refusal::Local));
        cup.moved(7);
        assert_eq!(ledger.allows(&profile, &cup.attempt(), 8), Ok(()), "no stability outside its class");
        assert!(ledger.charge(&profile, &failure(&cup, Class::ObjectFailure), 9), "at budget");
        cup.moved(10);
        let refused = Err(Refusal::Total(Class::ObjectFailure));
        assert_eq!(ledger.allows(&profile, &cup.attempt(), 600_000), refused);
        let other_goal = Attempt { goal: 3, ..cup.attempt() };
        assert_eq!(ledger.allows(&profile, &other_goal, 11), Ok(()));
        let other_family = Attempt { family: 2, object: 4, ..cup.attempt() };
        assert_eq!(ledger.allows(&profile, &other_family, 11), Ok(()));
    }

    /// GD-52: reasons outside the three classes have three attempts each, which no grant raises.
    #[test]
    fn other_reasons_cannot_be_granted() {
        let profile = Profile::reference();
        let (mut ledger, mut cup) = (Ledger::new(), Cup { premise_version: 0, stable_since: 0 });
        assert!(!ledger.grant(&profile, 16, Class::MovingTarget), "nothing failed yet");
        for now in 0..3 {
            cup.moved(now);
            let refused = failure(&cup, Class::Other);
            assert_eq!(ledger.charge(&profile, &refused, now), now == 2);
        }
        assert!(!ledger.grant(&profile, 16, Class::Other));
        cup.moved(4);
        assert_eq!(ledger.allows(&profile, &cup.attempt(), 4), Err(Refusal::Total(Class::Other)));
        let another = Failure { reason: NOT_THERE + 1, ..failure(&cup, Class::Other) };
        ledger.charge(&profile, &another, 5);
        assert_eq!(ledger.totals.len(), 2, "each reason is a class of its own");
    }
}

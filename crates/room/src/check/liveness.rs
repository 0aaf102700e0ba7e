//! LIV-01 to LIV-10: everything unfinished ends in time.

use super::{Check, Checks};
use crate::item::{Item, Owner, Phase};
use crate::mind::shares_no_total;
use crate::room::Room;
use crate::section::{Phase as TickPhase, bit};
use crate::state::{Channel, ControlMode, Controllable, RecoveryMode, SafetyMode};
use crate::world::{Source, Stage};

impl Room {
    pub(super) fn liveness(&self, checks: &mut Checks) {
        for item in self.state.queue.all() {
            self.item_bounds(item, checks);
        }
        if self.state.retries.writers() != 0 || !self.tick.failed.is_empty() {
            self.retry_bounds(checks);
        }
        self.search_bounds(checks);
        self.control_bounds(checks);
        if self.state.safety.mode != SafetyMode::Clear {
            self.safety_bounds(checks);
        }
        if self.state.safety.mode != SafetyMode::Clear || checks.clear.is_some() {
            self.exit_held(checks);
        }
        self.answers_in_time(checks);
        self.no_recovery_in_recovery(checks);
        if !matches!(self.state.recovery.mode, RecoveryMode::Normal) {
            self.recovery_bounds(checks);
        }
    }

    fn item_bounds(&self, item: &Item, checks: &mut Checks) {
        let clock = &self.profile.clock;
        let now = self.state.now;
        let within = |limit: i64| now <= item.since + limit.cast_unsigned();
        let (check, bounded) = match item.phase {
            Phase::Proposed => (Check::Liv01, now < item.ttl),
            Phase::Pending => (Check::Liv01, within(clock.pending_max)),
            Phase::Blocked => (Check::Liv01, within(clock.blocked_max)),
            Phase::Preparing => (Check::Liv02, within(clock.preparing_max)),
            Phase::Running => {
                let most = self.profile.interaction.of(item.kind).maximum.cast_unsigned();
                (Check::Liv02, item.running_tick(now) <= most)
            }
            Phase::Committed => (Check::Liv02, now < item.since + clock.commit_finish_max.cast_unsigned()),
            Phase::Suspended => (Check::Liv02, within(clock.resume_deadline) && !item.reserved),
            Phase::Cleaning => (Check::Liv02, within(clock.cleaning_max)),
            Phase::Closed => (Check::Liv02, false),
        };
        checks.checked(check);
        if !bounded {
            checks.broke(check, now, u64::from(item.id));
        }
        let entered = item.since == now && matches!(item.phase, Phase::Preparing | Phase::Running);
        if entered && item.owner != Owner::Safety && item.ran == 0 && item.parts == 0 && !self.news() {
            checks.checked(Check::Liv10);
            if !self.phase_fitted(item) {
                checks.broke(Check::Liv10, now, u64::from(item.id));
            }
        }
    }

    /// Something that admission reads has changed since the phase was admitted in this tick.
    fn news(&self) -> bool {
        let (world, regulation) = (self.state.world.writers(), self.state.regulation.writers());
        self.tick.edited.is_some() || world & bit(TickPhase::P7) != 0 || regulation & bit(TickPhase::P10) != 0
    }

    /// No answer is taken that is older than it may be, and none twice (V04a.2, V04a.3).
    fn answers_in_time(&self, checks: &mut Checks) {
        for (request, asked) in &self.tick.accepted {
            checks.checked(Check::Liv08);
            let age = self.state.now.checked_sub(*asked);
            let late = age.is_none_or(|age| age >= self.ticks(self.profile.clock.proposal_ttl));
            if !checks.requests.insert(*request) || late {
                checks.broke(Check::Liv08, self.state.now, *request);
            }
        }
    }

    /// What remained when the phase began ends before every deadline.
    fn phase_fitted(&self, item: &Item) -> bool {
        let approach = match item.phase {
            Phase::Preparing => {
                let steps = self.destination(item).map_or(0, |(_, steps)| i64::from(steps));
                steps + self.profile.interaction.approach_turn + self.profile.interaction.approach_reserve
            }
            _ => 0,
        };
        self.fits(item.kind, approach, item.tier, item.owner, Channel::of_goal(item.goal)).is_none()
    }

    fn retry_bounds(&self, checks: &mut Checks) {
        let ledger = &self.state.retries;
        checks.checked(Check::Liv03);
        let task = &self.profile.task;
        let local = ledger.locals.iter().any(|local| i64::from(local.failures) > task.local_attempts);
        let total = ledger.totals.iter().any(|total| {
            total.failures > total.limit(&self.profile) || i64::from(total.failures) > task.lifetime_cap
        });
        if local || total || self.attempts_past_budget(checks) {
            checks.broke(Check::Liv03, self.state.now, 0);
        }
    }

    /// An independent memory of failed attempts, beside the ledger.
    fn attempts_past_budget(&self, checks: &mut Checks) -> bool {
        let most = self.profile.task.local_attempts.unsigned_abs();
        let mut past = false;
        for failed in &self.tick.failed {
            let count = checks.failed.entry(*failed).or_default();
            *count += 1;
            past |= u64::from(*count) > most;
            let (goal, object, _, evidence) = *failed;
            if !shares_no_total(goal, object) {
                let total = checks.failed_total.entry((goal, object.family(), evidence)).or_default();
                *total += 1;
                past |= u64::from(*total) > self.profile.task.lifetime_cap.unsigned_abs();
            }
        }
        past
    }

    fn search_bounds(&self, checks: &mut Checks) {
        if self.state.mind.search.is_none() {
            return;
        }
        checks.checked(Check::Liv04);
        if i64::from(self.state.mind.scans) > self.profile.interaction.scan_max {
            checks.broke(Check::Liv04, self.state.now, u64::from(self.state.mind.scans));
        }
    }

    fn control_bounds(&self, checks: &mut Checks) {
        let Some(last) = self.state.control.intervened else { return };
        checks.checked(Check::Liv05);
        let limit = self.ticks(self.profile.clock.control_return_max);
        let taken = self.state.control.mode == ControlMode::OperatorLease
            || self.state.control.mode == ControlMode::Autonomous;
        if taken && self.state.now > last + limit {
            checks.broke(Check::Liv05, self.state.now, last);
        }
    }

    /// Before harm in the safe set, and one entry a danger (V03.2).
    fn safety_bounds(&self, checks: &mut Checks) {
        let safety = &self.state.safety;
        checks.checked(Check::Liv06);
        // Whom authored blockers closed in has no way out: that is said by the mode, and no fault of Safety.
        let closed_in = safety.mode == SafetyMode::Uncontrollable && !self.state.world.blocked.is_empty();
        let harmed = |source: &Source| {
            source.harmed && !source.uncontrollable && !closed_in && source.harms(self.state.now)
        };
        if let Some(n) = self.state.hidden.sources.iter().position(harmed) {
            checks.broke(Check::Liv06, self.state.now, n as u64);
        }
        let source = &self.state.hidden.sources[usize::from(safety.source)];
        let onset = (safety.source, source.since);
        if safety.entered == self.state.now && source.stage == Stage::Overheat {
            if checks.entry == Some(onset) {
                checks.broke(Check::Liv06, self.state.now, source.since);
            }
            checks.entry = Some(onset);
        }
    }

    /// Out of a danger only after the risk was low for long enough, counted beside Safety (V03.2, GD-23). What went before
    /// the first look of these checks is not known.
    fn exit_held(&self, checks: &mut Checks) {
        let safety = &self.state.safety;
        let now = self.state.now;
        let low = self.state.hidden.sources.iter().all(|s| s.risk < self.profile.safety.recovery_below);
        if safety.since != now {
            checks.clear = if low { checks.clear.map(|run| run + 1) } else { Some(0) };
            return;
        }
        let hold = match safety.mode {
            SafetyMode::Recovery => self.ticks(self.profile.safety.clear_hold),
            SafetyMode::Clear => self.ticks(self.profile.safety.recovery_hold),
            _ => 0,
        };
        if checks.clear.is_some_and(|run| run + u64::from(low) < hold) {
            checks.broke(Check::Liv06, now, u64::from(safety.episode));
        }
        checks.clear = (safety.mode != SafetyMode::Clear).then_some(0);
    }

    /// An episode of recovery does not begin inside of another (RC-FRC-06).
    fn no_recovery_in_recovery(&self, checks: &mut Checks) {
        let recovery = &self.state.recovery;
        let (mode, episodes) =
            checks.recovery.replace((recovery.mode, recovery.episodes)).unwrap_or((RecoveryMode::Normal, 0));
        let inside = matches!(mode, RecoveryMode::Active | RecoveryMode::Observing);
        if inside && recovery.episodes > episodes {
            checks.broke(Check::Liv09, self.state.now, u64::from(recovery.episodes));
        }
    }

    fn recovery_bounds(&self, checks: &mut Checks) {
        let recovery = &self.state.recovery;
        let task = &self.profile.task;
        let now = self.state.now;
        let bounded = match recovery.mode {
            RecoveryMode::Active => {
                recovery.spent + (now - recovery.since) <= self.ticks(task.recovery_residence)
            }
            RecoveryMode::Observing => {
                recovery.success.is_some_and(|success| now <= success + self.ticks(task.recovery_observe))
            }
            _ => true,
        };
        checks.checked(Check::Liv09);
        if !bounded {
            checks.broke(Check::Liv09, now, u64::from(recovery.episodes));
        }
    }

    /// A channel that can be served never reaches 0 (V01.2). Nothing is served while Safety has the body: a danger that nobody
    /// ends may outlast a reserve (GD-33 promises nothing then).
    pub(super) fn survival(&self, checks: &mut Checks) {
        checks.checked(Check::Survival);
        let held = self.state.safety.mode != SafetyMode::Clear;
        let boundary = self.profile.regulation.failure_boundary;
        for (channel, level) in Channel::ALL.into_iter().zip(self.state.levels.all()) {
            let n = channel.index();
            checks.lowest[n] = checks.lowest[n].min(level);
            if level > boundary {
                checks.excused &= !channel.bit();
            } else if self.state.regulation.control[n] != Controllable::Yes
                || self.tick.edited.is_some()
                || held
            {
                // It came to its end when nothing could serve it, or was put there: that it can be served again is no failure.
                checks.excused |= channel.bit();
            } else if checks.excused & channel.bit() == 0 {
                checks.broke(Check::Survival, self.state.now, channel as u64);
            }
        }
    }
}

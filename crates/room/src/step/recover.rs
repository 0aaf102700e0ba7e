//! FAILURE_RECOVERY (section 6.4, GD-29) and the charging of failures to the retry ledger (GD-52).

use super::Outcome;
use crate::event::What;
use crate::item::{Evidence, Goal, Item, Phase, Source, Tier};
use crate::kind::Kind;
use crate::mind::{Candidate, shares_no_total};
use crate::retry::{Attempt, Class, Failure};
use crate::room::{Room, Trigger};
use crate::state::{RecoveryCause, RecoveryMode};
use crate::world::{Obj, Parent, Place};

/// The ways out, in the order of GD-29, with the bit that a failed one leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Openable,
    Cup,
    Practice,
    Ask,
    Rest,
}

impl Way {
    const ALL: [Way; 5] = [Way::Openable, Way::Cup, Way::Practice, Way::Ask, Way::Rest];

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl Room {
    /// What LIV-03 counts beside the ledger.
    pub(crate) fn note_failure(&mut self, outcome: &Outcome, item: &Item) {
        let attempt = outcome.prepared && item.goal != Goal::Recover;
        if let Some(object) = outcome.target.filter(|_| attempt) {
            self.tick.failed.push((item.goal, object, item.premise_version, outcome.evidence));
        }
    }

    /// Charges a failure once; a budget that is reached brings FAILURE_RECOVERY about.
    pub(crate) fn charge(&mut self, outcome: &Outcome, goal: Goal) {
        let Some(target) = outcome.target else { return };
        if !outcome.prepared || goal == Goal::Recover || planted!(self, RetryNotCharged) {
            return;
        }
        let class = match outcome.evidence {
            Evidence::NotThere => Class::MovingTarget,
            Evidence::PathBlocked => Class::PathBlock,
            Evidence::NoEffect | Evidence::DoesNotOpen | Evidence::NotGraspable => Class::ObjectFailure,
            Evidence::Interrupted | Evidence::Ok => return,
            Evidence::HandConflict | Evidence::RefusedByPerson => Class::Other,
        };
        let premise_version = self.state.queue.get(outcome.item).map_or(0, |item| item.premise_version);
        let attempt = Attempt {
            goal: goal as u8,
            object: target as u8,
            family: target.family() as u8,
            premise_version,
            stable_since: self.believed(target).premise_since,
        };
        let failure = Failure { attempt, class, reason: outcome.evidence as u8 };
        let now = self.state.now;
        if shares_no_total(goal, target) {
            self.state.retries.edit(self.phase).charge_unchanged(&failure);
        } else if self.state.retries.edit(self.phase).charge(&self.profile, &failure, now) {
            self.enter_recovery(RecoveryCause::Budget, Some(goal), Some(target));
        }
    }

    /// Enters FAILURE_RECOVERY, never from within itself (RC-FRC-06).
    pub(crate) fn enter_recovery(&mut self, cause: RecoveryCause, goal: Option<Goal>, target: Option<Obj>) {
        let from = self.state.recovery.mode;
        if matches!(from, RecoveryMode::Active | RecoveryMode::Observing)
            && !planted!(self, RecoveryInRecovery)
        {
            return;
        }
        let now = self.state.now;
        let recovery = self.state.recovery.edit(self.phase);
        recovery.cause = cause;
        recovery.since = now;
        recovery.spent = 0;
        recovery.success = None;
        recovery.failed = 0;
        recovery.item = None;
        recovery.goal = goal;
        recovery.target = target;
        recovery.episodes += 1;
        recovery.suspended |= goal.map_or(0, |goal| 1 << goal as u32);
        self.recovery_mode(RecoveryMode::Active);
    }

    fn recovery_mode(&mut self, to: RecoveryMode) {
        let from = self.state.recovery.mode;
        let cause = self.state.recovery.cause;
        self.state.recovery.edit(self.phase).mode = to;
        self.emit(|| What::Recovery { from, to, cause });
        self.trigger(Trigger::Recovery);
    }

    /// What an Outcome means for a running recovery.
    pub(crate) fn recovery_outcome(&mut self, outcome: &Outcome, goal: Goal, _tier: Tier) {
        let now = self.state.now;
        match self.state.recovery.mode {
            RecoveryMode::Active if self.state.recovery.item == Some(outcome.item) => {
                let recovery = self.state.recovery.edit(self.phase);
                recovery.item = None;
                if outcome.success {
                    recovery.success = Some(now);
                    recovery.spent += now - recovery.since;
                    self.recovery_mode(RecoveryMode::Observing);
                } else {
                    recovery.failed |= recovery.option;
                    self.trigger(Trigger::Recovery);
                }
            }
            RecoveryMode::Observing if !outcome.success && self.state.recovery.goal == Some(goal) => {
                let recovery = self.state.recovery.edit(self.phase);
                recovery.since = now;
                recovery.success = None;
                self.recovery_mode(RecoveryMode::Active);
            }
            _ => {}
        }
    }

    /// Clocks of the recovery, and the watchdog over progress.
    pub(crate) fn watchdog(&mut self) {
        if self.state.recovery.mode == RecoveryMode::Normal {
            self.watch_progress();
            return;
        }
        let task = &self.profile.task;
        let now = self.state.now;
        let (residence, observe) = (self.ticks(task.recovery_residence), self.ticks(task.recovery_observe));
        let recovery = &self.state.recovery;
        match recovery.mode {
            RecoveryMode::Active => {
                if recovery.spent + (now - recovery.since) >= residence {
                    self.recovery_mode(RecoveryMode::Terminated);
                } else if recovery
                    .item
                    .is_some_and(|id| self.state.queue.get(id).is_none_or(|item| !item.alive()))
                {
                    // It ended without an Outcome of its own: taken back, or out of time.
                    let recovery = self.state.recovery.edit(self.phase);
                    recovery.item = None;
                    recovery.failed |= recovery.option;
                    self.trigger(Trigger::Recovery);
                }
            }
            RecoveryMode::Observing if planted!(self, RecoveryWithoutEnd) => {}
            RecoveryMode::Observing if recovery.success.is_some_and(|success| now >= success + observe) => {
                let recovery = self.state.recovery.edit(self.phase);
                recovery.suspended = 0;
                recovery.goal = None;
                self.recovery_mode(RecoveryMode::Normal);
            }
            RecoveryMode::Uncontrollable | RecoveryMode::Terminated => self.watch_progress(),
            _ => {}
        }
    }

    /// More than 30 ticks without progress of what is on the body (RC-FRC-01). Idle and waiting are no lack of progress.
    fn watch_progress(&mut self) {
        let Some(item) = self.state.queue.active() else { return };
        let limit = self.ticks(self.profile.task.no_progress);
        if self.state.now.saturating_sub(item.progress) <= limit || !self.watched(item) {
            return;
        }
        let (id, goal, target) = (item.id, item.goal, item.target);
        if self.makes_progress(item) {
            self.progress(id);
            return;
        }
        self.ask_to_stop(id);
        self.enter_recovery(RecoveryCause::NoProgress, Some(goal), target);
    }

    fn watched(&self, item: &Item) -> bool {
        let held = item.kind == Kind::Sleep && self.setup.fixture.sleep_hold;
        item.owner == crate::item::Owner::Agent && !matches!(item.kind, Kind::Idle | Kind::Wait) && !held
    }

    /// Sleep and Rest progress while what they are for rises.
    fn makes_progress(&self, item: &Item) -> bool {
        let levels = &self.state.levels;
        match (item.kind, item.goal) {
            (Kind::Rest, Goal::Posture) => levels.posture < self.profile.regulation.posture_rest_below,
            (Kind::Rest, Goal::Pain) => levels.pain > 0,
            (Kind::Sleep | Kind::Rest, _) => {
                item.phase == Phase::Running && levels.energy < crate::fixed::ONE
            }
            _ => false,
        }
    }

    /// The first feasible way out, and its bit (GD-29).
    pub(crate) fn recovery_option(&self) -> Option<(u8, Candidate)> {
        let tired = self.state.levels.energy < self.profile.task.recovery_rest_first_below;
        let first = tired.then_some(Way::Rest);
        first.into_iter().chain(Way::ALL).filter(|way| self.state.recovery.failed & way.bit() == 0).find_map(
            |way| {
                self.way_out(way)
                    .filter(|candidate| self.view().reject(candidate).is_none())
                    .map(|c| (way.bit(), c))
            },
        )
    }

    fn way_out(&self, way: Way) -> Option<Candidate> {
        let of = |kind, target| Candidate::of(Goal::Recover, kind, target, Tier::T1R, Source::Need);
        match way {
            Way::Openable => {
                let nearest = [Obj::SharedBox, Obj::Window]
                    .into_iter()
                    .filter(|obj| !self.believed(*obj).broken && self.state.recovery.target != Some(*obj))
                    .filter_map(|obj| self.view().access(obj).map(|(_, steps)| (steps, obj)))
                    .min()?;
                let kind = if self.believed(nearest.1).on { Kind::Close } else { Kind::Open };
                self.within(kind, nearest.0).then(|| of(kind, Some(nearest.1)))
            }
            Way::Cup if self.state.body.hand.is_some() => {
                self.within(Kind::PutDown, 0).then(|| of(Kind::PutDown, self.state.body.hand))
            }
            Way::Cup => {
                let cup = self.believed(Obj::Cup).parent.place;
                let there = !matches!(cup, Place::Destroyed | Place::HumanHand);
                let (_, steps) = self.view().access(Obj::Cup)?;
                let free = there && self.state.recovery.target != Some(Obj::Cup);
                (free && self.within(Kind::PickUp, steps)).then(|| of(Kind::PickUp, Some(Obj::Cup)))
            }
            Way::Practice => {
                let (_, steps) = self.view().access(Obj::Workbench)?;
                let works = !self.believed(Obj::Workbench).broken;
                (works && self.within(Kind::Create, steps)).then(|| of(Kind::Create, Some(Obj::Workbench)))
            }
            Way::Ask => {
                let present = self.state.beliefs.present;
                (present != 0).then(|| {
                    let mut ask = of(Kind::Ask, None);
                    ask.human = Some(present.trailing_zeros() as u8);
                    ask
                })
            }
            Way::Rest => {
                let chair = self.believed(Obj::Chair);
                let usable = !chair.broken && chair.parent != Parent::DESTROYED;
                let tired = self.state.levels.energy < crate::fixed::ONE;
                let (_, steps) = self.view().access(Obj::Chair)?;
                let left = self.profile.task.recovery_residence - self.residence().cast_signed();
                let need = i64::from(steps) + self.overhead() + self.profile.task.recovery_rest_partial;
                (usable && tired && need < left).then(|| of(Kind::Rest, Some(Obj::Chair)))
            }
        }
    }

    fn residence(&self) -> u64 {
        let recovery = &self.state.recovery;
        recovery.spent + (self.state.now - recovery.since)
    }

    /// Ticks from the decision to the first running tick beside a target, turning included.
    fn overhead(&self) -> i64 {
        self.profile.task.recovery_overhead + self.profile.interaction.approach_turn + 1
    }

    /// A low-risk task is done within its limit, counted from the entry (RC-TSK-06).
    fn within(&self, kind: Kind, steps: u8) -> bool {
        let need = self.overhead() + i64::from(steps) + self.profile.interaction.of(kind).wcet;
        need + self.residence().cast_signed() <= self.profile.task.recovery_task_max
    }

    /// No way out is left: the task is uncontrollable, at once (GD-29).
    pub(crate) fn recovery_exhausted(&mut self) {
        self.recovery_mode(RecoveryMode::Uncontrollable);
    }

    /// Thirty running ticks of a recovery Rest are the success (GD-29).
    pub(crate) fn recovery_rest_over(&self, item: &Item) -> Option<crate::item::Exit> {
        let own = self.state.recovery.item == Some(item.id) && item.kind == Kind::Rest;
        let done = item.running_tick(self.state.now);
        (own && done >= self.ticks(self.profile.task.recovery_rest_partial))
            .then_some(crate::item::Exit::Done)
    }

    /// A renegotiation lifts the suspension of a goal.
    pub(crate) fn unsuspend(&mut self, goal: Goal) {
        if self.state.recovery.suspended & (1 << goal as u32) != 0 {
            self.state.recovery.edit(self.phase).suspended &= !(1 << goal as u32);
        }
        self.trigger(Trigger::Input);
    }
}

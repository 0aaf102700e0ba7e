//! What is looked at in every tick of a fork of V03.

use super::v03::Case;
use crate::header::Header;
use crate::outcome::Outcome;
use room::Room;
use room::event::{Event, What};
use room::item::{Owner, Phase};
use room::profile::Profile;
use room::reject::Reject;
use room::setup::Hazard;
use room::state::{FactKind, SafetyMode};

/// The source of the fixture, beside the heater.
const SOURCE: usize = 1;
/// Codes that would say that there is a danger, and which.
const DANGER_REASONS: [Reject; 2] = [Reject::ZoneTarget, Reject::DeadlineSafety];

/// One fork, from its onset.
pub(super) struct Watch {
    case: Case,
    onset: u64,
    /// The Sleep that it interrupts, and whether it has left the queue.
    sleep: u32,
    gone: bool,
    /// Facts before the onset.
    facts: u32,
    mode: SafetyMode,
    entries: i64,
    clear_run: i64,
    outside_run: i64,
    recovery: Option<i64>,
    clear: Option<i64>,
    safe: Option<i64>,
    overlay: bool,
    leaked: bool,
    /// First failure of each code: the check, the code, when.
    bad: Vec<(&'static str, &'static str, u64)>,
    entries_max: i64,
    safe_by: i64,
}

impl Watch {
    pub(super) fn new(room: &Room, header: &Header, case: Case, sleep: u32) -> Watch {
        let state = room.state();
        let mut watch = Watch {
            case,
            onset: state.now,
            sleep,
            gone: false,
            facts: state.facts.total,
            mode: state.safety.mode,
            entries: 0,
            clear_run: 0,
            outside_run: 0,
            recovery: None,
            clear: None,
            safe: None,
            overlay: false,
            leaked: false,
            bad: Vec::new(),
            entries_max: header.number("entries").unwrap_or_default(),
            safe_by: header.number("safe").unwrap_or_default(),
        };
        let asleep =
            state.queue.active().is_some_and(|item| item.id == sleep && item.phase == Phase::Running);
        watch.holds(asleep && state.safety.mode == SafetyMode::Clear, "V03.1", "not_asleep", state.now);
        watch
    }

    fn holds(&mut self, holds: bool, check: &'static str, code: &'static str, tick: u64) {
        if !holds && self.bad.iter().all(|bad| bad.1 != code) {
            self.bad.push((check, code, tick));
        }
    }

    /// After a tick.
    pub(super) fn look(&mut self, room: &Room, hazard: &Hazard) {
        let state = room.state();
        let profile = room.profile();
        let tick = state.now - 1;
        let age = (tick - self.onset).cast_signed();
        let risk = state.hidden.sources[SOURCE].risk;
        self.holds(risk == series(profile, age), "V03.1", "series", tick);
        self.clear_run = if risk < profile.safety.recovery_below { self.clear_run + 1 } else { 0 };
        let outside = state.body.cell.manhattan(hazard.cell) > profile.safety.danger_radius;
        self.outside_run = if outside { self.outside_run + 1 } else { 0 };
        if outside && self.safe.is_none() {
            self.safe = Some(age);
        }
        self.modes(room, age, tick);
        self.body(room, age, tick);
        if !self.case.visible {
            self.listen(room.events());
        }
    }

    /// V03.2.
    fn modes(&mut self, room: &Room, age: i64, tick: u64) {
        let (from, to) = (self.mode, room.state().safety.mode);
        self.mode = to;
        if from == to {
            return;
        }
        let safety = &room.profile().safety;
        self.entries += i64::from(from == SafetyMode::Clear);
        match to {
            SafetyMode::Recovery => {
                let held = self.clear_run >= safety.clear_hold && self.outside_run >= safety.clear_hold;
                self.holds(held, "V03.2", "recovery_too_early", tick);
                self.recovery = self.recovery.or(Some(age));
            }
            SafetyMode::Clear => {
                let held = self.clear_run >= safety.clear_hold + safety.recovery_hold;
                self.holds(held, "V03.2", "clear_too_early", tick);
                self.clear = Some(age);
            }
            _ => {}
        }
    }

    /// Who has the body, and what is on it.
    fn body(&mut self, room: &Room, age: i64, tick: u64) {
        let state = room.state();
        let queue = &state.queue;
        let active = queue.active();
        if self.mode == SafetyMode::Clear {
            let commanded = queue.all().any(|item| item.owner == Owner::Operator || item.command.is_some());
            self.holds(!commanded, "V03.4", "lease_revived", tick);
        } else {
            let ran =
                queue.operator.iter().any(|item| matches!(item.phase, Phase::Running | Phase::Committed));
            self.holds(!ran, "V03.4", "lease_ran", tick);
            self.holds(state.control.owner == Owner::Safety, "V03.4", "owner", tick);
            let late = age >= room.profile().safety.interrupt_max;
            let ours = active.is_none_or(|item| item.owner == Owner::Safety);
            self.holds(ours || !late, "V03.4", "not_interrupted", tick);
        }
        let sleep = queue.get(self.sleep);
        self.holds(sleep.is_none() || !self.gone, "V03.4", "sleep_revived", tick);
        self.gone |= sleep.is_none();
    }

    /// What the Agent could have learned: events of its facts and the reasons of its decisions.
    fn listen(&mut self, events: &[Event]) {
        for event in events {
            match &event.what {
                What::Fact { kind: FactKind::HazardCue, .. } => self.leaked = true,
                What::Decision(decision) => {
                    let reasons = decision.candidates.iter().filter_map(|candidate| candidate.reject);
                    self.leaked |= reasons.into_iter().any(|reject| DANGER_REASONS.contains(&reject));
                }
                What::Hazard { .. } => self.overlay = true,
                _ => {}
            }
        }
    }

    /// At the end of the fork.
    pub(super) fn judge(mut self, room: &Room, outcome: &mut Outcome) {
        let state = room.state();
        let profile = room.profile();
        let end = state.now - 1;
        self.holds(self.entries == self.entries_max, "V03.2", "entries", end);
        let cleared = first_clear(profile) + profile.safety.clear_hold - 1;
        self.holds(self.recovery == Some(cleared), "V03.2", "recovery_at", end);
        self.holds(self.clear == Some(cleared + profile.safety.recovery_hold), "V03.2", "clear_at", end);
        let by = if self.case.urgent { self.safe_by } else { profile.fixture.v03_fork };
        self.holds(self.safe.is_some_and(|safe| safe <= by), "V03.3", "safe_set", end);
        self.holds(!state.hidden.sources[SOURCE].harmed, "V03.3", "harmed", end);
        self.facts(room, end);
        let ticks = (end + 1 - self.onset).max(1);
        for check in ["V03.1", "V03.2", "V03.3", "V03.4"] {
            outcome.checked(check, ticks);
        }
        for (check, code, tick) in &self.bad {
            outcome.fail(check, Some(*tick), code);
        }
        self.reached(outcome);
    }

    /// V03.4: a hidden danger leaves no cue in facts and beliefs; a perceivable one does, or the check could not fail.
    fn facts(&mut self, room: &Room, end: u64) {
        let state = room.state();
        let new = state.facts.list.iter().rev().take((state.facts.total - self.facts) as usize);
        let told = new.filter(|fact| fact.kind == FactKind::HazardCue).count();
        if self.case.visible {
            self.holds(told == 1, "V03.4", "not_perceived", end);
        } else {
            let known = told > 0 || state.beliefs.hazard || self.leaked;
            self.holds(!known, "V03.4", "leaked", end);
            self.holds(self.overlay, "V03.4", "no_overlay", end);
        }
    }

    fn reached(&self, outcome: &mut Outcome) {
        if self.entries > 0 && self.clear.is_some() {
            outcome.reach("Safety episode");
        }
        if self.safe.is_some() {
            outcome.reach("safe set reached");
            outcome.reach(if self.case.visible { "danger perceived" } else { "hidden protection" });
        }
    }
}

/// RC-FIX-01, from the numbers of the profile.
fn series(profile: &Profile, age: i64) -> i64 {
    let fixture = &profile.fixture;
    let [first, second, _] = fixture.v03_series_ends;
    let [high, low, last] = fixture.v03_series;
    let noise = if age % 2 == 0 { fixture.v03_noise } else { -fixture.v03_noise };
    match age {
        _ if age < first => high + noise,
        _ if age < second => low + noise,
        _ => last,
    }
}

/// The first tick of the series from which on the risk stays below the exit threshold (89, GD-23).
fn first_clear(profile: &Profile) -> i64 {
    let low = |age: &i64| series(profile, *age) < profile.safety.recovery_below;
    let high = (0..profile.fixture.v03_fork).rev().find(|age| !low(age));
    high.map_or(0, |age| age + 1)
}

//! P3: what the room does by itself (GD-12, RC-FIX-01).

use crate::event::What;
use crate::fixed::ONE;
use crate::profile::Profile;
use crate::room::Room;
use crate::world::{Curve, Obj, Source, Stage};

impl Room {
    pub(crate) fn move_hazards(&mut self) {
        let quiet = self.state.hidden.sources.iter().all(|source| source.stage == Stage::Off);
        let heater_on = self.state.world.object(Obj::Heater).on && self.state.world.object(Obj::Breaker).on;
        if quiet && !heater_on && !self.tick.ignite {
            return;
        }
        for n in 0..self.state.hidden.sources.len() {
            let source = &self.state.hidden.sources[n];
            let on = match source.curve {
                Curve::Heater => heater_on,
                Curve::Series => self.tick.ignite || source.stage != Stage::Off,
            };
            let next = next(source, on, self.state.now, &self.profile);
            if next != *source {
                let (stage, risk) = (next.stage, next.risk);
                if stage != source.stage {
                    self.emit(|| What::Hazard { source: n as u8, stage, risk });
                }
                self.state.hidden.edit(self.phase).sources[n] = next;
            }
        }
        self.harm();
    }

    /// Harm is done at the tick that the time to harm runs out, to a body that is still in the danger set, once.
    fn harm(&mut self) {
        for n in 0..self.state.hidden.sources.len() {
            let source = &self.state.hidden.sources[n];
            let again = planted!(self, HarmedAgain) && source.stage == Stage::Flame;
            let harms = source.harms(self.state.now) && !source.harmed;
            if (harms || again) && self.in_danger_of(n) {
                self.state.hidden.edit(self.phase).sources[n].harmed = true;
                let pain = (self.state.levels.pain + self.profile.safety.harm_pain).min(ONE);
                self.state.levels.edit(self.phase).pain = pain;
            }
        }
    }

    /// Whether the Agent stands in the danger set of a source (GD-13).
    pub(crate) fn in_danger_of(&self, source: usize) -> bool {
        let middle = self.state.hidden.sources[source].cell;
        middle.manhattan(self.state.body.cell) <= self.profile.safety.danger_radius
    }
}

fn next(source: &Source, on: bool, now: u64, profile: &Profile) -> Source {
    let mut next = source.clone();
    let enter = |next: &mut Source, stage| {
        next.stage = stage;
        next.since = now;
    };
    let age = now - source.since;
    match source.stage {
        Stage::Off if on && source.curve == Curve::Series => {
            enter(&mut next, Stage::Overheat);
            next.harmed = false;
        }
        Stage::Off if on => enter(&mut next, Stage::On),
        Stage::On if !on => enter(&mut next, Stage::Off),
        Stage::On if source.fault && age >= profile.safety.heater_fault_delay.cast_unsigned() => {
            enter(&mut next, Stage::Overheat);
            next.harmed = false;
        }
        Stage::Overheat if source.curve == Curve::Heater && age >= source.ttc => {
            enter(&mut next, Stage::Flame)
        }
        Stage::Overheat | Stage::Flame if !on => enter(&mut next, Stage::Cooling),
        Stage::Cooling if source.risk <= profile.safety.cooling_rate => enter(&mut next, Stage::Off),
        _ => {}
    }
    next.risk = risk(&next, source.risk, now, profile);
    if next.stage == Stage::Overheat
        && next.curve == Curve::Series
        && series(profile, now - next.since).is_none()
    {
        enter(&mut next, Stage::Off);
        next.risk = 0;
    }
    next
}

fn risk(source: &Source, before: i64, now: u64, profile: &Profile) -> i64 {
    let safety = &profile.safety;
    let age = now - source.since;
    match (source.stage, source.curve) {
        (Stage::Off | Stage::On, _) => 0,
        (Stage::Overheat, Curve::Heater) => {
            safety.heater_risk_base + safety.heater_risk_span * age.cast_signed() / source.ttc.cast_signed()
        }
        (Stage::Overheat, Curve::Series) => series(profile, age).unwrap_or(0),
        (Stage::Flame, _) => safety.flame_risk,
        (Stage::Cooling, _) => (before - safety.cooling_rate).max(0),
    }
}

/// The frozen noise series (RC-FIX-01): three parts, the first two with noise of alternating sign.
fn series(profile: &Profile, age: u64) -> Option<i64> {
    let fixture = &profile.fixture;
    let part = fixture.v03_series_ends.iter().position(|end| age < end.cast_unsigned())?;
    let noise = if part + 1 == fixture.v03_series.len() { 0 } else { fixture.v03_noise };
    Some(fixture.v03_series[part] + if age.is_multiple_of(2) { noise } else { -noise })
}

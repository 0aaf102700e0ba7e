//! P8: what the body does by itself in a tick, its bands, and its latest starts (section 4, GD-30 to GD-34).

use super::acts::field;
use crate::event::What;
use crate::fixed::{ONE, div_ceil};
use crate::item::Phase;
use crate::kind::Kind;
use crate::profile::Profile;
use crate::room::{Room, Trigger};
use crate::section::Phase as TickPhase;
use crate::state::{Band, Channel, Controllable, SafetyMode};
use crate::world::Obj;

/// What the body does in this tick, as far as its rates go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Sleeping,
    Resting,
    Working,
    Walking,
    Standing,
}

impl Room {
    pub(crate) fn regulate(&mut self) {
        let doing = self.doing();
        self.natural_rates(doing);
        self.bands();
        self.deadlines(doing);
        self.minute(doing);
    }

    fn doing(&self) -> Doing {
        let running =
            self.state.queue.active().filter(|item| matches!(item.phase, Phase::Running | Phase::Committed));
        match running.map(|item| item.kind) {
            Some(Kind::Sleep) => Doing::Sleeping,
            Some(Kind::Rest) => Doing::Resting,
            Some(Kind::Repair | Kind::Create) => Doing::Working,
            _ if self.tick.walked => Doing::Walking,
            _ => Doing::Standing,
        }
    }

    fn natural_rates(&mut self, doing: Doing) {
        let thermal = self.thermal_rate();
        let rates = &self.profile.regulation;
        let mut levels = *self.state.levels;
        let still = matches!(doing, Doing::Sleeping | Doing::Resting);
        levels.energy = unit(levels.energy + energy_rate(&self.profile, doing));
        levels.hydration = unit(levels.hydration + rates.hydration_rate);
        levels.calories = unit(levels.calories + rates.calories_rate);
        levels.thermal = match thermal {
            Some(falling) => unit(levels.thermal - falling),
            None => toward(levels.thermal, rates.thermal_setpoint, rates.thermal_recover),
        };
        levels.pain = unit(levels.pain - rates.pain_decay - if still { rates.pain_rest } else { 0 });
        levels.posture = posture(&self.profile, levels.posture, doing);
        #[cfg(feature = "faults")]
        self.skew(&mut levels, doing == Doing::Sleeping);
        *self.state.levels.edit(self.phase) = levels;
    }

    /// How fast the temperature falls here; none where it goes toward its set point (GD-32).
    fn thermal_rate(&self) -> Option<i64> {
        let rates = &self.profile.regulation;
        let here = self.state.body.cell;
        let heater = &self.state.hidden.sources[0];
        if heater.dangerous() && heater.cell.manhattan(here) <= rates.thermal_hot_radius {
            return Some(rates.thermal_hot);
        }
        let window = self.layout.cells(Obj::Window).first()?;
        let open = self.state.world.object(Obj::Window).on;
        (open
            && (self.night() || planted!(self, ColdByDay))
            && window.manhattan(here) <= rates.thermal_cold_radius)
            .then_some(rates.thermal_cold)
    }

    /// The temperature goes back by itself where the body is.
    pub(crate) fn recovers_warmth(&self) -> bool {
        self.thermal_rate().is_none()
    }

    /// Whether the clock says night (GD-19).
    fn night(&self) -> bool {
        crate::learn::Context::at(&self.profile.clock, self.state.now) == crate::learn::Context::Night
    }

    fn bands(&mut self) {
        for (channel, level) in Channel::ALL.into_iter().zip(self.state.levels.all()) {
            #[cfg(feature = "faults")]
            let level = self.seen_level(level);
            let from = self.state.regulation.band[channel.index()];
            let to = band(&self.profile, level, from);
            if to != from {
                self.state.regulation.edit(self.phase).band[channel.index()] = to;
                self.emit(|| What::Band { channel, from, to });
            }
        }
    }

    /// Which channels have reached their latest start or are in danger (GD-33).
    fn deadlines(&mut self, doing: Doing) {
        let mut mask = 0;
        let levels = self.state.levels.all();
        let falling = falling(&self.profile, doing, self.tick_hot());
        let regulation = &*self.state.regulation;
        let edge = self.profile.regulation.danger_enter;
        for n in 0..Channel::COUNT {
            let margin = self.margins[n][usize::from(regulation.fallible[n])];
            let near = falling[n] > 0 && levels[n] < edge + falling[n] * margin;
            let due = regulation.band[n] == Band::Danger || near;
            let served = regulation.control[n] == Controllable::Yes;
            mask |= u8::from(served && due && !planted!(self, DeadlineUnseen)) << n;
        }
        let before = regulation.tier1;
        if mask != before {
            let regulation = self.state.regulation.edit(self.phase);
            regulation.tier1 = mask;
            regulation.early &= !mask;
            if mask & !before != 0 {
                self.trigger(Trigger::Tier1);
            }
        }
    }

    fn tick_hot(&self) -> Option<i64> {
        if self.state.levels.thermal >= self.profile.regulation.thermal_setpoint {
            None
        } else {
            self.thermal_rate()
        }
    }

    /// Ticks before the danger time at which a channel has to be served, 20 % included (RC-RES-10, RC-RES-12).
    #[inline]
    pub(crate) fn margin(&self, channel: Channel) -> i64 {
        self.margins[channel.index()][usize::from(self.fallible_first(channel))]
    }

    /// The first tick after `now` at which the channel would be below the danger threshold at its natural rate.
    fn danger_time(&self, channel: Channel, doing: Doing) -> Option<u64> {
        let falling = falling(&self.profile, doing, self.tick_hot())[channel.index()];
        if falling <= 0 {
            return None;
        }
        let above = self.state.levels.of(channel) - self.profile.regulation.danger_enter;
        // Levels are those of the end of the last tick until this phase has lowered them.
        let lowered = u64::from(self.phase >= TickPhase::P8);
        let ticks = if above < 0 { 0 } else { (above / falling).cast_unsigned() };
        Some(self.state.now + ticks + lowered)
    }

    /// The latest start of a channel; `None` when it has no deadline at present.
    pub(crate) fn latest(&self, channel: Channel) -> Option<u64> {
        self.latest_at(channel, self.doing())
    }

    /// The same for a phase that is to be admitted: work wears the body from its first tick on.
    pub(crate) fn latest_during(&self, channel: Channel, kind: Kind) -> Option<u64> {
        let works = matches!(kind, Kind::Repair | Kind::Create);
        self.latest_at(channel, if works { Doing::Working } else { self.doing() })
    }

    fn latest_at(&self, channel: Channel, doing: Doing) -> Option<u64> {
        if self.state.regulation.control[channel.index()] != Controllable::Yes {
            return None;
        }
        self.danger_time(channel, doing).map(|at| at.saturating_sub(self.margin(channel).cast_unsigned()))
    }

    /// Engagement, once a minute (GD-31). Load belongs to stage 1, so overload does not arise by itself at stage 0.
    fn minute(&mut self, doing: Doing) {
        self.note_minute(doing);
        let regulation = &self.profile.regulation;
        let period = regulation.engagement_period.cast_unsigned();
        let on_time = planted!(self, BoredomOnTheMinute) && self.state.now.is_multiple_of(period);
        if !(self.state.now + 1).is_multiple_of(period) && !on_time {
            return;
        }
        let flags = &self.state.regulation;
        let drift = !flags.minute_work && !flags.minute_paused;
        let quiet = !flags.minute_busy;
        let mut engagement = self.state.levels.engagement;
        if engagement > 0 && quiet {
            engagement = (engagement + regulation.engagement_idle).max(0);
        } else if drift {
            engagement = (engagement + regulation.engagement_drift).max(-ONE);
        }
        if engagement != self.state.levels.engagement {
            self.state.levels.edit(self.phase).engagement = engagement;
        }
        let flags = self.state.regulation.edit(self.phase);
        flags.minute_work = false;
        flags.minute_paused = false;
        flags.minute_busy = false;
    }

    fn note_minute(&mut self, doing: Doing) {
        let paused = doing == Doing::Sleeping || self.state.safety.mode != SafetyMode::Clear;
        let busy = self
            .state
            .queue
            .active()
            .is_some_and(|item| !matches!(item.kind, Kind::Idle | Kind::Wait | Kind::Rest | Kind::Sleep));
        let flags = &self.state.regulation;
        if (paused && !flags.minute_paused) || (busy && !flags.minute_busy) {
            let flags = self.state.regulation.edit(self.phase);
            flags.minute_paused |= paused;
            flags.minute_busy |= busy;
        }
    }

    /// Adds a real effect to a channel; what does not fit is waste, and the resource is used all the same (GD-27).
    pub(crate) fn add_effect(&mut self, channel: Channel, effect: i64) {
        let level = self.state.levels.of(channel);
        let most = if planted!(self, EffectNotClamped) { ONE + ONE } else { ONE };
        let raised = (level + effect).clamp(0, most);
        let stored = if channel == Channel::Pain { ONE - raised } else { raised };
        *field(self.state.levels.edit(self.phase), channel) = stored;
        let waste = level + effect - raised;
        if waste > 0 {
            self.state.regulation.edit(self.phase).waste += waste;
        }
        self.emit(|| What::Wrote { field: "level", of: channel as u64, from: level, to: raised });
    }

    /// A part of work or a true novelty brings boredom toward 0, and never across it (GD-31).
    pub(crate) fn engage(&mut self, push: i64, work: bool) {
        let engagement = self.state.levels.engagement;
        if engagement < 0 {
            self.state.levels.edit(self.phase).engagement = (engagement + push).min(0);
        }
        if work && !self.state.regulation.minute_work {
            self.state.regulation.edit(self.phase).minute_work = true;
        }
    }
}

/// The margins of each channel: with one path, and with a fallible one whose failure is found out first (GD-33).
pub(crate) fn margins(profile: &Profile) -> [[i64; 2]; Channel::COUNT] {
    let regulation = &profile.regulation;
    Channel::ALL.map(|channel| {
        let path = match channel {
            Channel::Hydration => regulation.hydration_path,
            Channel::Calories => regulation.calories_path,
            Channel::Energy | Channel::Pain | Channel::Posture => regulation.energy_path,
            Channel::Thermal => profile.interaction.walk_wcet,
        };
        [path, path * 2 + regulation.failure_discovery]
            .map(|whole| div_ceil(whole * (ONE + regulation.tier1_margin), ONE))
    })
}

fn unit(level: i64) -> i64 {
    level.clamp(0, ONE)
}

fn toward(level: i64, goal: i64, step: i64) -> i64 {
    if level < goal { (level + step).min(goal) } else { (level - step).max(goal) }
}

fn energy_rate(profile: &Profile, doing: Doing) -> i64 {
    match doing {
        Doing::Sleeping => profile.regulation.energy_sleep_net,
        Doing::Resting => profile.regulation.energy_rest_net,
        _ => profile.regulation.energy_awake,
    }
}

fn posture(profile: &Profile, level: i64, doing: Doing) -> i64 {
    let rates = &profile.regulation;
    match doing {
        Doing::Working => unit(level + rates.posture_repair),
        Doing::Walking if level < rates.posture_walk_below => unit(level + rates.posture_walk),
        Doing::Resting if level < rates.posture_rest_below => unit(level + rates.posture_rest),
        Doing::Sleeping if level < rates.posture_rest_below => unit(level + rates.posture_sleep),
        Doing::Walking | Doing::Resting | Doing::Sleeping => level,
        Doing::Standing => unit(level + rates.posture_stand),
    }
}

/// How much each channel loses in a tick by itself; 0 or less where it does not.
#[inline]
fn falling(profile: &Profile, doing: Doing, thermal: Option<i64>) -> [i64; Channel::COUNT] {
    let rates = &profile.regulation;
    let posture = match doing {
        Doing::Working => -rates.posture_repair,
        Doing::Standing => -rates.posture_stand,
        _ => 0,
    };
    let pain = 0;
    let thermal = thermal.unwrap_or(0);
    [-rates.hydration_rate, -rates.calories_rate, -energy_rate(profile, doing), pain, thermal, posture]
}

/// The band of a level that nobody knows more of.
#[cfg(feature = "faults")]
pub(crate) fn fresh_band(profile: &Profile, level: i64) -> Band {
    band(profile, level, Band::Neutral)
}

/// The band of a level, with its hysteresis (RC-REG-03, RC-REG-04).
fn band(profile: &Profile, level: i64, before: Band) -> Band {
    let at = &profile.regulation;
    let danger = level < at.danger_enter || (before == Band::Danger && level <= at.danger_exit);
    let warned = matches!(before, Band::Warning | Band::Danger);
    let warning = level < at.warning_enter || (warned && level <= at.warning_exit);
    match () {
        () if danger => Band::Danger,
        () if warning => Band::Warning,
        () if level >= at.comfort => Band::Comfort,
        () => Band::Neutral,
    }
}

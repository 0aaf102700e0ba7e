//! Whether a channel can be served, what is done when it cannot, and whether a phase fits before the next deadline
//! (GD-33, GD-34).

use crate::event::What;
use crate::item::{Item, Owner, Phase, Tier};
use crate::kind::Kind;
use crate::mind::{View, executors};
use crate::room::{Room, Trigger};
use crate::state::{Band, Channel, Controllable};

/// Channels that depend on supplies or furniture; the others always have a way.
const SUPPLIED: [Channel; 5] =
    [Channel::Hydration, Channel::Calories, Channel::Energy, Channel::Pain, Channel::Posture];

impl Room {
    /// What the Agent may read.
    pub(crate) fn view(&self) -> View<'_> {
        View {
            profile: &self.profile,
            layout: &self.layout,
            setup: &self.setup,
            paths: &self.paths,
            now: self.state.now,
            safety: self.state.safety.mode,
            levels: &self.state.levels,
            body: &self.state.body,
            beliefs: &self.state.beliefs,
            regulation: &self.state.regulation,
            queue: &self.state.queue,
            pending: &self.state.pending,
            mind: &self.state.mind,
            memory: &self.state.habits,
            expectations: &self.state.expectations,
            retries: &self.state.retries,
            recovery: &self.state.recovery,
            #[cfg(feature = "faults")]
            planted: self.planted,
        }
    }

    /// Flags of the channels, after what is believed of their supplies changed.
    pub(crate) fn judge_supplies(&mut self) {
        for channel in SUPPLIED {
            let n = channel.index();
            let ways = executors(&self.view(), channel);
            let none = ways.primary.is_none() && ways.backup.is_none();
            let to = match () {
                // Losing the guaranteed way is enough: the flag changes in advance.
                () if ways.backup.is_some() => Controllable::Yes,
                () if none && self.setup.fixture.permanent => Controllable::Permanently,
                () => Controllable::Temporarily,
            };
            let fallible = ways.primary.is_some();
            if to != self.state.regulation.control[n] {
                self.state.regulation.edit(self.phase).control[n] = to;
                self.emit(|| What::Controllable { channel, to });
                self.trigger(Trigger::Evidence);
            }
            if fallible != self.state.regulation.fallible[n] || none != self.state.regulation.none[n] {
                let regulation = self.state.regulation.edit(self.phase);
                regulation.fallible[n] = fallible;
                regulation.none[n] = none;
            }
        }
    }

    /// Whether the ordinary, fallible way comes first and its failure has to be planned for.
    pub(crate) fn fallible_first(&self, channel: Channel) -> bool {
        self.state.regulation.fallible[channel.index()]
    }

    /// Records of channels that nothing serves: opened, called for help about, closed (GD-34).
    pub(crate) fn help_calls(&mut self) {
        for channel in SUPPLIED {
            let n = channel.index();
            let open = self.state.regulation.record[n].since.is_some();
            if !open && !self.state.regulation.none[n] {
                continue;
            }
            if open {
                self.follow_record(channel);
            } else if self.is_short(channel) && !planted!(self, RecordNeverOpened) {
                if planted!(self, RecordLate) && !self.state.now.is_multiple_of(u64::from(u64::BITS)) {
                    continue;
                }
                self.open_record(channel);
            }
        }
    }

    /// The channel is in WARNING or worse, or at its latest start.
    fn is_short(&self, channel: Channel) -> bool {
        matches!(self.state.regulation.band[channel.index()], Band::Warning | Band::Danger)
    }

    fn open_record(&mut self, channel: Channel) {
        let now = self.state.now;
        let urgency = self.profile.regulation.comfort - self.state.levels.of(channel);
        let record = &mut self.state.regulation.edit(self.phase).record[channel.index()];
        record.t0 = Some(now);
        record.since = Some(now);
        record.messages = 1;
        record.urgency = urgency;
        self.emit(|| What::Uncontrolled { channel, open: true });
        self.emit(|| What::Call { channel: Some(channel) });
    }

    fn follow_record(&mut self, channel: Channel) {
        let n = channel.index();
        let now = self.state.now;
        if !self.state.regulation.none[n] {
            let record = &mut self.state.regulation.edit(self.phase).record[n];
            record.t0 = None;
            record.since = None;
            record.messages = 0;
            record.asking = false;
            self.emit(|| What::Uncontrolled { channel, open: false });
            self.trigger(Trigger::Evidence);
            return;
        }
        let record = &self.state.regulation.record[n];
        let backoff = &self.profile.regulation.help_backoff;
        let sent = usize::from(record.messages).saturating_sub(1);
        let due: i64 = backoff.iter().take(sent + 1).sum();
        let endless = planted!(self, HelpWithoutEnd) && self.state.now.is_multiple_of(u64::from(u32::BITS));
        if endless {
            let messages = &mut self.state.regulation.edit(self.phase).record[n].messages;
            *messages = messages.saturating_add(1);
            return;
        }
        if sent < backoff.len() && record.since.is_some_and(|since| now == since + due.cast_unsigned()) {
            let present = self.state.beliefs.present != 0;
            let record = &mut self.state.regulation.edit(self.phase).record[n];
            record.messages += 1;
            record.asking = present;
            if present {
                self.trigger(Trigger::Evidence);
            } else {
                self.emit(|| What::Call { channel: Some(channel) });
            }
        }
    }

    /// Somebody was asked: this call is out, whatever came of it (RC-RES-13).
    pub(crate) fn asked(&mut self) {
        if self.state.regulation.record.iter().any(|record| record.asking) {
            for record in &mut self.state.regulation.edit(self.phase).record {
                record.asking = false;
            }
        }
    }

    /// Whether the next phase of an item ends before every other deadline (GD-33, RC-SAF-18, RC-LIF-15).
    pub(crate) fn phase_fits(&self, item: &Item) -> bool {
        let interaction = &self.profile.interaction;
        let approach = match item.phase {
            Phase::Pending | Phase::Blocked | Phase::Suspended => {
                let steps = self.destination(item).map_or(0, |(_, steps)| i64::from(steps));
                steps + interaction.approach_turn + interaction.approach_reserve
            }
            _ => 0,
        };
        self.fits(item.kind, approach, item.tier, item.owner, Channel::of_goal(item.goal)).is_none()
    }

    /// The channel whose deadline an Interaction would miss, if any.
    pub(crate) fn fits(
        &self,
        kind: Kind,
        approach: i64,
        tier: Tier,
        owner: Owner,
        own: Option<Channel>,
    ) -> Option<Channel> {
        if tier == Tier::T0 || owner == Owner::Safety {
            return None;
        }
        let row = self.profile.interaction.of(kind);
        let end = self.state.now + (approach + row.minimum + row.cleanup).cast_unsigned();
        Channel::ALL.into_iter().filter(|channel| Some(*channel) != own).find(|channel| {
            // Channels that are at their deadline already are served in the order of their deadlines.
            let waiting = self.state.regulation.tier1 & channel.bit() != 0;
            !(waiting && tier == Tier::T1)
                && self.latest_during(*channel, kind).is_some_and(|latest| end > latest)
        })
    }

    /// The first channel of Tier 1 in the order of deadlines.
    pub(crate) fn first_tier1(&self) -> Option<Channel> {
        Channel::ALL.into_iter().find(|channel| self.state.regulation.tier1 & channel.bit() != 0)
    }
}

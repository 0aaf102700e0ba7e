//! V01: three days without anybody, and the same with a supply gone (GD-91).

use super::Rooms;
use super::drive::{Drive, ROOM_CHECKS, setup};
use crate::outcome::Outcome;
use crate::scenario::{Check, Choice, Context, Demand, Scenario, Seeds, no_gate};
use crate::unit::{Unit, seeded};
use room::fixed::ONE;
use room::input::{Command, Verb};
use room::setup::Setup;
use room::state::{Band, Channel};
use room::world::Obj;

const HEADER: &str = "
claim: With supplies, no reserve crosses K.regulation.failure_boundary in K.fixture.v01_ticks, and the longest
  interval without a service stays below K.regulation.max_service_interval.
claim: Without a supply its channel has an open record within K.regulation.uncontrollable_max_delay of the first tick
  at which nothing serves it, at most four messages go out, and the other channels are served.
threshold lowest: K.regulation.failure_boundary
threshold opened: K.regulation.uncontrollable_max_delay
threshold messages: 4
field: regulation.record
";

const CHECKS: [Check; 12] = {
    let mut checks = [Check { id: "V01.2", demand: Demand::SomeRun }; 12];
    let mut n = 0;
    while n < ROOM_CHECKS.len() {
        checks[n] = ROOM_CHECKS[n];
        n += 1;
    }
    checks[n] = Check { id: "V01.1", demand: Demand::EveryRun };
    checks[n + 1] = Check { id: "V01.2", demand: Demand::SomeRun };
    checks[n + 2] = Check { id: "V01.3", demand: Demand::SomeRun };
    checks[n + 3] = Check { id: "LIV-10", demand: Demand::EveryRun };
    checks
};

/// The scenario.
pub(super) fn scenario() -> Scenario<Rooms> {
    Scenario {
        id: "V01",
        title: "Unattended homeostasis",
        version: 1,
        stage: 0,
        tags: &[
            "world",
            "safety",
            "regulation",
            "tier_utility",
            "body",
            "queue",
            "reducer_physical",
            "expectation",
        ],
        seeds: Seeds::all("V01"),
        header: HEADER,
        script: &[("v01.rs", include_str!("v01.rs")), ("drive.rs", include_str!("drive.rs"))],
        checks: &CHECKS,
        needs: &["drink", "meal", "sleep", "inspection", "exploration", "record opened", "four messages"],
        mutations: &[
            "clock_in_decay",
            "address_as_number",
            "address_in_fold",
            "environment_threshold",
            "leftover_counter",
            "debug_branch",
            "lost_triggers",
            "lost_visits",
            "decision_writes_levels",
            "record_never_opened",
            "record_late",
            "help_without_end",
        ],
        units,
        run,
        record: |unit, context| Some(drive(unit, context)).and_then(|(drive, _)| drive.record()),
        gate: no_gate,
    }
}

fn units(choice: &Choice) -> Vec<Unit> {
    let indices = || Seeds::all("V01").indices(choice.set);
    let mut units = seeded("V01", &["main"], &["mira", "niko"], indices());
    units.extend(seeded("V01", &["water", "food", "energy"], &["mira"], indices()));
    units
}

/// What has nothing left with a channel: without bed and chair nothing eases pain or posture either.
fn unserved(gone: Option<Channel>, channel: Channel) -> bool {
    gone == Some(channel)
        || (gone == Some(Channel::Energy) && matches!(channel, Channel::Pain | Channel::Posture))
}

/// The supplies that an arm takes away, and the channel that then has nothing.
fn taken(arm: &str) -> Option<(Channel, [Command; 2])> {
    let empty = |id, object| Command::new(id, Verb::Restock).on(object).amount(0);
    let broken = |id, object| Command::new(id, Verb::Break).on(object);
    Some(match arm {
        "water" => (Channel::Hydration, [empty(1, Obj::Dispenser), empty(2, Obj::Jug)]),
        "food" => (Channel::Calories, [empty(1, Obj::Pantry), empty(2, Obj::Tin)]),
        "energy" => (Channel::Energy, [broken(1, Obj::Bed), broken(2, Obj::Chair)]),
        _ => return None,
    })
}

fn run(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let (mut drive, seen) = drive(unit, context);
    seen.judge(&mut drive, taken(&unit.arm).map(|(channel, _)| channel));
    drive.finish()
}

fn drive<'a>(unit: &Unit, context: &Context<'a, Rooms>) -> (Drive<'a>, Seen) {
    let mut setup: Setup = setup(unit, context);
    if let Some((_, commands)) = taken(&unit.arm) {
        setup.fixture.before = commands.to_vec();
        setup.fixture.permanent = true;
    }
    let ticks = context.world.profile.fixture.v01_ticks.cast_unsigned();
    let mut drive = Drive::start(unit, context, setup);
    let mut seen = Seen::default();
    for _ in 0..ticks {
        drive.step(&[]);
        seen.look(&drive, taken(&unit.arm).map(|(channel, _)| channel));
    }
    (drive, seen)
}

/// What is measured on the way.
#[derive(Default)]
struct Seen {
    /// Tick of the last service of each channel, and the longest interval so far.
    last: [u64; Channel::COUNT],
    longest: [u64; Channel::COUNT],
    energy: i64,
    awake: u64,
    longest_awake: u64,
    /// First tick at which the channel of the arm was short.
    short: Option<u64>,
    /// First tick of its record.
    opened: Option<u64>,
    messages: u8,
}

impl Seen {
    fn look(&mut self, drive: &Drive<'_>, gone: Option<Channel>) {
        let state = drive.room.state();
        let now = state.now;
        for channel in [Channel::Hydration, Channel::Calories] {
            let n = channel.index();
            self.last[n] = self.last[n].max(state.regulation.served[n]);
            self.longest[n] = self.longest[n].max(now - self.last[n]);
        }
        // Energy rises only while the Agent sleeps or rests.
        let resting = state.levels.energy > self.energy || state.levels.energy == ONE;
        self.energy = state.levels.energy;
        self.awake = if resting { 0 } else { self.awake + 1 };
        self.longest_awake = self.longest_awake.max(self.awake);
        if let Some(channel) = gone {
            let n = channel.index();
            let short = matches!(state.regulation.band[n], Band::Warning | Band::Danger);
            if short && self.short.is_none() {
                self.short = Some(now);
            }
            if state.regulation.record[n].since.is_some() && self.opened.is_none() {
                self.opened = Some(now);
            }
            self.messages = self.messages.max(state.regulation.record[n].messages);
        }
    }

    fn judge(&self, drive: &mut Drive<'_>, gone: Option<Channel>) {
        let profile = std::sync::Arc::clone(drive.room.profile());
        let ticks = drive.room.now();
        let [energy, hydration, calories, ..] = profile.regulation.max_service_interval;
        let contract = [hydration, calories].map(i64::cast_unsigned);
        let lowest = drive.room.checks().lowest;
        let state = drive.room.state();
        let inspections: u32 = state.mind.inspected.iter().map(|inspected| inspected.count).sum();
        let (slept, explored) =
            (state.regulation.served[Channel::Energy.index()] > 0, state.mind.explored.is_some());
        let outcome = &mut drive.outcome;
        outcome.require(
            "V01.1",
            ticks == profile.fixture.v01_ticks.cast_unsigned(),
            Some(ticks),
            "too_short",
        );
        for channel in Channel::ALL.into_iter().filter(|channel| !unserved(gone, *channel)) {
            let n = channel.index();
            outcome.require("V01.2", lowest[n] > profile.regulation.failure_boundary, None, channel.name());
            outcome.count(&format!("lowest_{}", channel.name()), lowest[n]);
        }
        for (channel, contract) in [Channel::Hydration, Channel::Calories].into_iter().zip(contract) {
            if Some(channel) != gone {
                let longest = self.longest[channel.index()];
                outcome.require("V01.2", longest < contract, None, "interval");
                outcome.count(&format!("interval_{}", channel.name()), longest.cast_signed());
                let reached = if channel == Channel::Hydration { "drink" } else { "meal" };
                if self.last[channel.index()] > 0 {
                    outcome.reach(reached);
                }
            }
        }
        if gone != Some(Channel::Energy) {
            outcome.require("V01.2", self.longest_awake < energy.cast_unsigned(), None, "awake");
            outcome.count("awake", self.longest_awake.cast_signed());
        }
        for (reached, situation) in
            [(slept, "sleep"), (inspections > 0, "inspection"), (explored, "exploration")]
        {
            if reached {
                outcome.reach(situation);
            }
        }
        if gone.is_some() {
            self.judge_gone(outcome, profile.regulation.uncontrollable_max_delay.cast_unsigned());
        }
    }

    /// V01.3: in time, with an end to the messages.
    fn judge_gone(&self, outcome: &mut Outcome, delay: u64) {
        const MESSAGES_MAX: u8 = 4;
        let in_time = self.short.zip(self.opened).is_some_and(|(short, opened)| opened <= short + delay);
        outcome.require("V01.3", in_time, self.short, "not_opened");
        outcome.require("V01.3", self.messages <= MESSAGES_MAX, None, "messages");
        outcome.count("messages", i64::from(self.messages));
        if self.opened.is_some() {
            outcome.reach("record opened");
        }
        if self.messages == MESSAGES_MAX {
            outcome.reach("four messages");
        }
    }
}

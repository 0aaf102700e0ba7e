//! V08 in the room: what its own decisions did with layers, margins, pacing, repetition and Traits.

use super::Rooms;
use super::drive::{Drive, reach_if, setup, take_checks};
use crate::outcome::Outcome;
use crate::scenario::Context;
use crate::unit::Unit;
use room::Listen;
use room::event::{Decision, What};
use room::input::{Command, Verb};
use room::item::{Goal, Item, Label, Phase, Source, Tier};
use room::setup::{Identity, Setup};
use room::state::{Band, Levels, SafetyMode};
use room::world::Obj;

/// What is measured on the way.
#[derive(Default)]
pub(super) struct Watch {
    /// Start of the last novelty, and end of the last inspection.
    novelty: Option<u64>,
    inspected: Option<u64>,
    /// Ordinary decisions, and those made while Traits must not count.
    pub(super) ordinary: u64,
    pub(super) in_danger: u64,
    switches: u64,
    /// Everything that was chosen.
    pub(super) chosen: Vec<String>,
}

/// Ticks in which the repetition of the family is still felt: 0.08 at 0.0006 a tick.
const FELT: u64 = 100;

impl Watch {
    /// One tick of the room, and its decision.
    pub(super) fn step(&mut self, drive: &mut Drive<'_>) {
        let decision = drive.step(&[]).iter().find_map(|event| match &event.what {
            What::Decision(decision) => Some(decision.clone()),
            _ => None,
        });
        self.pacing(drive);
        if let Some(decision) = decision {
            self.decided(drive, &decision);
        }
    }

    /// Novelties that nobody needs keep their distance (GD-43).
    fn pacing(&mut self, drive: &mut Drive<'_>) {
        let state = drive.room.state();
        let now = state.now - 1;
        let (novelty, pacing) = (state.mind.novelty, drive.room.profile().selection.novelty_pacing);
        let inspected = |item: &Item| item.goal == Goal::Inspect && item.label == Label::Succeeded;
        if state.queue.items.iter().any(inspected) {
            self.inspected = Some(now);
        }
        let begun = |item: &Item| {
            let for_itself = item.source == Source::Environment;
            for_itself && matches!(item.goal, Goal::Inspect | Goal::Explore) && item.phase == Phase::Pending
        };
        let begun = novelty == Some(now) && state.queue.items.iter().any(begun);
        let before = std::mem::replace(&mut self.novelty, novelty);
        if let Some(before) = before.filter(|_| begun) {
            let apart = now - before >= pacing.cast_unsigned();
            drive.outcome.require("V08.3.switches", apart, Some(now), "novelty_not_paced");
        }
    }

    fn decided(&mut self, drive: &mut Drive<'_>, decision: &Decision) {
        let state = drive.room.state();
        let now = state.now - 1;
        let danger = state.regulation.band.contains(&Band::Danger) || decision.safety != SafetyMode::Clear;
        let body = state.regulation.tier1 != 0;
        let margin = drive.room.profile().clock.switch_margin;
        let ordinary = matches!(decision.tier, Some(Tier::T3 | Tier::T4)) && decision.chosen.is_some();
        let felt = self.inspected.is_some_and(|tick| now < tick + FELT);
        let outcome = &mut drive.outcome;
        self.ordinary += u64::from(ordinary);
        self.chosen.extend(decision.chosen.clone());
        if body {
            outcome.require("V08.2", !ordinary, Some(now), "ordinary_before_body");
            outcome.reach("body before ordinary");
        }
        // There is a margin where something ordinary ran; what waits makes way for anything.
        if let Some(gap) = decision.margin.filter(|_| decision.stopped.is_some()) {
            self.switches += 1;
            outcome.require("V08.3.switches", gap >= margin, Some(now), "switch_without_margin");
        }
        for candidate in &decision.candidates {
            let Some(parts) = candidate.parts else { continue };
            if danger {
                self.in_danger += 1;
                outcome.require("V08.3.danger", parts.correction == 0, Some(now), "trait_in_danger");
            }
            if felt && candidate.id.starts_with("inspect:") {
                outcome.require("V08.1", parts.repetition < 0, Some(now), "repetition_forgotten");
            }
        }
    }

    pub(super) fn note(&self, outcome: &mut Outcome) {
        outcome.count("ordinary_decisions", self.ordinary.cast_signed());
        outcome.count("switches", self.switches.cast_signed());
        reach_if(outcome, self.in_danger > 0, "ordinary choice in danger");
    }
}

/// Ticks of a run in danger.
const TICKS: u64 = 3_600;
/// Water that is below the danger threshold and lasts for the run.
const THIRSTY: i64 = 100_000;
/// Food that has to be eaten at once.
const STARVING: i64 = 140_000;

/// Part D in the room: no water anywhere, a channel in DANGER that nothing can serve, and the same choices by both.
pub(super) fn danger(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let [mut mira, mut niko] = [Identity::Mira, Identity::Niko].map(|identity| {
        let mut drive = Drive::start(unit, context, dry(setup(unit, context), identity, context));
        drive.room.listen(Listen::Everything);
        (drive, Watch::default())
    });
    for (drive, watch) in [&mut mira, &mut niko] {
        (0..TICKS).for_each(|_| watch.step(drive));
    }
    let ((mut drive, watch), (other, others)) = (mira, niko);
    take_checks(&mut drive.outcome, &other.room);
    drive.outcome.ticks += other.room.now();
    let found = other.outcome;
    found.checks.iter().for_each(|(check, made)| drive.outcome.checked(check, *made));
    found.failures.iter().for_each(|failure| drive.outcome.fail(&failure.check, failure.tick, &failure.code));
    let same = watch.chosen == others.chosen && !watch.chosen.is_empty();
    drive.outcome.require("V08.3.danger", same, None, "identities_choose_differently");
    watch.note(&mut drive.outcome);
    drive.finish()
}

fn dry(mut setup: Setup, identity: Identity, context: &Context<'_, Rooms>) -> Setup {
    let empty = |(object, id)| Command::new(id, Verb::Restock).on(object).amount(0);
    setup.identity = identity;
    setup.fixture.before = [Obj::Dispenser, Obj::Jug].into_iter().zip(1..).map(empty).collect();
    setup.fixture.permanent = true;
    let profile = std::sync::Arc::clone(&context.world.profile);
    let start = room::Room::new(profile, setup.clone()).expect("the setup of a scenario starts");
    setup.fixture.levels = Some(Levels { hydration: THIRSTY, calories: STARVING, ..*start.state().levels });
    setup
}

//! The candidates of stage 0 (GD-37): what could be done now, and where the idea comes from.

use super::View;
use crate::grid::Cell;
use crate::item::{Goal, Source, Tier};
use crate::kind::Kind;
use crate::state::{Channel, SafetyMode};
use crate::world::Obj;

/// Something that could be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) goal: Goal,
    pub(crate) kind: Kind,
    pub(crate) target: Option<Obj>,
    pub(crate) cell: Option<Cell>,
    pub(crate) human: Option<u8>,
    pub(crate) tier: Tier,
    pub(crate) source: Source,
}

impl Candidate {
    pub(crate) fn of(goal: Goal, kind: Kind, target: Option<Obj>, tier: Tier, source: Source) -> Candidate {
        Candidate { goal, kind, target, cell: None, human: None, tier, source }
    }

    /// Its ID: what sorts the pool before a draw (GD-42).
    pub(crate) fn id(&self) -> String {
        let target = self.target.map_or("-", Obj::name);
        match self.cell {
            Some(cell) => format!("{}:{}:{target}:{}", self.goal.name(), self.kind.name(), cell.0),
            None => format!("{}:{}:{target}", self.goal.name(), self.kind.name()),
        }
    }
}

/// The sources of a reserve, the fallible first (GD-11).
pub(crate) const WATER: [Obj; 2] = [Obj::Dispenser, Obj::Jug];
/// Food.
pub(crate) const FOOD: [Obj; 2] = [Obj::Pantry, Obj::Tin];

/// What a stage-0 Agent can look at for its own sake.
const NOVEL: [Obj; 14] = [
    Obj::Workbench,
    Obj::Radio,
    Obj::SharedBox,
    Obj::Heater,
    Obj::Breaker,
    Obj::Cup,
    Obj::Window,
    Obj::NoticeBoard,
    Obj::Picture,
    Obj::Clock,
    Obj::Plant,
    Obj::Table,
    Obj::Drawer,
    Obj::Door,
];

/// Every candidate of Tiers 2 and 3, and of Tier 3 needs. Tier 1 and Tier 4 are made where they are decided.
pub(crate) fn all(view: &View<'_>, out: &mut Vec<Candidate>) {
    cue(view, out);
    wanted(view, out);
    needs(view, out);
    comfort(view, out);
    novelty(view, out);
}

fn cue(view: &View<'_>, out: &mut Vec<Candidate>) {
    if view.mind.cue.is_some() {
        out.push(Candidate::of(Goal::Cue, Kind::LookAt, Some(Obj::Clock), Tier::T2, Source::Cue));
    }
}

/// What the content of a scenario asks for, and what has to be done before it.
fn wanted(view: &View<'_>, out: &mut Vec<Candidate>) {
    let Some(want) = view.setup.fixture.want.as_ref().filter(|want| view.mind.wanted < want.times) else {
        return;
    };
    let mut step = Candidate::of(Goal::Want, want.kind, want.target, Tier::T3, Source::Human);
    step.human = want.human;
    let holds = view.body.hand;
    match want.kind {
        Kind::PutDown | Kind::Give if holds.is_none() => step = first_take(view, want.target),
        Kind::PickUp | Kind::Receive if holds.is_some() => {
            step = Candidate::of(Goal::Want, Kind::PutDown, holds, Tier::T3, Source::Human);
        }
        Kind::Open | Kind::Close => {
            // Open what is closed, close what is open: the wish is to handle it.
            let on = want.target.is_some_and(|target| view.seen(target).on);
            step.kind = if on { Kind::Close } else { Kind::Open };
        }
        _ => {}
    }
    if lost(view, step.target) {
        step = Candidate::of(Goal::Search, Kind::Scan, step.target, Tier::T3, Source::Human);
    }
    out.push(step);
}

fn first_take(_: &View<'_>, target: Option<Obj>) -> Candidate {
    Candidate::of(Goal::Want, Kind::PickUp, target, Tier::T3, Source::Human)
}

/// Believed nowhere: it has to be looked for (GD-37 SEARCH).
fn lost(view: &View<'_>, target: Option<Obj>) -> bool {
    target.is_some_and(|obj| view.seen(obj).parent.place == crate::world::Place::Destroyed)
}

fn needs(view: &View<'_>, out: &mut Vec<Candidate>) {
    let comfort = view.profile.regulation.comfort;
    let low = |channel| view.levels.of(channel) < comfort;
    if low(Channel::Hydration) {
        supplies(view, Channel::Hydration, Kind::Drink, WATER, out);
    }
    if low(Channel::Calories) {
        supplies(view, Channel::Calories, Kind::Eat, FOOD, out);
    }
    if low(Channel::Energy) {
        out.push(Candidate::of(Goal::Energy, Kind::Sleep, Some(Obj::Bed), Tier::T3, Source::Need));
        out.push(Candidate::of(Goal::Energy, Kind::Rest, Some(Obj::Chair), Tier::T3, Source::Need));
    }
    if view.levels.engagement > view.profile.regulation.engagement_band {
        out.push(Candidate::of(Goal::Relief, Kind::Idle, None, Tier::T3, Source::Need));
    }
}

/// The backup is not touched while the primary is usable (GD-11).
fn supplies(
    view: &View<'_>,
    channel: Channel,
    kind: Kind,
    [primary, backup]: [Obj; 2],
    out: &mut Vec<Candidate>,
) {
    let goal = channel.goal();
    out.push(Candidate::of(goal, kind, Some(primary), Tier::T3, Source::Need));
    if !super::tier1::usable(view, goal, primary) && !planted!(view, BackupUnused) {
        out.push(Candidate::of(goal, kind, Some(backup), Tier::T3, Source::Need));
    }
}

/// The lowest subchannel first, so that what the first one gains is monotone in the worst source (GD-30).
fn comfort(view: &View<'_>, out: &mut Vec<Candidate>) {
    let mut sources = [Channel::Pain, Channel::Thermal, Channel::Posture];
    if sources.iter().all(|channel| view.levels.of(*channel) >= view.profile.regulation.comfort) {
        return;
    }
    sources.sort_by_key(|channel| view.levels.of(*channel));
    let low = |channel: &Channel| view.levels.of(*channel) < view.profile.regulation.comfort;
    for channel in sources.into_iter().filter(low) {
        if channel == Channel::Thermal {
            temperature(view, out);
        } else {
            out.push(Candidate::of(channel.goal(), Kind::Rest, Some(Obj::Chair), Tier::T3, Source::Need));
        }
    }
}

fn temperature(view: &View<'_>, out: &mut Vec<Candidate>) {
    out.extend(warm_up(view, Tier::T3));
    if view.seen(Obj::Window).on {
        out.push(Candidate::of(Goal::Thermal, Kind::Close, Some(Obj::Window), Tier::T3, Source::Need));
    }
}

/// The nearest cell outside of both zones.
pub(crate) fn warm_cell(view: &View<'_>) -> Option<Cell> {
    let regulation = &view.profile.regulation;
    let zones = [(Obj::Heater, regulation.thermal_hot_radius), (Obj::Window, regulation.thermal_cold_radius)];
    let outside = |cell: Cell| {
        zones
            .iter()
            .all(|(obj, radius)| view.layout.cells(*obj).iter().all(|at| at.manhattan(cell) > *radius))
    };
    Cell::all()
        .filter(|cell| outside(*cell))
        .filter_map(|cell| view.paths.distance(view.body.cell, cell).map(|steps| (steps, cell)))
        .min()
        .map(|(_, cell)| cell)
}

/// Going where the temperature comes back by itself, or waiting where the body stands already.
pub(crate) fn warm_up(view: &View<'_>, tier: Tier) -> Option<Candidate> {
    let cell = warm_cell(view)?;
    let here = cell == view.body.cell;
    let kind = if here { Kind::Wait } else { Kind::WalkTo };
    let mut candidate = Candidate::of(Goal::Thermal, kind, None, tier, Source::Need);
    candidate.cell = (!here).then_some(cell);
    Some(candidate)
}

/// Looking at something for its own sake (INSPECT), paced (GD-43).
fn novelty(view: &View<'_>, out: &mut Vec<Candidate>) {
    let pacing = view.profile.selection.novelty_pacing.cast_unsigned();
    let paced = view.mind.novelty.is_some_and(|start| view.now < start + pacing);
    if (paced && !planted!(view, PacingIgnored)) || view.safety != SafetyMode::Clear {
        return;
    }
    for obj in NOVEL {
        if super::tier3::information(view, obj) >= view.profile.selection.admission {
            out.push(Candidate::of(Goal::Inspect, Kind::LookAt, Some(obj), Tier::T3, Source::Environment));
        }
    }
}

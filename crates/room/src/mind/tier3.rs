//! Tier 3: what each candidate is worth (GD-41), and which are in the running.

use super::View;
use super::candidates::Candidate;
use crate::choose::{Behaviour, Execution};
use crate::item::{Goal, Source};
use crate::kind::Kind;
use crate::learn::EFFECTS;
use crate::reject::Reject;
use crate::score::{self, Contributions, Expense};
use crate::setup::Identity;
use crate::state::{Band, Channel, SafetyMode};
use crate::traits::{Tag, correction};
use crate::world::Obj;

/// A candidate with its score, or with the code of its rejection.
pub(crate) struct Scored {
    pub(crate) candidate: Candidate,
    pub(crate) parts: Contributions,
    pub(crate) reject: Option<Reject>,
}

/// Tests and scores every candidate.
pub(crate) fn score_all(view: &View<'_>, candidates: &[Candidate], out: &mut Vec<Scored>) {
    for candidate in candidates {
        let mut scored =
            Scored { candidate: candidate.clone(), parts: Contributions::default(), reject: None };
        scored.reject = view.reject(candidate);
        if scored.reject.is_none() {
            scored.parts = parts(view, candidate);
            scored.reject = in_the_way(view, candidate, &scored.parts);
        }
        out.push(scored);
    }
}

fn in_the_way(view: &View<'_>, candidate: &Candidate, parts: &Contributions) -> Option<Reject> {
    let selection = &view.profile.selection;
    let behaviour = candidate.behaviour();
    match () {
        () if !parts.admissible(selection) => Some(Reject::BelowAdmission),
        () if view.memory.locked(selection, behaviour, view.now) => Some(Reject::AlternationLock),
        () if view.memory.stopped(selection, &candidate.execution(), view.now) => Some(Reject::FamilyShare),
        () => None,
    }
}

/// The contributions to a candidate (GD-41).
pub(crate) fn parts(view: &View<'_>, candidate: &Candidate) -> Contributions {
    let selection = &view.profile.selection;
    Contributions {
        gain: gain(view, candidate),
        role: if asked_for(candidate) { score::role(selection, selection.relevance_role) } else { 0 },
        information: match (candidate.goal, candidate.target) {
            (Goal::Inspect, Some(obj)) => information(view, obj),
            _ => 0,
        },
        correction: traits(view, candidate),
        cost: score::cost(selection, &expense(view, candidate)),
        repetition: view.memory.repetition(selection, &candidate.execution(), view.now),
    }
    .clamped(selection)
}

/// What content asks for, and the search for it, which inherits where it comes from (GD-37).
fn asked_for(candidate: &Candidate) -> bool {
    candidate.goal == Goal::Want || (candidate.goal == Goal::Search && candidate.source == Source::Human)
}

/// Worth of one more inspection of an object.
pub(crate) fn information(view: &View<'_>, obj: Obj) -> i64 {
    score::information(&view.profile.selection, inspections(view, obj))
}

/// Inspections of an object since its premise changed.
fn inspections(view: &View<'_>, obj: Obj) -> u32 {
    let inspected = &view.mind.inspected[obj.index()];
    let same = inspected.premise_version == view.seen(obj).premise_version;
    if same { inspected.count } else { 0 }
}

fn gain(view: &View<'_>, candidate: &Candidate) -> i64 {
    let (regulation, selection) = (&view.profile.regulation, &view.profile.selection);
    if candidate.goal == Goal::Relief {
        let urgency = score::overload(regulation, selection, view.levels.engagement);
        return score::regulation_gain(selection, urgency, crate::fixed::ONE, -regulation.engagement_idle);
    }
    if let (Goal::Inspect, Some(obj)) = (candidate.goal, candidate.target) {
        return novelty(view, candidate.kind, obj);
    }
    let Some(channel) = Channel::of_goal(candidate.goal) else { return 0 };
    let urgency = score::urgency(regulation, selection, view.expected_level(channel));
    let (success, effect) = match candidate.target {
        Some(obj) => (view.success(candidate.kind, obj), expected_effect(view, candidate, channel, obj)),
        None => (crate::fixed::ONE, crate::fixed::ONE),
    };
    score::regulation_gain(selection, urgency, success, effect)
}

/// Underload asks for what is truly new: an object that was not inspected since its premise changed (GD-31, GD-35).
fn novelty(view: &View<'_>, kind: Kind, obj: Obj) -> i64 {
    let (regulation, selection) = (&view.profile.regulation, &view.profile.selection);
    let urgency = score::underload(regulation, selection, view.levels.engagement);
    if urgency == 0 || inspections(view, obj) > 0 {
        return 0;
    }
    score::regulation_gain(selection, urgency, view.success(kind, obj), regulation.engagement_novelty)
}

/// Learned effect on the channel; leaving a zone or closing a window lets the channel recover by itself.
fn expected_effect(view: &View<'_>, candidate: &Candidate, channel: Channel, obj: Obj) -> i64 {
    if channel == Channel::Thermal {
        return view.profile.selection.effect_full;
    }
    let expectation = view.expectations.expected(view.profile, candidate.kind, obj as u8, view.context());
    expectation.effects[place(channel)]
}

/// Place of a channel in an effect vector: the columns of GD-35.
pub(crate) fn place(channel: Channel) -> usize {
    let order: [Channel; EFFECTS - 1] = [
        Channel::Energy,
        Channel::Hydration,
        Channel::Calories,
        Channel::Thermal,
        Channel::Pain,
        Channel::Posture,
    ];
    order.iter().position(|known| *known == channel).unwrap_or(0)
}

fn expense(view: &View<'_>, candidate: &Candidate) -> Expense {
    let cells = match (candidate.target, candidate.cell) {
        (Some(obj), _) => view.access(obj).map_or(0, |(_, steps)| i64::from(steps)),
        (None, Some(cell)) => view.paths.distance(view.body.cell, cell).map_or(0, i64::from),
        (None, None) => 0,
    };
    let waiting = candidate
        .target
        .map_or(0, |obj| view.expectations.wait_cost(view.profile, obj as u8, view.now).cast_signed());
    let ticks =
        cells + detour(view, candidate) + view.profile.interaction.of(candidate.kind).minimum + waiting;
    let portions = i64::from(matches!(candidate.kind, Kind::Drink | Kind::Eat));
    Expense { ticks, cells, risk: 0, portions }
}

/// Ticks that a way is believed to cost on top, because it was found blocked before (RC-ROU-01c).
fn detour(view: &View<'_>, candidate: &Candidate) -> i64 {
    if view.expectations.cells.is_empty() {
        return 0;
    }
    let goal =
        candidate.cell.or_else(|| candidate.target.and_then(|obj| view.access(obj)).map(|(cell, _)| cell));
    let Some(goal) = goal else { return 0 };
    let route = view.paths.route(view.body.cell, goal);
    view.expectations.route_cost(view.profile, route, view.now).cast_signed()
}

fn traits(view: &View<'_>, candidate: &Candidate) -> i64 {
    let selection = &view.profile.selection;
    let tag = match candidate.goal {
        Goal::Inspect => Tag::ExploreNovel,
        Goal::Search => Tag::SearchSelf,
        Goal::Help => Tag::AskHuman,
        _ => return 0,
    };
    let vector = match view.setup.identity {
        Identity::Mira => &selection.trait_mira,
        Identity::Niko => &selection.trait_niko,
    };
    let danger = view.regulation.band.contains(&Band::Danger);
    let ordinary = view.safety == SafetyMode::Clear && !danger;
    correction(selection, vector, tag, ordinary || planted!(view, TraitsInDanger))
}

impl Candidate {
    /// What it is compared by.
    pub(crate) fn behaviour(&self) -> Behaviour {
        Behaviour { kind: self.kind, object: self.target.map(|obj| obj as u8) }
    }

    /// What it would count as.
    pub(crate) fn execution(&self) -> Execution {
        Execution {
            behaviour: self.behaviour(),
            object_family: self.target.map_or(0, |obj| obj.family() as u8),
            goal: self.goal as u8,
            wanted: matches!(self.source, Source::Need | Source::Human | Source::Cue),
        }
    }
}

//! Tier 1: which channel is served, and how (GD-33, GD-40).

use super::View;
use super::candidates::{Candidate, FOOD, WATER, warm_cell, warm_up};
use crate::item::{Goal, Source, Tier};
use crate::kind::Kind;
use crate::state::Channel;
use crate::world::{Obj, Place};

/// The two ways of serving a channel, as far as they are believed to work.
pub(crate) struct Executors {
    /// The ordinary way, which may fail.
    pub(crate) primary: Option<(Kind, Obj)>,
    /// The way that cannot fail.
    pub(crate) backup: Option<(Kind, Obj)>,
    /// A way that needs no object (leaving a zone).
    pub(crate) free: bool,
}

/// Whether an object is believed to serve a goal now.
pub(crate) fn usable(view: &View<'_>, goal: Goal, obj: Obj) -> bool {
    let seen = view.seen(obj);
    let stocked = !matches!(goal, Goal::Hydration | Goal::Calories) || seen.stock > 0;
    let there = !matches!(seen.parent.place, Place::Destroyed | Place::HumanHand);
    stocked && there && !seen.broken && view.allowed(goal, obj).is_ok() && view.reachable(obj)
}

/// What can serve a channel.
pub(crate) fn executors(view: &View<'_>, channel: Channel) -> Executors {
    let goal = channel.goal();
    let way = |kind, obj| usable(view, goal, obj).then_some((kind, obj));
    match channel {
        Channel::Hydration => {
            Executors { primary: way(Kind::Drink, WATER[0]), backup: way(Kind::Drink, WATER[1]), free: false }
        }
        Channel::Calories => {
            Executors { primary: way(Kind::Eat, FOOD[0]), backup: way(Kind::Eat, FOOD[1]), free: false }
        }
        Channel::Energy => Executors {
            primary: way(Kind::Sleep, Obj::Bed),
            backup: way(Kind::Rest, Obj::Chair),
            free: false,
        },
        Channel::Pain | Channel::Posture => {
            Executors { primary: None, backup: way(Kind::Rest, Obj::Chair), free: false }
        }
        Channel::Thermal => Executors { primary: None, backup: None, free: warm_cell(view).is_some() },
    }
}

/// The option for a channel whose latest start has come. `late` says that primary and backup do not fit any more one
/// after the other: then the guaranteed way comes first. `fits` is the admission of a phase.
pub(crate) fn best_option(
    view: &View<'_>,
    channel: Channel,
    late: bool,
    fits: impl Fn(Kind, Obj) -> bool,
) -> Option<Candidate> {
    let of = |(kind, obj)| Candidate::of(channel.goal(), kind, Some(obj), Tier::T1, Source::Need);
    let ways = executors(view, channel);
    if ways.free {
        return warm_up(view, Tier::T1);
    }
    let ways = if planted!(view, BackupUnused) { Executors { backup: None, ..ways } } else { ways };
    let order = if late { [ways.backup, ways.primary] } else { [ways.primary, ways.backup] };
    let mut options = order.into_iter().flatten();
    options.clone().find(|(kind, obj)| fits(*kind, *obj)).or_else(|| options.next()).map(of)
}

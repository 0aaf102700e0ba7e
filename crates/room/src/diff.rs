//! Where two runs part: tick, phase, field (GD-05). Both are run side by side; states are compared phase by phase only
//! in the one tick that matters.

use crate::input::Input;
use crate::record::Feed;
use crate::room::Room;
use crate::section::Phase;
use crate::shape::Shape;
use crate::state::State;
use canon::Value;

/// The first difference of two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Tick in which it arose; 0 with phase P1 when the rooms start differently.
    pub tick: u64,
    /// Phase that made it.
    pub phase: Phase,
    /// Path of the first field that differs, as `queue.items.0.phase`.
    pub field: String,
    /// What it is in the first run.
    pub a: String,
    /// What it is in the second run.
    pub b: String,
}

/// A room and its inputs.
pub struct Side<'i> {
    /// The room.
    pub room: Room,
    /// Everything from outside.
    pub inputs: &'i [Input],
}

/// Ticks between the points that the search goes back to.
const STRIDE: u64 = 4_096;

/// Finds the first difference within `ticks`; `None` when there is none. Runs each side once, and the last stretch once
/// more.
#[must_use]
pub fn first_difference(a: Side<'_>, b: Side<'_>, ticks: u64) -> Option<Difference> {
    let (left, right) = (a.room, b.room);
    if let Some(difference) = compare(left.state(), right.state(), left.now(), Phase::P1) {
        return Some(difference);
    }
    let mut runs = Pair { left, feed_a: Feed::new(a.inputs), right, feed_b: Feed::new(b.inputs) };
    let mut back = runs.clone();
    for n in 0..ticks {
        if n % STRIDE == 0 {
            back = runs.clone();
        }
        if runs.step() {
            return Some(again(back, runs.left.now()));
        }
    }
    None
}

/// Two rooms and what they are fed.
#[derive(Clone)]
struct Pair<'i> {
    left: Room,
    feed_a: Feed<'i>,
    right: Room,
    feed_b: Feed<'i>,
}

impl Pair<'_> {
    /// One tick of both. True when their folds part.
    fn step(&mut self) -> bool {
        let tick = self.left.now();
        self.left.step(self.feed_a.at(tick));
        self.right.step(self.feed_b.at(tick));
        self.left.fold() != self.right.fold()
    }

    /// The same, looking at every phase.
    fn step_watched(&mut self) -> Option<Difference> {
        let tick = self.left.now();
        let a = phases(&mut self.left, self.feed_a.at(tick));
        let b = phases(&mut self.right, self.feed_b.at(tick));
        let part = a.iter().zip(&b).find_map(|((phase, a), (_, b))| compare(a, b, tick, *phase));
        part.or_else(|| compare(self.left.state(), self.right.state(), tick, Phase::P15))
    }
}

/// Runs from the last point on, and looks at every phase of the tick in which the folds part, which ends before `end`.
fn again(back: Pair<'_>, end: u64) -> Difference {
    let mut runs = back.clone();
    while runs.left.now() + 1 < end {
        if runs.step() {
            // It did not part here the first time: rooms that are not the same twice are looked at in every tick.
            return in_every_tick(back, end);
        }
    }
    runs.step_watched().unwrap_or_else(|| in_every_tick(back, end))
}

fn in_every_tick(mut runs: Pair<'_>, end: u64) -> Difference {
    while runs.left.now() < end + STRIDE {
        let tick = runs.left.now();
        if let Some(difference) = runs.step_watched() {
            return difference;
        }
        if runs.left.fold() != runs.right.fold() {
            return by_fold(runs.left, runs.right, tick);
        }
    }
    by_fold(runs.left, runs.right, end)
}

/// The folds differ and the written forms do not: a fold is not that of its section, or something is hashed that is not
/// written.
fn by_fold(mut left: Room, mut right: Room, tick: u64) -> Difference {
    let (a, b) = (left.fold(), right.fold());
    let field = left.state().stale().or_else(|| right.state().stale()).unwrap_or_else(|| "fold".to_owned());
    Difference { tick, phase: Phase::P15, field, a: format!("{a:016x}"), b: format!("{b:016x}") }
}

fn phases(room: &mut Room, commands: &[crate::input::Command]) -> Vec<(Phase, State)> {
    let mut states = Vec::new();
    room.step_watched(commands, &mut |phase, state| states.push((phase, state.clone())));
    states
}

fn compare(a: &State, b: &State, tick: u64, phase: Phase) -> Option<Difference> {
    if a == b {
        return None;
    }
    let (field, a, b) = differing(&a.show(), &b.show(), "")?;
    Some(Difference { tick, phase, field, a, b })
}

/// The first place at which two canonical forms differ, and both texts.
fn differing(a: &Value, b: &Value, at: &str) -> Option<(String, String, String)> {
    let under = |step: &str| if at.is_empty() { step.to_owned() } else { format!("{at}.{step}") };
    match (a, b) {
        (Value::Object(left), Value::Object(right)) => left.iter().find_map(|(name, value)| {
            differing(value, right.get(name).unwrap_or(&Value::Null), &under(name))
        }),
        (Value::Array(left), Value::Array(right)) => {
            let shorter = left.len().min(right.len());
            let inside = (0..shorter).find_map(|n| differing(&left[n], &right[n], &under(&n.to_string())));
            let longer = || {
                (left.len() != right.len())
                    .then(|| (under("length"), left.len().to_string(), right.len().to_string()))
            };
            inside.or_else(longer)
        }
        _ if a == b => None,
        _ => Some((at.to_owned(), text(a), text(b))),
    }
}

fn text(value: &Value) -> String {
    String::from_utf8_lossy(&canon::canonical(value)).into_owned()
}

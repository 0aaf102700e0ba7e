//! V22a: one cause told in 1, 5 or 20 events moves what it moves once (GD-97). The causes go through the inlet that the
//! Reducer uses; what comes of them is read from the next decision of a room that goes on with their slow fields.

use super::Rooms;
use super::drive::{Drive, checks_of_some, reach_if, setup};
use crate::outcome::Outcome;
use crate::scenario::{Check, Choice, Context, Demand, Scenario, Seeds, no_gate, no_record};
use crate::unit::{Unit, enumerated};
use canon::Value;
use room::episode::{
    CONTROL_EXPECTATION, Component, Episodes, Evidence, Override, Overrider, Share, cap_lineage,
};
use room::event::What;
use room::fixed::{ONE, div};
use room::grid::Cell;
use room::input::{Command, Verb};
use room::item::{Evidence::NoEffect, Item, Owner};
use room::kind::Kind;
use room::learn::{Attribution, Context as Day, EFFECTS, Expectations, Observed};
use room::profile::Profile;
use room::setup::Hazard;
use room::shape::Shape;
use room::state::Levels;
use room::tell::{Slow, Told, trace};
use room::world::Obj;
use room::{Listen, Room};
use std::collections::BTreeSet;
use std::sync::Arc;

const HEADER: &str = "
claim: One cause told in 1, 5 or 20 events, of one cluster or of several of its episode and in each order of its fields,
  leaves bit-equal slow fields and bit-equal scores in the next decision.
claim: Three independent causes add up; three clusters of one cause stay within K.learning.episode_cap.
claim: Leaving a cause out leaves its field as it was and every other as with it. The trace lists cluster, path and total
  of each field; no episode changes a score by more than K.learning.lineage_cap, and an ancestor and its descendant
  do not count in full side by side.
threshold budget: 0.12
threshold events: 20
field: reducer_physical.episodes
field: expectation.success
field: agency.control_expectation
";

const CHECKS: [Check; 11] = checks_of_some(&[
    Check { id: "V22a.1", demand: Demand::EveryRun },
    Check { id: "V22a.2", demand: Demand::EveryRun },
    Check { id: "V22a.3", demand: Demand::EveryRun },
]);

/// The kinds of episodes of stage 0 (RC-FIX-05), vectors of several fields, and a room in which such episodes happen.
const ARMS: [&str; 7] = ["target", "path", "body", "operator", "safety", "vector", "room"];
/// Encodings: how many events one cause is told in.
const EVENTS: [u32; 3] = [1, 5, 20];
/// Fields of the largest vector (GD-97).
const FIELDS: usize = 5;
/// Level at which water and food are wanted and not yet urgent, so that the next decision weighs them at their most.
const WANTING: i64 = 220_000;
/// The same for sleep, which is urgent earlier.
const TIRED: i64 = 400_000;
/// Ticks in which the next decision comes.
const NEXT_MAX: u64 = 200;

/// The scenario.
pub(super) fn scenario() -> Scenario<Rooms> {
    Scenario {
        id: "V22a",
        title: "Stage 0 evidence splitting and causal DAG",
        version: 1,
        stage: 0,
        tags: &["world", "regulation", "tier_utility", "reducer_physical", "expectation", "agency"],
        seeds: Seeds::Enumerated,
        header: HEADER,
        script: &[("v22a.rs", include_str!("v22a.rs")), ("drive.rs", include_str!("drive.rs"))],
        checks: &CHECKS,
        needs: &[
            "score changed",
            "control expectation changed",
            "budget reached",
            "accumulated",
            "failed drink",
            "takeover",
        ],
        mutations: &["lost_episodes", "learns_twice", "cluster_per_event"],
        units: |_: &Choice| enumerated("V22a", &ARMS, &["mira"], 1),
        run,
        record: no_record,
        gate: no_gate,
    }
}

fn run(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let mut outcome = Outcome::new(unit);
    let budget = context.header.number("budget").unwrap_or_default();
    if unit.arm == "room" {
        return in_the_room(unit, context);
    }
    if unit.arm == "vector" {
        vectors(&mut outcome, &context.world.profile, budget);
        return outcome;
    }
    let base = Base::new(unit, context);
    splitting(&mut outcome, &base, &unit.arm);
    accumulation(&mut outcome, &base, &unit.arm);
    ablation(&mut outcome, &base, &unit.arm, budget);
    outcome
}

/// A room before its first decision.
struct Base {
    profile: Arc<Profile>,
    saved: Value,
    episodes: Episodes,
    expectations: Expectations,
    /// A cell on the way that the Agent will take.
    on_the_way: Cell,
}

/// Nothing is wanted but water.
fn thirsty() -> Levels {
    Levels {
        energy: ONE,
        hydration: WANTING,
        calories: ONE,
        thermal: ONE,
        pain: 0,
        posture: ONE,
        engagement: 0,
    }
}

/// Slow fields after some causes, and the scores that follow.
#[derive(Clone, Debug, PartialEq)]
struct After {
    expectations: Expectations,
    control: i64,
    scores: Vec<(String, i64)>,
}

/// An event: its episode, its cluster, and what it says.
type Event = (u32, u32, Told);

impl Base {
    fn new(unit: &Unit, context: &Context<'_, Rooms>) -> Base {
        let profile = Arc::clone(&context.world.profile);
        let mut setup = setup(unit, context);
        setup.fixture.levels = Some(Levels { energy: TIRED, calories: WANTING, ..thirsty() });
        let mut room = Room::new(Arc::clone(&profile), setup).expect("the setup of a scenario starts");
        (context.world.prepare)(&mut room);
        let (episodes, expectations) =
            ((*room.state().episodes).clone(), (*room.state().expectations).clone());
        let saved = room.save();
        let start = room.state().body.cell;
        let mut ahead = room.fork();
        while ahead.state().body.cell == start && ahead.now() < NEXT_MAX {
            ahead.step(&[]);
        }
        Base { profile, saved, episodes, expectations, on_the_way: ahead.state().body.cell }
    }

    fn after(&self, events: &[Event]) -> (After, Episodes) {
        let (mut episodes, mut expectations) = (self.episodes.clone(), self.expectations.clone());
        for (episode, cluster, told) in events {
            let (episodes, expectations) = (&mut episodes, &mut expectations);
            Slow { profile: &self.profile, episodes, expectations }.tell(*episode, *cluster, told, 0);
        }
        let scores = self.scores(&episodes, &expectations);
        let control = episodes.control_expectation(&self.profile, 0);
        (After { expectations, control, scores }, episodes)
    }

    /// The scores of the next decision of the room with these slow fields.
    fn scores(&self, episodes: &Episodes, expectations: &Expectations) -> Vec<(String, i64)> {
        let mut saved = self.saved.as_object().cloned().unwrap_or_default();
        let mut state = saved.get("state").and_then(Value::as_object).cloned().unwrap_or_default();
        state.set("episodes", episodes.show());
        state.set("expectations", expectations.show());
        saved.set("state", state);
        let mut room =
            Room::load(Arc::clone(&self.profile), &saved.into()).expect("slow fields are read back");
        room.listen(Listen::Everything);
        for _ in 0..NEXT_MAX {
            for event in room.step(&[]) {
                if let What::Decision(decision) = &event.what
                    && !decision.candidates.is_empty()
                {
                    return decision.candidates.iter().map(|one| (one.id.clone(), one.score)).collect();
                }
            }
        }
        Vec::new()
    }

    /// What the cause of an arm comes to.
    fn told(&self, arm: &str) -> Told {
        let over = |by| Told::Override(Override { episode: 0, by, perceivable: true, from: 0, until: None });
        match arm {
            "target" => self.outcome(Attribution::Failure),
            "body" => self.outcome(Attribution::Success),
            "path" => Told::Blocked(self.on_the_way),
            "operator" => over(Overrider::Operator),
            _ => over(Overrider::Safety),
        }
    }

    /// A drink at the dispenser.
    fn outcome(&self, attribution: Attribution) -> Told {
        let mut effects = [0; EFFECTS];
        effects[1] = self.profile.regulation.drink_effect;
        let duration = self.profile.interaction.drink_wcet.unsigned_abs();
        let (kind, object, context) = (Kind::Drink, Obj::Dispenser as u8, Day::Day);
        Told::Outcome(Observed { kind, object, context, attribution, effects, duration })
    }
}

/// Numbers of the causes: far from those that the room gives.
const FIRST: u32 = 1_000;

/// V22a.1: events of one cluster, and of several clusters of one episode.
fn splitting(outcome: &mut Outcome, base: &Base, arm: &str) {
    let told = base.told(arm);
    let (nothing, _) = base.after(&[]);
    let (once, _) = base.after(&[(FIRST, FIRST, told.clone())]);
    outcome.require("V22a.1", once != nothing, None, "moves_nothing");
    outcome.require("V22a.1", !once.scores.is_empty(), None, "no_decision");
    reach_if(outcome, once.scores != nothing.scores, "score changed");
    reach_if(outcome, once.control != nothing.control, "control expectation changed");
    for events in EVENTS {
        let same: Vec<Event> = (0..events).map(|_| (FIRST, FIRST, told.clone())).collect();
        let own: Vec<Event> = (0..events).map(|n| (FIRST, FIRST + n, told.clone())).collect();
        for (encoded, code) in [(same, "events_of_a_cluster"), (own, "clusters_of_an_episode")] {
            let (after, _) = base.after(&encoded);
            outcome.require("V22a.1", after.expectations == once.expectations, None, code);
            outcome.require("V22a.1", after.control == once.control, None, code);
            outcome.require("V22a.1", after.scores == once.scores, None, "scores");
        }
    }
    outcome.state_hash =
        once.scores.iter().fold(0, |hash, (_, score)| room::draw::mix(hash ^ score.cast_unsigned()));
}

/// V22a.2: three causes, in each order and with repetitions in between.
fn accumulation(outcome: &mut Outcome, base: &Base, arm: &str) {
    let event = |n: u32| (FIRST + n, FIRST + n, base.told(arm));
    let one = base.after(&[event(0)]).0;
    let two = base.after(&[event(0), event(1)]).0;
    let three = base.after(&[event(0), event(1), event(2)]).0;
    let differ = one != two && two != three && one != three;
    outcome.require("V22a.2", differ, None, "independent_causes_do_not_add_up");
    reach_if(outcome, differ, "accumulated");
    for order in orders(&[0, 1, 2]) {
        let told: Vec<Event> = order.iter().flat_map(|n| [event(*n), event(order[0])]).collect();
        outcome.require("V22a.2", base.after(&told).0 == three, None, "order");
    }
}

/// V22a.3: one cause of each kind; the trace, the size, and what is left when one is left out.
fn ablation(outcome: &mut Outcome, base: &Base, arm: &str, budget: i64) {
    let kinds: Vec<(&str, u32)> = ["target", "path", "operator"].into_iter().zip(FIRST..).collect();
    let events = |left_out: &str| -> Vec<Event> {
        let kept = kinds.iter().filter(|(kind, _)| *kind != left_out);
        kept.map(|(kind, n)| (*n, *n, base.told(kind))).collect()
    };
    let (nothing, (all, book)) = (base.after(&[]).0, base.after(&events("")));
    for (kind, _) in &kinds {
        let without = base.after(&events(kind)).0;
        let pick = |of: bool, after: &After| if of { after.clone() } else { nothing.clone() };
        let (learned, blocked, control) =
            (pick(*kind != "target", &all), pick(*kind != "path", &all), pick(*kind != "operator", &all));
        let same = without.expectations.list == learned.expectations.list
            && without.expectations.cells == blocked.expectations.cells
            && without.control == control.control;
        outcome.require("V22a.3", same, None, "ablation");
    }
    let lines = trace(&book);
    outcome.require("V22a.3", lines.len() == kinds.len(), None, "trace_length");
    for ((_, number), line) in kinds.iter().zip(&lines) {
        let named =
            (line.episode, line.cluster) == (*number, *number) && line.path.matches(" > ").count() == 2;
        outcome.require("V22a.3", named, None, "trace_line");
        outcome.require("V22a.3", line.total <= budget, None, "episode_total");
    }
    within(outcome, base, arm, budget);
}

/// One episode changes no score by more than the budget, and neither do an ancestor and its descendant together.
fn within(outcome: &mut Outcome, base: &Base, arm: &str, budget: i64) {
    let (nothing, once) = (base.after(&[]).0, base.after(&[(FIRST, FIRST, base.told(arm))]).0);
    for ((id, before), (same, after)) in nothing.scores.iter().zip(&once.scores) {
        outcome.require("V22a.3", id == same, None, "candidates");
        let change = after - before;
        outcome.require("V22a.3", change.abs() <= budget, None, "score_budget");
        outcome.count("largest_change", change.abs());
        let mut shares =
            [Share { cluster: FIRST, value: change }, Share { cluster: FIRST, value: change * 2 }];
        cap_lineage(&base.profile.learning, &mut shares);
        let together: i64 = shares.iter().map(|share| share.value.abs()).sum();
        outcome.require("V22a.3", together <= budget, None, "descendant_counted_in_full");
    }
}

/// Ticks of the arm `room`, and those of its dangers.
const ROOM_TICKS: u64 = 6_000;
const DANGERS: [u64; 2] = [1_000, 3_000];
const TTC: u64 = 40;

/// A thirsty Agent, a dispenser that gives nothing, and two dangers: each Outcome and each takeover moves what one cause
/// moves, and nothing else does.
fn in_the_room(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    let profile = Arc::clone(&context.world.profile);
    let base = Base::new(unit, context);
    let mut setup = setup(unit, context);
    setup.fixture.levels = Some(thirsty());
    setup.fixture.before = vec![Command::new(1, Verb::Damage).on(Obj::Dispenser)];
    let [x, y] = profile.fixture.v03_source;
    setup.fixture.hazard =
        Cell::at(x, y).map(|cell| Hazard { cell, ttc: TTC, visible: true, controllable: true });
    let mut drive = Drive::start(unit, context, setup);
    let (mut failed, mut takeovers) = (BTreeSet::new(), 0);
    let mut owner = Owner::Agent;
    for tick in 0..ROOM_TICKS {
        let ignite = Command::new(2 + tick, Verb::Ignite);
        drive.step(if DANGERS.contains(&tick) { std::slice::from_ref(&ignite) } else { &[] });
        let state = drive.room.state();
        let before = std::mem::replace(&mut owner, state.control.owner);
        takeovers += i64::from(before != owner && owner == Owner::Safety);
        let failing = |item: &&Item| item.target == Some(Obj::Dispenser) && item.evidence == NoEffect;
        failed.extend(state.queue.items.iter().filter(failing).map(|item| item.id));
    }
    let state = drive.room.state();
    let told: Vec<Event> =
        (FIRST..).zip(&failed).map(|(n, _)| (n, n, base.outcome(Attribution::Failure))).collect();
    let asked = base.after(&told).0.expectations;
    let of = |expectations: &Expectations| {
        let one = |context| expectations.expected(&profile, Kind::Drink, Obj::Dispenser as u8, context);
        [Day::Day, Day::Night].map(one)
    };
    let learned = of(&asked) == of(&state.expectations);
    let control = state.episodes.control_expectation(&profile, state.now);
    let moved = profile.learning.control_expectation_initial - control;
    let lines = trace(&state.episodes);
    let overrides = lines.iter().filter(|line| line.field == CONTROL_EXPECTATION);
    let step = -profile.learning.control_expectation_step;
    let (once, count) = (overrides.clone().all(|line| line.total == step), overrides.count());
    let outcome = &mut drive.outcome;
    outcome.require("V22a.1", learned, None, "outcomes_and_steps");
    outcome.require("V22a.2", takeovers > 0 && moved == takeovers * step, None, "takeovers_and_steps");
    outcome.require("V22a.3", once && count as i64 == takeovers, None, "trace_of_takeovers");
    reach_if(outcome, !failed.is_empty(), "failed drink");
    reach_if(outcome, takeovers > 0, "takeover");
    drive.finish()
}

/// Vectors of up to five fields: every order, every encoding, one budget.
fn vectors(outcome: &mut Outcome, profile: &Profile, budget: i64) {
    let fields: Vec<Component> = (1..=FIELDS as u32)
        .map(|field| Component { field, value: -20_000 - 10_000 * i64::from(field), range: ONE })
        .collect();
    for count in 1..=FIELDS {
        let whole = committed(profile, &[(FIRST, FIRST, fields[..count].to_vec())]);
        let norm: i64 = whole.iter().map(|part| div(part.value.abs(), part.range)).sum();
        outcome.require("V22a.3", norm <= budget, None, "vector_budget");
        reach_if(outcome, norm * 10 > budget * 9, "budget reached");
        for order in orders(&fields[..count]) {
            for events in EVENTS {
                let told: Vec<_> = (0..events).map(|_| (FIRST, FIRST, order.clone())).collect();
                outcome.require("V22a.1", committed(profile, &told) == whole, None, "vector_order");
            }
        }
    }
    let statement = |episode, cluster| (episode, cluster, vec![Component { value: -100_000, ..fields[0] }]);
    let of = |told: &[(u32, u32, Vec<Component>)]| {
        committed(profile, told).iter().map(|part| part.value).sum::<i64>()
    };
    let independent = of(&[statement(1, 1), statement(2, 2), statement(3, 3)]);
    outcome.require("V22a.2", independent == 3 * of(&[statement(1, 1)]), None, "independent_vectors");
    let one_cause = of(&[statement(1, 1), statement(1, 2), statement(1, 3)]);
    outcome.require("V22a.2", one_cause.abs() == budget, None, "clusters_of_one_cause");
}

/// Everything that these commits move, in the order of fields.
fn committed(profile: &Profile, told: &[(u32, u32, Vec<Component>)]) -> Vec<Component> {
    let mut episodes = Episodes::new(profile);
    let mut sum: Vec<Component> = Vec::new();
    for (episode, cluster, raw) in told {
        let commit = episodes.commit(profile, *episode, *cluster, raw);
        let deltas = if commit.evidence == Evidence::New { commit.deltas } else { Vec::new() };
        for delta in deltas {
            match sum.iter_mut().find(|part| part.field == delta.field) {
                Some(part) => part.value += delta.value,
                None => sum.push(delta),
            }
        }
    }
    sum.sort_by_key(|part| part.field);
    sum
}

/// All orders of a list.
fn orders<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    if list.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for place in 0..list.len() {
        let mut rest = list.to_vec();
        let first = rest.remove(place);
        all.extend(orders(&rest).into_iter().map(|mut order| {
            order.insert(0, first.clone());
            order
        }));
    }
    all
}

//! V05: a person and the environment between the phases of a handling, and edits of the system in each of them (GD-93).

use super::drive::{Drive, checks};
use super::{Rooms, v05_kinds, v05_special, v05_watch};
use crate::outcome::Outcome;
use crate::scenario::{Check, Choice, Context, Demand, Scenario, Seeds, no_gate};
use crate::unit::{Unit, seeded};
use room::Listen;
use room::draw::{Stream, draw, uniform};
use room::kind::Kind;
use v05_kinds::{Act, Edit, Plan, With};
use v05_watch::Watch;

const HEADER: &str = "
claim: PickUp, PutDown, Open, Close, Give and Receive, K.fixture.v05_n interleavings each over all seeds: at one tick of the life of
  an item a person or the environment acts, and in one of its phases an edit comes.
claim: What an edit touches is over 3 ticks later, the commit that it waits for included, and nothing of it goes on.
claim: A preparation that is preempted while it holds a reservation, and one whose proposal ends while it is suspended, give it
  back within K.clock.soft_release_max ticks; every end is CLOSED within K.clock.terminal_to_closed_max. What waits for a person is
  BLOCKED after K.clock.pending_max ticks, and given up K.clock.blocked_max ticks later unless the person is back.
claim: Each object has one place, hands and objects agree, each Outcome counts once, and no edit leaves a half Interaction.
threshold runs: 100 per seed and kind
threshold edited: 3 ticks
threshold released: K.clock.soft_release_max
threshold closed: K.clock.terminal_to_closed_max
field: world.objects
field: queue.items
";

const CHECKS: [Check; 14] = checks(&[
    Check { id: "INV-10", demand: Demand::SomeRun },
    Check { id: "LIV-01", demand: Demand::EveryRun },
    Check { id: "V05.1", demand: Demand::SomeRun },
    Check { id: "V05.2", demand: Demand::SomeRun },
    Check { id: "V05.3", demand: Demand::EveryRun },
    Check { id: "V05.4", demand: Demand::EveryRun },
]);

/// The kinds, as arms.
const KINDS: [&str; 6] = ["PickUp", "PutDown", "Open", "Close", "Give", "Receive"];
/// The two special reproductions of V05.3, and what waits for a person who has left, one of each a seed.
const SPECIAL: [&str; 3] = ["preempted", "expired", "blocked"];

/// The scenario.
pub(super) fn scenario() -> Scenario<Rooms> {
    Scenario {
        id: "V05",
        title: "Object interleaving and system editing",
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
            "agency",
        ],
        seeds: Seeds::all("V05"),
        header: HEADER,
        script: &[
            ("v05.rs", include_str!("v05.rs")),
            ("v05_kinds.rs", include_str!("v05_kinds.rs")),
            ("v05_special.rs", include_str!("v05_special.rs")),
            ("v05_watch.rs", include_str!("v05_watch.rs")),
            ("drive.rs", include_str!("drive.rs")),
        ],
        checks: &CHECKS,
        needs: v05_kinds::NEEDS,
        mutations: &[
            "acts_raced",
            "arrival_order",
            "lost_paths",
            "lost_recent",
            "lost_deferred",
            "old_list_kept",
            "hand_not_cleared",
            "two_active",
            "outcome_twice",
            "not_reserved",
            "loss_not_noted",
            "edit_leaves_half",
            "edit_during_commit",
            "pending_without_end",
            "blocked_without_end",
            "cleaning_without_end",
            "commit_without_end",
            "run_without_end",
            "suspended_holds",
            "suspension_renews",
            "opposite_first_stays",
            "speech_first",
        ],
        units,
        run,
        record,
        gate: no_gate,
    }
}

fn units(choice: &Choice) -> Vec<Unit> {
    let indices = || Seeds::all("V05").indices(choice.set);
    let mut units = seeded("V05", &KINDS, &["mira"], indices());
    units.extend(seeded("V05", &SPECIAL, &["mira"], indices()));
    units
}

fn run(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    if SPECIAL.contains(&unit.arm.as_str()) {
        return v05_special::run(unit, context).finish();
    }
    interleavings(unit, context, &mut |_, _| false).0.finish()
}

/// Every interleaving of a unit, until `stop` says so.
fn interleavings<'a>(
    unit: &Unit,
    context: &Context<'a, Rooms>,
    stop: &mut dyn FnMut(u64, &Outcome) -> bool,
) -> (Drive<'a>, Option<u64>) {
    let kind = Kind::of(&unit.arm).unwrap_or(Kind::PickUp);
    let mut drive = v05_kinds::start(unit, context, kind);
    let Some(item) = v05_kinds::until_proposed(&mut drive, kind) else {
        drive.outcome.require("V05.1", false, Some(drive.room.now()), "not_proposed");
        return (drive, None);
    };
    let life = Life::of(&drive, item);
    drive.outcome.require("V05.1", life.ticks > 0 && life.ticks < LIFE_MAX, None, "undisturbed_life");
    let runs = context.header.number("runs").unwrap_or_default().cast_unsigned();
    for n in 0..runs {
        one(&mut drive, context, (kind, item), &life, n);
        if stop(n, &drive.outcome) {
            return (drive, Some(n));
        }
    }
    (drive, None)
}

/// One interleaving in so many is folded in every tick, and saved and loaded. With the edits it has no common factor.
const SAMPLED: u64 = 15;
/// Ticks after which an undisturbed item must be CLOSED: waiting, approach and action at their longest.
const LIFE_MAX: u64 = 120;

/// The undisturbed life of an item: the phase of each of its ticks.
pub(super) struct Life {
    ticks: u64,
    phases: Vec<room::item::Phase>,
}

impl Life {
    fn of(drive: &Drive<'_>, item: u32) -> Life {
        let mut fork = drive.fork(1, 1);
        let mut phases = Vec::new();
        while let Some(phase) = v05_watch::phase(&fork.room, item)
            && (phases.len() as u64) < LIFE_MAX
        {
            phases.push(phase);
            fork.step(&[]);
        }
        Life { ticks: phases.len() as u64, phases }
    }

    /// How long a phase lasts.
    fn lasts(&self, phase: room::item::Phase) -> u64 {
        self.phases.iter().filter(|one| **one == phase).count() as u64
    }
}

/// The `k`-th draw of interleaving `n`, below `bound`.
pub(super) fn drawn(context: &Context<'_, Rooms>, stream: Stream, (n, k): (u64, u64), bound: u64) -> u64 {
    uniform(draw(context.seed.unwrap_or(0), stream as u64, n, k), bound.max(1))
}

/// What interleaving `n` does: the act and its tick are drawn, edits and phases go round.
fn plan(context: &Context<'_, Rooms>, life: &Life, kind: Kind, n: u64) -> Plan {
    let phase = v05_kinds::PHASES[(n / Edit::ALL.len() as u64) as usize % v05_kinds::PHASES.len()];
    Plan {
        act: Act::ALL[drawn(context, Stream::Interleaving, (n, 0), Act::ALL.len() as u64) as usize],
        act_at: drawn(context, Stream::Interleaving, (n, 1), life.ticks),
        with: With::ALL[drawn(context, Stream::Interleaving, (n, 3), With::ALL.len() as u64) as usize],
        edit: Edit::ALL[n as usize % Edit::ALL.len()],
        phase,
        after: drawn(context, Stream::Interleaving, (n, 2), life.lasts(phase)),
        content: drawn(context, Stream::Content, (n, 0), u64::MAX),
        kind,
    }
}

fn one(drive: &mut Drive<'_>, context: &Context<'_, Rooms>, (kind, item): (Kind, u32), life: &Life, n: u64) {
    let plan = plan(context, life, kind, n);
    // Loaded in the tick after the act: what waits and what merges is in the snapshot, or is lost.
    let mut fork = drive.fork_of(n.is_multiple_of(SAMPLED), plan.act_at + 1);
    fork.room.listen(Listen::Everything);
    let mut watch = Watch::new(item, plan);
    while watch.goes_on(&fork.room) {
        let commands = watch.commands(&fork.room);
        fork.step(&commands);
        watch.look(&fork.room, context.header);
    }
    watch.judge(&fork.room, &mut drive.outcome);
    fork.finish(&mut drive.outcome);
}

/// The first interleaving that fails, as one run.
fn record(unit: &Unit, context: &Context<'_, Rooms>) -> Option<Vec<u8>> {
    if SPECIAL.contains(&unit.arm.as_str()) {
        return v05_special::run(unit, context).record();
    }
    let n = interleavings(unit, context, &mut |_, outcome| outcome.failures_n > 0).1?;
    let kind = Kind::of(&unit.arm)?;
    let mut drive = v05_kinds::start(unit, context, kind);
    let item = v05_kinds::until_proposed(&mut drive, kind)?;
    let life = Life::of(&drive, item);
    let mut watch = Watch::new(item, plan(context, &life, kind, n));
    while watch.goes_on(&drive.room) {
        let commands = watch.commands(&drive.room);
        drive.step(&commands);
        watch.look(&drive.room, context.header);
    }
    drive.record()
}

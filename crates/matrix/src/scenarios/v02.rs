//! V02: an effect that is expected and does not come (GD-91).

use super::drive::{Drive, checks};
use super::{Rooms, v02_block, v02_latest, v02_queue};
use crate::outcome::Outcome;
use crate::scenario::{Check, Choice, Context, Demand, Scenario, Seeds, no_gate};
use crate::unit::{Unit, enumerated};

const HEADER: &str = "
claim: While an item for a channel is on its way no second one is queued, whatever asks for a decision in between; when it
  has settled, what waits for the same channel is canceled in the same tick.
claim: A primary that becomes unusable at any tick of PENDING, PREPARING or RUNNING is replaced by the backup before the level
  crosses K.regulation.danger_enter; without a backup the record of the channel is open K.regulation.uncontrollable_max_delay
  ticks later and before that.
claim: A primary that starts at its latest legal tick, K.interaction.walk_wcet steps away, and fails at its commit leaves time for the
  backup as far away: it is done before the danger time, also when a lease held the body at the latest start.
threshold items: 1
threshold opened: K.regulation.uncontrollable_max_delay
threshold walk: K.interaction.walk_wcet
field: queue.items
field: regulation.record
";

const CHECKS: [Check; 14] = checks(&[
    Check { id: "LIV-01", demand: Demand::EveryRun },
    Check { id: "V02.1", demand: Demand::SomeRun },
    Check { id: "V02.2", demand: Demand::EveryRun },
    Check { id: "V02.3", demand: Demand::SomeRun },
    Check { id: "V02.4", demand: Demand::SomeRun },
    Check { id: "V02.5", demand: Demand::SomeRun },
]);

/// The scenario.
pub(super) fn scenario() -> Scenario<Rooms> {
    Scenario {
        id: "V02",
        title: "Stale pending effect",
        version: 1,
        stage: 0,
        tags: &[
            "world",
            "regulation",
            "tier_utility",
            "body",
            "queue",
            "reducer_physical",
            "expectation",
            "safety",
            "agency",
        ],
        seeds: Seeds::Enumerated,
        header: HEADER,
        script: &[
            ("v02.rs", include_str!("v02.rs")),
            ("v02_block.rs", include_str!("v02_block.rs")),
            ("v02_latest.rs", include_str!("v02_latest.rs")),
            ("v02_queue.rs", include_str!("v02_queue.rs")),
            ("v02_room.rs", include_str!("v02_room.rs")),
            ("drive.rs", include_str!("drive.rs")),
        ],
        checks: &CHECKS,
        needs: &[
            "slow item settled",
            "suspended preparation",
            "canceled on its way",
            "two waited",
            "waste",
            "stale item canceled",
            "backup used",
            "primary done before the block",
            "record opened",
            "failed at the commit",
            "lease at the latest start",
        ],
        mutations: &[
            "lost_pending",
            "drinks_from_nothing",
            "admission_skipped",
            "backup_unused",
            "effect_not_clamped",
            "pending_ignored",
            "not_revalidated",
            "deadline_unseen",
            "last_proposed_first",
        ],
        units,
        run,
        record: |unit, context| whole(unit, context).and_then(Drive::record),
        gate: no_gate,
    }
}

fn units(_: &Choice) -> Vec<Unit> {
    let mut arms: Vec<String> = Vec::new();
    for channel in ["hydration", "calories", "energy"] {
        for phase in v02_block::PHASES {
            arms.extend(["present", "absent"].map(|backup| format!("{channel}.{phase}.{backup}")));
        }
        arms.push(format!("{channel}.queue"));
        arms.push(format!("{channel}.latest"));
    }
    for channel in ["hydration", "calories"] {
        arms.extend(["suspended", "canceled", "waste"].map(|what| format!("{channel}.{what}")));
    }
    arms.push("hydration.order".to_owned());
    let arms: Vec<&str> = arms.iter().map(String::as_str).collect();
    enumerated("V02", &arms, &["mira"], 1)
}

fn run(unit: &Unit, context: &Context<'_, Rooms>) -> Outcome {
    if let Some(drive) = whole(unit, context) {
        return drive.finish();
    }
    let mut words = unit.arm.split('.');
    let (channel, phase) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match phase {
        "latest" => v02_latest::latest(unit, context, channel),
        _ => v02_block::block(unit, context, channel, phase, words.next() == Some("present")),
    }
}

/// The arms that are one run of one room.
fn whole<'a>(unit: &Unit, context: &Context<'a, Rooms>) -> Option<Drive<'a>> {
    let (channel, what) = unit.arm.split_once('.')?;
    Some(match what {
        "queue" => v02_queue::queue(unit, context, channel),
        "suspended" => v02_queue::suspended(unit, context, channel),
        "canceled" => v02_queue::canceled(unit, context, channel),
        "waste" => v02_queue::waste(unit, context, channel),
        "order" => v02_queue::order(unit, context, channel),
        _ => return None,
    })
}

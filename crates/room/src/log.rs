//! The log of section 9 as lines: one canonical JSON object an event, integers only (µ and ticks), codes and names.

use crate::event::{Considered, Decision, Event, What};
use crate::reject::Reject;
use crate::room::Trigger;
use crate::shape::Shape;
use canon::{Object, Value, canonical};

/// Appends the line of an event, with its line feed.
pub fn write_line(event: &Event, out: &mut Vec<u8>) {
    out.extend_from_slice(&canonical(&Value::Object(line(event))));
    out.push(b'\n');
}

/// An event as an object: `tick`, `sequence`, `what`, and what belongs to it.
#[must_use]
pub fn line(event: &Event) -> Object {
    let base = Object::new().with("tick", event.tick).with("sequence", event.sequence);
    match &event.what {
        What::Input(command) => base.with("what", "input").with("command", command.show()),
        What::Merged(command) => base.with("what", "merged").with("command", command.show()),
        What::Refused { about, reject } => {
            base.with("what", "refused").with("about", *about).with("verdict", triple(*reject))
        }
        What::Hazard { source, stage, risk } => base
            .with("what", "hazard")
            .with("authority", true)
            .with("source", u64::from(*source))
            .with("stage", stage.name())
            .with("risk", *risk),
        What::Safety { from, to } => change(base, "safety", from.name(), to.name()),
        What::Control { from, to } => change(base, "control", from.name(), to.name()),
        What::Recovery { from, to, cause } => {
            change(base, "recovery", from.name(), to.name()).with("cause", cause.name())
        }
        What::Call { channel } => base.with("what", "call").with("channel", channel.map(|c| c.name())),
        What::Edge { item, kind, from, to, label, evidence, exit } => {
            change(base, "edge", from.name(), to.name())
                .with("item", *item)
                .with("kind", kind.name())
                .with("label", label.name())
                .with("evidence", evidence.name())
                .with("exit", exit.name())
        }
        What::Reservation { item, object, held } => base
            .with("what", "reservation")
            .with("item", *item)
            .with("object", object.name())
            .with("held", *held),
        What::Outcome { item, part, success } => base
            .with("what", "outcome")
            .with("item", *item)
            .with("part", u64::from(*part))
            .with("success", *success),
        What::Duplicate { item, part } => {
            base.with("what", "duplicate").with("item", *item).with("part", u64::from(*part))
        }
        What::Wrote { field, of, from, to } => base
            .with("what", "wrote")
            .with("field", *field)
            .with("of", *of)
            .with("from", *from)
            .with("to", *to),
        What::Kept { field, why } => base.with("what", "kept").with("field", *field).with("why", *why),
        What::Moved { object, to } => {
            base.with("what", "moved").with("object", object.name()).with("to", to.show())
        }
        What::Band { channel, from, to } => {
            change(base, "band", from.name(), to.name()).with("channel", channel.name())
        }
        What::Controllable { channel, to } => {
            base.with("what", "controllable").with("channel", channel.name()).with("to", to.name())
        }
        What::Uncontrolled { channel, open } => {
            base.with("what", "uncontrolled").with("channel", channel.name()).with("open", *open)
        }
        What::Fact { kind, object } => {
            base.with("what", "fact").with("kind", kind.name()).with("object", object.map(|o| o.name()))
        }
        What::Edited { verb } => {
            base.with("what", "edited").with("verb", verb.name()).with("initiator", "system")
        }
        What::Decision(decision) => decided(base, decision),
    }
}

fn change(base: Object, what: &str, from: &str, to: &str) -> Object {
    base.with("what", what).with("from", from).with("to", to)
}

/// The rejection as it is recorded everywhere: action, layer, reason (V-7).
fn triple(reject: Reject) -> Object {
    let triple = reject.triple();
    Object::new()
        .with("action", triple.action.word())
        .with("layer", triple.layer)
        .with("reason", triple.reason)
}

fn decided(base: Object, decision: &Decision) -> Object {
    let triggers: Vec<&str> = Trigger::ALL
        .into_iter()
        .filter(|trigger| decision.triggers & (1 << *trigger as u32) != 0)
        .map(Trigger::name)
        .collect();
    let pool: Vec<Object> = decision
        .pool
        .iter()
        .map(|(id, weight)| Object::new().with("id", id.as_str()).with("weight", *weight))
        .collect();
    let intent =
        decision.intent.map(|(goal, kind)| Object::new().with("goal", goal.name()).with("kind", kind.name()));
    base.with("what", "decision")
        .with("number", decision.number)
        .with("world_version", decision.version)
        .with("triggers", triggers)
        .with("safety", decision.safety.name())
        .with("owner", decision.owner.name())
        .with("intent", intent)
        .with("candidates", decision.candidates.iter().map(considered).collect::<Vec<_>>())
        .with("tier", decision.tier.map(|tier| tier.name()))
        .with("pool", pool)
        .with("draw", decision.draw.map(|draw| format!("{draw:016x}")))
        .with("margin", decision.margin)
        .with("chosen", decision.chosen.as_deref())
        .with("item", decision.item)
        .with("stopped", decision.stopped)
        .with("cell", decision.cell.map(|cell| u64::from(cell.0)))
}

fn considered(candidate: &Considered) -> Object {
    let parts = candidate.parts.map(|parts| {
        Object::new()
            .with("gain", parts.gain)
            .with("role", parts.role)
            .with("information", parts.information)
            .with("correction", parts.correction)
            .with("cost", parts.cost)
            .with("repetition", parts.repetition)
    });
    Object::new()
        .with("id", candidate.id.as_str())
        .with("source", candidate.source.name())
        .with("tier", candidate.tier.name())
        .with("rejected", candidate.reject.map(triple))
        .with("parts", parts)
        .with("score", candidate.score)
}

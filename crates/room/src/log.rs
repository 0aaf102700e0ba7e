//! The log of section 9 as lines: one canonical JSON object an event, integers only (µ and ticks), codes and names. There are
//! several a tick, so each is written without a tree of values in between.

use crate::event::{Considered, Decision, Event, What};
use crate::reject::Reject;
use crate::room::Trigger;
use crate::shape::Shape;
use canon::{List, Members, Written};

/// Appends the line of an event, with its line feed: `tick`, `sequence`, `what`, and what belongs to it.
pub fn write_line(event: &Event, out: &mut Vec<u8>) {
    let mut line = Line { event, what: name(&event.what), members: Members::new(out), next: 0 };
    match &event.what {
        What::Decision(decision) => decided(&mut line, decision),
        other => happened(&mut line, other),
    }
    line.end();
    out.push(b'\n');
}

/// A line that is being written: members in the order of their names, and those of every line among them.
struct Line<'o> {
    event: &'o Event,
    what: &'static str,
    members: Members<'o>,
    /// How many of [`EVERY`] are written.
    next: usize,
}

/// Members of every line.
const EVERY: [&str; 3] = ["sequence", "tick", "what"];

impl<'o> Line<'o> {
    fn with(&mut self, name: &'static str, value: impl Written) -> &mut Line<'o> {
        self.until(name).with(name, value);
        self
    }

    /// The members of every line that come before `name`.
    fn until(&mut self, name: &str) -> &mut Members<'o> {
        while EVERY.get(self.next).is_some_and(|every| *every < name) {
            match self.next {
                0 => self.members.with(EVERY[0], self.event.sequence),
                1 => self.members.with(EVERY[1], self.event.tick),
                _ => self.members.with(EVERY[2], self.what),
            };
            self.next += 1;
        }
        &mut self.members
    }

    /// From one name to another.
    fn change(&mut self, from: &str, to: &str) -> &mut Line<'o> {
        self.with("from", from).with("to", to)
    }

    fn end(mut self) {
        self.until("\u{7f}");
        self.members.end();
    }
}

/// The kind of an event, as lines name it.
fn name(what: &What) -> &'static str {
    match what {
        What::Input(_) => "input",
        What::Merged(_) => "merged",
        What::Refused { .. } => "refused",
        What::Hazard { .. } => "hazard",
        What::Safety { .. } => "safety",
        What::Call { .. } => "call",
        What::Control { .. } => "control",
        What::Edge { .. } => "edge",
        What::Reservation { .. } => "reservation",
        What::Outcome { .. } => "outcome",
        What::Duplicate { .. } => "duplicate",
        What::Wrote { .. } => "wrote",
        What::Kept { .. } => "kept",
        What::Moved { .. } => "moved",
        What::Band { .. } => "band",
        What::Controllable { .. } => "controllable",
        What::Uncontrolled { .. } => "uncontrolled",
        What::Fact { .. } => "fact",
        What::Recovery { .. } => "recovery",
        What::Edited { .. } => "edited",
        What::Decision(_) => "decision",
    }
}

/// Everything but a decision.
fn happened(line: &mut Line<'_>, what: &What) {
    match what {
        What::Input(command) | What::Merged(command) => line.with("command", command.show()),
        What::Refused { about, reject } => {
            line.with("about", *about).until("verdict").object("verdict", |object| triple(*reject, object));
            line
        }
        What::Hazard { source, stage, risk } => line
            .with("authority", true)
            .with("risk", *risk)
            .with("source", u32::from(*source))
            .with("stage", stage.name()),
        What::Safety { from, to } => line.change(from.name(), to.name()),
        What::Control { from, to } => line.change(from.name(), to.name()),
        What::Recovery { from, to, cause } => line.with("cause", cause.name()).change(from.name(), to.name()),
        What::Call { channel } => line.with("channel", channel.map(|channel| channel.name())),
        What::Edge { item, kind, from, to, label, evidence, exit } => line
            .with("evidence", evidence.name())
            .with("exit", exit.name())
            .with("from", from.name())
            .with("item", *item)
            .with("kind", kind.name())
            .with("label", label.name())
            .with("to", to.name()),
        What::Reservation { item, object, held } => {
            line.with("held", *held).with("item", *item).with("object", object.name())
        }
        What::Outcome { item, part, success } => {
            line.with("item", *item).with("part", u32::from(*part)).with("success", *success)
        }
        What::Duplicate { item, part } => line.with("item", *item).with("part", u32::from(*part)),
        What::Wrote { field, of, from, to } => {
            line.with("field", *field).with("from", *from).with("of", *of).with("to", *to)
        }
        What::Kept { field, why } => line.with("field", *field).with("why", *why),
        What::Moved { object, to } => line.with("object", object.name()).with("to", to.show()),
        What::Band { channel, from, to } => {
            line.with("channel", channel.name()).change(from.name(), to.name())
        }
        What::Controllable { channel, to } => line.with("channel", channel.name()).with("to", to.name()),
        What::Uncontrolled { channel, open } => line.with("channel", channel.name()).with("open", *open),
        What::Fact { kind, object } => {
            line.with("kind", kind.name()).with("object", object.map(|object| object.name()))
        }
        What::Edited { verb } => line.with("initiator", "system").with("verb", verb.name()),
        What::Decision(_) => line,
    };
}

/// The rejection as it is recorded everywhere: action, layer, reason (V-7).
fn triple(reject: Reject, object: &mut Members<'_>) {
    let triple = reject.triple();
    object.with("action", triple.action.word()).with("layer", triple.layer).with("reason", triple.reason);
}

fn decided(line: &mut Line<'_>, decision: &Decision) {
    let triggers = Trigger::ALL.into_iter().filter(|trigger| decision.triggers & (1 << *trigger as u32) != 0);
    let members = &mut line.members;
    members
        .objects("candidates", &decision.candidates, considered)
        .with("cell", decision.cell.map(|cell| u64::from(cell.0)))
        .with("chosen", decision.chosen.as_deref())
        .with("draw", decision.draw.map(|draw| format!("{draw:016x}")).as_deref())
        .maybe("intent", decision.intent, |(goal, kind), object| {
            object.with("goal", goal.name()).with("kind", kind.name());
        })
        .with("item", decision.item)
        .with("margin", decision.margin)
        .with("number", decision.number)
        .with("owner", decision.owner.name())
        .objects("pool", &decision.pool, |(id, weight), object| {
            object.with("id", id.as_str()).with("weight", *weight);
        })
        .with("safety", decision.safety.name());
    line.with("stopped", decision.stopped)
        .with("tier", decision.tier.map(|tier| tier.name()))
        .with("triggers", List(triggers.map(Trigger::name)))
        .with("world_version", decision.version);
}

fn considered(candidate: &Considered, object: &mut Members<'_>) {
    object
        .with("id", candidate.id.as_str())
        .maybe("parts", candidate.parts, |parts, object| {
            object
                .with("correction", parts.correction)
                .with("cost", parts.cost)
                .with("gain", parts.gain)
                .with("information", parts.information)
                .with("repetition", parts.repetition)
                .with("role", parts.role);
        })
        .maybe("rejected", candidate.reject, triple)
        .with("score", candidate.score)
        .with("source", candidate.source.name())
        .with("tier", candidate.tier.name());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Command;
    use crate::input::Verb;
    use crate::item::{Evidence, Exit, Label, Phase};
    use crate::kind::Kind;
    use crate::profile::Profile;
    use crate::setup::{Identity, Setup};
    use crate::state::{
        Band, Channel, ControlMode, Controllable, FactKind, RecoveryCause, RecoveryMode, SafetyMode,
    };
    use crate::world::{Obj, Parent, Stage};
    use crate::{Listen, Room};
    use canon::{Reader, canonical};
    use std::collections::BTreeSet;

    /// A line is the canonical text of what it says, so its members are sorted and its numbers are in their one form.
    fn held(event: &Event) -> String {
        let mut line = Vec::new();
        write_line(event, &mut line);
        let text = line.strip_suffix(b"\n").unwrap();
        let value = Reader::strict().read(text).unwrap();
        assert_eq!(canonical(&value), text, "{}", String::from_utf8_lossy(text));
        for (name, number) in [("tick", event.tick), ("sequence", u64::from(event.sequence))] {
            assert_eq!(value.get(name).and_then(canon::Value::as_i64), i64::try_from(number).ok());
        }
        value.get("what").and_then(canon::Value::as_str).unwrap().to_owned()
    }

    /// One of each kind but the decision, first and last members of every enumeration among them.
    fn kinds() -> Vec<What> {
        let object = Obj::ALL[0];
        let channel = Channel::ALL[0];
        vec![
            What::Input(Command::new(1, Verb::Cue)),
            What::Merged(Command::new(u64::MAX, Verb::Cancel)),
            What::Refused { about: 1, reject: Reject::ALL[0] },
            What::Hazard { source: 3, stage: Stage::ALL[0], risk: -1 },
            What::Safety { from: SafetyMode::ALL[0], to: SafetyMode::ALL[1] },
            What::Call { channel: None },
            What::Call { channel: Some(channel) },
            What::Control { from: ControlMode::ALL[0], to: ControlMode::ALL[1] },
            What::Edge {
                item: 1,
                kind: Kind::ALL[0],
                from: Phase::ALL[0],
                to: Phase::ALL[1],
                label: Label::ALL[0],
                evidence: Evidence::ALL[0],
                exit: Exit::ALL[0],
            },
            What::Reservation { item: 1, object, held: true },
            What::Outcome { item: 1, part: 0, success: false },
            What::Duplicate { item: 1, part: 255 },
            What::Wrote { field: "level", of: 1, from: i64::MIN, to: i64::MAX },
            What::Kept { field: "level", why: "unchanged" },
            What::Moved { object, to: Parent::cell(crate::grid::Cell(7)) },
            What::Band { channel, from: Band::ALL[0], to: Band::ALL[1] },
            What::Controllable { channel, to: Controllable::ALL[0] },
            What::Uncontrolled { channel, open: true },
            What::Fact { kind: FactKind::ALL[0], object: Some(object) },
            What::Recovery {
                from: RecoveryMode::ALL[0],
                to: RecoveryMode::ALL[1],
                cause: RecoveryCause::ALL[0],
            },
            What::Edited { verb: Verb::Teleport },
        ]
    }

    #[test]
    fn each_kind_of_line_is_canonical() {
        let line = |what| held(&Event { tick: 1 << 40, sequence: u32::MAX, what });
        let names: BTreeSet<String> = kinds().into_iter().map(line).collect();
        assert_eq!(names.len(), 20, "{names:?}");
    }

    #[test]
    fn decisions_of_a_run_are_canonical() {
        let mut room = Room::new(Profile::reference(), Setup::of("V01", 0, Identity::Mira)).unwrap();
        room.listen(Listen::Everything);
        let mut decisions = 0;
        for _ in 0..3_000 {
            let decided = |event: &&Event| held(event) == "decision";
            decisions += room.step(&[]).iter().filter(decided).count();
        }
        assert!(decisions > 100, "{decisions}");
    }
}

//! Inputs as a person writes them: JSON Lines, one command a line, integers as integers.
//!
//! ```text
//! {"tick": 50, "id": 1, "verb": "come", "human": 0}
//! {"tick": 80, "id": 2, "verb": "move", "object": "cup", "to": "surface:table"}
//! {"tick": 90, "id": 3, "verb": "block", "cell": [6, 9]}
//! ```

use crate::grid::Cell;
use crate::input::{Command, Input, Verb};
use crate::record::{RecordFault, Refusal};
use crate::world::{Obj, Parent, Place};
use canon::{Object, Reader, Value};

/// Reads a file of inputs. Blank lines are none.
///
/// # Errors
/// The first line that is no input, with its number and member; nothing is guessed.
pub fn read(text: &[u8]) -> Result<Vec<Input>, Refusal> {
    let mut inputs = Vec::new();
    for (n, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let refused = |at: &str, detail: &str| Refusal {
            fault: RecordFault::Unreadable,
            at: format!("line {}{at}", n + 1),
            detail: detail.to_owned(),
        };
        let value = Reader::strict().read(line).map_err(|error| refused("", error.fault.code()))?;
        let object = value.as_object().ok_or_else(|| refused("", "an object"))?;
        inputs.push(input(object).map_err(|(member, expected)| refused(&format!(".{member}"), expected))?);
    }
    Ok(inputs)
}

/// The object that [`read`] reads back.
#[must_use]
pub fn line(input: &Input) -> Object {
    let command = &input.command;
    let mut object =
        Object::new().with("tick", input.tick).with("id", command.id).with("verb", command.verb.name());
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.set(name, value);
        }
    };
    put("object", command.object.map(|object| object.name().into()));
    put("to", command.to.map(|to| place_text(to).into()));
    put("cell", command.cell.map(|cell| vec![cell.x(), cell.y()].into()));
    put("human", command.human.map(|human| u64::from(human).into()));
    put("kind", command.kind.map(|kind| kind.name().into()));
    put("channel", command.channel.map(|channel| channel.name().into()));
    put("amount", command.amount.map(Value::from));
    put("goal", command.goal.map(|goal| goal.name().into()));
    put("class", command.class.map(|class| class.name().into()));
    put("request", command.request.map(Value::from));
    put("asked", command.asked.map(Value::from));
    put("version", command.version.map(Value::from));
    object
}

fn place_text(place: Parent) -> String {
    let of = match place.place {
        Place::Cell | Place::Fixed => {
            let cell = Cell(place.of);
            format!("{},{}", cell.x(), cell.y())
        }
        Place::Surface | Place::Container => place.holder().map_or("", Obj::name).to_owned(),
        _ => place.of.to_string(),
    };
    format!("{}:{of}", place.place.name())
}

type Wrong = (String, &'static str);

fn input(object: &Object) -> Result<Input, Wrong> {
    let wrong = |member: &str, expected| (member.to_owned(), expected);
    let (mut tick, mut id, mut verb) = (None, None, None);
    let mut command = Command::new(0, Verb::Cue);
    for (member, value) in object.iter() {
        let number =
            || value.as_i64().and_then(|n| u64::try_from(n).ok()).ok_or(wrong(member, "a whole number"));
        match member {
            "tick" => tick = Some(number()?),
            "id" => id = Some(number()?),
            "verb" => verb = Some(named(member, value, Verb::of, "a verb")?),
            "object" => command.object = Some(named(member, value, Obj::of, "an object of the room")?),
            "kind" => command.kind = Some(named(member, value, crate::kind::Kind::of, "an Interaction")?),
            "channel" => {
                command.channel =
                    Some(named(member, value, crate::state::Channel::of, "a channel of the body")?);
            }
            "goal" => command.goal = Some(named(member, value, crate::item::Goal::of, "a goal")?),
            "class" => command.class = Some(named(member, value, crate::retry::Class::of, "a class")?),
            "human" => command.human = Some(u8::try_from(number()?).map_err(|_| wrong(member, "a person"))?),
            "amount" => command.amount = Some(value.as_i64().ok_or(wrong(member, "a number in µ"))?),
            "request" => command.request = Some(number()?),
            "asked" => command.asked = Some(number()?),
            "version" => {
                command.version = Some(u32::try_from(number()?).map_err(|_| wrong(member, "a version"))?)
            }
            "cell" => command.cell = Some(cell(value).ok_or(wrong(member, "[x, y] of a cell"))?),
            "to" => command.to = Some(place(value).ok_or(wrong(member, "a place, as surface:table"))?),
            _ => return Err(wrong(member, "no such member")),
        }
    }
    command.id = id.ok_or(wrong("id", "a member that is missing"))?;
    command.verb = verb.ok_or(wrong("verb", "a member that is missing"))?;
    Ok(Input { tick: tick.ok_or(wrong("tick", "a member that is missing"))?, command })
}

fn named<T>(
    member: &str,
    value: &Value,
    of: impl Fn(&str) -> Option<T>,
    expected: &'static str,
) -> Result<T, Wrong> {
    value.as_str().and_then(of).ok_or((member.to_owned(), expected))
}

fn cell(value: &Value) -> Option<Cell> {
    match value.as_array()? {
        [x, y] => Cell::at(x.as_i64()?, y.as_i64()?),
        _ => None,
    }
}

/// `surface:table`, `container:shared_box`, `cell:4,5`, `human:0`.
fn place(value: &Value) -> Option<Parent> {
    let (kind, of) = value.as_str()?.split_once(':')?;
    let holder = |place: Place| Obj::of(of).map(|obj| Parent { place, of: obj as u8 });
    match Place::of(kind)? {
        Place::Surface => holder(Place::Surface),
        Place::Container => holder(Place::Container),
        Place::Cell => {
            let (x, y) = of.split_once(',')?;
            Cell::at(x.parse().ok()?, y.parse().ok()?).map(Parent::cell)
        }
        Place::HumanHand => of.parse().ok().map(Parent::human),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_they_are_written() {
        let text = b"{\"tick\":5,\"id\":1,\"verb\":\"come\",\"human\":0}\n\n\
            {\"tick\":6,\"id\":2,\"verb\":\"move\",\"object\":\"cup\",\"to\":\"cell:4,5\"}\n";
        let inputs = read(text).unwrap();
        assert_eq!(inputs[0].command, Command::new(1, Verb::Come).by(0));
        let to = Parent::cell(Cell::at(4, 5).unwrap());
        let lines: Vec<Vec<u8>> = inputs.iter().map(|input| canon::canonical(&line(input).into())).collect();
        assert_eq!(read(&lines.join(&b'\n')).unwrap(), inputs);
        assert_eq!(inputs[1], Input { tick: 6, command: Command::new(2, Verb::Move).on(Obj::Cup).to(to) });
    }

    #[test]
    fn a_wrong_line_is_named_with_its_member() {
        for (line, at) in [
            ("{\"tick\":5,\"id\":1,\"verb\":\"explode\"}", "line 1.verb"),
            ("{\"tick\":5,\"id\":1}", "line 1.verb"),
            ("{\"tick\":-5,\"id\":1,\"verb\":\"cue\"}", "line 1.tick"),
            ("{\"tick\":5,\"id\":1,\"verb\":\"cue\",\"when\":1}", "line 1.when"),
            ("{\"tick\":5,\"id\":1,\"verb\":\"block\",\"cell\":[16,0]}", "line 1.cell"),
            ("[]", "line 1"),
            ("{\"tick\":5,", "line 1"),
        ] {
            assert_eq!(read(line.as_bytes()).unwrap_err().at, at, "{line}");
        }
    }
}

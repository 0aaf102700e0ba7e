//! Statements of several parties: the peer's vectors, each refusal by itself, and vectors of our own.
#![allow(clippy::unwrap_used)]

mod consent;
mod controller;
mod delegation;
mod delivery;
mod ecosystem;
mod envelope;
mod fixed;
mod memory;
mod own_vectors;
mod quorum;
mod quorum_commit;
mod quorum_properties;
mod registry;
mod world;

use canon::Value;
use ledger::identity::Identity;

/// The identity of a label of the peer's vectors.
pub(crate) fn labelled(test: &str, label: &str) -> Option<Identity> {
    let keys = vectors::json(&vectors::shared(test, "vectors/receiving-desk/identity/identity.json")?);
    let key = vectors::list(&keys, "keys").iter().find(|key| vectors::text(key, "label") == label).cloned();
    let seed = canon::unhex(vectors::text(&key.unwrap(), "seed_hex")).unwrap();
    Some(Identity::from_seed(&seed.try_into().unwrap()))
}

/// Sets a member deep inside; a number in the path is a place in a list.
pub(crate) fn set(value: &mut Value, path: &str, to: impl Into<Value>) {
    let (part, rest) = path.split_once('.').map_or((path, None), |(part, rest)| (part, Some(rest)));
    match value {
        Value::Array(items) => {
            let item = &mut items[part.parse::<usize>().unwrap()];
            match rest {
                Some(rest) => set(item, rest, to),
                None => *item = to.into(),
            }
        }
        Value::Object(object) => {
            let mut member = object.remove(part).unwrap_or(Value::Null);
            match rest {
                Some(rest) => set(&mut member, rest, to),
                None => member = to.into(),
            }
            object.set(part, member);
        }
        _ => panic!("no {part} inside a plain value"),
    }
}

/// Takes a member of the outermost object away.
pub(crate) fn drop_member(value: &mut Value, member: &str) {
    let Value::Object(object) = value else { panic!("no object") };
    object.remove(member).unwrap();
}

//! Nothing that describes a person is on the chain: as a check, not as a promise.

use canon::Value;

/// Characters from which a text is sought inside others; a shorter one counts when it is the whole of a value.
const INSIDE_MIN: usize = 4;

/// A text of the person that stands on the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    /// Position of the payload among those that were given.
    pub entry: usize,
    /// Where it stands, as a dotted path.
    pub path: String,
}

/// Where payloads hold a text of the persona, or its nonce. The names of fields are not sought: they are what consent
/// is given for. The report names places, never the text.
pub fn plaintext<'a>(
    payloads: impl IntoIterator<Item = &'a Value>,
    persona: &Value,
    nonce: &str,
) -> Vec<Leak> {
    let mut secrets = vec![nonce.to_lowercase()];
    texts(persona, "", &mut |_, text| secrets.push(text.to_lowercase()));
    secrets.retain(|secret| !secret.is_empty());
    let mut leaks = Vec::new();
    for (entry, payload) in payloads.into_iter().enumerate() {
        texts(payload, "$", &mut |path, text| {
            let text = text.to_lowercase();
            let holds = |secret: &String| {
                text == *secret || (secret.chars().count() >= INSIDE_MIN && text.contains(secret.as_str()))
            };
            if !path.starts_with("$.fields[") && secrets.iter().any(holds) {
                leaks.push(Leak { entry, path: path.to_owned() });
            }
        });
    }
    leaks
}

/// Every string that is a value, with its path.
fn texts(value: &Value, path: &str, found: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::Str(text) => found(path, text),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                texts(item, &format!("{path}[{index}]"), found);
            }
        }
        Value::Object(object) => {
            for (key, member) in object.iter() {
                texts(member, &format!("{path}.{key}"), found);
            }
        }
        _ => {}
    }
}

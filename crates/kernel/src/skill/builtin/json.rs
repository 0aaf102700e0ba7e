//! JSON.

use super::Declared;
use crate::skill::payload::{OUTPUT_MAX, Work, any, choice, settled, text, unfit};
use crate::skill::{Failed, Fault};
use canon::{Object, Reader, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The skills of this family.
pub(super) const SKILLS: &[Declared] = &[
    Declared {
        name: "json.canonical",
        version: 2,
        description: "Format JSON text in its one canonical spelling, keys sorted and without white space, so that \
                      equal documents are equal bytes; duplicate keys and syntax errors are refused.",
        triggers: &["canonical json", "canonicalise json", "sort json keys", "minify json"],
        needs: &[("text", "a JSON document as text")],
        takes: &[],
        examples: &[
            (r#"{"text":"{ \"b\": 1.50, \"a\": [true] }"}"#, r#""{\"a\":[true],\"b\":1.5}""#),
            (r#"{"text":"\"\\u00e9\""}"#, r#""\"é\"""#),
        ],
        run: canonical,
    },
    Declared {
        name: "json.pointer",
        version: 1,
        description: "Get one member out of a nested JSON document by its path, such as /users/0/name (JSON Pointer, \
                      RFC 6901).",
        triggers: &["json pointer", "get json value", "look up json path"],
        needs: &[
            ("document", "any value"),
            ("pointer", "a JSON Pointer: empty, or steps that each begin with /"),
        ],
        takes: &[],
        examples: &[
            (r#"{"document":{"a/b":[1,{"~":"x"}]},"pointer":"/a~1b/1/~0"}"#, r#""x""#),
            (r#"{"document":[1],"pointer":""}"#, "[1]"),
        ],
        run: pointer,
    },
    Declared {
        name: "json.merge",
        version: 1,
        description: "Merge two JSON documents: override the members of one object by those of a patch, null removes \
                      a member (JSON Merge Patch, RFC 7396).",
        triggers: &["merge json", "merge patch", "override members"],
        needs: &[("document", "the value below"), ("patch", "the value on top")],
        takes: &[],
        examples: &[
            (
                r#"{"document":{"a":{"b":1,"c":2},"d":3},"patch":{"a":{"b":null,"e":4}}}"#,
                r#"{"a":{"c":2,"e":4},"d":3}"#,
            ),
            (r#"{"document":[1],"patch":{"a":{"b":null}}}"#, r#"{"a":{}}"#),
        ],
        run: merge,
    },
    Declared {
        name: "json.flatten",
        version: 1,
        description: "Flatten a nested JSON document into plain key-value pairs: one for each leaf, whose key is the \
                      path to it, for environment variables or a spreadsheet.",
        triggers: &["flatten json", "dotted keys", "unnest json"],
        needs: &[("document", "any value with at most 4096 leaves")],
        takes: &[("separator", "what stands between two steps: one of . / : _; the point when absent")],
        examples: &[
            (r#"{"document":{"a":{"b":[1,2]},"c":{}}}"#, r#"{"a.b.0":1,"a.b.1":2,"c":{}}"#),
            (r#"{"document":{"a":{"x.y":0.5}},"separator":"/"}"#, r#"{"a/x.y":"0.5"}"#),
            (r#"{"document":{"a":{"x.y":null}}}"#, r#"{"a.x\\.y":null}"#),
            (r#"{"document":{"":{"a":1},"a":2}}"#, r#"{".a":1,"a":2}"#),
        ],
        run: flatten,
    },
    Declared {
        name: "json.sketch",
        version: 1,
        description: "Describe the structure of an unknown JSON document: which keys occur at which path, with which \
                      types and how often.",
        triggers: &["json structure", "list json keys", "infer schema", "sketch json"],
        needs: &[("document", "any value")],
        takes: &[],
        examples: &[
            (
                r#"{"document":[{"a":1},{"a":null,"b":"x"}]}"#,
                r#"[{"path":"","types":["array"],"count":1},{"path":"/*","types":["object"],"count":2},{"path":"/*/a","types":["integer","null"],"count":2},{"path":"/*/b","types":["string"],"count":1}]"#,
            ),
            (r#"{"document":1.5}"#, r#"[{"path":"","types":["number"],"count":1}]"#),
        ],
        run: sketch,
    },
    Declared {
        name: "json.validate",
        version: 1,
        description: "Check a JSON document against a schema: required properties, types, enumerations, ranges and \
                      lengths (a subset of JSON Schema); every violation is listed with its place.",
        triggers: &["validate json", "json schema", "check against schema"],
        needs: &[("document", "any value"), ("schema", "a schema of the documented subset")],
        takes: &[],
        examples: &[
            (
                r#"{"document":{"port":"80"},"schema":{"type":"object","required":["host"],"properties":{"port":{"type":"integer"}}}}"#,
                r#"{"valid":false,"violations":[{"path":"","rule":"required","detail":"host"},{"path":"/port","rule":"type","detail":"string"}]}"#,
            ),
            (
                r#"{"document":[1,2.5],"schema":{"type":"array","items":{"type":"number","minimum":1},"maxItems":2}}"#,
                r#"{"valid":true,"violations":[]}"#,
            ),
        ],
        run: super::schema::validate,
    },
];

/// Steps of one call; each compares two keys or copies one value.
const WORK_MAX: u64 = 4_000_000;

/// Most leaves of a flattened document.
const LEAVES_MAX: usize = 4096;

fn canonical(payload: &Object) -> Result<Value, Failed> {
    let refused = |error: canon::ReadError| {
        Failed::new(Fault::NotJson, format!("{} at byte {}", error.fault.code(), error.offset))
    };
    let text = text(payload, "text")?;
    let value = Reader::strict().read(text.as_bytes()).map_err(refused)?;
    if let Some(at) = super::spelled::inexact(text) {
        return Err(Failed::new(Fault::Inexact, format!("the number at byte {at}")));
    }
    // The canonical writer gives UTF-8.
    Ok(Value::Str(String::from_utf8_lossy(&canon::canonical(&value)).into_owned()))
}

fn pointer(payload: &Object) -> Result<Value, Failed> {
    let (document, pointer) = (any(payload, "document")?, text(payload, "pointer")?);
    if pointer.is_empty() {
        return settled(document);
    }
    let steps = pointer.strip_prefix('/').ok_or_else(|| unfit("pointer", "does not begin with /"))?;
    let mut here = document;
    for step in steps.split('/') {
        let name = unescaped(step).ok_or_else(|| unfit("pointer", "~ stands before neither 0 nor 1"))?;
        let next = match here {
            Value::Object(object) => object.get(&name),
            Value::Array(items) => index(&name).and_then(|index| items.get(index)),
            _ => None,
        };
        here = next.ok_or_else(|| Failed::new(Fault::PathAbsent, format!("at {step}")))?;
    }
    settled(here)
}

fn unescaped(step: &str) -> Option<String> {
    let mut parts = step.split('~');
    let mut name = parts.next()?.to_owned();
    for part in parts {
        name.push(match part.as_bytes().first()? {
            b'0' => '~',
            b'1' => '/',
            _ => return None,
        });
        name.push_str(&part[1..]);
    }
    Some(name)
}

/// RFC 6901: no leading zeros and no sign.
fn index(step: &str) -> Option<usize> {
    let canonical = step == "0" || (!step.starts_with(['0', '+']) && !step.is_empty());
    step.parse().ok().filter(|_| canonical)
}

fn merge(payload: &Object) -> Result<Value, Failed> {
    let (document, patch) = (any(payload, "document")?, any(payload, "patch")?);
    settled(&merged(document, patch, &mut Work::of(WORK_MAX))?)
}

// Recursion is bounded by the depth of the patch, which the reader bounds.
fn merged(document: &Value, patch: &Value, work: &mut Work) -> Result<Value, Failed> {
    let Value::Object(patch) = patch else { return Ok(patch.clone()) };
    let mut object = document.as_object().cloned().unwrap_or_default();
    for (key, member) in patch.iter() {
        work.spend(object.len() + 1)?;
        if member.is_null() {
            object.remove(key);
        } else {
            let below = object.get(key).unwrap_or(&Value::Null);
            let member = merged(below, member, work)?;
            object.set(key, member);
        }
    }
    Ok(object.into())
}

fn flatten(payload: &Object) -> Result<Value, Failed> {
    let document = any(payload, "document")?;
    let separator = choice(payload, "separator", &[".", "/", ":", "_"])?;
    let mut leaves = Leaves { leaves: Object::new(), bytes: Work::of(OUTPUT_MAX as u64) };
    flat(document, None, separator, &mut leaves)?;
    Ok(leaves.leaves.into())
}

struct Leaves {
    leaves: Object,
    /// One long key makes every path below it long.
    bytes: Work,
}

/// `path` is nothing at the root only: a member may have an empty name.
fn flat(value: &Value, path: Option<String>, separator: &str, leaves: &mut Leaves) -> Result<(), Failed> {
    // An escape keeps `a.b` as one key apart from `a` with `b` in it.
    let below = |step: &str| {
        let step = step.replace('\\', "\\\\").replace(separator, &format!("\\{separator}"));
        Some(path.as_ref().map_or(step.clone(), |path| format!("{path}{separator}{step}")))
    };
    match value {
        Value::Object(object) if !object.is_empty() => {
            object.iter().try_for_each(|(key, member)| flat(member, below(key), separator, leaves))
        }
        Value::Array(items) if !items.is_empty() => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| flat(item, below(&index.to_string()), separator, leaves)),
        leaf if leaves.leaves.len() < LEAVES_MAX => {
            let path = path.as_deref().unwrap_or_default();
            leaves.bytes.spend(path.len())?;
            leaves.leaves.set(path, settled(leaf)?);
            Ok(())
        }
        _ => Err(Failed::new(Fault::ArgumentTooLarge, format!("document: more than {LEAVES_MAX} leaves"))),
    }
}

/// The name of a type in JSON Schema; an integer is told from another number by how it is written.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Int(_) => "integer",
        Value::Float(_) => "number",
        Value::Str(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A step of a JSON Pointer.
pub(super) fn escaped(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}

type Seen = BTreeMap<String, (BTreeSet<&'static str>, u64)>;

fn sketch(payload: &Object) -> Result<Value, Failed> {
    let mut seen = Seen::new();
    look(any(payload, "document")?, String::new(), &mut seen, &mut Work::of(WORK_MAX))?;
    let row = |(path, (types, count)): (String, (BTreeSet<&'static str>, u64))| {
        let types: Vec<&str> = types.into_iter().collect();
        Object::new().with("path", path).with("types", types).with("count", count)
    };
    Ok(seen.into_iter().map(row).collect::<Vec<Object>>().into())
}

fn look(value: &Value, path: String, seen: &mut Seen, work: &mut Work) -> Result<(), Failed> {
    // A long path is copied for each of its members.
    work.spend(1 + path.len() / 16)?;
    let entry = seen.entry(path.clone()).or_default();
    entry.0.insert(type_name(value));
    entry.1 += 1;
    match value {
        Value::Object(object) => object
            .iter()
            .try_for_each(|(key, member)| look(member, format!("{path}/{}", escaped(key)), seen, work)),
        Value::Array(items) => items.iter().try_for_each(|item| look(item, format!("{path}/*"), seen, work)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_digit_of_a_canonical_document_is_another() {
        let call = |text: &str| canonical(&Object::new().with("text", text));
        assert_eq!(call("[ 9007199254740993 ]"), Ok(Value::from("[9007199254740993]")));
        let failed = call("[ 9007199254740993.0 ]").unwrap_err();
        assert_eq!(
            (failed.fault.code(), failed.detail.as_str()),
            ("skill_number_inexact", "the number at byte 2")
        );
    }
}

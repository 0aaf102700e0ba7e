//! JSON for people: one member or item to a line.

use canon::{Value, canonical};

/// The value, indented, with a line feed at the end.
pub(super) fn pretty(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    write(&mut out, value, 0);
    out.push('\n');
    out.into_bytes()
}

fn write(out: &mut String, value: &Value, depth: usize) {
    let scalar = |value: &Value| String::from_utf8_lossy(&canonical(value)).into_owned();
    let (open, close, items): (char, char, Vec<(String, &Value)>) = match value {
        Value::Object(object) if !object.is_empty() => {
            ('{', '}', object.iter().map(|(key, value)| (scalar(&key.into()) + ": ", value)).collect())
        }
        Value::Array(items) if !items.is_empty() => {
            ('[', ']', items.iter().map(|value| (String::new(), value)).collect())
        }
        other => return out.push_str(&scalar(other)),
    };
    let indent = |depth: usize| "  ".repeat(depth);
    out.push(open);
    for (index, (key, item)) in items.iter().enumerate() {
        out.push_str(if index > 0 { ",\n" } else { "\n" });
        out.push_str(&indent(depth + 1));
        out.push_str(key);
        write(out, item, depth + 1);
    }
    out.push('\n');
    out.push_str(&indent(depth));
    out.push(close);
}

//! Whether a line is written as the canonical writer would write it. In doubt it is not: the writer decides then.

use canon::Value;

/// Whether `line` is the canonical text of `value`, which was read from it by the strict reader. A yes is certain; floats,
/// `\u` escapes and `-0` get a no without a closer look.
pub(super) fn is_canonical(line: &[u8], value: &Value) -> bool {
    is_ordered(value) && is_plain(line)
}

/// Keys ascend everywhere, and there is no float, whose text the writer chooses.
fn is_ordered(value: &Value) -> bool {
    match value {
        Value::Float(_) => false,
        Value::Array(items) => items.iter().all(is_ordered),
        Value::Object(object) => {
            object.iter().is_sorted_by(|(before, _), (after, _)| before < after)
                && object.iter().all(|(_, member)| is_ordered(member))
        }
        _ => true,
    }
}

/// No blanks outside of strings, and in strings no escape but the ones that the writer uses. What stands raw in a string
/// stays raw; an integer but `-0` stays as it is.
fn is_plain(line: &[u8]) -> bool {
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => return false,
            b'-' if line.get(at + 1) == Some(&b'0') => return false,
            b'"' => match string_end(line, at + 1) {
                Some(end) => at = end,
                None => return false,
            },
            _ => at += 1,
        }
    }
    true
}

/// Where the string ends whose first character is at `at`; nothing when it has another escape.
fn string_end(line: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr2(b'"', b'\\', line.get(at..)?)?;
        if line.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        match line.get(at + 1)? {
            b'"' | b'\\' | b'b' | b't' | b'n' | b'f' | b'r' => at += 2,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use canon::{Reader, canonical};
    use proptest::prelude::*;

    /// JSON in canonical spelling and in others, mixed.
    fn document() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "a",
            "é",
            "語",
            "\u{7f}",
            "\u{2028}",
            "/",
            " ",
            "-0",
            "\\n",
            "\\t",
            "\\b",
            "\\f",
            "\\r",
            "\\\"",
            "\\\\",
            "\\/",
            "\\u0041",
            "\\u000a",
            "\\u001f",
            "\\u00e9",
            "\\ud83d\\ude00",
            "1.5",
            "\\\\u0041",
            ":",
            "{",
        ]);
        let string = prop::collection::vec(piece, 0..3).prop_map(|pieces| format!("\"{}\"", pieces.concat()));
        let other = prop::sample::select(vec![
            "null",
            "true",
            "false",
            "0",
            "-0",
            "7",
            "-7",
            "-70",
            "123456789012345678901",
            "1.5",
            "1.0",
            "1e3",
            "-0.5",
        ]);
        let leaf = prop_oneof![string, other.prop_map(str::to_owned)];
        let blank = || prop::sample::select(vec!["", "", "", "", "", "", "", "", " ", "\n"]);
        leaf.prop_recursive(3, 12, 3, move |inner| {
            let key = prop::sample::select(vec![
                "\"a\"",
                "\"b\"",
                "\"é\"",
                "\"\\u0063\"",
                "\"\"",
                "\"\\n\"",
                "\"a\\\"\"",
            ]);
            let member =
                (key, blank(), inner.clone()).prop_map(|(key, blank, value)| format!("{key}:{blank}{value}"));
            prop_oneof![
                (prop::collection::vec(inner, 0..3), blank())
                    .prop_map(|(items, blank)| format!("[{}{blank}]", items.join(","))),
                (prop::collection::vec(member, 0..4), any::<bool>(), blank()).prop_map(
                    |(mut items, sort, blank)| {
                        if sort {
                            items.sort();
                        }
                        format!("{{{blank}{}}}", items.join(","))
                    }
                ),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        /// A yes is certain, and what the writer wrote gets a no for the three documented reasons only.
        #[test]
        fn a_yes_is_certain(text in document()) {
            let Ok(value) = Reader::strict().read(text.as_bytes()) else { return Ok(()) };
            let written = canonical(&value);
            if is_canonical(text.as_bytes(), &value) {
                prop_assert_eq!(&*written, text.as_bytes());
            }
            let again = Reader::strict().read(&written).unwrap();
            let spelled = String::from_utf8(written).unwrap();
            let excused = canon::lint_no_floats(&value).is_err() || spelled.contains("\\u") || spelled.contains("-0");
            prop_assert!(is_canonical(spelled.as_bytes(), &again) || excused, "{}", spelled);
        }
    }

    #[test]
    fn each_way_to_write_otherwise_is_seen() {
        let says =
            |text: &str| is_canonical(text.as_bytes(), &Reader::strict().read(text.as_bytes()).unwrap());
        for text in [r#"{"a":[1,"x\ny",-7,null],"b":{},"é":"/\" \\u0041"}"#, "\"\u{7f}\u{2028}\"", "[]", "-7"]
        {
            assert!(says(text), "{text}");
            assert_eq!(canonical(&Reader::strict().read(text.as_bytes()).unwrap()), text.as_bytes());
        }
        for text in [
            r#"{"b":1,"a":2}"#,
            r#"[{"a":{"b":1,"a":2}}]"#,
            "[1, 2]",
            "[1]\r",
            " 1",
            r#""\/""#,
            r#""\u0041""#,
            r#"{"\u0061":1}"#,
            "-0",
            "[-0]",
            "1.0",
            "1e3",
        ] {
            assert!(!says(text), "{text}");
        }
    }
}

//! Canonical JSON (desk specification 2.1): what is read, how it is written again, what is refused and where.

use super::Files;
use super::json::pretty;
use canon::{Digest, Object, Value, hex};

/// Name, document, canonical text.
const ACCEPTED: &[(&str, &str, &str)] = &[
    ("null", " null\n", "null"),
    ("empty", "{\"a\":[],\"b\":{}}", "{\"a\":[],\"b\":{}}"),
    ("members are sorted", "{\"b\":1,\"a\":2,\"\":3}", "{\"\":3,\"a\":2,\"b\":1}"),
    ("sorted by code point, not by UTF-16 unit", "{\"😀\":1,\"\u{fffd}\":2}", "{\"\u{fffd}\":2,\"😀\":1}"),
    ("blanks go", "\t{ \"a\" :\r\n[ 1 , true ] }", "{\"a\":[1,true]}"),
    ("short escapes", r#""\b\t\n\f\r\"\\\/""#, r#""\b\t\n\f\r\"\\/""#),
    ("control characters in lowercase hex", r#""\u0000\u001F""#, r#""\u0000\u001f""#),
    ("escapes of printable text go", r#""\u0041\u00e9\u2028\ud83d\ude00""#, "\"Aé\u{2028}😀\""),
    ("DEL and byte order mark inside stay", "\"\u{7f}\u{feff}\"", "\"\u{7f}\u{feff}\""),
    ("no normalisation", "[\"é\",\"e\u{301}\"]", "[\"é\",\"e\u{301}\"]"),
    (
        "integers keep every digit",
        "[9007199254740993,-123456789012345678901234567890]",
        "[9007199254740993,-123456789012345678901234567890]",
    ),
    ("integer minus zero", "-0", "0"),
    ("float minus zero", "-0.0", "-0.0"),
    ("integer and float differ", "[1,1.0,1e0]", "[1,1.0,1.0]"),
    (
        "positional up to 10^16",
        "[1e15,1e16,123456789012345680.0]",
        "[1000000000000000.0,1e+16,1.2345678901234568e+17]",
    ),
    ("positional down to 10^-4", "[0.0001,0.00001]", "[0.0001,1e-05]"),
    ("smallest and largest", "[5e-324,1.7976931348623157e308]", "[5e-324,1.7976931348623157e+308]"),
    ("rounds correctly", "[9007199254740993.0,0.1]", "[9007199254740992.0,0.1]"),
    ("underflow is zero", "1e-999", "0.0"),
];

/// Name, document, reason, offset.
const REFUSED: &[(&str, &[u8], &str, usize)] = &[
    ("nothing", b"", "json_unexpected_end", 0),
    ("ends inside", b"{\"a\":", "json_unexpected_end", 5),
    ("ends in a string", b"\"abc", "json_unexpected_end", 4),
    ("two values", b"{} {}", "json_trailing_bytes", 3),
    ("trailing comma", b"[1,]", "json_unexpected_byte", 3),
    ("key without quotes", b"{a:1}", "json_unexpected_byte", 1),
    ("single quotes", b"'a'", "json_unexpected_byte", 0),
    ("repeated key", b"{\"a\":1,\"a\":2}", "json_duplicate_key", 7),
    ("repeated key, spelled otherwise", b"{\"a\":1,\"\\u0061\":2}", "json_duplicate_key", 7),
    ("byte order mark", b"\xef\xbb\xbf{}", "json_byte_order_mark", 0),
    ("not UTF-8", b"\"\xff\"", "json_not_utf8", 1),
    ("surrogate as UTF-8", b"\"\xed\xa0\x80\"", "json_not_utf8", 1),
    ("lone high surrogate", b"\"x\\ud800\"", "json_lone_surrogate", 2),
    ("lone low surrogate", b"\"\\udc00\"", "json_lone_surrogate", 1),
    ("unknown escape", b"\"\\x41\"", "json_bad_escape", 1),
    ("raw line feed in a string", b"\"a\nb\"", "json_control_character", 2),
    ("leading zero", b"01", "json_bad_number", 1),
    ("nothing after the point", b"1.", "json_bad_number", 2),
    ("nothing after the exponent", b"1e+", "json_bad_number", 3),
    ("plus sign", b"+1", "json_unexpected_byte", 0),
];

/// Name, document, reason of the strict reader, canonical text of the lenient one.
const PEER_ONLY: &[(&str, &str, &str, &str)] = &[
    ("not a number", "NaN", "json_non_finite", "NaN"),
    ("infinities", "[-Infinity,Infinity]", "json_non_finite", "[-Infinity,Infinity]"),
    ("overflow", "1e999", "json_float_overflow", "Infinity"),
    ("last of a repeated key", "{\"a\":1,\"b\":2,\"a\":3}", "json_duplicate_key", "{\"a\":3,\"b\":2}"),
];

pub(super) fn files() -> Files {
    let accepted = ACCEPTED.iter().map(|(case, input, canonical)| {
        let object = Object::new().with("case", *case).with("input", *input).with("canonical", *canonical);
        object.with("sha256", Digest::of(canonical.as_bytes()))
    });
    let depth = |count: usize| "[".repeat(count) + &"]".repeat(count);
    let deepest = depth(128);
    let deepest = Object::new()
        .with("case", "nested 128 deep")
        .with("input", deepest.as_str())
        .with("canonical", deepest.as_str())
        .with("sha256", Digest::of(deepest.as_bytes()));
    let refused = |case: &str, input: &[u8], reason: &str, offset: usize| {
        let object = Object::new().with("case", case).with("input_hex", hex(input));
        object.with("reason", reason).with("offset", offset as u64)
    };
    let too_deep = refused("nested 129 deep", depth(129).as_bytes(), "json_too_deep", 128);
    let refusals = REFUSED.iter().map(|(case, input, reason, at)| refused(case, input, reason, *at));
    let peer = PEER_ONLY.iter().map(|(case, input, reason, canonical)| {
        let object = Object::new().with("case", *case).with("input", *input);
        object.with("strict_reason", *reason).with("peer_canonical", *canonical)
    });
    let list = |cases: Vec<Object>| pretty(&Value::from(cases));
    Files::from([
        ("canonical/accepted.json".to_owned(), list(accepted.chain([deepest]).collect())),
        ("canonical/refused.json".to_owned(), list(refusals.chain([too_deep]).collect())),
        ("canonical/peer_only.json".to_owned(), list(peer.collect())),
    ])
}

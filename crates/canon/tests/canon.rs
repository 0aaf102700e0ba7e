//! The canonical form and the strict reader against the peer's vectors, the public parser suite and the faults
//! of PC-45, PC-47, PC-48, PC-49 and PC-51.

#![allow(clippy::unwrap_used)]

use canon::{Digest, Float, Limits, ReadFault, Reader, Value, canonical, compact_ascii, hex};
use proptest::prelude::*;
use vectors::{list, shared, text};

const CANONICAL: &str = "vectors/receiving-desk/canonical/canonical.json";

fn read(input: &str) -> Value {
    Reader::strict().read(input.as_bytes()).unwrap_or_else(|error| panic!("{input}: {error:?}"))
}

fn check(input: &str, expected: &str) {
    assert_eq!(String::from_utf8(canonical(&read(input))).unwrap(), expected);
}

fn refused(input: &[u8], fault: ReadFault, offset: usize) {
    let error = Reader::strict().read(input).expect_err("must be refused");
    assert_eq!((error.fault, error.offset), (fault, offset), "{}", String::from_utf8_lossy(input));
}

#[test]
fn peer_canonical_cases() {
    let Some(path) = shared("peer_canonical_cases", CANONICAL) else { return };
    let vectors = vectors::json(&path);
    let cases = list(&vectors, "cases");
    assert_eq!(cases.len(), 19);
    for case in cases {
        let value = read(text(case, "input_json"));
        let bytes = canonical(&value);
        assert_eq!(bytes, text(case, "canonical_utf8").as_bytes(), "{}", text(case, "name"));
        // The long string has no hex text beside it.
        if let Some(expected) = case.get("canonical_hex").and_then(Value::as_str) {
            assert_eq!(hex(&bytes), expected);
        }
        assert_eq!(Digest::of(&bytes).to_hex(), text(case, "sha256"));
        assert_eq!(canonical(&Reader::strict().read(&bytes).unwrap()), bytes, "canonical text reads back");
    }
}

#[test]
fn peer_float_texts() {
    let Some(path) = shared("peer_float_texts", CANONICAL) else { return };
    let vectors = vectors::json(&path);
    let floats = list(&vectors, "floats");
    assert_eq!(floats.len(), 240);
    for case in floats {
        let bits = u64::from_str_radix(text(case, "bits_hex"), 16).unwrap();
        let expected = text(case, "canonical");
        assert_eq!(Float::new(f64::from_bits(bits)).to_string(), expected);
        assert_eq!(read(expected), Value::Float(Float::new(f64::from_bits(bits))), "{expected} reads back");
    }
}

#[test]
fn bare_tokens_are_read_in_peer_mode_only() {
    for (token, value) in
        [("[NaN]", f64::NAN), ("[Infinity]", f64::INFINITY), ("[-Infinity]", f64::NEG_INFINITY)]
    {
        assert_eq!(Reader::strict().read(token.as_bytes()).unwrap_err().fault, ReadFault::NonFinite);
        let read = Reader::peer().read(token.as_bytes()).unwrap();
        assert_eq!(read, Value::Array(vec![Value::Float(Float::new(value))]));
        assert_eq!(canonical(&read), token.as_bytes());
    }
}

/// Every `y_` file is accepted but the two that repeat a key (desk specification 2.1: a strict reader rejects
/// them), every `n_` file refused; `i_` files are ours to decide and are pinned here.
#[test]
fn public_parser_suite() {
    let Some(folder) = shared("public_parser_suite", "data/jsontestsuite/test_parsing") else { return };
    let (mut accepted, mut refused, mut either, mut repeated) = (0, 0, Vec::new(), Vec::new());
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let result = Reader::strict().read(&std::fs::read(&path).unwrap());
        match &name[..1] {
            "y" if name.contains("duplicated_key") => {
                assert!(matches!(result.unwrap_err().fault, ReadFault::DuplicateKey(_)));
                repeated.push(name);
            }
            "y" => accepted += usize::from(result.is_ok()),
            "n" => refused += usize::from(result.is_err()),
            _ if result.is_ok() => either.push(name),
            _ => {}
        }
    }
    assert_eq!((accepted, refused), (93, 188));
    assert_eq!(repeated, ["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"]);
    assert_eq!(
        either,
        [
            "i_number_double_huge_neg_exp.json",
            "i_number_real_underflow.json",
            "i_number_too_big_neg_int.json",
            "i_number_too_big_pos_int.json",
            "i_number_very_big_negative_int.json",
        ]
    );
}

#[test]
fn refusals_name_their_offset() {
    refused(b"\xef\xbb\xbf{}", ReadFault::ByteOrderMark, 0);
    refused(b"[\"\xff\"]", ReadFault::NotUtf8, 2);
    refused(b"{\"a\":1,\"b\":2,\"a\":3}", ReadFault::DuplicateKey("a".into()), 13);
    refused(br#"{"a":1,"\u0061":2}"#, ReadFault::DuplicateKey("a".into()), 7);
    refused(br#"["\ud800"]"#, ReadFault::LoneSurrogate, 2);
    refused(br#"["\ud800\u0041"]"#, ReadFault::LoneSurrogate, 2);
    refused(br#"["\udc00"]"#, ReadFault::LoneSurrogate, 2);
    refused(br#"["\x"]"#, ReadFault::BadEscape, 2);
    refused(br#"["\u12"#, ReadFault::BadEscape, 2);
    refused(b"[\"a\nb\"]", ReadFault::ControlCharacter, 3);
    refused(b"{} {}", ReadFault::TrailingBytes, 3);
    refused(b"", ReadFault::UnexpectedEnd, 0);
    refused(b"[1", ReadFault::UnexpectedEnd, 2);
    refused(b"[1e400]", ReadFault::FloatOverflow, 1);
    refused(b"[01]", ReadFault::BadNumber, 2);
    refused(b"{1:2}", ReadFault::UnexpectedByte(b'1'), 1);
}

#[test]
fn many_keys_are_still_compared() {
    let keys: Vec<String> = (0..5000).map(|index| format!("\"k{index}\":{index}")).collect();
    assert_eq!(read(&format!("{{{}}}", keys.join(","))).as_object().unwrap().len(), 5000);
    let error = Reader::strict().read(format!("{{{},\"k3\":1}}", keys.join(",")).as_bytes()).unwrap_err();
    assert_eq!(error.fault, ReadFault::DuplicateKey("k3".into()));
    let last = Reader::peer().read(format!("{{{},\"k3\":1}}", keys.join(",")).as_bytes()).unwrap();
    assert_eq!(last.get("k3"), Some(&Value::from(1_i64)));
}

#[test]
fn integers_keep_every_digit_and_differ_from_floats() {
    check("[-0, 0, 123456789012345678901234567890]", "[0,0,123456789012345678901234567890]");
    check("[1, 1.0, -0.0, 1e5]", "[1,1.0,-0.0,100000.0]");
    assert_ne!(read("1"), read("1.0"));
    assert_ne!(read("0.0"), read("-0.0"));
}

/// PC-45: correctly rounded where the usual reader is off by a unit in the last place.
#[test]
fn pc45_floats_read_correctly_rounded() {
    check(
        "[9007199254740991.0, 0.09144338512092887, -8.990567403888024e-203]",
        "[9007199254740991.0,0.09144338512092887,-8.990567403888024e-203]",
    );
}

/// PC-47: keys sort by code point; RFC 8785 would put U+1F600 first.
#[test]
fn pc47_keys_sort_by_code_point() {
    let members = ["\"\u{1f600}\":1", "\"\u{ffff}\":2", "\"\u{e000}\":3"];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let source = order.map(|index| members[index]).join(",");
        check(&format!("{{{source}}}"), "{\"\u{e000}\":3,\"\u{ffff}\":2,\"\u{1f600}\":1}");
    }
}

/// PC-48: only the quote, the backslash and the controls are escaped.
#[test]
fn pc48_nothing_else_is_escaped() {
    let literal = "< > & / \u{7f} \u{2028} \u{2029} \u{feff}";
    check(&format!("[\"{literal}\"]"), &format!("[\"{literal}\"]"));
    let controls: String = (0..0x20).filter_map(char::from_u32).collect();
    let written = String::from_utf8(canonical(&Value::Str(controls.clone()))).unwrap();
    assert_eq!(
        written,
        "\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f\
         \\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\
         \\u001e\\u001f\""
    );
    assert_eq!(read(&written), Value::Str(controls));
}

/// PC-51: depth has a limit, named with its offset, for open and closed nests of both kinds.
#[test]
fn pc51_depth_is_bounded() {
    let nest = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(Reader::strict().read(nest(128).as_bytes()).is_ok());
    refused(nest(129).as_bytes(), ReadFault::TooDeep(128), 128);
    refused("[".repeat(100_000).as_bytes(), ReadFault::TooDeep(128), 128);
    let objects = "{\"x\":".repeat(100_000);
    refused(objects.as_bytes(), ReadFault::TooDeep(128), 128 * 5);
}

#[test]
fn length_is_bounded() {
    let reader = Reader::strict().with_limits(Limits { depth_max: 8, bytes_max: 4 });
    assert!(reader.read(b"[12]").is_ok());
    assert_eq!(reader.read(b"[123]").unwrap_err().fault, ReadFault::TooLong(4));
}

#[test]
fn compact_ascii_keeps_order_and_escapes() {
    let value = read("{\"b\":\"\u{e9}\u{1f600}\",\"a\":1}");
    assert_eq!(compact_ascii(&value), br#"{"b":"\u00e9\ud83d\ude00","a":1}"#);
}

#[test]
fn empty_list_digest_is_the_shared_constant() {
    let digest = Digest::of(&canonical(&Value::Array(vec![])));
    assert_eq!(digest.to_hex(), "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945");
}

#[test]
fn floats_of_our_own_are_refused_with_their_path() {
    let value = read(r#"{"a":[1,{"b":"x","c":2.0}]}"#);
    assert_eq!(canon::lint_no_floats(&value).unwrap_err().path, "$.a[].c");
    assert!(canon::lint_no_floats(&read(r#"{"a":[1,"2.0",null,true]}"#)).is_ok());
}

proptest! {
    #[test]
    fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        for reader in [Reader::strict(), Reader::peer()] {
            if let Ok(value) = reader.read(&bytes) {
                prop_assert_eq!(&reader.read(&canonical(&value)).unwrap(), &reader.read(&canonical(&value)).unwrap());
            }
        }
    }

    #[test]
    fn jsonish_text_round_trips(text in r#"[\[\]{}",:0-9eE.+\-a-f\\u ]{0,80}"#) {
        if let Ok(value) = Reader::strict().read(text.as_bytes()) {
            let bytes = canonical(&value);
            prop_assert_eq!(canonical(&Reader::strict().read(&bytes).unwrap()), bytes);
        }
    }

    #[test]
    fn any_double_reads_back(bits in any::<u64>()) {
        let float = Float::new(f64::from_bits(bits));
        prop_assume!(float.is_finite());
        prop_assert_eq!(Reader::strict().read(float.to_string().as_bytes()).unwrap(), Value::Float(float));
    }

    #[test]
    fn any_string_reads_back(text in any::<String>()) {
        let value = Value::Str(text);
        prop_assert_eq!(&Reader::strict().read(&canonical(&value)).unwrap(), &value);
        prop_assert_eq!(&Reader::strict().read(&compact_ascii(&value)).unwrap(), &value);
    }
}

/// From the initial value of FIPS 180-4 the whole text is left, at every length of the padding.
#[test]
fn a_resumed_digest_is_the_digest() {
    let initial = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    for length in 0..200u8 {
        let text: Vec<u8> = (0..length).collect();
        assert_eq!(canon::resumed(initial, 0, &text), Some(canon::Digest::of(&text)), "{length}");
    }
    assert_eq!(canon::resumed(initial, 63, b""), None);
    assert_ne!(canon::resumed(initial, 64, b""), canon::resumed(initial, 0, b""));
}

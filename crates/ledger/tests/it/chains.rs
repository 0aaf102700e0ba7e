//! Chapter 4: signed bytes, chain variants, strict expectations, append.

use canon::{Digest, Value};
use ledger::identity::{Identity, PublicKey};
use ledger::logbook::{self, AppendError, Appender};
use ledger::{Fault, Mode};
use proptest::prelude::*;
use std::path::Path;
use vectors::{list, shared, text};

const LOGBOOK: &str = "vectors/receiving-desk/logbook";

fn found(chain: &logbook::Chain<()>) -> Vec<(Option<i64>, &'static str)> {
    chain.failures.iter().map(|failure| (failure.seq, failure.reason.code())).collect()
}

#[test]
fn peer_chains() {
    let Some(folder) = shared("peer_chains", LOGBOOK) else { return };
    let expected = vectors::json(&folder.join("expected.json"));
    for name in ["plain", "branch_side"] {
        let file = std::fs::read(folder.join(format!("{name}.ndjson"))).unwrap();
        let key = vectors::json(&folder.join(format!("{name}.pub.json")));
        let key = PublicKey::parse(text(&key, "pub_hex")).unwrap();
        let chain = logbook::verify(&file, &key, Mode::Strict);
        let want = expected.get(name).unwrap();
        assert_eq!(found(&chain), []);
        assert_eq!(chain.warnings, []);
        assert_eq!(chain.head.to_hex(), text(want, "head"));
        assert_eq!(chain.stream_id.unwrap().to_hex(), text(want, "stream_id"));
        if name == "plain" {
            let hashes: Vec<String> =
                chain.lines.iter().map(|line| line.entry.as_ref().unwrap().hash.to_hex()).collect();
            let want: Vec<&str> =
                list(want, "entry_hashes").iter().map(|hash| hash.as_str().unwrap()).collect();
            assert_eq!(hashes, want);
        }
    }
    let empty = logbook::verify(b"", &Identity::from_seed(&[1; 32]).public(), Mode::Strict);
    assert!(empty.verify_chain && empty.head == Digest::ZERO && empty.stream_id.is_none());
}

/// Every variant in the peer's leniency: the boolean, every (seq, reason) pair, head and stream id.
#[test]
fn peer_chain_variants_in_compat_mode() {
    let Some(folder) = shared("peer_chain_variants_in_compat_mode", LOGBOOK) else { return };
    let folder = folder.join("variants");
    let expected = vectors::json(&folder.join("expected.json"));
    let variants = expected.as_object().unwrap();
    assert_eq!(variants.len(), 30);
    for (name, want) in variants.iter() {
        let chain = variant(&folder, name, want, Mode::PeerCompat);
        if want.get("load_or_verify_error").is_some() {
            // The peer raises; we answer with a failure.
            assert!(!chain.verify_chain, "{name}");
            continue;
        }
        let pairs: Vec<(Option<i64>, String)> = list(want, "detailed")
            .iter()
            .map(|pair| {
                let pair = pair.as_array().unwrap();
                (pair[0].as_i64(), pair[1].as_str().unwrap().to_owned())
            })
            .collect();
        let ours: Vec<(Option<i64>, String)> =
            found(&chain).into_iter().map(|(seq, reason)| (seq, reason.to_owned())).collect();
        assert_eq!(ours, pairs, "{name}");
        assert_eq!(Some(chain.verify_chain), want.get("verify_chain").unwrap().as_bool(), "{name}");
        assert_eq!(chain.head.to_hex(), text(want, "head"), "{name}");
        let stream = want.get("stream_id").unwrap().as_str().map(str::to_owned);
        assert_eq!(chain.stream_id.map(|id| id.to_hex()), stream, "{name}");
    }
}

fn variant(folder: &Path, name: &str, want: &Value, mode: Mode) -> logbook::Chain<()> {
    let file = std::fs::read(folder.join(format!("{name}.ndjson"))).unwrap();
    let key = want.get("pub_hex").map_or("", |key| key.as_str().unwrap());
    let plain = vectors::json(&folder.join("../plain.pub.json"));
    let key = PublicKey::parse(key).unwrap_or_else(|_| PublicKey::parse(text(&plain, "pub_hex")).unwrap());
    logbook::verify(&file, &key, mode)
}

/// Section 4.5 and `strict_expectations`: what a strict reader answers where the peer is lenient.
#[test]
fn peer_chain_variants_in_strict_mode() {
    let Some(folder) = shared("peer_chain_variants_in_strict_mode", LOGBOOK) else { return };
    let folder = folder.join("variants");
    let expected = vectors::json(&folder.join("expected.json"));
    let check = |name: &str, failures: &[(Option<i64>, &str)], warnings: &[(usize, &str)]| {
        let chain = variant(&folder, name, expected.get(name).unwrap(), Mode::Strict);
        assert_eq!(found(&chain), failures, "{name}");
        let found: Vec<(usize, &str)> =
            chain.warnings.iter().map(|(line, warning)| (*line, warning.code())).collect();
        assert_eq!(found, warnings, "{name}");
        chain
    };
    check("signature_uppercase_hex", &[(Some(2), "bad_signature_encoding")], &[]);
    check("signature_hex_with_space", &[(Some(2), "bad_signature_encoding")], &[]);
    check("signature_not_hex", &[(Some(2), "bad_signature_encoding")], &[]);
    check("signature_short", &[(Some(2), "bad_signature_encoding")], &[]);
    check("unknown_field_added", &[(Some(2), "unknown_member")], &[]);
    let chain =
        variant(&folder, "duplicate_json_key", expected.get("plain").unwrap_or(&Value::Null), Mode::Strict);
    assert_eq!(chain.failures[0].reason, Fault::EntryUnreadable);
    assert_eq!(chain.failures[0].detail.get("why").unwrap().as_str(), Some("json_duplicate_key"));
    let torn = check("half_last_line", &[(None, "torn_tail")], &[(5, "no_final_newline")]);
    assert_eq!(torn.failures[0].detail.get("good_entries").unwrap().as_i64(), Some(4));
    assert!(torn.failures[0].offset.is_some());
    let pretty =
        variant(&folder, "pretty_printed_line", expected.get("pretty_printed_line").unwrap(), Mode::Strict);
    assert!(pretty.verify_chain && !pretty.warnings.is_empty());
    for name in ["truncated_tail_1", "truncated_to_genesis", "truncated_to_nothing", "reminted_whole_chain"] {
        check(name, &[], &[]);
    }
}

#[test]
fn genesis_proof() {
    let Some(path) = shared("genesis_proof", &format!("{LOGBOOK}/misc.json")) else { return };
    let misc = vectors::json(&path);
    let entry = misc.get("genesis_proof").unwrap().get("entry").unwrap();
    let key = vectors::json(&path.with_file_name("plain.pub.json"));
    let key = PublicKey::parse(text(&key, "pub_hex")).unwrap();
    let stream = logbook::verify_genesis(entry, &key).unwrap();
    assert_eq!(stream.to_hex(), text(misc.get("genesis_proof").unwrap(), "verify_genesis_right_key"));
    assert_eq!(logbook::verify_genesis(entry, &Identity::from_seed(&[8; 32]).public()), None);
}

#[test]
fn payload_limit_branch_and_floats() {
    let identity = Identity::from_seed(&[2; 32]);
    let payload = |bytes: usize| Value::Str("x".repeat(bytes - 2));
    let mut chain = Appender::default();
    for (bytes, accepted) in [(65_535, true), (65_536, true), (65_537, false)] {
        assert_eq!(chain.append("work", payload(bytes), &identity, 1).is_ok(), accepted, "{bytes}");
    }
    assert_eq!(chain.len(), 2, "a refused entry leaves the chain as it was");
    let other = chain.append_on("side", "work", Value::Null, &identity, 1);
    assert_eq!(other.unwrap_err(), AppendError::OtherBranch);
    let float = canon::Reader::strict().read(b"{\"x\":[1.5]}").unwrap();
    assert!(matches!(chain.append("work", float, &identity, 1), Err(AppendError::Float(_))));
}

#[test]
fn appended_chains_verify_and_any_cut_inside_a_line_is_a_torn_tail() {
    let identity = Identity::from_seed(&[6; 32]);
    let mut chain = Appender::default();
    let mut file = Vec::new();
    for index in 0..5_i64 {
        file.extend(chain.append("work", Value::from(index), &identity, -index).unwrap().line);
    }
    let key = identity.public();
    let whole = logbook::verify(&file, &key, Mode::Strict);
    assert_eq!((found(&whole), whole.head), (vec![], chain.head()));
    assert_eq!(whole.warnings.len(), 4, "negative times are warned about");
    let ends: Vec<usize> = (1..=file.len()).filter(|end| file[end - 1] == b'\n').collect();
    for cut in 1..file.len() {
        let chain = logbook::verify(&file[..cut], &key, Mode::Strict);
        let good = ends.iter().filter(|end| **end <= cut).count();
        if ends.contains(&cut) || ends.contains(&(cut + 1)) {
            assert!(chain.verify_chain, "a whole line verifies with and without its line feed");
        } else {
            assert_eq!(found(&chain), [(None, "torn_tail")], "cut at {cut}");
            assert_eq!(chain.failures[0].detail.get("good_entries").unwrap().as_i64(), Some(good as i64));
        }
    }
}

/// Ruling 22: what is a failure with its own reason, and what is a warning with its line.
#[test]
fn ruling_22_line_by_line() {
    let identity = Identity::from_seed(&[6; 32]);
    let mut chain = Appender::default();
    let first = chain.append("work", Value::Null, &identity, 1).unwrap().line;
    let second = chain.append("work", Value::Null, &identity, (1 << 53) + 1).unwrap().line;
    let good = String::from_utf8([first, second].concat()).unwrap();
    let check = |text: &str, failures: &[&str], warnings: &[(usize, &str)]| {
        let chain = logbook::verify(text.as_bytes(), &identity.public(), Mode::Strict);
        let reasons: Vec<&str> = chain.failures.iter().map(|failure| failure.reason.code()).collect();
        assert_eq!(reasons, failures, "{text}");
        let found: Vec<(usize, &str)> =
            chain.warnings.iter().map(|(line, warning)| (*line, warning.code())).collect();
        assert_eq!(found, warnings, "{text}");
    };
    let late = (2, "timestamp_range");
    check(&good, &[], &[late]);
    let crlf = [(1, "crlf_line_end"), (2, "crlf_line_end"), late];
    check(&good.replace('\n', "\r\n"), &[], &crlf);
    check(&good.replacen('\n', "\n\n", 1), &[], &[(2, "blank_line"), (3, "timestamp_range")]);
    check(good.trim_end(), &[], &[(2, "no_final_newline"), late]);
    check(&good.replacen("\"seq\":1", "\"seq\": 1", 1), &[], &[(1, "not_canonical"), late]);
    let seq = good.replacen("\"seq\":1", "\"seq\":\"1\"", 1);
    check(
        &seq,
        &[
            "seq_not_contiguous",
            "stream_id_mismatch",
            "bad_signature",
            "member_type",
            "prev_hash_broken",
            "stream_id_mismatch",
        ],
        &[late],
    );
    let unread = &[
        "entry_unreadable",
        "genesis_stream_id_not_sentinel",
        "seq_not_contiguous",
        "prev_hash_broken",
        "stream_id_mismatch",
    ];
    let bom = format!("\u{feff}{good}");
    check(&bom, unread, &[late]);
    let deep = good.replacen("null", &format!("{}{}", "[".repeat(128), "]".repeat(128)), 1);
    check(&deep, unread, &[late]);
    let nan = good.replacen("null", "NaN", 1);
    check(&nan, unread, &[late]);
    let large = good.replacen("null", &format!("\"{}\"", "x".repeat(65_536)), 1);
    check(&large, &["bad_signature", "payload_too_large", "prev_hash_broken", "stream_id_mismatch"], &[late]);
}

proptest! {
    #[test]
    fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let key = Identity::from_seed(&[1; 32]).public();
        for mode in [Mode::Strict, Mode::PeerCompat] {
            let chain = logbook::verify(&bytes, &key, mode);
            prop_assert_eq!(chain.verify_chain, chain.failures.is_empty());
        }
    }

    #[test]
    fn any_flipped_byte_of_a_chain_is_seen(at in 0_usize..2000, bit in 0_u8..8) {
        let identity = Identity::from_seed(&[6; 32]);
        let mut chain = Appender::default();
        let mut file = Vec::new();
        for index in 0..3_i64 {
            file.extend(chain.append("work", Value::from(index), &identity, index).unwrap().line);
        }
        let at = at % file.len();
        file[at] ^= 1 << bit;
        let read = logbook::verify(&file, &identity.public(), Mode::Strict);
        // A line feed turned into a blank or back joins or splits lines; everything else must break.
        prop_assert!(!read.verify_chain || !read.warnings.is_empty());
    }
}

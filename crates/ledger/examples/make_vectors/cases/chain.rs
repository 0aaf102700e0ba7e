//! Chains: desk specification 4.3, 4.5, ruling 22.

use super::{Case, Files, Seen, at, identity, public_file, replace, stranger};
use canon::{Digest, Object, Reader, Value, canonical, hex};
use ledger::identity::PublicKey;
use ledger::logbook::Appender;

const TS: i64 = 1_700_000_000_000;

/// Signs an entry as it is, without asking whether it should be.
fn sign(entry: &Object) -> (Vec<u8>, Digest) {
    let signed = canonical(&Value::Object(entry.clone()));
    let entry = entry.clone().with("sig", hex(&identity().sign(&signed)));
    ([canonical(&entry.into()), b"\n".to_vec()].concat(), Digest::of(&signed))
}

/// Three entries as they should be.
fn entries() -> Vec<Object> {
    let payloads =
        ["opened", "worked", "closed"].map(|note| Object::new().with("note", note).with("n", 3_i64));
    let (mut prev, mut stream, mut entries) = (Digest::ZERO, Digest::ZERO, Vec::new());
    for (seq, payload) in (1_i64..).zip(payloads) {
        let entry = Object::new()
            .with("branch_id", "main")
            .with("payload", payload)
            .with("prev_hash", prev)
            .with("seq", seq)
            .with("stream_id", stream)
            .with("ts_ms", TS + seq)
            .with("type", "work");
        prev = sign(&entry).1;
        if seq == 1 {
            stream = prev;
        }
        entries.push(entry);
    }
    entries
}

/// The chain with `change` made to the entry at `index` before it was signed; later entries follow it.
fn signed_with(index: usize, change: impl Fn(&mut Object)) -> Vec<u8> {
    let (mut chain, mut prev, mut stream) = (Vec::new(), Digest::ZERO, Digest::ZERO);
    for (position, mut entry) in entries().into_iter().enumerate() {
        entry.set("prev_hash", prev);
        entry.set("stream_id", stream);
        if position == index {
            change(&mut entry);
        }
        let (line, hash) = sign(&entry);
        prev = hash;
        if position == 0 {
            stream = hash;
        }
        chain.extend(line);
    }
    chain
}

fn good() -> Vec<u8> {
    signed_with(usize::MAX, |_| {})
}

fn lines(chain: &[u8]) -> Vec<Vec<u8>> {
    chain.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// The chain without, with twice, or with exchanged lines: by index.
fn picked(order: &[usize]) -> Vec<u8> {
    let lines = lines(&good());
    order.iter().flat_map(|index| lines[*index].clone()).collect()
}

/// Byte offset of `text` in line `number`.
fn inside(chain: &[u8], number: usize, text: &str) -> usize {
    let line = String::from_utf8_lossy(&lines(chain)[number - 1]).into_owned();
    line.find(text).unwrap_or_else(|| panic!("no {text} in line {number}"))
}

fn signature(chain: &[u8], number: usize) -> String {
    let from = inside(chain, number, "\"sig\":\"") + 7;
    String::from_utf8_lossy(&lines(chain)[number - 1][from..from + 128]).into_owned()
}

type Places = &'static [(&'static str, usize)];

fn seen(chain: &[u8], places: Places) -> Vec<Seen> {
    places.iter().map(|(reason, line)| at(chain, reason, *line, 0)).collect()
}

fn files(chain: &[u8]) -> Files {
    Files::from([
        ("chain.ndjson".to_owned(), chain.to_vec()),
        ("chain.pub.json".to_owned(), public_file(&identity())),
    ])
}

/// What the strict reader says, and the lenient one: OK without failures.
fn case(name: &'static str, about: &'static str, chain: Vec<u8>, strict: Places, peer: Places) -> Case {
    let verdict = |places: Places| if places.is_empty() { "OK" } else { "BROKEN" };
    Case::new(name, about, files(&chain)).answer(&[], verdict(strict), seen(&chain, strict)).answer(
        &["--peer-compat"],
        verdict(peer),
        seen(&chain, peer),
    )
}

/// The same failures either way.
fn both(name: &'static str, about: &'static str, chain: Vec<u8>, places: Places) -> Case {
    case(name, about, chain, places, places)
}

/// A line that one or both readers cannot read at `offset` inside it, and what follows from its absence.
fn unread(name: &'static str, about: &'static str, chain: Vec<u8>, line: usize, offset: usize) -> Case {
    let after: Places = &[("seq_not_contiguous", 3), ("prev_hash_broken", 3)];
    let failures = [vec![at(&chain, "entry_unreadable", line, offset)], seen(&chain, after)].concat();
    Case::new(name, about, files(&chain)).answer(&[], "BROKEN", failures)
}

pub(super) fn cases() -> Vec<Case> {
    [holding(), edited(), signed_wrong(), strictly(), unreadable(), keys()].into_iter().flatten().collect()
}

fn holding() -> Vec<Case> {
    let good = good();
    let text = String::from_utf8_lossy(&good).into_owned();
    let crlf = text.replace('\n', "\r\n").into_bytes();
    let blank = text.replacen('\n', "\n\n", 1).into_bytes();
    let spaced = replace(&good, "\"seq\":1", "\"seq\": 1");
    let open = text.trim_end().as_bytes().to_vec();
    let late = signed_with(1, |entry| entry.set("ts_ms", (1_i64 << 53) + 1));
    let mut unicode = Appender::default();
    let payload =
        Object::new().with("note", "é e\u{301} \u{2028} 😀 \u{7f}").with("\u{fffd}", 1_i64).with("😀", 2_i64);
    let unicode = unicode.append("work", payload.into(), &identity(), TS).map(|entry| entry.line);
    let float = signed_with(1, |entry| {
        let value = Reader::strict().read(b"[0.1,1e16,-0.0,12345678901234567890123]");
        entry.set("payload", value.unwrap_or(Value::Null));
    });
    let head = |chain: &[u8]| ["--expect-head".to_owned(), head(chain)];
    let [flag, three] = head(&good);
    let prefix = picked(&[0, 1]);
    vec![
        both("intact", "Three entries as they should be.", good.clone(), &[])
            .answer(&[&flag, &three], "OK", vec![])
            .answer(&["--expect-count", "4"], "BROKEN", vec![super::whole("count_not_reached")]),
        both("one_entry", "A chain may be one entry long.", picked(&[0]), &[]),
        both(
            "tail_cut_off",
            "A prefix verifies: only a head or a count known from outside shows that something is missing.",
            prefix,
            &[],
        )
        .answer(&[&flag, &three], "BROKEN", vec![super::whole("head_not_reached")])
        .answer(&["--expect-count", "3"], "BROKEN", vec![super::whole("count_not_reached")]),
        both(
            "unicode",
            "Text is signed as it is: no normalisation, U+2028 ends no line.",
            unicode.unwrap_or_default(),
            &[],
        ),
        both("floats_of_a_peer", "Numbers of a peer's chain hash as Python writes them.", float, &[]),
        both("crlf", "CR LF is a warning.", crlf, &[]).warn_strict(&[
            (1, "crlf_line_end"),
            (2, "crlf_line_end"),
            (3, "crlf_line_end"),
        ]),
        both("blank_line", "A blank line is a warning.", blank, &[]).warn_strict(&[(2, "blank_line")]),
        case("not_canonical", "Another spelling of the same value is a warning.", spaced, &[], &[])
            .warn_first(&[(1, "not_canonical")]),
        both("no_final_newline", "A whole last line without a line feed is a warning.", open, &[])
            .warn_strict(&[(3, "no_final_newline")]),
        both("late_timestamp", "Past 2^53 other readers lose digits: a warning.", late, &[])
            .warn_first(&[(2, "timestamp_range")]),
    ]
}

impl Case {
    /// Warnings of every answer.
    fn warn_strict(mut self, warnings: &[(usize, &'static str)]) -> Case {
        for answer in &mut self.answers {
            answer.warnings.extend(warnings);
        }
        self
    }

    /// Warnings of the first answer alone.
    fn warn_first(mut self, warnings: &[(usize, &'static str)]) -> Case {
        self.answers[0].warnings.extend(warnings);
        self
    }
}

/// The head of a chain whose lines are canonical.
fn head(chain: &[u8]) -> String {
    let last = lines(chain).pop().unwrap_or_default();
    let value = Reader::strict().read(&last).unwrap_or(Value::Null);
    let mut entry = value.as_object().cloned().unwrap_or_default();
    entry.remove("sig");
    Digest::of(&canonical(&entry.into())).to_hex()
}

fn edited() -> Vec<Case> {
    let good = good();
    let (first, second) = (signature(&good, 1), signature(&good, 2));
    let swapped = replace(&replace(&replace(&good, &first, "@"), &second, &first), "@", &second);
    let flipped = if first.starts_with('0') { "1" } else { "0" };
    let flipped = replace(&good, &first, &format!("{flipped}{}", &first[1..]));
    vec![
        both(
            "edited_payload",
            "A payload was edited.",
            replace(&good, "worked", "rested"),
            &[("bad_signature", 2), ("prev_hash_broken", 3)],
        ),
        both(
            "edited_last_payload",
            "The last payload was edited: no later entry shows it.",
            replace(&good, "closed", "opened"),
            &[("bad_signature", 3)],
        ),
        both(
            "edited_type",
            "The type was edited.",
            replace(&good, "\"type\":\"work\"", "\"type\":\"play\""),
            &[
                ("bad_signature", 1),
                ("prev_hash_broken", 2),
                ("stream_id_mismatch", 2),
                ("stream_id_mismatch", 3),
            ],
        ),
        both(
            "edited_time",
            "A time was edited.",
            replace(&good, "1700000000002", "1700000000009"),
            &[("bad_signature", 2), ("prev_hash_broken", 3)],
        ),
        both(
            "removed_entry",
            "The second entry was removed.",
            picked(&[0, 2]),
            &[("seq_not_contiguous", 2), ("prev_hash_broken", 2)],
        ),
        both(
            "removed_genesis",
            "The first entry was removed.",
            picked(&[1, 2]),
            &[
                ("genesis_stream_id_not_sentinel", 1),
                ("seq_not_contiguous", 1),
                ("prev_hash_broken", 1),
                ("stream_id_mismatch", 1),
                ("seq_not_contiguous", 2),
                ("stream_id_mismatch", 2),
            ],
        ),
        both(
            "exchanged_entries",
            "The last two entries changed places.",
            picked(&[0, 2, 1]),
            &[
                ("seq_not_contiguous", 2),
                ("prev_hash_broken", 2),
                ("seq_not_contiguous", 3),
                ("prev_hash_broken", 3),
            ],
        ),
        both(
            "repeated_entry",
            "The last entry stands there twice.",
            picked(&[0, 1, 2, 2]),
            &[("seq_not_contiguous", 4), ("prev_hash_broken", 4)],
        ),
        both(
            "exchanged_signatures",
            "Two signatures changed places.",
            swapped,
            &[("bad_signature", 1), ("bad_signature", 2)],
        ),
        both(
            "flipped_signature",
            "One digit of a signature was changed: the hashes still fit.",
            flipped,
            &[("bad_signature", 1)],
        ),
    ]
}

fn signed_wrong() -> Vec<Case> {
    let other = Digest::of(b"another entry");
    vec![
        both(
            "signed_gap",
            "The key signed a gap in the numbers.",
            signed_with(1, |entry| entry.set("seq", 5_i64)),
            &[("seq_not_contiguous", 2)],
        ),
        both(
            "signed_other_branch",
            "The key signed an entry of another branch.",
            signed_with(2, |entry| entry.set("branch_id", "fork")),
            &[("branch_id_mismatch", 3)],
        ),
        both(
            "signed_other_stream",
            "The key signed an entry of another chain.",
            signed_with(2, |entry| entry.set("stream_id", other)),
            &[("stream_id_mismatch", 3)],
        ),
        both(
            "signed_other_past",
            "The key signed an entry after another one.",
            signed_with(2, |entry| entry.set("prev_hash", other)),
            &[("prev_hash_broken", 3)],
        ),
        both(
            "signed_no_genesis",
            "The first entry names a stream.",
            signed_with(0, |entry| entry.set("stream_id", other)),
            &[("genesis_stream_id_not_sentinel", 1)],
        ),
        case(
            "signed_text_number",
            "seq is a text.",
            signed_with(1, |entry| entry.set("seq", "2")),
            &[("seq_not_contiguous", 2), ("member_type", 2)],
            &[("seq_not_contiguous", 2)],
        ),
        case(
            "signed_unknown_member",
            "A member that the signature does not cover.",
            signed_with(1, |entry| entry.set("note", "x")),
            &[("bad_signature", 2), ("unknown_member", 2), ("prev_hash_broken", 3)],
            &[("bad_signature", 2), ("prev_hash_broken", 3)],
        ),
    ]
}

/// What the peer lets through and the strict reader does not.
fn strictly() -> Vec<Case> {
    let good = good();
    let second = signature(&good, 2);
    let upper = replace(&good, &second, &second.to_uppercase());
    let blanks = replace(&good, &second, &format!("{} {}", &second[..64], &second[64..]));
    let not_hex = replace(&good, &second, &format!("zz{}", &second[2..]));
    let short = replace(&good, &second, &second[..126]);
    let malleable = replace(&good, &second, &plus_order(&second));
    let unknown = replace(&good, "\"seq\":2", "\"seq\":2,\"note\":\"unsigned\"");
    let warned = unknown.clone();
    vec![
        case(
            "signature_in_capitals",
            "One signature has one text.",
            upper,
            &[("bad_signature_encoding", 2)],
            &[],
        ),
        case(
            "signature_with_a_blank",
            "One signature has one text.",
            blanks,
            &[("bad_signature_encoding", 2)],
            &[],
        ),
        case(
            "signature_not_hex",
            "A signature that is no hex text.",
            not_hex,
            &[("bad_signature_encoding", 2)],
            &[("bad_signature", 2)],
        ),
        case(
            "signature_short",
            "A signature that is a byte short.",
            short,
            &[("bad_signature_encoding", 2)],
            &[("bad_signature", 2)],
        ),
        both(
            "signature_plus_group_order",
            "S plus the order of the group: a second text for one signature.",
            malleable,
            &[("bad_signature", 2)],
        ),
        case("unsigned_member", "A member that no signature covers.", warned, &[("unknown_member", 2)], &[])
            .warn_first(&[(2, "not_canonical")]),
    ]
}

/// Adds the order of the group to the second half of a signature.
fn plus_order(signature: &str) -> String {
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut bytes = canon::unhex(signature).unwrap_or_default();
    let mut carry = 0_u16;
    for (byte, order) in bytes[32..].iter_mut().zip(ORDER) {
        carry += u16::from(*byte) + u16::from(order);
        *byte = (carry & 0xff) as u8;
        carry >>= 8;
    }
    hex(&bytes)
}

fn unreadable() -> Vec<Case> {
    let good = good();
    let seq = inside(&good, 2, "\"seq\":2");
    let payload = inside(&good, 2, "{\"n\":3,\"note\":\"worked\"}");
    let edit = |from: &str, to: &str| replace(&good, from, to);
    let deep = format!("\"payload\":{}{}", "[".repeat(128), "]".repeat(128));
    let member = "\"payload\":{\"n\":3,\"note\":\"worked\"}";
    let mut not_utf8 = good.clone();
    let place = lines(&good)[0].len() + payload + 15;
    not_utf8[place] = 0xff;
    let cut = good[..good.len() - 40].to_vec();
    let torn = vec![Seen { offset: Some(cut.len()), ..at(&cut, "torn_tail", 3, 0) }];
    let two = lines(&good);
    let two = [&two[0][..], &two[1][..two[1].len() - 1], &two[2][..]].concat();
    let joined = vec![at(&two, "entry_unreadable", 2, inside(&good, 2, "\n"))];
    vec![
        unread(
            "repeated_member",
            "A repeated key: readers differ in which one counts.",
            edit("\"seq\":2", "\"seq\":2,\"seq\":2"),
            2,
            seq + 8,
        )
        .answer(&["--peer-compat"], "OK", vec![]),
        unread(
            "nan",
            "NaN is not JSON.",
            edit("\"n\":3,\"note\":\"worked\"", "\"n\":NaN,\"note\":\"worked\""),
            2,
            payload + 5,
        )
        .answer(
            &["--peer-compat"],
            "BROKEN",
            seen(
                &edit("\"n\":3,\"note\":\"worked\"", "\"n\":NaN,\"note\":\"worked\""),
                &[("bad_signature", 2), ("prev_hash_broken", 3)],
            ),
        ),
        unread(
            "lone_surrogate",
            "Half of a surrogate pair can be signed by nobody.",
            edit("worked", "\\ud800"),
            2,
            payload + 15,
        ),
        unread("not_utf8", "Bytes that are not UTF-8.", not_utf8, 2, payload + 15),
        unread("byte_order_mark", "A byte order mark before an entry.", edit("\n{", "\n\u{feff}{"), 2, 0),
        unread(
            "nested_129_deep",
            "129 levels with the envelope's own.",
            edit(member, &deep),
            2,
            payload + 127,
        ),
        unread("not_an_object", "A line that is JSON and no object.", picked_with_array(), 2, 0),
        Case::new("torn_tail", "The last line was cut in the middle.", files(&cut))
            .answer(&[], "BROKEN", torn.clone())
            .warned(&[(3, "no_final_newline")])
            .answer(&["--peer-compat"], "BROKEN", torn)
            .warned(&[(3, "no_final_newline")]),
        Case::new("two_entries_in_a_line", "A line feed between two entries is gone.", files(&two)).answer(
            &[],
            "BROKEN",
            joined,
        ),
        case(
            "missing_member",
            "An entry without its time.",
            edit("\"ts_ms\":1700000000002,", ""),
            &[("bad_signature", 2), ("member_missing", 2), ("prev_hash_broken", 3)],
            &[("bad_signature", 2), ("member_missing", 2), ("prev_hash_broken", 3)],
        ),
    ]
}

fn picked_with_array() -> Vec<u8> {
    let lines = lines(&good());
    [&lines[0][..], b"[1]\n", &lines[2][..]].concat()
}

fn keys() -> Vec<Case> {
    let good = good();
    let with_key = |bytes: Option<Vec<u8>>| {
        let mut files = files(&good);
        match bytes {
            Some(bytes) => files.insert("chain.pub.json".to_owned(), bytes),
            None => files.remove("chain.pub.json"),
        };
        files
    };
    let all: Places = &[("bad_signature", 1), ("bad_signature", 2), ("bad_signature", 3)];
    let lie = replace(&public_file(&identity()), "\"zQm", "\"zQn");
    let short = replace(&public_file(&identity()), "\"pub_hex\":\"", "\"pub_hex\":\"00");
    let pinned = identity().public().to_hex();
    let other = stranger().public();
    let whole = super::whole;
    let (forged, weak) = under_the_neutral_point();
    let forged_files =
        Files::from([("chain.ndjson".to_owned(), forged.clone()), ("chain.pub.json".to_owned(), weak)]);
    vec![
        Case::new(
            "key_of_a_stranger",
            "The key beside the chain signed none of it.",
            with_key(Some(public_file(&stranger()))),
        )
        .answer(&[], "BROKEN", seen(&good, all))
        .answer(&["--peer-compat"], "BROKEN", seen(&good, all)),
        Case::new(
            "id_not_derived_from_the_key",
            "The id beside the key is another one's.",
            with_key(Some(lie)),
        )
        .answer(&[], "BROKEN", vec![whole("id_not_derived_from_key")])
        .answer(&["--peer-compat"], "OK", vec![]),
        Case::new("no_key", "Nothing to check the signatures against.", with_key(None)).answer(
            &[],
            "UNVERIFIABLE",
            vec![whole("pubkey_file_missing")],
        ),
        Case::new("key_too_long", "A key text that is not 64 digits.", with_key(Some(short))).answer(
            &[],
            "UNVERIFIABLE",
            vec![whole("pubkey_file_unreadable")],
        ),
        Case::new(
            "key_of_small_order",
            "A key under which everybody can sign, and signatures of nobody.",
            forged_files,
        )
        .answer(&[], "BROKEN", seen(&forged, all))
        .answer(&["--peer-compat"], "BROKEN", seen(&forged, all)),
        Case::new("pinned", "The key is the one that is expected, or not.", files(&good))
            .answer(&["--expect-key", &pinned], "OK", vec![])
            .answer(&["--expect-key", &other.to_hex()], "BROKEN", vec![whole("key_not_pinned")])
            .answer(&["--expect-key", other.id().as_str()], "BROKEN", vec![whole("key_not_pinned")]),
        Case::new("empty", "A file without an entry proves nothing.", {
            let mut files = files(&good);
            files.insert("chain.ndjson".to_owned(), Vec::new());
            files
        })
        .answer(&[], "UNVERIFIABLE", vec![whole("empty_chain")]),
    ]
}

/// A chain "signed" under the neutral point: R = neutral point, S = 0 satisfies the lax equation for every message.
fn under_the_neutral_point() -> (Vec<u8>, Vec<u8>) {
    let neutral = format!("01{}", "00".repeat(31));
    let good = good();
    let forged = (1..=3).fold(good.clone(), |chain, number| {
        replace(&chain, &signature(&good, number), &format!("{neutral}{}", "00".repeat(32)))
    });
    let id = PublicKey::parse(&neutral).map(|key| key.id().to_string()).unwrap_or_default();
    (forged, format!("{{\"pub_hex\":\"{neutral}\",\"vacant_id\":\"{id}\"}}\n").into_bytes())
}

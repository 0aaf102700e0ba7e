//! Section 13: whole run directories in both modes.

use canon::{Digest, Value};
use ledger::receipts::{ChainReport, Files, InOrder, Options, Verdict, batch, verify_run};
use ledger::{Fault, Mode, selftest};
use std::path::Path;
use vectors::{list, shared};

const DESK: &str = "vectors/receiving-desk";

/// Every file of a run directory that the verifier may look at.
fn read(folder: &Path) -> Files {
    let mut files = Files::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_file() {
            files.insert(name, std::fs::read(entry.path()).unwrap());
        } else if let Ok(index) = std::fs::read(entry.path().join("index.jsonl")) {
            files.insert(format!("{name}/index.jsonl"), index);
        }
    }
    files
}

fn answer(folder: &Path, options: &Options) -> (Vec<ChainReport>, Verdict) {
    let reports = verify_run(&read(folder), options, &InOrder);
    let verdict = batch(&reports, options.mode == Mode::PeerCompat);
    (reports, verdict)
}

/// Every run directory of the three groups gives the peer's report in compat mode, member by member.
#[test]
fn peer_run_directories_in_compat_mode() {
    let Some(root) = shared("peer_run_directories_in_compat_mode", DESK) else { return };
    let mut checked = 0;
    for group in ["runs", "tampered", "multitask"] {
        let expected = vectors::json(&root.join(group).join("expected.json"));
        for (name, want) in expected.as_object().unwrap().iter() {
            let want = want.get("verify").unwrap();
            let (reports, verdict) = answer(&root.join(group).join(name), &Options::new(Mode::PeerCompat));
            assert_eq!(verdict.word(), vectors::text(want, "verdict"), "{group}/{name}");
            assert_eq!(Some(i64::from(verdict.exit_code())), want.get("exit_code").unwrap().as_i64());
            let chains = list(want, "chains");
            assert_eq!(reports.len(), chains.len(), "{group}/{name}");
            for (report, want) in reports.iter().zip(chains) {
                same_report(&report.to_value(), want, &format!("{group}/{name}"));
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 19 + 18 + 9);
}

fn same_report(got: &Value, want: &Value, name: &str) {
    // Of a chain that could not be looked at the peer reports zeros; we report nothing of it.
    let unread = vectors::text(want, "verdict") == "UNVERIFIABLE";
    let kept = ["arm", "verdict", "failures"];
    for (member, want) in want.as_object().unwrap().iter() {
        // The peer repeats the id that is written; ours is derived from the key.
        let borrowed_id = member == "vacant_id" && name == "tampered/pub_json_id_does_not_match_key";
        if borrowed_id || unread && !kept.contains(&member) {
            continue;
        }
        let got = got.get(member).unwrap_or(&Value::Null);
        if member == "failures" {
            let reasons = |value: &Value| -> Vec<(Option<i64>, String)> {
                let of = |failure: &Value| {
                    let seq = failure.get("seq").and_then(Value::as_i64);
                    (seq, vectors::text(failure, "reason").to_owned())
                };
                value.as_array().unwrap().iter().map(of).collect()
            };
            assert_eq!(reasons(got), reasons(want), "{name}");
        } else {
            assert_eq!(got, want, "{name}: {member}");
        }
    }
}

fn reasons(reports: &[ChainReport]) -> Vec<&'static str> {
    reports.iter().flat_map(|report| &report.failures).map(|failure| failure.reason.code()).collect()
}

/// The `strict_expectations` of the vectors, and that strictness breaks nothing that is good.
#[test]
fn strict_expectations() {
    let Some(root) = shared("strict_expectations", DESK) else { return };
    let strict = Options::new(Mode::Strict);
    let check = |name: &str, options: &Options, verdict: Verdict, wanted: &[&str]| {
        let (reports, got) = answer(&root.join(name), options);
        assert_eq!((got, reasons(&reports)), (verdict, wanted.to_vec()), "{name}");
        reports
    };
    for good in [
        "runs/accepted",
        "runs/accepted_stream3",
        "runs/refused_visible_fail",
        "runs/refused_two_files",
        "runs/retry_revise_accepted",
        "runs/retry_revise_prompt",
        "runs/retry_resample_exhausted",
        "runs/no_suite",
        "runs/ungated",
        "runs/empty_suite_dir",
        "runs/sink_blocked",
        "runs/events",
        "tampered/row_of_other_arm",
        "multitask/three_tasks",
        "multitask/mixed_types",
        "multitask/tiers_mixed",
        "multitask/requests_seen_is_bool",
        "multitask/requests_seen_partly_absent",
    ] {
        check(good, &strict, Verdict::Ok, &[]);
    }
    let sink = check("runs/sink_only", &strict, Verdict::Void, &[]);
    assert_eq!(sink[0].chain.as_ref().unwrap().void_reason.as_deref(), Some("no_model_call_succeeded"));
    check("runs/zero_requests", &strict, Verdict::Void, &[]);
    check("tampered/pub_json_id_does_not_match_key", &strict, Verdict::Broken, &["id_not_derived_from_key"]);
    check("tampered/row_verdict_flipped", &strict, Verdict::Broken, &["row_verdict_differs"]);
    let attested = check("runs/attested", &strict, Verdict::Ok, &[]);
    assert_eq!(attested[0].chain.as_ref().unwrap().tier, None, "claimed, not measured inside");
    let mut tier = strict.clone();
    tier.require_tier = Some("B".to_owned());
    check("runs/attested", &tier, Verdict::Broken, &["tier_below_required"]);
}

/// PC-63 outranks `strict_expectations` here (docs/decisions/0002): an attempt without a verdict is never OK.
#[test]
fn pc63_a_chain_without_its_end_is_never_ok() {
    let Some(root) = shared("pc63_a_chain_without_its_end_is_never_ok", DESK) else { return };
    let cut = root.join("tampered/truncated_tail_and_rows_emptied");
    let mut options = Options::new(Mode::Strict);
    let (reports, verdict) = answer(&cut, &options);
    assert_eq!((verdict, reasons(&reports)), (Verdict::Broken, vec!["attempt_without_verdict"]));
    assert_eq!(reports[0].completeness.word(), "not_anchored");
    let whole = answer(&root.join("runs/retry_revise_accepted"), &options).0;
    options.expect_head = whole[0].chain.as_ref().unwrap().head;
    options.expect_count = Some(3);
    let (reports, _) = answer(&cut, &options);
    assert_eq!(reasons(&reports), ["attempt_without_verdict", "count_not_reached", "head_not_reached"]);
    assert_eq!(reports[0].completeness.word(), "contradicted");
    let (reports, verdict) = answer(&root.join("runs/retry_revise_accepted"), &options);
    assert_eq!((verdict, reports[0].completeness.word()), (Verdict::Ok, "anchored"));
}

#[test]
fn a_pinned_key_tells_a_reminted_chain() {
    let Some(root) = shared("a_pinned_key_tells_a_reminted_chain", DESK) else { return };
    let mut options = Options::new(Mode::Strict);
    let honest = answer(&root.join("runs/refused_visible_fail"), &options).0;
    options.expect_key = honest[0].vacant_id.clone();
    let (reports, verdict) = answer(&root.join("tampered/reminted_with_new_key"), &options);
    // Strict also sees that the rows were not rewritten with the chain.
    let wanted = vec!["row_verdict_differs", "row_verdict_differs", "key_not_pinned"];
    assert_eq!((verdict, reasons(&reports)), (Verdict::Broken, wanted));
    options.mode = Mode::PeerCompat;
    let (reports, verdict) = answer(&root.join("tampered/reminted_with_new_key"), &options);
    assert_eq!((verdict, reasons(&reports)), (Verdict::Broken, vec!["key_not_pinned"]));
    let (reports, verdict) = answer(&root.join("runs/refused_visible_fail"), &options);
    assert!(verdict == Verdict::Ok && reports[0].pinned);
}

/// PC-60: nothing to verify, or nothing to verify against, is never OK.
#[test]
fn pc60_nothing_to_check_is_unverifiable() {
    let options = Options::new(Mode::Strict);
    assert_eq!(batch(&verify_run(&Files::new(), &options, &InOrder), false), Verdict::Unverifiable);
    let rows = Files::from([("rows.jsonl".to_owned(), b"{\"arm\":\"A\",\"task_id\":\"t\"}\n".to_vec())]);
    assert_eq!(batch(&verify_run(&rows, &options, &InOrder), false), Verdict::Unverifiable);
}

#[test]
fn the_selftest_sees_every_case_and_names_what_it_covers() {
    for outcome in selftest::run() {
        assert!(outcome.holds(), "{outcome:?}");
    }
    assert!(selftest::run().len() >= 20 && selftest::holds());
    assert!((0..3).all(|share| selftest::holds_share(share, 3)), "in shares as in one piece");
    assert!(selftest::provoked().contains(&Fault::BadSignature));
}

#[test]
fn a_row_that_cannot_be_read_is_a_failure_and_not_a_row_fewer() {
    let Some(root) = shared("a_row_that_cannot_be_read_is_a_failure_and_not_a_row_fewer", DESK) else {
        return;
    };
    let mut files = read(&root.join("runs/accepted"));
    let rows = files["rows.jsonl"].clone();
    files.insert("rows.jsonl".to_owned(), [b"\xef\xbb\xbf", &rows[..]].concat());
    let reports = verify_run(&files, &Options::new(Mode::Strict), &InOrder);
    assert_eq!(reports[0].failures[0].reason, Fault::RowUnreadable);
    assert_eq!(reports[0].failures[0].offset, Some(0));
    files.insert("rows.jsonl".to_owned(), [&rows[..], b"\r\n\n"].concat());
    assert_eq!(reasons(&verify_run(&files, &Options::new(Mode::Strict), &InOrder)), [""; 0]);
}

#[test]
fn an_edited_wire_index_is_seen() {
    let Some(root) = shared("an_edited_wire_index_is_seen", DESK) else { return };
    let mut files = read(&root.join("runs/accepted_stream3"));
    let name = "wire_RUN-ON/index.jsonl".to_owned();
    let index = files[&name].clone();
    let first_line = index.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    files.insert(name, index[first_line..].to_vec());
    let reports = verify_run(&files, &Options::new(Mode::Strict), &InOrder);
    assert_eq!(reasons(&reports), ["wire_index_mismatch", "wire_index_mismatch"]);
    assert_ne!(Digest::of(&index), Digest::of(&index[first_line..]));
}

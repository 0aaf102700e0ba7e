//! V-6: the codes of chains and run directories, each from the smallest input that gives it.

use crate::claims::{identity, judge, public, run_of};
use canon::{Digest, Object, Value, canonical};
use ledger::certificate::{self, Claim, Invalid};
use ledger::logbook::{self, Appender};
use ledger::receipts::{Files, Verdict, VoidReason, tier};
use ledger::{Fault, Mode, Shape, Warning};

const CHAIN: &str = "receipts_A.ndjson";
const PUB: &str = "receipts_A.pub.json";

fn faults(files: &Files) -> Vec<Fault> {
    judge(files).failures.iter().map(|failure| failure.reason).collect()
}

/// `why` of the first failure, after its reason.
fn why(files: &Files) -> (Fault, String) {
    let failure = judge(files).failures.remove(0);
    (failure.reason, failure.detail.get("why").and_then(Value::as_str).unwrap_or_default().to_owned())
}

fn with(files: &Files, name: &str, bytes: impl Into<Vec<u8>>) -> Files {
    let mut files = files.clone();
    files.insert(name.to_owned(), bytes.into());
    files
}

/// Arm A with these entries and nothing else.
fn signed(entries: &[(&str, Object)]) -> Files {
    let mut appender = Appender::default();
    let line = |(kind, payload): &(&str, Object)| {
        appender.append(kind, payload.clone().into(), &identity(7), 1).unwrap().line
    };
    let chain: Vec<u8> = entries.iter().flat_map(line).collect();
    with(&Files::from([(CHAIN.to_owned(), chain)]), PUB, public(&identity(7), &identity(7)))
}

/// A line of rows.jsonl that says nothing but whose it is.
fn row(task: &str, arm: &str) -> Vec<u8> {
    [canonical(&Object::new().with("task_id", task).with("arm", arm).into()), b"\n".to_vec()].concat()
}

fn rows_of(rows: &[(&str, &str)]) -> Vec<u8> {
    rows.iter().flat_map(|(task, arm)| row(task, arm)).collect()
}

#[test]
fn rows_against_verdicts() {
    let (good, _) = run_of(3);
    let rows = |rows: &[(&str, &str)]| faults(&with(&good, "rows.jsonl", rows_of(rows)));
    assert_eq!(rows(&[("t", "A")]), []);
    assert_eq!(rows(&[("t", "A"), ("t", "A")]), [Fault::VerdictCountNeRows]);
    assert_eq!(rows(&[("u", "A")]), [Fault::VerdictTaskIdsNeRows]);
    assert_eq!(rows(&[]), [Fault::VerdictCountNeRows, Fault::VerdictTaskIdsNeRows]);
    for nobody in ["{\"arm\":\"A\"}", "{\"task_id\":\"t\"}", "{\"arm\":1,\"task_id\":\"t\"}"] {
        let found = why(&with(&good, "rows.jsonl", [nobody.as_bytes(), b"\n", &row("t", "A")].concat()));
        assert_eq!(found, (Fault::RowUnreadable, Shape::RowWithoutTaskOrArm.code().to_owned()), "{nobody}");
    }
    let other_arm = judge(&with(&good, "rows.jsonl", rows_of(&[("t", "A"), ("t", "B")])));
    assert_eq!(other_arm.warnings, [(0, Warning::WireIndexMissing), (0, Warning::ArmWithoutReceipts)]);
    assert_eq!(
        (other_arm.verdict, &other_arm.arms_without_receipts[..]),
        (Verdict::Ok, &["B".to_owned()][..])
    );
}

#[test]
fn verdicts_against_one_another() {
    let verdict =
        Object::new().with("task_id", "t").with("accepted", true).with("stop_reason", "visible_pass");
    let attempt = Object::new().with("task_id", "t");
    let judged = |entries: &[(&str, Object)], ends: usize| {
        faults(&with(&signed(entries), "rows.jsonl", rows_of(&vec![("t", "A"); ends])))
    };
    let [attempt, end] = [("ws_attempt", attempt), ("ws_verdict", verdict.clone())];
    assert_eq!(judged(&[attempt.clone(), end.clone()], 1), []);
    assert_eq!(judged(std::slice::from_ref(&end), 1), [Fault::AttemptFewerThanVerdict]);
    let twice = [attempt.clone(), attempt.clone(), end.clone(), end.clone()];
    assert_eq!(judged(&twice, 2), [Fault::DuplicateVerdictForTask]);
    for (accepted, stop) in [(false, "visible_pass"), (true, "visible_fail"), (true, "visible_unstable")] {
        let lie = verdict.clone().with("accepted", accepted).with("stop_reason", stop);
        let found = judged(&[attempt.clone(), ("ws_verdict", lie)], 1);
        assert_eq!(found, [Fault::VerdictContradictsReason], "{accepted} {stop}");
    }
    // What nobody measured inside is no tier, and what saw no request is no run.
    let of = |end: Object| {
        let files = signed(&[attempt.clone(), ("ws_verdict", end)]);
        judge(&with(&files, "rows.jsonl", row("t", "A")))
    };
    let tier = of(verdict.clone().with("tier", "A"));
    assert_eq!((tier.verdict, &tier.warnings[..]), (Verdict::Ok, &[(0, Warning::TierNotMeasuredInside)][..]));
    let silent = of(verdict.with("requests_seen", 0_i64));
    let void = silent.chain.unwrap().void_reason;
    assert_eq!((silent.verdict, void.as_deref()), (Verdict::Void, Some(VoidReason::NoRequestsSeen.code())));
}

/// Runs of ours have one shape, and sign what lies beside them.
#[test]
fn runs_of_ours() {
    let ours = || Object::new().with("task_id", "t").with("run", "touchstone-run");
    let summary = |stop: &str| {
        let said = Object::new().with("task_id", "t").with("accepted", true).with("stop_reason", stop);
        canonical(&said.with("files_sha256", Object::new()).into())
    };
    let row = row("t", "A");
    let row_sha256 = Digest::of(row.strip_suffix(b"\n").unwrap());
    let verdict = ours().with("accepted", true).with("stop_reason", "visible_pass");
    let run = |middle: &[&str], end: Object, summary: Vec<u8>| {
        let mut entries: Vec<(&str, Object)> = middle.iter().map(|kind| (*kind, ours())).collect();
        entries.push(("ws_verdict", end.with("summary_sha256", Digest::of(&summary))));
        faults(&with(&with(&signed(&entries), "rows.jsonl", row.clone()), "run_A.json", summary))
    };
    let whole = verdict.clone().with("row_sha256", row_sha256);
    let honest = || summary("visible_pass");
    assert_eq!(run(&["run_start", "ws_attempt"], whole.clone(), honest()), []);
    assert_eq!(run(&["ws_attempt", "run_start"], whole.clone(), honest()), [Fault::RunShape]);
    assert_eq!(run(&["run_start", "ws_attempt"], verdict, honest()), [Fault::EndDigestMissing]);
    let tier = whole.clone().with("tier", "B");
    assert_eq!(run(&["run_start", "ws_attempt"], tier, honest()), [Fault::TierContradictsProbes]);
    let other = run(&["run_start", "ws_attempt"], whole, summary("ungated"));
    assert_eq!(other, [Fault::SummaryContradictsVerdict]);
    assert_eq!(faults(&signed(&[("run_start", ours())])), [Fault::RunNotEnded]);
}

/// A measurement that gives tier B, with one answer as it is wanted.
fn enclosure(of_udp: &str) -> Value {
    let challenge = "5a".repeat(32);
    let moment = |phase: &str| {
        let answers =
            || tier::REQUIRED.iter().map(|name| (*name, if *name == "udp" { of_udp } else { "blocked" }));
        let spaces = || tier::NAMESPACES.into_iter().zip(11_i64..);
        let digest = tier::statement(&challenge, phase, answers(), "reachable", spaces());
        tier::moment_value(answers(), "reachable", spaces(), &digest.to_hex())
    };
    let mut desk = Object::new();
    tier::NAMESPACES.into_iter().zip(1_i64..).for_each(|(name, number)| desk.set(name, number));
    let object =
        Object::new().with("v", 1_i64).with("challenge", challenge.as_str()).with("desk_namespaces", desk);
    object.with("start", moment("start")).with("end", moment("end")).into()
}

/// 31.20: what a verdict claims follows from its own probes and from those of every attempt.
#[test]
fn a_tier_follows_from_the_probes_that_are_signed_with_it() {
    let of = |first: (&str, Option<Value>), second: (&str, Option<Value>), want: Option<&str>| {
        let with = |entry: Object, (tier, enclosure): (&str, Option<Value>)| {
            entry.with("task_id", "t").with("tier", tier).with("enclosure", enclosure)
        };
        let verdict = Object::new().with("accepted", true).with("stop_reason", "visible_pass");
        let entries = [("ws_attempt", with(Object::new(), first)), ("ws_verdict", with(verdict, second))];
        let files = crate::reasons::with(&signed(&entries), "rows.jsonl", row("t", "A"));
        let mut options = ledger::receipts::Options::new(Mode::Strict);
        options.require_tier = want.map(str::to_owned);
        let mut reports = ledger::receipts::verify_run(&files, &options, &ledger::receipts::InOrder);
        let report = reports.remove(0);
        let faults: Vec<Fault> = report.failures.iter().map(|failure| failure.reason).collect();
        let warned = report.warnings.contains(&(0, Warning::TierNotMeasuredInside));
        (faults, warned, report.chain.unwrap().tier)
    };
    let measured = || Some(enclosure("blocked"));
    let leaky = || Some(enclosure("reachable"));
    let b = Some("B".to_owned());
    assert_eq!(of(("B", measured()), ("B", measured()), Some("B")), (vec![], false, b.clone()));
    assert_eq!(of(("B", measured()), ("B", measured()), Some("B'")).0, []);
    assert_eq!(of(("B", measured()), ("B", measured()), Some("A")).0, [Fault::TierBelowRequired]);
    assert_eq!(of(("C", leaky()), ("C", leaky()), None), (vec![], false, Some("C".to_owned())));
    assert_eq!(of(("C", None), ("C", None), Some("B'")).0, [Fault::TierBelowRequired]);
    let contradicted = Fault::TierContradictsProbes;
    assert_eq!(of(("B", measured()), ("A", measured()), None).0, [contradicted]);
    assert_eq!(of(("B", leaky()), ("B", leaky()), None).0, [contradicted, contradicted]);
    // One attempt that was open is enough.
    assert_eq!(of(("C", leaky()), ("B", measured()), None).0, [contradicted]);
    assert_eq!(of(("C", leaky()), ("B", measured()), Some("B")).0, [contradicted, Fault::TierBelowRequired]);
    // Whoever claims without a probe says nothing; he lies only when he is we.
    assert_eq!(of(("B", None), ("B", None), None), (vec![], true, None));
}

#[test]
fn what_cannot_be_read_beside_a_chain() {
    let (good, _) = run_of(3);
    let index = why(&with(&good, "wire_A/index.jsonl", "{\n"));
    assert_eq!(index, (Fault::WireIndexUnreadable, "json_unexpected_end".to_owned()));
    let key = Object::new().with("pub_hex", "00").with("vacant_id", identity(7).public().id().as_str());
    for (file, reason) in
        [(b"{".to_vec(), "json_unexpected_end"), (canonical(&key.into()), Invalid::BadKey.code())]
    {
        let files = with(&good, PUB, file);
        assert_eq!(why(&files), (Fault::PubkeyFileUnreadable, reason.to_owned()));
        assert_eq!(judge(&files).verdict, Verdict::Unverifiable);
    }
}

#[test]
fn lines_that_are_no_entries() {
    let (good, _) = run_of(3);
    let chain = |bytes: Vec<u8>| with(&good, CHAIN, bytes);
    for (line, reason) in [("[]\n", Shape::NotAnObject), ("1\n", Shape::NotAnObject)] {
        let found = why(&chain(line.into()));
        assert_eq!(found, (Fault::EntryUnreadable, reason.code().to_owned()), "{line}");
    }
    assert!(faults(&chain("{}\n".into())).contains(&Fault::MemberMissing));
    assert_eq!(faults(&chain(Vec::new())), [Fault::EmptyChain]);
    // One line more than the limit; nothing of it is kept in memory.
    let long = judge(&chain(vec![b'\n'; 2_000_001]));
    assert_eq!((long.verdict, long.failures[0].reason), (Verdict::Unverifiable, Fault::ChainTooLong));
    assert_eq!(faults(&chain(vec![b'\n'; 2_000_000])), [Fault::EmptyChain]);
    let rubbish = faults(&chain("x\n".repeat(20_002).into()));
    assert!(rubbish.contains(&Fault::MoreFailures) && rubbish.len() < 20_000, "{}", rubbish.len());
}

/// The second entry of another branch, signed by the same key.
#[test]
fn a_chain_has_one_branch() {
    let mut appender = Appender::default();
    let first = appender.append("work", Value::Null, &identity(7), 1).unwrap().line;
    let second = |branch: &str| {
        let entry = Object::new()
            .with("branch_id", branch)
            .with("payload", Value::Null)
            .with("prev_hash", appender.head())
            .with("seq", 2_i64)
            .with("stream_id", appender.stream_id().unwrap())
            .with("ts_ms", 1_i64)
            .with("type", "work");
        let signature = identity(7).sign(&canonical(&entry.clone().into()));
        let file = [first.clone(), canonical(&entry.with("sig", canon::hex(&signature)).into())].concat();
        let chain = logbook::verify(&file, &identity(7).public(), Mode::Strict);
        chain.failures.iter().map(|failure| failure.reason).collect::<Vec<_>>()
    };
    assert_eq!(second("main"), []);
    assert_eq!(second("side"), [Fault::BranchIdMismatch]);
}

#[test]
fn certificates_that_cannot_be_read() {
    let claim = Claim { prompt: "p", answer: "a", check: "c", verified: true, ts_ms: 1 };
    let good = certificate::issue(&identity(1), &claim).as_object().unwrap().clone();
    let checked = |certificate: Object| certificate::verify(&certificate.into(), None, Mode::Strict);
    assert_eq!(checked(good.clone()), Ok(()));
    let mut cut = good.clone();
    cut.remove("sig");
    assert_eq!(checked(cut), Err(Invalid::Malformed));
    assert_eq!(checked(good.clone().with("verified", 1_i64)), Err(Invalid::Malformed));
    assert_eq!(checked(good.with("pub", "00")), Err(Invalid::BadKey));
    assert_eq!(certificate::verify(&Value::Null, None, Mode::Strict), Err(Invalid::Malformed));
}

//! Run directories: desk specification 12 and 13, 31.10, 31.11.

use super::{Case, Files, Seen, at, identity, public_file, replace, stranger, whole};
use canon::{Digest, Object, Value, canonical, canonical_digest, compact_ascii};
use ledger::identity::Identity;
use ledger::logbook::Appender;

const ARM: &str = "RUN-ON";
const CHAIN: &str = "receipts_RUN-ON.ndjson";
const PUB: &str = "receipts_RUN-ON.pub.json";
const ROWS: &str = "rows.jsonl";
const SUMMARY: &str = "run_RUN-ON.json";
const VISIBLE: &str = "visible_RUN-ON.json";
const WIRE: &str = "wire_RUN-ON/index.jsonl";
const TASK: &str = "add-two-numbers";
const TS: i64 = 1_700_000_000_000;

/// How a run came out, and what is written about it.
#[derive(Clone)]
struct Story {
    /// `ws_verdict`, or `run_void`.
    end: &'static str,
    stop: &'static str,
    accepted: Option<bool>,
    passed: i64,
    /// Each call; nothing when calls were not measured.
    calls: Option<Vec<Call>>,
    signer: fn() -> Identity,
}

/// One call as the index tells it.
#[derive(Clone, Copy)]
struct Call {
    method: &'static str,
    path: &'static str,
    class: &'static str,
    /// 0: blocked on this machine.
    status: i64,
    outcome: &'static str,
}

/// A call that asks a model; status 0: blocked on this machine.
const fn model(status: i64, outcome: &'static str) -> Call {
    Call { method: "POST", path: "/v1/chat/completions", class: "model", status, outcome }
}

const ANSWERED: Call = model(200, "wire_succeeded");
const REFUSED: Call = model(500, "wire_refused_by_upstream");
const BLOCKED: Call = model(0, "wire_blocked");
const LIST: Call =
    Call { method: "GET", path: "/v1/models", class: "other", status: 200, outcome: "wire_succeeded" };

const ACCEPTED: Story = Story {
    end: "ws_verdict",
    stop: "visible_pass",
    accepted: Some(true),
    passed: 2,
    calls: None,
    signer: identity,
};

/// The files of a run directory that tells the story truly.
fn tell(story: &Story) -> Files {
    let base = Object::new().with("arm", ARM).with("run", "touchstone-run").with("task_id", TASK);
    let (start, end) = (Digest::of(b"[]"), Digest::of(b"workspace at the end"));
    let measured = story.stop.starts_with("visible_");
    let result = Object::new().with("passed", story.passed).with("total", 2_i64);
    let verdict_sha256 = measured.then(|| Digest::of(&canonical(&result.clone().into())));
    let requests = story.calls.as_ref().map(|calls| calls.len() as i64);
    let (index, pairs) = wire(story.calls.as_deref().unwrap_or_default());
    let visible = line(&result.with("all_pass", story.passed == 2).into());
    let mut named = Object::new();
    if measured {
        named.set(VISIBLE, Digest::of(&visible));
    }
    if story.calls.is_some() {
        named.set(WIRE, Digest::of(&index));
    }
    let summary = Object::new()
        .with("arm", ARM)
        .with("task_id", TASK)
        .with("accepted", story.accepted)
        .with("stop_reason", story.stop)
        .with("verdict_sha256", verdict_sha256)
        .with("files_sha256", named);
    let summary = line(&summary.into());
    let common = |object: Object| {
        object
            .with("agent_rc", 0_i64)
            .with("accepted", story.accepted.unwrap_or(false))
            .with("stop_reason", story.stop)
            .with("requests_seen", requests)
            .with("retry", "none")
            .with("max_attempts", 1_i64)
            .with("ws_start_sha256", start)
            .with("conversation_digest_kind", if requests.is_some() { "wire_bytes" } else { "not_measured" })
            .with("conversation_sha256", requests.map(|_| Digest::of(&compact_ascii(&pairs))))
            .with("verdict_sha256", verdict_sha256)
    };
    let attempt =
        common(base.clone()).with("attempt", 1_i64).with("gate_round", 1_i64).with("ws_sha256", end);
    let row = Object::new()
        .with("task_id", TASK)
        .with("arm", ARM)
        .with("vacant", 1_i64)
        .with("accepted", story.accepted)
        .with("refused", story.accepted == Some(false))
        .with("agent_rc", 0_i64)
        .with("attempts_used", 1_i64)
        .with("max_attempts", 1_i64)
        .with("requests_seen", requests)
        .with("retry", "none")
        .with("stop_reason", story.stop)
        .with("ws_start_sha256", start)
        .with("ws_end_sha256", end);
    let verdict = common(base.clone())
        .with("accepted_is_null", story.accepted.is_none())
        .with("attempts_used", 1_i64)
        .with("ws_end_sha256", end)
        .with("summary_sha256", Digest::of(&summary))
        .with("row_sha256", canonical_digest(&row.clone().into()));
    let opening = base.with("suite_sha256", Digest::of(b"suite")).with("ws_start_sha256", start);
    let chain =
        sign(&[("run_start", opening), ("ws_attempt", attempt), (story.end, verdict)], &(story.signer)());
    let mut files = Files::from([
        (CHAIN.to_owned(), chain),
        (PUB.to_owned(), public_file(&(story.signer)())),
        (ROWS.to_owned(), line(&row.into())),
        (SUMMARY.to_owned(), summary),
    ]);
    if measured {
        files.insert(VISIBLE.to_owned(), visible);
    }
    if story.calls.is_some() {
        files.insert(WIRE.to_owned(), index);
    }
    files
}

fn line(value: &Value) -> Vec<u8> {
    [canonical(value), b"\n".to_vec()].concat()
}

fn sign(entries: &[(&str, Object)], signer: &Identity) -> Vec<u8> {
    let mut appender = Appender::default();
    let appended = (TS..).zip(entries).map(|(ts, (kind, payload))| {
        appender.append(kind, payload.clone().into(), signer, ts).expect("no float, no large payload").line
    });
    appended.collect::<Vec<_>>().concat()
}

/// The index of these calls, and the pairs that its digest covers.
fn wire(calls: &[Call]) -> (Vec<u8>, Value) {
    let (mut index, mut pairs) = (Vec::new(), Vec::new());
    for (number, call) in calls.iter().enumerate() {
        let request = Digest::of(format!("request {number}").as_bytes());
        let response = (call.status > 0).then(|| Digest::of(format!("response {number}").as_bytes()));
        let row = Object::new()
            .with("method", call.method)
            .with("path", call.path)
            .with("class", call.class)
            .with("outcome", call.outcome)
            .with("request_sha256", request)
            .with("response_sha256", response)
            .with("status", call.status)
            .with("blocked", call.status == 0);
        index.extend(line(&row.into()));
        pairs.push(Value::from(vec![Value::from(request), Value::from(response)]));
    }
    (index, Value::Array(pairs))
}

/// A true run directory with something done to it.
fn spoiled(story: &Story, spoil: impl Fn(&mut Files)) -> Files {
    let mut files = tell(story);
    spoil(&mut files);
    files
}

fn edit(files: &mut Files, name: &str, from: &str, to: &str) {
    let edited = replace(&files[name], from, to);
    files.insert(name.to_owned(), edited);
}

fn keep_lines(files: &mut Files, name: &str, count: usize) {
    let kept = files[name].split_inclusive(|byte| *byte == b'\n').take(count).collect::<Vec<_>>().concat();
    files.insert(name.to_owned(), kept);
}

fn broken(name: &'static str, about: &'static str, files: Files, reasons: &[&'static str]) -> Case {
    let failures = reasons.iter().map(|reason| whole(reason)).collect();
    Case::new(name, about, files).answer(&[], "BROKEN", failures)
}

pub(super) fn cases() -> Vec<Case> {
    [holding(), void(), rows(), summaries(), chains(), unverifiable()].into_iter().flatten().collect()
}

fn holding() -> Vec<Case> {
    let refused = Story { stop: "visible_fail", accepted: Some(false), passed: 1, ..ACCEPTED };
    let ungated = Story { stop: "ungated", accepted: None, passed: 0, ..ACCEPTED };
    let mediated = Story { calls: Some(vec![ANSWERED, REFUSED, ANSWERED]), ..ACCEPTED };
    let reminted = Story { signer: stranger, ..ACCEPTED };
    let key = identity().public().to_hex();
    vec![
        Case::new("accepted", "Two of two checks passed.", tell(&ACCEPTED))
            .answer(&[], "OK", vec![])
            .answer(&["--expect-key", &key], "OK", vec![])
            .answer(&["--expect-count", "3"], "OK", vec![])
            .answer(&["--expect-count", "4"], "BROKEN", vec![whole("count_not_reached")])
            .answer(&["--require-tier", "B"], "BROKEN", vec![whole("tier_below_required")]),
        Case::new(
            "refused",
            "One of two checks failed; the receipts of a refusal hold like any others.",
            tell(&refused),
        )
        .answer(&[], "OK", vec![]),
        Case::new("ungated", "Nothing was measured, and the receipt says so.", tell(&ungated)).answer(
            &[],
            "OK",
            vec![],
        ),
        Case::new("model_calls", "Three calls, two of them answered.", tell(&mediated)).answer(
            &[],
            "OK",
            vec![],
        ),
        Case::new(
            "signed_again_by_another_key",
            "Everything was made anew under another key: only a key known from outside shows it.",
            tell(&reminted),
        )
        .answer(&[], "OK", vec![])
        .answer(&["--expect-key", &key], "BROKEN", vec![whole("key_not_pinned")]),
    ]
}

fn void() -> Vec<Case> {
    let spawn = Story { end: "run_void", stop: "agent_spawn_failed", accepted: None, passed: 0, ..ACCEPTED };
    let sandbox = Story { stop: "sandbox_unavailable", ..spawn.clone() };
    let none = Story { calls: Some(Vec::new()), ..ACCEPTED };
    let blocked = Story { calls: Some(vec![BLOCKED, BLOCKED]), ..ACCEPTED };
    let failed = Story { calls: Some(vec![REFUSED, REFUSED]), ..ACCEPTED };
    let listed = Story { calls: Some(vec![LIST, BLOCKED]), ..ACCEPTED };
    let cut = Story { calls: Some(vec![model(200, "wire_stream_not_ended"), LIST]), ..ACCEPTED };
    let void = |name, about, story: &Story| Case::new(name, about, tell(story)).answer(&[], "VOID", vec![]);
    vec![
        void("agent_not_started", "The agent could not be started.", &spawn),
        void("no_sandbox", "The checks could not be confined.", &sandbox),
        void("no_model_call", "Calls were counted and there was none.", &none),
        void("model_calls_blocked", "Every call was blocked on this machine.", &blocked),
        void("model_calls_failed", "No call was answered with success.", &failed),
        void("only_a_list_of_models", "The only call that succeeded asked for no text.", &listed),
        void("stream_cut", "The only call that asked for text did not come to its end.", &cut),
    ]
}

fn rows() -> Vec<Case> {
    let spoil = |change: &dyn Fn(&mut Files)| spoiled(&ACCEPTED, change);
    let refused = Story { stop: "visible_fail", accepted: Some(false), passed: 1, ..ACCEPTED };
    let unreadable = spoil(&|files| edit(files, ROWS, "{", "{,"));
    let place = at(&unreadable[ROWS], "row_unreadable", 1, 1);
    let missing = ["verdict_count_ne_rows", "verdict_task_ids_ne_rows"];
    vec![
        broken(
            "row_flipped",
            "The row of a refusal says accepted.",
            spoiled(&refused, |files| edit(files, ROWS, "\"accepted\":false", "\"accepted\":true")),
            &["row_verdict_differs"],
        ),
        broken(
            "row_other_workspace",
            "The row names another workspace.",
            spoil(&|files| {
                edit(
                    files,
                    ROWS,
                    &Digest::of(b"workspace at the end").to_hex(),
                    &Digest::of(b"other").to_hex(),
                )
            }),
            &["row_verdict_differs"],
        ),
        broken(
            "rows_emptied",
            "The rows are gone.",
            spoil(&|files| drop(files.insert(ROWS.to_owned(), Vec::new()))),
            &missing,
        ),
        broken(
            "rows_removed",
            "The file of rows is gone.",
            spoil(&|files| drop(files.remove(ROWS))),
            &missing,
        ),
        broken(
            "row_repeated",
            "The row stands there twice.",
            spoil(&|files| {
                let twice = files[ROWS].repeat(2);
                files.insert(ROWS.to_owned(), twice);
            }),
            &["verdict_count_ne_rows"],
        ),
        broken(
            "row_of_another_task",
            "The row belongs to another task.",
            spoil(&|files| edit(files, ROWS, TASK, "other-task")),
            &["verdict_task_ids_ne_rows"],
        ),
        Case::new("row_unreadable", "The row is no JSON.", unreadable.clone()).answer(
            &[],
            "BROKEN",
            [vec![place], missing.map(whole).to_vec()].concat(),
        ),
    ]
}

fn summaries() -> Vec<Case> {
    let mediated = Story { calls: Some(vec![ANSWERED, ANSWERED]), ..ACCEPTED };
    let spoil = |change: &dyn Fn(&mut Files)| spoiled(&mediated, change);
    let unreadable = spoil(&|files| edit(files, WIRE, "{", "["));
    let place: Seen = at(&unreadable[WIRE], "wire_index_unreadable", 1, 10);
    vec![
        broken(
            "summary_edited",
            "The summary was edited.",
            spoil(&|files| edit(files, SUMMARY, "visible_pass", "visible_fail")),
            &["summary_digest_mismatch"],
        ),
        broken(
            "summary_respelled",
            "The summary says the same with another blank.",
            spoil(&|files| edit(files, SUMMARY, "{", "{ ")),
            &["summary_digest_mismatch"],
        ),
        broken(
            "summary_removed",
            "The summary is gone.",
            spoil(&|files| drop(files.remove(SUMMARY))),
            &["summary_missing"],
        ),
        broken(
            "checks_edited",
            "The list of checks that the summary names was edited.",
            spoil(&|files| edit(files, VISIBLE, "\"total\":2", "\"total\":3")),
            &["signed_file_mismatch"],
        ),
        broken(
            "checks_removed",
            "The list of checks that the summary names is gone.",
            spoil(&|files| drop(files.remove(VISIBLE))),
            &["signed_file_mismatch"],
        ),
        broken(
            "call_removed",
            "A call was taken out of the index: digest and count tell.",
            spoil(&|files| keep_lines(files, WIRE, 1)),
            &["signed_file_mismatch", "wire_index_mismatch", "wire_index_mismatch"],
        ),
        broken(
            "call_edited",
            "A call of the index was edited.",
            spoil(&|files| {
                edit(files, WIRE, &Digest::of(b"response 0").to_hex(), &Digest::of(b"other").to_hex())
            }),
            &["signed_file_mismatch", "wire_index_mismatch"],
        ),
        broken(
            "call_turned_into_a_success",
            "The end of a call was edited: only the digest of the whole index tells.",
            spoiled(&Story { calls: Some(vec![REFUSED]), ..ACCEPTED }, |files| {
                edit(files, WIRE, "wire_refused_by_upstream", "wire_succeeded");
                edit(files, WIRE, "500", "200");
            }),
            &["signed_file_mismatch"],
        ),
        broken(
            "calls_removed",
            "The index of the calls is gone.",
            spoil(&|files| drop(files.remove(WIRE))),
            &["signed_file_mismatch"],
        )
        .warned(&[(0, "wire_index_missing")]),
        Case::new("call_unreadable", "A line of the index is no JSON.", unreadable.clone()).answer(
            &[],
            "BROKEN",
            vec![whole("signed_file_mismatch"), place],
        ),
    ]
}

fn chains() -> Vec<Case> {
    let refused = Story { stop: "visible_fail", accepted: Some(false), passed: 1, ..ACCEPTED };
    let spoil = |change: &dyn Fn(&mut Files)| spoiled(&ACCEPTED, change);
    let turned = spoiled(&refused, |files| {
        let text = String::from_utf8_lossy(&files[CHAIN]).into_owned();
        let (first, last) = text.trim_end().rsplit_once('\n').expect("three entries");
        let last =
            last.replace("\"accepted\":false", "\"accepted\":true").replace("visible_fail", "visible_pass");
        files.insert(CHAIN.to_owned(), format!("{first}\n{last}\n").into_bytes());
        edit(files, ROWS, "\"accepted\":false", "\"accepted\":true");
        edit(files, ROWS, "visible_fail", "visible_pass");
    });
    let turned_place = at(&turned[CHAIN], "bad_signature", 3, 0);
    let stranger_key = spoil(&|files| drop(files.insert(PUB.to_owned(), public_file(&stranger()))));
    let all = (1..=3).map(|line| at(&stranger_key[CHAIN], "bad_signature", line, 0)).collect();
    let torn = spoil(&|files| {
        let chain = &files[CHAIN];
        let cut = chain[..chain.len() - 40].to_vec();
        files.insert(CHAIN.to_owned(), cut);
    });
    let torn_place = Seen { offset: Some(torn[CHAIN].len()), ..at(&torn[CHAIN], "torn_tail", 3, 0) };
    let after_torn =
        ["verdict_count_ne_rows", "verdict_task_ids_ne_rows", "run_not_ended", "attempt_without_verdict"];
    let stopped = |count: usize| {
        spoil(&move |files| {
            keep_lines(files, CHAIN, count);
            files.insert(ROWS.to_owned(), Vec::new());
        })
    };
    vec![
        Case::new(
            "refusal_turned",
            "Verdict and row of a refusal were edited into an acceptance.",
            turned.clone(),
        )
        .answer(
            &[],
            "BROKEN",
            [
                vec![turned_place],
                ["row_verdict_differs", "summary_contradicts_verdict", "summary_contradicts_verdict"]
                    .map(whole)
                    .to_vec(),
            ]
            .concat(),
        ),
        Case::new("key_exchanged", "The key beside the chain signed none of it.", stranger_key.clone())
            .answer(&[], "BROKEN", all),
        Case::new("chain_torn", "The last entry was cut in the middle.", torn.clone())
            .answer(&[], "BROKEN", [vec![torn_place], after_torn.map(whole).to_vec()].concat())
            .warned(&[(3, "no_final_newline")]),
        broken(
            "verdict_and_row_removed",
            "The verdict was cut off and the row removed: the opening shows it.",
            stopped(2),
            &["run_not_ended", "attempt_without_verdict"],
        ),
        broken("all_but_the_opening_removed", "Only the opening is left.", stopped(1), &["run_not_ended"]),
        broken(
            "two_verdicts",
            "The key signed two verdicts for one task.",
            two_verdicts(),
            &[
                "verdict_count_ne_rows",
                "duplicate_verdict_for_task",
                "row_verdict_differs",
                "row_verdict_differs",
                "attempt_fewer_than_verdict",
                "run_shape",
                "summary_contradicts_verdict",
                "summary_contradicts_verdict",
            ],
        ),
    ]
}

/// An honest refusal, and an acceptance after it on the same chain.
fn two_verdicts() -> Files {
    let mut files = tell(&Story { stop: "visible_fail", accepted: Some(false), passed: 1, ..ACCEPTED });
    let payload = |files: &Files, index: usize| {
        let line = files[CHAIN].split(|byte| *byte == b'\n').nth(index).unwrap_or_default().to_vec();
        let entry = canon::Reader::strict().read(&line).expect("our own entry");
        entry.get("payload").and_then(Value::as_object).cloned().unwrap_or_default()
    };
    let accepted = payload(&tell(&ACCEPTED), 2).with("summary_sha256", Digest::of(&files[SUMMARY]));
    let entries = [
        ("run_start", payload(&files, 0)),
        ("ws_attempt", payload(&files, 1)),
        ("ws_verdict", payload(&files, 2)),
        ("ws_verdict", accepted),
    ];
    files.insert(CHAIN.to_owned(), sign(&entries, &identity()));
    files
}

fn unverifiable() -> Vec<Case> {
    let spoil = |change: &dyn Fn(&mut Files)| spoiled(&ACCEPTED, change);
    vec![
        Case::new(
            "no_key",
            "Nothing to check the signatures against.",
            spoil(&|files| drop(files.remove(PUB))),
        )
        .answer(&[], "UNVERIFIABLE", vec![whole("pubkey_file_missing")]),
        Case::new(
            "chain_emptied",
            "The chain has no entry.",
            spoil(&|files| drop(files.insert(CHAIN.to_owned(), Vec::new()))),
        )
        .answer(&[], "UNVERIFIABLE", vec![whole("empty_chain")]),
        Case::new(
            "no_chain",
            "A check over nothing is unchecked, never OK.",
            spoil(&|files| drop(files.remove(CHAIN))),
        )
        .answer(&[], "UNVERIFIABLE", vec![]),
    ]
}

//! The verifier proves on chains that it builds itself that it can see a bad one (desk specification 13). A build
//! whose self-test fails must not be trusted with real data, and `verify` does not speak for it.

use crate::identity::Identity;
use crate::logbook::Appender;
use crate::receipts::{ChainReport, Files, InOrder, Options, Verdict, verify_run};
use crate::{Fault, Mode};
use canon::{Digest, Object, Value};

/// One thing the verifier must be able to see.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was done to a good run directory.
    pub case: &'static str,
    /// What the answer had to be.
    pub want: String,
    /// What it was.
    pub got: String,
}

impl Outcome {
    /// The answer was the right one.
    pub fn holds(&self) -> bool {
        self.want == self.got
    }
}

/// Runs every case.
pub fn run() -> Vec<Outcome> {
    run_share(0, 1)
}

/// Runs every `of`-th case from `share` on: the shell deals the cases out to threads.
fn run_share(share: usize, of: usize) -> Vec<Outcome> {
    let good = good_run();
    let untouched: (&'static str, &str, Spoil) = ("an untouched run directory", "OK", |_, _| {});
    let cases = std::iter::once(&untouched).chain(CASES);
    let judged = cases.skip(share).step_by(of).map(|(case, want, spoil)| {
        let mut files = good.clone();
        let mut options = Options::new(Mode::Strict);
        spoil(&mut files, &mut options);
        Outcome { case, want: (*want).to_owned(), got: judge(&files, &options) }
    });
    judged.collect()
}

/// True when every case gives the right answer.
pub fn holds() -> bool {
    holds_share(0, 1)
}

/// True when every case of a share gives the right answer. The shares `0..of` are all the cases.
pub fn holds_share(share: usize, of: usize) -> bool {
    run_share(share, of).iter().all(Outcome::holds)
}

type Spoil = fn(&mut Files, &mut Options);

const CHAIN: &str = "receipts_RUN-ON.ndjson";
const PUB: &str = "receipts_RUN-ON.pub.json";
const ROWS: &str = "rows.jsonl";
const SUMMARY: &str = "run_RUN-ON.json";

const CASES: &[(&str, &str, Spoil)] = &[
    ("edited payload", "BROKEN bad_signature", |files, _| edit(files, CHAIN, "visible_pass", "visible_fail")),
    ("removed entry", "BROKEN seq_not_contiguous", |files, _| drop_line(files, 1)),
    ("removed genesis", "BROKEN genesis_stream_id_not_sentinel", |files, _| drop_line(files, 0)),
    ("swapped signatures", "BROKEN bad_signature", |files, _| swap_signatures(files)),
    ("wrong key", "BROKEN bad_signature", |files, _| {
        files.insert(PUB.to_owned(), public_file(&Identity::from_seed(&[9; 32])));
    }),
    ("id not derived from the key", "BROKEN id_not_derived_from_key", |files, _| {
        edit(files, PUB, "zQm", "zQn");
    }),
    ("missing key", "UNVERIFIABLE pubkey_file_missing", |files, _| {
        files.remove(PUB);
    }),
    ("empty chain", "UNVERIFIABLE empty_chain", |files, _| {
        files.insert(CHAIN.to_owned(), Vec::new());
    }),
    ("no verdict", "BROKEN verdict_count_ne_rows", |files, _| drop_line(files, 2)),
    ("no verdict and no row", "BROKEN run_not_ended", |files, _| {
        drop_line(files, 2);
        files.insert(ROWS.to_owned(), Vec::new());
    }),
    ("duplicate row", "BROKEN verdict_count_ne_rows", |files, _| {
        let twice = files[ROWS].repeat(2);
        files.insert(ROWS.to_owned(), twice);
    }),
    ("flipped row", "BROKEN row_verdict_differs", |files, _| {
        edit(files, ROWS, "\"accepted\":true", "\"accepted\":false");
    }),
    ("altered summary", "BROKEN summary_digest_mismatch", |files, _| edit(files, SUMMARY, "{", "{ ")),
    ("torn tail", "BROKEN torn_tail", |files, _| {
        if let Some(chain) = files.get_mut(CHAIN) {
            chain.truncate(chain.len() - 40);
        }
    }),
    ("repeated member", "BROKEN entry_unreadable", |files, _| {
        edit(files, CHAIN, "\"seq\":1", "\"seq\":1,\"seq\":1")
    }),
    ("unsigned member", "BROKEN unknown_member", |files, _| {
        edit(files, CHAIN, "\"seq\":1", "\"note\":1,\"seq\":1")
    }),
    ("zero requests", "VOID no_requests_seen", |files, _| {
        *files = run_of(Some(0), "ws_verdict", "visible_pass")
    }),
    ("an answered call", "OK", |files, _| *files = run_with_call("/v1/messages", false)),
    ("only a blocked call", "VOID no_model_call_succeeded", |files, _| {
        *files = run_with_call("/v1/messages", true);
    }),
    ("only a list of models", "VOID no_model_call_succeeded", |files, _| {
        *files = run_with_call("/v1/models", false);
    }),
    ("void run", "VOID agent_spawn_failed", |files, _| {
        *files = run_of(None, "run_void", "agent_spawn_failed")
    }),
    ("tier required", "BROKEN tier_below_required", |_, options| options.require_tier = Some("B".to_owned())),
    ("other head expected", "BROKEN head_not_reached", |_, options| {
        options.expect_head = Some(Digest::of(b"another head"));
    }),
    ("more entries expected", "BROKEN count_not_reached", |_, options| options.expect_count = Some(4)),
    ("other key expected", "BROKEN key_not_pinned", |_, options| {
        options.expect_key = Some(Identity::from_seed(&[9; 32]).public().to_hex());
    }),
];

fn judge(files: &Files, options: &Options) -> String {
    let reports = verify_run(files, options, &InOrder);
    let [ChainReport { verdict, failures, chain, .. }] = &reports[..] else {
        return "no chain".to_owned();
    };
    let void = chain.as_ref().and_then(|chain| chain.void_reason.as_deref());
    let reason = failures.first().map(|failure| failure.reason.code()).or(void);
    match (verdict, reason) {
        (Verdict::Ok, None) => "OK".to_owned(),
        (verdict, reason) => format!("{} {}", verdict.word(), reason.unwrap_or("without a reason")),
    }
}

fn good_run() -> Files {
    run_of(None, "ws_verdict", "visible_pass")
}

/// A small run directory: opened, one attempt, one end.
fn run_of(requests: Option<i64>, end: &str, stop_reason: &str) -> Files {
    let identity = Identity::from_seed(&[7; 32]);
    let summary = b"{\"task_id\":\"selftest\"}".to_vec();
    let accepted = end == "ws_verdict";
    let base = Object::new().with("arm", "RUN-ON").with("task_id", "selftest");
    let ending = base
        .clone()
        .with("accepted", accepted)
        .with("accepted_is_null", false)
        .with("requests_seen", requests)
        .with("stop_reason", stop_reason)
        .with("summary_sha256", Digest::of(&summary));
    let row = base
        .clone()
        .with("accepted", accepted.then_some(true))
        .with("requests_seen", requests)
        .with("stop_reason", stop_reason);
    let mut appender = Appender::default();
    let mut chain = Vec::new();
    for (kind, payload) in [("run_start", base.clone()), ("ws_attempt", base), (end, ending)] {
        // No float and no large payload stands above, so the append cannot be refused.
        if let Ok(entry) = appender.append(kind, payload.into(), &identity, 1) {
            chain.extend(entry.line);
        }
    }
    let mut rows = canon::canonical(&Value::Object(row));
    rows.push(b'\n');
    Files::from([
        (CHAIN.to_owned(), chain),
        (PUB.to_owned(), public_file(&identity)),
        (ROWS.to_owned(), rows),
        (SUMMARY.to_owned(), summary),
    ])
}

/// The same with one call.
fn run_with_call(path: &str, blocked: bool) -> Files {
    let mut files = run_of(Some(1), "ws_verdict", "visible_pass");
    let call = Object::new().with("method", "POST").with("path", path).with("status", 200_i64);
    let call = canon::canonical(&Value::Object(call.with("blocked", blocked)));
    files.insert("wire_RUN-ON/index.jsonl".to_owned(), call);
    files
}

/// The public key file that stands beside a chain.
fn public_file(identity: &Identity) -> Vec<u8> {
    let key = identity.public();
    let object = Object::new().with("vacant_id", key.id().as_str()).with("pub_hex", key.to_hex());
    canon::canonical(&Value::Object(object))
}

fn edit(files: &mut Files, name: &str, from: &str, to: &str) {
    if let Some(file) = files.get_mut(name) {
        *file = String::from_utf8_lossy(file).replacen(from, to, 1).into_bytes();
    }
}

fn lines(files: &Files) -> Vec<Vec<u8>> {
    files[CHAIN].split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

fn drop_line(files: &mut Files, index: usize) {
    let mut lines = lines(files);
    lines.remove(index);
    files.insert(CHAIN.to_owned(), lines.concat());
}

fn swap_signatures(files: &mut Files) {
    let text = lines(files).into_iter().map(|line| String::from_utf8_lossy(&line).into_owned());
    let mut lines: Vec<String> = text.collect();
    let signature = |line: &str| line.split("\"sig\":\"").nth(1).map(|rest| rest[..128].to_owned());
    if let (Some(first), Some(second)) = (signature(&lines[0]), signature(&lines[1])) {
        lines[0] = lines[0].replace(&first, &second);
        lines[1] = lines[1].replace(&second, &first);
    }
    files.insert(CHAIN.to_owned(), lines.concat().into_bytes());
}

/// Every fault that the self-test provokes, for the test that keeps the list honest.
pub fn provoked() -> Vec<Fault> {
    let named = |fault: &&Fault| CASES.iter().any(|(_, want, _)| want.ends_with(fault.code()));
    Fault::ALL.iter().filter(named).copied().collect()
}

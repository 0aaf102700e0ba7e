//! `touchstone verify`: receipts checked offline (desk specification 13, 31.10, 31.12).
//!
//! This module uses `canon`, `ledger` and `verdict` only, opens no socket, and no file that its arguments do not
//! name or contain; `cargo xtask tidy` and a test under a seccomp filter hold it to that.

mod entries;
mod load;
mod text;

use crate::exit;
use crate::output;
use canon::{Digest, Object, Value};
use entries::Entries;
use ledger::logbook::{Examined, Line};
use ledger::receipts::{ChainReport, Facts, Lines, Options, Verdict, batch, totals, verify_run};
use ledger::{Mode, selftest};
use load::Target;
pub(crate) use load::read_regular;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Check receipts offline: ours and the Python peer's.
///
/// Exit: 0 everything OK, 3 a run is VOID, 1 BROKEN or UNVERIFIABLE, 64 wrong use.
///
/// Example: touchstone verify ~/.touchstone/runs/*
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Run directories, chain files (*.ndjson with *.pub.json beside), or patterns.
    #[arg(value_name = "PATH", required_unless_present = "selftest")]
    paths: Vec<PathBuf>,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
    /// Read as leniently as the Python peer does, and give its answers.
    #[arg(long)]
    peer_compat: bool,
    /// Prove on chains built for it that this build sees bad ones; then check PATH, if any.
    #[arg(long)]
    selftest: bool,
    /// The chain must reach this head (64 hex), known from outside.
    #[arg(long, value_name = "HEX", value_parser = parse_digest)]
    expect_head: Option<Digest>,
    /// The chain must have at least N entries; with --expect-head, that head at entry N.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    expect_count: Option<u64>,
    /// The chain must be signed by this key (64 hex, or its id).
    #[arg(long, value_name = "KEY", value_parser = parse_key)]
    expect_key: Option<String>,
    /// Every verdict must carry at least this enclosure tier.
    #[arg(long, value_name = "TIER", value_parser = ["A", "B", "B'"])]
    require_tier: Option<String>,
    /// Show what each entry says, too.
    #[arg(long)]
    entries: bool,
}

/// A key is meant as 64 hex digits or as an id; anything else is a slip, not another key.
fn parse_key(text: &str) -> Result<String, String> {
    let hex = canon::unhex(text).is_some_and(|bytes| bytes.len() == 32);
    let id =
        text.len() == 47 && text.starts_with("zQm") && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if hex || id {
        Ok(text.to_owned())
    } else {
        Err("64 lowercase hex digits or an id (zQm...) are needed".to_owned())
    }
}

fn parse_digest(text: &str) -> Result<Digest, String> {
    Digest::parse(text).map_err(|_| "64 lowercase hex digits are needed".to_owned())
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    // With paths the JSON answer says that the self-test passed; two objects would be no JSON.
    if args.selftest && (args.paths.is_empty() || !args.json) {
        print_selftest(&selftest::run(), args.json);
    }
    if !selftest_holds() {
        output::usage("the verifier of this build fails its self-test and must not be trusted: rebuild it");
        return exit::FAILED;
    }
    if args.paths.is_empty() {
        return exit::OK;
    }
    let options = Options {
        mode: if args.peer_compat { Mode::PeerCompat } else { Mode::Strict },
        expect_head: args.expect_head,
        expect_count: args.expect_count,
        expect_key: args.expect_key.clone(),
        require_tier: args.require_tier.clone(),
    };
    let paths = match load::paths(&args.paths) {
        Ok(paths) => paths,
        Err(message) => return output::usage(&message),
    };
    let busy = output::Busy::default();
    busy.with(Some("verifying"));
    // One after the other: only one directory is in memory at a time.
    let checked: Vec<Checked> =
        paths.iter().map(|path| check(load::read(path), &options, args.entries)).collect();
    busy.with(None);
    let chains_n: usize = checked.iter().map(|checked| checked.chains.len()).sum();
    let anchored = options.expect_head.is_some() || options.expect_count.is_some();
    if anchored && chains_n > 1 {
        return output::usage(&format!(
            "--expect-head and --expect-count belong to one chain, but {chains_n} were found: name one"
        ));
    }
    let answer = Answer::of(checked, options.mode);
    if args.json {
        output::line(&String::from_utf8_lossy(&canon::canonical(&answer.to_value())));
    } else {
        text::print(&answer);
    }
    answer.verdict.exit_code()
}

/// One target and what was found there.
struct Checked {
    target: Target,
    chains: Vec<ChainReport>,
    /// By arm, where they were asked for.
    entries: BTreeMap<String, Entries>,
}

fn check(mut target: Target, options: &Options, with_entries: bool) -> Checked {
    let files = std::mem::take(&mut target.files);
    let mut chains = verify_run(&files, options, &OnAllCores);
    if let Some(arm) = &target.arm {
        chains.retain(|chain| chain.arm == *arm);
    }
    let mut entries = BTreeMap::new();
    for chain in chains.iter().filter(|_| with_entries) {
        let file = files.get(&format!("receipts_{}.ndjson", chain.arm));
        entries.extend(file.map(|file| (chain.arm.clone(), Entries::of(file))));
    }
    Checked { target, chains, entries }
}

/// Everything that was asked, answered.
struct Answer {
    checked: Vec<Checked>,
    mode: Mode,
    verdict: Verdict,
}

impl Answer {
    fn of(checked: Vec<Checked>, mode: Mode) -> Answer {
        let peer = mode == Mode::PeerCompat;
        let all: Vec<ChainReport> = checked.iter().flat_map(|one| one.chains.iter().cloned()).collect();
        let mut verdict = batch(&all, peer);
        // The peer passes over a directory without a chain when another one has some; strict does not.
        let empty = checked.iter().any(|one| one.chains.is_empty() || !one.target.problems.is_empty());
        if empty && !peer {
            verdict = verdict.max(Verdict::Unverifiable);
        }
        Answer { checked, mode, verdict }
    }

    fn chains(&self) -> Vec<ChainReport> {
        self.checked.iter().flat_map(|one| one.chains.iter().cloned()).collect()
    }

    fn to_value(&self) -> Value {
        let runs = self.checked.iter().map(|one| {
            let problems = one.target.problems.iter().map(|(path, why)| {
                Value::from(Object::new().with("path", canon::shown(path)).with("why", why.as_str()))
            });
            let chain = |chain: &ChainReport| match (chain.to_value(), one.entries.get(&chain.arm)) {
                (Value::Object(object), Some(entries)) => object.with("entries", entries.to_value()).into(),
                (value, _) => value,
            };
            Value::from(
                Object::new()
                    .with("path", canon::shown(one.target.shown.as_os_str().as_encoded_bytes()))
                    .with("chains", Value::Array(one.chains.iter().map(chain).collect()))
                    .with("problems", Value::Array(problems.collect())),
            )
        });
        let mode = if self.mode == Mode::Strict { "strict" } else { "peer_compat" };
        Object::new()
            .with("v", 1_i64)
            .with("mode", mode)
            .with("verdict", self.verdict.word())
            .with("exit_code", i64::from(self.verdict.exit_code()))
            .with("selftest", "passed")
            .with("runs_n", self.checked.len() as u64)
            .with("totals", totals(&self.chains()))
            .with("runs", Value::Array(runs.collect()))
            .into()
    }
}

/// Looks at the lines of a chain on every core. Order is kept: each line has its place.
struct OnAllCores;

impl Lines for OnAllCores {
    fn examine(
        &self,
        lines: &[Line<'_>],
        examine: &(dyn Fn(&Line<'_>) -> Examined<Facts> + Sync),
    ) -> Vec<Examined<Facts>> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // A thread costs about as much as one signature; small chains are not worth it.
        if cores == 1 || lines.len() < 32 {
            return lines.iter().map(examine).collect();
        }
        let chunk = lines.len().div_ceil(cores);
        // Each worker fills its own part, so that a long chain is not held twice.
        let mut all: Vec<Option<Examined<Facts>>> = Vec::new();
        all.resize_with(lines.len(), || None);
        std::thread::scope(|scope| {
            for (lines, part) in lines.chunks(chunk).zip(all.chunks_mut(chunk)) {
                scope.spawn(move || {
                    for (line, place) in lines.iter().zip(part) {
                        *place = Some(examine(line));
                    }
                });
            }
        });
        all.into_iter().map_while(|place| place).collect()
    }
}

/// The self-test, half of it on another thread: it is most of what a small run costs.
fn selftest_holds() -> bool {
    std::thread::scope(|scope| {
        let other = scope.spawn(|| selftest::holds_share(1, 2));
        let this = selftest::holds_share(0, 2);
        this && other.join().unwrap_or(false)
    })
}

fn print_selftest(outcomes: &[selftest::Outcome], json: bool) {
    let passed = outcomes.iter().filter(|outcome| outcome.holds()).count();
    if json {
        let cases = outcomes.iter().map(|outcome| {
            let object = Object::new().with("case", outcome.case).with("want", outcome.want.as_str());
            Value::from(object.with("got", outcome.got.as_str()).with("holds", outcome.holds()))
        });
        let answer = Object::new()
            .with("selftest", if passed == outcomes.len() { "passed" } else { "failed" })
            .with("cases", Value::Array(cases.collect()));
        return output::line(&String::from_utf8_lossy(&canon::canonical(&answer.into())));
    }
    for outcome in outcomes {
        let (word, tone) =
            if outcome.holds() { ("seen", output::Tone::Good) } else { ("MISSED", output::Tone::Bad) };
        output::line(&format!("{}  {:<30} {}", output::paint(word, tone), outcome.case, outcome.got));
    }
    output::line(&format!("self-test: {passed} of {} cases", outcomes.len()));
}

//! What every reader of foreign bytes promises, as one function per fuzz target. The same file is compiled into
//! `crates/touchstone/tests/corpus.rs`, which runs the committed corpus in a plain `cargo test`.
//!
//! A function panics when a promise is broken and returns otherwise; what the bytes mean is no concern of it.

use canon::{Limits, Reader, Value, canonical, compact_ascii};
use desk::command_suite::{Kind, config};
use desk::report::{Refusal, Report, junit, tap};
use ledger::identity::Identity;
use ledger::logbook::{self, Appender, Chain};
use ledger::receipts::{ChainReport, Files, InOrder, Options, Verdict, batch, verify_run as verify};
use ledger::{Failure, Mode};
use std::collections::BTreeSet;
use suite::literal;
use suite::spec::{Mode as Leniency, Spec, Task};

/// A target: bytes in, a panic when a promise is broken.
pub type Check = fn(&[u8]);

/// Every target by its name, which is also the name of its corpus folder.
pub const TARGETS: [(&str, Check); 8] = [
    ("strict_reader", strict_reader),
    ("chain_reader", chain_reader),
    ("verify_run", verify_run),
    ("tap", read_tap),
    ("junit", read_junit),
    ("suite_toml", suite_toml),
    ("python_literal", python_literal),
    ("suite_spec", suite_spec),
];

/// The key of every chain in the corpora.
fn identity() -> Identity {
    Identity::from_seed(&[7; 32])
}

// ------------------------------------------------------------------------------------------ canonical JSON

/// What was accepted is written and read back unchanged, in both forms; a refusal names a place in the document;
/// what the strict reader accepts the lenient one reads alike; narrower limits never accept more.
pub fn strict_reader(bytes: &[u8]) {
    let strict = Reader::strict().read(bytes);
    let peer = Reader::peer().read(bytes);
    for (reader, answer) in [(Reader::strict(), &strict), (Reader::peer(), &peer)] {
        match answer {
            Ok(value) => round_trip(&reader, value),
            Err(error) => {
                assert!(error.offset <= bytes.len(), "{error:?}");
                assert!(error.fault.code().starts_with("json_"));
            }
        }
    }
    if strict.is_ok() {
        assert_eq!(strict, peer);
    }
    let narrow = Reader::strict().with_limits(Limits { depth_max: 3, bytes_max: 64 });
    if let Ok(value) = narrow.read(bytes) {
        assert_eq!(Ok(value), strict);
    }
}

fn round_trip(reader: &Reader, value: &Value) {
    let written = canonical(value);
    let again = reader.read(&written).expect("canonical text is read");
    assert_eq!(canonical(&again), written, "canonical text is a fixed point");
    assert_eq!(reader.read(&compact_ascii(value)).as_ref(), Ok(value), "compact text keeps order and values");
}

// ------------------------------------------------------------------------------------------ chains

/// The boolean and the list agree, every place lies in the file, and what holds strictly holds for the lenient
/// reader too, as does every prefix of whole lines.
pub fn chain_reader(bytes: &[u8]) {
    let key = identity().public();
    let strict = logbook::verify(bytes, &key, Mode::Strict);
    let peer = logbook::verify(bytes, &key, Mode::PeerCompat);
    for chain in [&strict, &peer] {
        consistent(chain, bytes.len());
    }
    if strict.verify_chain {
        assert!(peer.verify_chain, "strict accepts what the lenient reader refuses");
        assert_eq!((strict.head, strict.entries_n), (peer.head, peer.entries_n));
        if let Some(line) = logbook::lines(bytes).last() {
            assert!(logbook::verify(&bytes[..line.offset], &key, Mode::Strict).verify_chain);
        }
    }
}

fn consistent(chain: &Chain<()>, bytes_n: usize) {
    assert_eq!(chain.verify_chain, chain.failures.is_empty(), "the boolean and the list disagree");
    places(&chain.failures, bytes_n);
    let entries = chain.lines.iter().filter(|line| line.entry.is_some()).count();
    assert_eq!(chain.entries_n, entries);
}

fn places(failures: &[Failure], bytes_n: usize) {
    for failure in failures {
        assert!(failure.offset.is_none_or(|offset| offset <= bytes_n), "{failure:?}");
        assert_ne!(failure.reason, ledger::Fault::DetailedVsLogbookDisagree);
        canonical(&failure.to_value());
    }
}

// ------------------------------------------------------------------------------------------ run directories

/// Every answer has a verdict that follows from its failures, and can be written as JSON.
///
/// The bytes are a small file map: a line `=== NAME` starts a file of that name, a line `=+= NAME` one whose lines
/// `TYPE PAYLOAD` are signed into a chain first, so that a fuzzer gets past the signatures.
pub fn verify_run(bytes: &[u8]) {
    let files = file_map(bytes);
    let longest = files.values().map(Vec::len).max().unwrap_or(0);
    for mode in [Mode::Strict, Mode::PeerCompat] {
        let mut options = Options::new(mode);
        let reports = verify(&files, &options, &InOrder);
        for report in &reports {
            answers(report, longest);
        }
        let verdict = batch(&reports, mode == Mode::PeerCompat);
        assert!(!reports.is_empty() || verdict == Verdict::Unverifiable, "nothing was checked");
        // Asking for more never makes an answer better.
        options.expect_count = Some(3);
        options.expect_key = Some(identity().public().to_hex());
        options.require_tier = Some("B".to_owned());
        let asked = verify(&files, &options, &InOrder);
        assert_eq!(reports.len(), asked.len());
        for (report, asked) in reports.iter().zip(&asked) {
            answers(asked, longest);
            assert!(asked.verdict >= report.verdict, "{report:?}\n{asked:?}");
        }
    }
}

fn answers(report: &ChainReport, bytes_n: usize) {
    places(&report.failures, bytes_n);
    let broken = matches!(report.verdict, Verdict::Broken | Verdict::Unverifiable);
    assert_eq!(broken, !report.failures.is_empty(), "{report:?}");
    Reader::strict().read(&canonical(&report.to_value())).expect("the report is JSON");
}

fn file_map(bytes: &[u8]) -> Files {
    let mut files = Files::new();
    let mut current: Option<(String, bool, Vec<u8>)> = None;
    let mut close = |current: Option<(String, bool, Vec<u8>)>| {
        if let Some((name, sign, content)) = current {
            files.insert(name, if sign { signed(&content) } else { content });
        }
    };
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let header = line.strip_prefix(b"=== ").map(|name| (name, false));
        let header = header.or_else(|| line.strip_prefix(b"=+= ").map(|name| (name, true)));
        match header {
            Some((name, sign)) => {
                let name = String::from_utf8_lossy(name).trim_end().to_owned();
                close(current.replace((name, sign, Vec::new())));
            }
            None => {
                if let Some((_, _, content)) = &mut current {
                    content.extend_from_slice(line);
                }
            }
        }
    }
    close(current);
    files
}

/// A chain of the entries that each line names; a line that cannot be signed is taken as it is.
fn signed(content: &[u8]) -> Vec<u8> {
    let (identity, mut appender, mut chain) = (identity(), Appender::default(), Vec::new());
    for line in content.split_inclusive(|byte| *byte == b'\n').take(32) {
        let space = line.iter().position(|byte| *byte == b' ').unwrap_or(0);
        let kind = String::from_utf8_lossy(&line[..space]);
        let payload = Reader::strict().read(&line[space..]).ok();
        let entry = payload.and_then(|payload| appender.append(&kind, payload, &identity, 1).ok());
        chain.extend(entry.map_or_else(|| line.to_vec(), |entry| entry.line));
    }
    chain
}

// ------------------------------------------------------------------------------------------ reports and suites

/// A report is counted completely or refused with a code.
pub fn read_tap(bytes: &[u8]) {
    look_at(&tap::read(bytes));
}

/// The same for JUnit XML.
pub fn read_junit(bytes: &[u8]) {
    look_at(&junit::read(bytes));
}

fn look_at(result: &Result<Report, Refusal>) {
    match result {
        Err(refusal) => assert!(!refusal.code().is_empty()),
        Ok(report) => {
            for case in report.cases().iter().take(64) {
                assert!(report.is_named(case, &report.full_name(case)));
            }
            let tally = report.tally();
            let counted = tally.passed + tally.failed + tally.listed + tally.unstable;
            assert!(counted <= report.cases().len() as u64);
            // A check over nothing is unchecked, never sound.
            assert!(!report.cases().is_empty() || !report.problems().is_empty());
        }
    }
}

/// A suite file is refused with a line inside the file, or its checks are few and told apart by their names.
pub fn suite_toml(bytes: &[u8]) {
    match config::parse(bytes) {
        Ok(suite) => {
            if let Kind::Commands { checks, .. } = &suite.kind {
                let names: BTreeSet<&str> = checks.iter().map(|check| check.name.as_str()).collect();
                assert_eq!(names.len(), checks.len(), "two checks with one name");
                assert!(checks.len() <= config::CHECKS_MAX);
                assert!(checks.iter().all(|check| !check.run.is_empty()));
            }
        }
        Err(error) => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!(!error.message.is_empty());
            assert!(error.line.is_none_or(|line| (1..=lines).contains(&line)), "{error:?}");
        }
    }
}

// ------------------------------------------------------------------------------------------ suites as data

/// A text is read as a value whose text is read as an equal value, or refused at a place inside it. From then on
/// nothing moves, but for complex numbers, which Python does not read back as it wrote them.
pub fn python_literal(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match literal::parse(&text) {
        Err(error) => assert!(error.offset <= text.len(), "{error}"),
        Ok(value) => {
            let written = literal::emit(&value);
            // 200 brackets are read whatever they hold; the text of a value has no more of them.
            let again = literal::parse(&written).expect("the text of a value is read");
            assert!(literal::equal(&value, &again), "{written}");
            if !written.contains('j') {
                assert_eq!(literal::emit(&again), written);
            }
        }
    }
}

/// What is accepted strictly is accepted by the lenient reader as the same suite, and its normalised form is a suite
/// with the same digest.
pub fn suite_spec(bytes: &[u8]) {
    let strict = Spec::from_bytes(bytes, Leniency::Strict, Task::NotGiven);
    let peer = Spec::from_bytes(bytes, Leniency::Peer, Task::NotGiven);
    match &strict {
        Err(error) => {
            assert!(error.to_string().starts_with(error.code().split('_').next().unwrap_or_default()))
        }
        Ok(spec) => {
            assert_eq!(Ok(spec), peer.as_ref());
            let normalised = canonical(&spec.normalised());
            let again = Spec::from_bytes(&normalised, Leniency::Strict, Task::EntryPoint(spec.entry_point()));
            let again = again.expect("a normalised suite is a suite");
            if !String::from_utf8_lossy(&normalised).contains('j') {
                assert_eq!(again.digest(), spec.digest());
            }
            suite::render::peer_digest(spec);
        }
    }
}

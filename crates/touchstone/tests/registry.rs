//! V-6: the registry is exactly what the product can emit, and what was frozen keeps its meaning.
#![allow(clippy::unwrap_used)]

use canon::{Digest, ReadFault, replay};
use desk::command_suite::judge::VoidCause;
use desk::gate::GateReason;
use desk::python_suite::{InfraError, Kind, SuiteFault};
use desk::report::{Outcome, Refusal};
use desk::sandbox::{Answer, Cannot, Cause, Level, Probe, StartError, Status, Strays};
use desk::{record, workspace};
use ledger::certificate::Invalid;
use ledger::pem::PemError;
use ledger::receipts::VoidReason;
use ledger::{Fault, Shape, Warning};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use verdict::evidence::Dishonesty;
use verdict::golden::GoldenFault;
use verdict::{StopReason, judge, registry};

/// Every closed list of codes, with the layers in which its entries may stand.
fn emitted() -> Vec<(&'static str, Vec<&'static str>)> {
    [emitted_of_runs(), emitted_of_parties()].concat()
}

/// Those of runs, runtimes, rooms and tools.
fn emitted_of_runs() -> Vec<(&'static str, Vec<&'static str>)> {
    let of = |layer, codes: &[&'static str]| (layer, codes.to_vec());
    vec![
        of("bytes", ReadFault::CODES),
        of("table", replay::TableFault::CODES),
        of("table", replay::FormError::CODES),
        of("evidence", Dishonesty::CODES),
        of("judge", judge::Fault::CODES),
        of("conform", judge::Refusal::CODES),
        of("conform", conform::Problem::CODES),
        of("golden", GoldenFault::CODES),
        of("attest", conform::attest::Fault::CODES),
        of("bytes chain", Shape::CODES),
        of("chain", Fault::CODES),
        of("chain", Warning::CODES),
        of("chain", VoidReason::CODES),
        of("certificate", Invalid::CODES),
        of("key", PemError::CODES),
        of("workspace", workspace::Fault::CODES),
        of("suite", VoidCause::CODES),
        of("suite", SuiteFault::CODES),
        of("suite", InfraError::CODES),
        of("spec", suite::spec::SpecError::CODES),
        of("spec", suite::spec::LiteralFault::CODES),
        of("answer", suite::checks::CheckError::CODES),
        of("report", Refusal::CODES),
        of("checks", check::Detail::CODES),
        of("checks", check::CheckInfraError::CODES),
        of("checks", Kind::CODES),
        of("checks", Outcome::CODES),
        of("checks", GateReason::CODES),
        of("sandbox", Cause::CODES),
        of("sandbox", Probe::CODES),
        of("sandbox", Answer::CODES),
        of("sandbox", Level::CODES),
        of("process", Status::CODES),
        of("process", Cannot::CODES),
        of("process", Strays::CODES),
        of("process", StartError::CODES),
        of("process", desk::agents::PointError::CODES),
        ("run", StopReason::ALL.iter().map(|reason| reason.code()).collect()),
        of("record", record::Cause::CODES),
        of("kernel", kernel::skill::Fault::CODES),
        of("kernel", kernel::guard::Reason::CODES),
        of("kernel", kernel::guard::Passed::CODES),
        of("kernel", kernel::route::Unrouted::CODES),
        ("kernel", danger().iter().map(|pattern| pattern.id).collect()),
        of("kernel", kernel::skill::ModuleFault::CODES),
        of("kernel", kernel::skill::ManifestFault::CODES),
        of("mcp", mcp::Wrong::CODES),
        of("matrix", matrix::lint::Fault::CODES),
        of("matrix", matrix::Problem::CODES),
        of("matrix", matrix::gate::Fault::CODES),
        of("matrix", matrix::verdict::Word::CODES),
        of("room", ::room::input::InputFault::CODES),
        of("room", ::room::SetupFault::CODES),
        of("room", ::room::record::RecordFault::CODES),
        of("room", ::room::receipt::Verdict::CODES),
        of("room", ::room::profile::Code::CODES),
        of("room", ::room::reject::Reject::CODES),
        of("wire", wire::Outcome::CODES),
        of("wire", wire::CallError::CODES),
        of("wire", proxy::FaultKind::CODES),
        of("wire", proxy::StartError::CODES),
    ]
}

/// The same of what several parties say to one another.
fn emitted_of_parties() -> Vec<(&'static str, Vec<&'static str>)> {
    let of = |layer, codes: &[&'static str]| (layer, codes.to_vec());
    vec![
        of("delegation", peers::delegation::Refusal::CODES),
        of("delegation", peers::delegation::Undelivered::CODES),
        of("delegation", peers::delegation::NotAdmitted::CODES),
        of("delegation", peers::delegation::Unacceptable::CODES),
        of("launch", peers::controller::Untemplated::CODES),
        of("launch", peers::controller::NotAuthorising::CODES),
        of("launch", desk::launch::LaunchError::CODES),
        of("ecosystem", peers::ecosystem::Unannounced::CODES),
        of("ecosystem", peers::ecosystem::ReviewRefusal::CODES),
        of("ecosystem", peers::ecosystem::PanelRefusal::CODES),
        of("consent", peers::consent::ConsentError::CODES),
        of("consent", peers::consent::Problem::CODES),
        of("consent", desk::consent_chain::ConsentChainError::CODES),
        of("quorum chain spec", peers::quorum::Inadmissible::CODES),
        of("quorum spec", peers::quorum::Unbound::CODES),
        of("quorum chain spec", peers::quorum::Ungated::CODES),
        of("quorum", peers::quorum::SuiteGaugeError::CODES),
        of("quorum", peers::quorum::GaugeStatus::CODES),
        of("quorum", peers::quorum::BadPanel::CODES),
        of("quorum", peers::quorum::Upheld::CODES),
    ]
}

/// Danger patterns are data: their ids are codes.
fn danger() -> Vec<kernel::guard::danger::Pattern> {
    kernel::guard::Guard::new().unwrap().danger().patterns().to_vec()
}

#[test]
fn danger_patterns_mean_what_the_registry_says() {
    let registry = registry::all();
    for pattern in danger() {
        assert_eq!(registry[pattern.id].meaning, pattern.meaning, "{}", pattern.id);
    }
}

/// Codes that several lists share because they mean the same: one entry each. A new one is a decision, not a chance.
const SHARED: [&str; 23] = [
    "bad_nonce",
    "bad_signature",
    "bad_signature_encoding",
    "bad_version",
    "entry_point_mismatch",
    "entry_point_reserved",
    "entry_point_unbound",
    "gauge_failed",
    "gauge_record_missing",
    "gauge_suite_mismatch",
    "hon_measured_no_source",
    "hon_measured_no_time",
    "hon_simulated_with_source",
    "hon_third_party_no_source",
    "hon_unknown_class",
    "id_not_derived_from_key",
    "no_suite",
    "pass",
    "task_mismatch",
    "timed_out",
    "unknown_member",
    "wrong_entry_type",
    "ws_moved_during_freeze",
];

/// The registry as written, not as its reader understands it: an entry without a meaning must not vanish.
fn written() -> Vec<(String, String)> {
    let table: toml::Table = registry::REASONS.parse().unwrap();
    let codes = |(layer, codes): (&String, &toml::Value)| -> Vec<(String, String)> {
        codes.as_table().unwrap().keys().map(|code| (layer.clone(), code.clone())).collect()
    };
    table.iter().flat_map(codes).collect()
}

#[test]
fn registry_is_what_the_product_emits() {
    let emitted: BTreeSet<&str> = emitted().into_iter().flat_map(|(_, codes)| codes).collect();
    let registry = registry::all();
    let registered: BTreeSet<&str> = registry.keys().map(String::as_str).collect();
    let unregistered: Vec<_> = emitted.difference(&registered).collect();
    let never_emitted: Vec<_> = registered.difference(&emitted).collect();
    assert!(unregistered.is_empty(), "emitted and not in reasons.toml: {unregistered:?}");
    assert!(never_emitted.is_empty(), "in reasons.toml and emitted by nothing: {never_emitted:?}");
}

#[test]
fn every_entry_is_whole_and_stands_once() {
    let registry = registry::all();
    let written = written();
    assert_eq!(written.len(), registry.len(), "an entry stands in two layers, or lacks meaning or since");
    for (code, reason) in &registry {
        let snake =
            code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        assert!(snake, "{code}");
        assert!(reason.meaning.ends_with('.') && reason.meaning.len() > 10, "{code}: {}", reason.meaning);
        assert_eq!(reason.since.split('.').count(), 3, "{code}: {}", reason.since);
    }
}

#[test]
fn layers_are_those_of_the_lists() {
    let registry = registry::all();
    let mut layers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (of, codes) in emitted() {
        for code in codes {
            layers.entry(code).or_default().extend(of.split(' '));
        }
    }
    for (code, layers) in layers {
        let layer = registry[code].layer.as_str();
        assert!(layers.contains(layer), "{code} stands in {layer} and is emitted by {layers:?}");
    }
}

#[test]
fn shared_codes_are_shared_on_purpose() {
    let mut lists: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, codes) in emitted() {
        let once: BTreeSet<&str> = codes.iter().copied().collect();
        assert_eq!(once.len(), codes.len(), "a list names a code twice: {codes:?}");
        for code in once {
            *lists.entry(code).or_default() += 1;
        }
    }
    let shared: Vec<&str> = lists.into_iter().filter(|(_, count)| *count > 1).map(|(code, _)| code).collect();
    assert_eq!(shared, SHARED);
}

/// Removing or redefining a code that is in `reasons.frozen` fails. `TOUCHSTONE_FREEZE_REASONS=1` adds the codes that
/// are new; it never changes a line that is there.
#[test]
fn frozen_meanings_stay() {
    let path: PathBuf = vectors::repository().join("crates/verdict/reasons.frozen");
    let frozen = std::fs::read_to_string(&path).unwrap_or_default();
    let registry = registry::all();
    let mut known = BTreeSet::new();
    for line in frozen.lines() {
        let (code, digest) = line.split_once('\t').unwrap();
        let reason = registry.get(code).unwrap_or_else(|| panic!("{code} was removed from reasons.toml"));
        let now = Digest::of(reason.meaning.as_bytes()).to_hex();
        assert_eq!(now, digest, "{code} has another meaning now; a new meaning needs a new code");
        assert!(known.insert(code), "{code} is frozen twice");
    }
    if std::env::var_os("TOUCHSTONE_FREEZE_REASONS").is_some() {
        let line = |(code, reason): (&String, &registry::Reason)| {
            format!("{code}\t{}\n", Digest::of(reason.meaning.as_bytes()))
        };
        let new: String =
            registry.iter().filter(|(code, _)| !known.contains(code.as_str())).map(line).collect();
        std::fs::write(&path, format!("{frozen}{new}")).unwrap();
    } else {
        assert!(!known.is_empty(), "reasons.frozen is empty: nothing would be noticed");
    }
}

/// Functions named `code` that are written by hand: words of settings, and lists that delegate.
const BY_HAND: [&str; 5] = [
    "crates/desk/src/python_suite/mod.rs",    // Isolation, a setting
    "crates/desk/src/python_suite/record.rs", // Visibility, a setting
    "crates/desk/src/record/problem.rs",      // Problem, which asks its Cause
    "crates/desk/src/report/refusal.rs",      // Limit, data of a refusal
    "crates/verdict/src/stop.rs",             // StopReason, in the list above
];

/// Tables of words that a row of the wire index or a review may hold: they say what a call was or what is scored, not why
/// something was decided.
const WORDS: [&[&str]; 5] = [
    wire::Wire::CODES,
    wire::Protocol::CODES,
    wire::Class::CODES,
    wire::Mode::CODES,
    peers::delegation::Dimension::CODES,
];

/// A new table of codes that nobody added above would escape the comparison.
#[test]
fn every_table_of_codes_is_compared() {
    let root = vectors::repository();
    let (mut tables, mut by_hand) = (0, BTreeSet::new());
    let mut folders = vec![root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") && name.contains("/src/") && name != "crates/canon/src/codes.rs" {
                let text = std::fs::read_to_string(&path).unwrap();
                let starts = |part: &str| {
                    text.lines().map(str::trim_start).filter(|line| line.starts_with(part)).count()
                };
                tables += starts("canon::codes! {") + starts("crate::codes! {");
                if starts("pub fn code(") + starts("pub const fn code(") > 0 {
                    by_hand.insert(name);
                }
            }
        }
    }
    assert_eq!(
        tables + 2,
        emitted().len() + WORDS.len(),
        "a `codes!` table is not in `emitted` (StopReason and the danger patterns are the two more)"
    );
    assert_eq!(by_hand.into_iter().collect::<Vec<_>>(), BY_HAND);
}

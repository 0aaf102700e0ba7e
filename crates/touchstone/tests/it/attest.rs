//! The self-attestation: green as it is, and for a seeded fault in each of D1 to D10 red or yellow as the rules say.

use canon::replay::{Document, Table};
use canon::{Limits, Reader, Value};
use conform::attest::{Fault, Instruments, Subject, collect, examine};
use std::path::Path;
use std::sync::OnceLock;
use verdict::evidence::Dishonesty;
use verdict::judge;
use verdict::report::{Colour, Report};

fn subjects() -> Vec<Subject> {
    static SUBJECTS: OnceLock<Vec<Subject>> = OnceLock::new();
    let made = || {
        collect(Path::new(env!("CARGO_BIN_EXE_touchstone"))).unwrap_or_else(|problem| panic!("{problem:?}"))
    };
    SUBJECTS.get_or_init(made).clone()
}

/// The kernel alone, changed.
fn kernel(change: impl FnOnce(&mut Subject)) -> Vec<Subject> {
    let mut subjects = subjects();
    change(&mut subjects[0]);
    subjects
}

/// Edits every run of a subject, so that the runs still agree.
fn edit(subject: &mut Subject, from: &str, to: &str) {
    for run in &mut subject.runs {
        for bytes in run.tasks.values_mut() {
            let text = std::str::from_utf8(bytes).unwrap();
            assert!(text.contains(from), "{from}");
            *bytes = text.replacen(from, to, 1).into_bytes();
        }
    }
}

fn table(subject: &mut Subject, from: &str, to: &str) {
    let text = subject.table.take().unwrap();
    assert!(text.contains(from), "{from}");
    subject.table = Some(text.replacen(from, to, 1));
}

/// The report is of this colour, and this check has this reason.
#[track_caller]
fn turns(report: &Report, colour: Colour, id: &str, reason: &str) {
    let check = report.checks.iter().find(|check| check.id == id).unwrap();
    let reasons: Vec<&str> = check.findings.iter().map(|finding| finding.reason).collect();
    assert!(reasons.contains(&reason), "{id}: {reasons:?}");
    assert_eq!(report.colour(), colour, "{}", report.to_markdown("0"));
}

#[test]
fn as_it_is_the_report_is_green_and_has_ten_checks() {
    let report = examine(&subjects(), &Instruments::ours());
    assert_eq!(report.colour(), Colour::Green, "{}", report.to_markdown("0"));
    let ids: Vec<&str> = report.checks.iter().map(|check| check.id).collect();
    assert_eq!(ids, ["D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D9", "D10"]);
    assert!(report.checks.iter().all(|check| check.looked_at > 0));
    let page = report.to_markdown("0");
    assert!(page.contains("tuned on: 11 of 12") && page.contains("held out: 2 of 12"), "{page}");
}

#[test]
fn d1_an_unknown_field_is_yellow_and_a_missing_table_is_red() {
    let ours = Instruments::ours();
    // Under a changed table the golden values are those of another table and do not count.
    let unknown = kernel(|subject| table(subject, "record = \"repro\"\n", ""));
    turns(&examine(&unknown, &ours), Colour::Yellow, "D1", judge::Fault::UnknownField.code());
    turns(&examine(&kernel(|subject| subject.table = None), &ours), Colour::Red, "D1", Fault::NoTable.code());
    let refused = kernel(|subject| table(subject, "ts = \"physical\"", "ts = \"repro\""));
    turns(&examine(&refused, &ours), Colour::Red, "D1", Fault::NoTable.code());
}

#[test]
fn d2_a_list_without_an_order_is_yellow() {
    let unkeyed = kernel(|subject| table(subject, "\"$\" = { order = \"key\", keys = [\"record\"] }\n", ""));
    turns(&examine(&unkeyed, &Instruments::ours()), Colour::Yellow, "D2", judge::Fault::UnkeyedList.code());
}

#[test]
fn d3_a_float_or_a_spelling_that_reaches_the_hash_is_red() {
    let float = kernel(|subject| edit(subject, "\"record\":1,", "\"record\":1.5,"));
    turns(&examine(&float, &Instruments::ours()), Colour::Red, "D3", Fault::Float.code());
    // A hash of the bytes as they are written.
    let spelling =
        Instruments { hash: |_, bytes| Some(canon::Digest::of(bytes).to_hex()), ..Instruments::ours() };
    turns(&examine(&subjects(), &spelling), Colour::Red, "D3", Fault::Spelling.code());
}

#[test]
fn d4_runs_that_differ_or_do_not_go_together_are_red() {
    let differs = kernel(|subject| {
        let bytes = subject.runs[1].tasks.values_mut().next().unwrap();
        *bytes =
            String::from_utf8(bytes.clone()).unwrap().replacen("skill_done", "skill_gone", 1).into_bytes();
    });
    turns(&examine(&differs, &Instruments::ours()), Colour::Red, "D4", judge::Fault::Unstable.code());
    let one = kernel(|subject| subject.runs.truncate(1));
    turns(&examine(&one, &Instruments::ours()), Colour::Red, "D4", Fault::NotJudged.code());
    let same = kernel(|subject| subject.runs[1].tasks = subject.runs[0].tasks.clone());
    turns(
        &examine(&same, &Instruments::ours()),
        Colour::Yellow,
        "D4",
        judge::Fault::NoPhysicalDifference.code(),
    );
}

#[test]
fn d5_a_hash_that_does_not_see_a_change_is_red() {
    fn blind(table: &Table, bytes: &[u8]) -> Option<String> {
        let mut value = Reader::strict().read(bytes).ok()?;
        if let Value::Object(receipt) = &mut value {
            receipt.remove("route");
        }
        (Instruments::ours().hash)(table, &canon::canonical(&value))
    }
    let instruments = Instruments { hash: blind, ..Instruments::ours() };
    let report = examine(&subjects()[..1], &instruments);
    turns(&report, Colour::Red, "D5", judge::Fault::Insensitive.code());
    let check = report.checks.iter().find(|check| check.id == "D5").unwrap();
    assert!(
        check.findings.iter().all(|finding| finding.place.starts_with("kernel: route")),
        "only what it is blind for"
    );
    let never = Instruments { hash: |_, _| Some("0123456789abcdef".into()), ..Instruments::ours() };
    turns(&examine(&subjects(), &never), Colour::Red, "D5", judge::Fault::Insensitive.code());
}

#[test]
fn d6_a_golden_value_that_is_not_hit_is_red_and_none_is_yellow() {
    let other = kernel(|subject| {
        let golden = String::from_utf8(subject.golden.take().unwrap()).unwrap();
        let digest = golden.split("repro_digest\":\"").nth(1).unwrap()[..64].to_owned();
        let changed = canon::Digest::of(b"other").to_hex();
        let golden = golden.replace(&digest, &changed).replace(&digest[..16], &changed[..16]);
        subject.golden = Some(golden.into_bytes());
    });
    turns(&examine(&other, &Instruments::ours()), Colour::Red, "D6", judge::Fault::GoldenMissed.code());
    let none = kernel(|subject| subject.golden = None);
    turns(&examine(&none, &Instruments::ours()), Colour::Yellow, "D6", judge::Fault::NoGolden.code());
}

#[test]
fn d7_a_verdict_without_a_registered_reason_is_red() {
    for (from, to, fault) in [
        ("\"verdict\":{\"action\":\"allow\",", "\"verdict\":{\"action\":\"permit\",", Fault::VerdictShape),
        ("\"reason\":\"skill_done\"}}", "\"reason\":\"\"}}", Fault::VerdictShape),
        ("\"verdict\":", "\"verdicts\":", Fault::VerdictShape),
        ("\"reason\":\"skill_done\"}}", "\"reason\":\"made_up\"}}", Fault::UnregisteredReason),
        ("\"hit\":{\"member\":\"recipient\"", "\"hits\":{\"member\":\"recipient\"", Fault::BlockUnexplained),
    ] {
        let changed = kernel(|subject| edit(subject, from, to));
        let report = examine(&changed, &Instruments::ours());
        turns(&report, Colour::Red, "D7", fault.code());
    }
}

#[test]
fn d8_evidence_out_of_order_is_yellow_and_an_unknown_class_is_red() {
    let class = "\"evidence_class\":\"simulated\"";
    for (to, colour, dishonesty) in [
        ("\"evidence_class\":null", Colour::Yellow, Dishonesty::NoClass),
        ("\"evidence_class\":\"measured\"", Colour::Yellow, Dishonesty::MeasuredNoSource),
        ("\"evidence_class\":\"real\"", Colour::Red, Dishonesty::UnknownClass),
    ] {
        let mut changed = kernel(|subject| edit(subject, class, to));
        // Another content has another golden value; without any the report is yellow for that alone.
        changed[0].golden = None;
        turns(&examine(&changed, &Instruments::ours()), colour, "D8", dishonesty.code());
    }
}

#[test]
fn d9_a_verdict_hash_that_moves_with_time_or_never_is_red() {
    let moves = Instruments {
        conclude: |report, ts_build| format!("{}{ts_build}", report.verdict_hash()),
        ..Instruments::ours()
    };
    turns(&examine(&subjects(), &moves), Colour::Red, "D9", Fault::VerdictHash.code());
    let never = Instruments { conclude: |_, _| "0123456789abcdef".into(), ..Instruments::ours() };
    turns(&examine(&subjects(), &never), Colour::Red, "D9", Fault::VerdictHash.code());
}

#[test]
fn d10_other_exit_codes_are_red() {
    let always_green = Instruments { exit: |_| 0, ..Instruments::ours() };
    turns(&examine(&subjects(), &always_green), Colour::Red, "D10", Fault::ExitCodes.code());
}

/// Through the binary: another folder, time zone, locale and home give the same verdict hash, and another `ts_build`.
#[test]
fn the_verdict_hash_is_that_of_the_build() {
    let hash = |zone: &str, locale: &str, umask: &str| {
        let folder = tempfile::tempdir().unwrap();
        let output = std::process::Command::new("sh")
            .args(["-c", "umask $UMASK && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_touchstone")])
            .env("UMASK", umask)
            .current_dir(folder.path())
            .env("TZ", zone)
            .env("LC_ALL", locale)
            .env("HOME", folder.path())
            .args(["attest", "--out", "reports", "--json"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let answer = Reader::strict().read(output.stdout.trim_ascii()).unwrap();
        let lines = std::fs::read(folder.path().join("reports/attestation.jsonl")).unwrap();
        assert_eq!(
            Document::lines(&lines, Limits::default()).unwrap().records(),
            11,
            "ten checks and the whole"
        );
        vectors::text(&answer, "verdict_hash").to_owned()
    };
    assert_eq!(hash("UTC", "C", "022"), hash("Asia/Kathmandu", "tr_TR.UTF-8", "077"));
}

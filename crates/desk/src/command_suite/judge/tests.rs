use super::*;
use crate::command_suite::config::{Kind, parse};
use expect_test::{Expect, expect};

/// A check that reads TAP from standard output, with more lines of its table.
fn tap_check(more: &str) -> (Check, Counts) {
    check_of("", "\"prog\"", "tap", more)
}

fn check_of(top: &str, run: &str, result: &str, more: &str) -> (Check, Counts) {
    let text = format!(
        "version = 1\n{top}\n[[check]]\nname = \"c\"\nrun = [{run}]\nresult = \"{result}\"\n{more}\n"
    );
    match parse(text.as_bytes()).expect("a valid suite").kind {
        Kind::Commands { counts, mut checks } => (checks.remove(0), counts),
        Kind::Python { .. } => panic!("a command suite"),
    }
}

fn stdout(text: &str) -> Evidence<'_> {
    Evidence {
        ended: Ended::Status(ExitStatus::Exited(0)),
        stdout: text.as_bytes(),
        stdout_truncated: false,
        report: ReportFile::Absent,
    }
}

fn file(text: &str) -> Evidence<'_> {
    Evidence { report: ReportFile::Bytes(text.as_bytes()), ..stdout("") }
}

fn ended<'a>(evidence: Evidence<'a>, ended: Ended) -> Evidence<'a> {
    Evidence { ended, ..evidence }
}

const SEGV: Ended = Ended::Status(ExitStatus::Signaled(11));

#[track_caller]
fn check((check, counts): (Check, Counts), evidence: &Evidence<'_>, expected: Expect) {
    let result = judge_check(&check, counts, evidence);
    let verdict = judge_suite(std::slice::from_ref(&result));
    assert_eq!(verdict, result.verdict, "one check decides a suite of one check");
    let reasons = match &verdict {
        Verdict::Accepted => String::new(),
        Verdict::Refused(reasons) => {
            reasons.iter().map(|r| format!("; {} {:?}", r.what.code(), r.what)).collect()
        }
        Verdict::Inconclusive(names) => names.iter().map(|r| format!("; {}", r.what)).collect(),
        Verdict::Void(causes) => causes.iter().map(|r| format!("; {} {:?}", r.what.code(), r.what)).collect(),
    };
    let cases = match result.tally() {
        Some(t) => format!("{} of {} passed", t.passed, t.passed + t.failed + t.listed + t.unstable),
        None => format!("{:?}", result.cases),
    };
    expected.assert_eq(&format!("{} ({cases}){reasons}", verdict.exit_code()));
}

#[test]
fn a_sound_report_is_accepted() {
    check(tap_check(""), &stdout("1..1\nok 1 - a\n"), expect!["0 (1 of 1 passed)"]);
    let junit = check_of("", "\"p\", \"{report}\"", "junit", "expect = [\"t\"]");
    check(junit, &file("<testsuite name='s'><testcase name='t'/></testsuite>"), expect!["0 (1 of 1 passed)"]);
}

#[test]
fn pc_02_a_missing_tool_is_void_and_named() {
    check(
        tap_check(""),
        &ended(stdout(""), Ended::ProgramMissing),
        expect![[r#"22 (Unreadable); program_missing ProgramMissing { program: "prog" }"#]],
    );
    let own = check_of("counts = \"none\"", "\"./run\"", "exit", "");
    check(
        own,
        &ended(stdout(""), Ended::ProgramMissing),
        expect![[
            r#"20 (Unreadable); program_missing_in_delivery ProgramMissingInDelivery { program: "./run" }"#
        ]],
    );
    let failed = VoidCause::StartFailed { step: "mount".into(), detail: "EPERM".into() };
    check(
        tap_check(""),
        &ended(stdout(""), Ended::Infrastructure(failed)),
        expect![[r#"22 (Unreadable); start_failed StartFailed { step: "mount", detail: "EPERM" }"#]],
    );
}

#[test]
fn pc_05_a_promised_report_that_is_missing() {
    let junit = || check_of("", "\"p\", \"{report}\"", "junit", "");
    check(
        junit(),
        &stdout("<testsuite><testcase name='t'/></testsuite>"),
        expect!["20 (Unreadable); report_missing ReportMissing"],
    );
    check(
        junit(),
        &Evidence { report: ReportFile::NotAFile, ..stdout("") },
        expect!["20 (Unreadable); report_not_a_file ReportNotAFile"],
    );
    check(
        junit(),
        &Evidence { report: ReportFile::TooLarge, ..stdout("") },
        expect!["20 (Unreadable); report_limit ReportLimit { what: Bytes, limit: 33554432 }"],
    );
    check(
        tap_check(""),
        &Evidence { stdout_truncated: true, ..stdout("1..1\nok 1\n") },
        expect!["20 (Unreadable); output_truncated OutputTruncated"],
    );
}

#[test]
fn pc_09_no_stream_without_points_is_accepted() {
    check(
        tap_check(""),
        &stdout("1..7\n"),
        expect![
            "20 (0 of 0 passed); tap_plan_not_met TapPlanNotMet { subtest: None, planned: 7, missing: [(1, 7)] }"
        ],
    );
    check(
        tap_check(""),
        &stdout("TAP version 13\nBail out!\n"),
        expect!["20 (0 of 0 passed); tap_bail_out TapBailOut { reason: None }"],
    );
    check(
        tap_check(""),
        &stdout("1..0 # SKIP nothing here\n"),
        expect![[r#"20 (Unreadable); zero_checks ZeroChecks { reason: Some("nothing here") }"#]],
    );
    check(tap_check(""), &stdout(""), expect!["20 (Unreadable); no_tap NoTap"]);
}

#[test]
fn pc_10_status_and_report_are_joined_by_and() {
    check(
        tap_check(""),
        &ended(stdout("1..1\nok 1\n"), Ended::Status(ExitStatus::Exited(1))),
        expect!["20 (1 of 1 passed); exit_status_nonzero ExitStatusNonzero { status: 1 }"],
    );
    check(
        tap_check(""),
        &ended(stdout("1..1\nok 1\n"), SEGV),
        expect!["20 (1 of 1 passed); killed_by_signal KilledBySignal { signal: 11 }"],
    );
    check(
        tap_check(""),
        &stdout("1..1\nnot ok 1 - a\n"),
        expect![[r#"20 (0 of 1 passed); cases_failed CasesFailed { count: 1, names: ["a"] }"#]],
    );
    check(
        tap_check(""),
        &ended(stdout("1..2\nok 1\n"), Ended::TimedOut),
        expect![
            "20 (1 of 1 passed); timed_out TimedOut; tap_plan_not_met TapPlanNotMet { subtest: None, planned: 2, missing: [(2, 2)] }"
        ],
    );
    check(
        tap_check(""),
        &ended(stdout("1..1\nnot ok 1\n"), Ended::Status(ExitStatus::Exited(3))),
        expect![[
            r#"20 (0 of 1 passed); exit_status_nonzero ExitStatusNonzero { status: 3 }; cases_failed CasesFailed { count: 1, names: [""] }"#
        ]],
    );
}

#[test]
fn pc_11_and_pc_20_nothing_passed() {
    check(
        tap_check(""),
        &stdout("1..2\nnot ok 1 # TODO\nok 2 # SKIP\n"),
        expect!["20 (0 of 2 passed); nothing_passed NothingPassed { listed: 2 }"],
    );
    let junit = || check_of("", "\"p\"", "junit", "");
    let skipped = "<testsuite><testcase name='a'><skipped type='pytest.xfail'/></testcase></testsuite>";
    check(
        junit(),
        &stdout(skipped),
        expect!["20 (0 of 1 passed); nothing_passed NothingPassed { listed: 1 }"],
    );
}

#[test]
fn pc_17_an_exit_status_counts_nothing() {
    check(check_of("counts = \"none\"", "\"p\"", "exit", ""), &stdout(""), expect!["0 (NotMeasured)"]);
    check(
        check_of("", "\"p\"", "exit", ""),
        &stdout(""),
        expect!["20 (NotMeasured); counts_not_declared CountsNotDeclared"],
    );
    check(
        check_of("", "\"p\"", "exit", "expect = [\"a\"]"),
        &stdout(""),
        expect![[r#"20 (NotMeasured); case_not_reported CaseNotReported { count: 1, names: ["a"] }"#]],
    );
    check(
        check_of("counts = \"none\"", "\"p\"", "exit", "min = 1"),
        &stdout(""),
        expect!["20 (NotMeasured); too_few_cases TooFewCases { min: 1, counted: 0 }"],
    );
    check(
        check_of("counts = \"none\"", "\"p\"", "exit", ""),
        &ended(stdout(""), SEGV),
        expect!["20 (NotMeasured); killed_by_signal KilledBySignal { signal: 11 }"],
    );
    check(
        tap_check(""),
        &stdout("TAP version 13\n1..0\n"),
        expect!["20 (Unreadable); zero_checks ZeroChecks { reason: None }"],
    );
}

#[test]
fn pc_19_unstable_is_inconclusive_at_best() {
    let junit = || check_of("", "\"p\"", "junit", "min = 1");
    check(
        junit(),
        &stdout("<testsuite name='s'><testcase name='t'><flakyFailure/></testcase></testsuite>"),
        expect!["21 (0 of 1 passed); s > t"],
    );
    let failed = "<testsuite><testcase name='t'><rerunFailure/><failure/></testcase></testsuite>";
    check(
        junit(),
        &stdout(failed),
        expect![[r#"20 (0 of 1 passed); cases_failed CasesFailed { count: 1, names: ["t"] }"#]],
    );
}

#[test]
fn expected_names() {
    let nested = "    ok 1 - adds\n    1..1\nok 1 - calc\nok 2 - other\n1..2\n";
    check(tap_check("expect = [\"adds\", \"other\"]"), &stdout(nested), expect!["0 (2 of 2 passed)"]);
    check(tap_check("expect = [\"calc > adds\"]"), &stdout(nested), expect!["0 (2 of 2 passed)"]);
    check(tap_check("expect = [\"calc\", \"other\"]"), &stdout(nested), expect!["0 (2 of 2 passed)"]);
    check(
        tap_check("expect = [\"add\", \"dds\", \"c > adds\", \" > other\"]"),
        &stdout(nested),
        expect![[
            r#"20 (2 of 2 passed); case_not_reported CaseNotReported { count: 4, names: ["add", "dds", "c > adds", " > other"] }"#
        ]],
    );
    check(
        tap_check("min = 3"),
        &stdout(nested),
        expect!["20 (2 of 2 passed); too_few_cases TooFewCases { min: 3, counted: 2 }"],
    );
    check(
        tap_check("min = 2"),
        &stdout("1..3\nok 1\nok 2 # SKIP\nnot ok 3 # TODO\n"),
        expect!["20 (1 of 3 passed); too_few_cases TooFewCases { min: 2, counted: 1 }"],
    );
}

#[test]
fn expected_names_with_classes() {
    let two =
        "<testsuite><testcase classname='m.a' name='t'/><testcase classname='m.b' name='t'/></testsuite>";
    let junit = |more: &str| check_of("", "\"p\"", "junit", more);
    check(
        junit("expect = [\"t\"]"),
        &stdout(two),
        expect![[r#"20 (2 of 2 passed); expected_name_ambiguous ExpectedNameAmbiguous { name: "t" }"#]],
    );
    check(junit("expect = [\"m.a.t\", \"m.b.t\"]"), &stdout(two), expect!["0 (2 of 2 passed)"]);
    check(
        junit("expect = [\"m.c.t\", \"a.t\"]"),
        &stdout(two),
        expect![[
            r#"20 (2 of 2 passed); case_not_reported CaseNotReported { count: 2, names: ["m.c.t", "a.t"] }"#
        ]],
    );
}

#[test]
fn an_empty_group_is_not_reported() {
    let xml = "<testsuites><testsuite name='a'><testsuite name='b'/></testsuite><testsuite name='c'><testsuite name='d'>\
        <testcase name='t'/></testsuite></testsuite></testsuites>";
    let junit = |more: &str| check_of("", "\"p\"", "junit", more);
    check(
        junit("expect = [\"a\", \"b\", \" \"]"),
        &stdout(xml),
        expect![[
            r#"20 (1 of 1 passed); case_not_reported CaseNotReported { count: 3, names: ["a", "b", " "] }"#
        ]],
    );
    check(
        junit("expect = [\"c\", \"d\", \"c > d\", \"c > d > t\"]"),
        &stdout(xml),
        expect!["0 (1 of 1 passed)"],
    );
}

#[test]
fn a_suite_without_checks_is_refused() {
    assert_eq!(judge_suite(&[]), Verdict::Refused(vec![Of { check: None, what: Refusal::NoSuite }]));
}

#[test]
fn a_suite_joins_its_checks() {
    let (tap, counts) = tap_check("");
    let accepted = judge_check(&tap, counts, &stdout("1..1\nok 1\n"));
    let refused = judge_check(&tap, counts, &stdout("1..1\nnot ok 1\n"));
    let void = judge_check(&tap, counts, &ended(stdout(""), Ended::ProgramMissing));
    let (junit, counts) = check_of("", "\"p\"", "junit", "");
    let flaky = "<testsuite><testcase name='t'><flakyError/></testcase></testsuite>";
    let unstable = judge_check(&junit, counts, &stdout(flaky));
    let code = |results: &[&CheckResult]| {
        judge_suite(&results.iter().map(|r| (*r).clone()).collect::<Vec<_>>()).exit_code()
    };
    assert_eq!(code(&[&accepted, &accepted]), 0);
    assert_eq!(code(&[&accepted, &unstable]), 21);
    assert_eq!(code(&[&unstable, &void]), 22);
    assert_eq!(code(&[&void, &refused, &accepted]), 20);
}

#[test]
fn codes_are_snake_case() {
    let codes = [
        Refusal::NoTap.code(),
        Refusal::JunitEmpty.code(),
        Refusal::TimedOut.code(),
        VoidCause::ReportFolderNotEmpty.code(),
    ];
    assert!(codes.iter().all(|code| code.chars().all(|c| c.is_ascii_lowercase() || c == '_')));
}

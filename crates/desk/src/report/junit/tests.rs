use super::*;
use expect_test::{Expect, expect};

#[track_caller]
fn check(xml: &str, expected: Expect) {
    expected.assert_eq(&crate::report::show(&read(xml.as_bytes())));
}

#[track_caller]
fn check_bytes(bytes: &[u8], expected: Expect) {
    expected.assert_eq(&crate::report::show(&read(bytes)));
}

/// One case with this content.
#[track_caller]
fn check_case(content: &str, expected: Expect) {
    check(&format!("<testsuite><testcase name=\"t\">{content}</testcase></testsuite>"), expected);
}

#[test]
fn pc_12_each_case_once_at_any_depth() {
    check(
        "<testsuites><testsuite name='a'><testcase name='t1'/><testsuite name='b'><testcase name='t2'><failure/>\
         </testcase></testsuite><testcase name='t3'/></testsuite></testsuites>",
        expect![[r#"
            pass a > t1
            fail a > b > t2
            pass a > t3
            passed 2 failed 1 listed 0 unstable 0
        "#]],
    );
    check(
        "<testsuites><testcase name='x'/><testcase name='y'><error/></testcase></testsuites>",
        expect![[r#"
        pass x
        error y
        passed 1 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "<testsuite><package><testcase name='x'><failure/></testcase></package></testsuite>",
        expect![[r#"
        fail x
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "<testsuite><testcase name='x'><testcase name='y'><failure/></testcase></testcase></testsuite>",
        expect![[r#"
        pass x
        fail y
        passed 1 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "<testsuite name='s'><error message='setup broke'/><testcase name='x'/></testsuite>",
        expect![[r#"
        error s > s (setup broke)
        pass s > x
        passed 1 failed 1 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn pc_13_every_mark_counts() {
    check_case(
        "<error/>",
        expect![[r#"
        error t
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
    check_case(
        "<skipped/><failure/>",
        expect![[r#"
        fail t
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
    check_case(
        "<failure message='one'/><failure message='two'/>",
        expect![[r#"
        fail t (one)
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
    check_case(
        "<system-err>boom</system-err>",
        expect![[r#"
        pass t
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
    check_case(
        "<skipped type='todo' message='later'/><failure/>",
        expect![[r#"
        todo t
        passed 0 failed 0 listed 1 unstable 0
    "#]],
    );
    check_case(
        "<skipped type='todo'/><error/>",
        expect![[r#"
        error t
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
    check_case(
        "<skipped type='todo'/>",
        expect![[r#"
        todo t
        passed 0 failed 0 listed 1 unstable 0
    "#]],
    );
    check_case(
        "<properties><failure/></properties>",
        expect![[r#"
        pass t
        fail 
        passed 1 failed 1 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn pc_18_counts_against_cases() {
    check(
        "<testsuite tests='1' failures='2' errors='3' skipped='4'/>",
        expect![[r#"
        problem junit_count_mismatch { suite: "", attribute: "tests", stated: 1, counted: 0, line: 1 }
        problem junit_count_mismatch { suite: "", attribute: "failures", stated: 2, counted: 0, line: 1 }
        problem junit_count_mismatch { suite: "", attribute: "errors", stated: 3, counted: 0, line: 1 }
        problem junit_count_mismatch { suite: "", attribute: "skipped", stated: 4, counted: 0, line: 1 }
        problem zero_checks { reason: None }
        passed 0 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "<testsuite tests='3' failures='0'><testcase name='a'/><testcase name='b'/></testsuite>",
        expect![[r#"
        pass a
        pass b
        problem junit_count_mismatch { suite: "", attribute: "tests", stated: 3, counted: 2, line: 1 }
        passed 2 failed 0 listed 0 unstable 0
    "#]],
    );
    let three = "<testcase name='a'/><testcase name='b'/><testcase name='c'/>";
    check(
        &format!("<testsuite name='s' failures='1'>{three}</testsuite>"),
        expect![[r#"
        pass s > a
        pass s > b
        pass s > c
        problem junit_count_mismatch { suite: "s", attribute: "failures", stated: 1, counted: 0, line: 1 }
        passed 3 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        &format!("<testsuite errors='1'>{three}</testsuite>"),
        expect![[r#"
        pass a
        pass b
        pass c
        problem junit_count_mismatch { suite: "", attribute: "errors", stated: 1, counted: 0, line: 1 }
        passed 3 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        &format!("<testsuite skipped='1'>{three}</testsuite>"),
        expect![[r#"
        pass a
        pass b
        pass c
        problem junit_count_mismatch { suite: "", attribute: "skipped", stated: 1, counted: 0, line: 1 }
        passed 3 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        &format!("<testsuite>{three}</testsuite>"),
        expect![[r#"
        pass a
        pass b
        pass c
        passed 3 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        &format!("<testsuite tests='-3'>{three}</testsuite>"),
        expect![[r#"
        pass a
        pass b
        pass c
        problem junit_count_invalid { suite: "", attribute: "tests", value: "-3", line: 1 }
        passed 3 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        &format!("<testsuite tests='three' failures='' time='1,024.12'>{three}</testsuite>"),
        expect![[r#"
        pass a
        pass b
        pass c
        problem junit_count_invalid { suite: "", attribute: "tests", value: "three", line: 1 }
        passed 3 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        &format!("<testsuites tests='4'>\n<testsuite tests='3'>{three}</testsuite></testsuites>"),
        expect![[r#"
        pass a
        pass b
        pass c
        problem junit_count_mismatch { suite: "", attribute: "tests", stated: 4, counted: 3, line: 1 }
        passed 3 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "<testsuite/>",
        expect![[r#"
        refused zero_checks { reason: None }
    "#]],
    );
    check(
        "<testsuites tests='0' failures='0'></testsuites>",
        expect![[r#"
        refused zero_checks { reason: None }
    "#]],
    );
    check(
        "<testsuite failures='0'><testcase name='a'><failure/></testcase></testsuite>",
        expect![[r#"
        fail a
        problem junit_count_mismatch { suite: "", attribute: "failures", stated: 0, counted: 1, line: 1 }
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn counts_as_runners_write_them() {
    // Cases at any depth, and direct children with a nested suite as one.
    for tests in ["3", "2"] {
        let xml = format!(
            "<testsuite tests='{tests}' failures='0'><testcase name='a'/><testsuite name='n' tests='2'>\
             <testcase name='b'/><testcase name='c'/></testsuite></testsuite>"
        );
        let report = read(xml.as_bytes()).expect("readable");
        assert_eq!(report.problems(), [], "{tests}");
        assert_eq!(report.tally().passed, 3, "{tests}");
    }
}

#[test]
fn reports_of_runners_have_no_contradiction() {
    let nextest = "<testsuites name='nextest-run' tests='3' skipped='0' failures='1' errors='0' uuid='u' time='0.7'>\
        <testsuite name='ct' tests='1' skipped='0' errors='0' failures='0'><testcase name='tests::works' classname='ct'/>\
        </testsuite><testsuite name='ct::a' tests='2' skipped='0' errors='0' failures='1'><testcase name='flaky' \
        classname='ct::a'><flakyFailure message='first' type='exit code 101'>x<system-out>o</system-out></flakyFailure>\
        </testcase><testcase name='bad' classname='ct::a'><failure message='m' type='t'>d</failure><rerunFailure/>\
        <system-out>o</system-out></testcase></testsuite></testsuites>";
    check(
        nextest,
        expect![[r#"
        pass ct > tests::works [ct]
        flaky ct::a > flaky [ct::a] (first)
        fail ct::a > bad [ct::a] (m)
        passed 1 failed 1 listed 0 unstable 1
    "#]],
    );
    let gotestsum = "<testsuites tests='3' failures='0' errors='0' time='0.1'><testsuite tests='3' failures='0' time='0.003' \
        name='example.com/calc' timestamp='t'><properties><property name='go.version' value='go1.19'/></properties>\
        <testcase classname='example.com/calc' name='TestDivision' time='0'/><testcase classname='example.com/calc' \
        name='TestDivision/divides' time='0'/><testcase classname='example.com/calc' name='TestNet' time='0'><skipped \
        message='no net'/></testcase></testsuite></testsuites>";
    check(
        gotestsum,
        expect![[r#"
        pass example.com/calc > TestDivision [example.com/calc]
        pass example.com/calc > TestDivision/divides [example.com/calc]
        skipped example.com/calc > TestNet [example.com/calc] (no net)
        passed 2 failed 0 listed 1 unstable 0
    "#]],
    );
    let libtest = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><testsuites><testsuite name='test' package='test' id='0' \
        errors='0' failures='1' tests='2' skipped='0' ><testcase classname='integration' name='good' time='0'/><testcase \
        classname='integration' name='bad' time='0'><failure type='assert'/><system-out><![CDATA[a]]>&#xA;<![CDATA[b]]>\
        </system-out></testcase><system-out/><system-err/></testsuite></testsuites>";
    check(
        libtest,
        expect![[r#"
        pass test > good [integration]
        fail test > bad [integration]
        passed 1 failed 1 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn pc_19_flaky_is_never_a_plain_pass() {
    check_case(
        "<flakyFailure message='first try'/>",
        expect![[r#"
        flaky t (first try)
        passed 0 failed 0 listed 0 unstable 1
    "#]],
    );
    check_case(
        "<rerunFailure/><failure/>",
        expect![[r#"
        fail t
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
    check_case(
        "<flakyError/>",
        expect![[r#"
        flaky t
        passed 0 failed 0 listed 0 unstable 1
    "#]],
    );
    check_case(
        "<rerunError/><skipped/>",
        expect![[r#"
        flaky t
        passed 0 failed 0 listed 0 unstable 1
    "#]],
    );
}

#[test]
fn pc_20_expected_failures() {
    check_case(
        "<skipped type='pytest.xfail' message='known'/>",
        expect![[r#"
        expected_failure t (known)
        passed 0 failed 0 listed 1 unstable 0
    "#]],
    );
    check_case(
        "<failure message='[XPASS(strict)] known'>[XPASS(strict)] known</failure>",
        expect![[r#"
        unexpected_pass t ([XPASS(strict)] known)
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
    check_case(
        "<skipped type='pytest.skip' message='no net'/>",
        expect![[r#"
        skipped t (no net)
        passed 0 failed 0 listed 1 unstable 0
    "#]],
    );
}

#[test]
fn status_attributes_only_make_it_worse() {
    check(
        "<testsuite><testcase name='t' status='notrun' result='suppressed'/></testsuite>",
        expect![[r#"
        skipped t
        passed 0 failed 0 listed 1 unstable 0
    "#]],
    );
    check(
        "<testsuite><testcase name='t' status='failed'/></testsuite>",
        expect![[r#"
        fail t
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "<testsuite><testcase name='t' status='passed'><failure/></testcase></testsuite>",
        expect![[r#"
        fail t
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "<testsuite><testcase name='t' status='run' result='completed'/></testsuite>",
        expect![[r#"
        pass t
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn the_same_case_twice() {
    check(
        "<testsuite><testcase name='t'/><testcase name='t'><failure/></testcase></testsuite>",
        expect![[r#"
        pass t
        fail t
        problem duplicate_case { name: "t" }
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "<testsuite><testcase name='t'/><testcase name='t'/></testsuite>",
        expect![[r#"
        pass t
        pass t
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "<testsuite><testcase name='t' classname='a'/><testcase name='t' classname='b'><error/></testcase></testsuite>",
        expect![[r#"
            pass t [a]
            error t [b]
            passed 1 failed 1 listed 0 unstable 0
        "#]],
    );
}

const ONE_CASE: &str = "<testsuite name='é'><testcase name='ü'/></testsuite>";

fn utf16(text: &str, to_bytes: impl Fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

#[test]
fn pc_21_encodings_are_read() {
    let expected = "pass é > ü\npassed 1 failed 0 listed 0 unstable 0\n";
    let latin: Vec<u8> =
        format!("<?xml version='1.0' encoding=\"ISO-8859-1\"?>{ONE_CASE}").chars().map(|c| c as u8).collect();
    let declared = format!("<?xml version='1.0' encoding='utf-16'?>{ONE_CASE}");
    let variants = [
        ONE_CASE.as_bytes().to_vec(),
        format!("\u{feff}{ONE_CASE}").into_bytes(),
        utf16(&format!("\u{feff}{ONE_CASE}"), u16::to_le_bytes),
        utf16(&format!("\u{feff}{declared}"), u16::to_be_bytes),
        utf16(&declared, u16::to_le_bytes),
        latin,
    ];
    for bytes in variants {
        assert_eq!(crate::report::show(&read(&bytes)), expected, "{bytes:?}");
    }
}

#[test]
fn pc_21_encodings_that_are_not() {
    check(
        "<?xml version='1.0' encoding='klingon'?><testsuite/>",
        expect![[r#"
        refused junit_encoding_unknown { encoding: "klingon" }
    "#]],
    );
    check(
        "<?xml version='1.0' encoding='utf-16'?><testsuite/>",
        expect![[r#"
        refused junit_encoding_unknown { encoding: "utf-16" }
    "#]],
    );
    check(
        "<?xml version='1.0' encoding='utf-7'?><testsuite/>",
        expect![[r#"
        refused junit_encoding_unknown { encoding: "utf-7" }
    "#]],
    );
    check_bytes(
        b"\xff\xfe\0\0<\0\0\0",
        expect![[r#"
        refused junit_encoding_unknown { encoding: "UTF-32" }
    "#]],
    );
    check_bytes(
        b"<testsuite>\n<testcase name='\xe9'/></testsuite>",
        expect![[r#"
        refused junit_encoding_invalid { encoding: "UTF-8", line: Some(2), column: Some(17) }
    "#]],
    );
    check_bytes(
        b"\xff\xfe<\0\0\xd8>\0",
        expect![[r#"
        refused junit_encoding_invalid { encoding: "UTF-16LE", line: None, column: None }
    "#]],
    );
}

#[test]
fn pc_21_predefined_entities_have_no_limit() {
    let text = "&lt;".repeat(5_000);
    let xml = format!("<testsuite><testcase name='t'><failure>{text}</failure></testcase></testsuite>");
    let report = read(xml.as_bytes()).expect("readable");
    assert_eq!(report.cases()[0].outcome, Outcome::Fail);
}

#[test]
fn pc_21_what_is_not_well_formed() {
    let bomb = "<?xml version='1.0'?>\n<!DOCTYPE x [<!ENTITY a '&a;&a;'>]><testsuite><testcase name='&a;'/></testsuite>";
    check(
        bomb,
        expect![[r#"
        refused junit_doctype { line: 2, column: 1 }
    "#]],
    );
    check(
        "<testsuite>\n <testcase name='a'><failure message='\u{1b}[31m'/></testcase></testsuite>",
        expect![[r#"
        refused junit_malformed { detail: "a non-XML character '\\u{1b}' found at 2:39", line: 2, column: 39 }
    "#]],
    );
    check(
        "<testsuite>\n <testcase name='a'>&#27;</testcase></testsuite>",
        expect![[r#"
        refused junit_malformed { detail: "malformed entity reference at 2:21", line: 2, column: 21 }
    "#]],
    );
    check(
        "<testsuite>\n <testcase name='a'>&undefined;</testcase></testsuite>",
        expect![[r#"
        refused junit_malformed { detail: "unknown entity reference 'undefined' at 2:21", line: 2, column: 21 }
    "#]],
    );
    check(
        "<testsuite>\n <testcase name='a'><failure>and the",
        expect![[r#"
        refused junit_malformed { detail: "the root node was opened but never closed", line: 2, column: 37 }
    "#]],
    );
    check(
        "<testsuite>\n <testcase na",
        expect![[r#"
        refused junit_malformed { detail: "unexpected end of stream", line: 2, column: 14 }
    "#]],
    );
    check(
        "",
        expect![[r#"
        refused junit_empty
    "#]],
    );
    check(
        " \n",
        expect![[r#"
        refused junit_empty
    "#]],
    );
    check(
        "ok 1\n",
        expect![[r#"
        refused junit_malformed { detail: "unknown token at 1:1", line: 1, column: 1 }
    "#]],
    );
    check(
        "<html/>",
        expect![[r#"
        refused junit_root { root: "html" }
    "#]],
    );
    check(
        "<testsuite/><testsuite/>",
        expect![[r#"
        refused junit_malformed { detail: "unknown token at 1:13", line: 1, column: 13 }
    "#]],
    );
    check(
        "<testsuite a='1' a='2'/>",
        expect![[r#"
        refused junit_malformed { detail: "attribute 'a' at 1:18 is already defined", line: 1, column: 18 }
    "#]],
    );
    check(
        "<testsuite>\0</testsuite>",
        expect![[r#"
        refused junit_malformed { detail: "a non-XML character '\\0' found at 1:12", line: 1, column: 12 }
    "#]],
    );
}

#[test]
fn limits() {
    let deep = "<testsuite>".repeat(DEPTH_TEST);
    check(
        &deep,
        expect![[r#"
        refused report_limit { what: Depth, limit: 64 }
    "#]],
    );
    let attributes: String = (0..300).map(|n| format!(" a{n}=''")).collect();
    check(
        &format!("<testsuite{attributes}/>"),
        expect![[r#"
        refused report_limit { what: Attributes, limit: 256 }
    "#]],
    );
    let namespaces = "<a xmlns:b='c'/>".repeat(2_000);
    check(
        &format!("<testsuite>{namespaces}</testsuite>"),
        expect![[r#"
        refused report_limit { what: Namespaces, limit: 1024 }
    "#]],
    );
    check_bytes(
        &vec![b' '; REPORT_BYTES_MAX + 1],
        expect![[r#"
        refused report_limit { what: Bytes, limit: 33554432 }
    "#]],
    );
}

const DEPTH_TEST: usize = 1_000_000;

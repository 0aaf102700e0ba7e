use super::*;
use expect_test::{Expect, expect};

/// Reads a stream and compares cases and problems, one per line.
#[track_caller]
fn check(stream: &str, expected: Expect) {
    expected.assert_eq(&crate::report::show(&read(stream.as_bytes())));
}

#[test]
fn plan_first_and_last() {
    check(
        "TAP version 14\n1..2\nok 1 - a\nnot ok 2 - b\n",
        expect![[r#"
        pass a
        fail b
        passed 1 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "ok\nok\n1..2\n",
        expect![[r#"
        pass 
        pass 
        passed 2 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "\u{feff}TAP version 13\r\nok 1 a\r\n1..1\r\n",
        expect![[r#"
        pass a
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn pc_09_every_empty_stream_has_its_own_reason() {
    check(
        "1..7\n",
        expect![[r#"
        problem tap_plan_not_met { subtest: None, planned: 7, missing: [(1, 7)] }
        passed 0 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "TAP version 13\nBail out!\n",
        expect![[r#"
        problem tap_bail_out { reason: None }
        passed 0 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "1..0 # SKIP nothing here\n",
        expect![[r#"
        refused zero_checks { reason: Some("nothing here") }
    "#]],
    );
    check(
        "1..0\n",
        expect![[r#"
        refused zero_checks { reason: None }
    "#]],
    );
    check(
        "",
        expect![[r#"
        refused no_tap
    "#]],
    );
    check(
        "hello\nworld\n",
        expect![[r#"
        refused no_tap
    "#]],
    );
    check(
        "TAP version 13\n",
        expect![[r#"
        problem tap_plan_missing { subtest: None, points: 0 }
        passed 0 failed 0 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn plans_that_do_not_fit() {
    check(
        "1..5\nok 1\nok 3\n",
        expect![[r#"
        pass 
        pass 
        problem tap_plan_not_met { subtest: None, planned: 5, missing: [(2, 2), (4, 5)] }
        passed 2 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "1..2\nok 1\nok 2\nok 3\n",
        expect![[r#"
        pass 
        pass 
        pass 
        problem tap_point_out_of_range { number: 3, planned: 2 }
        passed 3 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "1..1\nok 1\nok 0\n",
        expect![[r#"
        pass 
        pass 
        problem tap_point_out_of_range { number: 0, planned: 1 }
        passed 2 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "1..0\nok 1\n",
        expect![[r#"
        pass 
        problem tap_point_out_of_range { number: 1, planned: 0 }
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "ok 1\n",
        expect![[r#"
        pass 
        problem tap_plan_missing { subtest: None, points: 1 }
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "1..1\nok 1\n1..1\n",
        expect![[r#"
        pass 
        problem tap_plan_repeated { line: 3 }
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "1..18446744073709551616\nok 18446744073709551615\n",
        expect![[r#"
        pass 
        problem tap_plan_not_met { subtest: None, planned: 18446744073709551615, missing: [(1, 18446744073709551614)] }
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "1..1\nok 1\nok 99999999999999999999999\n",
        expect![[r#"
        pass 
        pass 
        problem tap_point_out_of_range { number: 18446744073709551615, planned: 1 }
        passed 2 failed 0 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn pc_07_a_failed_point_is_never_overwritten() {
    check(
        "1..2\nnot ok 1 - first half of a name\nok 1 - second half of that name\nok 2 - fine\n",
        expect![[r#"
        fail first half of a name
        pass second half of that name
        pass fine
        problem duplicate_case { name: "second half of that name" }
        passed 1 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "1..2\nok 1 - first\nnot ok 1 - second\nok 2 - fine\n",
        expect![[r#"
        pass first
        fail second
        pass fine
        problem duplicate_case { name: "first" }
        passed 1 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "1..2\nok 1 - a\nok 1 - a\nok 2 - b\n",
        expect![[r#"
        pass a
        pass a
        pass b
        passed 2 failed 0 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn pc_11_directives() {
    check(
        "1..4\nnot ok 1 - parses C# todo lists\nnot ok 2 - opens http://h/#TODO\nok 3 - escaped \\# skip\n\
         not ok 4 - known gap # TODO later\n",
        expect![[r#"
            fail parses C# todo lists
            fail opens http://h/#TODO
            pass escaped # skip
            todo known gap (later)
            passed 1 failed 2 listed 1 unstable 0
        "#]],
    );
    check(
        "1..9\nok 1 # SKIP\nok 2 - a # skipped: no net\nok 3 # todo\nnot ok 4 # SKIP broken\nok 5 - a #skip\n\
         not ok 6 - a # b # TODO c\nok 7 - a # b # SKIP c\nok 8 - x\t#\tTODO tabs\nnot ok 9 - learn # todos\n",
        expect![[r#"
            skipped 
            skipped a (no net)
            todo 
            fail  (broken)
            pass a #skip
            fail a # b # TODO c
            skipped a # b (c)
            todo x (tabs)
            fail learn # todos
            passed 1 failed 3 listed 5 unstable 0
        "#]],
    );
    check(
        "1..3\nok 1 - a \\\\ b \\# c \\n d\nok 2 \\# TODO\nok 3 - x \\\\# TODO\n",
        expect![[r#"
        pass a \ b # c \n d
        pass # TODO
        pass x \# TODO
        passed 3 failed 0 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn names_and_numbers() {
    check(
        "1..6\nok 1 - - x\nok 2- y\nok 3 -z\nok - four\nok 5 5\nok 6 #\n",
        expect![[r#"
        pass - x
        pass y
        pass -z
        pass four
        pass 5
        pass #
        passed 6 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "1..2\nok 2 b\nok 1 a\n",
        expect![[r#"
        pass b
        pass a
        passed 2 failed 0 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn a_failure_is_read_where_a_pass_is_not() {
    check(
        "1..2\nnot ok: x\nnot  ok 2\n",
        expect![[r#"
        fail : x
        fail 
        passed 0 failed 2 listed 0 unstable 0
    "#]],
    );
    check(
        "1..1\nok, starting\nokay\nnot okay\nOK\nok 1\n",
        expect![[r#"
        pass 
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn yaml_is_a_message() {
    check(
        "1..2\nnot ok 1 - a\n  ---\n  message: 'got 3'\n  nested: |\n    not ok 9 - quoted\n    ...\n  ...\nok 2\n",
        expect![[r#"
            fail a (got 3)
            pass 
            passed 1 failed 1 listed 0 unstable 0
        "#]],
    );
    check(
        "1..2\nok 1\n  ---\n  never: closed\nnot ok 2 - not swallowed\n",
        expect![[r#"
        pass 
        fail not swallowed
        passed 1 failed 1 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn subtests_count_their_cases_once() {
    check(
        "# Subtest: p\n    ok 1 - a\n    not ok 2 - b\n    1..2\nnot ok 1 - p\nok 2 - q\n1..2\n",
        expect![[r#"
        pass p > a
        fail p > b
        pass q
        passed 2 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "    1..1\n    ok 1 - a\nok 1 - p\n1..1\n",
        expect![[r#"
        pass p > a
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn a_parent_never_hides_its_children() {
    check(
        "    not ok 1 - a\n    1..1\nok 1 - p\n1..1\n",
        expect![[r#"
        fail p > a
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "    not ok 1 - a\n    1..1\nnot ok 1 - p # TODO\n1..1\n",
        expect![[r#"
        fail p > a
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "    not ok 1 - a\n    1..1\nok 1 - p # SKIP\n1..1\n",
        expect![[r#"
        fail p > a
        passed 0 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "        not ok 1 - a\n        1..1\n    ok 1 - c\n    1..1\nok 1 - p\n1..1\n",
        expect![[r#"
        fail  > a
        pass p > c
        problem tap_subtest_unfinished { line: 1 }
        passed 1 failed 1 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn a_parent_may_fail_alone() {
    check(
        "    ok 1 - a\n    1..1\nnot ok 1 - p\n1..1\n",
        expect![[r#"
        pass p > a
        fail p
        passed 1 failed 1 listed 0 unstable 0
    "#]],
    );
    check(
        "    1..0\nok 1 - p\n1..1\n",
        expect![[r#"
        skipped p
        passed 0 failed 0 listed 1 unstable 0
    "#]],
    );
}

#[test]
fn subtests_that_are_not_whole() {
    check(
        "    ok 1 - a\n    1..2\nok 1 - p\n1..1\n",
        expect![[r#"
        pass p > a
        problem tap_plan_not_met { subtest: Some("p"), planned: 2, missing: [(2, 2)] }
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "    ok 1 - a\nok 1 - p\n1..1\n",
        expect![[r#"
        pass p > a
        problem tap_plan_missing { subtest: Some("p"), points: 1 }
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "1..1\nok 1 - p\n    ok 1 - a\n    1..1\n",
        expect![[r#"
        pass p
        pass  > a
        problem tap_subtest_unfinished { line: 3 }
        passed 2 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "1..1\n        ok 1 - a\n        1..1\n    # no point here\nok 1 - p\n",
        expect![[r#"
        pass p > a
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "1..1\n    ok 1 - c\n  ok 1 - b\n    1..1\nok 1 - p\n",
        expect![[r#"
        pass  > c
        pass p > b
        problem tap_subtest_unfinished { line: 2 }
        problem tap_subtest_unfinished { line: 4 }
        problem tap_plan_missing { subtest: Some("p"), points: 1 }
        passed 2 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "    Bail out! too deep\n1..1\nok 1\n",
        expect![[r#"
        problem tap_bail_out { reason: Some("too deep") }
        passed 0 failed 0 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn noise_is_skipped_and_strict_streams_have_none() {
    check(
        "compiling...\nTAP version 13\nok 1\n  detail\n1..1\nbye\n",
        expect![[r#"
        pass 
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "pragma +strict\nok 1\nnoise\n1..1\n",
        expect![[r#"
        pass 
        problem tap_invalid_line { line: 3 }
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "pragma +strict\nok 1\npragma -strict\nnoise\n1..1\n",
        expect![[r#"
        pass 
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
    check(
        "TAP version 15\nok 1\n1..1\n",
        expect![[r#"
        pass 
        problem tap_version_unknown { version: "15" }
        passed 1 failed 0 listed 0 unstable 0
    "#]],
    );
}

#[test]
fn bytes_that_are_not_utf8() {
    expect![[r#"
        refused tap_invalid_utf8 { line: 2 }
    "#]]
    .assert_eq(&crate::report::show(&read(b"1..1\nok 1 - \xff\n")));
    expect![[r#"
        refused tap_invalid_utf8 { line: 1 }
    "#]]
    .assert_eq(&crate::report::show(&read(b"\xff\xfe1\x00")));
}

#[test]
fn limits() {
    let deep: String = (0..=DEPTH_MAX + 1).map(|n| format!("{}ok 1\n", " ".repeat(n))).collect();
    check(
        &deep,
        expect![[r#"
        refused report_limit { what: Depth, limit: 64 }
    "#]],
    );
    let many = "ok\n".repeat(crate::report::CASES_MAX + 1);
    check(
        &many,
        expect![[r#"
        refused report_limit { what: Cases, limit: 200000 }
    "#]],
    );
    expect![[r#"
        refused report_limit { what: Bytes, limit: 33554432 }
    "#]]
    .assert_eq(&crate::report::show(&read(&vec![b'\n'; REPORT_BYTES_MAX + 1])));
}

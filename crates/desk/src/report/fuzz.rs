//! No reader panics, whatever the bytes are, and none accepts a report that was cut.

use super::{Refusal, Report, junit, tap};
use crate::command_suite::config;
use proptest::prelude::*;

const TAP: &str = "TAP version 14\n1..4\nok 1 - a\n# Subtest: p\n    ok 1 - b \\# c\n      ---\n      message: 'x'\n      \
    ...\n    not ok 2 - c # TODO later\n    1..2\nok 2 - p\nok 3 # SKIP no\nnot ok 4 - ü\nBail out! end\n";

const JUNIT: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<testsuites tests=\"4\" failures=\"1\"><testsuite name=\"a\" \
    tests=\"2\"><testcase name=\"t1\" classname=\"c\"/><testcase name=\"t2\"><failure message=\"&lt;x&gt;\"><![CDATA[y]]>\
    </failure></testcase></testsuite><testcase name=\"t3\"><skipped type=\"todo\"/></testcase><testcase name=\"t4\">\
    <flakyFailure/></testcase><!-- c --></testsuites>";

const SUITE: &str = "version = 1\nallow = [\"*.toml\"]\n[[check]]\nname = \"c\"\nrun = [\"p\", \"{report}{{\"]\nresult = \"tap\"\n\
    expect = [\"a\"]\nmin = 1\ncwd = \"suite\"\ntimeout_s = 9\n";

/// One change to a valid text.
#[derive(Clone, Debug)]
enum Change {
    Cut(usize),
    Set(usize, u8),
    Insert(usize, Vec<u8>),
    Repeat(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = 0_usize..700;
    prop_oneof![
        at.clone().prop_map(Change::Cut),
        (at.clone(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (at.clone(), token()).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (at.clone(), at).prop_map(|(from, len)| Change::Repeat(from, len % 64)),
    ]
}

fn token() -> impl Strategy<Value = Vec<u8>> {
    let tokens = [
        "ok ",
        "not ok ",
        "1..",
        "\n    ",
        "\n",
        "#",
        " # TODO",
        " # SKIP",
        "---",
        "...",
        "\\",
        "Bail out!",
        "0",
        "18446744073709551615",
        "-1",
        "<",
        ">",
        "</",
        "/>",
        "<testcase>",
        "<testsuite>",
        "</testsuite>",
        "<![CDATA[",
        "]]>",
        "<!--",
        "<!",
        "<?",
        "&#0;",
        "&lt;",
        "'",
        "\"",
        "\u{feff}",
        "\0",
        "{",
        "}",
        "{suite}",
        "\u{2028}",
        "é",
        "pragma +strict\n",
        "xmlns:a='b'",
        "=",
    ];
    prop_oneof![
        prop::sample::select(tokens.to_vec()).prop_map(|token| token.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 1..6),
    ]
}

fn changed(text: &str, changes: &[Change]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for change in changes {
        match change {
            Change::Cut(at) => bytes.truncate((*at).max(8)),
            Change::Set(at, byte) => {
                let len = bytes.len().max(1);
                if let Some(slot) = bytes.get_mut(at % len) {
                    *slot = *byte;
                }
            }
            Change::Insert(at, token) => {
                let at = at % (bytes.len() + 1);
                bytes.splice(at..at, token.iter().copied());
            }
            Change::Repeat(from, len) => {
                let from = from % (bytes.len() + 1);
                let piece = bytes[from..(from + len).min(bytes.len())].to_vec();
                bytes.splice(from..from, piece);
            }
        }
    }
    bytes
}

/// Touches everything a caller would.
fn look_at(result: &Result<Report, Refusal>) {
    match result {
        Err(refusal) => assert!(!refusal.code().is_empty()),
        Ok(report) => {
            for case in report.cases() {
                assert!(report.is_named(case, &report.full_name(case)));
            }
            let tally = report.tally();
            let counted = tally.passed + tally.failed + tally.listed + tally.unstable;
            assert!(counted <= report.cases().len() as u64);
            assert!(!report.cases().is_empty() || !report.problems().is_empty());
        }
    }
}

fn read_all(bytes: &[u8]) {
    look_at(&tap::read(bytes));
    look_at(&junit::read(bytes));
    _ = config::parse(bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        read_all(&bytes);
    }

    #[test]
    fn arbitrary_tokens(tokens in prop::collection::vec(token(), 0..60)) {
        read_all(&tokens.concat());
    }

    #[test]
    fn changed_reports(changes in prop::collection::vec(change(), 1..8)) {
        for text in [TAP, JUNIT, SUITE] {
            read_all(&changed(text, &changes));
        }
    }

    #[test]
    fn changed_utf16(changes in prop::collection::vec(change(), 1..4)) {
        let wide: Vec<u8> = std::iter::once(0xfeff).chain(JUNIT.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        let at = changes.len() * 37 % wide.len();
        let mut bytes = wide;
        bytes.splice(at..at, changed("<a>", &changes));
        read_all(&bytes);
    }
}

#[test]
fn a_report_that_was_cut_is_never_sound() {
    let tap = "1..3\nok 1 - a\nok 2 - b\nok 3 - c\n";
    // A bare `ok` without a line feed is a whole point for the protocol, so the cut is taken before it.
    for end in 0..tap.len() - "k 3 - c\n".len() {
        let sound = tap::read(&tap.as_bytes()[..end]).is_ok_and(|report| report.problems().is_empty());
        assert!(!sound, "{:?}", &tap[..end]);
    }
    for end in 0..JUNIT.len() {
        assert!(junit::read(&JUNIT.as_bytes()[..end]).is_err(), "{:?}", &JUNIT[..end]);
    }
}

/// Hostile shapes near the size limits: each takes well under the ten seconds allowed here, even without optimisation.
#[test]
#[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "shell ring: the test measures time")]
fn hostile_shapes_take_linear_time() {
    let started = std::time::Instant::now();
    let shapes = [
        format!("<testsuite>{}</testsuite>", "<testcase/>".repeat(150_000)),
        format!("<testsuite {}/>", "a='' ".repeat(500_000)),
        "<a>".repeat(1_000_000),
        format!("<testsuite>{}</testsuite>", "&lt;".repeat(1_000_000)),
        format!(
            "<testsuite>{}</testsuite>",
            "<testsuite name='n'><testcase name='c'/></testsuite>".repeat(50_000)
        ),
        format!("<testsuite>{}</testsuite>", "<testsuite tests='0'><testcase/></testsuite>\n".repeat(50_000)),
        "    1..1\n1..1\n".repeat(100_000),
        "<![CDATA[".repeat(300_000),
        "<!--".repeat(500_000),
        "ok 1\n".repeat(190_000),
        (0..1_000_000).map(|n| format!("{}ok\n", " ".repeat(n % 60))).take(100_000).collect(),
        format!("ok 1 {}", " # ".repeat(500_000)),
        format!("ok 1 {}", "\\".repeat(2_000_000)),
        "1..9999999999\n".repeat(100_000),
    ];
    for shape in &shapes {
        look_at_cheaply(&tap::read(shape.as_bytes()));
        look_at_cheaply(&junit::read(shape.as_bytes()));
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

fn look_at_cheaply(result: &Result<Report, Refusal>) {
    if let Ok(report) = result {
        _ = report.tally();
    }
}

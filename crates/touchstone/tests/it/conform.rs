//! `touchstone conform` and `golden`: every grade, every reason for one, every error that is no grade.

use super::stage::touchstone;
use canon::{Reader, Value};
use std::fs;
use std::process::Command;
use tempfile::TempDir;

pub(super) const TABLE: &str = "version = 1\n[fields]\n'*' = 'repro'\nhost = 'physical'\n[lists]\nsteps = { order = 'key', keys = ['n'] }\n";
pub(super) const A: &str =
    r#"{"ts":1,"task":"t","steps":[{"n":1,"out":"x"},{"n":2,"out":"y"}],"evidence_class":"simulated"}"#;
pub(super) const B: &str =
    r#"{"evidence_class":"simulated","ts":2,"steps":[{"n":2.0,"out":"y"},{"out":"x","n":1}],"task":"t"}"#;

/// A folder with a table and files.
pub(super) struct Desk {
    pub(super) root: TempDir,
}

pub(super) struct Answer {
    pub(super) code: i32,
    pub(super) value: Value,
    pub(super) stderr: String,
}

impl Answer {
    pub(super) fn of(output: &std::process::Output) -> Answer {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let value = Reader::strict()
            .read(output.stdout.trim_ascii())
            .unwrap_or_else(|error| panic!("{error:?} {stderr}"));
        Answer { code: output.status.code().unwrap(), value, stderr }
    }

    pub(super) fn text(&self, member: &str) -> &str {
        self.value.get(member).and_then(Value::as_str).unwrap_or("(none)")
    }

    /// Reason codes of all findings.
    pub(super) fn reasons(&self) -> Vec<&str> {
        let findings = self.value.get("findings").and_then(Value::as_array).unwrap_or_default();
        findings.iter().map(|finding| vectors::text(finding, "reason")).collect()
    }

    pub(super) fn places(&self, reason: &str) -> Vec<&str> {
        let findings = self.value.get("findings").and_then(Value::as_array).unwrap_or_default();
        let of_reason = findings.iter().filter(|finding| vectors::text(finding, "reason") == reason);
        of_reason.map(|finding| vectors::text(finding, "place")).collect()
    }

    #[track_caller]
    pub(super) fn is(&self, code: i32, grade: &str, reasons: &[&str]) {
        assert_eq!(
            (self.code, self.text("grade"), self.reasons()),
            (code, grade, reasons.to_vec()),
            "{}",
            self.stderr
        );
        assert_eq!(self.value.get("exit").and_then(Value::as_i64), Some(i64::from(code)));
    }

    /// No judgement: exit code 1, a message that names the code, and no grade.
    #[track_caller]
    pub(super) fn refused(&self, reason: &str, inner: Option<&str>) {
        let found = (self.code, self.text("reason"), self.value.get("inner").and_then(Value::as_str));
        assert_eq!(found, (1, reason, inner), "{}", self.stderr);
        assert!(self.value.get("grade").is_some_and(Value::is_null), "an error is never a grade");
        assert!(self.stderr.contains(inner.unwrap_or(reason)), "{}", self.stderr);
    }
}

impl Desk {
    pub(super) fn new(table: &str) -> Desk {
        let desk = Desk { root: tempfile::tempdir().unwrap() };
        desk.write("fields.toml", table);
        desk
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Two runs.
    pub(super) fn pair(table: &str, a: &str, b: &str) -> Desk {
        let desk = Desk::new(table);
        desk.write("a.json", a);
        desk.write("b.json", b);
        desk
    }

    pub(super) fn touchstone(&self, arguments: &[&str]) -> std::process::Output {
        touchstone().current_dir(self.root.path()).args(arguments).output().unwrap()
    }

    pub(super) fn ask(&self, arguments: &[&str]) -> Answer {
        Answer::of(&self.touchstone(&[arguments, &["--json"]].concat()))
    }

    /// The folders `r1` and `r2` as runs.
    fn folders(&self, more: &[&str]) -> Answer {
        self.ask(&[&["conform", "--table", "fields.toml", "--run", "r1", "--run", "r2"], more].concat())
    }

    pub(super) fn conform(&self, more: &[&str]) -> Answer {
        self.ask(
            &[&["conform", "--table", "fields.toml", "--run", "a.json", "--run", "b.json"], more].concat(),
        )
    }

    pub(super) fn freeze(&self, runs: &[&str]) {
        let runs = runs.iter().flat_map(|run| ["--run", run]).collect::<Vec<_>>();
        let output = self.touchstone(
            &[&["golden", "freeze", "--table", "fields.toml", "--out", "golden.json"], runs.as_slice()]
                .concat(),
        );
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    pub(super) fn edit(&self, name: &str, from: &str, to: &str) {
        let path = self.root.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
    }
}

// ------------------------------------------------------------------------------------------------- grades

#[test]
fn full_needs_equal_runs_a_golden_value_and_a_physical_difference() {
    let desk = Desk::pair(TABLE, A, B);
    desk.conform(&[]).is(2, "sampled", &["judge_no_golden"]);
    desk.freeze(&["a.json"]);
    let answer = desk.conform(&["--golden", "golden.json", "--report", "reports"]);
    answer.is(0, "full", &[]);
    assert_eq!(answer.text("repro_hash"), &answer.text("repro_digest")[..16]);
    let page = fs::read_to_string(desk.root.path().join("reports/attestation.md")).unwrap();
    let lines = fs::read_to_string(desk.root.path().join("reports/attestation.jsonl")).unwrap();
    assert!(page.contains("Grade **full**") && page.contains(answer.text("verdict_hash")), "{page}");
    assert_eq!(lines.lines().count(), 9, "eight checks and the whole: {lines}");
    // The same run twice proves nothing about what is dropped.
    desk.write("b.json", A);
    desk.conform(&["--golden", "golden.json"]).is(2, "sampled", &["judge_no_physical_difference"]);
}

#[test]
fn an_unstable_run_is_incompatible_and_every_path_is_named() {
    let desk = Desk::pair(
        TABLE,
        A,
        &B.replace("\"out\":\"x\"", "\"out\":\"z\"").replace("\"task\":\"t\"", "\"task\":\"u\""),
    );
    let answer = desk.conform(&[]);
    answer.is(1, "incompatible", &["judge_unstable", "judge_unstable", "judge_no_golden"]);
    assert_eq!(answer.places("judge_unstable"), ["steps[0].out", "task"]);
    let shown = String::from_utf8(
        desk.touchstone(&["conform", "--table", "fields.toml", "--run", "a.json", "--run", "b.json"]).stdout,
    )
    .unwrap();
    assert!(shown.starts_with("INCOMPATIBLE") && shown.contains("steps[0].out"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn unknown_fields_are_counted_and_a_vacuous_table_is_incompatible() {
    let desk = Desk::pair("version = 1\n[fields]\ntask = 'repro'\nevidence_class = 'repro'\n", A, B);
    let answer = desk.conform(&[]);
    answer.is(2, "sampled", &["judge_unknown_field", "judge_no_golden"]);
    assert_eq!(answer.places("judge_unknown_field"), ["steps"]);
    desk.write("fields.toml", "version = 1\n[fields]\nnothing = 'repro'\n");
    let answer = desk.conform(&[]);
    assert!(
        (answer.code, answer.text("grade")) == (1, "incompatible")
            && answer.reasons().contains(&"judge_vacuous")
    );
}

#[test]
fn pc_50_a_list_without_a_key_is_never_plain_full() {
    let (a, b) = (
        r#"{"evidence_class":"simulated","ts":1,"steps":[{"node":"b","out":1},{"node":"c","out":2}]}"#,
        r#"{"evidence_class":"simulated","ts":2,"steps":[{"node":"c","out":2},{"node":"b","out":1}]}"#,
    );
    let plain = "version = 1\n[fields]\n'*' = 'repro'\n";
    let rule = |rule: &str| format!("{plain}[lists]\nsteps = {rule}\n");
    let desk = Desk::pair(plain, a, b);
    desk.freeze(&["a.json"]);
    let answer = desk.conform(&["--golden", "golden.json"]);
    answer.is(2, "sampled", &["judge_unkeyed_list"]);
    assert_eq!(answer.places("judge_unkeyed_list"), ["steps"]);
    let desk = Desk::pair(&rule("{ order = 'key', keys = ['node'] }"), a, b);
    desk.freeze(&["a.json"]);
    desk.conform(&["--golden", "golden.json"]).is(0, "full", &[]);
    let desk = Desk::pair(&rule("{ order = 'sequence' }"), a, b);
    let answer = desk.conform(&[]);
    assert_eq!((answer.code, answer.places("judge_unstable")[0]), (1, "steps[0].node"));
}

#[test]
fn l_1_golden_values_here_and_elsewhere() {
    let desk = Desk::pair(TABLE, A, B);
    desk.freeze(&["a.json"]);
    let golden = fs::read_to_string(desk.root.path().join("golden.json")).unwrap();
    let host = conform::host_class();
    // Another host class alone, with the same value: hit. With another value: sampled.
    desk.write("golden.json", &golden.replace(&host, "riscv64-linux"));
    desk.conform(&["--golden", "golden.json"]).is(0, "full", &[]);
    let entry = golden.lines().find(|line| line.contains("repro_digest")).unwrap().trim();
    let digest = canon::Digest::of(b"other").to_hex();
    let other = format!(
        "{{\"case\":\"a\",\"host\":\"riscv64-linux\",\"repro_digest\":\"{digest}\",\"repro_hash\":\"{}\"}}",
        &digest[..16]
    );
    desk.write("golden.json", &golden.replace(entry, &format!("{entry},{other}")));
    desk.conform(&["--golden", "golden.json"]).is(2, "sampled", &["judge_golden_other_host"]);
    // This host class with another value: red.
    desk.write("golden.json", &golden.replace(entry, &other.replace("riscv64-linux", &host)));
    desk.conform(&["--golden", "golden.json"]).is(1, "incompatible", &["judge_golden_missed"]);
    // Part of the tasks only.
    for name in ["r1/a.json", "r1/b.json", "r2/a.json", "r2/b.json"] {
        desk.write(name, if name.starts_with("r1") { A } else { B });
    }
    desk.write("golden.json", &golden.replace("\"case\":\"a\"", "\"case\":\"a.json\""));
    let answer = desk.folders(&["--golden", "golden.json"]);
    answer.is(2, "sampled", &["judge_golden_absent"]);
    assert_eq!(answer.places("judge_golden_absent"), ["b.json"]);
}

#[test]
fn evidence_rules_reach_the_grade() {
    for (class, code, reason) in [
        (r#""evidence_class":"measured","measure_ts":1"#, 2, "hon_measured_no_source"),
        (r#""evidence_class":"measured","measure_source":"x""#, 2, "hon_measured_no_time"),
        (r#""evidence_class":"simulated","measure_source":"x""#, 2, "hon_simulated_with_source"),
        (r#""evidence_class":"third_party""#, 2, "hon_third_party_no_source"),
        (r#""evidence_class":"guessed""#, 1, "hon_unknown_class"),
        (r#""evidence":"none""#, 2, "hon_no_evidence_class"),
    ] {
        let run = |ts: u8| format!("{{\"task\":\"t\",\"ts\":{ts},{class}}}");
        let desk = Desk::pair(TABLE, &run(1), &run(2));
        desk.freeze(&["a.json"]);
        let grade = if code == 1 { "incompatible" } else { "sampled" };
        desk.conform(&["--golden", "golden.json"]).is(code, grade, &[reason]);
    }
}

// ------------------------------------------------------------------------------------------------- errors

#[test]
fn errors_of_tables_are_no_grades() {
    let desk = Desk::pair(TABLE, A, B);
    fs::remove_file(desk.root.path().join("fields.toml")).unwrap();
    desk.conform(&[]).refused("conform_table_missing", None);
    for (table, inner) in [
        ("version = 1\n[fields]\nts = 'repro'\n", "table_minimum_physical"),
        ("version = 1\n[fields]\n", "table_no_fields"),
        ("version = 1\n[fields]\n'a.*' = 'repro'\n'*.b' = 'repro'\n", "table_tie"),
        ("no table", "table_not_toml"),
    ] {
        desk.write("fields.toml", table);
        desk.conform(&[]).refused("conform_table_refused", Some(inner));
    }
}

#[test]
fn errors_of_runs_are_no_grades() {
    for (bad, inner) in [
        (r#"{"a":NaN}"#, "json_non_finite"),
        (r#"{"a":1,"a":2}"#, "json_duplicate_key"),
        (r#"{"a":1e999}"#, "json_exponent_range"),
        ("\u{feff}{}", "json_byte_order_mark"),
        (r#"{"a":"\ud800"}"#, "json_lone_surrogate"),
        ("{", "json_unexpected_end"),
        ("", "json_unexpected_end"),
    ] {
        Desk::pair(TABLE, A, bad).conform(&[]).refused("conform_not_json", Some(inner));
    }
    Desk::pair(TABLE, "3", "3").conform(&[]).refused("conform_no_receipts", None);
    Desk::pair(TABLE, "[]", "[]").conform(&[]).refused("conform_no_receipts", None);
    Desk::pair(TABLE, "[1]", "[1]").conform(&[]).refused("conform_no_receipts", None);
    Desk::pair(TABLE, &format!("[{A}]"), &format!("[{A},{A}]"))
        .conform(&[])
        .refused("conform_other_length", None);
    let opaque = "version = 1\n[fields]\np = 'opaque'\n";
    Desk::pair(opaque, r#"{"p":1e400}"#, r#"{"p":1e400}"#).conform(&[]).refused("conform_no_form", None);
    let desk = Desk::pair(TABLE, A, B);
    desk.ask(&["conform", "--table", "fields.toml", "--run", "a.json"]).refused("conform_one_run", None);
    desk.ask(&["conform", "--table", "fields.toml", "--run", "a.json", "--run", "no.json"])
        .refused("conform_run_missing", None);
    desk.write("r1/a.json", A);
    desk.write("r2/b.json", A);
    desk.folders(&[]).refused("conform_other_tasks", None);
    desk.write("r3/readme.txt", "no run");
    desk.ask(&["conform", "--table", "fields.toml", "--run", "r3", "--run", "r3"])
        .refused("conform_run_empty", None);
}

#[test]
fn errors_of_golden_files_are_no_grades() {
    let desk = Desk::pair(TABLE, A, B);
    desk.conform(&["--golden", "golden.json"]).refused("conform_golden_missing", None);
    desk.freeze(&["a.json"]);
    let good = fs::read_to_string(desk.root.path().join("golden.json")).unwrap();
    let hash = good.split("repro_hash\":\"").nth(1).unwrap()[..16].to_owned();
    let entry = good.lines().find(|line| line.contains("repro_digest")).unwrap().trim().to_owned();
    for (from, to, inner) in [
        ("\"version\": 1", "\"version\": 7", "golden_version"),
        ("\"spec\"", "\"specification\"", "golden_shape"),
        (&*format!("repro_hash\":\"{hash}"), "repro_hash\":\"0000000000000000", "golden_hash_is_not_digest"),
        (&entry, &format!("{entry},{entry}"), "golden_case_twice"),
        (&entry, "", "golden_empty"),
        ("{", "", "json_unexpected_byte"),
    ] {
        desk.write("golden.json", &good.replacen(from, to, 1));
        let answer = desk.conform(&["--golden", "golden.json"]);
        let inner = if inner == "json_unexpected_byte" { "json_trailing_bytes" } else { inner };
        answer.refused("conform_golden_refused", Some(inner));
    }
    desk.write("golden.json", &good);
    desk.write("fields.toml", &format!("{TABLE}# changed\n"));
    desk.conform(&["--golden", "golden.json"]).refused("conform_golden_refused", Some("golden_other_table"));
    // Two runs of one case that differ cannot be frozen.
    desk.write("b.json", &A.replace("\"x\"", "\"z\""));
    let output = desk.touchstone(&[
        "golden",
        "freeze",
        "--table",
        "fields.toml",
        "--run",
        "a.json",
        "--run",
        "b.json",
        "--case",
        "t",
        "--out",
        "new.json",
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("golden_unstable"));
    assert!(!desk.root.path().join("new.json").exists());
}

/// A golden value whose task is gone was not hit: dropping the task that would fail must not buy a grade.
#[test]
fn golden_values_that_no_run_covers_are_warned_about() {
    let desk = Desk::new(TABLE);
    for name in ["r1/one.json", "r1/two.json", "r2/one.json", "r2/two.json"] {
        desk.write(name, if name.starts_with("r1") { A } else { B });
    }
    desk.freeze(&["r1"]);
    let ask = || desk.folders(&["--golden", "golden.json"]);
    ask().is(0, "full", &[]);
    for run in ["r1", "r2"] {
        fs::remove_file(desk.root.path().join(run).join("two.json")).unwrap();
    }
    let answer = ask();
    answer.is(2, "sampled", &["judge_golden_uncovered"]);
    assert_eq!(answer.places("judge_golden_uncovered"), ["two.json"]);
    let check =
        desk.ask(&["golden", "check", "--table", "fields.toml", "--golden", "golden.json", "--run", "r1"]);
    assert_eq!(check.code, 2);
}

/// Whatever is named like a task is one, or the run is refused; the rest is named in the reports too.
#[test]
fn folders_pass_over_nothing_that_is_named_like_a_task() {
    let desk = Desk::new(TABLE);
    for run in ["r1", "r2"] {
        desk.write(&format!("{run}/a.json"), A);
        desk.write(&format!("{run}/B.JSON"), &A.replace("\"t\"", &format!("\"{run}\"")));
        desk.write(&format!("{run}/readme.txt"), "not a task");
    }
    let ask = || desk.folders(&["--report", "reports"]);
    let answer = ask();
    assert_eq!((answer.code, answer.places("judge_unstable")), (1, vec!["B.JSON: task"]));
    let page = fs::read_to_string(desk.root.path().join("reports/attestation.md")).unwrap();
    assert!(page.contains("not read: r1/readme.txt") && page.contains("runs: r1, r2"), "{page}");
    std::os::unix::fs::symlink("a.json", desk.root.path().join("r1/link.json")).unwrap();
    ask().refused("conform_run_missing", None);
    assert!(
        !desk.root.path().join("reports/attestation.md").exists(),
        "an old page does not outlive a failure"
    );
}

#[test]
fn evidence_inside_of_a_receipt_is_a_claim_too() {
    let run = |ts: u8| {
        format!(r#"{{"ts":{ts},"evidence_class":"simulated","steps":[{{"n":1,"evidence_class":"bogus"}}]}}"#)
    };
    let desk = Desk::pair(TABLE, &run(1), &run(2));
    desk.conform(&[]).is(1, "incompatible", &["judge_no_golden", "hon_unknown_class"]);
}

/// Files that are somebody else's are bounded and never waited for.
#[test]
fn devices_and_pipes_are_no_tables_and_no_documents() {
    let desk = Desk::pair(TABLE, A, B);
    let pipe = desk.root.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for table in ["/dev/zero", "pipe"] {
        desk.ask(&["conform", "--table", table, "--run", "a.json", "--run", "b.json"])
            .refused("conform_table_missing", None);
    }
    desk.conform(&["--golden", "/dev/zero"]).refused("conform_golden_missing", None);
    desk.write("docs/a.md", "It was measured.");
    for list in ["/dev/zero", "../pipe"] {
        std::os::unix::fs::symlink(list, desk.root.path().join("docs/touchstone.toml")).unwrap();
        desk.ask(&["conform", "docs", "docs"]).refused("conform_documents", None);
        fs::remove_file(desk.root.path().join("docs/touchstone.toml")).unwrap();
    }
}

#[test]
fn an_answer_that_nobody_got_is_no_success() {
    let desk = Desk::pair(TABLE, A, B);
    desk.freeze(&["a.json"]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let arguments = [
        "conform",
        "--table",
        "fields.toml",
        "--run",
        "a.json",
        "--run",
        "b.json",
        "--golden",
        "golden.json",
    ];
    let status = touchstone().current_dir(desk.root.path()).args(arguments).stdout(full).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn reports_that_cannot_be_written_are_an_error() {
    let desk = Desk::pair(TABLE, A, B);
    desk.write("reports", "a file, not a folder");
    desk.conform(&["--report", "reports"]).refused("conform_not_written", None);
}

#[test]
fn wrong_use_is_64() {
    let desk = Desk::pair(TABLE, A, B);
    for arguments in [
        &["conform", "--run", "a.json"][..],
        &["conform", "--table", "fields.toml"],
        &["conform", "--table", "fields.toml", "--run", "a.json", "--exec", "true"],
        &["conform", "--table", "fields.toml", "--run", "a.json", "--shuffle"],
        &["conform", "--table", "fields.toml", "--exec", "true", "--times", "0"],
        &["golden", "check"],
        &["golden", "check", "--range", "a..b", "--golden", "g"],
    ] {
        assert_eq!(desk.touchstone(arguments).status.code(), Some(64), "{arguments:?}");
    }
}

// ------------------------------------------------------------------------------------------------- JSON Lines

#[test]
fn pc_49_json_lines_lose_no_record() {
    let desk = Desk::new(TABLE);
    let line =
        |n: u8| format!("{{\"n\":{n},\"ts\":{n},\"evidence_class\":\"simulated\",\"s\":\"\u{2028}\"}}");
    desk.write("a.jsonl", &format!("{}\n{}\n", line(1), line(2)));
    desk.write("b.jsonl", &format!("{}\r\n\r\n{}", line(2), line(1)));
    let keyed = format!("{TABLE}'$' = {{ order = 'key', keys = ['n'] }}\n");
    desk.write("fields.toml", &keyed);
    let ask = |a: &str, b: &str| desk.ask(&["conform", "--table", "fields.toml", "--run", a, "--run", b]);
    let answer = ask("a.jsonl", "b.jsonl");
    // The order of values is that of the canonical form, so nothing physical differs here.
    answer.is(2, "sampled", &["judge_no_physical_difference", "judge_no_golden"]);
    assert_eq!(answer.value.get("records"), Some(&vec![2_u64, 2].into()));
    desk.write("c.jsonl", &format!("\u{feff}{}\n{}\n", line(1), line(2)));
    ask("a.jsonl", "c.jsonl").refused("conform_not_json", Some("json_byte_order_mark"));
    desk.write("d.jsonl", &format!("{} {}\n", line(1), line(2)));
    ask("a.jsonl", "d.jsonl").refused("conform_not_json", Some("json_trailing_bytes"));
}

// ------------------------------------------------------------------------------------------------- init

#[test]
fn init_proposes_and_overwrites_nothing() {
    let desk = Desk::pair(TABLE, A, &B.replace("\"t\"", "\"u\""));
    let arguments = ["conform", "init", "--run", "a.json", "--run", "b.json", "--out", "new.toml"];
    assert_eq!(desk.touchstone(&arguments).status.code(), Some(0));
    let text = fs::read_to_string(desk.root.path().join("new.toml")).unwrap();
    assert!(text.contains("\"task\" = \"physical\"") && text.contains("# \"steps.out\" = \"\""), "{text}");
    let again = desk.touchstone(&arguments);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("conform_not_written"));
}

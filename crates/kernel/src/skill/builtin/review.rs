//! Review by fixed rules: what a reader would point at first. A finding is a place to look at, not a verdict.

use super::Declared;
use super::code::marker;
use super::secrets::secret;
use super::unified::{self, File, Hunk, Kind};
use crate::skill::Failed;
use crate::skill::payload::text;
use canon::{Object, Value};

/// The skills of this family.
pub(super) const SKILLS: &[Declared] = &[
    Declared {
        name: "review.patch",
        version: 1,
        description: "Code review of a pull request or patch by a checklist: secrets, conflict markers, debug output, \
                      skipped or removed tests, no tests, huge hunks, trailing blanks, overlong lines.",
        triggers: &["code review", "review pull request", "review patch", "review diff"],
        needs: &[("patch", "a unified diff of any number of files")],
        takes: &[],
        examples: &[
            (
                r#"{"patch":"--- a/src/f.py\n+++ b/src/f.py\n@@ -1 +1,2 @@\n a\n+print(b) \n"}"#,
                r#"{"files":1,"added":1,"removed":0,"findings":[{"rule":"debug_output","file":"src/f.py","line":2,"detail":"print("},{"rule":"trailing_blank","file":"src/f.py","line":2,"detail":""},{"rule":"no_tests","file":"","line":0,"detail":"source changes and no test does"}]}"#,
            ),
            (
                r#"{"patch":"--- a/tests/test_f.py\n+++ b/tests/test_f.py\n@@ -3,2 +3 @@\n-    assert f(1) == 2\n-    x = 'k'\n+    password = 'correct horse'\n"}"#,
                r#"{"files":1,"added":1,"removed":2,"findings":[{"rule":"secret","file":"tests/test_f.py","line":3,"detail":"assigned_secret"},{"rule":"removed_assertion","file":"tests/test_f.py","line":3,"detail":"1 more removed than added"}]}"#,
            ),
        ],
        run: patch,
    },
    Declared {
        name: "review.prose",
        version: 1,
        description: "Proofread prose by rules: repeated words, overlong sentences, unbalanced brackets, filler words, \
                      blanks before punctuation.",
        triggers: &["proofread", "review prose", "writing check"],
        needs: &[("text", "the prose")],
        takes: &[],
        examples: &[
            (
                r#"{"text":"This is is very (good .\n"}"#,
                r#"[{"rule":"repeated_word","line":1,"detail":"is"},{"rule":"filler_word","line":1,"detail":"very"},{"rule":"blank_before_mark","line":1,"detail":"."},{"rule":"unbalanced_bracket","line":1,"detail":"("}]"#,
            ),
            (r#"{"text":"All is well. Well, nearly.\n"}"#, r#"[]"#),
        ],
        run: super::prose::prose,
    },
    Declared {
        name: "review.commit",
        version: 1,
        description: "Check a git commit message: subject line length and form, empty second line, body that says why, \
                      line lengths.",
        triggers: &["commit message", "review commit", "lint commit message"],
        needs: &[("message", "the message")],
        takes: &[],
        examples: &[
            (
                r#"{"message":"fixed stuff.\nmore"}"#,
                r#"[{"rule":"subject_ends_with_point","line":1},{"rule":"subject_says_little","line":1},{"rule":"second_line_not_empty","line":2}]"#,
            ),
            (r#"{"message":"kernel: refuse floats at load\n\nThey differ between machines.\n"}"#, r#"[]"#),
        ],
        run: commit,
    },
];

/// Added lines of one hunk that nobody reads carefully any more.
const HUNK_ADDED_MAX: usize = 200;

/// Characters of a line.
const LINE_MAX: usize = 140;

/// Most findings that are listed.
const FINDINGS_MAX: usize = 500;

#[derive(Default)]
struct Findings(Vec<Object>);

impl Findings {
    fn find(&mut self, rule: &str, file: &str, line: usize, detail: impl Into<Value>) {
        if self.0.len() < FINDINGS_MAX {
            let finding = Object::new().with("rule", rule).with("file", file).with("line", line as u64);
            self.0.push(finding.with("detail", detail));
        }
    }
}

fn patch(payload: &Object) -> Result<Value, Failed> {
    let files = unified::read(text(payload, "patch")?)?;
    let mut findings = Findings::default();
    for file in &files {
        for hunk in &file.hunks {
            review_hunk(file_name(file), hunk, &mut findings);
        }
    }
    let names: Vec<&str> = files.iter().map(file_name).collect();
    let source = |name: &&str| is_source(name) && !is_test(name);
    if names.iter().any(source) && !names.iter().any(|name| is_test(name)) {
        findings.find("no_tests", "", 0, "source changes and no test does");
    }
    let lines = || files.iter().flat_map(|file| &file.hunks).flat_map(|hunk| &hunk.lines);
    let count = |kind| lines().filter(|line| line.kind == kind).count() as u64;
    let object = Object::new().with("files", files.len() as u64).with("added", count(Kind::Add));
    Ok(object.with("removed", count(Kind::Remove)).with("findings", findings.0).into())
}

/// The new name; the old one when the file goes.
fn file_name<'a>(file: &File<'a>) -> &'a str {
    let name = if file.new_name == "/dev/null" { file.old_name } else { file.new_name };
    name.strip_prefix("a/").or(name.strip_prefix("b/")).unwrap_or(name)
}

fn is_test(name: &str) -> bool {
    name.split(['/', '_', '.', '-']).any(|part| matches!(part, "test" | "tests" | "spec" | "specs"))
}

fn is_source(name: &str) -> bool {
    const ENDS: [&str; 16] =
        ["rs", "py", "js", "ts", "jsx", "tsx", "go", "java", "c", "h", "cc", "cpp", "cs", "rb", "php", "kt"];
    name.rsplit_once('.').is_some_and(|(_, end)| ENDS.contains(&end))
}

fn review_hunk(file: &str, hunk: &Hunk<'_>, findings: &mut Findings) {
    let mut number = hunk.new.start;
    let (mut added, mut assertions) = (0, 0_i64);
    for line in &hunk.lines {
        let asserts = i64::from(is_test(file) && is_assertion(line.text));
        match line.kind {
            Kind::Add => {
                review_line(file, number, line.text, findings);
                (added, assertions) = (added + 1, assertions + asserts);
            }
            Kind::Remove => assertions -= asserts,
            Kind::Keep => {}
        }
        number += usize::from(line.kind != Kind::Remove);
    }
    if added > HUNK_ADDED_MAX {
        findings.find("large_hunk", file, hunk.new.start, added as u64);
    }
    if assertions < 0 {
        let detail = format!("{} more removed than added", -assertions);
        findings.find("removed_assertion", file, hunk.new.start, detail);
    }
}

fn is_assertion(line: &str) -> bool {
    let line = line.trim_start();
    ["assert", "self.assert", "expect(", "def test_", "#[test]"].iter().any(|word| line.starts_with(word))
}

fn review_line(file: &str, number: usize, line: &str, findings: &mut Findings) {
    const DEBUG: [&str; 7] =
        ["print(", "console.log(", "dbg!(", "breakpoint(", "pdb.set_trace(", "debugger;", "var_dump("];
    const SKIPS: [&str; 8] = [
        "mark.skip",
        "mark.xfail",
        "unittest.skip",
        "#[ignore",
        "it.skip(",
        "test.skip(",
        "describe.skip(",
        "t.Skip(",
    ];
    if let Some(kind) = secret(line) {
        findings.find("secret", file, number, kind);
    }
    let conflict = ["<<<<<<< ", ">>>>>>> ", "||||||| "].iter().any(|mark| line.starts_with(mark));
    if conflict || line == "=======" {
        findings.find("conflict_marker", file, number, "");
    }
    let code = line.trim_start();
    if let Some(call) = DEBUG.iter().find(|call| code.starts_with(**call)) {
        findings.find("debug_output", file, number, *call);
    }
    if let Some(skip) = SKIPS.iter().find(|skip| line.contains(**skip)) {
        findings.find("skipped_test", file, number, *skip);
    }
    if let Some(word) = marker(line) {
        findings.find("unfinished", file, number, word);
    }
    // A carriage return belongs to the line end of its file.
    let shown = line.strip_suffix('\r').unwrap_or(line);
    if shown.ends_with([' ', '\t']) {
        findings.find("trailing_blank", file, number, "");
    }
    let length = shown.chars().count();
    if length > LINE_MAX {
        findings.find("long_line", file, number, length as u64);
    }
}

fn commit(payload: &Object) -> Result<Value, Failed> {
    let message = text(payload, "message")?;
    let mut findings: Vec<Object> = Vec::new();
    let mut find = |rule: &str, line: usize| {
        if findings.len() < FINDINGS_MAX {
            findings.push(Object::new().with("rule", rule).with("line", line as u64));
        }
    };
    let mut lines = message.lines();
    let subject = lines.next().unwrap_or_default();
    let rules = [
        ("subject_empty", subject.trim().is_empty()),
        ("subject_too_long", subject.chars().count() > 72),
        ("subject_ends_with_point", subject.ends_with('.')),
        ("subject_says_little", says_little(subject)),
    ];
    rules.iter().filter(|(_, broken)| *broken).for_each(|(rule, _)| find(rule, 1));
    for (index, line) in lines.enumerate().map(|(index, line)| (index + 2, line)) {
        if index == 2 && !line.trim().is_empty() {
            find("second_line_not_empty", 2);
        }
        // An address cannot be wrapped.
        if line.chars().count() > 120 && line.contains(' ') && !line.contains("://") {
            find("line_too_long", index);
        }
    }
    Ok(findings.into())
}

/// A subject that would fit any change.
fn says_little(subject: &str) -> bool {
    const EMPTY: [&str; 16] = [
        "fix", "fixed", "fixes", "bug", "stuff", "update", "updates", "updated", "change", "changes", "wip",
        "misc", "minor", "things", "some", "code",
    ];
    let mut words =
        subject.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| EMPTY.contains(&word.to_lowercase().as_str()))
}

//! Differences of two texts, line by line, and patches.

use super::Declared;
use super::myers::{Edit, edits};
use super::unified::{self, Kind};
use crate::skill::payload::{count_or, optional_text, output, text, unfit};
use crate::skill::{Failed, Fault};
use canon::{Object, Value};

const BEFORE: (&str, &str) = ("before", "the old text");
const AFTER: (&str, &str) = ("after", "the new text");

/// The skills of this family.
pub(super) const SKILLS: &[Declared] = &[
    Declared {
        name: "diff.lines",
        version: 1,
        description: "Compare two texts line by line with the fewest edits: which lines were added and removed, as \
                      data with line numbers, and how many stayed.",
        triggers: &["compare texts", "compare line by line", "added and removed lines"],
        needs: &[BEFORE, AFTER],
        takes: &[],
        examples: &[
            (
                r#"{"before":"a\nb\nc\n","after":"a\nc\nd\n"}"#,
                r#"{"kept":2,"removed":[{"line":2,"text":"b"}],"added":[{"line":3,"text":"d"}]}"#,
            ),
            (r#"{"before":"","after":""}"#, r#"{"kept":0,"removed":[],"added":[]}"#),
        ],
        run: lines,
    },
    Declared {
        name: "diff.unified",
        version: 1,
        description: "Write the changes from an old file to a new one as a unified diff (patch file) with context \
                      lines, as git diff and diff -u do.",
        triggers: &["unified diff", "make a patch", "git diff", "create patch"],
        needs: &[BEFORE, AFTER],
        takes: &[
            ("name", "name of the file in the header, one line; file when absent"),
            ("context", "lines of context, 0 to 100; 3 when absent"),
        ],
        examples: &[
            (
                r#"{"before":"a\nb\nc\n","after":"a\nx\nc","name":"f.txt","context":1}"#,
                r#""--- a/f.txt\n+++ b/f.txt\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n+x\n+c\n\\ No newline at end of file\n""#,
            ),
            (r#"{"before":"a\n","after":"a\n"}"#, r#""""#),
        ],
        run: write,
    },
    Declared {
        name: "diff.apply",
        version: 1,
        description: "Apply a patch (unified diff of one file) to a text; every context line has to match at exactly \
                      the line that the patch names, otherwise it is refused.",
        triggers: &["apply patch", "apply diff", "patch a file"],
        needs: &[("text", "the old text"), ("patch", "a unified diff of one file")],
        takes: &[],
        examples: &[
            (
                r#"{"text":"a\nb\nc\n","patch":"--- a/f\n+++ b/f\n@@ -2 +2,2 @@\n-b\n+x\n+y\n"}"#,
                r#""a\nx\ny\nc\n""#,
            ),
            (r#"{"text":"","patch":"@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n"}"#, r#""a""#),
        ],
        run: apply,
    },
];

/// Lines with their ends: a last line without one differs from the same line with one.
fn split<'a>(payload: &'a Object, name: &str) -> Result<Vec<&'a str>, Failed> {
    Ok(text(payload, name)?.split_inclusive('\n').collect())
}

fn shown(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

fn lines(payload: &Object) -> Result<Value, Failed> {
    let (before, after) = (split(payload, "before")?, split(payload, "after")?);
    let (mut old, mut new) = (0, 0);
    let (mut kept, mut removed, mut added) = (0_u64, Vec::new(), Vec::new());
    let row = |index: usize, line| Object::new().with("line", index as u64 + 1).with("text", shown(line));
    for edit in edits(&before, &after)? {
        match edit {
            Edit::Keep => kept += 1,
            Edit::Remove => removed.push(row(old, before[old])),
            Edit::Add => added.push(row(new, after[new])),
        }
        old += usize::from(edit != Edit::Add);
        new += usize::from(edit != Edit::Remove);
    }
    Ok(Object::new().with("kept", kept).with("removed", removed).with("added", added).into())
}

fn write(payload: &Object) -> Result<Value, Failed> {
    let (before, after) = (split(payload, "before")?, split(payload, "after")?);
    let context = count_or(payload, "context", 0..=100, 3)?;
    let name = optional_text(payload, "name")?.unwrap_or("file");
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(unfit("name", "is empty or has a control character"));
    }
    output(unified::write(&before, &after, &edits(&before, &after)?, name, context))
}

fn apply(payload: &Object) -> Result<Value, Failed> {
    let (old, patch) = (split(payload, "text")?, text(payload, "patch")?);
    let files = unified::read(patch)?;
    if files.len() > 1 {
        return Err(Failed::new(Fault::NotPatch, "it changes more than one file"));
    }
    let mut out = String::new();
    let mut at = 0;
    for hunk in files.iter().flat_map(|file| &file.hunks) {
        // A hunk without old lines stands after the line that it names.
        let first = if hunk.old.count == 0 { hunk.old.start } else { hunk.old.start.wrapping_sub(1) };
        let between = old.get(at..first).ok_or_else(|| mismatch(hunk.old.start, "there is no such place"))?;
        out.extend(between.iter().copied());
        at = first;
        for line in &hunk.lines {
            if line.kind != Kind::Add {
                let found = old.get(at).copied();
                if found.map(|found| (shown(found), found.ends_with('\n'))) != Some((line.text, line.ended)) {
                    return Err(mismatch(at + 1, "the line is another one"));
                }
                at += 1;
            }
            if line.kind != Kind::Remove {
                out.push_str(line.text);
                out.push_str(if line.ended { "\n" } else { "" });
            }
        }
    }
    let rest = &old[at..];
    if !rest.is_empty() && !out.is_empty() && !out.ends_with('\n') {
        return Err(mismatch(at, "a line without an end is followed by more lines"));
    }
    out.extend(rest.iter().copied());
    output(out)
}

fn mismatch(line: usize, why: &str) -> Failed {
    Failed::new(Fault::PatchMismatch, format!("line {line}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn payload(members: &[(&str, &str)]) -> Object {
        members.iter().fold(Object::new(), |object, (key, text)| object.with(key, *text))
    }

    proptest! {
        /// What is written is read back, applies, and gives the new text; the other way round it is refused or the
        /// texts are equal.
        #[test]
        fn a_written_diff_applies(before in "([abc]{0,1}\n){0,30}[ab]{0,1}", after in "([abc]{0,1}\n){0,30}[ab]{0,1}", context in 0_u64..4) {
            let texts = payload(&[("before", &before), ("after", &after)]).with("context", context);
            let patch = write(&texts).unwrap();
            let patch = patch.as_str().unwrap();
            let applied = apply(&payload(&[("text", &before), ("patch", patch)]));
            prop_assert_eq!(applied, Ok(Value::from(after.as_str())), "{}", patch);
        }
    }

    fn refused(text: &str, patch: &str) -> Fault {
        apply(&payload(&[("text", text), ("patch", patch)])).unwrap_err().fault
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let patch = "@@ -2 +2 @@\n-b\n+x\n";
        for text in ["a\nc\n", "a\n", "", "b\na\n", "a\nb"] {
            assert_eq!(refused(text, patch), Fault::PatchMismatch, "{text:?}");
        }
        assert_eq!(refused("a\nb\n", "@@ -2 +2 @@\n-b\n+x\n@@ -1 +1 @@\n-a\n+y\n"), Fault::PatchMismatch);
        assert_eq!(
            refused("a\nb\n", "@@ -1 +1 @@\n-a\n+y\n\\ No newline at end of file\n"),
            Fault::PatchMismatch
        );
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        let two = "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n--- c\n+++ d\n@@ -1 +1 @@\n-a\n+b\n";
        for patch in [
            "hello",
            "@@ -1 +1 @@\n-a\n",
            "@@ -1 +1 @@\n-a\n+b\n+c\n",
            "@@ 1 @@\n",
            "@@ -1 +1 @@\nxa\n",
            "@@ -1,99999999999999999999 +1 @@\n-a\n",
            two,
        ] {
            assert_eq!(refused("a\n", patch), Fault::NotPatch, "{patch:?}");
        }
    }
}

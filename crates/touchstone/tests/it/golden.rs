//! `touchstone golden`: what is hit, and what may change (L-2).

use super::conform::{A, Answer, B, Desk, TABLE};
use super::stage::touchstone;
use std::path::Path;
use std::process::Command;

#[test]
fn golden_check_says_hit_or_not() {
    let desk = Desk::pair(TABLE, A, B);
    desk.freeze(&["a.json"]);
    let check = |run: &str, case: &str| {
        desk.ask(&[
            "golden",
            "check",
            "--table",
            "fields.toml",
            "--golden",
            "golden.json",
            "--run",
            run,
            "--case",
            case,
        ])
        .code
    };
    assert_eq!((check("b.json", "a"), check("b.json", "b")), (0, 2));
    desk.edit("b.json", "\"x\"", "\"z\"");
    assert_eq!(check("b.json", "a"), 1);
}

/// Of several that freeze at once none loses what another froze.
#[test]
fn freezing_at_once_loses_nothing() {
    let desk = Desk::pair(TABLE, A, B);
    std::thread::scope(|scope| {
        for case in ["case-1", "case-2", "case-3", "case-4", "case-5", "case-6", "case-7", "case-8"] {
            let desk = &desk;
            scope.spawn(move || {
                let arguments =
                    ["golden", "freeze", "--table", "fields.toml", "--run", "a.json", "--out", "golden.json"];
                assert!(
                    desk.touchstone(&[&arguments, ["--case", case].as_slice()].concat()).status.success()
                );
            });
        }
    });
    let golden = std::fs::read_to_string(desk.root.path().join("golden.json")).unwrap();
    assert_eq!(golden.matches("\"case\":\"case-").count(), 8, "{golden}");
}

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn l_2_a_golden_file_changes_under_a_marked_title_only() {
    let desk = Desk::new(TABLE);
    let folder = desk.root.path();
    let commit = |title: &str| {
        git(folder, &["add", "-A"]);
        git(folder, &["commit", "-q", "--allow-empty", "-m", title]);
    };
    git(folder, &["init", "-q", "-b", "main"]);
    commit("start");
    let check = |range: &str| desk.ask(&["golden", "check", "--range", range]).code;
    desk.write("deep/golden-x.json", "1");
    commit("adds a golden file");
    assert_eq!(check("HEAD~1..HEAD"), 1);
    desk.write("deep/golden-x.json", "2");
    commit("kernel: other words [golden]");
    assert_eq!((check("HEAD~1..HEAD"), check("HEAD~2..HEAD")), (0, 0));
    desk.write("readme", "x");
    commit("something else");
    assert_eq!(check("HEAD~1..HEAD"), 0);
    desk.write("touchstone.toml", "golden = [\"frozen/other.json\"]\n");
    desk.write("frozen/other.json", "1");
    commit("a file that touchstone.toml lists");
    assert_eq!(check("HEAD~1..HEAD"), 1);
    git(folder, &["mv", "deep/golden-x.json", "deep/plain.json"]);
    commit("a golden file renamed away");
    assert_eq!(check("HEAD~1..HEAD"), 1);
    // The list counts as it was at either end, from anywhere inside the repository, and no option passes for a range.
    desk.write("frozen/other.json", "2");
    desk.write("touchstone.toml", "golden = []\n");
    commit("delisted and changed");
    assert_eq!(check("HEAD~1..HEAD"), 1);
    let inside = touchstone()
        .current_dir(folder.join("frozen"))
        .args(["golden", "check", "--range", "HEAD~1..HEAD"])
        .output()
        .unwrap();
    assert_eq!(inside.status.code(), Some(1));
    for range in ["--output=pwn..HEAD", "-Sx..HEAD", "HEAD~1:deep..HEAD:deep", "..HEAD", "HEAD~1.."] {
        let answer = desk.ask(&["golden", "check", &format!("--range={range}")]);
        assert_eq!((answer.code, answer.text("reason")), (1, "conform_git"), "{range}");
    }
    assert!(!folder.join("pwn").exists());
    for list in [
        "golden = \"frozen/other.json\"",
        "golden = [\"./frozen/other.json\"]",
        "golden = [\"frozen/*.json\"]",
        "golden = [",
    ] {
        desk.write("touchstone.toml", list);
        commit("a list that cannot be read");
        let answer = desk.ask(&["golden", "check", "--range", "HEAD~1..HEAD"]);
        assert_eq!((answer.code, answer.text("reason")), (1, "conform_documents"), "{list}");
    }
    desk.write("touchstone.toml", "");
    desk.write("Golden.JSON", "1");
    commit("first line\n[golden] second line");
    assert_eq!(
        desk.ask(&["golden", "check", "--range", "HEAD~1..HEAD"]).code,
        1,
        "the list before cannot be read"
    );
    commit("nothing");
    desk.write("Golden.JSON", "2");
    commit("first line\n[golden] second line");
    assert_eq!(check("HEAD~1..HEAD"), 1, "letters of any case, and the mark in the title only");
    desk.ask(&["golden", "check", "--range", "nowhere..HEAD"]).refused_range();
    desk.ask(&["golden", "check", "--range", "HEAD"]).refused_range();
}

impl Answer {
    fn refused_range(&self) {
        assert_eq!((self.code, self.text("reason")), (1, "conform_git"), "{}", self.stderr);
    }
}

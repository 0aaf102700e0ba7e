//! `touchstone golden`: what is hit, and what may change (L-2).

use super::conform::{A, Answer, B, Desk, TABLE};
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
    desk.ask(&["golden", "check", "--range", "nowhere..HEAD"]).refused_range();
    desk.ask(&["golden", "check", "--range", "HEAD"]).refused_range();
}

impl Answer {
    fn refused_range(&self) {
        assert_eq!((self.code, self.text("reason")), (1, "conform_git"), "{}", self.stderr);
    }
}

//! The demo shows what it measured.

use super::stage::{touchstone, verify};

#[test]
fn the_demo_refuses_the_liar_and_accepts_the_honest_agent() {
    let root = tempfile::tempdir().unwrap();
    let keep = root.path().join("keep");
    let output = touchstone().args(["demo", "--keep"]).arg(&keep).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for said in
        ["REFUSED (visible_fail)", "exit code    20", "1 of 2", "ACCEPTED (visible_pass)", "2 of 2", "not 6"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    for act in ["liar", "honest"] {
        let (verdict, code, answer) = verify(&keep.join(format!("receipts-{act}")));
        assert_eq!((verdict.as_str(), code), ("OK", Some(0)));
        let chain = &vectors::list(&vectors::list(&answer, "runs")[0], "chains")[0];
        assert!(text.contains(vectors::text(chain, "head")), "the head on screen is the chain's");
    }
    let again = touchstone().args(["demo", "--keep"]).arg(&keep).output().unwrap();
    assert_eq!(again.status.code(), Some(64), "a used folder is refused");
}

/// It needs the binary and a POSIX shell, nothing else.
#[test]
fn the_demo_works_without_python() {
    let bin = tempfile::tempdir().unwrap();
    for tool in ["sh", "cat"] {
        std::os::unix::fs::symlink(format!("/bin/{tool}"), bin.path().join(tool)).unwrap();
    }
    let output = touchstone().arg("demo").env("PATH", bin.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("got 5, not 6"), "{text}");
}

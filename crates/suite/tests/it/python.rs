//! The real interpreter as the other side of a comparison.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The interpreter of the tests, or a loud skip. `TOUCHSTONE_TEST_PYTHON` names another than `python3`.
pub(crate) fn interpreter(test: &str) -> Option<PathBuf> {
    let asked = std::env::var_os("TOUCHSTONE_TEST_PYTHON").unwrap_or_else(|| "python3".into());
    let answer = Command::new(asked).args(["-c", "import sys; print(sys.executable)"]).output();
    match answer {
        Ok(answer) if answer.status.success() => {
            Some(PathBuf::from(String::from_utf8(answer.stdout).unwrap().trim()))
        }
        _ => {
            vectors::skip(test, "no python3");
            None
        }
    }
}

/// What a script of the repository prints for the lines `input`.
pub(crate) fn run(python: &PathBuf, script: &str, args: &[&str], input: Vec<String>) -> Vec<String> {
    let script = vectors::repository().join(script);
    let mut child = Command::new(python)
        .args(["-I", "-B"])
        .arg(script)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Both pipes at once: a full one must not stop the other.
    let writer = std::thread::spawn(move || {
        for line in input {
            stdin.write_all(line.as_bytes()).unwrap();
            stdin.write_all(b"\n").unwrap();
        }
    });
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().collect::<Result<_, _>>().unwrap();
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
    lines
}

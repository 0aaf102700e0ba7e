//! What a failing check printed, for the person who has to find out why.

use super::places::Places;
use crate::supervise::Captured;

/// Bytes of each stream that are kept.
const TAIL_BYTES: usize = 4000;
/// Lines that are shown.
const LINES_MAX: usize = 6;
/// Characters of a line that are shown.
const LINE_CHARS_MAX: usize = 200;

/// The ends of both streams of one check, as they came.
#[derive(Debug, Default)]
pub(super) struct Printed {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// Standard output is the report, and is told as one.
    pub(super) stdout_is_report: bool,
}

impl Printed {
    pub(super) fn of(stdout: &Captured, stderr: &Captured) -> Printed {
        // Twice as much: what replaces a path is shorter than the path.
        let end = |stream: &Captured| {
            let mut bytes = stream.bytes();
            bytes.drain(..bytes.len().saturating_sub(2 * TAIL_BYTES));
            bytes
        };
        Printed { stdout: end(stdout), stderr: end(stderr), stdout_is_report: false }
    }

    pub(super) fn stdout_tail(&self, places: &Places) -> String {
        tail(&self.stdout, places)
    }

    pub(super) fn stderr_tail(&self, places: &Places) -> String {
        tail(&self.stderr, places)
    }

    /// The last lines of standard error, or of standard output where that is empty and not the report.
    pub(super) fn last_lines(&self, places: &Places) -> Vec<String> {
        let lines = |stream: &str, text: &str| -> Vec<String> {
            let all: Vec<&str> =
                text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
            let last = &all[all.len().saturating_sub(LINES_MAX)..];
            let clipped = |line: &&str| line.chars().take(LINE_CHARS_MAX).collect::<String>();
            last.iter().map(|line| format!("{stream}: {}", clipped(line))).collect()
        };
        let stderr = lines("stderr", &self.stderr_tail(places));
        if stderr.is_empty() && !self.stdout_is_report {
            return lines("stdout", &self.stdout_tail(places));
        }
        stderr
    }
}

fn tail(bytes: &[u8], places: &Places) -> String {
    let text = places.without(&String::from_utf8_lossy(bytes));
    let mut start = text.len().saturating_sub(TAIL_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(stdout: &str, stderr: &[u8]) -> Printed {
        Printed { stdout: stdout.into(), stderr: stderr.to_vec(), stdout_is_report: false }
    }

    #[test]
    fn tails_are_bounded_and_text() {
        let places = Places::default();
        let long = printed("", &"é\n".repeat(3000).into_bytes());
        assert!(long.stderr_tail(&places).len() <= TAIL_BYTES);
        assert_eq!(printed("", b"a\xff").stderr_tail(&places), "a\u{fffd}");
    }

    #[test]
    fn standard_error_first() {
        let places = Places::default();
        let said = printed("out", b"1\n2\n\n3\n4\n5\n6\n7\n").last_lines(&places);
        assert_eq!((said.len(), said[0].as_str()), (6, "stderr: 2"));
        assert_eq!(printed("out\n", b" \n").last_lines(&places), ["stdout: out"]);
        let report = Printed { stdout_is_report: true, ..printed("ok 1", b"") };
        assert!(report.last_lines(&places).is_empty());
    }
}

//! Words on the terminal: colour only where a person looks, errors that say what, where and what to do.

use indicatif::ProgressBar;
use std::cell::RefCell;
use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How a word is coloured.
#[derive(Clone, Copy)]
pub(crate) enum Tone {
    /// It holds.
    Good,
    /// It does not.
    Bad,
    /// Look here.
    Warn,
    /// Less important.
    Quiet,
}

/// Colours `text` when standard output is a terminal and `NO_COLOR` is not set.
pub(crate) fn paint(text: &str, tone: Tone) -> String {
    if !std::io::stdout().is_terminal() || std::env::var_os("NO_COLOR").is_some() {
        return text.to_owned();
    }
    let code = match tone {
        Tone::Good => "32",
        Tone::Bad => "31",
        Tone::Warn => "33",
        Tone::Quiet => "2",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// A moving line on standard error for work that takes longer than a second; nothing where nobody watches.
#[derive(Default)]
pub(crate) struct Busy(RefCell<Option<ProgressBar>>);

impl Busy {
    /// Shows `words`, or nothing.
    pub(crate) fn with(&self, words: Option<&'static str>) {
        if let Some(bar) = self.0.take() {
            bar.finish_and_clear();
        }
        if let Some(words) = words.filter(|_| std::io::stderr().is_terminal()) {
            let bar = ProgressBar::new_spinner().with_message(words);
            // The first tick comes after this long: short work shows nothing.
            bar.enable_steady_tick(Duration::from_secs(1));
            self.0.replace(Some(bar));
        }
    }
}

/// Whether something could not be written to standard output.
static LOST: AtomicBool = AtomicBool::new(false);

/// One line on standard output. A reader that went away (`| head`) is no error; a full disk is.
pub(crate) fn line(text: &str) {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => LOST.store(true, Ordering::Relaxed),
        _ => {}
    }
}

/// The exit code, which is not that of success when the answer was lost.
pub(crate) fn heard(code: u8) -> u8 {
    let flushed = std::io::stdout().flush();
    let gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    let lost = flushed.is_err_and(|error| !gone(&error)) || LOST.load(Ordering::Relaxed);
    if lost && code == crate::exit::OK {
        let _ = writeln!(
            std::io::stderr().lock(),
            "touchstone: the answer could not be written to standard output"
        );
        return crate::exit::FAILED;
    }
    code
}

/// Columns of everything that people read.
pub(crate) const COLUMNS: usize = 80;

/// `text` behind `head`, wrapped at [`COLUMNS`] with the lines that follow indented as far as `head` reaches. A word
/// that is too long for any line (a path, a digest) stays whole, so that it can be copied.
pub(crate) fn hanging(head: &str, text: &str) -> String {
    let indent = width(head);
    let mut lines = vec![head.to_owned()];
    let mut used = indent;
    for (index, word) in text.split(' ').enumerate() {
        let wide = width(word);
        if used > indent && used + 1 + wide > COLUMNS {
            lines.push(" ".repeat(indent));
            used = indent;
        } else if index > 0 {
            if let Some(last) = lines.last_mut() {
                last.push(' ');
            }
            used += 1;
        }
        if let Some(last) = lines.last_mut() {
            last.push_str(word);
        }
        used += wide;
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

/// How many columns a text takes; colour codes take none.
fn width(text: &str) -> usize {
    let mut inside = false;
    text.chars()
        .filter(|&char| {
            let counts = !inside && char != '\x1b';
            inside = char == '\x1b' || (inside && char != 'm');
            counts
        })
        .count()
}

/// The rule between what a child printed on the same stream and what is ours. A child may have left its line
/// unfinished and a terminal coloured.
pub(crate) fn rule(title: &str) {
    let reset = if std::io::stdout().is_terminal() { "\x1b[0m" } else { "" };
    let head = format!("── {title} ");
    let rest = "─".repeat(COLUMNS.saturating_sub(width(&head)));
    line(&format!("{reset}\n{head}{rest}"));
}

/// The time now, as reports have it: seconds since 1970.
pub(crate) fn now_text() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    since.as_secs().to_string()
}

/// A usage error: what was wrong and what to do.
pub(crate) fn usage(text: &str) -> u8 {
    note(text);
    crate::exit::USAGE
}

/// A word beside the answer, on standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "touchstone: {text}");
}

/// What could not be done, where, and what to do, on standard error.
pub(crate) fn refused(said: &str, hint: &str) {
    let mut out = std::io::stderr().lock();
    let _ = writeln!(out, "touchstone: {said}\n  {hint}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_hang_and_long_words_stay_whole() {
        let path = "/".repeat(100);
        let text = format!("{} {path} end", "word ".repeat(20).trim_end());
        let shown = hanging("  failed    ", &text);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[0].starts_with("  failed    word") && lines[0].len() <= COLUMNS, "{shown}");
        assert!(lines[1].starts_with("            word"), "{shown}");
        assert!(lines.iter().any(|line| line.trim() == path), "{shown}");
        assert_eq!(shown.split_whitespace().skip(1).collect::<Vec<_>>().join(" "), text);
    }

    #[test]
    fn spaces_stay_and_colours_take_no_room() {
        assert_eq!(hanging("  ", "a  b"), "  a  b");
        assert_eq!(hanging("", ""), "");
        assert_eq!(width("\x1b[31mred\x1b[0m"), 3);
    }
}

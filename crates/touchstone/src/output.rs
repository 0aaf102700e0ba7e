//! Words on the terminal: colour only where a person looks, errors that say what, where and what to do.

use indicatif::ProgressBar;
use std::cell::RefCell;
use std::io::{IsTerminal as _, Write as _};
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

/// One line on standard output. A reader that went away (`| head`) is no error.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// A usage error: what was wrong and what to do.
pub(crate) fn usage(text: &str) -> u8 {
    let _ = writeln!(std::io::stderr().lock(), "touchstone: {text}");
    crate::exit::USAGE
}

//! Patterns of Python's `re` on an engine of ours.
//!
//! The differences that could answer otherwise are translated: `$` and `\Z`, brackets and doubled signs inside a class. A
//! pattern that the engine does not know is refused when it is compiled. What remains: `\w` also takes combining marks.

use super::CheckError;
use fancy_regex::{Regex, RegexBuilder};

/// Steps of backtracking before a search is given up.
const STEPS_MAX: usize = 1_000_000;

/// A compiled pattern. The dot matches line ends.
#[derive(Debug)]
pub struct Pattern(Regex);

impl Pattern {
    pub(super) fn new(pattern: &str, ignore_case: bool) -> Result<Pattern, CheckError> {
        let flags = if ignore_case { "(?si)" } else { "(?s)" };
        let translated = format!("{flags}{}", translated(pattern)?);
        let regex = RegexBuilder::new(&translated).backtrack_limit(STEPS_MAX).build();
        regex.map(Pattern).map_err(|error| CheckError::Pattern(error.to_string()))
    }

    /// Whether the pattern is found somewhere in `text`; nothing when the search was given up.
    pub(super) fn found_in(&self, text: &str) -> Option<bool> {
        self.0.is_match(text).ok()
    }
}

/// The pattern as the engine means it.
fn translated(pattern: &str) -> Result<String, CheckError> {
    let mut out = String::new();
    let mut chars = pattern.chars().peekable();
    // Inside a class: how many characters of it were read.
    let mut class: Option<usize> = None;
    while let Some(ch) = chars.next() {
        match (ch, class) {
            ('\\', _) => {
                let next =
                    chars.next().ok_or_else(|| CheckError::Pattern("a backslash at the end".to_owned()))?;
                out.push('\\');
                out.push(if next == 'Z' { 'z' } else { next });
                class = class.map(|count| count + 1);
            }
            ('[', None) => {
                out.push('[');
                if chars.peek() == Some(&'^') {
                    out.extend(chars.next());
                }
                class = Some(0);
            }
            // A bracket that comes first is a member.
            (']', Some(count)) if count > 0 => {
                out.push(']');
                class = None;
            }
            ('[' | ']' | '&' | '~', Some(count)) => {
                out.push('\\');
                out.push(ch);
                class = Some(count + 1);
            }
            (_, Some(count)) => {
                out.push(ch);
                class = Some(count + 1);
            }
            // Before the last line end as well as at the end.
            ('$', None) => out.push_str(r"(?=\n?\z)"),
            ('(', None) if chars.peek() == Some(&'?') => {
                out.push('(');
                let flags: String = chars.clone().skip(1).take_while(char::is_ascii_alphabetic).collect();
                // `$` would mean something else, and so would `#` in a pattern with comments.
                if flags.contains(['m', 'x', 'L', 'a']) {
                    return Err(CheckError::Pattern("flags m, x, a and L are not supported".to_owned()));
                }
            }
            _ => out.push(ch),
        }
    }
    Ok(out)
}

//! One line of TAP.

/// What follows the `#` of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    Skip,
    Todo,
}

/// A test point.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) ok: bool,
    /// Saturated if it does not fit: such a number is out of any range.
    pub(super) number: Option<u64>,
    /// Unescaped, without the leading dash.
    pub(super) description: String,
    pub(super) directive: Option<(Directive, String)>,
}

/// A line without its indentation.
#[derive(Debug)]
pub(super) enum Line<'a> {
    Version(&'a str),
    Plan { count: u64, comment: &'a str },
    Point(Point),
    BailOut(&'a str),
    Strict(bool),
    Comment,
    Other,
}

/// Splits a line into the width of its indentation (a tab is four wide) and the rest, without trailing blanks.
pub(super) fn indentation(raw: &str) -> (usize, &str) {
    let text = raw.trim_start_matches([' ', '\t']);
    let width = raw[..raw.len() - text.len()].bytes().map(|byte| if byte == b'\t' { 4 } else { 1 }).sum();
    (width, text.trim_end())
}

/// Says what a line is. Lines that are no TAP are [`Line::Other`].
pub(super) fn parse(text: &str) -> Line<'_> {
    if text.starts_with('#') {
        return Line::Comment;
    }
    if let Some(version) = text.strip_prefix("TAP version ") {
        return Line::Version(version.trim());
    }
    if text.get(..9).is_some_and(|head| head.eq_ignore_ascii_case("bail out!")) {
        return Line::BailOut(&text[9..]);
    }
    if let Some(key) = text.strip_prefix("pragma ") {
        return match key.trim() {
            "+strict" => Line::Strict(true),
            "-strict" => Line::Strict(false),
            _ => Line::Comment,
        };
    }
    plan(text).or_else(|| point(text).map(Line::Point)).unwrap_or(Line::Other)
}

fn plan(text: &str) -> Option<Line<'_>> {
    let (count, rest) = digits(text.strip_prefix("1..")?)?;
    if !rest.is_empty() && !rest.starts_with([' ', '\t', '#']) {
        return None;
    }
    let comment = rest.trim_start().trim_start_matches('#').trim();
    let without_word = comment
        .get(..4)
        .filter(|word| word.eq_ignore_ascii_case("skip"))
        .map(|_| comment.trim_start_matches(|c: char| !c.is_whitespace()));
    Some(Line::Plan { count, comment: without_word.unwrap_or(comment).trim() })
}

fn point(text: &str) -> Option<Point> {
    let (ok, rest) = result(text)?;
    let (number, rest) = match digits(rest.trim_start()) {
        Some((number, after)) if !after.starts_with(is_word) => (Some(number), after),
        _ => (None, rest),
    };
    let (description, directive) = split_directive(rest, ok);
    let description = description.trim();
    let description = match description.strip_prefix('-') {
        Some(after) if after.is_empty() || after.starts_with([' ', '\t']) => after.trim_start(),
        _ => description,
    };
    Some(Point { ok, number, description: unescape(description), directive })
}

/// The result word and what follows it. `not ok` is recognised before any character that ends a word, `ok` only
/// before a blank: where a line is in doubt, a failure is read and a pass is not.
fn result(text: &str) -> Option<(bool, &str)> {
    if let Some(rest) = text.strip_prefix("ok") {
        return (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some((true, rest));
    }
    let rest = text.strip_prefix("not")?;
    let rest = rest.trim_start_matches([' ', '\t']).strip_prefix("ok").filter(|_| !rest.starts_with('o'))?;
    (!rest.starts_with(is_word)).then_some((false, rest))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Leading decimal digits as a number, saturated, and the rest.
fn digits(text: &str) -> Option<(u64, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    if digits.is_empty() {
        return None;
    }
    Some((digits.parse().unwrap_or(u64::MAX), rest))
}

/// Splits a point's text at its directive.
///
/// Only the first `#` between blanks may excuse a failing point; a passing one is also skipped by a later one, since
/// there the harmless reading is "not passed".
fn split_directive(text: &str, ok: bool) -> (&str, Option<(Directive, String)>) {
    let bytes = text.as_bytes();
    let is_blank = |at: usize| matches!(bytes.get(at), Some(b' ' | b'\t'));
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'\\' {
            at += 2;
            continue;
        }
        if bytes[at] == b'#' && at > 0 && is_blank(at - 1) && is_blank(at + 1) {
            if let Some(directive) = directive(text[at + 1..].trim_start()) {
                return (&text[..at], Some(directive));
            }
            if !ok {
                break;
            }
        }
        at += 1;
    }
    (text, None)
}

fn directive(text: &str) -> Option<(Directive, String)> {
    let (word, rest) = text.split_at_checked(4)?;
    if word.eq_ignore_ascii_case("todo") && !rest.starts_with(is_word) {
        return Some((Directive::Todo, rest.trim_start_matches([':', ' ', '\t']).to_owned()));
    }
    if word.eq_ignore_ascii_case("skip") {
        // "skipped:", "SKIPPING" and the like are written too.
        let reason = rest.trim_start_matches(|c: char| !c.is_whitespace()).trim_start();
        return Some((Directive::Skip, reason.to_owned()));
    }
    None
}

/// `\#` and `\\` as TAP 14 has them; any other backslash is itself.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(&next @ ('\\' | '#'))) => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

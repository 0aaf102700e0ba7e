//! Paths of a field table: segments from the outermost to the innermost, list elements transparent (ruling 23).
//!
//! A path matches a field when it is the end of the field's own path: `cost` matches every `cost`, `steps.cost` every
//! `cost` that is a member of an object in `steps`. `$` stands for the document and ties a path to its top.

use std::fmt;

/// One segment of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    /// `$`, the document itself; first only.
    Root,
    /// A key.
    Key(String),
    /// `*`, any one key.
    Any,
}

/// A path as a field table writes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern(Vec<Segment>);

impl Pattern {
    /// Reads `a`, `a.b`, `a.*.c`, `$.a`, `$`; a key with a dot, a star, a quote or a leading `$` stands in single
    /// quotes, a quote inside is doubled.
    pub fn parse(text: &str) -> Option<Pattern> {
        let mut segments = Vec::new();
        let mut rest = text;
        loop {
            let (segment, after) = match rest.strip_prefix('\'') {
                Some(quoted) => quoted_key(quoted)?,
                None => {
                    let end = rest.find('.').unwrap_or(rest.len());
                    (plain_segment(&rest[..end], segments.is_empty())?, &rest[end..])
                }
            };
            segments.push(segment);
            match after.strip_prefix('.') {
                Some(next) => rest = next,
                None if after.is_empty() => return Some(Pattern(segments)),
                None => return None,
            }
        }
    }

    /// The pattern of exactly this path.
    pub fn of(keys: &[impl AsRef<str>]) -> Pattern {
        let keys = keys.iter().map(|key| Segment::Key(key.as_ref().to_owned()));
        Pattern(std::iter::once(Segment::Root).chain(keys).collect())
    }

    /// Whether the pattern is the end of a path that begins at the document.
    pub(crate) fn matches(&self, keys: &[&str]) -> bool {
        let (anchored, segments) = match self.0.split_first() {
            Some((Segment::Root, rest)) => (true, rest),
            _ => (false, self.0.as_slice()),
        };
        let Some(from) = keys.len().checked_sub(segments.len()) else { return false };
        if anchored && from > 0 {
            return false;
        }
        segments.iter().zip(&keys[from..]).all(|(segment, key)| match segment {
            Segment::Key(name) => name == key,
            _ => true,
        })
    }

    /// What decides between two patterns that match: length, then literal segments.
    pub(crate) fn rank(&self) -> (usize, usize) {
        (self.0.len(), self.0.iter().filter(|segment| **segment != Segment::Any).count())
    }

    /// Whether some path matches both and neither is the better match.
    pub(crate) fn ties_with(&self, other: &Pattern) -> bool {
        let compatible = |(a, b): (&Segment, &Segment)| match (a, b) {
            (Segment::Any, Segment::Root) | (Segment::Root, Segment::Any) => false,
            (Segment::Any, _) | (_, Segment::Any) => true,
            (a, b) => a == b,
        };
        self.rank() == other.rank() && self.0.iter().zip(&other.0).all(compatible)
    }

    /// The last key, if the last segment is one.
    pub(crate) fn last_key(&self) -> Option<&str> {
        match self.0.last() {
            Some(Segment::Key(key)) => Some(key),
            _ => None,
        }
    }

    /// Whether this is the document itself.
    pub(crate) fn is_root(&self) -> bool {
        self.0 == [Segment::Root]
    }

    /// This path and then another one; a second path that begins at the document has no place there.
    pub(crate) fn join(mut self, inner: Pattern) -> Option<Pattern> {
        if inner.0.first() == Some(&Segment::Root) {
            return None;
        }
        self.0.extend(inner.0);
        Some(self)
    }
}

/// The spelling that [`Pattern::parse`] reads.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            match segment {
                Segment::Root => f.write_str("$")?,
                Segment::Any => f.write_str("*")?,
                Segment::Key(key) if is_plain(key) => f.write_str(key)?,
                Segment::Key(key) => write!(f, "'{}'", key.replace('\'', "''"))?,
            }
        }
        Ok(())
    }
}

/// A path of a document as people and tables read it, without the leading `$`.
pub(crate) fn shown_path(keys: &[&str]) -> String {
    if keys.is_empty() {
        return "$".to_owned();
    }
    let pattern = Pattern::of(keys).to_string();
    pattern.strip_prefix("$.").unwrap_or(&pattern).to_owned()
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && !key.starts_with('$') && !key.contains(['.', '*', '\''])
}

fn plain_segment(text: &str, first: bool) -> Option<Segment> {
    match text {
        "*" => Some(Segment::Any),
        "$" if first => Some(Segment::Root),
        key if is_plain(key) => Some(Segment::Key(key.to_owned())),
        _ => None,
    }
}

/// A key after its opening quote, and what follows the closing one.
fn quoted_key(text: &str) -> Option<(Segment, &str)> {
    let mut key = String::new();
    let mut rest = text;
    loop {
        let at = rest.find('\'')?;
        key.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.strip_prefix('\'') {
            Some(after) => {
                key.push('\'');
                rest = after;
            }
            None => return Some((Segment::Key(key), rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_and_written() {
        for text in ["a", "a.b", "*.a", "$", "$.a.*", "'a.b'.c", "'it''s'", "''", "'$x'"] {
            assert_eq!(Pattern::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "a.", ".a", "a..b", "a.$", "'a", "'a'b", "a*", "$x"] {
            assert_eq!(Pattern::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_pattern_is_the_end_of_a_path() {
        let matches = |pattern: &str, keys: &[&str]| Pattern::parse(pattern).unwrap().matches(keys);
        assert!(matches("c", &["a", "b", "c"]) && matches("b.c", &["a", "b", "c"]));
        assert!(matches("*.c", &["b", "c"]) && !matches("*.c", &["c"]));
        assert!(matches("$.c", &["c"]) && !matches("$.c", &["b", "c"]));
        assert!(matches("$", &[]) && !matches("$", &["a"]));
    }

    #[test]
    fn ties_are_two_paths_of_one_rank_that_can_meet() {
        let ties = |a: &str, b: &str| Pattern::parse(a).unwrap().ties_with(&Pattern::parse(b).unwrap());
        assert!(ties("a.*", "*.b") && !ties("a.*", "b.*") && !ties("a.b", "a.*"));
        assert!(!ties("$.a.*", "*.a.b") && !ties("$.a", "*.a"));
    }
}

//! L3: danger patterns are data (`danger.toml`), found in one pass over normalised text (K-2).

use super::normalise::{Normal, Reading};
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::borrow::Cow;
use toml::de::{DeTable, DeValue};
use verdict::Action;

/// The patterns as written.
pub const DANGER: &str = include_str!("danger.toml");

/// Most bytes that ` ... ` in a spelling stands for.
const GAP_MAX: usize = 200;

/// One pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The reason code.
    pub id: &'static str,
    /// Block or advise.
    pub action: Action,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// Spellings as written; any one is enough.
    pub spell: Vec<&'static str>,
    before: Edge,
    after: Edge,
    unless: Vec<&'static str>,
}

/// What may not stand at an edge of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Any,
    Word,
    Name,
    Path,
}

/// Where a pattern was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Index of the pattern.
    pub pattern: usize,
    /// Index of the spelling in the pattern.
    pub spelling: usize,
    /// Offset of the hit in the normalised text.
    pub at: usize,
}

/// A text that the automaton looks for: a spelling, or one part of it.
#[derive(Clone, Copy, Debug)]
struct Needle {
    pattern: usize,
    spelling: usize,
    part: Part,
    len: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    /// First part of the spelling with this place in [`Danger::first_seen`].
    First(usize),
    Second(usize),
}

/// Every pattern, ready to be sought.
#[derive(Clone, Debug)]
pub struct Danger {
    patterns: Vec<Pattern>,
    needles: Vec<Needle>,
    automaton: AhoCorasick,
    pairs: usize,
}

impl Danger {
    /// The patterns of `danger.toml`.
    ///
    /// # Errors
    /// What is wrong with the file; a test proves that it is read.
    pub fn builtin() -> Result<Danger, String> {
        Danger::new(patterns()?)
    }

    fn new(patterns: Vec<Pattern>) -> Result<Danger, String> {
        let (mut needles, mut texts, mut pairs) = (Vec::new(), Vec::new(), 0);
        for (pattern, entry) in patterns.iter().enumerate() {
            for (spelling, text) in entry.spell.iter().enumerate() {
                let mut add = |text: &str, part: Part| {
                    let text = normal_spelling(text);
                    needles.push(Needle { pattern, spelling, part, len: text.len() });
                    texts.push(text);
                };
                match text.split_once(" ... ") {
                    None => add(text, Part::Whole),
                    Some((first, second)) => {
                        add(first, Part::First(pairs));
                        add(second, Part::Second(pairs));
                        pairs += 1;
                    }
                }
            }
        }
        if let Some(empty) = texts.iter().position(Vec::is_empty) {
            return Err(format!("{}: a spelling is empty", patterns[needles[empty].pattern].id));
        }
        // A deterministic automaton: one table look-up a byte, no matter what the text is.
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .match_kind(MatchKind::Standard)
            .prefilter(false)
            .build(&texts)
            .map_err(|error| error.to_string())?;
        Ok(Danger { patterns, needles, automaton, pairs })
    }

    /// The patterns, in the order of the file.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Adds every hit in `text` to `hits`: each pattern at most once, at its first place.
    pub fn find(&self, text: &Normal, scratch: &mut Seen, hits: &mut Vec<Hit>) {
        scratch.first.clear();
        scratch.first.resize(self.pairs, None);
        for found in self.automaton.find_overlapping_iter(&text.bytes) {
            let needle = self.needles[found.pattern().as_usize()];
            let pattern = &self.patterns[needle.pattern];
            let starts = found.start();
            let at = match needle.part {
                Part::First(pair) => {
                    if pattern.may_begin(text, starts) {
                        scratch.first[pair] = Some((starts, found.end()));
                    }
                    continue;
                }
                Part::Whole if pattern.may_begin(text, starts) => starts,
                Part::Whole => continue,
                Part::Second(pair) => match scratch.first[pair] {
                    Some((at, end)) if near(&text.bytes, end, starts) => at,
                    _ => continue,
                },
            };
            let known = hits.iter().any(|hit| hit.pattern == needle.pattern);
            if !known && pattern.may_end(text, starts + needle.len) {
                hits.push(Hit { pattern: needle.pattern, spelling: needle.spelling, at });
            }
        }
    }
}

/// Room that [`Danger::find`] uses again.
#[derive(Debug, Default)]
pub struct Seen {
    first: Vec<Option<(usize, usize)>>,
}

fn near(text: &[u8], end: usize, starts: usize) -> bool {
    starts >= end && starts - end <= GAP_MAX && !text[end..starts].contains(&0)
}

impl Pattern {
    fn may_begin(&self, text: &Normal, at: usize) -> bool {
        let before = &text.bytes[..at];
        let free = before.last().is_none_or(|byte| self.before.allows(*byte)) || text.is_gap(at);
        // Behind a definition the name is made, not called.
        free && !self.unless.iter().any(|word| before.ends_with(word.as_bytes()))
    }

    fn may_end(&self, text: &Normal, end: usize) -> bool {
        text.bytes.get(end).is_none_or(|byte| self.after.allows(*byte))
    }
}

impl Edge {
    fn allows(self, byte: u8) -> bool {
        let word = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        match self {
            Edge::Any => true,
            Edge::Word => !word,
            Edge::Name => !word && !matches!(byte, b'.' | b'$'),
            Edge::Path => !word && !matches!(byte, b'/' | b'.' | b'-' | b'~' | b'$' | b'*'),
        }
    }

    fn read(word: Option<&str>) -> Result<Edge, String> {
        match word {
            None | Some("any") => Ok(Edge::Any),
            Some("word") => Ok(Edge::Word),
            Some("name") => Ok(Edge::Name),
            Some("path") => Ok(Edge::Path),
            Some(other) => Err(format!("an edge is called {other}")),
        }
    }
}

fn normal_spelling(text: &str) -> Vec<u8> {
    let mut normal = Normal::default();
    // A leading blank of the second part would be dropped by the normaliser; no spelling has one.
    normal.push(text, Reading::Joined);
    normal.bytes.pop();
    normal.bytes
}

/// Reads `danger.toml`. Texts are slices of the file, so that codes are `'static` as all others.
fn patterns() -> Result<Vec<Pattern>, String> {
    let table = DeTable::parse(DANGER).map_err(|error| error.to_string())?;
    let Some(DeValue::Array(entries)) = table.get_ref().get("pattern").map(|value| value.get_ref()) else {
        return Err("there is no pattern".to_owned());
    };
    entries.iter().map(|entry| pattern(entry.get_ref())).collect()
}

fn pattern(entry: &DeValue<'static>) -> Result<Pattern, String> {
    let DeValue::Table(entry) = entry else { return Err("a pattern is no table".to_owned()) };
    let member = |name: &str| entry.get(name).map(|value| value.get_ref());
    let known = ["id", "spell", "before", "after", "action", "unless", "meaning"];
    if let Some(key) = entry.keys().find(|key| !known.contains(&key.get_ref().as_ref())) {
        return Err(format!("unknown member {}", key.get_ref()));
    }
    let optional = |name: &str| member(name).map(text).transpose();
    let required = |name: &str| optional(name)?.ok_or_else(|| format!("a pattern lacks {name}"));
    Ok(Pattern {
        id: required("id")?,
        action: match required("action")? {
            "block" => Action::Block,
            "advise" => Action::Advise,
            other => return Err(format!("an action is called {other}")),
        },
        meaning: required("meaning")?,
        spell: member("spell").map(texts).transpose()?.unwrap_or_default(),
        before: Edge::read(optional("before")?)?,
        after: Edge::read(optional("after")?)?,
        unless: member("unless").map(texts).transpose()?.unwrap_or_default(),
    })
}

fn text(value: &DeValue<'static>) -> Result<&'static str, String> {
    match value {
        DeValue::String(Cow::Borrowed(text)) => Ok(text),
        _ => Err("a text is none, or has an escape".to_owned()),
    }
}

fn texts(value: &DeValue<'static>) -> Result<Vec<&'static str>, String> {
    let DeValue::Array(items) = value else { return Err("a list is none".to_owned()) };
    items.iter().map(|item| text(item.get_ref())).collect()
}

//! The declarative part of a scenario: what it claims, in words that a lint can hold to account (GD-06).
//!
//! One statement a line; a line that begins with a blank goes on with the one above it, `#` begins a comment.
//!
//! ```text
//! claim: No channel crosses the failure boundary, and the longest interval stays
//!   below K.regulation.max_service_interval.
//! threshold switches: 4 per 120 ticks
//! threshold difference: 0.15
//! threshold window: K.task.stable_window
//! allow V07.3: 2
//! bind limited: K.task.class_budget
//! field: safety.mode
//! ```

use std::collections::BTreeMap;

/// What a threshold or a bound word stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A whole number, or a decimal in µ (`0.15` is 150 000, GD-01), and the words behind it.
    Number(i64, String),
    /// A constant of the registry, without its `K.`.
    Constant(String),
}

/// The statements of a header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// What is claimed, in words.
    pub claims: Vec<String>,
    /// Thresholds of the gate, by name.
    pub thresholds: BTreeMap<String, Bound>,
    /// How many failures of a check are allowed. What is not here is 0 (RC-SEE-05).
    pub allowed: BTreeMap<String, u64>,
    /// Words that would be vague, and what they are bound to; nothing where the binding says no number and no constant.
    pub bindings: BTreeMap<String, Option<Bound>>,
    /// `module.field` that the gate looks at (RC-LNT-04).
    pub fields: Vec<String>,
}

/// A line that is no statement, and its number from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine(pub usize, pub String);

impl Header {
    /// Reads a header.
    ///
    /// # Errors
    /// Every line that is no statement, or says again what was said.
    pub fn parse(text: &str) -> Result<Header, Vec<BadLine>> {
        let mut header = Header::default();
        let mut bad = Vec::new();
        for (number, statement) in statements(text) {
            if header.take(&statement).is_none() {
                bad.push(BadLine(number, statement));
            }
        }
        if bad.is_empty() { Ok(header) } else { Err(bad) }
    }

    /// The number of a threshold that is written as one.
    pub fn number(&self, threshold: &str) -> Option<i64> {
        match self.thresholds.get(threshold)? {
            Bound::Number(number, _) => Some(*number),
            Bound::Constant(_) => None,
        }
    }

    /// Allowed failures of a check.
    pub fn allowed(&self, check: &str) -> u64 {
        self.allowed.get(check).copied().unwrap_or_default()
    }

    fn take(&mut self, statement: &str) -> Option<()> {
        let (head, value) = statement.split_once(':')?;
        let (head, value) = (head.trim(), value.trim());
        let (word, name) = head.split_once(' ').map_or((head, ""), |(word, name)| (word, name.trim()));
        if value.is_empty() {
            return None;
        }
        match (word, name) {
            ("claim", "") => self.claims.push(value.to_owned()),
            ("field", "") => {
                value.split_once('.')?;
                self.fields.push(value.to_owned());
            }
            ("threshold", name) if !name.is_empty() => {
                once(&mut self.thresholds, name.to_owned(), Bound::parse(value)?)?;
            }
            ("allow", check) if !check.is_empty() => {
                once(&mut self.allowed, check.to_owned(), value.parse().ok()?)?;
            }
            ("bind", phrase) if !phrase.is_empty() => {
                once(&mut self.bindings, words(phrase), Bound::parse(value))?;
            }
            _ => return None,
        }
        Some(())
    }
}

impl Bound {
    /// A number with words behind it, or a constant alone.
    fn parse(text: &str) -> Option<Bound> {
        if let Some(key) = text.strip_prefix("K.") {
            return key.split_once('.').map(|_| Bound::Constant(key.to_owned()));
        }
        let (number, unit) = text.split_once(' ').map_or((text, ""), |(number, unit)| (number, unit.trim()));
        let number = match number.split_once('.') {
            None => number.parse().ok()?,
            Some((whole, fraction)) => micro(whole, fraction)?,
        };
        Some(Bound::Number(number, unit.to_owned()))
    }
}

/// A decimal with at most six digits behind the point, in µ.
fn micro(whole: &str, fraction: &str) -> Option<i64> {
    if fraction.is_empty() || fraction.len() > 6 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits: i64 = format!("{fraction:0<6}").parse().ok()?;
    let whole_micro = whole.parse::<i64>().ok()?.checked_mul(1_000_000)?;
    if whole.starts_with('-') { whole_micro.checked_sub(digits) } else { whole_micro.checked_add(digits) }
}

fn once<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: V) -> Option<()> {
    map.insert(key, value).is_none().then_some(())
}

/// Lower case, one blank between words, hyphens as blanks and nothing else: `Long-Term` is `long term`.
pub(crate) fn words(text: &str) -> String {
    let plain = |ch: char| if ch.is_alphanumeric() { ch.to_ascii_lowercase() } else { ' ' };
    let text: String = text.chars().map(plain).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Statements with the number of their first line.
fn statements(text: &str) -> Vec<(usize, String)> {
    let mut statements: Vec<(usize, String)> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        match statements.last_mut().filter(|_| line.starts_with([' ', '\t'])) {
            Some((_, statement)) => {
                statement.push(' ');
                statement.push_str(trimmed);
            }
            None => statements.push((number, trimmed.to_owned())),
        }
    }
    statements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_every_kind() {
        let header = Header::parse(
            "# V01\nclaim: one\n  and two\nclaim: three\nthreshold a: 4 per 120 ticks\nthreshold b: 0.15\n\
             threshold c: K.task.stable_window\nthreshold d: -1.5\nallow V07.3: 2\nbind Long-Term: 7 days\n\
             bind soon: some day\nfield: safety.mode\n",
        )
        .unwrap();
        assert_eq!(header.claims, ["one and two", "three"]);
        assert_eq!(header.thresholds["a"], Bound::Number(4, "per 120 ticks".into()));
        assert_eq!(header.number("b"), Some(150_000));
        assert_eq!(header.number("d"), Some(-1_500_000));
        assert_eq!(header.thresholds["c"], Bound::Constant("task.stable_window".into()));
        assert_eq!((header.number("c"), header.number("absent")), (None, None));
        assert_eq!((header.allowed("V07.3"), header.allowed("INV-01")), (2, 0));
        assert_eq!(header.bindings["long term"], Some(Bound::Number(7, "days".into())));
        assert_eq!(header.bindings["soon"], None);
        assert_eq!(header.fields, ["safety.mode"]);
    }

    #[test]
    fn a_line_that_is_no_statement_is_named() {
        for line in [
            "nonsense",
            "claim:",
            "claim x: y",
            "threshold: 3",
            "threshold a: many",
            "threshold a: K.nogroup",
            "threshold a: 0.1234567",
            "threshold a: 1.",
            "allow V01: -1",
            "allow: 1",
            "bind: 3",
            "field: nodot",
            "threshold a: 1\nthreshold a: 2",
        ] {
            let text = format!("claim: fine\n{line}\n");
            let bad = Header::parse(&text).unwrap_err();
            assert_eq!(bad.len(), 1, "{line}");
            assert_eq!(bad[0].0, 1 + line.lines().count(), "{line}");
        }
    }

    #[test]
    fn minus_nothing_point_five_is_negative() {
        assert_eq!(micro("-0", "5"), Some(-500_000));
        assert_eq!(micro("0", "000001"), Some(1));
    }
}

//! A unit of work: one run that has one outcome. Units are totally ordered, and each has a text that names it for good.

use std::fmt;

/// Which run of an arm it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// A seed of the suite, by its index (RC-SEE-01).
    Index(u64),
    /// A part of an enumeration, which draws from no seed (RC-SEE-03).
    Chunk(u64),
}

/// One run. Its text is `V01/main/mira/50` for a seed and `V02/pending/mira/c7` for a part of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// Id of the scenario.
    pub scenario: String,
    /// Which arm of it.
    pub arm: String,
    /// Which reference identity; `-` where it has no meaning.
    pub identity: String,
    /// Which run.
    pub at: At,
}

/// Longest name in a unit, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Whether a text can be a name in a unit: it then is one in a file name and in a command line, too.
pub fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=NAME_BYTES_MAX).contains(&text.len()) && !text.starts_with('.') && text.bytes().all(plain)
}

impl Unit {
    /// A unit of these names. Whether they are names is looked at when the plan is made.
    pub fn new(scenario: &str, arm: &str, identity: &str, at: At) -> Unit {
        Unit { scenario: scenario.to_owned(), arm: arm.to_owned(), identity: identity.to_owned(), at }
    }

    /// The index of its seed.
    pub fn index(&self) -> Option<u64> {
        match self.at {
            At::Index(index) => Some(index),
            At::Chunk(_) => None,
        }
    }

    /// Whether every part of it is a name.
    pub fn is_valid(&self) -> bool {
        [&self.scenario, &self.arm, &self.identity].into_iter().all(|name| is_name(name))
    }

    /// The unit of a text; only the text that [`Unit`] shows is one.
    pub fn parse(text: &str) -> Option<Unit> {
        let mut parts = text.split('/');
        let (scenario, arm, identity, at) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let number = |text: &str| text.parse().ok();
        let at = match at.strip_prefix('c') {
            Some(chunk) => At::Chunk(number(chunk)?),
            None => At::Index(number(at)?),
        };
        let unit = Unit::new(scenario, arm, identity, at);
        // One unit, one text: `050` and `+50` are none.
        (parts.next().is_none() && unit.is_valid() && unit.to_string() == text).then_some(unit)
    }

    /// Its text as a name of a file. `+` stands in no name, so two units never share a file.
    pub fn file_name(&self) -> String {
        self.to_string().replace('/', "+")
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/", self.scenario, self.arm, self.identity)?;
        match self.at {
            At::Index(index) => write!(f, "{index}"),
            At::Chunk(chunk) => write!(f, "c{chunk}"),
        }
    }
}

/// A unit for every arm, identity and index, in their order.
pub fn seeded(
    scenario: &str,
    arms: &[&str],
    identities: &[&str],
    indices: impl Iterator<Item = u64>,
) -> Vec<Unit> {
    let indices: Vec<u64> = indices.collect();
    let mut units = Vec::new();
    for (arm, identity) in arms.iter().flat_map(|arm| identities.iter().map(move |identity| (arm, identity)))
    {
        units.extend(indices.iter().map(|index| Unit::new(scenario, arm, identity, At::Index(*index))));
    }
    units
}

/// `parts` parts of an enumeration, for every arm and identity.
pub fn enumerated(scenario: &str, arms: &[&str], identities: &[&str], parts: u64) -> Vec<Unit> {
    let mut units = Vec::new();
    for (arm, identity) in arms.iter().flat_map(|arm| identities.iter().map(move |identity| (arm, identity)))
    {
        units.extend((0..parts).map(|part| Unit::new(scenario, arm, identity, At::Chunk(part))));
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_has_one_text() {
        for text in ["V01/main/mira/50", "V02/pending.absent/-/c0", "V08/C/niko/149"] {
            assert_eq!(Unit::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "V01/main/mira",
            "V01/main/mira/050",
            "V01/main/mira/+5",
            "V01/main/mira/c",
            "V01//mira/1",
            "V01/main/mira/1/2",
            "V01/../mira/1",
            "V01/ma in/mira/1",
            "V01/main/mira/-1",
        ] {
            assert_eq!(Unit::parse(text), None, "{text}");
        }
    }

    #[test]
    fn units_are_ordered_by_number_and_not_by_text() {
        let unit = |text: &str| Unit::parse(text).unwrap();
        assert!(unit("V01/main/mira/9") < unit("V01/main/mira/10"));
        assert!(unit("V01/main/mira/149") < unit("V01/main/mira/c0"));
        assert!(unit("V01/main/mira/149") < unit("V01b/main/mira/0"));
    }

    #[test]
    fn a_file_of_a_unit_is_its_own() {
        assert_eq!(Unit::parse("V01/main/mira/50").unwrap().file_name(), "V01+main+mira+50");
        assert!(!is_name("a+b") && !is_name("..") && !is_name("") && !is_name(&"a".repeat(65)));
    }
}

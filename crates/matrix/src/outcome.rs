//! What a run came to: integers and names only, one canonical line of JSON.

use crate::unit::Unit;
use canon::{Object, Reader, Value, canonical};
use std::collections::{BTreeMap, BTreeSet};

/// Failures of one run that are named; the rest is counted.
pub const FAILURES_MAX: usize = 32;

/// Something that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The check: `INV-04`, `V01.2`.
    pub check: String,
    /// When, where there is a when.
    pub tick: Option<u64>,
    /// What, as a stable code of the scenario.
    pub code: String,
}

/// The comparison with the second run of the same unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twice {
    /// What was different about the second run, in words that are the same on every machine.
    pub varied: Vec<String>,
    /// The first field that differs; nothing when both runs are equal.
    pub differs: Option<String>,
}

/// What one run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Which run.
    pub unit: Unit,
    /// What did not hold, the first [`FAILURES_MAX`].
    pub failures: Vec<Failure>,
    /// How many things did not hold.
    pub failures_n: u64,
    /// How often each check was really made. 0 is unchecked, never passed (16.2).
    pub checks: BTreeMap<String, u64>,
    /// Numbers whose distribution over all seeds is reported (RC-SEE-05).
    pub counts: BTreeMap<String, i64>,
    /// Situations that occurred.
    pub reached: BTreeSet<String>,
    /// Ticks that were simulated.
    pub ticks: u64,
    /// Fold of the state over every tick.
    pub state_hash: u64,
    /// The second run; nothing when there was none.
    pub twice: Option<Twice>,
}

impl Outcome {
    /// Of a run that did nothing yet.
    pub fn new(unit: &Unit) -> Outcome {
        Outcome {
            unit: unit.clone(),
            failures: Vec::new(),
            failures_n: 0,
            checks: BTreeMap::new(),
            counts: BTreeMap::new(),
            reached: BTreeSet::new(),
            ticks: 0,
            state_hash: 0,
            twice: None,
        }
    }

    /// `times` real checks. Zero says that the check had nothing to look at.
    pub fn checked(&mut self, check: &str, times: u64) {
        match self.checks.get_mut(check) {
            Some(n) => *n += times,
            None => drop(self.checks.insert(check.to_owned(), times)),
        }
    }

    /// One failure of a check that was counted by [`Outcome::checked`].
    pub fn fail(&mut self, check: &str, tick: Option<u64>, code: &str) {
        self.failures_n += 1;
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(Failure { check: check.to_owned(), tick, code: code.to_owned() });
        }
    }

    /// One real check that holds or fails with `code`.
    pub fn require(&mut self, check: &str, holds: bool, tick: Option<u64>, code: &str) {
        self.checked(check, 1);
        if !holds {
            self.fail(check, tick, code);
        }
    }

    /// Adds to a number whose distribution is reported.
    pub fn count(&mut self, name: &str, by: i64) {
        *self.counts.entry(name.to_owned()).or_default() += by;
    }

    /// A situation occurred.
    pub fn reach(&mut self, situation: &str) {
        if !self.reached.contains(situation) {
            self.reached.insert(situation.to_owned());
        }
    }

    /// Whether something did not hold, or the second run was another one.
    pub fn is_failing(&self) -> bool {
        self.failures_n > 0 || self.twice.as_ref().is_some_and(|twice| twice.differs.is_some())
    }

    /// Canonical JSON with its line feed.
    pub fn line(&self) -> Vec<u8> {
        let mut line = canonical(&self.value().with("twice", self.twice.as_ref().map(twice_value)).into());
        line.push(b'\n');
        line
    }

    /// The outcome of a line without its line feed; only what [`Outcome::line`] writes is one.
    pub fn parse(line: &[u8]) -> Option<Outcome> {
        let value = Reader::strict().read(line).ok()?;
        let outcome = read(value.as_object()?)?;
        outcome.line().strip_suffix(b"\n").is_some_and(|ours| ours == line).then_some(outcome)
    }

    /// The first field in which two runs differ, as a dotted path; what is said of second runs does not count.
    pub fn difference(&self, other: &Outcome) -> Option<String> {
        differs(&self.value().into(), &other.value().into(), "")
    }

    fn value(&self) -> Object {
        let failure = |failure: &Failure| {
            Object::new()
                .with("check", failure.check.as_str())
                .with("code", failure.code.as_str())
                .with("tick", failure.tick)
        };
        let mut checks = Object::new();
        self.checks.iter().for_each(|(name, n)| checks.set(name, *n));
        let mut counts = Object::new();
        self.counts.iter().for_each(|(name, n)| counts.set(name, *n));
        Object::new()
            .with("checks", checks)
            .with("counts", counts)
            .with("failures", self.failures.iter().map(failure).collect::<Vec<_>>())
            .with("failures_n", self.failures_n)
            .with("reached", self.reached.iter().map(String::as_str).collect::<Vec<_>>())
            .with("state_hash", hex16(self.state_hash))
            .with("ticks", self.ticks)
            .with("unit", self.unit.to_string())
    }
}

/// Sixteen hex digits: a 64-bit number is no JSON number, where readers lose digits past 2^53.
pub fn hex16(number: u64) -> String {
    format!("{number:016x}")
}

fn twice_value(twice: &Twice) -> Object {
    Object::new()
        .with("differs", twice.differs.as_deref())
        .with("equal", twice.differs.is_none())
        .with("varied", twice.varied.iter().map(String::as_str).collect::<Vec<_>>())
}

fn read(object: &Object) -> Option<Outcome> {
    let natural = |name: &str| u64::try_from(object.get(name)?.as_i64()?).ok();
    let unit = Unit::parse(object.get("unit")?.as_str()?)?;
    let mut outcome = Outcome::new(&unit);
    for failure in object.get("failures")?.as_array()? {
        let text = |name: &str| Some(failure.get(name)?.as_str()?.to_owned());
        let tick = failure.get("tick").filter(|tick| !tick.is_null());
        let tick = tick.map(|tick| tick.as_i64().and_then(|tick| u64::try_from(tick).ok()));
        let tick = match tick {
            Some(None) => return None,
            other => other.flatten(),
        };
        outcome.failures.push(Failure { check: text("check")?, tick, code: text("code")? });
    }
    for (name, n) in object.get("checks")?.as_object()?.iter() {
        outcome.checks.insert(name.to_owned(), u64::try_from(n.as_i64()?).ok()?);
    }
    for (name, n) in object.get("counts")?.as_object()?.iter() {
        outcome.counts.insert(name.to_owned(), n.as_i64()?);
    }
    outcome.reached = texts(object.get("reached")?)?.into_iter().collect();
    outcome.failures_n = natural("failures_n")?;
    outcome.ticks = natural("ticks")?;
    outcome.state_hash = u64::from_str_radix(object.get("state_hash")?.as_str()?, 16).ok()?;
    outcome.twice = match object.get("twice")? {
        Value::Null => None,
        twice => Some(Twice {
            varied: texts(twice.get("varied")?)?,
            differs: twice.get("differs")?.as_str().map(str::to_owned),
        }),
    };
    Some(outcome)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

fn differs(left: &Value, right: &Value, path: &str) -> Option<String> {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (left, right) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&str> = a.iter().chain(b.iter()).map(|(key, _)| key).collect();
            keys.into_iter().find_map(|key| match (a.get(key), b.get(key)) {
                (Some(a), Some(b)) => differs(a, b, &below(key)),
                _ => Some(below(key)),
            })
        }
        (Value::Array(a), Value::Array(b)) => {
            let same = a.iter().zip(b).enumerate();
            let inside = same.into_iter().find_map(|(at, (a, b))| differs(a, b, &format!("{path}[{at}]")));
            inside.or_else(|| (a.len() != b.len()).then(|| format!("{path}[{}]", a.len().min(b.len()))))
        }
        (a, b) => (a != b).then(|| path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> Outcome {
        let mut outcome = Outcome::new(&Unit::parse("V01/main/mira/50").unwrap());
        outcome.checked("INV-01", 3);
        outcome.checked("LIV-07", 0);
        outcome.require("V01.2", false, Some(7), "crossed");
        outcome.count("drinks", 6);
        outcome.reach("starving");
        outcome.ticks = 3;
        outcome.state_hash = u64::MAX;
        outcome.twice = Some(Twice { varied: vec!["order".into()], differs: None });
        outcome
    }

    #[test]
    fn a_line_is_read_back_and_nothing_else_is() {
        let line = outcome().line();
        let text = String::from_utf8(line.clone()).unwrap();
        assert!(text.contains("\"state_hash\":\"ffffffffffffffff\"") && text.ends_with("}\n"), "{text}");
        let bare = &line[..line.len() - 1];
        assert_eq!(Outcome::parse(bare), Some(outcome()));
        for end in 0..bare.len() {
            assert_eq!(Outcome::parse(&bare[..end]), None, "a cut line is no outcome");
        }
        for (from, to) in [
            ("\"ticks\":3", "\"ticks\": 3"),
            ("\"ticks\":3", "\"ticks\":3,\"more\":1"),
            ("\"ticks\":3", "\"ticks\":-3"),
            ("\"equal\":true", "\"equal\":false"),
            ("ffffffffffffffff", "FFFFFFFFFFFFFFFF"),
            ("\"tick\":7", "\"tick\":-7"),
        ] {
            assert!(text.contains(from));
            assert_eq!(Outcome::parse(text.trim_end().replace(from, to).as_bytes()), None, "{to}");
        }
    }

    #[test]
    fn the_first_field_that_differs_is_named() {
        let differs = |change: &dyn Fn(&mut Outcome)| {
            let mut other = outcome();
            change(&mut other);
            outcome().difference(&other)
        };
        assert_eq!(differs(&|_| ()), None);
        assert_eq!(differs(&|other| other.twice = None), None);
        assert_eq!(differs(&|other| other.checked("INV-01", 1)).as_deref(), Some("checks.INV-01"));
        assert_eq!(differs(&|other| other.count("meals", 1)).as_deref(), Some("counts.meals"));
        assert_eq!(differs(&|other| other.failures[0].tick = None).as_deref(), Some("failures[0].tick"));
        assert_eq!(differs(&|other| other.reach("blocked")).as_deref(), Some("reached[0]"));
        assert_eq!(differs(&|other| other.reach("z")).as_deref(), Some("reached[1]"));
        assert_eq!(differs(&|other| other.state_hash = 0).as_deref(), Some("state_hash"));
    }

    #[test]
    fn failures_past_the_first_are_counted() {
        let mut outcome = outcome();
        (0..100).for_each(|tick| outcome.fail("INV-04", Some(tick), "two_bodies"));
        assert_eq!((outcome.failures.len(), outcome.failures_n), (FAILURES_MAX, 101));
    }
}

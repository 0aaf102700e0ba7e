//! The lint that runs before anything is hashed (14.3, GD-06). [`Linted`] is what it lets through: seed manifests, plans and
//! runs are made of nothing else (RC-LNT-05).

use crate::header::{Header, words};
use crate::modules;
use crate::scenario::{CALIBRATION, Choice, Context, HOLDOUT, Pass, Scenario, Set};
use crate::unit::{self, Unit};
use canon::Digest;
use std::collections::{BTreeMap, BTreeSet};

canon::codes! {
    /// What is wrong with a scenario before it runs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Fault {
        /// A line of the header is no statement.
        Header = "matrix_lint_header",
        /// A module tag that 16.2 does not have (RC-LNT-01).
        ModuleUnknown = "matrix_lint_module_unknown",
        /// A module that the stage does not enable (RC-LNT-01).
        ModuleNotEnabled = "matrix_lint_module_not_enabled",
        /// A constant that the profile does not have (RC-LNT-02).
        ConstantUnknown = "matrix_lint_constant_unknown",
        /// A constant that the profile has twice (RC-LNT-02).
        ConstantAmbiguous = "matrix_lint_constant_ambiguous",
        /// A vague word without a binding (RC-LNT-03, RC-SEE-06).
        VagueWord = "matrix_lint_vague_word",
        /// A binding that says no number and no constant (GD-06).
        BindUnbound = "matrix_lint_bind_unbound",
        /// A module, field or constant of a later stage than the scenario's (RC-LNT-04).
        LaterStage = "matrix_lint_later_stage",
        /// Ranges of seeds that are not those of RC-SEE-02.
        Seeds = "matrix_lint_seeds",
        /// Units that are none, stand twice, or lie outside the seeds of the scenario.
        Units = "matrix_lint_units",
        /// Failures of an invariant or liveness gate are allowed (RC-SEE-05).
        AllowedFailures = "matrix_lint_allowed_failures",
        /// No claim, or no check that is asked for.
        NoCheck = "matrix_lint_no_check",
        /// No situation that must be reached.
        NoSituation = "matrix_lint_no_situation",
        /// No planted fault that turns it red.
        NoMutation = "matrix_lint_no_mutation",
        /// A planted fault that nobody planted.
        MutationUnknown = "matrix_lint_mutation_unknown",
        /// An id that is none, or that two scenarios have.
        ScenarioId = "matrix_lint_scenario_id",
    }
}

/// Words that are no measure (GD-06 and the adverb of V11.5), as [`words`] writes them; a phrase before its parts.
const VAGUE: [&str; 14] = [
    "close to zero",
    "upper bound",
    "more likely",
    "significant",
    "eventually",
    "near zero",
    "long term",
    "roughly",
    "limited",
    "a few",
    "often",
    "few",
    "soon",
    "significantly",
];

/// A constant of the registry, without its `K.`, and the first stage that may refer to it (16.16).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// `clock.pending_max`.
    pub key: String,
    /// The stage.
    pub stage: u8,
}

/// What the lint must know of the world.
#[derive(Clone, Debug)]
pub struct Profile<'a> {
    /// Digest of the canonical configuration (GD-05).
    pub config_hash: Digest,
    /// Every constant. One that stands twice does not resolve.
    pub constants: &'a [Constant],
    /// Every planted fault.
    pub faults: &'a [&'a str],
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The scenario.
    pub scenario: String,
    /// What.
    pub fault: Fault,
    /// Where: `tag trust`, `line 3`, `claim 1: a few`.
    pub place: String,
}

/// Scenarios that passed, with their headers, sorted by id.
#[derive(Clone)]
pub struct Linted<'m, W> {
    stage: u8,
    config_hash: Digest,
    scenarios: Vec<(&'m Scenario<W>, Header)>,
}

impl<'m, W> Linted<'m, W> {
    /// The stage.
    pub fn stage(&self) -> u8 {
        self.stage
    }

    /// Digest of the canonical configuration.
    pub fn config_hash(&self) -> Digest {
        self.config_hash
    }

    /// Scenarios and headers, sorted by id.
    pub fn scenarios(&self) -> impl ExactSizeIterator<Item = (&'m Scenario<W>, &Header)> {
        self.scenarios.iter().map(|(scenario, header)| (*scenario, header))
    }

    /// The scenario of this id.
    pub fn scenario(&self, id: &str) -> Option<(&'m Scenario<W>, &Header)> {
        self.scenarios().find(|(scenario, _)| scenario.id == id)
    }

    /// What a run of `unit` is given.
    pub fn context<'a>(
        &'a self,
        unit: &Unit,
        world: &'a W,
        pass: Pass,
    ) -> Option<(&'m Scenario<W>, Context<'a, W>)> {
        let (scenario, header) = self.scenario(&unit.scenario)?;
        let seed =
            scenario.seeds.suite().zip(unit.index()).map(|(suite, index)| room::draw::seed(suite, index));
        Some((scenario, Context { world, header, seed, pass }))
    }
}

/// Lints the scenarios of a stage; those of later stages are not in it.
///
/// # Errors
/// Everything that is wrong, sorted.
pub fn lint<'m, W>(
    stage: u8,
    scenarios: &'m [Scenario<W>],
    profile: &Profile<'_>,
) -> Result<Linted<'m, W>, Vec<Finding>> {
    let mut findings = Vec::new();
    let mut passed = BTreeMap::new();
    let mut constants: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for constant in profile.constants {
        constants.entry(&constant.key).or_default().push(constant.stage);
    }
    for scenario in scenarios.iter().filter(|scenario| scenario.stage <= stage) {
        let mut look = Look { scenario, stage, constants: &constants, findings: &mut findings };
        let header = look.all(profile.faults);
        if passed.insert(scenario.id, (scenario, header)).is_some() {
            look.find(Fault::ScenarioId, "two scenarios have it".to_owned());
        }
    }
    findings.sort();
    findings.dedup();
    let scenarios = passed.into_values().collect();
    if findings.is_empty() {
        Ok(Linted { stage, config_hash: profile.config_hash, scenarios })
    } else {
        Err(findings)
    }
}

struct Look<'a, W> {
    scenario: &'a Scenario<W>,
    stage: u8,
    constants: &'a BTreeMap<&'a str, Vec<u8>>,
    findings: &'a mut Vec<Finding>,
}

impl<W> Look<'_, W> {
    fn find(&mut self, fault: Fault, place: String) {
        self.findings.push(Finding { scenario: self.scenario.id.to_owned(), fault, place });
    }

    fn all(&mut self, faults: &[&str]) -> Header {
        let header = match Header::parse(self.scenario.header) {
            Ok(header) => header,
            Err(bad) => {
                bad.iter().for_each(|line| self.find(Fault::Header, format!("line {}: {}", line.0, line.1)));
                // What half a header says is looked at when it is whole.
                return Header::default();
            }
        };
        self.modules(&header);
        self.constants();
        self.vague(&header);
        self.fixed(&header, faults);
        self.seeds();
        self.units();
        header
    }

    /// RC-LNT-01 and the fields of RC-LNT-04.
    fn modules(&mut self, header: &Header) {
        let tags = self.scenario.tags.iter().map(|tag| (*tag, format!("tag {tag}")));
        let module = |field: &String| field.split('.').next().unwrap_or_default().to_owned();
        let fields: Vec<(String, String)> =
            header.fields.iter().map(|field| (module(field), format!("field {field}"))).collect();
        let fields = fields.iter().map(|(module, place)| (module.as_str(), place.clone()));
        let all: Vec<(&str, String)> = tags.chain(fields).collect();
        for (module, place) in all {
            match modules::stage_of(module) {
                None => self.find(Fault::ModuleUnknown, place),
                Some(stage) if stage > self.stage => self.find(Fault::ModuleNotEnabled, place),
                Some(stage) if stage > self.scenario.stage => self.find(Fault::LaterStage, place),
                Some(_) => {}
            }
        }
    }

    /// RC-LNT-02 and the constants of RC-LNT-04: every `K.group.name` of the header, wherever it stands.
    fn constants(&mut self) {
        for key in constants_in(self.scenario.header) {
            let place = format!("K.{key}");
            match self.constants.get(key).map(Vec::as_slice) {
                None => self.find(Fault::ConstantUnknown, place),
                Some([stage]) if *stage > self.scenario.stage => self.find(Fault::LaterStage, place),
                Some([_]) => {}
                Some(_) => self.find(Fault::ConstantAmbiguous, place),
            }
        }
    }

    /// RC-LNT-03: claims and titles; a word is bound where the same definition binds it.
    fn vague(&mut self, header: &Header) {
        for (phrase, bound) in &header.bindings {
            if bound.is_none() {
                self.find(Fault::BindUnbound, format!("bind {phrase}"));
            }
        }
        let claims =
            header.claims.iter().zip(1..).map(|(claim, number)| (format!("claim {number}"), claim.clone()));
        let texts: Vec<(String, String)> =
            claims.chain([("title".to_owned(), self.scenario.title.to_owned())]).collect();
        for (place, text) in texts {
            for phrase in vague_in(&text, header.bindings.keys()) {
                self.find(Fault::VagueWord, format!("{place}: {phrase}"));
            }
        }
    }

    /// What every scenario has.
    fn fixed(&mut self, header: &Header, faults: &[&str]) {
        let scenario = self.scenario;
        if !unit::is_name(scenario.id) {
            self.find(Fault::ScenarioId, "it is no name".to_owned());
        }
        for check in header.allowed.iter().filter(|(_, n)| **n > 0).map(|(check, _)| check) {
            if is_gate_of_every_tick(check) {
                self.find(Fault::AllowedFailures, format!("allow {check}"));
            }
        }
        if header.claims.is_empty() {
            self.find(Fault::NoCheck, "it claims nothing".to_owned());
        }
        let asked = scenario.checks.iter().any(|check| check.demand != crate::scenario::Demand::Reported);
        if !asked {
            self.find(Fault::NoCheck, "no check is asked for".to_owned());
        }
        if scenario.needs.is_empty() {
            self.find(Fault::NoSituation, "needs".to_owned());
        }
        if scenario.mutations.is_empty() {
            self.find(Fault::NoMutation, "mutations".to_owned());
        }
        for mutation in scenario.mutations.iter().filter(|mutation| !faults.contains(mutation)) {
            self.find(Fault::MutationUnknown, format!("mutation {mutation}"));
        }
    }

    /// RC-SEE-02.
    fn seeds(&mut self) {
        for (set, (low, high)) in [(Set::Calibration, CALIBRATION), (Set::Holdout, HOLDOUT)] {
            if let Some((first, last)) = self.scenario.seeds.range(set)
                && !(low <= first && first <= last && last <= high)
            {
                self.find(Fault::Seeds, format!("{} {first} to {last}", set.word()));
            }
        }
    }

    fn units(&mut self) {
        for set in [Set::Calibration, Set::Holdout] {
            for exhaustive in [false, true] {
                let units = (self.scenario.units)(&Choice { set, exhaustive });
                if let Some(place) = self.wrong_unit(&units, set) {
                    self.find(Fault::Units, format!("{}: {place}", set.word()));
                }
            }
        }
    }

    fn wrong_unit(&self, units: &[Unit], set: Set) -> Option<String> {
        let range = self.scenario.seeds.range(set);
        let outside = |unit: &&Unit| {
            let index = unit.index();
            let inside =
                index.is_none_or(|index| range.is_some_and(|(first, last)| (first..=last).contains(&index)));
            unit.scenario != self.scenario.id || !unit.is_valid() || !inside
        };
        let mut seen = BTreeSet::new();
        let first = units.iter().find(outside).or_else(|| units.iter().find(|unit| !seen.insert(*unit)));
        first.map(Unit::to_string).or_else(|| units.is_empty().then(|| "it has no unit".to_owned()))
    }
}

/// Invariants and liveness gates hold on every tick: no failure of theirs is ever allowed (RC-SEE-05).
pub(crate) fn is_gate_of_every_tick(check: &str) -> bool {
    check.starts_with("INV-") || check.starts_with("LIV-")
}

/// The keys of every `K.group.name` in a text.
fn constants_in(text: &str) -> BTreeSet<&str> {
    let is_key = |ch: char| ch.is_ascii_alphanumeric() || ch == '_' || ch == '.';
    let mut keys = BTreeSet::new();
    for (at, _) in text.match_indices("K.") {
        let alone = !text[..at].chars().next_back().is_some_and(is_key);
        let rest = &text[at + 2..];
        let key = &rest[..rest.find(|ch| !is_key(ch)).unwrap_or(rest.len())];
        let key = key.trim_end_matches('.');
        if alone && !key.is_empty() {
            keys.insert(key);
        }
    }
    keys
}

/// Vague words of a text that nothing binds, longest first; what was found or bound is not looked at again.
fn vague_in<'b>(text: &str, bound: impl Iterator<Item = &'b String>) -> Vec<&'static str> {
    // Two blanks between words, so that neighbours do not share one.
    let padded = |phrase: &str| format!(" {} ", phrase.replace(' ', "  "));
    let mut text = padded(&words(text));
    let mut bound: Vec<&String> = bound.collect();
    bound.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    for phrase in bound {
        text = text.replace(&padded(phrase), " | ");
    }
    let mut found = Vec::new();
    for phrase in VAGUE {
        let padded = padded(phrase);
        if text.contains(&padded) {
            found.push(phrase);
            text = text.replace(&padded, " | ");
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_gd_06_is_found_once() {
        let none: [String; 0] = [];
        for phrase in VAGUE {
            assert_eq!(vague_in(&format!("it is {phrase}, here"), none.iter()), [phrase], "{phrase}");
        }
        assert_eq!(vague_in("A  Few long-term\nupper-bound", none.iter()).len(), 3);
        assert!(vague_in("unlimited fewer oftentimes delimited", none.iter()).is_empty());
        let bound = ["limited".to_owned()];
        assert_eq!(vague_in("limited limited and often limited", bound.iter()), ["often"]);
    }

    #[test]
    fn constants_are_found_wherever_they_stand() {
        let keys = constants_in("K.a.b, (K.c.d_e) XK.no.no K.f.g. K. end K.h.i");
        assert_eq!(keys.into_iter().collect::<Vec<_>>(), ["a.b", "c.d_e", "f.g", "h.i"]);
    }
}

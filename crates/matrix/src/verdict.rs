//! What a matrix concludes: one check for each scenario of the stage, two for how they were run, one hash that has no clock,
//! no path and no machine in it (ruling 7: pass 0, fail 1, yellow 2).

use crate::Problem;
use crate::admission::takes;
use crate::compare::Comparison;
use crate::freeze::{Definition, gate_of};
use crate::gate::{self, Fault, Judgement};
use crate::lint::Linted;
use crate::outcome::Outcome;
use crate::plan::{self, is_holdout};
use crate::records::{Kind, Record, Records};
use crate::scenario::Set;
use crate::shard::Merged;
use crate::store::sorted;
use crate::unit::Unit;
use ::verdict::report::{Check, Colour, Finding, Report};
use ::verdict::{Action, Triple};
use canon::{Digest, Hasher, Object, Value, canonical_digest};
use ledger::identity::Identity;
use std::collections::BTreeMap;

canon::codes! {
    /// What a matrix comes to.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Word {
        /// Every scenario of the stage passed on the whole holdout set.
        Pass = "matrix_pass",
        /// Something did not hold.
        Fail = "matrix_fail",
        /// Nothing failed, and something was not reached, not checked, or not run as it must be.
        Yellow = "matrix_yellow",
    }
}

impl Word {
    /// The word of a colour.
    pub fn of(colour: Colour) -> Word {
        match colour {
            Colour::Green => Word::Pass,
            Colour::Red => Word::Fail,
            Colour::Yellow => Word::Yellow,
        }
    }

    /// The triple that the whole product uses (V-1).
    pub fn triple(self) -> Triple {
        let action = match self {
            Word::Pass => Action::Allow,
            Word::Fail => Action::Block,
            Word::Yellow => Action::Advise,
        };
        Triple { action, layer: LAYER, reason: self.code() }
    }
}

/// The check of what was held out.
const FREEZE: &str = "FREEZE";
/// The layer of every triple of the matrix.
const LAYER: &str = "matrix";

/// How it was run, as far as that lowers what may be said.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Which seeds.
    pub set: Set,
    /// With the parts that only `--exhaustive` asks for.
    pub exhaustive: bool,
    /// Whether a freeze record of this gate hash lies before the run.
    pub frozen: bool,
    /// Whether holdout units were run that another run took under the same freeze.
    pub again: bool,
    /// Second runs were saved and loaded on their way.
    pub reloaded: bool,
    /// Comparisons with runs of other processes, builds and machines, with a name that is the same everywhere.
    pub compared: Vec<(String, Comparison)>,
    /// What else lowers it, such as machines that it did not run on.
    pub lowered: Vec<Finding>,
}

impl Standing {
    /// How what lies in run folders was run, as their manifest and the signed records say: frozen is when records of its runs
    /// took every holdout unit that is there, under a freeze record.
    ///
    /// # Errors
    /// The manifest is of other scenarios, or of another configuration.
    pub fn of<W>(linted: &Linted<'_, W>, merged: &Merged, records: &Records) -> Result<Standing, Problem> {
        let gate = Definition::of(linted).gate_hash();
        let text = |name: &str| merged.members.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("gate_hash") != gate.to_hex() {
            return Err(Problem::OtherManifest(records.folder().to_path_buf(), "gate_hash".to_owned()));
        }
        let freeze = records.of(Kind::Freeze).find(|record| gate_of(record) == Some(gate));
        let claim = |run_id: &String| {
            let of_run = |record: &&Record| record.text("run_id") == run_id && gate_of(record) == Some(gate);
            records.of(Kind::Holdout).find(of_run)
        };
        let claims: Vec<Option<&Record>> = merged.run_ids.iter().map(claim).collect();
        let taken = |unit: &Unit| claims.iter().flatten().any(|claim| takes(claim, unit));
        let all_taken = merged.outcomes.keys().filter(|unit| is_holdout(unit)).all(taken);
        let varied = merged.members.get("second").and_then(|second| second.get("varied")?.as_array());
        let again = |record: &Record| record.payload.get("again").is_some_and(|again| !again.is_null());
        let set = if text("set") == Set::Holdout.word() { Set::Holdout } else { Set::Calibration };
        Ok(Standing {
            set,
            exhaustive: merged.members.get("exhaustive").and_then(Value::as_bool).unwrap_or_default(),
            frozen: freeze.is_some() && !claims.is_empty() && claims.iter().all(Option::is_some) && all_taken,
            reloaded: varied.is_some_and(|varied| varied.len() > 1),
            again: claims.into_iter().flatten().any(again),
            compared: Vec::new(),
            lowered: Vec::new(),
        })
    }
}

/// What a matrix concludes.
#[derive(Clone, Debug)]
pub struct Conclusion {
    /// The report, with its colour and verdict hash.
    pub report: Report,
    /// The scenarios, sorted by id.
    pub judgements: Vec<Judgement>,
    /// Digest of all outcomes, sorted by unit.
    pub outcomes_digest: Digest,
    /// Digest of the state hashes of all units.
    pub replay_digest: Digest,
    /// Number of outcomes.
    pub outcomes_n: u64,
}

/// Judges all outcomes of a stage. Scenarios without an outcome are part of it, and keep it from being green.
///
/// # Errors
/// An outcome of a unit that the scenarios do not have.
pub fn conclude<W>(
    linted: &Linted<'_, W>,
    world: &W,
    outcomes: &BTreeMap<Unit, Outcome>,
    standing: &Standing,
) -> Result<Conclusion, Problem> {
    let mut planned: BTreeMap<String, Vec<Unit>> = BTreeMap::new();
    for unit in plan::units(linted, standing.set, standing.exhaustive) {
        planned.entry(unit.scenario.clone()).or_default().push(unit);
    }
    let is_planned =
        |unit: &&Unit| planned.get(&unit.scenario).is_some_and(|units| units.binary_search(unit).is_ok());
    if let Some(unknown) = outcomes.keys().find(|unit| !is_planned(unit)) {
        return Err(Problem::UnitUnknown(unknown.to_string()));
    }
    let mut by_scenario: BTreeMap<&str, Vec<Outcome>> = BTreeMap::new();
    for outcome in outcomes.values() {
        by_scenario.entry(&outcome.unit.scenario).or_default().push(outcome.clone());
    }
    let judge = |(scenario, header): (&crate::scenario::Scenario<W>, &crate::header::Header)| {
        let planned = planned.get(scenario.id).map(Vec::as_slice).unwrap_or_default();
        let outcomes = by_scenario.get(scenario.id).map(Vec::as_slice).unwrap_or_default();
        gate::judge(scenario, header, world, planned, outcomes)
    };
    let judgements: Vec<Judgement> = linted.scenarios().map(judge).collect();
    let mut checks = vec![frozen(outcomes, standing), twice(outcomes, standing)];
    checks.extend(compared(standing));
    if !standing.lowered.is_empty() {
        let lowered = standing.lowered.iter().cloned();
        checks.push(
            Check::new("CLASS", "where else it was run", standing.lowered.len() as u64, "places")
                .with(lowered),
        );
    }
    checks.extend(judgements.iter().map(|judgement| {
        Check::new(judgement.id, judgement.title, judgement.ran, "runs")
            .with(judgement.findings.iter().cloned())
    }));
    let outcomes_digest = Digest::of(&sorted(outcomes.values()));
    let replay_digest = replay_digest(outcomes);
    let measures: Object = judgements
        .iter()
        .fold(Object::new(), |all, judgement| all.with(judgement.id, judgement.measures_value()));
    let evidence = vec![
        ("config".to_owned(), linted.config_hash()),
        ("gate".to_owned(), Definition::of(linted).gate_hash()),
        ("measures".to_owned(), canonical_digest(&measures.into())),
        ("outcomes".to_owned(), outcomes_digest),
        ("replay".to_owned(), replay_digest),
    ];
    let subject = format!("room, stage {}, {} set", linted.stage(), standing.set.word());
    let report = Report { subject, layer: LAYER, grade: None, evidence, checks };
    Ok(Conclusion { report, judgements, outcomes_digest, replay_digest, outcomes_n: outcomes.len() as u64 })
}

/// RC-PAS-02: what was run is the holdout set, under a freeze record, for the first time.
fn frozen(outcomes: &BTreeMap<Unit, Outcome>, standing: &Standing) -> Check {
    let holdout = outcomes.keys().filter(|unit| is_holdout(unit)).count() as u64;
    let mut check = Check::new(FREEZE, "holdout seeds ran once, under a freeze record", holdout, "runs");
    if standing.set != Set::Holdout || !standing.frozen {
        let detail = "calibration seeds, or no freeze record: this says nothing about what was not looked at";
        check.findings.push(Fault::NotHoldout.lowers(standing.set.word().to_owned(), detail));
    }
    if standing.again {
        check.findings.push(Fault::HoldoutAgain.lowers(String::new(), "it is recorded, with its reason"));
    }
    check
}

fn twice(outcomes: &BTreeMap<Unit, Outcome>, standing: &Standing) -> Check {
    let both = outcomes.values().filter(|outcome| outcome.twice.is_some()).count();
    let check = Check::new("TWICE", "every run was made twice", both as u64, "runs");
    let once = outcomes.len() - both;
    let made_once = || Fault::Once.lowers(format!("{once} of {} runs", outcomes.len()), "made once only");
    let never_saved = || Fault::Once.lowers("second runs".to_owned(), "none was saved and loaded");
    check.with((once > 0).then(made_once)).with((both > 0 && !standing.reloaded).then(never_saved))
}

/// Runs elsewhere that must be equal; nothing where there is none.
fn compared(standing: &Standing) -> Option<Check> {
    let (of, title) = ("OTHER", "runs of other processes, builds and machines are equal");
    let pairs = standing.compared.iter().map(|(_, comparison)| comparison.compared).sum();
    let mut check = Check::new(of, title, pairs, "pairs of runs");
    for (name, comparison) in &standing.compared {
        if let Some((unit, field)) = comparison.differ.first() {
            let detail = format!("{} runs", comparison.differ.len());
            check.findings.push(Fault::TwiceDiffers.fails(format!("{name}: {unit} in {field}"), detail));
        }
        if let Some(unit) = comparison.alone.first() {
            let detail = format!("{} runs", comparison.alone.len());
            check.findings.push(Fault::Incomplete.lowers(format!("{name}: {unit}"), detail));
        }
    }
    (!standing.compared.is_empty()).then_some(check)
}

/// SHA-256 over `unit NUL state_hash LF`, sorted by unit.
fn replay_digest(outcomes: &BTreeMap<Unit, Outcome>) -> Digest {
    let mut hasher = Hasher::new();
    for (unit, outcome) in outcomes {
        hasher.update(format!("{unit}\0{}\n", crate::outcome::hex16(outcome.state_hash)).as_bytes());
    }
    hasher.finish()
}

/// Holds a conclusion drawn later to what was signed when the run ended: the same outcomes, the same colour. Nothing is added
/// where they agree, so that the verdict hash is that of the run.
pub fn held_to(conclusion: &mut Conclusion, run_id: &str, records: &Records) {
    let signed = records.of(Kind::Run).filter(|record| record.text("run_id") == run_id).last();
    let holdout =
        conclusion.report.checks.iter().any(|check| check.id == FREEZE && check.findings.is_empty());
    let colour = Word::of(conclusion.report.colour()).code();
    let finding = match signed {
        None if holdout => Some(Fault::NotEnded.lowers(run_id.to_owned(), "nobody signed how it ended")),
        None => None,
        Some(record) => {
            let said = record.payload.get("verdict").and_then(|verdict| verdict.get("reason")?.as_str());
            let outcomes = record.text("outcomes_sha256") == conclusion.outcomes_digest.to_hex();
            let differs = match () {
                () if !outcomes => Some("other outcomes were signed"),
                () if said != Some(colour) => Some("another result was signed"),
                () => None,
            };
            differs.map(|why| Fault::RecordDiffers.fails(format!("record {}", record.number), why))
        }
    };
    if let Some(finding) = finding {
        let check = Check::new("RECORD", "the signed record of the run says the same", 1, "records");
        conclusion.report.checks.push(check.with(Some(finding)));
    }
}

/// Signs the record of a run that ended: its evidence class, its replay hash and its verdicts.
///
/// # Errors
/// The record cannot be written.
pub fn sign(
    conclusion: &Conclusion,
    run_id: &str,
    gate_hash: Digest,
    records: &mut Records,
    identity: Identity,
) -> Result<Option<Record>, Problem> {
    let triple = Word::of(conclusion.report.colour()).triple();
    let scenario = |check: &Check| Object::new().with("id", check.id).with("outcome", check.outcome().word());
    let payload = Object::new()
        .with("run_id", run_id)
        .with("subject", conclusion.report.subject.as_str())
        .with("gate_hash", gate_hash)
        .with("evidence_class", ::verdict::evidence::EvidenceClass::Simulated.word())
        .with(
            "verdict",
            Object::new()
                .with("action", triple.action.word())
                .with("layer", triple.layer)
                .with("reason", triple.reason),
        )
        .with("verdict_hash", conclusion.report.verdict_hash())
        .with("verdict_digest", conclusion.report.verdict_digest())
        .with("replay_sha256", conclusion.replay_digest)
        .with("outcomes_sha256", conclusion.outcomes_digest)
        .with("outcomes_n", conclusion.outcomes_n)
        .with("checks", conclusion.report.checks.iter().map(scenario).collect::<Vec<_>>());
    records.append(Kind::Run, identity, |_| Ok(Some(payload)))
}

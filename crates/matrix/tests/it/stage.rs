//! Made-up scenarios, a world with planted faults, and a folder for everything that a run writes.

use canon::Digest;
use ledger::identity::Identity;
use matrix::admission::{Admission, admit};
use matrix::freeze::{Definition, freeze};
use matrix::gate::{GateResult, Measure};
use matrix::lint::{Constant, Linted, Profile, lint};
use matrix::plan::{Plan, Second, Selection};
use matrix::records::Records;
use matrix::runner::{self, End, Options};
use matrix::scenario::{Check, Choice, Context, Demand, Judged, Seeds, Set};
use matrix::shard::Shard;
use matrix::stats::Share;
use matrix::store::Folder;
use matrix::unit::{enumerated, seeded};
use matrix::verdict::{Conclusion, Standing, conclude};
use matrix::{Outcome, Problem, Scenario, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What the scenarios share: faults that are planted, and every run that was made.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) faults: BTreeSet<&'static str>,
    pub(crate) ran: Mutex<Vec<String>>,
    /// State that outlives a run, which a fault lets in.
    carried: AtomicU64,
}

impl World {
    pub(crate) fn with(fault: &'static str) -> World {
        World { faults: BTreeSet::from([fault]), ..World::default() }
    }

    fn has(&self, fault: &str) -> bool {
        self.faults.contains(fault)
    }

    pub(crate) fn ran(&self) -> Vec<String> {
        self.ran.lock().unwrap().clone()
    }
}

pub(crate) const FAULTS: [&str; 7] =
    ["broken", "carried", "unsaved", "panic", "unchecked", "unreached", "gate"];

const CHECKS: [Check; 4] = [
    Check { id: "INV-01", demand: Demand::EveryTick },
    Check { id: "T01.1", demand: Demand::EveryRun },
    Check { id: "T01.2", demand: Demand::SomeRun },
    Check { id: "LIV-07", demand: Demand::Reported },
];

/// Draws from its seeds.
pub(crate) fn t01() -> Scenario<World> {
    Scenario {
        id: "T01",
        title: "a made-up room",
        version: 1,
        stage: 0,
        tags: &["world", "body"],
        seeds: Seeds::Indexed { suite: "T01", calibration: (0, 9), holdout: (50, 59) },
        header: "claim: the sum of draws stays below K.test.sum_max\nthreshold sum: K.test.sum_max\n\
                 threshold share: 0.15\nallow T01.2: 1\nfield: body.owner\n",
        script: &[("stage.rs", "the text of the script")],
        checks: &CHECKS,
        needs: &["odd", "even"],
        mutations: &["broken", "carried", "unsaved", "panic", "unchecked", "unreached", "gate"],
        units: |choice| {
            let indices = T01_SEEDS.indices(choice.set);
            seeded("T01", &["main"], &["mira", "niko"], indices)
        },
        run: t01_run,
        record: |unit, context| Some(format!("replay {unit} {:?}\n", context.seed).into_bytes()),
        gate: t01_gate,
    }
}

const T01_SEEDS: Seeds = Seeds::Indexed { suite: "T01", calibration: (0, 9), holdout: (50, 59) };

pub(crate) const TICKS: u64 = 20;

fn t01_run(unit: &Unit, context: &Context<'_, World>) -> Outcome {
    let world = context.world;
    world.ran.lock().unwrap().push(unit.to_string());
    assert!(!(world.has("panic") && unit.index() == Some(3)), "a planted panic");
    let seed = context.seed.unwrap();
    let mut outcome = Outcome::new(unit);
    let mut state = if world.has("carried") { world.carried.fetch_add(1, Ordering::Relaxed) } else { 0 };
    for tick in 0..TICKS {
        state = room::draw::mix(state ^ room::draw::draw(seed, 7, tick, 0));
        if world.has("unsaved") && context.pass.reload_every.is_some_and(|every| tick % every == 0) {
            state = 0;
        }
        outcome.state_hash = room::draw::mix(outcome.state_hash ^ state);
        let holds = !(world.has("broken") && unit.index() == Some(53) && tick == 7);
        if !holds {
            outcome.fail("INV-01", Some(tick), "two_bodies");
        }
    }
    outcome.ticks = TICKS;
    outcome.checked("INV-01", if world.has("unchecked") { TICKS - 1 } else { TICKS });
    outcome.checked("LIV-07", 0);
    outcome.require("T01.1", true, None, "never");
    outcome.checked("T01.2", 1);
    outcome.count("drinks", i64::try_from(state % 7).unwrap());
    let parity = if state.is_multiple_of(2) { "even" } else { "odd" };
    outcome.reach(if world.has("unreached") { "odd" } else { parity });
    outcome
}

fn t01_gate(judged: &Judged<'_, World>) -> GateResult {
    let of = |identity: &str| {
        let mine = judged.outcomes.iter().filter(|outcome| outcome.unit.identity == identity);
        let odd = mine.clone().filter(|outcome| outcome.reached.contains("odd")).count();
        (identity.to_owned(), Share { k: odd as u64, n: mine.count() as u64 })
    };
    let measures = vec![Measure::Difference { name: "odd".into(), one: of("mira"), other: of("niko") }];
    let finding = ::verdict::report::Finding {
        reason: "matrix_check_failed",
        place: "T01.3".into(),
        detail: "planted".into(),
        fails: true,
    };
    GateResult { findings: judged.world.has("gate").then_some(finding).into_iter().collect(), measures }
}

/// An enumeration: it draws nothing.
pub(crate) fn t02() -> Scenario<World> {
    Scenario {
        id: "T02",
        title: "an enumeration",
        version: 1,
        stage: 0,
        tags: &["queue"],
        seeds: Seeds::Enumerated,
        header: "claim: every part holds\n",
        script: &[],
        checks: &[Check { id: "T02.1", demand: Demand::EveryRun }],
        needs: &["blocked"],
        mutations: &["broken"],
        units: |choice: &Choice| enumerated("T02", &["all"], &["-"], if choice.exhaustive { 9 } else { 5 }),
        run: |unit, context| {
            context.world.ran.lock().unwrap().push(unit.to_string());
            let mut outcome = Outcome::new(unit);
            outcome.require("T02.1", context.seed.is_none(), None, "it_draws");
            outcome.reach("blocked");
            outcome.ticks = 3;
            outcome
        },
        record: matrix::scenario::no_record,
        gate: matrix::scenario::no_gate,
    }
}

pub(crate) fn scenarios() -> Vec<Scenario<World>> {
    vec![t02(), t01()]
}

pub(crate) fn constants() -> Vec<Constant> {
    vec![
        Constant { key: "test.sum_max".into(), stage: 0 },
        Constant { key: "trust.initial".into(), stage: 2 },
        Constant { key: "test.twice".into(), stage: 0 },
        Constant { key: "test.twice".into(), stage: 0 },
    ]
}

pub(crate) fn linted(scenarios: &[Scenario<World>]) -> Linted<'_, World> {
    lint(0, scenarios, &profile(&constants())).unwrap_or_else(|found| panic!("{found:?}"))
}

pub(crate) fn profile(constants: &[Constant]) -> Profile<'_> {
    Profile { config_hash: Digest::of(b"config"), constants, faults: &FAULTS }
}

pub(crate) fn identity() -> Identity {
    Identity::from_seed(&[7; 32])
}

pub(crate) fn holdout<'m>(linted: &'m Linted<'m, World>) -> Plan<'m, World> {
    plan(linted, Selection::all(Set::Holdout))
}

pub(crate) fn calibration<'m>(linted: &'m Linted<'m, World>) -> Plan<'m, World> {
    plan(linted, Selection::all(Set::Calibration))
}

pub(crate) fn plan<'m>(linted: &'m Linted<'m, World>, selection: Selection) -> Plan<'m, World> {
    Plan::of(linted, selection, Some(Second { reload_every: Some(5) }), Shard::WHOLE).unwrap()
}

pub(crate) fn options(threads: usize) -> Options {
    Options { threads: NonZeroUsize::new(threads).unwrap(), batch: NonZeroUsize::new(4).unwrap() }
}

/// A folder with records and runs.
pub(crate) struct Stage {
    pub(crate) root: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        Stage { root: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn records(&self) -> Records {
        Records::read(&self.path("records")).unwrap()
    }

    pub(crate) fn freeze(&self, linted: &Linted<'_, World>) -> matrix::records::Record {
        freeze(&Definition::of(linted), &mut self.records(), identity(), &BTreeMap::new()).unwrap()
    }

    pub(crate) fn admit(
        &self,
        plan: &Plan<'_, World>,
        name: &str,
        again: Option<&str>,
    ) -> Result<(Folder, Admission), Problem> {
        let folder = Folder::open(&self.path(name), &plan.manifest())?;
        let admission = admit(plan, &folder, &mut self.records(), again, identity())?;
        Ok((folder, admission))
    }

    /// Admits and runs to the end.
    pub(crate) fn run(&self, plan: &Plan<'_, World>, name: &str, world: &World, threads: usize) -> Folder {
        let (mut folder, admission) = self.admit(plan, name, None).unwrap();
        let stop = AtomicBool::new(false);
        let end =
            runner::run(plan, &admission, world, &mut folder, options(threads), &stop, &mut |_| ()).unwrap();
        assert_eq!(end, End::Finished);
        folder
    }
}

pub(crate) fn standing(set: Set) -> Standing {
    Standing {
        set,
        exhaustive: false,
        frozen: set == Set::Holdout,
        again: false,
        reloaded: true,
        compared: Vec::new(),
        lowered: Vec::new(),
    }
}

pub(crate) fn concluded(linted: &Linted<'_, World>, folder: &Folder, world: &World, set: Set) -> Conclusion {
    conclude(linted, world, folder.outcomes(), &standing(set)).unwrap()
}

pub(crate) fn code<T>(result: Result<T, Problem>) -> &'static str {
    match result {
        Ok(_) => "nothing",
        Err(problem) => problem.code(),
    }
}

//! k keys: the peer's runs, made again and judged from its chains.

use crate::labelled;
use canon::{Digest, Object, Value};
use ledger::identity::{Identity, PublicKey};
use ledger::{Mode, logbook};
use peers::quorum::{
    Attestation, Author, BadPanel, Binding, Bound, CannotAttest, CannotSelect, Code, Draft, DraftOrderError,
    Executor, Gauged, Inadmissible, Outcome, Probe, Question, Roster, Selection, Suite, Task, Unbound,
    Upheld, Verdict, challenge_rerun, drafts_of_pairs, form_verdict, select_by_quorum, verify_attestation,
};
use std::num::NonZeroUsize;

pub(crate) const FILE: &str = "vectors/receiving-desk/quorum/quorum.json";

pub(crate) fn digest(value: &Value, member: &str) -> Digest {
    Digest::parse(vectors::text(value, member)).unwrap()
}

pub(crate) fn nothing_is_reserved(_: &str) -> bool {
    false
}

pub(crate) fn suite_of(file: &Value) -> Suite {
    let suite =
        Suite::of_normalised(file.get("suite").unwrap().clone(), digest(file, "render_sha256")).unwrap();
    assert_eq!(suite.suite_sha256(), digest(file, "suite_sha256"));
    suite
}

/// A suite of our own with `tests_n` tests.
pub(crate) fn own_suite(tests_n: usize) -> Suite {
    let test = Value::Object(Object::new().with("args", "[1, 2]").with("expected", "3"));
    let normalised = Object::new().with("entry_point", "add").with("tests", vec![test; tests_n]);
    Suite::of_normalised(normalised.into(), Digest::of(b"render")).unwrap()
}

pub(crate) fn task() -> Task {
    Task { task_id: "add-1".to_owned(), entry_point: Some("add".to_owned()) }
}

/// What an executor of the peer's runs says: the truth, its opposite, or the truth at another test.
#[derive(Clone, Copy)]
pub(crate) enum Says {
    Truth,
    Opposite,
    OtherTest,
}

pub(crate) struct Told(pub(crate) Says);

impl Probe for Told {
    type Error = ();

    fn run(&mut self, code: &Code, _: &Bound<'_>) -> Result<Outcome, ()> {
        let good = code.0.contains("a + b\n");
        let (ok, first) = match self.0 {
            Says::Truth => (good, 0),
            Says::Opposite => (!good, 0),
            Says::OtherTest => (good, 1),
        };
        let (first_failing_test, detail_reason) =
            if ok { (None, None) } else { (Some(first), Some("assertion".to_owned())) };
        Ok(Outcome { visible_ok: ok, first_failing_test, loads_ok: true, detail_reason })
    }
}

/// The payload of each entry of an executor's chain, which must verify.
fn entries(path: &std::path::Path, key: &PublicKey) -> Vec<Value> {
    let file = std::fs::read(path).unwrap();
    assert!(logbook::verify(&file, key, Mode::Strict).verify_chain);
    let lines = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| canon::Reader::strict().read(line).unwrap()).collect()
}

/// Compares the members that the peer's verdict has.
pub(crate) fn same(verdict: &Verdict, want: &Value, what: &str) {
    let ours = verdict.to_value();
    for (member, value) in want.as_object().unwrap().iter() {
        assert_eq!(ours.get(member), Some(value), "{what}: {member}");
    }
}

fn quorum_of(options: &Value, k: usize) -> NonZeroUsize {
    let quorum = options.get("quorum").and_then(Value::as_i64).map_or(k / 2 + 1, |quorum| quorum as usize);
    NonZeroUsize::new(quorum).unwrap()
}

/// Each verdict of the peer's runs, formed from the entries of its executors' chains.
#[test]
fn the_peers_chains_give_its_verdicts() {
    let Some(path) = vectors::shared("the_peers_chains_give_its_verdicts", FILE) else { return };
    let file = vectors::json(&path);
    let base = path.parent().unwrap().parent().unwrap();
    let scenarios = vectors::list(&file, "scenarios");
    assert_eq!(scenarios.len(), 8);
    let mut judged = 0;
    for scenario in scenarios {
        let name = vectors::text(scenario, "name");
        let mut roster = Roster::new();
        let mut said = Vec::new();
        for executor in vectors::list(scenario, "executors") {
            let id = vectors::text(executor, "executor_id").to_owned();
            let key = PublicKey::parse(vectors::text(executor, "pub_hex")).unwrap();
            assert_eq!(key.id().as_str(), vectors::text(executor, "vacant_id"));
            for entry in entries(&base.join(vectors::text(executor, "chain")), &key) {
                said.push(Attestation { executor_id: id.clone(), entry });
            }
            roster.insert(id, key);
        }
        let quorum = quorum_of(scenario.get("options").unwrap(), roster.len());
        for want in vectors::list(scenario.get("selection").unwrap(), "verdicts") {
            let draft = digest(want, "draft_sha256");
            let (suite, render) = (digest(&file, "suite_sha256"), digest(&file, "render_sha256"));
            let binding =
                Binding { task_id: vectors::text(want, "task_id").to_owned(), draft, suite, render };
            let about = |said: &&Attestation| {
                said.entry.get("payload").unwrap().get("draft_sha256").unwrap().as_str()
                    == Some(&draft.to_hex())
            };
            let about: Vec<Attestation> = said.iter().filter(about).cloned().collect();
            same(&form_verdict(&about, &roster, &binding, quorum, Gauged::Unchecked), want, name);
            judged += 1;
        }
    }
    assert_eq!(judged, 10);
}

/// Selection compared member by member with the peer's.
pub(crate) fn same_selection(selection: &Selection, want: &Value, what: &str) {
    let shipped = selection.shipped.as_ref().ok();
    let reason = selection.shipped.as_ref().err().and_then(|refused| refused.reason());
    let ours = Object::new()
        .with("task_id", selection.task_id.as_str())
        .with("shipped_index", shipped.map(|shipped| shipped.index as u64))
        .with("shipped_worker", shipped.map(|shipped| shipped.author.0.as_str()))
        .with("shipped_sha256", shipped.map(|shipped| shipped.draft))
        .with("refused", shipped.is_none())
        .with("refusal_reason", reason)
        .with("n_sandbox_runs", selection.runs_n as u64);
    for (member, value) in ours.iter() {
        assert_eq!(Some(value), want.get(member), "{what}: {member}");
    }
    let verdicts = vectors::list(want, "verdicts");
    assert_eq!(selection.verdicts.len(), verdicts.len(), "{what}");
    for (verdict, want) in selection.verdicts.iter().zip(verdicts) {
        same(verdict, want, what);
    }
}

pub(crate) fn drafts_named(file: &Value, pairs: &[(&str, &str)]) -> Vec<Draft> {
    let text = |name: &str| vectors::text(file.get("drafts").unwrap(), name).to_owned();
    pairs
        .iter()
        .map(|(name, author)| Draft { code: Code(text(name)), author: Author((*author).to_owned()) })
        .collect()
}

/// The whole of each run, made again with the peer's keys: the same entry hashes, so the same signed bytes.
#[test]
fn the_peers_runs_made_again() {
    let test = "the_peers_runs_made_again";
    let Some(path) = vectors::shared(test, FILE) else { return };
    let file = vectors::json(&path);
    let (suite, task) = (suite_of(&file), task());
    for scenario in vectors::list(&file, "scenarios") {
        let name = vectors::text(scenario, "name");
        let says = match name {
            "one_liar_named" => [Says::Truth, Says::Truth, Says::Opposite],
            "two_liars_win" => [Says::Truth, Says::Opposite, Says::Opposite],
            "index_liar" => [Says::Truth, Says::Truth, Says::OtherTest],
            "two_executors_tie" => [Says::Truth, Says::Opposite, Says::Truth],
            _ => [Says::Truth; 3],
        };
        let k = vectors::list(scenario, "executors").len();
        let executor = |(index, says): (usize, Says)| {
            let id = format!("exec-{}", index + 1);
            Executor::new(&id, labelled(test, &id).unwrap(), Told(says))
        };
        let mut executors: Vec<Executor<Told>> = says.into_iter().enumerate().take(k).map(executor).collect();
        let pairs: Vec<(&str, &str)> = vectors::list(scenario, "drafts")
            .iter()
            .map(|pair| {
                (pair.as_array().unwrap()[0].as_str().unwrap(), pair.as_array().unwrap()[1].as_str().unwrap())
            })
            .collect();
        let drafts = drafts_named(&file, &pairs);
        let quorum = scenario.get("options").unwrap().get("quorum").and_then(Value::as_i64);
        let question = Question {
            task: &task,
            suite: &suite,
            drafts: &drafts,
            quorum: quorum.map(|quorum| NonZeroUsize::new(quorum as usize).unwrap()),
            committed: None,
            is_reserved: &nothing_is_reserved,
        };
        let selection = select_by_quorum(&question, &mut executors, || 1_790_000_000_000).unwrap();
        same_selection(&selection, scenario.get("selection").unwrap(), name);
        for (executor, want) in executors.iter().zip(vectors::list(scenario, "executors")) {
            let base = path.parent().unwrap().parent().unwrap();
            let chain = std::fs::read(base.join(vectors::text(want, "chain"))).unwrap();
            assert_eq!(executor.lines(), chain, "{name}: {}", executor.id());
        }
    }
}

#[test]
fn the_peers_refusals_of_a_binding() {
    let Some(path) = vectors::shared("the_peers_refusals_of_a_binding", FILE) else { return };
    let file = vectors::json(&path);
    let suite = suite_of(&file);
    let drafts = drafts_named(&file, &[("good", "w1")]);
    for case in vectors::list(&file, "binding_refusals") {
        let given = case.get("task").unwrap();
        let entry_point = given.get("entry_point").and_then(Value::as_str).map(str::to_owned);
        let task = Task { task_id: vectors::text(given, "task_id").to_owned(), entry_point };
        let is_reserved = &nothing_is_reserved;
        let question = Question {
            task: &task,
            suite: &suite,
            drafts: &drafts,
            quorum: None,
            committed: None,
            is_reserved,
        };
        let mut executors = [Executor::new("exec-1", Identity::from_seed(&[1; 32]), Told(Says::Truth))];
        let selection = select_by_quorum(&question, &mut executors, || 1).unwrap();
        same_selection(&selection, case.get("selection").unwrap(), vectors::text(case, "name"));
        assert!(executors[0].lines().is_empty(), "nothing is appended before the suite is bound");
    }
    let reserved = |name: &str| name == "add";
    assert_eq!(suite.bind(&task(), &reserved).err(), Some(Unbound::Reserved));
}

#[test]
fn the_peers_attestations() {
    let test = "the_peers_attestations";
    let Some(path) = vectors::shared(test, FILE) else { return };
    let file = vectors::json(&path);
    let roster: Roster = ["exec-1", "exec-2", "exec-3"]
        .map(|id| (id.to_owned(), labelled(test, id).unwrap().public()))
        .into_iter()
        .collect();
    let cases = vectors::list(&file, "verify_attestation");
    assert_eq!(cases.len(), 12);
    for case in cases {
        let want = case.get("expected_binding").unwrap();
        let binding = Binding {
            task_id: vectors::text(want, "task_id").to_owned(),
            draft: digest(want, "draft_sha256"),
            suite: digest(want, "suite_sha256"),
            render: digest(want, "render_sha256"),
        };
        let said = case.get("attestation").unwrap();
        let executor_id = vectors::text(said, "executor_id").to_owned();
        let said = Attestation { executor_id, entry: said.get("entry").unwrap().clone() };
        let reason = verify_attestation(&said, &roster, &binding).err().map_or("", Inadmissible::code);
        assert_eq!(reason, vectors::text(case, "reason"), "{}", vectors::text(case, "name"));
    }
    // Two different statements of one key.
    let equivocation = file.get("equivocation").unwrap();
    let want = equivocation.get("verdict").unwrap();
    let said: Vec<Attestation> = vectors::list(equivocation, "attestations")
        .iter()
        .map(|said| Attestation {
            executor_id: vectors::text(said, "executor_id").to_owned(),
            entry: said.get("entry").unwrap().clone(),
        })
        .collect();
    let binding = Binding {
        task_id: "add-1".to_owned(),
        draft: digest(want, "draft_sha256"),
        suite: digest(&file, "suite_sha256"),
        render: digest(&file, "render_sha256"),
    };
    same(&form_verdict(&said, &roster, &binding, NonZeroUsize::MIN, Gauged::Unchecked), want, "equivocation");
}

#[test]
fn pairs_without_types() {
    let Some(path) = vectors::shared("pairs_without_types", FILE) else { return };
    let file = vectors::json(&path);
    let cases = vectors::list(file.get("draft_order").unwrap(), "heuristic");
    assert_eq!(cases.len(), 8);
    for case in cases {
        let pairs: Vec<(String, String)> = vectors::list(case, "drafts")
            .iter()
            .map(|pair| {
                let part = |at: usize| pair.as_array().unwrap()[at].as_str().unwrap().to_owned();
                (part(0), part(1))
            })
            .collect();
        let error = drafts_of_pairs(&pairs) == Err(DraftOrderError);
        assert_eq!(Some(error), case.get("error").unwrap().as_bool(), "{pairs:?}");
    }
}

/// A fresh panel overturns a verdict of two liars... and names who dissented in either.
#[test]
fn the_peers_challenge() {
    let test = "the_peers_challenge";
    let Some(path) = vectors::shared(test, FILE) else { return };
    let file = vectors::json(&path);
    let (suite, task) = (suite_of(&file), task());
    let drafts = drafts_named(&file, &[("good", "w1")]);
    let panel = |says: &[Says]| {
        let executor = |(index, says): (usize, &Says)| {
            let id = format!("exec-{}", index + 1);
            Executor::new(&id, labelled(test, &id).unwrap(), Told(*says))
        };
        let mut executors: Vec<_> = says.iter().enumerate().map(executor).collect();
        let is_reserved = &nothing_is_reserved;
        let question = Question {
            task: &task,
            suite: &suite,
            drafts: &drafts,
            quorum: None,
            committed: None,
            is_reserved,
        };
        select_by_quorum(&question, &mut executors, || 1).unwrap().verdicts.remove(0)
    };
    let wrong = panel(&[Says::Truth, Says::Opposite, Says::Opposite]);
    let right = panel(&[Says::Truth, Says::Truth, Says::Truth]);
    let challenge = challenge_rerun(&wrong, &right).unwrap();
    let want = file.get("challenge").unwrap();
    assert_eq!(wrong.visible_ok, want.get("original_visible_ok").unwrap().as_bool());
    assert_eq!(right.visible_ok, want.get("rerun_visible_ok").unwrap().as_bool());
    assert_eq!(challenge.outcome.code(), vectors::text(want, "outcome"));
    let accused: Vec<Value> = challenge.accused.iter().map(|id| id.as_str().into()).collect();
    assert_eq!(Some(&Value::Array(accused)), want.get("accused"));
    assert_eq!(challenge_rerun(&right, &right).unwrap().outcome, Upheld::Upheld);
    let tie = panel(&[Says::Truth, Says::Opposite]);
    assert_eq!(challenge_rerun(&tie, &right).unwrap().outcome, Upheld::Undecided);
    let mut other = right.clone();
    other.binding.task_id = "another".to_owned();
    assert!(challenge_rerun(&right, &other).is_err());
}

/// Arguments that cannot be meant are loud; so is a run that could not be made.
#[test]
fn loud_where_an_argument_is_wrong() {
    struct Broken;
    impl Probe for Broken {
        type Error = &'static str;
        fn run(&mut self, _: &Code, _: &Bound<'_>) -> Result<Outcome, &'static str> {
            Err("no sandbox")
        }
    }
    let suite = own_suite(1);
    let (task, drafts) = (task(), [Draft { code: Code("x".to_owned()), author: Author("w".to_owned()) }]);
    let is_reserved = &nothing_is_reserved;
    let question =
        Question { task: &task, suite: &suite, drafts: &drafts, quorum: None, committed: None, is_reserved };
    let executor = |id: &str, seed: u8| Executor::new(id, Identity::from_seed(&[seed; 32]), Broken);
    let panel = |mut executors: Vec<Executor<Broken>>| select_by_quorum(&question, &mut executors, || 1);
    assert!(matches!(panel(vec![]), Err(CannotSelect::Panel(BadPanel::NoExecutors))));
    let twice = panel(vec![executor("a", 1), executor("a", 2)]);
    assert!(matches!(twice, Err(CannotSelect::Panel(BadPanel::ExecutorTwice))));
    let one_key = panel(vec![executor("a", 1), executor("b", 1)]);
    assert!(matches!(one_key, Err(CannotSelect::Panel(BadPanel::KeyTwice))));
    let broken = panel(vec![executor("a", 1)]);
    assert!(matches!(broken, Err(CannotSelect::Attest(CannotAttest::Probe("no sandbox")))));
}

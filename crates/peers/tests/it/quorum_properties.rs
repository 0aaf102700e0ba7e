//! What holds of every verdict, whoever says what in which order.

use crate::quorum::{nothing_is_reserved, own_suite};
use crate::world::identity;
use canon::{Digest, Value};
use peers::quorum::{
    Attestation, Bound, Code, Executor, Gauged, Inadmissible, Outcome, Probe, Roster, Suite, Task, Upheld,
    Verdict, challenge_rerun, form_verdict,
};
use proptest::prelude::*;
use std::num::NonZeroUsize;

struct Fixed(Outcome);

impl Probe for Fixed {
    type Error = ();

    fn run(&mut self, _: &Code, _: &Bound<'_>) -> Result<Outcome, ()> {
        Ok(self.0.clone())
    }
}

/// What one executor signs: whether it passes the draft, and where it fails.
pub(crate) type Said = (bool, u64);

/// Executor `n` says these things, one after another.
pub(crate) fn statements(panel: &[Vec<Said>]) -> (Roster, Vec<Attestation>) {
    let suite = suite();
    let task = task();
    let bound = suite.bind(&task, &nothing_is_reserved).unwrap();
    let (mut roster, mut all) = (Roster::new(), Vec::new());
    for (n, says) in panel.iter().enumerate() {
        let id = format!("exec-{n}");
        roster.insert(id.clone(), identity(n as u8 + 1).public());
        for (ok, first) in says {
            let outcome = Outcome {
                visible_ok: *ok,
                first_failing_test: (!ok).then_some(*first),
                loads_ok: true,
                detail_reason: None,
            };
            let mut executor = Executor::new(&id, identity(n as u8 + 1), Fixed(outcome));
            all.push(executor.attest(&code(), &bound, 1).unwrap());
        }
    }
    (roster, all)
}

fn suite() -> Suite {
    own_suite(9)
}

fn task() -> Task {
    Task { task_id: "t".to_owned(), entry_point: Some("add".to_owned()) }
}

fn code() -> Code {
    Code("draft".to_owned())
}

pub(crate) fn judge(roster: &Roster, said: &[Attestation], quorum: usize) -> Verdict {
    let (suite, task) = (suite(), task());
    let binding = suite.bind(&task, &nothing_is_reserved).unwrap().binding(&code());
    form_verdict(said, roster, &binding, NonZeroUsize::new(quorum).unwrap(), Gauged::Unchecked)
}

fn said() -> impl Strategy<Value = Said> {
    (any::<bool>(), 0_u64..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Order, and saying the same thing again, change nothing.
    #[test]
    fn order_changes_nothing(
        panel in prop::collection::vec(prop::collection::vec(said(), 1..3), 1..6),
        rotate in 0_usize..8,
        quorum in 1_usize..5,
    ) {
        let (roster, mut all) = statements(&panel);
        let first = judge(&roster, &all, quorum);
        all.reverse();
        let by = rotate % all.len();
        all.rotate_left(by);
        prop_assert_eq!(&judge(&roster, &all, quorum), &first);
        let equivocators = panel.iter().filter(|says| says.iter().any(|one| normal(one) != normal(&says[0]))).count();
        prop_assert_eq!(first.equivocators.len(), equivocators);
        prop_assert_eq!(first.admitted_n() + equivocators, panel.len());
        let mut again = all.clone();
        again.extend(all.iter().cloned());
        prop_assert_eq!(&judge(&roster, &again, quorum), &first);
    }

    /// Up to floor((k - 1) / 2) liars never flip a verdict and are all named; more than half always do.
    #[test]
    fn a_minority_of_liars_never_flips(k in 1_usize..8, liars in 0_usize..8, truth in any::<bool>()) {
        let liars = liars.min(k);
        let panel: Vec<Vec<Said>> = (0..k).map(|n| vec![(truth != (n < liars), 0)]).collect();
        let (roster, all) = statements(&panel);
        let verdict = judge(&roster, &all, k / 2 + 1);
        if liars <= verdict.corrupt_tolerated() {
            prop_assert_eq!(verdict.visible_ok, Some(truth));
            prop_assert_eq!(verdict.dissenters.len(), liars);
            let named = (0..liars).all(|n| verdict.dissenters.contains(&format!("exec-{n}")));
            prop_assert!(named);
        } else if liars * 2 > k {
            prop_assert_eq!(verdict.visible_ok, Some(!truth));
        } else {
            prop_assert_eq!(verdict.visible_ok, None);
        }
        prop_assert_eq!(verdict.is_unanimous(), liars == 0 || liars == k);
    }

    /// A statement that is changed anywhere after it was signed is no vote.
    #[test]
    fn no_edit_survives(member in 0_usize..6) {
        let (roster, all) = statements(&[vec![(false, 1)]]);
        let mut edited = all[0].clone();
        let (path, to): (&str, Value) = [
            ("payload.visible_ok", true.into()),
            ("payload.first_failing_test", Value::Null),
            ("payload.n_visible_tests", 1_i64.into()),
            ("ts_ms", 2_i64.into()),
            ("prev_hash", Digest::of(b"x").into()),
            ("branch_id", "side".into()),
        ][member].clone();
        crate::set(&mut edited.entry, path, to);
        let verdict = judge(&roster, &[edited], 1);
        prop_assert_eq!(verdict.rejected, [("exec-0".to_owned(), Inadmissible::BadSignature)]);
        prop_assert_eq!(verdict.visible_ok, None);
    }
}

/// A pass has no failing test: two passes are the same statement.
fn normal(said: &Said) -> (bool, u64) {
    if said.0 { (true, 0) } else { *said }
}

#[test]
fn a_statement_needs_every_member_of_its_judgement() {
    for member in ["visible_ok", "first_failing_test", "n_visible_tests", "loads_ok", "detail_reason"] {
        for to in [None, Some(Value::Array(Vec::new()))] {
            let (roster, mut all) = statements(&[vec![(true, 0)]]);
            let mut payload = all[0].entry.get("payload").unwrap().clone();
            match to {
                Some(to) => crate::set(&mut payload, member, to),
                None => crate::drop_member(&mut payload, member),
            }
            crate::set(&mut all[0].entry, "payload", payload);
            crate::world::sign(&mut all[0].entry, "sig", 1);
            let rejected = judge(&roster, &all, 1).rejected;
            assert_eq!(rejected, [("exec-0".to_owned(), Inadmissible::MissingVerdictField)], "{member}");
        }
    }
}

/// Of two failing tests named as often, the larger text counts as usual; none sorts after every number.
#[test]
fn detail_dissenters_of_ties() {
    let (roster, all) = statements(&[vec![(false, 0)], vec![(false, 2)], vec![(false, 0)], vec![(false, 2)]]);
    let verdict = judge(&roster, &all, 1);
    assert_eq!(verdict.detail_dissenters.iter().collect::<Vec<_>>(), ["exec-0", "exec-2"]);
    assert!(verdict.is_contested() && !verdict.is_unanimous() && verdict.dissenters.is_empty());
}

#[test]
fn the_limits_stand_in_every_verdict() {
    let (roster, all) = statements(&[vec![(true, 0)], vec![(true, 0)], vec![(true, 0)]]);
    let verdict = judge(&roster, &all, 2).to_value();
    assert_eq!(verdict.get("corrupt_tolerated").unwrap().as_i64(), Some(1));
    assert_eq!(verdict.get("suite_corruption_detected").unwrap().as_bool(), Some(false));
    assert_eq!(verdict.get("unanimous").unwrap().as_bool(), Some(true));
    let nobody = judge(&Roster::new(), &[], 1);
    assert_eq!((nobody.visible_ok, nobody.is_unanimous(), nobody.corrupt_tolerated()), (None, false, 0));
}

/// A name, what each executor says, and what that decides.
pub(crate) type Panel = (&'static str, Vec<Vec<Said>>, Option<bool>);

/// Panels of the vectors of our own.
pub(crate) fn panels() -> Vec<Panel> {
    let (pass, fail) = (vec![(true, 0)], vec![(false, 0)]);
    vec![
        ("three_pass", vec![pass.clone(), pass.clone(), pass.clone()], Some(true)),
        ("one_liar_is_named", vec![pass.clone(), pass.clone(), fail.clone()], Some(true)),
        ("two_liars_decide", vec![fail.clone(), pass.clone(), pass.clone()], Some(true)),
        ("another_failing_test", vec![fail.clone(), fail.clone(), vec![(false, 1)]], Some(false)),
        ("a_tie_is_undecided", vec![pass.clone(), fail.clone()], None),
        (
            "equivocation_voids_both",
            vec![vec![(true, 0), (false, 0)], pass.clone(), pass.clone()],
            Some(true),
        ),
        ("nobody_is_left", vec![vec![(true, 0), (false, 0)]], None),
    ]
}

/// Each reason alone, on statements that the executor signed; they are looked at in this order.
#[test]
fn every_reason_why_a_statement_is_no_vote() {
    let edited = |edit: fn(&mut Attestation)| {
        let (roster, mut all) = statements(&[vec![(true, 0)]]);
        edit(&mut all[0]);
        crate::world::sign(&mut all[0].entry, "sig", 1);
        judge(&roster, &all, 1).rejected.remove(0).1
    };
    type Edit = fn(&mut Attestation);
    let cases: [(Inadmissible, Edit); 8] = [
        (Inadmissible::UnknownExecutor, |said| said.executor_id = "nobody".to_owned()),
        (Inadmissible::WrongEntryType, |said| crate::set(&mut said.entry, "type", "note")),
        (Inadmissible::BadVersion, |said| crate::set(&mut said.entry, "payload.v", 1_i64)),
        (Inadmissible::ExecutorIdMismatch, |said| {
            crate::set(&mut said.entry, "payload.executor_id", "exec-1")
        }),
        (Inadmissible::TaskMismatch, |said| crate::set(&mut said.entry, "payload.task_id", "another")),
        (Inadmissible::DraftMismatch, |said| {
            crate::set(&mut said.entry, "payload.draft_sha256", Digest::ZERO)
        }),
        (Inadmissible::SuiteMismatch, |said| {
            crate::set(&mut said.entry, "payload.suite_sha256", Digest::ZERO)
        }),
        (Inadmissible::RenderMismatch, |said| {
            crate::set(&mut said.entry, "payload.render_sha256", Digest::ZERO)
        }),
    ];
    for (reason, edit) in cases {
        assert_eq!(edited(edit), reason);
    }
    let (roster, mut all) = statements(&[vec![(true, 0)]]);
    crate::set(&mut all[0].entry, "sig", "ZZ");
    assert_eq!(judge(&roster, &all, 1).rejected[0].1, Inadmissible::BadSignatureEncoding);
}

#[test]
fn a_second_panel_overturns() {
    let panel = |says: &[Vec<Said>]| {
        let (roster, all) = statements(says);
        judge(&roster, &all, 2)
    };
    let wrong = panel(&[vec![(true, 0)], vec![(false, 0)], vec![(true, 0)]]);
    let right = panel(&[vec![(false, 0)], vec![(false, 0)], vec![(true, 0)]]);
    let challenge = challenge_rerun(&wrong, &right).unwrap();
    assert_eq!(challenge.outcome, Upheld::Overturned);
    assert_eq!(challenge.accused.iter().collect::<Vec<_>>(), ["exec-1", "exec-2"]);
}

/// The same judgement signed at two moments is one vote, and which entry is the evidence does not depend on the order.
#[test]
fn one_judgement_at_two_moments_is_one_vote() {
    let (suite, task) = (suite(), task());
    let bound = suite.bind(&task, &nothing_is_reserved).unwrap();
    let outcome = Outcome { visible_ok: true, first_failing_test: None, loads_ok: true, detail_reason: None };
    let mut executor = Executor::new("exec-0", identity(1), Fixed(outcome));
    let mut said = [1, 2].map(|ts_ms| executor.attest(&code(), &bound, ts_ms).unwrap());
    let roster = Roster::from([("exec-0".to_owned(), executor.key())]);
    let first = judge(&roster, &said, 1);
    said.reverse();
    assert_eq!(judge(&roster, &said, 1), first);
    assert_eq!((first.admitted_n(), first.is_unanimous()), (1, true));
}

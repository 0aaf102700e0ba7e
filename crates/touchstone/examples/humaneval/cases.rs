//! The same honest runs, signed by executors some of whom do not say what they saw.

use crate::bank::Bank;
use crate::executors::{Draft, EXECUTORS, QUORUM, Seen, attest, bound, name};
use desk::keydir;
use peers::quorum::{
    Attestation, Bound, Code, Executor, Gauged, Outcome, Probe, Roster, Verdict, form_verdict,
};
use std::convert::Infallible;

/// What an executor does with what it saw.
#[derive(Clone, Copy)]
enum Says {
    Truth,
    /// The other verdict.
    Inverse,
    /// The right verdict, and another first failing test where there is one.
    OtherTest,
    /// What it saw, and signs the other verdict too.
    Both,
}

const CASES: [(&str, [Says; EXECUTORS]); 5] = [
    ("a: all honest", [Says::Truth; EXECUTORS]),
    ("b: one inverts every verdict", [Says::Truth, Says::Truth, Says::Inverse]),
    ("c: one lies about the first failing test", [Says::Truth, Says::Truth, Says::OtherTest]),
    ("d: one signs two different statements", [Says::Truth, Says::Truth, Says::Both]),
    ("e: two liars agree", [Says::Truth, Says::Inverse, Says::Inverse]),
];

/// What a case came to. All counts are of drafts.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Drafts that were judged.
    pub(crate) n: usize,
    /// The verdict is what three honest runs saw.
    pub(crate) right: usize,
    /// There is no verdict.
    pub(crate) undecided: usize,
    /// Somebody signed what he did not see.
    pub(crate) lies: usize,
    /// Of those, all liars are named.
    pub(crate) liar_named: usize,
    /// An honest executor is named.
    pub(crate) honest_named: usize,
}

/// Signs what it is told to.
struct Told(Outcome);

impl Probe for Told {
    type Error = Infallible;

    fn run(&mut self, _: &Code, _: &Bound<'_>) -> Result<Outcome, Infallible> {
        Ok(self.0.clone())
    }
}

impl Says {
    /// What is signed, in this order.
    fn statements(self, seen: &Outcome) -> Vec<Outcome> {
        match self {
            Says::Truth => vec![seen.clone()],
            Says::Inverse => vec![inverse(seen)],
            Says::OtherTest if seen.visible_ok => vec![seen.clone()],
            Says::OtherTest => {
                let other = seen.first_failing_test.map_or(0, |test| test + 1);
                vec![Outcome { first_failing_test: Some(other), loads_ok: true, ..seen.clone() }]
            }
            Says::Both => vec![seen.clone(), inverse(seen)],
        }
    }
}

fn inverse(seen: &Outcome) -> Outcome {
    let reason = seen.visible_ok.then(|| check::Detail::WrongValue.code().to_owned());
    Outcome {
        visible_ok: !seen.visible_ok,
        first_failing_test: seen.visible_ok.then_some(0),
        loads_ok: true,
        detail_reason: reason,
    }
}

/// Every case over every draft of which the honest runs agree.
pub(crate) fn all(bank: &Bank, drafts: &[Draft], seen: &Seen) -> Result<Vec<Case>, String> {
    CASES.iter().map(|(name, says)| case(name, says, bank, drafts, seen)).collect()
}

fn case(
    title: &'static str,
    says: &[Says; EXECUTORS],
    bank: &Bank,
    drafts: &[Draft],
    seen: &Seen,
) -> Result<Case, String> {
    let mut executors = Vec::new();
    let nothing =
        Outcome { visible_ok: false, first_failing_test: None, loads_ok: false, detail_reason: None };
    for number in 0..EXECUTORS {
        let identity = keydir::fresh().map_err(|error| error.to_string())?;
        executors.push(Executor::new(&name(number), identity, Told(nothing.clone())));
    }
    let roster: Roster =
        executors.iter().map(|executor| (executor.id().to_owned(), executor.key())).collect();
    let mut case =
        Case { name: title, n: 0, right: 0, undecided: 0, lies: 0, liar_named: 0, honest_named: 0 };
    for (number, draft) in drafts.iter().enumerate() {
        let Some(truth) = seen.truth(number) else { continue };
        let bound = bound(&bank.problems[draft.problem])?;
        let (mut statements, mut liars): (Vec<Attestation>, Vec<usize>) = (Vec::new(), Vec::new());
        for (place, executor) in executors.iter_mut().enumerate() {
            let own = &seen.by_executor[place][number];
            let said = says[place].statements(own);
            if said.as_slice() != std::slice::from_ref(own) {
                liars.push(place);
            }
            for outcome in said {
                executor.probe().0 = outcome;
                statements.push(attest(executor, &draft.code, &bound)?);
            }
        }
        let binding = bound.binding(&draft.code);
        let verdict = form_verdict(&statements, &roster, &binding, QUORUM, Gauged::Unchecked);
        case.count(&verdict, truth, &liars);
    }
    Ok(case)
}

impl Case {
    fn count(&mut self, verdict: &Verdict, truth: &Outcome, liars: &[usize]) {
        let named = |number: &usize| {
            let id = name(*number);
            let lists = [&verdict.dissenters, &verdict.detail_dissenters, &verdict.equivocators];
            lists.iter().any(|list| list.contains(&id))
        };
        self.n += 1;
        self.right += usize::from(verdict.visible_ok == Some(truth.visible_ok));
        self.undecided += usize::from(verdict.visible_ok.is_none());
        self.lies += usize::from(!liars.is_empty());
        self.liar_named += usize::from(!liars.is_empty() && liars.iter().all(named));
        self.honest_named +=
            usize::from((0..EXECUTORS).any(|number| !liars.contains(&number) && named(&number)));
    }
}

//! `verify_delivery`: every check met alone, in the order in which they stand.

use crate::world::{ANSWER, DELIVERER, REVIEWERS, World, chain_of, deliver, identity, usual_chain};
use crate::{labelled, set};
use canon::{Digest, Object, Value};
use ledger::identity::PublicKey;
use peers::delegation::{
    Asked, Check, Desk, Live, NotAdmitted, Policy, Refusal, Undelivered, verify_delivery,
};
use peers::ecosystem::{Announcement, Registry};
use std::cell::Cell;

/// A check whose answers are given, which counts its runs.
struct Told {
    usable: bool,
    passes: Option<bool>,
    runs: Cell<u32>,
}

impl Check for Told {
    fn is_usable(&self, _: &Value) -> bool {
        self.usable
    }

    fn passes(&self, _: &Value, _: &str) -> Option<bool> {
        self.runs.set(self.runs.get() + 1);
        self.passes
    }
}

/// A desk around a delivery.
struct Scene {
    world: World,
    registry: Registry,
    policy: Policy,
    check: Told,
    substrate: &'static str,
    chain: Option<Vec<u8>>,
}

pub(crate) fn announce(registry: &mut Registry, key: PublicKey) {
    let id = key.id();
    let said = Announcement {
        id: id.as_str(),
        key,
        stream: None,
        branch: "main",
        substrate: "stub",
        families: &[],
        controller: None,
    };
    registry.announce(&said).unwrap();
}

impl Scene {
    fn new(world: World) -> Scene {
        let mut registry = Registry::new();
        for seed in [DELIVERER, REVIEWERS[0], REVIEWERS[1]] {
            announce(&mut registry, identity(seed).public());
        }
        let check = Told { usable: true, passes: Some(true), runs: Cell::new(0) };
        let chain = Some(world.chain.clone());
        Scene { world, registry, policy: Policy::default(), check, substrate: "stub", chain }
    }

    fn judge(&self) -> Result<(), Undelivered> {
        let live = |_: &str| Some(Live { substrate: self.substrate, chain: self.chain.as_deref()? });
        let desk = Desk { registry: &self.registry, live: &live, policy: self.policy, check: &self.check };
        verify_delivery(&self.world.receipt, &self.world.card, &self.world.asked(), &desk).map(|_| ())
    }
}

fn refused(want: Undelivered, change: impl FnOnce(&mut Scene)) {
    let mut scene = Scene::new(World::new());
    change(&mut scene);
    assert_eq!(scene.judge(), Err(want));
    let ran = scene.check.runs.get();
    let local = matches!(want, Undelivered::CheckFailed | Undelivered::CheckNotMeasured);
    assert_eq!(ran, u32::from(local), "{want:?}: the check runs last, once");
}

#[test]
fn a_delivery_that_holds_is_taken_after_one_run() {
    let scene = Scene::new(World::new());
    assert_eq!(scene.judge(), Ok(()));
    assert_eq!(scene.check.runs.get(), 1);
}

#[test]
fn before_the_chain() {
    refused(Undelivered::CheckUnusable, |s| s.check.usable = false);
    refused(Undelivered::SignerUnknown, |s| s.registry = Registry::new());
    refused(Undelivered::SignerUnknown, |s| set(&mut s.world.receipt, "signer", Value::Null));
    refused(Undelivered::Receipt(Refusal::AnswerDigest), |s| s.world.answer.push(' '));
    refused(Undelivered::Receipt(Refusal::Signature), |s| set(&mut s.world.receipt, "attempts", 2_i64));
}

#[test]
fn the_live_chain() {
    refused(Undelivered::ChainMissing, |s| s.chain = None);
    refused(Undelivered::ChainBroken, |s| s.chain = Some(Vec::new()));
    refused(Undelivered::ChainBroken, |s| {
        let text = String::from_utf8(s.chain.take().unwrap()).unwrap();
        s.chain = Some(text.replace("alpha", "omega").into_bytes());
    });
    refused(Undelivered::Substrate, |s| s.substrate = "another");
    refused(Undelivered::Stream, |s| s.chain = Some(chain_of(&[("GENESIS", Object::new())]).0));
    refused(Undelivered::Branch, |s| {
        set(&mut s.world.receipt, "signer.branch_id", "side");
        for (index, reviewer) in REVIEWERS.into_iter().enumerate() {
            set(&mut s.world.card, &format!("reviews.{index}.envelope.branch_id"), "side");
            s.world.sign_review(index, reviewer);
        }
    });
    refused(Undelivered::HeadMoved, |s| {
        let mut entries = usual_chain();
        entries.push(("NEXT", Object::new()));
        s.chain = Some(chain_of(&entries).0);
    });
    // A legal prefix is a chain that holds, and not the one that was signed.
    refused(Undelivered::HeadMoved, |s| s.chain = Some(chain_of(&usual_chain()[..2]).0));
}

#[test]
fn the_reviewers() {
    refused(Undelivered::ReviewerUnknown, |s| {
        s.registry = Registry::new();
        announce(&mut s.registry, identity(DELIVERER).public());
        announce(&mut s.registry, identity(REVIEWERS[0]).public());
    });
}

/// The reviewed entry, on chains that hold.
#[test]
fn the_reviewed_entry() {
    let on = |entries: &[(&str, Object)], reviewed: usize| Scene::new(World::on(entries, reviewed)).judge();
    let mut scene = Scene::new(World::new());
    set(&mut scene.world.card, "reviews.0.envelope.target_head", Digest::of(b"nowhere"));
    scene.world.sign_review(0, REVIEWERS[0]);
    assert_eq!(scene.judge(), Err(Undelivered::ReviewedEntryUnknown));
    assert_eq!(on(&usual_chain(), 0), Err(Undelivered::ReviewedEntryPlace));
    assert_eq!(on(&usual_chain(), 2), Err(Undelivered::ReviewedEntryPlace));
    let with = |kind: &'static str, payload: Object| {
        vec![("GENESIS", Object::new()), (kind, payload), ("CLOSE", Object::new())]
    };
    assert_eq!(on(&with("NOTE", deliver()), 1), Err(Undelivered::ReviewedEntryType));
    assert_eq!(on(&with("DELIVER", deliver().with("task_id", "t-2")), 1), Err(Undelivered::ReviewedTask));
    let other = deliver().with("answer_sha256", Digest::of(b"another"));
    assert_eq!(on(&with("DELIVER", other), 1), Err(Undelivered::ReviewedAnswer));
    assert_eq!(on(&with("DELIVER", deliver()), 1), Ok(()));
}

#[test]
fn the_policy() {
    let not = |refusal| Undelivered::Policy(refusal);
    refused(not(NotAdmitted::TrustOff), |s| {
        set(&mut s.world.card, "trust_on", false);
        set(&mut s.world.receipt, "trust_on", false);
        s.world.sign_card();
    });
    refused(not(NotAdmitted::NotVerified), |s| {
        set(&mut s.world.receipt, "verified", false);
        s.world.sign_receipt();
    });
    let audit = |s: &mut Scene, performed: bool, passed: bool| {
        for member in ["performed", "passed"] {
            let value = if member == "passed" { passed } else { performed };
            set(&mut s.world.card, &format!("audit.{member}"), value);
            set(&mut s.world.receipt, &format!("audit.{member}"), value);
        }
        s.world.sign_card();
    };
    refused(not(NotAdmitted::NotAudited), |s| audit(s, false, false));
    refused(not(NotAdmitted::AuditFailed), |s| audit(s, true, false));
    let unreviewed = |s: &mut Scene| {
        set(&mut s.world.card, "reviews", Vec::<Value>::new());
        set(&mut s.world.receipt, "reviews.count", 0_i64);
        set(&mut s.world.receipt, "reviews.passed", 0_i64);
        s.world.sign_card();
    };
    refused(not(NotAdmitted::TooFewReviews), unreviewed);
    let attempts = |s: &mut Scene, attempts: i64| {
        set(&mut s.world.receipt, "attempts", attempts);
        s.world.sign_receipt();
    };
    refused(not(NotAdmitted::Attempts), |s| attempts(s, 4));
    refused(not(NotAdmitted::Attempts), |s| attempts(s, 0));
    // What a policy may give up, and what not.
    let mut scene = Scene::new(World::new());
    unreviewed(&mut scene);
    audit(&mut scene, false, false);
    scene.policy = Policy::default().without_audit().with_passing_reviews(0);
    assert_eq!(scene.judge(), Ok(()));
    audit(&mut scene, true, false);
    assert_eq!(scene.judge(), Err(not(NotAdmitted::AuditFailed)));
    assert!(
        Policy::default().with_max_attempts(0).is_err() && Policy::default().with_max_attempts(11).is_err()
    );
    assert_eq!(Policy::default().with_max_attempts(10).unwrap().max_attempts(), 10);
    assert_eq!(Policy::default().max_attempts(), 3);
}

/// What the deliverer says of its own answer is never taken over.
#[test]
fn the_check_runs_here_and_last() {
    refused(Undelivered::CheckFailed, |s| s.check.passes = Some(false));
    refused(Undelivered::CheckNotMeasured, |s| s.check.passes = None);
}

/// The peer's delivery, chain and card, as a whole.
#[test]
fn the_peers_delivery() {
    let test = "the_peers_delivery";
    let Some(folder) = vectors::shared(test, "vectors/receiving-desk/delegation") else { return };
    let file = vectors::json(&folder.join("delegation.json"));
    let chain = std::fs::read(folder.join("deliverer_chain.ndjson")).unwrap();
    let mut registry = Registry::new();
    for label in ["alpha", "reviewer", "gamma"] {
        announce(&mut registry, labelled(test, label).unwrap().public());
    }
    let given = file.get("given").unwrap();
    let asked = Asked {
        request_id: Some("req-0001"),
        task: vectors::text(given, "task"),
        tests: given.get("tests").unwrap(),
        risk: "high",
        answer: ANSWER,
    };
    let check = Told { usable: true, passes: Some(true), runs: Cell::new(0) };
    let live = |_: &str| Some(Live { substrate: "stub", chain: &chain });
    let desk = Desk { registry: &registry, live: &live, policy: Policy::default(), check: &check };
    let taken = verify_delivery(file.get("receipt").unwrap(), file.get("trust_card").unwrap(), &asked, &desk)
        .unwrap();
    assert_eq!(taken.reviews.passed, 2);
}

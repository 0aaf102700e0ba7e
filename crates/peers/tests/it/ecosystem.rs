//! Reputation, weights, routes and audits.

use canon::Value;
use peers::Fixed;
use peers::delegation::{Dimension, Scores, Word};
use peers::ecosystem::{
    Auditor, Candidate, Key, Penalty, Reputation, Router, WEIGHT_SAME_ORIGIN, random_route, review_weight,
    slashed, ucb,
};
use proptest::prelude::*;

const FILE: &str = "vectors/receiving-desk/reputation/reputation.json";

fn number(text: &str) -> Fixed {
    Fixed::parse(text).unwrap()
}

/// The peer's binary64 and our decimal agree to 1e-12, relatively.
fn near(got: Fixed, want: &Value, what: &str) {
    let got: f64 = got.to_text().parse().unwrap();
    let want: f64 = Fixed::read(want).unwrap().to_text().parse().unwrap();
    assert!((got - want).abs() <= 1e-12 * want.abs(), "{what}: {got} for {want}");
}

fn key(substrate: &str) -> Key {
    let word = |text: &str| text.to_owned();
    Key { stream: word("s"), branch: word("main"), substrate: word(substrate), family: String::new() }
}

#[test]
fn the_peers_trace() {
    let Some(path) = vectors::shared("the_peers_trace", FILE) else { return };
    let file = vectors::json(&path);
    let names: Vec<&str> = vectors::list(&file, "dims").iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names, Dimension::CODES);
    let mut reputation = Reputation::new();
    let (x, y) = (key("x"), key("y"));
    let (pass, fail) = (Scores::all(Word::Pass), Scores::all(Word::Fail));
    for step in vectors::list(&file, "trace") {
        let op = vectors::text(step, "op");
        match op {
            "empty" => {}
            "review 1.0 weight 1" => reputation.review(&x, &pass, Fixed::ONE),
            "review 0.0 weight 1" => reputation.review(&x, &fail, Fixed::ONE),
            "review 1.0 same_signal (weight capped at 0.1)" => {
                reputation.review(&x, &pass, Fixed::ONE.min(WEIGHT_SAME_ORIGIN));
            }
            "review 1.0 weight 0.05 same_signal" => {
                reputation.review(&x, &pass, number("0.05").min(WEIGHT_SAME_ORIGIN));
            }
            "review only factual 0.5 weight 2" => {
                let scores = Scores::only(Dimension::Factual, Fixed::HALF).unwrap();
                reputation.review(&x, &scores, Fixed::whole(2));
            }
            "slash 0.5" => reputation.slash("s", Fixed::HALF, Fixed::ONE),
            "slash 0.8 lambda 0" => reputation.slash("s", number("0.8"), Fixed::ZERO),
            "slash 0.8 lambda 0.5" => reputation.slash("s", number("0.8"), Fixed::HALF),
            "200 reviews of the same stream on another substrate (half-life decay)" => {
                (0..200).for_each(|_| reputation.review(&y, &pass, Fixed::ONE));
            }
            other => panic!("an operation that no trace had: {other}"),
        }
        near(reputation.score(&x), step.get("score").unwrap(), op);
        let observations = step.get("observations").unwrap();
        if op == "empty" {
            assert_eq!(reputation.observations(&x), Fixed::ZERO);
        } else {
            near(reputation.observations(&x), observations, op);
        }
    }
    let cells = file.get("state_json").unwrap().get("cells").unwrap();
    for (cell, key) in [("s\u{241f}main\u{241f}x", &x), ("s\u{241f}main\u{241f}y", &y)] {
        for dimension in Dimension::ALL {
            let want = vectors::list(cells.get(cell).unwrap(), dimension.code());
            let (alpha, beta, seq) = reputation.counts(key, *dimension).unwrap();
            near(alpha, &want[0], cell);
            near(beta, &want[1], cell);
            assert_eq!(Some(seq as i64), want[2].as_i64(), "{cell}");
        }
    }
}

#[test]
fn the_peers_slashes_and_bounds() {
    let Some(path) = vectors::shared("the_peers_slashes_and_bounds", FILE) else { return };
    let file = vectors::json(&path);
    for case in vectors::list(&file, "slash") {
        let of = |member: &str| Fixed::read(case.get(member).unwrap()).unwrap();
        let (alpha, beta) = slashed(of("alpha"), of("beta"), of("factor"), of("lambda"));
        near(alpha, case.get("alpha_after").unwrap(), "alpha");
        near(beta, case.get("beta_after").unwrap(), "beta");
        near(alpha.over(alpha.plus(beta)).unwrap(), case.get("mean_after").unwrap(), "mean");
    }
    for case in vectors::list(&file, "ucb") {
        let of = |member: &str| Fixed::read(case.get(member).unwrap()).unwrap();
        let total = case.get("total").unwrap().as_i64().unwrap() as u64;
        near(ucb(of("rep"), of("obs"), total), case.get("ucb").unwrap(), "ucb");
    }
}

#[test]
fn a_factor_that_is_none_changes_nothing() {
    let (alpha, beta) = (Fixed::whole(9), Fixed::whole(3));
    for factor in ["0", "-1", "1.5"] {
        assert_eq!(slashed(alpha, beta, number(factor), Fixed::ONE), (alpha, beta), "{factor}");
    }
    assert_eq!(Penalty::FalseDelivery.factor(), Fixed::HALF);
    assert_eq!(Penalty::FalsePass.factor(), Fixed::HALF);
    assert_eq!(Penalty::FalseBlock.factor(), number("0.8"));
}

/// A penalty follows the stream wherever it works, and no other stream.
#[test]
fn a_penalty_is_not_shed() {
    let mut reputation = Reputation::new();
    let of = |stream: &str, substrate: &str, family: &str| Key {
        stream: stream.to_owned(),
        family: family.to_owned(),
        ..key(substrate)
    };
    let keys = [of("s", "x", ""), of("s", "x", "parsing"), of("s", "y", ""), of("other", "x", "")];
    for key in &keys {
        reputation.review(key, &Scores::all(Word::Pass), Fixed::whole(3));
    }
    let before: Vec<Fixed> = keys.iter().map(|key| reputation.score(key)).collect();
    reputation.punish("s", Penalty::FalseDelivery);
    let after: Vec<Fixed> = keys.iter().map(|key| reputation.score(key)).collect();
    assert!((0..3).all(|at| after[at] < before[at]) && after[3] == before[3], "{before:?} {after:?}");
}

#[test]
fn weights() {
    let weight =
        |score: &str, obs: &str, same, new| review_weight(number(score), number(obs), same, new).to_text();
    assert_eq!(weight("0.9", "15", None, None), "0.675");
    assert_eq!(weight("0.1", "0", None, None), "0.05");
    assert_eq!(weight("0.9", "15", Some(1), None), "0.1");
    assert_eq!(weight("0.9", "15", Some(2), None), "0.05");
    assert_eq!(weight("0.9", "15", Some(4), None), "0.025");
    assert_eq!(weight("0.9", "4", None, Some(5)), "0.02");
    assert_eq!(weight("0.9", "4", Some(2), Some(10)), "0.01");
}

fn candidate(id: &str, order: u64, score: &str, observations: &str) -> Candidate {
    let (score, observations) = (number(score), number(observations));
    Candidate { id: id.to_owned(), order, score, observations, marked: false }
}

#[test]
fn routes() {
    let old = candidate("old", 0, "0.9", "20");
    let new = candidate("new", 1, "0.5", "0");
    let mut marked = candidate("marked", 2, "0.99", "50");
    marked.marked = true;
    let all = [old, new, marked];
    let mut router = Router::new();
    let routes: Vec<&str> = (0..20).map(|_| router.route(&all).unwrap()).collect();
    // The newcomer's bound would be in the thousands: the cap holds it down, but every tenth route is for probation.
    for (route, turn) in routes.iter().zip(1..) {
        assert_eq!(*route, if turn % 10 == 0 { "new" } else { "old" }, "{turn}");
    }
    // Everybody on probation: no cap, and of equals the earlier announced.
    let both = [candidate("b", 1, "0.5", "0"), candidate("a", 0, "0.5", "0")];
    assert_eq!(Router::new().route(&both), Some("a"));
    assert_eq!(Router::new().route(&[]), None);
    // Nobody on probation: the tenth route is like any other.
    let known = [candidate("known", 0, "0.5", "9")];
    let mut router = Router::new();
    assert!((0..10).all(|_| router.route(&known) == Some("known")));
}

#[test]
fn random_routes_are_those_of_the_hash() {
    // SHA-256("niche:7") modulo 3, computed by hand with another tool's big numbers.
    let digest = canon::Digest::of(b"niche:7");
    let sum = digest.as_bytes().iter().fold(0_u32, |rest, byte| rest + u32::from(*byte));
    // 256 is 1 modulo 3: the rest of the number is that of the sum of its bytes.
    let want = ["a", "b", "c"][(sum % 3) as usize];
    assert_eq!(random_route("niche", "7", &["c", "a", "b"]), Some(want));
    assert_eq!(random_route("niche", "7", &[]), None);
    assert_eq!(random_route("niche", "7", &["only"]), Some("only"));
}

#[test]
fn audits() {
    let audited = |rate: &str| {
        let auditor = Auditor::new("seed", number(rate));
        (0..2000).filter(|task| auditor.audits(&format!("t-{task}"), false)).count()
    };
    assert_eq!((audited("0"), audited("1"), audited("-1"), audited("2")), (0, 2000, 0, 2000));
    let a_fifth = audited("0.2");
    assert!((320..480).contains(&a_fifth), "{a_fifth} of 2000");
    assert!(Auditor::new("seed", Fixed::ZERO).audits("t", true), "a forced audit is made at any rate");
    assert_eq!(Auditor::RATE, number("0.2"));
    let other = Auditor::new("other", number("0.2"));
    let both = Auditor::new("seed", number("0.2"));
    assert!(
        (0..200).any(|task| other.audits(&task.to_string(), false) != both.audits(&task.to_string(), false))
    );
}

proptest! {
    /// A score stays between 0 and 1, observations never fall below 0, whatever is done.
    #[test]
    fn scores_stay_in_range(steps in prop::collection::vec((0_u8..4, 0_i64..2000), 0..60)) {
        let mut reputation = Reputation::new();
        for (what, n) in steps {
            let amount = Fixed::thousandths(n);
            match what {
                0 => reputation.review(&key("x"), &Scores::all(Word::Pass), amount),
                1 => reputation.review(&key("x"), &Scores::all(Word::Fail), amount),
                2 => reputation.review(&key("y"), &Scores::all(Word::Pass), amount),
                _ => reputation.slash("s", amount, Fixed::ONE),
            }
            let score = reputation.score(&key("x"));
            prop_assert!(score >= Fixed::ZERO && score <= Fixed::ONE);
            prop_assert!(reputation.observations(&key("x")) >= Fixed::ZERO);
        }
    }

    /// A slash never raises a mean.
    #[test]
    fn a_slash_takes(alpha in 1_i64..100_000, beta in 1_i64..100_000, factor in 1_i64..1000, lambda in 0_i64..1000) {
        let (alpha, beta) = (Fixed::thousandths(alpha), Fixed::thousandths(beta));
        let (a, b) = slashed(alpha, beta, Fixed::thousandths(factor), Fixed::thousandths(lambda));
        let mean = |a: Fixed, b: Fixed| a.over(a.plus(b)).unwrap();
        prop_assert!(mean(a, b) <= mean(alpha, beta));
    }
}

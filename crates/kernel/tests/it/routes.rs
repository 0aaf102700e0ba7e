//! K-3: the router is the same bits everywhere; how often it is right is disclosed, not promised.

use super::stage::kernel;
use canon::Hasher;
use kernel::route::{Accuracy, Channel, Route, Router, Scratch, Unrouted, accuracy, intents};
use kernel::skill::Manifest;

fn manifest(name: &str, description: &str, triggers: &[&str]) -> Manifest {
    Manifest {
        name: name.to_owned(),
        version: 1,
        description: description.to_owned(),
        triggers: triggers.iter().map(|trigger| (*trigger).to_owned()).collect(),
        permission: 0,
        arguments: Vec::new(),
        examples: Vec::new(),
    }
}

/// A corpus of its own, so that no new skill moves the digests.
fn corpus() -> Vec<Manifest> {
    vec![
        manifest("fruit.apple", "Peel and slice apples and pears for a cake.", &["peel apples"]),
        manifest("fruit.pear", "Cook pears with sugar and slice them.", &["cook pears", "pear jam"]),
        manifest("iron.forge", "Heat iron and hammer it into a horseshoe.", &["make a horseshoe"]),
        manifest("iron.weld", "Join two pieces of iron with heat.", &["pear jam"]),
        manifest("sea.sail", "Set the sails of a ship and leave the harbour.", &[]),
        manifest("sea.row", "Row a boat across the harbour.", &[]),
    ]
}

fn fitted() -> Router {
    Router::fit(&corpus().iter().collect::<Vec<_>>()).unwrap()
}

const QUERIES: [&str; 6] = [
    "peel the apples",
    "hammer hot iron",
    "a ship in the harbour",
    "sugar cake",
    "rowing across, heating pears, sailing ships and some words that nobody knows",
    "",
];

/// Every score of every query, as one digest.
fn scores(router: &Router, queries: &[&str]) -> String {
    let mut hasher = Hasher::new();
    for query in queries {
        for found in router.ranked(query, usize::MAX) {
            let row = format!("{} {} {}\n", found.skill, found.channel.word(), found.score);
            hasher.update(row.as_bytes());
        }
    }
    hasher.finish().to_hex()
}

/// The digests were taken on x86-64, debug and release alike. Another machine has these or is wrong.
#[test]
fn fit_and_query_are_the_same_bits_everywhere() {
    let router = fitted();
    assert_eq!(router.vocabulary_len(), 27);
    assert_eq!(
        router.model_digest().to_hex(),
        "53460a7f7f53c86be9290d243c39b38779dc8a1a27d791392b17ca03784dc6c2"
    );
    assert_eq!(scores(&router, &QUERIES), "2f789a41641cc45796bbd714817e797086158a71f0223bdebabf0e97db424189");
    assert_eq!(fitted().model_digest(), router.model_digest());
}

#[test]
fn triggers_go_before_words_and_a_tie_is_no_guess() {
    let (router, mut scratch) = (fitted(), Scratch::default());
    let Route::Found(found) = router.route("Please PEEL apples!", &mut scratch) else { panic!() };
    assert_eq!((found.skill, found.channel, found.score), (0, Channel::Trigger, 1_000_000));
    // The trigger of two skills.
    assert_eq!(router.route("pear jam", &mut scratch), Route::None(Unrouted::Tie));
    // Part of a word is no trigger.
    let Route::Found(found) = router.route("peel applesauce", &mut scratch) else { panic!() };
    assert_ne!(found.channel, Channel::Trigger);
    assert_eq!(router.route("what is the weather", &mut scratch), Route::None(Unrouted::BelowFloor));
    assert_eq!(router.route("", &mut scratch), Route::None(Unrouted::BelowFloor));
    let Route::Found(found) = router.route("hammer and heat", &mut scratch) else { panic!() };
    assert_eq!((found.skill, found.channel), (2, Channel::Hybrid));
}

fn disclosed(file: &str) -> Accuracy {
    let path = vectors::repository().join("crates/kernel/intents").join(file);
    let kernel = kernel();
    let set = intents(&std::fs::read_to_string(path).unwrap()).unwrap();
    accuracy(kernel.router(), kernel.skills().manifests(), &set)
}

/// What docs/kernel.md publishes. The fixed set was used to tune the router, the held-out set was not.
#[test]
fn accuracy_is_what_is_published() {
    let (fixed, held_out) = (disclosed("fixed.toml"), disclosed("held_out.toml"));
    println!("fixed set: {fixed:#?}\nheld-out set: {held_out:#?}");
    assert_eq!((fixed.hits, fixed.of), (11, 12));
    assert_eq!((held_out.hits, held_out.of), (2, 12));
}

use super::{Texts, evaluator, place};
use check::Reuse;
use check::mutation::{OPERATORS, mutants, score};
use std::collections::BTreeMap;
use vectors::{json, list, shared, text};

/// Counts and kills are the peer's. The texts of mutants follow the unparser of the interpreter, so their digests are
/// compared only as far as the vectors say they can be: the same number of different ones.
#[test]
fn the_peers_mutation_vector_has_the_same_counts_and_kills() {
    let Some(path) = shared("mutation", "vectors/receiving-desk/quorum/mutation.json") else { return };
    let vector = json(&path);
    let reference = text(&vector, "reference");
    let place = place();
    let made = mutants(&place, reference).unwrap().unwrap();
    let mut by_operator = BTreeMap::new();
    for mutant in &made.mutants {
        *by_operator.entry(mutant.operator.as_str()).or_insert(0) += 1;
    }
    let counts = vector.get("count_by_operator").unwrap().as_object().unwrap();
    let expected: BTreeMap<&str, i64> = counts.iter().map(|(name, n)| (name, n.as_i64().unwrap())).collect();
    assert_eq!(by_operator, expected);
    let suite = vector.get("suite").unwrap();
    let tests: Vec<(&str, &str)> =
        list(suite, "tests").iter().map(|test| (text(test, "args"), text(test, "expected"))).collect();
    let suite = Texts::new(text(suite, "entry_point"), &tests);
    let seen = score(&place, &mut evaluator(&place, Reuse::Fork), &suite, reference).unwrap().unwrap();
    let wanted = vector.get("score").unwrap();
    let number = |name: &str| usize::try_from(wanted.get(name).unwrap().as_i64().unwrap()).unwrap();
    assert_eq!((seen.killed, seen.total), (number("killed"), number("total")));
    assert!(seen.ref_passed && seen.normalized_passed);
    let kills: BTreeMap<&str, Vec<i64>> = wanted
        .get("by_operator")
        .unwrap()
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, pair)| (name, pair.as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect()))
        .collect();
    let ours: BTreeMap<&str, Vec<i64>> = seen
        .by_operator
        .iter()
        .map(|(name, killed, total)| (*name, vec![*killed as i64, *total as i64]))
        .collect();
    assert_eq!(ours, kills);
    assert_eq!(seen.survivors.len(), seen.total - seen.killed);
    assert!(seen.survivors.iter().all(|mutant| mutant.before != mutant.after && mutant.line > 0));
}

#[test]
fn every_operator_makes_its_mutant_and_one_place_changes() {
    let source = "def f(a):\n    'doc'\n    for x in a:\n        if not x == 1 and True:\n            break\n        \
                  if x + x == 3:\n            continue\n    return 'text'\n\ndef g():\n    return None\n";
    let made = mutants(&place(), source).unwrap().unwrap();
    for operator in OPERATORS {
        assert!(made.mutants.iter().any(|mutant| mutant.operator == operator), "{operator}");
    }
    // Two comparisons with the same operator are two places.
    assert_eq!(made.mutants.iter().filter(|mutant| mutant.operator == "cmp_flip").count(), 2);
    assert!(
        made.mutants.iter().all(|mutant| mutant.code.contains("'doc'") || mutant.code.contains("\"\"\"doc"))
    );
    let nothing = made.mutants.iter().filter(|mutant| mutant.operator == "return_const");
    assert!(nothing.clone().any(|mutant| mutant.after == "return 0"));
    assert!(nothing.clone().any(|mutant| mutant.after == "return None"));
}

#[test]
fn a_reference_that_does_not_parse_is_said_so() {
    let why = mutants(&place(), "def f(:\n").unwrap().unwrap_err();
    assert!(why.starts_with("SyntaxError"), "{why}");
}

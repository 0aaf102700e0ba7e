//! False positives, published in docs/kernel.md: the 164 real solutions of HumanEval are harmless. Each is put through
//! the guard as the text of a payload.

use super::stage::{envelope, handle_object, kernel};
use canon::Reader;
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read as _;
use verdict::Action;

#[test]
fn human_eval_solutions() {
    let Some(path) = vectors::shared("human_eval_solutions", "data/humaneval/HumanEval.jsonl.gz") else {
        return;
    };
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let kernel = kernel();
    let (mut count, mut blocked, mut advised) = (0, BTreeMap::new(), BTreeMap::new());
    for line in text.lines() {
        let task = Reader::strict().read(line.as_bytes()).unwrap();
        let solution = [vectors::text(&task, "prompt"), vectors::text(&task, "canonical_solution")].concat();
        let receipt = handle_object(&kernel, envelope(&solution));
        count += 1;
        let name = vectors::text(&task, "task_id").to_owned();
        match receipt.verdict.action {
            Action::Allow => {}
            Action::Advise => drop(advised.insert(name, receipt.verdict.reason)),
            Action::Block => drop(blocked.insert(name, receipt.verdict.reason)),
        }
    }
    println!("{count} solutions, blocked: {blocked:?}, advised: {advised:?}");
    assert_eq!(count, 164);
    // `return eval(expression)` is the published solution of this task: a true use of eval.
    assert_eq!(blocked, BTreeMap::from([("HumanEval/160".to_owned(), "danger_eval")]));
    assert_eq!(advised, BTreeMap::new());
}

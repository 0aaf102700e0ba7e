//! Many rows on several threads, answers in the order of the rows.

use super::{Answer, rows::Row};
use ::check::{Evaluator, Options, Place};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Evaluates every row and hands each answer on as soon as those before it were. Each thread has an evaluator of its
/// own, so at any time no two candidates share an interpreter that forks.
pub(super) fn in_order<'rows>(
    place: &Place,
    options: Options,
    rows: &'rows [Row],
    jobs: usize,
    take: &mut dyn FnMut(&'rows Row, Answer),
) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(rows.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                let mut evaluator = Evaluator::new(place, options);
                while let Some((index, row)) = pick(rows, next) {
                    let answer = evaluator.evaluate(&row.suite, &row.candidate);
                    if sender.send((index, answer)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut shown = rows.iter().enumerate();
        for (index, answer) in receiver {
            early.insert(index, answer);
            while let Some(answer) = shown.clone().next().and_then(|(index, _)| early.remove(&index)) {
                if let Some((_, row)) = shown.next() {
                    take(row, answer);
                }
            }
        }
    });
}

fn pick<'rows>(rows: &'rows [Row], next: &AtomicUsize) -> Option<(usize, &'rows Row)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    rows.get(index).map(|row| (index, row))
}

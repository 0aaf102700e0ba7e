//! HumanEval as a bank: reference solutions are accepted, emptied and swapped ones are not (process mode).

use crate::{PATIENT, interpreter, plain, story, suite, write_tree};
use desk::python_suite::{Isolation, Options, SuiteResult, run};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use vectors::shared;

/// Suites and deliveries as `examples/humaneval/convert.py` writes them.
struct Bank(tempfile::TempDir);

impl Bank {
    fn convert(bank: &Path) -> Bank {
        let folder = tempfile::tempdir().unwrap();
        let script = vectors::repository().join("examples/humaneval/convert.py");
        let mut python = Command::new(interpreter().program);
        let output = python.arg("-I").arg(script).arg(bank).arg(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Bank(folder)
    }

    fn count(&self, kind: &str) -> usize {
        std::fs::read_dir(self.0.path().join(kind)).unwrap().count()
    }

    fn judge(&self, kind: &str, index: usize) -> SuiteResult {
        let problem = self.0.path().join(kind).join(format!("{index:03}"));
        let read = |name: &str| std::fs::read_to_string(problem.join(name)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        write_tree(folder.path(), &[("solution.py", &read("solution.py"))]);
        let options = Options {
            isolation: Isolation::Process,
            wall: PATIENT,
            python: interpreter(),
            ..Options::default()
        };
        let suite = suite(&[("test_problem.py", &read("suite/test_problem.py"))]);
        run(&plain::Plain, &suite, folder.path(), &options).unwrap()
    }
}

/// Problem indexes that `judge` accepts, worked through by as many threads as there are cores.
fn accepted(count: usize, judge: impl Fn(usize) -> SuiteResult + Sync) -> Vec<usize> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut accepted = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return accepted;
            }
            let result = judge(index);
            assert!(!result.files[0].timed_out, "problem {index}");
            if result.all_pass() {
                accepted.push(index);
            } else if std::env::var_os("TOUCHSTONE_BANK_STORY").is_some() {
                eprintln!("problem {index}\n{}", story(&result));
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let mut all = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    all.sort_unstable();
    all
}

#[test]
fn humaneval_reference_all_emptied_none_swapped_none() {
    let name = "humaneval_reference_all_emptied_none_swapped_none";
    let Some(path) = shared(name, "data/humaneval/HumanEval.jsonl.gz") else { return };
    let bank = Bank::convert(&path);
    assert_eq!(bank.count("canonical"), 164);
    let accepted = |kind: &str| accepted(bank.count(kind), |index| bank.judge(kind, index));
    assert_eq!(accepted("canonical"), (0..164).collect::<Vec<_>>());
    assert_eq!(accepted("emptied"), Vec::<usize>::new());
    assert_eq!(accepted("swapped"), Vec::<usize>::new());
}

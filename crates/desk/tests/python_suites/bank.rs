//! HumanEval as a bank: reference solutions are accepted, emptied and swapped ones are not (process mode).

use crate::{PATIENT, interpreter, plain, story, suite, write_tree};
use canon::{Reader, Value};
use desk::python_suite::{Isolation, Options, SuiteResult, run};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use vectors::{shared, text};

/// One problem of the bank.
struct Problem {
    prompt: String,
    entry: String,
    solution: String,
    test: String,
}

impl Problem {
    fn read(value: &Value) -> Problem {
        let member = |key| text(value, key).to_owned();
        Problem {
            prompt: member("prompt"),
            entry: member("entry_point"),
            solution: member("canonical_solution"),
            test: member("test"),
        }
    }

    /// The bank's `check(candidate)` as a test file. Some tests use helpers of the prompt, so every top-level
    /// function of it is imported by name; names that look like cases would be refused as generated ones.
    fn test_file(&self) -> String {
        let names = self.prompt.lines().filter_map(|line| line.strip_prefix("def ")?.split('(').next());
        let imports: String = names
            .filter(|name| !name.starts_with("check_"))
            .map(|name| format!("from solution import {name}\n"))
            .collect();
        format!(
            "import solution as delivery\n{imports}\n{}\n\ndef check_the_problem():\n    check(delivery.{})\n",
            self.test, self.entry
        )
    }

    fn reference(&self) -> String {
        format!("{}{}\n", self.prompt, self.solution)
    }

    fn emptied(&self) -> String {
        format!("{}    pass\n", self.prompt)
    }

    /// Another problem's solution under this one's name, with this one's helpers.
    fn swapped(&self, other: &Problem) -> String {
        format!("{}\n{}\n{} = {}\n", self.emptied(), other.reference(), self.entry, other.entry)
    }

    fn judge(&self, delivery: &str) -> SuiteResult {
        let folder = tempfile::tempdir().unwrap();
        write_tree(folder.path(), &[("solution.py", delivery)]);
        let options = Options {
            isolation: Isolation::Process,
            wall: PATIENT,
            python: interpreter(),
            ..Options::default()
        };
        run(&plain::Plain, &suite(&[("test_problem.py", &self.test_file())]), folder.path(), &options)
            .unwrap()
    }
}

fn read_bank(path: &Path) -> Vec<Problem> {
    let unpack = "import gzip, sys; sys.stdout.buffer.write(gzip.open(sys.argv[1]).read())";
    let output = Command::new(interpreter().program).args(["-I", "-c", unpack]).arg(path).output().unwrap();
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| Problem::read(&Reader::strict().read(line).unwrap())).collect()
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
    let bank = read_bank(&path);
    assert_eq!(bank.len(), 164);
    let reference = accepted(bank.len(), |index| bank[index].judge(&bank[index].reference()));
    let emptied = accepted(bank.len(), |index| bank[index].judge(&bank[index].emptied()));
    let swapped = accepted(bank.len(), |index| {
        bank[index].judge(&bank[index].swapped(&bank[(index + 1) % bank.len()]))
    });
    assert_eq!(reference, (0..164).collect::<Vec<_>>());
    assert_eq!(emptied, Vec::<usize>::new());
    assert_eq!(swapped, Vec::<usize>::new());
}

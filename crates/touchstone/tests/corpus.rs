//! The committed fuzz corpus through the functions that the fuzzers call, without a fuzzer.
#![allow(clippy::unwrap_used)]

#[path = "../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub)]
mod fuzz;

#[test]
fn every_file_of_the_corpus() {
    let root = vectors::repository().join("fuzz/corpus");
    for (name, check) in fuzz::TARGETS {
        let mut count = 0;
        for entry in std::fs::read_dir(root.join(name)).unwrap().map(Result::unwrap) {
            let bytes = std::fs::read(entry.path()).unwrap();
            let outcome = std::panic::catch_unwind(|| check(&bytes));
            assert!(outcome.is_ok(), "{}", entry.path().display());
            count += 1;
        }
        assert!(count >= 24, "{name}: {count} files");
    }
}

/// The readers of command suites and chains also get each other's corpora: foreign, but well formed.
#[test]
fn every_file_through_every_reader() {
    let root = vectors::repository().join("fuzz/corpus");
    for (name, _) in fuzz::TARGETS {
        for entry in std::fs::read_dir(root.join(name)).unwrap().map(Result::unwrap) {
            let bytes = std::fs::read(entry.path()).unwrap();
            for (_, check) in fuzz::TARGETS {
                check(&bytes);
            }
        }
    }
}

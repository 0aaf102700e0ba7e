//! The one table of outcomes (ruling 13).

/// What a runner said about one case. Every reader maps to this table and to nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The case ran and held.
    Pass,
    /// The case ran and did not hold.
    Fail,
    /// The case could not be run to its end (exception, broken fixture).
    Error,
    /// The case was not run.
    Skipped,
    /// The case is marked as work to do; its result does not count, whatever it was.
    Todo,
    /// The case failed and was marked as expected to fail.
    ExpectedFailure,
    /// The case passed although it was marked as expected to fail. `suite.toml` version 1 has no word to allow it.
    UnexpectedPass,
    /// The case passed only when it was run again.
    Flaky,
}

/// What an outcome means for the verdict. The order is from harmless to worst: of two results of one case the
/// greater one counts (ruling 14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// Counts as passed.
    Passed,
    /// Neither passed nor failed; named in the receipt.
    Listed,
    /// The verdict is inconclusive (21) at best.
    Unstable,
    /// The delivery is refused (20).
    Failed,
}

// Stable snake_case name, for receipts.
canon::codes! {
    impl Outcome: self {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::Error => "error",
        Outcome::Skipped => "skipped",
        Outcome::Todo => "todo",
        Outcome::ExpectedFailure => "expected_failure",
        Outcome::UnexpectedPass => "unexpected_pass",
        Outcome::Flaky => "flaky",
    }
}

impl Outcome {
    /// The meaning of this outcome: the table itself.
    pub const fn meaning(self) -> Meaning {
        match self {
            Outcome::Pass => Meaning::Passed,
            Outcome::Fail | Outcome::Error | Outcome::UnexpectedPass => Meaning::Failed,
            Outcome::Skipped | Outcome::Todo | Outcome::ExpectedFailure => Meaning::Listed,
            Outcome::Flaky => Meaning::Unstable,
        }
    }
}

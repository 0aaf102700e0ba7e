//! Why a candidate did not pass.

/// The first thing that went wrong, as a code; what people read beside it is in the candidate's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The limit of time is nothing at all.
    NoTime,
    /// The screen refused the text before it ran.
    Screened,
    /// The test text did not run through.
    TestFailed,
    /// The compiler refused it.
    NotCompiled,
    /// It did not load, or has no entry point of that name.
    NotLoaded,
    /// It raised an error where a value was expected.
    Raised,
    /// It returned something that no literal stands for.
    NotLiteral,
    /// It returned another value.
    WrongValue,
    /// It did not answer in time.
    TimedOut,
    /// Its process ended during a call.
    WorkerEnded,
    /// Something other than one reply to the open call arrived.
    ProtocolBroken,
}

// Closed list, stable across rewording.
canon::codes! {
    impl Detail: self {
        Detail::NoTime => "check_no_time",
        Detail::Screened => "check_screened",
        Detail::TestFailed => "check_test_failed",
        Detail::NotCompiled => "check_not_compiled",
        Detail::NotLoaded => "check_not_loaded",
        Detail::Raised => "check_raised",
        Detail::NotLiteral => "check_not_a_literal",
        Detail::WrongValue => "check_wrong_value",
        Detail::TimedOut => "check_timed_out",
        Detail::WorkerEnded => "check_worker_ended",
        Detail::ProtocolBroken => "check_protocol_broken",
    }
}

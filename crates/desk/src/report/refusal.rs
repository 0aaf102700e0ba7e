//! The closed list of reasons for which a check refuses a delivery.
//!
//! Codes are signed into receipts: they never change by rewording. Sentences are made in the binary from the data
//! that a reason carries.

/// Which limit of a reader a report went over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Size of the report.
    Bytes,
    /// Number of cases.
    Cases,
    /// Nesting of subtests, suites or XML elements.
    Depth,
    /// Attributes of one XML element.
    Attributes,
    /// XML namespace declarations.
    Namespaces,
    /// XML nodes.
    Nodes,
}

impl Limit {
    /// Stable snake_case name.
    pub const fn code(self) -> &'static str {
        match self {
            Limit::Bytes => "bytes",
            Limit::Cases => "cases",
            Limit::Depth => "depth",
            Limit::Attributes => "attributes",
            Limit::Namespaces => "namespaces",
            Limit::Nodes => "nodes",
        }
    }
}

/// Why a check refuses (exit 20). Lines and columns start at 1 and count characters of the decoded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    // -- any report -------------------------------------------------------------------------------------------
    /// The command promised a report file and left none (ruling 11, PC-05).
    ReportMissing,
    /// What lies at the report's path is not a regular file (link, directory, pipe); it was not read.
    ReportNotAFile,
    /// A limit of the reader was exceeded.
    ReportLimit {
        /// Which one.
        what: Limit,
        /// Its value.
        limit: u64,
    },
    /// The report is sound and names no case at all.
    ZeroChecks {
        /// The runner's own reason, if it gave one.
        reason: Option<String>,
    },
    /// Cases were reported, none of them passed: all were skipped, todo or expected to fail.
    NothingPassed {
        /// How many cases were only listed.
        listed: u64,
    },
    /// One case came more than once, with a failing and a not failing result.
    DuplicateCase {
        /// Its full name (TAP: number and description of the first result that did not fail).
        name: String,
    },
    /// Cases failed.
    CasesFailed {
        /// How many.
        count: u64,
        /// Their full names, at most [`ITEMS_MAX`](super::ITEMS_MAX).
        names: Vec<String>,
    },

    // -- TAP --------------------------------------------------------------------------------------------------
    /// Nothing in the output is TAP.
    NoTap,
    /// A byte sequence that is not UTF-8.
    TapInvalidUtf8 {
        /// Line of the first such byte.
        line: u64,
    },
    /// Points, but no plan.
    TapPlanMissing {
        /// Name of the subtest whose plan is missing; `None` for the stream itself.
        subtest: Option<String>,
        /// How many points there were.
        points: u64,
    },
    /// Fewer points than planned.
    TapPlanNotMet {
        /// Name of the subtest whose plan is not met; `None` for the stream itself.
        subtest: Option<String>,
        /// Number of points that the plan promised.
        planned: u64,
        /// The missing numbers as inclusive ranges, at most [`ITEMS_MAX`](super::ITEMS_MAX) of them.
        missing: Vec<(u64, u64)>,
    },
    /// More than one plan in one stream or subtest.
    TapPlanRepeated {
        /// Line of the second plan.
        line: u64,
    },
    /// A point whose number is not in the plan.
    TapPointOutOfRange {
        /// The first such number.
        number: u64,
        /// Number of points that the plan promised.
        planned: u64,
    },
    /// The program gave up.
    TapBailOut {
        /// What it said.
        reason: Option<String>,
    },
    /// Indented points that no point of the outer level closes.
    TapSubtestUnfinished {
        /// First line of the subtest.
        line: u64,
    },
    /// The stream says that it is of a version this reader does not know (12, 13 and 14 are known).
    TapVersionUnknown {
        /// The version as written.
        version: String,
    },
    /// A line that is not TAP although `pragma +strict` is on.
    TapInvalidLine {
        /// The line.
        line: u64,
    },

    // -- JUnit ------------------------------------------------------------------------------------------------
    /// Zero bytes, or blanks only.
    JunitEmpty,
    /// The text's encoding is not known to this reader.
    JunitEncodingUnknown {
        /// Its name as declared.
        encoding: String,
    },
    /// The bytes are not valid in the declared or marked encoding.
    JunitEncodingInvalid {
        /// Name of the encoding.
        encoding: String,
        /// Line of the first invalid byte, where known.
        line: Option<u64>,
        /// Column of the first invalid byte, where known.
        column: Option<u64>,
    },
    /// A document type declaration; none is ever read.
    JunitDoctype {
        /// Line.
        line: u64,
        /// Column.
        column: u64,
    },
    /// Not well-formed XML: cut, a forbidden character, a wrong tag.
    JunitMalformed {
        /// What the XML parser says.
        detail: String,
        /// Line.
        line: u64,
        /// Column.
        column: u64,
    },
    /// Well-formed XML whose root is neither `testsuites` nor `testsuite`.
    JunitRoot {
        /// Name of the root element.
        root: String,
    },
    /// A count attribute is negative or not a whole number.
    JunitCountInvalid {
        /// Name of the suite.
        suite: String,
        /// Name of the attribute.
        attribute: &'static str,
        /// Its value.
        value: String,
        /// Line of the suite's element.
        line: u64,
    },
    /// A count attribute contradicts the cases.
    JunitCountMismatch {
        /// Name of the suite.
        suite: String,
        /// Name of the attribute.
        attribute: &'static str,
        /// What the attribute says.
        stated: u64,
        /// How many there are among all cases of the suite.
        counted: u64,
        /// Line of the suite's element.
        line: u64,
    },

    // -- the command ------------------------------------------------------------------------------------------
    /// The command ended with a status other than 0.
    ExitStatusNonzero {
        /// The status.
        status: i32,
    },
    /// A signal ended the command.
    KilledBySignal {
        /// Its number.
        signal: i32,
    },
    /// The command did not end in time.
    TimedOut,
    /// The command wrote more output than the desk keeps, so its report is not whole.
    OutputTruncated,
    /// The program to run lies in the delivery and cannot be started (rulings 16 and 17).
    ProgramMissingInDelivery {
        /// The program.
        program: String,
    },

    // -- what the suite expects -------------------------------------------------------------------------------
    /// Cases that the suite expects were not reported (ruling 10).
    CaseNotReported {
        /// How many.
        count: u64,
        /// Their names as the suite writes them, at most [`ITEMS_MAX`](super::ITEMS_MAX).
        names: Vec<String>,
    },
    /// One expected name means cases in different groups or classes; the suite must use the longer name.
    ExpectedNameAmbiguous {
        /// The name as the suite writes it.
        name: String,
    },
    /// Fewer cases ran than the suite's `min`.
    TooFewCases {
        /// The minimum.
        min: u64,
        /// How many passed, failed or were unstable.
        counted: u64,
    },
    /// An exit-status check in a suite that does not say `counts = "none"` (ruling 10).
    CountsNotDeclared,
    /// The suite has no check (ruling 20).
    NoSuite,
}

// Stable snake_case code, for receipts.
canon::codes! {
    impl Refusal: &self {
        Refusal::ReportMissing => "report_missing",
        Refusal::ReportNotAFile => "report_not_a_file",
        Refusal::ReportLimit { .. } => "report_limit",
        Refusal::ZeroChecks { .. } => "zero_checks",
        Refusal::NothingPassed { .. } => "nothing_passed",
        Refusal::DuplicateCase { .. } => "duplicate_case",
        Refusal::CasesFailed { .. } => "cases_failed",
        Refusal::NoTap => "no_tap",
        Refusal::TapInvalidUtf8 { .. } => "tap_invalid_utf8",
        Refusal::TapPlanMissing { .. } => "tap_plan_missing",
        Refusal::TapPlanNotMet { .. } => "tap_plan_not_met",
        Refusal::TapPlanRepeated { .. } => "tap_plan_repeated",
        Refusal::TapPointOutOfRange { .. } => "tap_point_out_of_range",
        Refusal::TapBailOut { .. } => "tap_bail_out",
        Refusal::TapSubtestUnfinished { .. } => "tap_subtest_unfinished",
        Refusal::TapVersionUnknown { .. } => "tap_version_unknown",
        Refusal::TapInvalidLine { .. } => "tap_invalid_line",
        Refusal::JunitEmpty => "junit_empty",
        Refusal::JunitEncodingUnknown { .. } => "junit_encoding_unknown",
        Refusal::JunitEncodingInvalid { .. } => "junit_encoding_invalid",
        Refusal::JunitDoctype { .. } => "junit_doctype",
        Refusal::JunitMalformed { .. } => "junit_malformed",
        Refusal::JunitRoot { .. } => "junit_root",
        Refusal::JunitCountInvalid { .. } => "junit_count_invalid",
        Refusal::JunitCountMismatch { .. } => "junit_count_mismatch",
        Refusal::ExitStatusNonzero { .. } => "exit_status_nonzero",
        Refusal::KilledBySignal { .. } => "killed_by_signal",
        Refusal::TimedOut => "timed_out",
        Refusal::OutputTruncated => "output_truncated",
        Refusal::ProgramMissingInDelivery { .. } => "program_missing_in_delivery",
        Refusal::CaseNotReported { .. } => "case_not_reported",
        Refusal::ExpectedNameAmbiguous { .. } => "expected_name_ambiguous",
        Refusal::TooFewCases { .. } => "too_few_cases",
        Refusal::CountsNotDeclared => "counts_not_declared",
        Refusal::NoSuite => "no_suite",
    }
}

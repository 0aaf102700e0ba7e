//! Self-attestation: the checklist D1 to D10 over what we build ourselves (sections 7 and 8).
//!
//! [`collect`] makes the runs, [`examine`] judges them. What judges is handed in, so that a test can hand in a broken
//! one and see the report change colour.

mod checks;
mod collect;

pub use collect::{collect, envelopes};

use crate::load::RunBytes;
use canon::Limits;
use canon::replay::{Canonicaliser, Document, Table};
use verdict::report::{Colour, Report};

/// Something of ours that claims to be reproducible, with everything that the claim rests on.
#[derive(Clone, Debug)]
pub struct Subject {
    /// `kernel`, `desk`, later `room`.
    pub name: &'static str,
    /// Its field table; nothing when it has none.
    pub table: Option<String>,
    /// Two runs or more, each from a fresh process.
    pub runs: Vec<RunBytes>,
    /// Its golden file; nothing when it has none.
    pub golden: Option<Vec<u8>>,
    /// What is disclosed and is no criterion, such as the accuracy of routes (section 10).
    pub disclosed: Vec<String>,
}

/// What the examination uses to hash, to conclude and to end.
#[derive(Clone, Copy, Debug)]
pub struct Instruments {
    /// The replay hash of a document under a table.
    pub hash: fn(&Table, &[u8]) -> Option<String>,
    /// The verdict hash of a report that is built at `ts_build`.
    pub conclude: fn(&Report, &str) -> String,
    /// The exit code of a colour.
    pub exit: fn(Colour) -> u8,
}

impl Instruments {
    /// Those of the product.
    pub fn ours() -> Instruments {
        Instruments { hash, conclude: |report, _| report.verdict_hash(), exit: Colour::exit_code }
    }
}

fn hash(table: &Table, bytes: &[u8]) -> Option<String> {
    let document = Document::json(bytes, Limits::default()).ok()?;
    Canonicaliser::new(table).form(&document).ok().map(|form| form.hash())
}

canon::codes! {
    /// What the self-attestation finds beyond what the judge finds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fault {
        /// A subject without a usable field table (D1).
        NoTable = "attest_no_table",
        /// A subject that cannot be judged at all.
        NotJudged = "attest_not_judged",
        /// A number that is no integer in a receipt of ours (ruling 6, D3).
        Float = "attest_float",
        /// Another spelling of a number changes the hash (D3).
        Spelling = "attest_spelling_reaches_hash",
        /// A receipt without a verdict of exactly action, layer and reason, or with one of them empty (V-1, D7).
        VerdictShape = "attest_verdict_shape",
        /// A reason that is not in the registry (V-6, D7).
        UnregisteredReason = "attest_unregistered_reason",
        /// A block that does not name what was hit (V-5, D7).
        BlockUnexplained = "attest_block_unexplained",
        /// The verdict hash moves with the time, or does not move with the conclusion (D9).
        VerdictHash = "attest_verdict_hash",
        /// Green, red and yellow do not end with 0, 1 and 2 (D10).
        ExitCodes = "attest_exit_codes",
    }
}

/// The report over all subjects: ten checks, in the order of the checklist.
pub fn examine(subjects: &[Subject], instruments: &Instruments) -> Report {
    let mut checks = checks::Checks::new();
    for subject in subjects {
        checks.take(subject, instruments);
    }
    checks.report(subjects, instruments)
}

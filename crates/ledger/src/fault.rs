//! The closed list of what can be wrong with a chain or a run directory. Codes are stable and stand in the
//! registry (`crates/verdict/reasons.toml`); sentences are made in the binary.

use canon::{Object, Value};

canon::codes! {
    /// Why a chain or a run directory does not hold.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Fault {
        /// First entry without the all-zero stream id (4.3).
        GenesisStreamIdNotSentinel = "genesis_stream_id_not_sentinel",
        /// `seq` is not the position in the chain (4.3).
        SeqNotContiguous = "seq_not_contiguous",
        /// `prev_hash` is not the hash of the entry before (4.3).
        PrevHashBroken = "prev_hash_broken",
        /// `stream_id` is not the hash of the first entry (4.3).
        StreamIdMismatch = "stream_id_mismatch",
        /// `branch_id` differs from the first entry's (4.3).
        BranchIdMismatch = "branch_id_mismatch",
        /// The signature does not verify under the key (4.3).
        BadSignature = "bad_signature",
        /// The signature text is not exactly 128 lowercase hex digits (4.5).
        BadSignatureEncoding = "bad_signature_encoding",
        /// The last line was cut in the middle (4.5).
        TornTail = "torn_tail",
        /// A line is no JSON object; the reader's code says why.
        EntryUnreadable = "entry_unreadable",
        /// A member of the envelope is missing (4.1).
        MemberMissing = "member_missing",
        /// A member of the envelope has the wrong type (4.1, ruling 22).
        MemberType = "member_type",
        /// A member that the signature does not cover (4.5).
        UnknownMember = "unknown_member",
        /// Canonical payload over 65 536 bytes (4.1).
        PayloadTooLarge = "payload_too_large",
        /// The two ways of verifying a chain disagree: a fault of this build.
        DetailedVsLogbookDisagree = "detailed_vs_logbook_disagree",
        /// No public key beside the chain (13).
        PubkeyFileMissing = "pubkey_file_missing",
        /// The public key file cannot be read or holds no usable key.
        PubkeyFileUnreadable = "pubkey_file_unreadable",
        /// The id beside a key is not derived from it (section 3).
        IdNotDerivedFromKey = "id_not_derived_from_key",
        /// The chain file has no entry (13).
        EmptyChain = "empty_chain",
        /// More lines than a verifier holds in memory: 2 000 000.
        ChainTooLong = "chain_too_long",
        /// A row cannot be read.
        RowUnreadable = "row_unreadable",
        /// Number of verdicts and number of rows differ (13).
        VerdictCountNeRows = "verdict_count_ne_rows",
        /// Verdicts and rows speak of different tasks (13).
        VerdictTaskIdsNeRows = "verdict_task_ids_ne_rows",
        /// Two verdicts for one task (13).
        DuplicateVerdictForTask = "duplicate_verdict_for_task",
        /// Fewer attempts than verdicts (13).
        AttemptFewerThanVerdict = "attempt_fewer_than_verdict",
        /// A row says something else than the signed verdict (31.10).
        RowVerdictDiffers = "row_verdict_differs",
        /// An attempt whose task never got a verdict or a void entry (PC-63).
        AttemptWithoutVerdict = "attempt_without_verdict",
        /// A run was opened and neither judged nor declared void.
        RunNotEnded = "run_not_ended",
        /// Entries of a run of ours are not: one start, attempts, one end, nothing after it, one task.
        RunShape = "run_shape",
        /// A verdict says accepted and gives a reason that means something else, or the other way round.
        VerdictContradictsReason = "verdict_contradicts_reason",
        /// A run of ours ends without the digest of its summary or of its row.
        EndDigestMissing = "end_digest_missing",
        /// The summary says something else than the verdict that signed it.
        SummaryContradictsVerdict = "summary_contradicts_verdict",
        /// More failures than are listed.
        MoreFailures = "more_failures",
        /// The summary is not the one whose digest was signed (31.10).
        SummaryDigestMismatch = "summary_digest_mismatch",
        /// A summary digest was signed but the file is gone.
        SummaryMissing = "summary_missing",
        /// A file named by the signed summary is missing or altered.
        SignedFileMismatch = "signed_file_mismatch",
        /// The index of wire calls does not give the signed digest (31.10).
        WireIndexMismatch = "wire_index_mismatch",
        /// A line of the wire index cannot be read.
        WireIndexUnreadable = "wire_index_unreadable",
        /// The chain does not reach the head known from outside (31.1).
        HeadNotReached = "head_not_reached",
        /// The chain has not the number of entries known from outside (31.1).
        CountNotReached = "count_not_reached",
        /// Signed by another key than the pinned one (31.9).
        KeyNotPinned = "key_not_pinned",
        /// The enclosure tier is below the required one, or absent (13).
        TierBelowRequired = "tier_below_required",
        /// The tier does not follow from the probes that are signed with it (31.20).
        TierContradictsProbes = "tier_contradicts_probes",
    }
}

canon::codes! {
    /// What is worth saying and breaks nothing (ruling 22).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Warning {
        /// Valid JSON, but not the canonical spelling.
        NotCanonical = "not_canonical",
        /// The line ends with CR LF.
        CrLf = "crlf_line_end",
        /// An empty line between entries.
        BlankLine = "blank_line",
        /// The last line has no line feed.
        NoFinalNewline = "no_final_newline",
        /// `ts_ms` is negative or over 2^53.
        TimestampRange = "timestamp_range",
        /// Rows name an arm that has no chain (13).
        ArmWithoutReceipts = "arm_without_receipts",
        /// A tier is written in the chain, but not measured inside the agent's namespace (31.20).
        TierNotMeasuredInside = "tier_not_measured_inside",
        /// Requests were counted, and the index that says what they were is not there (31.11).
        WireIndexMissing = "wire_index_missing",
    }
}

canon::codes! {
    /// Why a line that is JSON is not the object it should be; the reader's own codes say the rest.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Shape {
        /// Another JSON value.
        NotAnObject = "json_not_an_object",
        /// A row that names no task or no arm.
        RowWithoutTaskOrArm = "row_without_task_or_arm",
    }
}

/// One failure and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What is wrong.
    pub reason: Fault,
    /// `seq` as written in the entry, when it was an integer.
    pub seq: Option<i64>,
    /// Type of the entry.
    pub kind: Option<String>,
    /// Line of the file, from 1.
    pub line: Option<usize>,
    /// Byte offset of that line, or of the fault inside it.
    pub offset: Option<usize>,
    /// Got, want and whatever else a reader needs.
    pub detail: Object,
}

impl Failure {
    /// A failure of a whole chain or directory.
    pub fn of(reason: Fault) -> Failure {
        Failure { reason, seq: None, kind: None, line: None, offset: None, detail: Object::new() }
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Failure {
        self.detail.set(key, value);
        self
    }

    /// The JSON form: `reason` and whatever of the places is known, then the details.
    pub fn to_value(&self) -> Value {
        let mut object = Object::new();
        if let Some(seq) = self.seq {
            object.set("seq", seq);
        }
        if let Some(kind) = &self.kind {
            object.set("type", kind.as_str());
        }
        object.set("reason", self.reason.code());
        for (key, place) in [("line", self.line), ("offset", self.offset)] {
            if let Some(place) = place {
                object.set(key, place as u64);
            }
        }
        for (key, value) in self.detail.iter() {
            object.set(key, value.clone());
        }
        Value::Object(object)
    }
}

//! Reason codes of the guard that are no danger pattern. Registry: `crates/verdict/reasons.toml`, layer `kernel`.

use super::Layer;
use verdict::Action;

canon::codes! {
    /// Closed list (V-3, V-6). The prefix is the family.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Reason {
        /// The line is no JSON that the strict reader takes; the pattern is the reader's code.
        Unreadable = "struct_unreadable",
        /// The line is JSON and no object.
        NotAnObject = "struct_not_an_object",
        /// A member that no envelope has.
        UnknownMember = "struct_unknown_member",
        /// No `id`.
        MissingId = "struct_missing_id",
        /// No `sender`.
        MissingSender = "struct_missing_sender",
        /// No `recipient`.
        MissingRecipient = "struct_missing_recipient",
        /// No `task`.
        MissingTask = "struct_missing_task",
        /// No `payload`.
        MissingPayload = "struct_missing_payload",
        /// No `permission`.
        MissingPermission = "struct_missing_permission",
        /// No `claims`.
        MissingClaims = "struct_missing_claims",
        /// No `seq`.
        MissingSeq = "struct_missing_seq",
        /// No `prev`.
        MissingPrev = "struct_missing_prev",
        /// `id` is no text.
        TypeId = "struct_type_id",
        /// `sender` is no text.
        TypeSender = "struct_type_sender",
        /// `recipient` is no text.
        TypeRecipient = "struct_type_recipient",
        /// `task` is no text.
        TypeTask = "struct_type_task",
        /// `payload` is no object.
        TypePayload = "struct_type_payload",
        /// `permission` is no integer.
        TypePermission = "struct_type_permission",
        /// `trace` is neither text nor null.
        TypeTrace = "struct_type_trace",
        /// `mode` is neither text nor null.
        TypeMode = "struct_type_mode",
        /// `claims` is no object.
        TypeClaims = "struct_type_claims",
        /// `seq` is no integer.
        TypeSeq = "struct_type_seq",
        /// `prev` is neither text nor null.
        TypePrev = "struct_type_prev",
        /// `id` is empty.
        EmptyId = "struct_empty_id",
        /// `sender` is empty.
        EmptySender = "struct_empty_sender",
        /// `recipient` is empty.
        EmptyRecipient = "struct_empty_recipient",
        /// `task` is empty.
        EmptyTask = "struct_empty_task",
        /// `permission` is outside 0 to 3.
        RangePermission = "struct_range_permission",
        /// `seq` is outside 1 to 2^53.
        RangeSeq = "struct_range_seq",
        /// `prev` is not 64 lowercase hex digits.
        PrevMalformed = "struct_prev_malformed",
        /// A claim that is not in the list.
        ClaimUnknown = "struct_claim_unknown",
        /// A claim of the wrong type or outside its range.
        ClaimUnfit = "struct_claim_unfit",

        /// The line is longer than 4 MiB and was not read.
        EnvelopeOver4Mib = "size_envelope_over_4mib",
        /// The canonical payload is longer than 1 MiB.
        PayloadOver1Mib = "size_payload_over_1mib",
        /// The canonical payload is longer than 256 KiB.
        PayloadOver256Kib = "size_payload_over_256kib",
        /// The payload is nested deeper than 32.
        PayloadOverDepth32 = "size_payload_over_depth_32",
        /// `task` is longer than 16 KiB.
        TaskOver16Kib = "size_task_over_16kib",
        /// `id`, `sender` or `recipient` is longer than 128 bytes.
        NameOver128 = "size_name_over_128",

        /// Needs 1, has 0.
        Short1To0 = "perm_short_1to0",
        /// Needs 2, has 0.
        Short2To0 = "perm_short_2to0",
        /// Needs 3, has 0.
        Short3To0 = "perm_short_3to0",
        /// Needs 2, has 1.
        Short2To1 = "perm_short_2to1",
        /// Needs 3, has 1.
        Short3To1 = "perm_short_3to1",
        /// Needs 3, has 2.
        Short3To2 = "perm_short_3to2",

        /// The claimed identity is one that has power over others.
        ClaimAdmin = "ident_claim_admin",
        /// The claimed identity is not the sender.
        ClaimOther = "ident_claim_other",
        /// The claimed level is above the permission.
        ClaimLevel = "ident_claim_level",
        /// The sender calls itself by a reserved name, in whatever spelling.
        SenderReserved = "ident_sender_reserved",
        /// The sender's name has characters that imitate others.
        SenderLookalike = "ident_sender_lookalike",
        /// The claimed digest is not that of the payload.
        PayloadDigest = "ident_payload_digest",
        /// A bidirectional control: the text is not shown as it is read.
        BidiControl = "ident_bidi_control",
        /// An invisible character in the task or the payload.
        InvisibleText = "ident_invisible_text",
        /// U+FFFD: the text was damaged before it arrived.
        LostText = "ident_lost_text",

        /// No `trace`, or it is null or empty.
        NoTrace = "meta_no_trace",
        /// `trace` has other characters than letters, digits and `. _ : -`, or more than 128.
        TraceMalformed = "meta_trace_malformed",
        /// No `mode`, or it is null.
        NoMode = "meta_no_mode",
        /// `mode` is not in the list.
        ModeUnknown = "meta_mode_unknown",

        /// Envelopes of this sender are missing before this one.
        Gap = "audit_gap",
        /// The sender used this number before.
        SeqRepeated = "audit_seq_repeated",
        /// `prev` is null and the sender sent something before.
        PrevMissing = "audit_prev_missing",
        /// `prev` is not the digest of the sender's envelope before this one.
        PrevOther = "audit_prev_other",
        /// `prev` names an envelope and this is the sender's first.
        PrevUnexpected = "audit_prev_unexpected",

        /// The sender used this id before.
        IdRepeated = "cons_id_repeated",
        /// Sender and recipient are the same.
        SentToItself = "cons_sent_to_itself",
        /// The claimed level is below the permission.
        LevelBelow = "cons_level_below_permission",
        /// `measured` without `measure_source`.
        MeasuredNoSource = "hon_measured_no_source",
        /// `measured` without `measure_ts`.
        MeasuredNoTs = "hon_measured_no_time",
        /// `third_party` without `measure_source`.
        ThirdPartyNoSource = "hon_third_party_no_source",
        /// `simulated`, or no class, with a source or a time.
        SimulatedWithSource = "hon_simulated_with_source",
        /// An evidence class that is none of the three.
        UnknownClass = "hon_unknown_class",
    }
}

impl Reason {
    /// The layer that gives it (V-2). The family decides, but for what cannot be read because it is too long.
    pub fn layer(self) -> Layer {
        let family = self.code().split('_').next().unwrap_or_default();
        match family {
            "struct" => Layer::Structure,
            "size" => Layer::Size,
            "perm" => Layer::Permission,
            "ident" => Layer::Identity,
            "meta" => Layer::Metadata,
            "audit" => Layer::Audit,
            _ => Layer::Consistency,
        }
    }

    /// What it asks for. Evidence rules are warnings (ruling 26), and so is what may be an accident.
    pub fn action(self) -> Action {
        match self {
            Reason::PayloadOver256Kib
            | Reason::InvisibleText
            | Reason::LostText
            | Reason::LevelBelow
            | Reason::MeasuredNoSource
            | Reason::MeasuredNoTs
            | Reason::ThirdPartyNoSource
            | Reason::SimulatedWithSource => Action::Advise,
            _ => Action::Block,
        }
    }

    /// `needs` above `has`; nothing when the permission is enough.
    pub fn short(needs: u8, has: u8) -> Option<Reason> {
        match (needs, has) {
            (1, 0) => Some(Reason::Short1To0),
            (2, 0) => Some(Reason::Short2To0),
            (3.., 0) => Some(Reason::Short3To0),
            (2, 1) => Some(Reason::Short2To1),
            (3.., 1) => Some(Reason::Short3To1),
            (3.., 2) => Some(Reason::Short3To2),
            _ => None,
        }
    }
}

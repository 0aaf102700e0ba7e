//! Rejections: `{action, layer, reason}` from a closed list (GD-39). None names a hidden cause.

use verdict::{Action, Triple};

canon::codes! {
    /// Why something was not done.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Reject {
        /// The proposer named something that does not exist here.
        UnknownId = "struct_unknown_id",
        /// Three items are open.
        QueueFull = "size_queue_full",
        /// The local retry budget is used up.
        RetryLocal = "size_retry_local",
        /// The total retry budget is used up.
        RetryTotal = "size_retry_total",
        /// One command runs and one waits.
        LeaseBusy = "size_lease_busy",
        /// The target lies in the danger set.
        ZoneTarget = "danger_zone_target",
        /// It does not fit before the harm deadline.
        DeadlineSafety = "danger_deadline_safety",
        /// It does not fit before a body deadline.
        DeadlineTier1 = "danger_deadline_tier1",
        /// The channel is closed in this mode.
        ChannelClosed = "perm_channel_closed",
        /// The same cluster or answer again.
        ClusterDuplicate = "ident_cluster_duplicate",
        /// The proposal is too old.
        TtlExpired = "meta_ttl_expired",
        /// The premise has changed, or it cannot work as believed.
        VersionStale = "cons_version_stale",
        /// The hand is full or empty that should not be.
        HandConflict = "cons_hand_conflict",
        /// Something pending serves the same goal.
        PendingEffect = "cons_pending_effect",
        /// No believed path.
        PathUnknown = "cons_path_unknown",
        /// Below the admission threshold.
        BelowAdmission = "cons_below_admission",
        /// The dwell is not over, or the margin not reached.
        DwellOrMargin = "cons_dwell_or_margin",
        /// Switched too often.
        AlternationLock = "cons_alternation_lock",
        /// The same kind of thing too often in a row, or too soon.
        FamilyShare = "cons_family_share",
    }
}

impl Reject {
    /// The layer that rejected (GD-39).
    #[must_use]
    pub fn layer(self) -> &'static str {
        match self.code().split('_').next() {
            Some("struct") => "L1",
            Some("size") => "L2",
            Some("danger") => "L3",
            Some("perm") => "L4",
            Some("ident") => "L5",
            Some("meta") => "L6",
            _ => "L8",
        }
    }

    /// The triple that is recorded (V-7). A rejection blocks.
    #[must_use]
    pub fn triple(self) -> Triple {
        Triple { action: Action::Block, layer: self.layer(), reason: self.code() }
    }
}

//! The mind of stage 0, and FAILURE_RECOVERY.

use crate::item::{Goal, Tier};
use crate::kind::Kind;
use crate::world::Obj;

crate::state! {
    /// What the Agent means to do.
    pub struct Intent {
        /// Number of the choice.
        pub id: u32,
        /// What for.
        pub goal: Goal,
        /// With which Interaction.
        pub kind: Kind,
        /// On what.
        pub target: Option<Obj>,
        /// In which layer it was chosen.
        pub tier: Tier,
        /// When.
        pub since: u64,
        /// Its score, µ; 0 outside of Tier 3.
        pub score: i64,
    }
}

crate::state! {
    /// A cue that wants to be acted on (GD-56).
    pub struct Cue {
        /// Tick at which it was noticed.
        pub since: u64,
        /// Its command.
        pub command: u64,
        /// Sleep was ended for it at this tick.
        pub woke: Option<u64>,
    }
}

crate::state! {
    /// What has been seen of an object.
    pub struct Inspected {
        /// Completed inspections since the premise version below.
        pub count: u32,
        /// That version.
        pub premise_version: u32,
    }
}

crate::state! {
    /// The mind of stage 0.
    pub struct Mind {
        /// What happened since the last transaction, one bit a trigger (GD-03).
        pub triggers: u32,
        /// The current intent.
        pub intent: Option<Intent>,
        /// Number of the next intent.
        pub next_intent: u32,
        /// Transactions so far.
        pub transactions: u32,
        /// The cue that is due.
        pub cue: Option<Cue>,
        /// Inspections of each object.
        pub inspected: [Inspected; Obj::COUNT],
        /// Start of the last novelty behaviour (GD-43).
        pub novelty: Option<u64>,
        /// Start of the last exploration (GD-44).
        pub explored: Option<u64>,
        /// Completed executions of what the content asks for.
        pub wanted: u32,
        /// Scans of the running search, and its target.
        pub scans: u8,
        /// Target of the running search.
        pub search: Option<Obj>,
        /// Responses that were taken, by their request.
        pub answered: Vec<u64>,
        /// Tick at which what was asked of the proposer was withdrawn.
        pub withdrawn: Option<u64>,
    }
}

crate::state! {
    /// When each cell was last visited.
    pub struct Visits {
        /// Tick of the last visit, by cell; 0 is never.
        pub cells: Vec<u32>,
    }
}

crate::names! {
    /// States of FAILURE_RECOVERY (RC-FRC-01 to RC-FRC-05).
    pub enum RecoveryMode {
        /// Nothing to recover from.
        Normal = "NORMAL",
        /// Looking for a success.
        Active = "FAILURE_RECOVERY",
        /// Succeeded; watched for a relapse.
        Observing = "OBSERVING",
        /// No way out is left: the task is uncontrollable.
        Uncontrollable = "UNCONTROLLABLE",
        /// The residence ran out.
        Terminated = "TERMINATED",
    }
}

crate::names! {
    /// What brought FAILURE_RECOVERY about.
    pub enum RecoveryCause {
        /// None.
        None = "none",
        /// A total retry budget was reached.
        Budget = "budget",
        /// No progress for too long.
        NoProgress = "no_progress",
    }
}

crate::state! {
    /// FAILURE_RECOVERY.
    pub struct Recovery {
        /// State.
        pub mode: RecoveryMode,
        /// Why it was entered.
        pub cause: RecoveryCause,
        /// Tick at which the running stretch of residence began.
        pub since: u64,
        /// Residence before that stretch, ticks.
        pub spent: u64,
        /// Tick of the success.
        pub success: Option<u64>,
        /// Options that failed in this episode, one bit each.
        pub failed: u8,
        /// The running option and its item.
        pub option: u8,
        /// Its item.
        pub item: Option<u32>,
        /// What is suspended: the goal that failed.
        pub goal: Option<Goal>,
        /// And the object.
        pub target: Option<Obj>,
        /// Episodes so far.
        pub episodes: u32,
        /// Consecutive ticks of rising Energy in a recovery Rest begin here.
        pub resting: Option<u64>,
        /// Goals that are at their budget and stay suspended, one bit a goal.
        pub suspended: u32,
    }
}

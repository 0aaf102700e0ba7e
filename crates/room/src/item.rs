//! One Interaction on its way through the machine of GD-20.

use crate::grid::Cell;
use crate::kind::Kind;
use crate::world::Obj;

crate::names! {
    /// Where an item is in its life (RC-LIF-01, RC-LIF-02).
    pub enum Phase {
        /// Accepted, waiting for the body.
        Proposed = "PROPOSED",
        /// Next on the body; its start is being tested.
        Pending = "PENDING",
        /// Approaching, turning, reserving.
        Preparing = "PREPARING",
        /// Acting.
        Running = "RUNNING",
        /// Inside a commit window.
        Committed = "COMMITTED",
        /// Stopped at a safe point, to be resumed.
        Suspended = "SUSPENDED",
        /// Could not start within its dwell.
        Blocked = "BLOCKED",
        /// Releasing what it held.
        Cleaning = "CLEANING",
        /// Over.
        Closed = "CLOSED",
    }
}

impl Phase {
    /// Holds the body (INV-04).
    #[must_use]
    pub fn on_body(self) -> bool {
        matches!(self, Phase::Preparing | Phase::Running | Phase::Committed)
    }
}

crate::names! {
    /// How an item ended; each edge into CLEANING carries one.
    pub enum Label {
        /// It has not ended.
        None = "none",
        /// Its result is a success.
        Succeeded = "SUCCEEDED",
        /// Its result is a failure.
        Failed = "FAILED",
        /// Given up after BLOCKED.
        Abandoned = "ABANDONED",
        /// Taken back before it ran.
        Canceled = "CANCELED",
        /// A deadline passed.
        Expired = "EXPIRED",
        /// Its run limit passed.
        Timeout = "TIMEOUT",
        /// Replaced after new evidence.
        Superseded = "SUPERSEDED",
        /// Caused a danger; never revives.
        SafetyInvalidated = "SAFETY_INVALIDATED",
        /// The system was edited.
        SystemEdit = "SYSTEM_EDIT",
    }
}

crate::names! {
    /// Decision layers, strict priority from the first to the last (RC-SEL-01 to RC-SEL-06).
    pub enum Tier {
        /// Ordered by Safety.
        T0 = "0",
        /// Body regulation with a latest start.
        T1 = "1",
        /// The protected recovery set.
        T1R = "1R",
        /// Cues and obligations.
        T2 = "2",
        /// Ordinary choice.
        T3 = "3",
        /// Wait, Idle, harmless exploration.
        T4 = "4",
    }
}

crate::names! {
    /// Who owns the body (INV-03).
    pub enum Owner {
        /// The Agent.
        Agent = "agent",
        /// Product Safety.
        Safety = "safety",
        /// A person holding a lease.
        Operator = "operator",
    }
}

crate::names! {
    /// Where a candidate comes from (RC-LOG-04).
    pub enum Source {
        /// The body.
        Need = "need",
        /// The room.
        Environment = "environment",
        /// A person, or content that an author put in their place.
        Human = "human",
        /// A cue.
        Cue = "cue",
    }
}

crate::names! {
    /// The service goal: what budgets, pending effects and repetition are keyed by, whatever the wording (GD-52).
    pub enum Goal {
        /// Raise Hydration.
        Hydration = "hydration",
        /// Raise Calories.
        Calories = "calories",
        /// Raise Energy.
        Energy = "energy",
        /// Lower pain.
        Pain = "pain",
        /// Bring the temperature back.
        Thermal = "thermal",
        /// Raise Posture.
        Posture = "posture",
        /// Lower the load.
        Relief = "relief",
        /// Learn about an object.
        Inspect = "inspect",
        /// Find an object.
        Search = "search",
        /// Leave or end a danger.
        Safety = "safety",
        /// Come out of FAILURE_RECOVERY.
        Recover = "recover",
        /// Ask for help.
        Help = "help",
        /// What the content of a scenario asks for.
        Want = "want",
        /// Act on a cue.
        Cue = "cue",
        /// What the holder of a lease commands.
        Operator = "operator",
        /// Nothing.
        Idle = "idle",
        /// See another part of the room.
        Explore = "explore",
    }
}

crate::names! {
    /// General evidence of a failure (GD-84). None of them names a hidden cause.
    pub enum Evidence {
        /// Nothing failed.
        Ok = "ok",
        /// The object is not where it was believed.
        NotThere = "not_there",
        /// Pulling at it does nothing.
        DoesNotOpen = "does_not_open",
        /// It was operated and nothing happened.
        NoEffect = "no_effect",
        /// No path within reach.
        PathBlocked = "path_blocked",
        /// It cannot be taken.
        NotGraspable = "not_graspable",
        /// A hand is full or empty that should not be.
        HandConflict = "hand_conflict",
        /// A person is using it.
        RefusedByPerson = "refused_by_person",
        /// Somebody or something intervened.
        Interrupted = "interrupted",
    }
}

crate::names! {
    /// Why an Interaction that has no fixed end stopped.
    pub enum Exit {
        /// It did not.
        None = "none",
        /// It ran to its end.
        Done = "done",
        /// Energy was high enough.
        EnergyOk = "energy_ok",
        /// A cue was due.
        Cue = "cue",
        /// Another body deadline was reached.
        Tier1 = "tier1",
        /// Another choice was better by the switching margin.
        Margin = "margin",
        /// The longest run.
        Limit = "limit",
    }
}

crate::state! {
    /// One Interaction.
    pub struct Item {
        /// Unique in the run; later items have larger numbers.
        pub id: u32,
        /// What it does.
        pub kind: Kind,
        /// What it does it to.
        pub target: Option<Obj>,
        /// Where it goes, for Interactions without a target.
        pub cell: Option<Cell>,
        /// The person it concerns.
        pub human: Option<u8>,
        /// What it is for.
        pub goal: Goal,
        /// Its layer.
        pub tier: Tier,
        /// Who ordered it.
        pub owner: Owner,
        /// Where the idea came from.
        pub source: Source,
        /// Where it is in its life.
        pub phase: Phase,
        /// Tick at which `phase` was entered.
        pub since: u64,
        /// Tick of the proposal.
        pub created: u64,
        /// End of the proposal, while it is one (RC-CLK-03).
        pub ttl: u64,
        /// Body deadline that it serves.
        pub deadline: Option<u64>,
        /// Running ticks done before the current stretch.
        pub ran: u32,
        /// Tick of the first running tick of the current stretch.
        pub run_from: u64,
        /// Parts whose Outcome is out.
        pub parts: u8,
        /// Last tick of the current commit window.
        pub commit_until: u64,
        /// Suspended before it ran.
        pub unstarted: bool,
        /// End of a suspension or block.
        pub until: Option<u64>,
        /// Holds the soft reservation of its target.
        pub reserved: bool,
        /// The reservation was overridden by a person or the environment.
        pub lost: bool,
        /// Version of the target when it was proposed.
        pub object_version: u32,
        /// Premise version of the target when it was proposed.
        pub premise_version: u32,
        /// Marked as causing the danger.
        pub risk: bool,
        /// How it ended.
        pub label: Label,
        /// Evidence of its failure.
        pub evidence: Evidence,
        /// Why it stopped by itself.
        pub exit: Exit,
        /// Asked to stop at the next safe point.
        pub stop: bool,
        /// The command or response that it carries out.
        pub command: Option<u64>,
        /// Last tick of progress (GD-29).
        pub progress: u64,
        /// Cells left on the approach when it last got shorter.
        pub distance: u8,
    }
}

impl Item {
    /// The number of the running tick that tick `now` is, from 1.
    #[must_use]
    pub fn running_tick(&self, now: u64) -> u64 {
        u64::from(self.ran) + (now + 1).saturating_sub(self.run_from)
    }

    /// Still counts toward the three of the queue.
    #[must_use]
    pub fn open(&self) -> bool {
        self.phase != Phase::Closed
    }

    /// Waits or works; not ending.
    #[must_use]
    pub fn alive(&self) -> bool {
        !matches!(self.phase, Phase::Cleaning | Phase::Closed)
    }
}

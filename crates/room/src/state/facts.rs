//! Beliefs and facts.

use crate::grid::CellSet;
use crate::world::{Obj, Visible};

crate::state! {
    /// What the Agent believes of an object: what it last saw.
    pub struct Belief {
        /// What was seen.
        pub seen: Visible,
        /// Tick of the observation.
        pub tick: u64,
    }
}

crate::state! {
    /// Beliefs of stage 0 (GD-85).
    pub struct Beliefs {
        /// Of each object.
        pub objects: [Belief; Obj::COUNT],
        /// Cells believed closed.
        pub blocked: CellSet,
        /// People believed present, one bit each.
        pub present: u8,
        /// A hazard cue was perceived; cleared when Safety is CLEAR again.
        pub hazard: bool,
        /// World version that has been observed.
        pub version: u32,
        /// Objects whose state was shown wrong by trying (general evidence), one bit each, until they change.
        pub refuted: u32,
    }
}

crate::names! {
    /// What a fact is about.
    pub enum FactKind {
        /// An object changed visibly.
        ObjectChanged = "object_changed",
        /// A cue of a danger was perceived.
        HazardCue = "hazard_cue",
        /// An own Interaction succeeded.
        Success = "success",
        /// An own Interaction failed.
        Failure = "failure",
        /// The body was taken over.
        Takeover = "takeover",
        /// A cue was noticed.
        CueNoticed = "cue_noticed",
    }
}

crate::state! {
    /// One fact that the Agent knows, and the event that it knows it from (INV-06).
    pub struct Fact {
        /// What it is about.
        pub kind: FactKind,
        /// Which object.
        pub object: Option<Obj>,
        /// What general evidence came with it.
        pub evidence: crate::item::Evidence,
        /// Tick of its event.
        pub tick: u64,
        /// Number of its event within the tick.
        pub sequence: u32,
        /// Evidence cluster.
        pub cluster: u32,
        /// Causal episode.
        pub episode: u32,
    }
}

crate::state! {
    /// The bounded list of facts (GD-85): a ring.
    pub struct Facts {
        /// At most `facts_max`, the oldest first.
        pub list: Vec<Fact>,
        /// Facts so far.
        pub total: u32,
        /// Number of the next cluster.
        pub next_cluster: u32,
    }
}

//! What happened in a tick: the log of section 9 is made of these. Nothing reads them back into the room.

use crate::grid::Cell;
use crate::input::{Command, Verb};
use crate::item::{Evidence, Exit, Goal, Label, Owner, Phase, Source, Tier};
use crate::kind::Kind;
use crate::reject::Reject;
use crate::score::Contributions;
use crate::state::{
    Band, Channel, ControlMode, Controllable, FactKind, RecoveryCause, RecoveryMode, SafetyMode,
};
use crate::world::{Obj, Parent, Stage};

/// One event; its ID is (tick, sequence).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Tick.
    pub tick: u64,
    /// Number within the tick.
    pub sequence: u32,
    /// What happened.
    pub what: What,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// An input was taken.
    Input(Command),
    /// An input was merged with another and does nothing of its own (GD-17).
    Merged(Command),
    /// Something was refused, and by which code.
    Refused {
        /// The command, item or candidate.
        about: u64,
        /// Why.
        reject: Reject,
    },
    /// A source of danger changed its state.
    Hazard {
        /// Which.
        source: u8,
        /// New state.
        stage: Stage,
        /// Risk, µ.
        risk: i64,
    },
    /// Safety changed its mode.
    Safety {
        /// From.
        from: SafetyMode,
        /// To.
        to: SafetyMode,
    },
    /// A call for help or an alarm; needs no body.
    Call {
        /// Whose: the danger (none) or a channel.
        channel: Option<Channel>,
    },
    /// Body control changed.
    Control {
        /// From.
        from: ControlMode,
        /// To.
        to: ControlMode,
    },
    /// An item went from one state to the next (RC-LOG-08).
    Edge {
        /// Which.
        item: u32,
        /// What it does.
        kind: Kind,
        /// From.
        from: Phase,
        /// To.
        to: Phase,
        /// With which result.
        label: Label,
        /// With which evidence.
        evidence: Evidence,
        /// Why it stopped by itself.
        exit: Exit,
    },
    /// A soft reservation was obtained, released or lost.
    Reservation {
        /// By which item.
        item: u32,
        /// Of what.
        object: Obj,
        /// Obtained, or gone.
        held: bool,
    },
    /// An Outcome was reduced (RC-LOG-09).
    Outcome {
        /// Of which item.
        item: u32,
        /// Part, 0 is the final one.
        part: u8,
        /// Success.
        success: bool,
    },
    /// An Outcome arrived a second time and changed nothing.
    Duplicate {
        /// Of which item.
        item: u32,
        /// Part.
        part: u8,
    },
    /// The Reducer wrote a field.
    Wrote {
        /// Which field.
        field: &'static str,
        /// Of which object or channel.
        of: u64,
        /// Before, µ or count.
        from: i64,
        /// After.
        to: i64,
    },
    /// The Reducer left a field as it was, and why (RC-LOG-10).
    Kept {
        /// Which field.
        field: &'static str,
        /// Why.
        why: &'static str,
    },
    /// An object has another parent.
    Moved {
        /// Which.
        object: Obj,
        /// To where.
        to: Parent,
    },
    /// A channel changed its band.
    Band {
        /// Which.
        channel: Channel,
        /// From.
        from: Band,
        /// To.
        to: Band,
    },
    /// A channel's flag changed.
    Controllable {
        /// Which.
        channel: Channel,
        /// To.
        to: Controllable,
    },
    /// The record of a channel was opened or closed (GD-34).
    Uncontrolled {
        /// Which.
        channel: Channel,
        /// Opened, or closed.
        open: bool,
    },
    /// A fact was learned.
    Fact {
        /// What it is about.
        kind: FactKind,
        /// Which object.
        object: Option<Obj>,
    },
    /// FAILURE_RECOVERY changed its state.
    Recovery {
        /// From.
        from: RecoveryMode,
        /// To.
        to: RecoveryMode,
        /// Why.
        cause: RecoveryCause,
    },
    /// The system was edited behind its barrier.
    Edited {
        /// How.
        verb: Verb,
    },
    /// A decision (section 9).
    Decision(Box<Decision>),
}

/// One candidate of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Considered {
    /// Its ID: goal, Interaction, object.
    pub id: String,
    /// Where it comes from.
    pub source: Source,
    /// Its layer.
    pub tier: Tier,
    /// Why it was eliminated.
    pub reject: Option<Reject>,
    /// Parts of its score, µ.
    pub parts: Option<Contributions>,
    /// Score, µ.
    pub score: i64,
}

/// The record of one transaction (RC-LOG-01 to RC-LOG-11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Number of the transaction.
    pub number: u32,
    /// World version it saw.
    pub version: u32,
    /// What triggered it, one bit a trigger.
    pub triggers: u32,
    /// Safety mode.
    pub safety: SafetyMode,
    /// Owner of the body.
    pub owner: Owner,
    /// The running intent: goal and kind.
    pub intent: Option<(Goal, Kind)>,
    /// Every candidate.
    pub candidates: Vec<Considered>,
    /// The layer that was decided in.
    pub tier: Option<Tier>,
    /// Candidates in the window and their weights.
    pub pool: Vec<(String, i64)>,
    /// The draw that chose, when there was one.
    pub draw: Option<u64>,
    /// Margin of the best over the running intent, µ.
    pub margin: Option<i64>,
    /// What was chosen.
    pub chosen: Option<String>,
    /// Item that it became.
    pub item: Option<u32>,
    /// Item that was asked to stop.
    pub stopped: Option<u32>,
    /// Where it goes.
    pub cell: Option<Cell>,
}
